"""Measures the same load by Spark, with two executors on this machine, to find the cost of the JVMs and of Python.

The script reads processor time from /proc for the executors' JVMs, the Python workers, and the programs that these have
waited for. Tasks run the static worker, as the wheel's tasks do. Two loads warm the JVMs up. Then loads of all rows
and of few rows, in equally many tasks, take turns. The loads of few rows give the cost of tasks without their bytes.
"""

import itertools
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

import rig

sys.path.insert(0, str(rig.HERE.parent / "spark"))

KINDS = ("native", "python", "jvm")
TICK = os.sysconf("SC_CLK_TCK")


# --- with pyspark, in the tests' Python ---

def processes():
    """Maps each process id to its parent, its name, its own ticks, and the ticks of children that it waited for."""
    found = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            name, rest = stat.read_text().split("(", 1)[1].rsplit(")", 1)
        except OSError:
            continue  # ended
        rest = rest.split()
        found[int(stat.parent.name)] = (int(rest[1]), name, int(rest[11]) + int(rest[12]), int(rest[13]) + int(rest[14]))
    return found


def seconds_below(roots):
    """Returns the cost of all descendants of these processes, without the processes themselves."""
    all_of_them, spent = processes(), dict.fromkeys(KINDS, 0)
    for pid, (_, name, own, waited) in all_of_them.items():
        above = all_of_them[pid][0]
        while above in all_of_them and above not in roots:
            above = all_of_them[above][0]
        if above in roots:
            spent["jvm" if name == "java" else "python"] += own / TICK
            spent["native"] += 0 if name == "java" else waited / TICK
    return spent


def measure(cluster, folder, job, data, slices):
    """Runs one load. Returns all seconds, including those of the driver's own program, and the bytes of the shuffle."""
    roots = [p.pid for p in cluster.machines.running.values()]
    before, children = seconds_below(roots), resource.getrusage(resource.RUSAGE_CHILDREN)
    r = cluster.load(folder, job, data, out="out", slices=slices, plan=folder / "plan")
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = {kind: s - before[kind] for kind, s in seconds_below(roots).items()}
    rig.remove(folder / "out")
    return {**spent, "driver": now.ru_utime + now.ru_stime - children.ru_utime - children.ru_stime,
            "shuffled": r.shuffled, "rows": sum(t["rows"] for t in r.counts["tables"].values()), "seconds": r.seconds}


def child(program, folder, job, data, few, rounds):
    from spark_rig import SETTINGS, Rig
    SETTINGS.update({"spark.speculation": "false", "spark.executor.extraJavaOptions": "",
                     "spark.driver.extraJavaOptions": "", "spark.executor.memory": "1g"})
    folder = pathlib.Path(folder)
    cluster = Rig(folder, pathlib.Path(program))
    cluster.wrapper = pathlib.Path(program)  # without faults
    try:
        measure(cluster, folder, job, data, 4)
        first = seconds_below([p.pid for p in cluster.machines.running.values()])  # since they began
        for given in (few, data, few):
            measure(cluster, folder, job, given, 4)
        turns = [(measure(cluster, folder, job, few, 4), measure(cluster, folder, job, data, 4))
                 for _ in range(int(rounds))]
    finally:
        cluster.stop()
    print(json.dumps({"first": first, "few": [few for few, _ in turns], "runs": [run for _, run in turns]}))


# --- the part ---

def few_rows(data, folder, step):
    """Writes the header and every n-th row, so that all regions have some rows."""
    few = folder / "few.csv"
    with open(data, "rb") as f, open(few, "wb") as to:
        to.write(f.readline())
        to.writelines(itertools.islice(f, 0, None, step))
    return few


def run_child(bench, folder, job, data):
    r = subprocess.run([rig.CACHE / "venv" / "bin" / "python", __file__, bench.worker, folder, job, data,
                        few_rows(data, folder, 25 * bench.times), str(bench.rounds)], capture_output=True, text=True)
    if r.returncode:
        raise rig.Failure(f"the loads by Spark failed: {r.stderr[-2000:]}")
    return json.loads(r.stdout.splitlines()[-1])


def part(bench):
    job, data = bench.jobs.ratings(), bench.inputs.ratings(bench.times)
    with tempfile.TemporaryDirectory(dir=bench.folder) as name:
        folder = pathlib.Path(name)
        subprocess.run([bench.mill.program, "plan", job, data, "--tune", "--quiet", "-o", folder / "plan"], check=True)
        ones = [bench.mill.load(job, [data], "--plan", folder / "plan") for _ in range(bench.rounds)]
        stored = sum(p.stat().st_size for p in bench.mill.hfiles())
        bench.mill.clear()
        told = run_child(bench, folder, job, data)
    one, runs, few = rig.middle(r.cpu for r in ones), told["runs"], told["few"]
    for r in runs:
        if r["rows"] != ones[0].rows:
            raise rig.Failure(f"Spark loaded {r['rows']} rows, one process {ones[0].rows}")
    middle, base = ({kind: rig.middle(r[kind] for r in of) for kind in (*KINDS, "driver")} for of in (runs, few))
    megabytes = runs[0]["shuffled"] / 1e6
    around = ("python", "jvm")
    beyond = [1000 * sum(r[k] - f[k] for k in around) / megabytes for r, f in zip(runs, few)]
    in_all = [1000 * sum(r[k] for k in around) / megabytes for r in runs]
    rig.table(f"(j) by Spark, {rig.count(ones[0].rows)} rows, {megabytes:.0f} MB shuffled; cpu s",
              ["load", *KINDS, "driver's program"],
              [["one process", f"{one:.2f}", "", "", ""],
               ["by Spark", *(f"{middle[k]:.2f}" for k in (*KINDS, "driver"))],
               ["of few rows, as many tasks", *(f"{base[k]:.2f}" for k in (*KINDS, "driver"))]])
    print(f"\nJVM + Python: {rig.spread(in_all)} ms a MB shuffled, of them {rig.spread(beyond)} beyond few rows")
    print(f"The program: {middle['native'] / one:.2f} of one load, with the packing of what is shuffled, beside JVMs on the "
          "same cores; map and reduce alone are judged by `halves`")
    bench.checks.at_most("JVM + Python beyond few rows, ms a MB", rig.middle(beyond), 8)
    return {"one": [r.numbers() for r in ones], **told, "csv_bytes": data.stat().st_size, "stored_bytes": stored, "ms_a_megabyte": rig.summary(beyond),
            "ms_a_megabyte_in_all": rig.summary(in_all)}


if __name__ == "__main__":
    child(*sys.argv[1:])
