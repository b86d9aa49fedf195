"""The folder beside the output in which a load is made, and its lock.

OUT.saltmill-spark/lock says who makes OUT.  All else is in a folder of that one run, which goes
when the run ends: a task that is still awake then finds no place to write to, because tasks make no
folders there.  OUT itself appears by the rename of `saltmill unite`.
"""

import fcntl
import json
import os
import pathlib
import shutil
import socket
import tempfile

from . import JobError

SUFFIX = ".saltmill-spark"


class Staging:
    """with Staging(out, owner): self.run is an empty folder, removed at the end."""

    def __init__(self, out, application, attempt=None, break_lock=False):
        self.out = pathlib.Path(os.path.abspath(out))
        self.folder = self.out.with_name(self.out.name + SUFFIX)
        self.owner = {"application": application, "attempt": attempt, "host": socket.gethostname(), "pid": os.getpid()}
        self.break_lock = break_lock
        self.lock = None

    def __enter__(self):
        if os.path.lexists(self.out):
            raise JobError(f"{self.out} exists; a load never touches what is there: name a new folder")
        try:
            self.folder.mkdir(exist_ok=True)
            self.take_lock()
        except OSError as e:
            raise JobError(f"{self.folder}: {e.strerror}") from e
        for left in self.folder.iterdir():  # by a run that died
            if left.name != "lock":
                shutil.rmtree(left)
        self.run = pathlib.Path(tempfile.mkdtemp(prefix="run-", dir=self.folder))
        os.chmod(self.run, 0o755)
        return self

    def take_lock(self):
        """The lock of the file system ends with its process; what it says is for other machines."""
        path = self.folder / "lock"
        while True:
            self.lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self.refuse(self.holder())
            if path.exists() and path.stat().st_ino == os.fstat(self.lock).st_ino:
                break
            os.close(self.lock)  # its owner has just removed it
        holder = self.holder()
        if holder is not None and not self.is_over(holder):
            self.refuse(holder)
        os.ftruncate(self.lock, 0)
        os.pwrite(self.lock, json.dumps(self.owner).encode(), 0)
        os.fsync(self.lock)

    def holder(self):
        said = os.pread(self.lock, 4096, 0)
        try:
            return json.loads(said) if said else None
        except ValueError:
            return {}

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
        os.close(self.lock)
        self.lock = None
        holder = holder or {}
        who = " ".join(f"{k} {holder[k]}" for k in ("application", "host", "pid") if holder.get(k))
        raise JobError(f"{self.out} is being made by another run ({who or 'which did not say its name'}); when that one "
                       f"is over for sure, --break-lock takes its place")

    def __exit__(self, *_):
        if self.lock is None:
            return
        shutil.rmtree(self.run, ignore_errors=True)
        (self.folder / "lock").unlink(missing_ok=True)
        os.close(self.lock)
        self.lock = None
        try:
            self.folder.rmdir()
        except OSError:
            pass  # a task has just written there: the next run removes it
