"""Tests that init finds the order of day and month, the century and the unit of times, or says what is not known."""

import datetime as dt
import json
import subprocess

import pytest

from load_help import JOB
from test_init_doubts import init, rows_of

START = dt.datetime(2025, 1, 1, tzinfo=dt.timezone.utc)


def table(texts):
    return "n,when,x\n" + "".join(f"{i},{t},{'ab'[i % 2]}\n" for i, t in enumerate(texts))


def moments(n, minutes, form):
    return [(START + dt.timedelta(minutes=minutes * i)).strftime(form) for i in range(n)]


@pytest.mark.parametrize("texts,form", [
    (moments(60, 2 * 24 * 60, "%m/%d/%y"), "%m/%d/%y"),
    (moments(60, 2 * 24 * 60, "%d/%m/%y"), "%d/%m/%y"),
    (moments(60, 31 * 60, "%d-%m-%y"), "%d-%m-%y"),
    (moments(60, 24 * 60, "%m/%d/%y %H:%M"), "%m/%d/%y %H:%M"),
    # all numbers are at most 12, but the hours go on over midnight
    (moments(50, 313, "%d/%m/%Y %H:%M:%S"), "%d/%m/%Y %H:%M:%S"),
    (moments(50, 313, "%m/%d/%Y %I:%M:%S %p"), "%m/%d/%Y %I:%M:%S %p"),
])
def test_the_form_of_a_time(tmp_path, saltmill, texts, form):
    r = init(saltmill, tmp_path, table(texts).encode())
    assert r.returncode == 0, r.stderr
    assert f"when: {{type: time, format: '{form}'}}" in r.stdout
    expected = [dt.datetime.strptime(t, form).strftime("%Y-%m-%dT%H:%M:%S.000Z") for t in texts]
    assert sorted((x["n"], x["when"]) for x in rows_of(tmp_path, saltmill, r.stdout)) == list(enumerate(expected))


@pytest.mark.parametrize("texts,note", [
    ([f"{1 + i % 12:02d}/01/2025" for i in range(40)], "which number is the day"),
    # a run of some hours on the first day of each month, or on the first days of January
    ([f"{1 + i // 4:02d}/01/2025 0{2 + i % 4}:00:00" for i in range(40)], "which number is the day"),
    # years of birth
    ([f"{1 + i % 12:02d}/{13 + i % 14:02d}/{40 + i:02d}" for i in range(40)], "the century of the years"),
])
def test_a_time_with_two_readings_stays_text(tmp_path, saltmill, texts, note):
    r = init(saltmill, tmp_path, table(texts).encode())
    line = next(x for x in r.stdout.splitlines() if x.startswith("  when:"))
    assert "{type: text}" in line and note in line


@pytest.mark.parametrize("name,first,step,form", [
    ("v", 1767225600123, 1777, "{type: time, unit: ms}"),
    ("v", 1767225600123456, 1777000, "{type: time, unit: us}"),
    ("v", 1767225600, 60, "{type: u32}"),  # ids may be so large
    ("item_id", 1767225600123, 1777, "{type: u64}"),
    ("v", 1767225600123, 1, "{type: u64}"),  # ids in order
])
def test_numbers_that_count_from_1970(tmp_path, saltmill, name, first, step, form):
    rows = "".join(f"{i % 7},{first + i * step}\n" for i in range(40))
    r = init(saltmill, tmp_path, f"n,{name}\n{rows}".encode())
    assert f"\n  {name}: {form}" in r.stdout


@pytest.mark.parametrize("digit,code", [("0", 0), ("7", 3)])
def test_digits_after_the_microseconds(tmp_path, saltmill, digit, code):
    """A time has microseconds. So the job would drop a seventh digit, unless it is 0."""
    r = init(saltmill, tmp_path, table([t + f".123456{digit}" for t in moments(40, 61, "%Y-%m-%d %H:%M:%S")]).encode())
    assert r.returncode == code, r.stderr
    assert ("the file has `2025-01-01 00:00:00.1234567`, the job reads `2025-01-01T00:00:00.123456Z`" in r.stderr) == (code == 3)


@pytest.mark.parametrize("field,texts,finer", [
    ("format: iso8601", ["2026-11-01 10:00:00.1234560", "2026-11-01 10:00:00,1234567", "2026-11-01T10:00:00.0000000001Z"], [1, 2]),
    ("format: '%d.%m.%Y %H:%M:%S.%f'", ["01.11.2026 10:00:00.123456", "01.11.2026 10:00:00.1234567"], [1]),
    ("unit: ns", ["1767225600123456000", "1767225600123456789"], [1]),
    ("unit: s", ["1767225600.123456", "1767225600.1234560", "1767225600.1234561", "1767225600"], [2]),
    ("unit: us", ["1767225600123456", "1767225600123456.5"], [1]),
    ("unit: ms", ["1767225600123", "1767225600123.456"], []),
])
def test_load_and_check_report_digits_after_the_microseconds(tmp_path, saltmill, field, texts, finer):
    """The warning has the number of such times, and the place of the first."""
    (tmp_path / "job.yaml").write_text(JOB.replace("unit: s", field, 1))
    rows = [f'{i},"{t}",v\n' for i, t in enumerate(texts)]
    (tmp_path / "in.csv").write_text("id,at,value\n" + "".join(rows))
    load = subprocess.run([saltmill, "load", "job.yaml", "-o", "out", "--quiet"], cwd=tmp_path, capture_output=True, text=True)
    assert load.returncode == 0, load.stderr
    check = subprocess.run([saltmill, "check", "job.yaml", "--json"], cwd=tmp_path, capture_output=True, text=True)
    assert check.returncode == 0, check.stderr
    at = next(f for f in json.loads(check.stdout)["fields"] if f["name"] == "at")
    assert at.get("finer_times", 0) == len(finer)
    text = subprocess.run([saltmill, "check", "job.yaml"], cwd=tmp_path, capture_output=True, text=True).stdout
    if not finer:
        assert "microseconds" not in load.stderr + text
        return
    place = f"in.csv:{finer[0] + 2} (byte {len('id,at,value') + 1 + sum(map(len, rows[:finer[0]]))})"
    said = f"{len(finer)} times have digits after the microseconds, which only cells of text keep; the first is in {place}"
    assert f"warning: {said}, field `at`" in load.stderr
    assert f"warning: field `at`: {said}\n" in text
