"""Tests `saltmill apply` before it reaches a cluster, with wrong usage, a missing load, and servers of another kind.
tests/hbase/test_apply.py tests apply with real servers, and tests/unit/test_hbase_rpc.c tests frames.
"""

import socket
import subprocess
import threading

import pytest

from xxh3 import edit_manifest

# answer of HBase's RpcServer if hbase.security.authentication is kerberos
KERBEROS = bytes.fromhex(
    "0000005f5e08ffffffff0f12560a366f72672e6170616368652e6861646f6f702e68626173652e73656375726974792e"
    "41636365737344656e696564457863657074696f6e121a41757468656e7469636174696f6e2069732072657175697265642801")


@pytest.fixture(scope="module")
def load(saltmill, tmp_path_factory):
    folder = tmp_path_factory.mktemp("apply")
    (folder / "a.csv").write_text("id,at\n1,1700000000\n2,1700000001\n")
    (folder / "job.yaml").write_text(
        "source: {csv: {files: [a.csv], header: true}}\n"
        "fields: {at: {type: time, unit: s}}\n"
        "tables:\n  - name: t\n    rowkey: [{field: id, width: 4}]\n    timestamp: at\n"
        "    families: {f: {}}\n    cells: [{family: f, qualifier: q, value: {field: id}}]\n")
    done = subprocess.run([saltmill, "load", folder / "job.yaml", "-o", folder / "out", "--quiet"],
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "out"


def apply(saltmill, *arguments):
    return subprocess.run([saltmill, "apply", *arguments], capture_output=True, text=True,
                          timeout=60, check=False)


@pytest.mark.parametrize("arguments,says", [
    ([], "found no --hbase"),
    (["{load}"], "found no --hbase, expected `--hbase HOST[:PORT],...`"),
    (["{load}", "{load}", "--hbase", "h"], "found 2 operands"),
    (["--hbase", "h"], "expected DIR or `--state DIR`"),
    (["{load}", "--state", "x", "--hbase", "h"], "and --state, expected only one of them"),
    (["{load}", "--follow", "--hbase", "h"], "--follow: found no --state, expected `--state DIR` too"),
    (["--state", "x", "--journal", "j", "--hbase", "h"], "--journal: found --state too, expected only one of them"),
    (["/nowhere/at/all", "--hbase", "h"], "found no manifest.json, expected the folder of a published load"),
    (["{load}", "--hbase", "h:0"], "found server `h:0`"),
    (["{load}", "--hbase", "a,,b"], "found server ``"),
    (["{load}", "--hbase", "h", "--abort", "--restart"], "--abort: found --restart too"),
    (["{load}", "--hbase", "h", "--abort", "--check"], "--abort: found --check too"),
    (["{load}", "--hbase", "h", "--restart", "--dry-run"], "--restart: found --dry-run too"),
    (["--state", "s", "--hbase", "h", "--restart"], "--restart: found --state too"),
    (["--state", "s", "--hbase", "h", "--abort"], "--abort: found --state too"),
])
def test_wrong_use(saltmill, load, arguments, says):
    done = apply(saltmill, *(a.format(load=load) for a in arguments))
    assert done.returncode == 2 and says in done.stderr, done.stderr
    assert sorted(p.name for p in load.parent.iterdir()) == ["a.csv", "job.yaml", "out"]


def serve(answer):
    """Starts a server for one connection, which reads for a while and sends an answer. Returns the server's address."""
    listener = socket.create_server(("127.0.0.1", 0))

    def once():
        with listener, listener.accept()[0] as connection:
            connection.recv(4096)
            connection.sendall(answer)

    threading.Thread(target=once, daemon=True).start()
    return f"127.0.0.1:{listener.getsockname()[1]}"


@pytest.mark.parametrize("answer,status,says", [
    (KERBEROS, 2, "the cluster requires Kerberos: found no valid Kerberos ticket"),
    (b"HTTP/1.1 400 Bad Request\r\n\r\n", 1, "found an answer of 1213486160 bytes, expected at most 1048576"),
    (b"", 1, "the server is not a ClientMetaService of HBase 2.4 or later, or accepts only TLS"),
])
def test_servers_that_will_not_do(saltmill, load, answer, status, says, monkeypatch):
    monkeypatch.setenv("KRB5CCNAME", "FILE:/nonexistent")
    done = apply(saltmill, load, "--hbase", serve(answer), "--create")
    assert done.returncode == status and says in done.stderr, done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert sorted(p.name for p in load.parent.iterdir()) == ["a.csv", "job.yaml", "out"]


def test_a_load_that_was_changed(saltmill, load):
    script = load / "t" / "create.rb"
    text = script.read_text()
    script.write_text(text.replace("VERSIONS => 1", "VERSIONS => 2"))
    done = apply(saltmill, load, "--hbase", "127.0.0.1:1")
    script.write_text(text)
    assert done.returncode == 1 and "found other bytes than those that the load published" in done.stderr


def test_a_load_of_another_table(saltmill, load):
    before = (load / "manifest.json").read_text()
    edit_manifest(load, lambda m: m["tables"][0].update(name="other"))
    done = apply(saltmill, load, "--hbase", "127.0.0.1:1")
    (load / "manifest.json").write_text(before)
    assert done.returncode == 1 and "create.rb: found table t, expected other as in manifest.json" in done.stderr
