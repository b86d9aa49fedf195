"""Loads cells with their own TTL into a real HBase, which hides the expired cells."""

import json
import struct
import subprocess
import time

import pytest
from test_deletes import shown
from test_load import Load

HOUR = 3600_000
JOB = """\
source: {{csv: {{files: [in.csv]}}}}
fields: {{id: {{type: u32}}, t: {{type: time, unit: ms}}, keep: {{type: u64}}}}
tables:
  - name: {name}
    rowkey: [{{field: id, as: u32}}]
    timestamp: t
    families: {{f: {{compression: NONE, data_block_encoding: {encoding}}}}}
    cells:
      - {{family: f, qualifier: a, value: v, ttl: 2h}}
      - {{family: f, qualifier: b, value: v, ttl: {{field: keep, unit: m}}}}
      - {{family: f, qualifier: c, value: v}}
    regions: {{split: none}}
"""


@pytest.fixture
def load(saltmill, hbase, tmp_path):
    one = Load(saltmill, hbase, tmp_path)
    yield one
    one.drop()


@pytest.mark.parametrize("encoding", ["NONE", "FAST_DIFF"])
def test_hbase_hides_expired_cells(load, tmp_path, encoding):
    name = f"cell_ttl_{encoding.lower()}"
    now = int(time.time() * 1000)
    # row, age in hours, TTL of b in minutes; no age is near a TTL, so the time that the test takes does not matter
    rows = [(1, 1, 30), (2, 1, 600), (3, 3, 30), (4, 3, 600), (5, 3, "")]
    (tmp_path / "job.yaml").write_text(JOB.format(name=name, encoding=encoding))
    (tmp_path / "in.csv").write_text("id,t,keep,v\n" + "".join(
        f"{row},{now - age * HOUR},{keep},v{row}\n" for row, age, keep in rows))
    load.run(tmp_path / "job.yaml")
    load.created.append(name)
    done = subprocess.run([load.saltmill, "apply", load.out, "--hbase", load.hbase.master, "--create", "--check", "--json"],
                          capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    proof = json.loads(done.stdout)["tables"][0]["check"]
    assert proof["missing"] == proof["changed"] == 0 and proof["found"] + proof["expired"] == 15, proof
    want = []
    for row, age, keep in rows:
        columns = ("a" if age < 2 else "") + ("b" if keep == "" or age * 60 < keep else "") + "c"
        cells = [f"f:{q.encode().hex()}:{now - age * HOUR}:{f'v{row}'.encode().hex()}" for q in columns]
        want.append("\t".join([struct.pack(">I", row).hex(), *cells]))
    assert load.hbase.scan(name) == want
    assert shown(load, tmp_path / "job.yaml") == want
    [file] = (load.folder_of(name) / "hfiles" / "f").iterdir()
    text, warnings = load.hbase.pretty(file)  # HBase's own reader of files
    assert warnings == [] and "Scanned kv count -> 15" in text, text
