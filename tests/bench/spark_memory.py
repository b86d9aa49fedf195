"""Measures the memory of a Spark task whose rows are many times its budget. There are 100 million rows, and a task has
64M.

time(1), whose own memory is very small, measures every program that a task runs (see rig.py). The script reads the kernel's high-water mark of the Python workers at the end.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import by_spark
import rig

MILLIONS, BUDGET = 100, 64
BEYOND = 32  # MiB that the program of a task may use above its budget
WRAPPER = """#!/bin/sh
case $1 in
map|reduce) exec /usr/bin/time -f "$1 %M %e" -o {log}/$$ {program} "$@" ;;
esac
exec {program} "$@"
"""


# --- with pyspark, in the tests' Python ---

def high_water(pid):
    found = re.search(r"VmHWM:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text())
    return int(found.group(1)) / 1024


def python_workers(cluster):
    """Returns MiB of each Python worker below an executor."""
    of, found = by_spark.processes(), []
    for pid, (parent, name, *_) in of.items():
        above = of.get(of.get(parent, (0, ""))[0], (0, ""))[1]
        if name.startswith("python") and above == "java":  # pid < pyspark.daemon < executor
            found.append(round(high_water(pid), 1))
    return found


def child(worker, folder, job, csv):
    from spark_rig import SETTINGS, Rig
    SETTINGS.update({"spark.speculation": "false", "spark.executor.memory": "1g"})
    folder = pathlib.Path(folder)
    cluster = Rig(folder, pathlib.Path(worker))
    (folder / "rss").mkdir()
    cluster.wrapper.write_text(WRAPPER.format(log=folder / "rss", program=worker))
    try:
        began = time.monotonic()
        r = cluster.load(folder, job, csv, out="out", memory=f"{BUDGET}M")
        told = {"wall": time.monotonic() - began, "python": python_workers(cluster), "seconds": r.seconds,
                "slices": r.slices, "shuffled": r.shuffled, "rows": sum(t["rows"] for t in r.counts["tables"].values())}
    finally:
        cluster.stop()
    print(json.dumps(told))


# --- the part ---

def peaks(folder):
    """Returns {command: MiB of each run}."""
    found = collections.defaultdict(list)
    for log in (folder / "rss").iterdir():
        what, kib, _ = log.read_text().split("\n")[-2].split()
        found[what].append(int(kib) / 1024)
    return found


def part(bench):
    job, csv = bench.jobs.ratings(), bench.inputs.ratings(10 * (bench.millions or MILLIONS))
    rows = bench.inputs.rows(csv)
    with tempfile.TemporaryDirectory(dir=bench.folder) as name:
        folder = pathlib.Path(name)
        r = subprocess.run([rig.CACHE / "venv" / "bin" / "python", __file__, bench.worker, folder, job, csv],
                           capture_output=True, text=True)
        if r.returncode:
            raise rig.Failure(f"the load by Spark failed: {r.stderr[-2000:]}")
        told, of = json.loads(r.stdout.splitlines()[-1]), peaks(folder)
        subprocess.run([bench.mill.program, "verify", folder / "out", "--quiet"], check=True, stdout=subprocess.DEVNULL)
    if told["rows"] != rows:
        raise rig.Failure(f"Spark loaded {told['rows']} rows of {rows}")
    rig.table(f"(l) by Spark, {rig.count(rows)} rows, {told['shuffled'] / 1e6:.0f} MB shuffled, {BUDGET}M a task, "
              f"{told['wall']:.0f} s: peak memory of each process, MiB", ["process", "of them", "median", "most"],
              [[what, len(v), f"{rig.middle(v):.1f}", f"{max(v):.1f}"] for what, v in
               [*sorted(of.items()), ("Python worker", told["python"])]])
    most = max(max(v) for v in of.values())
    bench.checks.at_most(f"MiB of a task's program, {rig.count(rows)} rows, {BUDGET}M", most, BUDGET + BEYOND)
    return {**told, "peak_mib": {what: rig.summary(v) for what, v in of.items()}}


if __name__ == "__main__":
    sys.path.insert(0, str(rig.HERE.parent / "spark"))
    child(*sys.argv[1:])
