"""Tests the script of `saltmill ddl` for each job, and jobs that ddl refuses without a cluster."""

import json
import pathlib
import re
import signal
import subprocess

import pytest

JOB = """\
source:
  csv: {{files: [in.csv]}}
fields:
  id: {{type: u32}}
  at: {{type: time, unit: s}}
tables:
  - name: {name}
    rowkey: [{{field: id, as: u32}}]
    timestamp: at
    attributes: {{{attributes}}}
    families:
      f: {{{family}}}
    cells:
      - {{family: f, qualifier: v, value: value}}
    regions: {regions}
"""
SECOND = """\
  - name: other
    rowkey: [{field: at, as: millis}]
    timestamp: at
    families: {g: {}}
    cells:
      - {family: g, qualifier: v, value: value}
    regions: {split: none}
"""


@pytest.fixture
def ddl(saltmill, tmp_path):
    def run(*args, name="ns:t", family="versions: 1", regions="{split: none}", more="", attributes=""):
        text = JOB.format(name=f'"{name}"', family=family, regions=regions, attributes=attributes) + more
        (tmp_path / "job.yaml").write_text(text)
        return subprocess.run([saltmill, "ddl", "job.yaml", *map(str, args)], cwd=tmp_path,
                              capture_output=True, text=True, timeout=60, check=False)
    return run


def keys(script):
    listed = re.search(r"SPLITS => \[(.*?)\]", " ".join(script.split()))
    return re.findall("'([^']*)'", listed[1]) if listed else None


def test_one_region(ddl):
    done = ddl()
    assert done.returncode == 0, done.stderr
    assert "create_namespace 'ns'" in done.stdout and "create 'ns:t'" in done.stdout
    assert done.stdout.rstrip().endswith("exit")
    assert "SPLITS" not in done.stdout and "NUMREGIONS" not in done.stdout
    assert "SPLIT_POLICY" not in done.stdout


@pytest.mark.parametrize("regions,clause", [
    ("{split: hex, count: 16}", "{NUMREGIONS => 16, SPLITALGO => 'HexStringSplit'}"),
    ("{split: uniform, count: 60}", "{NUMREGIONS => 60, SPLITALGO => 'UniformSplit'}"),
    ("{split: decimal, count: 2}", "{NUMREGIONS => 2, SPLITALGO => 'DecimalStringSplit'}"),
    ("{split: hex, servers: 3, per_server: 5}", "{NUMREGIONS => 15, SPLITALGO => 'HexStringSplit'}"),
    ("{split: hex, servers: 2}", "{NUMREGIONS => 20, SPLITALGO => 'HexStringSplit'}"),
])
def test_hbase_computes_the_keys_itself(ddl, regions, clause):
    done = ddl(regions=regions)
    assert done.returncode == 0, done.stderr
    assert clause in done.stdout and "SPLITS" not in done.stdout


@pytest.mark.parametrize("regions,want", [
    ('{split: hex, count: 4, first: "00", last: "AA"}', ["2a", "54", "7e"]),
    (r'{split: uniform, count: 3, last: "\\xFF"}', ["U", r"\xAA"]),
    ("{split: hex, count: 1}", None),
    ("{split: uniform, count: 1}", None),
])
def test_other_rows_need_the_keys(ddl, regions, want):
    """SPLITALGO in the shell has no first and last row."""
    done = ddl(regions=regions)
    assert done.returncode == 0, done.stderr
    assert keys(done.stdout) == want and "NUMREGIONS" not in done.stdout


def test_computed_keys_have_no_file(ddl):
    done = ddl(regions='{split: decimal, count: 1000, first: "0000", last: "9999"}')
    assert keys(done.stdout) == [f"{10 * i:04}" for i in range(1, 1000)]


def test_splits_file(ddl, tmp_path):
    want = [r"\x00", "A", r"B\x0A", r"\xFF\xFE"]
    (tmp_path / "keys.txt").write_text("".join(k + "\n" for k in want))
    sampled = ddl("--splits", "keys.txt", regions="{split: sampled, count: 9}")
    assert keys(sampled.stdout) == want and sampled.stderr == ""
    assert keys(ddl(regions="{split: file, file: keys.txt}").stdout) == want
    over = ddl("--splits", "keys.txt", regions="{split: hex, count: 16}")
    assert keys(over.stdout) == want


def test_many_keys_stay_in_their_file(ddl, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "many.txt").write_text("".join(f"{i:04}\n" for i in range(501)))
    done = ddl("--splits", "sub/many.txt")
    assert done.returncode == 0 and keys(done.stdout) is None
    assert "File.join(folder, 'many.txt')" in done.stdout and "== 501" in done.stdout
    assert "501" in done.stderr and "many.txt" in done.stderr
    assert ddl("--splits", "sub/many.txt", "--quiet").stderr == ""


@pytest.mark.parametrize("text,words", [
    ("b\na\n", ["keys.txt:2", "below"]), ("a\na\n", ["keys.txt:2", "found the previous key again"]),
    ("a\n\nb\n", ["keys.txt:2", "empty"]), ("\\xab\n", ["keys.txt:1", "upper"]),
    ("\u00e4\n", ["keys.txt:1", "0xC3"])])
def test_bad_splits_file(ddl, tmp_path, text, words):
    (tmp_path / "keys.txt").write_text(text)
    done = ddl("--splits", "keys.txt")
    assert done.returncode == 1 and done.stdout == ""
    assert all(w in done.stderr for w in words), done.stderr


@pytest.mark.parametrize("args,how,words", [
    ([], {"regions": "{split: sampled, count: 4}"}, ["from the data", "saltmill plan", "--splits"]),
    ([], {"regions": "{split: uniform, size: 1G}"}, ["needs data", "--splits"]),
    (["--drop", "--alter", "x"], {}, ["only one of them"]),
    (["more"], {}, ["2 operands"]),
    (["--table", "nt"], {}, ["no table `nt`", "ns:t"]),
    (["--json"], {"more": SECOND}, ["several tables", "ns:t, other"]),
    (["--table", "othre"], {"more": SECOND}, ["did you mean other?"]),
    ([], {"family": "compression: GZIP"}, ["job.yaml:12", "GZIP"]),
    ([], {"family": "ttl: 2 fortnights"}, ["job.yaml:12", "fortnights"]),
    ([], {"family": "min_versions: 3, versions: 2"}, ["job.yaml:12", "min_versions"]),
    ([], {"family": "bloomfilter: ROWPREFIX_FIXED_LENGTH"}, ["job.yaml:12", "prefix"]),
    ([], {"name": "hbase:t"}, ["job.yaml:7", "hbase"]),
])
def test_refused(ddl, args, how, words):
    done = ddl(*args, **how)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    for w in words:
        assert w in done.stderr


def test_one_of_several(ddl):
    done = ddl("--table", "other", more=SECOND)
    assert "create 'other'" in done.stdout and "ns:t" not in done.stdout


def test_all_tables(ddl):
    """The script for all tables contains the scripts of the tables, with one common end."""
    def each(*args):
        return [ddl("--table", name, *args, more=SECOND).stdout for name in ("ns:t", "other")]
    for args in ((), ("--drop",)):
        done = ddl(*args, more=SECOND)
        first, second = each(*args)
        assert done.returncode == 0 and done.stdout == first.removesuffix("exit\n") + second, done.stderr
        assert done.stdout.count("\nexit\n") == 1 and done.stdout.endswith("\nexit\n")
    for args in (("--json",), ("--alter", "now.txt"), ("--splits", "now.txt")):
        done = ddl(*args, more=SECOND)
        assert done.returncode == 2 and "--table" in done.stderr, done.stderr


def test_drop(ddl):
    done = ddl("--drop", regions="{split: sampled, count: 4}")
    assert done.returncode == 0, done.stderr
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert lines.index("disable 'ns:t'") < lines.index("drop 'ns:t'")
    assert "if exists('ns:t')" in lines and lines[-1] == "exit"


DESCRIBE = """\
Table ns:t is ENABLED
ns:t, {TABLE_ATTRIBUTES => {METADATA => {'hbase.store.file-tracker.impl' => 'DEFAULT'}}}
COLUMN FAMILIES DESCRIPTION
{NAME => 'f', INDEX_BLOCK_ENCODING => 'NONE', VERSIONS => '1', KEEP_DELETED_CELLS => 'FALSE',
 DATA_BLOCK_ENCODING => 'NONE', TTL => '86400 SECONDS (1 DAY)', MIN_VERSIONS => '0',
 REPLICATION_SCOPE => '0', BLOOMFILTER => 'ROW', IN_MEMORY => 'false', COMPRESSION => 'NONE',
 BLOCKCACHE => 'true', BLOCKSIZE => '65536 B (64KB)'}

1 row(s)
"""


def test_alter(ddl, tmp_path):
    (tmp_path / "now.txt").write_text(DESCRIBE)
    done = ddl("--alter", "now.txt", family="versions: 3, ttl: 1d, compression: ZSTD")
    assert done.returncode == 0, done.stderr
    flat = " ".join(done.stdout.split())
    assert "alter 'ns:t', {NAME => 'f', VERSIONS => 3, COMPRESSION => 'ZSTD'}" in flat
    same = ddl("--alter", "now.txt", family="ttl: 1d")
    assert "alter" not in same.stdout and "has all attributes" in same.stdout


@pytest.mark.parametrize("there,same", [("true", True), ("false", False)])
def test_alter_finds_attributes_among_the_metadata(ddl, tmp_path, there, same):
    """HBase 2.6 prints NORMALIZATION_ENABLED here."""
    (tmp_path / "now.txt").write_text(
        DESCRIBE.replace("METADATA => {", f"METADATA => {{'NORMALIZATION_ENABLED' => '{there}', "))
    done = ddl("--alter", "now.txt", family="ttl: 1d", attributes="normalization_enabled: true")
    assert done.returncode == 0, done.stderr
    assert ("has all attributes" in done.stdout) == same
    assert ("NORMALIZATION_ENABLED => true" in done.stdout) != same


def test_alter_wants_describe(ddl, tmp_path):
    (tmp_path / "now.txt").write_text("ERROR: Table ns:t does not exist.\n")
    done = ddl("--alter", "now.txt")
    assert done.returncode == 1 and "now.txt" in done.stderr and "describe" in done.stderr
    assert ddl("--alter", "nowhere.txt").returncode == 1


def test_json(ddl):
    answer = json.loads(ddl("--json").stdout)
    assert answer == {"table": "ns:t", "script": ddl().stdout}


FRAMED = "warning: table ns:t: found ZSTD without `framing:`, so the files have the framing of HBase's own codec"


@pytest.mark.parametrize("family,told", [
    ("compression: ZSTD", True), ("compression: {codec: ZSTD, level: 9}", True), ("compression: GZ", False),
    ("compression: {codec: ZSTD, framing: hbase}", False), ("compression: {codec: ZSTD, framing: hadoop}", False)])
def test_framing_that_is_not_said(ddl, saltmill, tmp_path, family, told):
    """All commands that write a script or files name the clusters that can read the files, until the job states the
    framing."""
    (tmp_path / "in.csv").write_text("id,at,value\n1,1500000000,x\n")
    done = ddl(family=family)
    assert done.returncode == 0 and done.stderr.count(FRAMED) == told
    assert ddl("--quiet", family=family).stderr == ddl("--drop", family=family).stderr == ""
    ddl(family=family)
    for command in (["plan", "job.yaml", "--threads", "1"], ["load", "job.yaml", "-o", "out"]):
        done = subprocess.run([saltmill, *command], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0 and done.stderr.count(FRAMED) == told, done.stderr
    job = (tmp_path / "job.yaml").read_text().replace("csv: {files: [in.csv]}",
                                                      'kafka: {brokers: "127.0.0.1:1", topic: t, format: json}')
    (tmp_path / "job.yaml").write_text(job)
    stream = subprocess.Popen([saltmill, "stream", "job.yaml", "--state", "state"], cwd=tmp_path, text=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    first = stream.stderr.readline()
    stream.send_signal(signal.SIGTERM)
    rest = stream.communicate(timeout=30)[1]
    assert (FRAMED in first, FRAMED in rest) == (told, False)


def test_framing_of_the_examples(saltmill, tmp_path):
    """The jobs of conf/ state the framing."""
    conf = pathlib.Path(__file__).resolve().parents[2] / "conf"
    (tmp_path / "none.txt").write_text("")
    jobs = [j for j in conf.glob("*.yaml") if "ZSTD" in j.read_text()]
    assert len(jobs) >= 3
    for job in jobs:
        done = subprocess.run([saltmill, "ddl", job, "--splits", tmp_path / "none.txt"], capture_output=True, text=True,
                              timeout=60, check=False)
        assert done.returncode == 0 and done.stderr == "", (job, done.stderr)
