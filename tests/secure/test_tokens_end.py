"""Tests tokens of HBase and HDFS that end during a run. The servers start again for short tokens, so this is the last file
of the folder."""

import hashlib
import os
import re
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from cluster import wait_until
from kdc import REALM
from secrets_of import secrets_in
from secured import shorten_tokens
from test_secured import JOB as JOB_OF_FILE
from test_secured import hfiles, places, table_files

LIFE = 15  # seconds of a token of HDFS
LONGEST = 600  # seconds until HDFS renews it no longer
# At 1 MiB/s, these bytes take longer than a token is valid.
ROWS, LENGTH = 4500, 6000


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


def uploads(rig, table):
    """Returns whether the upload of a table has a file."""
    return any(rig.hdfs.list(f"/bulk/{top}/{table}/f") for top in rig.hdfs.list("/bulk") if top.startswith("saltmill-"))


def test_tokens_end_during_apply(short, run, saltmill, tmp_path):
    """Slow uploads last longer than a token, which belongs to one DataNode for each file. Two runs have a keytab, for twelve
    files and for one file: they renew the token. `file` finds new tokens in its file, and `alone` does not. `cache` finds an
    ended ticket after its upload began. The last two name what is missing, and another run finishes their work.

    apply sends 8 files at once. Files of `file` are so short that the second attempt of 8 takes a third of a token's life."""
    regions = {"keytab": 12, "whole": 1, "file": 40, "alone": 12, "cache": 1}
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
    over = threading.Event()
    with ThreadPoolExecutor() as pool:
        renewing = pool.submit(lambda: any(new_tokens(run, short, files["file"]) for _ in iter(lambda: over.wait(1), True)))
        try:
            wait_until(lambda: uploads(short, "cache"), runs["cache"])
            os.replace(ended, ticket)
            wait_until(lambda: all(runs[name].poll() is not None for name in ("keytab", "whole", "file")), seconds=300)
        finally:
            over.set()
            renewing.result()
    assert time.monotonic() > began + LIFE
    said = {name: process.communicate(timeout=300)[1] for name, process in runs.items()}
    assert [runs[n].returncode for n in ("keytab", "whole", "file")] == [0, 0, 0], "\n".join(said.values())
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
    """HBase refuses the ended token, which differs from an accepted one only by its end. With a ticket, it does no harm."""
    new_tokens(run, short, tmp_path / "tokens")
    tables = ["tables", "--hbase", short.hbase.master]
    for seconds in (3600, -1):
        file = tmp_path / f"until{seconds}"
        short.hbase.admin("until", str(tmp_path / "tokens"), str(file), str(seconds))
        done = run(*tables, env={"HADOOP_TOKEN_FILE_LOCATION": str(file)})
        if seconds > 0:
            assert done.returncode == 0, done.stderr
    assert done.returncode != 0 and "expired" in done.stderr, done.stderr
    assert run(*tables, env={"HADOOP_TOKEN_FILE_LOCATION": str(file)}, cache=short.kdc.kinit("alice")).returncode == 0
