"""Tests HFiles with codecs that saltmill reads, but does not write, encrypted files and files with a dictionary of ZSTD.
HBase's own writer made them: hbase2/Writer.java the files in hbase2/files.zip, and hbase2/Campaign.java random files in
hbase2/random.zip. Each file has a list of its cells. `make hfiles` makes and compares more random files.
"""

import json
import os
import subprocess
import zipfile

import pytest

import loads
from test_diff import hfile
from test_older_hfiles import cells_in, shown_of

with zipfile.ZipFile(loads.ROOT / "tests" / "hbase2" / "files.zip") as z:
    FILES = {n: z.read(n) for n in z.namelist() if not n.endswith(".cells")}
    CELLS = {n.removesuffix(".cells"): cells_in(z.read(n).decode()) for n in z.namelist() if n.endswith(".cells")}
with zipfile.ZipFile(loads.ROOT / "tests" / "hbase2" / "random.zip") as z:
    RANDOM = {n: z.read(n) for n in z.namelist()}
RANDOM_NAMES = [n for n in RANDOM if "." not in n]
ENCRYPTED = next(n for n in RANDOM_NAMES if n.endswith("ZSTD-PREFIX-ROW-small-encrypted"))
DICTIONARY = next(n for n in RANDOM_NAMES if n.endswith("-small-dictionary"))
CODECS = ("BZIP2", "LZMA", "BROTLI", "LZO")


def shown(path, *options):
    done = loads.run("inspect", "--cells", "--json", path, *options)
    assert done.returncode == 0, done.stderr
    [found] = json.loads(done.stdout)
    return found, [{k: v for k, v in c.items() if k != "time"} for c in found["cells"]]


@pytest.mark.parametrize("codec", CODECS)
def test_cells(tmp_path, codec):
    names = [n for n in FILES if n.split("-")[2] == codec]
    assert {n.split("-")[4] for n in names} == {"small", "usual", "long"}
    for name in names:
        path = tmp_path / name
        path.write_bytes(FILES[name])
        found, cells = shown(path)
        assert cells == [shown_of(c) for c in CELLS[name]]
        assert found["trailer"]["compression"] == codec
        verified = json.loads(loads.run("verify", "--json", path).stdout)
        assert verified["ok"] and verified["cells"] == len(cells), verified


@pytest.mark.parametrize("codec", CODECS)
def test_convert(tmp_path, codec):
    name = next(n for n in FILES if n.split("-")[2] == codec)
    source = hfile(tmp_path, "in", FILES[name])
    for how in (["convert", source], ["merge", source], ["convert", source, "--what-if"]):
        done = loads.run(*how, *([] if "--what-if" in how else ["-o", tmp_path / "no"]), "--table", "t")
        assert done.returncode == 2 and f"found COMPRESSION {codec}, which saltmill reads but does not write" in done.stderr
    done = loads.run("convert", source, "-o", tmp_path / "out", "--table", "t", "--compression", "GZ")
    assert done.returncode == 0, done.stderr
    [path] = (tmp_path / "out/t/hfiles/cf").iterdir()
    found, cells = shown(path)
    assert found["trailer"]["compression"] == "GZ"
    assert cells == [shown_of((*c[:5], 0, c[6])) for c in CELLS[name]]


@pytest.mark.parametrize("codec", CODECS)
def test_salvage(tmp_path, codec):
    """The blocks tell the codec. The new file has GZ, which every HBase reads."""
    name = next(n for n in FILES if n.split("-")[2] == codec and n.endswith("-small"))
    (tmp_path / "damaged").write_bytes(FILES[name][:-4096])
    done = loads.run("inspect", tmp_path / "damaged", "--salvage", tmp_path / "out")
    assert done.returncode == 3, done.stderr
    found, cells = shown(tmp_path / "out")
    assert found["trailer"]["compression"] == "GZ"
    assert cells == [shown_of((*c[:5], 0, c[6])) for c in CELLS[name]]


def test_without_library(tmp_path):
    """The message names the package of liblzo2, which a user installs."""
    path = tmp_path / "file"
    path.write_bytes(next(c for n, c in FILES.items() if "LZO" in n))
    (tmp_path / "liblzo2.so.2").write_text("not a library")
    done = loads.run("inspect", "--cells", path, env=dict(os.environ, LD_LIBRARY_PATH=str(tmp_path)))
    assert done.returncode == 1 and "cannot load liblzo2.so.2 (Debian's package liblzo2-2)" in done.stderr


def unpacked(folder, *names):
    """Writes the files, and returns the options for their keys and their dictionary."""
    for name in ("keys.txt", "zstd.dictionary", *names):
        (folder / name).write_bytes(RANDOM[name])
    return ["--master-keys", folder / "keys.txt", "--zstd-dictionary", folder / "zstd.dictionary"]


def cells_of(name):
    return cells_in(RANDOM[name + ".cells"].decode())


def test_the_random_files():
    """Checks that the files contain the features that this test needs."""
    features = {tuple(n.split("-")[i] for i in (2, 3)) for n in RANDOM_NAMES}
    assert {c for c, _ in features} == {"NONE", "GZ", "SNAPPY", "ZSTD", "LZ4"}
    assert {e for _, e in features} == {"NONE", "PREFIX", "DIFF", "FAST_DIFF", "ROW_INDEX_V1"}
    assert {n.split("-")[2] for n in RANDOM_NAMES if "-encrypted" in n} == {"NONE", "GZ", "SNAPPY", "ZSTD"}
    assert any(n.endswith("-encrypted-dictionary") for n in RANDOM_NAMES)


@pytest.mark.parametrize("name", RANDOM_NAMES)
def test_random(tmp_path, name):
    options = unpacked(tmp_path, name)
    _, cells = shown(tmp_path / name, *options)
    assert cells == [shown_of(c) for c in cells_of(name)]
    verified = json.loads(loads.run("verify", "--json", tmp_path / name, *options).stdout)
    assert verified["ok"] and verified["cells"] == len(cells), verified


def keys_in(text):
    return [line for line in text.decode().split() if len(line) == 32]


@pytest.mark.parametrize("keys, status, why", [
    (None, 1, "found an encrypted file, because its family has ENCRYPTION AES, expected a master key"),
    ("00" * 16, 1, "found no master key that opens this encrypted file, expected one of the 1 given"),
    ("# comment\n\n" + "ab" * 15 + "\n", 2, "keys:3: found 30 characters that are not a master key, expected 32 hex digits"),
    ("xy" * 16, 2, "keys:1: found 32 characters that are not a master key"),
    ("# no key\n", 2, "keys: found no master key, expected 32 hex digits on each line"),
    ("00" * 16 + "\n" + "11" * 16 + "\n", 1, "expected one of the 2 given"),
])
def test_no_master_key(tmp_path, keys, status, why):
    """No message contains a key, not even a mistyped one."""
    unpacked(tmp_path, ENCRYPTED)
    (tmp_path / "keys").write_text(keys or "")
    for command in (["inspect", "--cells"], ["verify"]):
        done = loads.run(*command, tmp_path / ENCRYPTED, *(["--master-keys", tmp_path / "keys"] if keys else []))
        said = done.stdout + done.stderr
        assert (done.returncode, why in said) == (status, True), said
        assert status == 2 or "--master-keys FILE" in said
        assert not any(line in said for line in (keys or "").split() if len(line) > 20)
        assert not any(key in said for key in keys_in(RANDOM["keys.txt"]))


def test_key_of_a_keystore(tmp_path):
    """The guide's command prints the key in HBase's keystore."""
    guide = (loads.ROOT / "conf/guide/security.md").read_text()
    command = next(part for part in guide.split("\n```\n") if "jshell -s" in part).strip()
    (tmp_path / "hbase.jks").write_bytes(RANDOM["keys.jceks"])
    subprocess.run(["bash", "-c", command.replace("PASSWORD", "saltmill")], cwd=tmp_path, check=True)
    assert (tmp_path / "master.keys").read_text().strip() == keys_in(RANDOM["keys.txt"])[0]


@pytest.mark.parametrize("content, status, why", [
    (None, 1, "found a block that needs the ZSTD dictionary "),
    (b"no dictionary", 2, "found no ZSTD dictionary, expected a file that begins with 37 a4 30 ec"),
    (b"\x37\xa4\x30\xec" + bytes(100), 2, "found a ZSTD dictionary that libzstd cannot load"),
])
def test_no_dictionary(tmp_path, content, status, why):
    unpacked(tmp_path, DICTIONARY)
    number = int.from_bytes(RANDOM["zstd.dictionary"][4:8], "little")
    (tmp_path / "other").write_bytes(content or b"")
    options = ["--zstd-dictionary", tmp_path / "other"] if content else []
    done = loads.run("inspect", "--cells", tmp_path / DICTIONARY, *options)
    assert done.returncode == status and why in done.stderr, done.stderr
    assert content or (str(number) in done.stderr and "--zstd-dictionary FILE" in done.stderr)


@pytest.mark.parametrize("name", [ENCRYPTED, DICTIONARY])
def test_convert_clears(tmp_path, name):
    """The new file needs neither key nor dictionary."""
    options = unpacked(tmp_path)
    done = loads.run("convert", hfile(tmp_path, "in", RANDOM[name]), "-o", tmp_path / "out", "--table", "t", *options)
    assert done.returncode == 0, done.stderr
    [path] = (tmp_path / "out/t/hfiles/cf").iterdir()
    assert shown(path)[1] == [shown_of((*c[:5], 0, c[6])) for c in cells_of(name)]


@pytest.mark.parametrize("encoding", ["NONE", "PREFIX", "DIFF", "FAST_DIFF", "ROW_INDEX_V1"])
def test_sequence_ids_stay(tmp_path, encoding):
    """A store file keeps the mvcc of each cell, also after tags. Its entries are those of HBase's compaction."""
    options = unpacked(tmp_path)
    names = [n for n in RANDOM_NAMES if "-mvcc-" in n and any(c[5] > 127 for c in cells_of(n))]
    assert any("-tags-" in n for n in names) and any("-tags-" not in n for n in names)
    for name in names:
        source, out = hfile(tmp_path, "in-" + name, RANDOM[name]), tmp_path / ("out-" + name)
        done = loads.run("convert", source, "-o", out, "--table", "t", "--data-block-encoding", encoding, "--compression", "GZ",
                         "--keep-sequence-ids", *options)
        assert done.returncode == 0, done.stderr
        [path] = (out / "t/hfiles/cf").iterdir()
        found, cells = shown(path)
        assert cells == [shown_of(c) for c in cells_of(name)]
        info, before = ({e["key"]: e["value"] for e in f["file_info"]} for f in (found, shown(source / "cf" / "a", *options)[0]))
        assert info["MAX_MEMSTORE_TS_KEY"] == max(c[5] for c in cells_of(name)) and "BULKLOAD_TIMESTAMP" not in info
        assert info["MAX_SEQ_ID_KEY"] == before["MAX_SEQ_ID_KEY"]


def test_sequence_ids_of_several_tables(tmp_path):
    done = loads.run("merge", tmp_path, tmp_path, "-o", tmp_path / "out", "--keep-sequence-ids")
    assert done.returncode == 2 and "found several inputs, expected one table" in done.stderr


def test_salvage_encrypted(tmp_path):
    """A changed byte costs one block. Without the trailer, the file's key is lost."""
    options = unpacked(tmp_path)
    content = bytearray(RANDOM[ENCRYPTED])
    content[content.index(b"DATABLKE", 1) + 60] ^= 1
    (tmp_path / "damaged").write_bytes(content)
    done = loads.run("inspect", tmp_path / "damaged", "--salvage", tmp_path / "out", *options)
    assert done.returncode == 3, done.stderr
    all_cells = [shown_of((*c[:5], 0, c[6])) for c in cells_of(ENCRYPTED)]
    cells = shown(tmp_path / "out")[1]
    assert 0 < len(cells) < len(all_cells) and [c for c in all_cells if c in cells] == cells
    (tmp_path / "headless").write_bytes(content[:-4096])
    done = loads.run("inspect", tmp_path / "headless", "--salvage", tmp_path / "none", *options)
    assert done.returncode == 1 and not (tmp_path / "none").exists(), done.stderr


def test_without_libcrypto(tmp_path):
    options = unpacked(tmp_path, ENCRYPTED)
    (tmp_path / "libcrypto.so.3").write_text("not a library")
    done = loads.run("verify", tmp_path / ENCRYPTED, *options, env=dict(os.environ, LD_LIBRARY_PATH=str(tmp_path)))
    assert done.returncode == 1 and "cannot load libcrypto.so.3 (Debian's package libssl3)" in done.stdout + done.stderr
