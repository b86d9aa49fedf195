"""Tests the interfaces of Spark itself: format("saltmill") of Spark 4, the sink of Structured Streaming, apply, and the
names and counts of stages.  The oracle for rows is a Python calculation, and for loads a load by one process."""

import json
import pathlib
import random
import subprocess
import urllib.request

import pytest

import needs_pyspark  # noqa: F401
import pyspark

import load_help
import saltmill
import saltmill.spark
from spark_rig import assert_nothing, inside
from test_offline import Folder, fill, snapshot

JOB = """\
source: {arrow: {files: ['-']}}
fields: {id: {type: u32}, at: {type: time, unit: ms}, value: {type: text}, note: {type: text, null: ['']}}
tables:
  - name: t
    rowkey: [{field: id, as: u32}]
    timestamp: at
    families: {f: {compression: NONE, versions: 3}}
    cells: [{family: f, qualifier: v, value: value}, {family: f, qualifier: n, value: note, optional: true}]
    regions: {split: uniform, count: 4}
"""
needs_4 = pytest.mark.skipif(int(pyspark.__version__.split(".")[0]) < 4,
                             reason="a data source in Python needs Spark 4; test_spark_versions.py runs this test with it")


def rows(n, seed=5):
    draw = random.Random(seed)
    return [(draw.getrandbits(32), 1_700_000_000_000 + i, f"v{i} ", f"é\n{i}" if i % 3 else None) for i in range(n)]


def frame_of(rig, made, parts=3):
    return rig.spark.createDataFrame(rig.spark.sparkContext.parallelize(made, parts),
                                     "id long, at long, value string, note string")


@pytest.fixture
def job(tmp_path):
    (tmp_path / "job.yaml").write_text(JOB)
    return tmp_path / "job.yaml"


@pytest.fixture
def spark4(rig):
    saltmill.spark.register(rig.spark, program=rig.program)
    return rig.spark


def cells_of(made):
    """Returns what the job makes of the rows: big-endian key, family, qualifier, timestamp, type, value."""
    found = []
    for id_, at, value, note in made:
        key = id_.to_bytes(4, "big")
        found.append((key, "f", b"v", at, "Put", value.encode()))
        if note is not None:
            found.append((key, "f", b"n", at, "Put", note.encode()))
    return sorted(found)


@needs_4
def test_the_format_writes_and_reads_cells(rig, spark4, job, tmp_path):
    made = rows(500)
    writer = frame_of(rig, made).write.format("saltmill").mode("append").option("job", str(job))
    writer.save(str(tmp_path / "out"))
    rig.native(tmp_path, "verify", "out")
    read = spark4.read.format("saltmill").option("job", str(job)).load(str(tmp_path / "out"))
    assert read.rdd.getNumPartitions() == 4
    assert sorted((bytes(r.row), r.family, bytes(r.qualifier), r.timestamp, r.type, bytes(r.value))
                  for r in read.collect()) == cells_of(made)
    assert [p.name for p in tmp_path.iterdir() if "saltmill" in p.name] == []
    with pytest.raises(Exception, match="out: found an existing folder"):
        writer.save(str(tmp_path / "out"))


@needs_4
def test_the_format_reads_fields(rig, spark4, job, tmp_path):
    made = rows(60)
    frame_of(rig, made).write.format("saltmill").mode("append").option("job", str(job)).save(str(tmp_path / "out"))
    reader = spark4.read.format("saltmill").option("job", str(job)).option("decode", "true")
    read = reader.load(str(tmp_path / "out"))
    assert sorted(tuple(r) for r in read.select("id", "`f:v`", "`f:n`").collect()) == \
        sorted((str(id_), value, note) for id_, _, value, note in made)
    one = reader.option("where", f"id = {made[7][0]}").load(str(tmp_path / "out")).collect()
    assert [r["f:v"] for r in one] == [made[7][2]]
    with pytest.raises(Exception, match="expected the folder of a load"):
        reader.load().collect()
    with pytest.raises(Exception, match="found the option colour"):
        reader.option("colour", "red").load(str(tmp_path / "out")).collect()


@needs_4
def test_the_format_reads_tables_and_snapshots(rig, spark4, job, tmp_path):
    made = rows(200)
    frame_of(rig, made).write.format("saltmill").mode("append").option("job", str(job)).save(str(tmp_path / "out"))
    table = json.loads((tmp_path / "out/manifest.json").read_text())["tables"][0]
    folder = Folder(tmp_path / "hbase", name="t", families={"f": {"VERSIONS": "3"}})
    folder.regions, folder.described = fill(folder, (tmp_path / "out", None, table, None)), table
    reader = spark4.read.format("saltmill")
    stored = reader.option("tableDir", str(folder.dir)).option("splits", str(tmp_path / "out/t/splits.txt")).load()
    snap = spark4.read.format("saltmill").option("snapshot", str(snapshot(folder))).load()
    assert (stored.rdd.getNumPartitions(), snap.rdd.getNumPartitions()) == (4, 1)
    for read in (stored, snap):
        assert sorted((bytes(r.row), r.family, bytes(r.qualifier), r.timestamp, r.type, bytes(r.value))
                      for r in read.collect()) == cells_of(made)


@needs_4
def test_a_write_that_fails_leaves_nothing(rig, spark4, job, tmp_path):
    made = rows(100)
    for bad, why in (([*made, (made[3][0], made[3][1], "again", None)], "max-duplicates"),
                     ([*made, (1 << 40, 1, "v", None)], "id: found `1099511627776`, expected"), ([], "a DataFrame without rows")):
        with pytest.raises(Exception, match=why):
            frame_of(rig, bad).write.format("saltmill").mode("append").option("job", str(job)).save(str(tmp_path / "out"))
        assert_nothing(tmp_path, "out")


# --- Structured Streaming ---

def stream(rig, folder, write, checkpoint="checkpoint"):
    """Reads the JSON files of folder/in as a stream, a file in each batch."""
    (folder / "in").mkdir(exist_ok=True)
    source = rig.spark.readStream.schema("id long, at long, value string, note string") \
        .option("maxFilesPerTrigger", 1).json(str(folder / "in"))
    query = source.writeStream.foreachBatch(write).option("checkpointLocation", str(folder / checkpoint)) \
        .trigger(availableNow=True).start()
    query.awaitTermination()


def put(folder, name, made):
    (folder / "in").mkdir(exist_ok=True)
    (folder / "in" / name).write_text("".join(json.dumps(dict(zip(("id", "at", "value", "note"), r))) + "\n" for r in made))


def loaded(rig, folder, job):
    """Returns the values in all loads, with repetitions."""
    found = []
    for out in sorted(folder.glob("batch-*")):
        rig.native(folder, "verify", out)
        text = subprocess.run([rig.program, "scan", job, out, "--decode", "--format", "jsonl"], capture_output=True, check=True)
        found += [json.loads(line)["cells"]["f:v"] for line in text.stdout.splitlines()]
    return sorted(found)


def test_a_stream_loads_each_batch_once(rig, job, tmp_path):
    made = rows(90)
    for n in range(3):
        put(tmp_path, f"{n}.json", made[30 * n:30 * n + 30])
    sink = saltmill.spark.sink(str(job), tmp_path / "loads", program=rig.wrapper)
    fails = {1}

    def write(frame, batch):
        sink(frame, batch)
        if batch in fails:  # after the load, before the checkpoint
            fails.clear()
            raise RuntimeError("the query dies")
    with pytest.raises(Exception, match="the query dies"):
        stream(rig, tmp_path, write)
    assert [p.name[-1] for p in sorted((tmp_path / "loads").glob("batch-*"))] == ["0", "1"]
    stream(rig, tmp_path, write)
    assert not fails and loaded(rig, tmp_path / "loads", job) == sorted(r[2] for r in made)
    with pytest.raises(Exception, match="found the loads of query .* use a new folder"):
        stream(rig, tmp_path, sink, "another")
    assert loaded(rig, tmp_path / "loads", job) == sorted(r[2] for r in made)


def test_apply_after_the_load(rig, job, tmp_path):
    """A program that notes its arguments takes the place of HBase. tests/hbase tests apply itself."""
    program = tmp_path / "program"
    program.write_text(f'#!/bin/sh\nif [ "$1" = apply ]; then echo "$@" >>{tmp_path}/applied; [ ! -e {tmp_path}/down ]; '
                       f'else exec {rig.program} "$@"; fi\n')
    program.chmod(0o755)
    frame, out = frame_of(rig, rows(20)), tmp_path / "out"
    saltmill.spark.load(rig.spark, frame, str(job), out, program=program, apply="zk:nn")
    assert (tmp_path / "applied").read_text().startswith(f"apply {out} --hbase zk:nn --quiet")
    (tmp_path / "down").touch()
    with pytest.raises(saltmill.JobError, match=f"^published as {out}2, but not applied: "):
        saltmill.spark.load(rig.spark, frame, str(job), f"{out}2", program=program, apply=["m1", "--create"])
    assert "--hbase m1 --create --quiet" in (tmp_path / "applied").read_text()


def test_stages_have_names(rig, job, tmp_path):
    with inside(tmp_path):
        saltmill.spark.load(rig.spark, frame_of(rig, rows(20)), "job.yaml", "out", program=rig.wrapper)
    tracker, names = rig.spark.sparkContext.statusTracker(), set()
    for stage in range(1000):
        info = tracker.getStageInfo(stage)
        names.add(info.name if info else "")
    assert {f"saltmill {what} job" for what in ("plan", "map", "totals", "reduce")} <= names, names
    assert pathlib.Path(tmp_path / "out/manifest.json").exists()


def stages_of(rig):
    """Returns the stages with their figures, as the UI's REST API does."""
    sc = rig.spark.sparkContext
    with urllib.request.urlopen(f"{sc.uiWebUrl}/api/v1/applications/{sc.applicationId}/stages", timeout=30) as answer:
        return json.load(answer)


def test_rows_and_bytes_of_stages(rig, tmp_path):
    """The UI's REST API shows the input of the maps and the output of the reduces, also after a killed reduce."""
    (tmp_path / "counted.yaml").write_text(load_help.JOB)
    for n in (0, 1):
        (tmp_path / f"{n}.csv").write_bytes(load_help.HEADER + b"".join(b"%d,1400000000,x\n" % i for i in range(n, 5000, 2)))
    rig.once("reduce", "kill -9 $$")
    r = rig.load(tmp_path, "counted.yaml", ["0.csv", "1.csv"], slices=4)
    stages = stages_of(rig)
    shown = {what: [sum(s[f"{way}{unit}"] for s in stages if s["name"] == f"saltmill {what} counted")
                    for way in ("input", "output") for unit in ("Bytes", "Records")] for what in ("map", "reduce")}
    read = sum((tmp_path / f"{n}.csv").stat().st_size - len(load_help.HEADER) for n in (0, 1))
    written = sum(p.stat().st_size for p in (tmp_path / "two").rglob("hfiles/*/*"))
    assert shown == {"map": [read, 5000, 0, 0], "reduce": [0, 0, written, 5000]} and r.counts["read"] == 5000
    assert rig.done("reduce") == 1


def test_bytes_that_reach_the_driver(rig, tmp_path, monkeypatch):
    """Spark counts the results of tasks. Each slice has rows of 200 regions, but only the sums of the regions reach the
    driver. The load ends before the reduces."""
    text = JOB.replace("arrow: {files: ['-']}", "csv: {files: ['-']}").replace("count: 4", "count: 200")
    (tmp_path / "sums.yaml").write_text(text.replace("unit: ms", "unit: s"))
    (tmp_path / "in.csv").write_text("id,at,value,note\n" + "".join(f"{i * 7 % 4096 << 20},{1_700_000_000 + i},x,\n" for i in range(8192)))

    def stop(request, setting, maps, mapped, folder):
        raise saltmill.JobError(f"{len(mapped['tables'][0]['regions'])} regions")
    monkeypatch.setattr(saltmill.spark, "reduce_all", stop)
    before = {s["stageId"] for s in stages_of(rig)}
    with pytest.raises(saltmill.JobError, match="^200 regions$"):
        rig.load(tmp_path, "sums.yaml", "in.csv", slices=4)
    sizes = {f"{s['name']} {s['stageId']}": s["resultSize"] for s in stages_of(rig) if s["stageId"] not in before}
    assert {name.rsplit(" ", 1)[0] for name in sizes} == {"saltmill map sums", "saltmill totals sums"}
    # a report without regions, and the sums of all regions; a report with 200 regions has 20 KB
    assert 4 * 500 + 200 * 40 < sum(sizes.values()) < 4 * 5000 + 200 * 80, sizes
