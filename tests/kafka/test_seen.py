"""Tests the output of a stream, which is its line on standard error, its metrics, and its status on disk."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import termios
import threading
import time
import urllib.request

from cluster import free_ports
from rig import value

LINE = re.compile(r"lag ([\d,]+) offsets, ([\d,]+) events/s, "
                  r"(?:no open cut|(open cut|loading) ([\d,]+) offsets \((?:([\d,]+) read, )?(\d+) s\)), "
                  r"(\d+) loads?(?:, the last (\d+) s ago)?")


def fill(rig, kafka, count, first=0):
    kafka.produce(rig.topic, [(i % 2, None, value(first + i)) for i in range(count)])


def metrics(port):
    page = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5).read().decode()
    return {n: float(v) for n, v in re.findall(r'^saltmill_(\w+){job_file="job.yaml"} (\S+)$', page, re.M)}


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.1)
    return found


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
        self.text = ""

    def read(self, seconds):
        """Returns the output so far."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self.master], [], [], left)[0]:
                try:
                    self.text += os.read(self.master, 65536).decode()
                except OSError:
                    break
        return self.text

    def lines(self):
        return [LINE.fullmatch(l.strip()) for l in self.text.split("\r\x1b[K")[1:]
                if l.startswith("lag")]


def test_on_a_terminal(rig, kafka):
    """The line is rewritten in place. It shows an open load that grows older, and then a finished load."""
    rig.configure(f"start: earliest\n    group: {rig.topic}\n    roll: {{rows: 5000}}")
    kafka.create(rig.topic, 2)
    fill(rig, kafka, 1200)
    t = Terminal(rig)
    t.read(3.5)
    assert "\n" not in t.text and all(t.lines()) and len(t.lines()) >= 8
    assert {(m[1], m[2], m[3], m[4], m[7], m[8]) for m in t.lines()} == \
        {("1,200", "0", "open cut", "1,200", "0", None)}
    ages = [int(m[6]) for m in t.lines()]
    assert ages == sorted(ages) and ages[0] <= 1 and 2 <= ages[-1] <= 4
    t.text = ""
    fill(rig, kafka, 3800, 1200)
    assert "5,000 events" in t.process.stdout.readline()
    t.read(1.5)
    assert all(t.lines())
    last = t.lines()[-1]
    assert "no open cut" in last[0] and last[1] == "0" and last[7] == "1" and int(last[8]) <= 3
    assert 5000 / 12 < int(last[2].replace(",", "")) < 5000
    t.process.send_signal(signal.SIGTERM)
    t.read(1)
    assert t.process.wait(10) == 0 and t.text.endswith("\r\x1b[K")


def test_into_a_file(rig, kafka):
    """The stream prints one line at once, and the next line after half a minute. With --quiet it prints no line."""
    rig.configure(f"start: earliest\n    group: {rig.topic}\n    roll: {{rows: 100}}")
    kafka.create(rig.topic, 2)
    for n, more in enumerate(([], ["--quiet"], ["--json"])):
        fill(rig, kafka, 250)
        process = rig.stream(*more)
        wait_until(lambda: (rig.state / "loads").exists() and offsets(rig) >= [200, 500, 700][n])
        time.sleep(1)
        out, err = rig.end(process)
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
    time.sleep(2.5)  # the stream writes the note once a second
    seen, now = metrics(port), time.time()
    status = json.loads(rig.run("status", "--state", rig.state, "--json").stdout)
    text = rig.run("status", "--state", rig.state).stdout
    assert seen["lag_offsets"] == seen["cut_offsets"] == 402
    assert 2 < seen["cut_age_seconds"] < now - start
    assert seen["loading"] == 0 and seen["cut_events_read"] == 0
    assert seen["loads_total"] == 2 and seen["events_total"] == 2000
    assert seen["rejected_total"] == 1
    assert start < seen["last_published_timestamp_seconds"] < now - 2
    noted = status["stream"]
    assert {k: noted[k] for k in ("lag", "cut", "loads", "events", "rejected")} == \
        {"lag": 402, "cut": 402, "loads": 2, "events": 2000, "rejected": 1}
    assert 1000 < noted["cut_age_ms"] < (now - start) * 1000
    assert 2000 / 10 < noted["rate"] < 2000 / 1
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
                s = socket.create_connection(("127.0.0.1", self.port), timeout=5)
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
        assert trickle.full.wait(10)
        end = time.monotonic() + 7  # longer than the time limit of a connection
        while time.monotonic() < end:
            start = time.monotonic()
            assert metrics(port)["lag_offsets"] == 0
            assert time.monotonic() - start < 3  # a connection may occupy a place for 5 s
            time.sleep(0.2)
        assert trickle.again > 0, "the server must close slow connections"
    finally:
        trickle.enough.set()
        trickle.join()
        rig.end(process)
