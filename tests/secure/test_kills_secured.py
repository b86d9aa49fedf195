"""Tests a sample of `make kills-secured`."""

import pytest

from kills_secured import Moment, World


@pytest.fixture(scope="module")
def world(saltmill, rig, tmp_path_factory):
    return World(saltmill, tmp_path_factory.mktemp("kills"), rig)


@pytest.mark.parametrize("moment", [Moment("user", "put", 1), Moment("ticket", "folder", 1, keytab=False), Moment("clock", "create", 1)], ids=str)
def test_disturbed(world, moment):
    world.try_moment(moment)
