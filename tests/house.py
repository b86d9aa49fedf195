"""Measure the house: python3 tests/house.py BUILD.  Prints a figure a line; exit status 1 if one is over its limit.

BUILD is a folder with the objects of the program (build/gcc-dev).
"""
import collections
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMITS = {"doors in include/": 45, "lines of the table WINGS": 25, "lines of the longest file": 600,
          "struct tags with two definitions": 0, "functions that only tests call": 0,
          "unit tests named after no file": 0, "lines of README.md": 200, "lines of the longest chapter": 250}
COMMENT = re.compile(r"/\*.*?\*/", re.S)


def sources():
    return sorted(p for d in ("include", "pipeline", "splitter") for p in (ROOT / d).rglob("*.[ch]"))


def duplicate_tags(texts):
    found = collections.defaultdict(set)
    for path, text in texts.items():
        for tag in re.findall(r"^\s*(?:typedef )?(?:struct|union|enum) (\w+)\s*\{", text, re.M):
            found[tag].add(path)
    return sorted(t for t, paths in found.items() if len(paths) > 1)


def uncalled(texts, build):
    """External functions that the program's code only declares and defines.  *_portable: other processors; XXH3_*: libxxhash."""
    objects = [str(o) for d in ("pipeline", "splitter") for o in (build / d).rglob("*.o")
               if (ROOT / o.relative_to(build)).with_suffix(".c").exists()]
    out = subprocess.run(["nm", "-g", "--defined-only", *objects], capture_output=True, text=True, check=True).stdout
    functions = set(re.findall(r"^[0-9a-f]+ T (\w+)$", out, re.M)) - {"main"}
    used = set()
    for text in texts.values():
        # a use is inside a function or a table: after a tab, or in an initializer
        for line in text.split("\n"):
            if line.startswith((" ", "\t", "#define")) or "=" in line:
                used.update(re.findall(r"\w+", line))
    return sorted(f for f in functions - used if not f.endswith("_portable") and not f.startswith("XXH3_"))


def strangers():
    """Unit tests whose name is not test_WING_FILE[_SUBJECT]: pipeline/WING must have FILE.c."""
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
    tags, lonely, odd = duplicate_tags(texts), uncalled(texts, build), strangers()
    chapters = {p.name: p.read_text().count("\n") for p in (ROOT / "conf" / "guide").glob("*.md")}
    figures = {
        "doors in include/": (len(list((ROOT / "include").glob("*.h"))), ""),
        "lines of the table WINGS": (wings, ""),
        "lines of the longest file": (lengths[longest], longest),
        "struct tags with two definitions": (len(tags), " ".join(tags)),
        "functions that only tests call": (len(lonely), " ".join(lonely)),
        "unit tests named after no file": (len(odd), " ".join(odd)),
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
