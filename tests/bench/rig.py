"""Runs programs, measures them, and prints tables.

Wall time is that of the whole process. The kernel reports user+sys and peak memory at its end (wait4), including its
children. The parent stays small, because Linux counts the parent's memory as a minimum for the child.
"""

import json
import os
import pathlib
import platform
import resource
import shutil
import statistics
import subprocess
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CACHE = pathlib.Path(os.environ.get("SALTMILL_CACHE") or pathlib.Path.home() / ".cache/saltmill")
MIB = 1 << 20
RUN_SECONDS = 3600


class Failure(Exception):
    """Means that a program failed or did not do its work, so its time has no meaning."""


class Run:
    """The figures of a finished process, which are wall and cpu in seconds, rss in MiB, and the output."""

    def __init__(self, wall, usage, out):
        self.wall, self.out = wall, out
        self.cpu = usage.ru_utime + usage.ru_stime
        self.rss = usage.ru_maxrss / 1024

    def numbers(self):
        return {"wall_s": round(self.wall, 4), "cpu_s": round(self.cpu, 3),
                "rss_mib": round(self.rss, 1)}


def run(command, cwd=None, env=None):
    """Runs the program to its end. Raises Failure with its last output if the exit status is not 0."""
    os.sync()  # write old data first, so that it does not count for this program
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        p = subprocess.Popen([str(c) for c in command], cwd=cwd, stdin=subprocess.DEVNULL,
                             stdout=out, stderr=err, env={**os.environ, **(env or {})})
        watchdog = threading.Timer(RUN_SECONDS, p.kill)
        watchdog.start()
        _, status, usage = os.wait4(p.pid, 0)
        wall = time.perf_counter() - start
        watchdog.cancel()
        p.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if p.returncode != 0:
            words = err.read().decode(errors="replace")[-2000:]
            raise Failure(f"{command[0]} ended with {p.returncode}: {words}")
        result = Run(wall, usage, out.read().decode(errors="replace"))
    floor = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if floor > 48:
        raise Failure(f"the bench itself holds {floor:.0f} MiB: too much to measure others")
    return result


def warm(path):
    """Reads a file into the page cache and returns its number of lines."""
    lines = 0
    with open(path, "rb", buffering=0) as f:
        while block := f.read(MIB):
            lines += block.count(b"\n")
    return lines


def size_of(path):
    """Returns the bytes of a file, or of all files below a folder except hidden ones."""
    path = pathlib.Path(path)
    if path.is_file():
        return path.stat().st_size
    return sum(p.stat().st_size for p in path.rglob("*")
               if p.is_file() and not p.name.startswith((".", "_")))


def remove(path):
    path = pathlib.Path(path)
    if path.is_dir():
        shutil.rmtree(path)
    elif path.exists():
        path.unlink()


class Saltmill:
    """The program under test."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.out = folder / "out" / "load"

    def load(self, job, files, *options):
        """Runs a load, whose result stays in self.out. Returns the run with .result."""
        remove(self.out)
        self.out.parent.mkdir(parents=True, exist_ok=True)
        r = run([self.program, "load", job, *files, "-o", self.out, "--json", "--quiet", *options])
        r.result = json.loads(r.out)
        tables = r.result["tables"]
        r.rows, r.cells = (sum(t[k] for t in tables) for k in ("rows", "cells"))
        r.files = sum(t["files"] for t in tables)
        r.spilled = r.result["spilled_bytes"]
        return r

    def hfiles(self):
        return sorted(p for p in self.out.glob("*/hfiles/*/*") if p.is_file())

    def clear(self):
        remove(self.out)


def machine():
    model = platform.processor() or platform.machine()
    with open("/proc/cpuinfo") as f:
        for line in f:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    pages, page = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return {"cores": len(os.sched_getaffinity(0)), "model": model,
            "memory_mib": pages * page // MIB, "system": platform.platform(),
            "date": time.strftime("%Y-%m-%d %H:%M"), "load_average": round(os.getloadavg()[0], 2)}


# --- numbers and tables ---

def spread(values, digits=2):
    """Formats median (min..max)."""
    values = list(values)
    middle = f"{statistics.median(values):.{digits}f}"
    if len(values) == 1:
        return middle
    return f"{middle} ({min(values):.{digits}f}..{max(values):.{digits}f})"


def middle(values):
    return statistics.median(values)


def ratios(above, below):
    """Returns above[i] / below[i] for each pair."""
    return [a / b for a, b in zip(above, below)]


def summary(values):
    return {"median": round(middle(values), 4), "min": round(min(values), 4),
            "max": round(max(values), 4), "n": len(values)}


def count(n):
    return f"{n:,.0f}"


def table(title, head, rows):
    """Prints a table in Markdown. The first column is text, and the other columns are numbers."""
    rows = [[str(c) for c in r] for r in rows]
    widths = [max(len(r[i]) for r in [head, *rows]) for i in range(len(head))]

    def line(cells):
        return "| " + " | ".join(c.ljust(w) if i == 0 else c.rjust(w)
                                 for i, (c, w) in enumerate(zip(cells, widths))) + " |"

    print(f"\n{title}\n\n{line(head)}")
    print("|" + "|".join("-" * (w + 1) + ("-" if i == 0 else ":")
                         for i, w in enumerate(widths)) + "|")
    for r in rows:
        print(line(r), flush=True)


class Checks:
    """Promised figures, compared with measured ones."""

    def __init__(self):
        self.lines = []

    def at_least(self, what, value, wanted):
        self._add(what, value, f"at least {wanted:g}", value >= wanted)

    def at_most(self, what, value, wanted):
        self._add(what, value, f"at most {wanted:g}", value <= wanted)

    def _add(self, what, value, wanted, ok):
        self.lines.append({"what": what, "value": round(value, 3), "wanted": wanted, "ok": ok})

    def show(self, title):
        table(title, ["what", "measured", "wanted", ""],
              [[c["what"], f"{c['value']:.2f}", c["wanted"], "pass" if c["ok"] else "FAIL"]
               for c in self.lines])
