"""Tests `tables`, `regions`, `describe` and `drop` with a fake cluster by the form of the output, and failures of the cluster.

The tests with a real HBase are in tests/hbase/test_tables.py.
"""

import json
import os
import pty
import signal
import subprocess
import time

import pytest

import loads
from fake_tables import DISABLED, ENABLING, FakeTables, Table

DAY = {"VERSIONS": "3", "TTL": "90061", "BLOCKSIZE": "1049601", "note": "it's"}


def three():
    return {"a": Table(borders=[b"m"]), "ns:b": Table(state=DISABLED), "ab": Table()}


def ask(cluster, *args):
    done = loads.run(*args, "--hbase", cluster.address, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def tables(cluster, *args):
    status, out, err = ask(cluster, "tables", *args, "--json")
    assert (status, err) == (0, "")
    return json.loads(out)


def test_the_list():
    with FakeTables(three()) as cluster:
        assert tables(cluster) == [{"table": "a", "state": "ENABLED", "regions": 2},
                                   {"table": "ab", "state": "ENABLED", "regions": 1},
                                   {"table": "ns:b", "state": "DISABLED", "regions": 1}]
        assert [t["table"] for t in tables(cluster, "a.?")] == ["a", "ab"]
        assert ask(cluster, "tables")[:2] == (0, "TABLE  STATE      REGIONS\n"
                                                 "a      ENABLED          2\n"
                                                 "ab     ENABLED          1\n"
                                                 "ns:b   DISABLED         1\n")
        assert ask(cluster, "tables", "none") == (0, "TABLE  STATE      REGIONS\n", "")


def test_the_regions():
    with FakeTables({"a": Table(borders=[b"\x00", b"m|,"], homeless=[1], silent=[2])}) as cluster:
        status, out, err = ask(cluster, "regions", "a", "--json")
        assert (status, err) == (0, "")
        server = cluster.address
        assert json.loads(out) == {"table": "a", "regions": [
            {"start": "", "end": "\\x00", "encoded": f"{0:032x}", "server": server, "bytes": 0, "files": 1, "requests": 3},
            {"start": "\\x00", "end": "m\\x7C\\x2C", "encoded": f"{1:032x}", "server": None, "bytes": 7 << 20, "files": 2,
             "requests": 103},
            {"start": "m\\x7C\\x2C", "end": "", "encoded": f"{2:032x}", "server": server, "bytes": None, "files": None,
             "requests": None}]}
        s, name = len(server), len(f"a,\\x00,1001.{1:032x}.")
        assert ask(cluster, "regions", "a") == (0, "\n".join([
            f" {'SERVER_NAME':>{s}} | {'REGION_NAME':>{name}} | START_KEY | END_KEY | SIZE | REQ |",
            f" {'-' * s} | {'-' * name} | --------- | ------- | ---- | --- |",
            f" {server} | {f'a,,1000.{0:032x}.':>{name}} | {'':>9} | {chr(92)+'x00':>7} |    0 |   3 |",
            f" {'-':>{s}} | a,\\x00,1001.{1:032x}. | {chr(92)+'x00':>9} | {'m|,':>7} |    7 | 103 |",
            f" {server} | {f'a,m|,,1002.{2:032x}.':>{name}} | {'m|,':>9} | {'':>7} | {'-':>4} | {'-':>3} |",
            " 3 rows", ""]), "")


def test_a_gap_is_reported(tmp_path):
    """A table whose regions have a hole does not hide from its administrator."""
    with FakeTables({"a": Table(borders=[b"c", b"m"], holes=[1])}) as cluster:
        assert tables(cluster) == [{"table": "a", "state": "ENABLED", "regions": 2}]
        status, out, err = ask(cluster, "regions", "a", "--json")
        assert status == 0 and "table a: found a gap or overlap in its regions" in err
        assert [(r["start"], r["end"]) for r in json.loads(out)["regions"]] == [("", "c"), ("m", "")]


def test_unknown_sizes_are_read_by_existing(tmp_path):
    (tmp_path / "job.yaml").write_text("""\
source: {csv: {files: [in.csv], header: true}}
fields: {key: {type: u32}, at: {type: time, unit: s}}
tables:
  - name: a
    rowkey: [{field: key, as: u32}]
    timestamp: at
    families: {f: {}}
    cells: [{family: f, qualifier: v, value: key}]
    regions: {split: none}
""")
    (tmp_path / "in.csv").write_text("key,at\n" + "".join(f"{i},1400000000\n" for i in range(9)))
    with FakeTables({"a": Table(borders=[b"\0\0\0\4"], silent=[1])}) as cluster:
        (tmp_path / "live.txt").write_text(ask(cluster, "regions", "a")[1])
    done = loads.run("drift", tmp_path / "job.yaml", "--existing", tmp_path / "live.txt", "--json")
    assert done.returncode == 0, done.stderr
    regions = json.loads(done.stdout)["tables"][0]["regions"]
    assert [(r["start"], r["rows"], r["live_bytes"]) for r in regions] == [("", 4, 0), ("\\x00\\x00\\x00\\x04", 5, None)]


def test_a_description():
    with FakeTables({"ns:a": Table(DISABLED, attributes={"Z": "1", "MAX_FILESIZE": "10737418240", "IS_META": "false",
                                                         "coprocessor$1": "|C|1|"},
                                   families={"f": (DAY, {"k": "v"}), "g": ({}, {})})}) as cluster:
        assert ask(cluster, "describe", "ns:a") == (0, """\
Table ns:a is DISABLED
ns:a, {TABLE_ATTRIBUTES => {MAX_FILESIZE => '10737418240 B (10GB)', coprocessor$1 => '|C|1|', METADATA => {'Z' => '1'}}}
COLUMN FAMILIES DESCRIPTION
{NAME => 'f', VERSIONS => '3', TTL => '90061 SECONDS (1 DAY 1 HOUR 1 MINUTE 1 SECOND)', BLOCKSIZE => '1049601 B (1MB 1KB 1B)', \
METADATA => {'note' => 'it's'}, CONFIGURATION => {'k' => 'v'}}

{NAME => 'g'}

""", "")
        status, out, err = ask(cluster, "describe", "ns:a", "--json")
        assert (status, err) == (0, "")
        assert json.loads(out) == {"table": "ns:a", "state": "DISABLED", "attributes": {
            "Z": "1", "MAX_FILESIZE": "10737418240", "IS_META": "false", "coprocessor$1": "|C|1|"}, "families": [
            {"name": "f", "attributes": DAY, "configuration": {"k": "v"}},
            {"name": "g", "attributes": {}, "configuration": {}}]}


def test_bytes_of_a_cluster_do_not_reach_the_terminal():
    with FakeTables({"a\x1b]0;x\x07": Table(attributes={"k\x1b[2J": "v\x1b[31m"})}) as cluster:
        for args in (["tables"], ["describe", "a\x1b]0;x\x07"], ["regions", "a\x1b]0;x\x07"], ["drop", ".*"]):
            status, out, err = ask(cluster, *args)
            assert "\x1b" not in out + err and "\x07" not in out + err, args
            assert status == (2 if args[0] == "drop" else 0), err


# --- drop ---

def drop_on_terminal(cluster, answer, *strace):
    """Runs drop under strace on a terminal, and types the answer. Returns the exit status, or None after 20 seconds."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execvp("strace", ["strace", *strace, str(loads.PROGRAM), "drop", "a", "--hbase", cluster.address])
    os.write(fd, answer)
    for _ in range(200):
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            break
        time.sleep(0.1)
    else:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        status = None
    os.close(fd)
    return status if status is None else os.waitstatus_to_exitcode(status)


def test_a_signal_just_before_the_question_ends_drop(tmp_path):
    """The signal comes when drop looks whether standard input is a terminal, so no call is there to be interrupted."""
    with FakeTables(three()) as cluster:
        log = tmp_path / "calls"
        assert drop_on_terminal(cluster, b"n\n", "-o", str(log), "-e", "trace=ioctl") == 1
        last = log.read_text().count("ioctl(0, TCGETS")
        assert last and log.read_text().count("ioctl(") == last
        inject = f"inject=ioctl:signal=INT:when={last}"
        assert drop_on_terminal(cluster, b"", "-o", str(log), "-e", "trace=ioctl", "-e", inject) in (130, -signal.SIGINT)
        assert cluster.tables.keys() == three().keys()


def test_a_drop_disables_first():
    with FakeTables(three()) as cluster:
        assert ask(cluster, "drop", "a|ns:.*", "--yes") == (0, "a: dropped\nns:b: dropped\n", "")
        assert [(m, t) for m, t, _ in cluster.changes] == [("DisableTable", "a"), ("DeleteTable", "a"), ("DeleteTable", "ns:b")]
        assert list(cluster.tables) == ["ab"]
        nonces = [n for _, _, n in cluster.changes]
        assert len(set(nonces)) == 3 and all(a and b for a, b in nonces)


@pytest.mark.parametrize("method", ["DisableTable", "DeleteTable"])
def test_a_lost_answer(method):
    """The repeated call has the same nonces, so the cluster changes nothing twice."""
    with FakeTables(three()) as cluster:
        cluster.trouble[method, "a"] = "lost"
        assert ask(cluster, "drop", "a", "--yes", "--json")[0] == 0
        assert [(m, t) for m, t, _ in cluster.changes] == [("DisableTable", "a"), ("DeleteTable", "a")]
        assert sorted(cluster.tables) == ["ab", "ns:b"]


def test_a_table_that_fails_does_not_stop_the_others():
    with FakeTables(three()) as cluster:
        cluster.trouble["DisableTable", "ab"] = "denied"
        cluster.trouble["DeleteTable", "a"] = "gone"  # somebody else drops it
        status, out, err = ask(cluster, "drop", ".*", "--yes", "--json")
        assert status == 1 and json.loads(out) == {"dropped": ["a", "ns:b"], "failed": ["ab"]}
        assert "table ab: " in json.loads(err.splitlines()[-1])["error"] and "not for you" in err
        assert list(cluster.tables) == ["ab"]


def test_a_drop_waits_until_a_table_is_enabled():
    with FakeTables({"a": Table(ENABLING)}) as cluster:
        assert ask(cluster, "drop", "a", "--yes")[:2] == (0, "a: dropped\n")


def test_nothing_is_dropped_without_a_yes():
    with FakeTables(three()) as cluster:
        status, out, err = ask(cluster, "drop", ".*")
        assert (status, out) == (2, "") and "expected --yes; saltmill dropped nothing" in err
        assert "ns:b" in err and cluster.changes == []
        for answer, status in ((b"no\n", 1), (b"yes\n", 0)):
            us, them = pty.openpty()
            os.write(us, answer)
            done = loads.run("drop", "a", "--hbase", cluster.address, stdin=them)
            os.close(us)
            os.close(them)
            assert done.returncode == status, done.stderr
            assert "Drop the above 1 table with all its data (y/n)? " in done.stderr
            assert ("a" in cluster.tables) == (status == 1)


def test_usage(tmp_path):
    for args in (["tables"], ["regions", "a"], ["describe", "a"], ["drop", "a"]):
        done = loads.run(*args)
        assert done.returncode == 2 and "found no --hbase, expected `--hbase HOST[:PORT],...`" in done.stderr
    for args in (["regions"], ["describe"], ["drop"], ["tables", "a", "b"]):
        assert loads.run(*args, "--hbase", "127.0.0.1:1").returncode == 2
