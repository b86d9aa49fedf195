"""Tests libraries that the program loads on demand. Other commands run without them, and a message names a missing library."""

import json
import re
import subprocess

import fastavro
import pytest

from load_help import HEADER, JOB, Bench

CSV = HEADER + b"".join(b"%d,1476640644,v%d\n" % (i, i) for i in range(300))
KAFKA = JOB.replace("csv: {files: [in.csv]}", "kafka: {brokers: '127.0.0.1:1', topic: t, format: json}")
SNAPPY = JOB.replace("compression: NONE", "compression: SNAPPY")
AVRO = JOB.replace("csv: {files: [in.csv]}", "avro: {files: [in.avro]}")
PACKAGES = {"curl": "libcurl4", "microhttpd": "libmicrohttpd12", "rdkafka": "librdkafka1", "snappy": "libsnappy1v5", "uchardet": "libuchardet0"}


@pytest.fixture
def bench(tmp_path, saltmill):
    return Bench(tmp_path, saltmill)


def files_of(program):
    """Returns the names that the program passes to the loader."""
    with open(program, "rb") as f:
        text = f.read()
    return {name: re.search(rb"lib%s\.so[.0-9]*" % name.encode(), text)[0].decode() for name in PACKAGES}


def broken(bench, *names):
    """Returns an environment in which these libraries are missing or broken."""
    folder = bench.folder / "broken"
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / files_of(bench.program)[name]).write_text("no library")
    return {"LD_LIBRARY_PATH": str(folder)}


def missing(bench, name, result):
    """Checks that the message names the file and Debian's package, and that the program did nothing else."""
    bench.refused(result, 1, f"cannot load {files_of(bench.program)[name]} (Debian's package {PACKAGES[name]}): ", "broken/lib")


def test_the_program_itself_needs_none(saltmill):
    needed = subprocess.run(["readelf", "-d", saltmill], capture_output=True, text=True, check=True).stdout
    assert "NEEDED" in needed and "BIND_NOW" in needed
    for name in [*PACKAGES, "stdc++", "ssl", "gnutls", "krb5"]:
        assert f"lib{name}." not in needed
    everything = subprocess.run(["ldd", saltmill], capture_output=True, text=True, check=True).stdout
    assert len(everything.splitlines()) < 22, everything


def test_what_needs_none_runs_without(bench):
    bench.input(CSV)
    env = broken(bench, *PACKAGES)
    assert bench.run(env=env).returncode == 0
    for command in (["verify", "out"], ["scan", "job.yaml", "out", "--quiet"], ["get", "job.yaml", "out", "id=7", "at=1476640644"],
                    ["key", "ranges", "job.yaml", "--where", "id = 7"], ["version"]):
        r = subprocess.run([bench.program, *command], cwd=bench.folder, env=env, capture_output=True, text=True)
        assert r.returncode == 0, (command, r.stderr)


def test_places_in_hdfs(bench):
    bench.input(CSV)
    missing(bench, "curl", bench.run(out="webhdfs://127.0.0.1:1/out", env=broken(bench, "curl")))


@pytest.mark.parametrize("options", [[], ["--share", "2"]])
def test_topics(bench, options):
    job = KAFKA.replace("format: json", "format: json, group: g") if options else KAFKA
    (bench.folder / "job.yaml").write_text(job)
    r = subprocess.run([bench.program, "stream", "job.yaml", "--state", "s"], cwd=bench.folder, capture_output=True,
                       env=broken(bench, "rdkafka"), timeout=60)
    missing(bench, "rdkafka", r)


def test_metrics(bench):
    (bench.folder / "job.yaml").write_text(KAFKA)
    r = subprocess.run([bench.program, "stream", "job.yaml", "--state", "s", "--metrics", "127.0.0.1:0"], cwd=bench.folder,
                       capture_output=True, env=broken(bench, "microhttpd"), timeout=60)
    missing(bench, "microhttpd", r)


def test_snappy_to_and_from_hfiles(bench):
    (bench.folder / "job.yaml").write_text(SNAPPY)
    bench.input(CSV)
    env = broken(bench, "snappy")
    missing(bench, "snappy", bench.run(env=env))
    assert bench.run().returncode == 0
    for command in (["verify", "out"], ["scan", "job.yaml", "out"]):
        assert subprocess.run([bench.program, *command], cwd=bench.folder, capture_output=True).returncode == 0
        r = subprocess.run([bench.program, *command], cwd=bench.folder, env=env, capture_output=True, text=True)
        assert r.returncode == 1, command
        assert f"cannot load {files_of(bench.program)['snappy']} " in r.stdout + r.stderr, (command, r.stdout, r.stderr)


def test_uchardet_for_other_encodings(bench):
    (bench.folder / "job.yaml").unlink()
    for text, status in ("id,v\n1,ä\n".encode(), 0), ("id,v\n1,ä\n".encode("latin1"), 1):
        (bench.folder / "in.csv").write_bytes(text)
        r = subprocess.run([bench.program, "init", "in.csv"], cwd=bench.folder, capture_output=True, env=broken(bench, "uchardet"))
        assert r.returncode == status, r.stderr
    missing(bench, "uchardet", r)


def test_snappy_in_avro(bench):
    (bench.folder / "job.yaml").write_text(AVRO)
    schema = {"type": "record", "name": "e", "fields": [{"name": "id", "type": "long"}, {"name": "at", "type": "long"},
                                                        {"name": "value", "type": "string"}]}
    with open(bench.folder / "in.avro", "wb") as f:
        fastavro.writer(f, schema, ({"id": i, "at": 1476640644, "value": f"v{i}"} for i in range(300)), codec="snappy")
    missing(bench, "snappy", bench.run(env=broken(bench, "snappy")))
    assert bench.run().returncode == 0
    assert json.loads((bench.out / "manifest.json").read_text())["read"] == 300


def test_one_that_lacks_a_function(bench):
    """The program reports another library with the same name before it calls a function of it."""
    (bench.folder / "job.yaml").write_text(SNAPPY)
    bench.input(CSV)
    env = broken(bench)
    other = bench.folder / "broken" / files_of(bench.program)["snappy"]
    subprocess.run(["cc", "-shared", "-o", other, "-x", "c", "-"], input=b"int snappy_compress(void) { return 1; }", check=True)
    r = bench.run(env=env)
    missing(bench, "snappy", r)
    assert b"undefined symbol: snappy_uncompress" in r.stderr
