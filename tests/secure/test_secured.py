"""Tests a secured cluster: a real KDC, HDFS and HBase with AccessController, all three protections, and hostile servers."""

import hashlib
import re
import time

import pytest
from cluster import CACHE

ROWS = 3000
JOB = """\
source: {{csv: {{files: [rows.csv], header: true}}}}
fields: {{id: {{type: u64}}, ts: {{type: time, unit: ms}}}}
tables:
  - name: {table}
    rowkey: [{{field: id, as: u64}}]
    timestamp: ts
    families: {{f: {{versions: 1, compression: NONE}}}}
    cells: [{{family: f, qualifier: v, value: {{field: v}}}}]
    regions: {{split: sampled, count: 2}}
"""


def rows():
    return [(i * 7, 1_700_000_000_000 + i, f"value {i * 7919 % 10007}") for i in range(ROWS)]


def expected(cells=None, qualifier="v"):
    """Returns what Admin.java's digest must answer for these cells of one column, by default those of rows()."""
    total = 0
    for key, ts, value in cells or rows():
        cell = key.to_bytes(8, "big") + f"f:{qualifier} {ts} {value}".encode()
        total ^= int.from_bytes(hashlib.sha256(cell).digest(), "big")
    return [str(ROWS), str(ROWS), f"{total:064x}"]


@pytest.fixture
def loaded(tmp_path, run):
    """Returns a function that loads the rows for a table into a folder of this machine."""
    def go(table):
        folder = tmp_path / table
        folder.mkdir()
        (folder / "job.yaml").write_text(JOB.format(table=table))
        (folder / "rows.csv").write_text("id,ts,v\n" + "".join(f"{k},{t},{v}\n" for k, t, v in rows()))
        done = run("load", folder / "job.yaml", "-o", folder / "out", "--quiet")
        assert done.returncode == 0, done.stderr
        return folder / "out"
    return go


def places(rig):
    return ["--hbase", rig.hbase.master, "--webhdfs", f"localhost:{rig.hdfs.http_port}", "--upload", f"{rig.hdfs.fs}/bulk"]


def hfiles(out):
    return [f for f in out.rglob("hfiles/f/*") if f.is_file()]


def table_files(rig, table):
    """Returns the owner of each file of the table's family f, by the file's name."""
    files, top = {}, f"/hbase/data/default/{table}"
    for region in (f for f in rig.hdfs.list(top) if len(f) == 32):
        files |= {n: f["owner"] for n, f in rig.hdfs.list(f"{top}/{region}/f").items() if not n.startswith(".")}
    return files


def test_all_protections(rig, run):
    for protection in ("authentication", "integrity", "privacy"):
        done = run("tables", "--hbase", rig.hbase.master, "--protection", protection, user="alice")
        assert done.returncode == 0 and done.stdout.startswith("TABLE"), done.stderr


def test_the_cluster_demands_kerberos(rig, run):
    done = run("tables", "--hbase", rig.hbase.master)
    assert done.returncode != 0
    assert re.search(r"the cluster requires Kerberos: found no valid Kerberos ticket: .*; run `kinit NAME@REALM`", done.stderr)
    done = run("tables", "--hbase", rig.hbase.master, cache=rig.kdc.kinit("alice"))
    assert done.returncode == 0, done.stderr


def test_wrong_logins(rig, run, tmp_path):
    tables = ["tables", "--hbase", rig.hbase.master]
    bob = rig.kdc.keytab("bob")
    for words, cache, found in (
            (["--principal", "alice@EXAMPLE.COM", "--keytab", bob], None, f"the keytab has no key of this principal; `klist -kt {bob}` lists the principals"),
            (["--principal", "alice@EXAMPLE.COM", "--keytab", tmp_path / "none"], None, "No such file or directory"),
            (["--keytab", bob], None, "expected also --principal"),
            (["--principal", "alice@EXAMPLE.COM"], rig.kdc.kinit("bob"), "has a ticket of bob@EXAMPLE.COM, expected one of alice"),
            (["--server-principal", "nobody/_HOST@EXAMPLE.COM"], rig.kdc.kinit("bob"),
             "nobody/localhost@EXAMPLE.COM not found in Kerberos database"),
            (["--server-principal", "nn/_HOST"], rig.kdc.kinit("bob"), "the server refuses the login")):
        done = run(*tables, *words, cache=cache or "/nonexistent")
        assert done.returncode != 0 and found in done.stderr, (words, done.stderr)


def test_ended_ticket(rig, run):
    cache = rig.kdc.kinit("alice", "-l", "2s")
    time.sleep(3)
    done = run("tables", "--hbase", rig.hbase.master, cache=cache)
    assert done.returncode != 0 and "run `kinit " in done.stderr, done.stderr


def test_apply_as_a_user(rig, run, loaded):
    """Kills apply after the upload. The files belong to the user alone. The next run uses a ticket cache. It dies before
    it notes the answers. The last run finds the cells of these files, and sends no file again."""
    out = loaded("t1")
    killed = run("apply", out, "--create", *places(rig), user="alice", env={"SALTMILL_CRASH_AT": "apply-before-sent"})
    assert killed.returncode == -9, killed.stderr
    top, = (f for f in rig.hdfs.list("/bulk") if f.startswith("saltmill-"))
    status = rig.hdfs.list("/bulk")[top]
    assert (status["owner"], status["permission"]) == ("alice", "700")
    for folder in (f"/bulk/{top}", f"/bulk/{top}/t1"):
        assert {f["permission"] for f in rig.hdfs.list(folder).values()} == {"700"}
    files = rig.hdfs.list(f"/bulk/{top}/t1/f")
    assert {(f["owner"], f["permission"]) for f in files.values()} == {("alice", "600")}
    ticket = rig.kdc.kinit("alice")
    killed = run("apply", out, "--create", *places(rig), "--threads", "1", cache=ticket, env={"SALTMILL_CRASH_AT": "apply-before-done"})
    assert killed.returncode == -9, killed.stderr
    done = run("apply", out, "--create", *places(rig), cache=ticket)
    assert done.returncode == 0, done.stderr
    assert rig.hbase.admin("digest", "t1") == expected()
    assert len(table_files(rig, "t1")) == len(hfiles(out))
    assert not [f for f in rig.hdfs.list("/bulk") if f.startswith("saltmill-")]
    for protection in ("authentication", "privacy"):
        done = run("scan", out.parent / "job.yaml", "--hbase", rig.hbase.master, "--quiet", "--protection", protection, user="alice")
        assert done.stdout.startswith(f"{ROWS} rows, {ROWS} cells"), done.stderr
    rig.hbase.admin("grant", "bob", "t1", "R")  # without the right to read the table's description
    done = run("scan", out.parent / "job.yaml", "--hbase", rig.hbase.master, "--quiet", user="bob")
    assert done.stdout.startswith(f"{ROWS} rows, {ROWS} cells"), done.stderr
    refused = run("scan", out.parent / "job.yaml", "--hbase", rig.hbase.master, "--quiet", user="oozie")
    assert refused.returncode != 0 and "run `grant 'oozie', 'R', " in refused.stderr


def test_missing_right(rig, run, loaded):
    done = run("apply", loaded("t2"), "--create", *places(rig), user="bob")
    assert done.returncode != 0 and "run `grant 'bob', 'C', '@default'` in the HBase shell" in done.stderr, done.stderr


def test_load_into_hdfs(rig, run, loaded):
    out = loaded("t3")
    url = rig.hdfs.url("/bulk/t3")
    done = run("load", out.parent / "job.yaml", "-o", url, "--quiet", user="alice")
    assert done.returncode == 0, done.stderr
    assert rig.hdfs.list("/bulk")["t3"]["owner"] == "alice"
    stored = {n: f["length"] for n, f in rig.hdfs.list("/bulk/t3/t3/hfiles/f").items()}
    assert stored == {f.name: f.stat().st_size for f in (out / "t3/hfiles/f").iterdir()}
    done = run("load", out.parent / "job.yaml", "-o", rig.hdfs.url("/bulk/t3b"), "--quiet")
    assert done.returncode != 0 and "HDFS requires Kerberos: found no valid Kerberos ticket" in done.stderr, done.stderr


def test_proxy_user(rig, run, loaded):
    """oozie may act for alice, and for nobody else (hadoop.proxyuser)."""
    out = loaded("t4")
    done = run("apply", out, "--create", *places(rig), "--user", "alice", user="oozie")
    assert done.returncode == 0, done.stderr
    assert rig.hbase.admin("digest", "t4") == expected()
    done = run("tables", "--hbase", rig.hbase.master, "--user", "alice", user="bob")
    assert done.returncode != 0 and "not allowed to impersonate alice" in done.stderr, done.stderr


def test_check_access(rig, run, loaded):
    """Prints what is missing: the ticket, the right, the rights in the folder. Changes nothing."""
    out = loaded("t5")
    done = run("apply", out, "--check-access", *places(rig), user="alice")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.split()[:2] for line in done.stdout.splitlines()] == [
        [what, "ok"] for what in ("login", "clocks", "rights", "folder", "token")]
    done = run("apply", out, "--check-access", *places(rig))
    assert done.returncode == 2 and "run `kinit NAME@REALM`" in done.stdout
    done = run("apply", out, "--check-access", *places(rig), user="bob")
    assert done.returncode == 2 and "run `grant 'bob', 'C', '@default'` in the HBase shell" in done.stdout
    done = run("apply", out, "--check-access", *places(rig)[:-1], f"{rig.hdfs.fs}/nobody", user="alice")
    assert done.returncode == 2 and "`hdfs dfs -chown alice /nobody`" in done.stdout, done.stdout
    late = {"LD_PRELOAD": str(next(CACHE.glob("faketime/usr/lib/*/faketime/libfaketimeMT.so.1"))), "FAKETIME": "+10m",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    done = run("apply", out, "--check-access", *places(rig), cache=rig.kdc.kinit("alice"), env=late)
    assert done.returncode == 2 and "by more than 5 minutes; compare with `chronyc tracking` on both" in done.stdout, done.stdout
    assert "t5" not in run("tables", "--hbase", rig.hbase.master, user="alice").stdout


def test_tls(rig, run, loaded):
    """HBase demands a client certificate. The program refuses a wrong CA, a wrong name and a missing certificate."""
    tls = rig.tls
    mine = ["--ca", tls.ca, "--cert", tls.certificate, "--key", tls.key]
    tables = ["tables", "--hbase", rig.hbase.master]
    done = run(*tables, *mine, user="alice")
    assert done.returncode == 0 and done.stdout.startswith("TABLE"), done.stderr
    port = rig.hbase.master.split(":")[1]
    for words, host, found in (
            (["--ca", tls.stranger, *mine[2:]], "localhost", "saltmill does not trust the server's certificate: "),
            (mine, "127.0.0.1", "saltmill does not trust the server's certificate: "),
            (["--ca", tls.ca], "localhost", "TLS: the server refuses the connection"),
            (["--ca", tls.key, *mine[2:]], "localhost", f"--ca {tls.key}: TLS: cannot read the certificates"),
            (["--ca", tls.ca, "--cert", tls.certificate, "--key", tls.folder / "ca.key"], "localhost",
             "TLS: cannot read the key of the client certificate: key values mismatch")):
        done = run("tables", "--hbase", f"{host}:{port}", *words, user="alice")
        assert done.returncode != 0 and found in done.stderr, (words, done.stderr)
    out = loaded("t6")
    upload = ["--upload", f"swebhdfs://localhost:{rig.hdfs.https_port}/bulk"]
    done = run("apply", out, "--create", "--hbase", rig.hbase.master, *upload, *mine, user="alice")
    assert done.returncode == 0, done.stderr
    assert rig.hbase.admin("digest", "t6") == expected()


def test_store_file_tracker(rig, run, loaded):
    """Servers stage files of such tables as the user in HBase's own folders, so only HBase's user may load them. After
    a lost answer, the tracker's list proves that the table has the files."""
    out = loaded("t7")
    rig.hbase.admin("tracked", "t7", "f")
    rig.hbase.admin("grant", "alice", "t7", "C")
    done = run("apply", out, "--alter", *places(rig), user="alice")
    assert done.returncode == 2 and "t7 has the store file tracker FILE" in done.stderr and "user alice" in done.stderr, done.stderr
    killed = run("apply", out, "--alter", "--restart", *places(rig), user="hbase/localhost", env={"SALTMILL_CRASH_AT": "apply-before-done"})
    assert killed.returncode == -9, killed.stderr
    done = run("apply", out, "--alter", *places(rig), user="hbase/localhost")
    assert done.returncode == 0, done.stderr
    assert rig.hbase.admin("digest", "t7") == expected()
    assert len(table_files(rig, "t7")) == len(hfiles(out))  # each file once
