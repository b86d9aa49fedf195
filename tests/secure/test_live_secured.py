"""Tests each command that reads a live table, with a keytab and each protection. HBase's own client and the loaded rows judge."""

import json
import os
import signal
import subprocess
import time

import pytest

from cluster import HANG_SECONDS
from kdc import REALM
from test_secured import ROWS, expected, places, rows

JOB = """\
source: {{csv: {{files: [rows.csv], header: true}}}}
fields: {{id: {{type: u64}}, ts: {{type: time, unit: ms}}}}
tables:
  - name: truth
    rowkey: [{{field: id, as: u64}}]
    timestamp: ts
    families: {{f: {{versions: 1, compression: NONE}}}}
    cells: [{{family: f, qualifier: v, value: {{field: v}}}}]
    regions: {{split: sampled, count: 3}}
  - name: other
    rowkey: [{{field: v, as: text, terminator: '/'}}, {{field: id, as: u64}}]
    timestamp: ts
    families: {{f: {{versions: 1, compression: NONE}}}}
    cells: [{{family: f, qualifier: w, value: {{field: v}}}}]
    regions: {{split: none}}
security: {{principal: alice@{realm}, keytab: "{keytab}", protection: {protection}}}
"""
MOVED = """\
source: {{csv: {{files: [none.csv], header: true}}}}
fields: {{id: {{type: u64}}, ts: {{type: time, unit: ms}}}}
tables:
  - name: {name}
    rowkey: {key}
    timestamp: ts
    families: {{f: {{versions: 1, compression: NONE}}}}
    cells: [{{family: f, qualifier: w, value: {{field: v}}}}]
    regions: {{split: sampled, count: 2}}
"""


@pytest.fixture(scope="module")
def live(rig, saltmill, tmp_path_factory):
    """Makes two tables that each row feeds. Returns their folder."""
    folder = tmp_path_factory.mktemp("live")
    keytab = rig.kdc.keytab("alice")
    for protection in ("authentication", "integrity", "privacy"):
        (folder / f"{protection}.yaml").write_text(JOB.format(realm=REALM, keytab=keytab, protection=protection))
    (folder / "rows.csv").write_text("id,ts,v\n" + "".join(f"{k},{t},{v}\n" for k, t, v in rows()))
    for words in (["load", folder / "privacy.yaml", "-o", folder / "out", "--quiet"],
                  ["apply", folder / "out", "--create", *places(rig), "--principal", f"alice@{REALM}", "--keytab", keytab]):
        done = subprocess.run([saltmill, *map(str, words)], capture_output=True, text=True, env=rig.kdc.env | {"PATH": ""}, timeout=300)
        assert done.returncode == 0, done.stderr
    assert rig.hbase.admin("digest", "truth") == expected()
    return folder


def ask(run, *words, status=0, **how):
    done = run(*words, **how)
    assert done.returncode == status, (words, done.stdout, done.stderr)
    return done.stdout


@pytest.mark.parametrize("protection", ["authentication", "integrity", "privacy"])
def test_tables(rig, run, live, protection):
    """tables, regions, describe and drift, as HBase's client sees the table."""
    at = ["--hbase", rig.hbase.master, "--json"]
    login = ["--protection", protection]
    want = [r.split(":") for r in rig.hbase.admin("regions", "truth")]
    assert len(want) == 3
    one, = json.loads(ask(run, "tables", "truth", *at, *login, user="alice"))
    assert (one["state"], one["regions"]) == ("ENABLED", 3)
    regions = json.loads(ask(run, "regions", "truth", *at, *login, user="alice"))["regions"]
    assert [r["encoded"] for r in regions] == [name for name, _ in want]
    family, = json.loads(ask(run, "describe", "truth", *at, *login, user="alice"))["families"]
    assert (family["name"], family["attributes"]["VERSIONS"], family["attributes"]["COMPRESSION"]) == ("f", "1", "NONE")
    starts = [int(start or "0", 16) for _, start in want] + [1 << 64]
    counts = [sum(a <= k < b for k, _, _ in rows()) for a, b in zip(starts, starts[1:])]
    drift = json.loads(ask(run, "drift", live / f"{protection}.yaml", *at))["tables"][0]  # in the job's order
    assert [r["rows"] for r in drift["regions"]] == counts


def test_init(rig, run, live, tmp_path):
    """init writes a job for the table, and a scan with this job gives the rows."""
    at = ["--hbase", rig.hbase.master, "--protection", "privacy"]
    done = run("init", *at, "--table", "truth", "-o", tmp_path / "job.yaml", user="alice")
    assert done.returncode in (0, 3), done.stderr
    text = ask(run, "scan", tmp_path / "job.yaml", *at, "--decode", "--format", "jsonl", user="alice")
    decoded = [json.loads(line) for line in text.splitlines()]
    assert [(*row["key"].values(), *row["cells"].values()) for row in decoded] == [(k, v) for k, _, v in rows()]


def test_watch(saltmill, rig, live):
    """watch counts the reads of a scan by HBase's client."""
    starts = [r.split(":") for r in rig.hbase.admin("regions", "truth")]
    borders = [int(s or "0", 16) for _, s in starts] + [1 << 64]
    want = {name: sum(a <= k < b for k, _, _ in rows()) for (name, _), a, b in zip(starts, borders, borders[1:])}
    login = ["--protection", "privacy", "--principal", f"alice@{REALM}", "--keytab", rig.kdc.keytab("alice")]
    rig.hbase.admin("reported", "truth")
    with subprocess.Popen([*map(str, [saltmill, "watch", "--hbase", rig.hbase.master, "--table", "truth", "--every", "3s", "--json", *login])],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **rig.kdc.env}) as watch:
        seen, began = {}, None
        while not began or seen != want and time.monotonic() < began + HANG_SECONDS:
            for r in json.loads(watch.stdout.readline())["regions"]:
                seen[r["region"]] = seen.get(r["region"], 0) + r["reads"]
            if not began:  # the first reading is over
                began = time.monotonic()
                rig.hbase.admin("digest", "truth")
        watch.send_signal(signal.SIGINT)
        assert watch.wait(30) in (0, 3), watch.stderr.read()
    assert seen == want


def test_diff_and_agree(rig, run, live):
    """HBase's client changes a cell. diff finds it against the load, and agree against the other table."""
    at = ["--hbase", rig.hbase.master, "--json"]
    diff = ["diff", live / "out", *at, "--table", "truth", "--protection", "privacy"]
    agree = ["agree", live / "privacy.yaml", *at, "--truth", "other"]
    assert json.loads(ask(run, *diff, user="alice"))["equal"] is True
    table, = json.loads(ask(run, *agree))["tables"]
    assert (table["equal"], table["different"]) == (ROWS, 0), table
    key, ts, _ = rows()[70]
    rig.hbase.admin("put", "truth", key.to_bytes(8, "big").hex(), "f:v", str(ts + 1), "changed")
    assert json.loads(ask(run, *diff, status=3, user="alice"))["equal"] is False
    table, = json.loads(ask(run, *agree, status=3))["tables"]
    assert table["equal"] == ROWS - 1, table


def test_without_a_ticket(rig, run, live):
    """Each command names the missing ticket."""
    at = ["--hbase", rig.hbase.master]
    for words in (["tables"], ["regions", "truth"], ["describe", "truth"], ["watch", "--table", "truth"], ["init", "--table", "truth"],
                  ["diff", live / "out", "--table", "truth"]):
        done = run(*words, *at)
        assert done.returncode in (1, 2) and "found no valid Kerberos ticket" in done.stderr, (words, done.stderr)


def test_rekey(rig, run, live, tmp_path):
    """rekey moves a table by snapshots, as the user who owns HBase's files, and is killed. HBase's client writes between the
    rounds, and reads the new table."""
    keys = {"old": "[{field: v, as: text, terminator: '/'}, {field: id, as: u64}]", "new": "[{field: id, as: descending_u64}]"}
    for name, table in (("old", "other"), ("new", "moved")):
        (tmp_path / f"{name}.yaml").write_text(MOVED.format(name=table, key=keys[name]))
    words = ["rekey", tmp_path / "old.yaml", tmp_path / "new.yaml", *places(rig), "-o", tmp_path / "move", "--json"]
    refused = run(*words, user="alice")
    assert refused.returncode == 2 and "run it as HBase's user" in refused.stderr and "/hbase/data" in refused.stderr, refused.stderr
    assert "snapshot" not in (tmp_path / "move/journal").read_text()
    for step in ("taken", "moved"):
        killed = run(*words, user="hbase/localhost", env={"SALTMILL_CRASH_AT": f"rekey-before-{step}"})
        assert killed.returncode == -9, killed.stderr
    first, = rig.hdfs.list("/hbase/.hbase-snapshot").keys() - {".tmp"}
    at = [tmp_path / "old.yaml", "--snapshot", rig.hdfs.url(f"/hbase/.hbase-snapshot/{first}")]
    assert "found no valid Kerberos ticket" in run("scan", *at).stderr
    text = ask(run, "scan", *at, "--decode", "--format", "jsonl", user="hbase/localhost")
    decoded = [json.loads(line) for line in text.splitlines()]
    assert [(*row["key"].values(), *row["cells"].values()) for row in decoded] == sorted((v, k, v) for k, _, v in rows())
    ask(run, *words, "--protection", "integrity", user="hbase/localhost")
    key, ts, value = rows()[70]
    rig.hbase.admin("put", "other", f"{value}/".encode().hex() + key.to_bytes(8, "big").hex(), "f:w", str(ts + 1), "changed")
    done = json.loads(ask(run, *words, "--protection", "privacy", "--finish", user="hbase/localhost"))
    assert done["finished"] and done["proved"] == ROWS and not done["repaired"], done
    moved = [(2**64 - 1 - k, t, v) for k, t, v in rows()]
    moved[70] = (2**64 - 1 - key, ts + 1, "changed")
    assert rig.hbase.admin("digest", "moved") == expected(moved, "w")
    assert not rig.hdfs.tree("/hbase/.hbase-snapshot")



LABELS = ("secret", "staff", "old")
SEEN = {"secret": lambda secret, staff, old: secret,
        "!old & secret": lambda secret, staff, old: secret and not old,
        "secret | staff & old": lambda secret, staff, old: (secret or staff) and old,
        "secret | (staff & old)": lambda secret, staff, old: secret or staff and old,
        "!(secret | old)": lambda secret, staff, old: not (secret or old),
        "staff & !(secret & old)": lambda secret, staff, old: staff and not (secret and old),
        "": lambda *_: True}


def test_labels(rig, run, tmp_path):
    """HBase's VisibilityController shows each cell only to scans with the labels of its expression. The numbers are those of
    hbase:labels. A scan without labels has all labels of its user, and bob has none."""
    numbers = dict(word.split("=") for word in rig.hbase.admin("labels", "alice", ",".join(LABELS)))
    cells = "".join(f"\n      - {{family: f, qualifier: c{i}, value: v" + (f", visibility: {json.dumps(text)}}}" if text else "}")
                    for i, text in enumerate(SEEN))
    (tmp_path / "labels.csv").write_text("".join(f"{name},{numbers[name]}\n" for name in LABELS))
    (tmp_path / "rows.csv").write_text("id,v\n1,one\n")
    (tmp_path / "job.yaml").write_text(
        "source: {csv: {files: [rows.csv]}}\nfields: {id: {type: u32}}\nlabels: labels.csv\ntables:\n  - name: labelled\n"
        "    rowkey: [{field: id, as: u32}]\n    timestamp: 1700000000000\n    families: {f: {compression: NONE}}\n"
        f"    regions: {{split: none}}\n    cells:{cells}\n")
    ask(run, "load", tmp_path / "job.yaml", "-o", tmp_path / "out", "--quiet")
    ask(run, "apply", tmp_path / "out", "--create", *places(rig), user="alice")
    rig.hbase.admin("grant", "bob", "labelled", "R")
    for have in range(1 << len(LABELS)):
        mine = [bool(have >> i & 1) for i in range(len(LABELS))]
        words = ",".join(label for label, good in zip(LABELS, mine) if good) or "-"
        user = "alice" if any(mine) else "bob"
        found = rig.hbase.admin("seen", f"{user}@{REALM}", str(rig.kdc.keytab(user)), "labelled", words)
        assert found == [f"c{i}" for i, visible in enumerate(SEEN.values()) if visible(*mine)], words
