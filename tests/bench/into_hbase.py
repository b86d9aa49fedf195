"""Part (j) compares a load into a live HBase on HDFS with the JVM's tools for the same work.

    saltmill   apply DIR --hbase HOST --create: creates the table, uploads, bulk loads and cleans up
    JVM        runs three programs one after another: hbase shell create.rb, hdfs dfs -put and completebulkload

tests/hbase/cluster.py runs two region servers and a DataNode on this machine. These
servers slow both sides. The package registries lack the shell, so tests/hbase/shell.rb replaces it, on the same JRuby.
The JVM's memory is that of the largest of the three programs, with Java's default heaps. After each load, the store
files of each region must be those of the load.
"""

import json
import pathlib
import sys
import tempfile

import rig
from rig import Failure, count, run, spread, summary

sys.path.insert(0, str(rig.ROOT / "tests" / "hbase"))

from cluster import HERE, OPENS, Cluster, driver_classes, jars  # noqa: E402  (needs the path above)
from hdfs import Hdfs  # noqa: E402

TABLE = "ratings"
# with their default settings, servers do not read the files completely
AS_USUAL = {"hbase.hstore.bulkload.verify": "false"}
COMMANDS = ["create", "put", "completebulkload"]


class Tools:
    """Runs the JVM's programs as users start them."""

    def __init__(self, folder, hbase):
        self.conf, self.folder = hbase.folder / "conf", folder
        (folder / "tools-conf").mkdir(exist_ok=True)
        (folder / "tools-conf" / "core-site.xml").write_text(
            f"<configuration><property><name>fs.defaultFS</name><value>{hbase.filesystem}</value></property>"
            "</configuration>\n")

    def java(self, main, *arguments, more=()):
        path = ":".join([*map(str, more), str(self.folder / "tools-conf"), str(self.conf), *jars()])
        return ["java", *OPENS, "-cp", path, main, *arguments]

    def create(self, script):
        line = self.folder / "create.json"
        line.write_text(json.dumps({"cmd": "run_script", "file": str(script)}) + "\n")
        command = self.java("Driver", HERE / "shell.rb", more=[driver_classes()])
        r = run(["sh", "-c", 'exec "$@" <"$LINE"', "-", *command], env={"LINE": str(line)})
        if json.loads(r.out).get("ok", {}).get("status") != 0:
            raise Failure(f"create.rb: {r.out}")
        return r

    def put(self, folder, to):
        return run(self.java("org.apache.hadoop.fs.FsShell", "-put", folder, to))

    def completebulkload(self, folder, table):
        return run(self.java("org.apache.hadoop.hbase.tool.BulkLoadHFilesTool", folder, table))


def check_there(hbase, files):
    held = sorted(f["bytes"] for r in hbase.store_files(TABLE) for f in r["files"])
    if held != sorted(f.stat().st_size for f in files):
        raise Failure(f"the table has {len(held)} files, and not the {len(files)} of the load")


def drop(hbase, folder):
    script = folder / "drop.rb"
    script.write_text(f"disable '{TABLE}'\ndrop '{TABLE}'\n")
    hbase.run_script(script)


def native(bench, hdfs, hbase, files):
    pathlib.Path(f"{bench.mill.out}.saltmill-apply").unlink(missing_ok=True)
    r = run([bench.mill.program, "apply", bench.mill.out, "--hbase", hbase.master, "--create", "--quiet", "--upload",
             hdfs.url("/bulk")])
    check_there(hbase, files)
    return r


def by_tools(bench, tools, hbase, files, number):
    hfiles, there = bench.mill.out / TABLE / "hfiles", f"/bulk/put{number}"
    runs = [tools.create(bench.mill.out / TABLE / "create.rb"), tools.put(hfiles, there),
            tools.completebulkload(there, TABLE)]
    check_there(hbase, files)
    return runs


def part(bench):
    loaded = bench.mill.load(bench.jobs.ratings(), [bench.inputs.ratings(bench.times)])
    files, own, others = bench.mill.hfiles(), [], []
    stored = sum(f.stat().st_size for f in files)
    with tempfile.TemporaryDirectory(prefix="saltmill-bench-") as name:
        folder = pathlib.Path(name)
        with Hdfs(folder / "hdfs") as hdfs:
            hdfs.make_dirs("/bulk", "1777")
            with Cluster(folder / "hbase", hdfs.fs, 2, AS_USUAL) as hbase:
                tools = Tools(folder, hbase)
                for i in range(bench.rounds):
                    own.append(native(bench, hdfs, hbase, files))
                    drop(hbase, folder)
                    others.append(by_tools(bench, tools, hbase, files, i))
                    drop(hbase, folder)
    pathlib.Path(f"{bench.mill.out}.saltmill-apply").unlink(missing_ok=True)
    bench.mill.clear()
    walls, sums = [r.wall for r in own], [sum(r.wall for r in runs) for runs in others]
    peak, peaks = [r.rss for r in own], [max(r.rss for r in runs) for runs in others]
    lines = [["saltmill apply", spread(walls), spread([r.cpu for r in own]), spread(peak, 0)]]
    lines += [[c, spread([runs[i].wall for runs in others]), spread([runs[i].cpu for runs in others]),
               spread([runs[i].rss for runs in others], 0)] for i, c in enumerate(COMMANDS)]
    lines.append(["the three", spread(sums), spread([sum(r.cpu for r in runs) for runs in others]), spread(peaks, 0)])
    rig.table(f"(j) {count(loaded.rows)} rows, {count(stored)} bytes in {len(files)} files "
              "into HBase on HDFS", ["what", "s", "CPU s", "peak MiB"], lines)
    bench.checks.at_least("JVM tools / saltmill apply (time)", rig.middle(rig.ratios(sums, walls)), 3)
    bench.checks.at_least("JVM tools / saltmill apply (peak memory)", rig.middle(rig.ratios(peaks, peak)), 10)
    return {"apply_s": summary(walls), "tools_s": summary(sums), "apply_mib": summary(peak), "tools_mib": summary(peaks)}
