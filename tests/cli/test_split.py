"""Tests `saltmill split`, which does HBase's split arithmetic. The vectors agree with HBase's own classes
(RegionSplitter, TestRegionSplitter). A vector has the algorithm, the first and the last row, the number of regions, and
the keys. A row of None is the default. Rows and keys of UniformSplit are hex. "..." means omitted keys, and keys of
None mean an error.
"""

import json
import re
import subprocess

import pytest

VECTORS = [
    ("HexStringSplit", None, None, 2, "80000000"),
    ("HexStringSplit", None, None, 3, "55555555 aaaaaaaa"),
    ("HexStringSplit", None, None, 4, "40000000 80000000 c0000000"),
    ("HexStringSplit", None, None, 5, "33333333 66666666 99999999 cccccccc"),
    ("HexStringSplit", None, None, 7, "24924924 49249248 6db6db6c 92492490 b6db6db4 db6db6d8"),
    ("HexStringSplit", None, None, 8,
     "20000000 40000000 60000000 80000000 a0000000 c0000000 e0000000"),
    ("HexStringSplit", None, None, 10,
     "19999999 33333332 4ccccccb 66666664 7ffffffd 99999996 b333332f ccccccc8 e6666661"),
    ("HexStringSplit", None, None, 16,
     "10000000 20000000 30000000 40000000 50000000 60000000 70000000 80000000 90000000 "
     "a0000000 b0000000 c0000000 d0000000 e0000000 f0000000"),
    ("HexStringSplit", None, None, 100,
     "028f5c28 051eb850 07ae1478 0a3d70a0 0cccccc8 0f5c28f0 11eb8518 147ae140 170a3d68 "
     "19999990 1c28f5b8 1eb851e0 2147ae08 23d70a30 26666658 28f5c280 2b851ea8 2e147ad0 "
     "30a3d6f8 33333320 35c28f48 3851eb70 3ae14798 3d70a3c0 3fffffe8 428f5c10 451eb838 "
     "47ae1460 4a3d7088 4cccccb0 4f5c28d8 51eb8500 547ae128 570a3d50 59999978 5c28f5a0 "
     "5eb851c8 6147adf0 63d70a18 66666640 68f5c268 6b851e90 6e147ab8 70a3d6e0 73333308 "
     "75c28f30 7851eb58 7ae14780 7d70a3a8 7fffffd0 828f5bf8 851eb820 87ae1448 8a3d7070 "
     "8ccccc98 8f5c28c0 91eb84e8 947ae110 970a3d38 99999960 9c28f588 9eb851b0 a147add8 "
     "a3d70a00 a6666628 a8f5c250 ab851e78 ae147aa0 b0a3d6c8 b33332f0 b5c28f18 b851eb40 "
     "bae14768 bd70a390 bfffffb8 c28f5be0 c51eb808 c7ae1430 ca3d7058 cccccc80 cf5c28a8 "
     "d1eb84d0 d47ae0f8 d70a3d20 d9999948 dc28f570 deb85198 e147adc0 e3d709e8 e6666610 "
     "e8f5c238 eb851e60 ee147a88 f0a3d6b0 f33332d8 f5c28f00 f851eb28 fae14750 fd70a378"),
    ("HexStringSplit", "00", "AA", 4, "2a 54 7e"),
    ("HexStringSplit", "0", "A", 11, "1 2 3 4 5 6 7 8 9 a"),
    ("HexStringSplit", "0000", "ffff", 6, "2aaa 5554 7ffe aaa8 d552"),
    ("HexStringSplit", "20", "FFFFFF", 3, "55556a aaaab4"),
    ("HexStringSplit", "0000000000000000", "ffffffffffffffff", 3,
     "5555555555555555 aaaaaaaaaaaaaaaa"),
    ("HexStringSplit", "00000000000000000000000000000000", "ffffffffffffffffffffffffffffffff", 4,
     "40000000000000000000000000000000 80000000000000000000000000000000 "
     "c0000000000000000000000000000000"),
    ("HexStringSplit", "0", "A", 12, None),
    ("HexStringSplit", "AA", "00", 2, None),
    ("HexStringSplit", "AA", "00", 16, None),
    ("HexStringSplit", "AA", "AA", 2, None),
    ("HexStringSplit", "AA", "AA", 16, None),
    ("DecimalStringSplit", None, None, 2, "50000000"),
    ("DecimalStringSplit", None, None, 3, "33333333 66666666"),
    ("DecimalStringSplit", None, None, 4, "25000000 50000000 75000000"),
    ("DecimalStringSplit", None, None, 7, "14285714 28571428 42857142 57142856 71428570 85714284"),
    ("DecimalStringSplit", None, None, 10,
     "10000000 20000000 30000000 40000000 50000000 60000000 70000000 80000000 90000000"),
    ("DecimalStringSplit", None, None, 16,
     "06250000 12500000 18750000 25000000 31250000 37500000 43750000 50000000 56250000 "
     "62500000 68750000 75000000 81250000 87500000 93750000"),
    ("DecimalStringSplit", "0", "9", 10, "1 2 3 4 5 6 7 8 9"),
    ("DecimalStringSplit", "0000", "9999", 3, "3333 6666"),
    ("DecimalStringSplit", "0000", "9999", 7, "1428 2856 4284 5712 7140 8568"),
    ("DecimalStringSplit", "0000000000", "9999999999", 4, "2500000000 5000000000 7500000000"),
    ("DecimalStringSplit", "1700000000", "1799999999", 4, "1725000000 1750000000 1775000000"),
    ("DecimalStringSplit", None, None, 100,
     "01000000 02000000 03000000 04000000 05000000 06000000 07000000 08000000 09000000 "
     "10000000 11000000 12000000 13000000 14000000 15000000 16000000 17000000 18000000 "
     "19000000 20000000 21000000 22000000 23000000 24000000 25000000 26000000 27000000 "
     "28000000 29000000 30000000 31000000 32000000 33000000 34000000 35000000 36000000 "
     "37000000 38000000 39000000 40000000 41000000 42000000 43000000 44000000 45000000 "
     "46000000 47000000 48000000 49000000 50000000 51000000 52000000 53000000 54000000 "
     "55000000 56000000 57000000 58000000 59000000 60000000 61000000 62000000 63000000 "
     "64000000 65000000 66000000 67000000 68000000 69000000 70000000 71000000 72000000 "
     "73000000 74000000 75000000 76000000 77000000 78000000 79000000 80000000 81000000 "
     "82000000 83000000 84000000 85000000 86000000 87000000 88000000 89000000 90000000 "
     "91000000 92000000 93000000 94000000 95000000 96000000 97000000 98000000 99000000"),
    ("DecimalStringSplit", "0", "9", 11, None),
    ("UniformSplit", None, None, 2, "8000000000000000"),
    ("UniformSplit", None, None, 3, "5555555555555555 aaaaaaaaaaaaaaaa"),
    ("UniformSplit", None, None, 4, "4000000000000000 8000000000000000 c000000000000000"),
    ("UniformSplit", None, None, 5,
     "3333333333333333 6666666666666666 9999999999999999 cccccccccccccccc"),
    ("UniformSplit", None, None, 7,
     "2492492492492492 4924924924924924 6db6db6db6db6db6 9249249249249248 b6db6db6db6db6da "
     "db6db6db6db6db6c"),
    ("UniformSplit", None, None, 8,
     "2000000000000000 4000000000000000 6000000000000000 8000000000000000 a000000000000000 "
     "c000000000000000 e000000000000000"),
    ("UniformSplit", None, None, 10,
     "1999999999999999 3333333333333332 4ccccccccccccccb 6666666666666664 7ffffffffffffffd "
     "9999999999999996 b33333333333332f ccccccccccccccc8 e666666666666661"),
    ("UniformSplit", None, None, 16,
     "1000000000000000 2000000000000000 3000000000000000 4000000000000000 5000000000000000 "
     "6000000000000000 7000000000000000 8000000000000000 9000000000000000 a000000000000000 "
     "b000000000000000 c000000000000000 d000000000000000 e000000000000000 f000000000000000"),
    ("UniformSplit", None, None, 100,
     "028f5c28f5c28f5c 051eb851eb851eb8 07ae147ae147ae14 0a3d70a3d70a3d70 0ccccccccccccccc "
     "0f5c28f5c28f5c28 11eb851eb851eb84 147ae147ae147ae0 170a3d70a3d70a3c 1999999999999998 "
     "1c28f5c28f5c28f4 1eb851eb851eb850 2147ae147ae147ac 23d70a3d70a3d708 2666666666666664 "
     "28f5c28f5c28f5c0 2b851eb851eb851c 2e147ae147ae1478 30a3d70a3d70a3d4 3333333333333330 "
     "35c28f5c28f5c28c 3851eb851eb851e8 3ae147ae147ae144 3d70a3d70a3d70a0 3ffffffffffffffc "
     "428f5c28f5c28f58 451eb851eb851eb4 47ae147ae147ae10 4a3d70a3d70a3d6c 4cccccccccccccc8 "
     "4f5c28f5c28f5c24 51eb851eb851eb80 547ae147ae147adc 570a3d70a3d70a38 5999999999999994 "
     "5c28f5c28f5c28f0 5eb851eb851eb84c 6147ae147ae147a8 63d70a3d70a3d704 6666666666666660 "
     "68f5c28f5c28f5bc 6b851eb851eb8518 6e147ae147ae1474 70a3d70a3d70a3d0 733333333333332c "
     "75c28f5c28f5c288 7851eb851eb851e4 7ae147ae147ae140 7d70a3d70a3d709c 7ffffffffffffff8 "
     "828f5c28f5c28f54 851eb851eb851eb0 87ae147ae147ae0c 8a3d70a3d70a3d68 8cccccccccccccc4 "
     "8f5c28f5c28f5c20 91eb851eb851eb7c 947ae147ae147ad8 970a3d70a3d70a34 9999999999999990 "
     "9c28f5c28f5c28ec 9eb851eb851eb848 a147ae147ae147a4 a3d70a3d70a3d700 a66666666666665c "
     "a8f5c28f5c28f5b8 ab851eb851eb8514 ae147ae147ae1470 b0a3d70a3d70a3cc b333333333333328 "
     "b5c28f5c28f5c284 b851eb851eb851e0 bae147ae147ae13c bd70a3d70a3d7098 bffffffffffffff4 "
     "c28f5c28f5c28f50 c51eb851eb851eac c7ae147ae147ae08 ca3d70a3d70a3d64 ccccccccccccccc0 "
     "cf5c28f5c28f5c1c d1eb851eb851eb78 d47ae147ae147ad4 d70a3d70a3d70a30 d99999999999998c "
     "dc28f5c28f5c28e8 deb851eb851eb844 e147ae147ae147a0 e3d70a3d70a3d6fc e666666666666658 "
     "e8f5c28f5c28f5b4 eb851eb851eb8510 ee147ae147ae146c f0a3d70a3d70a3c8 f333333333333324 "
     "f5c28f5c28f5c280 f851eb851eb851dc fae147ae147ae138 fd70a3d70a3d7094"),
    ("UniformSplit", None, None, 60,
     "0444444444444444 0888888888888888 0ccccccccccccccc ... f777777777777768 "
     "fbbbbbbbbbbbbbac"),
    ("UniformSplit", None, None, 255,
     "0101010101010101 0202020202020202 0303030303030303 ... fdfdfdfdfdfdfdfd "
     "fefefefefefefefe"),
    ("UniformSplit", None, None, 256,
     "0100000000000000 0200000000000000 0300000000000000 ... fe00000000000000 "
     "ff00000000000000"),
    ("UniformSplit", None, None, 257,
     "00ff00ff00ff00ff 01fe01fe01fe01fe 02fd02fd02fd02fd ... fe01fe01fe01fe01 "
     "ff00ff00ff00ff00"),
    ("UniformSplit", None, None, 1000,
     "004189374bc6a7ef 0083126e978d4fde 00c49ba5e353f7cd ... ff7ced916872adba "
     "ffbe76c8b43955a9"),
    ("UniformSplit", None, None, 4096,
     "0010000000000000 0020000000000000 0030000000000000 ... ffe0000000000000 "
     "fff0000000000000"),
    ("UniformSplit", None, None, 65536,
     "0001000000000000 0002000000000000 0003000000000000 ... fffe000000000000 "
     "ffff000000000000"),
    ("UniformSplit", None, None, 65537,
     "0000ffff0000ffff 0001fffe0001fffe 0002fffd0002fffd ... fffe0001fffe0001 "
     "ffff0000ffff0000"),
    ("UniformSplit", "00", "aa", 4, "2a 54 7e"),
    ("UniformSplit", "00", "02", 3, "01 02"),
    ("UniformSplit", "00", "02", 4, "0080 0100 0180"),
    ("UniformSplit", "00", "0a", 11, "01 02 03 04 05 06 07 08 09 0a"),
    ("UniformSplit", "00", "0a", 12, "00d5 01aa 027f 0354 0429 04fe 05d3 06a8 077d 0852 0927"),
    ("UniformSplit", "616161", "616164", 3, "616162 616163"),
    ("UniformSplit", "616161", "616165", 4, "616162 616163 616164"),
    ("UniformSplit", "", "ffff", 10, "1999 3332 4ccb 6664 7ffd 9996 b32f ccc8 e661"),
    ("UniformSplit", "", "ff", 16, "10 20 30 40 50 60 70 80 90 a0 b0 c0 d0 e0 f0"),
    ("UniformSplit", "61", "7a", 5, "66 6b 70 75"),
    ("UniformSplit", "75736572303030", "75736572393939", 4,
     "75736572327272 7573657234b4b4 7573657236f6f6"),
    ("UniformSplit", "80", "ffff", 3, "aaaa d554"),
    ("UniformSplit", "", "ff", 257, "00fe 01fc 02fa ... fd02 fe00"),
    ("UniformSplit", "aa", "00", 2, None),
    ("UniformSplit", "aa", "00", 16, None),
    ("UniformSplit", "aa", "aa", 2, None),
    ("UniformSplit", "aa", "aa", 16, None),
]


@pytest.fixture
def split(saltmill):
    def run(*args):
        return subprocess.run([saltmill, "split", *map(str, args)], capture_output=True, text=True,
                              timeout=60, check=False)
    return run


def row_text(algorithm, row):
    """Returns the argument of setFirstRow(String). UniformSplit's rows are bytes in \\xHH form."""
    if algorithm != "UniformSplit":
        return row
    return "".join(f"\\x{b:02X}" for b in bytes.fromhex(row))


def arguments(vector):
    algorithm, first, last, regions, _ = vector
    args = [algorithm, regions]
    for option, row in (("--first", first), ("--last", last)):
        if row is not None:
            args += [option, row_text(algorithm, row)]
    return args


def named(vector):
    return "{}-{}-{}-{}".format(*vector[:4])


GOOD = [v for v in VECTORS if v[4] is not None]
BAD = [v for v in VECTORS if v[4] is None]


@pytest.mark.parametrize("vector", GOOD, ids=named)
def test_vector(split, vector):
    algorithm, regions, keys = vector[0], vector[3], vector[4]
    done = split(*arguments(vector), "--format", "hex")
    assert done.returncode == 0, done.stderr
    got = done.stdout.splitlines()
    assert len(got) == regions - 1 and got == sorted(set(got))
    raw = [bytes.fromhex(k) for k in got]
    want = keys.split()
    shown = got if algorithm == "UniformSplit" else [k.decode() for k in raw]
    if "..." in want:
        cut = want.index("...")
        behind = len(want) - cut - 1
        shown = shown[:cut] + ["..."] + shown[-behind:]
    assert shown == want
    # the other forms contain the same keys
    text = split(*arguments(vector)).stdout.splitlines()
    if algorithm == "UniformSplit":
        text = [re.sub(rb"\\x([0-9A-F]{2})", lambda m: bytes.fromhex(m[1].decode()), t.encode())
                for t in text]
        assert text == raw
    else:
        assert [t.encode() for t in text] == raw
    answer = json.loads(split(*arguments(vector), "--json").stdout)
    assert (answer["algorithm"], answer["regions"]) == (algorithm, regions)
    assert answer["hex"] == got


@pytest.mark.parametrize("vector", BAD, ids=named)
def test_refused_as_hbase_does(split, vector):
    done = split(*arguments(vector))
    assert (done.returncode, done.stdout) == (2, "")
    assert "less than first row" in done.stderr or "greater than the range" in done.stderr


@pytest.mark.parametrize("args,status,words", [
    (["HexStringSpilt", 4], 2, ["HexStringSpilt", "did you mean HexStringSplit"]),
    (["Random", 4], 2, ["Random", "UniformSplit"]),
    (["HexStringSplit"], 2, ["ALGORITHM N"]),
    (["HexStringSplit", "4x"], 2, ["4x"]),
    (["HexStringSplit", 0], 2, ["`0`"]),
    (["HexStringSplit", "-3"], 2, []),
    (["HexStringSplit", 4294967298], 2, ["4294967298"]),
    (["UniformSplit", 1], 2, ["num cannot be <= 0"]),
    (["HexStringSplit", 4, "--first", "xyz"], 2, ["xyz", "base 16"]),
    (["HexStringSplit", 4, "--format", "yaml"], 2, ["yaml", "escaped"]),
    (["UniformSplit", 4, "--format", "text"], 2, ["escaped"]),
    (["t", "HexStringSplit", "-c", 4], 2, ["family"]),
    (["t", "HexStringSplit", "-f", "f"], 2, ["number of regions"]),
    (["t", "HexStringSplit", "-c", "four", "-f", "f"], 2, ["four"]),
    (["a b", "HexStringSplit", "-c", 4, "-f", "f"], 2, ["a b", "U+0020"]),
    (["t", "HexStringSplit", "-c", 4, "-f", "f:f"], 2, ["f"]),
    (["t", "HexStringSplit", "-c", 4, "-f", ":"], 2, ["empty"]),
    (["HexStringSplit", 1], 0, []),
])
def test_arguments(split, args, status, words):
    done = split(*args)
    assert (done.returncode, done.stdout) == (status, ""), done.stderr
    for w in words:
        assert w in done.stderr


def test_region_splitter_form(split):
    """org.apache.hadoop.hbase.util.RegionSplitter test_table HexStringSplit -c 10 -f info"""
    done = split("test_table", "HexStringSplit", "-c", 10, "-f", "info:more")
    assert done.returncode == 0, done.stderr
    flat = " ".join(done.stdout.split())
    assert "create 'test_table', {NAME => 'info'," in flat and "{NAME => 'more'," in flat
    keys = re.search(r"SPLITS => \[(.*?)\]", flat)[1]
    assert re.findall("'([^']*)'", keys) == (
        "19999999 33333332 4ccccccb 66666664 7ffffffd 99999996 b333332f ccccccc8 e6666661").split()
    ranged = split("test_table", "HexStringSplit", "-c", 4, "-f", "info", "--firstrow", "00",
                   "--lastrow", "AA", "--format", "text")
    assert ranged.stdout.split() == ["2a", "54", "7e"]


def test_clause(split):
    done = split("UniformSplit", 3, "--last", "\\xFF", "--format", "ddl")
    assert done.stdout == "SPLITS => ['U', '\\xAA']\n"


def test_full_class_name(split):
    name = "org.apache.hadoop.hbase.util.RegionSplitter$DecimalStringSplit"
    assert split(name, 2).stdout == "50000000\n"
