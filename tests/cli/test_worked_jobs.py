"""Tests the worked jobs of conf/. Each command in a job's head runs unchanged and gives the right answer.
tests/hbase/test_questions.py checks the answers of HBase, and this test checks the answers of a published load.
"""

import csv
import json
import re
import shutil
import subprocess

import pytest

from loads import ROOT

CONF = ROOT / "conf"
JOBS = ["calls", "devices", "files", "loans", "presplit", "ratings", "timeseries_tall", "timeseries_wide"]


# Returns (user, film, stars, seconds). Each user has twelve ratings, one every four months from 2008 on.
RATINGS = [(u, 1029 if i % 4 == u % 3 else 31 + i, i % 10 / 2 + 0.5, 1_199_145_600 + i * 10_000_000 + u)
           for u in range(1, 41) for i in range(12)]


@pytest.fixture
def run(tmp_path, saltmill):
    shutil.copytree(CONF, tmp_path / "conf")
    (tmp_path / "ratings.csv").write_text("userId,movieId,rating,timestamp\n" + "".join(  # the repository lacks this file
        ",".join(map(str, r)) + "\n" for r in RATINGS))

    def do(command, *more):
        done = subprocess.run([saltmill, *shell_words(command)[1:], *more], cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, (command, done.stderr)
        return done.stdout
    return do


def shell_words(command):
    done = subprocess.run(["sh", "-c", f"printf '%s\\0' {command}"], capture_output=True, text=True, check=True)
    return done.stdout.split("\0")[:-1]


def commands(job):
    """Returns the commands in the comments before the job. A backslash at the end continues the line."""
    head = (CONF / f"{job}.yaml").read_text().split("\nsource:")[0]
    return re.findall(r"^#\s+(saltmill .*)$", re.sub(r"\\\n#\s+", "", head), re.M)


@pytest.mark.parametrize("job", JOBS)
def test_commands_run_as_they_stand(run, job):
    found = commands(job)
    assert len(found) >= 3 and found[0].startswith("saltmill load")
    for command in found:
        assert run(command).strip(), command


def rows_of(name):
    with open(CONF / f"{name}.csv", encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def test_ratings(run):
    load, latest, ranges, year, five, why = commands("ratings")
    run(load)

    def found(command):
        return [(r["key"]["userId"], r["key"]["movieId"], float(r["cells"]["f:r"]))
                for r in map(json.loads, run(command, "--format", "jsonl").splitlines())]
    of_one = [r for r in RATINGS if r[0] == 1][::-1]
    assert found(latest) == [r[:3] for r in of_one[:5]]
    in_2009 = [r[:3] for r in of_one if 1_230_768_000 <= r[3] < 1_262_304_000]
    assert found(year) == in_2009 and 2 < len(in_2009) < 5
    assert run(ranges).count("new Scan()") == 1
    assert sorted(found(five)) == sorted(r[:3] for r in RATINGS if r[1:3] == (1029, 5.0)) != []
    assert run(why).strip()


def test_the_golden_query(run):
    load, scan = commands("files")[:2]
    run(load)
    found = [json.loads(line) for line in run(scan, "--format", "jsonl").splitlines()]
    assert [r["key"]["id"] for r in found] == [1, 2, 3, 4, 5, 7]
    names = {r["id"]: r["name"] for r in rows_of("files")}
    assert [r["cells"]["f:name"] for r in found] == [names[i] for i in "123457"]


def test_latest_of_a_user(run):
    newest = sorted((r for r in rows_of("timeseries") if r["uid"] == "1001"), key=lambda r: -int(r["ts"]))
    for form in ("tall", "wide"):
        run(commands(f"timeseries_{form}")[0])
        command = commands(f"timeseries_{form}")[-1]
        found = [json.loads(line) for line in run(command, "--format", "jsonl").splitlines()]
        cells = [c for r in found for c in r["cells"]]
        assert [re.sub(r"\\x2F", "/", c["value"]) for c in cells] == [r["item"] for r in newest[:2]]
        assert [c["timestamp"] for c in cells] == [int(r["ts"]) for r in newest[:2]]


def test_every_call_and_every_period(run):
    run(commands("calls")[0])
    calls = rows_of("calls")
    where = "phone = 13812345678 and at >= '2013-07-01 00:00:00' and at < '2013-07-04 00:00:00'"
    own = sorted((c for c in calls if c["phone"] == "13812345678" and "2013-07-01" <= c["at"] < "2013-07-04"),
                 key=lambda c: c["at"], reverse=True)
    assert len(own) > 1
    for table in ("calls_salted", "calls_hashed", "calls_reversed"):
        scan = f"saltmill scan conf/calls.yaml calls --table {table} --decode --format jsonl"
        found = [json.loads(line) for line in run(scan, "--where", where).splitlines()]
        assert [r["cells"]["c:seconds"] for r in found] == [int(c["seconds"]) for c in own]
        assert len(run(scan).splitlines()) == len(calls)


def test_loans_and_their_returns(run):
    run(commands("loans")[0])
    student, book = (json.loads(run(c, "--format", "jsonl")) for c in commands("loans")[1:])
    loans = rows_of("loans")
    for row, who, other, family in ((student, "student", "book", "borrow"), (book, "book", "student", "borrowed")):
        value = {"student": "2013010001", "book": "B0001"}[who]
        last = {}
        for r in sorted(loans, key=lambda r: r["time"]):
            if r[who] == value:
                last[r[other]] = r["borrowed"]
        assert {c["qualifier"]: c["value"] for c in row["cells"] if c["family"] == family} == last
