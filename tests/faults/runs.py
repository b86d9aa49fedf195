"""Makes many runs of one command line cheap. A server in preload.c forks for each run, which has its own folder.

A time limit counts only while this process runs too. If all processes stop for a while, or get no processor, this time does not count. One look counts at most TICK_MOST.
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
STOPPED = 2.0  # of one look: the system stopped or starved this process


class Overtime(Exception):
    """Means that a run did not end in time. The text describes the run's state."""


def doing(pid):
    """Returns the states of a process's threads, and its seconds of processor time."""
    stat = [path.read_text().rsplit(")", 1)[1].split() for path in pathlib.Path(f"/proc/{pid}/task").glob("*/stat")]
    seconds = sum(int(s[11]) + int(s[12]) for s in stat) / os.sysconf("SC_CLK_TCK")
    return f"threads {' '.join(sorted(s[0] for s in stat))}, {seconds:.1f} s of processor time"


class Patience:
    """Counts seconds while this process runs. `stopped` is true if the process did not run all the time."""

    def __init__(self, limit):
        self.left, self.last, self.stopped = limit, time.monotonic(), False

    def look(self):
        """Returns False at the end of the time limit."""
        now = time.monotonic()
        passed, self.last = now - self.last, now
        self.left -= min(passed, TICK_MOST)
        self.stopped = self.stopped or passed > STOPPED
        return self.left > 0


def end_of(process, limit):
    """Returns (standard output, standard error) of a process that ends within `seconds`."""
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
    """Returns {path: bytes}, with None for folders. The list has sorted paths, so a folder precedes its content."""
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
    """Writes the files that files_of() returned."""
    for name, content in files.items():
        path = os.path.join(folder, name)
        if content is None:
            os.mkdir(path)
        else:
            with open(path, "wb") as f:
                f.write(content)


# --- runs ---

class Server:
    """A command line whose process stops at the entry of its main."""

    def __init__(self, line, cwd, env, files):
        self.files, (self.socket, theirs) = files, socket.socketpair()
        with theirs:
            env = env | {"LD_PRELOAD": PRELOAD, "FAULT_SERVER": str(theirs.fileno()), "FAULT_FILES": files}
            self.process = subprocess.Popen(line, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                            pass_fds=[theirs.fileno()])
        self.stopped = False  # processor seconds of this process during the last run

    def answer(self):
        data = self.socket.recv(4, socket.MSG_WAITALL)
        if len(data) < 4:
            raise SystemExit(f"the server of {self.files} is gone")
        return struct.unpack("i", data)[0]

    def run(self, fault, limit, meanwhile=None):
        """Returns the exit status of a run. Calls meanwhile(pid) now and then until it returns True."""
        self.socket.sendall(f"{fault or '-'}\n".encode())
        pid = self.answer()
        assert pid > 0, pid  # the run may get a signal, and a signal to -1 would reach every process
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
    """A folder OUT that one run after another uses alone, and the server that starts the runs."""

    def __init__(self, folder):
        self.out, self.server = folder, None
        self.patience, self.stopped = None, False  # processor seconds of this process since begin()
        self.tries = 0  # of the same run, before this one
        self.before = {}  # content of OUT before a run
        self.reset = lambda: None  # the same for other folders
        folder.mkdir()

    def read(self, ending):
        try:
            with open(f"{self.out}{ending}", "rb") as f:
                return f.read()
        except FileNotFoundError:
            return b""

    def begin(self):
        """Prepares OUT for a run."""
        self.stopped = False
        empty(self.out)
        fill(self.out, self.before)
        self.reset()

    def close(self):
        if self.server:
            self.server.close()
        shutil.rmtree(self.out)


class Slots:
    """The folders of a scenario. Each parallel run has one folder."""

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
