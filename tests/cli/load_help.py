"""Helpers of the command-line tests, which make a small job and run the program."""

import gzip
import json
import subprocess

JOB = """\
source:
  csv: {files: [in.csv]}
fields:
  id: {type: u32}
  at: {type: time, unit: s}
tables:
  - name: t
    rowkey:
      - {salt: 4, of: [id]}
      - {field: id, as: u32}
      - {field: at, as: reversed_millis}
    timestamp: at
    families:
      f: {compression: NONE}
    cells:
      - {family: f, qualifier: v, value: {field: value}}
    regions: {split: sampled, count: 2}
"""
HEADER = b"id,at,value\n"


class Bench:
    """A folder with a job. Its methods write inputs, run the program and list the remaining files."""

    def __init__(self, folder, program, job=JOB):
        self.folder, self.program = folder, program
        self.out = folder / "out"
        (folder / "job.yaml").write_text(job)

    def input(self, data, name="in.csv"):
        (self.folder / name).write_bytes(data)
        return self.folder / name

    def run(self, *args, out=None, **kw):
        command = [str(self.program), "load", "job.yaml", *map(str, args), "-o", str(out or self.out)]
        kw.setdefault("timeout", 120)
        return subprocess.run(command, cwd=self.folder, capture_output=True, **kw)

    def left(self):
        """Returns the files in the folder that the test did not write."""
        return sorted(p.name for p in self.folder.iterdir() if p.name.startswith("out"))

    def manifest(self):
        return json.loads((self.out / "manifest.json").read_text())

    def rejects(self):
        return [json.loads(line) for line in (self.out / "rejects.jsonl").read_text().splitlines()]

    def refused(self, result, status, *fragments):
        """Checks that the run failed with this status and these words, and left no file."""
        message = result.stderr.decode()
        assert result.returncode == status, message
        for f in fragments:
            assert f in message, f"{f!r} not in {message!r}"
        assert self.left() == [], "the run left files"


def rows(n, start=0):
    return HEADER + b"".join(b"%d,%d,v%d\n" % (i, 1_500_000_000 + i % 1000, i) for i in range(start, start + n))


def gz(data):
    return gzip.compress(data, mtime=0)
