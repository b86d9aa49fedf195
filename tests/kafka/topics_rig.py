"""The rig of a job on several topics, in which a place is (topic, partition)."""

import json
import pathlib
import re

from cluster import wait_until
from rig import Rig

JOB = """\
source:
  kafka:
    brokers: {brokers}
    {topics}
    format: json
    {more}
fields:
  topic: {{from: $topic}}
  ts: {{type: time, unit: ms, from: $timestamp}}
tables:
  - name: t
    rowkey: [{{field: topic, as: text, terminator: '/'}}, {{field: $partition, as: text, terminator: '-'}},
             {{field: $offset, as: text}}]
    timestamp: ts
    families: {{f: {{compression: NONE}}}}
    cells: [{{family: f, qualifier: v, value: v}}]
    regions: {{split: none}}
"""
CELL = re.compile(r"^ +(\S+)\\x2F(\d+)-(\d+) +f:v +(\d+) +\S+ +(\S*)$", re.M)


class Topics(Rig):
    """The rig of one topic, where a place is (topic, partition)."""

    def __init__(self, saltmill, kafka, folder, names, sizes=(), key=None, more="start: earliest"):
        self.names = list(names)
        super().__init__(saltmill, kafka, folder, names[0], more)
        for name, size in zip(names, sizes):
            kafka.create(name, size)
        self.set(key, more)

    def set(self, key=None, more="start: earliest"):
        self.job.write_text(JOB.format(brokers=self.kafka.brokers, more=more,
                                       topics=key or f"topics: [{', '.join(self.names)}]"))

    def cells(self, folder):
        files = [p for p in (folder / "t" / "hfiles").rglob("*") if p.is_file()]
        text = self.run("inspect", "--cells", *files).stdout if files else ""
        return {(t, int(p), int(o)): (v, int(ts)) for t, p, o, ts, v in CELL.findall(text)}

    def expected(self):
        return {(name, *at): (json.loads(v)["v"], ts) for name in self.names
                for at, (_, v, ts) in self.kafka.records(name).items() if v is not None}

    def check(self, folders=None):
        loads = self.loads()
        got = self.union(folders or [pathlib.Path(l["output"]) for l in loads])
        want = self.expected()
        assert set(got) == set(want), (sorted(set(want) - set(got))[:9], sorted(set(got) - set(want))[:9])
        assert got == want
        at = {}
        for l in loads:
            for r in l["offsets"]:
                place = r.get("topic"), r["partition"]
                assert at.get(place, r["start"]) == r["start"], l
                at[place] = r["end"]
        return got

    def positions(self):
        """Returns {(topic, partition): offset}, as `status` prints it."""
        status = json.loads(self.run("status", "--state", self.state, "--json").stdout)
        return {(p.get("topic"), p["partition"]): p["offset"] for p in status.get("positions", [])}

    def ends(self, names=None):
        return {(name, p): e for name in names or self.names for p, (_, e) in enumerate(self.kafka.ends(name))}

    def wait_for_ends(self, process, names=None):
        """Waits until the state has reached the ends of the topics."""
        target = self.ends(names)
        wait_until(lambda: target.items() <= self.at().items(), process)

    def at(self):
        return self.positions() if (self.state / "topic.json").exists() else {}
