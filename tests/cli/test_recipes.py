"""Tests the recipes of conf/. The commands in each job's head run unchanged, with pipes, and their results equal those
of a few lines of Python. nightly.yaml needs a cluster for most of its commands, so tests/hbase/test_recipes.py tests
it.
"""

import csv
import datetime
import functools
import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import zoneinfo

import pytest

from loads import ROOT

sys.path.insert(0, str(ROOT / "tests" / "hbase"))
from oracle import murmur3_32, reversed_millis, u16, u32, u64  # noqa: E402

CONF = ROOT / "conf"
RECIPES = ["erp", "iot", "opentsdb", "phoenix", "rekey_old", "rekey_new", "sessions", "syslog"]
BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")
UTC = datetime.timezone.utc


def head(job):
    return (CONF / f"{job}.yaml").read_text(encoding="utf-8").split("\nsource:")[0]


def commands(job):
    return re.findall(r"^#\s+((?:saltmill|awk) .*)$", re.sub(r"\\\n#\s+", "", head(job)), re.M)


@pytest.fixture(scope="module")
def ran(tmp_path_factory, saltmill):
    """Returns a function. ran(job) returns a folder in which the commands of the job's head ran, and their outputs."""
    base = tmp_path_factory.mktemp("recipes")
    (base / "bin").mkdir()
    (base / "bin" / "saltmill").symlink_to(saltmill)
    env = {**os.environ, "PATH": f"{base / 'bin'}:{os.environ['PATH']}"}

    @functools.cache
    def run(job):
        folder = base / job
        shutil.copytree(CONF, folder / "conf")
        printed = []
        for command in commands(job):
            done = subprocess.run(["sh", "-c", command], cwd=folder, env=env, capture_output=True, text=True, timeout=60)
            # rejects.jsonl contains the rejects that the command allows
            assert done.returncode == (3 if "--max-rejects" in command else 0), (command, done.stderr)
            assert done.stdout.strip(), command
            printed.append(done.stdout)
        return folder, printed
    return run


def rows(saltmill, folder, job, out, table):
    """Returns {row key: {(family, qualifier): (ms, value)}} of a load, all in bytes."""
    def plain(text):
        return re.sub(rb"\\x(..)", lambda m: bytes([int(m[1], 16)]), text.encode())
    done = subprocess.run([saltmill, "scan", f"conf/{job}.yaml", out, "--table", table, "--format", "jsonl"], cwd=folder,
                          capture_output=True, text=True, timeout=60, check=True)
    return {plain(r["row"]): {(c["family"], plain(c["qualifier"])): (c["timestamp"], plain(c["value"])) for c in r["cells"]}
            for r in map(json.loads, done.stdout.splitlines())}


def salt(buckets, data):
    return bytes([murmur3_32(data) % buckets])


def java_salt(buckets, data):
    """Computes Java's Arrays.hashCode and the absolute value of its remainder, like Phoenix's SaltingUtil and
    OpenTSDB's RowKey."""
    h = 1
    for b in data:
        h = (31 * h + (b - 256 if b > 127 else b)) & 0xFFFFFFFF
    return bytes([(h if h < 1 << 31 else (1 << 32) - h) % buckets])


def millis(text):
    return int(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000)


def rejected(folder, out):
    return [json.loads(line) for line in (folder / out / "rejects.jsonl").read_text(encoding="utf-8").splitlines()]


def test_each_job_is_in_the_index_and_the_index_has_no_other():
    text = (CONF / "RECIPES.md").read_text(encoding="utf-8")
    jobs = {p.name for p in CONF.iterdir() if p.suffix in (".yaml", ".sh")}
    linked = set(re.findall(r"\]\(([^)]+)\)", text))
    assert linked == jobs | {"README.md"}
    for line in text.splitlines():
        if line.startswith("| "):
            for name, target in re.findall(r"\[([^]]+)\]\(([^)]+)\)", line):
                assert name == target


def test_every_recipe_says_what_it_is_and_asks_something():
    for job in RECIPES + ["nightly"]:
        assert len(head(job).splitlines()) >= 6 and len(commands(job)) >= 2, job


def test_erp(saltmill, ran):
    folder, printed = ran("erp")
    lines = (CONF / "erp.csv").read_bytes().decode("cp1252").splitlines()[4:-1]
    expected, december = {}, []
    for document, account, day, amount, text in csv.reader(lines, delimiter=";"):
        when = datetime.datetime.strptime(day, "%d.%m.%Y").replace(tzinfo=BERLIN)
        ms, cents = int(when.timestamp() * 1000), int(amount.strip().replace(".", "").replace(",", ""))
        key = u32(int(account)) + reversed_millis(ms) + u64(int(document))
        cells = {("p", b"amount"): (ms, struct.pack(">q", cents))}
        if text:
            cells["p", b"text"] = (ms, text.encode())
        expected[salt(4, u32(int(account))) + key] = cells
        if account == "440000" and when.month == 12:
            december.append(document)
    assert rows(saltmill, folder, "erp", "erp", "postings") == expected and len(expected) == 5
    assert list(dict.fromkeys(re.findall(r"\b1900\d{6}\b", printed[1]))) == december[::-1] and len(december) == 2


def test_syslog(saltmill, ran):
    folder, printed = ran("syslog")
    expected, asked = {}, []
    lines = (CONF / "syslog.log").read_text().splitlines()
    for line in lines[:-1]:
        year = 2025 if line.startswith("Dec") else 2026
        at = datetime.datetime.strptime(f"{year} {line[:15]}", "%Y %b %d %H:%M:%S").replace(tzinfo=BERLIN)
        host, tag, text = re.match(r"(\S+) ([^:]+): (.*)", line[16:]).groups()
        ms = int(at.timestamp() * 1000)
        key = host.encode() + b"\0" + reversed_millis(ms) + hashlib.md5(line.encode()).digest()[:4]
        expected[salt(4, host.encode()) + key] = {("l", b"p"): (ms, tag.split("[")[0].encode()), ("l", b"m"): (ms, text.encode())}
        if tag.startswith("sshd"):
            asked.append(text)
    assert rows(saltmill, folder, "syslog", "syslog", "syslog") == expected and len(expected) == 5
    assert all(text in printed[1] for text in asked) and "run-parts" not in printed[1]
    assert [(r["line"], r["reason"]) for r in rejected(folder, "syslog")] == [(len(lines), "no_match")]


def test_iot(saltmill, ran):
    folder, _ = ran("iot")
    events = [json.loads(line) for line in (CONF / "iot.jsonl").read_text().splitlines()]
    history, latest = {}, {}
    for e in events:
        if e["status"] != "ok":
            continue
        meter, ms, kw = e["meter"]["id"].encode(), millis(e["at"]), struct.pack(">d", e["values"]["kw"])
        wh = int(e["values"]["kwh"].replace(".", ""))
        history[salt(16, meter) + meter + b"\0" + reversed_millis(ms)] = {
            ("v", b"kw"): (ms, kw), ("v", b"kwh"): (ms, struct.pack(">q", wh))}
        if ms >= latest.get(meter, {("v", b"kw"): (0, b"")})["v", b"kw"][0]:
            latest[meter] = {("v", b"kw"): (ms, kw), ("v", b"at"): (ms, e["at"].encode())}
    assert rows(saltmill, folder, "iot", "iot", "readings") == history and len(history) == 5
    assert rows(saltmill, folder, "iot", "iot", "latest") == latest and len(latest) == 2
    (table, _) = json.loads((folder / "iot" / "manifest.json").read_text())["tables"]
    assert (table["filtered"], table["deduplicated"], table["loaded"]) == (1, 1, 5)


def test_sessions(saltmill, ran):
    folder, printed = ran("sessions")
    clicks = [json.loads(line) for line in (CONF / "sessions.jsonl").read_text().splitlines()]
    by_user, whole, index = {}, {}, {}
    for c in clicks:
        user, session, page = u64(c["user"]), bytes.fromhex(c["session"]), c["page"].encode()
        key = salt(8, user) + user + reversed_millis(c["at"])
        by_user[key + session] = {("c", b"p"): (c["at"], page)}
        whole.setdefault(session, {})["c", u16(c["n"])] = (c["at"], page)
        if c["n"] == 1:
            index[key] = {("s", session): (c["at"], b"")}
    assert rows(saltmill, folder, "sessions", "sessions", "session_clicks") == by_user and len(by_user) == 6
    assert rows(saltmill, folder, "sessions", "sessions", "sessions") == whole and len(whole) == 3
    assert rows(saltmill, folder, "sessions", "sessions", "sessions_by_user") == index and len(index) == 3
    # the newest session of the user, whole; the last three of its six clicks
    assert re.findall(r"x2F(\w+)", printed[2]) == ["cart", "checkout"]
    assert re.findall(r"[/F](cart|checkout|search)", printed[3]) == ["checkout", "cart", "cart"]


def test_phoenix(saltmill, ran):
    folder, printed = ran("phoenix")
    expected = {}
    for r in csv.DictReader((CONF / "phoenix.csv").open()):
        at = int(r["at"])
        key = r["site"].encode() + b"\0" + u64(int(r["device"])) + bytes(0xFF ^ b for b in u64(at))
        cells = {("V", b"_0"): (at, b"x")}
        if r["level"]:
            cells["V", b"LEVEL"] = (at, u32(int(r["level"])))
        if r["note"]:
            cells["V", b"NOTE"] = (at, r["note"].encode())
        expected[java_salt(4, key) + key] = cells
    assert rows(saltmill, folder, "phoenix", "phoenix", "READINGS") == expected and len(expected) == 4
    assert (folder / "phoenix" / "READINGS" / "splits.txt").read_text() == "\\x01\n\\x02\n\\x03\n"
    first = next(iter(k for k in expected if b"north" in k and u64(7) in k and bytes(0xFF ^ b for b in u64(1777887000000)) in k))
    assert re.sub(rb"\\x(..)", lambda m: bytes([int(m[1], 16)]), printed[1].strip().encode()) == first


def test_opentsdb(saltmill, ran):
    folder, printed = ran("opentsdb")
    uids = {"sys.cpu.user": 1, "sys.cpu.idle": 2, "host": 1, "web01": 1, "web02": 2}
    expected = {}
    for r in csv.DictReader((CONF / "opentsdb.csv").open()):
        metric, key, value = (u32(uids[r[name]])[1:] for name in ("metric", "tagk", "tagv"))
        hour, second = divmod(int(r["time"]), 3600)
        row = java_salt(20, metric + key + value) + metric + u32(hour * 3600) + key + value
        expected.setdefault(row, {})["t", u16(second << 4 | 0x8 | 7)] = (
            int(r["time"]) * 1000, struct.pack(">d", float(r["value"])))
    assert rows(saltmill, folder, "opentsdb", "tsdb", "tsdb") == expected and len(expected) == 4
    # the row that OpenTSDB's schema documentation shows, after the salt
    assert bytes.fromhex("00000150E22700000001000001") in {k[1:] for k in expected}
    assert printed[1].strip().endswith("\\x00\\x00\\x01P\\xE2\\x27\\x00\\x00\\x00\\x01\\x00\\x00\\x01")


def test_rekey(saltmill, ran):
    folder, printed = ran("rekey_new")
    expected, of_twelve = {}, []
    for r in csv.DictReader((CONF / "rekey_old.csv").open(encoding="utf-8", newline="")):
        ms, sensor = millis(r["at"]), u32(int(r["sensor"]))
        cells = {("e", b"kind"): (ms, r["kind"].encode())}
        if r["text"]:
            cells["e", b"text"] = (ms, r["text"].encode())
        expected[salt(4, sensor) + sensor + reversed_millis(ms)] = cells
        of_twelve += [r["kind"]] if r["sensor"] == "12" else []
    assert rows(saltmill, folder, "rekey_new", "new", "events") == expected and len(expected) == 4
    assert re.findall(r"open|shut|alarm", printed[2]) == of_twelve[::-1]
    ran("rekey_old")
