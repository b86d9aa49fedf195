"""Tests several topics, or all topics of a pattern, as one source. saltmill never confuses equal partition numbers."""

import json
import pathlib
import random
import re
import signal
import time
import urllib.request

import pytest

from cluster import HANG_SECONDS, free_ports, hear, wait_until
from rig import tree, value
from topics_rig import Topics

def fill(kafka, name, partitions, n, first=0, **how):
    kafka.produce(name, [(i % partitions, None, value(first + i)) for i in range(n)], **how)


def test_several(saltmill, kafka, tmp_path, topic):
    """Runs load and plan. Rejects and manifest name the topic. One thread and three threads give the same bytes."""
    a, b = f"{topic}.a", f"{topic}.b"
    rig = Topics(saltmill, kafka, tmp_path / "rig", [b, a], (2, 3), more="group: several")
    fill(kafka, a, 3, 3000)
    fill(kafka, b, 2, 2000, first=5000, codec="lz4")
    kafka.produce(a, [(1, b"k", b"oops")])
    kafka.produce(b, [(1, b"k", b"oops")])
    table = json.loads(rig.run("plan", rig.job, "--json", "--quiet", status=3).stdout)["tables"][0]
    assert table["rows"] == 5000
    done, out = rig.load("--max-rejects", 2, status=3)
    assert "5 partitions of 2 topics" in done.stdout
    assert set(rig.cells(out)) == {at for at, (_, v, _) in (
        ((name, *at), r) for name in rig.names for at, r in kafka.records(name).items()) if v != b"oops"}
    rejects = [json.loads(l) for l in (out / "rejects.jsonl").read_text().splitlines()]
    assert [(r["topic"], r["partition"], r["offset"]) for r in rejects] == [(b, 1, 1000), (a, 1, 1000)]
    manifest = json.loads((out / "manifest.json").read_text())
    assert "topic" not in manifest and [(o["topic"], o["partition"], o["start"], o["end"]) for o in manifest["offsets"]] == \
        [(b, 0, 0, 1000), (b, 1, 0, 1001), (a, 0, 0, 1000), (a, 1, 0, 1001), (a, 2, 0, 1000)]
    assert rig.positions() == rig.ends()
    assert kafka.committed("several", a) == {0: 1000, 1: 1001, 2: 1000}
    assert kafka.committed("several", b) == {0: 1000, 1: 1001}
    rig.run("verify", out)
    for threads in (1, 3):
        _, again = rig.load("--max-rejects", 2, "--threads", threads, status=3, state=False)
        assert {n: d for n, d in tree(again).items() if n != "manifest.json"} == \
            {n: d for n, d in tree(out).items() if n != "manifest.json"}
    # the rejected messages, repaired
    lines = (out / "rejects.jsonl").read_text().replace('"oops"', r'"{\"v\":\"mended\"}"')
    (rig.folder / "mended").write_text(lines)
    rig.run("replay", out, f"--rejects={rig.folder}/mended", "-o", rig.folder / "replayed")
    assert {at: v for at, (v, _) in rig.cells(rig.folder / "replayed").items()} == {(b, 1, 1000): "mended", (a, 1, 1000): "mended"}
    fill(kafka, a, 3, 30)
    _, more = rig.load()
    assert {at[0] for at in rig.cells(more)} == {a} and len(rig.cells(more)) == 30


def test_order(saltmill, kafka, tmp_path, topic):
    """If one key is in both topics, the later topic wins, in the job's order, or by name for a pattern."""
    a, b = f"{topic}.a", f"{topic}.b"
    rig = Topics(saltmill, kafka, tmp_path / "rig", [a, b], (1, 1))
    for name in (b, a):
        kafka.produce(name, [(0, None, b'{"v":"%s"}' % name[-1].encode())])
    for key, last in ((f"topics: [{a}, {b}]", "b"), (f"topics: [{b}, {a}]", "a"),
                      (f"pattern: '{topic}[.].*'", "b"), (f"pattern: '^({b}|{a})$'", "b")):
        rig.set(key)
        rig.job.write_text(rig.job.read_text().replace("field: topic, as: text, terminator: '/'", "const: 'x/'"))
        _, out = rig.load(state=False)
        assert rig.cells(out) == {("x", 0, 0): (last, 1476640644000)}


def test_missing(saltmill, kafka, tmp_path, topic):
    """A listed topic does not exist, or a pattern has no match. Names must match completely."""
    kafka.create(f"{topic}.a", 1)
    rig = Topics(saltmill, kafka, tmp_path / "rig", [f"{topic}.a", f"{topic}.none"])
    done, out = rig.load(status=2)
    assert f"has no topic {topic}.none" in done.stderr and not out.exists()
    rig.set(f"pattern: '{topic[:-1]}'")
    done, out = rig.load(status=2)
    assert "expected a name that matches" in done.stderr and not out.exists()


@pytest.mark.parametrize("step", ["load-read", "publishing", "published"])
def test_from_one_to_several(saltmill, kafka, tmp_path, topic, step):
    """The state of `topic: a` continues with `topics: [a, b]`, but not in the other direction or with other topics."""
    a, b = f"{topic}.a", f"{topic}.b"
    more = f"group: {topic}"
    rig = Topics(saltmill, kafka, tmp_path / "rig", [a, b], (2, 1), key=f"topic: {a}", more=more)
    fill(kafka, a, 2, 100)
    fill(kafka, b, 1, 70)
    rig.load()
    assert rig.positions() == {(None, 0): 50, (None, 1): 50}
    assert '"topics"' not in (rig.state / "topic.json").read_text()
    assert '"topic"' not in (rig.state / "loads/00000001.json").read_text()
    fill(kafka, a, 2, 10)
    # the run first finishes a killed load of the single topic
    rig.load(env={"SALTMILL_CRASH_AT": step}, status=-9)
    fill(kafka, a, 2, 6)
    rig.set(more=more)
    done, out = rig.load()
    assert f"found new topic {b} with 1 partition" in done.stderr
    assert len(rig.cells(out)) == 76
    assert rig.positions() == rig.ends()
    rig.check()
    if step != "load-read":
        return
    rig.set(f"topics: [{b}, {a}]")
    assert rig.load()[1] and rig.positions() == rig.ends()
    rig.set(f"topics: [{topic}.c]")
    kafka.create(f"{topic}.c", 1)
    done, _ = rig.load(status=2)
    assert f"is the state of the topics {a}, {b}" in done.stderr
    rig.set(f"topics: [{topic}.c, {b}]")
    done, _ = rig.load()
    assert f"topic {a} is no longer among the job's topics" in done.stderr
    fill(kafka, a, 2, 4)
    rig.set()
    done, out = rig.load()
    assert len(rig.cells(out)) == 4 and f"topic {topic}.c is no longer among" in done.stderr
    rig.check()
    named = Topics(saltmill, kafka, tmp_path / "named", [a, b])
    named.load()
    named.set(f"topic: {a}")
    done, _ = named.load(status=2)
    assert "expected the `topics:` or `pattern:`" in done.stderr


def test_state_of_several(saltmill, kafka, tmp_path, topic):
    """seek, status, loads and --rebuild distinguish partition 0 of one topic from partition 0 of another."""
    a, b = f"{topic}.a", f"{topic}.b"
    rig = Topics(saltmill, kafka, tmp_path / "rig", [a, b], (2, 2))
    for n in range(3):
        fill(kafka, a, 2, 20)
        fill(kafka, b, 2, 40)
        rig.load()
    text = rig.run("status", "--state", rig.state).stdout
    assert f"topics {a}, {b} of cluster" in text and f"partition {b}/1: next offset 60" in text
    assert f" {b}/0:40-60 {b}/1:40-60" in rig.run("loads", "--state", rig.state).stdout
    for words, said in ((("0=5",), f"like {a}/0=5"), ((f"{a}/0=99",), "found offset 99, expected "), ((f"{a}/2=0",), "found partition 2, expected "),
                        ((f"{topic}.c/0=0",), "expected one"), ((f"{a}/0=1", f"{a}/0=2"), "twice"), (("/0=1",), "TOPIC/PARTITION=OFFSET")):
        assert said in rig.run("seek", "--state", rig.state, *words, status=2).stderr
    said = rig.run("seek", "--state", rig.state, f"{b}/0=45", f"{a}/1=30").stdout.splitlines()
    assert said == [f"partition {a}/1: stays at 30", f"partition {b}/0: from 60 to 45: repeats 15 offsets, which load 00000004 has"]
    assert rig.positions() == {(a, 0): 30, (a, 1): 30, (b, 0): 45, (b, 1): 60}
    _, out = rig.load()
    assert set(rig.cells(out)) == {(b, 0, o) for o in range(45, 60)}
    # the state loses all records except the lock, and --rebuild restores it from its loads
    before = rig.positions(), rig.loads()
    for f in [rig.state / "topic.json", *(rig.state / "loads").glob("*.json")]:
        f.write_text("{")
    rig.run("loads", "--state", rig.state, "--rebuild", rig.folder)
    assert rig.positions() == before[0]
    assert [l["offsets"] for l in rig.loads()] == [l["offsets"] for l in before[1]]
    fill(kafka, a, 2, 2)
    _, out = rig.load()
    assert set(rig.cells(out)) == {(a, 0, 30), (a, 1, 30)}


def test_partitions_of_each_topic(saltmill, kafka, tmp_path, topic):
    """Two processes, each with a partition list and a state, divide topics of different sizes. saltmill refuses a missing partition number."""
    a, b = f"{topic}.a", f"{topic}.b"
    for name, size in ((a, 3), (b, 1)):
        kafka.create(name, size)
        fill(kafka, name, size, 30)
    parts = {"even": "[0, 2]", "odd": "[1]"}
    rigs = {name: Topics(saltmill, kafka, tmp_path / name, [a, b], more=f"start: earliest\n    group: {topic}\n    partitions: {numbers}")
            for name, numbers in parts.items()}
    for _ in range(2):
        got = [set(rig.cells(rig.load()[1])) for rig in rigs.values()]
        assert got[0].isdisjoint(got[1]) and {at[:2] for at in got[0]} == {(a, 0), (a, 2), (b, 0)} and {at[:2] for at in got[1]} == {(a, 1)}
        for name, size in ((a, 3), (b, 1)):
            fill(kafka, name, size, 30)
    assert rigs["even"].positions() == {(a, 0): 20, (a, 2): 20, (b, 0): 60}
    assert rigs["odd"].positions() == {(a, 1): 20}
    rig = rigs["even"]
    rig.set(more="partitions: [0, 3]")
    done, out = rig.load(status=2)
    assert f"topic {a}, {b} has partitions 0 to 2, found 3 in `partitions`" in done.stderr and not out.exists()
    rig.set(more="partitions: [0, 1, 2]")
    done, _ = rig.load(status=1)
    assert f"partition 1 of topic {a} has no position" in done.stderr and f"{a}/1=0" in done.stderr
    # of a pattern, too
    rig = Topics(saltmill, kafka, tmp_path / "like", [a, b], key=f"pattern: '{topic}[.].'", more="start: earliest\n    partitions: [2]")
    assert {at[:2] for at in rig.cells(rig.load()[1])} == {(a, 2)}


def test_check_looks_at_topics(saltmill, kafka, tmp_path, topic):
    """check shows the same first messages of each partition each time, without state and group. Rejects name their
    place."""
    a, b = f"{topic}.a", f"{topic}.b"
    rig = Topics(saltmill, kafka, tmp_path / "rig", [a, b], (2, 1), more=f"start: latest\n    group: {topic}")
    fill(kafka, a, 2, 40)
    kafka.produce(b, [(0, None, b"poison"), (0, None, value(7))])
    before = tree(rig.folder)
    looks = [json.loads(rig.run("check", rig.job, "--json", "--rows", rows, "--show", 9, status=3).stdout)
             for rows in ("1000", "9", "9")]
    assert [(l["rows"], l["rejected"], l["whole"]) for l in looks] == [(42, 1, True), (8, 1, False), (8, 1, False)]
    assert looks[1] == looks[2]
    got = [(r["file"], r["offset"]) for r in looks[1]["shown"]]
    assert got == [(f"{a}/0", 0), (f"{a}/0", 1), (f"{a}/0", 2), (f"{a}/1", 0), (f"{a}/1", 1), (f"{a}/1", 2), (f"{b}/0", 1)]
    text = rig.run("check", rig.job, "--rows", "9", status=3).stdout
    assert f"{b}/0 at offset 0: bad_json: " in text and f"\n{a}/0 at offset 0\n" in text
    assert tree(rig.folder) == before and not rig.state.exists()
    assert all(kafka.committed(topic, name) == {} for name in (a, b))
    # a load of these messages gives the same cells
    rig.set(more="start: earliest")
    _, out = rig.load("--max-rejects", "1", status=3)
    cells = rig.cells(out)
    shown = {(*r["file"].rsplit("/", 1), r["offset"]): r for r in looks[1]["shown"]}
    for (name, partition, offset), r in shown.items():
        [cell] = r["tables"][0]["cells"]
        assert (cell["value"], cell["timestamp"]) == cells[name, int(partition), offset]


@pytest.mark.parametrize("step", ["position", "intent", "load-read", "published", "recorded"])
def test_killed_at_step(saltmill, kafka, tmp_path, topic, step):
    rig = Topics(saltmill, kafka, tmp_path / "rig", [f"{topic}.a", f"{topic}.b"], (2, 3), more=f"group: {step}")
    for name, n in zip(rig.names, (2, 3)):
        fill(kafka, name, n, 300)
    rig.load(env={"SALTMILL_CRASH_AT": step}, status=-9)
    for name, n in zip(rig.names, (2, 3)):
        fill(kafka, name, n, 60)
    rig.load()
    rig.check()
    assert rig.positions() == rig.ends()


def test_pattern_of_a_stream(saltmill, kafka, tmp_path, topic):
    """The stream finds and reports a new topic. The stream reports a deleted topic, and the others continue. When this topic comes back, the stream recognizes it."""
    a, b, c = (f"{topic}.{x}" for x in "abc")
    rig = Topics(saltmill, kafka, tmp_path / "rig", [a, b, c], (2, 2), key=f"pattern: '^{topic}[.].*'",
                 more="roll: {time: 1s}")
    for name in (a, b):
        fill(kafka, name, 2, 100)
    [port] = free_ports(1)
    process = rig.stream("--metrics", f"127.0.0.1:{port}")
    rig.wait_for_ends(process, names=[a, b])
    kafka.create(c, 3)
    fill(kafka, c, 3, 90)
    rig.wait_for_ends(process)
    expected = rig.expected()
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        lags = re.findall(r'^saltmill_topic_lag_offsets\{job_file="job.yaml",topic="(.*)"\} (\d+)$', answer.read().decode(), re.M)
    assert [name for name, _ in lags] == [a, b, c]
    kafka.remove(b)
    fill(kafka, a, 2, 50, first=1000)
    rig.wait_for_ends(process, names=[a, c])
    said = hear(process, f"topic {b} no longer exists")
    rig.end(process)
    assert f"found new topic {c} with 3 partitions; saltmill loads it from its beginning" in said
    rig.names = [a, c]
    got = rig.union([pathlib.Path(l["output"]) for l in rig.loads()])
    assert got == {**expected, **rig.expected()}
    # the positions do not apply to the content of the new topic
    kafka.create(b, 2)
    fill(kafka, b, 2, 10)
    process = rig.stream()
    assert f"somebody deleted and recreated topic {b}: found the topic id" in rig.wait(process)


def test_deleted_while_it_is_read(saltmill, kafka, tmp_path, topic):
    """The test deletes a pattern's topic while a load reads it. The stream reports this and continues with the other
    topics."""
    a, b = f"{topic}.a", f"{topic}.b"
    rig = Topics(saltmill, kafka, tmp_path / "rig", [a, b], (1, 1), key=f"pattern: '^{topic}[.].*'",
                 more="roll: {time: 1s}\n    properties: {fetch.message.max.bytes: 1000}")
    fill(kafka, a, 1, 40)
    fill(kafka, b, 1, 40)
    rig.load()
    fill(kafka, a, 1, 40, first=40)
    for n in range(10):  # a fetch returns ten of them
        kafka.produce(b, [(0, None, b'{"v":"%01500d"}' % i) for i in range(1000)])
    [port] = free_ports(1)
    process = rig.stream("--metrics", f"127.0.0.1:{port}")

    def metric(name):
        try:
            page = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=HANG_SECONDS).read().decode()
        except OSError:
            return 0  # not yet
        return float(re.search(rf"^saltmill_{name}{{.*}} (\S+)$", page, re.M)[1])
    assert wait_until(lambda: metric("cut_events_read"), process, pause=0.01) < 10000
    process.send_signal(signal.SIGSTOP)  # otherwise it may have read all before a busy machine has deleted the topic
    kafka.remove(b)
    process.send_signal(signal.SIGCONT)
    rig.wait_for_ends(process, names=[a])
    assert metric("missing_topics") == 1
    _, said = rig.end(process)
    assert f"topic {b} no longer exists" in said and "saltmill drops the load that was reading it" in said
    assert rig.positions()[b, 0] == 40
    loads = rig.loads()
    assert [(o["topic"], o["end"]) for o in loads[-1]["offsets"]] == [(a, 80)]
    got = rig.union([pathlib.Path(l["output"]) for l in loads])
    assert {at for at in got if at[0] == a} == {(a, 0, n) for n in range(80)}
    assert {at for at in got if at[0] == b} == {(b, 0, n) for n in range(40)}


def test_stream_killed(saltmill, kafka, tmp_path, topic):
    """SIGKILL ends the stream at random moments while messages of two topics arrive."""
    chance = random.Random(14)
    rig = Topics(saltmill, kafka, tmp_path / "rig", [f"{topic}.a", f"{topic}.b"], (3, 2),
                 more="group: two_topics\n    roll: {rows: 700, time: 1s}")
    n = 0
    for _ in range(12):
        for name, partitions in zip(rig.names, (3, 2)):
            messages = [(chance.randrange(partitions), None, value(n + i)) for i in range(chance.randrange(900))]
            n += len(messages)
            kafka.produce(name, messages, chance.choice(["none", "lz4"]),
                          transaction="two" if chance.random() < 0.3 else "", commit=chance.random() < 0.6)
        process = rig.stream()
        time.sleep(chance.random() ** 2 * 1.2)
        process.kill()
        process.communicate()
    process = rig.stream()
    rig.wait_for_ends(process)
    rig.end(process)
    rig.check()
    for name in rig.names:
        assert kafka.committed("two_topics", name) == {p: e for p, (_, e) in enumerate(kafka.ends(name))}
    for l in rig.loads()[-2:]:
        rig.run("verify", l["output"])


def test_broker_stopped(saltmill, mortal, tmp_path):
    """A broker dies and comes back during a stream of two topics."""
    rig = Topics(saltmill, mortal, tmp_path / "rig", ["orders-a", "orders-b"], (2, 2), key="pattern: 'orders-.*'",
                 more="roll: {rows: 400, time: 1s}")
    for name in rig.names:
        fill(mortal, name, 2, 600)
    process = rig.stream()
    rig.wait_for_ends(process, names=["orders-a"])
    mortal.kill()
    time.sleep(1)
    mortal.start()
    for name in rig.names:
        fill(mortal, name, 2, 500, first=1000)
    rig.wait_for_ends(process)
    rig.end(process)
    rig.check()


def test_the_worked_job(saltmill, kafka, tmp_path):
    """Runs conf/orders.yaml on a real broker. The topic gives the country, and each number has a row in each
    country."""
    conf = (pathlib.Path(__file__).resolve().parent.parent.parent / "conf/orders.yaml").read_text()
    rig = Topics(saltmill, kafka, tmp_path / "rig", ["orders-fr", "orders-de", "orders-dead"], (1, 2, 1))
    rig.job.write_text(conf.replace("127.0.0.1:9092", kafka.brokers))
    for name, prefix in (("orders-de", "d"), ("orders-fr", "f"), ("orders-dead", "x")):
        kafka.produce(name, [(0, None, json.dumps({"id": i, "at": 1476640644000 + i, "total": f"{prefix}{i}"}).encode())
                             for i in range(40)])
    kafka.create("saltmill.dead", 1)
    kafka.produce("orders-fr", [(0, None, b"oops")])
    _, out = rig.load("--max-rejects", 1, status=3)
    assert [v for _, v, _ in kafka.records("saltmill.dead").values()] == [b"oops"]
    rows = [json.loads(l) for l in rig.run("scan", rig.job, out, "--format", "jsonl", "--decode").stdout.splitlines()]
    assert sorted((r["key"]["country"], r["key"]["id"], r["cells"]["o:t"]) for r in rows) == \
        [(c, i, f"{c[0]}{i}") for c in ("de", "fr") for i in range(40)]
    said = rig.run("get", rig.job, out, "country=fr", "id=7", "--decode", "--format", "jsonl").stdout
    assert json.loads(said)["cells"] == {"o:t": "f7"}
