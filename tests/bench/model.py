#!/usr/bin/env python3
"""model.py [bench.json]. Computes the cost of a load on one machine and on a cluster, from `make bench ARGS=spark`.

Prints the figures and the two tables of conf/guide/spark.md, "Costs". The benchmark measured processor
seconds, bytes through the shuffle, and the cost of starting the JVMs. The model assumes machines with 16 busy cores
like the measured cores. Each machine has 1.1 GB/s of network, and uses half of this while maps run. Executors start
after START seconds. Each map and each reduce has the measured cost of a task. The maps compute the digests of the inputs,
so no input is read again.
"""

import json
import math
import pathlib
import statistics
import sys

CORES = 16  # cores of a machine
NETWORK = 1.1  # GB/s
START = 15  # seconds in which a running cluster starts a driver and executors
REGION = 10  # GB of HFiles
SLICE = 0.256 * 1.048576  # GB of CSV, the default of saltmill.spark
SIZES = ((100, (1, 4)), (1000, (1, 10)), (10_000, (10, 40)), (100_000, (100, 1000)))  # GB of CSV, machines


class Figures:
    """Costs per GB of CSV (10^9 bytes)."""

    def __init__(self, report):
        spark = report["parts"]["spark"]
        runs, gb = spark["runs"], spark["csv_bytes"] / 1e9

        def middle(of, *kinds):
            return statistics.median(sum(r[k] for k in kinds) for r in of)

        self.about, self.rows = report, runs[0]["rows"]
        self.one = statistics.median(r["cpu_s"] for r in spark["one"]) / gb
        self.native = middle(runs, "native", "driver") / gb
        self.around = max(0, statistics.median(sum(r[k] - f[k] for k in ("python", "jvm"))
                                               for r, f in zip(runs, spark["few"]))) / gb
        self.tasks = middle(spark["few"], "python", "jvm")  # of 20 tasks
        self.start = sum(spark["first"][k] for k in ("python", "jvm")) - middle(runs, "python", "jvm")
        self.shuffled = runs[0]["shuffled"] / spark["csv_bytes"]
        self.stored = spark["stored_bytes"] / spark["csv_bytes"]

    @property
    def spark(self):
        return self.native + self.around

    def work(self, gb):
        """Returns processor seconds by Spark."""
        return gb * self.spark + self.tasks / 20 * (gb / SLICE + gb * self.stored / REGION)

    def alone(self, gb):
        """Returns seconds on one machine."""
        return gb * self.one / CORES

    def cluster(self, gb, machines):
        """Returns the seconds on n machines."""
        cores = machines * CORES
        regions = max(1, gb * self.stored / REGION)
        rounds = math.ceil(regions / cores) * cores / regions  # cores without a reduce wait
        reduces = 0.7 * self.native * min(rounds, cores)
        work = (self.work(gb) + gb * (reduces - 0.7 * self.native)) / cores
        return START + work + gb * self.shuffled / machines / NETWORK / 2

    def even(self, machines):
        """Returns the GB of input above which n machines are faster than one machine."""
        gb = 1
        while self.cluster(gb, machines) > self.alone(gb) and gb < 1e6:
            gb *= 1.05
        return gb


def duration(s):
    return f"{s:.0f} s" if s < 120 else f"{s / 60:.0f} min" if s < 7200 else f"{s / 3600:.1f} h"


def size(gb):
    return f"{gb / 1000:,.0f} TB" if gb >= 1000 else f"{gb:,.0f} GB"


def table(head, rows):
    return "\n".join("| " + " | ".join(r) + " |" for r in [head, ["---", *["--:"] * (len(head) - 1)], *rows])


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    path = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else root / "build/bench/bench.json")
    f = Figures(json.loads(path.read_text()))
    m = f.about["machine"]
    print(f"Measured {m['date']} at {f.about['commit']}, load {m['load_average']}, {m['model']}, {f.rows:,} rows:\n")
    print(table(["processor seconds", "a GB of CSV"], [
        ["one process, `load`", f"{f.one:.1f}"], ["by Spark: the program", f"{f.native:.1f}"],
        ["by Spark: Python and the JVMs, for its bytes", f"{f.around:.1f}"],
        ["in addition, once: starting and warming the JVMs of two executors", f"{f.start:.0f} in all"],
        ["in addition, once for 20 tasks", f"{f.tasks:.1f} in all"]]))
    rows = [[size(gb), duration(f.alone(gb)), str(n), f"{f.work(gb) / 3600:,.1f} h", duration(f.cluster(gb, n))]
            for gb, machines in SIZES for n in machines]
    print("\n" + table(["CSV", f"one machine of {CORES} cores", "machines", "processor time by Spark", "by Spark"], rows))
    hour = 3600 * CORES / f.one
    print(f"\nOne machine of {CORES} cores is better as long as it is done in time: {size(hour)} an hour. Ten machines are "
          f"faster from {size(f.even(10))} on, for {f.work(1000) / f.alone(1000) / CORES:.1f} times the processor time.")


if __name__ == "__main__":
    main()
