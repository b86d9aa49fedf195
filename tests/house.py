"""Measures the source tree (python3 tests/house.py BUILD).

Prints one figure on each line. The exit status is 1 if a figure exceeds its limit. BUILD is a folder with the objects
of the program (build/gcc-dev).
"""
import collections
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMITS = {"doors in include/": 45, "lines of the table WINGS": 25, "lines of the longest file": 600,
          "struct tags with two definitions": 0, "functions that only tests call": 0,
          "unit tests named after no file": 0, "files in rings of calls": 0, "tests of a result code by !rc or rc == 0": 0, "lines of README.md": 200, "lines of the longest chapter": 250}
# Calls against the order of the files, each with its reason. Without these calls, no files call each other in a ring.
UPWARD = {
    ("cli/command/cmd_help", "cli/command/commands"): "help is a command, and describes every command",
    ("cli/command/completions", "cli/command/commands"): "the same",
    ("cli/command/help", "cli/command/commands"): "the same",
    ("cli/command/manual", "cli/command/commands"): "the same",
    ("cli/command/options_run", "cli/command/help"): "--help is an option, and prints all options",
    ("cli/command/markdown_table", "cli/command/markdown"): "a cell of a table contains inline text",
    ("hfile/ring", "hfile/writer"): "the ring's threads hand packed blocks back to the writer",
    ("input/rows/cursor", "input/rows/blocks"): "a file opens by reading its header, through the cursor",
    ("input/rows/cursor", "input/rows/header"): "the same",
    ("load/row/conditional", "load/row/pack"): "a row with conditions packs the cells that they keep",
    ("load/row/values", "load/row/pack"): "the defaults of fields are tried with an encoder",
    ("model/field/iso8601", "model/field/timefmt"): "ISO 8601 is one of the patterns, and shares their offsets from UTC",
    ("model/job/section_source", "model/job/section_json"): "a source is one of its formats, which share its readers",
    ("storage/storage", "storage/s3"): "storage_open knows its backends, which share its helpers",
    ("storage/storage", "storage/webhdfs"): "the same",
    ("storage/webhdfs", "storage/webhdfs_room"): "the backend's table of functions",
    ("storage/webhdfs", "storage/webhdfs_upload"): "the same",
    ("storage/webhdfs_http", "storage/webhdfs_token"): "a refused request logs in, and a login is a request",
    ("read/query/filter_list", "read/query/filter"): "a list of filters contains filters",
    ("read/query/merged", "read/query/query"): "a query of several loads asks one query of each",
    ("sort/stretch", "sort/builder"): "the path of sorted records begins runs of the builder",
    ("stream/loads/recover", "stream/loads/ingest"): "recovery finishes a load by the steps of every load",
}
COMMENT = re.compile(r"/\*.*?\*/", re.S)


def sources():
    return sorted(p for d in ("include", "pipeline", "splitter") for p in (ROOT / d).rglob("*.[ch]"))


def duplicate_tags(texts):
    found = collections.defaultdict(set)
    for path, text in texts.items():
        for tag in re.findall(r"^\s*(?:typedef )?(?:struct|union|enum) (\w+)\s*\{", text, re.M):
            found[tag].add(path)
    return sorted(t for t, paths in found.items() if len(paths) > 1)


def objects_of(build):
    return [str(o) for d in ("pipeline", "splitter") for o in (build / d).rglob("*.o")
            if (ROOT / o.relative_to(build)).with_suffix(".c").exists()]


def calls(build):
    """Returns for each file the files whose functions or data it uses, from the objects' symbols."""
    owner, wanted = {}, collections.defaultdict(set)
    out = subprocess.run(["nm", "-A", "--format=posix", *objects_of(build)], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        path, _, rest = line.partition(": ")
        name, kind = rest.split()[:2]
        file = str(Path(path).relative_to(build).with_suffix("")).removeprefix("pipeline/")
        if kind == "U":
            wanted[file].add(name)
        elif kind.isupper():
            owner[name] = file
    return {file: {owner[n] for n in names if n in owner} - {file} for file, names in wanted.items()}


def rings(build):
    """Returns files that call each other in a ring without the calls of UPWARD, and entries of UPWARD that are not
    calls."""
    left = calls(build)
    stale = [" -> ".join(edge) for edge in UPWARD if edge[1] not in left.get(edge[0], ())]
    left = {f: {u for u in users if (f, u) not in UPWARD} for f, users in left.items()}
    while True:  # a file that uses no remaining file is in no ring
        done = {f for f, used in left.items() if not used & left.keys()}
        if not done:
            break
        left = {f: used for f, used in left.items() if f not in done}
    while True:  # neither is a file that no remaining file uses
        used = set().union(*left.values()) if left else set()
        if left.keys() <= used:
            return sorted(left) + stale
        left = {f: u for f, u in left.items() if f in used}


def uncalled(texts, build):
    """Returns external functions that the program's code only declares and defines. Ignores *_portable, which other
    processors use, XXH3_* of libxxhash, and sm_*, which the users of libsaltmill call."""
    out = subprocess.run(["nm", "-g", "--defined-only", *objects_of(build)], capture_output=True, text=True, check=True).stdout
    functions = set(re.findall(r"^[0-9a-f]+ T (\w+)$", out, re.M)) - {"main"}
    used = set()
    for text in texts.values():
        # a use is inside a function or a table, which means after a tab or in an initializer
        for line in text.split("\n"):
            if line.startswith((" ", "\t", "#define")) or "=" in line:
                used.update(re.findall(r"\w+", line))
    return sorted(f for f in functions - used if not f.endswith("_portable") and not f.startswith(("XXH3_", "sm_")))


def strangers():
    """Returns unit tests whose name is not test_WING_FILE[_SUBJECT], where pipeline/WING has FILE.c."""
    files = collections.defaultdict(set)
    for path in sources():
        parts = path.relative_to(ROOT).parts
        if path.suffix == ".c":
            files[parts[1] if parts[0] == "pipeline" else parts[0]].add(path.stem)
    bad = []
    for test in sorted((ROOT / "tests" / "unit").glob("test_*.c")):
        wing, _, rest = test.stem.removeprefix("test_").partition("_")
        if not any(rest == f or rest.startswith(f + "_") for f in files[wing]):
            bad.append(test.stem)
    return bad


def main():
    build = ROOT / sys.argv[1]
    paths = sources()
    texts = {p: COMMENT.sub("", p.read_text()) for p in paths}
    lengths = {str(p.relative_to(ROOT)): p.read_text().count("\n") for p in paths}
    longest = max(lengths, key=lengths.get)
    wings = re.search(r"define WINGS\n(.*?)endef", (ROOT / "Makefile").read_text(), re.S).group(1).count("\n")
    tags, lonely, odd, ring = duplicate_tags(texts), uncalled(texts, build), strangers(), rings(build)
    codes = [f"{p.relative_to(ROOT)}" for p, text in texts.items() for _ in re.findall(r"(?<![\w!.>])(?:!rc\b(?!->)|rc [!=]= 0\b)", text)]
    chapters = {p.name: p.read_text().count("\n") for p in (ROOT / "conf" / "guide").glob("*.md")}
    figures = {
        "doors in include/": (len(list((ROOT / "include").glob("*.h"))), ""),
        "lines of the table WINGS": (wings, ""),
        "lines of the longest file": (lengths[longest], longest),
        "struct tags with two definitions": (len(tags), " ".join(tags)),
        "functions that only tests call": (len(lonely), " ".join(lonely)),
        "unit tests named after no file": (len(odd), " ".join(odd)),
        "files in rings of calls": (len(ring), " ".join(ring)),
        "tests of a result code by !rc or rc == 0": (len(codes), " ".join(codes)),
        "lines of README.md": ((ROOT / "README.md").read_text().count("\n"), ""),
        "lines of the longest chapter": (max(chapters.values()), max(chapters, key=chapters.get)),
    }
    bad = 0
    for name, (value, what) in figures.items():
        over = value > LIMITS[name]
        bad += over
        print(f"{'house: ' if over else ''}{value:4d} {name} (at most {LIMITS[name]}){': ' + what if what else ''}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
