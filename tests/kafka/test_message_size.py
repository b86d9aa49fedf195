"""The job decides whether a load accepts a large message. --memory never decides this, and limits the memory."""

import json
import re
import subprocess

import pytest

MIB = 1 << 20
LIMIT = 4 * MIB  # the documented default of `max_message`
LARGEST = 15_000_000
CELL = re.compile(r"^ +0-(\d+) +f:v .* (x+)(?:\.\.\. \((\d+) bytes\))?$", re.M)


def message(size):
    return b'{"v":"%s"}' % (b"x" * (size - 8))


@pytest.fixture
def large(rig, kafka):
    """Produces messages of these sizes, and small ones between them; the broker accepts 20 MB."""
    sizes = [20, LIMIT, LIMIT + 1, 30, 5_000_000, LARGEST, 40]
    kafka.create(rig.topic, 1, max_message_bytes=20_000_000)
    kafka.pour(rig.topic, 0, map(message, sizes), "none", "message.max.bytes=20000000")
    return sizes


def run(rig, memory, *more, status):
    """Loads the topic; returns its manifest, its rejects by offset, and the largest resident size in MiB."""
    output = rig.folder / f"out{memory}"
    done = subprocess.run(["/usr/bin/time", "-f", "%M", rig.saltmill, "load", rig.job, "-o", output, "--quiet",
                           "--memory", f"{memory}M", *map(str, more)], capture_output=True, text=True, timeout=120,
                          check=False)
    assert done.returncode == status, done.stderr
    rejects = {}
    for path in output.rglob("rejects.jsonl"):
        rejects = {r["offset"]: r for r in map(json.loads, path.read_text().splitlines())}
    return output, rejects, int(done.stderr.split()[-1]) / 1024


def test_same_answer(rig, large):
    """A load with 16 MiB and a load with 96 MiB load and reject the same messages."""
    wanted = {i for i, size in enumerate(large) if size > LIMIT}
    for memory in (16, 96):
        output, rejects, resident = run(rig, memory, "--max-rejects", 3, status=3)
        assert set(rejects) == wanted
        assert {r["reason"] for r in rejects.values()} == {"message_too_large"}
        # the documented limit, because librdkafka holds the largest batch in addition
        assert resident <= memory + 32 + LARGEST / MIB
        files = [p for p in (output / "t" / "hfiles").rglob("*") if p.is_file()]
        cells = {int(o): int(n or len(v)) for o, v, n in CELL.findall(rig.run("inspect", "--cells", *files).stdout)}
        assert cells == {i: size - len(message(8)) for i, size in enumerate(large) if i not in wanted}


def test_memory_too_small(rig, large):
    """The error has the needed figure, before any request to a broker; with that figure, the load accepts the messages."""
    rig.configure("start: earliest\n    max_message: 15M", regions="{split: none}")
    brokers = rig.job.read_text()
    rig.job.write_text(re.sub(r"brokers: \S+", "brokers: 127.0.0.1:1", brokers))
    for words in (["load", rig.job, "-o", rig.folder / "no"], ["plan", rig.job], ["check", rig.job],
                  ["stream", rig.job, "--state", rig.state]):
        done = rig.run(*words, "--memory", "59M", status=2)
        assert "found --memory 59M, expected at least 60M" in done.stderr
    assert not (rig.folder / "no").exists()
    rig.job.write_text(brokers)
    _, rejects, _ = run(rig, 60, status=0)
    assert rejects == {} and max(large) < 15 * MIB
