"""Part (h) compares builds of the same sources with and without the hardening of a release."""

import subprocess
import sys

from parts import expect
from rig import ROOT, Failure, Saltmill, count, middle, ratios, run, spread, summary, table

WORK = ["load", "load, one thread", "verify", "scan"]


def bare(bench):
    """Returns the program that FLAVOR=bare builds from the current sources."""
    print("building without hardening", file=sys.stderr, flush=True)
    if subprocess.run(["make", "-s", "-C", ROOT, f"-j{bench.cores}", "FLAVOR=bare", "CC=gcc", "build/gcc-bare/saltmill"],
                      stdout=sys.stderr).returncode:
        raise Failure("make FLAVOR=bare failed")
    return Saltmill(ROOT / "build" / "gcc-bare" / "saltmill", bench.folder)


def measure(bench, plain, csv, rows):
    job, done = bench.jobs.ratings(), {}
    for _ in range(bench.rounds):  # the builds run in turns, so that other load on the machine affects both
        for kind, mill in (("hardened", bench.mill), ("bare", plain)):
            def took(work, r, kind=kind):
                done.setdefault((work, kind), []).append(r)
            for work, threads in ((WORK[0], bench.cores), (WORK[1], 1)):
                r = mill.load(job, [csv], "--threads", str(threads))
                expect(r, rows, 2 * rows)
                took(work, r)
            took(WORK[2], run([mill.program, "verify", mill.out, "--quiet"]))
            took(WORK[3], run([mill.program, "scan", job, mill.out, "--quiet"]))
    bench.mill.clear()
    return done


def part(bench):
    csv = bench.inputs.ratings(bench.times)
    rows = bench.inputs.rows(csv)
    done = measure(bench, bare(bench), csv, rows)
    lines, result = [], {}
    for work in WORK:
        hardened, plain = done[work, "hardened"], done[work, "bare"]
        wall = middle(ratios([r.wall for r in hardened], [r.wall for r in plain]))
        cpu = middle(ratios([r.cpu for r in hardened], [r.cpu for r in plain]))
        lines.append([work, spread([r.wall for r in hardened]), spread([r.wall for r in plain]), f"{wall:.3f}", f"{cpu:.3f}"])
        result[work] = {"hardened_s": summary([r.wall for r in hardened]), "bare_s": summary([r.wall for r in plain]),
                        "wall": wall, "cpu": cpu}
    table(f"(h) {count(rows)} ratings, with and without hardening; s, median of {bench.rounds} (min..max)",
          ["work", "hardened", "bare", "wall, ratio", "cpu, ratio"], lines)
    return result
