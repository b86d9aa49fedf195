"""Tests HFiles with codecs that saltmill reads, but does not write. hbase2/Writer.java made the files in hbase2/files.zip
with HBase's own writer, each with a list of its cells.
"""

import json
import os
import zipfile

import pytest

import loads
from test_diff import hfile
from test_older_hfiles import cells_in, shown_of

with zipfile.ZipFile(loads.ROOT / "tests" / "hbase2" / "files.zip") as z:
    FILES = {n: z.read(n) for n in z.namelist() if not n.endswith(".cells")}
    CELLS = {n.removesuffix(".cells"): cells_in(z.read(n).decode()) for n in z.namelist() if n.endswith(".cells")}
CODECS = ("BZIP2", "LZMA", "BROTLI", "LZO")


def shown(path):
    done = loads.run("inspect", "--cells", "--json", path)
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
