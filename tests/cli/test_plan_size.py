"""Tests that `plan` predicts the bytes and regions of `load`, also for short values and several events in a row.

The error is within 10 % for the whole input and within 15 % for a sample of 5 %. Regions may differ by one more,
because they are whole.
"""

import json
import random

import pytest

import loads

JOB = """\
source: {csv: {files: [events.csv]}}
fields: {user: {type: u32}, at: {type: time, unit: s}, item: {type: u32}}
tables:
  - name: t
    rowkey: [%s]
    timestamp: at
    families: {f: {%s}}
    cells: [%s]
    regions: {split: sampled, size: 200K}
"""
ENTITY = "{salt: 8, of: [user]}, {field: user, as: u32}"
TABLES = {
    "time": (ENTITY + ", {field: at, as: reversed_millis}", "compression: ZSTD",
             "{family: f, qualifier: {field: item, as: text}, value: item}"),
    "wide": (ENTITY, "compression: ZSTD", "{family: f, qualifier: {field: item, as: u32}, value: {const: x}}"),
    "diff": (ENTITY + ", {field: at, as: reversed_millis}", "compression: SNAPPY, data_block_encoding: FAST_DIFF",
             "{family: f, qualifier: {field: item, as: text}, value: item}"),
    "plain": (ENTITY, "compression: NONE", "{family: f, qualifier: v, value: item}"),
}


def write_events(path, apart, items):
    """Makes two events for each row, adjacent or scattered. With few items, many events are duplicates."""
    rng = random.Random(7)
    events = []
    for _ in range(200_000):
        user, at = rng.randrange(1 << 32), 1_500_000_000 + rng.randrange(10 ** 7)
        events += [(user, at, rng.randrange(items)) for _ in range(2)]
    if apart:
        rng.shuffle(events)
    with open(path, "w") as out:
        out.write("user,at,item\n")
        out.writelines("%d,%d,%d\n" % e for e in events)


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("items", [2, 10 ** 6])
def test_two_events_a_row(tmp_path, apart, items):
    write_events(tmp_path / "events.csv", apart, items)
    for name, parts in TABLES.items():
        job = tmp_path / f"{name}.yaml"
        job.write_text(JOB % parts)

        def made(command, *args):
            done = loads.run(command, job, "-o", tmp_path / f"{name}.{command}{len(args)}", "--quiet", *args)
            assert done.returncode == 0, done.stderr
            file = {"load": "manifest.json", "plan": "plan.json"}[command]
            return json.loads((tmp_path / f"{name}.{command}{len(args)}" / file).read_text())["tables"][0]
        files = made("load", "--max-duplicates", "100%")["files"]
        size = sum(f["bytes"] for f in files)
        for args, share in (([], 0.10), (["--sample", "5%"], 0.15)):
            if apart and args:
                continue  # a sample has one event of most rows
            regions = made("plan", *args)["regions"]
            predicted = sum(r["disk_bytes"] for r in regions)
            assert abs(predicted / size - 1) < share, (name, args, predicted, size)
            assert abs(len(regions) - len(files)) <= share * len(files) + 1, (name, args, len(regions), len(files))


@pytest.mark.parametrize("apart", [False, True])
def test_rows_are_counted(tmp_path, apart):
    """`plan` counts rows, not events."""
    write_events(tmp_path / "events.csv", apart, 10 ** 6)
    for name in ("time", "wide"):
        (tmp_path / "job.yaml").write_text(JOB % TABLES[name])
        done = loads.run("plan", tmp_path / "job.yaml", "-o", tmp_path / name, "--quiet")
        assert done.returncode == 0, done.stderr
        table = json.loads((tmp_path / name / "plan.json").read_text())["tables"][0]
        assert 195_000 < table["rows"] < 205_000 and 195_000 < sum(r["rows"] for r in table["regions"]) < 205_000
