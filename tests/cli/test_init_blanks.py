"""Tests that init reads columns between blanks, logs of programs, totals, and several tables in one file."""

import os
import pathlib
import subprocess

import pytest

from test_init_doubts import in_order, init, rows_of

PS = """USER       PID %CPU TTY      START   TIME COMMAND
root         1  0.9 ?        Nov26   8:55 /sbin/init --all "x y
root         2  0.0 ?        Nov26   0:00 [kthreadd]
www-data 31277 12.5 pts/0    09:28   0:00 nginx: worker  process
bob        412  0.1 ?        09:29   1:07 python3 -c print(1, 2)
"""


def test_processes_whose_last_column_has_blanks(tmp_path, saltmill):
    r = init(saltmill, tmp_path, PS.encode())
    assert r.returncode == 0, r.stderr
    assert "delimiter: blanks" in r.stdout and "extra: last" in r.stdout
    rows = [x.split(None, 6) for x in PS.splitlines()]
    expected = [dict(zip(rows[0], [v[0], int(v[1]), float(v[2]), *v[3:]])) for v in rows[1:]]
    assert in_order(rows_of(tmp_path, saltmill, r.stdout)) == in_order(expected)


def test_the_last_name_has_blanks(tmp_path, saltmill):
    text = ("Filesystem 1K-blocks   Used Available Use% Mounted on\n"
            "udev         4096000      0   4096000   0% /dev\n"
            "/dev/vda1   61255492 902448  57210912   2% /\n"
            "tmpfs         819200    912    818288   1% /run\n")
    r = init(saltmill, tmp_path, text.encode())
    assert r.returncode == 0, r.stderr
    names = ["Filesystem", "1K-blocks", "Used", "Available", "Use%", "Mounted on"]
    expected = [dict(zip(names, [v if i in (0, 4, 5) else int(v) for i, v in enumerate(x.split())])) for x in text.splitlines()[1:]]
    assert in_order(rows_of(tmp_path, saltmill, r.stdout)) == in_order(expected)


@pytest.mark.parametrize("text,names,rows", [
    # blanks at the end of lines
    ("1.5 20 7 \n2.5 30 8 \n-3 4 9 \n1 1 1 \n", "c1 c2 c3", [(1.5, 20, 7), (2.5, 30, 8), (-3, 4, 9), (1, 1, 1)]),
    # one tab, or two blanks
    ("H \t4.5 \t13.8  0.8\nHe \t9.6 \t29.8  1.7\nLi\t3.0 \t 4.7  2.4\n", "c1 c2 c3 c4",
     [("H", 4.5, 13.8, .8), ("He", 9.6, 29.8, 1.7), ("Li", 3, 4.7, 2.4)]),
    # write.table of R: the header has no name for the names of the rows
    ('"mpg" "cyl"\n"Mazda RX4" 21 6\n"Merc" 22.8 4\n"Fiat X1" 27.3 4\n', "row mpg cyl",
     [("Mazda RX4", 21, 6), ("Merc", 22.8, 4), ("Fiat X1", 27.3, 4)]),
    # sha256sum: the first row is no header
    ("".join(f"{x * 16}  {x}.deb\n" for x in ("a1", "b2", "c3", "d4")), "c1 c2",
     [(x * 16, f"{x}.deb") for x in ("a1", "b2", "c3", "d4")]),
    # a point for a missing number
    ("day,price\n2026-01-01,4.5\n2026-01-02,.\n2026-01-03,5.25\n2026-01-04,.\n", "day price",
     [("2026-01-01T00:00:00.000Z", 4.5), ("2026-01-02T00:00:00.000Z", None), ("2026-01-03T00:00:00.000Z", 5.25),
      ("2026-01-04T00:00:00.000Z", None)]),
    # more comments than rows, and a delimiter only in the rows
    ("# a, b\n#\n" * 60 + "1; 2F00; x\n2; 2F01; y\n3; 2F02; z\n", "c1 c2 c3", [(1, "2F00", "x"), (2, "2F01", "y"), (3, "2F02", "z")]),
    # a record of another kind with the number of rows
    ("D,a,7,x\nD,b,8,y\nD,c,9,z\nD,d,10,z\nT,Reply,4\n", "c1 c2 c3 c4",
     [("D", "a", 7, "x"), ("D", "b", 8, "y"), ("D", "c", 9, "z"), ("D", "d", 10, "z")]),
    # the same with a number that is its own, as a row that lacks its end has
    ("D,a,7,1\nD,b,8,1\nD,c,9,1\nD,d,10,1\nD,e,5\n", "c1 c2 c3 c4",
     [("D", "a", 7, 1), ("D", "b", 8, 1), ("D", "c", 9, 1), ("D", "d", 10, 1), ("D", "e", 5, None)]),
    # unzip -l: a total after the second ruler
    ("Archive:  x.zip\n  Length      Date    Name\n---------  ---------- ----\n      963  2024-03-07 a.py\n"
     "    37054  2024-03-08 b c.csv\n---------             -------\n    38017             2 files\n", "Length Date Name",
     [(963, "2024-03-07T00:00:00.000Z", "a.py"), (37054, "2024-03-08T00:00:00.000Z", "b c.csv")]),
])
def test_rows_between_blanks_and_marks(tmp_path, saltmill, text, names, rows):
    r = init(saltmill, tmp_path, text.encode())
    assert r.returncode == 0, r.stderr
    expected = [{n: v for n, v in zip(names.split(), row) if v is not None} for row in rows]
    assert in_order(rows_of(tmp_path, saltmill, r.stdout)) == in_order(expected)


LOGS = [
    ("{} - app.db - {} - took 0 ms - {}", "name level message", ("app.db", 1, "took 0 ms - {}")),
    ("{} {} [main] org.foo.Bar: started, {}", "level thread logger message", (1, "main", "org.foo.Bar", "started, {}")),
    ("{} [qtp-7] {} org.foo.Bar - x: {}", "thread level logger message", ("qtp-7", 1, "org.foo.Bar", "x: {}")),
    ("{}  {} 71 --- [    main] c.e.App     : up in {}", "level pid thread logger message", (1, "71", "main", "c.e.App", "up in {}")),
    ("{} - {}  [QuorumPeer[myid=1]:Learner@7] - to [{}]", "level thread message", (1, "QuorumPeer[myid=1]:Learner@7", "to [{}]")),
    ("{} {} org.apache.hadoop.Name: block {}", "level logger message", (1, "org.apache.hadoop.Name", "block {}")),
    ("{} {} {}", "level message", (1, "{}")),
]


@pytest.mark.parametrize("line,names,parts", LOGS)
def test_logs_of_programs(tmp_path, saltmill, line, names, parts):
    """A comma is before the milliseconds, and commas are in messages."""
    levels, words = ("INFO", "WARN", "ERROR", "DEBUG"), ("a, b", "it's \"7\"", "-", "x  y")
    text, expected = "", []
    for i, (level, word) in enumerate(zip(levels, words)):
        text += line.format(f"2026-11-01 08:53:2{i},25{i}", level, word) + "\n"
        row = {n: level if p == 1 else p.format(word) for n, p in zip(names.split(), parts)}
        expected.append({"time": f"2026-11-01T08:53:2{i}.25{i}Z"} | row)
    r = init(saltmill, tmp_path, text.encode())
    assert r.returncode == 0, r.stderr
    assert in_order(rows_of(tmp_path, saltmill, r.stdout)) == in_order(expected)


@pytest.mark.parametrize("text,status,words", [
    ("2026-11-01 08:53:20,250 ERROR a\njava.lang.X: y\n\tat z\n2026-11-01 08:53:21,250 INFO b\n2026-11-01 08:53:22,250 INFO c\n"
     "2026-11-01 08:53:23,250 INFO d\n2026-11-01 08:53:24,250 INFO d\n", 3, "the job rejects 2 rows"),
    ("id,name\n1,a\n2,b\n\nday,count,who\n2025-01-02,3,x\n2025-01-03,4,y\n2025-01-04,4,z\n", 1,
     "found 2 tables with different headers, in lines 1 to 3 and 5 to 8, expected one; for the largest: sed -n '5,8p' in.csv"),
    ("22 10 # 1 Jan 1972\n23 11 # 1 Jul 1972\n24 12 # 1 Jan 1973\n25 13 # 1 Jan 1974\n", 3, "a remark after #"),
    ("0041; C; # LATIN A\n0042; C; # LATIN B\n0043; C; # LATIN C\n", 3, "a remark after #"),
    ("100644 blob 9b1f0a2c3d4e5f60 12\ta b\n100644 blob 8b1f0a2c3d4e5f61 13\tc\n100755 blob 7b1f0a2c3d4e5f62 14\td\n", 3,
     "several values between blanks"),
    ("And Andromeda\nAnt Antlia\nAps Apus\nAqr Aquarius\n", 3, "the first line may be data"),
])
def test_what_init_refuses(tmp_path, saltmill, text, status, words):
    r = init(saltmill, tmp_path, text.encode())
    assert r.returncode == status and words in r.stderr, (r.returncode, r.stderr)


def test_the_command_for_the_largest_table_works(tmp_path, saltmill):
    """A file name with blanks and quotes is one word for the shell."""
    name = "Ann's 2 tables.csv"
    (tmp_path / name).write_text("id,name\n1,a\n2,b\n\nday,count,who\n2025-01-02,3,x\n2025-01-03,4,y\n2025-01-04,4,z\n")
    r = subprocess.run([saltmill, "init", name], cwd=tmp_path, capture_output=True, text=True)
    command = r.stderr.partition("for the largest: ")[2].strip()
    assert r.returncode == 1 and command, r
    path = {"PATH": f"{pathlib.Path(saltmill).parent}:{os.environ['PATH']}"}
    r = subprocess.run(command, cwd=tmp_path, env=path, shell=True, capture_output=True, text=True)
    assert r.returncode == 0, (command, r.stderr)
    assert (tmp_path / "table.csv").read_text().splitlines()[0] == "day,count,who"
