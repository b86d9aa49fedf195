"""Runs of one command line, many and cheap: a server of preload.c is forked for each, in a folder of its own.

A limit of time counts while this process runs too: when all of it is stopped for a while, or gets no processor, what
passed meanwhile is not held against the run (TICK_MOST of each look at it is).
"""

import os
import pathlib
import queue
import select
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRELOAD = str(ROOT / "build" / "preload.so")
TICK, TICK_MOST = 0.25, 0.5  # seconds
STOPPED = 2.0  # of one look: this process was stopped, or starved


class Overtime(Exception):
    """A run did not end in time; what it was doing."""


def doing(pid):
    """Of a process: the states of its threads, and its seconds of processor time."""
    stat = [path.read_text().rsplit(")", 1)[1].split() for path in pathlib.Path(f"/proc/{pid}/task").glob("*/stat")]
    seconds = sum(int(s[11]) + int(s[12]) for s in stat) / os.sysconf("SC_CLK_TCK")
    return f"threads {' '.join(sorted(s[0] for s in stat))}, {seconds:.1f} s of processor time"


class Patience:
    """Seconds that passed while this process ran; `stopped`: it did not run all the time."""

    def __init__(self, limit):
        self.left, self.last, self.stopped = limit, time.monotonic(), False

    def look(self):
        """False: it is at its end."""
        now = time.monotonic()
        passed, self.last = now - self.last, now
        self.left -= min(passed, TICK_MOST)
        self.stopped = self.stopped or passed > STOPPED
        return self.left > 0


def end_of(process, limit):
    """(standard output, standard error) of a process that ends within so many seconds."""
    patience = Patience(limit)
    while True:
        try:
            return process.communicate(timeout=TICK)
        except subprocess.TimeoutExpired:
            if patience.look():
                continue
            seen = doing(process.pid)
            process.kill()
            process.communicate()
            raise Overtime(seen) from None


# --- folders ---

def files_of(folder):
    """{path: bytes}; of folders None.  Sorted; folders stand in front of what is in them."""
    found = {}

    def walk(path, below):
        with os.scandir(path) as entries:
            for e in sorted(entries, key=lambda e: e.name):
                name = below + e.name
                if e.is_dir(follow_symlinks=False):
                    found[name] = None
                    walk(e.path, name + "/")
                else:
                    with open(e.path, "rb") as f:
                        found[name] = f.read()

    walk(folder, "")
    return found


def empty(folder):
    with os.scandir(folder) as entries:
        for e in entries:
            if e.is_dir(follow_symlinks=False):
                empty(e.path)
                os.rmdir(e.path)
            else:
                os.unlink(e.path)


def fill(folder, files):
    """What files_of() gave."""
    for name, content in files.items():
        path = os.path.join(folder, name)
        if content is None:
            os.mkdir(path)
        else:
            with open(path, "wb") as f:
                f.write(content)


# --- runs ---

class Server:
    """A command line that stands at the entry of its main."""

    def __init__(self, line, cwd, env, files):
        self.files, (self.socket, theirs) = files, socket.socketpair()
        with theirs:
            env = env | {"LD_PRELOAD": PRELOAD, "FAULT_SERVER": str(theirs.fileno()), "FAULT_FILES": files}
            self.process = subprocess.Popen(line, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                            pass_fds=[theirs.fileno()])
        self.stopped = False  # this process, while the last run ran

    def answer(self):
        data = self.socket.recv(4, socket.MSG_WAITALL)
        if len(data) < 4:
            raise SystemExit(f"the server of {self.files} is gone")
        return struct.unpack("i", data)[0]

    def run(self, fault, limit, meanwhile=None):
        """The exit status of a run; meanwhile(pid) is called every now and then until it returns True."""
        self.socket.sendall(f"{fault or '-'}\n".encode())
        pid = self.answer()
        assert pid > 0, pid  # it may get a signal: one to -1 would reach every process
        patience, tick = Patience(limit), 0.02 if meanwhile else TICK
        while not select.select([self.socket], [], [], tick)[0]:
            if meanwhile and meanwhile(pid):
                meanwhile, tick = None, TICK
            if not patience.look() and not select.select([self.socket], [], [], 0)[0]:
                seen = doing(pid)
                os.kill(pid, signal.SIGKILL)
                self.answer()
                raise Overtime(seen)
        patience.look()
        self.stopped = patience.stopped
        return os.waitstatus_to_exitcode(self.answer())

    def close(self):
        self.socket.close()
        self.process.wait()


class Slot:
    """A folder OUT that one run after the other has for itself, and what serves them."""

    def __init__(self, folder):
        self.out, self.server = folder, None
        self.patience, self.stopped = None, False  # seconds; this process, since begin()
        self.tries = 0  # of the same run, before this one
        self.before = {}  # what is in OUT before a run
        self.reset = lambda: None  # the same for what is elsewhere
        folder.mkdir()

    def read(self, ending):
        try:
            with open(f"{self.out}{ending}", "rb") as f:
                return f.read()
        except FileNotFoundError:
            return b""

    def begin(self):
        """OUT as it is to be before a run."""
        self.stopped = False
        empty(self.out)
        fill(self.out, self.before)
        self.reset()

    def close(self):
        if self.server:
            self.server.close()
        shutil.rmtree(self.out)


class Slots:
    """Of a scenario; as many as are used at a time."""

    def __init__(self, scratch, prepare):
        self.scratch, self.prepare, self.idle, self.all = scratch, prepare, queue.SimpleQueue(), []
        self.lock = threading.Lock()

    def take(self):
        try:
            return self.idle.get_nowait()
        except queue.Empty:
            with self.lock:
                slot = Slot(self.scratch / f"slot{len(self.all)}")
                self.all.append(slot)
            self.prepare(slot)
            return slot

    def give_back(self, slot):
        self.idle.put(slot)

    def close(self):
        for slot in self.all:
            slot.close()
