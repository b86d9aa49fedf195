"""Tests `inspect --salvage` on damaged files of HBase's writer and of loads. hfile_py.py reads the blocks of whole files and
the salvaged files, so the test knows the cells of each undamaged block.
"""

import itertools
import json
import random
import re
import resource

import pytest

import loads
from hfile_py import HFile
from test_older_hfiles import FILES, NAMES, TRAILERS, cells_of, shown_of, version

JOB = loads.JOB.replace("compression: ZSTD, bloomfilter: ROW", "compression: GZ, blocksize: 1K, data_block_encoding: FAST_DIFF").replace(
    "compression: NONE,", "compression: NONE, blocksize: 2K,").replace("split: sampled, count: 4", "split: none")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Returns {family: HFile} of a load with many blocks. f has GZ and FAST_DIFF, g has neither."""
    folder = tmp_path_factory.mktemp("load")
    loads.make_load(folder)
    (folder / "small.yaml").write_text(JOB)
    done = loads.run("load", folder / "small.yaml", "-o", folder / "small", "--max-rejects", "5", "--quiet")
    assert done.returncode == 3, done.stderr
    manifest = json.loads((folder / "small" / "manifest.json").read_text())
    return {f["family"]: HFile(folder / "small" / f["path"]) for f in manifest["tables"][0]["files"]}


def salvage(folder, content):
    """Returns the finished process and the path of the new file."""
    damaged, out = folder / "damaged", folder / "out"
    damaged.write_bytes(content)
    out.unlink(missing_ok=True)
    return loads.run("inspect", damaged, "--salvage", out), out


def damage(rng, content):
    """Changes a file as broken disks and torn writes do."""
    data = bytearray(content)
    for _ in range(rng.choice([1, 1, 3])):
        at, kind = rng.randrange(len(data)), rng.choice(["bit", "zeros", "noise", "cut", "tail"])
        size = rng.choice([1, 40, 512, 4096])
        if kind == "bit":
            data[at] ^= 1 << rng.randrange(8)
        elif kind == "zeros":
            data[at:at + size] = bytes(len(data[at:at + size]))
        elif kind == "noise":
            data[at:at + size] = rng.randbytes(len(data[at:at + size]))
        elif kind == "cut" and at > len(data) // 2:
            del data[at:]
        elif kind == "tail":
            data[-size:] = rng.randbytes(size)
    return bytes(data)


@pytest.mark.parametrize("seed", range(24))
def test_exactly_the_cells_of_undamaged_blocks(tmp_path, whole, seed):
    rng = random.Random(seed)
    f = whole["fg"[seed % 2]]
    data = damage(rng, f.data)
    intact = [data[b.at:b.at + b.size] == f.data[b.at:b.at + b.size] for b in f.data_blocks]
    expected = [c for same, cells in zip(intact, f.block_cells) if same for c in cells]
    done, out = salvage(tmp_path, data)
    assert expected and HFile(out).cells == expected
    assert all(intact) or done.returncode == 3, done.stdout
    lost = re.search(r"([\d,]+) cells are lost", done.stdout)
    if lost:
        assert int(lost[1].replace(",", "")) == len(f.cells) - len(expected)
        assert done.returncode == (0 if all(intact) else 3), done.stdout
    else:
        assert done.returncode == 3 and "number of lost cells is unknown" in done.stdout
        done = loads.run("inspect", tmp_path / "damaged", "--salvage", tmp_path / "other", "--json")
        assert done.returncode == 3 and json.loads(done.stdout)["cells_lost"] is None


def test_the_report_of_a_lost_block(tmp_path, whole):
    f = whole["g"]
    b = f.data_blocks[5]
    data = bytearray(f.data)
    data[b.at + 700] ^= 4
    done, out = salvage(tmp_path, bytes(data))
    before, after = f.block_cells[4][-1].row, f.block_cells[6][0].row
    n = len(f.block_cells[5])
    assert done.returncode == 3
    assert re.match(f"lost: {b.size:,} bytes at offset {b.at:,}, after row \"(.*)\" and before row \"(.*)\": .*checksum of chunk 0", done.stdout)
    names = re.findall('row "(.*?)"', done.stdout)
    assert [loads.escaped(x.encode("latin-1").decode("unicode_escape").encode("latin-1")) for x in names] == [loads.escaped(before), loads.escaped(after)]
    assert done.stdout.endswith(f"{len(f.cells) - n:,} cells; {n:,} cells are lost\n")
    out.unlink()
    done = loads.run("inspect", tmp_path / "damaged", "--salvage", out, "--json")
    assert done.returncode == 3 and done.stderr == ""
    result = json.loads(done.stdout)
    [lost] = result.pop("lost")
    assert result == {"file": str(tmp_path / "damaged"), "salvaged": str(out), "rows": result["rows"], "cells": len(f.cells) - n, "cells_lost": n}
    assert result["rows"] == len({c.row for block in f.block_cells if block is not f.block_cells[5] for c in block})
    assert "checksum of chunk 0" in lost.pop("reason")
    assert lost == {"offset": b.at, "bytes": b.size, "no_cells": False, "after_row": loads.escaped(before), "before_row": loads.escaped(after)}
    written = out.read_bytes()
    again = loads.run("inspect", tmp_path / "damaged", "--salvage", out)
    assert again.returncode == 1 and f"{out}: found a file, expected a new name" in again.stderr
    assert out.read_bytes() == written


def test_only_a_whole_file_gets_its_name(tmp_path, whole):
    """The disk is full, and then an earlier run was killed. Its partial file is in the way of nobody."""
    (tmp_path / "damaged").write_bytes(whole["g"].data)
    done = loads.run("inspect", tmp_path / "damaged", "--salvage", tmp_path / "out",
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)))
    assert done.returncode == 1 and "File too large" in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["damaged"]
    (tmp_path / "out.partial").write_bytes(b"cut")
    done = loads.run("inspect", tmp_path / "damaged", "--salvage", tmp_path / "out")
    assert done.returncode == 0 and HFile(tmp_path / "out").cells == whole["g"].cells
    assert sorted(p.name for p in tmp_path.iterdir()) == ["damaged", "out"]


def test_a_damaged_index_loses_no_cells(tmp_path, whole):
    f = whole["f"]
    for b in [*f.of("IDXLEAF2")[:1], *f.of("BLMFBLK2")[:1], *f.of("IDXROOT2"), *f.of("FILEINF2")]:
        data = bytearray(f.data)
        data[b.at + 40] ^= 1
        done, out = salvage(tmp_path, bytes(data))
        assert HFile(out).cells == f.cells
        assert done.returncode == 0 and "damaged, without cells" in done.stdout and "0 cells are lost" in done.stdout
    done, out = salvage(tmp_path, f.data)
    assert done.returncode == 0 and done.stdout == f"{out}: {loads.EVENTS:,} rows, {len(f.cells):,} cells; 0 cells are lost\n"


def test_an_hfile_in_a_value_is_not_read(tmp_path, whole):
    """A value that is an HFile lies in a damaged block. Its blocks have valid checksums, but belong to another file."""
    inner = whole["g"].data
    (tmp_path / "in.csv").write_text("k,v\n00,aa\n01," + inner.hex() + "\n02,bb\n")
    (tmp_path / "job.yaml").write_text("""\
source: {csv: {files: [in.csv]}}
fields: {k: {type: hex}, v: {type: hex}}
tables:
  - name: t
    rowkey: [{field: k}]
    timestamp: 5
    families: {g: {compression: NONE, blocksize: 1K}}
    cells: [{family: g, qualifier: id, value: {field: v}}]
    regions: {split: none}
""")
    done = loads.run("load", tmp_path / "job.yaml", "-o", tmp_path / "load", "--quiet")
    assert done.returncode == 0, done.stderr
    f = HFile(next((tmp_path / "load" / "t" / "hfiles" / "g").iterdir()))
    large = next(b for b in f.data_blocks if b.size > len(inner))
    data = bytearray(f.data)
    data[large.at + 34] ^= 1
    done, out = salvage(tmp_path, bytes(data))
    kept = [c for b, cells in zip(f.data_blocks, f.block_cells) if b is not large for c in cells]
    assert done.returncode == 3 and HFile(out).cells == kept and 0 < len(kept) < 3


def shown(path):
    done = loads.run("inspect", "--cells", "--json", path)
    assert done.returncode == 0, done.stderr
    return [{k: v for k, v in c.items() if k != "time"} for c in json.loads(done.stdout)[0]["cells"]]


def expected_of(name):
    """The new file has no mvcc, because a bulk load gives all cells one sequence id."""
    return [{k: v for k, v in shown_of(c).items() if k != "mvcc"} for c in cells_of(name)]


@pytest.mark.parametrize("name", NAMES[::2])
def test_files_of_hbase_without_their_end(tmp_path, name):
    """The blocks alone tell codec, encoding, tags and mvcc."""
    end = FILES[name].rindex(b"IDXROOT2", 0, FILES[name].rindex(b"IDXROOT2"))
    for cut in (TRAILERS[version(name)], len(FILES[name]) - end):
        done, out = salvage(tmp_path, FILES[name][:-cut])
        assert done.returncode == 3, done.stderr
        assert shown(out) == expected_of(name)


@pytest.mark.parametrize("name", NAMES[1::3])
def test_damaged_files_of_hbase(tmp_path, name):
    """No cell is invented, and the cells keep their order."""
    rng = random.Random(name)
    for _ in range(3):
        done, out = salvage(tmp_path, damage(rng, FILES[name]))
        if done.returncode == 1:  # the only block is damaged
            assert "found no intact data block" in done.stderr and not out.exists()
            continue
        rest = iter(expected_of(name))
        assert all(c in rest for c in shown(out)), done.stdout
        assert loads.run("verify", out).returncode == 0


def test_what_is_no_hfile(tmp_path):
    for content in (b"", b"DATABLK*", b"some text\n" * 1000, bytes(70_000)):
        done, out = salvage(tmp_path, content)
        assert done.returncode == 1 and not out.exists(), done.stdout
    done = loads.run("inspect", tmp_path / "damaged", tmp_path / "damaged", "--salvage", out)
    assert done.returncode == 2 and "expected one FILE" in done.stderr
    assert list(itertools.islice(tmp_path.glob("out*"), 1)) == []
