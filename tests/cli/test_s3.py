"""Tests inputs in S3, with a server that checks each signature independently, breaks its answers and changes objects."""

import gzip
import json
import os
import re
import subprocess
import time

import pytest

from s3_server import KEY_ID, REGION, S3, SECRET, signature

JOB = """\
source: {csv: {files: [rows.csv], header: true}}
fields: {id: {type: u64}}
tables:
  - name: t
    rowkey: [{field: id, as: u64}]
    timestamp: 1700000000000
    families: {f: {compression: NONE}}
    cells: [{family: f, qualifier: v, value: {field: v}}]
    regions: {split: sampled, count: 2}
"""
ROWS = ("id,v\n" + "".join(f"{i * 7919 % 100003},value {i}\n" for i in range(100_000))).encode()


@pytest.fixture
def s3(tmp_path):
    (tmp_path / "job.yaml").write_text(JOB)
    with S3() as server:
        yield server


@pytest.fixture
def load(saltmill, s3, tmp_path):
    """Returns a function that loads the named inputs, without the user's own settings."""
    def go(*inputs, out="out", env=()):
        plain = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
        settings = {**plain, "HOME": str(tmp_path), **s3.env(), **dict(env)}
        return subprocess.run([saltmill, "load", tmp_path / "job.yaml", *inputs, "-o", tmp_path / out, "--quiet"],
                              capture_output=True, text=True, timeout=180, check=False,
                              env={k: v for k, v in settings.items() if v is not None})
    return go


def files(out):
    return {p.relative_to(out): p.read_bytes() for p in sorted(out.rglob("hfiles/**/*")) if p.is_file()}


def test_the_signature_of_the_documentation():
    """The first example of "Authenticating Requests" of Amazon S3, a GET with a range."""
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    headers = {"host": "examplebucket.s3.amazonaws.com", "range": "bytes=0-9", "x-amz-content-sha256": empty,
               "x-amz-date": "20130524T000000Z"}
    assert signature("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "20130524/us-east-1/s3/aws4_request", "20130524T000000Z",
                     "GET", "/test.txt", "", headers, sorted(headers),
                     empty) == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"


def test_same_tables(s3, load, tmp_path):
    """Objects give the tables of files with the same bytes, also with an odd key, packed, and after broken answers."""
    (tmp_path / "rows.csv").write_bytes(ROWS)
    done = load(tmp_path / "rows.csv", out="local")
    assert done.returncode == 0, done.stderr
    right = files(tmp_path / "local")
    assert len(right) == 2
    s3.objects["b", "in/a b+c=ü~(1).csv"] = ROWS
    s3.objects["b", "rows.csv.gz"] = gzip.compress(ROWS)
    s3.objects["b", "none.csv"] = b""
    for n, (key, faults) in enumerate([("in/a b+c=ü~(1).csv", []), ("rows.csv.gz", []),
                                       ("in/a b+c=ü~(1).csv", ["503", "cut", "cut", "503", "cut"])]):
        s3.faults = list(faults)
        done = load(f"s3://b/{key}", out=f"out{n}")
        assert done.returncode == 0, done.stderr
        assert files(tmp_path / f"out{n}") == right and not s3.faults
        (printed,) = json.loads((tmp_path / f"out{n}" / "manifest.json").read_text())["inputs"]
        assert printed["bytes"] == len(s3.objects["b", key])
    job = tmp_path / "job.yaml"
    job.write_text(JOB.replace("rows.csv", "s3://b/rows.csv.gz"))
    done = load(out="named")
    assert done.returncode == 0 and files(tmp_path / "named") == right, done.stderr
    done = load("s3://b/none.csv", out="none")
    assert done.returncode != 0 and "s3://b/none.csv" in done.stderr, done.stderr


def test_login(s3, load, tmp_path):
    """A profile, a session token, and the errors of wrong settings."""
    s3.objects["b", "rows.csv"] = ROWS
    name = "s3://b/rows.csv"
    without = {"AWS_ACCESS_KEY_ID": None, "AWS_SECRET_ACCESS_KEY": None}
    done = load(name, env=without)
    assert done.returncode == 2 and f"{name}: found no credentials, expected AWS_ACCESS_KEY_ID" in done.stderr, done.stderr
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / "credentials").write_text(
        f"[default]\naws_access_key_id = wrong\n[etl]\n aws_access_key_id={KEY_ID}\naws_secret_access_key = {SECRET}\n")
    (tmp_path / ".aws" / "config").write_text(f"[profile etl]\nregion = {REGION}\nendpoint_url = {s3.url}/\n")
    done = load(name, out="profile", env={**without, "AWS_PROFILE": "etl", "AWS_REGION": None, "AWS_ENDPOINT_URL": None})
    assert done.returncode == 0, done.stderr
    s3.session = "a session/token=="
    done = load(name, out="session", env={"AWS_SESSION_TOKEN": s3.session})
    assert done.returncode == 0, done.stderr
    s3.session = None
    for env, says, status in (
            ({"AWS_SECRET_ACCESS_KEY": "other"}, "access denied: SignatureDoesNotMatch .*check AWS_SECRET_ACCESS_KEY", 2),
            ({"AWS_ACCESS_KEY_ID": "other"}, "access denied: InvalidAccessKeyId", 2),
            ({"AWS_REGION": "us-west-9"}, f"the bucket is in region {REGION}, and the request was for us-west-9; set "
                                          f"AWS_REGION={REGION}", 2)):
        done = load(name, out="refused", env=env)
        assert done.returncode == status and re.search(says, done.stderr), done.stderr
    for wrong, says, status in (("s3://b/absent", "s3://b/absent: found no such object", 1),
                                ("s3://c/absent", "because there is no such bucket", 1),
                                ("s3://b", "s3://b: expected s3://BUCKET/KEY", 2),
                                ("s3://b/*.csv", "patterns", 2), ("s3://b/in/", "folders", 2)):
        done = load(wrong, out="refused")
        assert done.returncode == status and says in done.stderr, (wrong, done)
    assert not (tmp_path / "refused").exists()
    for path in [p for p in tmp_path.rglob("*") if p.is_file() and ".aws" not in p.parts]:
        assert SECRET.encode() not in path.read_bytes(), path


def test_a_changed_object(s3, load, tmp_path):
    """Bytes of two versions never mix."""
    s3.objects["b", "rows.csv"] = ROWS
    s3.faults = ["cut", "change"]
    done = load("s3://b/rows.csv")
    assert done.returncode == 1 and "s3://b/rows.csv: the object changed during the load" in done.stderr, done.stderr
    assert not (tmp_path / "out").exists()


def test_other_bytes(s3, load, tmp_path):
    """An answer with other bytes than asked for is not used."""
    s3.objects["b", "rows.csv"] = ROWS
    (tmp_path / "rows.csv").write_bytes(ROWS)
    assert load(tmp_path / "rows.csv", out="local").returncode == 0
    s3.faults = ["cut", "shift", "cut", "shift"]
    done = load("s3://b/rows.csv")
    assert done.returncode == 0 and files(tmp_path / "out") == files(tmp_path / "local"), done.stderr


def test_a_signal(saltmill, s3, tmp_path):
    """A signal ends a load at once, also if the server has stopped sending."""
    s3.objects["b", "rows.csv"] = ROWS
    s3.faults = ["stall"] * 5
    command = [saltmill, "load", tmp_path / "job.yaml", "s3://b/rows.csv", "-o", tmp_path / "out", "--quiet"]
    with subprocess.Popen(command, env={**os.environ, **s3.env()}) as waiting:
        while not any(fault == "stall" for *_, fault in s3.asked):
            time.sleep(0.1)
        time.sleep(0.5)
        began = time.monotonic()
        waiting.terminate()
        assert waiting.wait(60) == 143
    assert time.monotonic() - began < 20 and not (tmp_path / "out").exists()
