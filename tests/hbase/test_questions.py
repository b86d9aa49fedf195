"""Runs queries in a real HBase. The lines that `key ranges` prints for the shell, Java and Python run unchanged.

Python computes the expected rows from the input. The worked jobs of conf/ give some tables, and random jobs
(tests/cli/random_jobs.py) give other tables. SALTMILL_QUESTIONS=0:38 runs 300 random jobs.
"""

import json
import os
import random
import subprocess
import sys
import time

import pytest
from oracle import reversed_millis, u32, u64, unescape
from cluster import jars
from test_load import CONF, Load, each_row, read_csv, shanghai

sys.path.insert(0, str(CONF.parent / "tests" / "cli"))

from load_oracle import DATE_PARTS, Oracle, Reject, Value, decode  # noqa: E402  (needs the path above)
from random_jobs import Job  # noqa: E402
from test_key_ranges import question  # noqa: E402

TO_CHECK = "# you must still check each row: "


class Tables:
    """Loads of jobs in HBase, and queries on these loads."""

    def __init__(self, saltmill, hbase, folder):
        self.saltmill, self.hbase, self.folder = saltmill, hbase, folder
        self.loads = {}
        self.asked = []  # (job, table, condition) of the answers of `scan`

    def load(self, job, *files):
        if job not in self.loads:
            folder = self.folder / f"{job.stem}{len(self.loads)}"
            folder.mkdir()
            load = self.loads[job] = Load(self.saltmill, self.hbase, folder)
            done = subprocess.run([self.saltmill, "load", job, *files, "-o", load.out, "--max-rejects", "100%"], capture_output=True, text=True,
                                  timeout=120, check=False)
            assert done.returncode in (0, 3), done.stderr
            for manifest in load.out.rglob("create.rb"):
                self.hbase.run_script(manifest)
                name = manifest.parent.name
                self.hbase.bulk_load(manifest.parent / "hfiles", name)
                load.created.append(name)
        return self.loads[job]

    def ranges(self, job, table, where, form):
        done = subprocess.run([self.saltmill, "key", "ranges", job, "--table", table, "--where", where, "--format", form],
                              capture_output=True, timeout=60, check=False)
        assert done.returncode == 0, (where, done.stderr)
        return done.stdout.decode()

    def shell(self, job, table, where):
        return self.ranges(job, table, where, "shell")

    def run(self, text):
        script = self.folder / "ask.rb"
        script.write_text(text)
        return self.hbase.run_script(script).splitlines()

    def scan(self, job, table, where, *options):
        """Returns the rows that `saltmill scan` finds in the published files, in the format used here for HBase's rows.
        """
        done = subprocess.run([self.saltmill, "scan", job, self.loads[job].out, "--table", table, "--where", where,
                               "--format", "jsonl", *options], capture_output=True, timeout=60, check=False)
        assert done.returncode == 0, (where, done.stderr)
        lines = []
        for row in map(json.loads, done.stdout.splitlines()):
            assert {c["type"] for c in row["cells"]} == {"Put"}
            cells = [f"{hexed(c['family'])}:{hexed(c['qualifier'])}:{c['timestamp']}:{hexed(c['value'])}" for c in row["cells"]]
            lines.append("\t".join([hexed(row["row"]), *cells]))
        return lines

    def ask(self, job, table, where, more=""):
        """Returns the rows of the printed lines. `more` contains options that a reader adds to each scan."""
        text = self.shell(job, table, where)
        assert TO_CHECK not in text, text
        if more:
            return self.run(with_options(text, more))
        found, scanned = self.run(text), self.scan(job, table, where)
        self.asked.append((job, table, where))
        if len(queries(text)) > 1 or "salt:" in job.read_text():  # saltmill merges buckets by the key after the salt
            assert sorted(scanned) == sorted(found), where
        else:
            assert scanned == found, where
        return found

    def drop(self):
        """Drops tables that other tests also create."""
        for job, load in self.loads.items():
            if job.stem in ("files", "timeseries_tall", "timeseries_wide", "loans", "flights"):
                load.drop()


@pytest.fixture(scope="module")
def tables(saltmill, hbase, tmp_path_factory):
    one = Tables(saltmill, hbase, tmp_path_factory.mktemp("questions"))
    yield one
    one.drop()


def hexed(text):
    return unescape(text).hex() if text else ""


def keys(lines):
    return [bytes.fromhex(line.split("\t")[0]) for line in lines]


def column(line, family, qualifier=b""):
    """Returns the value of a column of a row."""
    start = f"{family.encode().hex()}:{qualifier.hex()}:"
    [cell] = [c for c in line.split("\t")[1:] if c.startswith(start)]
    return bytes.fromhex(cell.rsplit(":", 1)[1])


# --- the worked jobs -------------------------------------------------------------------------


def test_files(tables):
    job = CONF / "files.yaml"
    tables.load(job)
    golden = ("owner = 1 and day >= '20120901' and day < '20121001' and name starts with 中国好声音 "
              "and category starts with 综艺")

    def ids(lines):
        return [int(k[-6:]) for k in keys(lines)]
    found = tables.ask(job, "files", golden)
    assert ids(found) == [1, 2, 3, 4, 5, 7]
    assert tables.ask(job, "files", golden, ", LIMIT => 2") == found[:2]
    rows = read_csv(CONF / "files.csv")
    # without an owner, the server jumps from day to day, or the other table has a range
    for r in rows:
        assert ids(tables.ask(job, "files", f"day = {r['created']}")) == [int(r["id"])]
    assert ids(tables.ask(job, "files", "day between '20120904' and '20120909' or owner = 4")) == [2, 3, 4, 10]
    found = tables.ask(job, "files_by_time", "created >= 20120906 and created < 20120914")
    assert [int.from_bytes(k[8:], "big") for k in keys(found)] == [3, 4, 5, 6]
    found = tables.ask(job, "files_by_time", "created >= 20120906 and not category = 综艺花絮")
    assert [int.from_bytes(k[8:], "big") for k in keys(found)] == [3, 4, 5, 7, 9, 10]


@pytest.mark.parametrize("form", ["tall", "wide"])
def test_timeseries(tables, form):
    job = CONF / f"timeseries_{form}.yaml"
    tables.load(job)
    views = [(int(r["uid"]), int(r["ts"]), r["item"].encode()) for r in read_csv(CONF / "timeseries.csv")]
    for uid in sorted({v[0] for v in views}):
        newest = [(ts, item) for u, ts, item in sorted(views, key=lambda v: -v[1]) if u == uid]
        if form == "wide":
            [line] = tables.ask(job, "views_wide", f"uid = {uid}")
            assert [c.split(":")[1:] for c in line.split("\t")[1:]] == [
                [reversed_millis(ts).hex(), str(ts), item.hex()] for ts, item in newest]
            latest = ", FILTER => org.apache.hadoop.hbase.filter.ColumnCountGetFilter.new(2)"
            [line] = tables.ask(job, "views_wide", f"uid = {uid}", latest)
            assert len(line.split("\t")) == 1 + min(2, len(newest))
            continue
        found = tables.ask(job, "views_tall", f"uid = {uid}")
        assert [(k, column(line, "cf")) for k, line in zip(keys(found), found)] == [
            (u64(uid) + reversed_millis(ts), item) for ts, item in newest]
        assert tables.ask(job, "views_tall", f"uid = {uid}", ", LIMIT => 2") == found[:2]
        ts, item = newest[0]
        assert tables.ask(job, "views_tall", f"uid = {uid} and ts = {ts}") == found[:1]
        low, high = newest[-1][0], newest[0][0]
        found = tables.ask(job, "views_tall", f"uid = {uid} and ts >= {low} and ts < {high}")
        assert keys(found) == [u64(uid) + reversed_millis(t) for t, _ in newest if low <= t < high]


def test_loans(tables):
    job = CONF / "loans.yaml"
    tables.load(job)
    rows = read_csv(CONF / "loans.csv")
    for field, table in (("student", "student_loans"), ("book", "book_loans")):
        for value in sorted({r[field] for r in rows}):
            [line] = tables.ask(job, table, f"{field} = {value}")
            other, family = ("book", "borrow") if field == "student" else ("student", "borrowed")
            own = [r for r in rows if r[field] == value]
            assert column(line, "info", b"name").decode() in {r[f"{field}_name"] for r in own}
            for pair in {r[other] for r in own}:  # a later return wins
                last = max((r["time"], r["borrowed"]) for r in own if r[other] == pair)[1]
                assert column(line, family, pair.encode()).decode() == last
    year = {r["student"] for r in rows if r["student_info"].startswith("Computing")}
    found = tables.ask(job, "student_loans", "student_info starts with 'Computing'")
    assert {k[::-1].decode() for k in keys(found)} == year


def test_flights(tables, flights_csv, tmp_path_factory):
    """Loads all flights with one of four numbers, so that the table also contains other rows."""
    job = CONF / "flights.yaml"
    numbers = {("UA", "1545"), ("UA", "15"), ("B6", "1545"), ("AA", "1")}
    part = tmp_path_factory.mktemp("flights") / "flights.csv"
    rows = [r for r in each_row(flights_csv) if (r["carrier"], r["flight"]) in numbers]
    with open(flights_csv, encoding="utf-8") as f:
        head, *lines = f
    names = head.strip().replace('"', "").split(",")
    at = names.index("carrier"), names.index("flight")
    part.write_text(head + "".join(l for l in lines if tuple(l.replace('"', "").split(",")[i] for i in at) in numbers))
    tables.load(job, part)
    for month, flights in ((7, 0), (8, 11)):  # in July it did not fly
        want = sorted(((int(r["day"]), r["tailnum"]) for r in rows
                       if (r["carrier"], r["flight"], r["month"]) == ("UA", "1545", str(month))), reverse=True)
        where = (f"carrier = UA and flight = 1545 and departure >= '2013 {month} 1 0 0' "
                 f"and departure < '2013 {month + 1} 1 0 0'")
        found = tables.ask(job, "flights", where)
        assert [column(line, "s", b"tail").decode() for line in found] == [tail for _, tail in want]
        assert len(found) == flights
    last_ten = sorted(((int(r["month"]), int(r["day"]), int(r["hour"]), int(r["minute"])), r["tailnum"])
                      for r in rows if (r["carrier"], r["flight"]) == ("UA", "1545"))[:-11:-1]
    found = tables.ask(job, "flights", "carrier = UA and flight = 1545", ", LIMIT => 10")
    assert [column(line, "s", b"tail").decode() for line in found] == [tail for _, tail in last_ten]
    # the query has only the number, without the carrier and the salt
    found = tables.ask(job, "flights", "flight = 1545 and dest = BOS")
    assert len(found) == sum(r["flight"] == "1545" and r["dest"] == "BOS" for r in rows)
    # with a number in a cell
    far = [r for r in rows if int(r["distance"]) == 2475]
    assert len(tables.ask(job, "flights", "distance = 2475")) == len(far) > 0


def test_calls(tables):
    job = CONF / "calls.yaml"
    tables.load(job)
    calls = [(r["phone"], shanghai(r["at"], "%Y-%m-%d %H:%M:%S"), r["callee"], int(r["seconds"])) for r in read_csv(CONF / "calls.csv")]
    low, high = (shanghai(t, "%Y-%m-%d %H:%M:%S") for t in ("2013-07-01 00:00:00", "2013-07-04 00:00:00"))
    for table in ("calls_salted", "calls_hashed", "calls_reversed"):
        for phone in sorted({c[0] for c in calls}):
            own = sorted((c for c in calls if c[0] == phone), key=lambda c: -c[1])
            found = tables.ask(job, table, f"phone = {phone}")
            assert [column(line, "c", b"callee").decode() for line in found] == [c[2] for c in own]
            assert tables.ask(job, table, f"phone = {phone}", ", LIMIT => 1") == found[:1]
        where = f"phone = {phone} and at >= '2013-07-01 00:00:00' and at < '2013-07-04 00:00:00'"
        found = tables.ask(job, table, where)
        assert [column(line, "c", b"seconds") for line in found] == [u32(c[3]) for c in own if low <= c[1] < high]
        found = tables.ask(job, table, "at >= '2013-07-01 00:00:00' and at < '2013-07-04 00:00:00' and seconds > 300")
        assert sorted(column(line, "c", b"seconds") for line in found) == sorted(
            u32(c[3]) for c in calls if low <= c[1] < high and c[3] > 300)


def test_devices(tables, hbase):
    job = CONF / "devices.yaml"
    tables.load(job)
    attributes = hbase.describe("devices")["families"]
    want = {"state": {"VERSIONS": "3", "MIN_VERSIONS": "1", "TTL": str(20000 * 86400), "BLOOMFILTER": "ROWCOL", "COMPRESSION": "GZ"},
            "log": {"VERSIONS": "100", "MIN_VERSIONS": "0", "BLOOMFILTER": "NONE", "COMPRESSION": "SNAPPY",
                    "DATA_BLOCK_ENCODING": "FAST_DIFF"}}
    for family, some in want.items():
        assert {k: attributes[family].get(k) for k in some} == some
    rows = read_csv(CONF / "devices.csv")
    for device in sorted({r["device"] for r in rows}):
        [line] = tables.ask(job, "devices", f"device = {device}", ", VERSIONS => 3, COLUMNS => ['state:battery']")
        newest = [r["battery"] for r in sorted(rows, key=lambda r: r["at"], reverse=True) if r["device"] == device]
        found = [int(c.rsplit(":", 1)[1], 16) for c in line.split("\t")[1:]]
        assert found == [int(b) for b in newest[:3]]
    assert len(rows) > 4 * 3  # the table has more than three of a device


def test_presplit(tables, hbase):
    job = CONF / "presplit.yaml"
    tables.load(job)
    even = [(i << 64) // 8 for i in range(1, 8)]
    assert [unescape(s) for s in hbase.splits("by_keys")] == [bytes([16 * i, 0]) for i in range(1, 5)]
    assert [unescape(s) for s in hbase.splits("by_hash")] == [n.to_bytes(8, "big") for n in even]
    assert hbase.splits("by_token") == [f"{0xFFFFFFFF // 10 * i:08x}"[:1] + f"{0xFFFFFFFF // 10 * i:08x}"[1:] for i in range(1, 10)]
    rows = read_csv(CONF / "presplit.csv")
    for table in ("by_keys", "by_hash"):
        found = [tables.ask(job, table, f"id = {r['id']}") for r in rows[::7]]
        assert [column(line, "f", b"page").decode() for [line] in found] == [r["page"] for r in rows[::7]]
        [line] = tables.ask(job, table, "id = 1007 and page = 'page 0'")
    some = sorted(r["token"] for r in rows if r["token"][0] in "0123")
    assert [k.decode() for k in keys(tables.ask(job, "by_token", "token < '4'"))] == some


# --- random jobs -----------------------------------------------------------------------------


def good_texts(f):
    found = []
    for text in f.pool:
        try:
            text.decode()
            if b"\0" not in text and len(text) < 5000:
                found.append((text, Value(text, decode(f, text))))
        except (Reject, UnicodeDecodeError):
            pass
    return found


AGES = [0, 1, 500, 1000, 1000, 9_000, 40_000, 80_000, 100_000, 200_000]  # of events, in seconds; none is near a TTL
KEPT = ["FALSE", "FALSE", "TRUE", "TTL"]


def keep_history(rng, t):
    """Returns families with versions and TTL, some cells, and events that delete a row, a family, a column or a
    version."""
    t["timestamp"] = "at"
    for f in t["families"].values():
        f["versions"] = rng.choice([1, 2, 3, 100])
        f["keep_deleted_cells"] = rng.choice(KEPT)
        if rng.random() < 0.6:
            f["ttl"] = rng.choice([20_000, 20_000, 150_000])
            f["min_versions"] = rng.choice([0, 0, 1, 2]) if f["versions"] > 2 else 0
    names = list(t["families"])
    t["cells"] = [{"family": f, "qualifier": "q", "value": "value"} for f in names]
    t["cells"] += [{"family": rng.choice(names), "qualifier": "r", "value": "more", "optional": True}]
    t["deletes"] = [{"row": True, "when": "op = row"}, {"family": rng.choice(names), "when": "op = family"},
                    {"family": names[0], "versions": "one", "when": "op = moment"},
                    {"family": names[-1], "qualifier": "q", "when": "op = column"},
                    {"family": names[0], "qualifier": "q", "versions": "one", "when": "op = version"}]


def history(rng, now, deletes):
    """Returns the columns of an event that are not in its key. `deletes` is the share of events that delete."""
    kinds = ["row", "family", "moment", "column", "version"]
    return {"at": str(now - 1000 * rng.choice(AGES) - rng.choice([0, 0, 0, 1, 7])), "value": f"v{rng.randrange(99)}",
            "more": rng.choice(["", "x", "y"]),
            "op": rng.choice(kinds) if rng.random() < deletes else "put"}


def job_text(job):
    """Adds the fields of the delete events."""
    text = json.loads(job.yaml(["in.json"]))
    text.setdefault("fields", {}).update(at={"type": "time", "unit": "ms"}, more={"type": "text", "null": [""]})
    return json.dumps(text, ensure_ascii=False, indent=1)


def random_job(seed):
    """Makes a job with one table and no joined columns. All events of the job are valid."""
    for attempt in range(100):
        rng = random.Random(f"questions {seed} {attempt}")
        job = Job(rng)
        job.tables = job.tables[:1]
        t = job.tables[0]
        t.update(name=f"questions_{seed}", regions={"split": "sampled", "count": 3}, timestamp=5)
        t.pop("duplicates", None)
        t.pop("where", None)
        t.pop("max_hfile", None)  # HBase accepts 32 files of a family and region
        job.options = {}
        keep_history(rng, t)
        job.source = lambda files: {"json": {"files": files}}
        texts = {f.name: good_texts(f) for f in job.fields}
        asked = []
        for f in job.fields:
            hows = {p["as"] for p in t["rowkey"] if p.get("field") == f.name}
            # `as: text` stores the digits of the input, so the condition has the input's unit
            f.in_micros = bool(hows & {"reversed_micros", "text"})
            if hows and not (f.in_micros and len(hows) > 1):  # a time in two units has no single meaning
                asked.append(f.name)
        fixed = "draw" not in t["rowkey"][0]  # the test does not compute values that depend on the file's lines
        if len(job.fields) == len(job.columns) and all(texts.values()) and asked and fixed:
            return rng, job, t, texts, asked
    raise AssertionError("no such job")


def draw_events(rng, job, t, texts, n):
    """Returns (JSON object by column, values by field, row)."""
    oracle = Oracle(job)
    for _ in range(n):
        drawn = {f.name: rng.choice(texts[f.name]) for f in job.fields}
        values = {name: v for name, (_, v) in drawn.items()}
        try:
            row = oracle.lay_parts(t["rowkey"], values)
        except Reject:
            continue
        if row and len(row) <= 3000:
            yield {f.column: drawn[f.name][0].decode() for f in job.columns}, values, row


def queries(text):
    return [line for line in text.splitlines() if line.startswith(("scan '", "get '"))]


def with_options(text, more):
    """Returns the scans and gets of a script, each with more options. Drops the remarks."""
    lines = [line for line in text.splitlines()]
    for n, line in enumerate(lines):
        if line in queries(text):
            lines[n] = (line[:-1] + more if line.endswith("}") else f"{line}, {{{more}").replace("{, ", "{") + "}"
    return "".join(line + "\n" for line in lines)


def with_versions(text, n):
    return with_options(text, f", VERSIONS => {n}")


SEEDS = range(*map(int, os.environ.get("SALTMILL_QUESTIONS", "0:4").split(":")))
A_JOB = 8  # questions


@pytest.mark.parametrize("seed", SEEDS)
def test_random_questions(tables, seed):
    for other in range(seed, seed + 10_000, 1000):  # events of some jobs have no key
        rng, job, t, texts, asked = random_job(other)
        events = list(draw_events(rng, job, t, texts, 200))
        if events:
            break
    assert events
    now = int(time.time() * 1000) - 60_000
    deletes = min(0.35, 3 * len({row for _, _, row in events}) / len(events))  # in a few rows they would hide all cells
    folder = tables.folder / f"random{seed}"  # test_java uses it again
    folder.mkdir()
    (folder / "in.json").write_text(
        "".join(json.dumps({**e, **history(rng, now, deletes)}) + "\n" for e, _, _ in events))
    file = folder / "job.yaml"
    file.write_text(job_text(job))
    versions = rng.choice([1, 1, 2, 5])
    tables.load(file)
    script, questions = "", []
    while len(questions) < A_JOB:
        q = question(rng, job, asked)
        text = tables.shell(file, t["name"], q.text) if q else ""
        if q and len(queries(text)) <= 40:  # there may be one a bucket of 65,536
            questions.append((q, TO_CHECK in text))
            script += "puts 'question'\n" + with_versions(text, versions)
    lossy = {p["field"] for p in t["rowkey"] if "field" in p and (
        p["as"] in ("f32", "reversed_seconds", *DATE_PARTS) or p["as"] == "f64" != job.by_name[p["field"]].type)}
    full = tables.run(f"scan '{t['name']}', {{VERSIONS => {versions}}}\n")
    by_row = {}
    for _, values, row in events:
        by_row.setdefault(row, []).append(values)
    stored = keys(full)
    assert stored == sorted(stored) and set(stored) <= set(by_row)
    answers = "\n".join(tables.run(script)).split("question")[1:]
    assert len(answers) == len(questions)
    for (q, to_check), answer in zip(questions, answers):
        want = [line for line, row in zip(full, stored) if any(q.test(v) for v in by_row[row])]
        got = [line for line in answer.splitlines() if line]
        if not lossy & q.names:
            assert sorted(tables.scan(file, t["name"], q.text, "--versions", str(versions))) == sorted(want), q.text
            tables.asked.append((file, t["name"], q.text))
        if to_check:  # HBase may return more rows, in the same order; never fewer
            assert set(want) <= set(got) and got == [line for line in full if line in set(got)], q.text
        else:
            assert got == want, q.text


WIDE = """\
source: {csv: {files: [events.csv]}}
fields: {user: {type: u32}, at: {type: time, unit: ms}, item: {type: u32}}
tables:
  - name: wide_questions
    rowkey: [{salt: 4, of: [user]}, {field: user, as: u32}]
    timestamp: at
    families: {f: {bloomfilter: ROWCOL, blocksize: 4K}, g: {}}
    cells:
      - {family: f, qualifier: [{const: t}, {field: at, as: reversed_millis}], value: item}
      - {family: f, qualifier: last, value: item}
      - {family: g, qualifier: name, value: {field: user, as: text}}
    regions: {split: sampled, count: 3}
"""


def test_wide(tables, tmp_path):
    """For a condition on the qualifier's field, the named columns and the ranges of columns contain all matching cells.
    """
    job = tmp_path / "wide_questions.yaml"
    job.write_text(WIDE)
    base = 1_700_000_000_000
    events = [(user, base + 7 * i, i % 10) for user in range(6) for i in range(300)]
    (tmp_path / "events.csv").write_text("user,at,item\n" + "".join("%d,%d,%d\n" % e for e in events))
    tables.load(job)
    times = [e[1] for e in events]

    def check(where, test, forms):
        text = tables.shell(job, "wide_questions", where)
        assert all(f in text for f in forms), text
        found = tables.ask(job, "wide_questions", where)
        got = sorted((int.from_bytes(k[1:], "big"), 2 ** 63 - 1 - int.from_bytes(bytes.fromhex(c.split(":")[1])[1:], "big"))
                     for k, line in zip(keys(found), found) for c in line.split("\t")[1:])
        assert got == sorted((u, at) for u, at, _ in events if test(u, at)), where
    check(f"user = 1 and at = {times[5]}", lambda u, at: u == 1 and at == times[5], ["get '", "COLUMNS => [\"f:t"])
    check(f"user in (1, 4) and at in ({times[5]}, {times[80]}, 5)", lambda u, at: u in (1, 4) and at in (times[5], times[80]), ["get '", "COLUMNS"])
    check(f"user = 2 and at between {times[5]} and {times[9]}", lambda u, at: u == 2 and times[5] <= at <= times[9], ["ColumnRangeFilter"])
    check(f"at < {times[3]} or at > {times[297]}", lambda u, at: at < times[3] or at > times[297], ["MUST_PASS_ONE", "scan '"])
    check(f"user >= 3 and at >= {times[290]}", lambda u, at: u >= 3 and at >= times[290], ["ColumnRangeFilter", "scan '"])
    check(f"user = 3 and at = {base + 1}", lambda u, at: False, ["get '"])
    # the newest three of a range
    text = subprocess.run([tables.saltmill, "key", "ranges", job, "--where", f"user = 2 and at < {times[100]}", "--format", "shell",
                           "--max-columns", "3"], capture_output=True, text=True, check=True).stdout
    [line] = tables.run(text)
    cells = [2 ** 63 - 1 - int.from_bytes(bytes.fromhex(c.split(":")[1])[1:], "big") for c in line.split("\t")[1:]]
    assert cells == [times[99], times[98], times[97]]


# --- Java ------------------------------------------------------------------------------------

JAVA = """\
import java.util.*;
import org.apache.hadoop.hbase.CompareOperator;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.filter.*;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.Pair;

public class Asked {
"""
OF_FILES = ["owner = 1", "owner = 1 and category starts with 综艺", "category = 综艺 or category = 综艺花絮", "name > 'b' and not owner in (1, 2)",
            "day = '20120904'", "day between '20120904' and '20120909' or owner = 4", "owner = 3 and owner = 4",
            r"name != 'C:\users\u0041 \\u'", "name = 'say \"so\"' or category = 'it''s'", "name = 'a\nint x;' or owner = 2",
            "owner between 1 and 3 and (category = 综艺 or (name >= 中国 and not name = 'x'))", "name is null or id > 3"]
OF_CALLS = ["seconds > 300", "at >= '2013-07-01 00:00:00' and at < '2013-07-04 00:00:00' and seconds > 300", "callee = '1' and not seconds = 0"]


def methods(line):
    """Returns the body of a method, which contains the printed lines and adds each scan to a list."""
    if line.startswith("new Get("):
        return f"    scans.add(new Scan({line}));\n"
    return f"    scans.add({line});\n" if line.startswith("new Scan()") else f"    {line}\n"


def test_java(tables, tmp_path):
    """The printed Java compiles. If the code is complete, it finds the rows that `scan` finds."""
    for name in ("files", "calls"):
        tables.load(CONF / f"{name}.yaml")
    asked = [(CONF / "files.yaml", "files", q) for q in OF_FILES] + [
        (CONF / "calls.yaml", t, q) for t in ("calls_salted", "calls_hashed", "calls_reversed") for q in OF_CALLS]
    random.Random(5).shuffle(tables.asked)
    asked += [a for a in tables.asked if a not in asked and a[0].stem not in ("flights", "wide_questions")][:60]
    texts = [tables.ranges(*a, "java") for a in asked]
    assert sum("Filter filter" in t for t in texts) > 10 and any("FuzzyRow" in t for t in texts)
    source = tmp_path / "Asked.java"
    source.write_text(JAVA + "".join(
        f"  public static List<Scan> q{n}() {{\n    List<Scan> scans = new ArrayList<>();\n"
        + "".join(map(methods, text.splitlines())) + "    return scans;\n  }\n" for n, text in enumerate(texts)) + "}\n")
    done = subprocess.run(["javac", "-encoding", "UTF-8", "-nowarn", "-proc:none", "-cp", ":".join(jars()), "-d", tmp_path, source],
                          capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    for n, ((job, table, where), text) in enumerate(zip(asked, texts)):
        rows = tables.hbase.call("scan_by", table=table, classes=str(tmp_path), **{"class": "Asked", "method": f"q{n}"})
        found = sorted(in_hex(row) for row in rows)
        want = sorted(tables.scan(job, table, where))
        assert (set(want) <= set(found)) if TO_CHECK[2:] in text else found == want, (where, text)


class Happybase:
    """Runs the printed Python calls on a real HBase through the driver."""

    def __init__(self, hbase, name):
        self.hbase, self.name, self.rows, self.filters = hbase, name, [], 0

    def scan(self, row_start=b"", row_stop=b"", filter=None, limit=None, batch_size=None):  # noqa: A002
        assert limit is None or batch_size == min(limit, 1000)
        how = {k: v.hex() for k, v in (("start", row_start), ("stop", row_stop), ("filter_hex", filter)) if v}
        self.filters += filter is not None
        self.rows += self.hbase.call("scan", table=self.name, **how, **({"limit": limit} if limit else {}))

    def row(self, row):
        self.rows += [r for r in self.hbase.call("get", table=self.name, rows=[row.hex()]) if r]


def test_python(tables):
    """The printed Python, with filters in HBase's language, finds the rows that `scan` finds."""
    for name in ("files", "calls"):
        tables.load(CONF / f"{name}.yaml")
    asked = [(CONF / "files.yaml", "files", q) for q in [*OF_FILES, "owner = 1 and day = '20120902' and id = 1", "category != 'it''s'"]]
    asked += [(CONF / "calls.yaml", t, q) for t in ("calls_salted", "calls_hashed", "calls_reversed") for q in OF_CALLS]
    filters = 0
    for job, name, where in asked:
        text = tables.ranges(job, name, where, "python")
        table = Happybase(tables.hbase, name)
        exec(compile(text, "printed", "exec"), {"table": table})  # noqa: S102
        want, found = sorted(tables.scan(job, name, where)), sorted(in_hex(row) for row in table.rows)
        assert (set(want) <= set(found)) if TO_CHECK in text else found == want, (where, text)
        filters += table.filters
    assert filters > 8


def in_hex(row):
    """Returns a row in the format of the driver's scan, with the family as bytes."""
    key, *cells = row.split("\t")
    return "\t".join([key] + [c.split(":", 1)[0].encode().hex() + ":" + c.split(":", 1)[1] for c in cells])
