"""Tests `agree` on live tables: HBase's client damages one of two tables, and the repair mends it."""

import json
import subprocess
import time

from test_load import CONF

JOB = CONF / "loans.yaml"
DAMAGE = [("Put", "B0001", 1379388000000, "7"),  # another value
          ("Put", "B0009", 1390000000000, "1"),  # no such loan
          ("DeleteColumn", "B0003", 1390000000000, "")]


def run(saltmill, status, *args):
    done = subprocess.run([saltmill, *map(str, args)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == status, done.stderr
    return done.stdout


def script(hbase, folder, text):
    (folder / "script.rb").write_text(text)
    hbase.run_script(folder / "script.rb")


def test_damaged_by_a_client(hbase, saltmill, tmp_path):
    live = ("--hbase", hbase.master)
    run(saltmill, 0, "load", JOB, "-o", tmp_path / "loans", "--quiet")
    run(saltmill, 0, "apply", tmp_path / "loans", *live, "--create", "--quiet")

    def agree(status, *more):
        return json.loads(run(saltmill, status, "agree", JOB, *live, "--truth", "student_loans", "--json", *more))["tables"][0]

    try:
        assert agree(0)["equal"] == 6
        hbase.call("mutate", table="book_loans", mutations=[
            [kind, row.encode().hex(), "borrowed", b"2013010002".hex(), ms, value.encode().hex()] for kind, row, ms, value in DAMAGE])
        script(hbase, tmp_path, "flush 'book_loans'\n")
        told = agree(3, "--repair", tmp_path / "hidden")
        assert (told["missing"], told["extra"], told["different"], told["hidden"]) == (1, 1, 1, 1)
        script(hbase, tmp_path, "major_compact 'book_loans'\n")
        for i in range(60):
            told = agree(3, "--repair", tmp_path / f"mended{i}")
            if told["hidden"] == 0:
                break
            time.sleep(1)
        assert (told["missing"], told["extra"], told["different"], told["hidden"]) == (1, 1, 1, 0)
        run(saltmill, 0, "apply", tmp_path / f"mended{i}", *live, "--quiet")
        assert agree(0)["equal"] == 6
    finally:
        script(hbase, tmp_path, "".join(f"disable '{t}'\ndrop '{t}'\n" for t in ("student_loans", "book_loans")))
