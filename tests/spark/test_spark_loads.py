"""Tests that a load by Spark equals the load of one process with the same input, byte for byte. The oracle is `saltmill
load --plan`. Other tests check the oracle (tests/cli, tests/hbase).
"""

import gzip
import json
import os
import shutil
import subprocess
import sys
import types

import pytest

import needs_pyspark  # noqa: F401  (before what imports pyspark)

from spark_rig import PACKAGE, ROOT, SETTINGS, assert_nothing, assert_same, manifest_of  # noqa: E402

import saltmill  # noqa: E402
import saltmill.spark  # noqa: E402
from load_help import HEADER, JOB  # noqa: E402

ROWS = [f"{i * 7919 % 4000},{1_400_000_000 + i},{'x' * (1 + i % 7)}\n".encode() for i in range(20_000)]


@pytest.fixture
def small(rig, tmp_path):
    """Makes a job, 20,000 rows, a plan, and the load of one process."""
    (tmp_path / "job.yaml").write_text(JOB.replace("count: 2", "count: 5"))
    (tmp_path / "in.csv").write_bytes(HEADER + b"".join(ROWS))
    rig.native(tmp_path, "plan", "job.yaml", "in.csv", "--tune", "-o", "plan")
    rig.native(tmp_path, "load", "job.yaml", "in.csv", "--plan", "plan", "-o", "one")
    return tmp_path


def test_flights_of_a_year(rig, tmp_path, flights_csv):
    """The input is real data with two families. The load makes the plan itself, and one process then uses this plan."""
    job = ROOT / "conf" / "flights.yaml"
    r = rig.load(tmp_path, job, flights_csv, slices=4)
    rig.native(tmp_path, "plan", job, flights_csv, "--tune", "-o", "plan")
    rig.native(tmp_path, "load", job, flights_csv, "--plan", "plan", "-o", "one")
    assert_same(tmp_path / "one", tmp_path / "two")
    assert r.slices == 4 and len(rig.runs("map")) >= 4 and r.counts["tables"]["flights"]["loaded"] == 336_776
    assert len({executor for executor, *_ in rig.runs("map") + rig.runs("reduce")}) == 2
    rig.native(tmp_path, "verify", "two")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["one", "plan", "two"]


def test_several_inputs_packed_ones_too(rig, tmp_path):
    """The input is a folder of two plain files and a gzip file, with rejects and two tables."""
    job = JOB + JOB[JOB.index("  - name: t"):].replace("name: t", "name: ns:other").replace("salt: 4", "salt: 3")
    (tmp_path / "job.yaml").write_text(job)
    folder = tmp_path / "in"
    folder.mkdir()
    for name, at in (("a.csv", 0), ("b.csv", 7_000), ("c.csv.gz", 14_000)):
        rows = list(ROWS[at:at + 6_000])
        rows[at // 1_000 * 7 + 11] = b"bad,1,x\n"
        data = HEADER + b"".join(rows)
        (folder / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    (folder / "_hidden").write_text("no input")
    names = [f"in/{n}" for n in ("a.csv", "b.csv", "c.csv.gz")]
    rig.native(tmp_path, "plan", "job.yaml", *names, "--tune", "-o", "plan", status=3)
    rig.native(tmp_path, "load", "job.yaml", *names, "--plan", "plan", "-o", "one", "--max-rejects", "3", status=3)
    r = rig.load(tmp_path, "job.yaml", "in", slices=7, plan="plan", max_rejects="1%")
    assert_same(tmp_path / "one", tmp_path / "two")
    assert r.manifest["rejected"] == 3 and r.slices > 5
    refused = rig.native(tmp_path, "load", "job.yaml", *names, "--plan", "plan", "-o", "no", "--max-rejects", "2",
                         status=1)
    reduces = len(rig.runs("reduce"))
    with pytest.raises(saltmill.Rejected) as e:
        rig.load(tmp_path, "job.yaml", names, slices=7, plan="plan", max_rejects=2, out="three")
    assert f"saltmill load: {e.value}\n" == refused.stderr
    assert len(rig.runs("reduce")) == reduces, "a reduce started before the rejection"
    assert_nothing(tmp_path, "three")


def test_line_ends_in_quotes_at_the_borders(rig, tmp_path):
    """saltmill maps slices that begin inside a row again, and drops the output of the wrong attempts."""
    (tmp_path / "job.yaml").write_text(JOB)
    rows = b"".join(b'%d,%d,"%s"\n' % (i, 1_400_000_000 + i, b"7,7,7\n" * (i % 60)) for i in range(400))
    (tmp_path / "in.csv").write_bytes(HEADER + rows)
    rig.native(tmp_path, "plan", "job.yaml", "in.csv", "--tune", "-o", "plan")
    rig.native(tmp_path, "load", "job.yaml", "in.csv", "--plan", "plan", "-o", "one")
    r = rig.load(tmp_path, "job.yaml", "in.csv", slices=9, plan="plan")
    assert r.mended > 2 and len(rig.runs("map")) >= 9 + r.mended
    assert_same(tmp_path / "one", tmp_path / "two")


def test_json_lines_of_a_table_that_is_there(rig, tmp_path):
    (tmp_path / "job.yaml").write_text(JOB.replace("csv: {files: [in.csv]}", "json: {files: [in.json]}"))
    lines = [json.dumps({"id": i % 90, "at": 1_400_000_000 + i, "value": "é" * (i % 5)}) for i in range(3000)]
    (tmp_path / "in.json").write_text("\n".join(lines))
    (tmp_path / "regions.txt").write_text("Total number of splits = 3\n\\x01\n\\x02\n")
    rig.native(tmp_path, "plan", "job.yaml", "in.json", "--existing", "regions.txt", "--tune", "-o", "plan")
    rig.native(tmp_path, "load", "job.yaml", "in.json", "--plan", "plan", "-o", "one")
    r = rig.load(tmp_path, "job.yaml", "in.json", slices=3, existing="regions.txt")
    assert_same(tmp_path / "one", tmp_path / "two")
    assert {f["region"] for f in r.regions["t"]} == {0, 1, 2}


def test_without_a_shuffle(small, rig):
    """Joins loads of slices, with a killed task. HBase would answer as for one load, or saltmill refuses the load."""
    rig.once("load", "kill -9 $$")
    r = rig.load(small, "job.yaml", "in.csv", slices=3, plan="plan", shuffle=False)
    assert rig.done("load") == 1 and len(rig.runs("load")) >= 4 and not rig.runs("map")
    scan = ("scan", "job.yaml", "--table", "t", "--format", "jsonl")
    assert rig.native(small, *scan, "one").stdout == rig.native(small, *scan, "two").stdout
    assert len(r.regions["t"]) == 15 and r.manifest["joined"] == 3
    rig.native(small, "verify", "two")
    with pytest.raises(saltmill.JobError, match="found 17 slices, expected at most 16"):
        rig.load(small, "job.yaml", "in.csv", slices=17, plan="plan", shuffle=False, out="three")
    (small / "in.csv").write_bytes(HEADER + b"".join(ROWS) + ROWS[0].replace(b"x", b"y"))
    with pytest.raises(saltmill.JobError, match="both have the cell of row"):
        rig.load(small, "job.yaml", "in.csv", slices=3, plan="plan", shuffle=False, out="three")
    assert_nothing(small, "three")


def test_plan_alone(small, rig):
    found = saltmill.spark.plan(rig.spark, str(small / "in.csv"), small / "job.yaml", program=rig.wrapper)
    told = rig.native(small, "plan", "job.yaml", "in.csv", "--tune", "-o", "other", "--json")
    assert found == json.loads(told.stdout) and len(found["tables"][0]["regions"]) == 5


def test_nothing_to_load(rig, tmp_path):
    (tmp_path / "job.yaml").write_text(JOB)
    (tmp_path / "in.csv").write_bytes(HEADER)
    (tmp_path / "other.csv").write_bytes(HEADER + ROWS[0])
    rig.native(tmp_path, "load", "job.yaml", "in.csv", "-o", "one")
    rig.load(tmp_path, "job.yaml", "in.csv", out="two")
    for name in "t/splits.txt", "t/create.rb":
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert (tmp_path / "one/t/splits.txt").read_bytes() == b""
    for name in "one", "two":
        shutil.rmtree(tmp_path / name)
    rig.native(tmp_path, "plan", "job.yaml", "other.csv", "--tune", "-o", "plan")
    rig.native(tmp_path, "load", "job.yaml", "in.csv", "--plan", "plan", "-o", "one")
    rig.load(tmp_path, "job.yaml", "in.csv", plan="plan")
    assert_same(tmp_path / "one", tmp_path / "two")


def test_slices_that_begin_inside_quotes(rig, tmp_path):
    """The driver maps all such slices again at once, so it maps no slice three times."""
    (tmp_path / "job.yaml").write_text(JOB)
    rows = [b'%d,%d,"%s"\n' % (i, 1_400_000_000 + i, b"7,7,7\n" * (40 + i % 9)) for i in range(90)]
    (tmp_path / "in.csv").write_bytes(HEADER + b"".join(rows))
    rig.native(tmp_path, "plan", "job.yaml", "in.csv", "--tune", "-o", "plan")
    rig.native(tmp_path, "load", "job.yaml", "in.csv", "--plan", "plan", "-o", "one")
    r = rig.load(tmp_path, "job.yaml", "in.csv", slices=9, plan="plan")
    assert_same(tmp_path / "one", tmp_path / "two")
    assert r.slices == 9 and r.mended == 8 and len(rig.runs("map")) == 17


def test_what_cannot_be_is_said_at_once(small, rig):
    def refused(sentence, *args, **more):
        with pytest.raises(saltmill.JobError, match=sentence):
            rig.load(small, *args, **more)
        assert_nothing(small, "three")
        assert not rig.runs("map")
    refused("one: found an existing folder", "job.yaml", "in.csv", out="one")
    refused("no.csv: No such file", "job.yaml", "no.csv", out="three")
    refused("no.yaml: No such file", "no.yaml", "in.csv", out="three")
    refused("--max-rejects: found `x`", "job.yaml", "in.csv", out="three", max_rejects="x")
    refused("no-plan: found no settings.json", "job.yaml", "in.csv", out="three", plan="no-plan")
    refused("expected a folder in a file system that all tasks can write to", "job.yaml", "in.csv", out="gs://bucket/x")
    for name, wrong, expected in (("slices", -3, "a whole number from 1"), ("slices", "x", "a whole number from 1"),
                                  ("threads", 0, "a whole number from 1"), ("sample", 2, "a share like 0.05"),
                                  ("memory", "much", "a size like 512M")):
        refused(f"^{name}: found {wrong!r}, expected {expected}", "job.yaml", "in.csv", out="three", **{name: wrong})
    refused("^webhdfs: found nn for the output three, expected it only", "job.yaml", "in.csv", out="three", webhdfs="nn")
    refused("^source: found 7, expected a DataFrame, or the paths", "job.yaml", 7, out="three")
    refused("^source: found no input", "job.yaml", "", out="three")
    refused("^foo://b/x.csv: .*; expected a path, or a URI of pyarrow.fs", "job.yaml", "foo://b/x.csv", out="three")
    refused("^cannot open nope: No such file", "job.yaml", "in.csv", out="three", existing="nope")
    stopped = types.SimpleNamespace(sparkContext=types.SimpleNamespace(_jsc=None))
    with pytest.raises(saltmill.JobError, match="^found a Spark session that has ended"):
        saltmill.spark.load(stopped, small / "in.csv", small / "job.yaml", small / "three")
    (small / "job.yaml").write_text("tables: 7\n")
    refused("job.yaml:", "job.yaml", "in.csv", out="three")
    (small / "job.yaml").write_text(JOB)
    (small / "bad.csv").write_bytes(HEADER + b"bad,1,x\n" * 50)
    with pytest.raises(saltmill.JobError, match="^bad.csv:2 .*id: found `bad`"):
        rig.load(small, "job.yaml", "bad.csv", out="three", slices=2)
    assert_nothing(small, "three")


def test_spark_submit(rig, saltmill, tmp_path):
    """Runs the command as a separate application, with its options, its report and its exit status."""
    (tmp_path / "job.yaml").write_text(JOB)
    rows = list(ROWS[:3000])
    rows[2000] = b"bad,1,x\n"
    (tmp_path / "in.csv").write_bytes(HEADER + b"".join(rows))
    settings = {**SETTINGS, "spark.speculation": "false"}
    submit = [f"{os.environ['SPARK_HOME']}/bin/spark-submit", "--master", rig.machines.url,
              *(x for key, value in settings.items() for x in ("--conf", f"{key}={value}"))]
    r = subprocess.run([*submit, PACKAGE / "saltmill_spark.py", "job.yaml", "in.csv", "-o", "two", "--slices", "3",
                        "--max-rejects", "0.1%", "--program", saltmill], cwd=tmp_path, capture_output=True, text=True,
                       timeout=120)
    assert r.returncode == 3, r.stderr
    assert "read 3,000 events in 3 slices" in r.stdout and "rejected 1" in r.stdout
    subprocess.run([saltmill, "plan", "job.yaml", "in.csv", "--tune", "-o", "plan", "--quiet"], cwd=tmp_path)
    subprocess.run([saltmill, "load", "job.yaml", "in.csv", "--plan", "plan", "-o", "one", "--quiet", "--max-rejects",
                    "1"], cwd=tmp_path)
    assert_same(tmp_path / "one", tmp_path / "two")
    assert manifest_of(tmp_path / "two")["rejected"] == 1
    usage = subprocess.run([sys.executable, PACKAGE / "saltmill_spark.py"], capture_output=True, text=True, timeout=60)
    assert usage.returncode == 2 and "JOB" in usage.stderr.upper()
