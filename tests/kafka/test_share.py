"""Tests a topic that several instances share through a consumer group. Instances start, stop, die and freeze."""

import json
import os
import pathlib
import random
import re
import signal
import subprocess
import threading
import time
import urllib.request

import pytest

from cluster import HANG_SECONDS, free_ports, wait_until
from rig import END_SECONDS, Rig, tree, value

SESSION = "properties: {session.timeout.ms: 6000, heartbeat.interval.ms: 500}"


class Instances:
    """Processes that stream one job into one state folder."""

    def __init__(self, rig, group, more="start: earliest\n    roll: {rows: 400, time: 1s}"):
        self.rig, self.running, self.said = rig, [], []
        (rig.folder / "splits.txt").write_text("1-\n4-\n")
        rig.configure(f"group: {group}\n    share: true\n    {more}\n    {SESSION}",
                      regions=f"{{split: file, file: {rig.folder}/splits.txt}}")

    def start(self, *more):
        log = open(self.rig.folder / f"said{len(self.said)}", "w+")
        process = subprocess.Popen(
            [self.rig.saltmill, "stream", self.rig.job, "--state", self.rig.state, "--memory", "64M",
             *more], stdout=subprocess.DEVNULL, stderr=log)
        process.log = log
        self.said.append(log)
        self.running.append(process)
        return process

    def text(self, process):
        process.log.flush()
        return open(process.log.name).read()

    def has(self, process):
        """Returns the number of partitions that the process reports."""
        return int((["0"] + re.findall(r"(\d+) assigned now", self.text(process)))[-1])

    def end(self, process, how=signal.SIGTERM, expected=0):
        self.running.remove(process)
        process.send_signal(how)
        status = process.wait(timeout=END_SECONDS)
        assert status == (expected if how == signal.SIGTERM else -how), (status, self.text(process))

    def end_all(self):
        for p in list(self.running):
            self.end(p)

    def check_alive(self):
        for p in self.running:
            assert p.poll() is None, self.text(p)

    def status(self):
        return json.loads(self.rig.run("status", "--state", self.rig.state, "--json").stdout)

    def positions(self):
        return {p["partition"]: p["offset"] for p in self.status()["positions"]}

    def wait(self, condition, seconds=HANG_SECONDS):
        end = time.monotonic() + seconds
        while not condition():
            self.check_alive()
            if time.monotonic() > end:
                pytest.fail("\n--\n".join([str(self.positions())] + [self.text(p) for p in self.running]))
            time.sleep(0.2)

    def wait_for_all(self):
        ends = {p: e for p, (_, e) in enumerate(self.rig.kafka.ends(self.rig.topic))}
        self.wait(lambda: (self.rig.state / "shared.json").exists() and self.positions() == ends)

    def kill_all(self):
        for p in self.running:
            p.kill()
            p.wait()


@pytest.fixture
def instances(rig):
    i = Instances(rig, rig.topic)
    yield i
    i.kill_all()


def test_join_and_leave(rig, kafka, instances):
    """Three instances start and stop, by SIGTERM and SIGKILL, while messages keep arriving."""
    moves = int(os.environ.get("SALTMILL_MOVES", "14"))
    chance = random.Random(moves)
    kafka.create(rig.topic, 6)
    n = 0
    for _ in range(moves):
        if len(instances.running) < 3 and (not instances.running or chance.random() < 0.6):
            instances.start()
        else:
            instances.end(chance.choice(instances.running),
                          chance.choice([signal.SIGTERM, signal.SIGKILL]))
        for _ in range(3):
            messages = [(chance.randrange(6), None, value(n + i)) for i in range(chance.randrange(900))]
            n += len(messages)
            kafka.produce(rig.topic, messages, chance.choice(["none", "lz4"]),
                          transaction=rig.topic if chance.random() < 0.3 else "",
                          commit=chance.random() < 0.6)
            time.sleep(chance.random() * 1.2)
            instances.check_alive()
    instances.start()
    instances.wait_for_all()
    instances.end_all()
    assert len(rig.check()) > 0
    for l in rig.loads()[-3:]:
        rig.run("verify", l["output"])
        assert l["load"].startswith("p0000") and f"/{l['load'].split('/')[0]}/" in l["output"]


def test_zombies(rig, kafka, instances):
    """An instance is frozen longer than the session and then resumed. Only the instance with the lock loads."""
    rounds = int(os.environ.get("SALTMILL_ZOMBIES", "2"))
    chance = random.Random(rounds)
    kafka.create(rig.topic, 4)
    first, second = instances.start(), instances.start()
    n = 0
    for round in range(rounds):
        frozen, other = (first, second) if round % 2 == 0 else (second, first)
        instances.wait(lambda: instances.has(first) == instances.has(second) == 2)
        time.sleep(1)
        instances.wait(lambda: instances.has(first) == instances.has(second) == 2)
        given_up = instances.text(frozen).count("dropped this member")
        for _ in range(4):
            kafka.produce(rig.topic, [(i % 4, None, value(n + i)) for i in range(800)])
            n += 800
        time.sleep(chance.random())
        frozen.send_signal(signal.SIGSTOP)
        held = f"in use by process {frozen.pid} on"
        waited = instances.text(other).count(held)
        instances.wait(lambda o=other, h=held, w=waited: instances.text(o).count(h) > w)
        kafka.produce(rig.topic, [(i % 4, None, value(n + i)) for i in range(800)])
        n += 800
        time.sleep(2)
        frozen.send_signal(signal.SIGCONT)
        instances.wait(lambda f=frozen, g=given_up: instances.text(f).count("dropped this member") > g)
        instances.wait_for_all()
    instances.end_all()
    assert len(rig.check()) == n


def test_start_is_one_moment(rig, kafka, instances):
    """`start: latest` is the time when the first instance began, for all partitions, also after a crash."""
    Instances.__init__(instances, rig, rig.topic, "start: latest\n    roll: {time: 1s}")
    kafka.create(rig.topic, 3)
    kafka.produce(rig.topic, [(i % 3, None, value(i)) for i in range(300)])
    done = subprocess.run([rig.saltmill, "stream", rig.job, "--state", rig.state], check=False,
                          env={**os.environ, "SALTMILL_CRASH_AT": "taken-in"}, timeout=HANG_SECONDS)
    assert done.returncode == -9 and not (rig.state / "shared.json").exists()
    kafka.produce(rig.topic, [(i % 3, None, value(i)) for i in range(30)])
    for _ in range(3):
        instances.start()
    instances.wait_for_all()
    instances.end_all()
    loads = [l for l in rig.loads() if l["read"]]
    assert sorted((l["offsets"][0]["partition"], l["offsets"][0]["start"]) for l in loads) == [
        (0, 100), (1, 100), (2, 100)]


def test_partitions_added(rig, kafka, instances):
    """The group assigns a new partition from its first message on."""
    more = "start: latest\n    roll: {time: 1s}"
    Instances.__init__(instances, rig, rig.topic, more)
    rig.job.write_text(rig.job.read_text().replace(
        "properties: {", "properties: {topic.metadata.refresh.interval.ms: 500, "))
    kafka.create(rig.topic, 2)
    processes = [instances.start() for _ in range(2)]
    instances.wait_for_all()
    kafka.call("grow", rig.topic, 4)
    kafka.produce(rig.topic, [(i % 4, None, value(i)) for i in range(400)])
    instances.wait_for_all()
    assert any("now has 4 partitions, before it had 2; the new partitions begin at offset 0" in instances.text(p)
               for p in processes)
    instances.end_all()
    assert len(rig.check()) == 400


def test_seen_from_outside(rig, kafka, instances):
    """Runs status, loads, --loaded and seek over all partitions. Every load has the same regions."""
    kafka.create(rig.topic, 6)
    kafka.produce(rig.topic, [(i % 6, None, value(i)) for i in range(600)])
    process = instances.start()
    instances.wait_for_all()
    status = instances.status()
    assert status["running"] and len(status["partitions"]) == 6
    text = rig.run("status", "--state", rig.state).stdout
    assert "  partition 5: next offset 100, in use" in text
    done = rig.run("seek", "--state", rig.state, "3=50", status=2)
    assert f"in use by process {process.pid} on" in done.stderr
    instances.wait(lambda: len(kafka.committed(rig.topic, rig.topic)) == 6)
    assert set(kafka.committed(rig.topic, rig.topic).values()) == {100}
    instances.end_all()
    name = next(l["load"] for l in rig.loads() if l["load"].startswith("p00003/"))
    rig.run("loads", "--state", rig.state, "--loaded", name)
    assert [l["load"] for l in rig.loads() if l["loaded"]] == [name]
    done = rig.run("loads", "--state", rig.state, "--loaded", "00000002", status=2)
    assert "like p00003/00000042" in done.stderr
    for l in rig.loads():
        splits = open(f"{l['output']}/t/splits.txt").read()
        assert splits == (rig.folder / "splits.txt").read_text()
    rig.run("seek", "--state", rig.state, "3=50", "0=40")
    assert instances.positions() == {0: 40, 1: 100, 2: 100, 3: 50, 4: 100, 5: 100}
    rig.run("seek", "--state", rig.state, "6=0", status=2)
    # the group's offset is the one before the seek, so the seek decides
    process = instances.start()
    for partition, at in ((0, 40), (3, 50)):
        said = f"{rig.topic}/{partition}: group {rig.topic} has committed offset 100"
        instances.wait(lambda s=said, a=at: s in instances.text(process) and f"continues at {a}" in instances.text(process))
    instances.wait(lambda: set(instances.positions().values()) == {100})
    instances.end(process)


def test_parked(rig, kafka, instances):
    """One partition has too many bad messages, and another has lost offsets. The other partitions continue, and seek
    repairs both."""
    kafka.create(rig.topic, 4)
    kafka.produce(rig.topic, [(i % 4, None, value(i)) for i in range(400)])
    for p in [instances.start("--max-rejects", "10") for _ in range(2)]:
        instances.wait(lambda p=p: instances.has(p) == 2)
    instances.wait_for_all()
    instances.end_all()
    for n in range(2):
        kafka.produce(rig.topic, [(i % 4, None, value(i)) for i in range(400)])
    kafka.produce(rig.topic, [(1, None, b"poison")] * 20)
    kafka.call("truncate", rig.topic, 2, 150)
    ports = free_ports(2)
    processes = [instances.start("--max-rejects", "10", "--metrics", f"127.0.0.1:{port}") for port in ports]
    said = lambda: "".join(instances.text(p) for p in processes)
    instances.wait(lambda: "partition 1 is parked, and the other partitions continue: " in said() and
                           "partition 2 is parked, and the other partitions continue: " in said())
    assert "bad_json" in said() and "deleted 50 offsets before their load" in said()
    instances.wait(lambda: (at := instances.positions())[0] == at[3] == 300)
    kafka.produce(rig.topic, [(i % 4, None, value(i)) for i in range(40)])
    instances.wait(lambda: (at := instances.positions())[0] == at[3] == 310)
    assert (instances.positions()[1], instances.positions()[2]) == (100, 100)

    def parked():
        pages = [urllib.request.urlopen(f"http://127.0.0.1:{p}/metrics", timeout=5).read().decode() for p in ports]
        return sum(int(re.search(r"^saltmill_parked_partitions{.*} (\d+)$", page, re.M)[1]) for page in pages)
    assert parked() == 2
    notes = {p["positions"][0]["partition"] if len(p["positions"]) == 1 else i: p["stream"].get("parked")
             for i, p in enumerate(instances.status()["partitions"])}
    assert [bool(notes[p]) for p in range(4)] == [False, True, True, False]
    assert "PARKED, seen " in rig.run("status", "--state", rig.state).stdout
    # the state's lock is free, so one instance repairs the state while the others load
    ends = [e for _, e in kafka.ends(rig.topic)]
    rig.run("seek", "--state", rig.state, f"1={ends[1] - 10}", "2=150")
    instances.wait_for_all()
    instances.wait(lambda: parked() == 0)
    assert "partition 1 continues" in said() and "partition 2 continues" in said()
    assert "PARKED" not in rig.run("status", "--state", rig.state).stdout
    instances.end_all()
    cells = rig.union([pathlib.Path(l["output"]) for l in rig.loads()])
    want = {(p, o) for p, e in enumerate(ends) for o in range(e)}
    want -= {(1, o) for o in range(100, ends[1] - 10)} | {(2, o) for o in range(100, 150)}
    assert set(cells) == want


def test_rebuilt(rig, kafka, instances):
    """The test damages shared.json and records. The program names the repair, rebuilds the files, and loads each event
    once."""
    kafka.create(rig.topic, 3)
    for _ in range(2):
        kafka.produce(rig.topic, [(i % 3, None, value(i)) for i in range(300)])
        process = instances.start()
        instances.wait_for_all()
        instances.end(process)

    def loads():  # a rebuilt record has its time from the manifest's file
        return {l["load"]: {k: v for k, v in l.items() if k != "published_ms"} for l in rig.loads()}
    before, listed = instances.positions(), loads()
    assert {l[:6] for l in listed} == {"p00000", "p00001", "p00002"}
    newest = sorted((rig.state / "p00001" / "loads").glob("*.json"))
    for path in (rig.state / "shared.json", newest[-2]):
        path.write_bytes(path.read_bytes()[:-20])
    (rig.state / "p00002" / "topic.json").unlink()
    newest[-1].unlink()
    for words in (["loads"], ["status"], ["stream", rig.job]):
        done = rig.run(*words, "--state", rig.state, status=1)
        assert "shared.json has damage" in done.stderr and "--rebuild` rebuilds a state" in done.stderr
    done = rig.run("loads", "--state", rig.state, "--rebuild")
    assert f"{rig.state}/shared.json was rebuilt: topic {rig.topic}, 3 partitions" in done.stdout
    assert f"{rig.state}/p00002/topic.json was rebuilt" in done.stdout
    assert done.stdout.count("saltmill recorded load ") >= 1
    assert instances.positions() == before
    assert loads() == listed
    assert rig.run("loads", "--state", rig.state, "--rebuild").stdout == ""
    kafka.produce(rig.topic, [(i % 3, None, value(i)) for i in range(300)])
    process = instances.start()
    instances.wait_for_all()
    instances.end(process)
    rig.check()


def test_leaving_is_quick(rig, kafka, instances):
    """After SIGTERM another instance gets the released partitions at once, not after the session's end."""
    rig.job.write_text(rig.job.read_text().replace("session.timeout.ms: 6000", "session.timeout.ms: 120000"))
    kafka.create(rig.topic, 4)
    first = instances.start()
    instances.wait(lambda: instances.has(first) == 4)
    second = instances.start()
    instances.wait(lambda: instances.has(second) == 2)
    instances.end(first)
    instances.wait(lambda: instances.has(second) == 4, seconds=60)  # an idle machine takes 1
    instances.end_all()


def test_static_member(rig, kafka, instances):
    """A second instance with the same group.instance.id replaces the first and reports it."""
    kafka.create(rig.topic, 1)
    rig.job.write_text(rig.job.read_text().replace("properties: {", "properties: {group.instance.id: a, "))
    first = instances.start()
    instances.wait(lambda: "assigned partitions 0" in instances.text(first))
    second = instances.start()
    assert first.wait(timeout=HANG_SECONDS) == 1 and "fenced" in instances.text(first)
    instances.running.remove(first)
    instances.wait(lambda: "assigned partitions 0" in instances.text(second))
    kafka.produce(rig.topic, [(0, None, value(i)) for i in range(10)])
    instances.wait_for_all()
    instances.end_all()


class TestRefusals:
    def test_regions(self, rig, kafka):
        kafka.create(rig.topic, 1)
        rig.configure("group: g\n    share: true")
        done = rig.run("stream", rig.job, "--state", rig.state, status=2)
        assert "`share: true` needs regions that are equal in all loads" in done.stderr

    def test_folders(self, rig, kafka, instances):
        kafka.create(rig.topic, 2)
        instances.start()
        instances.wait_for_all()
        instances.end_all()
        done = rig.run("load", rig.job, "-o", rig.folder / "o", "--state", rig.state, status=2)
        assert "`share: true`, which only `saltmill stream` supports" in done.stderr
        shared = rig.job.read_text()
        rig.configure("group: g")
        for words in (["load", rig.job, "-o", rig.folder / "o"], ["stream", rig.job]):
            done = rig.run(*words, "--state", rig.state, status=2)
            assert "is shared by the members of a group" in done.stderr
        rig.run("load", rig.job, "-o", rig.folder / "o", "--state", rig.folder / "own")
        rig.job.write_text(shared)
        done = rig.run("stream", rig.job, "--state", rig.folder / "own", status=2)
        assert "is the state of one instance, but the job has `share: true`" in done.stderr
        (rig.state / "p00001").rename(rig.folder / "elsewhere")
        process = instances.start()
        instances.wait(lambda: f"`saltmill seek --state {rig.state} 1=OFFSET`" in instances.text(process))
        (rig.folder / "elsewhere").rename(rig.state / "p00001")
        instances.wait(lambda: "partition 1 continues" in instances.text(process))
        instances.end(process)

    def test_two_lists_overlap(self, saltmill, kafka, tmp_path, topic):
        """Without a common lock, only the group's offsets show the conflict, before the next load at the latest."""
        kafka.create(topic, 3)
        rigs = [Rig(saltmill, kafka, tmp_path / str(i), topic,
                    f"group: {topic}\n    partitions: {p}\n    roll: {{time: 1s}}")
                for i, p in enumerate(("[0, 1]", "[1, 2]"))]
        processes = [r.stream() for r in rigs]
        n, end = 0, time.monotonic() + HANG_SECONDS
        try:
            while all(p.poll() is None for p in processes) or not any(r.loads() for r in rigs):
                assert time.monotonic() < end
                kafka.produce(topic, [(i % 3, None, value(n + i)) for i in range(30)])
                n += 30
                time.sleep(0.3)
            ended = [i for i, p in enumerate(processes) if p.poll() is not None]
            assert len(ended) == 1, "one instance must continue"
            i = ended[0]
            assert processes[i].wait() == 1
            said = processes[i].stderr.read()
            assert "another instance loads this partition" in said
            assert f"by saltmill, process {processes[1 - i].pid} on " in said
            rigs[1 - i].end(processes[1 - i])
        finally:
            for p in processes:
                p.kill()
                p.communicate()
        rigs[0].union([pathlib.Path(l["output"]) for r in rigs for l in r.loads()])

    def test_group_set_by_others(self, rig, kafka):
        """While a stream runs, a group offset after its own is harmless. At its own offset another instance is at
        work."""
        kafka.create(rig.topic, 1)
        rig.configure(f"start: earliest\n    group: {rig.topic}\n    roll: {{time: 1s}}")
        process, loaded = rig.stream(), 0

        def go_on():
            nonlocal loaded
            kafka.produce(rig.topic, [(0, None, value(loaded + i)) for i in range(10)])
            loaded += 10
            wait_until(lambda: kafka.committed(rig.topic, rig.topic) == {0: loaded}, process)

        try:
            go_on()
            kafka.call("commit", rig.topic, rig.topic, 0, 3)
            go_on()
            kafka.call("commit", rig.topic, rig.topic, 0, 20)
            kafka.produce(rig.topic, [(0, None, value(20))])
            said = rig.wait(process)
            assert process.returncode == 1
            assert "has committed offset 20 by by hand?, this state is at 20: another instance" in said
        finally:
            process.kill()
            process.communicate()
        # the instance that starts takes over
        rig.load()
        assert len(rig.check()) == 21


def test_broker_stopped(saltmill, mortal, tmp_path, topic):
    """The broker is away for longer than a session. The test removes everything except the states, and the stream restores it."""
    rig = Rig(saltmill, mortal, tmp_path / "rig", topic)
    mortal.create(topic, 4)
    instances = Instances(rig, topic)
    try:
        mortal.produce(topic, [(i % 4, None, value(i)) for i in range(4000)])
        processes = [instances.start() for _ in range(2)]
        instances.wait(lambda: (rig.state / "shared.json").exists() and rig.loads())
        mortal.kill()
        time.sleep(8)  # in some states of a group librdkafka does not report that the session is over
        instances.wait(lambda: any("no broker answers at" in instances.text(p) for p in processes))
        mortal.start()
        mortal.produce(topic, [(i % 4, None, value(i)) for i in range(4000)])
        instances.wait_for_all()
        instances.end_all()
        assert len(rig.check()) == 8000
    finally:
        instances.kill_all()


def test_topic_deleted(rig, kafka, instances):
    """The topic changes while instances run. All instances refuse it, in time."""
    kafka.create(rig.topic, 2)
    kafka.produce(rig.topic, [(i % 2, None, value(i)) for i in range(100)])
    processes = [instances.start() for _ in range(2)]
    instances.wait_for_all()
    kafka.call("delete", rig.topic)
    for p in processes:
        assert p.wait(timeout=HANG_SECONDS) == 1, instances.text(p)
        assert "has no topic" in instances.text(p)
        instances.running.remove(p)
