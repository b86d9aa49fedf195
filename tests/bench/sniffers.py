"""sniffers.py PROGRAM. Compares `saltmill init` and DuckDB's sniffer on the sets of tests/cli/sniff_sets.py.

Each program gets only the file. A set is right if all rows are there and each column has the kind that the set's maker
states. The kinds are whole number, real, time, truth and text. Names do not count.
"""

import pathlib
import sys
import tempfile

import duckdb

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "cli"), str(ROOT)]
import sniff_sets  # noqa: E402
import test_init  # noqa: E402
from load_help import Bench  # noqa: E402


def by_init(program, folder, data):
    bench = Bench(folder, program, "")
    bench.input(data, "in.data")
    r = test_init.init(program, folder, "in.data")
    if r.returncode:
        return [], 0, r.stderr
    (folder / "job.yaml").write_text(r.stdout)
    r2 = bench.run()
    rows = sum(t["rows"] for t in bench.manifest()["tables"]) if r2.returncode == 0 else 0
    return list(test_init.field_kinds(r.stdout).values()), rows, r2.stderr.decode()


def duck_kind(t):
    t = str(t)
    if t in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UBIGINT"):
        return "int"
    if t.startswith(("DECIMAL", "DOUBLE", "FLOAT")):
        return "real"
    return "time" if t.startswith(("DATE", "TIMESTAMP")) else "bool" if t == "BOOLEAN" else "text"


def by_duckdb(folder, data, json):
    path = folder / ("in.json" if json else "in.csv" + (".gz" if data[:2] == b"\x1f\x8b" else ""))
    path.write_bytes(data)
    try:
        r = duckdb.sql(f"select * from {'read_json_auto' if json else 'read_csv'}('{path}')")
        return [duck_kind(t) for t in r.types], len(r.fetchall()), ""
    except Exception as e:  # the program's own error message is the result
        return [], 0, str(e)


def word(found, kinds, rows):
    got, n, why = found
    if got == list(kinds.values()) and n == rows:
        return "right"
    return (f"fails: {why.splitlines()[0][:60]}" if n == 0 and why else f"{n} of {rows} rows" if n != rows else
            "types: " + " ".join(got))


def main():
    right = [0, 0]
    for name, (data, kinds, rows) in sniff_sets.SETS.items():
        with tempfile.TemporaryDirectory() as a, tempfile.TemporaryDirectory() as b:
            words = [word(by_init(sys.argv[1], pathlib.Path(a), data), kinds, rows),
                     word(by_duckdb(pathlib.Path(b), data, "json" in name), kinds, rows)]
        right = [n + (w == "right") for n, w in zip(right, words)]
        print(f"{name:22} {words[0]:28} {words[1]}")
    print(f"{len(sniff_sets.SETS)} sets: init {right[0]} right, DuckDB {duckdb.__version__} {right[1]}")


if __name__ == "__main__":
    main()
