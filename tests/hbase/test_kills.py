"""A sample of `make kills`: each server dies once in the middle of apply, and HDFS takes no more."""

import pytest
from apart import Apart
from hdfs import Hdfs
from kills import World
from test_apply import Applied, events


@pytest.fixture(scope="module")
def world(saltmill, tmp_path_factory):
    folder = tmp_path_factory.mktemp("kills")
    with Hdfs(folder / "hdfs") as hdfs:
        hdfs.make_dirs("/bulk", "1777")
        with Apart(folder / "hbase", hdfs) as hbase:
            yield World(saltmill, folder, hdfs, hbase)


@pytest.mark.parametrize("kind, lines", [("region1", 22), ("master", 12), ("datanode", 10)])
def test_one_dies(world, kind, lines):
    world.try_moment(kind, lines)


def test_no_room(world, tmp_path):
    """A quota, as a disk that is full would take HBase's own log with it."""
    by_id, by_word = events(tmp_path, "room")
    world.hdfs.make_dirs("/bulk/room", "777")
    one = Applied(world.saltmill, world.hbase, tmp_path, "--user", "ann", "--upload", world.hdfs.url("/bulk/room"))
    one.load(tmp_path / "job.yaml")
    died = one.run("--create", env={"SALTMILL_CRASH_AT": "apply-put", "PATH": ""})
    assert died.returncode == -9, died.stderr
    world.hdfs.ask("PUT", "/bulk/room", "SETQUOTA", storagespacequota=1 << 20, namespacequota=-1)
    one.refused("quota of space is used up", "--create", status=1)
    world.hdfs.ask("PUT", "/bulk/room", "SETQUOTA", storagespacequota=-1, namespacequota=-1)
    one.done("--create")
    one.check("room:events", by_id)
    one.check("room:by_word", by_word)
    assert world.hdfs.tree("/bulk/room") == {} and world.hdfs.tree("/hbase/staging") == {}
