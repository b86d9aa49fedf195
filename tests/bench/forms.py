"""Part (g): the same ratings as CSV, JSON lines, Avro and Arrow; form.py writes the files."""

import subprocess
import sys

from rig import CACHE, HERE, Failure, count, middle, spread, summary, table
from parts import expect

# million events a second on two cores, for all of a load; Arrow: as CSV
WANTED = {"json": 2.0, "avro": 1.5}


def input_of(bench, csv, form):
    if form == "csv":
        return csv
    path = csv.with_suffix("." + form)
    if not path.exists():
        print(f"making {path.name}", file=sys.stderr, flush=True)
        part = path.with_suffix(".part")
        if subprocess.run([CACHE / "venv" / "bin" / "python", HERE / "form.py", form, csv, part]).returncode != 0:
            raise Failure(f"cannot make {path}")
        part.rename(path)
    return path


def measure(bench, csv, form, rows):
    path, job = input_of(bench, csv, form), bench.jobs.ratings_as(form)
    loads = []
    for _ in range(bench.rounds):
        r = bench.mill.load(job, [path], "--threads", str(bench.cores))
        expect(r, rows, 2 * rows)
        loads.append(r)
    bench.mill.clear()
    return path.stat().st_size, loads


def part(bench):
    csv = bench.inputs.ratings(bench.times)
    rows = bench.inputs.rows(csv)
    found, lines, speed = {}, [], {}
    for form in "csv", "json", "avro", "arrow":
        size, loads = measure(bench, csv, form, rows)
        walls = [r.wall for r in loads]
        speed[form] = rows / middle(walls) / 1e6
        found[form] = {"bytes": size, "wall_s": summary(walls), "cpu_s": summary([r.cpu for r in loads])}
        lines.append([form, count(size), spread(walls), f"{middle([r.cpu for r in loads]):.2f}", f"{speed[form]:.2f}"])
    table(f"(g) {count(rows)} ratings in other forms, {bench.cores} threads; s, median of {bench.rounds} (min..max)",
          ["form", "bytes", "wall", "cpu", "million events/s"], lines)
    for form, wanted in WANTED.items():
        bench.checks.at_least(f"million {form} events/s", speed[form], wanted)
    bench.checks.at_least("speed of arrow beside csv", speed["arrow"] / speed["csv"], 1.0)
    return found
