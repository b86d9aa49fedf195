"""Compares map and reduce with one load, to find the cost of making a load in two halves. Each process has one
thread."""

import rig
from rig import middle, ratios, remove, run, summary, table

SLICES = 4
# CPU time of all maps and reduces divided by that of one load; the part above 1 is the cost of the transfer
GOAL = 1.3


def halves(bench, folder, job, csv, plan):
    """Returns CPU seconds of the maps, of the reduce and of unite."""
    m = bench.mill.program
    for name in ("maps", "reduces", "united"):
        remove(folder / name)
    (folder / "maps").mkdir()
    (folder / "reduces").mkdir()
    cpu = {"map": 0, "reduce": 0, "unite": 0}
    for k in range(1, SLICES + 1):
        cpu["map"] += run([m, "map", job, csv, "--plan", plan, "--slice", f"{k}/{SLICES}", "-o", folder / "maps" / str(k),
                           "--threads", "1", "--quiet"]).cpu
    cpu["reduce"] += run([m, "reduce", job, folder / "maps", "--plan", plan, "-o", folder / "reduces" / "all",
                          "--threads", "1", "--quiet"]).cpu
    cpu["unite"] += run([m, "unite", job, csv, "--plan", plan, "--maps", folder / "maps", "--reduces",
                         folder / "reduces", "-o", folder / "united", "--threads", "1", "--quiet"]).cpu
    return cpu


def part(bench):
    folder, job = bench.folder / "out" / "halves", bench.jobs.ratings()
    csv, plan = bench.inputs.ratings(bench.times), folder / "plan"
    remove(folder)
    folder.mkdir()
    run([bench.mill.program, "plan", job, csv, "-o", plan, "--quiet"])
    rounds = []
    for _ in range(bench.rounds):
        one = bench.mill.load(job, [csv], "--plan", plan, "--threads", "1")
        rounds.append({"load": one.cpu, **halves(bench, folder, job, csv, plan)})
        if (folder / "united/manifest.json").read_bytes() != (bench.mill.out / "manifest.json").read_bytes():
            raise rig.Failure("the halves did not make the load")
    bench.mill.clear()
    remove(folder)
    of = {name: [r[name] for r in rounds] for name in rounds[0]}
    both = [r["map"] + r["reduce"] for r in rounds]
    table(f"One load, and {SLICES} maps and a reduce: CPU seconds", ["what", "CPU s", "of a load"],
          [[name, rig.spread(values), f"{middle(ratios(values, of['load'])):.2f}"]
           for name, values in [*of.items(), ("map + reduce", both)]])
    bench.checks.at_most("CPU of map + reduce / load", middle(ratios(both, of["load"])), GOAL)
    return {**{name: summary(values) for name, values in of.items()}, "ratio": summary(ratios(both, of["load"]))}
