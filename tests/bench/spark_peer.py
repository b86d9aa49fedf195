"""Compares saltmill and Java programs that write the same rows to HFiles, on one Spark cluster with two executors.

    saltmill   saltmill.spark.load, with the static worker
    lean       SparkPeer.java: repartitionAndSortWithinPartitions of one small value a row, and HFileOutputFormat2
    connector  HBaseContext.bulkLoad of hbase-connectors, the real artifact; OfflineConnection describes the table

Processor time includes all processes, which are executors' JVMs, Python workers, programs, the driver's JVM, its Python
and its programs. Two loads of each program warm the JVMs up. The script reports the first load separately. The Java programs
use the best settings found, which are Kryo, three times the heap, and the parallel collector. Then each loads once
more, and an executor dies in its second half.
"""

import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

import by_spark
import rig
from peers import OPENS, SITE

WHO = ("saltmill", "lean", "connector")
TASKS = 4  # counted within the first half
MILLIONS = 32  # rows; with fewer rows, most of the cost is the start of Spark
MOST_ROUNDS = 2  # minutes each
JARS = ("hbase-shaded-mapreduce-*", "hbase-compression-zstd-*", "zstd-jni-*", "opentelemetry-*", "hbase-spark-*",
        "audience-annotations-*")
SOURCES = ("SaltedLoad", "SparkPeer", "OfflineConnection", "StaticLoggerBinder")
PEERS = {"spark_executor_memory": "3g", "spark_serializer": "org.apache.spark.serializer.KryoSerializer"}


# --- with pyspark, in the tests' Python ---

class Cluster:
    """The hosts, and the cost of their processes."""

    def __init__(self, folder, worker, classpath):
        import spark_rig
        spark_rig.SETTINGS.update({
            "spark.speculation": "false", "spark.executor.extraJavaOptions": "", "spark.driver.extraJavaOptions": "",
            "spark.executor.memory": "1g", "spark.driver.extraClassPath": classpath})
        spark_rig.Machines.memory = "4g"
        self.rig, self.folder, self.classpath = spark_rig.Rig(folder, worker), folder, classpath
        self.wrapper, self.rig.wrapper = self.rig.wrapper, worker  # an executor that dies only at the right place
        self.death, self.assert_gone = folder / "death", spark_rig.alive

    def seconds(self):
        """Returns the cost of the application so far."""
        executors = by_spark.seconds_below([p.pid for p in self.rig.machines.running.values()])
        jvm = by_spark.processes()[self.rig.spark.sparkContext._gateway.proc.pid][2] / by_spark.TICK
        here, waited = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return sum(executors.values()) + jvm + sum(r.ru_utime + r.ru_stime for r in (here, waited))

    def measured(self, load):
        rig.remove(self.folder / "out")
        before = self.seconds()
        load()
        return self.seconds() - before

    def peers(self):
        """Starts another session with the peers' settings."""
        self.rig.new_session(
            **PEERS, spark_executor_extraClassPath=self.classpath,
            spark_executor_extraJavaOptions=" ".join(["-XX:+UseParallelGC", "-Xmn1200m", *OPENS,
                                                      f"-Dpeer.death={self.death}"]))
        self.java = self.rig.spark.sparkContext._jvm.SparkPeer

    def died(self):
        """Checks that the executor's process is dead and that another process replaced it."""
        done = self.death.with_name("death.done")
        pid = int(done.read_text())
        done.unlink()
        if self.assert_gone(pid):
            raise rig.Failure(f"executor {pid} did not die")


def child(worker, folder, job, csv, rounds, classpath, largest):
    from py4j.protocol import Py4JError
    folder = pathlib.Path(folder)
    cluster = Cluster(folder, pathlib.Path(worker), classpath)
    (folder / "loads").mkdir()
    told = {}

    def several(who, load):
        first, *runs = [cluster.measured(load) for _ in range(2 + int(rounds))]
        told[who] = {"first": first, "runs": runs[1:]}
        os.rename(folder / "out", folder / "loads" / who)

    def with_a_death(who, load):
        try:
            load()
        except Py4JError as e:
            told[who]["failed"] = str(e).splitlines()[0]
        cluster.died()
        os.rename(folder / "out", folder / "loads" / f"{who}-death")

    try:
        def ours():
            cluster.rig.load(folder, job, csv, out="out", slices=TASKS, plan=folder / "plan")
        several("saltmill", ours)
        cluster.rig.begin()
        cluster.rig.once("reduce", f"echo $executor >{cluster.death}.done; kill -9 $executor $$")
        cluster.rig.wrapper = cluster.wrapper
        with_a_death("saltmill", ours)
        cluster.peers()
        jsc, out = cluster.rig.spark.sparkContext._jsc, str(folder / "out")
        several("lean", lambda: cluster.java.lean(jsc, csv, out, str(folder / "tmp"), TASKS))
        several("connector", lambda: cluster.java.connector(jsc, csv, out, TASKS, 10 << 30))
        cluster.death.touch()
        with_a_death("lean", lambda: cluster.java.lean(jsc, csv, out, str(folder / "tmp"), TASKS))
        cluster.death.touch()
        with_a_death("connector", lambda: cluster.java.connector(jsc, csv, out, TASKS, int(largest)))
    finally:
        cluster.rig.stop()
    print(json.dumps(told))


# --- the part ---

def class_path(folder):
    """Compiles the Java programs. hbase-site.xml names the codec."""
    lib, classes = rig.CACHE / "bench-lib", folder / "classes"
    jars = [str(j) for name in JARS for j in sorted(lib.glob(f"{name}.jar"))]
    if not any("hbase-spark" in j for j in jars):
        raise rig.Failure(f"hbase-spark is missing in {lib}: run tests/deps.sh bench")
    classes.mkdir()
    (classes / "hbase-site.xml").write_text(SITE)
    spark = next((rig.CACHE / "venv").glob("lib/python3*/site-packages/pyspark/jars"))
    subprocess.run(["javac", "-nowarn", "-Xlint:-options", "-cp", ":".join([*jars, f"{spark}/*"]), "-d", classes,
                    *(rig.HERE / f"{name}.java" for name in SOURCES)], check=True)
    return ":".join([str(classes), *jars])


def files_below(folder):
    """Returns (HFiles as HBase would load them, other files)."""
    found = sorted(p for p in folder.rglob("*") if p.is_file() and not p.name.endswith(".crc"))
    hfiles = [p for p in found if p.parent.name == "f" and not p.name.startswith(("_", "."))]
    known = ("_SUCCESS", "manifest.json", "rejects.jsonl", "create.rb", "splits.txt")
    return hfiles, [p for p in found if p not in hfiles and p.name not in known]


def look(bench, folder):
    hfiles, strays = files_below(folder)
    out = subprocess.run([bench.stages, "digest", "1", *hfiles], check=True, capture_output=True).stdout
    return {**json.loads(out), "files": len(hfiles), "strays": len(strays), "bytes": sum(p.stat().st_size for p in hfiles)}


def run_child(bench, folder, job, csv, rows):
    log = folder / "log"
    with open(log, "w") as err:
        r = subprocess.run([rig.CACHE / "venv" / "bin" / "python", __file__, bench.worker, folder, job, csv,
                            str(min(bench.rounds, MOST_ROUNDS)), class_path(folder), str(rows * 2 * 46 // 16 // 4)],
                           stdout=subprocess.PIPE, stderr=err, text=True)
    if r.returncode:
        raise rig.Failure(f"the loads by Spark failed: {log.read_text()[-3000:]}")
    return json.loads(r.stdout.splitlines()[-1])


def verdict(found, sound):
    """Compares a load in which an executor died with a load without a death. A file may end within a row."""
    if found["cells"] != sound["cells"]:
        return "cells twice in its files" if found["cells"] > sound["cells"] else "cells are missing"
    return "right, but files are left that are no HFiles" if found["strays"] else "right"


def part(bench):
    job, csv = bench.jobs.ratings(), bench.inputs.ratings(10 * (bench.millions or MILLIONS))
    rows = bench.inputs.rows(csv)
    with tempfile.TemporaryDirectory(dir=bench.folder) as name:
        folder = pathlib.Path(name)
        subprocess.run([bench.mill.program, "plan", job, csv, "--tune", "--quiet", "-o", folder / "plan"], check=True)
        told = run_child(bench, folder, job, csv, rows)
        found = {who: look(bench, folder / "loads" / who) for who in (*WHO, *(f"{w}-death" for w in WHO))}
    for who in WHO:
        if (found[who]["rows"], found[who]["cells"]) != (rows, 2 * rows):
            raise rig.Failure(f"{who} wrote {found[who]} of {rows} rows")
    if found["lean"]["digest"] != found["saltmill"]["digest"]:
        raise rig.Failure("the lean job wrote other cells")
    ours = rig.middle(told["saltmill"]["runs"])
    rig.table(f"(k) by Spark, {rig.count(rows)} rows: processor seconds of all processes",
              ["load", "cpu s", "first, JVMs cold", "of saltmill's", "bytes out"],
              [[who, rig.spread(told[who]["runs"]), f"{told[who]['first']:.1f}",
                f"{rig.middle(told[who]['runs']) / ours:.2f}", rig.count(found[who]["bytes"])] for who in WHO])
    rig.table("(k) an executor dies while files are written (the connector's: several a region)",
              ["load", "rows", "cells", "HFiles", "other files left", "verdict"],
              [[who, *(rig.count(found[f"{who}-death"][k]) for k in ("rows", "cells", "files", "strays")),
                told[who].get("failed") or verdict(found[f"{who}-death"], found[who])] for who in WHO])
    if found["saltmill-death"] != found["saltmill"]:
        raise rig.Failure("saltmill's load is another one when an executor dies")
    bench.checks.at_least(f"times less CPU than hbase-connectors, {rig.count(rows)} rows", rig.middle(told["connector"]["runs"]) / ours, 5)
    return {"cpu": told, "found": found}


if __name__ == "__main__":
    sys.path.insert(0, str(rig.HERE.parent / "spark"))
    child(*sys.argv[1:])
