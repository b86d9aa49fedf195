"""`saltmill lint`: each deliberately bad job gets the finding it deserves and no other.

The rows are made here, so that what a rule measures is known beforehand.
"""
import json
import random
import subprocess

import pytest

from loads import PROGRAM

NOW = 1_700_000_000  # well before the clock of any machine that runs this


def job(key="[{field: id, as: u32}]", families="f: {versions: 1}", cells=None, time="unit: s",
        regions="{split: sampled, count: 2}", fields=""):
    cells = cells or "- {family: f, qualifier: v, value: v}"
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
    families:
      {families}
    cells:
      {cells}
    regions: {regions}
"""


def rows(n=400, seed=1, key=None, at=None, more=lambda i: ("x",)):
    """Ids in random order, no two alike, unless said otherwise."""
    rng = random.Random(seed)
    ids = rng.sample(range(1, 10 ** 5), n)
    lines = ["id,at,v,w,u"]
    for i in range(n):
        extra = list(more(i)) + [""] * 2
        lines.append(f"{key(i) if key else ids[i]},{at(i) if at else NOW + i},{','.join(extra[:3])}")
    return "\n".join(lines) + "\n"


LONG = "x" * 500
CASES = {
    # the job alone
    "four families": ("many-families", job(
        families="{a: , b: , c: , d: }",
        cells="[{family: a, qualifier: v, value: v}, {family: b, qualifier: v, value: v}, "
              "{family: c, qualifier: v, value: v}, {family: d, qualifier: v, value: v}]"), rows()),
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
    # keys
    "long keys": ("long-key", job(key="[{field: v}]", cells="- {family: f, qualifier: v, value: w}"),
                  rows(more=lambda i: (f"{i * 7919 % 400:03d}" + "k" * 40, "y"))),
    "very long keys": ("long-key", job(key="[{field: v}]", cells="- {family: f, qualifier: v, value: w}"),
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
        key="[{field: v, width: 6}]", cells="- {family: f, qualifier: v, value: w}"),
        rows(more=lambda i: (f"{i * 7919 % 400:03d}" + "abc" * (i % 20 == 0), "y"))),
    # families
    "a family that few rows have": ("unbalanced-families", job(
        families="{f: , g: }", cells="[{family: f, qualifier: v, value: v}, "
        "{family: g, qualifier: w, value: w, optional: true}]"),
        rows(n=4000, more=lambda i: ("x", "y" if i % 400 == 0 else ""))),
    "a family that few bytes are in": ("unbalanced-families", job(
        families="{f: , g: }", cells="[{family: f, qualifier: v, value: v}, {family: g, qualifier: w, value: w}]"),
        rows(more=lambda i: (LONG, "y"))),
    "a family that no row has": ("unbalanced-families", job(
        families="{f: , g: }", cells="[{family: f, qualifier: v, value: v}, "
        "{family: g, qualifier: w, value: w, optional: true}]"), rows()),
    # times
    "seconds taken for milliseconds": ("mistaken-unit", job(time="unit: ms"), rows()),
    "milliseconds taken for seconds": ("mistaken-unit", job(time="unit: s"),
                                       rows(at=lambda i: (NOW + i) * 1000)),
    "a TTL that hides all": ("short-ttl", job(families="f: {ttl: 30d}"), rows()),
    "a TTL that hides the oldest": ("short-ttl", job(families="f: {ttl: 9000d}"),
                                    rows(at=lambda i: 86400 * 365 * 3 if i == 7 else NOW + i)),
}


def saltmill(*args, cwd):
    return subprocess.run([PROGRAM, *args], cwd=cwd, capture_output=True, text=True, timeout=120)


def lint(tmp_path, text, csv):
    (tmp_path / "job.yaml").write_text(text)
    (tmp_path / "in.csv").write_text(csv)
    done = saltmill("lint", "job.yaml", "--json", cwd=tmp_path)
    return done, json.loads(done.stdout or "null")


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


def test_figures_are_what_was_put_in(tmp_path):
    """Each figure against a count made here."""
    csv = rows(more=lambda i: (f"{i * 7919 % 400:03d}" + "k" * 40, "y"))
    _, found = lint(tmp_path, CASES["long keys"][1], csv)
    assert found[0]["figure"] == 43
    _, found = lint(tmp_path, CASES["time in front"][1], rows())
    assert found[0]["figure"] == 399 / 400  # the first has none before it
    csv = rows(n=4000, more=lambda i: ("x", "y" if i % 400 == 0 else ""))
    _, found = lint(tmp_path, CASES["a family that few rows have"][1], csv)
    assert found[0]["figure"] == 400  # 4,000 rows, ten with a cell
    _, found = lint(tmp_path, CASES["fewer buckets than regions"][1], rows())
    assert found[0]["figure"] == 4


@pytest.mark.parametrize("name, text, csv", [
    ("salted time", job(key="[{salt: 16, of: [id]}, {field: at, as: millis}, {field: id, as: u32}]"), rows()),
    ("random ids", job(), rows()),
    ("versions that apply", job(families="f: {versions: 3}"), rows()),
    ("a code of one width", job(key="[{field: v, width: 3}, {field: id, as: u32}]"),
     rows(more=lambda i: (f"{i * 7919 % 400:03d}",))),
    ("one row", job(key="[{field: at, as: millis}]"), rows(n=1)),
    ("no rows", job(key="[{field: at, as: millis}]"), "id,at,v,w,u\n"),
    ("all equal", job(), rows(key=lambda i: 7, at=lambda i: NOW)),
    ("a TTL that is long enough", job(families="f: {ttl: 20000d}"), rows()),
])
def test_nothing_is_found_where_nothing_is_wrong(tmp_path, name, text, csv):
    done, found = lint(tmp_path, text, csv)
    assert found == [] and done.returncode == 0, (name, found)


def test_bad_events_are_left_out_and_said(tmp_path):
    done, found = lint(tmp_path, job(), rows() + "x,1,y,,\n")
    assert found == [] and done.returncode == 3
    assert "1 of 401 events are bad and left out" in done.stderr


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
