"""Tests libsaltmill with a real HBase. HBase loads and shows the files of the guide's programs and of random options. The
library reads the files that HBase's own writer makes.
"""

import os
import random
import sys

import pytest
from test_read import draw_cells, options

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from library import ROOT, installed, package, programs, run  # noqa: E402, F401  (needs the path above; two are fixtures)


def create(hbase, folder, name, **attributes):
    given = "".join(f", {k} => '{v}'" for k, v in attributes.items())
    script = folder / f"{name}.rb"
    script.write_text(f"create '{name}', {{NAME => 'f', VERSIONS => 10{given}}}\n")
    hbase.run_script(script)


def check(hbase, folder, name, cells):
    """Compares HBase's answer, with delete markers and all versions, with the cells."""
    expected = {}
    for row, qualifier, ts, value, more in cells:
        marker = {8: ":Delete", 10: ":DeleteFamilyVersion", 12: ":DeleteColumn", 14: ":DeleteFamily"}.get(more["type"], "")
        expected.setdefault(row.hex(), []).append(f"f:{qualifier.hex()}:{ts}:{value.hex()}{marker}")
    got = {line.split("\t")[0]: line.split("\t")[1:] for line in hbase.scan(name, raw=True)}
    assert got == expected


@pytest.mark.parametrize("language", ["C", "Python"])
def test_hbase_loads_the_files_of_the_guide(hbase, installed, tmp_path, language):
    name, file = f"guide_{language.lower()}", tmp_path / "out" / "f" / "part-0"
    file.parent.mkdir(parents=True)
    if language == "C":
        (tmp_path / "write.c").write_text(programs("library")["write.c"])
        installed.compile(tmp_path / "write.c", tmp_path / "write")
        run(tmp_path / "write", file, env=installed.env)
    else:
        (tmp_path / "write.py").write_text(programs("python")["write_cells.py"])
        installed.python(tmp_path / "write.py", file)
    assert hbase.pretty(file)[1] == []
    create(hbase, tmp_path, name)
    hbase.bulk_load(file.parent.parent, name)
    check(hbase, tmp_path, name, [(b"row%05d" % i, b"q", 1700000000000, b"value %d" % i, {"type": 4}) for i in range(1000)])


@pytest.mark.parametrize("i", range(10))
def test_hbase_loads_random_cells(hbase, package, tmp_path, i):
    rng = random.Random(300 + i)
    name, file = f"library{i}", tmp_path / "out" / "f" / "part-0"
    file.parent.mkdir(parents=True)
    how = {"compression": ["NONE", "GZ", "ZSTD", "SNAPPY", "ZSTD"][i % 5], "bloom": ["ROW", "ROWCOL", "NONE"][i % 3],
           "encoding": ["NONE", "PREFIX", "DIFF", "FAST_DIFF", "ROW_INDEX_V1"][(i + i // 5) % 5]}
    cells = draw_cells(rng, 400, i % 2 == 0, False, True)
    with package.HFileWriter(file, family="f", block_bytes=1000, tags=i % 2 == 0, mvcc=i % 4 == 1, **how) as w:
        for row, qualifier, ts, value, more in cells:
            tags = b"".join((len(v) + 1).to_bytes(2, "big") + bytes([64 + t % 8]) + v for t, v in more.get("tags", []))
            # HBase gives the types below 64 a meaning
            w.add(row, qualifier, value, timestamp=ts, type=package.Type(more["type"]), tags=tags)
    text, warnings = hbase.pretty(file)
    assert warnings == [] and f"Scanned kv count -> {len(cells)}" in text
    create(hbase, tmp_path, name, BLOOMFILTER=how["bloom"], DATA_BLOCK_ENCODING=how["encoding"], COMPRESSION=how["compression"])
    hbase.bulk_load(file.parent.parent, name)
    check(hbase, tmp_path, name, cells)


@pytest.mark.parametrize("i", range(20))
def test_the_library_reads_hbase_s_files(hbase, package, tmp_path, i):
    rng = random.Random(5000 + i)
    file = tmp_path / "f" / "file"
    file.parent.mkdir()
    how = options(rng, i)
    cells = draw_cells(rng, 300, how["tags"], how["mvcc"], True)
    hbase.write_hfile(file, cells, **how)
    with package.HFile(file) as f:
        got = [(c.row, c.qualifier, c.timestamp, c.value, int(c.type), c.tags) for c in f]
        assert f.verify().cells == len(cells)
        assert f.info.compression == how["compression"] and f.info.encoding == how["encoding"]
    assert got == [(r, q, ts, v, more["type"], b"".join((len(t) + 1).to_bytes(2, "big") + bytes([k]) + t
                                                       for k, t in more.get("tags", []))) for r, q, ts, v, more in cells]
