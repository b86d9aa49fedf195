"""Tests `saltmill apply` with servers of HBase 2.4 and 2.5, which use the same protocol. The registry lacks their
compression jars, so families use GZ, which every HBase has. The client of 2.6 reads the tables.
"""

import subprocess

import pytest
from cluster import CACHE, Cluster, HBaseError
from test_apply import SECONDS, Applied, events

VERSIONS = {"2.4.18": "hbase24-lib", "2.5.13": "hbase25-lib"}


@pytest.mark.parametrize("version", VERSIONS)
def test_an_older_hbase(saltmill, tmp_path, version):
    if not any((CACHE / VERSIONS[version]).glob("hbase-server-*.jar")):
        pytest.fail(f"no jars of HBase {version} in {CACHE / VERSIONS[version]}: run `make deps` (tests/deps.sh test)")
    by_id, by_word = events(tmp_path, "older")
    job = tmp_path / "job.yaml"
    job.write_text(job.read_text().replace("compression: ZSTD", "compression: GZ, data_block_encoding: FAST_DIFF"))
    with Cluster(tmp_path / "hbase", lib=VERSIONS[version]) as hbase:
        one = Applied(saltmill, hbase, tmp_path)
        one.load(job)
        assert one.done("--dry-run", "--create")["warnings"] == []
        one.servers = hbase.zookeeper
        for step in ("created", "put", "sent"):
            died = one.run("--create", env={"SALTMILL_CRASH_AT": f"apply-{step}", "PATH": ""})
            assert died.returncode == -9, (step, died.stderr)
        one.servers = None
        for table in one.done("--create", "--check")["tables"]:
            assert table["created"] and table["check"]["missing"] == table["check"]["changed"] == 0
        one.check("older:events", by_id)
        one.check("older:by_word", by_word)
        # the table's regions and attributes, as the next load queries them
        again = subprocess.run([saltmill, "load", job, "-o", tmp_path / "again", "--hbase", hbase.master, "--quiet"],
                               capture_output=True, text=True, timeout=SECONDS, check=False)
        assert again.returncode == 0, again.stderr
        hbase.kill()  # the harness reports the end of a server
        with pytest.raises(HBaseError, match="HBase has ended"):
            hbase.scan("older:events")
