"""Tests inspect and verify of HFiles with damage that no checksum detects.

The tests take the files apart and put them together with their own code for the format (hfile/README.md 2). The tests exchange, remove or double blocks. The test changes each byte of the trailer, because no checksum covers it. The
commands must refuse every such file with an error, whatever they have printed before.
"""

import json
import struct

import pytest

import loads
from hfile_py import crc32c

HEADER, TRAILER = 33, 4096


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Returns {name: bytes} of some HFiles, with one index level and with three levels."""
    folder = tmp_path_factory.mktemp("load")
    load = loads.make_load(folder)
    manifest = json.loads((load / "manifest.json").read_text())
    found = {}
    for f in manifest["tables"][0]["files"]:
        found.setdefault(f["family"], (load / f["path"]).read_bytes())
    job = folder / "long.yaml"
    job.write_text(loads.JOB.replace("split: sampled, count: 4", "split: none")
                   .replace("compression: NONE", "compression: NONE, blocksize: 1K"))
    done = loads.run("load", job, "-o", folder / "long", "--max-rejects", "9")
    assert done.returncode in (0, 3), done.stderr
    manifest = json.loads((folder / "long" / "manifest.json").read_text())
    long = [f for f in manifest["tables"][0]["files"] if f["family"] == "g"]
    found["long"] = (folder / "long" / long[0]["path"]).read_bytes()
    return found


def blocks(content):
    """Returns [(offset, bytes)] of all blocks before the trailer."""
    at, out = 0, []
    while at < len(content) - TRAILER:
        size = HEADER + struct.unpack(">i", content[at + 8:at + 12])[0]
        out.append((at, content[at:at + size]))
        at += size
    assert at == len(content) - TRAILER
    return out


def summed(block):
    """Returns the block with correct checksums."""
    chunk, data = struct.unpack(">ii", block[25:33])
    sums = b"".join(struct.pack(">I", crc32c(block[i:min(i + chunk, data)])) for i in range(0, data, chunk))
    return block[:data] + sums


def with_previous(block, previous):
    return summed(block[:16] + struct.pack(">q", previous) + block[24:])


def refused(path, content):
    path.write_bytes(content)
    for args in [("inspect", "--cells"), ("verify",)]:
        done = loads.run(*args, path)
        assert done.returncode == 1, (args, path.name)
        assert str(path) in done.stderr + done.stdout and len(done.stderr + done.stdout) > 0
    return done.stdout


def data_places(parts):
    return [i for i, (_, b) in enumerate(parts) if b[:7] == b"DATABLK"]


def joined(parts, trailer):
    return b"".join(b for _, b in parts) + trailer


def test_sound(whole, tmp_path):
    for name, content in whole.items():
        path = tmp_path / name
        path.write_bytes(content)
        shown = json.loads(loads.run("inspect", "--json", "--cells", path).stdout)[0]
        done = loads.run("verify", path)
        assert done.returncode == 0, done.stdout
        assert done.stdout.splitlines()[-1].endswith(f"{len(shown['cells'])} cells") or \
            f"{len(shown['cells']):,}".replace(",", "") in done.stdout
        told = json.loads(loads.run("verify", "--json", path).stdout)
        assert told["ok"] and told["files"] == 1 and told["cells"] == len(shown["cells"])


@pytest.mark.parametrize("name", ["f", "g", "long"])
def test_each_byte_of_the_trailer(whole, tmp_path, name):
    content = whole[name]
    start = len(content) - TRAILER
    message = 8 + 1 + content[start + 8]  # magic, a length of one byte, counts
    paths = []
    for at in [*range(message), message, 2000, *range(TRAILER - 4, TRAILER)]:
        # a change of 1 makes the minor version 2; HBase reads every minor version below its own
        for change in (0x04, 0x80) if at == TRAILER - 4 else (0x01, 0x80) if name == "long" else (0x04,):
            damaged = bytearray(content)
            damaged[start + at] ^= change
            paths.append(tmp_path / f"{name}-{at}-{change}")
            paths[-1].write_bytes(damaged)
    done = loads.run("inspect", "--cells", "--json", *paths)
    assert done.returncode == 1
    accepted = [p.name for p, shown in zip(paths, json.loads(done.stdout)) if "error" not in shown]
    assert accepted == []
    for path in paths[::5]:
        assert loads.run("verify", path).returncode == 1, path.name


def test_another_last_key(whole, tmp_path):
    """The file info has the last key with another timestamp, and correct checksums."""
    parts = blocks(whole["g"])
    (info,) = [i for i, (_, b) in enumerate(parts) if b[:8] == b"FILEINF2"]
    block = bytearray(parts[info][1])
    at = block.index(b"hfile.LASTKEY") + len(b"hfile.LASTKEY") + 2  # after the tag and the length of one byte
    block[at + block[at - 1] - 2] ^= 1
    parts[info] = (0, summed(bytes(block)))
    path = tmp_path / "last"
    path.write_bytes(joined(parts, whole["g"][-TRAILER:]))
    done = loads.run("verify", path)
    assert done.returncode == 1 and "hfile.LASTKEY: found another key, expected the last cell's" in done.stdout + done.stderr


def test_exchanged_blocks(whole, tmp_path):
    """Two data blocks change places. First only the blocks move. Then the test corrects links, index and byte order, too."""
    name = "long"
    parts = blocks(whole[name])
    trailer = whole[name][-TRAILER:]
    data = data_places(parts)
    assert len(data) > 10
    for a, b in [(data[0], data[1]), (data[0], data[-1]), (data[-2], data[-1])]:
        swapped = list(parts)
        swapped[a], swapped[b] = parts[b], parts[a]
        refused(tmp_path / f"{name}-{a}-{b}", joined(swapped, trailer))
        if len(parts[a][1]) != len(parts[b][1]):
            continue
        links = [struct.unpack(">q", parts[i][1][16:24])[0] for i in (a, b)]
        swapped[a] = (0, with_previous(parts[b][1], links[0]))
        swapped[b] = (0, with_previous(parts[a][1], links[1]))
        said = refused(tmp_path / f"{name}-{a}-{b}-linked", joined(swapped, trailer))
        assert "block" in said or "index key" in said


def load_equal_cells(tmp_path):
    """Makes a load with cells of one size. Returns the path of its file."""
    (tmp_path / "events.csv").write_text("id,v\n" + "".join(f"{i},{i % 7}\n" for i in range(900)))
    (tmp_path / "job.yaml").write_text("""\
source: {csv: {files: [events.csv]}}
fields: {id: {type: u32}}
tables:
  - name: t
    rowkey: [{field: id, as: u32}]
    timestamp: 5
    families: {f: {bloomfilter: NONE, blocksize: 1K}}
    cells: [{family: f, qualifier: q, value: {field: v}}]
    regions: {split: none}
""")
    done = loads.run("load", tmp_path / "job.yaml", "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    return next((tmp_path / "out" / "t" / "hfiles" / "f").iterdir())


def test_equal_blocks_exchanged_and_linked(tmp_path):
    """The blocks have one size, so that only the order of cells differs."""
    content = load_equal_cells(tmp_path).read_bytes()
    parts, trailer = blocks(content), content[-TRAILER:]
    data = data_places(parts)
    a, b = data[3], data[5]
    assert len(parts[a][1]) == len(parts[b][1])
    links = [struct.unpack(">q", parts[i][1][16:24])[0] for i in (a, b)]
    parts[a], parts[b] = (0, with_previous(parts[b][1], links[0])), (0, with_previous(parts[a][1], links[1]))
    damaged = tmp_path / "damaged"
    damaged.write_bytes(joined(parts, trailer))
    done = loads.run("inspect", "--cells", damaged)
    assert done.returncode == 1 and "sorts before" in done.stderr
    assert loads.run("verify", damaged).returncode == 1


@pytest.mark.parametrize("twins", [False, True])
def test_exchanged_cells(tmp_path, twins):
    """Two cells of a block change places. The cells have two rows, or one column and two timestamps. Both a scan in
    batches and a reader of single cells report this."""
    path = load_equal_cells(tmp_path)
    content = path.read_bytes()
    parts, trailer = blocks(content), content[-TRAILER:]
    at = data_places(parts)[2]
    block = parts[at][1]
    size = 8 + sum(struct.unpack(">ii", block[HEADER:HEADER + 8]))
    places = [HEADER + 4 * size, HEADER + 5 * size]
    first, second = (block[p:p + size] for p in places)
    if twins:  # both have one row, and the later cell has the later time
        second = first[:-9 - 1] + struct.pack(">q", 6) + first[-1 - 1:]
    else:
        first, second = second, first
    parts[at] = (0, summed(block[:places[0]] + first + second + block[places[1] + size:]))
    path.write_bytes(joined(parts, trailer))
    one = loads.run("inspect", "--cells", path)
    many = loads.run("scan", tmp_path / "job.yaml", tmp_path / "out", "--quiet")
    assert one.returncode == many.returncode == 1
    assert f"found a cell at byte {5 * size} that sorts before the previous cell" in one.stderr
    assert f"found a cell at byte {5 * size} that sorts before the previous cell" in many.stderr


@pytest.mark.parametrize("name", ["g", "long"])
def test_lost_and_doubled_blocks(whole, tmp_path, name):
    """A block is missing or doubled. The rest of the file stays at its offsets, or moves."""
    parts = blocks(whole[name])
    trailer = whole[name][-TRAILER:]
    data = data_places(parts)
    for i in {0, len(data) // 2, len(data) - 1}:
        at = data[i]
        refused(tmp_path / f"{name}-lost-{at}", joined(parts[:at] + parts[at + 1:], trailer))
        refused(tmp_path / f"{name}-twice-{at}", joined(parts[:at + 1] + parts[at:], trailer))
        # another type with the same bytes
        other = bytearray(parts[at][1])
        other[:8] = b"METABLKc"
        changed = list(parts)
        changed[at] = (0, summed(bytes(other)))
        refused(tmp_path / f"{name}-type-{at}", joined(changed, trailer))
