"""Tests the checks of `saltmill apply` before it changes anything, and the cause that it names when a server
refuses."""

import re
import subprocess
import time

import pytest
from test_apply import SECONDS, events, on_hdfs  # noqa: F401  (on_hdfs is a fixture)
from test_incarnation import check_all, dies_at, waiting


def set_quota(hdfs, path, **quota):
    hdfs.ask("PUT", path, "SETQUOTA", **{"namespacequota": 2**62, "storagespacequota": 2**62, **quota})


@pytest.mark.parametrize("quota,says", [
    ({"storagespacequota": 1 << 20}, "the folder's space quota leaves 0 B"),
    ({"namespacequota": 5}, "the folder's name quota leaves 4, expected at least 1. for the files and folders of the load"),
])
def test_quota_of_a_folder_above(on_hdfs, hdfs, tmp_path, quota, says):  # noqa: F811
    """The check runs before the creation of a table, also with --dry-run."""
    space = f"quota_{min(quota)[:5]}"
    events(tmp_path, space, 3000)
    on_hdfs.load(tmp_path / "job.yaml")
    hdfs.make_dirs(f"/bulk/{space}", "777")
    set_quota(hdfs, f"/bulk/{space}", **quota)
    there = ("--upload", hdfs.url(f"/bulk/{space}/below/it"))
    on_hdfs.refused(says, "--create", "--dry-run", *there)
    said = on_hdfs.refused(says, "--create", *there)
    assert "was created" not in said
    assert f"{space}:events" not in on_hdfs.hbase.run_script(listing(tmp_path))
    assert hdfs.list(f"/bulk/{space}") == {}
    (tmp_path / "out.saltmill-apply").unlink()


def listing(folder):
    script = folder / "list.rb"
    script.write_text("puts list\n")
    return script


def test_rights_without_a_table(on_hdfs, hdfs, tmp_path):  # noqa: F811
    """--dry-run queries HDFS itself, also if all tables are missing."""
    events(tmp_path, "rights", 40)
    on_hdfs.load(tmp_path / "job.yaml")
    hdfs.make_dirs("/bulk/private", "755", user="bob")
    said = on_hdfs.done("--dry-run", "--create", "--upload", hdfs.url("/bulk/private/x"))
    (said,) = said["warnings"]
    assert re.search("/bulk/private belongs to bob and has mode 755, so you may not create files there .*Permission denied: user=ann.*"
                     "-chown ann /bulk/private/x` as bob", said), said
    assert hdfs.tree("/hbase/staging") == {} and not [n for n in hdfs.list("/hbase/staging") if "rights" in n]
    # a user with write access by the mode of others gets no warning
    hdfs.ask("PUT", "/bulk/private", "SETPERMISSION", permission="777")
    assert on_hdfs.done("--dry-run", "--create", "--upload", hdfs.url("/bulk/private/x"))["warnings"] == []
    # a group's mode gives no access, because ann is in no group
    hdfs.ask("PUT", "/bulk/private", "SETPERMISSION", permission="775")
    (said,) = on_hdfs.done("--dry-run", "--create", "--upload", hdfs.url("/bulk/private/x"))["warnings"]
    assert "belongs to bob" in said


def test_another_hdfs_beside_webhdfs(on_hdfs, hdfs, tmp_path):  # noqa: F811
    """--webhdfs addresses HBase's HDFS, so apply refuses a path on another HDFS."""
    expected = events(tmp_path, "authority", 40)
    on_hdfs.load(tmp_path / "job.yaml")
    http = f"127.0.0.1:{hdfs.http_port}"
    on_hdfs.options = ("--user", "ann", "--webhdfs", http)
    on_hdfs.refused("is not on the HDFS of HBase's files.*found elsewhere, expected 127.0.0.1:", "--create",
                    "--upload", "hdfs://elsewhere:8020/bulk/ann")
    (tmp_path / "out.saltmill-apply").unlink()
    on_hdfs.done("--create", "--upload", hdfs.fs + "/bulk/ann")
    check_all(on_hdfs, "authority", expected)


def test_a_folder_that_the_servers_may_not_use(on_hdfs, hdfs, tmp_path):  # noqa: F811
    """The region server only answers false, so apply queries HDFS for the cause."""
    expected = events(tmp_path, "denied", 900)
    on_hdfs.load(tmp_path / "job.yaml")
    dies_at(on_hdfs, "before-sent")
    folder = f"/bulk/ann/{waiting(tmp_path)}/denied/events/f"
    hdfs.ask("PUT", folder, "SETPERMISSION", permission="555")
    on_hdfs.refused(f"a region server cannot load a file: cannot use .*{folder}: .*Permission denied: user=ann, "
                    "access=WRITE_EXECUTE", "--create")
    hdfs.ask("PUT", folder, "SETPERMISSION", permission="777")
    on_hdfs.done("--create")
    check_all(on_hdfs, "denied", expected)


def test_safe_mode_is_named(on_hdfs, tmp_path):  # noqa: F811
    """apply checks HDFS also with --dry-run, and if tables are missing."""
    events(tmp_path, "safe", 40)
    on_hdfs.load(tmp_path / "job.yaml")
    try:
        on_hdfs.hbase.call("safe_mode", how="ENTER")
        (said,) = on_hdfs.done("--dry-run", "--create")["warnings"]
    finally:
        on_hdfs.hbase.call("safe_mode", how="LEAVE")
    assert "safe mode" in said


@pytest.mark.parametrize("step", ["created", "before-sent"])
def test_safe_mode_is_waited_for(on_hdfs, tmp_path, step):  # noqa: F811
    """apply dies at a step, runs again in safe mode, and completes when safe mode ends."""
    space = f"safe_{step[-4:]}"
    expected = events(tmp_path, space, 900)
    on_hdfs.load(tmp_path / "job.yaml")
    dies_at(on_hdfs, step)
    log = tmp_path / "apply.log"
    with open(log, "w", encoding="utf-8") as out:
        try:
            on_hdfs.hbase.call("safe_mode", how="ENTER")
            run = subprocess.Popen([on_hdfs.saltmill, "apply", on_hdfs.out, "--hbase", on_hdfs.hbase.master,
                                    *on_hdfs.options, "--create"], stdout=out, stderr=out)
            time.sleep(3)
            assert run.poll() is None, log.read_text()
        finally:
            on_hdfs.hbase.call("safe_mode", how="LEAVE")
        assert run.wait(SECONDS) == 0, log.read_text()
    check_all(on_hdfs, space, expected)


def test_the_other_framing(on_hdfs, tmp_path):  # noqa: F811
    """The servers have HBase's codec and cannot read files for Hadoop's codec. apply names this as the probable cause.
    """
    events(tmp_path, "framing", 900)
    job = (tmp_path / "job.yaml").read_text()
    (tmp_path / "job.yaml").write_text(job.replace("compression: ZSTD", "compression: {codec: ZSTD, framing: hadoop}"))
    on_hdfs.load(tmp_path / "job.yaml")
    on_hdfs.refused("gives no reason; .*; the most probable cause is ZSTD with `framing: hadoop`.*load again with "
                    "`compression: {codec: ZSTD, framing: hbase}`", "--create", status=1)
    assert on_hdfs.run("--abort").returncode == 0


def test_what_was_changed_is_named(on_hdfs, tmp_path):  # noqa: F811
    events(tmp_path, "named", 40)
    job = (tmp_path / "job.yaml").read_text()
    absent = "    attributes: {coprocessor: '|org.example.Absent|1001|'}\n"
    at = job.index("    timestamp: at\n", job.index("by_word"))
    (tmp_path / "job.yaml").write_text(job[:at] + absent + job[at:])
    on_hdfs.load(tmp_path / "job.yaml")
    on_hdfs.refused("after table named:events was created: table named:by_word: .*org.example.Absent", "--create",
                    status=1)
    assert on_hdfs.run("--abort").returncode == 0
