"""Makes a small disk that tests can fill.

    with small_disk(folder, 16) as disk: # a tmpfs of 16 MiB; raises NoDisk if it cannot be made
        with filled(disk): ...           # every write fails
"""

import contextlib
import errno
import os
import subprocess
import time


class NoDisk(Exception):
    """The reason why this machine cannot make a small disk."""


@contextlib.contextmanager
def small_disk(folder, megabytes):
    if os.geteuid() != 0:
        raise NoDisk("a small tmpfs needs root")
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", folder],
                          stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise NoDisk(f"cannot mount a tmpfs here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        for _ in range(20):  # a dying process may still use it as its folder
            if subprocess.run(["umount", folder], capture_output=True).returncode == 0:
                break
            time.sleep(0.2)
        else:
            subprocess.run(["umount", "-l", folder], check=True)


@contextlib.contextmanager
def filled(disk):
    filler = disk / "filler"
    with open(filler, "wb", buffering=0) as f:
        block = bytes(1 << 16)
        while True:
            try:
                f.write(block)
            except OSError as e:
                if e.errno != errno.ENOSPC:
                    raise
                if len(block) == 1:
                    break
                block = block[:len(block) // 2]
    try:
        yield
    finally:
        filler.unlink()
