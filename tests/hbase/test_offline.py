"""Compares --table-dir and --snapshot with the Java client's scans of the same table, on folders that a real HBase wrote.
cli/test_offline.py damages such folders.
"""

import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import threading
import time

import pytest

from cluster import wait_until
from stored_tables import StoredTable, answers_of, by_hbase, by_saltmill, compare
from test_session import Reader, drop


def folder_of(hbase, name):
    space, _, table = name.rpartition(":")
    return hbase.folder / "data" / "root" / "data" / (space or "default") / table


@pytest.fixture
def table(hbase, tmp_path, request):
    """Makes a table with flushed and bulk-loaded files. Compactions are off, so that references remain."""
    name = f"offline_{request.node.originalname.removeprefix('test_')}"
    t = StoredTable(hbase, tmp_path, name, name, int(time.time() * 1000))
    t.shell("compaction_switch false")
    t.rounds(1)
    yield t
    t.shell("compaction_switch true")


def diff(saltmill, status, *args):
    done = subprocess.run([saltmill, "diff", *map(str, args), "--json"], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return json.loads(done.stdout)


def compare_with_live(hbase, saltmill, table):
    """A snapshot equals its live clone, all cells and the visible cells, until the clone gets one more cell."""
    snapshot, clone = hbase.folder / "data" / "root" / ".hbase-snapshot" / f"{table.name}_s", table.name + "_s_clone"
    table.shell(f"clone_snapshot '{table.name}_s', '{clone}'")
    visible = diff(saltmill, 0, snapshot, f"hbase://{hbase.master}/{clone}")
    stored = diff(saltmill, 0, snapshot, "--hbase", hbase.master, "--table", clone, "--raw")
    assert 200 < visible["cells_a"] == visible["cells_b"] < stored["cells_a"] == stored["cells_b"]
    hbase.call("mutate", table=clone, mutations=[["Put", b"r0250x".hex(), "f", b"new".hex(), table.now, b"v".hex()]])
    for how in ([], ["--raw"]):
        told = diff(saltmill, 3, snapshot, f"hbase://{hbase.master}/{clone}", *how)
        assert told["first"] == [{"difference": "only_in_b", "row": "r0250x", "family": "f", "qualifier": "new",
                                  "timestamp": table.now, "type": "Put", "value_b": "v"}]
    told = diff(saltmill, 3, f"hbase://{hbase.master}/{clone}", f"hbase://{hbase.master}/{table.name}_c", "--start", "r0250")
    assert (told["only_in_a"], told["only_in_b"], told["other_value"]) == (1, 0, 0)
    drop(hbase, table.folder, clone)


def test_split_snapshot_and_clone(hbase, saltmill, table):
    """A region is split, and a snapshot is taken. Then the table changes, and a major compaction archives files."""
    name, root = table.name, hbase.folder / "data" / "root"
    hbase.split(name, b"r0200")
    table.rounds(1)
    assert compare(answers_of(hbase, name), saltmill, "--table-dir", folder_of(hbase, name)) > 500
    names = [f["path"] for r in hbase.store_files(name) for f in r["files"]]
    assert any("." in n.rpartition("/")[2] for n in names)  # there are references

    table.shell(f"snapshot '{name}', '{name}_s'", f"clone_snapshot '{name}_s', '{name}_c'")
    cloned = answers_of(hbase, name + "_c")
    compare(cloned, saltmill, "--table-dir", folder_of(hbase, name + "_c"))
    compare_with_live(hbase, saltmill, table)
    table.rounds(1)
    table.shell("compaction_switch true", f"major_compact '{name}'")
    compare(answers_of(hbase, name), saltmill, "--table-dir", folder_of(hbase, name))
    compare(cloned, saltmill, "--snapshot", root / ".hbase-snapshot" / f"{name}_s")
    for place in (["--table-dir", folder_of(hbase, name)], ["--snapshot", root / ".hbase-snapshot" / f"{name}_s"]):
        done = subprocess.run([saltmill, "verify", *place], capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_merge_keeps_what_a_major_compaction_keeps(hbase, saltmill, table):
    """merge of a snapshot gives the cells of HBase's own compaction, and HBase loads the result. convert keeps all cells."""
    name, stored = table.name, answers_of(hbase, table.name)
    snapshot, loaded = hbase.folder / "data" / "root" / ".hbase-snapshot" / f"{name}_s", name + "_l"
    table.shell(f"snapshot '{name}', '{name}_s'", "compaction_switch true", f"major_compact '{name}'")

    def load(command, *how):
        for args in ([command, snapshot, "-o", table.folder / command, "--table", loaded, "--quiet", *how],
                     ["apply", table.folder / command, "--hbase", hbase.master, "--create", "--quiet"]):
            done = subprocess.run([saltmill, *map(str, args)], capture_output=True, text=True, timeout=120, check=False)
            assert done.returncode == 0, done.stderr
        return answers_of(hbase, loaded)

    assert load("convert", "--compression", "GZ", "--data-block-encoding", "ROW_INDEX_V1", "--blocksize", "2K", "--bloomfilter", "ROW") == stored
    assert {f["COMPRESSION"] for f in hbase.describe(loaded)["families"].values()} == {"GZ"}
    drop(hbase, table.folder, loaded)
    merged = load("merge")
    wait_until(lambda: answers_of(hbase, name) == merged, pause=1)  # the compaction takes a while
    assert merged[0]
    assert hbase.describe(loaded)["families"] == hbase.describe(name)["families"]
    drop(hbase, table.folder, loaded)


def sequences(hbase, files):
    """Returns (cell, sequence id) of each cell, and the greatest id of the files, as HBase's reader shows them."""
    cells, greatest = set(), -1
    for file in files:
        text, named = hbase.pretty(file, cells=True)[0], re.search(r"_SeqId_(\d+)_$", file.name)
        stored = re.search(r"MAX_SEQ_ID_KEY = (\d+)", text)
        greatest = max(greatest, int(named[1] if named else stored[1]))
        cells |= {(key, int(named[1] if named else own)) for key, own in re.findall(r"^K: (.*)/seqid=(\d+) V:", text, re.M)}
    return cells, greatest


def test_converted_store_files_replace_those_of_a_region(hbase, saltmill, table):
    """--keep-sequence-ids: HBase reads equal cells, and equal ids, after all files of a disabled table were replaced."""
    name, folder = table.name, folder_of(hbase, table.name)
    table.rounds(1)
    done = subprocess.run([saltmill, "convert", folder, "-o", table.folder / "new", "--keep-sequence-ids", "--data-block-encoding", "DIFF",
                           "--compression", "GZ", "--quiet"], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    before = answers_of(hbase, name)
    table.shell(f"disable '{name}'")
    manifest = json.loads((table.folder / "new" / "manifest.json").read_text())
    for at, region in enumerate(hbase.store_files(name)):
        for family in {f["family"] for f in region["files"]}:
            old = [pathlib.Path(f["path"]) for f in region["files"] if f["family"] == family]
            [new] = [table.folder / "new" / f["path"] for f in manifest["tables"][0]["files"] if (f["family"], f["region"]) == (family, at)]
            assert sequences(hbase, [new]) == sequences(hbase, old)
            for file in old:
                file.unlink()
            shutil.copy(new, old[0].parent / new.name)
    table.shell(f"enable '{name}'")
    assert answers_of(hbase, name) == before
    table.rounds(1)  # of equal cells, the later ones win
    compare(answers_of(hbase, name), saltmill, "--table-dir", folder)


REKEY = """\
source: {{csv: {{files: [none.csv]}}}}
fields: {{digits: {{type: text}}}}
tables:
  - name: {name}
    rowkey: [{key}]
    timestamp: 0
    families:
      f: {{versions: 3, bloomfilter: ROWCOL}}
      g: {{other_load: true, versions: 2, keep_deleted_cells: "TRUE"}}
      h: {{other_load: true, versions: 4, min_versions: 1, ttl: 3600s}}
      k: {{other_load: true, versions: 1, keep_deleted_cells: TTL, ttl: 3600s, min_versions: 1}}
    cells: [{{family: f, qualifier: a, value: digits}}]
    regions: {{split: sampled, count: 3}}
"""


def test_rekey_in_rounds(hbase, saltmill, table):
    """A table whose cells change goes to another key in rounds of snapshots. The Java client reads the same cells."""
    name, new, folder = table.name, table.name + "_new", table.folder
    old_key = "{const: r}, {field: digits, width: 4, pad: '*'}"
    (folder / "old.yaml").write_text(REKEY.format(name=name, key=old_key))
    (folder / "new.yaml").write_text(REKEY.format(name=new, key="{field: digits, as: reversed, width: 4, pad: '*'}"))
    since = []
    for i in range(2):
        snapshot = hbase.folder / "data" / "root" / ".hbase-snapshot" / f"{name}_{i}"
        table.shell(f"snapshot '{name}', '{snapshot.name}'")
        for args in (["rekey", folder / "old.yaml", folder / "new.yaml", snapshot, *since, "-o", folder / str(i), "--quiet"],
                     ["apply", folder / str(i), "--hbase", hbase.master, "--create", "--quiet"]):
            done = subprocess.run([saltmill, *map(str, args)], capture_output=True, text=True, timeout=120, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
        since = ["--since", snapshot]
        expected, found = answers_of(hbase, name)[:2], answers_of(hbase, new)[:2]
        moved = [sorted((bytes.fromhex(row)[:0:-1].hex(), cells) for row, cells in answer) for answer in expected]
        assert moved == found and len(found[1]) > 100
        if i == 0:
            table.rounds(1)
    drop(hbase, folder, new)


def move(saltmill, status, *args, crash=""):
    env = {**os.environ, "SALTMILL_CRASH_AT": crash}
    done = subprocess.run([saltmill, "rekey", *map(str, args)], capture_output=True, text=True, timeout=300, check=False, env=env)
    assert done.returncode == (-signal.SIGKILL if crash else status), done.stdout + done.stderr
    return done


class Writer(threading.Thread):
    """Writes to a table until it is stopped, or fails. It waits, so that a round on a busy machine has not more cells."""

    def __init__(self, table):
        super().__init__()
        self.table, self.going, self.written, self.error = table, True, 0, None

    def run(self):
        try:
            while self.going:
                self.table.write(20)
                self.written += 20
                time.sleep(0.05)
        except Exception as e:  # pylint: disable=broad-exception-caught
            self.error = e

    def stop(self):
        self.going = False
        self.join()
        assert self.written and not self.error, self.error


def visible_by_digits(hbase, table, turned):
    """Returns the visible cells of all versions as (digits, cell)."""
    rows = [(bytes.fromhex(row).decode(), cells) for row, cells in by_hbase(hbase, table, versions=1000)]
    return {(row[::-1] if turned else row[1:], cell) for row, cells in rows for cell in cells}


def test_rekey_of_a_live_table(hbase, saltmill, table):
    """A table goes to another key while a program writes it. rekey is killed at each kind of step. HBase drops a delete
    marker that no snapshot has. With enough writes, it also drops versions that a delete of newer ones would uncover. The
    Java client reads equal cells of both tables."""
    name, new, folder = table.name, table.name + "_new", table.folder
    (folder / "old.yaml").write_text(REKEY.format(name=name, key="{const: r}, {field: digits, width: 4, pad: '*'}"))
    job = REKEY.format(name=new, key="{field: digits, as: reversed, width: 4, pad: '*'}")
    args = [folder / "old.yaml", folder / "new.yaml", "--hbase", hbase.master, "-o", folder / "move"]
    (folder / "new.yaml").write_text(job.replace("ttl: 3600s", "ttl: 3601s"))
    assert "h: found TTL 3601, expected 3600" in move(saltmill, 2, *args).stderr
    (folder / "new.yaml").write_text(job)
    table.shell(f"create '{new}', {{NAME => 'f', VERSIONS => 3, BLOOMFILTER => 'ROWCOL'}}, {{NAME => 'g', VERSIONS => 2}}, "
                "{NAME => 'h', VERSIONS => 4, MIN_VERSIONS => 1, TTL => 3600}, {NAME => 'k', VERSIONS => 1, TTL => 3600}")
    assert "expected TRUE" in move(saltmill, 2, *args).stderr
    drop(hbase, folder, new)
    table.shell(f"snapshot '{name}', '{name}_theirs'")
    assert f"1. take a snapshot of table {name}" in move(saltmill, 0, *args, "--dry-run").stdout

    def snapshots():
        return {p.name for p in (hbase.folder / "data/root/.hbase-snapshot").iterdir() if name in p.name or p.name.startswith("saltmill-rekey")}

    move(saltmill, 0, *args, crash="rekey-before-moved")
    move(saltmill, 0, *args, "--abort")
    assert snapshots() == {f"{name}_theirs"} and not (folder / "move").exists()
    assert "expected a missing or empty table" in move(saltmill, 2, *args).stderr
    move(saltmill, 0, *args, "--abort")
    drop(hbase, folder, new)

    hbase.call("mutate", table=name, mutations=[["Put", b"r9999".hex(), "f", "61", table.now - 50_000, b"gone".hex()]])
    writer = Writer(table)
    writer.start()
    try:
        move(saltmill, 0, *args, crash="rekey-before-taken")
        move(saltmill, 0, *args, crash="rekey-before-moved")
        assert len(snapshots()) == 2
        first = json.loads(move(saltmill, 0, *args, "--round", "1h", "--json").stdout)
        move(saltmill, 0, *args, crash="rekey-before-removed")
        second = json.loads(move(saltmill, 0, *args, "--json").stdout)
    finally:
        writer.stop()
    assert first["rounds"] == 1 and second["rounds"] >= 3 and not second["finished"]
    (folder / "new.yaml").write_text(job + "# changed\n")
    assert "found another content than in the first round" in move(saltmill, 2, *args).stderr
    (folder / "new.yaml").write_text(job)
    move(saltmill, 0, *args, "--round", "1h")
    table.write(20)
    assert 0 < json.loads(move(saltmill, 0, *args, "--round", "1h", "--json").stdout)["last_cells"] <= 20  # no old cells
    hbase.call("mutate", table=name, mutations=[["DeleteFamily", b"r9999".hex(), "f", "", table.now - 40_000, ""]])
    table.shell(f"flush '{name}'", "compaction_switch true", f"major_compact '{name}'")
    assert not by_hbase(hbase, name, raw=True, start=b"r9999".hex())
    for step in ("summed", "sorted", "compared"):  # in the proof: the last round is whole after the first of these runs
        move(saltmill, 0, *args, "--finish", crash=f"rekey-{step}")
        steps = [line.split()[0] for line in (folder / "move/journal").read_text().splitlines()]
        assert steps.count("last") == 1 and steps[-1] == "taken", steps
    refused = move(saltmill, 1, *args, "--finish").stderr
    old_cells, new_cells = visible_by_digits(hbase, name, False), visible_by_digits(hbase, new, True)
    missing, extra = old_cells - new_cells, new_cells - old_cells
    assert ("9999", f"f:61:{table.now - 50_000}:{b'gone'.hex()}") in extra
    assert f"found {len(missing)} missing cells, {len(extra)} extra ones and 0 with other values" in refused
    move(saltmill, 0, *args, "--finish", "--repair", crash="rekey-before-repaired")
    move(saltmill, 0, *args, "--finish", crash="rekey-before-equal")
    last = json.loads(move(saltmill, 0, *args, "--finish", "--json").stdout)
    assert last["finished"] and last["proved"] > 500 and last["repaired"] >= len(missing) + len(extra), last
    expected, found = answers_of(hbase, name)[:2], answers_of(hbase, new)[:2]
    moved = [sorted((bytes.fromhex(row)[:0:-1].hex(), cells) for row, cells in answer) for answer in expected]
    assert moved == found and sum(len(cells) for _, cells in found[1]) == last["proved"]
    assert snapshots() == {f"{name}_theirs"} and os.listdir(folder / "move") == ["journal"]
    move(saltmill, 0, *args, "--abort")
    assert not (folder / "move").exists()
    drop(hbase, folder, new)


def test_rekey_by_a_column(hbase, saltmill, tmp_path):
    """The key takes the value of a column, so sums of the cells prove nothing. The comparison then finds a foreign cell."""
    job = ("source: {csv: {files: [in.csv]}}\nfields: {id: {type: text}, kind: {type: text}}\ntables:\n  - name: %s\n"
           "    rowkey: [%s]\n    timestamp: 1700000000000\n    families: {f: {versions: 1}}\n"
           "    cells: [{family: f, qualifier: kind, value: kind}]\n    regions: {split: none}\n")
    (tmp_path / "old.yaml").write_text(job % ("kinds", "{field: id, width: 2}"))
    (tmp_path / "new.yaml").write_text(job % ("kinds_new", "{field: kind, terminator: '|'}, {field: id, width: 2}"))
    (tmp_path / "in.csv").write_text("id,kind\n" + "".join(f"{i},{'red' if i % 3 else 'blue'}\n" for i in range(10, 60)))
    for args in (["load", tmp_path / "old.yaml", tmp_path / "in.csv", "-o", tmp_path / "out", "--quiet"],
                 ["apply", tmp_path / "out", "--hbase", hbase.master, "--create", "--quiet"]):
        done = subprocess.run([saltmill, *map(str, args)], capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
    args = [tmp_path / "old.yaml", tmp_path / "new.yaml", "--hbase", hbase.master, "-o", tmp_path / "move"]
    move(saltmill, 0, *args, "--round", "1h")
    hbase.call("mutate", table="kinds_new", mutations=[["Put", b"green|77".hex(), "f", b"kind".hex(), 1_700_000_000_000, b"green".hex()]])
    assert "found 0 missing cells, 1 extra ones and 0 with other values" in move(saltmill, 1, *args, "--finish").stderr
    assert json.loads(move(saltmill, 0, *args, "--finish", "--repair", "--json").stdout)["proved"] == 50
    want = {b"%s|%d" % (b"red" if i % 3 else b"blue", i) for i in range(10, 60)}
    assert {bytes.fromhex(row) for row, _ in by_hbase(hbase, "kinds_new")} == want
    for name in ("kinds", "kinds_new"):
        drop(hbase, tmp_path, name)


def test_merge_and_minor_compaction(hbase, saltmill, table):
    """A merged region has references to whole files. Files that a compaction replaced stay in the folder for minutes."""
    table.shell(f"merge_pairs '{table.name}'")
    table.rounds(1)
    compare(answers_of(hbase, table.name), saltmill, "--table-dir", folder_of(hbase, table.name))
    table.shell("compaction_switch true")
    table.rounds(2)
    compare(answers_of(hbase, table.name), saltmill, "--table-dir", folder_of(hbase, table.name))


def fill_mob(hbase, table):
    """Writes values around the threshold of 100 bytes, and flushes."""
    rng = random.Random(31)
    for _ in range(2):
        sizes = [rng.choice([0, 99, 100, 101, 3000]) for _ in range(150)] + [300_000]
        hbase.call("mutate", table=table.name, mutations=[
            ["Put", table.row().hex(), rng.choice("fg"), rng.choice(["", "61", "62"]), table.ts(), rng.randbytes(size).hex()]
            for size in sizes] + [["DeleteColumn", table.row().hex(), "f", "61", table.ts()] for _ in range(30)])
        table.flush()


def refused(saltmill, *args):
    done = subprocess.run([saltmill, *map(str, args)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1, done.stdout
    return done.stdout + done.stderr


def test_mob(hbase, saltmill, tmp_path):
    """Values of a MOB family come from the MOB files, also in a clone, a snapshot and an archive. Loose HFiles are refused."""
    name, root = "offline_mob", hbase.folder / "data" / "root"
    families = {"f": "VERSIONS => 3, IS_MOB => true, MOB_THRESHOLD => 100, COMPRESSION => 'ZSTD'", "g": "VERSIONS => 2"}
    table = StoredTable(hbase, tmp_path, name, name, int(time.time() * 1000), families)
    fill_mob(hbase, table)
    table.shell(f"snapshot '{name}', '{name}_s'", f"clone_snapshot '{name}_s', '{name}_c'")
    answers, cloned = answers_of(hbase, name), answers_of(hbase, name + "_c")
    mobs = [p for p in root.glob(f"mobdir/data/default/{name}/*/f/*") if not p.name.startswith(".")]
    assert len(mobs) >= 2
    snapshot, folder = root / ".hbase-snapshot" / f"{name}_s", folder_of(hbase, name)
    assert compare(answers, saltmill, "--table-dir", folder) > 200
    assert any(len(c) > 600_000 for _, cells in answers[0] for c in cells)
    assert len(by_saltmill(saltmill, "--snapshot", snapshot, "--where", "f:a >= ''", "--columns", "f:a")) > 20
    done = subprocess.run([saltmill, "verify", "--snapshot", snapshot, "--json"], capture_output=True, text=True, check=True)
    stores = [f for f in folder.glob("*/*/*") if f.parent.name in families and not f.name.startswith(".")]
    assert json.loads(done.stdout)["files"] == len(stores) + len(mobs)
    subprocess.run([saltmill, "convert", snapshot, "-o", tmp_path / "whole", "--quiet"], check=True)
    assert diff(saltmill, 0, snapshot, tmp_path / "whole", "--raw")["cells_b"] > 200

    loose = tmp_path / "loose"
    shutil.copytree(next(f for f in stores if f.parent.name == "f").parent, loose / "f")
    assert "found a reference to a MOB file" in refused(saltmill, "scan", loose)
    assert "--table-dir ROOT/data/NAMESPACE/TABLE" in refused(saltmill, "convert", loose, "-o", tmp_path / "no", "--table", "t")
    drop(hbase, tmp_path, name)  # HBase moves the files to the archive
    assert not any(p.exists() for p in mobs)
    compare(answers, saltmill, "--snapshot", snapshot)
    compare(cloned, saltmill, "--table-dir", folder_of(hbase, name + "_c"))
    bad = next(folder_of(hbase, name + "_c").glob("*/f")) / ("0" * 32)
    for row in (b"a", b"r0500"):  # one is in the region
        hbase.write_hfile(bad, [(row, b"q", 1, b"\0\0\0\1x", {"tags": [(5, b""), (6, b"..")]})], tags=True)
        message = refused(saltmill, "scan", "--table-dir", folder_of(hbase, name + "_c"))
        assert "names without folders" in message or "rows outside the file's region" in message
    bad.unlink()
    moved = next(root.glob(f"archive/data/default/{name}/*/f/{mobs[0].name}"))
    moved.rename(tmp_path / "away")
    assert mobs[0].name in refused(saltmill, "scan", "--snapshot", snapshot)
    assert f"MOB file {mobs[0].name} of table {name}" in refused(saltmill, "verify", "--snapshot", snapshot)
    drop(hbase, tmp_path, name + "_c")


def test_hdfs(hbase_on_hdfs, hdfs, saltmill, tmp_path):
    """The same over WebHDFS."""
    name = "offline_hdfs"
    t = StoredTable(hbase_on_hdfs, tmp_path, name, name, int(time.time() * 1000))
    t.rounds(1)
    t.shell("compaction_switch false", f"snapshot '{name}', '{name}_s'", f"clone_snapshot '{name}_s', '{name}_c'")
    cloned = answers_of(hbase_on_hdfs, name + "_c")
    t.shell("compaction_switch true", f"major_compact '{name}'")
    answers = answers_of(hbase_on_hdfs, name)
    assert compare(answers, saltmill, "--table-dir", hdfs.url(f"/hbase/data/default/{name}")) > 200
    compare(cloned, saltmill, "--snapshot", hdfs.url(f"/hbase/.hbase-snapshot/{name}_s"))
    done = subprocess.run([saltmill, "verify", "--table-dir", hdfs.url(f"/hbase/data/default/{name}_c")], capture_output=True,
                          text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_chapter(hbase, saltmill, flights_csv, tmp_path):
    """Every command of the chapter that reads a local folder prints the shown output."""
    reader = Reader("conf/guide/offline.md", tmp_path, saltmill, flights_csv, hbase)
    reader.run("saltmill load conf/flights.yaml flights.csv -o night --quiet")
    reader.run("saltmill apply night --hbase master1 --create --quiet")
    (tmp_path / "snapshot.rb").write_text("snapshot 'flights', 'before'\n")
    hbase.run_script(tmp_path / "snapshot.rb")
    root = tmp_path / "root"  # the real path has a word that Reader takes for a server
    root.symlink_to(hbase.folder / "data" / "root")
    reader.text = reader.text.replace(" hdfs://nn1/hbase/", " /hbase/").replace(" --hdfs-user hbase", "")
    reader.text = reader.text.replace(" /hbase/", f" {root}/")
    try:
        assert list(reader.commands()) == ["scan", "scan", "scan", "verify", "scan", "diff", "diff", "load", "agree", "merge", "convert", "convert", "rekey", "init", "scan"]
    finally:
        drop(hbase, tmp_path, "flights")
