"""Makes data sets and job files of the benchmark at their first use, and keeps them in build/bench."""

import os
import pathlib
import subprocess
import sys

from rig import HERE, ROOT, Failure, warm

RATINGS_JOB = ROOT / "conf" / "ratings.yaml"

THREE_FAMILIES = """\
source: {csv: {files: [in.csv]}}
fields:
  userId:    {type: u32}
  movieId:   {type: u32}
  timestamp: {type: time, unit: s}
tables:
  - name: ratings3
    rowkey:
      - {salt: 16, of: [userId]}
      - {field: userId, as: u64}
      - {field: timestamp, as: reversed_millis}
      - {field: movieId, as: u32}
    timestamp: timestamp
    families:
      a: {compression: ZSTD}
      b: {compression: ZSTD}
      c: {compression: ZSTD}
    cells:
      - {family: a, qualifier: m, value: {field: movieId, as: text}}
      - {family: b, qualifier: r, value: {field: rating}}
      - {family: c, qualifier: t, value: {field: timestamp, as: millis}}
    regions: {split: sampled, count: 16}
"""

HUGE = """\
source: {csv: {files: [in.csv]}}
fields:
  id: {type: hex}
tables:
  - name: huge
    rowkey:
      - {field: id, as: bytes}
    timestamp: 1700000000000
    families:
      f: {compression: ZSTD}
    cells:
      - {family: f, qualifier: note, value: note}
      - {family: f, qualifier: value, value: value}
    regions: {split: sampled, count: 4}
"""

ORDERS = """\
source: {csv: {files: [in.csv]}}
fields:
  customer: {type: u32}
  at:       {type: time, unit: s}
  items:    {type: u32}
tables:
  - name: orders
    rowkey:
      - {salt: 16, of: [customer]}
      - {field: customer, as: u32}
      - {field: at, as: reversed_millis}
    timestamp: at
    families:
      f: {bloomfilter: ROW, compression: {codec: ZSTD, framing: hbase}}
    cells:
      - {family: f, qualifier: state, value: state}
      - {family: f, qualifier: items, value: {field: items, as: u32}}
      - {family: f, qualifier: total, value: total}
      - {family: f, qualifier: shop, value: shop}
    regions: {split: sampled, count: 16}
"""

COUNTERS = """\
source: {csv: {files: [in.csv]}}
fields:
  at:    {type: time, unit: s}
  count: {type: u64}
  bytes: {type: u64}
tables:
  - name: counters
    rowkey:
      - {salt: 16, of: [host, metric]}
      - {field: host, terminator: '\\x00'}
      - {field: metric, terminator: '\\x00'}
      - {field: at, as: reversed_millis}
    timestamp: at
    families:
      f: {bloomfilter: ROW, compression: {codec: ZSTD, framing: hbase}}
    cells:
      - {family: f, qualifier: count, value: {field: count, as: u64}}
      - {family: f, qualifier: bytes, value: {field: bytes, as: u64}}
    regions: {split: sampled, count: 16}
"""

WIDE = """\
source: {{csv: {{files: [in.csv]}}}}
fields:
  id: {{type: hex}}
tables:
  - name: wide
    rowkey:
      - {{field: id, as: bytes}}
    timestamp: 1700000000000
    families:
      f: {{compression: ZSTD}}
    cells:
{cells}
    regions: {{split: sampled, count: 16}}
"""


class Inputs:
    def __init__(self, folder):
        self.folder = folder / "data"
        self.folder.mkdir(parents=True, exist_ok=True)
        shared = pathlib.Path(os.environ.get("SALTMILL_DATA") or ROOT.parent / "shared" / "data")
        self.source = shared / "ratings.csv"
        self.kind = "ratings" if self.source.exists() else "made-up"

    def _make(self, name, *arguments):
        """Runs data.py once for each file. A file gets its final name only when it is complete."""
        path = self.folder / name
        if not path.exists():
            print(f"making {path.name}", file=sys.stderr, flush=True)
            part = path.with_suffix(".part")
            command = [sys.executable, HERE / "data.py", *arguments, part]
            if subprocess.run([str(c) for c in command]).returncode != 0:
                raise Failure(f"cannot make {path}")
            part.rename(path)
        return path

    def ratings(self, times):
        """Returns a CSV file with this number of repetitions and rows in generated order."""
        source = self.source if self.kind == "ratings" else "-"
        return self._make(f"{self.kind}-{times}.csv", "ratings", source, times)

    def shuffled(self, times):
        return self._make(f"{self.kind}-{times}-shuffled.csv", "shuffle", self.ratings(times))

    def wide(self, rows, columns):
        return self._make(f"wide-{rows}-{columns}.csv", "wide", rows, columns)

    def huge(self, rows, size):
        return self._make(f"huge-{rows}-{size}.csv", "huge", rows, size)

    def orders(self, rows):
        return self._make(f"orders-{rows}.csv", "orders", rows)

    def counters(self, rows):
        return self._make(f"counters-{rows}.csv", "counters", rows)

    def rows(self, csv):
        """Counts the rows below the header. This also reads the file into the page cache."""
        return warm(csv) - 1


class Jobs:
    def __init__(self, folder):
        self.folder = folder / "jobs"
        self.folder.mkdir(parents=True, exist_ok=True)

    def write(self, name, text):
        path = self.folder / f"{name}.yaml"
        path.write_text(text)
        return path

    def _ratings(self, name, old, new):
        text = RATINGS_JOB.read_text()
        if text.count(old) != 1:
            raise Failure(f"{RATINGS_JOB} has no `{old}` any more: bench and example differ")
        return self.write(name, text.replace(old, new))

    def ratings(self):
        """Returns the unchanged example, which has ZSTD at its default level 3, and 16 regions."""
        return RATINGS_JOB

    def ratings_as(self, form):
        """Returns the example with a source of csv, json, avro or arrow."""
        return self._ratings(f"ratings-{form}", "  csv:\n    files:", f"  {form}:\n    files:")

    def auto(self, aim="balance"):
        return self._ratings(f"auto-{aim}", "{codec: ZSTD, framing: hbase}", f"{{codec: auto, framing: hbase, aim: {aim}}}")

    def regions(self, n):
        return self._ratings(f"regions-{n}", "count: 16", f"count: {n}")

    def three_families(self):
        return self.write("families", THREE_FAMILIES)

    def wide(self, columns):
        cells = "\n".join(f"      - {{family: f, qualifier: c{i}, value: c{i}}}"
                          for i in range(columns))
        return self.write(f"wide-{columns}", WIDE.format(cells=cells))

    def orders(self):
        return self.write("orders", ORDERS)

    def counters(self):
        return self.write("counters", COUNTERS)

    def huge(self):
        return self.write("huge", HUGE)
