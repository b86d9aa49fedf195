"""Tests processes without a ticket: `saltmill tokens` writes a credentials file, Hadoop's Credentials class reads it and
writes it in both forms, and HBase and HDFS accept these tokens."""

import os
import re
import stat

import pytest

from secrets_of import secrets_in
from test_secured import ROWS, expected, hfiles, loaded, places, table_files  # noqa: F401  (`loaded` is a fixture)


def parts(file):
    """Returns the bytes of each part of a file of Writables: alias, identifier, password, kind, service."""
    data, at, found = file.read_bytes(), 6, []
    while len(found) < 5 * data[5]:
        n = data[at]
        assert n < 128
        found.append(data[at + 1:at + 1 + n])
        at += 1 + n
    assert data[:5] == b"HDTS\0" and data[at:] == b"\0"
    return found


@pytest.fixture(scope="module")
def tokens(rig, kdc, saltmill, tmp_path_factory):
    """Returns the file of `saltmill tokens`, and Hadoop's copies of it in both forms."""
    import subprocess
    folder = tmp_path_factory.mktemp("tokens")
    file = folder / "tokens"
    file.write_text("old")
    file.chmod(0o644)
    done = subprocess.run([saltmill, "tokens", file, rig.hdfs.url("/bulk/t"), "--hbase", rig.hbase.master, "--principal",
                           "alice@EXAMPLE.COM", "--keytab", kdc.keytab("alice")], capture_output=True, text=True, check=False,
                          env={**os.environ, **kdc.env, "KRB5CCNAME": "/nonexistent"}, timeout=300)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [line[0] for line in lines] == ["HBASE_AUTH_TOKEN", "HDFS_DELEGATION_TOKEN"]
    assert [line[2] for line in lines] == ["alice", "alice"]
    assert lines[1][1] == f"127.0.0.1:{rig.hdfs.rpc_port}"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and os.listdir(folder) == ["tokens"]
    secrets = parts(file)[2::5]
    assert not secrets_in((done.stdout + done.stderr).encode(), secrets)
    copies = {"ours": file}
    for form in ("WRITABLE", "PROTOBUF"):
        copies[form] = folder / form
        read = rig.hbase.admin("credentials", str(file), str(copies[form]), form)
        assert sorted(zip(read[::3], read[1::3])) == sorted((k, s) for k, s, _ in lines)
        assert {u.split("@")[0] for u in read[2::3]} == {"alice"}
    return copies, secrets


def test_apply_by_token(rig, run, loaded, tokens):  # noqa: F811
    """apply with tokens alone uploads and loads as alice, and its messages and journal have no secret."""
    files, secrets = tokens
    out = loaded("t8")
    env = {"HADOOP_TOKEN_FILE_LOCATION": str(files["PROTOBUF"])}
    checked = run("apply", out, "--check-access", *places(rig), env=env)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert re.search(r"^login +ok +user alice, by a token of \$HADOOP_TOKEN_FILE_LOCATION$", checked.stdout, re.M)
    killed = run("apply", out, "--create", *places(rig), env={**env, "SALTMILL_CRASH_AT": "apply-before-sent"})
    assert killed.returncode == -9, killed.stderr
    journal = out.parent / "out.saltmill-apply"
    assert not secrets_in(journal.read_bytes(), secrets)
    done = run("apply", out, "--create", "--check", *places(rig), env={**env, "HADOOP_TOKEN_FILE_LOCATION": str(files["WRITABLE"])})
    assert done.returncode == 0, done.stderr
    assert not secrets_in((checked.stdout + checked.stderr + killed.stderr + done.stderr).encode() + journal.read_bytes(), secrets)
    assert rig.hbase.admin("digest", "t8") == expected()
    owners = table_files(rig, "t8")
    assert set(owners.values()) == {"alice"} and len(owners) == len(hfiles(out))


def test_protections_by_token(rig, run, loaded, tokens):  # noqa: F811
    """Scans of several pieces arrive with each protection, and HDFS accepts the token, too."""
    files, _ = tokens
    job = loaded("t8").parent / "job.yaml"
    for protection, form in (("authentication", "ours"), ("integrity", "WRITABLE"), ("privacy", "PROTOBUF")):
        env = {"HADOOP_TOKEN_FILE_LOCATION": str(files[form])}
        done = run("scan", job, "--hbase", rig.hbase.master, "--quiet", "--protection", protection, env=env)
        assert done.returncode == 0 and done.stdout.startswith(f"{ROWS} rows, {ROWS} cells"), (protection, done.stderr)
    done = run("load", job, "-o", rig.hdfs.url("/bulk/t8"), "--quiet", env=env)
    assert done.returncode == 0, done.stderr
    assert rig.hdfs.list("/bulk")["t8"]["owner"] == "alice"
    # closing the storage has not cancelled the token
    done = run("verify", rig.hdfs.url("/bulk/t8"), "--quiet", env=env)
    assert done.returncode == 0, done.stderr


def test_bad_tokens(rig, run, tokens, tmp_path):
    """A wrong password, a file of another kind, tokens for tokens, and another user are refused by name."""
    files, secrets = tokens
    tables = ["tables", "--hbase", rig.hbase.master]
    wrong, text = tmp_path / "wrong", tmp_path / "text"
    data = files["ours"].read_bytes()
    for secret in secrets:
        data = data.replace(secret, bytes(len(secret)))
    wrong.write_bytes(data)
    text.write_text("no tokens")
    for file, words, found in (
            (wrong, [], "the server refuses the login"),
            (text, [], f"HADOOP_TOKEN_FILE_LOCATION names {text}: found no credentials file of Hadoop"),
            (tmp_path / "none", [], "No such file or directory"),
            (files["ours"], ["--user", "bob"], "found no valid Kerberos ticket"),
            (files["ours"], ["--principal", "bob@EXAMPLE.COM"], "found no valid Kerberos ticket")):
        done = run(*tables, *words, env={"HADOOP_TOKEN_FILE_LOCATION": str(file)})
        assert done.returncode != 0 and found in done.stderr, (file, done.stderr)
    # with a ticket, a refused token does no harm
    done = run(*tables, cache=rig.kdc.kinit("alice"), env={"HADOOP_TOKEN_FILE_LOCATION": str(wrong)})
    assert done.returncode == 0, done.stderr
    done = run("tokens", tmp_path / "more", "--hbase", rig.hbase.master, env={"HADOOP_TOKEN_FILE_LOCATION": str(files["ours"])})
    assert done.returncode != 0 and "Token generation only allowed for Kerberos authenticated clients" in done.stderr, done.stderr
    assert not (tmp_path / "more").exists()


def test_unknown_master_key(rig, run, loaded, tokens, tmp_path):  # noqa: F811
    """HBase and HDFS no longer know the key of a token, as after a long time or in another cluster. apply ends, keeps its
    upload and names the file. It goes on with good tokens."""
    files, secrets = tokens
    bad, data = tmp_path / "bad", files["ours"].read_bytes()
    changed = data.replace(b"alice@EXAMPLE.COM\x18\x01", b"alice@EXAMPLE.COM\x18\x63")  # field 3 of TokenIdentifier, key_id
    assert changed != data
    bad.write_bytes(changed)
    out = loaded("t10")
    good, env = [{"HADOOP_TOKEN_FILE_LOCATION": str(f)} for f in (files["ours"], bad)]
    killed = run("apply", out, "--create", *places(rig), env={**good, "SALTMILL_CRASH_AT": "apply-before-sent"})
    assert killed.returncode == -9, killed.stderr
    journal = out.parent / "out.saltmill-apply"
    noted, uploads = journal.read_bytes(), sorted(rig.hdfs.list("/bulk"))
    refused = run("apply", out, "--create", *places(rig), env=env)
    assert refused.returncode == 2 and re.search(
        rf"Unknown master key for token \(id=99\); the refused token is that of {bad} .*Replace it with `saltmill tokens {bad} "
        rf"--hbase {rig.hbase.master}`", refused.stderr), refused.stderr
    assert journal.read_bytes() == noted and sorted(rig.hdfs.list("/bulk")) == uploads
    bad.write_bytes(data)
    done = run("apply", out, "--create", *places(rig), env=env)
    assert done.returncode == 0, done.stderr
    assert not secrets_in((refused.stderr + done.stderr).encode() + journal.read_bytes(), secrets)
    assert rig.hbase.admin("digest", "t10") == expected()
    assert len(table_files(rig, "t10")) == len(hfiles(out))
    # the last two numbers of an identifier of HDFS are those of the token and of its key
    identifier = parts(files["ours"])[6]
    bad.write_bytes(data.replace(identifier, identifier[:-1] + b"\x63"))
    done = run("load", out.parent / "job.yaml", "-o", rig.hdfs.url("/bulk/t10"), "--quiet", env=env)
    assert done.returncode == 2 and re.search(
        rf"the refused token is that of {bad} .*Replace it with `saltmill tokens {bad} webhdfs://localhost:{rig.hdfs.http_port}/bulk/t10`",
        done.stderr), done.stderr
    assert "t10" not in rig.hdfs.list("/bulk")
