"""Tests that SIGTERM ends every command within a second of a processor, for fuzz corpora and for inputs that take a long time."""

import json
import os
import pathlib
import resource
import signal
import subprocess

import pyarrow
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORPUS = ROOT / "tests" / "fuzz" / "corpus"
PATIENCE = 1.0  # seconds until SIGTERM
LATEST = 1.0  # seconds of a processor from SIGTERM to the end
SLACK = 1.5  # two threads, and the memory that they free
HANGS = 60  # seconds of waiting, also on a busy machine
KINDS = {"csv": "csv", "json": "json", "avro": "avro", "arrow": "arrow", "sniff": "csv", "input": "csv", "transcode": "csv"}


def computed():
    """Returns the processor seconds of all ended processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def watched(saltmill, folder, *args):
    """Runs a command, with SIGTERM after PATIENCE, which ends it soon. Returns its output."""
    before = computed()
    p = subprocess.Popen([saltmill, *args], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        return p.communicate(timeout=PATIENCE)[0]
    except subprocess.TimeoutExpired:
        pass
    ticks = pathlib.Path(f"/proc/{p.pid}/stat").read_text().rsplit(") ", 1)[1].split()[11:13]
    before += sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
    p.send_signal(signal.SIGTERM)
    try:
        out = p.communicate(timeout=HANGS)[0]
    except subprocess.TimeoutExpired:
        p.kill()
        p.communicate()
        pytest.fail(f"{' '.join(map(str, args))}: runs {HANGS} s after SIGTERM")
    assert computed() - before < LATEST + SLACK, args
    return out


def job(kind, name, columns=("id", "x"), fields="", key="id", value="x", source=""):
    more = f", header: false, columns: [{', '.join(columns)}]" if kind == "csv" and columns else ""
    return f"""\
source:
  {kind}: {{files: [{name}]{more}{source}}}
{f"fields: {{{fields}}}" if fields else ""}
tables:
  - name: t
    rowkey: [{{field: {key}, as: text}}]
    timestamp: 5
    families: {{f: {{compression: NONE}}}}
    cells: [{{family: f, qualifier: v, value: {value}}}]
"""


def drive(saltmill, folder, kind, name):
    """Runs every command that reads the file directly. Also runs commands with the job of `init`, if `init` can make a
    job."""
    watched(saltmill, folder, "init", name, "-o", "own.yaml")
    own = folder / "own.yaml"
    if not own.exists():
        own.write_text(job(kind, name, columns=("a", "b")).replace("id", "a").replace("value: x", "value: b"))
    for command in (["check", "own.yaml"], ["lint", "own.yaml"], ["plan", "own.yaml"],
                    ["load", "own.yaml", "-o", "out", "--quiet", "--max-rejects", "100%"]):
        watched(saltmill, folder, *command)


@pytest.mark.parametrize("corpus", sorted(KINDS))
def test_fuzz_inputs(tmp_path, saltmill, corpus):
    for i, path in enumerate(sorted((CORPUS / corpus).iterdir())):
        folder = tmp_path / str(i)
        folder.mkdir()
        (folder / "in").write_bytes(path.read_bytes())
        drive(saltmill, folder, KINDS[corpus], "in")


def test_fuzz_jobs_and_files(tmp_path, saltmill):
    for path in sorted((CORPUS / "job").iterdir()):
        for command in ("check", "lint", "ddl"):
            watched(saltmill, tmp_path, command, path)
    for corpus in ("hfile", "sketch", "state", "manifest", "rejects"):
        for path in sorted((CORPUS / corpus).iterdir()):
            watched(saltmill, tmp_path, "inspect", path)


# --- inputs that take a long time ---


def varint(n):
    n, out = n << 1 ^ n >> 63, b""
    while n > 0x7f:
        out, n = out + bytes([n & 0x7f | 0x80]), n >> 7
    return out + bytes([n])


def sized(data):
    return varint(len(data)) + data


def avro(schema, events, data):
    meta = {"avro.schema": json.dumps(schema).encode(), "avro.codec": b"null"}
    head = b"Obj\x01" + varint(len(meta)) + b"".join(sized(k.encode()) + sized(v) for k, v in meta.items()) + varint(0)
    sync = bytes(range(16))
    return head + sync + varint(events) + sized(data) + sync


def twice_a_level(depth, leaf, inner=lambda t: t):
    """Makes a schema whose records name the next record twice, so it has 2^depth leaves."""
    t = leaf
    for d in range(depth):
        t = {"type": "record", "name": f"R{d}",
             "fields": [{"name": "a", "type": inner(t)}, {"name": "b", "type": inner(f"R{d - 1}" if d else leaf)}]}
    return t


def event_of(t, name="x"):
    return {"type": "record", "name": "T", "fields": [{"name": "id", "type": "int"}, {"name": name, "type": t}]}


def avro_empty_tree():
    """Makes a file of 3.9 KB whose values of x have no bytes."""
    return job("avro", "in"), avro(event_of(twice_a_level(40, "null"), "y"), 1, varint(5)), "value: x", "value: id"


def avro_many_trees():
    """Makes events that write 50 MB of JSON from one byte."""
    return job("avro", "in"), avro(event_of(twice_a_level(20, "null")), 5000, varint(5) * 5000)


def avro_wide_items():
    """Makes items of a byte and 9,999 fields without bytes."""
    wide = {"type": "record", "name": "W", "fields": [{"name": f"n{i}", "type": "null"} for i in range(9999)] + [{"name": "b", "type": "boolean"}]}
    n = 4 << 20
    data = varint(5) + varint(n) + bytes(n) + varint(0)
    return job("avro", "in"), avro(event_of({"type": "array", "items": wide}, "y"), 1, data), "value: x", "value: id"


def avro_unions():
    """Makes a schema with 2^24 ways to the path."""
    t = {"type": "record", "name": "L", "fields": [{"name": "a", "type": "int"}]}
    for d in range(24):
        below = t["name"]
        t = {"type": "record", "name": f"P{d}", "fields": [
            {"name": "a", "type": [t, {"type": "record", "name": f"Q{d}", "fields": [{"name": "a", "type": below}]}]}]}
    return job("avro", "in", fields="x: {from: " + ".".join("a" * 40) + "}", key="a"), avro(t, 1, bytes(60))


def rows_with_patterns():
    text = "a" * 40000
    return (job("csv", "in", fields=r"m: {from: x, match: '(\S+):\d'}", value="m"),
            b"".join(b"%d,%s:x\n" % (i, text.encode()) for i in range(300)))


def skipped_rows():
    return (job("csv", "in", source=r", skip_matching: '(\S+):\d'"),
            b"".join(b"%d,%s:x\n" % (i, b"a" * 40000) for i in range(300)))


def twins_in_the_header():
    names = ",".join("c" for _ in range(60000))
    return job("csv", "in", columns=(), key="c", value='"c#3"'), (names + "\n" + names + "\n").encode()


def numbered_names():
    names = [f"#{i}" for i in range(30001, 60001)] + [""] * 30000
    text = ",".join(names)
    return job("csv", "in", columns=(), key='"#30001"', value='"#30002"'), (text + "\n" + text + "\n").encode()


def deep_json():
    return job("json", "in", fields="id: {}, x: {from: a.a.a}"), b"".join(
        b'{"id":%d,"x":%s1%s}\n' % (i, b'{"a":' * 500, b"}" * 500) for i in range(20000))


def long_quotes():
    return job("csv", "in"), b'1,"' + b'""' * (30 << 20) + b'"\n'


def json_of_keys():
    return job("json", "in", fields="id: {}, x: {}"), b"".join(
        b'{"id":%d,%s"x":1}\n' % (i, b"".join(b'"k%d":1,' % k for k in range(50000))) for i in range(40))


def escapes_in_documents():
    return job("json", "in", fields="id: {}, x: {}", source=", layout: documents"), b'{"id":1,"x":"%s"}' % (rb"\u0434" * 400000)


def stray_quotes():
    return job("csv", "in", source=", quotes: lenient"), b'1,' + b'"a,' * 1000000 + b"\n"


def arrow_dictionary():
    """Makes events that refer to one long text of the dictionary."""
    n = 200000
    array = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * n, pyarrow.int32()), pyarrow.array(["y" * 100000]))
    table = pyarrow.table({"id": pyarrow.array([str(i) for i in range(n)]), "x": array})
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as w:
        w.write_table(table)
    return job("arrow", "in"), sink.getvalue().to_pybytes()


MADE = [avro_empty_tree, avro_many_trees, avro_wide_items, avro_unions, rows_with_patterns, skipped_rows, twins_in_the_header,
        numbered_names, deep_json, long_quotes, json_of_keys, escapes_in_documents, stray_quotes, arrow_dictionary]


@pytest.mark.parametrize("make", MADE, ids=lambda f: f.__name__)
def test_inputs_made_to_take_long(tmp_path, saltmill, make):
    text, data, *changed = make()
    if changed:
        text = text.replace(*changed)
    (tmp_path / "in").write_bytes(data)
    (tmp_path / "job.yaml").write_text(text)
    for command in (["load", "job.yaml", "-o", "out", "--quiet", "--max-rejects", "100%"], ["check", "job.yaml"],
                    ["plan", "job.yaml"], ["lint", "job.yaml"], ["init", "in", "-o", "own.yaml"]):
        out = watched(saltmill, tmp_path, *command)
        assert b"unknown key" not in out and b"no column" not in out, out


def test_a_schema_that_names_types_twice_a_level_loads(tmp_path, saltmill):
    """The file has 3.9 KB and one row, with 2^40 fields that have no bytes."""
    text, data, *changed = avro_empty_tree()
    (tmp_path / "in").write_bytes(data)
    (tmp_path / "job.yaml").write_text(text.replace(*changed))
    before = computed()
    r = subprocess.run([saltmill, "load", "job.yaml", "-o", "out"], cwd=tmp_path, capture_output=True, timeout=HANGS)
    assert r.returncode == 0 and computed() - before < LATEST + SLACK, r.stderr
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["tables"][0]["loaded"] == 1


def test_wide_headers_are_named_as_before(tmp_path, saltmill):
    """Compares the names with a short model, which takes the next free number after `#`."""
    names = ["a", "a", "", "a#2", "", "#3", "a", "", "#9", "a#4", "a"]
    told = []
    for i, n in enumerate(names):
        name, number = n, 2 if n else i + 1
        while not name or name in told or (number > 2 and name in names):
            name, number = f"{n}#{number}", number + 1
        told.append(name)
    (tmp_path / "in").write_text(",".join(names) + "\n" + ",".join(str(i) for i in range(len(names))) + "\n")
    (tmp_path / "job.yaml").write_text(job("csv", "in", columns=(), key=f'"{told[0]}"', value=f'"{told[1]}"'))
    r = subprocess.run([saltmill, "load", "job.yaml", "-o", "out", "--quiet"], cwd=tmp_path, capture_output=True, timeout=20)
    assert r.returncode == 0, r.stderr
    assert [c["name"] for c in json.loads((tmp_path / "out" / "manifest.json").read_text())["columns"]] == told
