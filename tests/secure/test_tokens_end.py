"""Tests tokens of HBase and HDFS that end during a run. The servers start again for short tokens, so this is the last file
of the folder."""

import hashlib
import os
import subprocess
import time

import pytest

from kdc import REALM
from secrets_of import secrets_in
from secured import shorten_tokens
from test_secured import JOB as JOB_OF_FILE
from test_secured import hfiles, places, table_files

LIFE = 10  # seconds of a token
# At 1 MiB/s, these bytes take longer than a token is valid. One file does not: its DataNode uses one token.
ROWS, LENGTH = 3000, 6000


@pytest.fixture(scope="module")
def short(rig):
    shorten_tokens(rig, LIFE)
    return rig


def value(i):
    return f"{i * 7919 % 10007} ".ljust(LENGTH, "x")


def digest(cells):
    """Returns what Admin.java's digest must answer for these (row, column, time, value)."""
    total, n = 0, 0
    for row, column, ms, text in cells:
        total ^= int.from_bytes(hashlib.sha256(row + column + f" {ms} {text}".encode()).digest(), "big")
        n += 1
    return [str(n), str(n), f"{total:064x}"]


def new_tokens(run, rig, file):
    done = run("tokens", file, rig.hdfs.url("/bulk"), "--hbase", rig.hbase.master, user="alice")
    assert done.returncode == 0, done.stderr
    return time.monotonic()


def test_tokens_end_during_apply(short, run, saltmill, tmp_path):
    """Three slow uploads last longer than a token. The first run gets new tokens with its keytab. The second one finds
    new tokens in its file. The third one has neither: it names the reason, and another run finishes its work."""
    names = ["e1", "e2", "e3"]
    outs = {name: tmp_path / name for name in names}
    (tmp_path / "rows.csv").write_text("id,ts,v\n" + "".join(f"{i},{1_700_000_000_000 + i},{value(i)}\n" for i in range(ROWS)))
    want = digest((i.to_bytes(8, "big"), b"f:v", 1_700_000_000_000 + i, value(i)) for i in range(ROWS))
    for name in names:
        (tmp_path / f"{name}.yaml").write_text(JOB_OF_FILE.replace("count: 2", "count: 12").format(table=name))
        assert run("load", tmp_path / f"{name}.yaml", "-o", outs[name], "--quiet").returncode == 0
    files = {name: tmp_path / f"{name}.tokens" for name in names[1:]}
    env = {"PATH": os.environ["PATH"], **short.kdc.env, "KRB5CCNAME": "/nonexistent"}
    began, runs = time.monotonic(), {}
    for name in names:
        login = [] if name in files else ["--principal", f"alice@{REALM}", "--keytab", short.kdc.keytab("alice")]
        if name in files:
            new_tokens(run, short, files[name])
        more = {"HADOOP_TOKEN_FILE_LOCATION": str(files[name])} if name in files else {}
        words = [saltmill, "apply", outs[name], "--create", "--rate", "1M", *places(short), *login]
        runs[name] = subprocess.Popen([*map(str, words)], stderr=subprocess.PIPE, text=True, env={**env, **more})
    while runs["e1"].poll() is None or runs["e2"].poll() is None:
        new_tokens(run, short, files["e2"])
        time.sleep(1)
        assert time.monotonic() < began + 300
    assert time.monotonic() > began + LIFE
    said = {name: process.communicate(timeout=300)[1] for name, process in runs.items()}
    assert [runs[n].returncode for n in ("e1", "e2")] == [0, 0], said
    assert runs["e3"].returncode != 0 and "found no valid Kerberos ticket" in said["e3"], said["e3"]
    new_tokens(run, short, files["e3"])
    done = run("apply", outs["e3"], "--create", *places(short), env={"HADOOP_TOKEN_FILE_LOCATION": str(files["e3"])})
    assert done.returncode == 0, done.stderr
    for name in names:
        assert short.hbase.admin("digest", name) == want, name
        owners = table_files(short, name)
        assert set(owners.values()) == {"alice"} and len(owners) == len(hfiles(outs[name])), (name, owners)
        assert not secrets_in((said[name] + done.stderr).encode() + (tmp_path / f"{name}.saltmill-apply").read_bytes(), [])


def test_ended_token_of_hbase(short, run, tmp_path):
    """HBase refuses the ended token. With a ticket, it does no harm."""
    born = new_tokens(run, short, tmp_path / "tokens")
    env = {"HADOOP_TOKEN_FILE_LOCATION": str(tmp_path / "tokens")}
    tables = ["tables", "--hbase", short.hbase.master]
    assert run(*tables, env=env).returncode == 0
    time.sleep(max(0, born + LIFE + 1 - time.monotonic()))
    done = run(*tables, env=env)
    assert done.returncode != 0 and "expired" in done.stderr, done.stderr
    assert run(*tables, env=env, cache=short.kdc.kinit("alice")).returncode == 0
