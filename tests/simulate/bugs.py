#!/usr/bin/env python3
"""Plants bugs in different seams, and checks that the simulation finds each bug (make simulate-bugs [ARGS="--seeds
3000"]).

A copy of the tree gets one bug after the other. The script first runs the seed that found the bug before, then SEEDS, then
other seeds. A simulation that finds no bug is a proof only if it finds these bugs.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parents[2]
SEEDS = HERE / "tests/simulate/seeds.txt"  # seeds that found a bug before, to try first
# name: file, old text, new text, a seed that found the bug
BUGS = {
    "the commit's rename is not synced": (
        "publish/staging/staging_local.c", "return renamed && fsync(s->parent_fd) < 0 ? take_back(s, err) : rc;",
        "return renamed && s->parent_fd < -1 ? take_back(s, err) : rc;", 347),
    "a replaced record's name is not synced": (
        "base/io.c", "} else if (rc == RC_OK && (rc = io_sync_dir(dir, err)) != RC_OK) {",
        "} else if (rc == RC_OK && !*dir) {", 1395),
    "files are not synced": (
        "base/io.c", "if (!o->errnum && !o->temporary && fsync(o->fd) < 0)", "if (!o->errnum && o->fd < -1)", 347),
    "a load that a crash left published is recorded before its rename is synced": (
        "stream/loads/recover.c", "rc = io_sync_parent(intent->dir, err);", "rc = RC_OK;", 1347),
    "records that a crash left unsynced are believed": (
        "stream/state/state.c", "rc = keep_records(s, err);", "rc = s->dir ? RC_OK : keep_records(s, err);", 95),
    "marks that a crash left unsynced are believed": (
        "deliver/follow/lane.c", "rc = state_keep_marks(l->dir, err);", "rc = l->dir ? RC_OK : state_keep_marks(l->dir, err);", 179),
    "a state's folder that a crash left unsynced is believed": (
        "stream/state/state.c", "rc = state_keep_folder(s->dir, !there, err);",
        "rc = there ? RC_OK : state_keep_folder(s->dir, !there, err);", 3991),
    "the lock's note promises more than the folder has": (
        "stream/state/lock.c", "if (less && (!good || fdatasync(l->fd) < 0))", "if (less && !good && l->fd < -1)", 617),
    "a torn note of the lock is believed": (
        "stream/state/lock.c", "bool whole = strchr(line, '\\n') &&", "bool whole = line &&", 671),
    "a working folder is removed while it may be published": (
        "stream/state/state.c", "if (s->intent.phase != STATE_PUBLISHING)\n\t\treturn RC_OK;\n\t/*",
        "if (s->intent.name)\n\t\treturn RC_OK;\n\t/*", 3801),
    "a working folder is removed after an unsynced rename back": (
        "publish/staging/staging.c", "if (!s->renamed)\n\t\ts->kind->drop(s);", "s->kind->drop(s);", 2048465),
    "the intent is removed before the load is recorded": (
        "stream/state/state.c", "int rc = record(s, &l, err);\n\tif (rc == RC_OK)\n\t\trc = remove_intent(s, err);",
        "int rc = remove_intent(s, err);\n\tif (rc == RC_OK)\n\t\trc = record(s, &l, err);", 6800503),
    "a broken connection ends a range of offsets": (
        "input/kafka/kafka_read.c", "\tif (kafka_is_passing(m->err) ||",
        "\tif (m->err == RD_KAFKA_RESP_ERR__TRANSPORT && r && !r->done)\n\t\tend_range(k, r);\n"
        "\tif (kafka_is_passing(m->err) ||", 347),
    "two processes take the lock of a state": (
        "stream/state/lock.c", "flock(l->fd, LOCK_EX | LOCK_NB) < 0; clock_sleep_ms(20)",
        "flock(l->fd, LOCK_EX | LOCK_NB) < -1; clock_sleep_ms(20)", 142),
    "a file that HBase took is sent again": (
        "deliver/apply/hand_steps.c", "\tif (h->copies)\n\t\treturn RC_OK;\n\tif (r)",
        "\tif (h->copies || h->nfiles)\n\t\treturn RC_OK;\n\tif (r)", 544735),
    "the answer \"loaded\" is believed": (
        "deliver/apply/hand_call.c",
        "int rc = h->copies ? RC_END : w->in_table(w->self, g->region, g->files, g->n, in, err);",
        "for (size_t i = 0; i < g->n; i++)\n\t\tin[i] = true;\n\tint rc = w->self ? RC_OK : RC_END;", 544735),
    "the journal is not synced": (
        "deliver/apply/journal.c", "done == text.len && fdatasync(j->fd) == 0", "done == text.len", 53195),
    "a line follows lines that a crash left unsynced": (
        "deliver/apply/journal.c", "int old = j->fd, rc = io_replace_file(j->path, lines, NULL, err);",
        "int old = j->fd, rc = RC_OK;\n\n\tif (ftruncate(j->fd, (off_t)lines.len) == 0)\n\t\treturn RC_OK;", 617),
    "bytes whose sync failed are believed after the next sync": (
        "deliver/apply/journal.c", "int old = j->fd, rc = io_replace_file(j->path, lines, NULL, err);",
        "int old = j->fd, rc = RC_OK;\n\n\tif (ftruncate(j->fd, (off_t)lines.len) == 0 && fdatasync(j->fd) == 0)\n"
        "\t\treturn RC_OK;", 22144),
    "lines on disk are written again in place": (
        "deliver/apply/journal.c", "int old = j->fd, rc = io_replace_file(j->path, lines, NULL, err);",
        "int old = j->fd, fd = open(j->path, O_WRONLY | O_CLOEXEC);\n"
        "\tbool good = fd >= 0 && pwrite(fd, lines.ptr, lines.len, 0) == (ssize_t)lines.len &&\n"
        "\t\t    ftruncate(fd, (off_t)lines.len) == 0 && fdatasync(fd) == 0;\n\n\tclose(fd);\n\tif (good)\n\t\treturn RC_OK;\n"
        "\tint rc = io_replace_file(j->path, lines, NULL, err);", 6800503),
    "a torn journal is refused": (
        "deliver/apply/journal.c", "if (!end || is_torn(at, end, text))",
        "if (!end || (!path && is_torn(at, end, text)))", 14815),
    "a load is marked before it is applied": (
        "deliver/follow/follow.c", "rc = (f->opt->run ? f->opt->run : apply_run)(&r, &one, err);",
        "r = (struct apply_result){0};\n\t(void)mark(f, l, i, &r, err);\n"
        "\trc = (f->opt->run ? f->opt->run : apply_run)(&r, &one, err);", 544735),
    "an upload is not compared with what was sent": (
        "storage/webhdfs_upload.c",
        "rc = webhdfs_stat(u->w->place, u->path, there, err);\n\tif (rc == RC_OK)\n\t\trc = compare(u, there, &same, err);",
        "rc = webhdfs_stat(u->w->place, u->path, there, err);\n\tif (rc == RC_OK && compare(u, there, &same, err) == RC_OK)\n"
        "\t\tsame = true;", 16401),
    "a load keeps its memory": (
        "sort/builder.c", "mem_free(b->data);\n\tmem_free(b->spill_buf);", "mem_free(b->spill_buf);", 1395),
    "a thread is not woken": (
        "base/syncer.c", "s->ended = true;\n\tpthread_cond_signal(&s->more);", "s->ended = true;", 1395),
}


def build(tree, program):
    done = subprocess.run(["make", "-j2", "CC=gcc", "build/gcc-release/simulate"], cwd=tree,
                          capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return shutil.copy(tree / "build/gcc-release/simulate", program)


def violation(program, *histories):
    """Returns (seed, violated invariant) of the first violation, or None."""
    done = subprocess.run([program, "--first", *histories], capture_output=True, text=True)
    found = re.search(r"^seed (\d+): (.*)$", done.stdout, re.M)
    return (int(found[1]), found[2]) if found else None


def find(program, sound, noted, args):
    """Returns (the way to the violation, violation) of a history that the program passes without the bug, or None."""
    def is_new(found):
        return found and not violation(sound, f"{found[0]}:{found[0] + 1}")

    if is_new(found := violation(program, f"{noted}:{noted + 1}")):
        return f"by its noted seed {noted}", found[1]
    if is_new(found := violation(program, "--seeds", str(SEEDS))):
        return f"by seed {found[0]} of {SEEDS.name}", found[1]
    at, end = args.first, args.first + args.seeds
    while at < end and (found := violation(program, f"{at}:{end}")):
        if is_new(found):
            return f"after {found[0] - args.first + 1} histories, by seed {found[0]}", found[1]
        at = found[0] + 1
    return None


def search(name, path, program, sound, noted, args):
    """Prints whether the simulation finds the bug in the program. Returns True if it does."""
    begun = time.time()
    found = find(program, sound, noted, args)
    program.unlink()
    how = f"found {found[0]}, in {time.time() - begun:.0f} s: {found[1]}" if found else "NOT FOUND"
    print(f"{name} ({path}): {how}", flush=True)
    return bool(found)


def main():
    args = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    args.add_argument("--seeds", type=int, default=20000, help="histories, at most")
    args.add_argument("--first", type=int, default=0)
    args.add_argument("--only", help="bugs whose names match this pattern")
    args.add_argument("--jobs", type=int, default=os.cpu_count())
    args = args.parse_args()
    with tempfile.TemporaryDirectory(prefix="saltmill-bugs-") as folder, \
            concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        folder = pathlib.Path(folder)
        tree = folder / "tree"
        shutil.copytree(HERE, tree, symlinks=True, ignore=lambda d, names: {".git", *(
            n for n in names if d == str(HERE / "build") and n not in ("gcc-release", "guide_chapters.c"))})
        sound = build(tree, folder / "sound")
        searches = []
        for name, (path, there, instead, noted) in BUGS.items():
            if args.only and not re.search(args.only, name):
                continue
            file = tree / "pipeline" / path
            text = file.read_text()
            if text.count(there) != 1:
                raise SystemExit(f"{path}: the place of the bug \"{name}\" is there {text.count(there)} times")
            file.write_text(text.replace(there, instead))
            program = build(tree, folder / f"bug{len(searches)}")
            file.write_text(text)
            searches.append(pool.submit(search, name, path, program, sound, noted, args))
        missed = [s.result() for s in searches].count(False)
    print(f"{missed} of {len(searches)} bugs were not found" if missed else f"all {len(searches)} bugs were found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
