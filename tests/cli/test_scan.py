"""Compares get and scan over published loads with answers that Python alone computes from the CSV."""

import csv
import json
import random
import re

import pytest

import loads

JOB = """\
source: {{csv: {{files: [events.csv]}}}}
fields:
  id:   {{type: u32}}
  when: {{type: time, unit: ms}}
tables:
  - name: t
    rowkey: [{{salt: 4, of: [id]}}, {{field: id, as: u32}}]
    timestamp: when
    families:
      f: {{versions: 3, bloomfilter: ROW, compression: ZSTD, blocksize: 1K, data_block_encoding: FAST_DIFF}}
      g: {{versions: {versions}, min_versions: {least}, ttl: {ttl}, bloomfilter: ROWCOL, blocksize: 1K}}
    cells:
      - {{family: f, qualifier: a, value: {{field: a, as: text}}}}
      - {{family: f, qualifier: b, value: {{field: b, as: text}}}}
      - {{family: g, qualifier: c, value: {{field: c, as: text}}}}
    regions: {{split: sampled, count: 5}}
"""
NOW = 1_700_000_000_000
TTL_S = 3600


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Makes three loads that overlap. Returns (job, load folders, cells), where cells is {(row, family, qualifier, ts):
    value}."""
    folder = tmp_path_factory.mktemp("scan")
    job = folder / "job.yaml"
    job.write_text(JOB.format(versions=2, least=0, ttl=TTL_S))
    rng = random.Random(7)
    cells, dirs = {}, []
    for n in range(3):
        with open(folder / "events.csv", "w", newline="") as out:
            w = csv.writer(out)
            w.writerow(["id", "when", "a", "b", "c"])
            seen = set()
            for _ in range(1500):
                ident, when = rng.randrange(700), NOW - rng.choice([0, 1000, 7000, 3_599_000, 3_601_000, 9_000_000])
                if (ident, when) in seen:
                    continue
                seen.add((ident, when))
                values = [f"{c}{n}-{rng.randrange(1000)}" for c in "abc"]
                w.writerow([ident, when, *values])
                for (family, qualifier), v in zip([("f", "a"), ("f", "b"), ("g", "c")], values):
                    cells[ident, family, qualifier, when] = v
        dirs.append(folder / f"load{n}")
        done = loads.run("load", job, "-o", dirs[-1], "--quiet")
        assert done.returncode == 0, done.stderr
    # this test does not check salts, so it takes the salt from the stored keys
    salts = {}
    for d in dirs:
        done = loads.run("inspect", "--cells", "--json", *d.glob("t/hfiles/f/*"))
        for shown in json.loads(done.stdout):
            for c in shown["cells"]:
                raw = c["row"].encode().decode("unicode_escape").encode("latin-1")
                salts[int.from_bytes(raw[1:], "big")] = raw
    return job, dirs, {(salts[i], *rest): v for (i, *rest), v in cells.items()}


def answer(cells, start=b"", stop=b"", reverse=False, versions=1, times=(0, 1 << 62), columns=None, limit=None):
    """Computes [(row, [(family, qualifier, ts, value)])] by HBase's rules from the cells of all loads."""
    kept = {"f": 3, "g": 2}
    rows = {}
    for (row, family, qualifier, ts), v in cells.items():
        low, high = (stop, start) if reverse else (start, stop)
        if reverse and ((low and row <= low) or (high and row > high)):
            continue
        if not reverse and (row < low or (high and row >= high)):
            continue
        if columns and (family, qualifier) not in columns and (family, None) not in columns:
            continue
        if family == "g" and ts < NOW - 1000 * TTL_S:
            continue
        if times[0] <= ts < times[1]:
            rows.setdefault(row, {}).setdefault((family, qualifier), []).append((ts, v))
    out = []
    for row in sorted(rows, reverse=reverse):
        found = []
        for (family, qualifier), all_versions in sorted(rows[row].items()):
            newest = sorted(all_versions, reverse=True)[:min(versions, kept[family])]
            found += [(family, qualifier, ts, v) for ts, v in newest]
        out.append((row, found))
    return out[:limit]


def parsed(text):
    out = []
    for line in text.splitlines():
        r = json.loads(line)
        out.append((r["row"].encode().decode("unicode_escape").encode("latin-1"),
                    [(c["family"], c["qualifier"], c["timestamp"], c["value"]) for c in r["cells"]]))
        assert all(c["type"] == "Put" for c in r["cells"])
    return out


def hexed(raw):
    return "".join(f"\\x{b:02X}" for b in raw)


def ask(command, table, *args):
    job, dirs, _ = table
    done = loads.run(command, job, *dirs, "--format", "jsonl", "--now", NOW, *args)
    assert done.returncode == 0, done.stderr
    return parsed(done.stdout.replace("-", "-"))


def plain(rows):
    """Escapes values as inspect does."""
    return [(row, [(f, q, ts, loads.escaped(v.encode())) for f, q, ts, v in cells]) for row, cells in rows]


@pytest.mark.parametrize("seed", range(60))
def test_random_questions(table, seed):
    rng = random.Random(seed)
    cells = table[2]
    keys = sorted({k[0] for k in cells})
    args, how = [], {}
    if rng.random() < 0.6:
        a, b = sorted(rng.sample(keys, 2))
        a = rng.choice([a, a + b"\0", a[:3], b""])
        how["reverse"] = rng.random() < 0.5
        how["start"], how["stop"] = (b, a) if how["reverse"] else (a, b)
        args += ["--start", hexed(how["start"])] if how["start"] else []
        args += ["--stop", hexed(how["stop"])] if how["stop"] else []
        args += ["--reverse"] if how["reverse"] else []
    if rng.random() < 0.5:
        how["versions"] = rng.choice([1, 2, 3, 100])
        args += ["--versions", how["versions"]]
    if rng.random() < 0.4:
        how["times"] = (NOW - rng.choice([7000, 7001, 3_599_000, 1 << 40]), NOW - rng.choice([0, -1, 1000, 999]))
        args += ["--time-range", "{}..{}".format(*how["times"])]
    if rng.random() < 0.4:
        names = rng.choice(["f:a", "f:a,g:c", "g", "f:b,f:a,f:a", "f,g:c"])
        how["columns"] = {tuple(n.split(":")) if ":" in n else (n, None) for n in names.split(",")}
        args += ["--columns", names]
    if rng.random() < 0.3:
        how["limit"] = rng.choice([1, 5, 50])
        args += ["--limit", how["limit"]]
    assert ask("scan", table, *args) == plain(answer(cells, **how))


def test_get(table):
    cells = table[2]
    keys = sorted({k[0] for k in cells})
    for key in keys[::60] + [b"\x00", keys[3] + b"\0"]:
        want = [r for r in answer(cells) if r[0] == key]
        assert ask("get", table, "--row", hexed(key)) == plain(want)
        want = [r for r in answer(cells, columns={("g", "c")}, versions=9) if r[0] == key]
        assert ask("get", table, "--row", hexed(key), "--columns", "g:c", "--versions", "9") == plain(want)


def test_prefix_max_columns_and_counts(table):
    job, dirs, cells = table
    want = [r for r in answer(cells) if r[0][0] == 2]
    assert ask("scan", table, "--prefix", "\\x02") == plain(want)
    assert ask("scan", table, "--max-columns", "2") == plain([(r, c[:2]) for r, c in answer(cells)])
    done = loads.run("scan", job, *dirs, "--quiet", "--now", NOW)
    rows = answer(cells)
    assert done.stdout == f"{len(rows)} rows, {sum(len(c) for _, c in rows)} cells\n"


def test_formats(table):
    job, dirs, cells = table
    first = answer(cells)[0]
    done = loads.run("scan", job, *dirs, "--limit", "1", "--now", NOW, "--format", "csv")
    got = list(csv.reader(done.stdout.splitlines()))
    assert got[0] == ["row", "family", "qualifier", "timestamp", "type", "value"]
    assert got[1:] == [[loads.escaped(first[0]), f, q, str(ts), "Put", loads.escaped(v.encode())] for f, q, ts, v in first[1]]
    done = loads.run("scan", job, *dirs, "--limit", "1", "--now", NOW)
    assert [l.split()[0] for l in done.stdout.splitlines()] == [loads.escaped(first[0])] * len(first[1])


def test_explain(table):
    """A get reads at most one file for each load and family. For each other file, the output has the reason why scan skipped it."""
    job, dirs, cells = table
    key = sorted({k[0] for k in cells})[40]
    done = loads.run("get", job, *dirs, "--row", hexed(key), "--columns", "f", "--now", NOW, "--explain", "--quiet")
    *lines, total = done.stderr.splitlines()
    files = [p for d in dirs for p in d.glob("t/hfiles/*/*")]
    assert len(lines) == len(files)
    read = [l for l in lines if l.startswith("read ")]
    assert 1 <= len(read) <= len(dirs)
    assert all(l.startswith("spared ") and l.rsplit(": ", 1)[1].split(",")[0] in
               {"row keys", "family", "bloom filter", "timestamps"} for l in lines if l not in read)
    blocks = [tuple(map(int, re.search(r"(\d+) of (\d+) data blocks, (\d+) index, (\d+) bloom", l).groups())) for l in read]
    assert all(data == 1 and of > 5 and data + index + bloom <= 4 for data, of, index, bloom in blocks)
    assert total.startswith(f"in all  {len(read)} of {len(files)} files, {len(read)} of ")
    done = loads.run("scan", job, *dirs, "--columns", "g", "--now", NOW + 10**12, "--explain", "--quiet")
    assert done.stdout == "0 rows, 0 cells\n"
    assert all("timestamps" in l or "family" in l for l in done.stderr.splitlines()[:-1])
    # a range skips blocks outside the range, and a full scan reads each data block of a family once
    done = loads.run("scan", job, *dirs, "--where", f"id = {int.from_bytes(key[1:], 'big')}", "--now", NOW, "--explain")
    assert all(l.split()[0] == "spared" or " 1 of " in l for l in done.stderr.splitlines()[:-1])
    done = loads.run("scan", job, *dirs, "--columns", "f", "--now", NOW, "--explain", "--quiet")
    for l in done.stderr.splitlines():
        if l.startswith("read"):
            data, of = map(int, re.search(r"(\d+) of (\d+) data blocks", l).groups())
            assert data == of > 1


def test_min_versions(table, tmp_path):
    """Expired cells stay visible if MIN_VERSIONS requires them. The attributes come from the job's current text."""
    _, dirs, cells = table
    job = tmp_path / "job.yaml"
    job.write_text(JOB.format(versions=2, least=1, ttl=TTL_S))
    done = loads.run("scan", job, *dirs, "--columns", "g", "--format", "jsonl", "--now", NOW)
    newest = {}
    for (row, family, _, ts), v in cells.items():
        if family == "g":
            newest[row] = max(newest.get(row, (0, "")), (ts, v))
    want = [(row, [("g", "c", ts, loads.escaped(v.encode()))]) for row, (ts, v) in sorted(newest.items())]
    assert parsed(done.stdout) == want


def test_order_of_loads(table):
    """If loads have equal cells, the load named last wins."""
    job, dirs, cells = table
    done = loads.run("scan", job, *reversed(dirs), "--format", "jsonl", "--now", NOW, "--columns", "f:a")
    other = parsed(done.stdout)
    want = plain(answer(cells, columns={("f", "a")}))
    assert [r for r, _ in other] == [r for r, _ in want]
    assert other != want
    assert {v[1][0][3][1] for v in want} >= {"2"} and {v[1][0][3][1] for v in other} >= {"0"}


def test_refused(table, tmp_path):
    job, dirs, _ = table
    for args, said in [(("scan", job), "folders of loads"), (("get", job, dirs[0]), "--row"),
                       (("scan", job, dirs[0], "--row", "a"), "--row"),
                       (("scan", job, dirs[0], "--columns", "h:x"), "family `h`"),
                       (("scan", job, dirs[0], "--time-range", "5..4"), "--time-range"),
                       (("scan", job, dirs[0], "--time-range", "yesterday"), "--time-range"),
                       (("scan", job, dirs[0], "--limit", "0"), "--limit"),
                       (("scan", job, dirs[0], "--now", "later"), "--now"),
                       (("scan", job, dirs[0], "--format", "xml"), "--format"),
                       (("scan", job, dirs[0], "--table", "u"), "no table `u`"),
                       (("scan", job, dirs[0], "--raw", "--columns", "f:a"), "raw")]:
        done = loads.run(*args)
        assert done.returncode == 2 and said in done.stderr and done.stdout == "", args
    done = loads.run("scan", job, tmp_path)
    assert done.returncode == 1 and "manifest.json" in done.stderr
