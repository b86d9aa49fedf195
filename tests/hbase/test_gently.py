"""Tests options of `saltmill apply` that spare the clusters: --rate, --batch, --pace, --window, --also, --no-replicate.

The journal shows the order of the steps. HBase's own clients read the tables.
"""

import json
import os
import re
import subprocess
import time

from test_apply import SECONDS, Applied, events, on_hdfs  # noqa: F401  (on_hdfs is a fixture)
from test_load import FLIGHTS_FAMILY, derive, eighth  # noqa: F401  (eighth is a fixture)

RATE = 8 << 20
PIECE = 256 << 10  # of an upload; 8 threads upload at a time


def steps(journal):
    """Returns (table, word, numbers of files) of each line."""
    found = re.findall(r"^(\d+) (put|sent|done)((?: \d+)+)", journal.read_text(), re.M)
    return [(int(t), word, [int(n) for n in numbers.split()]) for t, word, numbers in found]


def check_batches(journal, files, size):
    """Checks that the files of a batch are in the table before the upload of a file of the next batch."""
    batch = [f["region"] // size for f in files]
    done = set()
    for _, word, numbers in steps(journal):
        if word == "put":
            before = {i for i, b in enumerate(batch) if b < batch[numbers[0]]}
            assert before <= done, (numbers, before - done)
        elif word == "done":
            done.update(numbers)
    assert len(done) == len(files) and max(batch) > 1


def test_two_clusters(on_hdfs, hbase, eighth, tmp_path):  # noqa: F811
    """A paced load in batches, also into a second cluster, once each."""
    file, expected, _ = eighth
    job = derive(tmp_path, "flights.yaml", ("name: flights", "name: gently"), (FLIGHTS_FAMILY, "compression: NONE"))
    on_hdfs.load(job, file)
    (table,) = on_hdfs.manifest["tables"]
    began = time.monotonic()
    printed = on_hdfs.done("--create", "--check", "--batch", "2", "--pace", "--rate", "8M", "--also", hbase.master,
                        "--no-replicate")
    took = time.monotonic() - began
    sent = sum(f["bytes"] for f in table["files"])
    assert sent > 2 * RATE  # so that the limit counts
    assert took > 2 * (sent - 8 * PIECE) / RATE, "the upload was faster than --rate"
    for one in (printed, printed["also"]):
        (t,) = one["tables"]
        assert t["created"] and t["check"]["found"] == expected.cells, one
    assert printed["cluster"] != printed["also"]["cluster"]
    for journal in ("out.saltmill-apply", "out.also.saltmill-apply"):
        check_batches(tmp_path / journal, table["files"], 2)
    second = Applied(on_hdfs.saltmill, hbase, tmp_path)
    second.manifest = on_hdfs.manifest
    for one in (on_hdfs, second):
        one.check("gently", expected)
        one.check_stores("gently")
    # a second run loads nothing, also after a rename of the folder
    on_hdfs.out = on_hdfs.out.rename(tmp_path / "renamed")
    printed = on_hdfs.done("--also", hbase.master)
    assert printed["already"] and printed["also"]["already"]
    on_hdfs.refused(f"--also {on_hdfs.hbase.master}: found the cluster of --hbase", "--also", on_hdfs.hbase.master)


def test_second_cluster_later(on_hdfs, hbase, tmp_path):  # noqa: F811
    """The second cluster fails, then the process dies; the first cluster gets each file once."""
    by_id, by_word = events(tmp_path, "later", 900)
    on_hdfs.load(tmp_path / "job.yaml")
    on_hdfs.refused("--also 127.0.0.1:1: ", "--create", "--also", "127.0.0.1:1", status=1)
    on_hdfs.check("later:events", by_id)
    env = {"SALTMILL_CRASH_AT": "apply-sent", "PATH": ""}
    died = on_hdfs.run("--create", "--also", hbase.master, env=env)
    assert died.returncode == -9, died.stderr
    printed = on_hdfs.done("--create", "--also", hbase.master)
    assert printed["already"] and not printed["also"]["already"]
    second = Applied(on_hdfs.saltmill, hbase, tmp_path)
    second.manifest = on_hdfs.manifest
    for one in (on_hdfs, second):
        one.check("later:events", by_id)
        one.check("later:by_word", by_word)
    on_hdfs.check_stores("later:events")


def test_window(on_hdfs, tmp_path):  # noqa: F811
    """Outside the window, apply waits before it creates a table. A signal ends the wait, and the next run
    continues."""
    by_id, _ = events(tmp_path, "hours", 300)
    on_hdfs.load(tmp_path / "job.yaml")
    now = time.gmtime()
    window = f"{(now.tm_hour + 2) % 24:02}:00-{(now.tm_hour + 3) % 24:02}:00"
    command = [on_hdfs.saltmill, "apply", on_hdfs.out, "--hbase", on_hdfs.hbase.master, *on_hdfs.options, "--create",
               "--window"]
    env = {**os.environ, "TZ": "UTC0"}
    with subprocess.Popen([*command, window], stderr=subprocess.PIPE, text=True, env=env) as waiting:
        said = waiting.stderr.readline()
        assert f"waiting until {window[:5]} (--window)" in said
        waiting.terminate()
        waiting.communicate(timeout=SECONDS)
        assert waiting.returncode == 143
    assert steps(tmp_path / "out.saltmill-apply") == []
    on_hdfs.done("--dry-run", "--create", "--window", window)
    window = f"{now.tm_hour:02}:00-{(now.tm_hour + 2) % 24:02}:00"
    done = subprocess.run([*command, window], capture_output=True, text=True, env=env, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    on_hdfs.check("hours:events", by_id)


# The rows as HBase's BackupSystemTable writes them. The registry lacks the jar of HBase's backup module.
BACKUPS = """\
admin = @java
name = Java::OrgApacheHadoopHbase::TableName
bytes = lambda { |s| s.to_java_bytes }
admin.createNamespace(Java::OrgApacheHadoopHbase::NamespaceDescriptor.create('backup').build)
create 'backup:system', {NAME => 'session'}, {NAME => 'meta'}
table = admin.getConnection.getTable(name.valueOf('backup:system'))
[['backupset:nightly', 'tables', 'peers:other,peers:by_word'], ['backupset:none', 'tables', 'peers:by_words,peers:by'],
 ['incrbackupset:hdfs://dr/backups', 'peers:by_word', ''], ['incrbackupset:hdfs://dr/others', 'peers:other', ''],
 ['session:b1', 'peers:by_word', '']].each do |row, column, value|
  put = Java::OrgApacheHadoopHbaseClient::Put.new(bytes.call(row))
  put.addColumn(bytes.call('meta'), bytes.call(column), bytes.call(value))
  table.put(put)
end
"""


def test_precheck_names_backups(on_hdfs, tmp_path):  # noqa: F811
    events(tmp_path, "peers", 40)
    on_hdfs.load(tmp_path / "job.yaml")
    on_hdfs.done("--create")
    script = tmp_path / "backups.rb"
    script.write_text(BACKUPS)
    on_hdfs.hbase.run_script(script)
    try:
        (said,) = on_hdfs.done("--dry-run", "--journal", str(tmp_path / "again"))["warnings"]
        assert "table peers:by_word: HBase backs it up (backup set nightly; incremental backups in hdfs://dr/backups); " in said
    finally:
        script.write_text("disable 'backup:system'\ndrop 'backup:system'\n@java.deleteNamespace('backup')\n"
                          "['events', 'by_word'].each { |t| disable 'peers:' + t; drop 'peers:' + t }\n")
        on_hdfs.hbase.run_script(script)


def test_precheck_names_peers(on_hdfs, hbase, tmp_path):  # noqa: F811
    events(tmp_path, "peers", 40)
    on_hdfs.load(tmp_path / "job.yaml")
    on_hdfs.done("--create")
    script = tmp_path / "peer.rb"
    script.write_text(
        "alter 'peers:events', {NAME => 'f', REPLICATION_SCOPE => 1}\n"
        "alter 'peers:by_word', NORMALIZATION_ENABLED => true\n"
        "peer = Java::OrgApacheHadoopHbaseReplication::ReplicationPeerConfig.newBuilder\n"
        f"@java.addReplicationPeer('dr', peer.setClusterKey('{hbase.zookeeper[3:]}:/hbase').build)\n")
    on_hdfs.hbase.run_script(script)
    try:
        journal = ("--journal", str(tmp_path / "again"))
        warnings = on_hdfs.done("--dry-run", *journal)["warnings"]
        assert len(warnings) == 2, warnings
        assert "table peers:events: family f has REPLICATION_SCOPE 1, and the cluster replicates to dr; " in warnings[0]
        assert "table peers:by_word: NORMALIZATION_ENABLED is true" in warnings[1]
        (said,) = on_hdfs.done("--no-replicate", *journal)["warnings"]
        assert "NORMALIZATION_ENABLED" in said
    finally:
        script.write_text("@java.removeReplicationPeer('dr')\n")
        on_hdfs.hbase.run_script(script)
    assert json.loads(on_hdfs.run("--dry-run", "--json", "--journal", str(tmp_path / "third")).stdout)["warnings"] == [
        said]
