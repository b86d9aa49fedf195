"""Tests the commands of the chapter `kafka` on a real broker, in order, on one topic.

tests/kafka/test_apply_stream.py runs the command that also needs HBase.
"""

import json
import pathlib
import shlex
import signal
import subprocess
import sys

import yaml
from cluster import HANG_SECONDS, hear

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))

import shown  # noqa: E402  (needs the path above)

EVENTS = 3000  # the chapter shows a load of so many events


def click(n):
    return json.dumps({"user": {"id": n % 97}, "page": f"/{n}", "items": [{"sku": f"a-{n}"}], "ms": 1476640644000 + n}).encode()


def jobs(folder, brokers):
    """Writes conf/clicks.yaml for this broker, and the jobs that share its regions."""
    text = (ROOT / "conf" / "clicks.yaml").read_text().replace("127.0.0.1:9092", brokers)
    (folder / "conf").unlink()
    (folder / "conf").mkdir()
    (folder / "conf" / "clicks.yaml").write_text(text)
    job = yaml.safe_load(text)
    (folder / "all.yaml").write_text(yaml.safe_dump(job, sort_keys=False))
    job["source"]["kafka"]["partitions"] = [0]
    (folder / "part0.yaml").write_text(yaml.safe_dump(job, sort_keys=False))


def stream(command, folder, env):
    """Runs the stream until it has read for a while, then ends the stream as systemd does."""
    with subprocess.Popen(shlex.split(command), cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as p:
        hear(p, "saltmill stream: lag")
        p.send_signal(signal.SIGTERM)
        _, err = p.communicate(timeout=HANG_SECONDS)
        assert p.returncode == 0, err


def test_the_chapter(saltmill, kafka, flights_csv, tmp_path):
    text = (ROOT / "conf" / "guide" / "kafka.md").read_text(encoding="utf-8")
    env = shown.prepare(tmp_path, text, saltmill, flights_csv)
    jobs(tmp_path, kafka.brokers)
    (tmp_path / "var").mkdir()
    kafka.create("clicks", partitions=2)
    kafka.produce("clicks", [(n % 2, b"key", click(n)) for n in range(EVENTS)])
    ran = set()
    for command, _ in shown.commands(text):
        if "--apply" in command:
            continue
        if command.startswith("saltmill stream"):
            stream(command, tmp_path, env)
        else:
            done = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)
            assert done.returncode == 0, (command, done.stderr)
            if command.startswith("saltmill load "):
                for line in ("table clicks: 3,000 rows, 6,000 cells, 89.5 KB in 4 files, 4 regions", "published as day1"):
                    assert line in text and line in done.stdout.splitlines(), done.stdout
        ran.add(command.split()[1])
    assert ran == {"check", "load", "stream", "loads", "status", "plan"}
    assert (tmp_path / "shared" / "clicks" / "splits.txt").read_text()
