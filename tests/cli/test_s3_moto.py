"""Tests inputs and loads in S3 with moto, another server that checks each signature and each right (moto_s3.py).

`make kills-s3` kills at 100 moments.
"""

import gzip
import os
import random
import re
import subprocess

import pytest

from kills_s3 import Moment, try_moment
from moto_s3 import RIGHTS, Moto
from s3_server import BUCKET, SECRET
from test_s3 import files
from test_s3_output import LOAD, ROWS, check_whole, load, new_bench, run


@pytest.fixture(scope="module")
def bench(saltmill, tmp_path_factory):
    return new_bench(saltmill, tmp_path_factory.mktemp("moto"))


@pytest.fixture(scope="module")
def server():
    with Moto() as moto:
        yield moto


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


def test_rights(saltmill, bench, s3):
    """moto refuses a wrong secret, an unknown key and a user without the right, so its checks are on."""
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
        assert done.returncode == 2 and f"the user needs the right s3:{lacks}" in done.stderr, done
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
