"""`saltmill report`: the page's figures are the manifest's, and it is a page that anybody can open."""
import html.parser
import json
import random
import re
import shutil
import subprocess
import sys

import pytest

from loads import PROGRAM, ROOT

sys.path.insert(0, str(ROOT / "tests" / "faults"))

from mock_topic import MockTopic  # noqa: E402  (needs the path above)

VOID = {"meta", "br", "rect", "line"}


class Page(html.parser.HTMLParser):
    """Tables as lists of rows of texts, by the heading above; fails where tags do not close."""

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


def report(out, target):
    r = subprocess.run([PROGRAM, "report", out, "-o", target], capture_output=True, text=True)
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
    assert not {"script", "link", "img", "iframe"} & {tag for tag, _ in page.tags}
    assert "http" not in text and "url(" not in text and "@import" not in text


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
    assert "script" not in {tag for tag, _ in page.tags} and "\x1b" not in text
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
    assert len(page.tables["Regions"]) - 2 <= 500 + 1
    assert "10000 regions" in "".join(page.words)


def test_how_others_would_have_cut(tmp_path):
    """Keys that are hex digits, evenly: HexStringSplit is nearly even, UniformSplit is not."""
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
    rows = {r[0]: r for r in Page(report(tmp_path / "out", tmp_path / "p.html")).tables["How others would have cut"]}
    share = {name: float(row[1].split()[0]) for name, row in rows.items() if "%" in row[1]}
    assert 9.5 < share["these regions"] < 11 and 9.5 < share["HexStringSplit"] < 12
    # a tenth of all first bytes is 25.6: from 3333... to 6666... are the digits 4 to 9 and 13/16 of the 3s
    assert abs(share["UniformSplit"] - 100 * (6 + 13 / 16) / 16) < 1
    # above 6666... are only keys with fff, one in 4096, less than a block
    assert rows["UniformSplit"][2] == "7 of 10"


def test_what_is_no_load(tmp_path):
    r = subprocess.run([PROGRAM, "report", tmp_path, "-o", tmp_path / "p.html"], capture_output=True, text=True)
    assert r.returncode == 1 and "manifest.json" in r.stderr and not (tmp_path / "p.html").exists()
    r = subprocess.run([PROGRAM, "report"], capture_output=True, text=True)
    assert r.returncode == 2


def test_a_browser_shows_it(tmp_path):
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if not chromium:
        pytest.skip("no chromium here")
    report(make(tmp_path / "load", 3, rows=3000), tmp_path / "p.html")
    for scheme in ([], ["--force-dark-mode", "--enable-features=WebContentsForceDark"]):
        r = subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                            "--window-size=1000,3000", f"--screenshot={tmp_path / 'p.png'}", *scheme,
                            f"file://{tmp_path / 'p.html'}"], capture_output=True, text=True, timeout=120)
        assert r.returncode == 0 and "CONSOLE" not in r.stderr
        assert (tmp_path / "p.png").stat().st_size > 20000


def test_topics_by_their_names(tmp_path):
    """A load of two topics, by librdkafka's mock cluster."""
    topic = MockTopic("page-a", 1)
    (tmp_path / "splits.txt").write_text("\\x01\n")
    (tmp_path / "job.yaml").write_text(f"""\
source:
  kafka: {{brokers: "{topic.brokers}", topics: [page-a], format: json, start: earliest}}
fields: {{id: {{type: u32}}}}
tables:
  - name: t
    rowkey: [{{field: id, as: u32}}]
    timestamp: 5
    families: {{f: {{}}}}
    cells: [{{family: f, qualifier: v, value: v}}]
    regions: {{split: none}}
""")
    topic.produce(0, [json.dumps({"id": i, "v": "x"}).encode() for i in range(7)])
    r = subprocess.run([PROGRAM, "load", tmp_path / "job.yaml", "-o", tmp_path / "out", "--state", tmp_path / "s"],
                       capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    rows = Page(report(tmp_path / "out", tmp_path / "p.html")).tables["Inputs"]
    assert rows[1][0] == "page-a [0] from offset 0" and rows[1][1] == "7"
