"""Makes a small load for the tests of verify and inspect, and computes its contents independently."""

import os
import pathlib
import re
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SALTMILL", str(ROOT / "build" / "saltmill"))

JOB = """\
source:
  csv:
    files: [events.csv]
fields:
  id:   {type: u32}
  when: {type: time, unit: s}
tables:
  - name: events
    rowkey:
      - {field: id, as: u32}
    timestamp: when
    families:
      f: {compression: ZSTD, bloomfilter: ROW}
      g: {compression: NONE, bloomfilter: ROWCOL}
    cells:
      - {family: f, qualifier: name, value: {field: name}}
      - {family: g, qualifier: id, value: {field: id, as: text}}
    regions: {split: sampled, count: 4}
"""
EVENTS = 3000
REJECTED = 2
DUPLICATES = 1


def run(*args, **how):
    return subprocess.run([PROGRAM, *map(str, args)], capture_output=True, text=True, timeout=120, **how)


def wait_until_caught(process, sig):
    """Waits until the process handles the signal itself. Before, the signal would end it without a message."""
    end = time.monotonic() + 60
    while process.poll() is None:
        caught = re.search(r"^SigCgt:\s*(\w+)$", pathlib.Path(f"/proc/{process.pid}/status").read_text(), re.M)
        if caught and int(caught[1], 16) >> sig - 1 & 1:
            break
        assert time.monotonic() < end
        time.sleep(0.01)


def events():
    """Returns (id, seconds, name) with ids spread over all of 32 bits. One event comes twice."""
    for i in range(EVENTS):
        yield (i * 1431655 + 7, 1400000000 + i * 61, f"name {i % 97}\u5317")
    yield (7, 1400000000, "name again")


def escaped(raw):
    """Escapes all bytes except [0-9A-Za-z_.-] in HBase's \\xHH form."""
    plain = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.-"
    return "".join(chr(b) if b in plain else f"\\x{b:02X}" for b in raw)


def expected_cells():
    """Returns {(row, column, ms): value}, escaped. The later one of two duplicates counts."""
    cells = {}
    for ident, seconds, name in events():
        row = escaped(ident.to_bytes(4, "big"))
        cells[row, "f:name", seconds * 1000] = escaped(name.encode())
        cells[row, "g:id", seconds * 1000] = str(ident)
    return cells


def make_load(folder):
    """Loads the events into folder/out and returns that folder. Two lines are bad."""
    job = folder / "events.yaml"
    job.write_text(JOB)
    lines = ["id,when,name"]
    for n, (ident, seconds, name) in enumerate(events()):
        lines.append(f"{ident},{seconds},{name}")
        if n == 100:
            lines.append("not a number,1400000000,x")
        if n == 200:
            lines.append("5,never,y")
    (folder / "events.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    out = folder / "out"
    done = run("load", job, "-o", out, "--max-rejects", "5", "--quiet")
    assert done.returncode == 3, done.stderr
    return out
