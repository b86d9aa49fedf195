"""Tests libsaltmill and the Python package as their users install them: exports, the ABI, pkg-config, saltmill(3), the
programs of the guide, a wheel in a clean environment. hfile_py.py reads the written files, and pyarrow reads the batches.
"""

import ctypes
import datetime
import importlib
import os
import pathlib
import random
import re
import subprocess
import sys
import typing
import venv

import pytest

import hfile_py
import shown
import test_codecs
from loads import ROOT

sys.path.insert(0, str(ROOT / "tests"))
from library import installed, make, package, run  # noqa: E402, F401  (needs the path above; two are fixtures)

GUIDE = {name: (ROOT / "conf" / "guide" / f"{name}.md").read_text(encoding="utf-8") for name in ("library", "python")}
ABI = (ROOT / "pipeline" / "lib" / "abi.txt").read_text()
SECONDS = 1204067200
KEY = f"07{42:016x}{2**63 - 1 - 1000 * SECONDS:016x}{7:08x}"  # 7 is the salt of user 42 by the murmur3 of hbase/oracle.py
TIME = datetime.datetime.fromtimestamp(SECONDS, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")


# --- the library ---

def names_of(*command):
    return {line.split()[-1].split("@")[0] for line in run(*command).splitlines() if line.strip() and not line.endswith(":")}


def test_only_the_functions_of_the_abi_are_visible(installed):
    functions = set(re.findall(r"\b(sm_[a-z_]+)\(", ABI))
    assert len(functions) > 20
    assert names_of("nm", "-D", "--defined-only", installed.library) - {"SALTMILL_1"} == functions
    assert names_of("nm", "-g", "--defined-only", installed.root / "lib" / "libsaltmill.a") == functions
    assert "libsaltmill.so.1" in re.search(r"SONAME.*", run("readelf", "-d", installed.library))[0]


def test_it_prints_nothing_and_ends_no_process(installed):
    """mem_alloc calls _exit only outside of a pool; unit/test_lib_sm_job.c fails each allocation."""
    used = names_of("nm", "-D", "-u", installed.library)
    assert "malloc" in used
    assert not used & {"printf", "puts", "putchar", "fputs", "fprintf", "vfprintf", "fwrite", "perror", "exit", "abort", "signal",
                       "sigaction", "setlocale", "__printf_chk", "__fprintf_chk", "__vfprintf_chk", "dprintf", "stdout", "stderr"}


def test_the_abi_is_the_committed_one():
    make("abi")
    assert "struct sm_cell 104\n" in ABI and "SM_ORDER -4\n" in ABI


def test_the_structs_of_python_are_those_of_the_header(package):
    library = importlib.import_module("saltmill.library")
    structs = {"cell": library._Cell, "counts": library._Counts, "writer_options": library._Options, "info": library._Info,
               "reader_options": library._ReaderOptions, "field": library._FieldIn, "bytes": library._In}
    for name, struct in structs.items():
        members = re.findall(rf"^struct sm_{name}\.(\w+) (\d+) (\d+)$", ABI, re.M)
        assert [(n, str(getattr(struct, n).offset), str(getattr(struct, n).size)) for n, *_ in struct._fields_] == members
        assert f"struct sm_{name} {ctypes.sizeof(struct)}\n" in ABI


@pytest.mark.parametrize("language", ["-x c -std=c99", "-x c++ -std=c++11"])
def test_the_header_needs_nothing_else(installed, tmp_path, language):
    (tmp_path / "a.c").write_text("#include <saltmill.h>\nint main(void) { return sm_version() == 0; }\n")
    installed.compile(f"{language} -pedantic {tmp_path}/a.c -fsyntax-only", tmp_path / "a", "-I" + str(installed.root / "include"))


def test_the_manual_page(installed):
    page = installed.root / "share" / "man" / "man3" / "saltmill.3"
    done = subprocess.run(["groff", "-Kutf8", "-man", "-Tutf8", "-ww", "-P-cbou", page], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""
    assert re.search(r"^SALTMILL\(3\)", done.stdout) and re.search(r"^ +libsaltmill - ", done.stdout, re.M)
    synopsis = re.search(r"^SYNOPSIS\n(.*?)^\S", done.stdout, re.M | re.S)[1].split("#include <saltmill.h>")[1]
    prototypes = [re.sub(r"\s+", " ", p).strip() for p in synopsis.split(";")[:-1]]
    assert sorted(prototypes) == sorted(line for line in ABI.splitlines() if line.endswith(")"))


def test_the_chapter_names_all_members():
    """Members of the structs, as DWARF has them in the ABI."""
    missing = {m for m in re.findall(r"^struct sm_\w+\.(\w+) ", ABI, re.M) if f"`{m}`" not in GUIDE["library"]}
    assert missing == {"reserved"}


def rows_of(path):
    return [(c.row, c.qualifier, c.ts, c.value) for c in hfile_py.HFile(path).cells]


def expected_rows():
    return [(b"row%05d" % i, b"q", 1700000000000, b"value %d" % i) for i in range(1000)]


@pytest.mark.parametrize("static", [False, True])
def test_the_programs_of_the_guide(installed, tmp_path, static):
    how = "$(pkg-config --cflags --libs libsaltmill)"
    if static:
        how = "$(pkg-config --cflags --libs --static libsaltmill | sed s/-lsaltmill/-l:libsaltmill.a/)"
    for name, text in shown.files(GUIDE["library"]).items():
        assert text.count("\n") <= 45
        (tmp_path / name).write_text(text)
        installed.compile(tmp_path / name, tmp_path / name[:-2], how)
    env = dict(installed.env)
    if static:
        del env["LD_LIBRARY_PATH"]
    file = tmp_path / "part-0"
    assert run(tmp_path / "write", file, env=env) == "1000 cells\n"
    assert rows_of(file) == expected_rows()
    lines = run(tmp_path / "scan", file, env=env).splitlines()
    assert lines == [f"{r.decode()} f:q {ts} {v.decode()}" for r, _, ts, v in expected_rows()]
    key = run(tmp_path / "scan", ROOT / "conf" / "ratings.yaml", "userId", "42", "movieId", "7", "timestamp", "1204067200", env=env)
    assert key == KEY + "\n"
    again = subprocess.run([tmp_path / "write", file], env=env, capture_output=True, text=True)
    assert again.returncode == 1 and "found a file, expected a new name" in again.stderr
    damaged = tmp_path / "damaged"
    damaged.write_bytes(file.read_bytes()[:-100])
    bad = subprocess.run([tmp_path / "scan", damaged], env=env, capture_output=True, text=True)
    assert bad.returncode == 1 and str(damaged) in bad.stderr
    assert sorted(p.name for p in tmp_path.iterdir() if "part" in p.name) == ["part-0"]


# --- the Python package ---

def draw(rng, n, package, tags):
    kinds = list(package.Type)
    cells = {}
    for _ in range(n):
        kind = rng.choice(kinds + [package.Type.PUT] * 6)
        qualifier = b"" if kind in (10, 14) else rng.choice([b"", b"a", b"b\0c"])
        key = (b"r" + rng.randbytes(rng.randint(0, 3)), qualifier, -rng.choice([0, 7, 1 << 45]), -kind)
        cells[key] = package.Cell(key[0], b"f", qualifier, -key[2], rng.randbytes(rng.choice([0, 5, 300])) if kind == 4 else b"",
                                  kind, rng.choice([b"", b"\0\3\7xy"]) if tags else b"")
    return [cells[k] for k in sorted(cells)]


@pytest.mark.parametrize("seed", range(4))
def test_cells_come_back(package, tmp_path, seed):
    import pyarrow.compute
    rng = random.Random(seed)
    tags = seed % 2 == 1
    cells = draw(rng, 3000, package, tags)
    path = tmp_path / "file"
    w = package.HFileWriter(path, family="f", compression=["NONE", "GZ", "GZ", "NONE"][seed], block_bytes=2000, tags=tags,
                            encoding=["NONE", "PREFIX", "DIFF", "FAST_DIFF"][seed], bloom=["ROW", "ROWCOL", "NONE", "ROW"][seed])
    w.add_cells(cells)
    counts = w.finish()
    assert (counts.cells, counts.rows) == (len(cells), len({c.row for c in cells}))
    if not tags:  # hfile_py.py reads no tags
        assert [(c.row, c.qualifier, c.ts, c.value, c.type) for c in hfile_py.HFile(path).cells] == [
            (c.row, c.qualifier, c.timestamp, c.value, c.type) for c in cells]
    rows = sorted({c.row for c in cells})
    start, stop = sorted(rng.sample(rows, 2))
    with package.HFile(path) as f:
        assert list(f) == cells and f.verify() == counts
        assert list(f.cells(start, stop)) == [c for c in cells if start <= c.row < stop]
        assert list(f.seek(start, b"f", b"b")) == [c for c in cells if (c.row, c.qualifier) >= (start, b"b")]
        assert f.get(start) == [c for c in cells if c.row == start] and f.get(b"none") == []
        assert (f.info.first_row, f.info.last_row, f.info.cells) == (rows[0], rows[-1], len(cells))
        assert f.meta[b"hfile.LASTKEY"][2:].startswith(rows[-1])
    with package.HFile(path.read_bytes()) as f:
        assert list(f) == cells
    reader = package.scan(path, start, stop, batch_rows=100)
    table = reader.read_all()
    table.validate(full=True)
    assert max(len(c) for c in table["row"].chunks) <= 100
    wanted = [c for c in cells if start <= c.row < stop]
    got = table.set_column(3, "timestamp", pyarrow.compute.cast(table["timestamp"], pyarrow.int64())).to_pylist()
    assert [tuple(r.values()) for r in got] == [
        (c.row, c.family, c.qualifier, c.timestamp, int(c.type), c.value, *([c.tags] if tags else [])) for c in wanted]


def test_errors(package, tmp_path):
    path = tmp_path / "file"
    with pytest.raises(package.OrderError, match=r"cell a/q at 5 \(Put\), which sorts before the previous cell b/q at 5"):
        with package.HFileWriter(path, family="f") as w:
            w.add(b"b", b"q", b"v", timestamp=5)
            w.add(b"a", b"q", b"v", timestamp=5)
    assert list(tmp_path.iterdir()) == []
    with package.HFileWriter(path, family="f") as w:
        w.add_cells(package.Cell(b"%04d" % i, b"", b"q", 1) for i in range(2500))
    with pytest.raises(package.FileError) as e:
        package.HFileWriter(path)
    assert isinstance(e.value, OSError) and e.value.code == -1
    with pytest.raises(package.Error, match="compression: found `zip`"):
        package.HFileWriter(tmp_path / "other", compression="zip")
    with pytest.raises(package.Error, match="found family name `a:b`, expected a name without a colon"):
        package.HFileWriter(tmp_path / "other", family="a:b")
    with pytest.raises(package.Error, match="found level 23, expected a level of ZSTD, at most 22"):
        package.HFileWriter(tmp_path / "other", compression="ZSTD", level=23)
    with pytest.raises(package.Error, match="expected a level of GZ from 1 to 12, found -1"):
        package.HFileWriter(tmp_path / "other", compression="GZ", level=-1)
    f = package.HFile(path)
    first = iter(f)
    next(first)
    assert len(list(f)) == 2500
    with pytest.raises(RuntimeError, match="another iterator"):
        list(first)
    f.close()
    with pytest.raises(ValueError, match="closed"):
        f.get(b"0001")
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    with package.HFile(bytes(data)) as f, pytest.raises(package.DataError, match="memory: block at 0"):
        list(f)
    with pytest.raises(Exception, match="checksum|block at 0"):
        broken = tmp_path / "broken"
        broken.write_bytes(data)
        package.scan(broken).read_all()
    with pytest.raises(package.DataError):
        package.HFile(b"not a file")


def test_the_cells_before_a_wrong_one_stay(package, tmp_path):
    """The error may come from the caller's iterator, from Python or from the library, in the first or the second thousand."""
    def failing(n, wrong):
        yield from (package.Cell(b"%04d" % i, b"", b"q", 1) for i in range(n))
        if wrong is None:
            raise KeyError("row")
        yield package.Cell(*wrong)
    for number, wrong in enumerate((None, ("text", b"", b"q", 1), (b"5000", b"", b"q", 2**64 + 1), (b"0", b"", b"q", 1))):
        for n in (3, 1500):
            path = tmp_path / f"{number}-{n}"
            with package.HFileWriter(path, family="f") as w:
                with pytest.raises((KeyError, TypeError, OverflowError, package.OrderError)):
                    w.add_cells(failing(n, wrong))
                w.add(b"9999", b"q", timestamp=1)
            assert [c.row for c in package.HFile(path)] == [b"%04d" % i for i in range(n)] + [b"9999"]
    for wrong in (lambda: package.HFile(b"/dev/null\0more".decode()), lambda: package.HFileWriter(f"{tmp_path}/a\0b")):
        with pytest.raises(ValueError, match="zero byte"):
            wrong()
    assert not (tmp_path / "a").exists()


def test_row_keys(package):
    job = package.job(ROOT / "conf" / "ratings.yaml")
    assert job.fields == ["userId", "timestamp", "movieId"]
    assert job.encode({"userId": 42}, timestamp="1204067200", movieId=b"7").hex() == KEY
    assert job.decode(bytes.fromhex(KEY)) == {"userId": "42", "timestamp": TIME, "movieId": "7"}
    with pytest.raises(package.DataError):
        job.decode(b"\x08" + bytes.fromhex(KEY)[1:])
    with pytest.raises(package.Error, match="found no value for `movieId`"):
        job.encode(userId=1, timestamp=1)
    with pytest.raises(TypeError, match="userId: found list"):
        job.encode(userId=[])
    with pytest.raises(package.Error, match="table"):
        package.job(ROOT / "conf" / "ratings.yaml", "nosuch")


EXTRA_NAMES = [n for n in test_codecs.RANDOM_NAMES if "-encrypted" in n or n.endswith("-dictionary")]


@pytest.mark.parametrize("name", EXTRA_NAMES)
def test_keys_and_dictionaries(package, tmp_path, name):
    """The files are those of HBase's own writer."""
    path = tmp_path / name
    path.write_bytes(test_codecs.RANDOM[name])
    keys, dictionary = test_codecs.RANDOM["keys.txt"].decode(), test_codecs.RANDOM["zstd.dictionary"]
    with package.HFile(path, master_keys=keys, dictionaries=[dictionary]) as f:
        found = list(f)
        assert f.verify().cells == len(found) > 0
    with package.HFile(path.read_bytes(), master_keys=keys, dictionaries=(d for d in [dictionary])) as f:
        assert list(f) == found
    assert package.scan(path, master_keys=keys, dictionaries=[dictionary]).read_all()["row"].to_pylist() == [c.row for c in found]
    kinds = {"Put": 4, "Delete": 8, "DeleteFamilyVersion": 10, "DeleteColumn": 12, "DeleteFamily": 14}
    assert [(c.row, c.qualifier, c.timestamp, c.type, c.value, c.tags) for c in found] == [
        (row, qualifier, ts, kinds[kind], value, tags) for row, qualifier, ts, kind, value, _, tags in test_codecs.cells_of(name)]
    with pytest.raises(package.Error) as e:
        list(package.HFile(path))
    assert e.value.code == -6 and ("master key" in str(e.value) or "dictionary" in str(e.value))


def test_type_hints(package):
    assert (pathlib.Path(package.__file__).parent / "py.typed").exists()
    for kind in (package.HFile, package.HFileWriter, package.Job):
        for name, method in vars(kind).items():
            if callable(method) and not name.startswith("_"):
                assert "return" in method.__annotations__, (kind, name)
    assert "return" in package.scan.__annotations__ and typing.get_type_hints(package.Cell)["row"] is bytes


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    """Returns the python of a new environment with the wheel alone."""
    bundle = "build/gcc-lib/bundle/libsaltmill.so.1"
    make("FLAVOR=lib", "CC=gcc", bundle)
    # test_worker.py links the worker at the same time
    run(ROOT / "pipeline" / "spark" / "wheel.sh", "0.1.0", env={**os.environ, "LIBRARY": bundle, "WORKER": ""})
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder, with_pip=True)
    (wheel,) = (ROOT / "build" / "wheel").glob("saltmill-*.whl")
    run(folder / "bin" / "pip", "install", "-q", "--no-index", "--no-deps", "--disable-pip-version-check", wheel)
    return folder / "bin" / "python"


def test_the_scripts_of_the_guide_with_the_wheel(clean, tmp_path):
    import pyarrow
    import pyarrow.parquet
    env = {k: v for k, v in os.environ.items() if k not in ("SALTMILL_LIBRARY", "PYTHONPATH")}
    for name, text in shown.files(GUIDE["python"]).items():
        (tmp_path / name).write_text(text)
    (tmp_path / "conf").symlink_to(ROOT / "conf")
    run(clean, "write_cells.py", "part-0", cwd=tmp_path, env=env)
    assert rows_of(tmp_path / "part-0") == expected_rows()
    assert run(clean, "read_cells.py", "part-0", cwd=tmp_path, env=env).splitlines() == [
        "1000 cells from b'row00000' to b'row00999'",
        "b'row00010' b'f' b'q' 1700000000000 b'value 10' PUT", "b'row00011' b'f' b'q' 1700000000000 b'value 11' PUT", "b'value 500'"]
    assert run(clean, "keys.py", cwd=tmp_path, env=env).splitlines() == [
        f"['userId', 'timestamp', 'movieId'] {KEY}",
        str({"userId": "42", "timestamp": TIME, "movieId": "7"})]
    packages = pathlib.Path(pyarrow.__file__).parents[1]
    run(clean, "to_parquet.py", "part-0", "out.parquet", cwd=tmp_path, env={**env, "PYTHONPATH": str(packages)})
    table = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    assert table["value"].to_pylist() == [b"value %d" % i for i in range(100, 200)]
    for name in ("keys.txt", "zstd.dictionary", test_codecs.ENCRYPTED):  # libcrypto is the system's
        (tmp_path / name).write_bytes(test_codecs.RANDOM[name])
    script = "import saltmill, sys; print(len(list(saltmill.HFile(sys.argv[1], master_keys=open('keys.txt').read()))))"
    assert int(run(clean, "-c", script, test_codecs.ENCRYPTED, cwd=tmp_path, env=env)) == len(test_codecs.cells_of(test_codecs.ENCRYPTED))
    told = run(clean, "-c", "import saltmill; help(saltmill)", cwd=tmp_path, env=env)
    for name in ("HFileWriter", "add_cells", "scan", "decode", "OrderError"):
        assert name in told
