"""Tests the texts for users, which are `saltmill help`, conf/README.md, manual pages, completions and the editors'
schema. The tests compare the texts with the tables of keys in the sources, the program's own errors, PyYAML and jsonschema,
groff, bash, zsh and fish.
"""
import copy
import fcntl
import json
import os
import pty
import random
import re
import select
import shutil
import signal
import struct
import subprocess
import termios
import time

import jsonschema
import pytest
import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
JOBS = sorted(f for f in os.listdir(os.path.join(ROOT, "conf")) if f.endswith(".yaml"))


class Texts(yaml.SafeLoader):
    """Reads YAML as editors do, so a date is a text."""


Texts.yaml_implicit_resolvers = {
    first: [(tag, exp) for tag, exp in rules if tag != "tag:yaml.org,2002:timestamp"]
    for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()}


def with_texts_for_keys(node):
    """Editors read `null:` as a key with this name, and PyYAML reads the key as None."""
    if isinstance(node, dict):
        return {"null" if k is None else k: with_texts_for_keys(v) for k, v in node.items()}
    if isinstance(node, list):
        return [with_texts_for_keys(v) for v in node]
    return node


def load(text):
    return with_texts_for_keys(yaml.load(text, Texts))


def said(saltmill, *args):
    return subprocess.run([saltmill, "help", *args], capture_output=True, text=True, check=True).stdout


def keys_in_the_tables():
    """Returns the names in all tables of keys. Names in a single `struct key x = {...}` are not keys of a job."""
    names = set()
    folder = os.path.join(ROOT, "pipeline", "model", "job")
    for name in sorted(os.listdir(folder)):
        if name == "job.c" or name.startswith("section_"):
            text = open(os.path.join(folder, name), encoding="utf-8").read()
            for table in re.findall(r"static const struct key \w+\[\] = \{(.*?)\};", text, re.S):
                names.update(re.findall(r'\.name = "(\w+)"', table))
                names.update(re.findall(r'(?:MORE|ATTRIBUTE)\(\s*"(\w+)"', table))
    return names


def rows_of(page):
    for line in page.splitlines():
        if line.startswith("| `"):
            cells = [c.strip().replace("\\|", "|") for c in re.split(r"(?<!\\)\|", line)[1:-1]]
            yield cells


def test_the_page_in_conf_is_what_the_program_says(saltmill):
    page = open(os.path.join(ROOT, "conf", "README.md"), encoding="utf-8").read()
    assert page == said(saltmill, "job", "--format", "markdown")


def test_every_key_has_words_and_no_other_has(saltmill):
    rows = list(rows_of(said(saltmill, "job", "--format", "markdown")))
    in_tables = keys_in_the_tables()
    assert len(in_tables) > 100
    assert {row[0].strip("`") for row in rows} == in_tables
    for key, what, value, _default, example in rows:
        assert what and value and example != "``", key


def test_every_example_is_yaml_and_shows_its_key(saltmill):
    for key, _what, _value, _default, example in rows_of(said(saltmill, "job", "--format", "markdown")):
        shown = load(example.strip("`"))
        assert isinstance(shown, dict), example
        names = set(shown)
        for value in shown.values():
            if isinstance(value, dict):
                names |= set(value)
        assert key.strip("`") in names, example


@pytest.mark.parametrize("name", ["ttl", "regions.count", "tables"])
def test_one_key(saltmill, name):
    assert name.split(".")[-1] in said(saltmill, name).splitlines()[0]


def test_no_such_topic(saltmill):
    r = subprocess.run([saltmill, "help", "nosuch"], capture_output=True, text=True)
    assert r.returncode == 2 and "nosuch" in r.stderr and r.stdout == ""


# --- the schema ---


@pytest.fixture(scope="module")
def schema(saltmill):
    s = json.loads(said(saltmill, "job", "--format", "json-schema"))
    jsonschema.Draft202012Validator.check_schema(s)
    return jsonschema.Draft202012Validator(s)


@pytest.mark.parametrize("job", JOBS)
def test_the_jobs_in_conf_are_right_by_the_schema(schema, job):
    text = open(os.path.join(ROOT, "conf", job), encoding="utf-8").read()
    assert [e.message for e in schema.iter_errors(load(text))] == []


def mappings(node, path=()):
    """Returns all mappings of a job and the path of each."""
    if isinstance(node, dict):
        yield path
        for key, value in node.items():
            yield from mappings(value, path + (key,))
    if isinstance(node, list):
        for i, value in enumerate(node):
            yield from mappings(value, path + (i,))


def at(node, path):
    for step in path:
        node = node[step]
    return node


# Keys that contain names chosen by the user. Neither the schema nor the program restricts these names.
FREE = {"fields", "families", "properties", "configuration", "metadata", "map", "codes"}


def refused(saltmill, folder, job):
    """Returns true if the program accepts a job. Exit status 1 for a missing input does not count."""
    path = os.path.join(folder, "changed.yaml")
    with open(path, "w", encoding="utf-8") as f:
        yaml.safe_dump(job, f, sort_keys=False, allow_unicode=True)
    r = subprocess.run([saltmill, "lint", path], capture_output=True, text=True)
    assert r.returncode in (0, 1, 2), r.stderr
    return r.returncode == 2, r.stderr


@pytest.fixture(scope="module")
def conf(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("conf"))
    for name in os.listdir(os.path.join(ROOT, "conf")):
        if not name.endswith((".yaml", ".csv")) and os.path.isfile(os.path.join(ROOT, "conf", name)):
            shutil.copy(os.path.join(ROOT, "conf", name), folder)
    return folder


@pytest.mark.parametrize("job", JOBS)
def test_a_key_too_many_is_refused_by_both(saltmill, schema, conf, job):
    whole = load(open(os.path.join(ROOT, "conf", job), encoding="utf-8").read())
    tried = 0
    for path in mappings(whole):
        if path and path[-1] in FREE:
            continue
        changed = copy.deepcopy(whole)
        at(changed, path)["nosuchkey"] = "1"
        assert list(schema.iter_errors(changed)), path
        assert refused(saltmill, conf, changed)[0], path
        tried += 1
        if tried == 12:
            break
    assert tried >= 3


def test_what_the_schema_refuses_the_program_refuses(saltmill, schema, conf):
    """Changes values at random. The schema must not be stricter than the program."""
    rng = random.Random(11)
    values = ["x", "", 7, -1, 3.5, True, None, [], ["a"], [1], {}, {"a": 1}, "10G", "30d", "auto"]
    stricter = 0
    for _ in range(150):
        job = rng.choice(JOBS)
        whole = load(open(os.path.join(ROOT, "conf", job), encoding="utf-8").read())
        path = rng.choice(list(mappings(whole)))
        inside = at(whole, path)
        if not inside:
            continue
        inside[rng.choice(list(inside))] = rng.choice(values)
        errors = [e.message for e in schema.iter_errors(whole)]
        if errors:
            stricter += 1
            assert refused(saltmill, conf, whole)[0], (job, path, errors[:2], inside)
    assert stricter > 20


# --- options ---


def options_in_the_sources():
    """Returns the names in the first column of the tables of options."""
    names = set()
    folder = os.path.join(ROOT, "pipeline", "cli", "command")
    for name in os.listdir(folder):
        if re.match(r"options_.*\.c$", name):
            text = open(os.path.join(folder, name), encoding="utf-8").read()
            names |= set(re.findall(r'^\t\{"([a-z-]+)",', text, re.M))
    return names


def commands_of(saltmill):
    return re.findall(r"^  saltmill (\w+) ", said(saltmill), re.M)


SHARED = {"threads", "memory", "temp-dir", "temp-quota", "quiet", "json", "allow-code", "help", "version"}


def test_a_command_tells_the_options_that_it_takes(saltmill):
    every = options_in_the_sources()
    assert len(every) > 40
    told_anywhere, rng = set(), random.Random(3)
    for command in commands_of(saltmill):
        help_text = said(saltmill, command)
        terms = [re.split(" {2}", line[2:])[0] if line[25:26] != " " else line[:25]
                 for line in help_text.splitlines() if line.startswith("  -")]
        told = {name for term in terms for name in re.findall(r"--([a-z-]+)", term)}
        told_anywhere |= told
        others = sorted(every - SHARED - told)
        for name in sorted(told - SHARED) + rng.sample(others, 10):
            if name not in told and any(other.startswith(name) for other in told):
                continue  # getopt reads it as an abbreviation
            r = subprocess.run([saltmill, command, "--" + name], capture_output=True, text=True,
                               stdin=subprocess.DEVNULL, timeout=20)
            taken = "unknown option" not in r.stderr
            assert taken == (name in told), (command, name, r.stderr)
    assert every <= told_anywhere | SHARED


def test_shared_options_that_do_nothing_are_not_told(saltmill):
    assert "--memory" not in said(saltmill, "split") and "--memory" in said(saltmill, "load")
    assert "--threads" not in said(saltmill, "ddl") and "--threads" in said(saltmill, "verify")


# --- manual pages ---


def test_manual_pages_render_without_a_warning(saltmill):
    pages = [said(saltmill, "--format", "man"), said(saltmill, "job", "--format", "man")]
    pages += [said(saltmill, c, "--format", "man") for c in commands_of(saltmill)]
    for page in pages:
        r = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-rLL=78n", "-P-cbou"], input=page, capture_output=True,
                           text=True)
        assert r.returncode == 0 and r.stderr == "", r.stderr
        assert "\nNAME\n" in r.stdout


def test_the_page_of_a_command_has_its_options(saltmill):
    page = said(saltmill, "load", "--format", "man")
    shown = subprocess.run(["groff", "-man", "-Tascii", "-P-cbou"], input=page, capture_output=True, text=True).stdout
    plain = re.sub(r"\s+", " ", shown)
    for option in re.findall(r"--[a-z-]+", said(saltmill, "load")):
        assert option in plain, option


# --- completions ---


def complete_in_bash(saltmill, script, *words):
    line = f"""source {script}; COMP_WORDS=({' '.join(repr(w) for w in words)}); COMP_CWORD={len(words) - 1}
        _saltmill; printf '%s\\n' "${{COMPREPLY[@]}}" """
    r = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
    assert r.stderr == ""
    return r.stdout.split()


def test_bash_completes(saltmill, tmp_path):
    script = tmp_path / "saltmill.bash"
    script.write_text(said(saltmill, "--format", "bash"))
    assert complete_in_bash(saltmill, script, "saltmill", "veri") == ["verify"]
    assert complete_in_bash(saltmill, script, "saltmill", "load", "--max-r") == ["--max-rejects"]
    assert complete_in_bash(saltmill, script, "saltmill", "help", "bloomf") == ["bloomfilter"]
    assert complete_in_bash(saltmill, script, "saltmill", "help", "gui") == ["guide"]
    assert complete_in_bash(saltmill, script, "saltmill", "help", "guide", "key") == ["keys"]


def test_bash_completes_values(saltmill, tmp_path):
    """bash completes values of an option, tables of the job, and only folders, also after `=`."""
    script = tmp_path / "saltmill.bash"
    script.write_text(said(saltmill, "--format", "bash"))
    job = os.path.join(ROOT, "conf", "visits.yaml")
    tables = [t["name"] for t in load(open(job, encoding="utf-8").read())["tables"]]
    assert len(tables) > 1

    def after(*words):
        return complete_in_bash(saltmill, script, str(saltmill), *words)
    assert after("scan", "--format", "") == ["table", "csv", "jsonl"]
    assert after("scan", "--format", "=", "js") == ["jsonl"]
    assert after("scan", "--format", "=") == ["table", "csv", "jsonl"]
    assert after("split", "--format", "d") == ["ddl"] and after("key", "--to", "") == ["escaped", "hex"]
    assert after("scan", job, "out", "--table", "") == tables and after("scan", job, "--via", tables[1][:-1]) == [tables[1]]
    assert after("scan", "--table", "") == []
    (tmp_path / "a-folder").mkdir()
    (tmp_path / "a-file").write_text("")
    assert after("load", "-o", str(tmp_path / "a-")) == [str(tmp_path / "a-folder")]
    assert sorted(after("load", "--columns", str(tmp_path / "a-"))) == [str(tmp_path / "a-file"), str(tmp_path / "a-folder")]


@pytest.mark.parametrize("shell,check", [
    ("zsh", "autoload -U compinit; compinit -D -u; source %s 2>/dev/null; (( $+functions[_saltmill] )) && echo good"),
    ("fish", "source %s; complete -C 'saltmill load --max-r'"),
])
def test_other_shells_take_the_script(saltmill, tmp_path, shell, check):
    if not shutil.which(shell):
        pytest.fail(f"no {shell} here: run `make deps` (tests/deps.sh test)")
    script = tmp_path / f"_saltmill.{shell}"
    script.write_text(said(saltmill, "--format", shell))
    r = subprocess.run([shell, "-n", str(script)], capture_output=True, text=True)
    assert r.returncode == 0 and r.stderr == "", r.stderr
    r = subprocess.run([shell, "-c", check % script], capture_output=True, text=True,
                       env={**os.environ, "HOME": str(tmp_path)})
    assert ("--max-rejects" if shell == "fish" else "good") in r.stdout, r.stdout + r.stderr


SHELLS = {"bash": (["bash", "--norc", "--noprofile", "-i"], "PS1='ready> '; source {script}"),
          "zsh": (["zsh", "-f", "-i"], "PS1='ready> '; fpath=({script.parent} $fpath); autoload -U compinit; compinit -D -u"),
          "fish": (["fish", "--no-config", "-i"], "function fish_prompt; echo -n 'ready> '; end; source {script}")}


class Typed:
    """A shell on a terminal, whose screen the test reads as text."""

    def __init__(self, shell, folder):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.environ.update(HOME=str(folder), TERM="xterm", LC_ALL="C.UTF-8", PATH=f"{folder}:{os.environ['PATH']}")
            os.execvp(SHELLS[shell][0][0], SHELLS[shell][0])
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))

    def type(self, text, wanted, seconds=20):
        """Returns the screen when it contains `wanted`. Fails if the text does not appear."""
        os.write(self.fd, text.encode())
        seen, end = "", time.monotonic() + seconds
        while wanted not in seen and time.monotonic() < end:
            if select.select([self.fd], [], [], .1)[0]:
                seen += re.sub(r"\x1b(\[[0-9;?]*[ -/]*[@-~]|[=>()][0-9A-B]?|\][^\x07\x1b]*(\x07|\x1b\\\\)?)", "",
                               os.read(self.fd, 65536).decode("utf-8", "replace"))
        assert wanted in seen, (text, wanted, seen[-600:])
        return seen

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_at_a_terminal(saltmill, tmp_path, shell):
    """Types a command, an option and a key of the job file as a user does."""
    if not shutil.which(shell):
        pytest.fail(f"no {shell} here: run `make deps` (tests/deps.sh test)")
    script = tmp_path / "_saltmill"  # zsh finds it by this name
    script.write_text(said(saltmill, "--format", shell))
    (tmp_path / "saltmill").symlink_to(saltmill)
    t = Typed(shell, tmp_path)
    try:
        t.type(SHELLS[shell][1].format(script=script) + "; echo be''gun\r", "begun")
        t.type("\r", "ready> ")
        for typed, completed in (("saltmill veri", "fy"), ("saltmill load --max-rej", "ects"), ("saltmill help bloomf", "ilter"),
                                 ("saltmill help guide key", "s"), ("saltmill scan --format js", "onl"),
                                 (f"saltmill ddl {ROOT}/conf/visits.yaml --table visits_by_m", "s")):
            t.type("\x15" + typed, typed.split()[-1])  # Ctrl-U: clears the line
            t.type("\t", completed)
    finally:
        t.close()


def test_install_brings_pages_completions_and_examples(saltmill, tmp_path):
    subprocess.run([os.path.join(ROOT, "tests", "install.sh"), saltmill, tmp_path], check=True)
    pages = sorted(os.listdir(tmp_path / "share" / "man" / "man1"))
    assert pages == sorted(["saltmill.1"] + [f"saltmill-{c}.1" for c in commands_of(saltmill)])
    chapters = [f for f in os.listdir(os.path.join(ROOT, "conf", "guide")) if f.endswith(".md")]
    assert chapters and set(os.listdir(tmp_path / "share" / "man" / "man7")) == {f"saltmill-{c[:-3]}.7" for c in chapters}
    assert (tmp_path / "bin" / "saltmill").stat().st_size == os.path.getsize(saltmill)
    assert set(os.listdir(tmp_path / "share" / "doc" / "saltmill" / "examples")) == {
        f for f in os.listdir(os.path.join(ROOT, "conf")) if os.path.isfile(os.path.join(ROOT, "conf", f))}


# --- files of a release ---


def metrics_in_the_source():
    text = open(os.path.join(ROOT, "pipeline", "cli", "text", "metrics.c"), encoding="utf-8").read()
    return {"saltmill_" + name for name in re.findall(r'put(?:_head)?\(b, "(\w+)"', text)}


def test_rules_and_dashboard_know_all_metrics_and_no_other():
    folder = os.path.join(ROOT, "conf", "service")
    known = metrics_in_the_source()
    assert len(known) > 8
    rules = open(os.path.join(folder, "prometheus-rules.yaml"), encoding="utf-8").read()
    asked = {m for group in yaml.safe_load(rules)["groups"] for rule in group["rules"]
             for m in re.findall(r"saltmill_(?!ledger_)\w+", rule["expr"])}  # test_ledger.py tests options of a ledger
    assert asked and asked <= known
    board = json.load(open(os.path.join(folder, "grafana-dashboard.json"), encoding="utf-8"))
    shown = {m for panel in board["panels"] for t in panel["targets"] for m in re.findall(r"saltmill_\w+", t["expr"])}
    assert shown == known


def test_units_start_what_there_is(saltmill):
    folder = os.path.join(ROOT, "conf", "service")
    for unit in [f for f in os.listdir(folder) if f.endswith(".service")]:
        text = open(os.path.join(folder, unit), encoding="utf-8").read()
        if unit.startswith("saltmill-failed"):  # only runs a program of the operator
            assert f"OnFailure={unit.replace('@', '@%n')}" in open(os.path.join(folder, "saltmill-load@.service")).read()
            continue
        command = re.search(r"/usr/bin/saltmill (\w+)", text).group(1)
        told = said(saltmill, command)
        line = re.search(r"ExecStart=(.*)", text).group(1)
        assert all(option in told for option in re.findall(r"--[a-z-]+", line)), line
        assert "SuccessExitStatus=3" in text
