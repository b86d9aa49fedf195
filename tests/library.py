"""Builds and installs libsaltmill for the tests, and runs the programs of the guide with it."""

import fcntl
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def run(*command, **how):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=600, **how)
    assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


def make(*targets):
    """Runs make. The lanes of `make test` build the library at the same time, so each waits for the other."""
    with open(ROOT / "build" / "library.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        run("make", "--no-print-directory", "DEBUG_INFO=", *targets, cwd=ROOT)


def programs(chapter):
    """Returns {name: text} of the programs in a chapter of the guide."""
    text = (ROOT / "conf" / "guide" / f"{chapter}.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^```\w+ (\S+)\n(.*?)^```$", text, re.M | re.S))


class Installed:
    """libsaltmill below a folder, as `make install` puts it there."""

    def __init__(self, folder):
        make("lib")
        self.root = folder
        version = re.search(r"^VERSION := (\S+)$", (ROOT / "Makefile").read_text(), re.M)[1]
        libraries = re.search(r"^LDLIBS := (.*)$", (ROOT / "Makefile").read_text(), re.M)[1]
        run(ROOT / "tests" / "install_lib.sh", "build/gcc-lib", version, folder, folder, libraries)
        self.env = {**os.environ, "PKG_CONFIG_PATH": str(folder / "lib" / "pkgconfig"), "LD_LIBRARY_PATH": str(folder / "lib")}
        self.library = folder / "lib" / "libsaltmill.so.1"

    def compile(self, source, out, how="$(pkg-config --cflags --libs libsaltmill)"):
        return run("sh", "-c", f"${{CC:-cc}} -Wall -Wextra -Werror {source} -o {out} {how}", env=self.env)

    def python(self, script, *args, **how):
        """Runs a script with the package of the tree and the installed library."""
        env = {**self.env, "PYTHONPATH": str(ROOT / "pipeline" / "spark"), "SALTMILL_LIBRARY": str(self.library),
               "PYTHONDONTWRITEBYTECODE": "1"}
        return run(sys.executable, script, *args, env=env, **how)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    return Installed(tmp_path_factory.mktemp("installed"))


@pytest.fixture(scope="module")
def package(installed):
    """Returns the module saltmill of the tree, with the installed library."""
    sys.path.insert(0, str(ROOT / "pipeline" / "spark"))
    os.environ["SALTMILL_LIBRARY"] = str(installed.library)
    try:
        yield importlib.import_module("saltmill")
    finally:
        del os.environ["SALTMILL_LIBRARY"]
        sys.path.remove(str(ROOT / "pipeline" / "spark"))
