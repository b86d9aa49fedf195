"""Tests the types, the order and the row keys that `init` measures, and the keys that users give.

The test makes the rows, so it knows which columns are unique and in order.
"""

import random
import re
import subprocess
import uuid

import hfile_py
import pytest

from load_help import Bench
from test_init import init, made, rowkey


def csv(header, rows):
    return (header + "\n" + "".join(",".join(map(str, r)) + "\n" for r in rows)).encode()


def types(text):
    return dict(re.findall(r"^  '?([\w.]+)'?: \{(type: [^}]*)\}", text, re.M))


def column(tmp_path, saltmill, name, values):
    return types(made(tmp_path, saltmill, csv(f"x,{name}", enumerate(values))))[name]


@pytest.mark.parametrize("name, value, expected", [
    ("id", lambda r: uuid.UUID(int=r.getrandbits(128)), "type: uuid"),
    ("id", lambda r: str(uuid.UUID(int=r.getrandbits(128))).upper(), "type: uuid"),
    ("id", lambda r: f"{uuid.UUID(int=r.getrandbits(128))}-x", "type: text"),
    ("id", lambda r: uuid.UUID(int=r.getrandbits(128)).hex + "x", "type: text"),
    ("client", lambda r: f"192.168.{r.randrange(256)}.{r.randrange(256)}", "type: ip"),
    ("client", lambda r: f"2001:db8::{r.randrange(1, 65536):x}", "type: ip"),
    ("client", lambda r: r.choice([f"10.0.0.{r.randrange(100, 256)}", "::1"]), "type: ip"),
    ("client", lambda r: f"192.168.{r.randrange(250, 300)}.7", "type: text"),
    ("mac", lambda r: ":".join(f"{r.randrange(256):02x}" for _ in range(6)), "type: text"),
    ("app_version", lambda r: f"10.0.{r.randrange(256)}.1", "type: text"),
    ("what", lambda r: f"1.2.{r.randrange(9)}.{r.randrange(9)}", "type: text"),
    ("created", lambda r: f"2012{r.randrange(1, 13):02d}{r.randrange(1, 29):02d}", "type: time, format: '%Y%m%d'"),
    ("bought_at", lambda r: f"2012{r.randrange(1, 13):02d}{r.randrange(1, 29):02d}", "type: time, format: '%Y%m%d'"),
    ("whatever", lambda r: f"2012{r.randrange(1, 13):02d}{r.randrange(1, 29):02d}", "type: time, format: '%Y%m%d'"),
    ("order_id", lambda r: f"2012{r.randrange(1, 13):02d}{r.randrange(1, 29):02d}", "type: u32"),
    ("created", lambda r: f"2012{r.randrange(13, 99):02d}{r.randrange(1, 29):02d}", "type: u32"),
    ("day", lambda r: r.choice(["2012-09-01", "20120901", "20120902"]), "type: time, format: iso8601"),
    ("ts_ms", lambda r: 1_600_000_000_000 + r.randrange(10 ** 9), "type: time, unit: ms"),
    ("createdAt", lambda r: 1_600_000_000 + r.randrange(10 ** 6), "type: time, unit: s"),
    ("seenAt", lambda r: 1_600_000_000_000_000 + r.randrange(10 ** 6), "type: time, unit: us"),
    ("expires_at", lambda r: 1_600_000_000 + r.randrange(10 ** 6), "type: time, unit: s"),
    ("eventTs", lambda r: 1_600_000_000 + r.randrange(10 ** 6), "type: time, unit: s"),
    ("format", lambda r: 1_600_000_000 + r.randrange(10 ** 6), "type: u32"),
])
def test_types(tmp_path, saltmill, name, value, expected):
    r = random.Random(name)
    assert column(tmp_path, saltmill, name, [value(r) for _ in range(200)]) == expected


def test_uuids_and_addresses_in_keys(tmp_path, saltmill):
    """The key has 16 and 4 bytes, which Python's uuid and the numbers of the address give; cells keep the text."""
    r = random.Random(5)
    ids = [uuid.UUID(int=r.getrandbits(128)) for _ in range(150)]
    bench = Bench(tmp_path, saltmill, "")
    bench.input(csv("id,ip", [(str(u).upper(), f"10.9.{i}.200") for i, u in enumerate(ids)]))
    text = init(saltmill, tmp_path, "in.csv", "--key", "id,ip").stdout
    assert rowkey(text) == ["- {field: id, as: uuid}", "- {field: ip, as: ipv4}"]
    assert rowkey(init(saltmill, tmp_path, "in.csv").stdout) == ["- {field: id, as: uuid}"]
    (tmp_path / "job.yaml").write_text(text.replace("codec: auto, framing: hadoop", "codec: NONE"))
    assert bench.run().returncode == 0
    cells = [c for f in bench.out.glob("in/hfiles/d/*") for c in hfile_py.HFile(f).cells]
    found = {c.row: bytes(c.value) for c in cells if bytes(c.qualifier) == b"id"}
    assert found == {u.bytes + bytes([10, 9, i, 200]): str(u).upper().encode() for i, u in enumerate(ids)}


def test_the_salt_comes_from_the_order(tmp_path, saltmill):
    r = random.Random(7)
    shuffled = r.sample(range(10 ** 6), 300)

    def key(values):
        return rowkey(made(tmp_path, saltmill, csv("id,v", ((v, 1) for v in values))))
    salted = ["- {salt: 16, of: [id]}", "- {field: id, as: u32}"]
    assert key(sorted(shuffled)) == salted and key(sorted(shuffled, reverse=True)) == salted
    assert key(shuffled) == ["- {field: id, as: u32}"]
    assert key(shuffled[:9]) == salted, "nine rows do not show an order"
    v7 = [uuid.UUID(int=(1_700_000_000_000 + i) << 80 | r.getrandbits(70)) for i in range(300)]
    assert key(v7) == ["- {salt: 16, of: [id]}", "- {field: id, as: uuid}"]


def test_a_column_of_few_values_is_no_salt(tmp_path, saltmill):
    rows = [("abc"[i % 3], f"2025-01-01T{i // 60:02d}:{i % 60:02d}:00Z", i) for i in range(600)]
    text = made(tmp_path, saltmill, csv("kind,at,seen", rows))
    assert rowkey(text)[0] == "- {salt: 16, of: [kind, seen]}"
    (tmp_path / "job.yaml").write_text(text)
    lint = subprocess.run([saltmill, "lint", "job.yaml"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert "uneven-salt" not in lint.stdout


def test_two_columns_that_are_unique_together(tmp_path, saltmill):
    """order_id and line_no separate all rows, so the key needs no hash of all columns."""
    rows = [(1000 + i // 4, i % 4, i % 7, "x") for i in range(400)]
    text = made(tmp_path, saltmill, csv("order_id,line_no,amount,note", rows))
    assert rowkey(text) == ["- {salt: 16, of: [order_id]}", "- {field: order_id, as: u32}", "- {field: line_no, as: u32}"]
    rows[9] = rows[8]
    text = made(tmp_path, saltmill, csv("order_id,line_no,amount,note", rows[:8] + rows[10:]))
    assert len(rowkey(text)) == 3
    r = init(saltmill, tmp_path, "in.csv")
    (tmp_path / "in.csv").write_bytes(csv("order_id,line_no,amount,note", rows))
    r = init(saltmill, tmp_path, "in.csv")
    assert r.returncode == 0 and "'key of $line'], bytes: 8}" in r.stdout and "1 rows equal earlier rows" in r.stdout


@pytest.mark.parametrize("key, status, parts", [
    ("at,id", 0, ["- {field: at, as: reversed_millis}", "- {field: id, as: u32}"]),
    ("name,id", 0, ["- {field: name, terminator: '\\x00'}", "- {field: id, as: u32}"]),
    ("id,name", 0, ["- {field: id, as: u32}", "- {field: name}"]),
    ("price,id", 0, ["- {field: price, as: i64}", "- {field: id, as: u32}"]),
    ("name", 3, ["- {field: name}"]),
])
def test_the_users_key(tmp_path, saltmill, key, status, parts):
    rows = [(i, f"2025-01-01T00:{i // 60:02d}:{i % 60:02d}Z", "ab"[i % 2], f"{i}.25") for i in range(200)]
    (tmp_path / "in.csv").write_bytes(csv("id,at,name,price", rows))
    r = init(saltmill, tmp_path, "in.csv", "--key", key)
    assert (r.returncode, [p for p in rowkey(r.stdout) if p]) == (status, parts), r.stderr
    assert ("joins 198 rows" in r.stderr) == (status == 3)
    (tmp_path / "job.yaml").write_text(r.stdout)
    done = subprocess.run([saltmill, "check", "job.yaml", "--json"], cwd=tmp_path, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("words, said", [
    (["--key", "nosuch"], "--key: found `nosuch`, expected columns of the file: id, v"),
    (["--key", "id,"], "--key: found `id,`, expected columns"),
    (["--key", "id", "--ask", "id = ?"], "--ask"),
    (["--ask", "nosuch = ?"], "has no field `nosuch`"),
])
def test_wrong_keys_and_questions(tmp_path, saltmill, words, said):
    (tmp_path / "in.csv").write_bytes(csv("id,v", ((i, 1) for i in range(100))))
    r = init(saltmill, tmp_path, "in.csv", *words)
    assert r.returncode == 2 and said in r.stderr and r.stdout == "", r


def test_a_log_has_its_own_key(tmp_path, saltmill):
    (tmp_path / "a.log").write_text('1.2.3.4 - - [10/Oct/2025:13:55:36 +0000] "GET / HTTP/1.0" 200 23\n' * 3)
    r = init(saltmill, tmp_path, "a.log", "--key", "host")
    assert r.returncode == 2 and "--key: found a log, whose job has its own row key" in r.stderr


def test_the_key_of_a_question(tmp_path, saltmill):
    """`owner = ? latest 20` needs the owner first, then the time, and a column that separates the events."""
    r = random.Random(3)
    rows = [(i, r.randrange(50), 1_600_000_000 + r.randrange(10 ** 6), r.randrange(9)) for i in range(2000)]
    (tmp_path / "in.csv").write_bytes(csv("n,owner,at,kind", rows))
    a = init(saltmill, tmp_path, "in.csv", "--ask", "owner = ? latest 20", "-o", "a.yaml")
    assert (a.returncode, a.stdout) == (0, ""), a.stderr
    text = (tmp_path / "a.yaml").read_text()
    fields = re.findall(r'field: "?(\w+)', "\n".join(rowkey(text)))
    assert fields[:2] == ["owner", "at"] and "# --ask owner = ? latest 20: 1 ranges" in text
    load = subprocess.run([saltmill, "load", "a.yaml", "-o", "out", "--quiet"], cwd=tmp_path, timeout=60)
    assert load.returncode == 0
    scan = subprocess.run([saltmill, "scan", "a.yaml", "out", "--where", "owner = 7", "--columns", "d:n", "--format", "csv",
                           "--decode"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    newest = sorted((-at, n) for n, owner, at, _ in rows if owner == 7)
    found = [int(line.split(",")[-1]) for line in scan.stdout.splitlines()[1:]]
    times = {n: at for n, _, at, _ in rows}
    assert [times[n] for n in found] == [-at for at, _ in newest]
    (tmp_path / "b.csv").write_bytes((tmp_path / "in.csv").read_bytes())
    b = init(saltmill, tmp_path, "b.csv", "--ask", "kind = ?").stdout
    assert re.findall(r'field: "?(\w+)', "\n".join(rowkey(b)))[0] == "kind"
