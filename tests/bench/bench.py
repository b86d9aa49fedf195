#!/usr/bin/env python3
"""Measures saltmill against other programs, and by stage, size, memory and shape of data.

Prints one table for each part, and compares the promised figures with the measured figures. Writes all numbers to
build/bench/bench.json. A full run takes about half an hour on two cores, and --quick takes a few minutes. Run it on an
idle machine. The programs of a ratio run in turns, but other load still adds noise.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import traceback

import by_spark
import defaults
import designs
import forms
import halves
import hardening
import into_hbase
import parts
import peers
import reading
import snapshots
import spark_memory
import spark_peer
import topic
from inputs import Inputs, Jobs
from rig import ROOT, Checks, Failure, Saltmill, count, machine

PARTS = {"peers": peers.part, "defaults": defaults.part, "stages": parts.stages, "scaling": parts.scaling,
         "memory": parts.memory, "shapes": parts.shapes, "kafka": topic.part,
         "forms": forms.part, "reading": reading.part, "halves": halves.part,
         "spark": by_spark.part, "spark-peer": spark_peer.part, "apply": into_hbase.part,
         "spark-memory": spark_memory.part, "hardening": hardening.part, "design": designs.part,
         "tables": snapshots.part}
# these parts have 100 and 32 million rows, or need an HBase of their own, so they run only by name
ALONE = {"spark-memory", "spark-peer", "tables"}


def arguments():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("parts", nargs="*", metavar="PART",
                   help=f"{', '.join(PARTS)}; default: all but {', '.join(ALONE)}")
    p.add_argument("--quick", action="store_true", help="one million rows, two rounds")
    p.add_argument("--full", action="store_true", help="sizes up to 100 million rows")
    p.add_argument("--rounds", type=int, help="rounds of each comparison (5)")
    p.add_argument("--rows", type=int, metavar="MILLIONS", help="rows of parts that name none (8)")
    p.add_argument("--sizes", metavar="MILLIONS,...", help="rows for scaling and memory (1,8,64)")
    p.add_argument("--program", default=ROOT / "build" / "saltmill", type=pathlib.Path)
    p.add_argument("--worker", default=ROOT / "build" / "saltmill-worker", type=pathlib.Path,
                   help="the program of tasks of Spark")
    p.add_argument("--before", type=pathlib.Path, metavar="PROGRAM",
                   help="forms: CSV beside it, which may not have become slower")
    p.add_argument("--stages", type=pathlib.Path, help="the program made of tests/bench/*.c",
                   default=ROOT / "build/gcc-release/tests/bench/stages")
    p.add_argument("--folder", default=ROOT / "build" / "bench", type=pathlib.Path,
                   help="for data, output and bench.json")
    a = p.parse_args()
    unknown = set(a.parts) - set(PARTS)
    if unknown:
        p.error(f"no part {unknown.pop()}; there are {', '.join(PARTS)}")
    for program in (a.program, a.worker, a.stages):
        if not program.exists():
            p.error(f"{program} is missing: run `make bench`")
    return a


class Bench:
    def __init__(self, a):
        self.folder = a.folder.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "out").mkdir(exist_ok=True)
        self.quick = a.quick
        self.rounds = a.rounds or (2 if a.quick else 5)
        self.millions = a.rows
        self.times = 10 * (a.rows or (1 if a.quick else 8))
        wanted = a.sizes or ("1,2" if a.quick else "1,8,64,100" if a.full else "1,8,64")
        self.sizes = sorted(int(n) for n in wanted.split(","))
        self.mill = Saltmill(a.program.resolve(), self.folder)
        self.before = Saltmill(a.before.resolve(), self.folder) if a.before else None
        self.stages, self.worker = a.stages.resolve(), a.worker.resolve()
        self.inputs, self.jobs, self.checks = Inputs(self.folder), Jobs(self.folder), Checks()
        self.machine = machine()
        self.cores = self.machine["cores"]

    def about(self):
        def first_line(*command):
            return subprocess.run(command, capture_output=True, text=True).stdout.strip()

        version = first_line(self.mill.program, "--version")
        commit = first_line("git", "-C", ROOT, "describe", "--always", "--dirty")
        return {"program": version, "commit": commit, "data": self.inputs.kind,
                "rounds": self.rounds, "machine": self.machine}


def main():
    a = arguments()
    bench = Bench(a)
    about, m = bench.about(), bench.machine
    print(f"{about['program']} {about['commit']}, {m['date']}; {m['model']}, {m['cores']} cores, "
          f"{count(m['memory_mib'] / 1024)} GiB; data: {about['data']}")
    if m["load_average"] > 0.5:
        print(f"The machine has other work (load {m['load_average']}): times below mean little.")
    done, failed = {}, False
    for name in a.parts or [name for name in PARTS if name not in ALONE]:
        try:
            done[name] = PARTS[name](bench)
        except (Failure, OSError, subprocess.SubprocessError) as e:
            if not isinstance(e, Failure):
                traceback.print_exc()
            print(f"\n{name}: {e}", file=sys.stderr, flush=True)
            failed = True
    if bench.checks.lines:
        bench.checks.show(f"What was promised for 8 million rows, here on {bench.times // 10}")
    report = {**about, "parts": done, "checks": bench.checks.lines}
    path = bench.folder / "bench.json"
    path.write_text(json.dumps(report, indent=1) + "\n")
    print(f"\n{path} written")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
