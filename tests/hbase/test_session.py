"""README.md's session against a real HBase: every command runs, and prints what README.md shows.

`init` proposes the ZSTD framing of a stock cluster. The cluster of these tests has HBase's own codec, so the job's
framing changes; nothing that README.md shows depends on it.
"""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))

import shown  # noqa: E402  (needs the path above)


def test_the_session(saltmill, hbase, flights_csv, tmp_path):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    env = shown.prepare(tmp_path, text, saltmill, flights_csv)
    ran = []
    for command, below in shown.commands(text):
        if command.startswith("saltmill "):
            command = command.replace("master1,master2", hbase.master)
            done = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300)
            assert done.returncode == 0, (command, done.stderr)
            assert not below or shown.agrees(below, done.stdout.splitlines()) is None, (command, done.stdout)
            ran.append(command.split()[1])
            if ran == ["init"]:
                job = tmp_path / "flights.yaml"
                assert "framing: hadoop" in job.read_text()
                job.write_text(job.read_text().replace("framing: hadoop", "framing: hbase"))
    assert ran[:6] == ["init", "check", "plan", "load", "scan", "apply"]
