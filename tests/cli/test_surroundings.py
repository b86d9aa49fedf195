"""Tests the program with unusual descriptors, devices, limits and signals."""

import json
import resource
import subprocess

import pytest

from load_help import JOB, Bench, rows


@pytest.fixture
def bench(tmp_path, saltmill):
    return Bench(tmp_path, saltmill)


def published(folder):
    """Returns every file of a load with the file's bytes, without the manifest's times."""
    return {p.relative_to(folder): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


# --- closed descriptors ---

@pytest.mark.parametrize("closed", [(2,), (0, 1), (0, 1, 2)])
def test_closed_descriptors(bench, closed):
    """Opened files do not take the closed numbers. The run loses its output, and nothing else changes."""
    # so slow to write that the run prints progress
    (bench.folder / "job.yaml").write_text(JOB.replace("compression: NONE", "compression: {codec: ZSTD, level: 19}"))
    bench.input(rows(40_000))
    assert b"writing" in bench.run("--threads", "1").stderr
    redirect = " ".join(f"{fd}>&-" for fd in closed)
    r = subprocess.run(["sh", "-c", f'exec "$0" load job.yaml -o shut --threads 1 {redirect}', bench.program],
                       cwd=bench.folder, capture_output=True, timeout=60)
    assert r.returncode == 0, r.stderr
    assert published(bench.folder / "shut") == published(bench.out)
    verified = subprocess.run([bench.program, "verify", "shut"], cwd=bench.folder, capture_output=True)
    assert verified.returncode == 0, verified.stderr


def test_closed_input_is_not_an_empty_one(bench):
    (bench.folder / "job.yaml").write_text((bench.folder / "job.yaml").read_text().replace(
        "{files: [in.csv]}", "{files: ['-'], header: false, columns: [id, at, value]}"))
    r = subprocess.run(["sh", "-c", 'exec "$0" load job.yaml -o out 0>&-', bench.program],
                       cwd=bench.folder, capture_output=True, timeout=60)
    bench.refused(r, 1, "Bad file descriptor")


# --- a full device ---

COMMANDS = ["--help", "--version", "load --help", "load --version", "verify --help", "load job.yaml -o new",
            "load job.yaml -o new --json", "plan job.yaml", "plan job.yaml --json", "ddl job.yaml --splits out/t/splits.txt", "verify out",
            "verify out --json", "split HexStringSplit 4", "drift job.yaml --existing live.txt",
            "inspect FILE", "inspect FILE --json", "inspect FILE --cells", "lint job.yaml in.csv --json", "check job.yaml",
            "init in.csv", "help job", "digest in.csv", "merge out -o new", "convert out -o new --json",
            "rekey job.yaml job.yaml out -o new"]


@pytest.mark.parametrize("command", COMMANDS)
def test_result_that_cannot_be_printed(bench, command):
    bench.input(rows(100))
    (bench.folder / "live.txt").write_text("Total number of splits = 2\n\\x80\n")
    assert bench.run().returncode == 0
    [hfile, *_] = bench.out.rglob("hfiles/*/*")
    args = [str(hfile) if a == "FILE" else a for a in command.split()]
    with open("/dev/full", "w") as full:
        r = subprocess.run([bench.program, *args], cwd=bench.folder, stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert r.returncode == 1
    before = b'"error":"' if "--json" in args else b": "
    assert r.stderr.count(before + b"standard output: ") == r.stderr.count(b"standard output: ") == 1, r.stderr
    if "-o" in args:
        assert b"the load is published as new\n" in r.stderr
        assert (bench.folder / "new" / "manifest.json").exists()


# --- a limit on the size of files ---

def test_file_size_limit(bench):
    """The limit causes an error message, not SIGXFSZ."""
    bench.input(rows(20_000))
    limit = 100_000
    r = bench.run(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    bench.refused(r, 1, "File too large")


# --- names that are not UTF-8 ---

def test_names_that_are_not_utf8(bench):
    """The program accepts such a name. JSON stays valid, because the byte is printed as \\xHH."""
    name = b"n\xff\xc3".decode(errors="surrogateescape")
    job, data, out = (bench.folder / f"{name}{end}" for end in (".yaml", ".csv", ""))
    job.write_text(JOB)
    data.write_bytes(rows(10))

    def run(*command, status=0):
        r = subprocess.run([bench.program, *command, "--json"], cwd=bench.folder, capture_output=True, timeout=60)
        assert r.returncode == status, r.stderr
        return json.loads(r.stdout)

    assert run("load", job.name, data.name, "-o", out.name)["output"] == r"n\xFF\xC3"
    assert json.loads((out / "manifest.json").read_text())["inputs"][0]["path"] == r"n\xFF\xC3.csv"
    assert run("verify", out.name)["dir"] == r"n\xFF\xC3"
    (out / "t" / f"{name}").write_bytes(b"")
    [problem] = run("verify", out.name, status=1)["problems"]
    assert problem["path"] == r"t/n\xFF\xC3"
    assert run("plan", job.name, data.name)["events"] == 10
    [f] = run("inspect", out.name, status=1)
    assert "found a folder, expected an HFile" in f["error"] and r"n\xFF\xC3" in f["error"]
