"""Fixtures of the command-line tests."""

import os
import subprocess

import pytest


@pytest.fixture
def disk_of(tmp_path):
    """disk_of(megabytes): an empty folder on a disk of that size."""
    if os.geteuid() != 0:
        pytest.skip("a small tmpfs needs root")
    disks = []

    def make(megabytes):
        disk = tmp_path / f"disk{len(disks)}"
        disk.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", disk],
                              stderr=subprocess.PIPE, text=True)
        if done.returncode:
            pytest.skip(f"cannot mount a tmpfs here: {done.stderr.strip()}")
        disks.append(disk)
        return disk

    yield make
    for disk in disks:
        subprocess.run(["umount", disk], check=True)
