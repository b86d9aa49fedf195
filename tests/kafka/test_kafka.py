"""Tests loads from a real broker. saltmill loads all messages once, after any failure."""

import json
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request

import pytest

from broker import KafkaError
from cluster import HANG_SECONDS, free_ports, hear, wait_until
from rig import STEPS, Rig, tree, value

START = 1476640000000  # ms; segments roll by the messages' own time


def test_all_kinds_of_messages(rig, kafka):
    """The topic has six partitions, every codec, transactions (some aborted), tombstones and keys."""
    kafka.create(rig.topic, 6)
    n = 0
    for codec in ("none", "gzip", "snappy", "lz4"):
        kafka.produce(rig.topic, [(i % 6, None, value(n + i)) for i in range(3000)], codec)
        n += 3000
    for partition in range(6):
        kafka.pour(rig.topic, partition, [value(n + i) for i in range(500)], "zstd")
        n += 500
    for k in range(6):
        messages = [(random.Random(k).randrange(6), b"k", value(n + i)) for i in range(500)]
        kafka.produce(rig.topic, messages, "lz4", transaction=f"{rig.topic}-{k}", commit=k % 2 == 0)
        n += 500
    kafka.produce(rig.topic, [(0, b"gone", None), (1, b"gone", None)])
    _, out = rig.load()
    cells = rig.check()
    assert len(cells) == 16500
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["read"] == 16502 and manifest["tables"][0]["filtered"] == 2
    assert [(o["start"], o["end"]) for o in manifest["offsets"]] == kafka.ends(rig.topic)
    assert sum(o["events"] for o in manifest["offsets"]) == 16502
    rig.run("verify", out)


def test_compacted(rig, kafka):
    """Loads messages after a compaction, which makes gaps."""
    kafka.create(rig.topic, 1, cleanup_policy="compact", segment_ms=100,
                 min_cleanable_dirty_ratio=0.01, max_compaction_lag_ms=100)
    for n in range(0, 3000, 500):
        kafka.produce(rig.topic, [(0, b"key%d" % (i % 7), value(n + i), START + n * 10) for i in range(500)])
    def compacted():
        nonlocal n
        if len(kafka.records(rig.topic)) <= 1000:
            return True
        n += 1000
        kafka.produce(rig.topic, [(0, b"again", value(9), START + n * 10)])
        return False
    wait_until(compacted, pause=0.5)
    before = kafka.records(rig.topic)
    _, out = rig.load()
    if kafka.records(rig.topic) == before:
        rig.check()
    offsets = json.loads((out / "manifest.json").read_text())["offsets"][0]
    assert offsets["events"] < offsets["end"] - offsets["start"]


def test_nightly(rig, kafka):
    """Makes load after load. An open transaction goes into the load after its commit."""
    kafka.create(rig.topic, 3)
    for night in range(3):
        kafka.produce(rig.topic, [(i % 3, None, value(night * 1000 + i)) for i in range(300)])
        rig.load()
    rig.load()  # an empty load, because there are no new messages
    kafka.produce(rig.topic, [(1, None, value(7000))], transaction=rig.topic, commit=2)
    kafka.produce(rig.topic, [(1, None, value(7001)), (0, None, value(7002))])
    done, _ = rig.load()
    assert "read 1 events" in done.stdout
    # the broker aborts the transaction when its producer comes back
    kafka.produce(rig.topic, [(1, None, value(7003))], transaction=rig.topic)
    rig.load()
    rig.check()
    assert [l["read"] for l in rig.loads()] == [300, 300, 300, 0, 1, 2]


def test_key_that_is_not_unique(rig, kafka):
    """The warning names messages that overwrite each other by partition and offset. A load that exceeds a limit publishes nothing."""
    rig.job.write_text(rig.job.read_text().replace("{field: $offset, as: text}", "{const: k}")
                       .replace("timestamp: ts", "timestamp: 5"))
    kafka.create(rig.topic, 2)
    kafka.produce(rig.topic, [(i % 2, None, value(i)) for i in range(100)])
    done, out = rig.load("--max-duplicates", "3%", status=1)
    assert "table t: 98 of 100 events (98%)" in done.stderr and "saltmill published nothing" in done.stderr
    assert not out.exists()
    done, _ = rig.load()
    assert f"for example {rig.topic}/0 at offset 0 is overwritten by {rig.topic}/0 at offset 49, both have row" in done.stderr
    text = rig.job.read_text()
    rig.job.write_text(text.replace("start: earliest", "start: earliest\n    roll: {rows: 50}"))
    rig.state = rig.folder / "streamed"
    said = rig.wait(rig.stream("--max-duplicates", "3%"))
    assert "events (9" in said and "(--max-duplicates)" in said and "saltmill published nothing" in said
    assert rig.loads() == []
    process = rig.stream("--max-duplicates", "99%")
    assert "published as" in process.stdout.readline()
    rig.end(process)


def test_start(rig, kafka):
    """`start` is `latest` or a time. The state keeps the offsets that `start` meant in the first run."""
    kafka.create(rig.topic, 2)
    kafka.produce(rig.topic, [(i % 2, None, value(i), START + i * 1000) for i in range(100)])
    for start, first, count in (("2016-10-16T17:47:30Z", [25, 25], 50), ("latest", [51, 50], 0),
                                ("1960-01-01T00:00:00Z", [0, 0], 102)):
        rig.state = rig.folder / start[:4]
        rig.configure(f"start: {start}")
        _, out = rig.load()
        assert [o["start"] for o in rig.loads()[0]["offsets"]] == first
        assert len(rig.cells(out)) == count
        kafka.produce(rig.topic, [(0, None, value(1), START)])
        _, out = rig.load()
        assert len(rig.cells(out)) == 1


@pytest.fixture(scope="module")
def reference(saltmill, kafka, tmp_path_factory):
    """Makes a topic that does not change, and two undisturbed loads of the topic."""
    r = Rig(saltmill, kafka, tmp_path_factory.mktemp("reference"), "reference", "group: reference")
    kafka.create(r.topic, 4)
    kafka.produce(r.topic, [(i % 4, None, value(i)) for i in range(4000)], "lz4")
    kafka.produce(r.topic, [(i % 4, None, value(i)) for i in range(400)], transaction="ref", commit=False)
    _, r.first = r.load()
    return r


@pytest.mark.parametrize("step", STEPS)
def test_killed_at_step(saltmill, kafka, tmp_path, reference, step):
    """The program dies at one step, and runs again. The load has the same bytes as an undisturbed load."""
    rig = Rig(saltmill, kafka, tmp_path, reference.topic, f"group: {step}")
    rig.load(env={"SALTMILL_CRASH_AT": step}, status=-9)
    published = (tmp_path / "out1").exists()
    assert published == (STEPS.index(step) >= STEPS.index("published"))
    done, _ = rig.load(output=tmp_path / "out2")
    loads = rig.loads()
    if STEPS.index(step) <= STEPS.index("intent-temp"):  # the first run wrote no intent, so the second run starts like a first run
        assert [pathlib.Path(l["output"]).name for l in loads] == ["out2"]
    else:
        assert [pathlib.Path(l["output"]).name for l in loads] == ["out1", "out2"]
        assert loads[1]["read"] == 0
    first = pathlib.Path(loads[0]["output"])
    rig.check()
    ours, theirs = tree(first), tree(reference.first)
    manifest = json.loads((first / "manifest.json").read_text())
    wanted = json.loads((reference.first / "manifest.json").read_text())
    for m in (manifest, wanted):  # the job contains the group's name, so its digest differs
        del m["job"], m["job_digest"], m["digests"]["manifest"]
    assert manifest == wanted
    del ours["manifest.json"], theirs["manifest.json"]
    assert ours == theirs
    assert not list(tmp_path.glob("*.saltmill-partial"))
    assert kafka.committed(step, rig.topic) == {p: e for p, (_, e) in enumerate(kafka.ends(rig.topic))}


def test_moved_away(rig, kafka):
    """A load is missing, but may be in place elsewhere. Only the user can decide."""
    kafka.create(rig.topic, 1)
    kafka.produce(rig.topic, [(0, None, value(i)) for i in range(10)])
    _, out = rig.load(env={"SALTMILL_CRASH_AT": "published"}, status=-9)
    out.rename(rig.folder / "elsewhere")
    done, _ = rig.load(status=1)
    assert "--published 00000002" in done.stderr and "--discard 00000002" in done.stderr
    rig.run("loads", "--state", rig.state, "--published", "00000002")
    assert " moved " in rig.run("loads", "--state", rig.state).stdout
    _, out = rig.load()
    assert rig.cells(out) == {}
    rig.check([rig.folder / "elsewhere"])


def positions(rig):
    return [p["offset"] for p in json.loads(rig.run("status", "--state", rig.state, "--json").stdout)["positions"]]


def test_stream_killed(rig, kafka):
    """SIGKILL ends the program at random moments while messages arrive, 200 times with SALTMILL_KILLS=200."""
    kills = int(os.environ.get("SALTMILL_KILLS", "25"))
    chance = random.Random(kills)
    rig.configure("start: earliest\n    group: killed\n    roll: {rows: 700, time: 1s}")
    kafka.create(rig.topic, 6)
    n = 0
    for _ in range(kills):
        for _ in range(chance.randrange(3)):
            messages = [(chance.randrange(6), None, value(n + i)) for i in range(chance.randrange(1500))]
            n += len(messages)
            kafka.produce(rig.topic, messages, chance.choice(["none", "lz4"]),
                          transaction="killed" if chance.random() < 0.3 else "",
                          commit=chance.random() < 0.6)
        process = rig.stream()
        time.sleep(chance.random() ** 2 * 1.2)
        process.kill()
        process.communicate()
    process = rig.stream()
    target = [e for _, e in kafka.ends(rig.topic)]
    wait_until(lambda: positions(rig) == target, process)
    rig.end(process)
    rig.check()
    for l in rig.loads()[-3:]:
        rig.run("verify", l["output"])


def test_stream_stops(rig, kafka):
    """A stream rolls by rows and by time, gets SIGTERM, and meets a second process. The loads go into HBase one by
    one."""
    rig.configure("start: earliest\n    roll: {rows: 1000, time: 4s}")  # a busy machine reads 1000 rows in this time
    kafka.create(rig.topic, 2)
    kafka.produce(rig.topic, [(i % 2, None, value(i)) for i in range(2500)])
    port = free_ports(1)[0]
    systemd = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    systemd.bind(f"\0saltmill-test-{port}")
    process = rig.stream("--json", "--metrics", f"127.0.0.1:{port}",
                         env={"NOTIFY_SOCKET": f"@saltmill-test-{port}", "WATCHDOG_USEC": "600000"})
    lines = [json.loads(process.stdout.readline()) for _ in range(3)]
    assert [l["read"] for l in lines] == [1000, 1000, 500]
    systemd.settimeout(HANG_SECONDS)
    heard = b""
    while b"READY=1\n" not in heard or b"WATCHDOG=1\n" not in heard or b"3 loads" not in heard:
        heard += systemd.recv(4096)
    assert heard.count(b"READY=1\n") == 1 and b"STOPPING" not in heard
    page = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5).read().decode()
    assert '\nsaltmill_events_total{job_file="job.yaml"} 2500\n' in page
    assert '\nsaltmill_loads_total{job_file="job.yaml"} 3\n' in page
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5)
    done = rig.run("stream", rig.job, "--state", rig.state, status=2)
    assert f"in use by process {process.pid} on" in done.stderr
    assert json.loads(rig.run("status", "--state", rig.state, "--json").stdout)["running"]
    rig.end(process)
    while b"STOPPING=1\n" not in heard:
        heard += systemd.recv(4096)
    rig.check()
    name = rig.loads()[0]["load"]
    rig.run("loads", "--state", rig.state, "--loaded", name)
    assert [l["loaded"] for l in rig.loads()] == [True, False, False]
    rig.run("loads", "--state", rig.state, "--loaded", "00000099", status=2)
    for command in ("status", "loads"):
        with open("/dev/full", "w") as full:
            done = subprocess.run([rig.saltmill, command, "--state", rig.state], stdout=full, stderr=subprocess.PIPE)
        assert done.returncode == 1 and b"standard output: No space left on device" in done.stderr


@pytest.mark.parametrize("what", ["loads", "topic"])
def test_deleted_under_a_stream(rig, kafka, what):
    """If the folder of the loads or the topic is missing, this is no usage error. The message names the missing
    thing."""
    rig.configure("start: earliest\n    roll: {time: 1s}")
    kafka.create(rig.topic, 2)
    kafka.produce(rig.topic, [(i % 2, None, value(i)) for i in range(100)])
    process = rig.stream()
    process.stdout.readline()
    if what == "loads":
        shutil.rmtree(rig.state / "published")
        kafka.produce(rig.topic, [(i % 2, None, value(i)) for i in range(100)])
    else:
        kafka.call("delete", rig.topic)
    said = rig.wait(process)
    assert process.returncode == 1, said
    assert ("published: the folder of the loads no longer exists" if what == "loads" else "has no topic") in said
    if what == "loads":
        _, out = rig.load()
        assert len(rig.cells(out)) == 100
        rig.run("stream", rig.job, "--state", rig.state, "-o", rig.folder / "nowhere", status=2)


def test_dead_broker(rig):
    """If no broker listens, a load prints its time limit, and a stream prints that it waits without a limit."""
    rig.kafka = type("Dead", (), {"brokers": f"127.0.0.1:{free_ports(1)[0]}"})
    for more, load, stream in (("start: earliest", "at most 300 s", "without a limit"),
                               ("patience: 2s", "at most 2 s", "at most 2 s"),
                               ("patience: forever", "without a limit", "without a limit")):
        rig.configure(more)
        words = ["-o", rig.folder / f"out{len(more)}", "--state", rig.folder / "state"]
        for command, limit in (("load", load), ("stream", stream)):
            process = subprocess.Popen([rig.saltmill, command, rig.job, *words[2 * (command == "stream"):]],
                                       stderr=subprocess.PIPE, text=True)
            lines = []
            while not lines or "no broker answers at" not in lines[-1]:
                assert (line := process.stderr.readline()), lines
                lines.append(line)
            assert f" so far, {limit} (the job's `patience`)" in lines[-1]
            if "2 s" in limit:
                assert process.wait(HANG_SECONDS) == 1 and "no broker answered at" in process.stderr.read()
            process.kill()
            process.communicate()


def test_broker_stopped(saltmill, mortal, tmp_path, topic):
    """The broker stops in the middle and comes back."""
    rig = Rig(saltmill, mortal, tmp_path / "rig", topic,
              "start: earliest\n    roll: {rows: 20000, time: 1s}")
    mortal.create(topic, 3)
    mortal.produce(topic, [(i % 3, None, value(i)) for i in range(60000)])
    process = rig.stream()
    process.stdout.readline()
    mortal.kill()
    hear(process, "no broker answers at")
    mortal.start()
    hear(process, "answer again")
    mortal.produce(topic, [(i % 3, None, value(i)) for i in range(100)])
    rig.wait_for(process, 60100)
    rig.end(process)
    rig.check()


class Pouring(threading.Thread):
    """Produces batch after batch until the test ends. Batches that fail may still have arrived."""

    def __init__(self, kafka, topic, partitions):
        super().__init__()
        self.kafka, self.topic, self.partitions = kafka, topic, partitions
        self.enough, self.sent, self.failed = threading.Event(), 0, 0

    def run(self):
        while not self.enough.wait(0.05):
            batch = [(i % self.partitions, None, value(self.sent + i)) for i in range(500)]
            self.sent += 500
            try:
                self.kafka.produce(self.topic, batch)
            except KafkaError:
                self.failed += 1


def test_broker_stopped_twice(saltmill, mortal, tmp_path, topic):
    """The stream dies twice while events arrive and it makes loads. Kafka's own client gives the expected
    events."""
    rig = Rig(saltmill, mortal, tmp_path / "rig", topic,
              "start: earliest\n    roll: {rows: 3000, time: 1s}")
    mortal.create(topic, 3)
    producer, said = Pouring(mortal, topic, 3), ""
    producer.start()
    process = rig.stream()
    try:
        for wait in (1.5, 3):
            process.stdout.readline()
            time.sleep(wait)
            mortal.kill()
            said += hear(process, "no broker answers at")
            time.sleep(wait)
            mortal.start()
            said += hear(process, "answer again")
        process.stdout.readline()
        wait_until(lambda: sum(e for _, e in mortal.ends(topic)) > 6000)
    finally:
        producer.enough.set()
        producer.join()
    target = [e for _, e in mortal.ends(topic)]
    wait_until(lambda: positions(rig) == target, process)
    _, rest = rig.end(process)
    assert "another message" not in said + rest
    rig.check()


class TestRefusals:
    def prepare(self, rig, kafka, partitions=2, more="start: earliest"):
        rig.configure(more)
        kafka.create(rig.topic, partitions)
        kafka.produce(rig.topic, [(i % partitions, None, value(i)) for i in range(100)])
        rig.load()

    def test_lost(self, rig, kafka):
        self.prepare(rig, kafka)
        kafka.produce(rig.topic, [(i % 2, None, value(i)) for i in range(100)])
        kafka.call("truncate", rig.topic, 1, 70)
        done, _ = rig.load(status=1)
        assert "deleted 20 offsets before their load" in done.stderr
        assert f"`saltmill seek --state {rig.state} 1=70`" in done.stderr
        rig.run("seek", "--state", rig.state, "1=70")
        rig.load()
        # the first load still contains messages that the topic has deleted
        folders = [pathlib.Path(l["output"]) for l in rig.loads()]
        assert len(rig.union(folders)) == 180

    def test_seek(self, rig, kafka):
        """seek reports the offsets that it skips and repeats. seek refuses impossible offsets, and changes nothing."""
        self.prepare(rig, kafka)
        seek = lambda *words, status=0: rig.run("seek", "--state", rig.state, *words, status=status)
        records = lambda: sorted(p.name for p in (rig.state / "loads").iterdir())
        before = records()
        rig.run("seek", "--state", rig.folder / "mistyped", "0=1", status=2)
        assert not (rig.folder / "mistyped").exists()
        (rig.folder / "empty").mkdir()
        rig.run("seek", "--state", rig.folder / "empty", "0=1", status=2)
        assert "found partition 2, expected 0 to 1" in seek("0=10", "2=0", status=2).stderr
        assert "found offset 51, expected 0 (the oldest message) to 50 (after the newest message)" in seek("0=51", "1=10", status=2).stderr
        assert records() == before
        done = seek("0=20", "1=50")
        assert done.stderr == ""
        assert done.stdout == ("partition 0: from 50 to 20: repeats 30 offsets, which load 00000002 has\n"
                               "partition 1: stays at 50\n")
        assert seek("0=50").stdout == "partition 0: from 20 to 50: skips 30 offsets, which no later load will have\n"
        kafka.produce(rig.topic, [(1, None, value(i)) for i in range(50)])
        kafka.call("truncate", rig.topic, 1, 70)
        assert "found offset 69, expected 70 (the oldest message) to 100 (" in seek("1=69", status=2).stderr
        done = seek("1=80", "--json")
        assert json.loads(done.stdout) == {"partition": 1, "from": 50, "to": 80, "skipped": 30, "lost": 20,
                                           "repeated": 0}
        # with a job whose brokers do not answer, and without a job, seek still checks the state's own data
        dead = rig.folder / "dead.yaml"
        dead.write_text(rig.job.read_text().replace(kafka.brokers, f"127.0.0.1:{free_ports(1)[0]}")
                        .replace("start: earliest", "patience: 1s"))
        rig.job.rename(rig.folder / "moved.yaml")
        for more, why in (["--job", dead], "no broker answered"), ([], "job.yaml"):
            done = seek("1=1000", *more)
            assert "loads did not check the offsets at the brokers" in done.stderr and why in done.stderr
            assert "skips" in done.stdout or "stays" in done.stdout
            assert "`--job JOB` queries" in seek("2=0", *more, status=2).stderr
        assert "found offset 101, expected 70 (the oldest message) to 100 (" in seek("1=101", "--job", rig.folder / "moved.yaml", status=2).stderr

    def test_made_anew(self, rig, kafka):
        self.prepare(rig, kafka)
        kafka.remove(rig.topic)
        done, _ = rig.load(status=1)
        assert "has no topic" in done.stderr
        done, _ = rig.load(status=2, state=False)  # the data does not show that one ever existed
        assert "has no topic" in done.stderr
        kafka.create(rig.topic, 2)
        kafka.produce(rig.topic, [(0, None, value(1))])
        done, _ = rig.load(status=1)
        assert "deleted and recreated" in done.stderr and "0=0" in done.stderr
        rig.run("seek", "--state", rig.state, "0=0", "1=0")
        _, out = rig.load()
        assert rig.cells(out) == rig.expected()

    def test_partitions_added(self, rig, kafka):
        """A stream loads new partitions from their beginning, for any value of `start`."""
        self.prepare(rig, kafka)
        kafka.grow(rig.topic, 4)
        kafka.produce(rig.topic, [(3, None, value(3))])
        rig.configure("start: latest")
        rig.run("plan", rig.job, "--state", rig.state)
        assert json.loads((rig.state / "topic.json").read_text())["partitions"] == 2
        # the state has the positions before the first read
        done, _ = rig.load(env={"SALTMILL_CRASH_AT": "position"}, status=-9)
        assert "had 2 partitions, now it has 4; saltmill loads the new ones from their beginning" in done.stderr
        assert not (rig.state / "intent.json").exists()
        kafka.produce(rig.topic, [(2, None, value(2))])
        done, out = rig.load()
        assert "the new ones" not in done.stderr
        assert set(rig.cells(out)) == {(2, 0), (3, 0)}
        rig.check()
        assert json.loads((rig.state / "topic.json").read_text())["partitions"] == 4

    def test_partitions_added_to_a_stream(self, rig, kafka):
        self.prepare(rig, kafka, more="roll: {time: 1s}")
        process = rig.stream()
        kafka.grow(rig.topic, 3)
        kafka.produce(rig.topic, [(i % 3, None, value(i)) for i in range(30)])
        rig.wait_for(process, 130)
        _, err = rig.end(process)
        assert err.count("had 2 partitions, now it has 3") == 1
        rig.check()

    def test_partition_added_to_a_list(self, rig, kafka):
        """A partition may belong to another state, so saltmill does not add it."""
        self.prepare(rig, kafka, more="partitions: [0]")
        rig.configure("partitions: [0, 1]")
        done, _ = rig.load(status=1)
        assert "partition 1 " in done.stderr and "1=0`" in done.stderr

    def test_group_ahead(self, rig, kafka):
        self.prepare(rig, kafka, more="group: ahead")
        rig.state = rig.folder / "lost"
        done, _ = rig.load(status=1)
        assert "group ahead has committed offset 50 by saltmill, process " in done.stderr
        assert ", this state is at 0: another instance" in done.stderr
        rig.run("seek", "--state", rig.state, "0=50", "1=50")
        _, out = rig.load()
        assert rig.cells(out) == {}

    def test_seek_with_a_group(self, rig, kafka):
        """A seek backwards is deliberate, so the group's earlier offset does not indicate another instance."""
        self.prepare(rig, kafka, more="group: again")
        rig.run("seek", "--state", rig.state, "0=30")
        rig.run("seek", "--state", rig.state, "0=10")
        done, _ = rig.load("--until", "0=20")
        assert "offset 50, where this state was before `saltmill seek`" in done.stderr
        assert kafka.committed("again", rig.topic) == {0: 20, 1: 50}
        done, out = rig.load()
        assert "before `saltmill seek`" not in done.stderr
        assert set(rig.cells(out)) == {(0, o) for o in range(20, 50)}
        # another program set an offset that differs from the earlier one
        rig.run("seek", "--state", rig.state, "1=5")
        kafka.call("commit", "again", rig.topic, 1, 49)
        done, _ = rig.load(status=1)
        assert "another instance" in done.stderr

    def test_seek_after_lost_data(self, rig, kafka):
        """The next load accepts the command that the error proposes."""
        self.prepare(rig, kafka, partitions=1, more="group: shorter")
        kafka.remove(rig.topic)
        kafka.create(rig.topic, 1)
        kafka.produce(rig.topic, [(0, None, value(i)) for i in range(20)])
        kafka.call("commit", "shorter", rig.topic, 0, 100)  # Kafka may keep a group's offsets
        done, _ = rig.load(status=1)
        [hint] = re.findall(r"existing messages, run `saltmill (seek --state \S+ 0=0)`", done.stderr)
        rig.run(*hint.split())
        _, out = rig.load()
        assert len(rig.cells(out)) == 20

    def test_other_topic(self, rig, kafka):
        self.prepare(rig, kafka)
        kafka.create(rig.topic + "2", 2)
        rig.configure("start: earliest", rig.topic + "2")
        done, _ = rig.load(status=2)
        assert f"is the state of topic {rig.topic}" in done.stderr


def test_poison(rig, kafka):
    """An invalid message goes to the rejects, with all data necessary to load the message later."""
    kafka.create(rig.topic, 2)
    kafka.produce(rig.topic, [(0, None, value(1)), (1, b"k\xff", b'{"v": oops}', 1476640644123),
                              (0, b"", b"\xff\xfe"), (0, None, value(2))])
    done, out = rig.load(status=1)
    # from whichever partition comes first
    assert re.search(f"{rig.topic}/(0 at offset 1|1 at offset 0): bad_json", done.stderr)
    assert not out.exists() and rig.loads() == []
    _, out = rig.load("--max-rejects", "2", status=3)
    lines = [json.loads(l) for l in (out / "rejects.jsonl").read_text().splitlines()]
    assert lines[0] == {"reason": "bad_json", "field": None, "topic": rig.topic, "partition": 0,
                        "offset": 1, "timestamp": 1476640644000, "key": "", "raw_base64": "//4=",
                        "detail": "byte 0: found \\xFF, expected a value"}
    assert lines[1]["key_base64"] == "a/8=" and lines[1]["raw"] == '{"v": oops}'
    assert lines[1]["offset"] == 0 and lines[1]["timestamp"] == 1476640644123
    assert sorted(v for v, _ in rig.cells(out).values()) == ["x1", "x2"]
    rig.run("verify", out)


def test_replay(rig, kafka):
    """Rejects, repaired in place or in a copy, become a load with their own offsets and times."""
    kafka.create(rig.topic, 2)
    kafka.produce(rig.topic, [(1, b"k", b'{"v": oops}', START + 123), (0, None, value(1)),
                              (0, b"k", b"\xff", START + 5)])
    _, out = rig.load("--max-rejects", "9", status=3)
    done = rig.run("replay", out, "--rejects", "-o", rig.folder / "same", status=1)
    assert f"{rig.topic}/0 at offset 1: bad_json" in done.stderr
    lines = [json.loads(l) for l in (out / "rejects.jsonl").read_text().splitlines()]
    assert lines[0].pop("raw_base64") == "/w=="
    lines[0]["raw"], lines[1]["raw"] = '{"v":"x7"}', '{"v":"x8"}'
    repaired = rig.folder / "repaired.jsonl"
    repaired.write_text("".join(json.dumps(l) + "\n" for l in lines))
    again = rig.folder / "again"
    rig.run("replay", out, f"--rejects={repaired}", "-o", again)
    assert rig.cells(again) == {(0, 1): ("x7", START + 5), (1, 0): ("x8", START + 123)}
    rig.run("verify", again)
    for line, found in (('{"raw": "1"}', " is not a rejected message: topic is missing"),
                        ('{"raw": "1", "topic": "x", "partition": 0, "offset": 1}', ": expected a message of the job's topic"),
                        ('{"raw": 1, "topic": "x", "partition": 0, "offset": 1}', "raw: expected a text, or base64"),
                        ("no", ": found no JSON")):
        repaired.write_text(json.dumps(lines[0]) + "\n" + line + "\n")
        done = rig.run("replay", out, f"--rejects={repaired}", "-o", rig.folder / "bad", status=1)
        assert f"{repaired}:2" in done.stderr and found in done.stderr


def test_secrets_stay_secret(rig, kafka):
    """A password from the environment or a file is in no message and no file."""
    kafka.create(rig.topic, 1)
    (rig.folder / "secret").write_text("hush-file\n")
    rig.configure("patience: 3s\n    properties: {sasl.username: {file: secret}, sasl.password: {env: HUSH}, "
                  "security.protocol: SASL_PLAINTEXT, sasl.mechanism: PLAIN}")
    done, _ = rig.load(status=1, env={"HUSH": "hush-env"})
    texts = [done.stdout, done.stderr] + [p.read_text() for p in rig.state.rglob("*") if p.is_file()]
    assert "hush" not in "".join(texts)


def test_two_instances(saltmill, kafka, tmp_path, topic):
    """Instances share a topic by partition lists. Each instance has its own state, and together the instances load all
    messages."""
    kafka.create(topic, 4)
    rigs = [Rig(saltmill, kafka, tmp_path / str(i), topic, f"partitions: {p}\n    roll: {{time: 1s}}")
            for i, p in enumerate(("[0, 3]", "[1, 2]"))]
    processes = [r.stream() for r in rigs]
    for n in range(0, 2000, 500):
        kafka.produce(topic, [(i % 4, None, value(n + i)) for i in range(500)])
        time.sleep(0.3)
    for r, p in zip(rigs, processes):
        r.wait_for(p, 1000)
        r.end(p)
    folders = [pathlib.Path(l["output"]) for r in rigs for l in r.loads()]
    assert rigs[0].union(folders) == rigs[0].expected()
