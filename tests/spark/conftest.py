"""Starts one Spark for the whole suite. A test that needs no Spark does not start it."""

import pytest

from spark_rig import Rig


@pytest.fixture(scope="session")
def cluster(tmp_path_factory, saltmill):
    rig = Rig(tmp_path_factory.mktemp("spark"), saltmill)
    yield rig
    rig.stop()


@pytest.fixture
def rig(cluster):
    cluster.begin()
    return cluster
