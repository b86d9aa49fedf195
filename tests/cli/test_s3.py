"""Tests inputs in S3, with a server that checks each signature independently, breaks its answers and changes objects."""

import contextlib
import gzip
import http.server
import json
import os
import pathlib
import re
import socket
import subprocess
import threading
import time

import pytest

from s3_server import KEY_ID, REGION, S3, SECRET, signature

CACHE = pathlib.Path(os.environ.get("SALTMILL_CACHE", pathlib.Path.home() / ".cache" / "saltmill"))

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
        return subprocess.run([saltmill, "load", tmp_path / "job.yaml", *inputs, "-o", out if "://" in out else tmp_path / out, "--quiet"],
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
                                ("s3://b/*.tsv", "found no file that matches this pattern", 1),
                                ("s3://b/*/rows.csv", "expected patterns only after the last slash", 2),
                                ("s3://b/in/", "found no files in this folder", 1),
                                ("gs://b/rows.csv", "found path gs://b/rows.csv, expected a path", 2)):
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


def test_patterns_and_folders(s3, load, tmp_path):
    """The listing has several pages. Hidden names and deeper folders do not count."""
    lines = ROWS.splitlines(keepends=True)
    for i in range(7):
        s3.objects["b", f"in/day={i} ä&+%.csv"] = lines[0] + b"".join(lines[1 + i::7])
    for name in ("in/_SUCCESS", "in/.hidden.csv", "in/deeper/day=9.csv", "in/", "input.csv"):
        s3.objects["b", name] = b"id,v\nnone,none\n"
    (tmp_path / "rows.csv").write_bytes(ROWS)
    assert load(tmp_path / "rows.csv", out="local").returncode == 0
    s3.page = 3
    for n, names in enumerate((["s3://b/in/"], ["s3://b/in/day=[0-5]*.csv", "s3://b/in/day=6*"])):
        done = load(*names, out=f"out{n}")
        assert done.returncode == 0 and files(tmp_path / f"out{n}") == files(tmp_path / "local"), done.stderr
    done = load("s3://b/in/", "s3://b/in/day=3*", out="twice")
    assert done.returncode == 2 and "found this file twice" in done.stderr, done.stderr


def test_slices(saltmill, s3, load, tmp_path):
    """The slices of an object have each row once."""
    s3.objects["b", "rows.csv"] = ROWS
    assert load("s3://b/rows.csv", out="whole").returncode == 0
    events = 0
    for i in (1, 2, 3):
        s3.asked.clear()
        done = subprocess.run([saltmill, "plan", "job.yaml", "s3://b/rows.csv", "--slice", f"{i}/3", "--save", f"s{i}"], cwd=tmp_path,
                              env={**os.environ, **s3.env()}, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        events += int(re.search(r"looked at ([\d,]+) events", done.stdout)[1].replace(",", ""))
        if i == 3:
            assert any(asked[1] and int(asked[1].removeprefix("bytes=").split("-")[0]) >= len(ROWS) * 2 // 3 - 1 for asked in s3.asked)
    assert events == 100_000
    s3.faults = [None, "change"]
    done = subprocess.run([saltmill, "plan", "job.yaml", "s3://b/rows.csv", "--slice", "2/3", "--save", "changed"], cwd=tmp_path,
                          env={**os.environ, **s3.env()}, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and "the object changed" in done.stderr, done.stderr


def test_lists_with_gaps(s3, load, monkeypatch):
    """A list that is cut, has no end or leads nowhere would lack inputs. The load fails instead."""
    for i in range(3):
        s3.objects["b", f"in/{i}.csv"] = ROWS
    s3.page, answer = 1, S3.answer
    for old, new, says in ((b"</ListBucketResult>", b"", "found another text, expected </ListBucketResult>"),
                           (b"<NextContinuationToken>", b"<Another>", "found no <NextContinuationToken>"),
                           (b"<NextContinuationToken>in/1.csv<", b"<NextContinuationToken>in/0.csv<", "found the same <NextContinuationToken>"),
                           (b"<Key>", b"<Another>", "found an object without a name")):
        monkeypatch.setattr(S3, "answer", staticmethod(lambda to, status, body=b"", headers=(), old=old, new=new: answer(
            to, status, body.replace(old, new), headers)))
        done = load("s3://b/in/")
        assert done.returncode == 1 and says in done.stderr, done.stderr


class Liar(http.server.BaseHTTPRequestHandler):
    """Answers every request with `self.server.lie`: a status, headers, and megabytes of a body."""

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.server.seen.append(dict(self.headers))
        status, headers, megabytes = self.server.lie
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            for _ in range(0 if self.command == "HEAD" else megabytes):
                self.wfile.write(b"x" * (1 << 20))
                self.server.sent += 1

    do_HEAD = do_PUT = do_POST = do_DELETE = do_GET


@contextlib.contextmanager
def lying(status=200, headers=(), megabytes=0):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Liar) as server:
        server.lie, server.seen, server.sent = (status, headers, megabytes), [], 0
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server, f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_redirects_get_no_proof(s3, load):
    """A server that sends us elsewhere gets no second request, and the other server gets none at all."""
    with lying() as (thief, url):
        for status in (301, 302, 307, 308):
            with lying(status, [("Location", url + "/b/rows.csv"), ("Content-Length", "0")]) as (server, here):
                for words in (["s3://b/rows.csv"], ["s3://b/in/*.csv"]):
                    done = load(*words, env={"AWS_ENDPOINT_URL": here, "AWS_SESSION_TOKEN": "of the session"})
                    assert done.returncode != 0 and server.seen, done
                    assert SECRET not in done.stderr and "of the session" not in done.stderr, done.stderr
        assert thief.seen == []


def test_huge_answers(s3, load):
    """An answer that is no object ends after 64 KiB."""
    for status, name in ((403, "s3://b/rows.csv"), (200, "s3://b/in/*.csv")):
        with lying(status, megabytes=256) as (server, here):
            done = load(name, env={"AWS_ENDPOINT_URL": here})
            assert done.returncode == 1 and "the answer is too long" in done.stderr, done.stderr
            assert server.sent < 64


class Metadata(http.server.BaseHTTPRequestHandler):
    """The metadata service of a virtual machine (IMDSv2), which answers only with the token of a PUT."""
    role = {"Code": "Success", "AccessKeyId": KEY_ID, "SecretAccessKey": SECRET, "Token": "of the role",
            "Expiration": "2099-01-01T00:00:00Z"}
    asked = []

    def log_message(self, *_):
        pass

    def do_PUT(self):
        good = self.path == "/latest/api/token" and self.headers["X-aws-ec2-metadata-token-ttl-seconds"] == "21600"
        self.reply("proof" if good else None)

    def do_GET(self):
        self.asked.append(self.path)
        folder = "/latest/meta-data/iam/security-credentials/"
        texts = {folder: "loader", folder + "loader": json.dumps(self.role), "/latest/meta-data/placement/region": REGION}
        self.reply(texts.get(self.path) if self.headers["X-aws-ec2-metadata-token"] == "proof" else None)

    def reply(self, text):
        body = (text or "").encode()
        self.send_response(200 if text else 401)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def test_credentials_of_the_machine(s3, load, tmp_path):
    """The role's credentials have a session token, and are fetched again before they end."""
    s3.objects["b", "rows.csv"] = ROWS
    s3.session = Metadata.role["Token"]
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Metadata) as service:
        threading.Thread(target=service.serve_forever, daemon=True).start()
        env = {"AWS_ACCESS_KEY_ID": None, "AWS_SECRET_ACCESS_KEY": None, "AWS_REGION": None, "AWS_EC2_METADATA_DISABLED": None,
               "AWS_EC2_METADATA_SERVICE_ENDPOINT": f"http://127.0.0.1:{service.server_address[1]}"}
        for out, end in (("long", "2099-01-01T00:00:00Z"), ("short", "2020-01-01T00:00:00Z")):
            Metadata.role["Expiration"] = end
            Metadata.asked.clear()
            done = load("s3://b/rows.csv", out=out, env=env)
            assert done.returncode == 0, done.stderr
            # the check of the input and the load log in, and with expired credentials every request
            assert sum(path.endswith("/loader") for path in Metadata.asked) == {"long": 2, "short": 3}[out]
        service.shutdown()
    for path in (p for p in tmp_path.rglob("*") if p.is_file()):
        assert SECRET.encode() not in path.read_bytes() and b"of the role" not in path.read_bytes(), path


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


def test_refusals_name_the_fix(s3, load, tmp_path):
    """A bucket elsewhere, no bucket, a wrong clock, ended credentials, and no server: each message has the fix."""
    s3.objects["b", "rows.csv"] = ROWS
    (tmp_path / "rows.csv").write_bytes(ROWS)
    s3.session = "new"
    late = next(CACHE.glob("faketime/usr/lib/*/faketime/libfaketimeMT.so.1"))
    ways = {"in": ["s3://b/rows.csv"], "s3://b/night": [tmp_path / "rows.csv", "--hdfs-patience", "1s"]}
    for env, setting, says in (
            ({"AWS_REGION": "us-west-9"}, (400, True), f"set AWS_REGION={REGION}"),
            ({"AWS_REGION": "us-west-9"}, (301, True), f"set AWS_REGION={REGION}"),
            ({"AWS_REGION": "us-west-9"}, (301, False), "set AWS_REGION to its region"),
            ({"LD_PRELOAD": str(late), "FAKETIME": "+20m"}, (301, True), "RequestTimeTooSkewed .*; let this machine follow an NTP server"),
            ({"AWS_SESSION_TOKEN": "old"}, (301, True), r"ExpiredToken .*; the credentials have ended: get new ones \(AWS_SESSION_TOKEN"),
            ({"AWS_SECRET_ACCESS_KEY": "other"}, (301, True), "SignatureDoesNotMatch .*; check AWS_SECRET_ACCESS_KEY and the region")):
        s3.where, s3.names_home = setting
        for out, words in ways.items():
            done = load(*words, out=out, env={"AWS_SESSION_TOKEN": "new", **env})
            assert done.returncode == 2 and re.search(says, done.stderr), (env, setting, out, done)
    s3.session = None
    for out, words in {"in": ["s3://c/rows.csv"], "s3://c/night": [tmp_path / "rows.csv"]}.items():
        done = load(*words, out=out)
        assert "because there is no such bucket; check its name and AWS_ENDPOINT_URL, or create it" in done.stderr, done
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        done = load(*ways["s3://b/night"], out="s3://b/night", env={"AWS_ENDPOINT_URL": f"http://127.0.0.1:{nobody.getsockname()[1]}"})
    assert done.returncode == 1 and "check AWS_ENDPOINT_URL, AWS_REGION and the network" in done.stderr, done
    assert list(s3.objects) == [("b", "rows.csv")] and not s3.uploads


def test_credentials_that_end_during_a_load(s3, load, tmp_path):
    """Another program writes new credentials of the profile while the load runs. saltmill takes them for each kind of request.
    Without new ones, the load fails, and nothing is visible."""
    (tmp_path / ".aws").mkdir()

    def renew(session):
        """The server and the file change together: no request and no reader of the file comes between."""
        (tmp_path / ".aws/next").write_text(f"[default]\naws_access_key_id = {KEY_ID}\naws_secret_access_key = {SECRET}\n"
                                            f"aws_session_token = {session}\n")
        with s3.lock:
            os.replace(tmp_path / ".aws/next", tmp_path / ".aws/credentials")
            s3.session = session

    job = tmp_path / "job.yaml"
    job.write_text(JOB.replace("count: 2", "count: 1"))
    rows = "id,v\n" + "".join(f"{i},{i:0999}\n" for i in range(9_500))  # in two parts
    (tmp_path / "rows.csv").write_text(rows)
    assert load(tmp_path / "rows.csv", out="local").returncode == 0
    env = {"AWS_ACCESS_KEY_ID": None, "AWS_SECRET_ACCESS_KEY": None}
    seen = []

    def end():
        seen.append(None)
        if len(seen) % 2:  # a repeated request succeeds
            renew(f"session {len(seen)}")

    renew("the first")
    s3.before_write = end  # each request that changes something comes with the last credentials
    done = load(tmp_path / "rows.csv", out="s3://b/night", env=env)
    assert done.returncode == 0 and len(seen) > 6, (done, seen)
    there = sorted(v for (_, k), v in s3.objects.items() if "/hfiles/" in k)
    assert there == sorted(files(tmp_path / "local").values()) and not s3.uploads
    s3.before_write = lambda: None
    s3.objects["b", "rows.csv"], s3.faults = rows.encode(), ["cut", "cut"]
    s3.session = "newer"
    done = load("s3://b/rows.csv", out="late", env=env)
    assert done.returncode == 2 and "ExpiredToken" in done.stderr, done
    s3.after_read = lambda: (seen.append(None), renew(f"session {len(seen)}"))
    renew("newer")
    done = load("s3://b/rows.csv", out="read", env=env)
    assert done.returncode == 0 and files(tmp_path / "read") == files(tmp_path / "local"), done
    before = dict(s3.objects)

    def end_for_good():
        seen.append(None)
        if len(seen) % 7 == 0:
            s3.session = "never written"

    s3.after_read, s3.before_write = lambda: None, end_for_good
    done = load(tmp_path / "rows.csv", out="s3://b/later", env=env)
    assert done.returncode == 2 and "ExpiredToken" in done.stderr and "the credentials have ended" in done.stderr, done
    assert {k: v for k, v in s3.objects.items() if "manifest" in k[1]} == {k: v for k, v in before.items() if "manifest" in k[1]}
