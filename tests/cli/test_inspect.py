"""Compares the output of inspect for each HFile with the CSV, as text and as JSON. Some tests have bad files among good
files."""

import json
import subprocess

import pytest

import loads


@pytest.fixture(scope="module")
def load(tmp_path_factory):
    return loads.make_load(tmp_path_factory.mktemp("load"))


@pytest.fixture(scope="module")
def paths(load):
    """Returns all HFiles by region. The first file contains the smallest row."""
    manifest = json.loads((load / "manifest.json").read_text())
    return [load / f["path"] for f in manifest["tables"][0]["files"]]


def inspect_json(*args):
    done = loads.run("inspect", "--json", *args)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_cell(paths):
    cells = {}
    for shown in inspect_json("--cells", *paths):
        assert len(shown["cells"]) == shown["trailer"]["cells"]
        rows = [c["row"] for c in shown["cells"]]
        decoded = [r.encode().decode("unicode_escape").encode("latin-1") for r in rows]
        assert decoded == sorted(decoded)
        for c in shown["cells"]:
            assert c["type"] == "Put"
            cells[c["row"], c["column"], c["timestamp"]] = c["value"]
    assert cells == loads.expected_cells()


def test_time(paths):
    cell = inspect_json("--cells", paths[0])[0]["cells"][0]
    assert cell["timestamp"] == 1400000000000 and cell["time"] == "2014-05-13T16:53:20.000Z"


def test_description(paths):
    for path, shown in zip(paths, inspect_json("--blocks", *paths)):
        family = path.parent.name
        info = {e["key"]: e["value"] for e in shown["file_info"]}
        trailer = shown["trailer"]
        size = path.stat().st_size
        assert shown["path"] == str(path)
        assert trailer["file_bytes"] == size and trailer["version"] == "3.3"
        assert trailer["compression"] == {"f": "ZSTD", "g": "NONE"}[family]
        assert info["BLOOM_FILTER_TYPE"] == shown["bloom"]["type"] == {"f": "ROW", "g": "ROWCOL"}[family]
        assert shown["bloom"]["keys"] == trailer["cells"]  # one cell a row here
        assert info["MAJOR_COMPACTION_KEY"] is True
        low, high = info["TIMERANGE"]
        assert 1400000000000 <= low < high <= 1400000000000 + loads.EVENTS * 61000
        assert f"/{family}:" in info["hfile.LASTKEY"] and info["hfile.LASTKEY"].endswith("/Put")
        # blocks follow one another from 0 to the trailer (hfile/README.md 1)
        at = 0
        for block in shown["blocks"]:
            assert block["offset"] == at
            at += block["disk_bytes"]
        assert at == size - 4096
        assert sum(t["count"] for t in shown["block_types"]) == len(shown["blocks"])
        assert shown["blocks"][0]["type"] == "DATABLK*" and shown["blocks"][0]["previous"] == -1
        assert len(shown["root_index"]) == trailer["root_index_entries"]


def test_text(paths):
    done = loads.run("inspect", paths[0], "--cells", "--blocks")
    assert done.returncode == 0 and done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0] == str(paths[0])
    for title in ["trailer", "file info", "bloom filter", "blocks", "each block", "cells"]:
        assert title in lines
    cells = lines[lines.index("cells") + 1 :]
    assert len(cells) == inspect_json(paths[0])[0]["trailer"]["cells"]
    expected = "\\x00\\x00\\x00\\x07  f:name  1400000000000  2014-05-13T16:53:20.000Z  name\\x20again"
    assert cells[0].strip() == expected
    assert len({c.index("f:name") for c in cells[-20:]}) == 1  # aligned
    assert "cells" not in loads.run("inspect", paths[0]).stdout.splitlines()


def test_bad_files_among_good(paths, tmp_path):
    short, flipped = tmp_path / "short", tmp_path / "flipped"
    short.write_bytes(b"not an HFile")
    content = bytearray(paths[0].read_bytes())
    content[200] ^= 1
    flipped.write_bytes(content)
    bad = [short, flipped, tmp_path, tmp_path / "none"]
    for args in [[], ["--cells"], ["--blocks"]]:
        done = loads.run("inspect", paths[0], *bad, paths[1], *args)
        assert done.returncode == 1
        errors = done.stderr.splitlines()
        assert len(errors) == len(bad)
        assert all(e.startswith("saltmill inspect: ") and str(b) in e for e, b in zip(errors, bad))
        assert done.stdout.splitlines().count("trailer") == 3  # the trailer of the file with the flipped byte is sound
        done = loads.run("inspect", "--json", paths[0], *bad, paths[1], *args)
        shown = json.loads(done.stdout)
        assert done.returncode == 1
        assert ["error" in s for s in shown] == [False, True, True, True, True, False]


def test_closed_pipe(paths):
    """`inspect --cells | head -1` ends without a message."""
    program = subprocess.Popen(
        [loads.PROGRAM, "inspect", "--cells", *map(str, paths * 50)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    program.stdout.readline()
    program.stdout.close()
    assert program.stderr.read() == b"" and program.wait(timeout=60) != 0
    program.stderr.close()


def test_wrong_usage():
    for args in [[], ["--none", "a"]]:
        done = loads.run("inspect", *args)
        assert done.returncode == 2 and done.stderr.startswith("saltmill inspect: ") and not done.stdout
