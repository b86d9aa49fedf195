"""Tests the page in Chromium. Chromium shows it without an error, and it passes the rules of axe, with and without its
script."""
import json
import os
import pathlib
import re
import subprocess

import pytest

from chromium import PATH, Chromium
from loads import PROGRAM
from test_page import MockTopic, Page, make, make_state, number, report, told_by
from test_watch import Busy, one_window

CACHE = pathlib.Path(os.environ.get("SALTMILL_CACHE", pathlib.Path.home() / ".cache" / "saltmill"))
AXE = CACHE / "axe" / "axe.min.js"
NAMES = ("load", "many", "plan", "state", "watch")

pytestmark = pytest.mark.skipif(not PATH, reason="no Chromium here")

VIOLATIONS = """(async () => {
  for (const d of document.querySelectorAll('details')) d.open = true;
  const r = await axe.run(document, {resultTypes: ['violations'], RULES});
  return [r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.html).slice(0, 3).join(' ')), r.passes.map(v => v.id)];
})()"""

CONTRAST = "runOnly: {type: 'rule', values: ['color-contrast', 'scrollable-region-focusable']}"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Returns a folder with NAME.html of each kind, and the data that they show."""
    folder = tmp_path_factory.mktemp("pages")
    load = make(folder / "load", 3, rows=3000)
    (folder / "lint.json").write_text(told_by("lint", folder / "load" / "job.yaml"))
    report(load, folder / "load.html", "--lint", folder / "lint.json")
    report(make(folder / "many", 9, rows=4000, regions="{split: uniform, count: 10000}"), folder / "many.html")
    report(make_state(folder / "k", MockTopic("page-browser", 2), [9, 40]), folder / "state.html")
    (folder / "plan.json").write_text(told_by("plan", folder / "load" / "job.yaml", "--hotspot"))
    report(folder / "plan.json", folder / "plan.html")
    with Busy([b"%03d" % i for i in range(1, 60)], [[10 + i, 5000 if i == 7 else 3] for i in range(60)]) as cluster:
        one_window(cluster, "-o", str(folder / "watch.html"))
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    b = Chromium(tmp_path_factory.mktemp("profile"))
    yield b
    b.close()


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", ["load", "plan", "state", "watch"])
def test_by_the_rules_of_axe(pages, browser, name, dark):
    browser.open(pages / f"{name}.html", dark=dark, width=390 if dark else 1100)
    browser.ask(AXE.read_text())
    violations, passes = browser.ask(VIOLATIONS.replace("RULES", CONTRAST if dark else ""))
    assert violations == []
    expected = {"color-contrast"} if dark else {"color-contrast", "html-has-lang", "heading-order", "document-title",
                                                "region", "svg-img-alt"}
    assert expected <= set(passes)


@pytest.mark.parametrize("dark", [False, True])
def test_axe_would_find_it(pages, browser, dark):
    """The contrast check finds text with little contrast, in the selected color scheme."""
    browser.open(pages / "load.html", dark=dark)
    browser.ask(AXE.read_text())
    assert browser.ask("getComputedStyle(document.body).backgroundColor") == ("rgb(20, 24, 29)" if dark else
                                                                            "rgb(255, 255, 255)")
    browser.ask(f"document.documentElement.style.setProperty('--soft', '{'#444' if dark else '#bbb'}')")
    found, _ = browser.ask(VIOLATIONS.replace("RULES", CONTRAST))
    assert [v.split(":")[0] for v in found] == ["color-contrast"]


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", NAMES)
def test_drawn_within_the_width_without_an_error(pages, browser, name, width):
    browser.open(pages / f"{name}.html", width=width)
    root = "document.documentElement"
    assert browser.ask(f"{root}.scrollWidth") <= width
    drawn = browser.ask("[...document.querySelectorAll('svg')].map(s => s.getBoundingClientRect().height)")
    assert len(drawn) >= (1 if name in ("state", "plan", "watch") else 4) and all(height > 20 for height in drawn)
    assert browser.complaints == []


@pytest.mark.parametrize("name", NAMES)
def test_phone_shows_the_page_without_overflow(pages, browser, name):
    """At 390 px, with every detail open, only tables and charts scroll sideways, each in its own box."""
    browser.open(pages / f"{name}.html", width=390, mobile=True)
    browser.ask("for (const d of document.querySelectorAll('details')) d.open = true")
    assert browser.ask("document.documentElement.scrollWidth") <= 390
    assert browser.ask("""[...document.querySelectorAll('main *')].filter(e => !e.closest('.wide, figure') &&
        (e.getBoundingClientRect().right > 390 || e.getBoundingClientRect().left < 0)).map(e => e.outerHTML)""") == []


@pytest.mark.parametrize("name", ["plan", "watch"])
def test_paper_shows_the_whole_page(pages, browser, name):
    """A printer has no scroll bars, so tables and heat maps must fit."""
    browser.open(pages / f"{name}.html", width=700)
    browser.call("Emulation.setEmulatedMedia", media="print")
    try:
        assert browser.ask("document.documentElement.scrollWidth") <= 700
        assert browser.ask("""[...document.querySelectorAll('main table, main svg')].filter(e => e.getBoundingClientRect().width &&
            e.getBoundingClientRect().right > 700).map(e => e.outerHTML.slice(0, 200))""") == []
        assert len(browser.call("Page.printToPDF")["data"]) > 10000
    finally:
        browser.call("Emulation.setEmulatedMedia", media="")


def click_copy(browser, i):
    """Clicks the middle of copy button I as a user does. Returns the button's label afterwards."""
    browser.ask(f"var button = document.querySelectorAll('button.copy')[{i}]; button.scrollIntoView({{block: 'center'}})")
    x, y, width, height = browser.ask("(r => [r.x, r.y, r.width, r.height])(button.getBoundingClientRect())")
    assert x >= 0 and x + width <= 390 and width >= 44 and height >= 32
    at = {"x": x + width / 2, "y": y + height / 2, "button": "left", "clickCount": 1}
    browser.call("Input.dispatchMouseEvent", type="mousePressed", **at)
    browser.call("Input.dispatchMouseEvent", type="mouseReleased", **at)
    return browser.ask("""new Promise(done => {
        const look = left => button.textContent != 'Copy' || !left ? done(button.textContent) : setTimeout(look, 20, left - 1);
        look(50); })""")


@pytest.mark.parametrize("clipboard", ["granted", "denied", "absent", "none"])
@pytest.mark.parametrize("name", ["load", "plan", "state"])
def test_phone_copies_each_command(pages, browser, name, clipboard):
    """A click copies the command. A page from plain http has no clipboard object. Without this object, the button selects the command."""
    browser.open(pages / f"{name}.html", width=390, mobile=True)
    commands = [c.strip() for c in re.findall(r'<pre class="run"><code>(.*?)</code></pre>',
                                              (pages / f"{name}.html").read_text(encoding="utf-8"), re.S)]
    assert commands and browser.ask("document.querySelectorAll('button.copy').length") == len(commands)
    browser.call("Emulation.setFocusEmulationEnabled", enabled=True)
    for permission in ("clipboard-read", "clipboard-write"):
        browser.call("Browser.setPermission", permission={"name": permission}, setting="granted")
    browser.ask("navigator.clipboard.writeText('')")
    browser.ask("var clipboard = navigator.clipboard")
    if clipboard == "denied":
        browser.ask("clipboard.writeText = async () => { throw new DOMException('', 'NotAllowedError'); }")
    elif clipboard != "granted":
        browser.ask("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    if clipboard == "none":
        browser.ask("document.execCommand = () => false")
    for i, command in enumerate(commands):
        label = click_copy(browser, i)
        if clipboard == "none":
            assert label == "Selected" and browser.ask("getSelection().toString()").strip() == command
        else:
            assert label == "Copied" and browser.ask("clipboard.readText()").strip() == command
    assert browser.complaints == []


@pytest.mark.parametrize("name", ["load", "many"])
def test_figures_on_the_screen_are_the_manifests(pages, browser, name):
    browser.open(pages / f"{name}.html")
    m = json.loads((pages / name / "out" / "manifest.json").read_text())
    rows = browser.ask("[...document.querySelector('table').tBodies[0].rows].map(r => [...r.cells].map(c => c.innerText))")
    for row, t in zip(rows, m["tables"], strict=True):
        assert row[0] == t["name"]
        assert [number(x) for x in row[1:]] == [m["read"], t["loaded"], m["rejected"], t["filtered"],
                                                t["deduplicated"], t["rows"], t["cells"]]


def test_the_script_sorts_filters_and_tells(pages, browser):
    browser.open(pages / "many.html")
    browser.ask("document.querySelector('details').open = true")
    browser.ask("var t = document.querySelector('details table'), rows = () => [...t.tBodies[0].rows]")
    click = "[...t.tHead.rows[0].cells].find(h => h.textContent == 'bytes').querySelector('button').click()"
    shown = "rows().map(r => Number(r.cells[3].dataset.v))"
    before = browser.ask(shown)
    browser.ask(click)
    assert browser.ask(shown) == sorted(before, reverse=True)
    assert browser.ask("t.querySelector('[aria-sort]').getAttribute('aria-sort')") == "descending"
    browser.ask(click)
    assert browser.ask(shown) == sorted(before) != before
    browser.ask("var box = document.querySelector('input'); box.value = '(BEGIN)'; box.dispatchEvent(new Event('input'))")
    assert browser.ask("rows().filter(r => r.offsetHeight).map(r => r.cells[1].textContent)") == ["(begin)"]
    browser.ask("var bar = document.querySelector('rect.bar'); bar.scrollIntoView()")
    at = browser.ask("(r => [r.x + r.width / 2, r.y + r.height / 2])(bar.getBoundingClientRect())")
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=at[0], y=at[1])
    assert re.match(r"regions 0 to 41, the largest is region \d+: .* rows", browser.ask(
        "document.querySelector('.tip:not([hidden])').textContent"))
    assert browser.complaints == []


@pytest.mark.parametrize("name", ["load", "plan", "state"])
def test_without_the_script_nothing_is_missing(pages, browser, name):
    browser.open(pages / f"{name}.html", script=False)
    root = browser.call("DOM.getDocument", depth=-1)["root"]
    dom = browser.call("DOM.getOuterHTML", nodeId=root["nodeId"])["outerHTML"]
    assert "<button" not in dom and browser.complaints == []
    assert Page(dom).tables == Page((pages / f"{name}.html").read_text(encoding="utf-8")).tables
    assert len(browser.picture()) > 20000


@pytest.fixture(scope="module")
def designed(tmp_path_factory):
    """Returns the page of `design`, and design.json."""
    folder = tmp_path_factory.mktemp("designed")
    rows = [(i, i * 7919 % 300, 1735689600000 + i * 130000, f"<b>{i % 9}") for i in range(4000)]
    (folder / "a.csv").write_text("id,owner,at,name\n" + "".join(f"{i},{o},{t},{n}\n" for i, o, t, n in rows))
    done = subprocess.run([PROGRAM, "design", "a.csv", "--ask", "owner = ? latest 20", "1000/s", "--ask", "at between ? and ? + 1h", "2/s",
                           "--ask", "id = ?", "5/s", "--rows", "1G", "--writes", "900/s", "-o", "out", "--quiet"], cwd=folder,
                          capture_output=True, text=True, check=False)
    assert done.returncode in (0, 3), done.stderr
    return folder / "out" / "design.html", json.loads((folder / "out" / "design.json").read_text())


@pytest.mark.parametrize("width, medium", [(390, "screen"), (1280, "screen"), (700, "print")])
def test_designs_fit(designed, browser, width, medium):
    """On a phone, tables scroll in their box. On a desktop and on paper, all columns fit."""
    browser.open(designed[0], width=width)
    browser.call("Emulation.setEmulatedMedia", media=medium)
    try:
        assert browser.ask("document.documentElement.scrollWidth") <= width
        wide = "[...document.querySelectorAll('.wide')].filter(w => w.scrollWidth > w.clientWidth + 1).map(w => w.ariaLabel)"
        assert width == 390 or browser.ask(wide) == []
        assert browser.complaints == []
        browser.ask(AXE.read_text())
        assert browser.ask(VIOLATIONS.replace("RULES", ""))[0] == []
    finally:
        browser.call("Emulation.setEmulatedMedia", media="")


def test_designs_of_the_page_are_those_of_the_json(designed, browser):
    page, printed = designed
    browser.open(page, width=1280)
    rows = browser.ask("[...document.querySelectorAll('.wide')].find(w => w.ariaLabel == 'designs and their costs')"
                       ".querySelectorAll('tbody tr').values().map(r => [r.className, ...[...r.cells].map(c => c.innerText)]).toArray()")
    assert [(r[1], r[0] == "idle") for r in rows] == [(d["name"], d["obvious"]) for d in printed["list"]]
    assert [r[-1] for r in rows] == [str(len(d["tables"])) for d in printed["list"]]
    assert browser.ask("[...document.querySelectorAll('dd')].map(d => d.innerText)") == [d["sentence"] + "." for d in printed["list"] if d["obvious"]]
    # a box for each part, with its bytes; the heat map of each table
    shown = [d for d in printed["list"] if not d["obvious"]]
    boxes = browser.ask("[...document.querySelectorAll('.key')].map(k => [...k.querySelectorAll('small')].map(s => s.innerText))")
    tables = [t for d in shown for t in d["tables"]]
    assert len(boxes) == len(tables)
    for box, table in zip(boxes, tables, strict=True):
        assert len(box) == len(table["rowkey"])
        assert sum(int(b.split()[0]) for b in box) == table["key_bytes"]
    assert browser.ask("document.querySelectorAll('.side svg').length") == sum(len(d["tables"]) for d in printed["list"])
    # the ticks of each question are 201 draws
    ticks = browser.ask("[...document.querySelectorAll('path.bar')].map(p => p.getAttribute('d').split('z').length - 1)")
    assert ticks == [0 if q["plan"] == "index" else 201 for d in shown for q in d["questions"]]
