"""Runs the commands in README.md and the chapters of conf/guide, and compares the output shown below each command.
Rules for the texts:
- Code has an indent of four, or fences. A line that begins with `$ ` is a command. A backslash at its end
continues the command. The lines below the command, up to the next command or the end of the block, are its output.
`...` alone on a
  line matches any number of lines, and inside a line any text. Without lines below it, a command may print anything.
- In a block of `sh` without `$ `, each line is a command.
- A fence with a name, such as "```yaml job.yaml", is a file that the commands of the same text can read.
- The commands of a text run in order, in one folder with conf/, flights.csv and a small ratings.csv.
- If the output shown begins with `saltmill COMMAND: `, the command has to fail with this message.
- This module does not run a command that needs a server. ELSEWHERE names the test that runs such a command. It looks up the command's options in its help.
"""

import os
import re
import subprocess

import yaml

from loads import ROOT

# These lines contain figures that differ from run to run, such as times and the regions of a live table.
VARYING = re.compile(r"^(\d+\.\d\d s \(read )|(asked +\S+ at )")

# For commands that need a server or another program, a pattern and the test that runs the matching commands.
ELSEWHERE = [
    (r"^saltmill apply --state|^saltmill stream .*--apply", "kafka/test_apply_stream"),
    (r"^saltmill .*--hbase", "hbase/test_session"),
    (r"^saltmill .*(--table-dir|--snapshot|/\.hbase-snapshot/)", "hbase/test_offline"),
    (r"webhdfs://|hdfs://", "hbase/test_hdfs"),
    (r"^saltmill (load|stream|loads|status|seek|plan|drift|replay|check) .*(--state|clicks.yaml|orders.yaml|--rejects)",
     "kafka/test_session"),
    (r"^spark-submit ", "spark/test_spark_loads"),
    (r"^saltmill plan (part0|all)\.yaml", "kafka/test_session"),
    (r"^aws ", "cli/test_fed"),
    (r"^hbase ", "hbase/test_load"),
    (r"^hdfs ", "hbase/test_hdfs"),
    (r"^systemctl ", "cli/test_service"),
    (r"^cc |^\./write |^pip ", "cli/test_library"),
]


def blocks(text):
    """Returns [(words after the fence or None, lines)] of the code."""
    found, lines, fence = [], [], None
    for line in text.splitlines() + [""]:
        if fence is not None:
            if line.startswith("```"):
                found.append((fence, lines))
                lines, fence = [], None
            else:
                lines.append(line)
        elif line.startswith("```"):
            fence = line[3:].strip()
        elif line.startswith("    "):
            lines.append(line[4:])
        elif lines:
            found.append((None, lines))
            lines = []
    return found


def files(text):
    """Returns {name: text} of the fences with a name."""
    return {fence.split()[1]: "\n".join(lines) + "\n" for fence, lines in blocks(text) if fence and " " in fence}


def commands(text):
    """Returns [(command, the lines below it)]."""
    found = []
    for fence, lines in blocks(text):
        if fence and fence != "sh" and not any(line.startswith("$ ") for line in lines):
            continue
        marked = any(line.startswith("$ ") for line in lines)
        for line in lines:
            continues = found and not found[-1][1] and found[-1][0].endswith("\\")
            if continues:
                found[-1][0] = found[-1][0][:-1] + line.strip()
            elif line.startswith("$ "):
                found.append([line[2:], []])
            elif marked and found:
                found[-1][1].append(line)
            elif not marked and (fence == "sh" or re.match(r"(.* \| )?(build/)?saltmill |make |spark-submit |hbase |hdfs ", line)):
                found.append([re.sub(r"\s+# .*", "", line), []])
    return [(re.sub(r"\bbuild/saltmill\b", "saltmill", command), below) for command, below in found if command]


def same(wanted, printed):
    parts = [re.escape(part) for part in wanted.split("...")]
    varying = VARYING.match(wanted)
    return bool(re.fullmatch(".*".join(parts), printed.rstrip()) or (
        varying and VARYING.match(printed) and varying.lastindex == VARYING.match(printed).lastindex))


def agrees(wanted, printed):
    """Returns None if the output has each line of `wanted` in order, and other lines only at `...`."""
    at, skips = 0, False
    for line in wanted:
        if line.strip() == "...":
            skips = True
            continue
        found = next((k for k in range(at, len(printed)) if same(line, printed[k])), None)
        if found is None or (not skips and found != at):
            return f"{line!r} is not in its place; there is {printed[at:at + 1]}"
        at, skips = found + 1, False
    return None if skips or at == len(printed) else f"more is printed: {printed[at:at + 1]}"


def elsewhere(command):
    """Returns the test that runs a command with a server, or None if the command needs no server."""
    return next((test for pattern, test in ELSEWHERE if re.search(pattern, command)), None)


def prepare(folder, text, saltmill, flights_csv):
    """Makes the folder in which the commands of a text run, and their environment."""
    (folder / "bin").mkdir()
    (folder / "bin" / "saltmill").symlink_to(saltmill)
    (folder / "conf").symlink_to(ROOT / "conf")
    (folder / "tests").symlink_to(ROOT / "tests")
    (folder / "flights.csv").symlink_to(flights_csv)
    (folder / "ratings.csv").write_text("userId,movieId,rating,timestamp\n" + "".join(
        f"{u % 37 + 1},{u},4.5,{1_200_000_000 + u}\n" for u in range(3000)))
    for name, content in files(text).items():
        (folder / name).write_text(content)
    return {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}


def options_are_known(saltmill, command):
    for name, rest in re.findall(r"(?:^|[|;(] ?|xargs .*?)saltmill ([a-z]+)((?:[^|;\"']|\"[^\"]*\"|'[^']*')*)", command):
        told = subprocess.run([saltmill, "help", name], capture_output=True, text=True, check=True).stdout
        for option in re.findall(r" (--[a-z-]+)", re.sub(r"\"[^\"]*\"|'[^']*'", "", rest)):
            assert re.search(rf"{option}\b", told), (command, option)


def run_all(text, folder, saltmill, flights_csv):
    """Runs the commands of a text. Returns the number of commands that ran."""
    env, ran = prepare(folder, text, saltmill, flights_csv), 0
    for command, below in commands(text):
        options_are_known(saltmill, command)
        if elsewhere(command):
            continue
        if command.startswith(("make ", "tests/deps.sh")):
            target = re.match(r"make (?:[A-Z]+=\S+ )?([a-z-]+)|", command)[1]
            assert not target or re.search(rf"^{target}\b.*:", (ROOT / "Makefile").read_text(), re.M), command
            continue
        done = subprocess.run(["sh", "-c", command], cwd=folder, env=env, capture_output=True, text=True, timeout=300,
                              stdin=subprocess.DEVNULL)
        printed = done.stdout.splitlines() + done.stderr.splitlines()
        if below and re.match(r"saltmill [a-z]+: ", below[0]):
            assert done.returncode != 0, command
            printed = done.stderr.splitlines()[-len(below):]
        else:
            assert done.returncode in ((0, 3) if re.search(r"--max-rejects|saltmill (lint|check)", command) else (0,)), (
                command, done.stdout, done.stderr)
        assert not below or None in (agrees(below, printed), agrees(below, done.stdout.splitlines())), (
            command, agrees(below, printed), done.stdout, done.stderr)
        ran += 1
    return ran


# Keys that contain names chosen by the user.
FREE = {"fields", "families", "properties", "configuration", "metadata", "map", "codes", "spread"}


def keys_of(node, free=False):
    """Returns the keys in a piece of a job file that saltmill defines."""
    if isinstance(node, list):
        return {key for item in node for key in keys_of(item)}
    if not isinstance(node, dict):
        return set()
    return {str(key) for key in node if not free} | {
        key for name, value in node.items() for key in keys_of(value, not free and name in FREE)}


def job_pieces(text):
    """Returns the YAML of a text."""
    for fence, lines in blocks(text):
        if fence and fence.split()[0] == "yaml":
            yield yaml.load("\n".join(lines), Loader=yaml.BaseLoader)
