"""Lags by partition and in seconds, the job's label, and figures of the process, compared with Kafka and /proc."""

import os
import re
import time
import urllib.request

from cluster import HANG_SECONDS, free_ports, wait_until
from rig import value

SERIES = re.compile(r"^(\w+)(?:{(.*)})? (\S+)$", re.M)


def series(port):
    """Returns {(name, {label: value} as a sorted tuple): figure}."""
    page = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=HANG_SECONDS).read().decode()
    return {(name, tuple(sorted(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels)))): float(figure)
            for name, labels, figure in SERIES.findall(page)}


def start(rig, *more):
    [port] = free_ports(1)
    process = rig.stream("--metrics", f"127.0.0.1:{port}", *more)

    def answers():
        try:
            return any(name == "saltmill_partition_lag_offsets" for name, _ in series(port))
        except OSError:
            return False
    wait_until(answers, process)
    return process, port


def test_lag(rig, kafka):
    """The lag of a partition grows with its messages and with time. A load of all messages ends it."""
    rig.configure("start: earliest\n    roll: {rows: 401}")
    kafka.create(rig.topic, 3)
    before = time.time()  # the last look before the messages comes later
    process, port = start(rig)

    def lags(what):
        return {int(dict(labels)["partition"]): figure for (name, labels), figure in series(port).items()
                if name == f"saltmill_partition_lag_{what}"
                and dict(labels) == {"job_file": "job.yaml", "topic": rig.topic, "partition": dict(labels)["partition"]}}
    assert lags("offsets") == lags("seconds") == {0: 0, 1: 0, 2: 0}
    kafka.produce(rig.topic, [(0, None, value(i)) for i in range(300)] + [(2, None, value(i)) for i in range(100)])
    after = time.time()
    wait_until(lambda: lags("offsets") == {0: 300, 1: 0, 2: 100})
    time.sleep(2)
    low, seconds = time.time() - after, lags("seconds")
    high = time.time() - before
    assert seconds[1] == 0
    for partition in (0, 2):
        assert low - 0.5 < seconds[partition] < high
    most = series(port)["saltmill_lag_seconds", (("job_file", "job.yaml"),)]
    assert most >= max(seconds.values())
    kafka.produce(rig.topic, [(1, None, value(0))])
    wait_until(lambda: lags("offsets") == {0: 0, 1: 0, 2: 0})
    assert lags("seconds") == {0: 0, 1: 0, 2: 0}
    rig.end(process)


def test_process(rig, kafka):
    """The names are those of Prometheus's client libraries, and the figures those of the kernel."""
    kafka.create(rig.topic, 1)
    before = time.time()
    process, port = start(rig)
    seen = {name: figure for (name, labels), figure in series(port).items() if not labels}
    folder = f"/proc/{process.pid}"
    with open(f"{folder}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    ticks = os.sysconf("SC_CLK_TCK")
    with open(f"{folder}/statm") as f:
        resident = int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")
    assert abs(seen["process_resident_memory_bytes"] - resident) < 4 << 20
    assert 0 < seen["process_cpu_seconds_total"] <= (int(fields[11]) + int(fields[12]) + 2) / ticks
    assert before - 2 < seen["process_start_time_seconds"] < time.time()
    assert abs(seen["process_open_fds"] - len(os.listdir(f"{folder}/fd"))) <= 3  # connections come and go
    rig.end(process)


def test_label_of_the_job(rig, kafka):
    """Each series escapes a quote and a backslash in the name of the job file."""
    kafka.create(rig.topic, 1)
    rig.job = rig.job.rename(rig.folder / 'a "b" \\c.yaml')
    process, port = start(rig)
    labels = {dict(labels).get("job_file") for name, labels in series(port) if name.startswith("saltmill_")}
    assert labels == {'a \\"b\\" \\\\c.yaml'}
    rig.end(process)
