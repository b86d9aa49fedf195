"""With --json a command that fails prints the error as one JSON object, the last line of standard error.

The table has each command that the program lists. A new command that is missing in the table fails this test.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import time

import pytest

from loads import PROGRAM, run

JOB = """\
source:
  csv: {files: [in.csv]}
fields:
  id: {type: u32}
tables:
  - name: t
    rowkey: [{field: id, as: u32}]
    timestamp: 5
    families: {f: {}}
    cells: [{family: f, qualifier: v, value: v}]
    regions: {split: none}
"""
TOPIC = JOB.replace("csv: {files: [in.csv]}", 'kafka: {brokers: "127.0.0.1:1", topic: t, format: json}')
MISSPELT = JOB.replace("timestamp: 5", "timestmp: 5")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Writes a job, good and bad input, a load of it and a changed copy, an empty folder, and a folder that is no
    state."""
    f = tmp_path_factory.mktemp("errors")
    for name, text in (("job.yaml", JOB), ("misspelt.yaml", MISSPELT), ("topic.yaml", TOPIC), ("in.csv", "id,v\n1,a\n"),
                       ("bad.csv", "id,v\n1,a\nx,b\n"), ("empty.csv", ""), ("no.hfile", "no HFile"),
                       ("splits.txt", "a\n")):
        (f / name).write_text(text)
    for name in ("load", "broken"):
        assert run("load", f / "job.yaml", "-o", f / name, "--quiet").returncode == 0
    with open(f / "broken" / "rejects.jsonl", "a", encoding="utf-8") as file:
        file.write("more")
    (f / "nothing").mkdir()
    return f


# command, its arguments, exit status, further members of the object
CASES = [
    ("load", "F/job.yaml", 2, {}),
    ("load", "", 2, {}),
    ("load", "F/job.yaml -o F/x --nonsense", 2, {}),
    ("load", "F/misspelt.yaml -o F/x", 2, {"file": "F/misspelt.yaml", "line": 8, "column": 5}),
    ("load", "F/job.yaml -o F/load", 2, {}),
    ("load", "F/job.yaml F/bad.csv -o F/x", 1, {"file": "F/bad.csv", "line": 3, "found": "`x`"}),
    ("load", "F/job.yaml F/none.csv -o F/x", 1, {}),
    ("load", "F/job.yaml -o F/x --threads 0", 2, {"found": "`0`", "expected": "a whole number from 1 to 1024"}),
    ("plan", "F/misspelt.yaml", 2, {"line": 8}),
    ("plan", "F/job.yaml F/empty.csv", 1, {}),
    ("plan", "", 2, {}),
    ("init", "F/none.csv", 1, {}),
    ("init", "", 2, {}),
    ("check", "F/misspelt.yaml", 2, {"line": 8}),
    ("check", "", 2, {}),
    ("map", "F/job.yaml --plan F/nothing -o F/x", 2, {}),
    ("map", "", 2, {}),
    ("reduce", "F/job.yaml F/nothing --plan F/nothing -o F/x", 2, {}),
    ("reduce", "", 2, {}),
    ("unite", "F/job.yaml --plan F/nothing --maps F/nothing -o F/x", 2, {}),
    ("unite", "", 2, {}),
    ("digest", "F/none.csv", 1, {}),
    ("digest", "", 2, {}),
    ("stream", "F/job.yaml --state F/x", 2, {}),
    ("stream", "F/topic.yaml", 2, {}),
    ("stream", "", 2, {}),
    ("status", "--state F/nowhere", 2, {}),
    ("status", "", 2, {}),
    ("loads", "--state F/nowhere", 2, {}),
    ("loads", "", 2, {}),
    ("replay", "F/load --rejects -o F/x", 2, {}),
    ("replay", "", 2, {}),
    ("seek", "--state F/nowhere 0=1", 2, {}),
    ("seek", "--state F/nowhere 0:1", 2, {"found": "`0:1`"}),
    ("seek", "", 2, {}),
    ("split", "NoSplit 4", 2, {}),
    ("split", "", 2, {}),
    ("ddl", "F/misspelt.yaml", 2, {"line": 8}),
    ("ddl", "", 2, {}),
    ("design", "F/job.yaml", 2, {"found": "no question"}),
    ("design", "", 2, {"found": "0 operands"}),
    ("compare", "F/job.yaml F/job.yaml --queries F/none.yaml", 1, {}),
    ("compare", "F/job.yaml", 2, {"found": "1 operand"}),
    ("drift", "--existing F/none.txt F/job.yaml", 1, {}),
    ("drift", "F/job.yaml", 2, {}),
    ("apply", "F/load --hbase 127.0.0.1:1", 1, {}),
    ("apply", "F/load", 2, {}),
    ("tables", "--hbase 127.0.0.1:1", 1, {}),
    ("tables", "", 2, {}),
    ("regions", "t --hbase 127.0.0.1:1", 1, {}),
    ("regions", "t", 2, {}),
    ("describe", "t --hbase 127.0.0.1:1", 1, {}),
    ("describe", "", 2, {}),
    ("drop", "t --hbase 127.0.0.1:1 --yes", 1, {}),
    ("drop", "", 2, {}),
    ("tokens", "F/tokens --hbase 127.0.0.1:1", 1, {}),
    ("tokens", "", 2, {}),
    ("watch", "--hbase 127.0.0.1:1 --table t", 1, {}),
    ("watch", "", 2, {}),
    ("lint", "F/misspelt.yaml", 2, {"line": 8}),
    ("lint", "", 2, {}),
    ("inspect", "F/no.hfile", 1, {}),
    ("inspect", "", 2, {}),
    ("inspect", "F/no.hfile --salvage F/whole.hfile", 1, {}),
    ("verify", "F/broken", 1, {}),
    ("verify", "F/nothing", 1, {}),
    ("verify", "", 2, {}),
    ("diff", "F/load F/nothing", 1, {}),
    ("diff", "F/load", 2, {"found": "1 operand"}),
    ("agree", "F/job.yaml F/load", 2, {"found": "no --truth"}),
    ("agree", "F/job.yaml F/nothing --truth nothing", 2, {}),
    ("merge", "F/load F/nothing -o F/merged", 1, {}),
    ("merge", "", 2, {}),
    ("convert", "F/nothing -o F/converted", 1, {}),
    ("convert", "F/load", 2, {}),
    ("rekey", "F/job.yaml F/job.yaml F/nothing --table t --to t -o F/rekeyed", 1, {}),
    ("rekey", "F/job.yaml F/job.yaml F/load", 2, {"found": "no -o"}),
    ("report", "F/nothing", 1, {}),
    ("report", "", 2, {}),
    ("key", "encode F/job.yaml id=x", 2, {"found": "`x`"}),
    ("key", "ranges F/job.yaml", 2, {}),
    ("key", "", 2, {}),
    ("get", "F/job.yaml F/nothing --row a", 1, {}),
    ("get", "", 2, {}),
    ("scan", "F/job.yaml F/load --where id~1", 2, {}),
    ("scan", "", 2, {}),
    ("help", "nonsense", 2, {}),
    ("help", "job more", 2, {"found": "two topics", "expected": "one"}),
    ("version", "--nonsense", 2, {}),
    ("nonsense", "", 2, {}),
]


@pytest.mark.parametrize("command, line, status, has", CASES, ids=[f"{c[0]} {c[1]}" for c in CASES])
def test_one_object(folder, command, line, status, has):
    r = run(command, *line.replace("F/", f"{folder}/").split(), "--json")
    assert r.returncode == status, r.stderr
    *before, last = r.stderr.splitlines()
    printed = json.loads(last)
    assert printed["command"].split()[:1] == ([command] if command != "nonsense" else []) and printed["status"] == status and len(printed["error"]) > 10
    assert not any(text.startswith("{") for text in before)
    for key, value in has.items():
        assert str(printed[key]).startswith(str(value).replace("F/", f"{folder}/")), printed
    assert set(printed) <= {"command", "status", "kind", "error", "file", "line", "column", "found", "expected"}
    assert r.stdout == "" or command in ("inspect", "verify", "key")
    if command in ("inspect", "verify") and r.stdout:
        json.loads(r.stdout)
    assert not (folder / "x").exists()


def test_each_command_is_in_the_table():
    listed = set(re.findall(r"^  saltmill (\w+)", run("--help").stdout, re.M))
    assert listed == {c[0] for c in CASES} - {"nonsense"}
    fail = {c[0] for c in CASES if c[2] == 2}
    assert listed <= fail


@pytest.mark.parametrize("line", ["load F/misspelt.yaml -o F/x", "load", "version --nonsense", "nonsense", "verify",
                                  "inspect F/no.hfile"])
def test_without_json_it_is_a_sentence(folder, line):
    args = line.replace("F/", f"{folder}/").split()
    plain, as_json = run(*args), run(*args, "--json")
    printed = json.loads(as_json.stderr.splitlines()[-1])
    name = "" if line == "nonsense" else " " + args[0]
    assert plain.returncode == as_json.returncode
    assert plain.stderr == f"saltmill{name}: {printed['error']}\n"


def test_bytes_of_strangers(folder):
    r = run("load", f"{folder}/no\x1b[2J\udcff\"\\.yaml", "-o", f"{folder}/x", "--json")
    assert "no\x1b[2J\\xFF\"\\.yaml" in json.loads(r.stderr)["error"] and "\x1b" not in r.stderr


def test_json_may_be_shortened_as_any_option(folder):
    assert json.loads(run("load", "--js", folder / "misspelt.yaml").stderr)["status"] == 2
    r = run("load", "--", "--json")
    assert not r.stderr.startswith("{")


def test_an_end_by_a_signal(folder):
    os.mkfifo(folder / "slow.csv")
    p = subprocess.Popen([PROGRAM, "load", folder / "job.yaml", folder / "slow.csv", "-o", folder / "x", "--json"],
                         stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with open(folder / "slow.csv", "w", encoding="utf-8") as f:
        f.write("id,v\n" + "1,a\n" * 100000)
        f.flush()
        time.sleep(.2)
        p.send_signal(signal.SIGTERM)
    out, err = p.communicate(timeout=60)
    printed = json.loads(err.splitlines()[-1])
    assert p.returncode == 143 == printed["status"] and printed["kind"] == "stopped" and out == ""


def test_a_full_disk_behind_standard_output(folder):
    with open("/dev/full", "w", encoding="utf-8") as full:
        r = subprocess.run([PROGRAM, "version", "--json"], stdout=full, stderr=subprocess.PIPE, text=True)
    printed = json.loads(r.stderr)
    assert r.returncode == 1 == printed["status"] and printed["kind"] == "io" and "standard output" in printed["error"]


def test_what_is_done_is_no_failure(folder):
    r = run("load", folder / "job.yaml", folder / "bad.csv", "-o", folder / "some", "--max-rejects", "1", "--json")
    assert r.returncode == 3 and json.loads(r.stdout)["rejected"] == 1
    assert not any(line.startswith("{") for line in r.stderr.splitlines())
    shutil.rmtree(folder / "some")


@pytest.mark.parametrize("value", ["x", "x, expected 7; y", "found it", "a expected b"])
def test_what_was_found_and_what_was_expected(folder, value):
    """Any words may be in the found value. The text after the sentence's clause is not the expected value."""
    (folder / "words.csv").write_text(f'id,v\n"{value}",a\n')
    printed = json.loads(run("load", folder / "job.yaml", folder / "words.csv", "-o", folder / "x", "--json").stderr)
    assert "saltmill published nothing" in printed["error"]
    assert printed["found"] == f"`{value}`" and printed["expected"] == "a whole number 0..4294967295"
