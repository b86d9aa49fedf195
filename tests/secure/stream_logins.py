"""Runs `stream --apply` while its ticket and the tokens of HDFS and HBase end again and again.

make stream-logins

One keytab logs in to Kafka (GSSAPI), HDFS and HBase. HBase must have each event once. The test takes a minute or two, so
it is not in `make test`.
"""

import hashlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest
from cluster import CACHE, HBaseError
from kdc import REALM
from secrets_of import secrets_in
from secured import shorten_tokens
from test_secured import JOB as JOB_OF_FILE
from test_secured import places, table_files

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "kafka"))

from secure import SecureBroker  # noqa: E402  (needs the path above)

TOKEN, TICKET = 10, 8  # seconds
SECONDS = 30  # of the stream
JOB = """\
source:
  kafka: {{brokers: "{brokers}", topic: t, format: json, start: earliest, roll: {{time: 3s}},
           properties: {{security.protocol: SASL_PLAINTEXT, sasl.mechanism: GSSAPI}}}}
fields: {{id: {{type: u64}}, ts: {{type: time, unit: ms, from: $timestamp}}}}
tables:
  - name: st
    rowkey: [{{field: id, as: u64}}]
    timestamp: ts
    families: {{f: {{versions: 1, compression: NONE}}}}
    cells: [{{family: f, qualifier: v, value: {{field: v}}}}]
"""


def digest(n):
    """Returns what Admin.java's digest must answer for n events."""
    total = 0
    for i in range(n):
        cell = i.to_bytes(8, "big") + f"f:v {1_700_000_000_000 + i} value {i}".encode()
        total ^= int.from_bytes(hashlib.sha256(cell).digest(), "big")
    return [str(n), str(n), f"{total:064x}"]


def in_hbase(rig):
    """Returns the digest of the table, or None before it exists."""
    try:
        return rig.hbase.admin("digest", "st")
    except HBaseError as e:
        if "TableNotFoundException" not in str(e):
            raise
        return None


@pytest.fixture(scope="module", autouse=True)
def short(rig):
    shorten_tokens(rig, TOKEN)


def test_one_upload_longer_than_its_token(rig, run, tmp_path):
    """A file takes longer than the token with which its DataNode writes it, and HDFS does not renew the token. The run writes
    the file twice, and then names the setting. A faster run finishes its work."""
    (tmp_path / "rows.csv").write_text("id,ts,v\n" + "".join(f"{i},{1_700_000_000_000 + i},{i:06000}\n" for i in range(3000)))
    (tmp_path / "job.yaml").write_text(JOB_OF_FILE.replace("count: 2", "count: 1").format(table="long"))
    assert run("load", tmp_path / "job.yaml", "-o", tmp_path / "out", "--quiet").returncode == 0
    done = run("apply", tmp_path / "out", "--create", "--rate", "1M", *places(rig), user="alice")
    assert done.returncode == 1 and "InvalidToken: Token  has expired" in done.stderr, done.stderr
    assert "; if one file takes longer than dfs.namenode.delegation.token.max-lifetime, raise it" in done.stderr, done.stderr
    done = run("apply", tmp_path / "out", "--create", *places(rig), user="alice")
    assert done.returncode == 0, done.stderr
    assert rig.hbase.admin("digest", "long")[:2] == ["3000", "3000"]


def test_stream_and_apply_with_short_logins(rig, saltmill, tmp_path):
    kdc = rig.kdc
    keytab = kdc.keytab("brief")
    kdc.shorten("brief", TICKET)
    rig.hbase.admin("grant", "brief", "@default", "RWC")
    job, log = tmp_path / "job.yaml", tmp_path / "log"
    with SecureBroker(tmp_path / "kafka", kdc) as kafka, open(log, "wb") as out:
        kafka.create("t", 1)
        job.write_text(JOB.format(brokers=kafka.listeners["gssapi"]))
        modules = next((CACHE / "sasl").glob("usr/lib/*/sasl2"))
        hbase, *upload = places(rig)[1:]
        words = [saltmill, "stream", job, "--state", tmp_path / "state", "--apply", hbase, "--create", *upload, "--principal",
                 f"brief@{REALM}", "--keytab", keytab]
        process = subprocess.Popen([*map(str, words)], stdout=out, stderr=out,
                                   env={**os.environ, **kdc.env, "KRB5CCNAME": "/nonexistent", "SASL_PATH": str(modules)})
        try:
            began, sent = time.monotonic(), 0
            while time.monotonic() < began + SECONDS:
                kafka.produce("t", [(0, None, json.dumps({"id": sent, "v": f"value {sent}"}).encode(), 1_700_000_000_000 + sent)])
                sent += 1
                assert process.poll() is None, log.read_text()
                time.sleep(0.5)
            end = time.monotonic() + 90
            while in_hbase(rig) != digest(sent):
                assert process.poll() is None and time.monotonic() < end, (in_hbase(rig), digest(sent), log.read_text())
                time.sleep(0.5)
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0, log.read_text()
        finally:
            process.kill()
            process.wait()
    text = log.read_text()
    assert text.count(": in HBase, ") >= 3, text
    assert set(table_files(rig, "st").values()) <= {"brief", "hbase"}  # HBase compacts files
    assert not secrets_in(text.encode(), [])
