"""Tests scripts of `saltmill ddl`, `split` and `drift` in a real HBase. The tables get the attributes of the scripts."""

import subprocess

import pytest
from cluster import wait_until
from oracle import unescape

JOB = """\
source:
  csv: {{files: [in.csv]}}
fields:
  key: {{type: hex}}
  at: {{type: time, unit: s}}
tables:
  - name: "{name}"
    rowkey: [{{field: key, as: bytes}}]
    timestamp: at
    attributes: {{{attributes}}}
    families:
      f: {{{family}}}
    cells:
      - {{family: f, qualifier: v, value: key}}
    regions: {regions}
"""
CONSTANT_SIZE = "org.apache.hadoop.hbase.regionserver.ConstantSizeRegionSplitPolicy"
# the output of the shell's describe, from the descriptor's own text
DESCRIBE = """\
d = @java.getDescriptor(TableName.valueOf('{name}'))
puts "Table {name} is ENABLED"
puts "{name}" + d.toStringTableAttributes
puts "COLUMN FAMILIES DESCRIPTION"
d.getColumnFamilies.each {{ |f| puts f.to_s, '' }}
"""
# the shell's split: raw bytes of the Ruby string, no toBytesBinary
SPLIT = "def split(name, key)\n  @java.split(TableName.valueOf(name), key.to_java_bytes)\nend\n"
ALL_BYTES = [bytes([b]) for b in range(256)]


class Shell:
    """Writes the program's scripts to files and evaluates them."""

    def __init__(self, saltmill, hbase, folder):
        self.saltmill, self.hbase, self.folder = saltmill, hbase, folder
        self.name = "ddl_" + "".join(c for c in folder.name if c.isalnum())

    def job(self, name=None, attributes="", family="", regions="{split: none}"):
        self.name = name or self.name
        text = JOB.format(name=self.name, attributes=attributes, family=family, regions=regions)
        (self.folder / "job.yaml").write_text(text)

    def output(self, *args):
        done = subprocess.run([self.saltmill, *map(str, args)], cwd=self.folder, capture_output=True,
                              text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def run(self, text, before=""):
        script = self.folder / "script.rb"
        script.write_text(before + text)
        return self.hbase.run_script(script)

    def ddl(self, *args):
        return self.run(self.output("ddl", "job.yaml", *args))

    def splits(self):
        return [unescape(s) for s in self.hbase.splits(self.name)]

    def state(self):
        return self.hbase.describe(self.name), self.hbase.store_files(self.name)


@pytest.fixture
def shell(saltmill, hbase, tmp_path):
    one = Shell(saltmill, hbase, tmp_path)
    yield one
    one.run(f"if exists?('{one.name}')\n disable '{one.name}'\n drop '{one.name}'\nend\n")


def write_keys(file, keys):
    file.write_text("".join("".join(f"\\x{b:02X}" for b in k) + "\n" for k in keys))


@pytest.mark.parametrize("keys", [
    [bytes(range(i, i + 16)) for i in range(0, 256, 16)],
    sorted(a + b for a in (b"\x00", b"\xff") for b in ALL_BYTES),  # too many keys for the script, so they are in a file
], ids=["inline", "file"])
def test_every_byte(shell, tmp_path, keys):
    write_keys(tmp_path / "keys.txt", keys)
    shell.job(name="saltmill_ddl:every_byte", regions="{split: file, file: keys.txt}")
    assert "Created" in shell.ddl()
    assert shell.splits() == keys
    before = shell.state()
    assert before[0]["table"]["SPLIT_POLICY"] == CONSTANT_SIZE
    assert "nothing was changed" in shell.ddl()
    assert shell.state() == before


@pytest.mark.parametrize("algorithm,kind,regions", [
    ("UniformSplit", "uniform", 60), ("HexStringSplit", "hex", 16), ("DecimalStringSplit", "decimal", 7)])
def test_the_same_keys_as_hbase_computes(shell, algorithm, kind, regions):
    """Compares HBase's own arithmetic of NUMREGIONS and SPLITALGO with `saltmill split`."""
    shell.job(regions=f"{{split: {kind}, count: {regions}}}")
    shell.ddl()
    keys = shell.output("split", algorithm, regions, "--format", "hex").split()
    assert len(keys) == regions - 1
    assert shell.splits() == [bytes.fromhex(k) for k in keys]


def test_regions_from_the_key(shell, hbase):
    """Compares `split: key` of hex digits with HBase's UniformSplit. Two loads of two families then fit the regions."""
    shell.job(regions="{split: uniform, count: 16}")
    shell.ddl()
    uniform = shell.splits()
    shell.run(f"disable '{shell.name}'\ndrop '{shell.name}'\n")
    shell.job(regions="{split: key, count: 16}")
    job = shell.folder / "job.yaml"
    text = job.read_text().replace("      f: {}\n", "      f: {}\n      g: {other_load: true}\n")
    job.write_text(text)
    assert "Created" in shell.ddl()
    assert shell.splits() == [k.rstrip(b"\0") for k in uniform]
    (shell.folder / "in.csv").write_text("key,at\n" + "".join(f"{i * 2654435761 % 2**32:08x},{i}\n" for i in range(500)))
    other = shell.folder / "other.yaml"
    other.write_text(text.replace("f: {}", "f: {other_load: true}").replace("g: {other_load: true}", "g: {}")
                     .replace("family: f", "family: g"))
    for name in ("job.yaml", "other.yaml"):
        shell.output("load", name, "-o", "out-" + name, "--quiet")
        shell.output("apply", "out-" + name, "--hbase", hbase.master, "--quiet")
    for name in ("job.yaml", "other.yaml"):  # a job reads its own family
        assert shell.output("scan", name, "--hbase", hbase.master, "--quiet") == "500 rows, 500 cells\n"


def test_region_splitter_form(shell):
    script = shell.output("split", shell.name, "HexStringSplit", "-c", 10, "-f", "info:more")
    shell.run(script)
    assert b" ".join(shell.splits()) == (
        b"19999999 33333332 4ccccccb 66666664 7ffffffd 99999996 b333332f ccccccc8 e6666661")
    assert set(shell.hbase.describe(shell.name)["families"]) == {"info", "more"}
    before = shell.state()
    shell.run(script)
    assert shell.state() == before


def test_zstd_of_the_other_framing(shell):
    """The script checks its configuration, and creates no table whose files the servers could not read."""
    shell.job(family="compression: {codec: ZSTD, framing: hadoop}")
    with pytest.raises(Exception, match="this cluster's codec is org.apache.hadoop.hbase.io.compress.zstd.ZstdCodec, "
                                        "which cannot read the files: write `framing: hbase`"):
        shell.ddl()
    shell.job(family="compression: {codec: ZSTD, framing: hbase}")
    script = shell.output("ddl", "job.yaml")
    asks = "org.apache.hadoop.hbase.HBaseConfiguration.create.get("
    assert script.count(asks) == 1
    with pytest.raises(Exception, match="this cluster's codec is org.apache.hadoop.io.compress.ZStandardCodec, which "
                                        "cannot read the files: set hbase.io.compress.zstd.codec"):
        # a stock cluster's setting
        shell.run(script.replace(asks, "org.apache.hadoop.conf.Configuration.new(false).get("))
    with pytest.raises(Exception, match="(?i)not.*found|does not exist"):
        shell.hbase.describe(shell.name)
    assert "Created" in shell.run(script)


def test_drop(shell):
    shell.job()
    shell.ddl()
    shell.ddl("--drop")
    with pytest.raises(Exception, match="(?i)not.*found|does not exist"):
        shell.hbase.describe(shell.name)
    assert "no such table" in shell.ddl("--drop")


WANTED = {"VERSIONS": "5", "MIN_VERSIONS": "2", "TTL": "93600", "BLOOMFILTER": "ROWCOL", "COMPRESSION": "GZ",
          "DATA_BLOCK_ENCODING": "FAST_DIFF", "BLOCKSIZE": "16384", "IN_MEMORY": "true"}


def test_alter(shell, tmp_path):
    """ddl --alter changes a plain table to the job's attributes with the table's describe output, twice."""
    shell.job(attributes="max_filesize: 4 GB")
    shell.ddl()
    shell.job(attributes="max_filesize: 8 GB, durability: ASYNC_WAL, normalization_enabled: false",
              family="versions: 5, min_versions: 2, ttl: 26h, bloomfilter: ROWCOL, compression: GZ, "
                     "data_block_encoding: FAST_DIFF, blocksize: 16384, in_memory: true")
    described = tmp_path / "describe.txt"
    described.write_text(shell.run(DESCRIBE.format(name=shell.name)))
    script = shell.output("ddl", "job.yaml", "--alter", described)
    for _ in range(2):
        shell.run(script)
        have = shell.hbase.describe(shell.name)
        assert have["enabled"]
        assert {k: have["families"]["f"].get(k) for k in WANTED} == WANTED
        assert (have["table"]["MAX_FILESIZE"], have["table"]["DURABILITY"],
                have["table"]["NORMALIZATION_ENABLED"]) == (str(8 << 30), "ASYNC_WAL", "false")
    described.write_text(shell.run(DESCRIBE.format(name=shell.name)))
    again = shell.output("ddl", "job.yaml", "--alter", described)
    assert "has all attributes" in again and "alter '" not in again
    shell.run(again)
    assert shell.hbase.describe(shell.name) == have


def test_alter_adds_what_the_table_lacks(shell, tmp_path):
    shell.job(family="bloomfilter: NONE")
    shell.run(f"create '{shell.name}', {{NAME => 'other', VERSIONS => 7}}\n")
    described = tmp_path / "describe.txt"
    described.write_text(shell.run(DESCRIBE.format(name=shell.name)))
    shell.ddl("--alter", described)
    have = shell.hbase.describe(shell.name)["families"]
    assert have["other"]["VERSIONS"] == "7" and have["f"]["BLOOMFILTER"] == "NONE"


def get_splits(shell):
    """Returns the output of the shell's get_splits."""
    keys = shell.hbase.splits(shell.name)
    return "".join(line + "\n" for line in [f"Total number of splits = {len(keys) + 1}", *keys])


def test_load_into_live_regions(shell, tmp_path):
    keys = [b"\x10", b"'\"#{x} | ", b"\\\\n", b"\x80\xff", b"\xc3\xa9"]
    write_keys(tmp_path / "keys.txt", sorted(keys))
    shell.job(regions="{split: file, file: keys.txt}")
    shell.ddl()
    shell.job(regions="{split: sampled, count: 3}")
    rows = [k + end for k in ALL_BYTES + keys for end in (b"", b"\x00", b"\xff")]
    (tmp_path / "in.csv").write_text("key,at\n" + "".join(f"{k.hex()},1500000000\n" for k in rows))
    (tmp_path / "live.txt").write_text(get_splits(shell))
    shell.output("load", "job.yaml", "--existing", "live.txt", "-o", "out")
    done = shell.hbase.bulk_load(tmp_path / "out" / shell.name / "hfiles", shell.name)
    assert done["files"] == 6  # one file a region, none split, which the harness forbids
    assert len(shell.hbase.scan(shell.name)) == len(set(rows))


def test_drift_mends(shell, tmp_path):
    """All rows are around a difficult key, in one region of three. `split` at this key makes two regions."""
    hard = b"\x24#{x}\"\\ \x80\xc3\xa9"
    write_keys(tmp_path / "keys.txt", [b"\x20", b"\x30"])
    shell.job(regions="{split: file, file: keys.txt, tolerance: 2}")
    shell.ddl()
    rows = [b"\x24#{x}\"\\ \x7f" + bytes([i]) for i in range(200)] + [hard + bytes([i]) for i in range(200)]
    (tmp_path / "in.csv").write_text("key,at\n" + "".join(f"{k.hex()},1500000000\n" for k in rows))
    (tmp_path / "live.txt").write_text(get_splits(shell))
    script = shell.output("drift", "--existing", "live.txt", "job.yaml", "--max-filesize", "1T")
    first = script.split("# HBase refuses")[0]
    shell.run(first, before=SPLIT)
    borders = wait_until(lambda: len(b := shell.splits()) == 3 and b, pause=0.3)
    below = [sum(r < b for r in rows) for b in borders]
    # one region has the rows of three regions; the script cuts it at thirds, and the first round makes the second cut
    assert below[0] == 0 and below[2] == 400 and abs(below[1] - 800 / 3) < 10
    assert borders[1] in {r[:n] for r in rows for n in range(1, len(r) + 1)}
