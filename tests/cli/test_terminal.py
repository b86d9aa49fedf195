"""Tests terminal output while a command runs. The progress line never wraps, disappears at the end, and appears only on a terminal.

The terminal is a pseudo-terminal with a given width. The test computes the content of its screen, character by
character.
"""
import fcntl
import json
import os
import pty
import random
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time

import pytest

from loads import PROGRAM, ROOT

sys.path.insert(0, str(ROOT / "tests" / "faults"))

from mock_topic import MockTopic, topic_job  # noqa: E402  (needs the path above)

JOB = """\
source: {csv: {files: [in.csv]}}
fields: {id: {type: u32}}
tables:
  - name: t
    rowkey: [{field: id, as: u32}]
    timestamp: 5
    families: {f: {}}
    cells: [{family: f, qualifier: v, value: v}]
    regions: {split: sampled, count: 4}
"""
ROLL = "roll: {rows: 1000, time: 1h}"


class Screen:
    """Keeps lines as a terminal of this width shows them, and every state of the last line."""

    def __init__(self, width):
        self.width, self.lines, self.column, self.shown, self.wrapped, self.codes = width, [""], 0, [], 0, set()

    def feed(self, text):
        for part in re.findall(r"\x1b\[[0-9;]*[A-Za-z]|[\s\S]", text):
            if part == "\r":
                self.column = 0
            elif part == "\n":
                self.lines.append("")
                self.column = 0
            elif part == "\x1b[K":
                self.shown.append(self.lines[-1])
                self.lines[-1] = self.lines[-1][:self.column]
            elif part[0] == "\x1b":
                self.codes.add(part)
            else:
                if self.column >= self.width:
                    self.wrapped += 1
                    self.lines.append("")
                    self.column = 0
                self.lines[-1] = self.lines[-1][:self.column] + part + self.lines[-1][self.column + 1:]
                self.column += 1


def watch(args, width, meanwhile=None, before=(), stdout=subprocess.PIPE, **environment):
    """Runs the program with standard error on a terminal. Returns the screen, the exit status and standard output.
    `before` is a program that starts saltmill. `meanwhile` is a function that gets the process while it runs, with its output so far as `seen`."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    env = {k: v for k, v in os.environ.items() if k not in ("LC_ALL", "LC_CTYPE", "LANG", "TERM", "NO_COLOR")}
    p = subprocess.Popen([*before, PROGRAM, *map(str, args)], stdin=subprocess.PIPE, stdout=stdout, stderr=theirs, text=True,
                         env={**env, "TERM": "xterm", **environment})
    os.close(theirs)
    p.seen = bytearray()
    other = threading.Thread(target=meanwhile or (lambda _: None), args=(p,))
    other.start()
    end = time.monotonic() + 100
    while time.monotonic() < end:
        if select.select([ours], [], [], .1)[0]:
            try:
                more = os.read(ours, 65536)
            except OSError:  # the test has read all output, and the terminal is closed
                break
            p.seen += more
    other.join()
    out, _ = p.communicate(timeout=30)
    os.close(ours)
    screen = Screen(width)
    screen.feed(p.seen.decode("utf-8").replace("\r\n", "\n"))
    return screen, p.returncode, out


def slowly(path):
    """Feeds a named pipe for more than a second, so that the program draws several lines."""
    os.mkfifo(path)

    def feed(_):
        with open(path, "w", encoding="utf-8") as f:
            f.write("id,v\n")
            for i in range(8):
                f.write("".join(f"{i * 5000 + k},{'x' * 90}\n" for k in range(5000)))
                f.flush()
                time.sleep(.15)
    return feed


@pytest.fixture
def job(tmp_path):
    (tmp_path / "job.yaml").write_text(JOB)
    return tmp_path / "job.yaml"


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_a_load(tmp_path, job, width, locale):
    screen, status, out = watch(["load", job, tmp_path / "pipe.csv", "-o", tmp_path / "out"], width,
                                slowly(tmp_path / "pipe.csv"), LC_ALL=locale)
    assert status == 0 and screen.wrapped == 0 and screen.codes == set()
    reading = [line for line in screen.shown if line.startswith("reading")]
    assert len(reading) >= 2 and all(len(line) < width for line in screen.shown)
    assert all(re.match(r"reading, [\d,]+ events(, [\d.]+ [KM]?B)?(, [\d,]+ events/s)?$", line) for line in reading), reading
    assert width > 40 or not any(re.search(r"\d{3} events, .*events/s", line) for line in reading)
    assert screen.lines == [""]
    assert "read 40,000 events" in out and ("▇" in out) == (locale != "C") and ("##" in out) == (locale == "C")
    assert out.isascii() == (locale == "C")


SLOW = ("strace", "-f", "-o", "/dev/null", "-e", "trace=pread64", "-e", "inject=pread64:delay_enter=%d")


@pytest.fixture(scope="module")
def loads(tmp_path_factory):
    """Prepares a load of 64 files, a plan, a map, and two loads of slices with that plan."""
    folder = tmp_path_factory.mktemp("loads")
    (folder / "job.yaml").write_text(JOB.replace("count: 4", "count: 64"))
    rng = random.Random(5)
    with open(folder / "in.csv", "w", encoding="utf-8") as f:
        f.write("id,v\n" + "".join(f"{rng.getrandbits(32)},{rng.getrandbits(300):075x}\n" for _ in range(40000)))
    for args in (["load", "job.yaml", "-o", "out"], ["plan", "job.yaml", "-o", "plan"],
                 ["map", "job.yaml", "--plan", "plan", "-o", "map"],
                 *(["load", "job.yaml", "in.csv", "--slice", f"{k}/2", "--plan", "plan", "-o", f"part-{k}"] for k in (1, 2))):
        subprocess.run([PROGRAM, *args, "--quiet"], cwd=folder, check=True, capture_output=True)
    return folder


def shares(lines):
    return [int(m[1]) for m in (re.match(r"\w+ (\d+)%", line) for line in lines) if m]


COUNTED = {"verify": r"verifying \d+%(, \d+ s left)?(, [\d.]+ ?[KM]?B of [\d.]+ MB)?$",
           "report": r"reading \d+%(, \d+ s left)?(, \d+ of 64 files)?$",
           "scan": r"scanning \d+%(, \d+ s left)?(, [\d,]+ rows)?(, [\d,]+ rows/s)?$",
           "reduce": r"(reading \d+%(, \d+ s left)?(, [\d.]+ ?[KM]?B of [\d.]+ MB)?|"
                     r"writing \d+%(, \d+ s left)?(, \d+ of 64 regions)?(, [\d,]+ cells)?)$",
           "unite": r"(checking|publishing)( \d+%)?(, \d+ s left)?(, \d+ of 128 files)?$|publishing, \d+ s$"}


@pytest.mark.parametrize("command, width", [("verify", 40), ("verify", 200), ("report", 40), ("report", 80), ("scan", 40),
                                            ("scan", 80), ("reduce", 80), ("unite", 40), ("unite", 80)])
def test_how_far_it_is(tmp_path, loads, command, width):
    """The test delays each read a little. The percentage rises, and the line keeps to its width and disappears at the end."""
    args = {"verify": ["verify", loads / "out", "--threads", "1"], "report": ["report", loads / "out", "-o", tmp_path / "p"],
            "scan": ["scan", loads / "job.yaml", loads / "out"],
            "reduce": ["reduce", loads / "job.yaml", loads / "map", "--plan", loads / "plan", "-o", tmp_path / "r"],
            "unite": ["unite", loads / "job.yaml", "--loads", loads / "part-1", loads / "part-2", "-o", tmp_path / "u"]}[command]
    delay = {"verify": 800, "report": 2000, "scan": 2000, "reduce": 8000, "unite": 3000}[command]
    with open(tmp_path / "answer", "w", encoding="utf-8") as answer:
        screen, status, _ = watch(args, width, before=[w.replace("%d", str(delay)) for w in SLOW], LC_ALL="C",
                                  stdout=answer if command in ("scan", "unite") else subprocess.PIPE)
    assert status == 0 and screen.codes == set()
    assert screen.wrapped == 0 or command == "report"  # the last message may have any length
    # on a busy machine, unite also draws its first step, which reads manifests, and its last one; both have no share
    drawn = [line for line in screen.shown if line and not (command == "unite" and line.startswith("reading"))]
    assert len(drawn) >= 3 and all(len(line) < width for line in drawn)
    assert all(re.match(COUNTED[command], line) for line in drawn), drawn
    first = shares([line for line in drawn if line.split()[0] == drawn[0].split()[0]])
    assert first == sorted(first) and len(set(first)) >= 3
    assert sum(" left" in line for line in drawn) >= 2
    assert "".join(screen.lines) == ("" if command != "report" else
                                     f"saltmill report: {tmp_path / 'p'} is the page of load {loads / 'out'}")


def test_the_share_of_what_is_digested(tmp_path):
    """The program knows the size of standard input."""
    def feed(p):
        for _ in range(8):
            p.stdin.write("x" * 1250000)
            p.stdin.flush()
            time.sleep(.15)
        p.stdin.close()
        p.stdin = None
    screen, status, out = watch(["digest", "-", "--name", "in.csv", "--bytes", "10000000"], 80, feed)
    assert status == 0 and json.loads(out)["size"] == 10000000 and screen.lines == [""]
    assert len(set(shares(screen.shown))) >= 3
    assert any(re.match(r"reading \d+%, \d+ s left, [\d.]+ MB of 10.0 MB$", line) for line in screen.shown), screen.shown


@pytest.mark.parametrize("command", [["verify", "out"], ["digest", "in.csv"], ["scan", "job.yaml", "out"],
                                     ["unite", "job.yaml", "--plan", "plan", "--maps", "map", "in.csv"]])
def test_errors_alone_go_to_a_standard_error_that_is_no_terminal(loads, command):
    r = subprocess.run([PROGRAM, *command], cwd=loads, capture_output=True, text=True, check=False)
    assert (r.returncode, r.stderr) == (0, "")
    with open("/dev/full", "w", encoding="utf-8") as full:
        r = subprocess.run([PROGRAM, *command], cwd=loads, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert r.returncode == 1 and r.stderr.count("No space left on device") == len(r.stderr.splitlines()) == 1


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_stream(tmp_path, width):
    topic = MockTopic(f"terminal-{width}", 1)
    topic.produce(0, [json.dumps({"id": i, "v": "x"}).encode() for i in range(2345)])
    (tmp_path / "job.yaml").write_text(topic_job(topic.brokers, f"topic: {topic.name}, " + ROLL))

    def stop(p):
        end = time.monotonic() + 60
        drawn = b"open cut 345 offsets" if width > 40 else b"lag "
        while not ((tmp_path / "s" / "loads" / "00000003.json").exists() and drawn in p.seen) and time.monotonic() < end:
            time.sleep(.05)
        p.send_signal(signal.SIGTERM)
    screen, status, out = watch(["stream", tmp_path / "job.yaml", "--state", tmp_path / "s"], width, stop, LANG="C")
    assert status == 0 and screen.codes == set()
    drawn = [line for line in screen.shown if line]  # and messages on their own lines, of any length
    assert drawn and all(line.startswith("lag ") and len(line) < width and not line.endswith(",") for line in drawn)
    assert any("open cut 345 offsets" in line for line in drawn) == (width > 40)
    assert out.count("published as") == 2 and not any("lag " in line for line in screen.lines)


def test_a_warning_takes_the_line_away(tmp_path, job):
    """A message during the load is on its own line."""
    screen, status, _ = watch(["load", job, tmp_path / "bad.csv", "-o", tmp_path / "bad"], 40,
                              bad(tmp_path / "bad.csv"))
    assert status == 1 and screen.wrapped > 0  # the message may have any length
    text = "".join(screen.lines)
    assert text.startswith("saltmill load: ") and "reading" not in text and screen.lines[-1] == ""


def bad(path):
    """Feeds the pipe in the same way, with a bad event after a pause."""
    os.mkfifo(path)

    def feed(_):
        with open(path, "w", encoding="utf-8") as f:
            f.write("id,v\n" + "1,a\n" * 1000)
            f.flush()
            time.sleep(.7)
            f.write("x,b\n" * 3)
    return feed


@pytest.mark.parametrize("term", ["dumb", ""])
def test_a_terminal_that_cannot_rewrite(tmp_path, job, term):
    screen, status, _ = watch(["load", job, tmp_path / "pipe.csv", "-o", tmp_path / "out"], 80,
                              slowly(tmp_path / "pipe.csv"), TERM=term)
    assert status == 0 and screen.shown == [] and any(
        re.match(r"saltmill: \d\.\d s: reading$", line) for line in screen.lines)


def test_no_colour_is_what_it_is_anyway(tmp_path, job):
    (tmp_path / "in.csv").write_text("id,v\n" + "".join(f"{i},x\n" for i in range(1000)))
    plain, asked = (watch(["load", job, "-o", tmp_path / f"out{len(env)}"], 80, **env) for env in ({}, {"NO_COLOR": "1"}))
    assert plain[0].codes == asked[0].codes == set()
    assert "\x1b" not in plain[2] and re.sub(r"[\d.]+ s|out\d|[\d,]+ events/s|\(read.*\)", "", plain[2]) == \
        re.sub(r"[\d.]+ s|out\d|[\d,]+ events/s|\(read.*\)", "", asked[2])


@pytest.mark.parametrize("locale", ["de_DE.UTF-8", "tr_TR.UTF-8", "C"])
def test_numbers_and_times_are_the_same_everywhere(tmp_path, job, locale):
    (tmp_path / "in.csv").write_text("id,v\n" + "".join(f"{i},{'x' * 30}\n" for i in range(3000)))
    _, status, out = watch(["load", job, "-o", tmp_path / "out"], 80, LC_ALL=locale)
    assert status == 0 and "read 3,000 events" in out and re.search(r"\d\.\d\d s \(read \d\.\d\d, ", out)
    assert re.search(r"\d\.\d KB", out)


def test_names_of_strangers_are_no_commands(tmp_path):
    """`seek` reports why it queried no broker, in a message with the path of the deleted job."""
    topic = MockTopic("seek-shown", 1)
    folder = tmp_path / "a\x1b[31m\x07b"
    folder.mkdir()
    (folder / "job.yaml").write_text(topic_job(topic.brokers, "topic: seek-shown, " + ROLL))
    topic.produce(0, [json.dumps({"id": 1, "v": "x"}).encode()])
    state = tmp_path / "state"
    subprocess.run([PROGRAM, "load", folder / "job.yaml", "-o", tmp_path / "out", "--state", state, "--quiet"], check=True)
    (folder / "job.yaml").unlink()
    r = subprocess.run([PROGRAM, "seek", "--state", state, "0=1"], capture_output=True, check=False)
    assert b"loads did not check the offsets at the brokers" in r.stderr and b"a\\x1B[31m\\x07b" in r.stderr
    assert not set(r.stderr) & {0x1b, 0x07}


NAME = "a\npublished as \x1b[31mevil.csv"


def test_names_cannot_forge_a_line(saltmill, tmp_path):
    """The file name has a line feed and a control sequence. Each line of the output still begins as usual."""
    (tmp_path / "job.yaml").write_text(NAME_JOB)
    (tmp_path / NAME).write_text("id,at,v\n")
    (tmp_path / f"b{NAME}").write_text("id,at,v\nx,1,2\n")
    (tmp_path / "c.csv").write_text("id,at,v\n1,1700000000,v\n1,1700000000,w\n")
    commands = [
        ("load", "job.yaml", NAME, "c.csv", "-o", f"o{NAME}"), ("load", "job.yaml", f"b{NAME}", "-o", "o2"),
        ("load", "job.yaml", f"b{NAME}", "--max-rejects", "1", "-o", "o3"), ("check", "job.yaml", f"b{NAME}", "c.csv"),
        ("plan", "job.yaml", NAME), ("verify", f"o{NAME}"), ("report", f"o{NAME}", "-o", "r.html"), ("loads", "--ledger", "."),
        ("lint", "job.yaml", f"b{NAME}"), ("init", NAME), ("apply", f"o{NAME}", "--hbase", "127.0.0.1:1"),
        ("load", "job.yaml", NAME, "-o", f"o{NAME}"), ("scan", "job.yaml", f"none{NAME}"), ("digest", f"none{NAME}")]
    for command in commands:
        done = subprocess.run([saltmill, *command], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        text = done.stdout + done.stderr
        assert "\x1b" not in text, command
        for line in text.splitlines():
            assert not line.startswith("published as ") or line == "published as o" + NAME.replace("\n", "\\x0A").replace(
                "\x1b", "\\x1B") or line == "published as o3", (command, line)


def in_terminal(command, folder):
    """Returns the bytes that a terminal receives."""
    master, slave = pty.openpty()
    process = subprocess.Popen(command, cwd=folder, stdout=slave, stderr=slave, stdin=subprocess.DEVNULL)
    os.close(slave)
    out = b""
    try:
        while part := os.read(master, 65536):
            out += part
    except OSError:
        pass  # the other end is closed
    os.close(master)
    process.wait(timeout=60)
    return out


def test_values_cannot_command_a_terminal(saltmill, tmp_path):
    """A pipe receives the same bytes unchanged, and a terminal receives them escaped."""
    value = b"\x1b[31mred\x07\xc2\x9bx"
    (tmp_path / "job.yaml").write_text(NAME_JOB.replace("[{field: id, as: u32}]", "[{field: v, terminator: '/'}, {field: id, as: u32}]"))
    (tmp_path / "in.csv").write_bytes(b"id,at,v\n1,1700000000," + value + b"\n")
    subprocess.run([saltmill, "load", "job.yaml", "in.csv", "-o", "out", "--quiet"], cwd=tmp_path, check=True)
    key = subprocess.run([saltmill, "key", "encode", "job.yaml", "v=" + value.decode(), "id=1"], cwd=tmp_path, capture_output=True,
                         text=True, check=True).stdout.strip()
    commands = [("scan", "job.yaml", "out", "--decode", "--format", form) for form in ("csv", "jsonl", "table")] + [
        ("scan", "job.yaml", "out"), ("key", "decode", "job.yaml", key), ("check", "job.yaml", "in.csv"),
        ("inspect", *[str(p) for p in (tmp_path / "out/t/hfiles/f").iterdir()], "--cells"), ("ddl", "job.yaml")]
    for command in commands:
        shown = in_terminal([saltmill, *command], tmp_path)
        assert not re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]|\xc2[\x80-\x9f]|\x1b(?!\[K)", shown), (command, shown)
        assert b"red" in shown or command[0] == "ddl"
    piped = subprocess.run([saltmill, *commands[0]], cwd=tmp_path, capture_output=True, check=True).stdout
    assert value in piped


NAME_JOB = """\
source: {csv: {files: [in.csv]}}
fields:
  id: {type: u32}
  at: {type: time, unit: s}
tables:
  - name: t
    rowkey: [{field: id, as: u32}]
    timestamp: at
    families: {f: {}}
    cells: [{family: f, qualifier: v, value: v}]
    regions: {split: none}
"""
