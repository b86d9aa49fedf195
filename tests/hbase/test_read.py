"""Tests files by HBase's own writers with many options. inspect prints the cells, and verify accepts the file. The
cells are random with a fixed seed, so the test knows them. HBase decides the bytes of the file.
"""

import json
import random
import re
import subprocess

import pytest

PUT, DELETE, DELETE_FAMILY_VERSION, DELETE_COLUMN, DELETE_FAMILY = 4, 8, 10, 12, 14
NAMES = {PUT: "Put", DELETE: "Delete", DELETE_FAMILY_VERSION: "DeleteFamilyVersion",
         DELETE_COLUMN: "DeleteColumn", DELETE_FAMILY: "DeleteFamily"}
PLAIN = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.-"


def escaped(raw):
    return "".join(chr(b) if b in PLAIN else f"\\x{b:02X}" for b in raw)


def draw_cells(rng, rows, tags, mvcc, deletes):
    """Returns (row, qualifier, ts, value, {type, tags, mvcc}) in HBase's order, without equal keys."""
    pool = [(rng.choice([2, 8, 64]), rng.randbytes(rng.randint(0, 12))) for _ in range(200)]
    cells = {}
    for _ in range(rows):
        row = rng.choice([b"r%05d" % rng.randrange(rows), rng.randbytes(rng.randint(1, 20))])
        for _ in range(rng.randint(1, 4)):
            qualifier = rng.choice([b"", b"a", b"b", b"column", rng.randbytes(3)])
            kind = PUT
            if deletes and rng.random() < 0.3:
                kind = rng.choice([DELETE, DELETE_COLUMN, DELETE_FAMILY, DELETE_FAMILY_VERSION])
            if kind in (DELETE_FAMILY, DELETE_FAMILY_VERSION):
                qualifier = b""
            more = {"type": kind}
            if tags and rng.random() < 0.6:
                more["tags"] = [rng.choice(pool) for _ in range(rng.randint(1, 3))]
            if mvcc:
                more["mvcc"] = rng.choice([0, 1, 200, 70000, 1 << 30])
            value = rng.randbytes(rng.choice([0, 3, 3, 40])) if kind == PUT else b""
            cells[row, qualifier, rng.choice([0, 5, 1700000000000, rng.randrange(1 << 45)]), kind] = (value, more)
    order = sorted(cells, key=lambda k: (k[0], k[1], -k[2], -k[3]))
    return [(*k[:3], *cells[k]) for k in order]


def shown_of(cell):
    row, qualifier, ts, value, more = cell
    shown = {"row": escaped(row), "column": "f:" + escaped(qualifier), "timestamp": ts,
             "type": NAMES[more["type"]], "value": escaped(value)}
    if more.get("mvcc"):
        shown["mvcc"] = more["mvcc"]
    if more.get("tags"):
        shown["tags"] = [{"type": t, "value": escaped(v)} for t, v in more["tags"]]
    return shown


def check(saltmill, file, cells):
    done = subprocess.run([saltmill, "inspect", "--cells", "--json", file], capture_output=True, text=True,
                          timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)[0]["cells"]
    for c in shown:
        c.pop("time")
    assert shown == [shown_of(c) for c in cells]
    done = subprocess.run([saltmill, "verify", "--json", file], capture_output=True, text=True, timeout=120, check=False)
    told = json.loads(done.stdout)
    assert done.returncode == 0 and told["ok"], told["problems"]
    assert told["cells"] == len(cells) and told["rows"] == len({c[0] for c in cells})


def options(rng, i):
    """Returns one of many sets of writer options. Each of the first sets has an option that no other set has."""
    conf = {"hbase.hash.type": ["murmur", "jenkins", "murmur3"][i % 3],
            "io.storefile.bloom.block.size": str(rng.choice([128, 512, 131072])),
            "hfile.index.block.max.size": str(rng.choice([200, 2000, 131072])),
            "hfile.index.block.min.entries": str(rng.choice([2, 16]))}
    return {"compression": rng.choice(["NONE", "NONE", "GZ", "ZSTD", "SNAPPY"]),
            "bloom": ["ROW", "ROWCOL", "NONE"][i // 3 % 3],
            "encoding": ["NONE", "PREFIX", "DIFF", "FAST_DIFF", "ROW_INDEX_V1"][i % 5],
            "tags": i % 2 == 0, "compress_tags": i % 4 == 0, "mvcc": i % 7 < 4,
            "checksum": ["CRC32C", "CRC32C", "CRC32", "NULL"][i % 4],
            "bytes_per_checksum": rng.choice([512, 16384]),
            "block_bytes": rng.choice([300, 2000, 65536]), "conf": conf}


@pytest.mark.parametrize("i", range(60))
def test_file_by_hbase(hbase, saltmill, tmp_path, i):
    rng = random.Random(1000 + i)
    file = tmp_path / "f" / "file"
    file.parent.mkdir()
    how = options(rng, i)
    cells = draw_cells(rng, rng.choice([1, 30, 400]), how["tags"], how["mvcc"], i % 3 != 1)
    hbase.write_hfile(file, cells, **how)
    check(saltmill, file, cells)


@pytest.mark.parametrize("i", range(4))
def test_meta_blocks(hbase, saltmill, tmp_path, i):
    rng = random.Random(i)
    file = tmp_path / "f" / "file"
    file.parent.mkdir()
    how = options(rng, i)
    cells = draw_cells(rng, 50, how["tags"], how["mvcc"], True)
    hbase.write_hfile(file, cells, meta={f"name{k}": rng.randbytes(30 * k).hex() for k in range(1 + i)}, **how)
    check(saltmill, file, cells)


@pytest.mark.parametrize("i", [1, 2, 4, 5, 6, 9])
def test_salvaged_file(hbase, saltmill, tmp_path, i):
    """HBase's reader reads the file that saltmill made of a damaged file by HBase's writer. It has all other cells, in order."""
    rng = random.Random(i)
    file, out = tmp_path / "f" / "file", tmp_path / "out"
    file.parent.mkdir()
    cells = draw_cells(rng, 400, i % 2 == 0, i % 4 < 2, True)
    hbase.write_hfile(file, cells, **{**options(rng, i), "block_bytes": 300, "checksum": "CRC32C"})
    data = bytearray(file.read_bytes())
    data[len(data) // 4] ^= 1
    file.write_bytes(data[:-4096] if i % 3 else data)
    done = subprocess.run([saltmill, "inspect", file, "--salvage", out], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 3, done.stderr
    text, warnings = hbase.pretty(out)
    kept = int(re.search(r"Scanned kv count -> (\d+)", text)[1])
    assert warnings == [] and len(cells) > kept > len(cells) // 2
    done = subprocess.run([saltmill, "inspect", "--cells", "--json", out], capture_output=True, text=True, timeout=120, check=True)
    shown, rest = json.loads(done.stdout)[0]["cells"], iter([{k: v for k, v in shown_of(c).items() if k != "mvcc"} for c in cells])
    assert len(shown) == kept and all({k: v for k, v in c.items() if k != "time"} in rest for c in shown)


def test_damaged_bloom_of_deletes(hbase, saltmill, tmp_path):
    """If the filter lacks its rows, HBase misses deletes. verify detects such a filter."""
    file = tmp_path / "f" / "file"
    file.parent.mkdir()
    cells = draw_cells(random.Random(3), 200, False, False, True)
    hbase.write_hfile(file, cells, compression="NONE", bloom="NONE", checksum="NULL", bytes_per_checksum=16384,
                      tags=False, mvcc=False)
    data = bytearray(file.read_bytes())
    at = data.find(b"BLMFBLK2")
    assert at >= 0  # HBase has written one
    size = int.from_bytes(data[at + 29:at + 33], "big")
    data[at + 33:at + size] = bytes(size - 33)
    file.write_bytes(data)
    done = subprocess.run([saltmill, "verify", file], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1 and "deletes" in done.stdout
