"""Tests that each command with a live HBase ends in the time of --timeout: if a server never answers a call, and if it
answers "try later" for ever. The message names the server, the call and the time."""

import contextlib
import random
import shutil
import socketserver
import subprocess
import threading
import time

import pytest

from fake_hbase import FakeHBase, Refusal
from test_apply_answers import LoadingHBase
from test_apply import load  # noqa: F401  (a fixture)
from test_live import PLAIN
from test_places import Place

LIMIT = 3  # seconds of --timeout
LATEST = 45  # seconds; before, each run took a minute or more
JOB = PLAIN.replace("split: none", "split: sampled, count: 2")
COMMANDS = {"tables": ["tables"], "regions": ["regions", "t"], "describe": ["describe", "t"], "drop": ["drop", "t", "--yes"],
            "scan": ["scan", "job.yaml"], "plan": ["plan", "job.yaml"], "drift": ["drift", "job.yaml"],
            "load": ["load", "job.yaml", "-o", "out"], "init": ["init", "--table", "t"]}


class Threads(socketserver.ThreadingTCPServer):
    daemon_threads = True


@contextlib.contextmanager
def serving(server):
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    with server:
        yield server.server_address[1]
        server.shutdown()


class Stopped:
    """A part of a class of servers: `method` has no answer, or only "try later"."""
    def stop_at(self, method, refusal):
        self.asked = 0

        def stop(request):
            self.asked += 1
            if refusal:
                raise Refusal(refusal)
            threading.Event().wait(LATEST)
        setattr(self, "do_" + method, stop)
        return self


class StoppedHBase(Stopped, FakeHBase):
    do_GetClusterStatus = LoadingHBase.do_GetClusterStatus


class StoppedLoadingHBase(Stopped, LoadingHBase):
    pass


@pytest.fixture
def folder(tmp_path):
    for name in COMMANDS:
        (tmp_path / name).mkdir()
        (tmp_path / name / "job.yaml").write_text(JOB)
        (tmp_path / name / "events.csv").write_text("id,note\n1,a\n2,b\n")
    return tmp_path


def run(saltmill, folder, words, server, limit=LIMIT):
    where = getattr(server, "address", server)
    return subprocess.Popen([saltmill, *map(str, words), "--hbase", where, "--timeout", f"{limit}s"], cwd=folder, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def judge(runs):
    """Checks each run (name, process, words of the message) at its end."""
    begin = time.monotonic()
    for name, process, words in runs:
        try:
            said = process.communicate(timeout=LATEST + begin - time.monotonic())[1]
        finally:
            process.kill()
        assert process.returncode == 1 and all(w in said for w in words), (name, process.returncode, said)


BUSY, LATER = "hadoop.hbase.RegionTooBusyException", "hadoop.hbase.CallQueueTooBigException"
NO_RESULT = f"no result within {LIMIT} s (--timeout), after "
CALLS = {"GetClusterId": COMMANDS, "Scan": ["regions", "scan", "plan", "drift", "load", "init"],
         "GetTableDescriptors": ["tables", "describe", "load", "init"], "GetTableState": ["drop"]}
APPLY = [("GetClusterStatus", None), ("GetTableDescriptors", LATER), ("PrepareBulkLoad", None), ("PrepareBulkLoad", LATER),
         ("BulkLoadHFile", BUSY), ("CleanupBulkLoad", None)]


def test_calls_without_a_result(saltmill, folder):
    """All runs at once. A failed search for the cluster is not repeated, so its message has no number of attempts."""
    cells = [(b"\0\0\0\1", b"f", b"n", 1, b"v")]
    with contextlib.ExitStack() as stack:
        runs, servers = [], []
        for method, commands in CALLS.items():
            for refusal in (None, LATER):
                server = stack.enter_context(StoppedHBase("t", ["f"], cells, [], random.Random(1)).stop_at(method, refusal))
                words = [f"127.0.0.1:{server.port}", "CallQueueTooBigException" if refusal else f"{method}, after "]
                words += [NO_RESULT] if method != "GetClusterId" else []
                runs += [((method, refusal, name), run(saltmill, folder / name, COMMANDS[name], server), words) for name in commands]
                servers.append((server, len(commands)))
        judge(runs)
        assert all(server.asked >= n for server, n in servers)


class Accepts(socketserver.BaseRequestHandler):
    def handle(self):
        while self.request.recv(1 << 16):
            pass


def test_servers_that_accept_only(saltmill, folder):
    """The servers share one limit, so that a server that answers gets its call."""
    cells = [(b"\0\0\0\1", b"f", b"n", 1, b"v")]
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(serving(Threads(("127.0.0.1", 0), Accepts))) for _ in range(3)]
        where = ",".join(f"127.0.0.1:{port}" for port in servers)
        begin = time.monotonic()
        judge([(name, run(saltmill, folder / name, words, where), ["127.0.0.1:", "GetClusterId, after 1"]) for name, words in COMMANDS.items()])
        assert time.monotonic() - begin >= LIMIT
        good = stack.enter_context(FakeHBase("t", ["f"], cells, [], random.Random(1)))
        done = run(saltmill, folder / "scan", COMMANDS["scan"], f"127.0.0.1:{servers[0]},{good.address}")
        assert done.communicate(timeout=LATEST)[0].count("\n") == 1 and done.returncode == 0


def test_apply(saltmill, load, tmp_path):  # noqa: F811
    with contextlib.ExitStack() as stack:
        runs = []
        for i, (method, refusal) in enumerate(APPLY):
            place = Place()
            stack.callback(place.close)
            server = stack.enter_context(StoppedLoadingHBase(place, []).stop_at(method, refusal))
            copy = shutil.copytree(load, tmp_path / str(i))
            words = ["apply", copy, "--user", "ann", "--upload", server.hdfs.url("/up")]
            runs.append(((method, refusal), run(saltmill, tmp_path, words, server), [f"127.0.0.1:{server.port}", NO_RESULT]))
        judge(runs)
