"""Tests inputs and loads in S3 with moto, another server that checks each signature and each right (moto_s3.py).

`make kills-s3` kills at 100 moments. `make s3-store` runs these tests with Ceph's object gateway instead (ceph_s3.py).
"""

import gzip
import os
import random
import re
import subprocess
import threading
import time

import pytest

from ceph_s3 import store
from kills_s3 import Moment, try_moment
from moto_s3 import RIGHTS
from s3_server import BUCKET, SECRET
from test_s3 import JOB, files
from test_s3_output import LOAD, ROWS, check_whole, load, manifest, new_bench, run


@pytest.fixture(scope="module")
def bench(saltmill, tmp_path_factory):
    return new_bench(saltmill, tmp_path_factory.mktemp("moto"))


@pytest.fixture(scope="module")
def server():
    with store() as made:
        yield made


@pytest.fixture
def s3(server):
    server.clear()
    server.asked.clear()
    server.allow(*RIGHTS)
    return server


def test_inputs(saltmill, bench, s3, tmp_path):
    """Odd names, a packed object, broken answers, slices by ranges, and a listing of several pages."""
    right = files(bench / "local")
    lines = ROWS.splitlines(keepends=True)
    s3.put("in/a b+c=ü~(1)&'.csv", ROWS)
    s3.put("in/rows.csv.gz", gzip.compress(ROWS))
    for i in range(1001):
        s3.put(f"many/{i:04} ä&+%.csv", b"id,v\n")
    s3.put("many/0500 ä&+%.csv", b"".join(lines[:50_000]))
    s3.put("many/zz.csv", lines[0] + b"".join(lines[50_000:]))
    for n, (names, faults) in enumerate([(["in/a b+c=ü~(1)&'.csv"], ["cut", "503", "cut"]), (["in/rows.csv.gz"], []),
                                         (["many/05*0 *.csv", "many/z*"], [])]):
        s3.faults = list(faults)
        done = run(saltmill, bench, s3, "load", "job.yaml", *(f"s3://{BUCKET}/{name}" for name in names), "-o", tmp_path / str(n),
                   "--max-rejects", "1", "--quiet")
        assert done.returncode == 3, done.stderr
        assert files(tmp_path / str(n)) == right and not s3.faults
    events = 0
    for i in (1, 2, 3):
        done = run(saltmill, bench, s3, "plan", "job.yaml", f"s3://{BUCKET}/in/a b+c=ü~(1)&'.csv", "--slice", f"{i}/3",
                   "--save", tmp_path / f"s{i}")
        assert done.returncode == (3 if i == 3 else 0), done
        events += int(re.search(r"looked at ([\d,]+) events", done.stdout)[1].replace(",", ""))
    assert events == len(lines) - 1


def test_whole(saltmill, bench, s3, tmp_path):
    """moto accepts each request of a load, and the commands read the load there."""
    done = load(saltmill, bench, s3)
    assert done.returncode == 3, done.stderr
    check_whole(s3, bench)
    assert not s3.uploads
    done = run(saltmill, bench, s3, "verify", LOAD)
    assert done.returncode == 0 and "160,000 rows" in done.stdout, done
    answers = [run(saltmill, bench, s3, "scan", "job.yaml", place, "--where", "id = 15838", "--decode") for place in (LOAD, "local")]
    assert answers[0].returncode == 0 and answers[0].stdout == answers[1].stdout != "", answers
    done = run(saltmill, bench, s3, "report", LOAD, "-o", tmp_path / "page.html")
    assert done.returncode == 0 and "rows.csv" in (tmp_path / "page.html").read_text(), done
    secret = s3.access.secret_access_key
    assert secret not in (tmp_path / "page.html").read_text() and not any(secret.encode() in v for v in s3.objects.values())
    done = load(saltmill, bench, s3)
    assert done.returncode == 2 and f"{LOAD} exists already" in done.stderr, done


SENT = "0123456789abcdef"


@pytest.fixture
def parts(saltmill, s3, tmp_path):
    """A folder with two maps and the load of one process. Returns a function that runs the program there."""
    def do(status, *words):
        done = run(saltmill, tmp_path, s3, words[0], "job.yaml", *words[1:], "--quiet")
        assert done.returncode == status, done
        return done.stderr

    (tmp_path / "job.yaml").write_text(JOB)
    (tmp_path / "rows.csv").write_bytes(b"id,v\n" + b"".join(b"%d,value %d\n" % (i * 7919 % 3001, i) for i in range(3000)) + b"bad,line\n")
    (tmp_path / "maps").mkdir()
    (tmp_path / "reduces").mkdir()
    do(3, "plan", "rows.csv", "--tune", "-o", "plan")
    do(3, "load", "rows.csv", "--plan", "plan", "-o", "local", "--max-rejects", "1")
    for k in "12":
        do(0, "map", "rows.csv", "--plan", "plan", "--slice", f"{k}/2", "-o", f"maps/{k}")
    return do


def reduce(do, k, status=0, to=f"{LOAD}/{SENT}", out=None):
    return do(status, "reduce", "maps", "--plan", "plan", "--share", f"{k}/2", "-o", out or f"reduces/{k}", "--hfiles", to)


def unite(do, status, *more, sent=f"{LOAD}/{SENT}"):
    return do(status, "unite", "rows.csv", "--plan", "plan", "--maps", "maps", "--reduces", "reduces", "-o", LOAD, "--hfiles",
              sent, *more)


def test_sent_by_reduces(parts, s3, tmp_path, monkeypatch):
    """unite publishes the HFiles of reduces in their place, after a missing file, a limit and a kill. It removes the file of
    another attempt, because HBase loads all files of a folder."""
    assert "16 hexadecimal digits" in reduce(parts, 1, 2, f"{LOAD}/files")
    for k in "12":
        reduce(parts, k)
    prefix = f"loads/night/{SENT}/"
    sent = {name.removeprefix(prefix): data for (_, name), data in s3.objects.items()}
    assert sorted(name.rsplit("/", 1)[0] for name in sent) == [".lock", "t/hfiles/f", "t/hfiles/f"]
    name = max(sent)
    s3.put(f"{prefix}t/hfiles/f/{'0' * 32}", b"of another attempt")
    s3.remove(prefix + name)
    assert "not there, expected the file" in unite(parts, 4, "--max-rejects", "1")
    s3.put(prefix + name, sent[name])
    assert "expected a folder in s3://bucket/loads/night" in unite(parts, 2, sent=f"s3://{BUCKET}/loads/{SENT}")
    unite(parts, 4, "--max-rejects", "0")
    monkeypatch.setenv("SALTMILL_CRASH_AT", "described")
    unite(parts, -9, "--max-rejects", "1")
    monkeypatch.delenv("SALTMILL_CRASH_AT")
    assert manifest(s3) is None and all(s3.objects[BUCKET, prefix + n] == data for n, data in sent.items())
    unite(parts, 3, "--max-rejects", "1")
    check_whole(s3, tmp_path)
    assert "already ended" in reduce(parts, 1, 1, out="late")
    assert f"{LOAD} exists already" in parts(2, "unite", "--discard-hfiles", "--hfiles", f"{LOAD}/{SENT}", "-o", LOAD)
    check_whole(s3, tmp_path)


def start_unite(saltmill, s3, folder):
    words = [saltmill, "unite", "job.yaml", "rows.csv", "--plan", "plan", "--maps", "maps", "--reduces", "reduces", "-o", LOAD, "--hfiles",
             f"{LOAD}/{SENT}", "--max-rejects", "1", "--quiet"]
    return subprocess.Popen(words, cwd=folder, env={**os.environ, **s3.env(), "HOME": str(folder)}, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("stop_at", ["manifest.json", f"{SENT}/.lock", "killed"])
def test_two_unites_at_once(saltmill, parts, s3, tmp_path, stop_at):
    """Two unites with one folder. At first both have done everything but one write. Then one publishes, and the other one goes
    on or dies. Exactly one succeeds, the other one reports the load, and the load is whole."""
    for k in "12":
        reduce(parts, k)
    killed, stop_at = stop_at == "killed", f"{SENT}/t/splits.txt" if stop_at == "killed" else stop_at
    arrived, first_done, lock = [], threading.Event(), threading.Lock()

    def gate(to, key):
        if to.command != "PUT" or key != f"loads/night/{stop_at}":
            return
        with lock:
            arrived.append(to.client_address)
            second = len(arrived) == 2
        if second:
            both.set()
            assert first_done.wait(60)
        assert both.wait(60)

    both = threading.Event()
    s3.gate = gate
    try:
        runs = [start_unite(saltmill, s3, tmp_path) for _ in range(2)]
        ended, deadline = [], time.monotonic() + 100
        while not ended and time.monotonic() < deadline:
            ended = [r for r in runs if r.poll() is not None]
            time.sleep(0.01)
        assert [r.returncode for r in ended] == [3], [r.communicate()[1] for r in ended]
        check_whole(s3, tmp_path, ["manifest.json", ".lock"])
        (other,) = [r for r in runs if r not in ended]
        if killed:
            other.kill()
        first_done.set()
        said = other.communicate(timeout=100)[1]
        assert killed or (other.returncode == 2 and re.search("exists already|already exists", said)), (other.returncode, said)
    finally:
        first_done.set()
        s3.gate = lambda to, key: None
        for r in runs:
            r.kill()
            r.communicate()
    check_whole(s3, tmp_path, [".lock"])
    done = run(saltmill, tmp_path, s3, "verify", LOAD)
    assert done.returncode == 0, done.stdout


def test_a_versioned_bucket(saltmill, bench, s3):
    """Deleted objects and older versions in a versioned bucket are no part of a load, and are not in the way of a later one."""
    s3.versioning("Enabled")
    try:
        for _ in range(2):
            s3.write_faults = [None, "lost", None, "lost"]
            assert load(saltmill, bench, s3).returncode == 3
            check_whole(s3, bench)
            assert run(saltmill, bench, s3, "verify", LOAD).returncode == 0
            s3.clear()
            assert run(saltmill, bench, s3, "verify", LOAD).returncode != 0
    finally:
        s3.versioning("Suspended")
        s3.forget()


def test_sent_objects_are_discarded(parts, s3):
    """A failed send does not remove the object of another attempt, even if its own answer is lost."""
    reduce(parts, 1)
    before = s3.objects
    s3.write_faults = ["lost"]
    s3.after_write = lambda: s3.allow(*(r for r in RIGHTS if r != "PutObject"))
    assert "needs the right s3:PutObject" in reduce(parts, 1, 2, out="again")
    s3.after_write = lambda: None
    assert s3.objects == before and not s3.write_faults
    s3.allow(*RIGHTS)
    s3.put("loads/other/x", b"x")
    parts(0, "unite", "--discard-hfiles", "--hfiles", f"{LOAD}/{SENT}", "-o", LOAD)
    assert set(s3.objects) == {(BUCKET, "loads/other/x")} and not s3.uploads
    assert "without --hfiles" in parts(2, "unite", "--discard-hfiles", "-o", LOAD)


def test_rights(saltmill, bench, s3):
    """The server refuses a wrong secret, an unknown key and a user without the right, so its checks are on."""
    s3.put("rows.csv", ROWS)
    check = ["check", "job.yaml", f"s3://{BUCKET}/rows.csv"]
    env = s3.env()
    for more, says in (({"AWS_SECRET_ACCESS_KEY": SECRET}, "access denied: SignatureDoesNotMatch"),
                       ({"AWS_ACCESS_KEY_ID": "AKIAUNKNOWN"}, "access denied: InvalidAccessKeyId")):
        done = subprocess.run([saltmill, *check], cwd=bench, capture_output=True, text=True, timeout=60, check=False,
                              env={**os.environ, **env, **more})
        assert done.returncode == 2 and says in done.stderr, done
    for lacks in ("GetObject", "PutObject", "ListBucket"):
        s3.allow(*(r for r in RIGHTS if r != lacks))
        done = run(saltmill, bench, s3, *check) if lacks == "GetObject" else load(saltmill, bench, s3)
        assert done.returncode == 2 and re.search(f"the user needs the right s3:.*{lacks}", done.stderr), done
    assert {k for _, k in s3.objects} == {"rows.csv"}


def test_two_runs_at_once(saltmill, bench, s3):
    """Exactly one of two runs publishes. The other removes its own objects."""
    command = [saltmill, "load", "job.yaml", "-o", LOAD, "--quiet", "--max-rejects", "1"]
    env = {**os.environ, **s3.env(), "HOME": str(bench)}
    runs = [subprocess.Popen(command, cwd=bench, env=env, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    said = [one.communicate(timeout=120)[1] for one in runs]
    status = sorted(one.returncode for one in runs)
    assert status in ([1, 3], [2, 3]), said
    check_whole(s3, bench)


@pytest.mark.parametrize("seed", range(3))
def test_killed(saltmill, bench, s3, seed):
    """A sample of `make kills-s3`."""
    try_moment(saltmill, bench, s3, Moment(random.Random(seed)))
