"""Tests a sample of `make power`, which starts the next run with the disk contents that a power failure may leave."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "faults"))

import faults  # noqa: E402  (needs the path above)
import power  # noqa: E402
import topic_power  # noqa: E402


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


@pytest.mark.parametrize("name", topic_power.SCENARIOS)
def test_power_goes_while_a_topic_is_loaded(name, inputs, tmp_path):
    states, every = (1, 25) if name == "stream" else (3, 20)
    crashes, wrong = topic_power.run_scenario(name, inputs, tmp_path, states=states, every=every)
    assert crashes >= 3 and not wrong, "\n".join(wrong)


def test_the_judge_sees_a_state_that_is_not_synced(inputs, tmp_path):
    """Without a sync of its folder's entries, a load is missing, or its fate is unknown."""
    assert topic_power.run_scenario("later load of a topic", inputs, tmp_path, states=4, every=14,
                                    unsynced=power.Folder)[1]


@pytest.mark.parametrize("unsynced", [power.File, power.Folder])
def test_the_judge_sees_a_stream_that_is_not_synced(unsynced, inputs, tmp_path):
    assert topic_power.run_scenario("stream", inputs, tmp_path, states=1, every=40, unsynced=unsynced)[1]


@pytest.mark.parametrize("unsynced", [power.File, power.Folder])
def test_the_judge_sees_what_is_not_synced(unsynced, inputs, tmp_path):
    assert power.run_scenario("load", inputs, tmp_path, unsynced=unsynced)[1]
