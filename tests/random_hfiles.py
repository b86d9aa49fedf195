"""Compares saltmill with HBase on random HFiles: hbase2/Campaign.java and hbase1/Writer.java write them with the writers
of HBase 2.6 and 1.7, and HBase 2.6 reads them. saltmill must read the same cells, and verify each file.

    random_hfiles.py [--files N] [--seed FIRST] --work DIR --hbase2 JARS --hbase1 JARS

JARS are folders with ":" between them. `make hfiles N=2000 SEED=0` gets the jars and runs it. File n of a writer depends
on n alone. Files that differ stay in DIR.
"""

import argparse
import collections
import json
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "cli"))
import loads  # noqa: E402
from test_older_hfiles import cells_in, shown_of  # noqa: E402

SLICE = 500
OPEN = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "--add-opens", "java.base/java.nio=ALL-UNNAMED"]


def extras(folder):
    """Returns the options for the keys and the dictionary of Campaign.java."""
    return ["--master-keys", folder / "keys.txt", "--zstd-dictionary", folder / "zstd.dictionary"]


def files_in(folder):
    return sorted(p for p in folder.iterdir() if "." not in p.name)


def cells_of(path, options):
    done = loads.run("inspect", "--cells", "--json", path, *options)
    if done.returncode:
        return done.stderr.strip()
    [found] = json.loads(done.stdout)
    return [{k: v for k, v in c.items() if k != "time"} for c in found["cells"]]


def fault(path, options):
    """Returns why saltmill and HBase differ on this file, or None."""
    lists = [path.with_name(path.name + end).read_text() for end in (".cells", ".read")]
    if lists[0] != lists[1]:
        return "HBase's reader found other cells than its writer wrote"
    found = cells_of(path, options)
    if found != [shown_of(c) for c in cells_in(lists[0])]:
        return f"saltmill found other cells: {str(found)[:300]}"
    done = loads.run("verify", "--json", path, *options)
    return None if done.returncode == 0 else done.stderr.strip()


class Campaign:
    def __init__(self, a):
        self.work, self.classes = a.work, {}
        self.jars = {version: ":".join(f"{folder}/*" for folder in jars.split(":")) for version, jars in ((2, a.hbase2), (1, a.hbase1))}
        self.kinds, self.faults, self.cells, self.files = collections.Counter(), [], 0, 0
        for version, source in ((2, "hbase2/Campaign.java"), (1, "hbase1/Writer.java")):
            self.classes[version] = self.work / f"classes{version}"
            self.classes[version].mkdir(parents=True, exist_ok=True)
            subprocess.run(["javac", "-nowarn", "-d", self.classes[version], "-cp", self.jars[version], HERE / source],
                           check=True, stderr=subprocess.DEVNULL)

    def java(self, version, *words):
        done = subprocess.run(["java", *OPEN, "-cp", f"{self.classes[version]}:{self.jars[version]}", *map(str, words)],
                              capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr[-3000:])

    def slice(self, version, first, last):
        folder = self.work / "files"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        if version == 2:
            self.java(2, "Campaign", "write", folder, first, last)
        else:
            self.java(1, "Writer", folder, first, last)
            for path in folder.glob("*PREFIX_TREE*"):
                path.unlink()
        self.java(2, "Campaign", "read", folder)
        for path in files_in(folder):
            self.check(version, path, extras(folder) if version == 2 else [])

    def check(self, version, path, options):
        why = fault(path, options)
        self.files += 1
        self.cells += path.with_name(path.name + ".cells").read_text().count("\n")
        self.kinds.update([f"HBase {version}", *path.name.split("-")[1:]])
        if why:
            self.faults.append(f"{path.name}: {why}")
            shutil.copy(path, self.work)
            print(self.faults[-1], file=sys.stderr)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--files", type=int, default=2000)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--work", type=pathlib.Path, required=True)
    for name in ("hbase1", "hbase2"):
        p.add_argument("--" + name, metavar="JARS", required=True)
    a = p.parse_args()
    c = Campaign(a)
    for version in (2, 1):
        for first in range(a.seed, a.seed + a.files // 2, SLICE):
            c.slice(version, first, min(first + SLICE, a.seed + a.files // 2))
            print(f"HBase {version}: {c.files} files, {c.cells} cells, {len(c.faults)} faults", flush=True)
    print(", ".join(f"{kind} {n}" for kind, n in sorted(c.kinds.items())))
    sys.exit(bool(c.faults))


if __name__ == "__main__":
    main()
