"""Compares map and reduce with one load, to find the cost of making a load in two halves. Each process has one
thread.

The table has CPU time, which depends on other programs of the machine. callgrind counts instructions of fewer rows, and
the goal judges these.
"""

import re
import subprocess

import rig
from rig import middle, ratios, remove, run, summary, table

SLICES = 4
# cost of all maps and reduces divided by that of one load; the part above 1 is the cost of the transfer
GOAL = 1.15
COUNTED = 10  # 100,000 rows each, for callgrind


def seconds(command):
    return run(command).cpu


def instructions(command):
    r = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *map(str, command)],
                       capture_output=True, text=True)
    if r.returncode:
        raise rig.Failure(f"valgrind ended with {r.returncode}: {r.stderr[-2000:]}")
    return int(re.search(r"Collected : (\d+)", r.stderr).group(1))


def halves(bench, folder, job, csv, plan, cost):
    """Returns the costs of the maps, of the reduce and of unite."""
    m = bench.mill.program
    for name in ("maps", "reduces", "united"):
        remove(folder / name)
    (folder / "maps").mkdir()
    (folder / "reduces").mkdir()
    of = {"map": sum(cost([m, "map", job, csv, "--plan", plan, "--slice", f"{k}/{SLICES}", "-o", folder / "maps" / str(k),
                           "--threads", "1", "--quiet"]) for k in range(1, SLICES + 1))}
    of["reduce"] = cost([m, "reduce", job, folder / "maps", "--plan", plan, "-o", folder / "reduces" / "all",
                         "--threads", "1", "--quiet"])
    of["unite"] = cost([m, "unite", job, csv, "--plan", plan, "--maps", folder / "maps", "--reduces", folder / "reduces",
                        "-o", folder / "united", "--threads", "1", "--quiet"])
    return of


def ratio_of_instructions(bench, folder, job):
    csv, plan, one = bench.inputs.ratings(COUNTED), folder / "small", folder / "one"
    run([bench.mill.program, "plan", job, csv, "-o", plan, "--quiet"])
    load = instructions([bench.mill.program, "load", job, csv, "--plan", plan, "-o", one, "--threads", "1", "--quiet"])
    of = halves(bench, folder, job, csv, plan, instructions)
    return (of["map"] + of["reduce"]) / load


def part(bench):
    folder, job = bench.folder / "out" / "halves", bench.jobs.ratings()
    csv, plan = bench.inputs.ratings(bench.times), folder / "plan"
    remove(folder)
    folder.mkdir()
    run([bench.mill.program, "plan", job, csv, "-o", plan, "--quiet"])
    rounds = []
    for _ in range(bench.rounds):
        one = bench.mill.load(job, [csv], "--plan", plan, "--threads", "1")
        rounds.append({"load": one.cpu, **halves(bench, folder, job, csv, plan, seconds)})
        if (folder / "united/manifest.json").read_bytes() != (bench.mill.out / "manifest.json").read_bytes():
            raise rig.Failure("the halves did not make the load")
    bench.mill.clear()
    counted = ratio_of_instructions(bench, folder, job)
    remove(folder)
    of = {name: [r[name] for r in rounds] for name in rounds[0]}
    both = [r["map"] + r["reduce"] for r in rounds]
    table(f"One load, and {SLICES} maps and a reduce: CPU seconds", ["what", "CPU s", "of a load"],
          [[name, rig.spread(values), f"{middle(ratios(values, of['load'])):.2f}"]
           for name, values in [*of.items(), ("map + reduce", both)]])
    bench.checks.at_most("instructions of map + reduce / load", counted, GOAL)
    return {**{name: summary(values) for name, values in of.items()}, "ratio": summary(ratios(both, of["load"])),
            "ratio_of_instructions": counted}
