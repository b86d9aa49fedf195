"""Compares delete markers with a real HBase, which gives raw and normal answers, and the file info of its own writer.
"""

import csv
import json
import struct
import subprocess
import sys

import pytest
from oracle import unescape
from test_load import CONF, Load

sys.path.insert(0, str(CONF.parent / "tests" / "cli"))

import hfile_py  # noqa: E402  (needs the path above)


@pytest.fixture
def load(saltmill, hbase, tmp_path):
    one = Load(saltmill, hbase, tmp_path)
    yield one
    one.drop()


def into_hbase(load, job, name):
    load.run(job)
    load.created.append(name)
    load.hbase.run_script(load.folder_of(name) / "create.rb")
    load.hbase.bulk_load(load.folder_of(name) / "hfiles", name)


def in_hex(text):
    return unescape(text).hex() if text else ""


def shown(load, job, *options):
    """Returns the output of `scan` over the load, in the driver's format for HBase's answers."""
    done = subprocess.run([load.saltmill, "scan", job, load.out, "--format", "csv", *options], capture_output=True,
                          text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    rows = {}
    for c in csv.DictReader(done.stdout.splitlines()):
        marker = "" if c["type"] == "Put" else ":" + c["type"]
        rows.setdefault(unescape(c["row"]).hex(), []).append(
            f"{c['family']}:{in_hex(c['qualifier'])}:{c['timestamp']}:{in_hex(c['value'])}{marker}")
    return ["\t".join([row, *cells]) for row, cells in rows.items()]


@pytest.mark.parametrize("job, name, live, stored", [("cdc", "accounts", 3, 25), ("loans_open", "open_loans", 2, 10)])
def test_what_hbase_shows(load, job, name, live, stored):
    job = CONF / f"{job}.yaml"
    into_hbase(load, job, name)
    answer, raw = load.hbase.scan(name), load.hbase.scan(name, raw=True)
    assert sum(line.count("\t") for line in answer) == live
    assert sum(line.count("\t") for line in raw) == stored
    assert answer == shown(load, job)
    assert raw == shown(load, job, "--raw", "--versions", "100")
    for file in sorted((load.folder_of(name) / "hfiles").glob("*/*")):
        text, warnings = load.hbase.pretty(file)
        assert warnings == [] and "Scanned kv count" in text


JOB = """\
source: {{csv: {{files: [in.csv]}}}}
fields: {{t: {{type: time, unit: ms}}}}
tables:
  - name: t
    rowkey: [{{field: k}}]
    timestamp: t
    families: {{f: {{compression: NONE, bloomfilter: {bloom}, blocksize: 2048}}}}
    cells: [{{family: f, qualifier: a, value: v}}]
    deletes:
      - {{row: true, when: op = d}}
      - {{family: f, versions: one, when: op = o}}
      - {{family: f, qualifier: a, when: op = c}}
"""
SAME = ["DELETE_FAMILY_COUNT", "TIMERANGE", "EARLIEST_PUT_TS", "hfile.AVG_KEY_LEN", "hfile.AVG_VALUE_LEN",
        "hfile.LASTKEY"]


@pytest.mark.parametrize("bloom", ["NONE", "ROW", "ROWCOL"])
def test_a_file_ends_as_hbase_s_own(hbase, saltmill, tmp_path, bloom):
    """StoreFileWriter writes the same cells with the same file info and the same filter of deleted rows."""
    (tmp_path / "job.yaml").write_text(JOB.format(bloom=bloom))
    events = [("pdoc"[i % 4] if i % 5 else "p", f"row{i * 7919 % 1000:04}", 1000 + i, f"v{i}") for i in range(900)]
    (tmp_path / "in.csv").write_text("op,k,t,v\n" + "".join(f"{o},{k},{t},{v}\n" for o, k, t, v in events))
    done = subprocess.run([saltmill, "load", "job.yaml", "-o", "out"], cwd=tmp_path, capture_output=True, text=True,
                          timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    [ours] = (tmp_path / "out" / "t" / "hfiles" / "f").glob("*")
    mine = hfile_py.HFile(ours)
    theirs = tmp_path / "f" / "theirs"
    theirs.parent.mkdir()
    hbase.write_hfile(theirs, [(c.row, c.qualifier, c.ts, c.value, {"type": c.type}) for c in mine.cells],
                      bloom=bloom, block_bytes=2048)
    info = json.loads(subprocess.run([saltmill, "inspect", "--json", theirs], capture_output=True, text=True, timeout=60,
                                     check=True).stdout)[0]
    data = theirs.read_bytes()
    assert (b"DFBLMET2" in data) == bool(mine.of("DFBLMET2")), info
    for name in SAME:
        at = data.index(name.encode() + b"\x12") + len(name) + 1
        assert data[at + 1:at + 1 + data[at]] == mine.info[name], name
    if mine.of("DFBLMET2"):
        at = data.index(b"DFBLMET2") + 33
        [meta] = mine.of("DFBLMET2")
        # version, bytes, hashes, kind, keys, most keys, chunks
        assert struct.unpack_from(">iqiiqqi", data, at) == struct.unpack_from(">iqiiqqi", meta.payload)
        chunks = [b.payload for b in mine.of("BLMFBLK2")]
        assert chunks[-1] in data
