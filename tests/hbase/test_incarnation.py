"""Tests `saltmill apply` with dropped, truncated and recreated tables, and files that another user removes.

A journal belongs to one incarnation of each table. Whatever happens to the table, apply never exits 0 while cells of
the load are missing.
"""

import re

import pytest
from oracle import u32
from test_apply import events, on_hdfs  # noqa: F401  (on_hdfs is a fixture)

ANEW = {
    "drop": "disable '%(t)s'\ndrop '%(t)s'\n",
    "create": "disable '%(t)s'\ndrop '%(t)s'\ncreate '%(t)s', {NAME => 'f', VERSIONS => 2, COMPRESSION => 'ZSTD'}, "
              "{NAME => 'g', TTL => 1728000000, BLOOMFILTER => 'NONE'}\n",
    "truncate": "truncate '%(t)s'\n",
    "truncate_preserve": "truncate_preserve '%(t)s'\n",
}
LOST = "was dropped.* after apply loaded this load, and HBase removed the load's cells .*--restart"


def run(one, folder, text):
    script = folder / "between.rb"
    script.write_text(text)
    one.hbase.run_script(script)


def dies_at(one, step):
    died = one.run("--create", env={"SALTMILL_CRASH_AT": f"apply-{step}", "PATH": ""})
    assert died.returncode == -9, (step, died.stderr)


def check_all(one, space, expected):
    by_id, by_word = expected
    one.check(f"{space}:events", by_id)
    one.check(f"{space}:by_word", by_word)


@pytest.mark.parametrize("how", ANEW)
def test_done_and_made_anew(on_hdfs, tmp_path, how):  # noqa: F811
    """A load is done, and then the table loses its files. apply does not report the load as complete."""
    space = f"anew_{how}"
    expected = events(tmp_path, space, 900)
    on_hdfs.load(tmp_path / "job.yaml")
    on_hdfs.done("--create")
    assert on_hdfs.done()["already"]
    run(on_hdfs, tmp_path, ANEW[how] % {"t": f"{space}:events"})
    said = on_hdfs.refused(LOST)
    assert f"table {space}:events" in said
    on_hdfs.refused(LOST, "--create")
    on_hdfs.done("--create", "--alter", "--restart")
    check_all(on_hdfs, space, expected)
    assert on_hdfs.done()["already"]


@pytest.mark.parametrize("step", ["sent", "done", "before-cleaned", "before-finished"])
@pytest.mark.parametrize("how", ["drop", "truncate_preserve"])
def test_made_anew_between_two_runs(on_hdfs, tmp_path, how, step):  # noqa: F811
    """apply dies, the table loses its files, and apply runs again. In one case apply creates the table."""
    space = f"between_{how}_{step.replace('-', '_')}"
    expected = events(tmp_path, space, 900)
    on_hdfs.load(tmp_path / "job.yaml")
    dies_at(on_hdfs, step)
    run(on_hdfs, tmp_path, ANEW[how] % {"t": f"{space}:events"})
    on_hdfs.refused(LOST, "--create")
    on_hdfs.done("--create", "--restart")
    check_all(on_hdfs, space, expected)


def test_dropped_before_a_file_was_sent(on_hdfs, tmp_path):  # noqa: F811
    """No file of the load was in the table, so apply creates the table again, with new nonces."""
    expected = events(tmp_path, "early", 900)
    on_hdfs.load(tmp_path / "job.yaml")
    dies_at(on_hdfs, "put")
    run(on_hdfs, tmp_path, ANEW["drop"] % {"t": "early:events"} if "table" not in journal(tmp_path) else "")
    done = on_hdfs.run("--create")
    if done.returncode:  # the journal already belonged to the table
        assert done.returncode == 2 and re.search(LOST, done.stderr), done.stderr
        on_hdfs.done("--create", "--restart")
    check_all(on_hdfs, "early", expected)


def journal(folder):
    return (folder / "out.saltmill-apply").read_text()


def waiting(folder):
    """Returns the name of the load's own folder in the upload folder."""
    return re.search(r"^folder (saltmill-\w+) #", journal(folder), re.M)[1]


def test_splits_and_merges_are_the_same_table(on_hdfs, tmp_path):  # noqa: F811
    """In the end, every region of the tables is new, and the tables are still the same."""
    expected = events(tmp_path, "same", 3000)
    (tmp_path / "keys.txt").write_text("".join(f"\\x00\\x00\\x{n:02X}\\x00\n" for n in (3, 6, 9)))
    on_hdfs.load(tmp_path / "job.yaml")
    dies_at(on_hdfs, "done")
    bound = re.search(r"^0 table \d+ (.*) #", journal(tmp_path), re.M)[1].split()
    assert len(bound) == 4
    run(on_hdfs, tmp_path, "merge_pairs 'same:events'\n")
    dies_at(on_hdfs, "before-finished")
    assert on_hdfs.hbase.split("same:by_word", b"w5") == 2
    on_hdfs.done("--create", "--check")
    check_all(on_hdfs, "same", expected)
    assert len(on_hdfs.hbase.splits("same:events")) < 4
    assert on_hdfs.done()["already"]


@pytest.mark.parametrize("step", ["sent", "before-done"])
def test_upload_folder_removed(on_hdfs, hdfs, tmp_path, step):  # noqa: F811
    """The journal has a call that apply never made, or lacks a call that apply made. Then a user removes the upload folder. If a file is in
    neither folder, apply searches the region's files by the file's id.
    """
    space = f"removed_{step.replace('-', '_')}"
    expected = events(tmp_path, space, 3000)
    on_hdfs.load(tmp_path / "job.yaml")
    dies_at(on_hdfs, step)
    hdfs.ask("DELETE", f"/bulk/ann/{waiting(tmp_path)}", "DELETE", recursive="true")
    on_hdfs.done("--create")
    check_all(on_hdfs, space, expected)
    on_hdfs.check_stores(f"{space}:events")


def test_a_journal_of_before(on_hdfs, tmp_path):  # noqa: F811
    """apply never trusts a journal without the incarnation."""
    expected = events(tmp_path, "before", 900)
    on_hdfs.load(tmp_path / "job.yaml")
    says = "found a journal of an older saltmill without the incarnation of table .*--restart"
    dies_at(on_hdfs, "done")
    for _ in range(2):
        kept = [line for line in journal(tmp_path).splitlines(True) if " table " not in line]
        (tmp_path / "out.saltmill-apply").write_text("".join(kept))
        on_hdfs.refused(says, "--create")
        on_hdfs.done("--create", "--restart")
        check_all(on_hdfs, "before", expected)


def test_abort(on_hdfs, hdfs, tmp_path):  # noqa: F811
    """apply removes files that wait in HDFS together with the journal. Cells in the table stay."""
    expected = events(tmp_path, "aborted", 3000)
    on_hdfs.load(tmp_path / "job.yaml")
    for step in ("token", "put", "done"):
        dies_at(on_hdfs, step)
        folder = waiting(tmp_path)
        done = on_hdfs.run("--abort")
        assert done.returncode == 0 and re.search(r"removed \S*out.saltmill-apply and the files in HDFS", done.stderr), done.stderr
        assert {p.name for p in tmp_path.iterdir()} == {"out", "job.yaml", "keys.txt", "events.csv"}
        assert folder not in (hdfs.list("/bulk/ann") or {})
        assert not [n for n in hdfs.list("/hbase/staging") if "aborted" in n]
    assert re.search("table aborted:events: [1-9] of 6 files are already in the table and stay there", done.stderr)
    done = on_hdfs.run("--abort")
    assert done.returncode == 0 and "does not exist; without a journal, apply has nothing to remove" in done.stderr
    # apply also removes the staging folder of a dropped table
    dies_at(on_hdfs, "done")
    run(on_hdfs, tmp_path, ANEW["drop"] % {"t": "aborted:events"})
    assert on_hdfs.run("--abort").returncode == 0
    assert not [n for n in hdfs.list("/hbase/staging") if "aborted" in n]
    on_hdfs.done("--create", "--check")
    check_all(on_hdfs, "aborted", expected)


def test_folders_that_may_not_be_read(on_hdfs, hdfs, tmp_path):  # noqa: F811
    """In this case the answer "loaded" must suffice, and apply warns. After any other answer apply assumes nothing."""
    expected = events(tmp_path, "hidden", 900)
    on_hdfs.load(tmp_path / "job.yaml")
    run(on_hdfs, tmp_path, "create_namespace 'hidden'\n")
    try:
        hdfs.ask("PUT", "/hbase/data/hidden", "SETPERMISSION", permission="700")
        dies_at(on_hdfs, "before-done")
        said = on_hdfs.done("--create", "--check")
        assert [w for w in said["warnings"] if "user ann may not read HBase's folders" in w], said["warnings"]
        assert on_hdfs.done()["already"]
        by_id, by_word = expected
        counts = on_hdfs.hbase.scan("hidden:events", out=str(tmp_path / "scan"))
        assert counts == {"rows": len(by_id.rows), "cells": by_id.cells}
        run(on_hdfs, tmp_path, ANEW["truncate"] % {"t": "hidden:events"})
        on_hdfs.refused(LOST)
    finally:
        hdfs.ask("PUT", "/hbase/data/hidden", "SETPERMISSION", permission="755")
