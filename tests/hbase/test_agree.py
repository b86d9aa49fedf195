"""Tests `agree` on live tables: HBase's client damages and alters one of two tables; the repair and the fixes mend it."""

import itertools
import json
import subprocess

from cluster import wait_until
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


def fixes(altered):
    """The commands for HBase's shell of these changes. The last one is after the other fix of the added family."""
    return [change["fix"].split("in the HBase shell: ")[1] for change in altered]


def test_damaged_by_a_client(hbase, saltmill, tmp_path):
    live = ("--hbase", hbase.master)
    run(saltmill, 0, "load", JOB, "-o", tmp_path / "loans", "--quiet")
    run(saltmill, 0, "apply", tmp_path / "loans", *live, "--create", "--quiet")

    def look(status, *more, job=JOB):
        return json.loads(run(saltmill, status, "agree", job, *live, "--truth", "student_loans", "--json", *more))

    def agree(status, *more):
        return look(status, *more)["tables"][0]

    cut = tmp_path / "cut.yaml"
    books = JOB.read_text().rindex("regions:")
    cut.write_text(JOB.read_text()[:books] + "regions: {split: file, file: points}\n")
    (tmp_path / "points").write_text("B0003\n")
    try:
        assert agree(0)["equal"] == 6
        assert look(0)["altered"] == []
        merged, = look(0, job=cut)["altered"]
        assert "lacks 1 of the 1 split points" in merged["change"]
        hbase.call("mutate", table="book_loans", mutations=[
            [kind, row.encode().hex(), "borrowed", b"2013010002".hex(), ms, value.encode().hex()] for kind, row, ms, value in DAMAGE])
        script(hbase, tmp_path, "flush 'book_loans'\n")
        told = agree(3, "--repair", tmp_path / "hidden")
        assert (told["missing"], told["extra"], told["different"], told["hidden"]) == (1, 1, 1, 1)
        script(hbase, tmp_path, "alter 'book_loans', {NAME => 'borrowed', TTL => '2000000000', VERSIONS => '7'}, {NAME => 'more'}\n")
        altered = look(3)["altered"]
        assert [c["change"].partition(" is ")[0] for c in altered][:2] == ["borrowed: VERSIONS", "borrowed: TTL"]
        assert altered[2]["change"].startswith("has family more")
        refused = subprocess.run([saltmill, "agree", JOB, *live, "--truth", "student_loans", "--repair", tmp_path / "refused"],
                                 capture_output=True, text=True, timeout=120, check=False)
        assert refused.returncode == 2 and "VERSIONS is 7, expected 3" in refused.stderr and fixes(altered)[0] in refused.stderr
        script(hbase, tmp_path, "\n".join([*fixes(altered), "major_compact 'book_loans'\n"]))
        tries = itertools.count()

        def compacted():
            told = agree(3, "--repair", tmp_path / f"mended{(i := next(tries))}")
            return told["hidden"] == 0 and (i, told)
        i, told = wait_until(compacted, pause=1)
        assert (told["missing"], told["extra"], told["different"], told["hidden"]) == (1, 1, 1, 0)
        run(saltmill, 0, "apply", tmp_path / f"mended{i}", *live, "--quiet")
        assert agree(0)["equal"] == 6
        assert look(0, job=cut)["altered"] == [merged] and fixes([merged]) == ["split 'book_loans', \"B0003\""]
        hbase.call("split", table="book_loans", row=b"B0003".hex())
        assert look(0, job=cut)["altered"] == []
    finally:
        script(hbase, tmp_path, "".join(f"disable '{t}'\ndrop '{t}'\n" for t in ("student_loans", "book_loans")))
