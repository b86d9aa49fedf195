"""Tests `saltmill apply` with a real HBase whose root is in S3 (s3a). Its region servers copy files instead of moving them. moto
is the S3 server.
"""

import contextlib
import os
import subprocess

import boto3
import pytest
from cluster import CACHE, Cluster
from moto.server import ThreadedMotoServer
from test_apply import STEPS, Applied, events

BUCKET = "bucket"
# HBase's jars have other versions of these
DOUBLED = ("netty-buffer", "netty-codec", "netty-common", "netty-handler", "netty-resolver", "netty-transport", "slf4j-api",
           "httpclient", "httpcore", "commons-codec", "commons-logging")


class Rig:
    def __init__(self, hbase, client, env):
        self.hbase, self.client, self.env = hbase, client, env

    def keys(self, prefix):
        """Returns the objects below a prefix, but for those that mark folders."""
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=prefix)
        return [o["Key"] for p in pages for o in p.get("Contents", []) if not o["Key"].endswith("/")]

    def listed(self, table):
        """Returns family and bytes of each file that the newest list of the tracker FILE names."""
        out = []
        for region in self.hbase.store_files(table):
            for f in region["files"]:
                folder, name = f["path"].strip("/").rsplit("/", 1)
                newest = max(self.keys(folder + "/.filelist/"), key=lambda k: int(k.rsplit(".", 1)[1]))
                if name.encode() in self.client.get_object(Bucket=BUCKET, Key=newest)["Body"].read():
                    out.append((f["family"], f["bytes"]))
        return sorted(out)


@contextlib.contextmanager
def bucket():
    """Starts S3 with a bucket. Yields its client, the settings of an HBase there, their jars, and the environment of saltmill."""
    found = [str(j) for j in sorted((CACHE / "hadoop_aws-lib").glob("*.jar")) if not j.name.startswith(DOUBLED)]
    assert found, f"no jars in {CACHE / 'hadoop_aws-lib'}: run `make deps` (tests/deps.sh test)"
    s3 = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    s3.start()
    try:
        url = "http://{}:{}".format(*s3.get_host_and_port())
        client = boto3.client("s3", endpoint_url=url, region_name="us-east-1", aws_access_key_id="k", aws_secret_access_key="s")
        client.create_bucket(Bucket=BUCKET)
        settings = {"fs.s3a.endpoint": url, "fs.s3a.endpoint.region": "us-east-1", "fs.s3a.path.style.access": "true",
                    "fs.s3a.access.key": "k", "fs.s3a.secret.key": "s", "fs.s3a.connection.ssl.enabled": "false",
                    "hbase.unsafe.stream.capability.enforce": "false", "hbase.store.file-tracker.impl": "FILE"}
        env = {"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "us-east-1", "AWS_ENDPOINT_URL": url}
        yield client, settings, found, env
    finally:
        s3.stop()


@pytest.fixture(scope="module")
def rig(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hbase-in-s3")
    with bucket() as (client, settings, found, env):
        settings["hbase.wal.dir"] = f"file://{folder}/wal"
        with Cluster(folder, f"s3a://{BUCKET}", settings=settings, more_jars=found) as hbase:
            yield Rig(hbase, client, env)


@pytest.fixture
def in_s3(saltmill, rig, tmp_path, monkeypatch):
    for name, value in rig.env.items():
        monkeypatch.setenv(name, value)
    one = Applied(saltmill, rig.hbase, tmp_path, "--user", "ann")
    yield one
    assert rig.keys("user/ann") == [] and rig.keys("hbase/staging") == []


def die_at(one, steps):
    for step in steps:
        died = one.run("--create", env={**os.environ, "SALTMILL_CRASH_AT": f"apply-{step}"})
        assert died.returncode == -9, (step, died.stderr)


def test_killed_at_each_step(in_s3, rig, tmp_path):
    """The run dies at each third event, with `make s3-root` at each. HBase's list of store files (FILE) names each file
    once."""
    by_id, by_word = events(tmp_path, "s3")
    in_s3.load(tmp_path / "job.yaml")
    die_at(in_s3, STEPS[::int(os.environ.get("SALTMILL_S3_STEP", "3"))])
    for table in in_s3.done("--create", "--check")["tables"]:
        assert table["created"] and table["check"]["found"] == table["cells"]
    in_s3.check("s3:events", by_id)
    in_s3.check("s3:by_word", by_word)
    for table in in_s3.manifest["tables"]:
        assert rig.listed(table["name"]) == sorted((f["family"], f["bytes"]) for f in table["files"])


def test_the_other_tracker(in_s3, rig, tmp_path):
    """With the tracker DEFAULT, a file is in the table if it is in its folder. A table may have the same file of an earlier
    load, which is no proof for this load. apply cuts files at borders of live regions, and refuses folders of other buckets."""
    by_id, _ = events(tmp_path, "plain", 600)
    job = tmp_path / "job.yaml"
    job.write_text(job.read_text().split("  - name: plain:by_word")[0])
    in_s3.load(job)
    script = (in_s3.out / "plain:events" / "create.rb") if (in_s3.out / "plain:events").exists() else next(in_s3.out.rglob("create.rb"))
    text = script.read_text()
    own = tmp_path / "own.rb"
    own.write_text(text.replace("create 'plain:events',", "create 'plain:events', "
                                "{CONFIGURATION => {'hbase.store.file-tracker.impl' => 'DEFAULT'}},", 1))
    assert "DEFAULT" in own.read_text(), text
    rig.hbase.run_script(own)
    in_s3.refused("--upload s3a://other/bulk: found HBase's files at s3a://bucket/hbase/staging/", "--upload", "s3a://other/bulk")
    die_at(in_s3, ("put", "before-done", "done"))
    assert in_s3.done("--check")["tables"][0]["check"]["missing"] == 0
    in_s3.check_stores("plain:events")
    in_s3.check("plain:events", by_id)
    # the same load once more, as if it were new: its files are in the table a second time
    again = ("--journal", str(tmp_path / "second"))
    died = in_s3.run(*again, env={**os.environ, "SALTMILL_CRASH_AT": "apply-before-sent"})
    assert died.returncode == -9
    in_s3.done(*again)
    held = [f["bytes"] for r in rig.hbase.store_files("plain:events") for f in r["files"]]
    assert sorted(held) == sorted(2 * [f["bytes"] for t in in_s3.manifest["tables"] for f in t["files"]])


def test_a_load_in_s3(in_s3, rig, tmp_path):
    """S3 copies the files of a load there, so they never come to this machine."""
    by_id, _ = events(tmp_path, "copied", 600)
    job = tmp_path / "job.yaml"
    job.write_text(job.read_text().split("  - name: copied:by_word")[0])
    place = f"s3://{BUCKET}/loads/night"
    done = subprocess.run([in_s3.saltmill, "load", job, "-o", place, "--quiet"], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    in_s3.out = place
    done = in_s3.run("--create", "--copy-to", str(tmp_path / "copy"))
    assert done.returncode == 0 and "apply reads files" not in done.stderr, done.stderr
    assert not list((tmp_path / "copy").rglob("hfiles/*/*"))
    in_s3.check("copied:events", by_id)
    held = [size for _, size in rig.listed("copied:events")]
    files = [o for o in rig.keys("loads/night") if "/hfiles/" in o]
    assert sorted(held) == sorted(rig.client.head_object(Bucket=BUCKET, Key=o)["ContentLength"] for o in files)
