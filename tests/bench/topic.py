"""Compares saltmill's load of a topic of 100-byte JSON events with kcat, which only discards the events."""

import pathlib
import subprocess
import sys
import tempfile

import rig

sys.path[:0] = [str(rig.HERE.parent / "kafka"), str(rig.HERE.parent / "hbase")]

from broker import Broker  # noqa: E402  (needs the path above)

PARTITIONS = 6
EVENT = b'{"user":%7d,"page":"/products/%06d","ms":%d,"agent":"Chrome","ok":true,"n":%7d}\n'
JOB = """\
source:
  kafka: {{brokers: "{brokers}", topic: events, format: json, start: earliest}}
fields:
  user: {{type: u32}}
  ms:   {{type: time, unit: ms}}
  n:    {{type: u32}}
tables:
  - name: events
    rowkey: [{{salt: 16, of: [user]}}, {{field: user, as: u32}}, {{field: ms, as: reversed_millis}}, {{field: n, as: u32}}]
    timestamp: ms
    families: {{f: {{compression: NONE}}}}
    cells: [{{family: f, qualifier: p, value: page}}]
    regions: {{split: sampled, count: 16}}
"""


def fill(kafka, n):
    kafka.create("events", PARTITIONS)
    p = subprocess.Popen(["kcat", "-P", "-b", kafka.brokers, "-t", "events", "-p", "-1", "-X", "partitioner=random"],
                         stdin=subprocess.PIPE)
    for at in range(0, n, 1000):
        p.stdin.write(b"".join(EVENT % (i * 7919 % 1_000_003, i % 999_983, 1_476_640_000_000 + i, i)
                               for i in range(at, min(at + 1000, n))))
    p.stdin.close()
    if p.wait() != 0:
        raise rig.Failure("kcat could not fill the topic")


def part(bench):
    n = 1_000_000 if bench.quick else 3_000_000
    with tempfile.TemporaryDirectory(dir=bench.folder) as folder, Broker(pathlib.Path(folder) / "broker") as kafka:
        fill(kafka, n)
        job = pathlib.Path(folder) / "job.yaml"
        job.write_text(JOB.format(brokers=kafka.brokers))
        ours, theirs = [], []
        for _ in range(bench.rounds):
            theirs.append(rig.run(["sh", "-c", 'kcat -C -e -q -b "$0" -t events -o beginning >/dev/null', kafka.brokers]))
            ours.append(bench.mill.load(job, []))
            if ours[-1].rows != n:
                raise rig.Failure(f"loaded {ours[-1].rows} rows of {n}")
        bench.mill.clear()
    share = rig.ratios([r.wall for r in theirs], [r.wall for r in ours])
    rig.table(f"(f) a topic, {rig.count(n)} events of {len(EVENT % (0, 0, 1_476_640_000_000, 0)) - 1} bytes",
              ["program", "wall s", "cpu s", "events/s"],
              [[name, rig.spread(r.wall for r in runs), rig.spread(r.cpu for r in runs),
                rig.count(n / rig.middle(r.wall for r in runs))] for name, runs in (("kcat -e", theirs), ("saltmill", ours))])
    bench.checks.at_least("share of kcat's rate, 100-byte events", rig.middle(share), 0.4)
    bench.checks.at_least("events/s from a topic", n / rig.middle(r.wall for r in ours), 500_000)
    return {"events": n, "kcat": [r.numbers() for r in theirs], "saltmill": [r.numbers() for r in ours],
            "share": rig.summary(share)}
