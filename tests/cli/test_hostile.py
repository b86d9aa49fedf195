"""Tests malicious jobs, data and files. The program does not run them, obey them, or wait for them."""

import os
import re
import resource
import subprocess
import time

import pytest

from load_help import HEADER, JOB, Bench, rows

# These characters control a terminal. They are C0 except the line feed, DEL, C1, line separators, and marks that change
# the writing direction.
COMMANDS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
EVIL = "\033[2J\033]0;owned\a\x7f\u009b1m\u202egpj.exe"


@pytest.fixture
def bench(tmp_path, saltmill):
    return Bench(tmp_path, saltmill)


def run(bench, *args, **kw):
    kw.setdefault("timeout", 60)
    return subprocess.run([str(bench.program), *args], cwd=bench.folder, capture_output=True, **kw)


# --- options of the compiler ---

def readelf(program, what):
    return subprocess.run(["readelf", "-W", what, program], capture_output=True, text=True, check=True).stdout


def test_release_build_is_hardened(saltmill):
    if "gcc-release" not in str(saltmill) and "clang-release" not in str(saltmill):
        pytest.skip(f"{saltmill} is no release build")
    segments, dynamic, symbols = (readelf(saltmill, w) for w in ("-l", "-d", "--dyn-syms"))
    assert "GNU_RELRO" in segments
    assert re.search(r"GNU_STACK.* RW ", segments), "an executable stack"
    assert not re.search(r"LOAD.* RWE ", segments)
    assert "BIND_NOW" in dynamic and re.search(r"FLAGS_1.*NOW.*PIE|FLAGS_1.*PIE.*NOW", dynamic)
    assert "__stack_chk_fail" in symbols
    assert re.search(r"__\w+_chk@GLIBC", symbols), "no fortified call found"


# --- hostile bytes do not reach a terminal ---

def harmless(result):
    for name, out in (("stdout", result.stdout), ("stderr", result.stderr)):
        text = out.decode()  # fails if it is not UTF-8
        found = COMMANDS.search(text)
        assert not found, f"{name} contains {found.group()!r}: {text[max(0, found.start() - 60):found.end() + 60]!r}"
    return result


@pytest.mark.parametrize("how", [[], ["--json"]])
def test_names_and_values(bench, how):
    evil = bench.input(HEADER + f"1,5,x\n2,{EVIL},y\n\xff".encode(), name=f"in{EVIL}.csv")
    r = harmless(run(bench, "load", "job.yaml", str(evil), "-o", f"o{EVIL}", *how))
    assert r.returncode == 1 and b"\\x1B[2J" in r.stderr, r.stderr
    r = harmless(run(bench, "load", "job.yaml", str(evil), "-o", f"o{EVIL}", "--max-rejects", "9", *how))
    assert r.returncode == 3, r.stderr
    harmless(run(bench, "verify", f"o{EVIL}", *how))
    for name in (f"o{EVIL}", f"missing{EVIL}"):
        assert harmless(run(bench, "load", "job.yaml", str(evil), "-o", name, "--existing", f"{EVIL}=x", *how)).returncode in (1, 2)
    for command in (["load", f"no{EVIL}.yaml", "-o", "x"], ["ddl", f"no{EVIL}.yaml"], [f"lo{EVIL}ad"], ["plan", f"no{EVIL}"],
                    ["inspect", f"no{EVIL}"], ["verify", f"no{EVIL}"], ["status", "--state", f"no{EVIL}"],
                    ["load", "job.yaml", "--memory", EVIL], ["load", "job.yaml", f"--{EVIL}"], ["split", f"x{EVIL}", "4"]):
        assert harmless(run(bench, *command, *how)).returncode in (1, 2)


@pytest.mark.parametrize("part", ["value}", "id: {", "name: t", "f: {comp", "qualifier: v", "u32}", "count: 2"])
def test_job_file(bench, part):
    quoted = EVIL.replace("\033", "\\e").replace("\a", "\\a").replace("\x7f", "\\x7F").replace("\u009b", "\\x9B")
    value = part.split(":")[-1].strip(" {}") or part.split(":")[0]
    (bench.folder / "job.yaml").write_text(JOB.replace(part, part.replace(value, f'"{value}{quoted}"')))
    bench.input(rows(3))
    for command in (["ddl", "job.yaml"], ["load", "job.yaml", "-o", "out"], ["plan", "job.yaml"]):
        harmless(run(bench, *command))


def test_header_of_the_input(bench):
    bench.input(HEADER.replace(b"value", f"val{EVIL}ue".encode()) + b"1,5,x\n")
    assert harmless(run(bench, "load", "job.yaml", "-o", "out")).returncode == 2


@pytest.mark.parametrize("how", [[], ["--json"]])
def test_damaged_hfile(bench, how):
    bench.input(rows(50))
    assert bench.run().returncode == 0
    for file in bench.out.rglob("hfiles/f/*"):
        data = file.read_bytes()
        name = b"org.apache.hadoop.hbase.KeyValue$KVComparator"
        assert data.count(name) == 1
        evil = EVIL.encode()
        bad = bench.folder / "bad.hfile"
        bad.write_bytes(data.replace(name, evil + name[len(evil):]))
        for more in ([], ["--cells"], ["--blocks"]):
            harmless(run(bench, "inspect", "bad.hfile", *more, *how))


# --- hostile input does not block the program ---

def bounded(bench, *args, seconds=10, megabytes=100):
    """Runs the program with a limit on memory, and returns the result."""
    def limit():
        resource.setrlimit(resource.RLIMIT_DATA, (megabytes << 20, megabytes << 20))
    start = os.times()
    r = run(bench, *args, preexec_fn=limit, timeout=10 * seconds)
    end = os.times()
    used = end.children_user + end.children_system - start.children_user - start.children_system
    assert used < seconds, f"{used} s of processor"
    return r


def test_endless_job(bench):
    r = bounded(bench, "ddl", "/dev/zero")
    assert r.returncode == 2 and b"expected a job file of at most" in r.stderr, r.stderr


def test_anchors(bench):
    text = "".join(f" - &a{i} x\n" for i in range(60_000))
    (bench.folder / "job.yaml").write_text("source:\n" + text + " - *a0\n" * 20_000)
    r = bounded(bench, "ddl", "job.yaml", seconds=2)
    assert r.returncode == 2 and b"more than 256 anchors" in r.stderr, r.stderr


def test_thousands_of_cells(bench):
    cells = "".join(f"      - {{family: f, qualifier: q{i * 7919 % 15000}, value: value}}\n" for i in range(15_000))
    (bench.folder / "job.yaml").write_text(JOB.replace("      - {family: f, qualifier: v, value: {field: value}}\n", cells))
    bench.input(HEADER)
    start = time.monotonic()
    r = bounded(bench, "load", "job.yaml", "-o", "out", "--threads", "1", seconds=1)
    assert r.returncode == 0, (r.stderr, time.monotonic() - start)
    (bench.folder / "job.yaml").write_text(JOB.replace("      - {family: f, qualifier: v, value: {field: value}}\n",
                                                       cells + "      - {family: f, qualifier: q7, value: value}\n"))
    r = bounded(bench, "ddl", "job.yaml", seconds=1)
    assert r.returncode == 2 and b"one overwrites the other" in r.stderr


# --- no execution of hostile input ---

KAFKA = """\
source:
  kafka:
    brokers: 127.0.0.1:1
    topic: t
    format: json
    patience: 1s
    properties: {%s}
"""


@pytest.mark.parametrize("property, found", [
    ("plugin.library.paths: ./evil.so", "plugin.library.paths"),
    ("security.protocol: SASL_PLAINTEXT, sasl.kerberos.kinit.cmd: 'touch pwned'", "kinit.cmd"),
    ("security.protocol: SASL_PLAINTEXT, sasl.kerberos.principal: 'a; touch pwned'", "sasl.kerberos.principal"),
    ("security.protocol: SASL_PLAINTEXT, sasl.kerberos.keytab: '$(touch pwned)'", "sasl.kerberos.keytab"),
    ("security.protocol: SASL_PLAINTEXT, sasl.kerberos.keytab: {env: KEYTAB}", "sasl.kerberos.keytab"),
    ("ssl.engine.location: ./evil.so", "ssl.engine.location"),
    ("ssl.providers: 'evil,legacy'", "ssl.providers"),
])
def test_properties_that_run_code(bench, property, found):
    (bench.folder / "job.yaml").write_text(JOB.replace("source:\n  csv: {files: [in.csv]}\n", KAFKA % property))
    env = dict(os.environ, KEYTAB="`touch pwned`")
    for command in (["load", "job.yaml", "-o", "out"], ["stream", "job.yaml", "--state", "s"], ["plan", "job.yaml"]):
        r = run(bench, *command, env=env)
        assert r.returncode == 2 and found in r.stderr.decode() and "--allow-code" in r.stderr.decode(), r.stderr
        assert not (bench.folder / "pwned").exists()


def test_code_that_is_allowed(bench):
    (bench.folder / "job.yaml").write_text(JOB.replace("source:\n  csv: {files: [in.csv]}\n",
                                                       KAFKA % "plugin.library.paths: ./evil.so"))
    r = run(bench, "load", "job.yaml", "-o", "out", "--allow-code")
    assert r.returncode == 2 and "--allow-code" not in r.stderr.decode() and "evil.so" in r.stderr.decode(), r.stderr
