"""Tests that `saltmill lint` reports the expected finding, and no other, for each deliberately bad job.

The test makes the rows, so it knows the figures that a rule measures.
"""
import decimal
import json
import random
import re
import subprocess

import fastavro
import pytest

from load_oracle import murmur3_32
from loads import PROGRAM, ROOT

NOW = 1_700_000_000  # a time before the clock of any machine that runs this


def job(key="[{field: id, as: u32}]", families="f: {versions: 1}", cells=None, time="unit: s",
        regions="{split: sampled, count: 2}", fields=""):
    cells = cells or "{family: f, qualifier: v, value: v}"
    return f"""\
source:
  csv: {{files: [in.csv]}}
fields:
  id: {{type: u32}}
  at: {{type: time, {time}}}
{fields}tables:
  - name: t
    rowkey: {key}
    timestamp: at
    families: {{{families}}}
    cells: [{cells}]
    regions: {regions}
"""


def rows(n=400, seed=1, key=None, at=None, more=lambda i: ("x",)):
    """Makes rows with ids in random order. All ids are distinct unless an argument changes this."""
    rng = random.Random(seed)
    ids = rng.sample(range(1, 10 ** 5), n)
    lines = ["id,at,v,w,u"]
    for i in range(n):
        extra = list(more(i)) + [""] * 2
        lines.append(f"{key(i) if key else ids[i]},{at(i) if at else NOW + i},{','.join(extra[:3])}")
    return "\n".join(lines) + "\n"


LONG = "x" * 500
CASES = {
    # rules that need only the job
    "four families": ("many-families", job(
        families="a: , b: , c: , d: ",
        cells="{family: a, qualifier: v, value: v}, {family: b, qualifier: v, value: v}, "
              "{family: c, qualifier: v, value: v}, {family: d, qualifier: v, value: v}"), rows()),
    "versions with the time in the key": ("dead-versions", job(
        key="[{field: id, as: u32}, {field: at, as: reversed_millis}]", families="f: {versions: 3}"), rows()),
    "versions with millis in the key": ("dead-versions", job(
        key="[{field: id, as: u32}, {field: at, as: millis}]", families="f: {versions: 2}"), rows()),
    "versions with one time for all": ("dead-versions", job(families="f: {versions: 2}").replace(
        "timestamp: at", "timestamp: 1600000000000"), rows()),
    "a time as text": ("time-as-text", job(key="[{field: id, as: u32}, {field: at, as: text}]"), rows()),
    "a time's column as text": ("time-as-text", job(
        key="[{field: id, as: u32}, {field: day, width: 10}]", fields="  day: {from: at}\n"), rows()),
    "fewer buckets than regions": ("few-buckets", job(
        key="[{salt: 4, of: [id]}, {field: id, as: u32}]", regions="{split: sampled, count: 16}"), rows()),
    "fewer buckets than servers": ("few-buckets", job(
        key="[{salt: 4, of: [id]}, {field: id, as: u32}]", regions="{split: sampled, servers: 12}"), rows()),
    "a salt that is drawn": ("drawn-salt", job(
        key="[{salt: 16, draw: random}, {field: at, as: millis}, {field: id, as: u32}]"), rows()),
    "a salt in turns": ("drawn-salt", job(key="[{salt: 16, draw: round_robin, seed: 3}, {field: id, as: u32}]"), rows()),
    # keys
    "long keys": ("long-key", job(key="[{field: v}]", cells="{family: f, qualifier: v, value: w}"),
                  rows(more=lambda i: (f"{i * 7919 % 400:03d}" + "k" * 40, "y"))),
    "very long keys": ("long-key", job(key="[{field: v}]", cells="{family: f, qualifier: v, value: w}"),
                       rows(more=lambda i: (f"{i * 7919 % 400:03d}" + "k" * 200, "y"))),
    "time in front": ("ordered-head", job(key="[{field: at, as: millis}, {field: id, as: u32}]"), rows()),
    "reversed time in front": ("ordered-head", job(
        key="[{field: at, as: reversed_millis}, {field: id, as: u32}]"), rows()),
    "a sequence in front": ("ordered-head", job(), rows(key=lambda i: 1000 + i)),
    "a sequence behind a constant": ("ordered-head", job(key="[{const: 'e'}, {field: id, as: u32}]"),
                                     rows(key=lambda i: 5 + i)),
    "a descending sequence": ("ordered-head", job(), rows(key=lambda i: 100_000 - i)),
    "nearly ordered times": ("ordered-head", job(key="[{field: at, as: millis}, {field: id, as: u32}]"),
                             rows(at=lambda i: NOW + i * 10 + (i * 7919) % 15)),
    "a number that fills its padding": ("tight-padding", job(key="[{field: id, as: text, width: 5}]"), rows()),
    "a text that fills its padding now and then": ("tight-padding", job(
        key="[{field: v, width: 6}]", cells="{family: f, qualifier: v, value: w}"),
        rows(more=lambda i: (f"{i * 7919 % 400:03d}" + "abc" * (i % 20 == 0), "y"))),
    # regions; all these rows are in one region
    "a salt under uniform regions": ("regions-miss-key", job(
        key="[{salt: 16, of: [id]}, {field: id, as: u32}]", regions="{split: uniform, count: 16}"), rows()),
    "a constant in front": ("regions-miss-key", job(
        key="[{const: 'e'}, {field: id, as: u32}]", regions="{split: uniform, count: 4}"), rows()),
    "digits under uniform regions": ("regions-miss-key", job(
        key="[{field: id, as: text, width: 8}]", regions="{split: uniform, count: 4}"), rows()),
    "small numbers under uniform regions": ("regions-miss-key", job(regions="{split: uniform, count: 8}"), rows()),
    "small numbers under hex regions": ("regions-miss-key", job(regions="{split: hex, count: 8}"), rows()),
    "empty qualifiers, markers and a TTL": ("ttl-and-markers", job(
        families="f: {ttl: 20000d}", cells="{family: f, value: v}").replace(
            "    regions", "    deletes: [{family: f, when: v = d}]\n    regions"), rows()),
    # families
    "a family that few rows have": ("unbalanced-families", job(
        families="f: , g: ", cells="{family: f, qualifier: v, value: v}, "
        "{family: g, qualifier: w, value: w, optional: true}"),
        rows(n=4000, more=lambda i: ("x", "y" if i % 400 == 0 else ""))),
    "a family that few bytes are in": ("unbalanced-families", job(
        families="f: , g: ", cells="{family: f, qualifier: v, value: v}, {family: g, qualifier: w, value: w}"),
        rows(more=lambda i: (LONG, "y"))),
    "a family that no row has": ("unbalanced-families", job(
        families="f: , g: ", cells="{family: f, qualifier: v, value: v}, "
        "{family: g, qualifier: w, value: w, optional: true}"), rows()),
    # times
    "seconds taken for milliseconds": ("mistaken-unit", job(time="unit: ms"), rows()),
    # ms of 1973; as seconds, these values are in the year 5772
    "milliseconds taken for seconds": ("mistaken-unit", job(time="unit: s"),
                                       rows(at=lambda i: (120_000_000 + i) * 1000)),
    "seconds taken for microseconds": ("mistaken-unit", job(time="unit: us"), rows()),
    "milliseconds taken for microseconds": ("mistaken-unit", job(time="unit: us"), rows(at=lambda i: (NOW + i) * 1000)),
    "milliseconds taken for nanoseconds": ("mistaken-unit", job(time="unit: ns"), rows(at=lambda i: (NOW + i) * 1000)),
    "microseconds taken for milliseconds": ("mistaken-unit", job(time="unit: ms"),
                                            rows(at=lambda i: (120_000_000 + i) * 10 ** 6)),
    "three rows in the first days of 1970": ("mistaken-unit", job(time="unit: ms"), rows(n=3)),
    # salts
    "a salt of three values": ("uneven-salt", job(
        key="[{salt: 16, of: [v]}, {field: v, width: 1}, {field: id, as: u32}]",
        cells="{family: f, qualifier: w, value: w}"), rows(more=lambda i: ("abc"[i % 3], "y"))),
    "a salt of one usual value": ("uneven-salt", job(
        key="[{salt: 4, of: [w]}, {field: v, width: 1}, {field: id, as: u32}]"),
        rows(more=lambda i: ("x", "usual" if i % 3 else f"w{i}"))),
    "a cell's TTL above the family's": ("long-cell-ttl", job(
        families="f: {ttl: 20000d}", cells="{family: f, qualifier: v, value: v, ttl: 20001d}"), rows()),
    "a TTL that hides all": ("short-ttl", job(families="f: {ttl: 30d}"), rows()),
    "a TTL that hides the oldest": ("short-ttl", job(families="f: {ttl: 9000d}"),
                                    rows(at=lambda i: 86400 * 365 * 3 if i == 7 else NOW + i)),
}


# events that the key cannot distinguish
NOT_UNIQUE = {
    "two events with one key": (job(), rows(key=lambda i: i // 2 * 7919 % 99991, at=lambda i: NOW + i // 2,
                                            more=lambda i: (f"v{i % 2}",))),
    "one collision in 10,000": (job(), rows(n=10_000, at=lambda i: NOW, key=lambda i: (i - (i == 5000)) * 7919 % 99991,
                                            more=lambda i: (f"v{i}",))),
    "a text at the end of the key": (job(key="[{field: v}]", cells="{family: f, qualifier: w, value: w}"),
                                     rows(at=lambda i: NOW, more=lambda i: (f"{i // 2 * 7919 % 400}", f"w{i}"))),
    "the other column differs": (job(cells="{family: f, qualifier: v, value: v}, {family: f, qualifier: w, value: w}"),
                                 rows(key=lambda i: i // 4 * 7919 % 99991, at=lambda i: NOW,
                                      more=lambda i: ("x", f"w{i}"))),
}
CASES.update({name: ("key-not-unique", *case) for name, case in NOT_UNIQUE.items()})


def saltmill(*args, cwd):
    return subprocess.run([PROGRAM, *args], cwd=cwd, capture_output=True, text=True, timeout=120)


def lint(tmp_path, text, csv):
    (tmp_path / "job.yaml").write_text(text)
    (tmp_path / "in.csv").write_text(csv)
    done = saltmill("lint", "job.yaml", "--json", cwd=tmp_path)
    return done, json.loads(done.stdout or "null")


def mended(text, fix):
    """Returns the job with the lines of a fix in place of its own, as the README of lint defines a fix."""
    lines = text.splitlines()
    for line in fix.splitlines():
        name, rest = line.split(": ", 1)
        start = f"    {name}: "
        if name == "fields":
            start, rest = re.fullmatch(r"\{(\w+: )(.*)\}", rest).groups()
            start = "  " + start
        [at] = [i for i, l in enumerate(lines) if l.startswith(start)]
        lines[at] = start + rest
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("columns, found", [(120_000, True), (80_000, False)])
def test_a_wide_row(tmp_path, columns, found):
    """60,000 other rows have 1 column each, and share the counters of the wide row."""
    events = [(7, i) for i in range(columns)] + [(100 + i, i) for i in range(60_000)]
    random.Random(4).shuffle(events)
    csv = "id,at,v,w,u\n" + "".join(f"{key},{NOW + at},x,,\n" for key, at in events)
    text = job(cells="{family: f, qualifier: {field: at, as: millis}, value: v}")
    _, findings = lint(tmp_path, text, csv)
    assert [f["rule"] for f in findings] == ["wide-row"] * found
    for f in findings:
        assert abs(f["figure"] - columns) < 100 and f["line"] == 11, f
        _, left = lint(tmp_path, mended(text, f["fix"]), csv)
        assert left == []


@pytest.mark.parametrize("name", CASES)
def test_a_bad_job_gets_its_finding_and_no_other(tmp_path, name):
    rule, text, csv = CASES[name]
    done, found = lint(tmp_path, text, csv)
    assert [f["rule"] for f in found] == [rule], found
    assert done.returncode == 3
    f = found[0]
    line = text.splitlines()[f["line"] - 1]
    assert f["table"] == "t" and 1 <= f["column"] <= len(line)
    assert f["severity"] in ("advice", "warning", "severe") and f["what"] and f["why"] and f["fix"]
    human = saltmill("lint", "job.yaml", cwd=tmp_path)
    assert human.returncode == 3
    assert f"job.yaml:{f['line']}:{f['column']}: {f['severity']}: {rule}: table t: {f['what']}" in human.stdout
    done, left = lint(tmp_path, mended(text, f["fix"]), csv)
    assert (left, done.returncode, done.stderr) == ([], 0, ""), f["fix"]


def test_salts_and_units_that_are_right(tmp_path):
    """Neither a salt of many values, nor few times of 1972, nor 100 birthdays of the 1960s are mistakes."""
    salt = job(key="[{salt: 16, of: [id]}, {field: id, as: u32}]")
    for text, csv in ((salt, rows()), (salt, rows(n=40, key=lambda i: i % 2)), (job(time="unit: ms"), rows(
            n=9, at=lambda i: 90_000_000_000 + i)), (job(), rows(at=lambda i: -i * 86400 - 5))):
        _, found = lint(tmp_path, text, csv)
        assert [f["rule"] for f in found if f["rule"] in ("uneven-salt", "mistaken-unit")] == []


def test_an_uneven_salt_by_hand(tmp_path):
    """The test counts murmur3_32 of a, b and c modulo 16, and plan reports the same."""
    _, text, csv = CASES["a salt of three values"]
    buckets = [murmur3_32(line.split(",")[2].encode(), 0) % 16 for line in csv.splitlines()[1:]]
    most = max(map(buckets.count, set(buckets)))
    _, [found] = lint(tmp_path, text, csv)
    assert found["figure"] == most / 400 and f"uses {len(set(buckets))} of 16 buckets" in found["what"]
    plan = saltmill("plan", "job.yaml", cwd=tmp_path)
    assert "uneven-salt: table t: the salt uses" in plan.stderr, plan


def test_figures_are_what_was_put_in(tmp_path):
    """Compares each figure with a count made here."""
    csv = rows(more=lambda i: (f"{i * 7919 % 400:03d}" + "k" * 40, "y"))
    _, found = lint(tmp_path, CASES["long keys"][1], csv)
    assert found[0]["figure"] == 43
    _, found = lint(tmp_path, CASES["time in front"][1], rows())
    assert found[0]["figure"] == 399 / 400  # the first row has none before it
    csv = rows(n=4000, more=lambda i: ("x", "y" if i % 400 == 0 else ""))
    _, found = lint(tmp_path, CASES["a family that few rows have"][1], csv)
    assert found[0]["figure"] == 400  # 4,000 rows, ten with a cell
    _, found = lint(tmp_path, CASES["fewer buckets than regions"][1], rows())
    assert found[0]["figure"] == 4


def test_two_colliding_events_are_shown(tmp_path):
    """The first two events share a key and have other values. A repeated event is no collision."""
    lines = rows(n=2000, key=lambda i: i * 7919 % 99991, at=lambda i: NOW, more=lambda i: (f"v{i}",)).splitlines()
    lines[1500] = lines[700]            # line 1501 is 701 again
    lines[1200] = re.sub(r",v\d+", ",other", lines[900])
    done, found = lint(tmp_path, job(), "\n".join(lines) + "\n")
    assert [f["rule"] for f in found] == ["key-not-unique"]
    assert found[0]["figure"] == 1 / 2000 and found[0]["severity"] == "severe"
    places = re.findall(r"in\.csv:(\d+) \(byte (\d+)\)", found[0]["what"])
    assert [int(line) for line, _ in places] == [901, 1201], found[0]["what"]
    assert "0.05% are exact duplicates" in found[0]["what"]
    # load reports how many of these events it stored
    load = saltmill("load", "job.yaml", "-o", "out", "--json", cwd=tmp_path)
    assert json.loads((tmp_path / "out/manifest.json").read_text())["tables"][0]["deduplicated"] == 2, load.stderr


def test_collisions_in_many_rows_are_estimated(tmp_path):
    """If there are too many keys, lint keeps a part of them by hash. lint keeps both keys of a pair, or none."""
    n = 300_000
    with open(tmp_path / "in.csv", "w") as f:
        f.write("id,at,v\n" + "".join(f"{(i - (i % 20 == 1)) * 2654435761 % 4294967291},{NOW},{i}\n" for i in range(n)))
    (tmp_path / "job.yaml").write_text(job())
    one, two = (saltmill("lint", "job.yaml", "--json", "--threads", n, cwd=tmp_path).stdout for n in "12")
    assert one == two
    [found] = json.loads(one)
    assert "(measured on 1 of 16 keys)" in found["what"]
    assert found["rule"] == "key-not-unique" and abs(found["figure"] - 0.05) < 0.008  # five deviations


@pytest.mark.parametrize("name, text, csv", [
    ("salted time", job(key="[{salt: 16, of: [id]}, {field: at, as: millis}, {field: id, as: u32}]"), rows()),
    ("random ids", job(), rows()),
    ("versions that apply", job(families="f: {versions: 3}"), rows()),
    ("a code of one width", job(key="[{field: v, width: 3}, {field: id, as: u32}]"),
     rows(more=lambda i: (f"{i * 7919 % 400:03d}",))),
    ("a salt of all bytes under uniform regions", job(
        key="[{salt: 256, of: [id]}, {field: id, as: u32}]", regions="{split: uniform, count: 16}"), rows()),
    ("digits under decimal regions", job(key="[{salt: 16, of: [id]}, {field: id, as: u32}]",
                                         regions="{split: uniform, count: 16, last: '\\x0F'}"), rows()),
    ("empty qualifiers and markers without a TTL", job(cells="{family: f, value: v}").replace(
        "    regions", "    deletes: [{family: f, when: v = d}]\n    regions"), rows()),
    ("one row", job(key="[{field: at, as: millis}]"), rows(n=1)),
    ("no rows", job(key="[{field: at, as: millis}]"), "id,at,v,w,u\n"),
    ("all equal", job(), rows(key=lambda i: 7, at=lambda i: NOW)),
    ("a cell's TTL that is the family's", job(
        families="f: {ttl: 20000d}", cells="{family: f, qualifier: v, value: v, ttl: 20000d}"), rows()),
    ("a TTL that is long enough", job(families="f: {ttl: 20000d}"), rows()),
    ("events that are written twice", job(), rows(key=lambda i: i // 2 * 7919 % 99991, at=lambda i: NOW + i // 2)),
    ("versions of one row", job(families="f: {versions: 3}"), rows(key=lambda i: i // 3 * 7919 % 99991,
                                                                  more=lambda i: (f"v{i}",))),
], ids=lambda v: v[:30] if "\n" not in v else "")
def test_nothing_is_found_where_nothing_is_wrong(tmp_path, name, text, csv):
    done, found = lint(tmp_path, text, csv)
    assert found == [] and done.returncode == 0, (name, found)


def test_a_fix_keeps_what_it_does_not_change(tmp_path):
    """A salt before a key with all characters that YAML can quote. The key after the salt does not change."""
    key = ("[{const: 'a, {b}: [it''s]'}, {hex: 00ff}, {field: at, as: millis}, {field: \"odd name\", terminator: '\\x00'}, "
           "{\"field\": 'v', width: 4, pad: \"~\", side: left}, {const: \"\\x41\\\\x01\\t\\\"q\\\"\"}, {field: id, as: u32}]")
    text = job(key=key, fields="  odd name: {from: w}\n")
    csv = rows(more=lambda i: ("v", "w", "u"))
    _, found = lint(tmp_path, text, csv)
    [fix] = [f["fix"] for f in found if f["rule"] == "ordered-head"]
    event = json.dumps({"at": NOW, "odd name": "x y", "v": "é", "id": 7}) + "\n"

    def encode():
        done = subprocess.run([PROGRAM, "key", "encode", "job.yaml", "-", "--to", "hex"], cwd=tmp_path, input=event,
                              capture_output=True, text=True, check=True)
        return done.stdout.strip()
    before = encode()
    (tmp_path / "job.yaml").write_text(mended(text, fix))
    assert encode()[2:] == before and before.startswith(b"a, {b}: [it's]\0\xff".hex())


def test_plan_shows_all_and_load_the_severe(tmp_path):
    severe = "warning: job.yaml:5:3: mistaken-unit: table t: all times of `at` are before March 1973"
    (tmp_path / "job.yaml").write_text(job(key="[{salt: 1, of: [id]}, {field: id, as: u32}]", time="unit: ms"))
    (tmp_path / "in.csv").write_text(rows())
    _, found = lint(tmp_path, (tmp_path / "job.yaml").read_text(), rows())
    assert [f["rule"] for f in found] == ["few-buckets", "mistaken-unit"]
    plan = saltmill("plan", "job.yaml", "--json", cwd=tmp_path)
    assert json.loads(plan.stdout)["lint"] == found and severe in plan.stderr and plan.returncode == 0
    plan = saltmill("plan", "job.yaml", cwd=tmp_path)
    assert saltmill("lint", "job.yaml", cwd=tmp_path).stdout in plan.stdout
    load = saltmill("load", "job.yaml", "-o", "out", cwd=tmp_path)
    assert severe in load.stderr and "few-buckets" not in load.stderr + load.stdout and load.returncode == 0


@pytest.mark.parametrize("rule, severity, families, words", [
    ("clear-text", "severe", "f: {encryption: AES}", ["in clear text", "major_compact 't', 'f'"]),
    ("mob-in-hfiles", "advice", "f: {is_mob: true, mob_threshold: 2048}", ["(2048 bytes)", "major_compact 't', 'f'"]),
])
def test_what_hbase_does_only_at_a_compaction(tmp_path, rule, severity, families, words):
    """HBase 2.6 loads files unchanged, and no key of the job changes that, so the finding has a reason and no fix."""
    text = job(families=families)
    done, found = lint(tmp_path, text, rows())
    assert [(f["rule"], f["severity"]) for f in found] == [(rule, severity)] and "fix" not in found[0]
    assert all(w in found[0]["what"] + found[0]["why"] for w in words), found
    warning = f"warning: job.yaml:{found[0]['line']}:{found[0]['column']}: {rule}: table t: {found[0]['what']}"
    (tmp_path / "given.yaml").write_text(job(families=families, regions="{split: uniform, count: 2, last: '\\x01'}"))
    for command in (["lint", "job.yaml"], ["load", "job.yaml", "-o", "out"], ["ddl", "given.yaml"]):
        done = saltmill(*command, cwd=tmp_path)
        if command[0] != "lint":
            assert warning.replace("job.yaml", command[1]) in done.stderr and done.returncode == 0, done.stderr
        assert all(w in done.stderr + done.stdout for w in words), done


def test_missed_regions_are_counted(tmp_path):
    """With one byte of salt and the 16 regions of UniformSplit, 15 regions are empty. load and ddl report this."""
    text = CASES["a salt under uniform regions"][1]
    _, found = lint(tmp_path, text, rows())
    assert found[0]["severity"] == "severe" and found[0]["figure"] == 15 / 16
    for command in (["load", "job.yaml", "-o", "out"], ["ddl", "job.yaml"], ["plan", "job.yaml"]):
        done = saltmill(*command, cwd=tmp_path)
        assert "regions-miss-key: table t: 15 of 16 regions can get no row" in done.stderr, done.stderr
    # the files of the load show this fault, too
    [table] = json.loads((tmp_path / "out/manifest.json").read_text())["tables"]
    assert [r["rows"] > 0 for r in table["regions"]] == [True] + [False] * 15
    # the ids are small; only the values show this, so ddl alone cannot detect it
    (tmp_path / "job.yaml").write_text(CASES["small numbers under uniform regions"][1])
    load = saltmill("load", "job.yaml", "-o", "out2", cwd=tmp_path)
    assert "regions-miss-key: table t: 7 of 8 regions got none of 400 rows" in load.stderr
    # live regions replace those of the job
    (tmp_path / "job.yaml").write_text(text)
    (tmp_path / "live.txt").write_text("Total number of splits = 2\n\\x04\n")
    load = saltmill("load", "job.yaml", "--existing", "live.txt", "-o", "out3", cwd=tmp_path)
    assert load.returncode == 0 and "regions-miss-key" not in load.stderr, load.stderr


def test_plan_counts_as_lint_does(tmp_path):
    """In a large input, plan checks the cells of one row in 16. The finding is the same."""
    name = "a family that few rows have"
    csv = rows(n=40_000, key=lambda i: i * 2654435761 % 4294967291, more=lambda i: (LONG, "y" if i % 400 == 0 else ""))
    (tmp_path / "job.yaml").write_text(CASES[name][1])
    (tmp_path / "in.csv").write_text(csv)
    [found] = json.loads(saltmill("plan", "job.yaml", "--json", cwd=tmp_path).stdout)["lint"]
    assert found["rule"] == "unbalanced-families" and 200 < found["figure"] < 800


CONF = ROOT / "conf"
# findings that lint reports for a worked job on purpose, and the place where the job explains them
MEANT = {"files": [("time-as-text", "lint advises millis")]}
SPOILT = {"syslog"}  # its input has a bad event on purpose


@pytest.mark.parametrize("file", sorted(CONF.glob("*.yaml")), ids=lambda f: f.stem)
def test_worked_jobs(file, flights_csv, tmp_path):
    """Each job has no findings, or its own text explains them."""
    files = [flights_csv] if file.stem == "flights" else []
    if file.stem == "ratings":  # 300 similar rows, because the repository lacks its file
        (tmp_path / "ratings.csv").write_text("userId,movieId,rating,timestamp\n" + "".join(
            f"{i % 20 + 1},{i * 7919 % 9973},4.5,{1_400_000_000 + i * 6007}\n" for i in range(300)))
        files = [tmp_path / "ratings.csv"]
    if file.stem == "sensors":
        schema = {"type": "record", "name": "r", "fields": [
            {"name": "device", "type": {"type": "record", "name": "d", "fields": [{"name": "id", "type": "long"}]}},
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
            {"name": "value", "type": ["null", "double"]}, {"name": "tags", "type": {"type": "array", "items": "string"}},
            {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}}]}
        with open(tmp_path / "in.avro", "wb") as out:
            fastavro.writer(out, schema, [{"device": {"id": i % 7}, "at": (NOW + i) * 1000, "value": i / 8, "tags": ["a"],
                                           "price": decimal.Decimal(i) / 4} for i in range(200)])
        files = [tmp_path / "in.avro"]
    if file.stem == "opentsdb":  # the output of its awk command for the file
        head, *points = (CONF / "opentsdb.csv").read_text().splitlines()
        (tmp_path / "points.csv").write_text(f"hour,column,{head}\n" + "".join(
            f"{t - t % 3600},{t % 3600 * 16 + 15},{p}\n" for p in points for t in [int(p.split(",")[0])]))
        files = [tmp_path / "points.csv"]
    if file.stem == "warehouse":  # the input is standard input, so lint checks only the job
        text = file.read_text().replace("{type: time}", "{type: time, unit: ms}")  # the schema would show this
        file = tmp_path / file.name
        file.write_text(re.sub(r"(?ms)^source:.*?^(?=\w)", "source: {csv: {}}\n", text, count=1))
    done = saltmill("lint", file, *files, "--json", cwd=ROOT)
    assert done.stdout, done.stderr
    found = json.loads(done.stdout)
    meant = MEANT.get(file.stem, [])
    assert [f["rule"] for f in found] == [rule for rule, _ in meant], found
    assert all(words in file.read_text() for _, words in meant)
    assert done.returncode == (3 if meant or file.stem in SPOILT else 0), done.stderr


def test_bad_events_are_left_out_and_said(tmp_path):
    done, found = lint(tmp_path, job(), rows() + "x,1,y,,\n")
    assert found == [] and done.returncode == 3
    assert "ignored 1 of 401 events because they are bad" in done.stderr


def test_the_threads_do_not_matter(tmp_path):
    name = "nearly ordered times"
    (tmp_path / "job.yaml").write_text(CASES[name][1])
    (tmp_path / "in.csv").write_text(rows(n=60_000, at=lambda i: NOW + i * 10 + (i * 7919) % 15))
    answers = {saltmill("lint", "job.yaml", "--json", "--threads", n, "--memory", m, cwd=tmp_path).stdout
               for n in ("1", "2") for m in ("16M", "256M")}
    assert len(answers) == 1


def test_without_a_job(tmp_path):
    assert saltmill("lint", cwd=tmp_path).returncode == 2
    assert saltmill("lint", "none.yaml", cwd=tmp_path).returncode == 2


KAFKA = """\
source:
  kafka: {brokers: "127.0.0.1:1", topic: users, format: json, tombstones: delete}
fields:
  id: {from: $key, type: u32}
  at: {from: $timestamp, type: time, unit: ms}
tables:
  - name: t
    rowkey: [{field: id, as: u32}]
    timestamp: at
    families: {f: {}}
    cells: [{family: f, qualifier: v, value: v, optional: true}]
    regions: {split: sampled, count: 2}
"""


@pytest.mark.parametrize("old,new,found,fixed", [
    ("", "", True, True), ("tombstones: delete", "tombstones: filter", False, False), ("$timestamp", "$offset", False, False),
    ("f: {}", "f: {ttl: 30d}", True, False), ("value: v,", "value: {field: at, as: millis},", True, False),
    ("[{field: id, as: u32}", "[{field: id, as: u32}, {field: at, as: reversed_millis}", True, False)])
def test_tombstones_at_kafka_times(tmp_path, old, new, found, fixed):
    text = KAFKA.replace(old, new)
    (tmp_path / "job.yaml").write_text(text)
    done = saltmill("lint", "job.yaml", "--json", cwd=tmp_path)
    ties = [f for f in json.loads(done.stdout) if f["rule"] == "tombstone-ties"]
    assert len(ties) == found, done
    if found:
        assert (ties[0]["line"], ties[0]["severity"], bool(ties[0].get("fix"))) == (5, "warning", fixed)
    if fixed:
        assert ties[0]["fix"] == "fields: {at: {from: $offset, type: time, unit: ms}}"
        (tmp_path / "job.yaml").write_text(mended(text, ties[0]["fix"]))
        assert json.loads(saltmill("lint", "job.yaml", "--json", cwd=tmp_path).stdout) == []
