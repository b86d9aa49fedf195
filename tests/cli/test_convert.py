"""Tests saltmill convert. A reader of HFiles in Python and lists of HBase 1 judge its files. hbase/test_offline.py lets HBase load one."""

import itertools
import json
import os
import random

import hfile_py
import loads
import test_older_hfiles
from test_diff import hfile, make
from test_merge import draw, tree, verify

CODECS = {"NONE": hfile_py.NONE, "GZ": hfile_py.GZ}
ENCODINGS = ["NONE", *hfile_py.ENCODINGS.values()]


def convert(*args, status=0, **env):
    done = loads.run("convert", *args, "--json", env=dict(os.environ, **env))
    assert done.returncode == status, done.stdout + done.stderr
    return json.loads(done.stdout) if status == 0 else done.stderr


def files(folder):
    """Returns {family: [HFile]} in the order of the regions."""
    found = {}
    for f in json.loads((folder / "manifest.json").read_text())["tables"][0]["files"]:
        found.setdefault(f["family"], []).append(hfile_py.HFile(folder / f["path"]))
    return found


def cells(folder):
    return {family: [c for f in of for c in f.cells] for family, of in files(folder).items()}


def test_each_setting(tmp_path):
    load = make(tmp_path / "in", draw(random.Random(6)))
    want = cells(load)
    for codec, encoding in itertools.product(CODECS, ENCODINGS):
        out = tmp_path / f"{codec}-{encoding}"
        told = convert(load, "-o", out, "--compression", codec, "--data-block-encoding", encoding, "--blocksize", "1K", "--bloomfilter", "ROWCOL")
        found = files(out)
        assert {family: [c for f in of for c in f.cells] for family, of in found.items()} == want
        for f in itertools.chain(*found.values()):
            assert (f.trailer.get(12, hfile_py.NONE), f.info.get("DATA_BLOCK_ENCODING", b"NONE").decode()) == (CODECS[codec], encoding)
            assert f.info["BLOOM_FILTER_TYPE"] == b"ROWCOL"
        assert max(len([b for b in f.blocks if b.magic.startswith("DATABLK")]) for f in found["f"]) > 1
        table = told["tables"][0]
        assert (told["rewritten"], told["read"], table["filtered"]) == ("convert", sum(map(len, want.values())), 0)
        script = (out / "t/create.rb").read_text()
        assert script.count(f"COMPRESSION => '{codec}'") == 2 and script.count("BLOCKSIZE => 1024") == 2
        verify(out)


def test_one_family(tmp_path):
    """The other family, and each setting without an option, stay as they are."""
    load = make(tmp_path / "in", draw(random.Random(7)))
    convert(load, "-o", tmp_path / "gz", "--compression", "GZ", "--data-block-encoding", "DIFF")
    convert(tmp_path / "gz", "-o", tmp_path / "out", "--compression", "NONE", "--family", "f", "--threads", 1)
    convert(tmp_path / "gz", "-o", tmp_path / "same", "--compression", "NONE", "--family", "f", "--threads", 2)
    assert cells(tmp_path / "out") == cells(load) and tree(tmp_path / "out") == tree(tmp_path / "same")
    for family, codec in (("f", "NONE"), ("g", "GZ")):
        for f in files(tmp_path / "out")[family]:
            assert (f.trailer.get(12, hfile_py.NONE), f.info["DATA_BLOCK_ENCODING"]) == (CODECS[codec], b"DIFF")


def test_level(tmp_path):
    rng = random.Random(13)
    words = [f"word{rng.randrange(10**6)}" for _ in range(300)]
    load = make(tmp_path / "in", [(i, 1, " ".join(rng.choices(words, k=20)), "b") for i in range(500)], split="none")
    sizes = {}
    for codec, level in (("GZ", 1), ("GZ", 9), ("ZSTD", 1), ("ZSTD", 19)):
        convert(load, "-o", tmp_path / f"{codec}{level}", "--compression", codec, "--level", level, "--family", "f")
        [sizes[codec, level]] = [f.stat().st_size for f in (tmp_path / f"{codec}{level}/t/hfiles/f").iterdir()]
    assert sizes["GZ", 9] < sizes["GZ", 1] and sizes["ZSTD", 19] < 0.95 * sizes["ZSTD", 1], sizes
    assert cells(tmp_path / "GZ9") == cells(load)


def test_markers_and_tags_of_hbase(tmp_path):
    rng = random.Random(8)
    for i, name in enumerate(rng.sample([n for n in test_older_hfiles.NAMES if test_older_hfiles.cells_of(n)], 8)):
        how = ["--compression", rng.choice(["NONE", "GZ", "SNAPPY", "LZ4", "ZSTD"]),
               "--data-block-encoding", rng.choice(ENCODINGS)]
        out = tmp_path / f"out{i}"
        convert(hfile(tmp_path, f"in{i}", test_older_hfiles.FILES[name]), "-o", out, "--table", "t", *how)
        [file] = out.glob("t/hfiles/cf/*")
        shown = json.loads(loads.run("inspect", file, "--cells", "--json").stdout)[0]
        want = [test_older_hfiles.shown_of(c) for c in test_older_hfiles.cells_of(name)]
        for c in shown["cells"] + want:
            for key in ("mvcc", "time"):  # the files have no mvcc, and HBase's list no text of the time
                c.pop(key, None)
        assert shown["cells"] == want, (name, how)


def what_if(load, *how):
    """Returns {family: estimate}."""
    return {f["family"]: f for f in json.loads(loads.run("convert", load, "--what-if", "--json", *how).stdout)["families"]}


def test_what_if(tmp_path):
    """The sizes are those of the files that convert then writes."""
    load = make(tmp_path / "in", draw(random.Random(10)), split="none")
    found, want = what_if(load), cells(load)
    assert {k: (f["cells"], f["sample_cells"]) for k, f in found.items()} == {k: (len(c), len(c)) for k, c in want.items()}
    for f in found.values():
        tried = [(t["compression"], t["data_block_encoding"], t["blocksize"]) for t in f["trials"]]
        codecs = ["NONE", "GZ", "SNAPPY", "LZ4", "ZSTD"]
        assert sorted(tried) == sorted(itertools.product(codecs, ENCODINGS, [1 << 14, 1 << 16, 1 << 18]))
        assert [c for c, t in zip(tried, f["trials"]) if t["current"]] == [("NONE", "NONE", 1 << 16)]
        assert [t["bytes"] for t in f["trials"]] == sorted(t["sample_bytes"] for t in f["trials"])
        assert all(t["get_ns"] > 0 < t["scan_ns"] for t in f["trials"])
    for i, trial in enumerate(random.Random(11).sample(found["f"]["trials"], 5)):
        out, settings = tmp_path / f"out{i}", (trial["compression"], trial["data_block_encoding"], trial["blocksize"])
        convert(load, "-o", out, "--compression", settings[0], "--data-block-encoding", settings[1], "--blocksize", settings[2])
        for family, f in found.items():
            [size] = [t["bytes"] for t in f["trials"] if (t["compression"], t["data_block_encoding"], t["blocksize"]) == settings]
            assert sum(p.stat().st_size for p in (out / "t/hfiles" / family).iterdir()) == size


def test_what_if_in_pieces(tmp_path):
    """A sample of many blocks has pieces from several places. Here the pieces together are the whole table."""
    rng = random.Random(12)
    load = make(tmp_path / "in", [(i, 1 + i % 5, f"a{rng.random()}", "b") for i in range(1500)])
    convert(load, "-o", tmp_path / "small", "--blocksize", "1K")
    found = what_if(tmp_path / "small", "--family", "f", "--compression", "GZ", "--data-block-encoding", "NONE")
    assert list(found) == ["f"] and found["f"]["cells"] == found["f"]["sample_cells"] == 1500
    assert [t["current"] for t in found["f"]["trials"]].count(True) == 1 and len(found["f"]["trials"]) == 4
    text = loads.run("convert", tmp_path / "small", "--what-if", "--family", "f", "--compression", "NONE", "--data-block-encoding", "NONE").stdout
    assert "family f: 1,500 cells, sample of 1,500" in text and text.endswith("* now\n") and text.count("\n* NONE") == 1


def test_failures(tmp_path):
    load = make(tmp_path / "in", draw(random.Random(9)))
    assert "expected ZSTD, or GZ with 1 to 9" in convert(load, "-o", tmp_path / "x", "--level", 9, status=2)
    assert "expected ZSTD, or GZ with 1 to 9" in convert(load, "-o", tmp_path / "x", "--compression", "GZ", "--level", 10, status=2)
    assert "found no family x" in convert(load, "-o", tmp_path / "x", "--family", "x", status=2)
    assert "found no family x" in convert(load, "--what-if", "--family", "x", status=2)
    assert "found no family with ZSTD" in convert(load, "-o", tmp_path / "x", "--framing", "hadoop", "--compression", "GZ", status=2)
    assert "take a snapshot, and convert" in convert("hbase://h/t", "-o", tmp_path / "x", status=2)
    assert loads.run("convert", load, load, "-o", tmp_path / "x").returncode == 2
    assert loads.run("convert", load).returncode == 2
    assert [p.name for p in tmp_path.iterdir()] == ["in"]
