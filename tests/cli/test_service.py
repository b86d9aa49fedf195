"""Tests saltmill as a service, with its messages to systemd and the units in conf/service. The messages are those of
sd_notify(3). A datagram socket of the test takes the place of systemd.
"""

import configparser
import os
import re
import shutil
import signal
import socket
import subprocess
import time

import pytest

from loads import ROOT

UNITS = ROOT / "conf" / "service"
JOB = """\
source:
  kafka: {brokers: "127.0.0.1:1", topic: t, format: raw}
fields:
  at: {type: time, unit: ms, from: $timestamp}
tables:
  - name: t
    rowkey: [{field: $partition, as: text, terminator: '-'}, {field: $offset, as: text}]
    timestamp: at
    families: {f: {}}
    cells: [{family: f, qualifier: v, value: value}]
    regions: {split: none}
"""


class Manager:
    """Receives the messages that systemd would receive."""

    def __init__(self):
        self.name = f"@saltmill-test-{os.getpid()}-{time.monotonic_ns()}"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + self.name[1:])
        self.heard = []

    def hear(self, wanted, seconds=20, times=1):
        """Waits for a line."""
        end = time.monotonic() + seconds
        while sum(bool(re.fullmatch(wanted, line)) for line in self.heard) < times:
            self.socket.settimeout(max(end - time.monotonic(), 0.01))
            self.heard += self.socket.recv(65536).decode().split("\n")[:-1]
        return self.heard


def test_waiting_for_brokers_is_alive(saltmill, tmp_path):
    """If no broker answers, the start waits without limit, and the watchdog gets messages during the wait."""
    (tmp_path / "job.yaml").write_text(JOB)
    manager = Manager()
    process = subprocess.Popen(
        [saltmill, "stream", "job.yaml", "--state", "state", "--quiet"], cwd=tmp_path, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "NOTIFY_SOCKET": manager.name, "WATCHDOG_USEC": "3000000"})
    try:
        manager.hear("STATUS=waiting for the topic")
        manager.hear("EXTEND_TIMEOUT_USEC=60000000")
        manager.hear("WATCHDOG=1", times=2)
        assert "READY=1" not in manager.heard
        process.send_signal(signal.SIGSTOP)  # the process looks hung, so it sends no message
        time.sleep(0.2)
        manager.socket.setblocking(False)
        with pytest.raises(BlockingIOError):
            while manager.socket.recv(65536):
                pass
        manager.socket.settimeout(1.2)
        with pytest.raises(TimeoutError):
            manager.socket.recv(65536)
        process.send_signal(signal.SIGCONT)
        process.send_signal(signal.SIGTERM)
        assert "READY=1" not in manager.hear("STOPPING=1")
        assert process.wait(timeout=30) == 0, process.stderr.read()
    finally:
        process.kill()
        process.communicate()


def units():
    return sorted(p for p in UNITS.iterdir() if p.suffix in (".service", ".timer"))


def sections(path):
    parsed = configparser.ConfigParser(strict=False, interpolation=None, delimiters=("=",))
    parsed.optionxform = str
    parsed.read_string(path.read_text())
    return parsed


def test_the_stream_is_watched():
    unit = sections(UNITS / "saltmill-stream@.service")["Service"]
    assert unit["Type"] == "notify" and unit["NotifyAccess"] == "main"
    assert unit["WatchdogSec"] and unit["Restart"] == "on-failure"


def test_systemd_understands_the_units(tmp_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("no systemd-analyze here")
    root = tmp_path / "root"
    system = root / "usr/lib/systemd/system"
    system.mkdir(parents=True)
    for unit in units():
        shutil.copy(unit, system)
    for name in ("network-online.target", "multi-user.target", "timers.target", "sysinit.target", "basic.target",
                 "shutdown.target", "time-set.target", "time-sync.target"):
        (system / name).write_text("[Unit]\n")
    for program in ("usr/bin/saltmill", "usr/libexec/saltmill/nightly", "bin/sh"):
        (root / program).parent.mkdir(parents=True, exist_ok=True)
        (root / program).write_text("#!/bin/sh\n")
        (root / program).chmod(0o755)
    names = [u.name.replace("@.", "@clicks.") for u in units()]
    done = subprocess.run(["systemd-analyze", "verify", f"--root={root}", "--man=no", *names], capture_output=True, text=True,
                          timeout=60)
    said = [line for line in done.stderr.splitlines() if "saltmill" in line]
    assert said == [] and done.returncode == 0, done.stderr
