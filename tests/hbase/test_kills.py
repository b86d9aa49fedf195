"""Tests a sample of `make kills`. Each server dies once during apply or a scan, and HDFS runs out of space."""

import contextlib
import csv
import signal
import subprocess
import threading

import pytest
from cluster import wait_until
from disk import NoDisk, small_disk
from kills import Moment, new_world
from oracle import Cells, u32
from test_apply import Applied, events
from test_hdfs import PARTIAL, load, local  # noqa: F401  (two are fixtures)

DISK_MB = 16
SECONDS = 240
JOB = """\
source: {csv: {files: [rows.csv]}}
fields: {id: {type: u32}}
tables:
  - name: %s
    rowkey: [{field: id, as: u32}]
    timestamp: 1000
    families: {f: {}}
    cells: [{family: f, qualifier: v, value: v}, {family: f, qualifier: w, value: w}]
    regions: {split: file, file: keys.txt}
"""


@pytest.fixture(scope="module")
def world(saltmill, tmp_path_factory):
    folder = tmp_path_factory.mktemp("kills")
    with contextlib.ExitStack() as stack:
        try:
            disk, why = stack.enter_context(small_disk(folder / "disk", DISK_MB)), None
        except NoDisk as e:
            disk, why = None, str(e)
        found = stack.enter_context(new_world(saltmill, folder, cold=disk))
        found.cold, found.no_disk = disk, why
        yield found


def wide_rows(folder, table, rows, regions, width=500):
    """Writes a job of large rows, two of three with w = 1. Returns the expected cells of its table."""
    (folder / "job.yaml").write_text(JOB % table)
    (folder / "keys.txt").write_text("".join(
        "".join(f"\\x{b:02X}" for b in u32(rows * i // regions)) + "\n" for i in range(1, regions)))
    expected = Cells()
    with open(folder / "rows.csv", "w", newline="", encoding="utf-8") as f:
        out = csv.writer(f)
        out.writerow(["id", "v", "w"])
        for i in range(rows):
            v, w = "x" * width + str(i), str(min(i % 3, 1))
            out.writerow([i, v, w])
            expected.add(u32(i), [("f", b"v", 1000, v.encode()), ("f", b"w", 1000, w.encode())])
    return expected


@pytest.mark.parametrize("moment", [Moment("region1", "sent", 2), Moment("master", "create", 2), Moment("datanode", "put", 1)], ids=str)
def test_one_dies(world, moment):
    world.try_moment(moment)
    assert not moment.at.startswith("finished"), moment.at  # otherwise it had no effect


def test_no_room(world, tmp_path):
    by_id, by_word = events(tmp_path, "room")
    world.hdfs.make_dirs("/bulk/room", "777")
    one = Applied(world.saltmill, world.hbase, tmp_path, "--user", "ann", "--upload", world.hdfs.url("/bulk/room"))
    one.load(tmp_path / "job.yaml")
    died = one.run("--create", env={"SALTMILL_CRASH_AT": "apply-put", "PATH": ""})
    assert died.returncode == -9, died.stderr
    world.hdfs.ask("PUT", "/bulk/room", "SETQUOTA", storagespacequota=1, namespacequota=-1)  # less than a block
    one.refused("space quota leaves 0 B", "--create")
    world.hdfs.ask("PUT", "/bulk/room", "SETQUOTA", storagespacequota=-1, namespacequota=-1)
    one.done("--create")
    one.check("room:events", by_id)
    one.check("room:by_word", by_word)
    assert world.hdfs.tree("/bulk/room") == {} and world.hdfs.tree("/hbase/staging") == {}


def test_full_disk(world, tmp_path):
    """The DataNode's disk is full inside a block, and later it gets more space.

    HBase's own files are on another disk of that DataNode, because HBase would end if it could not write its log.
    """
    if not world.cold:
        pytest.skip(world.no_disk)
    expected = wide_rows(tmp_path, "disk:wide", 40_000, 5)
    world.hdfs.make_dirs("/bulk/cold", "777")
    world.hdfs.ask("PUT", "/bulk/cold", "SETSTORAGEPOLICY", storagepolicy="COLD")
    one = Applied(world.saltmill, world.hbase, tmp_path, "--user", "ann", "--upload", world.hdfs.url("/bulk/cold"))
    one.load(tmp_path / "job.yaml")
    assert sum(f["bytes"] for f in one.manifest["tables"][0]["files"]) > DISK_MB << 20
    for _ in range(2):  # and once more, while the disk is still full
        one.refused("cannot write webhdfs://.*(all DataNodes of this file failed|no live DataNode has enough free space)", "--create",
                    status=1)
    assert (tmp_path / "out.saltmill-apply").read_text().count(" put ") < 5
    subprocess.run(["mount", "-o", f"remount,size={8 * DISK_MB}m", world.cold], check=True)

    def has_room():
        """A DataNode reports its space to the NameNode with its heartbeat."""
        again = one.run("--create", "--check")
        assert again.returncode in (0, 1), again.stderr
        assert not again.returncode or "enough free space" in again.stderr or "DataNodes of this file failed" in again.stderr, again.stderr
        return again.returncode == 0
    wait_until(has_room, pause=1)
    one.check("disk:wide", expected)
    one.check_stores("disk:wide")
    assert world.hdfs.tree("/bulk/cold") == {} and world.hdfs.tree("/hbase/staging") == {}


def test_scanned_server_dies(world, tmp_path):
    """Two scans pause in the middle, and one of their servers dies. HBase checks the filter of one scan.

    Each scan expects more than the 32 MiB of answers that the client may buffer, so the server dies during the scan.
    """
    wide_rows(tmp_path, "scanned", 60_000, 6, width=1000)
    one = Applied(world.saltmill, world.hbase, tmp_path, "--user", "ann", "--upload", world.hdfs.url("/bulk/scanned"))
    one.load(tmp_path / "job.yaml")
    one.done("--create")
    questions = [[], ["--where", "w = '1'"]]
    scans, said = [], {}
    for i, question in enumerate(questions):
        p = subprocess.Popen([world.saltmill, "scan", tmp_path / "job.yaml", "--hbase", world.hbase.zookeeper, "--format", "csv",
                              "--explain", *question], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        scans.append((p, p.stdout.read(100_000)))
        # the output of the program must not block the program
        said[i] = threading.Thread(target=lambda p=p: setattr(p, "said", p.stderr.read().decode()))
        said[i].start()
    world.hbase.kill_one("region1")
    rest = [threading.Thread(target=lambda p=p: setattr(p, "rest", p.stdout.read())) for p, _ in scans]
    for t in rest:
        t.start()
    world.hbase.revive()
    for i, (p, begun) in enumerate(scans):
        rest[i].join(SECONDS)
        said[i].join(SECONDS)
        assert p.wait(SECONDS) == 0, p.said
        want = subprocess.run([world.saltmill, "scan", tmp_path / "job.yaml", one.out, "--format", "csv", *questions[i]],
                              stdout=subprocess.PIPE, check=True).stdout
        assert begun + p.rest == want, (len(begun + p.rest), len(want), p.said)
        assert "continued after a failure" in p.said, p.said
        assert ("filter " in p.said) == bool(questions[i]), p.said


# --- HDFS alone ---


@pytest.fixture
def lonely(world):
    """Returns the HDFS, without HBase, which no later test needs."""
    world.hbase.stop()
    return world.hdfs


def test_namenode_gone(load, lonely, local):  # noqa: F811
    """If the DataNode dies during the load, the load prints an error and publishes nothing. After the restart, only the
    sibling folder exists."""
    assert load(lonely.url("/bulk/warm")).returncode == 0  # the first write to a new DataNode is slow
    run = load(lonely.url("/bulk/gone"), "--hdfs-patience", "3", start=True)
    wait_until(lambda: lonely.status(f"/bulk/gone{PARTIAL}/flights/hfiles"), pause=0.02)
    run.send_signal(signal.SIGSTOP)  # otherwise a busy machine may end the load first
    lonely.namenode.kill()
    lonely.namenode.wait()
    run.send_signal(signal.SIGCONT)
    try:
        _, err = run.communicate(timeout=120)
        assert run.returncode == 1, err
        assert b"Failed to connect" in err or b"says" in err or b"answers" in err, err
    finally:
        lonely.start_namenode()
        lonely.wait()
    assert lonely.status("/bulk/gone") is None
    assert load(lonely.url("/bulk/gone")).returncode == 0
    assert lonely.tree("/bulk/gone") == local


def test_no_datanode(load, lonely):  # noqa: F811
    """This is the last test of these servers, because no test starts the DataNode again."""
    lonely.datanode.kill()
    lonely.datanode.wait()
    done = load(lonely.url("/bulk/alone"), "--hdfs-patience", "2")
    assert done.returncode == 1, done.stderr
    assert b"saltmill load: cannot write webhdfs://" in done.stderr, done.stderr
    assert lonely.status("/bulk/alone") is None
