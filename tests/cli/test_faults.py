"""A sample of `make faults`: some of the calls of each command fail, one at a time and for good."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "faults"))

import faults  # noqa: E402  (needs the path above)


@pytest.fixture(scope="module", autouse=True)
def preload():
    subprocess.run(["make", "-s", "build/preload.so"], cwd=ROOT, check=True)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    faults.write_inputs(folder)
    return folder


@pytest.mark.parametrize("name", faults.names())
def test_calls_that_fail(name, inputs, tmp_path):
    sample = 10 if name in faults.SCENARIOS else 1  # those with brokers take most of a second
    runs, violations = faults.run_scenario(name, inputs, tmp_path, sample=sample, say=print)
    assert runs > 0 and not violations, faults.report(violations)


@pytest.mark.parametrize("call", ["renameat2", "fsync"])
def test_not_published(call, inputs, tmp_path):
    """Nobody is asked what became of a load that certainly is not there, whether it was taken back or never was."""
    scenario = faults.scenario_of("load of a topic", inputs, tmp_path)
    campaign = faults.Campaign(call, "EIO", False, False)
    last = scenario.calls(campaign)
    for n in range(max(1, last - 4), last + 1):
        found = scenario.judge(campaign, n)
        assert not found, found


def test_all_calls_are_known():
    assert faults.unknown_calls() == []
