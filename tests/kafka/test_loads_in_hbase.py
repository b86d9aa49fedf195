"""Tests that `loads` shows where a load's rows are, also if the state has no mark for the load."""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))

from rig import value  # noqa: E402  (needs the path above)
from test_apply_answers import LoadingHBase, apply  # noqa: E402
from test_places import Place  # noqa: E402


def test_applied_by_its_folder(rig, saltmill, kafka):
    """`apply DIR` leaves no mark in a state, and the next load waits."""
    rig.configure("start: earliest", regions="{split: sampled, count: 1}")
    kafka.create(rig.topic, 1)
    folders = []
    for _ in range(2):
        kafka.produce(rig.topic, [(0, None, value(i)) for i in range(10)])
        folders.append(rig.load()[1])
    assert [l["loaded"] for l in rig.loads()] == [False, False]
    place = Place()
    try:
        with LoadingHBase(place, []) as server:
            done = apply(saltmill, folders[0], server)
            assert done.returncode == 0 and len(server.loaded()) == 1, done.stderr
    finally:
        place.close()
    assert [l["loaded"] for l in rig.loads()] == [True, False]
    text = subprocess.run([saltmill, "loads", "--state", rig.state], capture_output=True, text=True, check=True).stdout
    assert [line.split()[2] for line in text.splitlines() if " events" in line] == ["loaded", "waiting"]
