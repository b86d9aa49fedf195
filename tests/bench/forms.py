"""Part (g) loads the same ratings as CSV, JSON lines, Avro and Arrow. form.py writes the files."""

import subprocess
import sys

from rig import CACHE, HERE, Failure, count, middle, ratios, spread, summary, table
from parts import expect

# million events a second of a whole load on two cores; Arrow must be as fast as CSV
WANTED = {"json": 2.0, "avro": 1.5}
# other programs write 5 and not 5.0; the load of this file equals that of the Arrow file, byte for byte
SAME = "csv, as pyarrow writes it"
FORMS = ["csv", SAME, "json", "avro", "arrow"]


def input_of(bench, csv, form):
    if form == "csv":
        return csv
    path = csv.with_suffix(".same.csv" if form == SAME else "." + form)
    if not path.exists():
        print(f"making {path.name}", file=sys.stderr, flush=True)
        part = path.with_suffix(".part")
        if subprocess.run([CACHE / "venv" / "bin" / "python", HERE / "form.py", form.split(",")[0], csv, part]).returncode != 0:
            raise Failure(f"cannot make {path}")
        part.rename(path)
    return path


def measure(bench, inputs, rows):
    """Loads each form in turns, so that other load on the machine affects all of them."""
    programs = {form: bench.mill for form in inputs}
    if bench.before:
        programs["csv, before"] = bench.before
    loads = {form: [] for form in programs}
    for _ in range(bench.rounds):
        for form, mill in programs.items():
            kind = form.split(",")[0]
            r = mill.load(bench.jobs.ratings_as(kind), [inputs.get(form) or inputs[kind]], "--threads", str(bench.cores))
            expect(r, rows, 2 * rows)
            loads[form].append(r)
    bench.mill.clear()
    return loads


def part(bench):
    csv = bench.inputs.ratings(bench.times)
    rows = bench.inputs.rows(csv)
    inputs = {form: input_of(bench, csv, form) for form in FORMS}
    loads = measure(bench, inputs, rows)
    wall = {form: middle([r.wall for r in done]) for form, done in loads.items()}
    cpu = {form: middle([r.cpu for r in done]) for form, done in loads.items()}
    table(f"(g) {count(rows)} ratings in other forms, {bench.cores} threads; s, median of {bench.rounds} (min..max)",
          ["form", "bytes", "wall", "cpu", "million events/s"],
          [[form, count((inputs.get(form) or csv).stat().st_size), spread([r.wall for r in done]), f"{cpu[form]:.2f}",
            f"{rows / wall[form] / 1e6:.2f}"] for form, done in loads.items()])
    for form, wanted in WANTED.items():
        bench.checks.at_least(f"million {form} events/s", rows / wall[form] / 1e6, wanted)
    bench.checks.at_least("speed of arrow beside csv of the same texts",
                          middle(ratios([r.wall for r in loads[SAME]], [r.wall for r in loads["arrow"]])), 1.0)
    if bench.before:
        bench.checks.at_least("speed of csv beside that of the program before",
                              middle(ratios([r.wall for r in loads["csv, before"]], [r.wall for r in loads["csv"]])), 0.98)
    return {form: {"bytes": (inputs.get(form) or csv).stat().st_size, "wall_s": summary([r.wall for r in done]),
                   "cpu_s": summary([r.cpu for r in done])} for form, done in loads.items()}
