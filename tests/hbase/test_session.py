"""Tests the commands of README.md and the chapter `hbase` with a real HBase. Every command runs and prints the shown
output. `init` proposes the ZSTD framing of a stock cluster. The cluster of these tests has HBase's own codec, so the
test changes the framing of that job. No output in README.md depends on the framing.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))

import shown  # noqa: E402  (needs the path above)

MASTERS = re.compile(r"\b(?:master|hbase)\d(?:,(?:master|hbase)\d)*\b")


def drop(hbase, folder, *tables):
    """Other tests must not find these tables."""
    script = folder / "drop.rb"
    script.write_text("".join(f"disable '{t}'\ndrop '{t}'\n" for t in tables))
    hbase.run_script(str(script))


class Reader:
    """Types the commands of a text one after another, as a user does."""

    def __init__(self, path, folder, saltmill, flights_csv, hbase):
        self.text, self.folder, self.master = (ROOT / path).read_text(encoding="utf-8"), folder, hbase.master
        self.env = shown.prepare(folder, self.text, saltmill, flights_csv)

    def run(self, command):
        done = subprocess.run(["sh", "-c", MASTERS.sub(self.master, command)], cwd=self.folder, env=self.env,
                              capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, (command, done.stderr)
        return done

    def commands(self):
        """Returns each command after it ran and printed the shown output."""
        for command, below in shown.commands(self.text):
            if command.startswith("sed "):
                self.run(command)
            if not command.startswith("saltmill "):
                continue
            done = self.run(command)
            out, err = done.stdout.splitlines(), done.stderr.splitlines()
            answers = [shown.agrees(below, printed) for printed in (out, out + err, err + out)]
            assert not below or None in answers, (command, answers, done.stdout, done.stderr)
            yield command.split()[1]


def test_the_session_of_the_readme(saltmill, hbase, flights_csv, tmp_path):
    ran = []
    for command in Reader("README.md", tmp_path, saltmill, flights_csv, hbase).commands():
        ran.append(command)
        if ran == ["init"]:
            job = tmp_path / "flights.yaml"
            assert "framing: hadoop" in job.read_text()
            job.write_text(job.read_text().replace("framing: hadoop", "framing: hbase"))
    assert ran[:6] == ["init", "check", "plan", "load", "scan", "apply"]
    drop(hbase, tmp_path, "flights")


def test_the_chapter(saltmill, hbase, flights_csv, tmp_path):
    reader = Reader("conf/guide/hbase.md", tmp_path, saltmill, flights_csv, hbase)
    reader.run("saltmill load conf/flights.yaml flights.csv -o night --quiet")
    reader.run("saltmill load conf/nightly.yaml conf/nightly_1.csv -o night1 --quiet")
    reader.run("saltmill apply night1 --hbase master1 --create --quiet")
    ran = list(reader.commands())
    assert {"apply", "load", "scan", "get"} <= set(ran) and len(ran) >= 5
    drop(hbase, tmp_path, "flights", "orders")
