"""Tests the forms in which files store JSON: documents, lists, bulk requests and typed values. Python's json is the
oracle."""

import json
import random
import resource
import subprocess

import pytest

JOB = """\
source:
  json: {{files: [in.json], {form}}}
fields:
  id: {{type: u32{of}}}
{fields}tables:
  - name: t
    rowkey: [{{field: id, as: u32}}{key}]
    timestamp: 1
    families: {{d: {{}}}}
    cells:
{cells}    regions: {{split: none}}
"""


def job(form, names, of="", fields="", key=""):
    cells = "".join(f"      - {{family: d, qualifier: '{n}', value: {{field: '{n}'}}, optional: true}}\n" for n in names)
    cells = cells or "      - {family: d, qualifier: id, value: {field: id, as: text}}\n"
    return JOB.format(form=form, of=of, fields=fields, key=key, cells=cells)


def run(saltmill, folder, *args, **how):
    return subprocess.run([saltmill, *args], cwd=folder, capture_output=True, text=True, timeout=120, **how)


def load(saltmill, folder, text, data, *args, out="out"):
    (folder / "job.yaml").write_text(text)
    if data is not None:
        (folder / "in.json").write_bytes(data if isinstance(data, bytes) else data.encode())
    return run(saltmill, folder, "load", "job.yaml", "-o", out, "--quiet", *args)


def rows(saltmill, folder, out="out"):
    """{row: cells} as scan prints them without types"""
    r = run(saltmill, folder, "scan", "job.yaml", out, "--format", "jsonl")
    assert r.returncode == 0, r.stderr
    lines = map(json.loads, r.stdout.splitlines())
    return {x["row"]: {c["qualifier"]: c["value"] for c in x["cells"]} for x in lines}


def row(i):
    return "".join(f"\\x{b:02X}" if chr(b) not in "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.-" else chr(b)
                   for b in i.to_bytes(4, "big"))


def documents(n, seed=1):
    r = random.Random(seed)
    odd = ['a "b" c', "x\\y", "]}", "{[", "", "\\", '\\"', ",", ":"]
    return [{"skip": {"deep": [[], {}, "]"]}, "id": i, "v": r.choice(odd) + str(i), "n": {"v": r.choice(odd)}} for i in range(n)]


def expected(docs):
    """What the cells show: bytes except [0-9A-Za-z_.-] as \\xHH"""
    plain = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.-"
    show = lambda t: "".join(chr(b) if b in plain else f"\\x{b:02X}" for b in t.encode())
    return {row(d["id"]): {"v": show(d["v"]), "n.v": show(d["n"]["v"])} for d in docs}


def shapes(docs):
    yield "layout: documents", json.dumps(docs)
    yield "layout: documents", json.dumps(docs, indent=2).replace("\n", "\r\n")
    yield "layout: documents", "".join(json.dumps(d, indent=1) for d in docs)
    yield "layout: documents", "".join("\x1e" + json.dumps(d) + "\n" for d in docs)
    yield "layout: documents", "[" + ",\n".join(map(json.dumps, docs)) + "]\n"
    yield "layout: documents", json.dumps(docs[:7]) + json.dumps(docs[7]) + "\n[]" + json.dumps(docs[8:])
    yield 'records: "[]"', json.dumps(docs)
    yield 'records: "Records[]"', json.dumps({"Records": docs})
    yield 'records: "a.b[]"', json.dumps({"x": [{"a": [1]}], "a": {"c": {"b": []}, "b": docs, "z": None}, "b": [1]}, indent=3)
    yield 'records: "a.b[]"', "\n".join(json.dumps({"a": {"b": docs[i::3]}}) for i in range(3))
    named = {f'k"{i}' if i % 7 == 0 else f"k{i}": d for i, d in enumerate(docs)}
    yield 'records: "{}"', json.dumps(named)
    yield 'records: "{}"', json.dumps(named, indent=2) + "\n{}\n"
    yield 'records: "a.b{}"', json.dumps({"x": {"b": {"k": {"id": 7}}}, "a": {"c": {"b": {}}, "b": named, "z": 1}}, indent=1)
    yield "unwrap: payload", "".join(json.dumps({"schema": {"id": 1}, "payload": d}) + "\n" for d in docs)
    yield "unwrap: payload", "".join(json.dumps(d) + "\n" for d in docs)


@pytest.mark.parametrize("number", range(15))
def test_every_shape_has_the_same_rows(tmp_path, saltmill, number):
    docs = documents(500)
    form, data = list(shapes(docs))[number]
    for out, args in (("a", ["--threads", "1"]), ("b", ["--threads", "3", "--memory", "64M"])):
        r = load(saltmill, tmp_path, job(form, ["v", "n.v"]), data, *args, out=out)
        assert r.returncode == 0, r.stderr
    assert rows(saltmill, tmp_path, "a") == expected(docs)
    files = [sorted((x.name, x.read_bytes()) for x in (tmp_path / out / "t/hfiles").rglob("*") if x.is_file()) for out in "ab"]
    assert files[0] == files[1]


def test_pieces_of_any_size_have_the_same_rows(tmp_path, saltmill):
    """The list is larger than many pieces, and its records are on lines of any length."""
    docs = [d | {"pad": "p" * (i % 700)} for i, d in enumerate(documents(20000))]
    for indent in (None, 1):
        r = load(saltmill, tmp_path, job('records: "r[]"', ["v", "n.v"]), json.dumps({"n": 0, "r": docs}, indent=indent),
                 "--threads", "2", out=f"o{indent}")
        assert r.returncode == 0, r.stderr
        assert rows(saltmill, tmp_path, f"o{indent}") == expected(docs)


@pytest.mark.parametrize("data,message", [
    ('[{"id": 1},\n{"id": 2}', "in.json:2 (byte 21): truncated: found the end of the file, expected the end of the document"),
    ('[{"id": 1}\n {"id": 2}]', "in.json:2 (byte 12): found `{`, expected a comma or ] after an item of the list"),
    ('[{"id": 1},}', "in.json:1 (byte 11): found `}`, expected an item of the list"),
    ('[{"id": 1}, {"id": ', "expected the end of the document"),
    ('{"id": 1} {"id": 2', "expected the end of the document"),
    ('{"id": 1}\n{"id":\n2},\n{"id": 3}\n', "in.json:3 (byte 19): found `,`, expected a document; no comma is between documents"),
    (',{"id": 1}\n', "in.json:1 (byte 0): found `,`, expected a document; no comma is between documents"),
])
def test_a_broken_document_publishes_nothing(tmp_path, saltmill, data, message):
    r = load(saltmill, tmp_path, job("layout: documents", []), data, "--max-rejects", "9")
    assert r.returncode == 1 and message in r.stderr, r.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("data,message", [
    ('{"a": []}', "expected the list of `records` in each document"),
    ('{"r": {}}', "found `{`, expected a list at the path of `records`"),
    ('[{"r": []}]', "found `[`, expected a document that is an object"),
])
def test_a_document_without_the_list_is_an_error(tmp_path, saltmill, data, message):
    r = load(saltmill, tmp_path, job('records: "r[]"', []), data)
    assert r.returncode == 1 and message in r.stderr, r.stderr


@pytest.mark.parametrize("data,message", [
    ('{"a": {}}', "expected the list of `records` in each document"),
    ('{"r": []}', "found `[`, expected an object on the path of `records`"),
    ('{"r": {"k": {"id": 1} "l": {"id": 2}}}', "expected a comma or } after a member"),
    ('{"r": {"k": {"id": 1}, 7}}', "expected a key in double quotes"),
    ('{"r": {"k": {"id": 1}, "l": {"id"', "expected the end of the document"),
])
def test_a_broken_object_of_records_publishes_nothing(tmp_path, saltmill, data, message):
    r = load(saltmill, tmp_path, job('records: "r{}"', []), data, "--max-rejects", "9")
    assert r.returncode == 1 and message in r.stderr, r.stderr
    assert not (tmp_path / "out").exists()


def test_the_name_of_a_record_is_a_column(tmp_path, saltmill):
    """A record's own _key counts. A member that is no JSON or has no colon costs only itself."""
    docs = {"a": {"id": 1}, 'b "\u00e9\\': {"id": 2, "v": "x"}, "c": {"id": 3, "_key": "own"}}
    text = json.dumps(docs)[:-1] + ', "d": {"id": 01}, "e\\q": {"id": 5}, "f": {"id": 6}}'
    r = load(saltmill, tmp_path, job('records: "{}"', ["_key", "v"]), text, "--max-rejects", "2")
    assert r.returncode == 3, r.stderr
    r = run(saltmill, tmp_path, "scan", "job.yaml", "out", "--decode", "--format", "jsonl")
    found = {x["key"]["id"]: x["cells"] for x in map(json.loads, r.stdout.splitlines())}
    assert found == {1: {"d:_key": "a"}, 2: {"d:_key": 'b "\u00e9\\', "d:v": "x"}, 3: {"d:_key": "own"}, 6: {"d:_key": "f"}}
    rejects = [json.loads(x) for x in (tmp_path / "out/rejects.jsonl").read_text().splitlines()]
    assert [(x["raw"], x["offset"]) for x in rejects] == [(m, text.index(m)) for m in ('"d": {"id": 01}', '"e\\q": {"id": 5}')]


def test_rejects_have_the_place_and_bytes_of_the_record(tmp_path, saltmill):
    text = '[\n {"id": 1},\n {"id":\n   -5},\n {"id": 01},\n  7, {"id": 3}\n]'
    r = load(saltmill, tmp_path, job("layout: documents", []), text, "--max-rejects", "3")
    assert r.returncode == 3, r.stderr
    found = [json.loads(x) for x in (tmp_path / "out/rejects.jsonl").read_text().splitlines()]
    assert [(x["line"], x["offset"], x["raw"]) for x in found] == [
        (n, text.index(raw), raw) for n, raw in ((3, '{"id":\n   -5}'), (5, '{"id": 01}'), (6, "7"))]
    assert sorted(rows(saltmill, tmp_path)) == [row(1), row(3)]


def test_explode_makes_an_event_of_each_item(tmp_path, saltmill):
    docs = [{"id": i, "items": [{"sku": f"s{k}", "tags": ["x", k]} for k in range(i % 4)], "c": f"c{i}"} for i in range(200)]
    docs[7]["items"], docs[9]["items"] = None, "none"
    fields = "  sku: {from: 'items[].sku', default: '-'}\n  tag: {from: 'items[].tags[0]'}\n"
    text = job('layout: documents, explode: "items[]"', ["c", "tag"], fields=fields, key=", {field: sku}")
    assert load(saltmill, tmp_path, text, json.dumps(docs)).returncode == 0
    want = {}
    for d in docs:
        items = d["items"] if isinstance(d["items"], list) else []
        want |= {row(d["id"]) + x["sku"]: {"c": d["c"], "tag": "x"} for x in items}
        want |= {} if items else {row(d["id"]) + "-": {"c": d["c"]}}
    assert rows(saltmill, tmp_path) == want
    lines = text.replace("layout: documents, ", "")
    assert load(saltmill, tmp_path, lines, "".join(json.dumps(d) + "\n" for d in docs), out="lines").returncode == 0
    assert rows(saltmill, tmp_path, "lines") == want


def test_explode_of_plain_values(tmp_path, saltmill):
    text = job('explode: "t[]"', [], fields="  tag: {from: 't[]'}\n", key=", {field: tag}")
    assert load(saltmill, tmp_path, text, '{"id": 1, "t": ["a", "b\\u0041", 3]}\n').returncode == 0
    assert list(rows(saltmill, tmp_path)) == [row(1) + x for x in ("3", "a", "bA")]


def test_bulk_requests(tmp_path, saltmill):
    lines, want = [], {}
    for i in range(300):
        op = ["index", "create", "update", "delete"][i % 4]
        lines.append({op: {"_index": f"i{i % 3}", "_id": str(i)}})
        doc = {"v": f"v{i}"}
        if op != "delete":
            lines.append({"doc": doc} if op == "update" else doc)
        want[row(i)] = {"op": op, "index": f"i{i % 3}"} | (doc if i % 4 < 2 else {})
    text = job("layout: bulk", ["op", "index", "v"], of=", from: _id", fields="  op: {from: _op}\n  index: {from: _index}\n")
    data = "".join(json.dumps(x) + "\n" for x in lines)
    assert load(saltmill, tmp_path, text, data).returncode == 0
    assert rows(saltmill, tmp_path) == want


def test_bulk_faults_cost_their_lines_only(tmp_path, saltmill):
    data = '{"index": {"_id": "1"}}\n{"v": "a"}\n{"index" {"_id": "2"}}\n{"v": "b"}\n{"index": {"_id": "3"}}\n{"v": "c"}\n{"index": {"_id": "4"}}'
    text = job("layout: bulk", ["v"], of=", from: _id")
    r = load(saltmill, tmp_path, text, data, "--max-rejects", "5")
    assert r.returncode == 3, r.stderr
    assert rows(saltmill, tmp_path) == {row(1): {"v": "a"}, row(3): {"v": "c"}}
    found = [json.loads(x) for x in (tmp_path / "out/rejects.jsonl").read_text().splitlines()]
    assert [x["line"] for x in found] == [3, 4, 7]


# canonical and relaxed extended JSON v2, and the form of mongoexport before version 4.2
TYPED = [
    ('{"$oid": "5d505646cf6d4fe581014ab2"}', "5d505646cf6d4fe581014ab2"),
    ('{"$date": "2019-08-11T17:54:14.692Z"}', "2019-08-11T17:54:14.692Z"),
    ('{"$date": {"$numberLong": "1565546054692"}}', "1565546054692"),
    ('{"$date": 1565546054692}', "1565546054692"),
    ('{"$numberLong": "9223372036854775807"}', "9223372036854775807"),
    ('{ "$numberInt" : "-7" }', "-7"),
    ('{"$numberDouble": "-0.0"}', "-0.0"),
    ('{"$numberDecimal": "0.1000"}', "0.1000"),
    ('{"$uuid": "c8edabc3-f738-4ca3-b68d-ab92a91478a3"}', "c8edabc3-f738-4ca3-b68d-ab92a91478a3"),
    ('{"$symbol": "a\\u0062"}', "ab"),
    ("5", "5"), ('"x"', "x"),
    ('{"$binary": {"base64": "//8=", "subType": "00"}}', '{"$binary": {"base64": "//8=", "subType": "00"}}'),
    ('{"$oid": "5d", "x": 1}', '{"$oid": "5d", "x": 1}'),
    ("{}", "{}"), ('{"x": "y"}', '{"x": "y"}'), ('[{"$oid": "5d"}]', '[{"$oid": "5d"}]'),
]


def test_types_of_mongodb(tmp_path, saltmill):
    data = "".join(f'{{"id": {{"$numberInt": "{i}"}}, "v": {v}}}\n' for i, (v, _) in enumerate(TYPED))
    assert load(saltmill, tmp_path, job("extended: true", ["v"]), data).returncode == 0
    r = run(saltmill, tmp_path, "scan", "job.yaml", "out", "--decode", "--format", "jsonl")
    assert [json.loads(x)["cells"]["d:v"] for x in r.stdout.splitlines()] == [v for _, v in TYPED]


def test_bytes_that_nginx_escapes(tmp_path, saltmill):
    data = rb'{"id": 1, "v": "a\x22b\x5C\xE5\x8C\x97"}' + b"\n" + rb'{"id": 2, "v": "\xE5"}' + b"\n"
    r = load(saltmill, tmp_path, job("hex_escapes: true", ["v"]), data, "--max-rejects", "1")
    assert r.returncode == 3, r.stderr
    r = run(saltmill, tmp_path, "scan", "job.yaml", "out", "--decode", "--format", "jsonl")
    assert [json.loads(x)["cells"]["d:v"] for x in r.stdout.splitlines()] == ['a"b\\北']
    assert load(saltmill, tmp_path, job("layout: lines", ["v"]), data, out="strict").returncode == 1


@pytest.mark.parametrize("form,message", [
    ("records: Records", "records: found `Records`, expected the path of a list"),
    ("explode: items", "explode: found `items`, expected a list like items[]"),
    ('records: "r[]", layout: lines', "expected documents, because the job has `records`"),
    ('layout: bulk, explode: "a[]"', "found `bulk` and `explode`, expected one of them"),
    ('records: "r{}", explode: "a[]"', "explode: found `records: r{}` too, expected one of them"),
    ('records: "r..s{}"', "records: found `r..s{}`, expected the path of a list"),
    ("layout: pretty", "expected one of lines, documents, bulk"),
])
def test_mistakes_in_the_form(tmp_path, saltmill, form, message):
    r = load(saltmill, tmp_path, job(form, []), "[]")
    assert r.returncode == 2 and message in r.stderr, r.stderr


def test_a_list_has_no_slices(tmp_path, saltmill):
    assert load(saltmill, tmp_path, job("layout: documents", []), '[{"id": 1}]').returncode == 0
    assert run(saltmill, tmp_path, "plan", "job.yaml", "-o", "plan").returncode == 0
    r = run(saltmill, tmp_path, "map", "job.yaml", "--plan", "plan", "--slice", "1/2", "-o", "part")
    assert r.returncode == 2 and "found JSON documents" in r.stderr, r.stderr


@pytest.mark.parametrize("form,name", [("layout: documents", ""), ('records: "{}"', '"k{}":')])
def test_a_large_list_needs_little_memory(tmp_path, saltmill, form, name):
    """64 MB in one list or object on one line, with 96 MB for the whole program and 32 MB of --memory."""
    pad, marks = "x" * 500, "{}" if name else "[]"
    with open(tmp_path / "in.json", "w") as f:
        f.write(marks[0] + ",".join(f'{name.format(i)}{{"id":{i},"v":"v{i}","pad":"{pad}"}}' for i in range(125000)) + marks[1])
    text = job(form, ["v"])
    limit = lambda: resource.setrlimit(resource.RLIMIT_DATA, (96 << 20, 96 << 20))
    (tmp_path / "job.yaml").write_text(text)
    r = run(saltmill, tmp_path, "load", "job.yaml", "-o", "out", "--quiet", "--json", "--memory", "32M", "--threads", "2",
            preexec_fn=limit)
    assert r.returncode == 0, r.stderr
    assert json.loads(r.stdout)["tables"][0]["rows"] == 125000


@pytest.mark.parametrize("data,keys,cells", [
    ('[{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]', ["layout: documents"], [("1", "x"), ("2", "y")]),
    ('{"meta": {"page": 1}, "data": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}], "next": null}',
     ["records: 'data[]'   # not loaded: meta, next"], [("1", "x"), ("2", "y")]),
    ('{\n"a": 1,\n"b": "x"}\n{"a": 2, "b": "y"}\n', ["layout: documents"], [("1", "x"), ("2", "y")]),
    ('{"x1": {"a": 1, "b": "x"}, "x2": {"a": 2, "b": "y"}, "x3": {"b": "z", "a": 3}}',
     ["records: '{}'   # _key is the name of a record"], [("1", "x"), ("2", "y"), ("3", "z")]),
    ('{"n": 3, "data": {"x1": {"a": 1, "b": "x"}, "x2": {"a": 2, "b": "y"}, "x3": {"b": "z", "a": 3}}}',
     ["records: 'data{}'   # _key is the name of a record; not loaded: n"], [("1", "x"), ("2", "y"), ("3", "z")]),
    ('{"a": 1, "b": "x"}{"a": 2, "b": "y"}', ["layout: documents"], [("1", "x"), ("2", "y")]),
    ('{"index": {"_id": "1"}}\n{"a": 1, "b": "x"}\n{"create": {"_id": "2"}}\n{"a": 2, "b": "y"}\n', ["layout: bulk"],
     [("1", "x"), ("2", "y")]),
    ('{"_id": {"$oid": "5f"}, "a": {"$numberLong": "1"}, "b": "x"}\n{"_id": {"$oid": "60"}, "a": 2, "b": "y"}\n',
     ["extended: true"], [("1", "x"), ("2", "y")]),
])
def test_init_finds_the_form(tmp_path, saltmill, data, keys, cells):
    (tmp_path / "in.json").write_text(data)
    r = run(saltmill, tmp_path, "init", "in.json", "-o", "job.yaml")
    assert r.returncode == 0, r.stderr
    text = (tmp_path / "job.yaml").read_text()
    assert all(k in text for k in keys), text
    assert run(saltmill, tmp_path, "load", "job.yaml", "-o", "out", "--quiet").returncode == 0
    scan = run(saltmill, tmp_path, "scan", "job.yaml", "out", "--decode", "--format", "jsonl")
    found = [json.loads(x) for x in scan.stdout.splitlines()]
    assert sorted((str(x["cells"]["d:a"]), x["cells"]["d:b"]) for x in found) == cells


@pytest.mark.parametrize("data,message", [
    ('{"users": [{"a": 1}, {"a": 2}], "orders": [{"b": 1}, {"b": 2}]}', "2 lists of records"),
    ('{"x1": {"a": 1}, "x2": {"b": 2}, "x3": {"c": 3}}', "an object whose members are the records"),
    ('{"columns": ["a"], "data": [[1], [2]]}', "records that are lists without names"),
    ('[{"a": 1}, {"a": 2}', "truncated"),
])
def test_init_refuses_what_it_cannot_know(tmp_path, saltmill, data, message):
    (tmp_path / "in.json").write_text(data)
    r = run(saltmill, tmp_path, "init", "in.json")
    assert r.returncode == 1 and message in r.stderr, (r.stderr, r.stdout)


def test_an_export_of_phpmyadmin_is_refused_with_the_fix(tmp_path, saltmill):
    """Its rows are in a list of the third record. jq, which the message names, gives these rows."""
    rows = [{"id": str(i), "name": f"n{i}"} for i in range(9)]
    (tmp_path / "t.json").write_text(json.dumps([{"type": "header", "version": "4.8.5"}, {"type": "database", "name": "d"},
                                                 {"type": "table", "name": "t", "database": "d", "data": rows}]))
    r = subprocess.run([saltmill, "init", "t.json"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert r.returncode == 1 and not r.stdout and "found an export of phpMyAdmin" in r.stderr
    assert """jq -c '.[] | select(.type == "table") | .data[]' t.json > lines.jsonl""" in r.stderr


def test_init_takes_whole_numbers_of_any_length(tmp_path, saltmill):
    """Jansson reads 63 bits only. The unsigned id is a key, the longer number is a text, and no other digit changes."""
    docs = [{"id": 2**64 - 1 - 3 * i, "n": -(10**30) - i if i % 2 else i, "x": i / 8, "s": f'a\\ "{10**20 + i}'} for i in range(6)]
    (tmp_path / "in.json").write_text("".join(json.dumps(d) + "\n" for d in docs))
    r = run(saltmill, tmp_path, "init", "in.json", "-o", "job.yaml")
    assert r.returncode == 0 and "id: {type: u64}" in (tmp_path / "job.yaml").read_text(), r.stderr
    assert run(saltmill, tmp_path, "load", "job.yaml", "-o", "out", "--quiet").returncode == 0
    scan = run(saltmill, tmp_path, "scan", "job.yaml", "out", "--decode", "--format", "jsonl")
    found = [json.loads(x)["cells"] for x in scan.stdout.splitlines()]
    assert sorted((int(c["d:id"]), int(c["d:n"]), float(c["d:x"]), c["d:s"]) for c in found) == \
        sorted((d["id"], d["n"], d["x"], d["s"]) for d in docs)
