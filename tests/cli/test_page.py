"""Tests that the page of `saltmill report` shows the manifest's figures, is valid, and needs no external files."""
import collections
import html.parser
import json
import random
import re
import shutil
import subprocess
import sys

import pytest

import hfile_py
from loads import PROGRAM, ROOT

sys.path.insert(0, str(ROOT / "tests" / "faults"))

from mock_topic import MockTopic, topic_job  # noqa: E402  (needs the path above)

VOID = {"meta", "br"}  # SVG elements that close themselves


class Page(html.parser.HTMLParser):
    """Reads tables as lists of rows of texts, by the heading above. Fails if a tag has no end."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tables, self.heading, self.words = [], {}, "", []
        self.svgs, self.tags = [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "svg":
            self.svgs.append(dict(attrs))
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("h1", "h2", "h3"):
            self.heading = ""
        if tag == "tr":
            self.tables.setdefault(self.heading, []).append([])
        if tag in ("td", "th"):
            self.tables[self.heading][-1].append("")

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)
        if self.open and self.open[-1] in ("h1", "h2", "h3"):
            self.heading += data
        elif "td" in self.open or "th" in self.open:
            self.tables[self.heading][-1][-1] += data


def report(out, target, *options):
    r = subprocess.run([PROGRAM, "report", out, "-o", target, *options], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    return target.read_text(encoding="utf-8")


JOB = """\
source:
  csv: {{files: [in.csv]}}
fields:
  id: {{type: u32}}
  at: {{type: time, unit: s}}
where: kind != skip
tables:
  - name: first
    rowkey: [{{salt: {salt}, of: [id]}}, {{field: id, as: u32}}, {{field: at, as: reversed_millis}}]
    timestamp: at
    families: {{f: {{versions: 1, compression: GZ}}, g: {{versions: 1}}}}
    cells:
      - {{family: f, qualifier: v, value: v}}
      - {{family: g, qualifier: k, value: kind}}
    regions: {regions}
  - name: other:second
    when: kind = B
    rowkey: [{{field: kind, terminator: '\\x00'}}, {{field: id, as: u32}}]
    timestamp: at
    families: {{f: {{versions: 1}}}}
    cells: [{{family: f, qualifier: v, value: v}}]
    regions: {{split: none}}
"""


def make(folder, seed, rows=None, salt=8, regions="{split: sampled, count: 4}", bad=True):
    rng = random.Random(seed)
    folder.mkdir(exist_ok=True)
    (folder / "job.yaml").write_text(JOB.format(salt=salt, regions=regions))
    with open(folder / "in.csv", "w", encoding="utf-8") as f:
        f.write("id,at,kind,v\n")
        for i in range(rows or rng.choice([1, 40, 3000])):
            number = "12x" if bad and rng.random() < .02 else rng.randrange(2000)
            f.write(f"{number},{1_400_000_000 + rng.randrange(10**6)},{rng.choice(['A', 'B', 'skip'])},"
                    f"{'x' * rng.randrange(1, 30)}\n")
    r = subprocess.run([PROGRAM, "load", folder / "job.yaml", "-o", folder / "out", "--quiet", "--max-rejects",
                        "1000000"], capture_output=True, text=True)
    assert r.returncode in (0, 3), r.stderr
    return folder / "out"


def number(text):
    return int(text.replace(",", ""))


@pytest.mark.parametrize("seed", range(20))
def test_figures_are_those_of_the_manifest(tmp_path, seed):
    out = make(tmp_path / "load", seed)
    m = json.loads((out / "manifest.json").read_text())
    page = Page(report(out, tmp_path / "p.html"))
    rows = page.tables["Events"][1:]
    assert len(rows) == len(m["tables"])
    for row, t in zip(rows, m["tables"]):
        assert row[0] == t["name"]
        assert [number(x) for x in row[1:]] == [m["read"], t["loaded"], m["rejected"], t["filtered"],
                                                t["deduplicated"], t["rows"], t["cells"]]
    for row, t in zip([r for r in page.tables["Regions"] if r[0] != "region"],
                      [r for t in m["tables"] for r in t["regions"]]):
        assert number(row[2]) == t["rows"]
        assert row[1] == ("(begin)" if not t["start"] else t["start"])
    by_family = {}
    for f in m["tables"][0]["files"]:
        by_family[f["family"]] = by_family.get(f["family"], 0) + f["cells"]
    if by_family:
        assert {r[0]: number(r[2]) for r in page.tables["Families"][1:]} == by_family
    reasons = {r["reason"]: r["count"] for r in m["reasons"]}
    told = {re.match(r"\w+", r[1]).group(): number(r[0]) for r in page.tables.get("Rejected", [[]])[1:]}
    assert told == {k: v for k, v in reasons.items()}
    if reasons:
        assert "in.csv:" in page.tables["Rejected"][1][1] and "12x" in page.tables["Rejected"][1][1]


def test_the_same_load_gives_the_same_page(tmp_path):
    out = make(tmp_path / "load", 7, rows=2000)
    assert report(out, tmp_path / "a.html") == report(out, tmp_path / "b.html")


def test_it_needs_nothing_from_elsewhere(tmp_path):
    text = report(make(tmp_path / "load", 3, rows=3000), tmp_path / "p.html")
    page = Page(text)
    assert len(text) < 1_000_000
    assert not {"link", "img", "iframe"} & {tag for tag, _ in page.tags}
    assert [attrs for tag, attrs in page.tags if tag == "script"] == [{}]
    assert not any(word in text for word in ("http", "url(", "@import", "fetch(", "import(", "XMLHttpRequest"))


def test_a_screen_reader_is_told_what_a_drawing_is(tmp_path):
    page = Page(report(make(tmp_path / "load", 3, rows=3000), tmp_path / "p.html"))
    assert len(page.svgs) >= 3
    assert all(s["role"] == "img" and len(s["aria-label"]) > 10 for s in page.svgs)
    assert dict(page.tags)["html"]["lang"] == "en"


def luminance(color):
    parts = [int(color[i:i + 2], 16) / 255 for i in (1, 3, 5)] if len(color) == 7 else \
        [int(c * 2, 16) / 255 for c in color[1:]]
    linear = [c / 12.92 if c <= .03928 else ((c + .055) / 1.055) ** 2.4 for c in parts]
    return .2126 * linear[0] + .7152 * linear[1] + .0722 * linear[2]


def test_text_stands_out_in_both_schemes(tmp_path):
    """WCAG 2 AA: 4.5 to 1."""
    text = report(make(tmp_path / "load", 3, rows=10), tmp_path / "p.html")
    light, dark = re.findall(r":root\{([^}]*)\}", text)
    schemes = [dict(re.findall(r"--(\w+):(#\w+)", s)) for s in (light, light + ";" + dark)]
    assert schemes[0]["back"] != schemes[1]["back"]
    for colors in schemes:
        for name in ("text", "soft", "good", "warn", "bad"):
            a, b = sorted([luminance(colors[name]), luminance(colors["back"])])
            assert (b + .05) / (a + .05) >= 4.5, (name, colors)


def test_strangers_bytes_are_text(tmp_path):
    folder = tmp_path / "<b>&amp;"
    out = make(folder, 5, rows=3)
    (folder / "in.csv").write_text("id,at,kind,v\n<script>alert(1)</script>\x1b[2J,1,A,x\n1,2,B,y\n")
    shutil.rmtree(out)
    subprocess.run([PROGRAM, "load", folder / "job.yaml", "-o", out, "--quiet", "--max-rejects", "5"])
    text = report(out, tmp_path / "p.html")
    page = Page(text)
    assert [tag for tag, _ in page.tags].count("script") == 1 and "\x1b" not in text
    assert "<script>alert(1)</script>\\x1B[2J" in "".join(page.words)


def test_a_nul_in_a_reject_and_a_path_for_a_shell(tmp_path):
    folder = tmp_path / "it's $(here)"
    out = make(folder, 5, rows=3)
    shutil.rmtree(out)
    (folder / "in.csv").write_bytes(b"id,at,kind,v\n1\x002,1,A,x\n1,2,B,y\n")
    r = subprocess.run([PROGRAM, "load", folder / "job.yaml", "-o", out, "--quiet", "--max-rejects", "5"])
    assert r.returncode == 3
    page = Page(report(out, tmp_path / "p.html"))
    assert "1\\x002,1,A,x" in "".join(page.words)
    line = next(line for line in "".join(page.words).splitlines() if line.startswith("hbase completebulkload"))
    words = subprocess.run(["sh", "-c", f"set -- {line}; printf '%s\\n' \"$@\""], capture_output=True, text=True)
    assert words.stdout.splitlines()[2] == f"{out}/first/hfiles"


def test_ten_thousand_regions(tmp_path):
    out = make(tmp_path / "load", 9, rows=4000, regions="{split: uniform, count: 10000}")
    text = report(out, tmp_path / "p.html")
    assert len(text) < 2_000_000
    page = Page(text)
    assert 400 < len(page.tables["Regions"]) - 2 <= 500 + 2
    assert "10,000 regions" in "".join(page.words)


def test_how_others_would_have_cut(tmp_path):
    """Keys are evenly spread hex digits, so HexStringSplit is nearly even, and UniformSplit is uneven."""
    rng = random.Random(1)
    (tmp_path / "job.yaml").write_text("""\
source: {csv: {files: [in.csv]}}
tables:
  - name: t
    rowkey: [{field: id, width: 8}]
    timestamp: 1
    families: {f: {versions: 1, blocksize: 1K}}
    cells: [{family: f, qualifier: v, value: v}]
    regions: {split: sampled, count: 10}
""")
    with open(tmp_path / "in.csv", "w", encoding="utf-8") as f:
        f.write("id,v\n" + "".join(f"{rng.getrandbits(32):08x},{'x' * 40}\n" for _ in range(20000)))
    subprocess.run([PROGRAM, "load", tmp_path / "job.yaml", "-o", tmp_path / "out", "--quiet"], check=True)
    rows = {r[0]: r for r in Page(report(tmp_path / "out", tmp_path / "p.html")).tables["Other split algorithms"]}
    share = {name: float(row[1].split()[0]) for name, row in rows.items() if "%" in row[1]}
    assert 9.5 < share["these regions"] < 11 and 9.5 < share["HexStringSplit"] < 12
    # a tenth of all first bytes is 25.6; the digits 4 to 9 and 13/16 of the 3s are from 3333... to 6666...
    assert abs(share["UniformSplit"] - 100 * (6 + 13 / 16) / 16) < 1
    # above 6666... are only keys with fff, one in 4096, less than a block
    assert rows["UniformSplit"][2] == "7 of 10"


def test_what_is_no_load(tmp_path):
    r = subprocess.run([PROGRAM, "report", tmp_path, "-o", tmp_path / "p.html"], capture_output=True, text=True)
    assert r.returncode == 1 and "manifest.json" in r.stderr and not (tmp_path / "p.html").exists()
    r = subprocess.run([PROGRAM, "report"], capture_output=True, text=True)
    assert r.returncode == 2


def told_by(*args):
    r = subprocess.run([PROGRAM, *args, "--json"], capture_output=True, text=True)
    assert r.returncode in (0, 3), r.stderr
    return r.stdout


def test_seconds_and_findings_are_those_that_commands_told(tmp_path):
    folder = tmp_path / "load"
    make(folder, 11, rows=2000)
    shutil.rmtree(folder / "out")
    job = (folder / "job.yaml").read_text()
    (folder / "job.yaml").write_text(job.replace("compression: GZ", "compression: GZ, ttl: 30d"))
    run = told_by("load", folder / "job.yaml", "-o", folder / "out", "--max-rejects", "100")
    (tmp_path / "run.json").write_text(run)
    (tmp_path / "lint.json").write_text(told_by("lint", folder / "job.yaml"))
    page = Page(report(folder / "out", tmp_path / "p.html", "--timings", tmp_path / "run.json", "--lint",
                       tmp_path / "lint.json"))
    seconds = json.loads(run)["seconds"]
    assert [float(r[1]) for r in page.tables["Time"][1:]] == \
        [float(f"{seconds[k]:.2f}") for k in ("read", "splits", "write", "publish")]
    findings = json.loads((tmp_path / "lint.json").read_text())
    assert findings and all(f["what"] in "".join(page.words) and f["fix"] in "".join(page.words) for f in findings)
    plain = Page(report(folder / "out", tmp_path / "q.html"))
    assert "Time" not in plain.tables and findings[0]["what"] not in "".join(plain.words)


@pytest.mark.parametrize("text, code, words", [
    ("{", 1, "no JSON"), ("[]", 1, "of this load"), ('{"read": 1}', 1, "of this load"), (None, 1, "No such file")])
def test_seconds_of_something_else(tmp_path, text, code, words):
    out = make(tmp_path / "load", 11, rows=40)
    if text is not None:
        (tmp_path / "run.json").write_text(text)
    r = subprocess.run([PROGRAM, "report", out, "-o", tmp_path / "p.html", "--timings", tmp_path / "run.json"],
                       capture_output=True, text=True)
    assert r.returncode == code and words in r.stderr and not (tmp_path / "p.html").exists()


def test_seconds_of_another_load(tmp_path):
    out = make(tmp_path / "load", 11, rows=40)
    r = subprocess.run([PROGRAM, "load", tmp_path / "load" / "job.yaml", "-o", tmp_path / "b", "--json", "--max-rejects",
                        "50"], capture_output=True, text=True)
    other = json.loads(r.stdout)
    report(out, tmp_path / "p.html", "--timings", write(tmp_path / "same.json", other))
    other["tables"][0]["cells"] += 1
    r = subprocess.run([PROGRAM, "report", out, "-o", tmp_path / "q.html", "--timings",
                        write(tmp_path / "other.json", other)], capture_output=True, text=True)
    assert r.returncode == 1 and "of this load" in r.stderr


def write(path, value):
    path.write_text(json.dumps(value))
    return path


@pytest.mark.parametrize("seed", range(4))
def test_a_plan(tmp_path, seed):
    folder = tmp_path / "load"
    shutil.rmtree(make(folder, seed, rows=3000))
    printed = json.loads(told_by("plan", folder / "job.yaml", "-o", folder / "plan"))
    kept = json.loads((folder / "plan" / "plan.json").read_text())
    alone = Page(report(write(tmp_path / "printed.json", printed), tmp_path / "a.html"))
    page = Page(report(folder / "plan", tmp_path / "p.html"))
    assert page.tables == alone.tables
    assert f"--plan {folder / 'plan'}" in "".join(page.words) and "--plan" not in "".join(alone.words)
    rows = page.tables["Tables"][1:]
    for row, t in zip(rows, kept["tables"], strict=True):
        assert row[0] == t["name"] and number(row[1]) == t["rows"] and number(row[4]) == len(t["regions"])
        assert float(row[5]) == pytest.approx(t["largest_over_target"], abs=.0006)
    shown = [r for r in page.tables["Regions"] if r[0] != "region"]
    for row, r in zip(shown, [r for t in kept["tables"] for r in t["regions"]], strict=True):
        assert row[1] == (r["start"] or "(begin)") and number(row[2]) == r["rows"]
    others = [r for r in page.tables["Other split algorithms"] if "Split" in r[0]]
    for row, r in zip(others, [r for t in kept["tables"] for r in t["rivals"]], strict=True):
        assert row[0] == r["algorithm"] and number(row[2]) == r["empty"]
        assert float(row[1].split()[0]) == pytest.approx(100 * r["largest_share"], abs=.06)


def test_a_heavy_key_and_the_findings_of_a_plan(tmp_path):
    """Half of all events have one id, which the page shows as a heavy key."""
    folder = tmp_path / "load"
    shutil.rmtree(make(folder, 1, rows=10))
    rng = random.Random(2)
    (folder / "in.csv").write_text("id,at,kind,v\n" + "".join(
        f"{777 if i % 2 else rng.randrange(10**6)},{10**9 + i},{'AB'[i % 7 == 0]},{'x' * 30}\n" for i in range(20000)))
    (tmp_path / "plan.json").write_text(told_by("plan", folder / "job.yaml"))
    page = Page(report(tmp_path / "plan.json", tmp_path / "p.html"))
    heavy = [r for r in page.tables["Heavy keys"] if "777" in r[0]]
    assert heavy and abs(number(heavy[0][2]) - 10000) < 500
    findings = json.loads((tmp_path / "plan.json").read_text())["lint"]
    assert all(f["what"] in "".join(page.words) for f in findings)


def test_what_is_no_plan(tmp_path):
    for text in ("{}", "[1]", '{"events": 1, "rejected": 0, "tables": [{"name": "t"}]}', "no"):
        (tmp_path / "plan.json").write_text(text)
        r = subprocess.run([PROGRAM, "report", tmp_path, "-o", tmp_path / "p.html"], capture_output=True, text=True)
        assert r.returncode == 1 and "plan.json" in r.stderr and "expected" in r.stderr, text
        assert not (tmp_path / "p.html").exists()


def make_state(folder, topic, counts):
    """Makes a load with n events for each n in `counts`. The first event of a load is bad. The partitions alternate."""
    folder.mkdir()
    (folder / "job.yaml").write_text(topic_job(topic.brokers, f"topic: {topic.name}"))
    for i, n in enumerate(counts):
        topic.produce(i % 2, [json.dumps({"id": k if k else "bad", "v": "x"}).encode() for k in range(n)])
        r = subprocess.run([PROGRAM, "load", folder / "job.yaml", "-o", folder / f"out{i}", "--state", folder / "s",
                            "--max-rejects", "1", "--quiet"], capture_output=True, text=True)
        assert r.returncode == 3, r.stderr
    return folder / "s"


def test_a_state(tmp_path):
    counts = [30, 7, 1200]
    state = make_state(tmp_path / "k", MockTopic("page-state", 2), counts)
    page = Page(report(state, tmp_path / "p.html"))
    rows = page.tables["Loads"][1:]
    assert [(number(r[2]), number(r[3]), r[4], r[5]) for r in rows] == \
        [(n, 1, "waits", str(tmp_path / "k" / f"out{i}")) for i, n in reversed(list(enumerate(counts)))]
    assert [[r[0], number(r[1]), number(r[2]), number(r[3])] for r in page.tables["Partitions"][1:]] == \
        [["page-state", 0, 1230, 1230], ["page-state", 1, 7, 7]]
    assert [number(r[0]) for r in page.tables["Rejected"][1:]] == [3]
    words = "".join(page.words)
    assert "3 loads of 1,237 events" in words and "3 loads are not marked as applied to HBase" in words
    names = [r[0] for r in reversed(rows)]
    lines = [line for line in words.splitlines() if line.startswith(("hbase", "saltmill loads"))]
    assert lines == [line for i, name in enumerate(names) for line in (
        f"hbase completebulkload {tmp_path / 'k' / f'out{i}'}/t/hfiles t",
        f"saltmill loads --state {state} --loaded {name}")]
    subprocess.run(["sh", "-c", lines[1].replace("saltmill", str(PROGRAM), 1)], check=True)
    shutil.rmtree(tmp_path / "k" / "out0")
    manifest = tmp_path / "k" / "out2" / "manifest.json"
    manifest.write_text(manifest.read_text().replace("1200", "1201"))
    page = Page(report(state, tmp_path / "q.html"))
    assert [r[4].split(" since ")[0] for r in page.tables["Loads"][1:]] == ["waits, broken", "waits", "in HBase"]
    assert "1 of 3 loads differ from the published loads" in "".join(page.words)
    # the command refuses to mark a load whose folder differs from the published load
    r = subprocess.run([PROGRAM, "loads", "--state", state, "--loaded", names[2]], capture_output=True, text=True)
    assert r.returncode == 1 and f"loads did not mark load {names[2]}: {manifest} differs from the published manifest" in r.stderr
    words = "".join(page.words)
    assert f"--loaded {names[1]}" in words and f"--loaded {names[2]}" not in words and "out2/t" not in words
    assert f"All loads after load {names[2]} wait" in words and "saltmill apply" not in words
    # an unmarked load blocks the later loads; the command can mark a deleted load, but not an unreadable one
    manifest = tmp_path / "k" / "out1" / "manifest.json"
    manifest.unlink()
    manifest.mkdir()
    words = "".join(Page(report(state, tmp_path / "r.html")).words)
    assert f"All loads after load {names[1]} wait" in words and "hbase completebulkload" not in words
    assert "2 loads are not marked as applied to HBase" in words
    mark = [PROGRAM, "loads", "--state", state, "--loaded", names[1]]
    assert subprocess.run(mark, capture_output=True).returncode == 1
    for out in ("out1", "out2"):
        shutil.rmtree(tmp_path / "k" / out)
    assert subprocess.run(mark, capture_output=True).returncode == 0
    words = "".join(Page(report(state, tmp_path / "s.html")).words)
    assert "1 load is not marked as applied to HBase" in words and "No load waits" not in words


@pytest.mark.parametrize("times", [[2000, 500, 9000, 5000, 4000], [5000, 9000, 5000]])
def test_a_state_whose_clock_went_back(tmp_path, times):
    """Loads follow each other by offsets. The chart contains all their events, each at its own time."""
    state = make_state(tmp_path / "k", MockTopic("page-clock", 2), [i + 2 for i in range(len(times))])
    records = sorted((state / "loads").iterdir())[-len(times):]  # the first record contains the start positions
    for record, ms in zip(records, times, strict=True):
        told = json.loads(record.read_text())
        told["published_ms"] = ms
        del told["digest"]  # as in records of versions without digests
        record.write_text(json.dumps(told))
    for made in state.glob("checkpoint*"):
        made.unlink()
    page = Page(report(state, tmp_path / "p.html"))
    drawn = re.findall(r'<rect class="waiting" x="([0-9.]+)"[^>]*>(?:<title>)?([^<]*)', (tmp_path / "p.html").read_text())
    of_time = {}
    for i, ms in enumerate(times):
        of_time[ms] = of_time.get(ms, 0) + i + 2
    assert [int(re.search(r"([0-9,]+) events", about)[1].replace(",", "")) for _, about in drawn] == \
        [n for _, n in sorted(of_time.items())]
    assert [float(x) for x, _ in drawn] == sorted(float(x) for x, _ in drawn) and page.svgs


def test_topics_by_their_names(tmp_path):
    """A load of two topics on librdkafka's mock cluster."""
    topic = MockTopic("page-a", 1)
    (tmp_path / "splits.txt").write_text("\\x01\n")
    (tmp_path / "job.yaml").write_text(topic_job(topic.brokers, "topics: [page-a]"))
    topic.produce(0, [json.dumps({"id": i, "v": "x"}).encode() for i in range(7)])
    r = subprocess.run([PROGRAM, "load", tmp_path / "job.yaml", "-o", tmp_path / "out", "--state", tmp_path / "s"],
                       capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    rows = Page(report(tmp_path / "out", tmp_path / "p.html")).tables["Inputs"]
    assert rows[1][0] == "page-a [0] from offset 0" and rows[1][1] == "7"


HEAVY = """\
source: {csv: {files: [in.csv]}}
fields: {user: {type: u32}, at: {type: time, unit: s}}
tables:
  - name: t
    rowkey: [%s]
    timestamp: at
    families: {f: {versions: 1000000, blocksize: 2K}}
    cells: [{family: f, qualifier: v, value: v}]
    regions: {split: sampled, count: %d}
"""


def users(folder, rowkey, share, rows=20000, count=8):
    """Makes a load in which `share` of the rows belong to user 7, and the other rows to many users. All cells have one
    size."""
    rng = random.Random(share)
    folder.mkdir()
    (folder / "job.yaml").write_text(HEAVY % (rowkey, count))
    with open(folder / "in.csv", "w", encoding="utf-8") as f:
        f.write("user,at,v\n")
        for i in range(rows):
            f.write(f"{7 if rng.random() < share else rng.randrange(10**9)},{1_400_000_000 + i},{rng.getrandbits(200):050x}\n")
    for command in (["load", "-o", folder / "out"], ["plan", "-o", folder / "plan"]):
        subprocess.run([PROGRAM, command[0], folder / "job.yaml", *command[1:], "--quiet"], check=True, capture_output=True)
    return folder / "out"


@pytest.mark.parametrize("rowkey, of, name", [
    ("{salt: 4, of: [user]}, {field: user, as: u32}, {field: at, as: reversed_millis}", "rows with this prefix",
     "user \\x00\\x00\\x00\\x07"),
    ("{field: user, as: text, terminator: '|'}, {field: at, as: reversed_millis}", "rows with this prefix", "user 7"),
    ("{salt: 4, of: [user]}, {field: user, as: u32}", "a row", "user \\x00\\x00\\x00\\x07")])
def test_heavy_keys_of_a_load(tmp_path, rowkey, of, name):
    share = .4
    out = users(tmp_path / "load", rowkey, share)
    page = Page(report(out, tmp_path / "p.html"))
    heavy = page.tables["Heavy keys"][1:]
    assert heavy[0][:2] == [name, of]
    # blocks contain other keys too, and their texts are longer
    assert abs(float(heavy[0][4].split()[0]) / 100 - share) < .05
    assert abs(float(heavy[0][5]) - share * 8) < .4
    assert f"{name}" in "".join(page.words).split("Next steps")[0]


def test_a_heavy_bucket_is_no_heavy_region(tmp_path):
    """The job wants one region, so no key exceeds a region, but the salt is uneven."""
    out = users(tmp_path / "load", "{salt: 4, of: [user]}, {field: user, as: u32}, {field: at, as: reversed_millis}", .4,
                count=1)
    words = "".join(Page(report(out, tmp_path / "p.html")).words)
    assert "of the bytes, more than twice a bucket's share." in words and "than a region should have" not in words


def test_a_load_without_heavy_keys(tmp_path):
    out = users(tmp_path / "load", "{salt: 4, of: [user]}, {field: user, as: u32}, {field: at, as: reversed_millis}", .05)
    page = Page(report(out, tmp_path / "p.html"))
    assert "Heavy keys" not in page.tables and "None: no row" in "".join(page.words)


def test_where_the_keys_of_a_plan_lie(tmp_path):
    """The plan's places follow the events. User 7 has its share of the bytes, which the picture shows."""
    out = users(tmp_path / "load", "{field: user, as: u32}, {field: at, as: reversed_millis}", .4)
    table = json.loads((out.parent / "plan" / "plan.json").read_text())["tables"][0]
    places = [(p["key"], p["cell_bytes"]) for p in table["places"]]
    all_bytes = sum(b for _, b in places)
    assert 256 <= len(places) <= 512 and abs(all_bytes - table["cell_bytes"]) <= len(places)
    heavy = sum(b for key, b in places if key.startswith("\\x00\\x00\\x00\\x07"))
    assert abs(heavy / all_bytes - .4) < .01
    text = report(out.parent / "plan", tmp_path / "p.html")
    page = Page(text)
    assert any("bands by first byte" in svg["aria-label"] for svg in page.svgs)
    assert "times the mean" not in text and "times the mean" in report(out, tmp_path / "load.html")
    shades = [attrs["d"] for tag, attrs in page.tags if tag == "path" and attrs.get("class") == "heat"]
    assert shades[-1].count("M") == 1  # the strongest class is one spot
    assert sum(d.count("M") for d in shades) > 50
    del table["places"]  # a plan of an older version
    (tmp_path / "old.json").write_text(json.dumps({"events": 1, "rejected": 0, "tables": [table]}))
    assert "Key distribution" not in report(tmp_path / "old.json", tmp_path / "old.html")


@pytest.mark.parametrize("rows, regions, is_told", [(10_000, 4, True), (10_000, 1, True), (300, 1, False)])
def test_the_fullest_bucket_of_a_load(tmp_path, rows, regions, is_told):
    """The figure equals that of the cells, or it is missing, because an index of few places cannot show where buckets
    end."""
    out = users(tmp_path / "load", "{salt: 4, of: [user]}, {field: user, as: u32}, {field: at, as: reversed_millis}", .3,
                rows, regions)
    bucket = collections.Counter(c.row[0] for path in (out / "t" / "hfiles").glob("*/*") for c in hfile_py.read(path))
    found = re.search(r"there are 4, and the fullest has ([\d.]+) times the mean", report(out, tmp_path / "p.html"))
    assert bool(found) == is_told
    if found:
        assert abs(float(found[1]) - max(bucket.values()) * 4 / rows) < .1
