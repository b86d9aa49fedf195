"""Tests faults of commands that use a topic and a state folder, which are `saltmill stream` and `load --state`.

The brokers are a mock cluster in this process, which has no faults. librdkafka's own calls do not fail either, because
librdkafka calls abort() without memory. A run ends by itself, or by SIGTERM after its state has the whole topic. However
the run ended, each published folder equals one of the loads of the undisturbed run, with the same bytes. The next run
continues where this run stopped. Then all loads exist, and `saltmill loads` reports no problem.
"""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import faults
from mock_topic import MockTopic

LOAD = "load JOB --state OUT/state -o OUT/loads/00000002 --max-rejects 9 --memory 16M --threads 1 --quiet"
SCENARIOS = {
    "stream": "stream JOB --state OUT/state -o OUT/loads --memory 16M --threads 1 --quiet",
    "load of a topic": LOAD,
    "load that is to be recorded": LOAD,
    "state made anew": "loads --state OUT/state --rebuild OUT/loads",
    "state made anew from records": "loads --state OUT/state --rebuild OUT/loads",
}
# The load dies before these calls, between its publication and its record.
UNRECORDED = ["load that is to be recorded", "state made anew"]
# The program made, applied and removed a load before these calls.
HANDED = ["state made anew from records"]
PARTITIONS, EVENTS = 2, 150  # events of each partition; a load of the stream has half of them

JOB = """\
source:
  kafka: {{brokers: "{brokers}", topic: {topic}, format: json, start: earliest, patience: 5s, roll: {{rows: {rows}}}}}
fields:
  ts: {{type: time, unit: ms, from: $timestamp}}
tables:
  - name: t
    rowkey: [{{field: $partition, as: text, terminator: '-'}}, {{field: $offset, as: text}}]
    timestamp: ts
    families: {{f: {{compression: NONE}}}}
    cells: [{{family: f, qualifier: v, value: v}}]
    regions: {{split: none}}
"""
topic = None


def is_bad(offset):
    return offset % 70 == 5


def make_topic():
    """Makes one topic for all scenarios of this process. Some messages are bad."""
    global topic
    if topic is None:
        topic = MockTopic("events", PARTITIONS)
        for p in range(PARTITIONS):
            topic.produce(p, [b"bad" if is_bad(i) else b'{"v":"%d-%d"}' % (p, i) for i in range(EVENTS)])
    return topic


def write_job(path):
    t = make_topic()
    path.write_text(JOB.format(brokers=t.brokers, topic=t.name, rows=PARTITIONS * EVENTS // 2))


def has_state(pid, out):
    """The process has the state's lock, so it has set up its signals."""
    try:
        return (out / "state" / "lock").read_text().startswith(f"{pid} on ")
    except FileNotFoundError:
        return False


def stops(out):
    """Sends SIGTERM to a stream after its state in OUT has recorded the whole topic."""
    last = out / "state" / "loads" / "00000003.json"

    return lambda pid: last.exists() and has_state(pid, out) and stop(pid)


def stop(pid):
    with contextlib.suppress(ProcessLookupError):  # it has ended by itself
        os.kill(pid, signal.SIGTERM)
    return True


def served(scenario):
    """Runs a stream undisturbed, and stops the stream."""
    slot = scenario.slots.take()
    slot.begin()
    outcome = scenario.run(slot)
    scenario.slots.give_back(slot)
    return outcome


def run_stream(line, out, limit, **where):
    """Returns (status, standard error) of a stream, which stops when the look of `stops` returns True."""
    process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **where)
    patience, look = faults.Patience(limit), stops(out)
    while process.poll() is None and not look(process.pid) and patience.look():
        time.sleep(0.02)
    stderr = faults.end_of(process, max(1, patience.left))[1]
    return process.returncode, stderr


class TopicScenario(faults.Scenario):
    lines = SCENARIOS
    apart = "librdkafka"
    loaded = "librdkafka.so.1"
    jobs = 5 * os.cpu_count()  # brokers take some time

    def __init__(self, name, inputs, scratch):
        self.job = scratch / "topic.yaml"
        write_job(self.job)
        super().__init__(name, inputs, scratch)

    def words(self, line, out):
        return faults.Scenario.words(line.replace("JOB", str(self.job)), out)

    def command(self, out):
        """If an earlier run has published, only the record is missing, so the next load is empty."""
        out = pathlib.Path(out)
        loads = len([*out.glob("rest*"), *out.glob("loads/00000002")])
        return self.words(self.line.replace("/loads/00000002", f"/rest{loads}") if loads else self.line, out)

    def prepare(self, slot):
        (slot.out / "loads").mkdir()
        if self.name in UNRECORDED:
            self.run_alone(slot, self.words(LOAD, slot.out), SALTMILL_CRASH_AT="published")
        if self.name in HANDED:
            self.run_alone(slot, self.words(LOAD, slot.out))
            self.run_alone(slot, self.words("loads --state OUT/state --loaded 00000002", slot.out))
            shutil.rmtree(slot.out / "loads" / "00000002")
        slot.before = faults.files_of(slot.out)

    def undisturbed(self):
        """The output of the stream contains times."""
        if not self.line.startswith("stream "):
            return super().undisturbed()._replace(stdout=faults.stable_text(b""))
        return served(self)

    def run(self, slot, fault=None):
        """The run after a fault may use another command."""
        if self.line.startswith("stream "):
            status, _, stderr = self.run_served(slot, fault, stops(slot.out))
        elif fault:
            status, _, stderr = self.run_served(slot, fault)
        else:
            status, _, stderr = self.run_alone(slot, self.command(slot.out))
        return self.outcome(slot, status, b"", stderr)

    def tree_of(self, slot):
        """Compares the published loads. The next run checks the state's progress."""
        rests = [json.loads(path.read_text()) for path in slot.out.glob("rest?/manifest.json")]
        return faults.tree(slot.out / "loads") | ({"loaded twice": None} if any(m["read"] for m in rests) else {})

    def left_wrong(self, got):
        """After a failed run each load that exists is complete."""
        names = {name.split("/")[0] for name in got.tree}
        for name in sorted(n for n in names if not n.endswith(".saltmill-partial")):
            if self.below(got.tree, name) != self.below(self.want.tree, name):
                return f"failed and published {name} with other bytes"
        return None

    @staticmethod
    def below(tree, name):
        return {k: v for k, v in tree.items() if k.split("/")[0] == name}

    def wrong_next(self, slot, got):
        """After a failure, or without one, the next run completes the loads."""
        if got.status != self.want.status:
            again = self.run(slot)
            if again.status not in (0, 3) or again.tree != self.want.tree:
                return f"the next run did not go on: {again.status}, {again.stderr.strip()}, {sorted(again.tree)[:3]}"
        status, stdout, stderr = self.run_alone(slot, [faults.PROGRAM, "loads", "--state", str(slot.out / "state"), "--json"])
        if status:
            return f"saltmill loads: {stdout.decode()}{stderr.decode()}"
        at = dict.fromkeys(range(PARTITIONS), 0)
        for r in (r for line in stdout.splitlines() for r in json.loads(line)["offsets"]):
            if at[r["partition"]] != r["start"]:
                return f"a load begins at {r}, where {at} was expected"
            at[r["partition"]] = r["end"]
        return None if set(at.values()) == {EVENTS} else f"the loads end at {at}: {stdout.decode()}"
