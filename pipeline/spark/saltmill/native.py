"""Finds the native program, runs it, and reads its error messages."""

import contextlib
import dataclasses
import hashlib
import json
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import tempfile

from . import JobError

TOKENS = "HADOOP_TOKEN_FILE_LOCATION"
DONE, FAILED, USAGE, REJECTS, DATA = range(5)  # exit status; DATA means that the same input would fail again


def find_program(named=None):
    """Return the path of the program: `named`, $SALTMILL, the program in the wheel, or the first in the search path."""
    inside = pathlib.Path(__file__).parent / "bin" / f"saltmill-{platform.machine()}"
    for candidate in (named, os.environ.get("SALTMILL"), inside if inside.exists() else None, shutil.which("saltmill")):
        if candidate:
            path = pathlib.Path(candidate).resolve()
            if not os.access(path, os.X_OK) or not path.is_file():
                raise JobError(f"{candidate}: found no executable file, expected the saltmill binary")
            return path
    raise JobError("found no saltmill binary; install the wheel, set SALTMILL, or use --program (program=)")


def digest_of(path):
    with open(path, "rb") as f:
        return hashlib.blake2b(f.read(), digest_size=16).hexdigest()


@dataclasses.dataclass
class Outcome:
    """The result of a run: its status (negative: the signal that killed it), standard output and standard error."""

    command: str
    status: int
    printed: bytes
    said: str

    @property
    def sentence(self):
        """Return the error message without the program's name."""
        head = f"saltmill {self.command}: "
        for line in reversed(self.said.splitlines()):  # with --json, the program prints an object
            if line.startswith("{"):
                with contextlib.suppress(ValueError, KeyError):
                    return json.loads(line)["error"]
        own = [line.removeprefix(head) for line in self.said.splitlines() if line.startswith(head)]
        if own:
            return own[-1]
        if self.status < 0:
            return f"saltmill {self.command} was killed by signal {-self.status} ({signal.Signals(-self.status).name})"
        return self.said.strip() or f"saltmill {self.command} ended with status {self.status}"

    @property
    def is_fault_of_data(self):
        return self.status in (USAGE, DATA)


def feed(process, pieces):
    """Write all pieces to the standard input of the process.

    If the process ends early, its status shows the failure.
    """
    try:
        for piece in pieces:
            view = memoryview(piece)
            while view:  # a write without a buffer may be partial
                view = view[process.stdin.write(view):]
        process.stdin.close()
    except BrokenPipeError:
        pass


def run(program, command, *args, pieces=None, cwd=None, tokens=None):
    """Run a command to its end and return the Outcome.  `pieces` is the bytes for standard input.  `tokens` is a file
    that logs the command in to secured servers (`saltmill tokens`).

    The kernel kills the command when the thread that started the command ends.  So the command never outlives the
    Python worker.
    """
    with tempfile.TemporaryFile(dir=cwd) as out, tempfile.TemporaryFile(dir=cwd) as err:
        process = subprocess.Popen([program, command, *map(str, args), "--die-with-parent"], cwd=cwd, bufsize=0,
                                   stdin=subprocess.DEVNULL if pieces is None else subprocess.PIPE,
                                   stdout=out, stderr=err, env={**os.environ, TOKENS: tokens} if tokens else None)
        try:
            if pieces is not None:
                feed(process, pieces)
            status = process.wait()
        finally:
            if process.poll() is None:  # the input failed, and the command must not accept a part of it
                process.kill()
                process.wait()
            if process.stdin:
                process.stdin.close()
        out.seek(0)
        err.seek(0)
        return Outcome(command, status, out.read(), err.read().decode(errors="replace"))
