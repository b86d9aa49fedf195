"""Parts (b) to (e) measure the stages of a load, threads and sizes, memory, and shapes of data."""

import json

import rig
from rig import Failure, count, ratios, run, spread, summary

SLACK_MIB = 32  # MiB for the program, its libraries and stacks, above the budget
STAGES = ["parse and encode", "sort", "expand", "zstd", "bloom", "write and fsync"]


def mib(text):
    """Converts a size like 64M or 1G to MiB."""
    return int(text[:-1]) * {"M": 1, "G": 1024}[text[-1]]


def in_memory(bench):
    """Returns half of the machine's memory, a budget with which saltmill does not spill the largest input."""
    return f"{bench.machine['memory_mib'] // 2}M"


def expect(r, rows, cells):
    if (r.rows, r.cells) != (rows, cells):
        raise Failure(f"{r.rows} rows and {r.cells} cells were loaded of {rows} and {cells}")


def most(runs):
    return f"{max(r.rss for r in runs):.0f}"


# --- (b) stages ---

def measure_stages(bench, csv):
    """Runs loads, and prints the lines of the stage program beside each."""
    rows = bench.inputs.rows(csv)
    loads, rounds = [], []
    folder = bench.folder / "out"
    for _ in range(bench.rounds):
        r = bench.mill.load(bench.jobs.ratings(), [csv], "--threads", str(bench.cores))
        expect(r, rows, 2 * rows)
        loads.append(r)
        for name in ("plain", "bloom", "copy"):
            rig.remove(folder / name)
        out = run([bench.stages, "run", csv, bench.jobs.ratings(), folder, *bench.mill.hfiles()])
        rounds.append([json.loads(line) for line in out.out.splitlines()])
    bench.mill.clear()
    return loads, rounds


def print_stages(bench, name, csv, loads, rounds):
    def of(stage, form, what="wall"):
        return [s[what] for lines in rounds for s in lines
                if (s["stage"], s["form"]) == (stage, form)]

    def total(form, what="wall"):
        return [sum(of(s, form, what)[i] for s in STAGES) for i in range(len(rounds))]

    def line(text, own, limit, own_cpu, limit_cpu):
        return [text, spread(own, 3), spread(limit, 3), f"{rig.middle(ratios(own, limit)):.2f}",
                f"{rig.middle(own_cpu):.3f}", f"{rig.middle(limit_cpu):.3f}"]

    own, limit = total("own"), total("limit")
    lines = [line(s, of(s, "own"), of(s, "limit"), of(s, "own", "cpu"), of(s, "limit", "cpu"))
             for s in STAGES]
    lines.append(line("sum", own, limit, total("own", "cpu"), total("limit", "cpu")))
    parts = [s["stage"] for s in rounds[0] if s["form"] == "part"]
    lines += [[f"of it: {s}", spread(of(s, "part"), 3), "", "",
               f"{rig.middle(of(s, 'part', 'cpu')):.3f}", ""] for s in parts]
    rig.table(f"(b) each stage alone on one thread, {name}, {count(csv.stat().st_size)} bytes in; "
              f"s, median of {len(rounds)} (min..max); limit: hard-wired or the library alone",
              ["stage", "saltmill's wall", "limit's wall", "ratio", "saltmill's cpu", "limit's cpu"],
              lines)
    walls, cpus = [r.wall for r in loads], [r.cpu for r in loads]
    result = {
        "wall_s": walls,
        "wall_over_limits": [w * bench.cores / s for w, s in zip(walls, limit)],
        "wall_over_own_stages": [w * bench.cores / s for w, s in zip(walls, own)],
        "cpu_over_limits": ratios(cpus, total("limit", "cpu")),
        "cpu_over_own_stages": ratios(cpus, total("own", "cpu")),
    }
    print(f"\nThe load on {bench.cores} threads: {spread(walls)} s wall, {spread(cpus)} s CPU"
          f"\n  wall: {spread(result['wall_over_limits'])} x the limits / cores, "
          f"{spread(result['wall_over_own_stages'])} x its own stages / cores"
          f"\n  CPU:  {spread(result['cpu_over_limits'])} x the limits, "
          f"{spread(result['cpu_over_own_stages'])} x its own stages")
    bench.checks.at_most(f"wall / (stage limits / cores), {name}",
                         rig.middle(result["wall_over_limits"]), 1.25)
    return {**{k: summary(v) for k, v in result.items()},
            "stages": {s: {f: {w: summary(of(s, f, w)) for w in ("wall", "cpu")}
                           for f in ("own", "limit")} for s in STAGES},
            "parts": {s: summary(of(s, "part")) for s in parts}}


def stages(bench):
    out = {}
    for name, csv in (("rows as generated", bench.inputs.ratings(bench.times)),
                      ("rows shuffled", bench.inputs.shuffled(bench.times))):
        out[name] = print_stages(bench, name, csv, *measure_stages(bench, csv))
    return out


# --- (c) threads, rows ---

def threads(bench):
    csv = bench.inputs.ratings(bench.times)
    rows = bench.inputs.rows(csv)
    counts = [n for n in (1, 2, 4, 8, 16, 32, 64) if n <= max(2, bench.cores)]
    runs = {n: [] for n in counts}
    for _ in range(bench.rounds):
        for n in counts:
            r = bench.mill.load(bench.jobs.ratings(), [csv], "--threads", str(n))
            expect(r, rows, 2 * rows)
            runs[n].append(r)
    bench.mill.clear()
    walls = {n: [r.wall for r in runs[n]] for n in counts}
    rig.table(f"(c) threads, {count(rows)} rows; median of {bench.rounds} (min..max)",
              ["threads", "wall s", "cpu s", "times as fast as 1", "most MiB"],
              [[n, spread(walls[n]), spread(r.cpu for r in runs[n]),
                spread(ratios(walls[1], walls[n])), most(runs[n])] for n in counts])
    if bench.cores >= 2:
        bench.checks.at_least("two threads, times as fast as one",
                              rig.middle(ratios(walls[1], walls[2])), 1.8)
    return {str(n): {"runs": [r.numbers() for r in runs[n]],
                     "speedup": summary(ratios(walls[1], walls[n]))} for n in counts}


def sizes(bench):
    budgets = {"in memory": in_memory(bench), "64M": "64M"}
    runs = {}
    for millions in bench.sizes:
        csv = bench.inputs.ratings(millions * 10)
        rows = bench.inputs.rows(csv)
        for _ in range(bench.rounds if millions <= 8 else min(bench.rounds, 3)):
            for name, budget in budgets.items():
                r = bench.mill.load(bench.jobs.ratings(), [csv], "--memory", budget)
                expect(r, rows, 2 * rows)
                runs.setdefault((millions, name), []).append(r)
    bench.mill.clear()
    lines, out = [], {}
    for (millions, name), done in runs.items():
        per_row = [r.wall / r.rows * 1e9 for r in done]
        base = rig.middle([r.wall / r.rows * 1e9 for r in runs[bench.sizes[0], name]])
        growth = rig.middle(per_row) / base - 1
        lines.append([f"{millions} million, {name}", spread(r.wall for r in done),
                      spread(per_row, 0), f"{growth:+.0%}", most(done),
                      count(done[-1].spilled / 1e6)])
        out[f"{millions}m {name}"] = {
            "runs": [r.numbers() for r in done], "ns_a_row": summary(per_row),
            "growth": round(growth, 4), "spilled_bytes": done[-1].spilled}
        if millions == bench.sizes[-1] and len(bench.sizes) > 1:
            bench.checks.at_most(f"growth of time a row, {bench.sizes[0]} to {millions} million, "
                                 + name, growth, 0.15 if name == "in memory" else 0.40)
    rig.table(f"(c) rows as generated, in memory (--memory {budgets['in memory']}) and spilled "
              "(--memory 64M)",
              ["rows", "wall s", "ns a row", f"to {bench.sizes[0]} million", "most MiB",
               "MB spilled"], lines)
    return out


def scaling(bench):
    return {"threads": threads(bench), "rows": sizes(bench)}


# --- (d) budgets ---

def memory(bench):
    millions = bench.sizes[-1] if bench.sizes[-1] <= 64 else 64
    csv = bench.inputs.ratings(millions * 10)
    rows = bench.inputs.rows(csv)
    budgets = ["64M", "256M", "1G"]
    runs = {b: [] for b in budgets}
    for _ in range(min(bench.rounds, 3)):
        for b in budgets:
            r = bench.mill.load(bench.jobs.ratings(), [csv], "--memory", b)
            expect(r, rows, 2 * rows)
            runs[b].append(r)
    bench.mill.clear()
    over = {b: max(r.rss for r in runs[b]) - mib(b) for b in budgets}
    rig.table(f"(d) budgets, {count(rows)} rows, {count(csv.stat().st_size)} bytes",
              ["--memory", "wall s", "cpu s", "most MiB", "above the budget", "MB spilled"],
              [[b, spread(r.wall for r in runs[b]), spread(r.cpu for r in runs[b]),
                most(runs[b]), f"{over[b]:+.0f}", count(runs[b][-1].spilled / 1e6)]
               for b in budgets])
    for b in budgets:
        bench.checks.at_most(f"MiB above --memory {b}, {millions} million rows", over[b], SLACK_MIB)
    return {b: {"runs": [r.numbers() for r in runs[b]], "above_mib": round(over[b], 1),
                "spilled_bytes": runs[b][-1].spilled} for b in budgets}


# --- (e) shapes ---

def shapes(bench):
    i, j = bench.inputs, bench.jobs
    wide_rows, huge_rows = (5000, 8) if bench.quick else (100000, 60)
    ratings = i.ratings(bench.times)
    kinds = [  # name, input, job, cells a row
        ("wide: 200 cells a row", i.wide(wide_rows, 200), j.wide(200), 200),
        ("wide: 2,000 cells a row", i.wide(wide_rows // 10, 2000), j.wide(2000), 2000),
        ("values of 10 MB", i.huge(huge_rows, 10_000_000), j.huge(), 2),
        ("16 regions", ratings, j.ratings(), 2),
        ("1,000 regions", ratings, j.regions(1000), 2),
        ("2,000 regions", ratings, j.regions(2000), 2),
        ("3 families", ratings, j.three_families(), 3),
    ]
    lines, out = [], {}
    for name, csv, job, cells in kinds:
        rows = i.rows(csv)
        size = csv.stat().st_size
        for budget in (None, "64M"):
            done = []
            for _ in range(min(bench.rounds, 3)):
                done.append(bench.mill.load(job, [csv], *(["--memory", budget] if budget else [])))
                expect(done[-1], rows, rows * cells)
            above = max(r.rss for r in done) - mib(budget) if budget else None
            wall = rig.middle([r.wall for r in done])
            lines.append([f"{name}, {budget or 'default'}", count(rows), f"{size / 1e6:.0f}",
                          spread(r.wall for r in done), f"{size / 1e6 / wall:.0f}",
                          count(rows * cells / wall), count(done[-1].files), most(done),
                          f"{above:+.0f}" if budget else ""])
            out[f"{name}, {budget or 'default'}"] = {
                "rows": rows, "bytes": size, "cells": rows * cells, "files": done[-1].files,
                "runs": [r.numbers() for r in done], "above_mib": above and round(above, 1)}
            if budget and name in ("values of 10 MB", "2,000 regions"):
                bench.checks.at_most(f"MiB above --memory 64M, {name}", above, SLACK_MIB)
        bench.mill.clear()
    rig.table("(e) shapes; --memory as given or by default a quarter of the machine",
              ["what", "rows", "MB in", "wall s", "MB/s in", "cells/s", "files", "most MiB",
               "above the budget"], lines)
    return out
