"""Tests loads in S3: a load is there exactly when its manifest is, whatever dies or answers wrongly.

The server of s3_server.py checks each signature and digest. test_s3_moto.py has tests with another server and with kills.
"""

import json
import os
import re
import signal
import subprocess

import pytest

from s3_server import BUCKET, S3
from test_s3 import JOB

# one region of 11 MB, so that its file goes in two parts
ROWS = ("id,v\n" + "".join(f"{i * 7919 % 1000003},value {i:030}\n" for i in range(160_000)) + "bad,line\n").encode()
LOAD = f"s3://{BUCKET}/loads/night"


@pytest.fixture(scope="module")
def bench(saltmill, tmp_path_factory):
    """A folder with a job, its input, and the same load on this machine."""
    return new_bench(saltmill, tmp_path_factory.mktemp("s3"))


def new_bench(saltmill, folder):
    (folder / "job.yaml").write_text(JOB.replace("count: 2", "count: 1"))
    (folder / "rows.csv").write_bytes(ROWS)
    subprocess.run([saltmill, "load", "job.yaml", "-o", "local", "--quiet", "--max-rejects", "1"], cwd=folder, check=False)
    assert (folder / "local" / "manifest.json").exists()
    return folder


@pytest.fixture
def s3():
    with S3() as server:
        yield server


def run(saltmill, bench, s3, *arguments, **more):
    env = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")} | s3.env() | {"HOME": str(bench)}
    return subprocess.run([saltmill, *arguments], cwd=bench, capture_output=True, text=True, timeout=300, check=False, env=env, **more)


def load(saltmill, bench, s3):
    return run(saltmill, bench, s3, "load", "job.yaml", "-o", LOAD, "--max-rejects", "1")


def manifest(s3):
    text = s3.objects.get((BUCKET, "loads/night/manifest.json"))
    return text and json.loads(text)


def check_whole(s3, bench, others=()):
    """All bytes are those of the load on this machine, and there are no other objects."""
    m, right = manifest(s3), json.loads((bench / "local" / "manifest.json").read_text())
    folder = m.pop("folder")
    m.pop("digests")
    right.pop("digests")
    assert m == right
    local = {p.relative_to(bench / "local").as_posix(): p.read_bytes() for p in (bench / "local").rglob("*") if p.is_file()}
    there = {k.removeprefix(f"loads/night/{folder}/"): v for (_, k), v in s3.objects.items()}
    del local["manifest.json"], there["loads/night/manifest.json"]
    assert set(there) - set(others) == set(local) and all(there[k] == local[k] for k in local)


def test_whole(saltmill, bench, s3, tmp_path):
    """A load in S3 has the bytes of a load on this machine, and the commands read it there."""
    done = load(saltmill, bench, s3)
    assert done.returncode == 3, done.stderr
    check_whole(s3, bench)
    assert not s3.uploads
    assert sum(query.startswith("POST") for query, *_ in s3.asked) == 2
    done = run(saltmill, bench, s3, "verify", LOAD)
    assert done.returncode == 0 and "160,000 rows" in done.stdout, done
    for command in (["scan", "job.yaml", "{}", "--limit", "3"], ["get", "job.yaml", "{}", "id=7919"],
                    ["scan", "job.yaml", "{}", "--where", "id = 15838", "--decode"]):
        answers = [run(saltmill, bench, s3, *(word.format(place) for word in command)) for place in (LOAD, "local")]
        assert answers[0].returncode == 0 and answers[0].stdout == answers[1].stdout != "", answers
    done = run(saltmill, bench, s3, "report", LOAD, "-o", tmp_path / "page.html")
    assert done.returncode == 0 and "rows.csv" in (tmp_path / "page.html").read_text(), done
    done = load(saltmill, bench, s3)
    assert done.returncode == 2 and f"{LOAD} exists already" in done.stderr, done
    check_whole(s3, bench)


def test_objects_of_other_programs(saltmill, bench, s3):
    """load writes into no folder with other objects, and removes only folders of its own runs."""
    other = {(BUCKET, "loads/night/in.csv"): ROWS, (BUCKET, "loads/nightly/x"): b"x"}
    for more in (other, {(BUCKET, "loads/night/sub/folder/x"): b"x"}, {(BUCKET, "loads/night/0123456789ABCDEF/x"): b"x"}):
        s3.objects.update(more)
        before = dict(s3.objects)
        done = load(saltmill, bench, s3)
        assert done.returncode == 2 and re.search("found (in.csv|sub|0123456789ABCDEF) in s3://bucket/loads/night, expected no objects",
                                                  done.stderr), done.stderr
        assert s3.objects == before
        s3.objects.clear()
    # such a folder may belong to anybody, but this one has the mark of a run
    s3.objects = {(BUCKET, "loads/night/0123456789abcdef/x"): b"x", (BUCKET, "loads/night/1123456789abcdef/.lock"): b"mark",
                  (BUCKET, "loads/night/1123456789abcdef/y"): b"y", (BUCKET, "loads/nightly/x"): b"x"}

    def write():
        s3.objects[BUCKET, "loads/night/later.txt"] = b"of another program"
    s3.after_write = write
    done = load(saltmill, bench, s3)
    assert done.returncode == 3 and "removed the objects of an unfinished load" in done.stderr, done.stderr
    folder = manifest(s3)["folder"]
    assert {k for _, k in s3.objects if not k.startswith(f"loads/night/{folder}/")} == {
        "loads/night/manifest.json", "loads/night/0123456789abcdef/x", "loads/night/later.txt", "loads/nightly/x"}


def test_findings(saltmill, bench, s3):
    """verify finds a changed, a missing and an extra object, and ignores objects of other runs."""
    assert load(saltmill, bench, s3).returncode == 3
    folder = f"loads/night/{manifest(s3)['folder']}"
    (hfile,) = [k for _, k in s3.objects if "/hfiles/" in k]
    whole = dict(s3.objects)
    s3.objects[BUCKET, "loads/night/0123456789abcdef/t/hfiles/f/x"] = b"of another run"
    assert run(saltmill, bench, s3, "verify", LOAD).returncode == 0
    for change, says in (({hfile: whole[BUCKET, hfile][:-1] + b"!"}, "changed"), ({hfile: None}, "missing"),
                         ({f"{folder}/t/create.rb": b"create 'other'\n"}, "changed"),
                         ({f"{folder}/t/hfiles/f/more": b"?"}, "not listed in the manifest"),
                         ({f"{folder}/rejects.jsonl": None}, "rejects.jsonl")):
        s3.objects = {**whole, **{(BUCKET, k): v for k, v in change.items()}}
        s3.objects = {k: v for k, v in s3.objects.items() if v is not None}
        done = run(saltmill, bench, s3, "verify", LOAD)
        assert done.returncode == 1 and says in done.stdout, (change.keys(), done)


def test_copy_for_apply(saltmill, bench, s3, tmp_path):
    """apply copies the load first, without the HFiles that S3 may copy, continues with the copy, and refuses another one."""
    assert load(saltmill, bench, s3).returncode == 3
    done = run(saltmill, bench, s3, "apply", LOAD, "--hbase", "127.0.0.1:1")
    assert done.returncode == 2 and "expected `--copy-to DIR` too" in done.stderr, done
    done = run(saltmill, bench, s3, "apply", "local", "--hbase", "127.0.0.1:1", "--copy-to", tmp_path / "copy")
    assert done.returncode == 2 and "found no URI of a load" in done.stderr, done
    copy = tmp_path / "copy"
    for _ in range(2):
        done = run(saltmill, bench, s3, "apply", LOAD, "--hbase", "127.0.0.1:1", "--copy-to", copy, "--dry-run")
        assert done.returncode == 1 and "127.0.0.1:1" in done.stderr, done
    done = run(saltmill, bench, s3, "verify", copy)
    assert done.returncode == 1 and "1 problem" in done.stdout, done.stdout
    folder = manifest(s3)["folder"]
    for (_, key), value in s3.objects.items():
        part = copy / key.removeprefix("loads/night/")
        assert part.read_bytes() == value if "/hfiles/" not in key else not part.exists(), key
    assert folder in os.listdir(copy)
    (copy / "manifest.json").write_bytes((bench / "local" / "manifest.json").read_bytes())
    done = run(saltmill, bench, s3, "apply", LOAD, "--hbase", "127.0.0.1:1", "--copy-to", copy)
    assert done.returncode == 2 and "found another load" in done.stderr, done


@pytest.mark.parametrize("faults", [["503", "lost", "reset", "slow", "corrupt", None], [None, "lost"], ["503", "503", None, "error200"],
                                    ["corrupt", None]])
def test_wrong_answers(saltmill, bench, s3, faults):
    """Lost answers, refusals and wrong bytes never publish a part."""
    s3.write_faults = faults * 3
    s3.after_write = lambda: manifest(s3) and check_whole(s3, bench, {"manifest.json"})
    done = load(saltmill, bench, s3)
    assert done.returncode == 3, done.stderr
    check_whole(s3, bench)
    assert not s3.uploads


def test_a_server_that_stores_other_bytes(saltmill, bench, s3):
    s3.write_faults = [None] * 2 + ["corrupt"] * 4
    done = load(saltmill, bench, s3)
    assert done.returncode == 1 and "the server stored other bytes than saltmill sent" in done.stderr, done
    assert not s3.objects and not s3.uploads


def test_the_second_of_two_runs(saltmill, bench, s3):
    """Another run publishes first. It stays whole, and the later run removes only its own objects."""
    def publish():
        name = BUCKET, "loads/night/manifest.json"
        if any(k.endswith("/rejects.jsonl") for _, k in s3.objects):
            s3.objects.setdefault(name, b"of another run")
    s3.after_write = publish
    done = load(saltmill, bench, s3)
    assert done.returncode == 2 and "already exists" in done.stderr, done
    assert s3.objects == {(BUCKET, "loads/night/manifest.json"): b"of another run"} and not s3.uploads


def test_a_signal_removes_the_objects(saltmill, bench, s3):
    def stop():
        if any("/hfiles/" in u["key"] for u in s3.uploads.values()):
            stopped.send_signal(signal.SIGTERM)
    s3.after_write = stop
    with subprocess.Popen([saltmill, "load", "job.yaml", "-o", LOAD, "--quiet", "--max-rejects", "1"], cwd=bench,
                          env={**os.environ, **s3.env()}) as stopped:
        assert stopped.wait(60) == 143
    assert not s3.objects and not s3.uploads
