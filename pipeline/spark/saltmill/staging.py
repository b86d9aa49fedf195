"""The temporary folder next to the output, and its lock.

OUT.saltmill-spark/lock names the run that makes OUT. All other files are in a folder of this run. The run removes the
folder at its end. Tasks make no folders there, so a task that still runs then fails. The rename of `saltmill unite`
publishes OUT.

If OUT is in HDFS, the driver makes the folder with Spark's Hadoop client.  The program in the tasks sends the HFiles to
this folder.  Other files of the driver are in a temporary folder of the driver's machine.

If OUT is in S3, the program in the tasks sends the HFiles to their place in OUT, in a folder with a random name.  The
manifest makes them visible.
"""

import contextlib
import fcntl
import json
import os
import pathlib
import secrets
import shutil
import socket
import tempfile
import uuid

from py4j.protocol import Py4JJavaError

from . import JobError, native, sentences

SUFFIX = ".saltmill-spark"
GONE = ".gone"


def holder_of(lock):
    """Return the holder in the lock file.  Return {} if the file is not JSON, and None if the file is empty."""
    said = os.pread(lock, 4096, 0)
    try:
        return json.loads(said) if said else None
    except ValueError:
        return {}


def discard(path):
    """Rename and remove a path.  After the rename, no task can write to the path.  The next run removes the rest."""
    gone = path
    if not path.name.endswith(GONE):
        gone = path.with_name(f".{path.name}{GONE}")
        os.rename(path, gone)
    if gone.is_dir() and not gone.is_symlink():
        shutil.rmtree(gone, ignore_errors=True)
    else:
        gone.unlink()


class Staging:
    """A context manager. Inside, self.run is an empty folder, and the exit removes it."""

    def __init__(self, out, application, attempt=None, break_lock=False):
        self.out = pathlib.Path(os.path.abspath(out))
        self.folder = self.out.with_name(self.out.name + SUFFIX)
        self.claim(application, attempt, break_lock)

    def claim(self, application, attempt, break_lock):
        self.owner = {"application": application, "attempt": attempt, "host": socket.gethostname(), "pid": os.getpid()}
        self.break_lock = break_lock
        self.lock = self.run = None

    def __enter__(self):
        if os.path.lexists(self.out):
            raise JobError(f"{self.out}: found an existing folder, expected a new one; a load never changes an existing one")
        try:
            with sentences(self.folder):
                self.begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    place = None  # options of the program for sending HFiles to the folder; None means that Python moves them there

    def make_stage(self):
        """Make and return the folder for the HFiles of the tasks."""
        (self.run / "files").mkdir()
        return self.run / "files"

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
        for left in list(self.folder.iterdir()):  # files of a run that died
            if left.name != "lock":
                discard(left)
        self.run = pathlib.Path(tempfile.mkdtemp(prefix="run-", dir=self.folder))
        os.chmod(self.run, 0o755)

    def may_take(self, lock):
        """Return True if this run holds the lock.

        flock ends with its process.  The text in the file is for other hosts.
        """
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.refuse(holder_of(lock))
        try:
            if not os.path.samestat(os.stat(self.folder / "lock"), os.fstat(lock)):
                return False
        except FileNotFoundError:  # the owner has just removed the lock
            return False
        holder = holder_of(lock)
        if holder is not None and not self.is_over(holder):
            self.refuse(holder)
        return True

    def is_over(self, holder):
        """Return True if the run that left the lock has certainly ended."""
        if self.break_lock or holder.get("host") == self.owner["host"]:
            return True  # flock was free, so no process of this host holds it
        same = holder.get("application") == self.owner["application"]
        try:  # the resource manager starts an attempt only after the end of the previous attempt
            return same and int(self.owner["attempt"]) > int(holder["attempt"] or 0)
        except (TypeError, ValueError, KeyError):
            return False

    def refuse(self, holder):
        holder = holder or {}
        who = " ".join(f"{k} {holder[k]}" for k in ("application", "host", "pid") if holder.get(k))
        raise JobError(f"{self.out}: found the lock of another run ({who or 'unknown'}), expected no other run; if it has "
                       f"certainly ended, use --break-lock")

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
        with contextlib.suppress(OSError):  # the folder may not be empty
            self.folder.rmdir()


# --- HDFS ---

def is_hdfs(out):
    return os.fspath(out).startswith(("hdfs://", "webhdfs://", "swebhdfs://"))


@contextlib.contextmanager
def java_sentences(about):
    """Turn an exception of Hadoop's client into a JobError."""
    try:
        yield
    except Py4JJavaError as e:
        raise JobError(f"{about}: {str(e.java_exception.toString()).splitlines()[0]}") from e


class HdfsStaging(Staging):
    """Staging in HDFS.  self.run is a folder of this machine, and self.stage a folder in HDFS.

    The first run that creates the lock file holds the lock.  HDFS does not release the lock when the process dies, so
    only the lock's text shows whether the run has ended.  The lock only avoids useless work.  Each run has a folder
    with a unique name, and the lock and the rename of `saltmill unite` let only one run publish OUT.
    """

    def __init__(self, sc, out, webhdfs, application, attempt=None, break_lock=False):
        self.claim(application, attempt, break_lock)
        self.sc, self.out = sc, out.rstrip("/")
        self.folder = self.out + SUFFIX
        self.stage = f"{self.folder}/run-{uuid.uuid4().hex}/files"
        self.fs = None
        user = sc._jvm.org.apache.hadoop.security.UserGroupInformation.getCurrentUser().getShortUserName()
        self.place = ("--hdfs-user", user, *(("--webhdfs", webhdfs) if webhdfs else ()))

    def path(self, name):
        return self.sc._jvm.org.apache.hadoop.fs.Path(name)

    def __enter__(self):
        with java_sentences(self.out):
            self.fs = self.path(self.out).getFileSystem(self.sc._jsc.hadoopConfiguration())
            if self.fs.exists(self.path(self.out)):
                raise JobError(f"{self.out}: found an existing folder, expected a new one; a load never changes an "
                               "existing one")
            try:
                self.begin()
            except BaseException:
                self.__exit__()
                raise
        return self

    def begin(self):
        lock = f"{self.folder}/lock"
        self.fs.mkdirs(self.path(self.folder))
        if not self.create(lock):
            holder = self.holder(lock)
            if not self.is_over(holder):
                self.refuse(holder)
            self.fs.delete(self.path(lock), False)
            if not self.create(lock):
                self.refuse(self.holder(lock))
        self.lock = lock
        for left in self.fs.listStatus(self.path(self.folder)):  # files of a run that died
            if left.getPath().getName() != "lock":
                self.fs.delete(left.getPath(), True)
        self.run = pathlib.Path(tempfile.mkdtemp(prefix="saltmill-run-"))

    def create(self, lock):
        """Create the lock file.  Return False if it exists, which HDFS may report only at close."""
        try:
            stream = self.fs.create(self.path(lock), False)
            stream.write(bytearray(json.dumps(self.owner).encode()))
            stream.close()
        except Py4JJavaError as e:
            if "FileAlreadyExists" in e.java_exception.toString():
                return False
            raise
        return True

    def holder(self, lock):
        try:
            return json.loads(self.text(lock))
        except ValueError:
            return {}

    def is_over(self, holder):
        if not self.break_lock and holder.get("host") == self.owner["host"]:
            return not os.path.exists(f"/proc/{holder.get('pid')}")
        return super().is_over(holder)

    def text(self, name):
        stream = self.fs.open(self.path(name))
        try:
            return self.sc._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
        finally:
            stream.close()

    def make_stage(self):
        with java_sentences(self.stage):
            self.fs.mkdirs(self.path(self.stage))
        return self.stage

    def __exit__(self, *_):
        if self.run:
            shutil.rmtree(self.run, ignore_errors=True)
        if self.lock is None:
            return
        for name, below in ((os.path.dirname(self.stage), True), (self.lock, False), (self.folder, False)):
            with contextlib.suppress(Py4JJavaError):  # the next run removes it
                self.fs.delete(self.path(name), below)
        self.lock = self.run = None


# --- S3 ---

def is_s3(out):
    return os.fspath(out).startswith(("s3://", "s3a://"))


class S3Staging:
    """Staging in S3.  self.run is a folder of this machine, and self.stage a folder in OUT, which only this run uses.

    The server creates the manifest only if OUT has none.  So S3 needs no lock, and one of two runs publishes.
    """

    place = ()

    def __init__(self, request, out):
        self.request, self.out = request, os.fspath(out).rstrip("/")
        self.stage = f"{self.out}/{secrets.token_hex(8)}"
        self.uniting = False  # True while the manifest may appear

    def __enter__(self):
        self.discard()  # also checks that OUT is free and that the user may write
        self.run = pathlib.Path(tempfile.mkdtemp(prefix="saltmill-run-"))
        return self

    def discard(self):
        self.request.native("unite", "--discard-hfiles", "--hfiles", self.stage, "-o", self.out, "--quiet")

    def make_stage(self):
        return self.stage

    def __exit__(self, kind, error, _):
        """Remove the sent files of a run that failed.  Keep them if the manifest may appear."""
        shutil.rmtree(self.run, ignore_errors=True)
        if error and (not self.uniting or getattr(error, "status", None) in (native.USAGE, native.DATA)):
            with contextlib.suppress(JobError):  # the next load into OUT removes them
                self.discard()
