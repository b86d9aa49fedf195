"""A sample of `make power`: what a disk may hold after the power went, judged by the next run."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "faults"))

import faults  # noqa: E402  (needs the path above)
import power  # noqa: E402


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    if not power.can_trace():
        pytest.skip("strace cannot trace here")
    folder = tmp_path_factory.mktemp("inputs")
    faults.write_inputs(folder)
    return folder


@pytest.mark.parametrize("name", power.SCENARIOS)
def test_power_goes(name, inputs, tmp_path):
    crashes, wrong = power.run_scenario(name, inputs, tmp_path)
    assert crashes >= 3 and not wrong, "\n".join(wrong)


@pytest.mark.parametrize("unsynced", [power.File, power.Folder])
def test_the_judge_sees_what_is_not_synced(unsynced, inputs, tmp_path):
    assert power.run_scenario("load", inputs, tmp_path, unsynced=unsynced)[1]
