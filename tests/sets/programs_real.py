"""These sets are the output of real programs: SQLite, git, dpkg, jq, tar, binutils, util-linux, zdump, Python and the kernel.

The rows that went into a program are the truth, or a function of a line that follows the manual of the program. A set is
skipped if its program is missing. `live` sets show the machine, so their rows differ in each run.
"""

import csv
import datetime
import functools
import io
import json
import logging
import os
import pathlib
import re
import subprocess
import tempfile
import time

from packages import found, inflated, member, table
from truth import Set, Skip, made

DEBS = "distro-info-data", "hwdata", "netbase", "media-types", "iso-codes", "ieee-data", "miscfiles", "tzdata", "arp-scan"


def run(*command, text=None, **env):
    try:
        env = {**os.environ, "LC_ALL": "C.UTF-8", "TZ": "UTC", **env}
        r = subprocess.run(command, input=text, capture_output=True, check=True, env=env)
    except FileNotFoundError:
        raise Skip(f"{command[0]} is not installed") from None
    return r.stdout


def archives():
    return [found(f"deb/{n}_*.deb") for n in DEBS]


# ---- SQLite ----


def election():
    text = inflated(".gz", member("pip:plotly", "plotly/package_data/datasets/election.csv.gz")).decode()
    return list(csv.reader(io.StringIO(text)))


def sqlite(*options):
    """Returns what the shell of SQLite prints for a table of texts and numbers, some of them null."""
    names, *rows = election()
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "e.csv"
        file.write_text("".join(",".join(r) + "\n" for r in rows))
        create = "create table e(district, coderre int, bergeron int, joly int, total int, winner, result, id int)"
        query = "select district, nullif(coderre, 2481) as coderre, bergeron, total * 1.0 / 8 as share, winner, id from e"
        out = run("sqlite3", "-batch", ":memory:", create, ".mode csv", f".import {file} e", *options, query)
    keep = [[r[0], None if r[1] == "2481" else r[1], r[2], repr(float(r[4]) / 8), r[5], r[7]] for r in rows]
    return out, keep


SQL = "district:x coderre:n bergeron:n share:n winner:x id:n"


def shell(title, *options, **how):
    def make():
        out, rows = sqlite(*options)
        return Set(
            (how.get("file", "e.txt"), out),
            SQL,
            rows,
            named=how.get("named", True),
            reader=how.get("reader", "csv"),
            refuse=how.get("refuse", ""),
        )

    made(f"sqlite3: {title}")(make)


shell("list with bars", ".headers on", ".mode list")
shell("list without names", ".headers off", ".mode list", named=False)
shell("quote with NULL", ".headers on", ".mode quote")
shell("box", ".mode box")
shell("ascii with separators of units and records", ".headers on", ".mode ascii", refuse="records end with a control character")
shell("line", ".mode line", refuse="a row has many lines")
shell("json", ".mode json", file="e.json", reader="json")
shell("insert", ".mode insert e", refuse="SQL is no table", named=False)
shell("html", ".headers on", ".mode html", refuse="HTML is no table")


# ---- git ----

PEOPLE = [("Ada Lovelace", "ada@example.org"), ("Jürgen Müller", "jm@example.de"), ("O'Neil, Pat", "pat@example.com")]
SUBJECTS = ["Add the parser", "Fix | in names", 'docs: say "hello"', "Merge 'a', 'b'", "Größe ändern", "tabs\there"]


@functools.cache
def history(*command):
    """Makes 40 commits with fixed times and people, and returns the output of a command."""
    with tempfile.TemporaryDirectory() as folder:

        def git(*args, **env):
            return run("git", "-C", folder, "-c", "core.quotepath=on", *args, GIT_CONFIG_GLOBAL="/dev/null", **env)

        git("init", "-q", "-b", "main")
        for i in range(40):
            path = pathlib.Path(folder) / ["src/main.c", "docs/guide one.md", "src/größe.c", "data/a.bin"][i % 4]
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(b"\0\1" * i if i % 4 == 3 else "".join(f"{k}\n" for k in range(i % 7, i)).encode())
            name, mail = PEOPLE[i % 3]
            at = f"{1700000000 + i * 86400 * 3 + i * 77} {['+0000', '+0200', '-0730'][i % 3]}"
            who = {f"GIT_{w}_{k}": v for w in ("AUTHOR", "COMMITTER") for k, v in (("NAME", name), ("EMAIL", mail), ("DATE", at))}
            git("add", "-A")
            git("commit", "-q", "--allow-empty", "-m", SUBJECTS[i % 6] + (f" {i}" if i % 2 else ""), **who)
        return git(*command)


def commits():
    """Returns the fields of the commits. A character that no field has separates them."""
    lines = history("log", "--pretty=format:%H%x1e%an%x1e%ae%x1e%aI%x1e%s").decode().split("\n")
    return [x.split("\x1e") for x in lines]


@made("git: log in tabs")
def log_in_tabs():
    data = history("log", "--pretty=format:%h%x09%an%x09%ae%x09%aI%x09%s")
    rows = [[h[:7], *r] for h, *r in commits()]
    return table("log.tsv", data, "x x x t x", None, rows, refuse="a subject has the delimiter without quotes")


@made("git: log in bars")
def log_in_bars():
    data = history("log", "--date=iso", "--pretty=format:%H | %ad | %an")
    rows = [[h, d[:10] + " " + d[11:19] + d[19:], n] for h, n, _, d, _ in commits()]
    return table("log.txt", data, "x t x", None, rows)


@made("git: log as shown")
def log_as_shown():
    rows = [[h, n, d, s] for h, n, _, d, s in commits()]
    return table("log.txt", history("log"), "x x t x", None, rows, refuse="a commit has many lines")


@made("git: files of a tree with sizes")
def tree():
    data = history("ls-tree", "-r", "-l", "HEAD")
    rows = [[*a.split(), b] for a, b in (x.split("\t") for x in data.decode().splitlines())]
    return table("tree.txt", data, "x x x n x", None, rows, refuse="blanks and a tab separate the columns")


@made("git: counts of lines")
def counts():
    data = history("log", "--numstat", "--format=")
    rows = [x.split("\t") for x in data.decode().splitlines() if x]
    return table("numstat.txt", data, "n n x", None, rows, nulls=("-",), refuse="two rows are equal")


# ---- archives and packages ----


@made("dpkg-deb: files of a package")
def contents():
    data = run("dpkg-deb", "-c", str(found("deb/gdal-data_*.deb")))
    rows = []
    for x in data.decode().splitlines():
        mode, owner, size, date, clock, path = x.split(None, 5)
        rows.append([mode, owner, size, f"{date} {clock}", path])
    parts = [[*r[:3], *r[3].split(), r[4]] for r in rows]
    return Set(
        ("files.txt", data),
        "mode:x owner:x size:n time:t path:x",
        rows,
        named=False,
        variants=[("mode:x owner:x size:n date:t time:x path:x", parts)],
    )


@made("unzip: files of a wheel with totals")
def wheel():
    data = run("unzip", "-l", str(found("pip/causaldata-*.whl")))
    rows = [x.split(None, 3) for x in data.decode().splitlines()[3:-2]]
    kinds = "Length:n Date:t Time:x Name:x"
    both = [[a, f"{b} {c}", d] for a, b, c, d in rows]
    return Set(
        ("files.txt", data), kinds, rows, variants=[("Length:n Date:t Name:x", both)], refuse="a title and totals are in the file"
    )


@made("zipinfo: files of a wheel")
def zip_details():
    data = run("zipinfo", "-T", "-h", "-l", str(found("pip/causaldata-*.whl")))
    rows = []
    for mode, made_by, system, size, kind, packed, method, at, path in (
        x.split(None, 8) for x in data.decode().splitlines()[2:-1]
    ):
        rows.append([mode, made_by, system, size, kind, packed, method, at, path])
    return table("files.txt", data, "x n? x n x n x x x", None, rows, refuse="two lines of text precede the rows")


def installed(*query):
    """Returns what dpkg-query prints for a database with the archives."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "info").mkdir()
        status = []
        for deb in archives():
            head, _, rest = run("dpkg-deb", "-f", str(deb)).decode().partition("\n")
            status.append(f"{head}\nStatus: install ok installed\n{rest}")
        (pathlib.Path(folder) / "status").write_text("\n".join(status))
        return run("dpkg-query", f"--admindir={folder}", *query, COLUMNS="200")


@made("dpkg-query: packages under a drawing")
def packages():
    shown = installed("-W", "-f", "${Package}\t${Version}\t${Architecture}\t${binary:Synopsis}\n")
    rows = [["ii", *x.split("\t")] for x in shown.decode().splitlines()]
    return table("packages.txt", installed("-l"), "x", None, rows, refuse="a drawing precedes the rows")


@made("dpkg-query: names and versions in tabs")
def versions():
    data = installed("-W", "-f", "${Package}\t${Version}\t${Installed-Size}\n")
    return table("versions.tsv", data, "x x n", None, [x.split("\t") for x in data.decode().splitlines()])


@made("sha256sum: hashes of packages")
def hashes():
    with tempfile.TemporaryDirectory() as folder:
        for p in archives():
            (pathlib.Path(folder) / p.name).symlink_to(p)
        data = run("sh", "-c", f"cd {folder} && sha256sum *")
    return table("SHA256SUMS", data, "x x", None, [x.split("  ", 1) for x in data.decode().splitlines()])


@made("nm: symbols with sizes")
def symbols():
    library = found("deb/libopenbabel7") / "usr/lib/x86_64-linux-gnu/openbabel/3.1.1/textformat.so"
    data = run("nm", "-D", "-S", "--defined-only", str(library))
    rows = [x.split(None, 3) for x in data.decode().splitlines()]
    rows = [r if len(r) == 4 else [r[0], None, *r[1:]] for r in rows]
    return table("symbols.txt", data, "x", None, rows, refuse="some rows have no size")


@made("readelf: symbols under a title")
def elf():
    library = found("deb/libopenbabel7") / "usr/lib/x86_64-linux-gnu/openbabel/3.1.1/textformat.so"
    data = run("readelf", "--dyn-syms", "-W", str(library))
    rows = [x.split(None, 7) for x in data.decode().splitlines() if re.match(r" *\d+: ", x)]
    names = "Num Value Size Type Bind Vis Ndx Name".split()
    return table("symbols.txt", data, "x x x x x x x x", names, [[*r, *[None] * (8 - len(r))] for r in rows])


@made("zdump: changes of the clock in Berlin")
def clock():
    data = run("zdump", "-v", "-c", "1990,2010", str(found("deb/tzdata") / "usr/share/zoneinfo/Europe/Berlin"))
    rows = []
    for x in data.decode().splitlines():
        m = re.fullmatch(r"(\S+) +(.*?) UTC? = (.*?) (\w+) isdst=(\d) gmtoff=(-?\d+)", x)
        if m:
            rows.append([m[1], m[4], m[5], m[6]])
    return table("zdump.txt", data, "x x n n", None, rows, refuse="the lines are sentences")


# ---- jq and column ----


def languages():
    return json.loads(member("deb:iso-codes", "usr/share/iso-codes/json/iso_639-2.json"))["639-2"]


def jq(title, expression, file, reader="csv", **how):
    def make():
        text = json.dumps(languages(), ensure_ascii=False).encode()
        data = run("jq", "-r", "-c", expression, text=text)
        rows = [[r.get("alpha_2"), r["alpha_3"], r["name"], str(len(r))] for r in languages()]
        return Set((file, data), "alpha_2:x alpha_3:x name:x members:n", rows, reader=reader, **how)

    made(f"jq: {title}")(make)


jq("csv of languages", ".[] | [.alpha_2, .alpha_3, .name, length] | @csv", "languages.csv", named=False)
jq("tsv of languages", ".[] | [.alpha_2, .alpha_3, .name, length] | @tsv", "languages.tsv", named=False)
jq("lines of languages", ".[] | {alpha_2, alpha_3, name, members: length}", "languages.jsonl", reader="json")
jq("lists of languages", ".[] | [.alpha_2, .alpha_3, .name, length]", "languages.jsonl", reader="json", named=False)


@made("column: a table of candidates")
def columns():
    names, *rows = election()
    text = "\n".join("\t".join(r) for r in [names, *rows]).encode()
    data = run("column", "-t", "-s", "\t", text=text)
    return table("candidates.txt", data, "x n n n n x x n", names, rows)


@made("column: JSON of candidates")
def columns_json():
    names, *rows = election()
    text = "\n".join("\t".join(r) for r in rows).encode()
    data = run("column", "-J", "-s", "\t", "-N", ",".join(names), text=text)
    body = [[*r[:1], *r[1:5], r[5], r[6], r[7]] for r in rows]
    return Set(("candidates.json", data), [f"{n}:x" for n in names], body, reader="json")


# ---- Python ----


@made("python: log of the module logging")
def python_log():
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    style = logging.Formatter("%(asctime)s - %(name)s - %(levelname)s - %(message)s")
    style.converter = time.gmtime
    handler.setFormatter(style)
    rows = []
    for i in range(90):
        name, level = ["app.db", "app.web", "root"][i % 3], [20, 30, 40, 10][i % 4]
        record = logging.LogRecord(name, level, "f.py", i, ["took %d ms", "user - %d", "no %d: 'x'"][i % 3], (i * 7,), None)
        record.created, record.msecs = 1760000000 + i * 61 + 0.25, 250 + i
        handler.emit(record)
        at = datetime.datetime.fromtimestamp(1760000000 + i * 61, datetime.timezone.utc).replace(tzinfo=None)
        rows.append([(f"{at}.{250 + i:03d}", f"{at},{250 + i:03d}"), name, record.levelname, record.getMessage()])
    return Set(("app.log", out.getvalue().encode()), "time:t name:x level:x message:x", rows, named=False)


@made("pyarrow: csv of its writer")
def arrow_csv():
    try:
        import pyarrow
        import pyarrow.csv
    except ImportError:
        raise Skip("pyarrow is not installed") from None
    start = datetime.datetime(2026, 3, 28, 22, 0, 0)
    rows = [
        [
            i,
            f'name "{i}"' if i % 3 else None,
            start + datetime.timedelta(minutes=i * 17, microseconds=i * 1000),
            i / 8,
            i % 2 == 0,
        ]
        for i in range(150)
    ]
    fields = {n: [r[k] for r in rows] for k, n in enumerate(["id", "name", "at", "share", "even"])}
    out = io.BytesIO()
    pyarrow.csv.write_csv(pyarrow.table(fields), out)
    body = [[r[0], r[1], r[2].isoformat(sep=" ", timespec="microseconds"), repr(r[3]), (r[4], str(r[4]).lower())] for r in rows]
    return Set(("table.csv", out.getvalue()), "id:n name:x at:t share:n even:b?", body)


@made("sqlite3 of python: dump")
def dump():
    import sqlite3

    with sqlite3.connect(":memory:") as con:
        con.execute("create table n(id integer, name text)")
        con.executemany("insert into n values(?, ?)", [(i, f"it's {i}") for i in range(40)])
        data = "\n".join(con.iterdump()).encode()
    return Set(("dump.sql", data), "id:n name:x", [[i, f"it's {i}"] for i in range(40)], named=False, refuse="SQL is no table")


# ---- the machine, live ----


def live(title, kinds, command, names=None, skip=1, cut=str.split, **how):
    def make():
        data = run(*command)
        rows = [cut(x) for x in data.decode().splitlines()[skip:] if x.strip()]
        return table("out.txt", data, kinds, names, rows, **how)

    made(f"live: {title}")(make)


live(
    "processes",
    "x n n? n? n n x",
    ["ps", "-eo", "user,pid,pcpu,pmem,vsz,rss,comm"],
    "USER PID %CPU %MEM VSZ RSS COMMAND".split(),
    cut=lambda x: x.split(None, 6),
)
live(
    "processes with arguments",
    "x n n n n n x x x x x",
    ["ps", "aux", "--cols", "100"],
    "USER PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND".split(),
    cut=lambda x: x.split(None, 10),
)
live(
    "disks",
    "x n n n n? x",
    ["df", "-P"],
    ["Filesystem", "1024-blocks", "Used", "Available", "Capacity", "Mounted on"],
    cut=lambda x: x.split(None, 5),
    number=lambda v: v.rstrip("%"),
)
live(
    "network counters of the kernel",
    "x n",
    ["cat", "/proc/net/dev"],
    None,
    2,
    lambda x: x.replace(":", " ").split(),
    refuse="the header has two lines",
)
live(
    "memory of the kernel",
    "x n x",
    ["cat", "/proc/meminfo"],
    None,
    0,
    lambda x: re.split(r":? +", x.strip()),
    refuse="some rows have no unit",
)
live("disks of the kernel", "n n x n", ["cat", "/proc/diskstats"], None, 0)
live("mounts of the kernel", "x x x x n n", ["cat", "/proc/self/mounts"], None, 0)
live(
    "sockets of the kernel",
    "x",
    ["cat", "/proc/net/unix"],
    "Num RefCount Protocol Flags Type St Inode Path".split(),
    cut=lambda x: x.replace(":", " ", 1).split(None, 7),
)
