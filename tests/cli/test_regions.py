"""Tests the key `regions:`. `load` follows the key, and `plan` predicts the result of `load`."""

import bisect
import json
import random
import subprocess

import pytest

import hfile_py
from oracle import murmur3_32, unescape
from random_jobs import Case

JOB = """\
source:
  csv: {files: [in.csv]}
fields:
  id: {type: u32}
  at: {type: u32}
tables:
  - name: t
    rowkey:
      - {salt: %d, of: [id]}
      - {field: id, as: u32}
      - {field: at, as: u32}
    timestamp: 1500000000000
    families:
      f: {compression: NONE}
    cells:
      - {family: f, qualifier: v, value: {field: value}}
    regions: {split: sampled, %s}
"""


class Table:
    """Returns events (id, at, value) with salts, and their expected keys, computed independently."""

    def __init__(self, folder, program, buckets, events):
        self.folder, self.program, self.buckets = folder, program, buckets
        self.rows = [(self.salt(i) + i.to_bytes(4, "big") + at.to_bytes(4, "big"), v) for i, at, v in events]
        text = "id,at,value\n" + "".join(f"{i},{at},{v}\n" for i, at, v in events)
        (folder / "in.csv").write_text(text)

    def salt(self, ident):
        return bytes([murmur3_32(ident.to_bytes(4, "big")) % self.buckets])

    def ask(self, command, regions):
        """Returns the split keys."""
        (self.folder / "job.yaml").write_text(JOB % (self.buckets, regions))
        out = self.folder / f"{command} {regions}"
        done = subprocess.run([self.program, command, "job.yaml", "-o", out, "--quiet"], cwd=self.folder,
                              capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        self.report = json.loads((out / ("plan.json" if command == "plan" else "manifest.json")).read_text())["tables"][0]
        self.out = out
        return [unescape(line) for line in (out / "t" / "splits.txt").read_text().splitlines()]

    def sizes(self, borders):
        """Returns the number of rows between the borders."""
        counts = [0] * (len(borders) + 1)
        for key, _ in self.rows:
            counts[bisect.bisect_right(borders, key)] += 1
        return counts


def spread(count, seed=1):
    rng = random.Random(seed)
    return [(rng.randrange(1 << 32), n, f"{n:07}") for n in range(count)]


def salts_of(path):
    return {c.row[0] for c in hfile_py.read(path)}


@pytest.mark.parametrize("count", [4, 8, 20])
def test_align_salt(tmp_path, saltmill, count):
    table = Table(tmp_path, saltmill, 8, spread(4000))
    keys = table.ask("load", f"count: {count}, align: salt")
    assert {bytes([b]) for b in range(1, 8)} <= set(keys)
    assert len(keys) + 1 == max(count, 8)
    assert [r["rows"] for r in table.report["regions"]] == table.sizes(keys)
    for f in table.report["files"]:
        assert len(salts_of(table.out / f["path"])) == 1
    assert keys == table.ask("plan", f"count: {count}, align: salt")


def test_even_buckets_get_a_region_each(tmp_path, saltmill):
    """With 16 regions in 16 buckets, the split points have one byte, although the buckets differ a little."""
    table = Table(tmp_path, saltmill, 16, [])
    left = [300 + b % 3 for b in range(16)]
    events, rng = [], random.Random(3)
    while any(left):
        ident = rng.randrange(1 << 32)
        salt = table.salt(ident)[0]
        if left[salt]:
            left[salt] -= 1
            events.append((ident, len(events), "value"))
    table = Table(tmp_path, saltmill, 16, events)
    for command in ("load", "plan"):
        assert table.ask(command, "count: 16") == [bytes([b]) for b in range(1, 16)]


def test_cuts_lie_between_entities(tmp_path, saltmill):
    """Each of 600 entities has a sixth of a percent, so a border may move one entity between 6 regions."""
    rng = random.Random(4)
    idents = rng.sample(range(1 << 32), 600)
    table = Table(tmp_path, saltmill, 1, [(i, at, "value") for i in idents for at in range(20)])
    keys = table.ask("load", "count: 6")
    assert len(keys) == 5
    for key in keys:  # all events of one entity are on one side
        inside = {row[:5] for row, _ in table.rows if row < key} & {row[:5] for row, _ in table.rows if row >= key}
        assert not inside, key
    assert max(table.sizes(keys)) <= 1.02 * len(table.rows) / 6
    assert keys == table.ask("plan", "count: 6")


UNUSUAL = {
    "one row": [(7, 7, "x")],
    "equal": [(7, 7, "x")] * 500,
    "two rows": [(7, 7, "x" * 20), (9, 9, "y")],
    "tiny": [(n * 99991, n, "x") for n in range(11)],
    "one entity": [(7, n, "x") for n in range(3000)],
    "few beginnings": [(n % 3, n, "x" * (1 + n % 7)) for n in range(3000)],
    "heavy rows": [(n % 4, 1, "x" * 50) if n % 3 else (n * 7919, n, "y") for n in range(3000)],
}


@pytest.mark.parametrize("kind", UNUSUAL)
@pytest.mark.parametrize("regions", ["count: 5", "count: 16", "count: 16, align: salt", "servers: 2, per_server: 3"])
def test_unusual_data(tmp_path, saltmill, kind, regions):
    table = Table(tmp_path, saltmill, 4, UNUSUAL[kind])
    keys = table.ask("load", regions)
    assert keys == sorted(set(keys)) and b"" not in keys
    if "align" in regions:
        assert {b"\1", b"\2", b"\3"} <= set(keys)
    else:
        assert all(table.sizes(keys)), "a region without a row"
    assert keys == table.ask("plan", regions)


def planned(folder, saltmill):
    done = subprocess.run([saltmill, "plan", "job.yaml", "-o", "plan", "--quiet"], cwd=folder, capture_output=True,
                          timeout=60)
    return done.returncode, done.stderr.decode("utf8", "replace")


def test_plan_foretells_random_loads(tmp_path, saltmill):
    """The sample contains all of these few events, so the keys are the same for any settings of the job."""
    compared = 0
    for seed in range(40):
        folder = tmp_path / str(seed)
        folder.mkdir()
        case = Case(f"regions {seed}", folder)
        loaded = case.run(saltmill)
        status, message = planned(folder, saltmill)
        if case.oracle.twins or loaded.returncode not in (0, 3):
            continue
        if status == 1 and "there are no rows" in message:
            continue
        assert status in (0, 3), f"seed {seed}: {message}"
        for t in case.job.tables:
            path = t["name"].replace(":", "/") + "/splits.txt"
            ours, theirs = ((folder / d / path).read_text() for d in ("plan", "out"))
            if "size" in t["regions"]:  # plan measures the size on disk on other samples
                ours, theirs = len(ours.split()), len(theirs.split())
                assert abs(ours - theirs) <= 1 + theirs // 10, f"seed {seed}: {path}"
            else:
                assert ours == theirs, f"seed {seed}: {path}"
                compared += 1
    assert compared > 25


@pytest.mark.parametrize("buckets, count", [(1, 40), (16, 16), (16, 50), (7, 100)])
def test_plan_within_its_error(tmp_path, saltmill, buckets, count):
    """There are more rows than a sample keeps. The number of keys is right, and each key is within its stated error."""
    rng = random.Random(buckets * count)
    heavy = [rng.randrange(1 << 32) for _ in range(30)]
    events = [(rng.choice(heavy) if rng.random() < 0.3 else rng.randrange(1 << 32), n, "x" * rng.randrange(1, 30))
              for n in range(150_000)]
    table = Table(tmp_path, saltmill, buckets, events)
    loaded = table.ask("load", f"count: {count}")
    foretold = table.ask("plan", f"count: {count}")
    assert len(loaded) == len(foretold)
    rows = sorted(table.rows)
    below = [0]  # a KeyValue is 8 bytes of lengths, 2 + row + 1 + family + qualifier + 8 + 1 of key, and the value
    for key, value in rows:
        below.append(below[-1] + 8 + 2 + len(key) + 1 + 1 + 1 + 8 + 1 + len(value))
    region, keys = below[-1] / count, [key for key, _ in rows]
    at, theirs_at = ([below[bisect.bisect_left(keys, k)] for k in splits] for splits in (foretold, loaded))
    stated = table.report["regions"]
    for r, low, high in zip(stated, [0, *at], [*at, below[-1]]):
        assert abs(high - low - r["cell_bytes"]) <= r["cell_bytes_error"] + 1, r
    # the bound grows with the root of the sum, so it is at most that of half of the table
    error = max(r["cell_bytes_error"] for r in stated) * (count / 2) ** 0.5
    snapped = {bytes([b]) for b in range(1, buckets)}
    for ours, theirs, a, b in zip(foretold, loaded, at, theirs_at):
        moved = 0.05 if {ours, theirs} & snapped else 0.02  # one snaps to a bucket or an entity, the other does not
        assert abs(a - b) <= error + moved * region, (ours, theirs)
    sizes = [high - low for low, high in zip([0, *theirs_at], [*theirs_at, below[-1]])]
    assert max(sizes) <= 1.06 * region and min(sizes) >= 0.94 * region
