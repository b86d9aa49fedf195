"""Tests that the schemas of `saltmill help schema` match what the program prints and writes.

The tests run each command that takes --json.  Each output must be valid under its schema, and each key of a schema must
occur in an output.  A schema must refuse an output with one unknown key, at any depth.
"""
import json
import re
import shutil
import subprocess
import sys
import time

import fastavro
import jsonschema
import pytest

from fake_tables import DISABLED, FakeTables, Table
from map_totals import take_totals
from oracle import murmur3_32
from loads import PROGRAM, ROOT, run

sys.path.insert(0, str(ROOT / "tests" / "faults"))

from mock_topic import MockTopic, topic_job  # noqa: E402  (needs the path above)

JOB = """\
source:
  csv: {files: [in.csv]}
fields:
  id: {type: u32}
  at: {type: time, unit: s}
where: v != skip
tables:
  - name: t
    rowkey: [{salt: 4, of: [id]}, {field: id, as: u32}, {field: at, as: reversed_millis}]
    timestamp: at
    families:
      f: {compression: {codec: ZSTD, level: auto, framing: hadoop}, ttl: 30d}
      g: {bloomfilter: ROWCOL}
    cells: [{family: f, qualifier: v, value: v}, {family: g, qualifier: id, value: id}]
    regions: {split: sampled, count: 4}
  - name: by_time
    rowkey: [{field: at, as: millis}, {field: id, as: u32}]
    timestamp: at
    families: {f: {compression: {codec: auto, aim: read}}}
    cells: [{family: f, qualifier: v, value: {key_of: t}}]
    regions: {split: none}
"""
ROLL = "roll: {rows: 30}"


def schema(name):
    r = run("help", "schema", name)
    assert r.returncode == 0, r.stderr
    return json.loads(r.stdout)


def names():
    return [line.split()[0] for line in run("help", "schema").stdout.splitlines() if line.startswith("  ")]


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


class Outputs:
    """The outputs seen for each schema's kind."""

    def __init__(self):
        self.seen = {}

    def add(self, name, *values):
        self.seen.setdefault(name, []).extend(values)

    def told(self, name, *args, status=(0, 3), each_line=False):
        r = run(*args, "--json")
        assert r.returncode in status, (args, r.stderr)
        self.add(name, *(lines(r.stdout) if each_line else [json.loads(r.stdout)]))

    def load(self, *args):
        self.told("load", "load", *args, "--max-rejects", "1000")
        out = args[args.index("-o") + 1]
        self.written(out)

    def written(self, out):
        self.add("manifest", json.loads((out / "manifest.json").read_text()))
        self.add("rejects", *lines((out / "rejects.jsonl").read_text()))


def files(seen, f):
    (f / "job.yaml").write_text(JOB)
    with open(f / "in.csv", "w", encoding="utf-8", errors="surrogateescape") as out:
        out.write("id,at,v,unused\n" + 'x,1400000000,"v\nw",\n9,1400000001,skip,"u\nu"\n' + ",1400000001,\udcff,\n7,1400000003,again,u\n" + "".join(
            f"{i * 2654435761 % 10**6 if i % 3 else 7},{1400000000 + i},{'skip' if i % 50 == 0 else 'v' * (i % 40)},u\n"
            for i in range(4000)))
    seen.load(f / "job.yaml", "-o", f / "load")
    seen.told("plan", "plan", f / "job.yaml", "-o", f / "plan", "--tune")
    seen.add("plan", json.loads((f / "plan" / "plan.json").read_text()))
    seen.told("plan", "plan", f / "job.yaml", "--sample", "50%")
    seen.told("plan", "plan", f / "job.yaml", "--hotspot")
    seen.told("plan", "plan", f / "job.yaml", "--rows", "10M")
    seen.add("settings", json.loads((f / "plan" / "settings.json").read_text()))
    for part in (1, 2):
        seen.load(f / "job.yaml", f / "in.csv", "-o", f / f"slice{part}", "--slice", f"{part}/2", "--plan", f / "plan")
    seen.told("check", "check", f / "job.yaml")
    (f / "rules.yaml").write_text(JOB.replace("id: {type: u32}", "id: {type: u32, expect: {max: 999}}"))
    seen.told("check", "check", f / "rules.yaml")
    seen.told("lint", "lint", f / "job.yaml")
    seen.told("verify", "verify", f / "load")
    shutil.copytree(f / "load", f / "broken")
    (f / "broken" / "rejects.jsonl").write_text("")
    seen.told("verify", "verify", f / "broken", status=(1,))
    changed = f / "changed.csv"
    changed.write_bytes((f / "in.csv").read_bytes() + b"1,1500000000,new,u\n2,1500000000,new,u\n")
    assert run("load", f / "job.yaml", changed, "-o", f / "changed", "--max-rejects", "9").returncode in (0, 3)
    seen.told("diff", "diff", f / "load", f / "changed", "--table", "t")
    seen.told("diff", "diff", f / "changed", f / "load", "--table", "t")
    both = ROOT / "conf" / "loans.yaml"
    assert run("load", both, "-o", f / "loans", "--quiet").returncode == 0
    seen.told("agree", "agree", both, f / "loans", "--truth", "student_loans")
    seen.told("manifest", "convert", f / "load", "-o", f / "converted", "--table", "t", "--compression", "GZ", "--blocksize", "4K")
    seen.told("what_if", "convert", f / "load", "--what-if", "--table", "t", "--compression", "GZ", "--blocksize", "16K")
    seen.told("manifest", "merge", f / "load", f / "changed", "--table", "t", "-o", f / "merged")
    seen.told("manifest", "rekey", f / "job.yaml", f / "job.yaml", f / "load", "--table", "t", "-o", f / "rekeyed")
    hfile = next((f / "load" / "t" / "hfiles" / "g").iterdir())
    seen.told("inspect", "inspect", hfile, next((f / "load" / "t" / "hfiles" / "f").iterdir()), "--cells", "--blocks")
    (f / "no.hfile").write_text("none")
    seen.told("inspect", "inspect", f / "no.hfile", status=(1,))
    cut = bytearray(next((f / "converted" / "t" / "hfiles" / "g").iterdir()).read_bytes())
    cut[len(cut) // 3] ^= 1
    (f / "cut.hfile").write_bytes(cut)
    seen.told("salvage", "inspect", f / "cut.hfile", "--salvage", f / "salvaged.hfile", status=(3,))
    seen.told("split", "split", "HexStringSplit", "4")
    seen.told("ddl", "ddl", f / "job.yaml", "--table", "by_time")
    (f / "live.txt").write_text("hbase> get_splits 't'\nTotal number of splits = 3\n\\x01\n\\x02\n")
    seen.told("drift", "drift", "--existing", f"t={f / 'live.txt'}", f / "job.yaml")
    asked = ("--ask", "id = ? and at between ? and ? + 1h", "5/s", "--ask", "at between ? and ? + 10m", "--ask", "v = ?")
    seen.told("design", "design", f / "job.yaml", *asked, "--rows", "1M", "--writes", "1/s", "-o", f / "designs")
    seen.told("design", "design", f / "job.yaml", "--ask", "id = ? latest 3", "--ask", "v = ? latest 3 by at")
    (f / "queries.yaml").write_text("".join(f"- {{ask: '{q}', rate: 1/s}}\n" for q in ("id = ?", "at between ? and ? + 1h")))
    seen.told("compare", "compare", f / "job.yaml", f / "designs" / "job.yaml", "--queries", f / "queries.yaml")
    seen.told("version", "version")
    seen.told("load", "unite", f / "job.yaml", "--loads", f / "slice1", f / "slice2", "-o", f / "joined", "--max-rejects", "9")
    seen.written(f / "joined")
    with open(f / "in.avro", "wb") as out:
        fastavro.writer(out, {"type": "record", "name": "r", "fields": [
            {"name": "id", "type": "long"}, {"name": "at", "type": "long"}, {"name": "v", "type": "string"}]},
            [{"id": i, "at": 1400000000 + i, "v": "a"} for i in range(-1, 9)])
    (f / "avro.yaml").write_text(JOB.replace("csv: {files: [in.csv]}", "avro: {files: [in.avro]}"))
    seen.load(f / "avro.yaml", "-o", f / "avro")
    (f / "marks.csv").write_text("id,at,v\n1,5,a\n1,5,\n1,5,b\n")
    (f / "marks.yaml").write_text("source: {csv: {files: [marks.csv]}}\nfields: {id: {type: u32}, at: {type: time, unit: s}}\ntables:\n"
                                  "  - name: m\n    rowkey: [{field: id}]\n    timestamp: at\n    families: {f: {}}\n"
                                  "    cells: [{family: f, qualifier: v, value: v, optional: true}]\n"
                                  "    deletes: [{row: true, when: v is null}]\n    regions: {split: none}\n")
    seen.load(f / "marks.yaml", "-o", f / "marked")
    (f / "nights").mkdir()
    for name in ("1", "2"):
        (f / "night.csv").write_text(f"id,at,v,unused\n{name},1400000000,v,\n")
        seen.load(f / "job.yaml", f / "night.csv", "--ledger", f / "nights", "--replace", "-o", f / "nights" / name)
        (f / "nights" / f"{name}.saltmill-apply").write_text(
            "saltmill-apply 1 0 0 #00000000\n" + f"finished #{murmur3_32(b'finished'):08x}\n")
    seen.told("ledger-loads", "loads", "--ledger", f / "nights", "--keep", "1")
    seen.add("ledger", json.loads((f / "nights" / "ledger.json").read_text()))


def parts(seen, f):
    """Makes the reports of map and reduce, the output of digest, and the file of unite --inputs."""
    (f / "maps").mkdir()
    at = ["--plan", f / "plan", "--input", "0"]
    size = (f / "in.csv").stat().st_size
    start = 0
    for k in range(2):
        piece = f"={start}-{size}" if k else "1/2"
        r = run("map", f / "job.yaml", f / "in.csv", *at, "--slice", piece, "-o", f / "maps" / str(k))
        assert r.returncode in (0, 3), r.stderr
        seen.add("map-report", json.loads((f / "maps" / str(k) / "report.json").read_text()))
        start = seen.seen["map-report"][-1]["end"]
    run("plan", f / "avro.yaml", "-o", f / "avro-plan", "--tune")
    r = run("map", f / "avro.yaml", f / "in.avro", "--plan", f / "avro-plan", "--input", "0", "-o", f / "avro-map")
    assert r.returncode in (0, 3), r.stderr
    seen.add("map-report", json.loads((f / "avro-map" / "report.json").read_text()))
    run("plan", f / "marks.yaml", "-o", f / "marks-plan")
    (f / "marks-maps").mkdir()
    run("map", f / "marks.yaml", f / "marks.csv", "--plan", f / "marks-plan", "--input", "0", "-o", f / "marks-maps" / "0")
    r = run("reduce", f / "marks.yaml", f / "marks-maps", "--plan", f / "marks-plan", "-o", f / "marks-reduced")
    assert r.returncode == 0, r.stderr
    seen.add("reduce-report", json.loads((f / "marks-reduced" / "report.json").read_text()))
    r = run("reduce", f / "job.yaml", f / "maps", "--plan", f / "plan", "-o", f / "reduced")
    assert r.returncode == 0, r.stderr
    seen.add("reduce-report", json.loads((f / "reduced" / "report.json").read_text()))
    r = run("reduce", f / "job.yaml", f / "maps", "--plan", f / "plan", "-o", f / "summed", "--totals")
    assert r.returncode == 0, r.stderr
    seen.add("reduce-report", json.loads((f / "summed" / "report.json").read_text()))
    digest = json.loads(run("digest", f / "in.csv", "--maps", f / "maps", "--input", "0").stdout)
    seen.add("digest", digest)
    inputs = {"inputs": [{"path": str(f / "in.csv"), "size": size}], "digests": [digest]}
    (f / "inputs.json").write_text(json.dumps(inputs))
    seen.told("load", "unite", f / "job.yaml", "--inputs", f / "inputs.json", "--plan", f / "plan", "--maps", f / "maps",
              "--reduces", f / "reduced", "-o", f / "united", "--max-rejects", "9")
    (f / "totals.json").write_text(json.dumps(take_totals(f / "maps")))
    seen.told("load", "unite", f / "job.yaml", "--inputs", f / "inputs.json", "--plan", f / "plan", "--maps", f / "maps",
              "--reduces", f / "summed", "--totals", f / "totals.json", "-o", f / "added", "--max-rejects", "9")
    seen.add("map-totals", json.loads((f / "totals.json").read_text()))
    seen.add("inputs", inputs)  # the program accepts it, so it has all members that the reader needs


def questions(seen, f):
    job, load = f / "job.yaml", f / "load"
    row = run("key", "encode", job, "--table", "t", "id=7", "at=1400000003").stdout.strip()
    seen.told("key-decode", "key", "decode", job, row, "--table", "t", each_line=True)
    seen.told("key-ranges", "key", "ranges", job, load, "--table", "t", "--where", "id = 7", each_line=False)
    seen.told("key-ranges", "key", "ranges", job, "--table", "t", "--where", "id = 7 and v = 'x'")
    seen.told("key-ranges", "key", "ranges", job, "--table", "t", "--where", "id = 7 and at = 1400000003")
    wide = f / "wide.yaml"
    wide.write_text("source: {csv: {files: [in.csv]}}\nfields: {id: {type: u32}, at: {type: time, unit: s}}\ntables:\n  - name: w\n"
                    "    rowkey: [{field: id, as: u32}]\n    timestamp: at\n    families: {f: {}}\n"
                    "    cells: [{family: f, qualifier: {field: at, as: millis}, value: id}]\n    regions: {split: none}\n")
    seen.told("key-ranges", "key", "ranges", wide, "--where", "id = 7 and at = 1400000003")
    seen.told("rows", "scan", job, load, "--table", "t", "--limit", "3", each_line=True)
    seen.told("rows", "get", job, load, "--table", "t", "--row", row, each_line=True)
    r = run("scan", job, load, "--table", "t", "--limit", "2", "--decode", "--json")
    seen.add("decoded-rows", *lines(r.stdout))
    for line in ("load", "load F/none.yaml -o F/x", "load F/misspelt.yaml -o F/x", "report F"):
        (f / "misspelt.yaml").write_text(JOB.replace("rowkey", "rowkee"))
        r = run(*line.replace("F", str(f)).split(), "--json")
        seen.add("failure", json.loads(r.stderr.splitlines()[-1]))


def topics(seen, f):
    topic, other = MockTopic("schemas-a", 2), None
    (f / "topic.yaml").write_text(topic_job(topic.brokers, "topic: schemas-a, " + ROLL))
    (f / "topics.yaml").write_text(topic_job(topic.brokers, "topics: [schemas-a], " + ROLL))
    state = f / "state"
    for i in range(2):
        topic.produce(i, [json.dumps({"id": k if k else "bad", "v": "x"}).encode() for k in range(40)])
        seen.load(f / "topic.yaml", "-o", f / f"k{i}", "--state", state)
    topic.produce(0, [b'{"id": 1}'])
    seen.load(f / "topics.yaml", "-o", f / "k2", "--state", f / "several")
    for s in (state, f / "several"):
        seen.told("status", "status", "--state", s)
        seen.told("loads", "loads", "--state", s, each_line=True)
    seen.told("seek", "seek", "--state", state, "0=3", each_line=True)
    seen.told("seek", "seek", "--state", f / "several", "schemas-a/0=3", each_line=True)
    shutil.rmtree(f / "k0")
    seen.told("loads", "loads", "--state", state, each_line=True, status=(1,))
    seen.told("load", "replay", f / "k1", "--rejects", "-o", f / "again", "--max-rejects", "9")
    (f / 'a "quoted" folder').mkdir()
    p = subprocess.Popen([PROGRAM, "stream", f / "topic.yaml", "--state", f / "streamed", "--json", "-o",
                          f / "a \"quoted\" folder"], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True)
    try:
        end = time.monotonic() + 60
        while not (f / "streamed" / "status.json").exists() and time.monotonic() < end:
            time.sleep(.05)
    finally:
        time.sleep(.5)
        p.terminate()
        out, _ = p.communicate(timeout=60)
    seen.add("stream", *lines(out))
    seen.told("status", "status", "--state", f / "streamed")
    seen.add("state-status", json.loads((f / "streamed" / "status.json").read_text()))
    for s in (state, f / "several"):
        seen.add("state-load", *(json.loads(r.read_text()) for r in sorted((s / "loads").iterdir())))
        seen.add("state-topic", json.loads((s / "topic.json").read_text()))
    record = seen.seen["state-load"][-1].copy()
    del record["digest"]  # as in records of old versions
    record["offsets"] = [{**o, "start": o["end"], "events": 0} for o in record["offsets"]]
    for i in range(int(record["name"]) + 1, 503):
        record["name"] = f"{i:08}"
        (f / "several" / "loads" / f"{i:08}.json").write_text(json.dumps(record))
    assert run("seek", "--state", f / "several", "schemas-a/1=0").returncode == 0
    seen.add("state-sum", json.loads((f / "several" / "checkpoint.json").read_text()))


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    seen, folder = Outputs(), tmp_path_factory.mktemp("schemas")
    files(seen, folder)
    parts(seen, folder)
    questions(seen, folder)
    topics(seen, folder)
    live_tables(seen)
    return seen.seen


def live_tables(seen):
    families = {"f": ({"TTL": "5"}, {"k": "v"}), "g": ({}, {})}
    with FakeTables({"a": Table(borders=[b"m"], silent=[1], homeless=[0], families=families),
                     "ns:b": Table(state=DISABLED, attributes={"x": "y"})}) as cluster:
        at = ("--hbase", cluster.address)
        seen.told("tables", "tables", *at)
        for table in ("a", "ns:b"):
            seen.told("regions", "regions", table, *at)
            seen.told("describe", "describe", table, *at)
        seen.told("watch", "watch", "--table", "a", "--every", "1s", "--for", "1s", *at)
        seen.told("drop", "drop", "a", "--yes", *at)


# Keys that occur only with a server, or with a file of another program.  tests/hbase and tests/kafka see them.
ELSEWHERE = {
    "check": {"fields[].warning", "fields[].finer_times"},  # test_check.py, test_init_times.py
    "map-report": {"finer_times", "finer_seq", "finer_field"},  # test_halves.py
    "rejects": {"key_base64", "headers", "headers[].name", "headers[].value", "headers[].value_base64"},
    "status": {"making", "stream.parked", "partitions", "apply", "apply.time_ms", "apply.unapplied",
               "apply.oldest_unapplied_ms", "apply.applied", "apply.applied_ms", "apply.trouble"},
    "loads": {"applied_to", "applied_ms"},
    "settings": {"tables[].tuned[].min_match"},
    "state-load": {"handed_ms", "cluster"},
    "state-topic": {"unnamed", "id", "topics[].id"},
    "state-status": {"parked"},
    "watch": {"hot"} | {"hot." + k for k in ("of", "reason", "name", "share", "region", "start", "end", "server", "advice")},  # test_watch.py
    "manifest": {"folder", "tables[].tuned[].min_match"},  # of loads in S3: test_s3_output.py; of larger loads: test_tuning.py
    # test_agree.py has differences and repairs
    "agree": {"repair", "repair_cells", "tables[].refused", "tables[].events_why", "tables[].extra_kept"}
    | {"altered[]." + k for k in ("table", "change", "fix")}
    | {"tables[].first[]." + k for k in ("difference", "row", "family", "qualifier", "expected_timestamp", "expected_value",
                                         "found_timestamp", "found_value")},
    "diff": {"first[].tags_a", "first[].tags_b"},  # test_diff has tags
    "inspect": {"[].cells[].mvcc", "[].cells[].tags", "[].cells[].tags[].type", "[].cells[].tags[].value"},
}


def keys_of(node, at=""):
    """Returns the paths of a schema's keys."""
    if "items" in node:
        yield from keys_of(node["items"], at + "[]")
    for key, value in node.get("properties", {}).items():
        path = f"{at}.{key}" if at else key
        yield path
        yield from keys_of(value, path)


def seen_keys(value, at=""):
    if isinstance(value, list):
        for item in value:
            yield from seen_keys(item, at + "[]")
    if isinstance(value, dict):
        for key, item in value.items():
            path = f"{at}.{key}" if at else key
            yield path
            yield from seen_keys(item, path)


def test_each_schema_is_one():
    assert len(names()) == len(set(names())) > 20
    for name in names():
        s = schema(name)
        jsonschema.Draft202012Validator.check_schema(s)
        assert all(len(d) > 2 for d in re.findall(r'"description": "([^"]*)"', json.dumps(s)))


def test_what_comes_out_is_what_the_schemas_say(outputs):
    # tests/hbase and tests/kafka see the outputs of a cluster
    assert set(outputs) == set(names()) - {"apply", "applied", "state-applying", "moved"}
    for name, values in outputs.items():
        assert values, name
        judge = jsonschema.Draft202012Validator(schema(name))
        for value in values:
            errors = [f"{name} {e.json_path}: {e.message[:300]}" for e in judge.iter_errors(value)]
            assert errors == []


def test_each_key_of_a_schema_comes_out(outputs):
    for name, values in outputs.items():
        there = {path for value in values for path in seen_keys(value)}
        missing = set(keys_of(schema(name))) - there
        assert missing == ELSEWHERE.get(name, set()), name


def objects_of(value, at=""):
    """Returns all objects of an output that the schema describes, with their paths."""
    if isinstance(value, list):
        for item in value:
            yield from objects_of(item, at + "[]")
    if isinstance(value, dict):
        yield at, value
        for key, item in value.items():
            yield from objects_of(item, f"{at}.{key}" if at else key)


# Objects whose keys come from the data.
FREE = {"check": {"reasons"}, "version": {"libraries"}, "key-decode": {"key"}, "decoded-rows": {"key", "cells"},
        "describe": {"attributes", "families[].attributes", "families[].configuration"}}


def test_an_unknown_key_at_any_place_is_refused(outputs):
    for name, values in outputs.items():
        judge, done = jsonschema.Draft202012Validator(schema(name)), set()
        for value in values:
            for at, where in objects_of(value):
                if at in done or {at, at.split(".")[0]} & FREE.get(name, set()):
                    continue
                done.add(at)
                where["planted"] = 1
                found = [e.validator for e in judge.iter_errors(value)]
                del where["planted"]
                assert found == ["additionalProperties"], (name, at)
        assert done, name


def test_a_missing_key_is_refused(outputs):
    for name, values in outputs.items():
        form = schema(name)
        judge = jsonschema.Draft202012Validator(form)
        value = values[0][0] if form["type"] == "array" else values[0]
        for key in form.get("items", form)["required"]:
            kept = value.pop(key)
            assert "required" in [e.validator for e in judge.iter_errors(values[0])], (name, key)
            value[key] = kept


def test_the_names_of_choices_are_in_the_schema():
    aim = schema("manifest")["properties"]["tables"]["items"]["properties"]["tuned"]["items"]["properties"]["aim"]
    assert aim["enum"] == ["balance", "speed", "size", "read"]
    assert schema("lint")["items"]["properties"]["severity"]["enum"] == ["advice", "warning", "severe"]


def test_each_command_with_json_has_a_schema():
    listed = re.findall(r"^  saltmill (\w+)", run("--help").stdout, re.M)
    titles = run("help", "schema").stdout
    for command in listed:
        if re.search(r"^  --json ", run("help", command).stdout, re.M):
            assert re.search(rf"\b{command}\b.*--json|get and scan|unite and replay", titles), command
            assert command in re.sub(r"[^a-z]+", " ", titles).split(), command


def test_no_such_schema():
    r = run("help", "schema", "nonsense")
    assert r.returncode == 2 and "found no schema `nonsense`" in r.stderr
