"""Starts the secured servers once for all tests of this folder."""

import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from kdc import PACKAGES, REALM, Kdc  # noqa: E402  (needs the path above)
from secured import new_rig  # noqa: E402


@pytest.fixture(scope="session")
def kdc(tmp_path_factory):
    if not PACKAGES.is_dir():
        pytest.fail(f"no KDC in {PACKAGES}: run `make deps` (tests/deps.sh test)")
    with Kdc(tmp_path_factory.mktemp("kdc") / "kdc") as server:
        yield server


@pytest.fixture(scope="session")
def rig(kdc, tmp_path_factory):
    with new_rig(tmp_path_factory.mktemp("secured"), kdc) as servers:
        yield servers


@pytest.fixture
def run(saltmill, kdc):
    """Returns a function that runs the program, with the keytab of `user`, with a ticket cache, or without both."""
    def go(*words, user=None, cache="/nonexistent", env=(), **how):
        login = ["--principal", f"{user}@{REALM}", "--keytab", kdc.keytab(user)] if user else []
        return subprocess.run([saltmill, *map(str, [*words, *login])], capture_output=True, text=True, timeout=300,
                              env={**os.environ, **kdc.env, "KRB5CCNAME": f"FILE:{cache}", **dict(env)}, **how)
    return go
