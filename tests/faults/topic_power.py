"""Simulates a power failure during a load of a topic with a state folder, and judges the state and the loads together.

The state records the paths of its loads. So the possible contents of the disk are rebuilt at the same path, one crash
after another. The next run finishes the load or repeats it. The next run loads the whole topic once, with the same bytes, and keeps the records of earlier loads. The same holds for `load --state` and for `stream`. For `stream` the
tests' own reader of HFiles also checks that each message is in exactly one load.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys

import faults
import power
from topic_faults import EVENTS, PARTITIONS, SCENARIOS as COMMANDS, is_bad, run_stream, write_job

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import hfile_py  # noqa: E402  (needs the path above)

LINE = "load JOB --state OUT/state -o OUT/{} --max-rejects 9 --memory 16M --threads 1 --quiet"
# The step before the power failure is empty, or a load, after which the test sets the positions back.
LOADS = {"first load of a topic": [], "later load of a topic": [LINE.format("before"), "seek --state OUT/state 0=0 1=0"]}
SCENARIOS = [*LOADS, "stream"]


def words(line, job, base):
    return [power.PROGRAM, *line.replace("OUT", str(base)).replace("JOB", str(job)).split()]


def run(line, job, base):
    return subprocess.run(words(line, job, base), cwd=job.parent, capture_output=True, text=True, timeout=faults.PATIENCE)


def records(tree):
    return {k: v for k, v in tree.items() if k.startswith("state/loads/") and k.endswith(".json")}


def loaded(base):
    """Returns the offsets loaded since the positions were last set, or None if the state has a problem."""
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


class Loads:
    """Runs `load --state`, which makes OUT/out."""

    def __init__(self, name, job, base):
        self.job, self.base = job, base
        for line in LOADS[name]:
            done = run(line, job, base)
            if done.returncode not in (0, 3):
                raise SystemExit(f"{line}: {done.stderr}")
        self.before = faults.tree(base)

    def record(self, log):
        calls, _ = power.record(LINE.format("out").replace("JOB", str(self.job)), self.job.parent, self.base, log)
        self.want = self.load_of(faults.tree(self.base))
        return calls

    @staticmethod
    def load_of(tree):
        return {k: v for k, v in tree.items() if k == "out" or k.startswith("out/")}

    def wrong_now(self, ended, found):
        if "out" in found and power.whole(found) != self.want:
            return "DIR is there and not whole"
        return "the command had ended and DIR is gone" if ended and "out" not in found else None

    def wrong_next(self, found):
        done = run(LINE.format("rest" if "out" in found else "out"), self.job, self.base)
        if done.returncode not in (0, 3):
            return f"the next run ended with {done.returncode}: {done.stderr.strip()}"
        after = faults.tree(self.base)
        if self.load_of(after) != self.want:
            return "the next run made something else"
        if any(after.get(k) != v for k, v in records(self.before).items()):
            return "a record of before is lost or changed"
        return None


class Stream:
    """Runs `stream`, which makes one load after another in OUT/loads."""

    def __init__(self, _, job, base):
        self.job, self.base, self.line = job, base, words(COMMANDS["stream"], job, base)
        (base / "loads").mkdir()
        self.before = faults.tree(base)

    def run(self, line):
        return run_stream(line, self.base, faults.PATIENCE, cwd=self.job.parent)

    def record(self, log):
        status, stderr = self.run(power.traced(self.line, log))
        self.want = self.loads_of(faults.tree(self.base))
        wrong = self.wrong_events()
        if status not in (0, 3) or wrong:
            raise SystemExit(f"stream: {status} {stderr.decode()} {wrong}")
        return power.calls_below(self.base, log)

    @staticmethod
    def loads_of(tree):
        """Returns {name of a load: its content} for the loads with a final name."""
        loads = {}
        for path, content in tree.items():
            name = re.match(r"loads/(\d+)(/|$)", path)
            if name:
                is_manifest = path.endswith("manifest.json") and isinstance(content, bytes)
                loads.setdefault(name[1], {})[path] = faults.stable_text(content) if is_manifest else content
        return loads

    def wrong_now(self, ended, found):
        loads = self.loads_of(found)
        half = [name for name, content in loads.items() if content != self.want.get(name)]
        if half:
            return f"the loads {half} are there and not whole"
        return "the command had ended and a load is gone" if ended and loads != self.want else None

    def wrong_next(self, found):
        status, stderr = self.run(self.line)
        if status not in (0, 3):
            return f"the next run ended with {status}: {stderr.decode().strip()}"
        if self.loads_of(faults.tree(self.base)) != self.want:
            return "the next run made something else"
        return self.wrong_events()

    def wrong_events(self):
        """Checks that each message of the topic is in exactly one load, by its key, or in exactly one load's
        rejects."""
        found = []
        for load in sorted(p for p in (self.base / "loads").iterdir() if p.name.isdigit()):
            found += [c.row.decode() for f in load.glob("t/hfiles/f/*") for c in hfile_py.read(f)]
            rejects = map(json.loads, (load / "rejects.jsonl").read_text().splitlines())
            found += [f"bad {r['partition']}-{r['offset']}" for r in rejects]
        wanted = [f"{'bad ' if is_bad(i) else ''}{p}-{i}" for p in range(PARTITIONS) for i in range(EVENTS)]
        lost, more = set(wanted) - set(found), len(found) - len(set(found))
        return f"{len(lost)} events lost, {more} doubled" if sorted(found) != sorted(wanted) else None


def judge(scenario, crash):
    """Returns None, or the problem."""
    _, ended, found = crash
    wrong = scenario.wrong_now(ended, found)
    if wrong:
        return wrong
    shutil.rmtree(scenario.base)
    power.materialise(found, scenario.base)
    wrong = scenario.wrong_next(found)
    if wrong:
        return wrong
    at = loaded(scenario.base)
    return None if at == dict.fromkeys(range(PARTITIONS), EVENTS) else f"the loads end at {at}"


def run_scenario(name, inputs, scratch, states=5, seed=1, every=1, unsynced=None):
    """Works as power.run_scenario does. `every` selects each n-th call."""
    scratch = scratch / name.replace(" ", "-")
    scratch.mkdir()
    job, base = scratch / "topic.yaml", scratch / "base"
    write_job(job)
    base.mkdir()
    power.Disk.cwd = str(scratch)
    scenario = (Loads if name in LOADS else Stream)(name, job, base)
    before = {k: (base / k).read_bytes() if v is not None else None for k, v in scenario.before.items()}
    disk = power.Disk(str(base), unsynced, before)
    calls = scenario.record(scratch / "trace")
    crashes, wrong = 0, []
    for crash in power.crash_states(calls, disk, states, seed, every):
        crashes += 1
        verdict = judge(scenario, crash)
        if verdict:
            k, ended, kept = crash
            last = "the end" if ended else f"call {k}, {calls[k][0]}"
            wrong.append(f"{name}: power lost behind {last}: {verdict}\n  kept: {sorted(kept)}")
    shutil.rmtree(scratch)
    return crashes, wrong
