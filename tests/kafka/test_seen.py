"""Tests the output of a stream, which is its line on standard error, its metrics, and its status on disk."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import socket
import statistics
import struct
import subprocess
import termios
import threading
import time
import urllib.request

from cluster import HANG_SECONDS, free_ports, hear, wait_until
from rig import END_SECONDS, value

LINE = re.compile(r"lag ([\d,]+) offsets, ([\d,]+) events/s, "
                  r"(?:no open cut|(open cut|loading) ([\d,]+) offsets \((?:([\d,]+) read, )?(\d+) s\)), "
                  r"(\d+) loads?(?:, the last (\d+) s ago)?")


def fill(rig, kafka, count, first=0):
    kafka.produce(rig.topic, [(i % 2, None, value(first + i)) for i in range(count)])


def metrics(port):
    page = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=HANG_SECONDS).read().decode()
    return {n: float(v) for n, v in re.findall(r'^saltmill_(\w+){job_file="job.yaml"} (\S+)$', page, re.M)}


def offsets(rig):
    """Returns the number of loaded events."""
    status = json.loads(rig.run("status", "--state", rig.state, "--json").stdout or "{}")
    return sum(p["offset"] for p in status.get("positions", []))


class Terminal:
    """A stream whose standard error is a terminal."""

    def __init__(self, rig):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", 24, 200, 0, 0))  # no line is incomplete
        self.process = subprocess.Popen([rig.saltmill, "stream", rig.job, "--state", rig.state,
                                         "--memory", "64M"], stdout=subprocess.PIPE, stderr=slave,
                                        text=True, env={**os.environ, "TERM": "xterm"})
        os.close(slave)
        self.text, self.began = "", time.monotonic()

    def read(self, enough):
        """Reads until a condition is true, or the process has closed the terminal."""
        end = time.monotonic() + HANG_SECONDS
        while not enough():
            assert select.select([self.master], [], [], max(0, end - time.monotonic()))[0], self.text
            try:
                self.text += os.read(self.master, 65536).decode()
            except OSError:
                break

    def age(self):
        """Returns seconds since the start of the process, or one more."""
        return time.monotonic() - self.began + 1

    def lines(self):
        return [LINE.fullmatch(l.strip()) for l in self.text.split("\r\x1b[K")[1:]
                if l.startswith("lag")]


def test_on_a_terminal(rig, kafka):
    """The line is rewritten in place. It shows an open load that grows older, and then a finished load."""
    rig.configure(f"start: earliest\n    group: {rig.topic}\n    roll: {{rows: 5000}}")
    kafka.create(rig.topic, 2)
    fill(rig, kafka, 1200)
    t = Terminal(rig)
    t.read(lambda: (l := t.lines()) and l[-1] and int(l[-1][6]) >= 2 and len(l) >= 8)
    assert "\n" not in t.text and all(t.lines())
    assert {(m[1], m[2], m[3], m[4], m[7], m[8]) for m in t.lines()} == \
        {("1,200", "0", "open cut", "1,200", "0", None)}
    ages = [int(m[6]) for m in t.lines()]
    assert ages == sorted(ages) and 2 <= ages[-1] <= t.age()
    t.text = ""
    fill(rig, kafka, 3800, 1200)
    assert "5,000 events" in t.process.stdout.readline()
    t.read(lambda: (l := t.lines()) and l[-1] and "no open cut" in l[-1][0] and int(l[-1][8]) >= 1)
    assert all(t.lines())
    last = t.lines()[-1]
    assert last[1] == "0" and last[7] == "1" and int(last[8]) <= t.age()
    assert 5000 / t.age() < int(last[2].replace(",", "")) < 5000
    t.process.send_signal(signal.SIGTERM)
    t.read(lambda: False)
    assert t.process.wait(END_SECONDS) == 0 and t.text.endswith("\r\x1b[K")


def test_into_a_file(rig, kafka):
    """The stream prints one line at once, and the next line after half a minute. With --quiet it prints no line."""
    rig.configure(f"start: earliest\n    group: {rig.topic}\n    roll: {{rows: 100}}")
    kafka.create(rig.topic, 2)
    for n, more in enumerate(([], ["--quiet"], ["--json"])):
        fill(rig, kafka, 250)
        process = rig.stream(*more)
        wait_until(lambda: (rig.state / "loads").exists() and offsets(rig) >= [200, 500, 700][n])
        said = hear(process, "saltmill stream: lag") if more != ["--quiet"] else ""
        out, err = rig.end(process)
        err = said + err
        lines = [l for l in err.splitlines() if l.startswith("saltmill stream: lag")]
        assert len(lines) == (more != ["--quiet"]) and len(err.splitlines()) == len(lines)
        assert all(LINE.fullmatch(l[len("saltmill stream: "):]) for l in lines)
        assert len(out.splitlines()) == (0 if more == ["--quiet"] else [2, 0, 2][n])


def test_metrics_and_status(rig, kafka):
    """The numbers over HTTP, on disk, and in the topic are the same."""
    port = free_ports(1)[0]
    rig.configure("start: earliest\n    roll: {rows: 1000}")
    kafka.create(rig.topic, 2)
    kafka.produce(rig.topic, [(0, None, b"poison"), (1, None, value(0))])
    fill(rig, kafka, 2400)
    start = time.time()
    process = rig.stream("--metrics", f"127.0.0.1:{port}")
    for _ in range(2):
        process.stdout.readline()
    wait_until(lambda: metrics(port)["cut_age_seconds"] > 2)
    seen, now = metrics(port), time.time()

    def noted_status():
        """The stream writes its note once a second."""
        status = json.loads(rig.run("status", "--state", rig.state, "--json").stdout)
        return status["stream"].get("cut_age_ms", 0) > 1000 and status
    status = wait_until(noted_status)
    later = time.time()
    text = rig.run("status", "--state", rig.state).stdout
    assert seen["lag_offsets"] == seen["cut_offsets"] == 402
    assert 2 < seen["cut_age_seconds"] < now - start
    assert seen["loading"] == 0 and seen["cut_events_read"] == 0
    assert seen["loads_total"] == 2 and seen["events_total"] == 2000
    assert seen["rejected_total"] == 1
    assert start < seen["last_published_timestamp_seconds"] < now
    noted = status["stream"]
    assert {k: noted[k] for k in ("lag", "cut", "loads", "events", "rejected")} == \
        {"lag": 402, "cut": 402, "loads": 2, "events": 2000, "rejected": 1}
    assert 1000 < noted["cut_age_ms"] < (later - start) * 1000
    assert 2000 / (later - start + 1) < noted["rate"] < 2000 / 1
    line = text[text.index("stream, seen "):].strip().split(": ", 1)[1]
    m = LINE.fullmatch(line)
    assert m and (m[1], m[3], m[4], m[7]) == ("402", "open cut", "402", "2"), text
    assert abs(int(m[2].replace(",", "")) - noted["rate"]) < 0.5 * noted["rate"]
    rig.end(process, status=3)


class Trickle(threading.Thread):
    """Connections that send their request one byte at a time and never end the request. The test opens closed connections again."""

    def __init__(self, port, count):
        super().__init__()
        self.port, self.count, self.again = port, count, 0
        self.full, self.enough = threading.Event(), threading.Event()

    def run(self):
        open_ones = []
        while not self.enough.wait(0.1):
            while len(open_ones) < self.count:
                s = socket.create_connection(("127.0.0.1", self.port), timeout=HANG_SECONDS)
                s.sendall(b"GET /metrics HTTP/1.1\r\nX: ")
                open_ones.append(s)
                self.again += self.full.is_set()
            self.full.set()
            for s in list(open_ones):
                try:
                    s.sendall(b"x")
                except OSError:
                    open_ones.remove(s)
        for s in open_ones:
            s.close()


def test_trickling_connections(rig, kafka):
    """Forty connections never complete their request, and /metrics still answers."""
    port = free_ports(1)[0]
    kafka.create(rig.topic, 2)
    process = rig.stream("--metrics", f"127.0.0.1:{port}")
    wait_until(lambda: rig.state.exists() and socket.socket().connect_ex(("127.0.0.1", port)) == 0)
    trickle = Trickle(port, 40)
    trickle.start()
    try:
        assert trickle.full.wait(HANG_SECONDS)
        begin, took = time.monotonic(), []
        # longer than the time limit of a connection, and until the server has closed a slow one
        while time.monotonic() < begin + 7 or not trickle.again and time.monotonic() < begin + HANG_SECONDS:
            start = time.monotonic()
            assert metrics(port)["lag_offsets"] == 0
            took.append(time.monotonic() - start)
            time.sleep(0.2)
        assert trickle.again > 0, "the server must close slow connections"
        assert statistics.median(took) < 3, took  # a connection may occupy a place for 5 s; an idle machine takes 0.01
    finally:
        trickle.enough.set()
        trickle.join()
        rig.end(process)
