"""Tests the key `security` of a job, tickets that end during a run, and that no output contains a secret."""

import base64
import os
import pathlib
import subprocess
import time

from cluster import hear
from kdc import REALM
from secrets_of import keys_of, secrets_in
from test_secured import ROWS, expected, loaded, places  # noqa: F401  (loaded is a fixture)

LIFE = 8  # seconds of a ticket
START = 15  # seconds until a run waits for its window; an idle machine takes 1


def add_block(job, **keys):
    """Writes a copy of the job with the key `security`."""
    copy = job.with_name("secured.yaml")
    copy.write_text(job.read_text() + "security:\n" + "".join(f"  {k}: {v}\n" for k, v in keys.items()))
    return copy


def test_security_of_a_job(rig, run, loaded):  # noqa: F811
    """The block has the effect of the options, its paths are relative to the job, and options override it."""
    out = loaded("j1")
    (out.parent / "etl.keytab").write_bytes(pathlib.Path(rig.kdc.keytab("alice")).read_bytes())
    job = add_block(out.parent / "job.yaml", principal=f"alice@{REALM}", keytab="etl.keytab", protection="privacy",
                    server_principal="hbase/_HOST")
    done = run("load", job, "-o", rig.hdfs.url("/bulk/j1"), "--quiet")
    assert done.returncode == 0, done.stderr
    assert rig.hdfs.list("/bulk")["j1"]["owner"] == "alice"
    done = run("apply", out, "--create", *places(rig), user="alice")
    assert done.returncode == 0, done.stderr
    scan = ["scan", job, "--hbase", rig.hbase.master, "--quiet"]
    done = run(*scan)
    assert done.stdout.startswith(f"{ROWS} rows, {ROWS} cells"), done.stderr
    done = run(*scan, user="oozie")
    assert done.returncode != 0 and "run `grant 'oozie', 'R', " in done.stderr, done.stderr
    done = run(*scan, "--server-principal", "nobody/_HOST")
    assert done.returncode != 0 and "nobody/localhost@" in done.stderr, done.stderr
    # a job whose keytab is on another machine works here without a cluster
    job = add_block(out.parent / "job.yaml", principal=f"alice@{REALM}", keytab="/nowhere/etl.keytab")
    done = run("plan", job)
    assert done.returncode == 0, done.stderr
    done = run("scan", job, "--hbase", rig.hbase.master)
    assert done.returncode != 0 and "cannot read the keytab /nowhere/etl.keytab: No such file" in done.stderr, done.stderr


def next_minute():
    """Returns a window that opens in the next minute, which is at least two lives of a ticket and START away."""
    left = 60 - time.time() % 60
    if left < 2 * LIFE + START:
        time.sleep(left + 1)
    minute = (int(time.time()) // 60 + 1) % 1440
    until = (minute + 30) % 1440
    return f"{minute // 60:02}:{minute % 60:02}-{until // 60:02}:{until % 60:02}"


def test_tickets_that_end(rig, run, loaded, saltmill):  # noqa: F811
    """Two runs wait for the window until their tickets have ended. The keytab gets new tickets. The ticket cache gets an ended
    one meanwhile, and another run goes on after `kinit`."""
    short = rig.kdc.keytab("short")
    rig.kdc.shorten("short", LIFE)
    rig.hbase.admin("grant", "short", "@default", "RWC")
    first, second = loaded("k1"), loaded("k2")
    common = [*places(rig), "--create", "--window", next_minute()]
    ended, cache = rig.kdc.kinit("alice", "-l", "1s"), rig.kdc.kinit("alice")
    logins = [["--principal", f"short@{REALM}", "--keytab", short], []]
    env = {**rig.kdc.env, "PATH": "", "TZ": "UTC0", "KRB5CCNAME": f"FILE:{cache}"}
    runs = [subprocess.Popen([saltmill, "apply", *map(str, [out, *common, *login])], stderr=subprocess.PIPE, text=True, env=env)
            for out, login in zip((first, second), logins)]
    said = [hear(one, "waiting until") for one in runs]
    os.replace(ended, cache)
    waited = time.monotonic()
    said = [before + one.communicate(timeout=300)[1] for before, one in zip(said, runs)]
    assert time.monotonic() - waited > 2 * LIFE, said
    assert runs[0].returncode == 0, said[0]
    assert rig.hbase.admin("digest", "k1") == expected()
    assert runs[1].returncode != 0 and "run `kinit" in said[1] and "Success" not in said[1], said[1]
    done = run("apply", second, *places(rig), "--create", cache=rig.kdc.kinit("alice"))
    assert done.returncode == 0, done.stderr
    assert rig.hbase.admin("digest", "k2") == expected()


def test_no_secrets(rig, run, loaded, saltmill, tmp_path):  # noqa: F811
    """Looks into everything that a run leaves or shows: files, pages, messages, and the process list."""
    golden = bytes.fromhex("1e0005616c696365056862617365008a01a20681f80f8a01a22a8e7c0f010214654ac9871db8c747dc44b6c2f0b4a897"
                           "a68e216212") + b"WEBHDFS delegation" + b"\x0f127.0.0.1:47299"
    assert secrets_in(b"x " + base64.urlsafe_b64encode(golden).rstrip(b"="), [])
    keys = keys_of(rig.kdc.keytab("alice"))
    assert keys and secrets_in(b"a" + keys[0].hex().encode(), keys)
    out = loaded("s1")
    job = add_block(out.parent / "job.yaml", principal=f"alice@{REALM}", keytab=rig.kdc.keytab("alice"))
    command = [saltmill, "apply", out, "--create", *places(rig), "--principal", f"alice@{REALM}", "--keytab",
               rig.kdc.keytab("alice"), "--check"]
    seen = b""
    with subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**rig.kdc.env, "PATH": ""}) as process:
        while process.poll() is None:
            for file in ("cmdline", "environ"):
                try:
                    seen += pathlib.Path(f"/proc/{process.pid}/{file}").read_bytes()
                except OSError:
                    pass
            time.sleep(0.05)
        seen += process.stdout.read()
    assert process.returncode == 0 and b"alice" in seen, seen
    for words in (["load", job, "-o", rig.hdfs.url("/bulk/s1")], ["load", job, "-o", out.parent / "mine"],
                  ["apply", out, "--dry-run", "--json", *places(rig)],
                  ["load", job, "-o", rig.hdfs.url("/nobody/s1")], ["apply", out, "--restart", *places(rig)[:-1], "/nobody"]):
        done = run(*words, user="alice")
        seen += (done.stdout + done.stderr).encode()
    run("report", out.parent / "mine", "-o", tmp_path / "page.html")
    pages = [f.read_bytes() for f in tmp_path.rglob("*") if f.is_file() and f.suffix != ".keytab"]
    assert len(pages) > 8 and any(b"<html" in p for p in pages)
    assert rig.hbase.admin("digest", "s1") == expected()
    for text in [seen, *pages]:
        assert secrets_in(text, keys) == []
