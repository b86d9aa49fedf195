"""Tests tokens of HBase and HDFS that end during a run. The servers start again for short tokens, so this is the last file
of the folder."""

import hashlib
import os
import re
import subprocess
import time

import pytest

from kdc import REALM
from secrets_of import secrets_in
from secured import shorten_tokens
from test_secured import JOB as JOB_OF_FILE
from test_secured import hfiles, places, table_files

LIFE = 10  # seconds of a token
LONGEST = 90  # seconds until HDFS renews it no longer
# At 1 MiB/s, these bytes take longer than a token is valid.
ROWS, LENGTH = 3000, 6000


@pytest.fixture(scope="module")
def short(rig):
    shorten_tokens(rig, LIFE, LONGEST)
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


def uploads(rig, table):
    """Returns whether the upload of a table has a file."""
    return any(rig.hdfs.list(f"/bulk/{top}/{table}/f") for top in rig.hdfs.list("/bulk") if top.startswith("saltmill-"))


def test_tokens_end_during_apply(short, run, saltmill, tmp_path):
    """Slow uploads last longer than a token, which belongs to one DataNode for each file. Two runs have a keytab, for twelve
    files and for one file: they renew the token. `file` finds new tokens in its file, and `alone` does not. `cache` finds an
    ended ticket after its upload began. The last two name what is missing, and another run finishes their work."""
    regions = {"keytab": 12, "whole": 1, "file": 12, "alone": 12, "cache": 1}
    outs = {name: tmp_path / name for name in regions}
    (tmp_path / "rows.csv").write_text("id,ts,v\n" + "".join(f"{i},{1_700_000_000_000 + i},{value(i)}\n" for i in range(ROWS)))
    want = digest((i.to_bytes(8, "big"), b"f:v", 1_700_000_000_000 + i, value(i)) for i in range(ROWS))
    for name, count in regions.items():
        (tmp_path / f"{name}.yaml").write_text(JOB_OF_FILE.replace("count: 2", f"count: {count}").format(table=name))
        assert run("load", tmp_path / f"{name}.yaml", "-o", outs[name], "--quiet").returncode == 0
    files = {name: tmp_path / f"{name}.tokens" for name in ("file", "alone")}
    for file in files.values():
        new_tokens(run, short, file)
    logins = {name: ["--principal", f"alice@{REALM}", "--keytab", short.kdc.keytab("alice")] for name in ("keytab", "whole")}
    env = {"PATH": os.environ["PATH"], **short.kdc.env, "KRB5CCNAME": "/nonexistent"}
    more = {name: {"HADOOP_TOKEN_FILE_LOCATION": str(file)} for name, file in files.items()}
    ended, ticket = short.kdc.kinit("alice", "-l", "1s"), short.kdc.kinit("alice")
    more["cache"] = {"KRB5CCNAME": f"FILE:{ticket}"}
    began = time.monotonic()
    runs = {name: subprocess.Popen(
        [*map(str, [saltmill, "apply", outs[name], "--create", "--rate", "1M", *places(short), *logins.get(name, [])])],
        stderr=subprocess.PIPE, text=True, env={**env, **more.get(name, {})}) for name in regions}
    while not uploads(short, "cache"):
        assert runs["cache"].poll() is None and time.monotonic() < began + 300
        time.sleep(0.1)
    os.replace(ended, ticket)
    while any(runs[name].poll() is None for name in ("keytab", "whole", "file")):
        new_tokens(run, short, files["file"])
        time.sleep(1)
        assert time.monotonic() < began + 300
    assert time.monotonic() > began + LIFE
    said = {name: process.communicate(timeout=300)[1] for name, process in runs.items()}
    assert [runs[n].returncode for n in ("keytab", "whole", "file")] == [0, 0, 0], said
    for name in ("alone", "cache"):
        assert runs[name].returncode != 0 and re.search("found no valid Kerberos ticket.*; run `kinit", said[name]), said[name]
    assert "the token ended during the upload" in said["cache"], said["cache"]
    new_tokens(run, short, files["alone"])
    more["cache"] = {"KRB5CCNAME": f"FILE:{short.kdc.kinit('alice')}"}
    for name in ("alone", "cache"):
        done = run("apply", outs[name], "--create", *places(short), env={**env, **more[name]})
        assert done.returncode == 0, done.stderr
        said[name] += done.stderr
    for name in regions:
        assert short.hbase.admin("digest", name) == want, name
        owners = table_files(short, name)
        assert set(owners.values()) == {"alice"} and len(owners) == len(hfiles(outs[name])), (name, owners)
        assert not secrets_in(said[name].encode() + (tmp_path / f"{name}.saltmill-apply").read_bytes(), [])


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
