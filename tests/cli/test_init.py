"""Tests that the job of `init` for an unknown file loads all rows with types and without edits. In some cases init
refuses to guess."""

import os
import re
import subprocess

import pytest

import hfile_py
import sniff_sets
from load_help import Bench
from sniff_sets import BOOL, INT, REAL, TEXT, TIME

KIND = {"u32": INT, "u64": INT, "i64": INT, "decimal": REAL, "f64": REAL, "time": TIME, "bool": BOOL, "text": TEXT}


def init(saltmill, folder, *args):
    return subprocess.run([saltmill, "init", *args], cwd=folder, capture_output=True, text=True, timeout=60)


def field_kinds(text):
    """Returns {field: kind} from the lines below `fields:`."""
    out = {}
    for line in text[text.index("fields:\n") + 8:text.index("tables:\n")].splitlines():
        m = re.match(r"""  ('(?:[^']|'')*'|"(?:[^"\\]|\\.)*"|\w+): \{(.*)""", line)
        name = m.group(1)
        if name[0] == "'":
            name = name[1:-1].replace("''", "'")
        elif name[0] == '"':
            name = name[1:-1].encode().decode("unicode_escape")
        kind = re.search(r"type: (\w+)", m.group(2))
        out[name] = KIND[kind.group(1)] if kind else TEXT
    return out


# half of the columns have no name, as below a title; the last row may be cut off
DOUBTED = {"extra values": "half of the columns or more have no name", "defaults": "only the last row has fewer values"}


@pytest.mark.parametrize("name", sniff_sets.SETS)
def test_its_job_loads(tmp_path, saltmill, name):
    data, kinds, rows = sniff_sets.SETS[name]
    bench = Bench(tmp_path, saltmill, "")
    bench.input(data, "in.data")
    (tmp_path / "job.yaml").unlink()
    r = init(saltmill, tmp_path, "in.data", "-o", "job.yaml")
    assert (r.returncode, r.stdout) == (3 if name in DOUBTED else 0, "")
    assert DOUBTED[name] in r.stderr if name in DOUBTED else r.stderr == ""
    text = (tmp_path / "job.yaml").read_text()
    assert field_kinds(text) == kinds
    r = bench.run()
    assert r.returncode == 0, r.stderr
    tables = bench.manifest()["tables"]
    assert [(t["rows"], t["counts"]["loaded"] if "counts" in t else rows) for t in tables] == [(rows, rows)]
    again = init(saltmill, tmp_path, "in.data")
    assert again.stdout == text, "found a different job for the same file"


def made(tmp_path, saltmill, data, name="in.csv"):
    (tmp_path / name).write_bytes(data)
    r = init(saltmill, tmp_path, name)
    assert r.returncode == 0, r.stderr
    return r.stdout


def rowkey(text):
    return [re.sub(r"\s*#.*", "", line).strip() for line in
            text[text.index("rowkey:\n") + 8:text.index("    timestamp:")].splitlines()]


def test_the_key_comes_from_distinct_counts(tmp_path, saltmill):
    """The key has the entity, the time, and a field that makes rows distinct. Without such a field, the key has a
    hash."""
    assert rowkey(made(tmp_path, saltmill, sniff_sets.orders())) == [
        "- {field: customer_id, as: u32}", "- {field: placed, as: reversed_millis}",
        "- {field: order_id, as: u32}"]
    assert rowkey(made(tmp_path, saltmill, sniff_sets.sensors())) == [
        "- {salt: 16, of: ['device.id', ts]}", "- {field: 'device.id', terminator: '\\x00'}", "- {field: ts, as: reversed_millis}",
        "- {hash: md5, of: ['device.id', ts, temp, ok], bytes: 8}"]
    assert rowkey(made(tmp_path, saltmill, b"id,name\n1,a\n2,b\n3,c\n")) == ["- {salt: 16, of: [id]}", "- {field: id, as: u32}"]
    pairs = b"host,at\n" + b"".join(b"h%d,2026-01-01T00:%02d:00Z\n" % (i % 3, i // 3) for i in range(90))
    assert rowkey(made(tmp_path, saltmill, pairs)) == [
        "- {salt: 16, of: [host, at]}", "- {field: host, terminator: '\\x00'}", "- {field: at, as: reversed_millis}"]


def test_what_is_not_told_is_not_guessed(tmp_path, saltmill):
    text = made(tmp_path, saltmill, b"id,day,v\n1,01/02/2025,2\n2,03/04/2025,2\n3,05/06/2025,2\n")
    assert "day: {type: text}   # 3 different; a time, but its values do not show which number is the day and which the month" in text
    text = made(tmp_path, saltmill, b"id,day,v\n1,01/02/2025,2\n2,13/04/2025,2\n")
    assert "day: {type: time, format: '%d/%m/%Y'}" in text
    (tmp_path / "in.csv").write_bytes(b"id;v\n1;1,234\n2;5,678\n")
    r = init(saltmill, tmp_path, "in.csv")
    assert r.returncode == 3 and "# CHECK: some numbers have two readings: `,` may be the decimal sign" in r.stdout
    text = made(tmp_path, saltmill, b"id;v\n1;1,234\n2;5,67\n")
    assert "decimal: ','   # 2 columns of numbers; next: decimal: '.' 1\n" in text
    assert "number_id: {type: text}" in made(tmp_path, saltmill, b"number_id,v\n007,1\n008,2\n")


def test_a_footer_needs_a_word_or_a_whole_file(tmp_path, saltmill):
    """A last row with other types is still a row. init omits only a row named as a total, and the lines after it."""
    assert "skip_footer: 1" in made(tmp_path, saltmill, b"id,v\n1,2\n2,3\n3,4\nTotal,9\n")
    text = made(tmp_path, saltmill, b"id,v\n1,2\n2,3\n3,4\nx,9\n")
    assert "skip_footer" not in text and "id: {type: text}" in text
    assert "missing: 'null'" in made(tmp_path, saltmill, b"id,v,w\n1,2,3\n2,3\n3,4,5\n4,5\n")


def test_syslog_takes_the_year_of_its_files_name(tmp_path, saltmill):
    bench = Bench(tmp_path, saltmill, "")
    text = made(tmp_path, saltmill, sniff_sets.test_exports.SYSLOG.encode(), "syslog-20260103")
    assert "year: file}   # nearest to the date in the file's name" in text
    (tmp_path / "job.yaml").write_text(text.replace("{codec: auto, framing: hadoop}", "NONE"))
    assert bench.run().returncode == 0
    times = {c.ts for p in bench.out.glob("log/hfiles/*/*") for c in hfile_py.read(p)}
    assert times == {1767225598000, 1767225603000, 1767335101000}  # UTC, because the texts contain no zone


def test_no_line_of_syslog_is_newer_than_its_file(tmp_path, saltmill):
    """The file changed last on 2026-11-27. A line of March is of this spring, and one of December of the year before. Lines of
    `syslogd -v` have a facility before the host."""
    bench = Bench(tmp_path, saltmill, "")
    lines = ["Dec  1 00:00:00 <auth.info> gate sshd[811]: refused", "Mar 19 23:48:18 <4.3> gate sshd[55517]: accepted",
             "Nov 27 23:59:59 db1 kernel: usb 1-1: new device"]
    (tmp_path / "messages").write_text("\n".join(lines) + "\n")
    os.utime(tmp_path / "messages", (1795780800, 1795780800))  # 2026-11-27T12:00Z
    r = init(saltmill, tmp_path, "messages")
    assert r.returncode == 0, r.stderr
    (tmp_path / "job.yaml").write_text(r.stdout.replace("{codec: auto, framing: hadoop}", "NONE"))
    assert bench.run().returncode == 0
    cells = {}
    for c in [c for p in bench.out.glob("log/hfiles/*/*") for c in hfile_py.read(p)]:
        cells.setdefault(c.ts, {})[c.qualifier.decode()] = c.value
        assert b"gate" in c.row or b"db1" in c.row
    assert sorted(cells) == [1764547200000, 1773964098000, 1795823999000]
    assert [cells[t].get("facility") for t in sorted(cells)] == [b"auth.info", b"4.3", None]
    assert {c["program"] for c in cells.values()} == {b"sshd", b"kernel"}


@pytest.mark.parametrize("data,status,words", [
    (b"", 1, "found no lines"),
    (b"id,v\n", 1, "found no rows"),
    (b"PAR1\x15\x04", 1, "a Parquet file"),
    (b"id,v\n1,\0\n", 1, "found NUL bytes"),
    (b"\x1f\x8b\x08\0damaged", 1, "in.csv"),
])
def test_what_is_no_file_of_rows(tmp_path, saltmill, data, status, words):
    (tmp_path / "in.csv").write_bytes(data)
    r = init(saltmill, tmp_path, "in.csv")
    assert r.returncode == status and words in r.stderr, (r.returncode, r.stderr)
    assert r.stdout == ""


def test_it_overwrites_nothing(tmp_path, saltmill):
    (tmp_path / "in.csv").write_bytes(b"id,v\n1,2\n")
    (tmp_path / "job.yaml").write_text("mine")
    r = init(saltmill, tmp_path, "in.csv", "-o", "job.yaml")
    assert r.returncode == 2 and "job.yaml exists, expected a new file" in r.stderr and (tmp_path / "job.yaml").read_text() == "mine"
    assert init(saltmill, tmp_path, "none.csv").returncode == 1
    assert init(saltmill, tmp_path).returncode == 2


def test_hostile_names_stay_text(tmp_path, saltmill):
    """The job quotes names of all kinds, and loads their columns."""
    names = ["a: b", "it's", '"x"', "#y", "{z}", "true", "\u00e4 \u00f6", "- n", "q\\q", "tab\there", "c1 \u009d", "1st"]
    head = ",".join('"' + n.replace('"', '""') + '"' for n in names)
    bench = Bench(tmp_path, saltmill, "")
    text = made(tmp_path, saltmill, (head + "\n" + ",".join(map(str, range(12))) + "\n" + ",".join(map(str, range(12, 24)))).encode())
    (tmp_path / "job.yaml").write_text(text.replace("{codec: auto, framing: hadoop}", "NONE"))
    assert bench.run().returncode == 0
    got = {(c.qualifier.decode(), c.value.decode()) for p in bench.out.glob("in/hfiles/*/*") for c in hfile_py.read(p)}
    assert got == {(n, str(i + k)) for i, n in enumerate(names) for k in (0, 12)}


def test_a_delimiter_written_twice(tmp_path, saltmill):
    """With a||b||c, init finds the names, and the column between two delimiters belongs to no field."""
    bench = Bench(tmp_path, saltmill, "")
    rows = "".join(f"{i}||{i * 2}||z{i % 3}\n" for i in range(30))
    text = made(tmp_path, saltmill, ("a||b||c\n" + rows).encode())
    assert [field_kinds(text)[n] for n in "abc"] == [INT, INT, TEXT]
    (tmp_path / "job.yaml").write_text(text)
    assert bench.run().returncode == 0 and bench.manifest()["tables"][0]["rows"] == 30
