"""Tests that the walks of pipeline/README.md are true. A load of each kind enters every function that the walk names.

The test measures this with the coverage of a program whose walked files are instrumented (FLAVOR=cover CC=clang).
"""
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "pipeline" / "README.md").read_text()
PROGRAM = ROOT / "build" / "clang-cover" / "walked"
STEP = r"`([\w/]+\.c): (\w+)`"
ROWS = 5000
JOB = """source:
  {source}
fields:
  user: {{type: {user}}}
  item: {{type: u32}}
  t: {{type: time, unit: ms}}
  score: {{type: text}}
tables:
  - name: events
    rowkey:
      - {{salt: 4, of: [item]}}
      - {{field: item, as: u32}}
      - {{field: t, as: reversed_millis}}
    timestamp: t
    families:
      f: {{versions: 1, compression: {{codec: ZSTD, framing: hbase}}}}
    cells:
      - {{family: f, qualifier: s, value: score}}
      - {{family: f, qualifier: u, value: {{field: user, as: text}}}}
    regions: {{split: sampled, count: 2}}
"""


def events():
    return [{"user": i % 97, "item": i, "t": 1356998400000 + i * 1000, "score": str(i % 10)} for i in range(ROWS)]


def write_csv(folder):
    lines = [f"{e['user']},{e['item']},{e['t']},{e['score']}" for e in events()]
    (folder / "e.csv").write_text("user,item,t,score\n" + "\n".join(lines) + "\n")
    return "csv: {files: [e.csv]}"


def write_json(folder):
    (folder / "e.jsonl").write_text("".join(json.dumps(e) + "\n" for e in events()))
    return "json: {files: [e.jsonl]}"


def write_avro(folder):
    import fastavro
    kinds = {"user": "long", "item": "long", "t": "long", "score": "string"}
    schema = {"type": "record", "name": "e", "fields": [{"name": n, "type": k} for n, k in kinds.items()]}
    with open(folder / "e.avro", "wb") as out:
        fastavro.writer(out, schema, events(), codec="deflate")
    return "avro: {files: [e.avro]}"


def write_arrow(folder):
    import pyarrow as pa
    import pyarrow.ipc

    table = pa.Table.from_pylist(events())
    with pa.ipc.new_file(str(folder / "e.arrow"), table.schema) as out:
        out.write_table(table, max_chunksize=1000)
    return "arrow: {files: [e.arrow]}"


def write_general(folder):
    lines = [f'-{e["user"]},{e["item"] // 2},1356998400000,"{e["score"]}"' for e in events()]
    lines[7] = '-1,7,soon,"a value that is no time"'
    (folder / "e.csv").write_text("user,item,t,score\n" + "\n".join(lines) + "\n")
    return "csv: {files: [e.csv]}"


@pytest.fixture(scope="session")
def program():
    walked = sorted({file if file.startswith("splitter/") else f"pipeline/{file}"
                     for text in README.split("<!-- walk: ")[1:] for file, _ in re.findall(STEP, text.split("\n##")[0])})
    for how in (["CC=gcc", "all"], ["FLAVOR=cover", "CC=clang", f"WALKED={' '.join(walked)}", str(PROGRAM.relative_to(ROOT))]):
        done = subprocess.run(["make", "-j2", *how], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return PROGRAM


def write_reject(folder):
    (folder / "e.csv").write_text("user,item,t,score\n1,2,1356998400000,a\n1,12x,1356998400000,a\n")
    return "csv: {files: [e.csv]}"


def functions_entered(program, folder, write, user, status):
    """Returns {(file, function)} of one load."""
    source = write(folder)
    (folder / "job.yaml").write_text(JOB.format(source=source, user=user))
    raw, profile = folder / "load.profraw", folder / "load.profdata"
    limit = "0" if write is write_reject else "1"
    done = subprocess.run([program, "load", "job.yaml", "-o", "out", "--quiet", "--max-rejects", limit], cwd=folder,
                          capture_output=True, text=True,
                          env={**os.environ, "LLVM_PROFILE_FILE": str(raw)})
    assert done.returncode == status, done.stderr
    subprocess.run(["llvm-profdata", "merge", "-o", profile, raw], check=True)
    out = subprocess.run(["llvm-cov", "export", f"-instr-profile={profile}", program], check=True, capture_output=True)
    entered = set()
    for f in json.loads(out.stdout)["data"][0]["functions"]:
        if f["count"]:
            file = f["filenames"][0].removeprefix("./").removeprefix(f"{ROOT}/")
            entered.add((file.removeprefix("pipeline/"), f["name"].split(":")[-1]))
    return entered


def walk(name):
    """Returns the steps of a walk that its load does not enter: [(file, function)]."""
    text = re.search(rf"<!-- walk: {name} -->\n(.*?)(?=\n##|\Z)", README, re.S).group(1)
    parts = text.split("\nNot entered:")
    return [re.findall(STEP, p) for p in (parts + [""])[:2]]


@pytest.mark.parametrize("name, write, user, status", [
    ("csv", write_csv, "u32", 0), ("json", write_json, "u32", 0), ("avro", write_avro, "u32", 0),
    ("arrow", write_arrow, "u32", 0), ("general", write_general, "i64", 3), ("reject", write_reject, "u32", 1),
    ("commit", write_csv, "u32", 0)])
def test_a_load_enters_the_steps_of_its_walk(program, tmp_path, name, write, user, status):
    entered = functions_entered(program, tmp_path, write, user, status)
    steps, shut = walk(name)
    assert len(steps) >= 2
    assert [s for s in steps if s not in entered] == []
    assert [s for s in shut if s in entered] == []


def test_each_file_and_function_of_the_map_exists():
    for file, function in re.findall(STEP, README):
        path = ROOT / file if file.startswith("splitter/") else ROOT / "pipeline" / file
        assert re.search(rf"\b{function}\(", path.read_text()), f"{file}: {function}"
    for file in re.findall(r"`((?:[a-z_]+/)+\w+\.(?:[ch]|py|md|sh))`", README):
        assert (ROOT / file).exists() or (ROOT / "pipeline" / file).exists(), file
