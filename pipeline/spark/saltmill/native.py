"""The native program: where it is, one run of it, and what it says when it fails."""

import dataclasses
import hashlib
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import tempfile

from . import JobError

DONE, FAILED, USAGE, REJECTS, DATA = range(5)  # exit status; DATA: the same input fails the same way


def find_program(named=None):
    """The path of the program: as named, $SALTMILL, the one of the wheel, or on the search path."""
    inside = pathlib.Path(__file__).parent / "bin" / f"saltmill-{platform.machine()}"
    for candidate in (named, os.environ.get("SALTMILL"), inside if inside.exists() else None, shutil.which("saltmill")):
        if candidate:
            path = pathlib.Path(candidate).resolve()
            if not os.access(path, os.X_OK) or not path.is_file():
                raise JobError(f"{candidate}: is no program: expected the saltmill binary")
            return path
    raise JobError("no saltmill binary: install the wheel, set SALTMILL, or give program=")


def digest_of(path):
    with open(path, "rb") as f:
        return hashlib.blake2b(f.read(), digest_size=16).hexdigest()


@dataclasses.dataclass
class Outcome:
    """How a run ended: its status (negative: the signal that killed it), what it printed and said."""

    command: str
    status: int
    printed: bytes
    said: str

    @property
    def sentence(self):
        """The error's sentence, without the program's name in front."""
        head = f"saltmill {self.command}: "
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
    """All pieces to the process's standard input; it may have failed before, its status tells."""
    try:
        for piece in pieces:
            view = memoryview(piece)
            while view:  # unbuffered: a write may take a part
                view = view[process.stdin.write(view):]
        process.stdin.close()
    except BrokenPipeError:
        pass


def run(program, command, *args, pieces=None, cwd=None):
    """Run a command to its end; pieces: bytes for its standard input.

    It does not outlive the thread that started it, so the native child of a Python worker ends with that one.
    """
    with tempfile.TemporaryFile(dir=cwd) as out, tempfile.TemporaryFile(dir=cwd) as err:
        process = subprocess.Popen([program, command, *map(str, args), "--die-with-parent"], cwd=cwd, bufsize=0,
                                   stdin=subprocess.DEVNULL if pieces is None else subprocess.PIPE,
                                   stdout=out, stderr=err)
        try:
            if pieces is not None:
                feed(process, pieces)
            status = process.wait()
        finally:
            if process.poll() is None:  # what feeds it failed: a short input is not its whole input
                process.kill()
                process.wait()
            if process.stdin:
                process.stdin.close()
        out.seek(0)
        err.seek(0)
        return Outcome(command, status, out.read(), err.read().decode(errors="replace"))
