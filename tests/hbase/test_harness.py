"""Tests the harness with files by HBase's own writer. Each check of the harness can pass and can fail."""

import pytest
from cluster import HBaseError

ROWS = [(b"\x00\x80\x01", b"q1", 1000, b"v1"), (b"\x00\x80\x01", b"q2", 1000, b"v2"),
        (b"a", b"q1", 2000, b"")]


def create(hbase, folder, text):
    script = folder / "create.rb"
    script.write_text(text)
    return hbase.run_script(script)


@pytest.fixture
def table(hbase, tmp_path):
    name = "harness_" + "".join(c for c in tmp_path.name if c.isalnum())
    create(hbase, tmp_path, f"create '{name}', {{NAME => 'f'}}, SPLITS => ['\\x00\\x80', 'b']\n")
    (tmp_path / "hfiles" / "f").mkdir(parents=True)
    return name


@pytest.mark.parametrize("compression,bloom", [("NONE", "NONE"), ("ZSTD", "ROW"), ("GZ", "ROWCOL")])
def test_good_file_loads(hbase, table, tmp_path, compression, bloom):
    file = tmp_path / "hfiles" / "f" / "one"
    hbase.write_hfile(file, ROWS, compression, bloom)
    size = file.stat().st_size
    assert hbase.pretty(file)[1] == []
    assert hbase.bulk_load(tmp_path / "hfiles", table) == {"files": 1, "regions": 1}
    assert hbase.splits(table) == ["\\x00\\x80", "b"]
    assert [[f["bytes"] for f in r["files"]] for r in hbase.store_files(table)] == [[], [size], []]
    assert hbase.scan(table, raw=True) == [
        "008001\tf:7131:1000:7631\tf:7132:1000:7632", "61\tf:7131:2000:"]
    assert hbase.get(table, [b"a", b"absent"]) == ["61\tf:7131:2000:", None]
    assert hbase.scan(table, filter="ColumnCountGetFilter(1)", limit=1) == [
        "008001\tf:7131:1000:7631"]


def test_file_over_a_split_is_refused(hbase, table, tmp_path):
    hbase.write_hfile(tmp_path / "hfiles" / "f" / "one", ROWS + [(b"c", b"q", 1, b"")])
    with pytest.raises(HBaseError, match="(?i)split"):
        hbase.bulk_load(tmp_path / "hfiles", table)


def test_wrong_order_is_seen(hbase, tmp_path):
    """Two rows of an uncompressed file change places, with unchanged checksums."""
    file = tmp_path / "f" / "one"
    file.parent.mkdir()
    hbase.write_hfile(file, [(b"row-1", b"q", 1, b""), (b"row-2", b"q", 1, b"")])
    data = bytearray(file.read_bytes())
    at, other = data.find(b"row-1"), data.find(b"row-2")
    data[at + 4], data[other + 4] = data[other + 4], data[at + 4]
    file.write_bytes(data)
    (file.parent / ".one.crc").unlink()
    assert hbase.pretty(file)[1] != []


def test_bad_checksum_is_seen(hbase, table, tmp_path):
    file = tmp_path / "hfiles" / "f" / "one"
    hbase.write_hfile(file, ROWS)
    data = bytearray(file.read_bytes())
    end = int.from_bytes(data[29:33], "big")  # onDiskDataSizeWithHeader; checksums follow
    data[end] ^= 1
    file.write_bytes(data)
    (file.parent / ".one.crc").unlink()  # otherwise Hadoop's own checksum reports it first
    before = len(hbase.checksum_warnings())
    hbase.bulk_load(tmp_path / "hfiles", table)
    assert len(hbase.scan(table, raw=True)) == 2
    assert len(hbase.checksum_warnings()) > before


@pytest.mark.parametrize("text,reason", [
    ("create 't', {NAME => 'f', 'COMPRESION' => 'GZ'}", "ignore COMPRESION"),
    ("create 't', {NAME => 'f'}, COMPRESSION => 'GZ'", "ignore COMPRESSION"),
    ("create 't', {NAME => 'f', MAX_FILESIZE => 1}", "ignore MAX_FILESIZE"),
    ("create 't', {NAME => 'f', COMPRESION => 'GZ'}", "NameError"),
    ("create 't', {NAME => 'f', COMPRESSION => 'GZIP'}", "not supported"),
    ("create 't', 'f', SPLITS => ['a', 'a']", "(?i)duplicate"),
    ("create 't', MAX_FILESIZE => 10737418240", "at least one column family"),
    ("exit 3", "exit 3"),
])
def test_script_that_the_shell_would_not_obey(hbase, tmp_path, text, reason):
    with pytest.raises(HBaseError, match=reason):
        create(hbase, tmp_path, text)


def test_double_quoted_split_key_is_spoilt_as_in_the_shell(hbase, tmp_path):
    create(hbase, tmp_path, "create 'quotes', 'f', SPLITS => [\"\\x00\\x80\"]")
    assert hbase.splits("quotes") == ["\\x00\\xFD"]
