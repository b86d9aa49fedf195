"""Compares the oracle with published vectors, and tests that the oracle finds wrong tables."""

import pytest
from oracle import Cells, murmur3_32, reversed_millis, unescape


@pytest.mark.parametrize("data,want", [
    (b"", 0), (b"test", 0xBA6BD213), (b"Hello, world!", 0xC0363E43),
    (b"The quick brown fox jumps over the lazy dog", 0x2E4FF723),
    (b"\xff\xff\xff\xff", 0x76293B50), (b"\x21\x43\x65\x87", 0xF55B516B),
    (b"\x21\x43\x65", 0x7E4A8634), (b"\x21\x43", 0xA0F7B07A), (b"\x21", 0x72661CF4),
])
def test_murmur3(data, want):
    assert murmur3_32(data) == want


def test_encodings():
    assert reversed_millis(0) == b"\x7f" + b"\xff" * 7
    assert unescape("a\\x5Cx41\\x00 '") == b"a\\x41\x00 '"
    for bad in ("\\xab", "a\\b", "", "\x7f"):
        with pytest.raises(ValueError):
            unescape(bad)


@pytest.fixture
def cells():
    c = Cells()
    c.add(b"a", [("f", b"q", 5, b"old"), ("f", b"r", 5, b"")])
    c.add(b"b", [("f", b"q", 5, b"v")])
    c.add(b"a", [("f", b"q", 5, b"new")])
    return c


@pytest.mark.parametrize("text,difference", [
    ("61\tf:71:5:6e6577\tf:72:5:\n62\tf:71:5:76\n", None),
    ("61\tf:71:5:6f6c64\tf:72:5:\n62\tf:71:5:76\n", "wanted f:71:5:6e6577"),
    ("61\tf:71:5:6e6577\n62\tf:71:5:76\n", "wanted"),
    ("61\tf:71:5:6e6577\tf:72:5:\n", "1 rows are missing, among them 62"),
    ("61\tf:71:5:6e6577\tf:72:5:\n62\tf:71:5:76\n63\tf:71:5:76\n", "no such row"),
    ("62\tf:71:5:76\n61\tf:71:5:6e6577\tf:72:5:\n", "row 61 after 62"),
    ("61\tf:71:5:6e6577\tf:72:5:\n62\tf:71:6:76\n", "f:71:6:76"),
])
def test_differences(cells, tmp_path, text, difference):
    scan = tmp_path / "scan"
    scan.write_text(text)
    found = "; ".join(cells.differences(scan))
    assert cells.cells == 3
    assert cells.bloom_keys("f", "ROW") == 2 and cells.bloom_keys("f", "ROWCOL") == 3
    assert difference in found if difference else not found
