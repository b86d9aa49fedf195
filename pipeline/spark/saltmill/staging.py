"""The folder beside the output in which a load is made, and its lock.

OUT.saltmill-spark/lock says who makes OUT.  All else is in a folder of that one run, which goes
when the run ends: a task that is still awake then finds no place to write to, because tasks make no
folders there.  OUT itself appears by the rename of `saltmill unite`.
"""

import contextlib
import fcntl
import json
import os
import pathlib
import shutil
import socket
import tempfile

from . import JobError, sentences

SUFFIX = ".saltmill-spark"
GONE = ".gone"


def holder_of(lock):
    """Who says to hold it; {}: somebody, None: nobody."""
    said = os.pread(lock, 4096, 0)
    try:
        return json.loads(said) if said else None
    except ValueError:
        return {}


def discard(path):
    """By a rename first: a task that is awake writes nothing more there.  What stays, the next run removes."""
    gone = path
    if not path.name.endswith(GONE):
        gone = path.with_name(f".{path.name}{GONE}")
        os.rename(path, gone)
    if gone.is_dir() and not gone.is_symlink():
        shutil.rmtree(gone, ignore_errors=True)
    else:
        gone.unlink()


class Staging:
    """with Staging(out, owner): self.run is an empty folder, removed at the end."""

    def __init__(self, out, application, attempt=None, break_lock=False):
        self.out = pathlib.Path(os.path.abspath(out))
        self.folder = self.out.with_name(self.out.name + SUFFIX)
        self.owner = {"application": application, "attempt": attempt, "host": socket.gethostname(), "pid": os.getpid()}
        self.break_lock = break_lock
        self.lock = self.run = None

    def __enter__(self):
        if os.path.lexists(self.out):
            raise JobError(f"{self.out} exists; a load never touches what is there: name a new folder")
        try:
            with sentences(self.folder):
                self.begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def begin(self):
        self.folder.mkdir(exist_ok=True)
        while self.lock is None:
            lock = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                if self.may_take(lock):
                    self.lock = lock
            finally:
                if self.lock is None:
                    os.close(lock)
        os.ftruncate(self.lock, 0)
        os.pwrite(self.lock, json.dumps(self.owner).encode(), 0)
        os.fsync(self.lock)
        for left in list(self.folder.iterdir()):  # by a run that died
            if left.name != "lock":
                discard(left)
        self.run = pathlib.Path(tempfile.mkdtemp(prefix="run-", dir=self.folder))
        os.chmod(self.run, 0o755)

    def may_take(self, lock):
        """The lock of the file system ends with its process; what it says is for other machines."""
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.refuse(holder_of(lock))
        try:
            if not os.path.samestat(os.stat(self.folder / "lock"), os.fstat(lock)):
                return False
        except FileNotFoundError:  # its owner has just removed it
            return False
        holder = holder_of(lock)
        if holder is not None and not self.is_over(holder):
            self.refuse(holder)
        return True

    def is_over(self, holder):
        """Is the run that left the lock certainly at its end?"""
        if self.break_lock or holder.get("host") == self.owner["host"]:
            return True  # it was not locked here
        same = holder.get("application") == self.owner["application"]
        try:  # the resource manager starts another attempt only when the one before is over
            return same and int(self.owner["attempt"]) > int(holder["attempt"] or 0)
        except (TypeError, ValueError, KeyError):
            return False

    def refuse(self, holder):
        holder = holder or {}
        who = " ".join(f"{k} {holder[k]}" for k in ("application", "host", "pid") if holder.get(k))
        raise JobError(f"{self.out} is being made by another run ({who or 'which did not say its name'}); when that one "
                       f"is over for sure, --break-lock takes its place")

    def __exit__(self, *_):
        if self.lock is None:
            return
        with contextlib.suppress(OSError):  # the next run removes it
            if self.run:
                discard(self.run)
        with contextlib.suppress(OSError):
            (self.folder / "lock").unlink()
        os.close(self.lock)
        self.lock = self.run = None
        with contextlib.suppress(OSError):  # something is left there
            self.folder.rmdir()
