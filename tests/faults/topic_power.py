"""The power goes while a topic is loaded with a state folder: the state and the load together are judged.

The state remembers where its loads are, so what a disk may then hold is built anew at the same place, one crash after
the other.  The next run finishes or repeats the load, whichever it was; then all of the topic is in it once, with the
same bytes, and the records of the loads before it are as they were.
"""

import json
import shutil
import subprocess

import faults
import power
from topic_faults import EVENTS, PARTITIONS, write_job

LINE = "load JOB --state OUT/state -o OUT/{} --max-rejects 9 --memory 16M --threads 1 --quiet"
# What is done before the power may go: nothing, or a load, behind which the positions are set back.
SCENARIOS = {"first load of a topic": [], "later load of a topic": [LINE.format("before"), "seek --state OUT/state 0=0 1=0"]}


def run(line, job, base):
    words = line.replace("OUT", str(base)).replace("JOB", str(job)).split()
    return subprocess.run([power.PROGRAM, *words], cwd=job.parent, capture_output=True, text=True, timeout=60)


def load_of(tree):
    return {k: v for k, v in tree.items() if k == "out" or k.startswith("out/")}


def records(tree):
    return {k: v for k, v in tree.items() if k.startswith("state/loads/") and k.endswith(".json")}


def loaded(base):
    """The offsets that were loaded since the positions were set last; None: something is wrong with the state."""
    done = subprocess.run([power.PROGRAM, "loads", "--state", str(base / "state"), "--json"], capture_output=True, text=True)
    if done.returncode:
        return None
    at = {}
    for load in map(json.loads, done.stdout.splitlines()):
        for r in load["offsets"]:
            if load["seek"]:
                at[r["partition"]] = r["end"]
            elif at.get(r["partition"]) != r["start"]:
                return None
            else:
                at[r["partition"]] = r["end"]
    return at


def judge(job, base, before, want, crash):
    """None, or what is wrong."""
    _, ended, found = crash
    there = "out" in found
    if there and power.whole(found) != want:
        return "DIR is there and not whole"
    if ended and not there:
        return "the command had ended and DIR is gone"
    shutil.rmtree(base)
    power.materialise(found, base)
    done = run(LINE.format("rest" if there else "out"), job, base)
    if done.returncode not in (0, 3):
        return f"the next run ended with {done.returncode}: {done.stderr.strip()}"
    after = faults.tree(base)
    if load_of(after) != want:
        return "the next run made something else"
    if any(after.get(k) != v for k, v in records(before).items()):
        return "a record of before is lost or changed"
    at = loaded(base)
    return None if at == dict.fromkeys(range(PARTITIONS), EVENTS) else f"the loads end at {at}"


def run_scenario(name, inputs, scratch, states=5, seed=1, every=1, unsynced=None):
    """As power.run_scenario; every: only each n-th call."""
    scratch = scratch / name.replace(" ", "-")
    scratch.mkdir()
    job, base = scratch / "topic.yaml", scratch / "base"
    write_job(job)
    base.mkdir()
    for line in SCENARIOS[name]:
        done = run(line, job, base)
        if done.returncode not in (0, 3):
            raise SystemExit(f"{line}: {done.stderr}")
    before = faults.tree(base)
    power.Disk.cwd = str(scratch)
    line = LINE.format("out").replace("JOB", str(job))
    disk = power.Disk(str(base), unsynced, {k: (base / k).read_bytes() if v is not None else None for k, v in before.items()})
    calls, _ = power.record(line, inputs, base, scratch / "trace")
    want = load_of(faults.tree(base))
    crashes, wrong = 0, []
    for crash in power.crash_states(calls, disk, states, seed, every):
        crashes += 1
        verdict = judge(job, base, before, want, crash)
        if verdict:
            k, ended, kept = crash
            last = "the end" if ended else f"call {k}, {calls[k][0]}"
            wrong.append(f"{name}: power lost behind {last}: {verdict}\n  kept: {sorted(kept)}")
    shutil.rmtree(scratch)
    return crashes, wrong
