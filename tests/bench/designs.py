"""Measures the time and the memory of `saltmill design` for 1 million events, 5 questions and at least 300 designs."""

import json
import random

import rig

EVENTS, SECONDS, MIB = 1_000_000, 20, 512
ASKS = ["owner = ? and created between ? and ? + 1d", "owner = ? latest 20", "kind = ? and created between ? and ? + 6h",
        "id = ?", "owner = ? and kind = ?"]


def make(path):
    """Writes events that come in order. A few owners have many of them."""
    rng, ms = random.Random(28), 1_735_689_600_000
    with open(path, "w", encoding="ascii") as out:
        out.write("id,owner,kind,created,size\n")
        for i in range(EVENTS):
            ms += rng.randrange(5000)
            out.write(f"{i + 1},{int(40000 * rng.random() ** 1.5) + 1},k{rng.randrange(60)},{ms},{rng.randrange(10 ** 6)}\n")


def part(bench):
    csv = bench.folder / "designs.csv"
    if not csv.exists():
        make(csv)
    words = [w for ask in ASKS for w in ("--ask", ask, "100/s")]
    command = [bench.mill.program, "design", csv, *words, "--threads", 2, "--memory", f"{MIB}M", "--json", "--quiet"]
    runs = [rig.run(command) for _ in range(min(bench.rounds, 3))]
    designs = json.loads(runs[0].out)["designs"]
    rig.table(f"(m) design, {rig.count(EVENTS)} events, {len(ASKS)} questions, {designs} designs", ["", "wall s", "cpu s", "most MiB"],
              [["design", rig.spread(r.wall for r in runs), rig.spread(r.cpu for r in runs), f"{max(r.rss for r in runs):.0f}"]])
    bench.checks.at_least("designs that were compared", designs, 300)
    bench.checks.at_most("seconds of a design", rig.middle(r.wall for r in runs), SECONDS)
    bench.checks.at_most("MiB of a design", max(r.rss for r in runs), MIB)
    return {"designs": designs, "runs": [r.numbers() for r in runs]}
