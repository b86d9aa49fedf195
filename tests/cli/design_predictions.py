"""Compares the predictions of `saltmill design` with loads of the same events.

python3 tests/cli/design_predictions.py [--half develop|held-out] [--events 100000] [SEED...]

Each seed makes a data set and questions. `design -o` writes jobs, `check --queries` predicts ranges, rows and blocks for
concrete values, and `load`, `key ranges` and `scan` give what HBase would read. A list comprehension over the events
gives the rows that match. A random choice splits the seeds in two halves, before anybody looks at their results.
"""
import argparse
import csv
import datetime
import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = ROOT / "build" / "saltmill"
SEEDS = list(range(24))
HELD_OUT = set(random.Random(20261126).sample(SEEDS, 12))
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)



def run(*words, ok=(0,)):
    done = subprocess.run([str(PROGRAM), *map(str, words)], capture_output=True, text=True)
    assert done.returncode in ok, (words, done.returncode, done.stderr)
    return done.stdout


def iso(ms):
    t = EPOCH + datetime.timedelta(milliseconds=ms)
    return t.strftime("%Y-%m-%dT%H:%M:%S.") + "%03dZ" % (ms % 1000)


class Set:
    """A data set: names, typed rows, the text of each value, and questions with `?`."""

    def __init__(self, seed, n):
        r = self.random = random.Random(f"set {seed}")
        self.n = n
        days = r.choice([1, 7, 60, 400])
        start = r.randrange(10**12, 16 * 10**11)
        entities = r.choice([50, 900, 7000, 40000])
        skew = r.choice([1.0, 1.5, 3.0])
        names = r.choice(["number", "code", "word"])
        groups = r.choice([3, 12, 300])
        ordered = r.random() < 0.7
        seconds = r.random() < 0.4
        times = sorted(start + r.randrange(days * 86400 * 1000) for _ in range(n))
        if seconds:
            times = [t // 1000 * 1000 for t in times]
        if not ordered:
            r.shuffle(times)
        self.rows = []
        spell = {"number": lambda x: x + 1, "code": lambda x: "dev-%05d" % x, "word": lambda x: "w" * (x % 7) + str(x)}[names]
        for i in range(n):
            entity = spell(int(entities * r.random() ** skew))
            group = "g%d" % r.randrange(groups)
            self.rows.append((i + 1000, entity, group, times[i], r.randrange(10**6), "note %d" % r.randrange(5000)))
        self.fields = ["id", "who", "part", "at", "amount", "note"]
        self.with_id = r.random() < 0.6
        self.span = r.choice([3600, 86400, 10 * 86400])
        self.latest = r.choice([0, 1, 25])
        self.seconds = seconds
        forms = [f"who = ? and at between ? and ? + {self.span}s", "who = ?", "who = ? and part = ?",
                 f"at between ? and ? + {self.span // 10}s", f"part = ? and at between ? and ? + {self.span // 4}s"]
        self.asks = r.sample(forms, r.choice([1, 2, 3]))
        if self.latest:
            self.asks.append(f"who = ? latest {self.latest}")

    def write(self, path):
        with open(path, "w", newline="") as f:
            w = csv.writer(f)
            w.writerow(self.fields[0 if self.with_id else 1:])
            for i, who, part, at, amount, note in self.rows:
                row = [i, who, part, at // 1000 if self.seconds else iso(at), amount, note]
                w.writerow(row[0 if self.with_id else 1:])

    def value(self, field, v):
        return iso(v) if field == "at" else v

    def concrete(self, ask):
        """Returns the question with the values of an event, and a test of a row."""
        row = dict(zip(self.fields, self.random.choice(self.rows)))
        condition, _, latest = ask.partition(" latest ")
        tests, texts = [], []
        for m in re.finditer(r"(\w+) (= \?|between \? and \? \+ (\d+)s)", condition):
            field, span = m.group(1), m.group(3)
            at = self.fields.index(field)
            v = row[field]
            if span:
                end = v + int(span) * 1000
                tests.append(lambda x, at=at, v=v, end=end: v <= x[at] <= end)
                texts.append(f"{field} between '{self.value(field, v)}' and '{self.value(field, end)}'")
            else:
                tests.append(lambda x, at=at, v=v: x[at] == v)
                texts.append(f"{field} = '{self.value(field, v)}'")
        return " and ".join(texts), int(latest or 0), lambda x: all(t(x) for t in tests)


def load_table(job, table, where, folder, limit):
    """Returns the ranges, the rows inside them, the data blocks that the scans of the ranges read, and whether all rows inside match. A client
    scans each range on its own."""
    found = json.loads(run("key", "ranges", job, "--table", table, "--where", where, "--format", "json"))
    rows = blocks = 0
    for r in found["ranges"]:
        words = (["--start", r["start"]] if r["start"] else []) + (["--stop", r["stop"]] if r["stop"] else [])
        words += ["--limit", limit] if limit else []
        done = subprocess.run([str(PROGRAM), "scan", str(job), str(folder), "--table", table, *map(str, words), "--explain", "--quiet"],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        blocks += int(re.search(r"in all .*?, (\d+) of \d+ data blocks", done.stderr).group(1))
        rows += int(done.stdout.split()[0])
    return len(found["ranges"]), rows, blocks, found["exact"]


def job_with_blocks(data, size):
    """Returns a job of `init` for the data, with data blocks of this size."""
    job = data.parent / "init.yaml"
    run("init", data, "-o", job, "--quiet")
    text = job.read_text()
    assert text.count("d: {versions: 1,") == 1
    job.write_text(text.replace("d: {versions: 1,", f"d: {{versions: 1, blocksize: {size},"))
    return job


def compare(seed, n, values=3, report=print, block=None):
    """Compares all questions of a set. Returns a list of (question, table, plan, kind of fault or None, figures). The jobs have blocks of `block`,
    so that few events fill many blocks, or of the size that suits the questions."""
    s = Set(seed, n)
    results = []
    with tempfile.TemporaryDirectory() as tmp:
        data, out = Path(tmp) / "events.csv", Path(tmp) / "out"
        s.write(data)
        words = [w for ask in s.asks for w in ("--ask", ask, "100/s")]
        run("design", job_with_blocks(data, block) if block else data, *words, "-o", out, "--quiet", ok=(0, 3))
        for job in sorted(out.glob("*.yaml")):
            if job.name == "queries.yaml":
                continue
            loaded = Path(tmp) / ("load-" + job.stem)
            run("load", job, "-o", loaded, "--quiet")
            manifest = json.loads((loaded / "manifest.json").read_text())
            assert manifest["events"]["rejected"] == 0 if "events" in manifest else True
            for ask in s.asks:
                asked = [s.concrete(ask) for _ in range(values)]
                for one, q in zip(asked, predict(job, asked, Path(tmp))):
                    results.append(compare_one(s, job, loaded, one, q))
                    results[-1][4]["pair"] = (job.name, ask)
                    report(f"  {seed} {job.name} {results[-1]}")
    return results


def predict(job, asked, tmp):
    """Returns what `check` predicts for each concrete question. A file has 8 at most."""
    found = []
    for at in range(0, len(asked), 8):
        (tmp / "q.yaml").write_text(json.dumps([
            {"ask": where + (f" latest {latest}" if latest else ""), "rate": "1/s"} for where, latest, _ in asked[at:at + 8]]))
        found += json.loads(run("check", job, "--queries", tmp / "q.yaml", "--json", "--quiet"))["list"][0]["questions"]
    return found


def compare_one(s, job, loaded, one, q):
    where, latest, matches = one
    table = re.findall(r'- name: "([^"]+)"', Path(job).read_text())[q["table"]]
    early = latest and q["rows"]["max"] <= latest and q["ranges"]["max"] == 1
    ranges, rows, blocks, exact = load_table(job, table, where, loaded, latest if early else 0)
    true = sum(1 for r in s.rows if matches(r))
    true = min(true, latest) if early else true
    fault = None
    if exact and rows != true:
        fault = "scan"
    elif q["plan"] == "full":
        # `latest` may stop early, when the newest rows of the whole table come first
        fault = None if q["rows"]["max"] == rows or (latest and q["rows"]["max"] < rows) else "rows"
    elif q["ranges"]["max"] != ranges:
        fault = "ranges"
    elif (early or not latest) and q["rows"]["max"] != rows:
        fault = "rows"
    elif latest and q["rows"]["max"] > rows:
        fault = "rows"
    elif (early or not latest) and abs(q["blocks"]["max"] - blocks) > max(0.2 * blocks, 1.5 * ranges):
        fault = "blocks"  # an expected value differs from a count by 1 a range, and by more rarely
    return where + (f" latest {latest}" if latest else ""), table, q["plan"], fault, {
        "ranges": (q["ranges"]["max"], ranges), "rows": (q["rows"]["max"], rows),
        "blocks": (q["blocks"]["max"], blocks) if early or not latest else (0, 0), "matching": true}


def errors_of_pairs(results):
    """Returns the error of the mean blocks of each question and design, with the mean blocks that were read. One prediction is an expected value,
    such as 1.4 blocks for 1 or 2, so only means show an error."""
    sums = {}
    for _, _, plan, _, figures in results:
        if figures["blocks"][1] and plan != "full":
            s = sums.setdefault(figures["pair"], [0, 0, 0])
            s[0] += figures["blocks"][0]
            s[1] += figures["blocks"][1]
            s[2] += 1
    return {pair: (predicted / read - 1, read / n) for pair, (predicted, read, n) in sums.items()}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--half", choices=["develop", "held-out"], default="develop")
    p.add_argument("--events", type=int, default=100000)
    p.add_argument("--values", type=int, default=16, help="values of each question")
    p.add_argument("--block", help="size of a data block, such as 8K, instead of the size that design chooses")
    p.add_argument("seeds", type=int, nargs="*")
    o = p.parse_args()
    seeds = o.seeds or [s for s in SEEDS if (s in HELD_OUT) == (o.half == "held-out")]
    all_faults, pairs, errors = [], 0, []
    for seed in seeds:
        results = compare(seed, o.events, values=o.values, report=lambda *_: None, block=o.block)
        faults = [r for r in results if r[3]]
        all_faults += faults
        pairs += len(results)
        means = errors_of_pairs(results)
        errors += [e for e, _ in means.values()]
        wide = [f"{job}: {ask}: {e:+.0%} of {read:.1f} blocks" for (job, ask), (e, read) in means.items() if abs(e) > 0.2]
        middle = sorted(e for e, _ in means.values())[len(means) // 2] if means else 0
        print(f"set {seed}: {len(results)} answers, {len(faults)} faults; blocks of {len(means)} questions and designs: median {middle:+.1%}, "
              f"{len(means) - len(wide)} within 20 %", *wide, *faults, sep="\n  ", flush=True)
    near = sum(abs(e) <= 0.2 for e in errors)
    errors.sort(key=abs)
    print(f"{pairs} answers, {len(all_faults)} faults; mean blocks of {len(errors)} questions and designs: {near} within 20 %, median error "
          f"{abs(errors[len(errors) // 2]) if errors else 0:.1%}, largest {abs(errors[-1]) if errors else 0:.1%}")
    return 1 if all_faults or near < 0.9 * len(errors) else 0


if __name__ == "__main__":
    sys.exit(main())
