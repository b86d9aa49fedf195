"""Runs a sample of the Spark tests with the oldest and the newest Spark that saltmill supports.

tests/deps.sh installs them next to the Python environment. `make spark-versions` runs all tests of LOADS.
"""

import os
import pathlib
import re
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
LOADS = ["test_spark_loads.py", "test_spark_sources.py", "test_spark_interfaces.py"]
SAMPLES = {"3.4.4": ["test_spark_sources.py::test_a_dataframe_is_its_rows"],
           "4.0.1": ["test_spark_sources.py::test_a_dataframe_is_its_rows", *(f"test_spark_interfaces.py::{test}" for test in (
               "test_the_format_writes_and_reads_cells", "test_the_format_reads_fields",
               "test_the_format_reads_tables_and_snapshots", "test_a_write_that_fails_leaves_nothing"))]}


def folder_of(version):
    cache = pathlib.Path(os.environ.get("SALTMILL_CACHE") or pathlib.Path.home() / ".cache" / "saltmill")
    folder = cache / f"spark-{version}"
    if not folder.exists():
        pytest.fail(f"Spark {version} is not in {folder}: run `make deps`")
    return folder


@pytest.mark.parametrize("version", SAMPLES)
def test_another_spark(version):
    tests = LOADS if os.environ.get("SALTMILL_SPARK_VERSIONS") else SAMPLES[version]
    r = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(HERE / t for t in tests)],
                       env={**os.environ, "PYTHONPATH": str(folder_of(version))}, capture_output=True, text=True, timeout=3000)
    assert r.returncode == 0 and re.search(r"\d+ passed", r.stdout), r.stdout[-6000:]
    assert tests is LOADS or f"{len(tests)} passed" in r.stdout and "skipped" not in r.stdout, r.stdout[-2000:]
