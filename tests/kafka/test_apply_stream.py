"""Tests `stream --apply` and `apply --state --follow`. All of Kafka's messages get into HBase, whichever process dies
meanwhile. Kafka's and HBase's own clients check this. soak_hbase.py does the same for a million events.
"""

import json
import pathlib
import re
import signal
import subprocess
import time
import urllib.request

import jsonschema
from cluster import HANG_SECONDS, free_ports, wait_until
from rig import END_SECONDS
from soak_hbase import Campaign


def metrics(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=HANG_SECONDS) as answer:
        return dict(re.findall(r"^(saltmill_\w+)(?:{.*})? (\S+)$", answer.read().decode(), re.M))


def test_stream_into_live_hbase(saltmill, kafka, hbase_on_hdfs, hdfs, tmp_path):
    """A sample of `make soak ARGS=hbase` kills saltmill and stops HBase for a while."""
    one = Campaign(saltmill, kafka, hbase_on_hdfs, hdfs, tmp_path / "soak", "applied", seed=16)
    faults = [("kills of saltmill", one.kill)] * 6 + [("stops of HBase", one.stop_hbase)] * 2
    wrong, line, _ = one.run(6000, 500, faults)
    print(line)
    assert wrong == [], "\n".join(wrong[:20])


def test_followed_by_a_process_of_its_own(saltmill, kafka, hbase_on_hdfs, hdfs, tmp_path):
    """If the table is missing, there is one error, every report shows the waiting loads, and reading pauses. Then the test creates the table, and all loads get into it."""
    one = Campaign(saltmill, kafka, hbase_on_hdfs, hdfs, tmp_path / "soak", "followed", seed=17)
    (port,) = free_ports(1)
    hbase = ["--hbase", hbase_on_hdfs.master, "--user", "ann", "--upload", hdfs.url("/bulk/ann")]
    stream = subprocess.Popen([saltmill, "stream", one.job, "--state", one.state, "--memory", "64M", "--apply", hbase[1],
                               *hbase[2:], "--max-unapplied", "2", "--metrics", f"127.0.0.1:{port}"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        for _ in range(3):
            before = len(one.loads()) if (one.state / "loads").exists() else 0
            one.produce(100, 10000)
            if before < 2:
                wait_until(lambda: (one.state / "loads").exists() and len(one.loads()) > before)
        wait_until(lambda: metrics(port)["saltmill_reading_paused"] == "1")
        seen = metrics(port)
        assert seen["saltmill_unapplied_loads"] == "2" and float(seen["saltmill_oldest_unapplied_age_seconds"]) > 0
        assert seen["saltmill_stuck_states"] == "1" and seen["saltmill_applied_loads_total"] == "0"
        assert float(seen["saltmill_lag_offsets"]) >= 100
        wait_until(lambda: one.ask("status")["apply"].get("trouble"))
        assert one.ask("status")["apply"]["unapplied"] == 2
        text = subprocess.run([saltmill, "status", "--state", one.state], capture_output=True, text=True, check=True).stdout
        assert re.search(r"HBase, seen .*: 2 loads are not in it.*\n  WAITS: .*no table followed", text), text
        stream.send_signal(signal.SIGTERM)
        _, said = stream.communicate(timeout=END_SECONDS)
    finally:
        stream.kill()
        stream.wait()
    assert stream.returncode == 3, said
    assert said.count("cannot be applied: ") == 1 and "to create it with " in said, said
    assert said.count("reading pauses until one is in HBase") == 1, said

    once = [saltmill, "apply", "--state", one.state, *hbase]
    done = subprocess.run(once, capture_output=True, text=True, timeout=HANG_SECONDS, check=False)
    assert done.returncode == 2 and "no table followed" in done.stderr, done.stderr
    follower = subprocess.Popen([*once, "--create", "--check", "--follow", "--json", "--keep", "0"], stdout=subprocess.PIPE, text=True)
    try:
        assert [json.loads(follower.stdout.readline())["applied"] for _ in range(2)] == [l["load"] for l in one.loads()]
        subprocess.run([saltmill, "load", one.job, "--state", one.state, "-o", tmp_path / "by-hand"], check=True,
                       capture_output=True, timeout=HANG_SECONDS)
        made = json.loads(follower.stdout.readline())
        schema = subprocess.run([saltmill, "help", "schema", "applied"], capture_output=True, check=True).stdout
        jsonschema.validate(made, json.loads(schema))
        assert made["applied"] == one.loads()[2]["load"] and made["cells"] == 100
        assert pathlib.Path(made["output"]) == tmp_path / "by-hand"
        ms = made["ms"]
        assert ms.pop("total") == sum(ms.values()) and all(ms[p] > 0 for p in ("uploaded", "loaded", "checked")), ms
        wait_until(lambda: not (tmp_path / "by-hand").exists())
        follower.send_signal(signal.SIGTERM)
        assert follower.wait(END_SECONDS) == 0
    finally:
        follower.kill()
        follower.wait()
    assert one.differences(kafka.records(one.table)) == []
    assert [l["loaded"] for l in one.loads()] == [True] * 3
    assert list((one.state / "published").iterdir()) == []


def test_table_changes_between_loads(saltmill, kafka, hbase_on_hdfs, hdfs, tmp_path):
    """The follower notices outdated data that it keeps between loads, because regions split or move, or the table no longer exists."""
    one = Campaign(saltmill, kafka, hbase_on_hdfs, hdfs, tmp_path / "soak", "changed", seed=19)
    drop = tmp_path / "drop.rb"
    drop.write_text("disable 'changed'\ndrop 'changed'\n")

    def more():
        one.produce(200, 10000)
        one.settle()

    one.start()
    try:
        more()
        hbase_on_hdfs.split(one.table, b"1-2")
        more()
        hbase_on_hdfs.move(one.table)
        more()
        assert one.differences(kafka.records(one.table)) == []
        hbase_on_hdfs.run_script(drop)
        since, one.sent = int(time.time() * 1000), 0
        more()
        one.finish()
    finally:
        one.stop()
    assert one.differences({k: r for k, r in kafka.records(one.table).items() if r[2] >= since}) == []


def test_instances_that_share_a_topic(saltmill, kafka, hbase_on_hdfs, hdfs, tmp_path):
    """Each instance applies the loads of its partitions. If one instance dies, the other instance takes over the
    partitions and the waiting loads."""
    one = Campaign(saltmill, kafka, hbase_on_hdfs, hdfs, tmp_path / "soak", "instances", seed=18,
                   more="share: true\n    properties: {session.timeout.ms: 6000, heartbeat.interval.ms: 500}")
    outs, logs = [[tmp_path / f"{name}.{kind}" for name in "ab"] for kind in ("out", "log")]
    processes = [subprocess.Popen(one.command("--json"), stdout=open(out, "w"), stderr=open(log, "w"))
                 for out, log in zip(outs, logs)]

    def told(out, what):
        return [json.loads(line)[what] for line in out.read_text().splitlines() if line.startswith('{"%s"' % what)]

    try:
        one.process = processes[1]
        wait_until(lambda: all("2 assigned now" in log.read_text() for log in logs))
        one.produce(400, 1000)
        wait_until(lambda: told(outs[0], "load"))
        processes[0].kill()
        one.produce(400, 1000)
        one.settle()
        one.finish()
    finally:
        for p in processes:
            p.kill()
            p.wait()
    loads = [l for l in one.loads() if l["read"]]
    for p in range(4):
        own = sorted((l for l in loads if l["load"].startswith(f"p{p:05}/")), key=lambda l: l["load"])
        assert own and all(l["loaded"] for l in own)
        assert [l["applied_ms"] for l in own] == sorted(l["applied_ms"] for l in own)
    names = [told(out, "applied") for out in outs]
    assert len(names[0] + names[1]) == len(set(names[0] + names[1]))
    assert {n[:6] for n in names[1]} == {f"p{p:05}" for p in range(4)}
    assert one.differences(kafka.records(one.table)) == []
