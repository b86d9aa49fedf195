"""Tests that each manifest names the manifest before it, so saltmill detects a changed or exchanged load."""

import json
import pathlib
import shutil

import pytest

from rig import STEPS, tree, value
from xxh3 import xxh3_128


def manifest(folder):
    return json.loads((folder / "manifest.json").read_text())


def digest(folder):
    return xxh3_128((folder / "manifest.json").read_bytes())


@pytest.fixture
def loads(rig, kafka):
    """There are four loads, with positions set by hand between the second and the third load."""
    kafka.create(rig.topic, 2)
    outs = []
    for n in range(4):
        kafka.produce(rig.topic, [(i % 2, None, value(n * 100 + i)) for i in range(20)])
        if n == 2:
            rig.run("seek", "--state", rig.state, "0=20")
        outs.append(rig.load()[1])
    return outs


def test_names_the_one_before(rig, loads):
    names = [l["load"] for l in rig.loads()]
    assert "previous" not in manifest(loads[0])
    for before, name, after in zip(loads, names, loads[1:]):
        assert manifest(after)["previous"] == {"load": name, "digest": digest(before)}
    rig.run("verify", loads[2])
    # a load without a folder after its apply is not an error
    rig.run("loads", "--state", rig.state, "--loaded", names[1])
    shutil.move(loads[1], rig.folder / "elsewhere")
    assert "BROKEN" not in rig.run("loads", "--state", rig.state).stdout


def test_gone(rig, loads):
    """A published load that somebody deleted without a mark is not waiting."""
    names = [l["load"] for l in rig.loads()]
    shutil.rmtree(loads[1])
    (loads[2] / "manifest.json").unlink()
    done = rig.run("loads", "--state", rig.state, status=1)
    words = {l.split()[0]: l.split()[2] for l in done.stdout.splitlines() if not l.startswith(" ")}
    assert [words[n] for n in names] == ["waiting", "gone", "gone", "waiting"]
    assert done.stdout.count("BROKEN: ") == 2 and f"{loads[1]} does not exist" in done.stdout
    listed = rig.loads_of(status=1)
    assert [l.get("gone", False) for l in listed] == [False, True, True, False]
    for n in names[1:3]:
        rig.run("loads", "--state", rig.state, "--loaded", n)
    assert [l["loaded"] for l in rig.loads()] == [False, True, True, False]


def test_without_a_group(rig, kafka):
    """A copied state looks like the first state. Without a group, each run reports this once."""
    warning = "or one restored from a backup, loads events twice"
    kafka.create(rig.topic, 1)
    kafka.produce(rig.topic, [(0, None, value(i)) for i in range(30)])
    assert rig.load(state=False)[0].stderr.count(warning) == 0
    assert rig.load()[0].stderr.count(warning) == 1
    assert rig.load("--quiet")[0].stderr == ""
    rig.configure("start: earliest\n    roll: {rows: 10}")
    rig.state = rig.folder / "streamed"
    process = rig.stream()
    for _ in range(3):
        process.stdout.readline()
    assert rig.end(process)[1].count(warning) == 1
    rig.configure(f"start: earliest\n    group: {rig.topic}")
    rig.state = rig.folder / "grouped"
    assert rig.load()[0].stderr.count(warning) == 0


def broken(rig, status=1):
    """Returns the broken loads of the list, with the reason."""
    lines = rig.run("loads", "--state", rig.state, status=status).stdout.splitlines()
    text = {a.split()[0]: b for a, b in zip(lines, lines[1:]) if "BROKEN" in b}
    done = rig.run("loads", "--state", rig.state, "--json", status=status)
    listed = {l["load"]: l["problem"] for l in map(json.loads, done.stdout.splitlines()) if "problem" in l}
    assert {k: v.strip() for k, v in text.items()} == {k: f"BROKEN: {v}" for k, v in listed.items()}
    return listed


def test_changed(rig, loads):
    assert broken(rig, status=0) == {}
    path = loads[1] / "manifest.json"
    path.write_text(path.read_text().replace('"rejected": 0', '"rejected": 1', 1))
    name = [l["load"] for l in rig.loads_of(status=1)][1]
    assert list(broken(rig)) == [name] and "another digest" in broken(rig)[name]


def test_exchanged(rig, loads):
    shutil.rmtree(loads[2])
    shutil.copytree(loads[3], loads[2])
    assert "another digest" in broken(rig)[rig.loads_of(status=1)[2]["load"]]


def test_old_copy_of_the_state(rig, kafka, loads):
    """A user restores a state folder from a backup, which makes its fourth load again. Only one of the two loads
    fits."""
    copy = rig.folder / "copy"
    shutil.copytree(rig.state, copy)
    third = sorted((copy / "loads").glob("*.json"))[-2]
    record = json.loads(third.read_text())
    record["manifest"] = "0" * 32  # of another load
    del record["digest"]  # as in records of versions without digests
    third.write_text(json.dumps(record))
    rig.state = copy
    found = broken(rig)
    assert [v for v in found.values() if "does not follow load" in v] and len(found) == 2


class TestRebuild:
    """A damaged state is rebuilt from the loads that it published."""

    def status(self, rig):
        return json.loads(rig.run("status", "--state", rig.state, "--json").stdout)

    def rebuild(self, rig, *folders, status=0):
        return rig.run("loads", "--state", rig.state, "--rebuild", *folders, status=status)

    def listed(self, rig):
        return [{k: v for k, v in l.items() if k != "published_ms"} for l in rig.loads()]

    def test_records(self, rig, kafka, loads):
        """The test damages, deletes or exchanges records, and the topic's record. saltmill restores all of them, and the next load continues."""
        before, listed = self.status(rig), self.listed(rig)
        records = rig.state / "loads"
        for damaged, was, now in ((records / "00000003.json", '"end": 20', '"end": 21'),
                                  (rig.state / "topic.json", '"partitions": 2', '"partitions": 3')):
            assert was in damaged.read_text()
            damaged.write_text(damaged.read_text().replace(was, now, 1))
        (records / "00000005.json").unlink()
        shutil.copy(records / "00000006.json", records / "00000002.json")
        done = rig.run("loads", "--state", rig.state, status=1)
        assert "has damage" in done.stderr or "begins partition" in done.stderr
        done = self.rebuild(rig, rig.folder)
        for n, out in zip((2, 3, 5), (loads[0], loads[1], loads[2])):
            assert f"saltmill recorded load 0000000{n} from {out}\n" in done.stdout
        assert (records / "00000003.json.damaged").exists() and (rig.state / "topic.json.damaged").exists()
        after = self.status(rig)
        for s in (before, after):
            del s["last"]["published_ms"]
        assert after == before and self.listed(rig) == listed
        assert self.rebuild(rig, rig.folder).stdout == ""
        kafka.produce(rig.topic, [(i % 2, None, value(400 + i)) for i in range(20)])
        rig.load()
        rig.check()

    def test_load_that_is_gone(self, rig, loads):
        """The mark of an applied load contains all its facts. Without the mark, the next load shows that the load
        existed, and its ranges."""
        shutil.move(loads[2], rig.folder.parent / "away")
        rig.run("loads", "--state", rig.state, "--loaded", "00000005")
        before = self.status(rig)["positions"]
        record, mark = (rig.state / folder / "00000005" for folder in ("loads", "handed"))
        record = record.with_suffix(".json")
        whole = record.read_text()
        record.unlink()
        assert f"saltmill recorded load 00000005 from its mark, {mark}" in self.rebuild(rig, rig.folder).stdout
        assert record.read_text() == whole and self.status(rig)["positions"] == before
        record.unlink()
        mark.write_text("")  # as earlier versions wrote it
        done = self.rebuild(rig, rig.folder)
        assert "found no load 00000005; load 00000006 names it" in done.stdout
        assert self.status(rig)["positions"] == before
        load = rig.loads()[2]
        assert load["loaded"] and load["gone"] and load["offsets"] == [
            {"partition": p, "start": 20, "end": 30, "events": 0} for p in (0, 1)]

    def test_the_newest(self, rig, loads):
        """Only the lock names the load's folder, so --rebuild changes nothing unless the user names the folder."""
        newest = rig.state / "loads" / "00000006.json"
        newest.write_text("{}")
        files = tree(rig.state)
        del files["lock"]
        for folders in ([], loads[:3]):
            done = self.rebuild(rig, *folders, status=1)
            assert "had 6 records, but the newest one found is 5" in done.stderr and done.stdout == ""
            now = tree(rig.state)
            del now["lock"]
            assert now == files
        assert "saltmill recorded load 00000006 from" in self.rebuild(rig, loads[3]).stdout
        assert len(rig.loads()) == 4
        self.rebuild(rig, rig.folder.parent / "mistyped", status=1)

    def test_of_a_stream(self, rig, kafka):
        """All records are missing, but the loads are in the state folder."""
        rig.configure("start: latest\n    roll: {rows: 100}")
        kafka.create(rig.topic, 2)
        kafka.produce(rig.topic, [(i % 2, None, value(i)) for i in range(30)])
        rig.load()
        rig.configure("start: latest\n    roll: {rows: 100}")
        kafka.produce(rig.topic, [(i % 2, None, value(i)) for i in range(300)])
        process = rig.stream()
        for _ in range(3):
            process.stdout.readline()
        rig.end(process)
        (rig.folder / "out1").rename(rig.state / "published" / "first")
        before = self.status(rig)["positions"]
        shutil.rmtree(rig.state / "loads")
        (rig.state / "topic.json").unlink()
        (rig.state / "status.json").unlink()
        done = self.rebuild(rig)
        assert done.stdout.count("saltmill recorded load") == 4
        assert self.status(rig)["positions"] == before
        assert [l["read"] for l in rig.loads()] == [0, 100, 100, 100]


def test_beside_each_other(rig, kafka):
    """A stream's loads are in one folder, and verify checks them in this folder, too."""
    rig.configure("start: earliest\n    roll: {rows: 100}")
    kafka.create(rig.topic, 1)
    kafka.produce(rig.topic, [(0, None, value(i)) for i in range(200)])
    process = rig.stream()
    for _ in range(2):
        process.stdout.readline()
    rig.end(process)
    first, second = (pathlib.Path(l["output"]) for l in rig.loads())
    assert "in the same folder" in rig.run("verify", second).stdout
    (first / "manifest.json").write_text((first / "manifest.json").read_text() + "\n")
    done = rig.run("verify", second, status=1)
    assert "with other bytes than the load of that name" in done.stdout


@pytest.mark.parametrize("step", STEPS[STEPS.index("load-read"):-1])
def test_the_same_after_a_crash(rig, kafka, step):
    """The same ranges after the same loads give the same bytes, including the link between them."""
    kafka.create(rig.topic, 2)
    trees = []
    for n in range(2):
        kafka.produce(rig.topic, [(i % 2, None, value(n * 100 + i)) for i in range(200)])
        for state in ("plain", "killed"):
            rig.state = rig.folder / state
            if n and state == "killed":
                rig.load(env={"SALTMILL_CRASH_AT": step}, status=-9)
            rig.load()
            published = pathlib.Path(rig.loads()[n]["output"])
            trees.append(tree(published))
    assert trees[0] == trees[1] and trees[2] == trees[3]
    assert manifest(published)["previous"]["load"] == rig.loads()[0]["load"]
