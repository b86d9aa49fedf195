"""The README: what it shows is what the program prints, its links lead somewhere, its picture is one.

A line of it that is `...` stands for any number of lines; times and rates, which a clock shows, for any others.
"""

import re
import shlex
import shutil
import subprocess
import xml.etree.ElementTree

from loads import ROOT

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
CLOCK = re.compile(r"^\d+\.\d\d s \(read .*events/s.*$")


def shown():
    """[(command, the lines below it)] of the indented blocks."""
    found, lines = [], TEXT.splitlines()
    for i, line in enumerate(lines):
        if line.startswith("    $ "):
            command, j = line[6:], i + 1
            while command.endswith("\\"):
                command, j = command[:-1] + lines[j].strip(), j + 1
            below = []
            while j < len(lines) and lines[j].startswith("    ") and not lines[j].startswith("    $ "):
                below.append(lines[j][4:])
                j += 1
            found.append((command, below))
    return found


def agrees(wanted, printed):
    """Each line of wanted, in order, with nothing between but at `...`."""
    at, skips = 0, False
    for line in wanted:
        if line.strip() == "...":
            skips = True
            continue
        same = [k for k in range(at, len(printed))
                if printed[k] == line or (CLOCK.match(line) and CLOCK.match(printed[k]))]
        if not same or (not skips and same[0] != at):
            return f"{line!r} is not in its place; there is {printed[at:at + 1]}"
        at, skips = same[0] + 1, False
    return None if skips or at == len(printed) else f"more is printed: {printed[at:at + 1]}"


def test_what_it_shows_is_printed(saltmill, flights_csv, tmp_path):
    shutil.copytree(ROOT / "conf", tmp_path / "conf")
    (tmp_path / "flights.csv").symlink_to(flights_csv)
    subprocess.run([saltmill, "load", "conf/files.yaml", "-o", "out", "--quiet"], cwd=tmp_path, check=True)
    tried = []
    for command, below in shown():
        words = shlex.split(command)
        if not below or not words[0].endswith("saltmill") or not any(
                w in command for w in ("load conf/flights.yaml flights.csv -o night", "plan conf/flights.yaml", "scan conf/files.yaml out")):
            continue
        done = subprocess.run([saltmill, *words[1:]], cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, (command, done.stderr)
        assert agrees(below, done.stdout.splitlines()) is None, (command, agrees(below, done.stdout.splitlines()))
        tried.append(words[1])
    assert sorted(tried) == ["load", "plan", "scan"]


def test_a_bad_event_is_told_so(saltmill, tmp_path):
    ((_, (told,)),) = [s for s in shown() if s[0].endswith("load job.yaml -o out")]
    line, byte = map(int, re.search(r"in\.csv:(\d+) \(byte (\d+)\)", told).groups())
    from load_help import JOB
    (tmp_path / "job.yaml").write_text(JOB)
    # rows as long as it takes for the bad one to stand at that line and byte
    head = "id,at,value\n"
    fill = byte - len(head) - sum(len("1,1,v\n") for _ in range(line - 3))
    rows = ["1,1,v\n"] * (line - 3) + ["1,1,v" + "x" * (fill - len("1,1,v\n")) + "\n", "12x,1,v\n"]
    (tmp_path / "in.csv").write_text(head + "".join(rows))
    done = subprocess.run([saltmill, "load", "job.yaml", "-o", "out"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.splitlines()[-1] == told


def test_links_lead_somewhere():
    headings = {re.sub(r"[^a-z0-9 -]", "", h.lower()).replace(" ", "-") for h in re.findall(r"^#+ (.*)$", TEXT, re.M)}
    links = re.findall(r"\]\(([^)]+)\)", TEXT)
    assert len(links) > 8
    for link in links:
        if link.startswith("#"):
            assert link[1:] in headings, link
        elif not link.startswith("https://"):
            assert (ROOT / link).exists(), link
    for name in re.findall(r"`((?:conf|pipeline|tests)/[\w./@-]+)`", TEXT):
        assert (ROOT / name).exists(), name


def test_the_picture():
    tree = xml.etree.ElementTree.parse(ROOT / "conf" / "data-path.svg").getroot()
    space = "{http://www.w3.org/2000/svg}"
    assert tree.find(space + "title").text and tree.find(space + "desc").text
    assert "prefers-color-scheme: dark" in tree.find(space + "style").text
    left, top, width, height = map(float, tree.get("viewBox").split())
    boxes = [[float(r.get(k)) for k in ("x", "y", "width", "height")] for r in tree.iter(space + "rect")]
    for x, y, w, h in boxes:
        assert left <= x and x + w <= width and top <= y and y + h <= height
        others = [b for b in boxes if b != [x, y, w, h]]
        assert not any(x < b[0] + b[2] and b[0] < x + w and y < b[1] + b[3] and b[1] < y + h for b in others)
