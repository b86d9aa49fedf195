"""Makes tables that a real HBase stored: flushes, bulk loads, splits, merges, compactions, snapshots and clones."""

import json
import random
import shutil
import subprocess

TYPES = ["Put"] * 12 + ["Delete", "DeleteColumn", "DeleteFamily", "DeleteFamilyVersion"]
FAMILIES = {"f": "VERSIONS => 3, BLOOMFILTER => 'ROWCOL'",
            "g": "VERSIONS => 2, KEEP_DELETED_CELLS => 'TRUE', DATA_BLOCK_ENCODING => 'FAST_DIFF', COMPRESSION => 'ZSTD'",
            "h": "VERSIONS => 4, MIN_VERSIONS => 1, TTL => 3600, COMPRESSION => 'SNAPPY'",
            "k": "VERSIONS => 1, KEEP_DELETED_CELLS => 'TTL', TTL => 3600, MIN_VERSIONS => 1, BLOOMFILTER => 'NONE'"}
QUALIFIERS = ["", "61", "62", "c0ff"]


class StoredTable:
    """A table of random cells. Few rows and timestamps make cells collide across files."""

    def __init__(self, hbase, folder, name, seed, now_ms, described=None):
        self.hbase, self.folder, self.name = hbase, folder, name
        self.rng, self.now = random.Random(seed), now_ms
        families = ", ".join("{NAME => '%s', BLOCKSIZE => 1024, %s}" % f for f in (described or FAMILIES).items())
        self.shell(f"create '{name}', {families}, {{SPLITS => ['r0400']}}")

    def shell(self, *lines):
        script = self.folder / f"{self.name.replace(':', '.')}.rb"
        script.write_text("\n".join(lines) + "\n")
        self.hbase.run_script(script)

    def row(self):
        return b"r%04d" % self.rng.randrange(800)

    def ts(self):
        """A time that is clearly before or after the TTL's limit."""
        age = self.rng.choice([60, 61, 62, 600, 601, 7200, 7201, 90000])
        return self.now - 1000 * age

    def mutation(self):
        kind = self.rng.choice(TYPES)
        m = [kind, self.row().hex(), self.rng.choice(list(FAMILIES)), self.rng.choice(QUALIFIERS), self.ts(),
             self.rng.randbytes(self.rng.choice([0, 4, 30])).hex()]
        if kind == "Put" and self.rng.random() < 0.1:
            m.append(self.rng.choice([1000, 10**12]))
        return m

    def write(self, count):
        self.hbase.call("mutate", table=self.name, mutations=[self.mutation() for _ in range(count)])

    def flush(self):
        self.shell(f"flush '{self.name}'")

    def bulk_load(self, count):
        """Loads one file for each family and region that the splits divide."""
        folder = self.folder / f"bulk-{self.name.replace(':', '.')}"
        shutil.rmtree(folder, ignore_errors=True)
        bounds = [b"", *[s.encode() for s in self.hbase.splits(self.name)], b"\xff"]
        for family in FAMILIES:
            cells = {}
            for _ in range(count):
                kind = self.rng.choice([4, 4, 4, 8, 10, 12, 14])
                qualifier = b"" if kind in (10, 14) else bytes.fromhex(self.rng.choice(QUALIFIERS))
                cells[self.row(), qualifier, self.ts(), kind] = self.rng.randbytes(5) if kind == 4 else b""
            order = sorted(cells, key=lambda k: (k[0], k[1], -k[2], -k[3]))
            for i, (low, high) in enumerate(zip(bounds, bounds[1:])):
                part = [(*k[:3], cells[k], {"type": k[3]}) for k in order if low <= k[0] < high]
                if part:
                    file = folder / family / f"file{i}"
                    file.parent.mkdir(parents=True, exist_ok=True)
                    self.hbase.write_hfile(file, part, compression="NONE", bloom="ROW", encoding="NONE", tags=False,
                                           mvcc=False, block_bytes=500)
        self.hbase.bulk_load(folder, self.name)

    def rounds(self, n):
        for _ in range(n):
            self.write(400)
            self.flush()
            self.bulk_load(30)
        self.write(400)
        self.flush()


def by_hbase(hbase, table, **a):
    """Returns (row, cells) as the Java client returns them, in the form of by_saltmill."""
    return [(line.split("\t")[0], line.split("\t")[1:]) for line in hbase.scan(table, **a)]


def unescaped(text):
    return text.encode("latin-1").decode("unicode_escape").encode("latin-1").hex()


def by_saltmill(saltmill, *args):
    done = subprocess.run([saltmill, "scan", *map(str, args), "--format", "jsonl"], capture_output=True, text=True,
                          timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    rows = []
    for line in done.stdout.splitlines():
        row = json.loads(line)
        rows.append((unescaped(row["row"]), [
            f"{c['family']}:{unescaped(c['qualifier'])}:{c['timestamp']}:{unescaped(c['value'])}" +
            ("" if c["type"] == "Put" else ":" + c["type"]) for c in row["cells"]]))
    return rows


# arguments of the Java client's scan, and the same for saltmill
SCANS = [({}, []), ({"versions": 1000}, ["--versions", 1000]), ({"reversed": True}, ["--reverse"]),
         ({"start": b"r0195".hex(), "stop": b"r0410".hex()}, ["--start", "r0195", "--stop", "r0410"]),
         ({"raw": True}, ["--raw", "--versions", 1000])]


def answers_of(hbase, table):
    """Returns the Java client's answers to SCANS."""
    return [by_hbase(hbase, table, **how) for how, _ in SCANS]


def compare(answers, saltmill, *place):
    """Compares answers with scans of the folders. Returns the number of stored cells."""
    for (how, args), expected in zip(SCANS, answers):
        found = by_saltmill(saltmill, *place, *args)
        assert found == expected, (place, how, [pair for pair in zip(found, expected) if pair[0] != pair[1]][:2])
    return sum(len(cells) for _, cells in expected)
