"""Tests a sample of `make faults`. Some calls of each command fail, once or permanently."""

import os
import pathlib
import socket
import struct
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "faults"))

import cluster_faults  # noqa: E402  (needs the path above)
import faults  # noqa: E402
import runs  # noqa: E402


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
    alone = name in faults.SCENARIOS
    sample, campaigns = (3, faults.CAMPAIGNS) if alone else (1, faults.CAMPAIGNS[::2])  # brokers need most of a second
    runs, violations = faults.run_scenario(name, inputs, tmp_path, sample=sample, campaigns=campaigns, say=print)
    assert runs > 0 and not violations, faults.report(violations)


def test_nothing_is_held_against_a_run_that_did_nothing(inputs, tmp_path, monkeypatch):
    """A stream that waits for HBase ends as if all loads were in it, which must not count as success."""
    monkeypatch.setattr(cluster_faults, "WAITS", 0)
    with pytest.raises(SystemExit, match="did not do all"):
        faults.scenario_of("stream into HBase", inputs, tmp_path)


@pytest.mark.parametrize("call", ["renameat2", "fsync"])
def test_not_published(call, inputs, tmp_path):
    """The message reports an unpublished load as unpublished, after a rename back or without a rename."""
    scenario = faults.scenario_of("load of a topic", inputs, tmp_path)
    campaign = faults.Campaign(call, "EIO", False, False)
    last = scenario.calls(campaign)
    for n in range(max(1, last - 4), last + 1):
        found = scenario.judge(campaign, n)
        assert not found, found
    scenario.close()


@pytest.mark.parametrize("name,call", [
    ("reduce", "readdir"), ("reduce", "access"), ("unite", "readdir"), ("unite", "access"),  # the program skips no map
    ("load, two threads", "stat"), ("load, two threads", "readdir"),  # the program skips no file of a folder
    ("load that is to be recorded", "access"), ("state made anew", "access"),  # the program skips no load
    ("state made anew from records", "open"),  # the program sets no unreadable mark aside
    ("init", "write"),  # no half job remains
    ("lint", "unlinkat"), ("lint", "readdir"),  # the program always reports leftovers
])
def test_each_call(name, call, inputs, tmp_path):
    campaigns = [faults.Campaign(call, "EIO", False, False)]
    if call == "write":
        campaigns.append(faults.Campaign(call, "EINTR", False, True))
    runs, violations = faults.run_scenario(name, inputs, tmp_path, campaigns=campaigns)
    assert runs > 0 and not violations, faults.report(violations)


@pytest.mark.parametrize("name,part", [
    ("reduce that sends", slice(-70, None)), ("scan of HBase", slice(0, 12)),  # names of users, for which the C library crashed
    ("report", slice(430, 470)),  # a line of the rejects, without which the page lacked its rejects
])
def test_memory_ends(name, part, inputs, tmp_path):
    scenario = faults.scenario_of(name, inputs, tmp_path)
    campaign = faults.CAMPAIGNS[0]
    for n in range(1, scenario.calls(campaign) + 1)[part]:
        found = scenario.judge(campaign, n)
        assert not found, found
    scenario.close()


class SmallScan(faults.Scenario):
    lines = {"scan": "scan job.yaml small --where 'id > 7' --format jsonl --now 2020-01-01"}


def test_a_salts_range_has_an_end(tmp_path):
    """When this allocation failed, scan printed rows of the next salt twice."""
    (tmp_path / "job.yaml").write_text("""\
source: {csv: {files: [in.csv]}}
fields: {id: {type: u32}}
tables:
  - name: t
    rowkey: [{salt: 4, of: [id]}, {field: id, as: u32}]
    timestamp: 1400000000000
    families: {f: {compression: NONE, bloomfilter: NONE}}
    cells: [{family: f, qualifier: id, value: {field: id, as: text}}]
    regions: {split: none}
""")
    (tmp_path / "in.csv").write_text("id\n" + "".join(f"{i}\n" for i in range(20)))
    subprocess.run([faults.PROGRAM, "load", "job.yaml", "-o", "small", "--quiet"], cwd=tmp_path, check=True)
    scenario = SmallScan("scan", tmp_path, tmp_path)
    campaign = faults.Campaign("realloc", "ENOMEM", False, False)
    for n in range(1, 61):  # saltmill makes the ranges before it opens files
        found = scenario.judge(campaign, n)
        assert not found, found
    scenario.close()


class Slow(faults.Scenario):
    """A program that sleeps for ever once for each input file, and then ends with status 0."""
    lines = {"slow": ""}

    def command(self, out):
        return ["sh", "-c", f"for f in {self.inputs}/*; do test -e $f && rm $f && exec sleep 99; done; exit 0"]


@pytest.mark.parametrize("sleeps", [0, 1, 2])
def test_a_run_without_end_is_no_slow_one(sleeps, tmp_path, monkeypatch):
    """A run that ends in the second attempt was slow. A run that never ends is a violation."""
    monkeypatch.setattr(faults, "TIMEOUT", 1.0)
    monkeypatch.setattr(faults, "PATIENCE", 2.0)
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    scenario = Slow("slow", inputs, tmp_path)
    for i in range(sleeps):
        (inputs / str(i)).touch()
    found = scenario.judge(faults.CAMPAIGNS[0], 10**6)
    scenario.close()
    assert [found and found[0], len(scenario.slow)] == [[None, 0], [None, 1], ["did not end within 2.0 s", 1]][sleeps]
    assert all("threads S, 0.0 s of processor time" in line for line in scenario.slow)


def test_time_in_which_nothing_ran_is_not_held_against_a_run(monkeypatch):
    clock = iter([0, 0.25, 600, 600.25, 601, 640])
    monkeypatch.setattr(runs.time, "monotonic", lambda: next(clock))
    patience = runs.Patience(1.6)
    assert [(patience.look(), patience.stopped) for _ in range(5)] == [
        (True, False), (True, True), (True, True), (True, True), (False, True)]


def test_a_fault_that_never_comes_is_no_good_one(inputs, tmp_path, monkeypatch):
    """The campaign selects calls that the program never makes."""
    monkeypatch.setattr(faults, "spread", lambda *_: [10**6])
    runs, violations = faults.run_scenario("split", inputs, tmp_path, sample=1, campaigns=faults.CAMPAIGNS[:1])
    assert runs == 0 and ["no call was made to fail"] == [wrong for _, wrong, *_ in violations]
    assert "no call was made to fail" in faults.report(violations)


def test_a_run_that_was_not_forked_is_none():
    """-1 is no process id, because a signal to -1 goes to all processes."""
    server = object.__new__(runs.Server)
    server.socket, theirs = socket.socketpair()
    theirs.sendall(struct.pack("ii", -1, 0))
    with pytest.raises(AssertionError):
        server.run("io:EIO:1", 1)


def test_three_of_each_place():
    places = ["a", "b", "a", "a", "b", "a", "c"]
    assert faults.of_each_place(places, 1, False) in ([1, 2, 3, 5, 6, 7], [1, 2, 4, 5, 6, 7])
    assert faults.of_each_place(places, 1, True) == [1, 2, 5, 6, 7]
    assert faults.of_each_place(places, 1, False, ["c", "d"]) == [7]


def test_the_places_that_failed_are_those_that_were_meant(inputs, tmp_path):
    """One thread, so that a call's number identifies its place, also in another process."""
    scenario = faults.scenario_of("inspect", inputs, tmp_path)
    campaign = faults.CAMPAIGNS[2]
    places = scenario.places(campaign)
    other = scenario.slots.take()  # a different server serves the calls than the one that counted them
    assert [scenario.judge_call(campaign, n)[1] for n in range(1, len(places) + 1)] == places
    scenario.slots.give_back(other)
    scenario.close()


def test_all_calls_are_known():
    assert faults.unknown_calls() == []


def failing(folder, fault, *command):
    return subprocess.run([faults.PROGRAM, *map(str, command)], cwd=folder, capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, "FAULT": fault, "LD_PRELOAD": runs.PRELOAD})


@pytest.mark.parametrize("command", [("init", "in.csv", "-o", "made"), ("report", "load", "-o", "made", "--quiet")], ids=["init", "report"])
def test_what_is_written_is_not_denied(command, tmp_path):
    """If one of the last calls fails, the message must describe the file that is there."""
    (tmp_path / "in.csv").write_text("id,at\n" + "".join(f"{i},{1_400_000_000 + i}\n" for i in range(50)))
    subprocess.run([faults.PROGRAM, "init", "in.csv", "-o", "job.yaml"], cwd=tmp_path, check=True)
    subprocess.run([faults.PROGRAM, "load", "job.yaml", "-o", "load", "--quiet"], cwd=tmp_path, check=True)
    made = tmp_path / "made"
    last = 1
    while failing(tmp_path, f"malloc:ENOMEM:{last}", *command).returncode:
        last += 1 if last < 8 else last // 8
        made.unlink(missing_ok=True)
    made.unlink(missing_ok=True)
    synced = 0
    for fault in [f"malloc:ENOMEM:{n}" for n in range(max(1, last - last // 7 - 30), last + 1)] + [f"fsync:EIO:{n}" for n in range(1, 4)]:
        done = failing(tmp_path, fault, *command)
        if made.exists():
            assert "saltmill published nothing" not in done.stderr, (fault, done.stderr)
            if done.returncode and fault.startswith("fsync"):
                synced += 1
                assert "the new content is in place, but a power loss may bring back the old one" in done.stderr
        else:
            assert done.returncode != 0, fault
        made.unlink(missing_ok=True)
    assert synced == 1
