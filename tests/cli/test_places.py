"""Tests loads into remote storage. They write exactly the files of a local load, or no file.

The storage is a small WebHDFS in memory. The path selects its faults (tests/unit/fake_webhdfs.py).
"""

import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import pytest

from cluster import wait_until
from load_help import Bench, rows
from loads import wait_until_caught

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "unit"))
import fake_webhdfs  # noqa: E402  (needs the path above)

PARTIAL = ".saltmill-partial"


class Place:
    """A server and the server's content."""

    def __init__(self, certificate=None):
        self.servers = fake_webhdfs.serve(certificate)
        self.tree = self.servers[0].RequestHandlerClass.tree
        self.tree.nodes["/x"] = self.tree.node("ann", "755")

    def url(self, path):
        return f"webhdfs://127.0.0.1:{self.servers[0].server_port}{path}"

    def files(self, path):
        return {p[len(path) + 1:]: n["data"] for p, n in self.tree.children(path).items()
                if n["data"] is not None}

    def names(self, path):
        return sorted(p[len(path) + 1:] for p in self.tree.children(path)
                      if fake_webhdfs.parent(p) == path)

    def close(self):
        for s in self.servers:
            s.shutdown()
            s.server_close()


@pytest.fixture
def place():
    p = Place()
    yield p
    p.close()


@pytest.fixture
def bench(tmp_path, saltmill):
    b = Bench(tmp_path, saltmill)
    b.input(rows(3000))
    return b


def load(bench, out, *more):
    return bench.run("--hdfs-user", "ann", *more, out=out)


def files_of(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def started(bench, out):
    """Starts a load as a process."""
    return subprocess.Popen([bench.program, "load", "job.yaml", "-o", out,
                             "--hdfs-user", "ann"], cwd=bench.folder, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE)


def test_the_same_files(bench, place, tmp_path):
    temp = tmp_path / "temp"
    temp.mkdir()
    assert bench.run(out=tmp_path / "local").returncode == 0
    r = load(bench, place.url("/x/out"), "--temp-dir", temp)
    assert r.returncode == 0, r.stderr
    assert f"published as {place.url('/x/out')}".encode() in r.stdout + r.stderr
    assert place.files("/x/out") == files_of(tmp_path / "local")
    assert place.names("/x") == ["out"]
    assert list(temp.iterdir()) == []
    # existing files do not change
    r = load(bench, place.url("/x/out"))
    assert r.returncode == 2 and b"/x/out exists already" in r.stderr
    assert place.files("/x/out") == files_of(tmp_path / "local")


@pytest.mark.parametrize("fault", ["busy-5", "cut-2", "lost-2", "dead-3", "old-99"])
def test_passing_faults(bench, place, tmp_path, fault):
    """The server loses, refuses and interrupts calls for a while."""
    assert bench.run(out=tmp_path / "local").returncode == 0
    r = load(bench, place.url(f"/x/fault-{fault}"))
    assert r.returncode == 0, r.stderr
    assert place.files(f"/x/fault-{fault}") == files_of(tmp_path / "local")


@pytest.mark.parametrize("fault, status, said", [
    ("full", 1, "no live DataNode has enough free space"),
    ("quota", 1, "has reached its quota of space"),
    ("garbled", 1, "HDFS stored other bytes than"),
    ("denied", 2, "Permission denied: user=ann"),
    ("garbage", 1, "expected JSON with a `FileStatus`"),
    ("html", 1, "answers 500"),
])
def test_lasting_faults(bench, place, fault, status, said):
    """Checks that the load printed one error message, has the exit status, and left no file."""
    r = load(bench, place.url(f"/x/fault-{fault}-999999"))
    assert r.returncode == status, r.stderr
    lines = [l for l in r.stderr.decode().splitlines() if ": error" in l or said in l]
    assert lines and said in lines[-1], r.stderr
    place.tree.faults.clear()
    assert place.names("/x") == [] or fault in ("denied", "garbage", "html")


def test_killed_and_started_again(bench, place, tmp_path):
    assert bench.run(out=tmp_path / "local").returncode == 0
    p = started(bench, place.url("/x/out"))
    wait_until(lambda: len(place.tree.children("/x/out" + PARTIAL)) > 3)
    p.send_signal(signal.SIGKILL)
    p.communicate()
    assert place.names("/x") == ["out" + PARTIAL]
    r = load(bench, place.url("/x/out"))
    assert r.returncode == 0, r.stderr
    assert b"which a killed run left" in r.stderr
    assert place.names("/x") == ["out"]
    assert place.files("/x/out") == files_of(tmp_path / "local")


def test_a_living_run_is_left_alone(bench, place):
    """The lock is a file that names the process."""
    p = started(bench, place.url("/x/fault-slow-2"))
    wait_until(lambda: "/x/fault-slow-2" + PARTIAL + "/.lock" in place.tree.nodes)
    os.kill(p.pid, signal.SIGSTOP)
    r = load(bench, place.url("/x/fault-slow-2"))
    os.kill(p.pid, signal.SIGCONT)
    assert r.returncode == 2 and b"another run writes" in r.stderr, r.stderr
    _, err = p.communicate()
    assert p.returncode == 0, err
    assert place.names("/x") == ["fault-slow-2"]


def lock_of_another_machine(place, out):
    tree = place.tree
    tree.nodes[out + PARTIAL] = tree.node("ann", "755")
    lock = tree.nodes[out + PARTIAL + "/.lock"] = tree.node(
        "ann", "644", b"00000000-0000-0000-0000-000000000000 1 1 1\n")
    return lock


def test_a_run_on_another_machine(bench, place):
    """saltmill cannot check the process, but the process updates its lock."""
    lock = lock_of_another_machine(place, "/x/out")
    touch = threading.Timer(2, lambda: lock.update(time=lock["time"] + 1))
    touch.start()
    r = load(bench, place.url("/x/out"))
    touch.join()
    assert r.returncode == 2 and b"another run writes" in r.stderr, r.stderr
    assert place.names("/x") == ["out" + PARTIAL]


def test_of_somebody_else(bench, place):
    place.tree.nodes["/x/out" + PARTIAL] = place.tree.node("bob", "755")
    r = load(bench, place.url("/x/out"))
    assert r.returncode == 2 and b"found owner bob, expected ann" in r.stderr, r.stderr
    assert place.names("/x") == ["out" + PARTIAL]


def test_stopped_by_a_signal(bench, place):
    p = started(bench, place.url("/x/fault-busy-100000"))
    wait_until_caught(p, signal.SIGINT)
    time.sleep(0.5)
    p.send_signal(signal.SIGINT)
    _, err = p.communicate(timeout=20)
    assert p.returncode == 130, err


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
def test_stopped_while_it_writes(bench, place, sig):
    """The next run finds no leftovers. Each file takes 1.8 s, so the signal comes before the last one."""
    p = started(bench, place.url("/x/fault-slow-100"))
    wait_until(lambda: len(place.tree.children("/x/fault-slow-100" + PARTIAL)) > 1, p)
    p.send_signal(sig)
    _, err = p.communicate(timeout=20)
    assert p.returncode == 128 + sig, err
    assert place.names("/x") == []


def test_a_gateway_that_tells_no_ids(bench, place):
    """saltmill could not distinguish the lock from the lock of another run."""
    r = load(bench, place.url("/x/fault-nameless-1"))
    assert r.returncode == 2 and b"found no fileId in the server's answer" in r.stderr, r.stderr
    assert place.names("/x") == []


def test_places_that_cannot_be(bench, place, tmp_path):
    for out, said in (("webhdfs://", "expected webhdfs://HOST[:PORT]/PATH"),
                      ("gs://bucket/x", "expected a path, file://, webhdfs://"),
                      (place.url("/none/out"), "its parent folder /none does not exist"),
                      (place.url("/x/.."), "expected the name of a new folder")):
        r = load(bench, out)
        assert r.returncode == 2 and said in r.stderr.decode(), (out, r.stderr)
    r = subprocess.run([bench.program, "plan", "job.yaml", "-o", place.url("/x/plan")], cwd=bench.folder,
                       capture_output=True, check=False)
    assert r.returncode == 2 and b"expected a folder of this machine" in r.stderr, r.stderr


@pytest.mark.parametrize("args", [("inspect",), ("replay", "--rejects", "-o", "again")])
def test_commands_that_read_this_machine_only(bench, place, args):
    """The message has the command that gets the load, and no request goes to the server."""
    for uri in (place.url("/x/out"), "hdfs://namenode/out", "s3://bucket/out"):
        command = [bench.program, args[0], uri, *args[1:]]
        r = subprocess.run(command, cwd=bench.folder, capture_output=True, check=False, timeout=20)
        said = f"{uri}: found a remote file or folder, expected one of this machine; copy it first with `hdfs dfs -get`"
        assert r.returncode == 2 and said in r.stderr.decode(), (command, r.stderr)


def test_reading_a_load_there(bench, place):
    """verify, scan and report read a load in HDFS where it is, and print what they print about a local load."""
    for out in (place.url("/x/out"), "local"):
        assert load(bench, out).returncode == 0
    for command in (["verify", "{}"], ["scan", "job.yaml", "{}"]):
        there, here = [subprocess.run([bench.program, *(w.format(p) for w in command)], cwd=bench.folder, capture_output=True,
                                      check=False, timeout=60) for p in (place.url("/x/out"), "local")]
        assert there.returncode == 0 and there.stdout == here.stdout != b"", there
    r = subprocess.run([bench.program, "report", place.url("/x/out"), "-o", "page.html"], cwd=bench.folder, capture_output=True,
                       check=False, timeout=60)
    assert r.returncode == 0 and (bench.folder / "page.html").exists(), r.stderr


def test_verify_there_with_threads(bench, place):
    """Threads that copy files into the same new folders do not disturb each other."""
    assert load(bench, place.url("/x/out")).returncode == 0
    for _ in range(30):
        r = subprocess.run([bench.program, "verify", place.url("/x/out"), "--threads", "8"], cwd=bench.folder, capture_output=True,
                           check=False, timeout=60)
        assert r.returncode == 0, r.stdout


def test_hdfs_by_its_own_name(bench, place, tmp_path):
    """hdfs:// names the port of another protocol. The error names the address that speaks HTTP."""
    port = place.servers[0].server_port
    r = load(bench, "hdfs://name:8020/x/out", "--webhdfs",
             f"127.0.0.1:{place.servers[1].server_port},127.0.0.1:{port}")
    assert r.returncode == 0, r.stderr
    assert "manifest.json" in place.files("/x/out")
    r = subprocess.run([bench.program, "verify", "hdfs://name:8020/x/out", "--webhdfs", f"127.0.0.1:{port}"], cwd=bench.folder,
                       capture_output=True, check=False, timeout=60)
    assert r.returncode == 0, r.stdout + r.stderr


def test_rejects_go_there_too(bench, place):
    bench.input(rows(100) + b"no,number,here\n")
    r = load(bench, place.url("/x/out"), "--max-rejects", "1")
    assert r.returncode == 3, r.stderr
    assert place.files("/x/out")["rejects.jsonl"].count(b"\n") == 1


def test_it_does_not_fit(bench, place):
    """HDFS stores each byte twice. Without compression, the files are about as large as reported."""
    bench.input(rows(40_000))
    assert load(bench, place.url("/x/fits")).returncode == 0
    written = sum(len(b) for p, b in place.files("/x/fits").items() if "/hfiles/" in p)
    place.tree.free = 2 * int(0.7 * written)
    r = load(bench, place.url("/x/out"))
    assert r.returncode == 1, r.stderr
    assert b"the HFiles of this load need about" in r.stderr and b"of free space" in r.stderr
    assert place.names("/x") == ["fits"]
    place.tree.free = 4 * written
    assert load(bench, place.url("/x/out")).returncode == 0


SAFE = {"CapacityRemaining": 0, "CapacityTotal": 0, "NumLiveDataNodes": 0, "FSState": "safeMode"}
ALONE = {**SAFE, "FSState": "Operational"}


def test_a_namenode_that_was_just_started(bench, place):
    """The DataNodes report one by one. Until then the load waits, and does not report 0 bytes of free space."""
    bench.input(rows(40_000))
    place.tree.free = 1 << 40
    place.tree.states = [SAFE, SAFE, ALONE, {**ALONE, "NumLiveDataNodes": 1}]
    r = load(bench, place.url("/x/out"))
    assert r.returncode == 0, r.stderr
    assert not place.tree.states
    for state, says in ((SAFE, b"the NameNode is in safe mode and accepts no changes"),
                        (ALONE, b"no DataNode has registered with the NameNode yet")):
        place.tree.states = [state] * 1000
        r = load(bench, place.url("/x/never"), "--hdfs-patience", "1s")
        assert r.returncode == 1 and says in r.stderr, r.stderr


def test_https(bench, tmp_path):
    """The certificate is self-signed, so only a client with the certificate trusts it."""
    pem = tmp_path / "both.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=fake",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", pem, "-out", tmp_path / "cert.pem"],
                   capture_output=True, check=True)
    pem.write_bytes(pem.read_bytes() + (tmp_path / "cert.pem").read_bytes())
    place = Place(pem)
    out = "s" + place.url("/x/out")
    try:
        r = load(bench, out, "--hdfs-patience", "1s")
        assert r.returncode == 1 and b"certificate" in r.stderr, r.stderr
        r = load(bench, out, "--hdfs-ca", tmp_path / "cert.pem")
        assert r.returncode == 0, r.stderr
        assert "manifest.json" in place.files("/x/out")
        place.tree.users.clear()
        verify = [bench.program, "verify", out, "--hdfs-user", "eve", "--hdfs-patience", "1s"]
        r = subprocess.run(verify, capture_output=True, check=False)
        assert r.returncode == 1 and b"certificate" in r.stdout and not place.tree.users, r.stdout
        r = subprocess.run([*verify, "--hdfs-ca", tmp_path / "cert.pem"], capture_output=True, check=False)
        assert r.returncode == 0 and place.tree.users == {"eve"}, (r.stdout, place.tree.users)
    finally:
        place.close()
