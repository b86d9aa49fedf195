"""Tests inputs that only tasks can open, and DataFrames. The bytes are the same as from files that the program
opens."""

import datetime
import decimal
import gzip
import json
import os
import random

import pytest

import needs_pyspark  # noqa: F401  (before what imports pyspark)

from pyspark.sql import functions  # noqa: E402

import pyarrow as pa  # noqa: E402
import pyarrow.parquet  # noqa: E402
from pyarrow.fs import LocalFileSystem, SubTreeFileSystem  # noqa: E402
from spark_rig import assert_nothing, assert_same, manifest_of  # noqa: E402

import saltmill  # noqa: E402
import saltmill.inputs  # noqa: E402
import saltmill.spark  # noqa: E402
from load_help import HEADER, JOB  # noqa: E402


def test_files_that_only_tasks_can_open(rig, tmp_path):
    """pyarrow.fs feeds slices, line ends in quotes at their borders, a gzip file, and rejects. The messages are the
    same."""
    (tmp_path / "job.yaml").write_text(JOB)
    bucket = tmp_path / "far" / "bucket"
    bucket.mkdir(parents=True)
    rows = [b'%d,%d,"%s"\n' % (i, 1_400_000_000 + i, b"7,7,7\n" * (i % 60)) for i in range(300)]
    rows[200] = b"bad,1,x\n"
    (bucket / "a.csv").write_bytes(HEADER + b"".join(rows))
    (bucket / "b.csv.gz").write_bytes(gzip.compress(HEADER + b"".join(rows[:50])))
    (bucket / ".hidden.csv").write_text("no input")
    names = ["bucket/a.csv", "bucket/b.csv.gz"]
    (tmp_path / "bucket").symlink_to(bucket)
    rig.native(tmp_path, "plan", "job.yaml", *names, "--tune", "-o", "plan", status=3)
    rig.native(tmp_path, "load", "job.yaml", *names, "--plan", "plan", "-o", "one", "--max-rejects", "1", status=3)
    (tmp_path / "bucket").unlink()
    far = SubTreeFileSystem(str(tmp_path / "far"), LocalFileSystem())
    r = rig.load(tmp_path, "job.yaml", "bucket/*", slices=7, plan="plan", max_rejects=1, filesystem=far)
    assert_same(tmp_path / "one", tmp_path / "two")
    maps = len(rig.runs("map"))
    assert r.mended and maps >= r.slices + r.mended
    assert not rig.runs("digest")  # the maps have the digests of both files, also after a wrong first row
    with pytest.raises(saltmill.JobError, match="bucket/c.csv: No such file"):
        rig.load(tmp_path, "job.yaml", ["bucket/c.csv"], filesystem=far, out="three")
    assert_nothing(tmp_path, "three")


@pytest.mark.parametrize("name, slices", [("in.csv", 3), ("in.csv.gz", 1)])
def test_an_object_that_is_replaced_after_its_maps(rig, tmp_path, name, slices):
    """Another file of the same size replaces the file. Maps that run again read the new file, so the driver publishes nothing."""
    (tmp_path / "job.yaml").write_text(JOB)
    rows = b"".join(b"%d,%d,x\n" % (i, 1_400_000_000 + i) for i in range(600))
    (tmp_path / "in.csv").write_bytes(HEADER + rows)
    rig.native(tmp_path, "plan", "job.yaml", "in.csv", "--tune", "-o", "plan")
    for at, value in (("far", b"x"), ("new", b"y")):
        data = HEADER + rows.replace(b"x", value)
        (tmp_path / at).mkdir()
        (tmp_path / at / name).write_bytes(gzip.compress(data, 0) if name.endswith("gz") else data)
    assert len({(tmp_path / at / name).stat().st_size for at in ("far", "new")}) == 1
    rig.always("map", f"echo $executor >>{rig.control}/executors")
    rig.once("driver-unite", f"mv {tmp_path}/new/{name} {tmp_path}/far/{name}; kill -9 $(sort -u {rig.control}/executors)")
    far = SubTreeFileSystem(str(tmp_path / "far"), LocalFileSystem())
    with pytest.raises(saltmill.JobError, match="a map that ran again found other rows, expected the same rows: an input changed"):
        rig.load(tmp_path, "job.yaml", name, slices=slices, plan="plan", filesystem=far)
    assert rig.done("driver-unite") == 1 and len(rig.runs("map")) > slices, "expected that maps run again"
    assert_nothing(tmp_path)


def test_a_plan_by_tasks(rig, tmp_path):
    """Each task scans a slice, also after the header. The regions equal those of one scan of the whole input."""
    (tmp_path / "job.yaml").write_text(JOB)
    rows = [b"%d,%d,x\n" % (i * 7919 % 4000, 1_400_000_000 + i) for i in range(2000)]
    (tmp_path / "in.csv").write_bytes(HEADER + b"".join(rows))
    found = saltmill.spark.plan(rig.spark, "in.csv", tmp_path / "job.yaml", slices=5, program=rig.wrapper,
                                filesystem=SubTreeFileSystem(str(tmp_path), LocalFileSystem()))
    told = json.loads(rig.native(tmp_path, "plan", "job.yaml", "in.csv", "--tune", "-o", "plan", "--json").stdout)
    assert found["events"] == told["events"] == 2000 and len(rig.runs("plan")) >= 5
    assert [(r["start"], r["rows"]) for r in found["tables"][0]["regions"]] == \
        [(r["start"], r["rows"]) for r in told["tables"][0]["regions"]]


def test_which_files(tmp_path):
    """Inputs are folders, patterns and URIs. Patterns and folders skip names that begin with `.` or `_`."""
    for name in ("b.csv", "a.csv", "_c.csv", ".d.csv", "e.txt"):
        (tmp_path / name).write_text("x")
    (tmp_path / "sub").mkdir()

    def names(*paths, **more):
        return [i.name.removeprefix("file://").removeprefix(f"{tmp_path}/")
                for i in saltmill.inputs.list_inputs(paths, **more)[0]]
    for more in ({}, {"filesystem": LocalFileSystem()}):
        assert names(f"{tmp_path}/*.csv", f"{tmp_path}/e.txt", **more) == ["a.csv", "b.csv", "e.txt"]
        assert names(str(tmp_path), **more) == ["a.csv", "b.csv", "e.txt"]
        with pytest.raises(saltmill.JobError, match="found no file, expected"):
            names(f"{tmp_path}/*.gz", **more)
    assert names(f"file://{tmp_path}/a.csv") == ["a.csv"]
    with pytest.raises(saltmill.JobError, match="another file system"):
        names("hdfs://nowhere/x.csv", f"{tmp_path}/a.csv")


def test_folders_of_partitions(tmp_path):
    """A folder has the files of its folders NAME=VALUE. A pattern may have such folders, too."""
    for name in ("sales/dt=2/x.csv", "sales/dt=1/hour=07/y.csv", "sales/dt=1/_tmp.csv", "sales/other/z.csv",
                 "sales/.dt=9/w.csv", "sales/_dt=8/v.csv", "sales/a.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    for more in ({}, {"filesystem": LocalFileSystem()}):
        for path, expected in ((f"{tmp_path}/sales", ["a.csv", "dt=1/hour=07/y.csv", "dt=2/x.csv"]),
                               (f"{tmp_path}/sales/", ["a.csv", "dt=1/hour=07/y.csv", "dt=2/x.csv"]),
                               (f"{tmp_path}/sales/dt=*/*.csv", ["dt=2/x.csv"]),
                               (f"{tmp_path}/s*s/dt=*/hour=0[1-7]/*", ["dt=1/hour=07/y.csv"])):
            found = saltmill.inputs.list_inputs([path], **more)[0]
            assert [os.path.relpath(i.name, tmp_path / "sales") for i in found] == expected, (path, more)


def test_columns_of_partitions(rig, tmp_path):
    """The columns of the folders are those of one load, for files that the program opens and for files of tasks."""
    (tmp_path / "job.yaml").write_text("""\
source: {csv: {files: ["sales/dt=*/*.csv"], header: true, partitions: [dt]}}
fields: {dt: {type: time, format: iso8601}, id: {type: u32}}
tables:
  - name: t
    rowkey: [{field: dt, as: millis}, {field: id, as: u32}]
    timestamp: dt
    families: {f: {compression: NONE}}
    cells: [{family: f, qualifier: v, value: v}]
    regions: {split: sampled, count: 2}
""")
    for day in (1, 2, 3):
        folder = tmp_path / "sales" / f"dt=2026-11-0{day}"
        folder.mkdir(parents=True)
        (folder / "part.csv").write_text("id,v\n" + "".join(f"{i},{day * i}\n" for i in range(50)))
    rig.native(tmp_path, "plan", "job.yaml", "--tune", "-o", "plan")
    files = sorted(str(p.relative_to(tmp_path)) for p in tmp_path.glob("sales/*/*.csv"))
    rig.native(tmp_path, "load", "job.yaml", *files, "--plan", "plan", "-o", "one")
    far = SubTreeFileSystem(str(tmp_path), LocalFileSystem())
    for out, more in (("two", {"filesystem": far}), ("three", {})):
        rig.load(tmp_path, "job.yaml", "sales", plan="plan", out=out, **more)
        assert_same(tmp_path / "one", tmp_path / out)


ORDERS = """\
source:
  %s
fields:
  customer: {type: u32}
  ordered: {type: time%s}
  amount: {type: decimal, scale: 2}
tables:
  - name: orders
    rowkey:
      - {salt: 4, of: [customer]}
      - {field: customer, as: u32}
      - {field: ordered, as: reversed_millis}
    timestamp: ordered
    families:
      o: {compression: NONE}
    cells:
      - {family: o, qualifier: a, value: amount, optional: true}
      - {family: o, qualifier: c, value: city, optional: true}
    regions: {split: sampled, count: 3}
"""
BEGIN = datetime.datetime(2026, 3, 1, 12, 0, 0, 123000, tzinfo=datetime.timezone.utc)


def orders(n):
    for i in range(n):
        yield {"customer": i * 7919 % 500, "ordered": BEGIN + datetime.timedelta(minutes=i),
               "amount": None if i % 7 == 0 else decimal.Decimal(i * 37 - 5000) / 100,
               "city": None if i % 5 == 0 else ("Wien", "中国", 'a "b", c\n', "Graz")[i % 4]}


def write_orders(folder, rows):
    """Writes the same rows as a Parquet file with dictionaries and small row groups, and as CSV."""
    schema = pa.schema({"customer": pa.int64(), "ordered": pa.timestamp("us", "UTC"), "amount": pa.decimal128(12, 2),
                        "city": pa.string()})
    pa.parquet.write_table(pa.Table.from_pylist(rows, schema), folder / "orders.parquet", row_group_size=100)
    quoted = ["" if r["city"] is None else '"' + r["city"].replace('"', '""') + '"' for r in rows]
    lines = [f"{r['customer']},{r['ordered'].isoformat(timespec='milliseconds')},{'' if r['amount'] is None else r['amount']},{q}\n"
             for r, q in zip(rows, quoted)]
    (folder / "orders.csv").write_text("customer,ordered,amount,city\n" + "".join(lines))
    (folder / "arrow.yaml").write_text(ORDERS % ("arrow: {files: ['-']}", ""))
    (folder / "csv.yaml").write_text(ORDERS % ("csv: {files: [orders.csv]}", ", format: iso8601"))


def hfiles(folder):
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("hfiles/*/*"))


def test_a_dataframe_is_its_rows(rig, tmp_path):
    """Loads Parquet with nulls, decimals, times and dictionaries, in several partitions. The HFiles equal those of the
    same CSV."""
    write_orders(tmp_path, list(orders(3000)))
    rig.native(tmp_path, "load", "csv.yaml", "orders.csv", "-o", "one")
    frame = rig.spark.read.parquet(str(tmp_path / "orders.parquet")).repartition(3, "customer")
    r = rig.load(tmp_path, "arrow.yaml", frame)
    assert hfiles(tmp_path / "one") == hfiles(tmp_path / "two") and len(hfiles(tmp_path / "two")) == 3
    rig.native(tmp_path, "verify", "two")
    one, two = manifest_of(tmp_path / "one"), manifest_of(tmp_path / "two")
    assert r.slices == 3 and [i["path"] for i in two["inputs"]] == [f"dataframe/part-{n:05d}" for n in range(3)]
    assert sum(i["rows"] for i in two["inputs"]) == 3000
    for of in (one, two):  # one row in 35 has neither cell
        assert (of["tables"][0]["loaded"], of["tables"][0]["filtered"]) == (2914, 86)


def frame_of(rig, change):
    """Returns a DataFrame of 600 rows in 3 partitions. `change` gets a partition's rows when Spark computes it."""
    def work(rows):
        for r in change([{"id": str(r.id), "at": str(1_400_000_000 + r.id), "value": str(r.id % 7)} for r in rows]):
            yield r["id"], r["at"], r["value"]
    return rig.spark.createDataFrame(rig.spark.range(0, 600, 1, 3).rdd.mapPartitions(work),
                                     "id string, at string, value string")


def lose_maps(rig):
    """Kills the executors after the maps, so that Spark runs the maps again."""
    rig.always("map", f"echo $executor >>{rig.control}/executors")
    rig.once("driver-unite", f"kill -9 $(sort -u {rig.control}/executors)")


def test_a_dataframe_that_changes_when_an_executor_dies(rig, tmp_path):
    """The second computation gives other rows. Nothing is published."""
    (tmp_path / "job.yaml").write_text(JOB.replace("csv: {files: [in.csv]}", "arrow: {files: ['-']}"))
    frame = frame_of(rig, lambda rows: [{**r, "id": str(os.getpid() * 600 + int(r["id"]))} for r in rows])
    lose_maps(rig)
    with pytest.raises(saltmill.JobError, match=r"expected the .*rows.*checkpoint\(\)"):
        rig.load(tmp_path, "job.yaml", frame)
    assert len(rig.runs("map")) > 3, "expected that maps run again"
    assert_nothing(tmp_path)


def test_a_dataframe_in_another_order_when_an_executor_dies(rig, tmp_path):
    """The second computation gives the same rows in another order, which does not matter for unique keys."""
    (tmp_path / "job.yaml").write_text(JOB.replace("csv: {files: [in.csv]}", "arrow: {files: ['-']}"))
    frame = frame_of(rig, lambda rows: random.Random(os.getpid()).sample(rows, len(rows)))
    rig.load(tmp_path, "job.yaml", frame, out="one")
    rig.begin()
    lose_maps(rig)
    rig.load(tmp_path, "job.yaml", frame)
    assert len(rig.runs("map")) > 3, "expected that maps run again"
    assert hfiles(tmp_path / "one") == hfiles(tmp_path / "two")


def test_rejects_of_a_dataframe(rig, tmp_path):
    """A reject has its partition, batch and event."""
    (tmp_path / "job.yaml").write_text(JOB.replace("csv: {files: [in.csv]}", "arrow: {files: ['-']}"))
    frame = frame_of(rig, lambda rows: [{**r, "id": "bad"} if r["id"] in ("3", "399") else r for r in rows])
    with pytest.raises(saltmill.Rejected, match="dataframe/part-00001: event 200 in block 1"):
        rig.load(tmp_path, "job.yaml", frame, max_rejects=1)
    assert_nothing(tmp_path)
    r = rig.load(tmp_path, "job.yaml", frame, max_rejects=2)
    assert r.counts["read"] == 600 and r.counts["rejected"] == 2
    found = [json.loads(line) for line in (tmp_path / "two/rejects.jsonl").read_text().splitlines()]
    assert [(f["file"], f["block"], f["event"]) for f in found] == [("dataframe/part-00000", 1, 4),
                                                                    ("dataframe/part-00001", 1, 200)]


def test_dataframes_that_cannot_be_loaded(rig, tmp_path):
    """Each error is one sentence. Columns of types that Arrow lacks do no harm if the job does not use them."""
    (tmp_path / "job.yaml").write_text(JOB.replace("csv: {files: [in.csv]}", "arrow: {files: ['-']}"))
    (tmp_path / "csv.yaml").write_text(JOB)
    frame = rig.spark.range(0, 60, 1, 2).selectExpr("id", "1400000000 + id at", "cast(id as string) value")
    fails = functions.udf(lambda x: str(1 // 0), "string")
    twice = frame.select("id", "at", "value", functions.lit("other").alias("value"))
    for job, wrong, sentence in (
            ("job.yaml", frame.withColumn("value", fails("id")), "Spark: ZeroDivisionError: integer division"),
            ("job.yaml", twice, "the DataFrame: found 2 columns `value`, expected unique names"),
            ("job.yaml", frame.drop("value"), "found no `value` in the schema"),
            ("csv.yaml", frame, "a DataFrame needs `source: {arrow:")):
        with pytest.raises(saltmill.JobError) as e:
            rig.load(tmp_path, job, wrong)
        assert sentence in str(e.value) and "\n" not in str(e.value)
        assert_nothing(tmp_path)
    job = (tmp_path / "job.yaml").read_text()
    (tmp_path / "dots.yaml").write_text(job.replace("value: {field: value}", """value: {field: '["a.b"]'}"""))
    more = frame.selectExpr("*", "interval '1' year years", "make_interval(1, 2) span", "concat('v', id) `a.b`")
    assert rig.load(tmp_path, "dots.yaml", more).counts["read"] == 60
    cells = rig.native(tmp_path, "scan", "dots.yaml", "two", "--format", "jsonl").stdout
    assert sorted(json.loads(row)["cells"][0]["value"] for row in cells.splitlines()) == sorted(f"v{n}" for n in range(60))
    with pytest.raises(saltmill.JobError, match="found no `value` in the schema"):
        rig.load(tmp_path, "job.yaml", frame.selectExpr("id", "at", "make_interval(1, 2) value"), out="three")


def test_small_files_share_a_task(tmp_path):
    """The inputs have 700 bytes, so a slice has about 100."""
    inputs = [saltmill.inputs.Input(n, str(n), str(n), size, False)
              for n, size in enumerate((30, 30, 30, 30, 250, 10, 10, 310))]
    slices = saltmill.inputs.cut(inputs, 7, True)
    assert [[(s.input.number, s.bounds) for s in task] for task in saltmill.inputs.by_task(slices)] == [
        [(0, None), (1, None), (2, None)], [(3, None)], [(4, "0-125")], [(4, "125-250")], [(5, None), (6, None)],
        [(7, "0-103")], [(7, "103-206")], [(7, "206-310")]]
    many = saltmill.inputs.cut([saltmill.inputs.Input(n, "x", "x", 1, False) for n in range(250)], None, True)
    assert [len(task) for task in saltmill.inputs.by_task(many)] == [100, 100, 50]


def test_keys_that_are_not_unique_need_an_order(rig, tmp_path):
    rows = list(orders(600))
    rows.append({**rows[100], "city": "later"})
    write_orders(tmp_path, rows)
    frame = rig.spark.read.parquet(str(tmp_path / "orders.parquet"))
    with pytest.raises(saltmill.JobError, match="found two rows of the DataFrame for one cell, of row key .*ordered=True"):
        rig.load(tmp_path, "arrow.yaml", frame)
    assert_nothing(tmp_path)
    rig.native(tmp_path, "load", "csv.yaml", "orders.csv", "-o", "one")
    rig.load(tmp_path, "arrow.yaml", frame, ordered=True)  # in the file's order the later one counts
    assert hfiles(tmp_path / "one") == hfiles(tmp_path / "two")
