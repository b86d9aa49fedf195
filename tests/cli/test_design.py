"""Tests `saltmill design`, `check --queries` and `compare` against loads, and against what a few lines of Python count."""
import json
import random
import subprocess

import pytest

import design_predictions
from loads import PROGRAM, ROOT


def run(*words, ok=(0,), cwd=None):
    done = subprocess.run([str(PROGRAM), *map(str, words)], capture_output=True, text=True, cwd=cwd)
    assert done.returncode in ok, (words, done.returncode, done.stdout, done.stderr)
    return done


def design(*words, ok=(0, 3)):
    return json.loads(run("design", *words, "--json", "--quiet", ok=ok).stdout)


def named(result, name):
    return next(d for d in result["list"] if d["name"] == name)


def files_rows(n=20000, owners=500):
    r = random.Random(7)
    rows = [(i + 1, r.randrange(owners) + 1, 1735689600000 + i * 130000 + r.randrange(100000), "file %d" % r.randrange(900)) for i in range(n)]
    return rows


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    path = tmp_path_factory.mktemp("design") / "files.csv"
    path.write_text("id,owner,created,name\n" + "".join(
        f"{i},{o},{design_predictions.iso(t)},{name}\n" for i, o, t, name in files_rows()))
    return path


ASKS = ["--ask", "owner = ? and created between ? and ? + 1d", "1000/s",
        "--ask", "created between ? and ? + 10m", "1/s", "--ask", "owner = ? latest 20", "200/s"]


# --- predictions ---

@pytest.mark.parametrize("seed", [3, 11, 100])
def test_rows_ranges_and_blocks_are_those_of_a_load(seed):
    """All answers of three random sets: ranges and rows exactly, blocks within 20 % or 1 a range. `make predictions` compares 24 sets of 100,000
    events. Small blocks let 6,000 events fill many."""
    results = design_predictions.compare(seed, 6000, values=1, report=lambda *_: None, block="4K")
    assert len(results) >= 3 and not [r for r in results if r[3]]


@pytest.mark.parametrize("load", [["--rows", "1G"], ["--rows", "1G", "--writes", "500/s"], ["--rows", "2M", "--writes", "1/s", "--grow", "time"]])
def test_returned_rows_grow_with_the_load(files, load):
    """A range without a filter returns each row that it reads, also in a table of 1G rows."""
    words = ["--ask", "owner = ?", "100/s", "--ask", "created between ? and ? + 10m", "1/s", "--ask", "owner = ? latest 20", "9/s"]
    for d in design(files, *words, *load)["list"]:
        for q in d["questions"][:2]:
            if q["plan"] == "range" and not q["filtered"]:
                assert q["returned"]["median"] == pytest.approx(q["rows"]["median"]) and q["returned"]["max"] == pytest.approx(q["rows"]["max"])
        assert d["questions"][2]["returned"]["max"] == 20


# --- covering tables ---

@pytest.fixture(scope="module")
def covered(tmp_path_factory):
    """Returns the design of events whose notes are most of the bytes, its folder, and the events."""
    folder, r = tmp_path_factory.mktemp("covered"), random.Random(12)
    rows = [(i + 1000, "u%02d" % r.randrange(20), 1735689600000 + i * 60000, r.randrange(10 ** 6), "x" * (150 + r.randrange(200))) for i in range(6000)]
    (folder / "e.csv").write_text("id,who,at,amount,note\n" + "".join(f"{i},{w},{t},{a},{n}\n" for i, w, t, a, n in rows))
    words = ["--ask", "who = ? columns amount", "500/s", "--ask", "who = ? and at between ? and ? + 1h", "100/s", "--ask", "id = ?", "10/s"]
    return design(design_predictions.job_with_blocks(folder / "e.csv", "2K"), *words, "-o", folder / "out")["list"], folder / "out", rows


def test_a_covering_table_has_the_columns_of_a_question(covered):
    best, out = covered[0][0], covered[1]
    q = best["questions"][0]
    t = best["tables"][q["table"]]
    assert t["kind"] == "covering" and q["plan"] == "range"
    assert all(best["tables"][other["table"]]["kind"] != "covering" for other in best["questions"][1:])
    # by hand: 4 + 4 + 2, row key, 1 + family d, amount, 8 + 1, 6 digits at most, 1 (its sequence in HBase)
    assert t["row_bytes"] == pytest.approx(10 + t["key_bytes"] + 1 + 1 + 6 + 9 + 5.89 + 1, abs=0.1)
    job = (out / "job.yaml").read_text()
    assert job[job.index(f'- name: "{t["name"]}"'):].split("regions:")[0].count("qualifier: ") == 1
    run("check", out / "job.yaml", "--queries", out / "queries.yaml", "--quiet")


def test_a_covering_table_is_read_as_predicted(covered, tmp_path):
    """The rows are exact, and the blocks are within 20 %."""
    best, out, rows = covered
    q = best[0]["questions"][0]
    table = best[0]["tables"][q["table"]]["name"]
    run("load", out / "job.yaml", "-o", tmp_path / "load", "--quiet")
    asked = [f"u{i:02}" for i in range(8)]
    (tmp_path / "q.yaml").write_text(json.dumps([{"ask": f"who = {w} columns amount", "rate": "1/s"} for w in asked]))
    found = json.loads(run("check", out / "job.yaml", "--queries", tmp_path / "q.yaml", "--json", "--quiet").stdout)["list"][0]
    blocks = [0, 0]
    for w, a in zip(asked, found["questions"]):
        assert found["tables"][a["table"]]["name"] == table
        *_, read, exact = design_predictions.load_table(out / "job.yaml", table, f"who = {w}", tmp_path / "load", 0)
        assert exact and a["rows"]["max"] == sum(row[1] == w for row in rows)
        blocks = [blocks[0] + a["blocks"]["max"], blocks[1] + read]
    assert blocks[0] == pytest.approx(blocks[1], rel=0.2)
    decoded = run("scan", out / "job.yaml", tmp_path / "load", "--table", table, "--where", "who = u03", "--format", "jsonl", "--decode").stdout
    assert sorted(list(json.loads(line)["cells"].values()) for line in decoded.splitlines()) == sorted([row[3]] for row in rows if row[1] == "u03")


def test_no_covering_table_without_columns(files):
    for d in design(files, *ASKS, "--rows", "1G", "--writes", "500/s")["list"]:
        assert all(t["kind"] != "covering" for t in d["tables"])


# --- wide tables ---

@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """Returns the designs of events of students with few events each, their folder, and the events."""
    folder, r = tmp_path_factory.mktemp("wide"), random.Random(5)
    rows = [(s, 1735689600000 + r.randrange(400 * 86400000), f"b{r.randrange(900)}", "x" * r.randrange(300))
            for s in range(1500) for _ in range(r.choice([1, 2, 3, 4, 6, 9]))]
    rows = [(i + 1000, *row) for i, row in enumerate(sorted(rows, key=lambda row: row[1]))]
    (folder / "e.csv").write_text("id,who,at,book,note\n" + "".join(f"{i},s{w:05},{t},{b},{n}\n" for i, w, t, b, n in rows))
    words = ["--ask", "who = ? latest 5", "100/s", "--ask", "who = ? and at between ? and ? + 30d", "20/s", "--ask", "who = ?", "50/s"]
    job = design_predictions.job_with_blocks(folder / "e.csv", "2K")
    return job, words, design(job, *words, "-o", folder / "out")["list"], folder / "out", rows


def wide_table(d):
    return next((t for t in d["tables"] if t["qualifier"]), None)


def test_a_wide_table_is_listed_with_its_costs(wide):
    listed, rows = wide[2], wide[4]
    one = next(d for d in listed if wide_table(d))
    t, counts = wide_table(one), {}
    for row in rows:
        counts[row[1]] = counts.get(row[1], 0) + 1
    assert t["row_events"] == pytest.approx(len(rows) / len(counts)) and t["row_events_max"] == max(counts.values())
    assert ["field: \"at\"" in t["qualifier"][0], "\"id\"" in t["qualifier"][1]] == [True, True] and "cannot split" in one["sentence"]
    assert all(q["plan"] == "get" and q["rows"]["max"] == 1 for q in one["questions"] if one["tables"][q["table"]] is t)
    saved = max((1 - q["servers"] / p["servers"], f"q{i + 1}") for i, (q, p) in enumerate(zip(one["questions"], listed[0]["questions"])))
    assert saved[0] < 0.25 and one["sentence"].endswith(f"; it saves {100 * saved[0]:.0f} % of the time of {saved[1]}, and a change needs 25 %")
    # by hand: each cell has 10 bytes of lengths, row key, 1 family, 8 + 4 bytes before the name, the name, 9 bytes, value, 1 (its sequence)
    size = sum(sum(10 + t["key_bytes"] + 1 + 12 + len(name) + 9 + len(str(v)) + 1 for name, v in zip(("id", "who", "at", "book", "note"), (i, "s00000", at, b, n)))
               for i, w, at, b, n in rows)
    assert t["row_bytes"] == pytest.approx(size / len(counts), rel=0.02)


def test_a_wide_table_is_read_as_predicted(wide, tmp_path):
    """Rows are exact, and the blocks are within 20 %, by `scan --explain` of a load. The cells of an entity are its events."""
    listed, out, rows = wide[2:]
    at = next(i for i, d in enumerate(listed) if wide_table(d))
    table, job = wide_table(listed[at]), out / f"design-{at + 1}.yaml"
    run("lint", job, "--quiet")
    run("load", job, "-o", tmp_path / "load", "--quiet")
    asked = [f"s{i:05}" for i in range(3, 1500, 190)]
    (tmp_path / "q.yaml").write_text(json.dumps([{"ask": f"who = {w}", "rate": "1/s"} for w in asked]))
    found = json.loads(run("check", job, "--queries", tmp_path / "q.yaml", "--json", "--quiet").stdout)["list"][0]
    blocks = [0, 0]
    for w, a in zip(asked, found["questions"]):
        ranges, read_rows, read, exact = design_predictions.load_table(job, table["name"], f"who = {w}", tmp_path / "load", 0)
        assert (a["plan"], a["ranges"]["max"], a["rows"]["max"]) == ("get", ranges, read_rows) and exact and read_rows == 1
        assert a["returned"]["max"] == sum(row[1] == int(w[1:]) for row in rows)
        blocks = [blocks[0] + a["blocks"]["max"], blocks[1] + read]
    assert blocks[0] == pytest.approx(blocks[1], rel=0.2)
    decoded = run("scan", job, tmp_path / "load", "--table", table["name"], "--where", f"who = {asked[1]} and at >= 1740000000000", "--format", "jsonl", "--decode")
    values = [v for line in decoded.stdout.splitlines() for name, v in json.loads(line)["cells"].items() if name.endswith("/book")]
    assert sorted(values) == sorted(row[3] for row in rows if f"s{row[1]:05}" == asked[1] and row[2] >= 1740000000000)


def test_a_wide_table_is_chosen_if_rows_cost_much(wide, tmp_path):
    """Wide and tall rows have the same bytes, so a wide table wins only if each row costs much."""
    job, words, listed = wide[:3]
    assert not wide_table(listed[0])
    (tmp_path / "c.json").write_text(json.dumps({"seek_s": 1e-6, "block_s": 1e-6, "row_s": 1e-3, "get_s": 4e-4, "write_row_s": 2e-5, "write_byte_s": 2.5e-8}))
    assert wide_table(design(job, *words, "--constants", tmp_path / "c.json")["list"][0])


def test_no_wide_table_for_busy_entities(files, wide):
    """HBase cannot split a row, so a row has at most 10 events at the 99th percentile, also after the growth of the table."""
    assert not any(wide_table(d) for d in design(files, "--ask", "owner = ? latest 20", "200/s")["list"])
    assert not any(wide_table(d) for d in design(wide[0], *wide[1], "--rows", "1G", "--writes", "1/s")["list"])


# --- settings of the families ---

def test_a_prefix_filter_needs_writes_and_a_shared_prefix(wide):
    """HBase uses ROWPREFIX_FIXED_LENGTH only if start and stop of a scan share the prefix, so a range of times is needed. A loaded table has one
    file a region, which no filter spares."""
    job, span = wide[0], ["--ask", "who = ? and at between ? and ? + 30d", "20/s"]
    busy = ["--rows", "10G", "--writes", "50k/s"]
    t = design(job, *span, *busy)["list"][0]["tables"][0]
    fixed = sum(int({"s": 1}.get(w[0], 6)) for w in t["key"].split() if w.startswith(("salt", "who")))
    assert t["bloomfilter"] == "ROWPREFIX_FIXED_LENGTH" and t["bloom_prefix"] == fixed and "%" in t["advice"]
    for words in (span, ["--ask", "who = ?", "20/s", *busy], [*span, *busy, "--grow", "time"]):
        assert design(job, *words)["list"][0]["tables"][0]["bloomfilter"] == "NONE", words


def test_versions_and_a_ttl_follow_from_the_questions(wide):
    job, rows = wide[0], wide[4]
    events = {}
    for row in rows:
        events[row[1]] = events.get(row[1], 0) + 1
    kept = sum(min(n, 2) for n in events.values())
    notes = " ".join(design(job, "--ask", "who = ? latest 2", "1/s", "--ask", "who = ? latest 1", "1/s")["notes"])
    assert (f"`versions: 2`, keeps {kept} of {len(rows)} events" in notes) == (kept < len(rows) // 2)
    notes = " ".join(design(job, "--ask", "who = ? latest 1", "1/s")["notes"])
    assert f"`versions: 1`, keeps {len(events)} of {len(rows)} events" in notes
    assert "`versions:" not in " ".join(design(job, "--ask", "who = ? latest 1", "1/s", "--ask", "who = ?", "1/s")["notes"])
    span = (max(row[2] for row in rows) - min(row[2] for row in rows)) / 86400000
    notes = " ".join(design(job, "--ask", "who = ? and at >= ? - 3d", "1/s", "--ask", "at >= ? - 30d", "1/s")["notes"])
    assert f"`ttl: {30 * 86400}s` keeps {float('%.2g' % (100 * 30 / span)):g} % of the rows" in notes
    assert "`ttl:" not in " ".join(design(job, "--ask", "at >= ? - 3d", "1/s", "--ask", "who = ?", "1/s")["notes"])


def test_families_are_split_by_disjoint_columns(covered):
    job = covered[1].parent / "init.yaml"
    notes = design(job, "--ask", "who = ? columns note", "1/s", "--ask", "who = ? columns amount", "1/s")["notes"]
    # by hand: 11 bytes of lengths, family d, the qualifier, 9 bytes, and the value
    amount = sum(10 + 2 + 6 + 9 + len(str(row[3])) for row in covered[2]) / len(covered[2])
    note = sum(10 + 2 + 4 + 9 + len(row[4]) for row in covered[2]) / len(covered[2])
    assert f"the columns of q2 ({amount:.0f} bytes an event) and q1 ({note:.0f}) are disjoint" in " ".join(notes)
    assert "disjoint" not in " ".join(design(job, "--ask", "who = ? columns note", "1/s", "--ask", "who = ?", "1/s")["notes"])


# --- golden cases of a known set ---

def test_the_experts_order_of_fields(files):
    r = design(files, *ASKS, "--rows", "1G", "--writes", "500/s")
    best = r["list"][0]
    assert best["tables"][0]["rowkey"] == ['{field: "owner", as: u16}', '{field: "created", as: reversed_millis}', '{field: "id", as: u32}']
    assert best["tables"][0]["key_bytes"] == 14
    assert [q["plan"] for q in best["questions"]] == ["range"] * 3
    assert best["questions"][0]["ranges"]["max"] == 1
    assert best["questions"][2]["rows"]["max"] == 20
    assert best["questions"][1]["table"] == 1  # a second table, with the time first, salted
    assert best["tables"][1]["rowkey"][0].startswith("{salt: ") and '"created"' in best["tables"][1]["rowkey"][1]


def test_obvious_keys_have_their_faults(files):
    r = design(files, *ASKS)
    time = named(r, "time first")
    assert time["tables"][0]["busiest_region"] == 1 and round(time["tables"][0]["regions_written"]) == 1
    assert time["busiest_write"] == 1
    ids = named(r, "plain id")
    assert [q["plan"] for q in ids["questions"]] == ["full"] * 3
    assert ids["questions"][0]["rows"]["max"] == 20000
    hashed = named(r, "md5 of id")
    assert hashed["busiest_write"] < 0.25


def test_figures_of_a_question_are_counted(files):
    """The median of the owner's rows, over owners as often as they occur in the events."""
    rows = files_rows()
    count = {}
    for _, owner, _, _ in rows:
        count[owner] = count.get(owner, 0) + 1
    sizes = sorted(count[owner] for _, owner, _, _ in rows)
    q = design(files, "--ask", "owner = ?", "5/s")["list"][0]["questions"][0]
    assert sizes[len(sizes) // 2 - 1500] <= q["rows"]["median"] <= sizes[len(sizes) // 2 + 1500]
    assert q["rows"]["max"] == max(count.values())  # the last draw is the most frequent owner
    assert q["returned"] == q["rows"]


def test_an_index_is_one_get_for_a_row(files):
    r = design(files, "--ask", "id = ?", "1/s", "--ask", "owner = ? latest 3", "1000/s", "--rows", "1G")
    q = r["list"][0]["questions"][0]
    assert q["plan"] in ("index", "range", "get") and q["returned"]["max"] == 1 and q["rows"]["max"] == 1


# --- properties ---

def test_two_runs_and_other_orders_give_the_same(files, tmp_path):
    one = run("design", files, *ASKS, "--json", "--quiet", "--threads", "1").stdout
    assert one == run("design", files, *ASKS, "--json", "--quiet", "--threads", "3").stdout
    mixed = [*ASKS[6:], *ASKS[:6]]
    a, b = json.loads(one), design(files, *mixed)
    assert [t["rowkey"] for t in a["list"][0]["tables"]] == [t["rowkey"] for t in b["list"][0]["tables"]]


def test_more_questions_a_second_cost_more(files):
    loads = [design(files, "--ask", "owner = ? latest 20", f"{rate}/s")["list"][0]["busiest"] for rate in (1, 50, 1000, 20000)]
    assert loads == sorted(loads) and loads[0] < loads[-1]


def test_the_best_is_not_worse_than_an_obvious_design(files):
    r = design(files, *ASKS)
    best = r["list"][0]["busiest"]
    assert all(best <= d["busiest"] * 1.25 + 0.005 for d in r["list"])


def test_hours_win_where_neither_order_does(tmp_path):
    """One table for 10 minutes of a metric and of all metrics. A day holds 144 such spans, an hour 6."""
    draw, at = random.Random(5), 1764547200.0
    events = []
    for _ in range(8000):
        at += draw.expovariate(8000 / 86400)
        events.append((int(at), draw.randrange(400), draw.randrange(10**6)))
    (tmp_path / "in.csv").write_text("at,metric,value\n" + "".join(f"{t},{m},{v}\n" for t, m, v in events))
    best = design(tmp_path / "in.csv", "--servers", 4, "--tables", 1, "--writes", "80/s", "--rows", "8M", "-o", tmp_path / "out",
                  "--ask", "metric = ? and at between ? and ? + 10m", "200/s", "--ask", "at between ? and ? + 10m", "0.1/s")["list"][0]
    assert best["tables"][0]["key"].startswith("salt8(metric) at.hour10 metric2 at8")
    assert run("load", tmp_path / "out" / "job.yaml", "-o", tmp_path / "load", "--quiet").returncode == 0
    for metric in draw.sample(range(400), 3):
        lo = draw.choice(events)[0]
        want = sum(m == metric and lo <= t < lo + 7200 for t, m, _ in events)
        where = f"metric = {metric} and at >= {lo} and at < {lo + 7200}"
        assert run("scan", tmp_path / "out" / "job.yaml", tmp_path / "load", "--where", where, "--quiet").stdout.startswith(f"{want} rows,")
        ranges = json.loads(run("key", "ranges", tmp_path / "out" / "job.yaml", "--where", where, "--json").stdout)
        assert ranges["exact"] and len(ranges["ranges"]) == 2 + (lo % 3600 > 0)


def test_too_few_servers_are_status_3(files):
    done = run("design", files, "--ask", "owner = ?", "100k/s", "--servers", "1", "--quiet", ok=(3,))
    assert "WARNING: no design keeps the busiest" in done.stdout


def test_a_written_job_hides_no_event_and_passes_lint(files, tmp_path):
    out = tmp_path / "out"
    run("design", files, *ASKS, "-o", out, "--quiet")
    for job in [out / "job.yaml", *out.glob("design-*.yaml")]:
        found = json.loads(run("lint", job, "--json", "--quiet", ok=(0, 3)).stdout)
        assert not [f for f in found if f["severity"] == "severe"], found
        run("load", job, "-o", tmp_path / job.stem, "--quiet", "--max-duplicates", "0")
    run("check", out / "job.yaml", "--queries", out / "queries.yaml", "--quiet")


# --- questions as tests ---

def test_questions_name_the_sample_and_the_servers(files, tmp_path):
    """With figures of a sample or of another number of servers, check would call the unchanged job worse, or find no fault."""
    asks = ("--ask", "owner = ? and created between ? and ? + 9d", "5/s", "--ask", "name = ?", "1/d")
    run("design", files, *asks, "--sample", "5%", "--servers", "2", "--tables", "1", "-o", tmp_path / "out", "--quiet")
    questions = tmp_path / "out/queries.yaml"
    assert questions.read_text().count(", servers: 2, sample: 5%}") == 2
    run("check", tmp_path / "out/job.yaml", "--queries", questions, "--quiet")
    before = questions.read_bytes()
    run("check", tmp_path / "out/job.yaml", "--queries", questions, "--update", "--quiet")
    assert questions.read_bytes() == before
    questions.write_text(before.decode().replace(", servers: 2, sample: 5%", ""))
    assert "found" in run("check", tmp_path / "out/job.yaml", "--queries", questions, "--quiet", ok=(3,)).stdout


@pytest.fixture(scope="module")
def written(files, tmp_path_factory):
    out = tmp_path_factory.mktemp("written") / "out"
    run("design", files, *ASKS, "-o", out, "--quiet")
    return out


def test_a_worse_key_fails(written, tmp_path):
    text = (written / "job.yaml").read_text()
    worse = tmp_path / "worse.yaml"
    worse.write_text(text.replace('      - {field: "owner", as: u16}\n', "", 1))
    done = run("check", worse, "--queries", written / "queries.yaml", "--quiet", ok=(3,))
    assert "q1: " in done.stdout and "q3: plan: found full, expected range" in done.stdout
    own = tmp_path / "queries.yaml"
    own.write_text((written / "queries.yaml").read_text())
    run("check", worse, "--queries", own, "--update", "--quiet")
    run("check", worse, "--queries", own, "--quiet")
    assert "plan: full" in own.read_text()


def test_compare_prints_both(written, tmp_path):
    done = run("compare", written / "job.yaml", written / "job.yaml", "--queries", written / "queries.yaml", "--quiet")
    assert "(+" not in done.stdout and "q3  range to range" in done.stdout
    both = json.loads(run("compare", written / "job.yaml", written / "design-2.yaml", "--queries", written / "queries.yaml", "--json", "--quiet").stdout)
    assert [d["list"][0]["name"] for d in both] == ["A", "B"]


@pytest.mark.parametrize("text, expected", [
    ("", ":1:1: found an empty file"), ("a: 1\n", ":1:1: expected a list of questions"),
    ("- {rate: 5/s}\n", ":1:3: found no `ask`"), ("- {ask: x, rate: fast}\n", ":1:18: expected a rate"),
    ("- {ask: x, plan: good}\n", "expected one of get, range, index, full"), ("- {ask: x, rows: 5}\n", "found an unknown key"),
    ("- {ask: [x]}\n", "found a list or mapping"), ("- {ask: 'x'\n", "queries.yaml:2:1: "),
    ("- {ask: x, servers: 0}\n", ":1:21: expected a number of servers"), ("- {ask: x, sample: 5}\n", ":1:20: expected a share"),
    ("- {ask: x, servers: 2}\n- {ask: x, servers: 3}\n", ":2:21: expected a number of servers, the same"),
    ("- {ask: 'nobody = ?'}\n", "has no field `nobody`")])
def test_bad_questions_are_refused_with_their_place(written, tmp_path, text, expected):
    queries = tmp_path / "queries.yaml"
    queries.write_text(text)
    done = run("check", written / "job.yaml", "--queries", queries, "--quiet", ok=(2,))
    assert expected in done.stderr and str(queries) in done.stderr


def test_the_example_passes(flights_csv):
    run("check", ROOT / "conf/flights.yaml", flights_csv, "--queries", ROOT / "conf/questions/flights.yaml", "--quiet")


def test_the_cost_of_a_key(files, tmp_path, written):
    """The bytes of the keys are rows * cells * bytes; a prefix of sorted keys is at most what FAST_DIFF stores."""
    plan = json.loads(run("plan", written / "job.yaml", "--rows", "10M", "--json", "--quiet").stdout)["tables"][0]["key_cost"]
    assert plan["key_bytes"] == 14 and plan["cells"] == 4 and plan["key_bytes_stored"] == 10e6 * 4 * 14
    keys = sorted(o.to_bytes(2, "big") + (2**63 - 1 - t).to_bytes(8, "big") + i.to_bytes(4, "big") for i, o, t, _ in files_rows())
    fresh = len(keys[0]) + sum(14 - next(n for n in range(14) if a[n] != b[n]) for a, b in zip(keys, keys[1:]))
    assert abs(plan["key_bytes_encoded"] / 10e6 - fresh / len(keys)) < 1e-6
    assert 0 < plan["memstore_share"] < 1 and plan["regions"] == 1
    assert "key_cost" not in json.loads(run("plan", written / "job.yaml", "--json", "--quiet").stdout)["tables"][0]


def test_the_cost_of_the_key_of_a_wide_row(tmp_path):
    """A row of 50 events with 2 cells each stores its key in 100 cells."""
    (tmp_path / "in.csv").write_text("owner,id\n" + "".join(f"{i % 20},{i}\n" for i in range(1000)))
    (tmp_path / "job.yaml").write_text("""source: {csv: {files: [in.csv]}}
fields: {owner: {type: u32}, id: {type: u32}}
tables:
  - name: t
    rowkey: [{field: owner, as: u32}]
    timestamp: 1
    families: {f: {}}
    cells:
      - {family: f, qualifier: [{field: id, as: u32}, {const: a}], value: owner}
      - {family: f, qualifier: [{field: id, as: u32}, {const: b}], value: id}
    regions: {split: none}
""")
    cost = json.loads(run("plan", tmp_path / "job.yaml", "--rows", "1M", "--json", "--quiet").stdout)["tables"][0]["key_cost"]
    assert cost["cells"] == 100 and cost["key_bytes_stored"] == 1e6 * 100 * 4
    text = sum(len(str(i % 20)) + len(str(i)) for i in range(1000)) / 20  # values of a row
    # a KeyValue has 20 bytes besides key, family (1), qualifier (5) and value
    assert cost["row_bytes"] == pytest.approx(100 * (20 + 4 + 1 + 5) + text, rel=0.01)
    assert cost["memstore_share"] == pytest.approx(100 * 4 / cost["row_bytes"])


def test_an_event_without_a_value(tmp_path):
    """A field with nulls is in no key, and rows without the value match no question about it."""
    path = tmp_path / "n.csv"
    path.write_text("id,who,at\n" + "".join(f"{i},{'' if i % 3 == 0 else 'w%d' % (i % 7)},{1735689600000 + i * 1000}\n" for i in range(2000)))
    r = design(path, "--ask", "who = ?", "1/s", "--ask", "who = 'w1' and at between ? and ? + 60s", "1/s")
    assert any("`who` is null in 667 of 2000 events" in n for n in r["notes"])
    assert not any('"who"' in p for d in r["list"] for t in d["tables"] for p in t["rowkey"])
    assert r["list"][0]["questions"][0]["returned"]["max"] == max(sum(1 for i in range(2000) if i % 3 and i % 7 == w) for w in range(7))


def test_a_range_of_a_field_that_a_compared_key_hashes(tmp_path):
    """`init` proposes a hash of all fields, which cannot answer the range; the other keys can."""
    path = tmp_path / "lists.csv"
    path.write_text("user,value\n" + "".join(f"{i % 50},{i * 7919 % 100003}\n" for i in range(3000)))
    best = design(path, "--ask", "user = ? and value between ? and ? + 1000", "5/s")["list"][0]
    assert best["questions"][0]["plan"] == "range" and best["questions"][0]["rows"] == best["questions"][0]["returned"]


# --- refusals and small inputs ---

@pytest.mark.parametrize("ask, expected", [
    ("owner = ? latest", "found no number after `latest`"), ("owner = ? latest 0", "expected a number after `latest`, at least 1"),
    ("owner = ? latest 3 by name", "expected a field of type time"), ("owner starts with ?", "`starts with` needs a text, but owner is a u32"),
    ("owner = ? + 3", "found `?+3`"), ("owner = ? recent soon", "expected a time such as 1d"), ("who = ?", "has no field `who`"),
    ("owner = ? latest 3 sideways", "expected one of latest, columns, recent and worst")])
def test_questions_are_refused_with_their_place(files, ask, expected):
    done = run("design", files, "--ask", ask, "1/s", "--quiet", ok=(2,))
    assert expected in done.stderr and "character" in done.stderr


def test_a_range_of_digits_in_text_is_refused(tmp_path):
    path = tmp_path / "days.json"
    path.write_text("".join('{"day": "201209%02d", "x": "%d"}\n' % (i % 28 + 1, i) for i in range(50)))
    job = tmp_path / "job.yaml"
    job.write_text("source: {json: {files: [days.json]}}\nfields: {day: {type: text}, x: {type: text}}\ntables:\n  - name: t\n"
                   "    rowkey: [{field: x}]\n    timestamp: 1\n    families: {f: {}}\n    cells: [{family: f, qualifier: d, value: day}]\n")
    done = run("design", job, "--ask", "day between ? and ?", "--quiet", ok=(2,))
    assert "--field 'day={type: u64}'" in done.stderr or "type: u64" in done.stderr


def test_small_examples(tmp_path):
    r = design(ROOT / "conf/files.yaml", "--ask", "owner = ? and created between ? and ?", "10/s", "--ask", "owner = ? latest 5", "1/s")
    parts = r["list"][0]["tables"][0]["rowkey"]
    assert [p.split('"')[1] for p in parts if p.startswith("{field")] == ["owner", "created", "id"]
    assert any(n.startswith("10 events are too few") for n in r["notes"])
    iot = design(ROOT / "conf/iot.jsonl", "--ask", "meter.id = ? latest 5", "1/s")
    assert iot["list"] and iot["list"][0]["tables"][0]["hidden"] <= 1  # the file has one event twice


def test_a_calibration_needs_a_cluster(files, tmp_path):
    """The table of a real HBase is in hbase/test_calibrate.py."""
    def fails(status, *more):
        return run("design", files, "--ask", "owner = ?", *more, ok=(status,), cwd=tmp_path).stderr
    assert "--calibrate" in fails(2, "--calibrate")
    assert "--hbase" in fails(2, "--hbase", "127.0.0.1:1")
    (tmp_path / "c.json").write_text("{}")
    assert "--constants" in fails(2, "--calibrate", "--hbase", "127.0.0.1:1", "--constants", "c.json")
    assert "127.0.0.1:1: connect" in fails(1, "--calibrate", "--hbase", "127.0.0.1:1")


def test_no_question_is_a_wrong_use(files):
    assert "--ask" in run("design", files, ok=(2,)).stderr


def test_a_bad_rate_is_no_file(files):
    """A word after a question that looks like a rate and names no file was opened as a file, or taken for an option."""
    for rate in ("10/year", "-5/s", "0/s"):
        assert f"found `{rate}`, expected one such as 1000/s" in run("design", files, "--ask", "owner = ?", rate, "--quiet", ok=(2,)).stderr
    assert "found an empty question" in run("design", files, "--ask", " ", "1/s", "--quiet", ok=(2,)).stderr
    assert "unknown option `-Q/y`" in run("design", files, "-Q/y", "--ask", "owner = ?", ok=(2,)).stderr
