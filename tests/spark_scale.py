"""spark_scale.py SLICES REGIONS loads with many slices and regions on this machine, and prints what the driver needed.

Each slice has rows for nearly every region, so a map sends a piece to nearly every reduce. The script compares the load
with the load of one process, byte by byte. The driver's JVM has 768 MB (spark.driver.memory of the test rig).
"""

import random
import resource
import shutil
import subprocess
import sys
import time

from demo_spark import ROOT, differences

from spark_rig import Rig  # noqa: E402  (demo_spark sets the path)

OUT = ROOT / "build" / "spark-scale"
ROWS_OF_A_REGION = 2  # in each slice, on average
JOB = """\
source: {csv: {files: [rows.csv], header: true}}
fields: {id: {type: u32}, at: {type: time, unit: s}}
tables:
  - name: t
    rowkey: [{field: id, as: u32}, {field: at, as: millis}]
    timestamp: at
    families: {f: {compression: ZSTD}}
    cells: [{family: f, qualifier: v, value: v}]
    regions: {split: uniform, count: %d}
"""


def write_rows(path, rows):
    draw = random.Random(17)
    with open(path, "w") as f:
        f.write("id,at,v\n")
        for i in range(rows):
            f.write(f"{draw.getrandbits(32)},{1_700_000_000 + i},{i % 1000}\n")


def native(*args):
    subprocess.run([ROOT / "build" / "saltmill", *map(str, args), "--quiet"], cwd=OUT, check=True)


def driver_rss():
    """Return the peak memory of the driver's JVM in MB."""
    from pyspark import SparkContext
    pid = SparkContext._gateway.proc.pid
    status = open(f"/proc/{pid}/status").read()
    return int(status.split("VmHWM:")[1].split()[0]) // 1024


def main(slices, regions):
    shutil.rmtree(OUT, ignore_errors=True)
    (OUT / "spark").mkdir(parents=True)
    (OUT / "job.yaml").write_text(JOB % regions)
    write_rows(OUT / "rows.csv", slices * regions * ROWS_OF_A_REGION)
    native("plan", "job.yaml", "rows.csv", "--tune", "-o", "plan")
    rig = Rig(OUT / "spark", ROOT / "build" / "saltmill")
    began = time.monotonic()
    try:
        r = rig.load(OUT, "job.yaml", "rows.csv", out="night", slices=slices, plan="plan", memory="64M")
        jvm = driver_rss()
    finally:
        rig.stop()
    python = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{r.slices} slices, {len(r.regions['t'])} regions, "
          f"{(OUT / 'rows.csv').stat().st_size >> 20} MB of CSV: {time.monotonic() - began:.0f} s\n{r.counts}\n{r.seconds}\n"
          f"driver: {jvm} MB of its JVM, {python} MB of Python")
    native("load", "job.yaml", "rows.csv", "--plan", "plan", "-o", "one")
    files, differ = differences(OUT / "one", OUT / "night")
    print(f"{files} files of one process and of Spark: {f'these differ: {differ}' if differ else 'the same bytes'}")
    if not differ:
        shutil.rmtree(OUT)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
