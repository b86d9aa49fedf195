"""Tests that verify accepts a sound load and reports each kind of damage with its path."""

import json
import re
import shutil

import pytest

import loads
from xxh3 import edit_manifest, xxh3_128


@pytest.fixture(scope="module")
def pristine(tmp_path_factory):
    return loads.make_load(tmp_path_factory.mktemp("load"))


@pytest.fixture
def load(pristine, tmp_path):
    return shutil.copytree(pristine, tmp_path / "out")


def hfiles(load, family="f"):
    """Returns HFiles of a family as paths relative to the load, in the manifest's order (by region)."""
    manifest = json.loads((load / "manifest.json").read_text())
    return [f["path"] for f in manifest["tables"][0]["files"] if f["family"] == family]


def problems(load):
    """Returns [(path, text)] of a run that must report problems."""
    done = loads.run("verify", load)
    assert done.returncode == 1, done.stdout + done.stderr
    found = re.findall(r"^PROBLEM  (.+?): (.*)$", done.stdout, re.MULTILINE)
    assert done.stdout.splitlines()[-1] == f"{len(found)} problem" + "s" * (len(found) != 1)
    assert "verified:" not in done.stdout
    return found


def assert_found(found, path, text):
    assert any(p == path and re.search(text, t) for p, t in found), found


def test_sound(pristine):
    done = loads.run("verify", pristine)
    assert done.returncode == 0, done.stdout + done.stderr
    nfiles = len(list(pristine.glob("events/hfiles/*/*")))
    last = f"verified: {nfiles} files, {loads.EVENTS:,} rows, {2 * loads.EVENTS:,} cells"
    assert done.stdout.splitlines()[-1] == last
    assert "PROBLEM" not in done.stdout
    assert f"{loads.EVENTS + loads.DUPLICATES + loads.REJECTED} read = {loads.EVENTS} loaded" in done.stdout


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_same_report_for_any_threads(pristine, threads):
    one = loads.run("verify", pristine, "--threads", "1")
    many = loads.run("verify", f"{pristine}/", "--threads", threads)
    assert one.stdout == many.stdout and many.returncode == 0


def test_quiet_and_json(pristine, load):
    done = loads.run("verify", pristine, "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    report = json.loads(loads.run("verify", pristine, "--json").stdout)
    assert report["ok"] is True and report["problems"] == []
    assert report["rows"] == loads.EVENTS and report["cells"] == 2 * loads.EVENTS
    (load / "events" / "create.rb").unlink()
    done = loads.run("verify", load, "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 1 and report["ok"] is False
    assert [p["path"] for p in report["problems"]] == ["events/create.rb"]
    quiet = loads.run("verify", load, "--quiet")
    assert quiet.returncode == 1 and len(quiet.stdout.splitlines()) == 2


@pytest.mark.parametrize("where", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("family", ["f", "g"])
def test_flipped_byte(load, family, where):
    path = hfiles(load, family)[1]
    content = bytearray((load / path).read_bytes())
    content[int((len(content) - 4096) * where)] ^= 0x10
    (load / path).write_bytes(content)
    found = problems(load)
    assert_found(found, path, "changed")
    assert_found(found, path, r"(?i)checksum|block|offset|at \d+")
    assert {p for p, _ in found} == {path}


def test_missing_file(load):
    path = hfiles(load)[0]
    (load / path).unlink()
    assert problems(load) == [(path, "missing")]


@pytest.mark.parametrize("name", ["events/hfiles/f/00ff", "events/hfiles/x", ".hidden", "lock"])
def test_extra_file(load, name):
    (load / name).write_bytes(b"x")
    assert problems(load) == [(name, "not listed in the manifest")]


@pytest.mark.parametrize("name", ["x", "events/hfiles/x", "events/hfiles/f/.tmp", "events/manifest.json"])
def test_extra_folder(load, name):
    """Changes one finding, empty or not."""
    (load / name).mkdir()
    assert problems(load) == [(name, "a folder that the manifest does not list")]
    deep = load / name
    for _ in range(300):
        deep = deep / "d"
        deep.mkdir()
    (deep / "file").write_bytes(b"x")
    assert problems(load) == [(name, "a folder that the manifest does not list")]


def test_families_without_cells(tmp_path):
    """Each family has a folder, with or without files. If an old manifest does not name the families, verify accepts any folder."""
    job, out = tmp_path / "job.yaml", tmp_path / "out"
    job.write_text(loads.JOB.replace("{field: name}}", "{field: none}, optional: true}"))
    (tmp_path / "events.csv").write_text("id,when,none\n1,2,\n")
    assert loads.run("load", job, "-o", out, "--quiet").returncode == 0
    assert not list((out / "events" / "hfiles" / "f").iterdir())
    assert loads.run("verify", out).returncode == 0
    (out / "events" / "hfiles" / "more").mkdir()
    assert [p for p, _ in problems(out)] == ["events/hfiles/more"]
    edit_manifest(out, lambda m: m["tables"][0].pop("families"))
    assert loads.run("verify", out).returncode == 0
    (out / "events" / "more").mkdir()
    assert [p for p, _ in problems(out)] == ["events/more"]


def test_folder_that_cannot_be_read(load):
    folder = load / "events" / "hfiles" / "g"
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    folder.symlink_to("f")
    assert_found(problems(load), "events/hfiles/g", "not listed")


def test_extra_link(load):
    (load / "events" / "link").symlink_to("splits.txt")
    assert problems(load) == [("events/link", "not listed in the manifest")]


@pytest.mark.parametrize("keep", [0, 100, -4096, -1])
def test_truncated_file(load, keep):
    path = hfiles(load)[-1]
    content = (load / path).read_bytes()
    (load / path).write_bytes(content[:keep])
    found = problems(load)
    size = len(content[:keep])
    assert_found(found, path, rf"^{size} bytes, but the manifest has {len(content)}")
    assert {p for p, _ in found} == {path}


def test_swapped_pair(load):
    a, b = hfiles(load)[:2]
    (load / a).rename(load / "t")
    (load / b).rename(load / a)
    (load / "t").rename(load / b)
    found = problems(load)
    assert_found(found, a, f"contains the content of {b}")
    assert_found(found, b, f"contains the content of {a}")
    assert_found(found, a, "is outside region 0, which ends at ")
    assert_found(found, b, "is outside region 1, which starts at ")


def test_other_family(load):
    """The right cells are in the wrong column family."""
    one, two = hfiles(load, "f")[0], hfiles(load, "g")[0]
    (load / one).rename(load / "t")
    (load / two).rename(load / one)
    (load / "t").rename(load / two)
    assert_found(problems(load), one, "expected family f")


def table(change):
    return lambda m: change(m["tables"][0])


@pytest.mark.parametrize(
    "change, path, text",
    [
        (lambda m: m.update(read=m["read"] + 1), "manifest.json", r"3004 read but 3000 loaded \+ 2 rejected"),
        (lambda m: m.update(rejected=3), "rejects.jsonl", "2 lines, but the manifest has 3"),
        (lambda m: m["inputs"][0].update(rows=1), "manifest.json", "the inputs have 1 rows"),
        (lambda m: m["reasons"][0].update(count=9), "rejects.jsonl", "has 9"),
        (table(lambda t: t.update(loaded=t["loaded"] - 1)), "manifest.json", "but 2999 loaded"),
        (table(lambda t: t.update(rows=t["rows"] + 1)), "manifest.json", "3001 rows and 6000 cells, its regions"),
        (table(lambda t: t.update(cells=1)), "manifest.json", "3000 rows and 1 cells"),
        (table(lambda t: t["regions"][2].update(cells=5)), "manifest.json", "region 2 has"),
        (table(lambda t: t["regions"][0].update(rows=99999)), "manifest.json", "region 0 has 99999 rows"),
        (table(lambda t: t["regions"][1].update(end="\\xFE")), "events/splits.txt", r"region 1 ends at .* at \\xFE in the"),
        (table(lambda t: t["regions"].pop()), "events/splits.txt", "4 regions, but the manifest has 3"),
        (table(lambda t: t.update(splits_digest="0" * 32)), "events/splits.txt", "changed"),
    ],
)
def test_edited_manifest(load, change, path, text):
    edit_manifest(load, change)
    assert_found(problems(load), path, text)


@pytest.mark.parametrize(
    "key, value, text",
    [
        ("rows", 1, "rows, but the manifest has 1$"),
        ("cells", 1, "cells, but the manifest has 1$"),
        ("bytes", 1, "bytes, but the manifest has 1$"),
        ("cell_bytes", 1, "bytes of cells, but the manifest has 1$"),
        ("first_row", "\\x00", r"first row .*, but the manifest has \\x00$"),
        ("last_row", "zz", "last row .*, but the manifest has zz$"),
        ("min_ts", 0, "smallest timestamp 14.*, but the manifest has 0$"),
        ("max_ts", 0, "largest timestamp 14.*, but the manifest has 0$"),
        ("digest", "0" * 32, "changed"),
        ("region", 1, "is outside region 1"),
        ("region", 77, "region 77, but the manifest has 4 regions"),
        ("family", "g", "not in events/hfiles/g/"),
    ],
)
def test_edited_file_entry(load, key, value, text):
    path = hfiles(load)[0]
    edit_manifest(load, lambda m: m["tables"][0]["files"][0].update({key: value}))
    assert_found(problems(load), path, text)


def test_unlisted_and_listed_twice(load):
    paths = hfiles(load)
    edit_manifest(load, lambda m: m["tables"][0]["files"].pop(0))
    assert_found(problems(load), paths[0], "not listed")
    edit_manifest(load, lambda m: m["tables"][0]["files"].append(m["tables"][0]["files"][0]))
    again = json.loads((load / "manifest.json").read_text())["tables"][0]["files"][0]["path"]
    assert_found(problems(load), again, "lists this file twice")


def test_edited_splits(load):
    path = load / "events" / "splits.txt"
    keys = path.read_text().splitlines()
    assert len(keys) == 3
    path.write_text("\n".join(["\\x01", *keys[1:]]) + "\n")
    found = problems(load)
    assert_found(found, "events/splits.txt", "changed")
    assert_found(found, "events/splits.txt", r"region 0 ends at \\x01 here")
    path.write_text("\n".join(keys[:2]) + "\n")
    assert_found(problems(load), "events/splits.txt", "3 regions, but the manifest has 4")
    path.write_text("\n".join(reversed(keys)) + "\n")
    assert_found(problems(load), "events/splits.txt", "2")  # the line


def test_edited_create(load):
    path = load / "events" / "create.rb"
    path.write_text(path.read_text() + "# once more\n")
    assert [p for p, _ in problems(load)] == ["events/create.rb"]


def test_another_table(load):
    edit_manifest(load, lambda m: m["tables"][0].update(name="other"))
    assert_found(problems(load), "events/create.rb", "creates table events, but the manifest has table other")


def test_another_script(load):
    path = load / "events" / "create.rb"
    path.write_text("puts 'nothing'\n")
    edit_manifest(load, lambda m: m["tables"][0].update(create_digest=xxh3_128(path.read_bytes())))
    assert_found(problems(load), "events/create.rb", "expected a create-table script of saltmill")


def test_digests(pristine):
    manifest = json.loads((pristine / "manifest.json").read_text())
    assert manifest["digests"]["rejects"] == xxh3_128((pristine / "rejects.jsonl").read_bytes())
    text = (pristine / "manifest.json").read_bytes()
    before, behind = text.rsplit(manifest["digests"]["manifest"].encode(), 1)
    assert manifest["digests"]["manifest"] == xxh3_128(before + behind)
    assert "ok       manifest.json: as written" in loads.run("verify", pristine).stdout


def test_any_byte_of_the_manifest(load):
    """verify detects a changed digit anywhere, also in the inputs, the predictions and the job's digest."""
    path = load / "manifest.json"
    text = path.read_bytes()
    places = list(range(0, len(text), len(text) // 15)) + list(range(len(text) - 130, len(text), 9))
    for key in (b'"job_digest": "', b'"inputs": [\n    {\n      "path": "', b'"predicted_bytes": ', b'"bytes": '):
        places.append(text.index(key) + len(key))
    for n, at in enumerate(places):
        path.write_bytes(text[:at] + bytes([text[at] ^ (1, 0x20)[n % 2]]) + text[at + 1:])
        assert [p for p, _ in problems(load)] == ["manifest.json"], at
    path.write_bytes(text + b"\n")
    assert_found(problems(load), "manifest.json", "the file is damaged, or another program changed it")
    path.write_text(json.dumps(json.loads(text)))
    assert_found(problems(load), "manifest.json", "the file is damaged, or another program changed it")


def test_manifest_of_before_digests(load):
    """Without digests, verify checks the rest and reports the missing digests. A manifest with only half of the digests
    is an error."""
    manifest = json.loads((load / "manifest.json").read_text())
    digests = manifest.pop("digests")
    (load / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
    done = loads.run("verify", load)
    assert done.returncode == 0 and "an old version wrote this manifest without digests" in done.stdout
    (load / "rejects.jsonl").write_text((load / "rejects.jsonl").read_text().replace("never", "newer"))
    assert loads.run("verify", load).returncode == 0
    manifest["digests"] = {"rejects": digests["rejects"]}
    (load / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
    assert_found(problems(load), "manifest.json", "digests.manifest is missing")


def test_changed_rejects(load):
    """The changed file has the same number of lines, with the same reasons."""
    path = load / "rejects.jsonl"
    assert path.read_text().count("never") == 2
    path.write_text(path.read_text().replace("never", "newer"))
    assert problems(load) == [("rejects.jsonl", "changed: found another digest than in the manifest")]


def test_edited_rejects(load):
    path = load / "rejects.jsonl"
    first, second = path.read_text().splitlines()
    path.write_text(first + "\n")
    assert_found(problems(load), "rejects.jsonl", "1 lines, but the manifest has 2 rejected")
    path.write_text(first + "\n{}\n")
    assert_found(problems(load), "rejects.jsonl", "line 2 is not")
    path.unlink()
    assert_found(problems(load), "rejects.jsonl", "No such file")


@pytest.mark.parametrize("content", [None, "", "{}", "[]", '{"read": 1'])
def test_no_manifest(load, content):
    path = load / "manifest.json"
    if content is None:
        path.unlink()
    else:
        path.write_text(content)
    found = problems(load)
    assert [p for p, _ in found] == ["manifest.json"]


def test_wrong_usage():
    for args in [[], ["a", "b"], ["--none", "a"]]:
        done = loads.run("verify", *args)
        assert done.returncode == 2 and done.stderr.startswith("saltmill verify: ") and not done.stdout
