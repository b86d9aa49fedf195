"""Tests `saltmill apply` with a real HBase that demands Kerberos and whose root is in S3 (s3a). moto is the S3 server.

make s3-root

The test starts an HBase of its own, so it is not in `make test`.
"""

import pathlib
import sys
import types

import pytest
from authority import Authority
from cluster import Cluster, site
from secured import SecuredHBase
from test_secured import expected, loaded  # noqa: F401  (a fixture)

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "hbase"))

from test_s3_root import BUCKET, Rig, bucket  # noqa: E402  (needs the path above)

FS = f"s3a://{BUCKET}"


class InS3(SecuredHBase):
    def _configure(self):
        conf = Cluster._configure(self)
        site(conf / "core-site.xml", {
            "fs.defaultFS": FS, "hadoop.security.authentication": "kerberos", "hadoop.security.authorization": "true",
            "hadoop.security.group.mapping": "org.apache.hadoop.security.NullGroupsMapping", **self.settings})
        return conf

    def _start(self):
        self._configure()
        self._start_again("w")


@pytest.fixture(scope="module")
def in_s3(kdc, tmp_path_factory):
    folder = tmp_path_factory.mktemp("secured-in-s3")
    with bucket() as (client, settings, found, env):
        hbase = InS3(folder, kdc, types.SimpleNamespace(fs=FS), Authority(folder / "tls"))
        hbase.more_jars = found
        hbase.settings |= {**settings, "hbase.wal.dir": f"file://{folder}/wal"}
        with hbase:
            hbase.admin("grant", "alice", "@default", "RWC")
            yield Rig(hbase, client, env)


@pytest.mark.parametrize("crash", ["put", "before-sent", "before-done", "done"])
def test_apply(in_s3, run, loaded, crash):  # noqa: F811
    """A run that dies loads each file once. HBase's own client reads the cells."""
    table = f"t-{crash}"
    out = loaded(table)
    words = ["apply", out, "--hbase", in_s3.hbase.master, "--create"]
    refused = run(*words, user="bob", env=in_s3.env)
    assert refused.returncode != 0 and "run `grant 'bob', 'C', '@default'` in the HBase shell" in refused.stderr, refused.stderr
    died = run(*words, user="alice", env={**in_s3.env, "SALTMILL_CRASH_AT": f"apply-{crash}"})
    assert died.returncode == -9, died.stderr
    done = run(*words, "--check", user="alice", env=in_s3.env)
    assert done.returncode == 0 and "3000 cells" in done.stdout, done.stderr
    assert in_s3.hbase.admin("digest", table) == expected()
    assert in_s3.keys("user/alice") == [] and in_s3.keys("hbase/staging") == []
    named = []
    for key in in_s3.keys(f"hbase/data/default/{table}/"):
        if "/.filelist/" in key:
            named.append(in_s3.client.get_object(Bucket=BUCKET, Key=key)["Body"].read().count(b"_SeqId_"))
    assert sum(named) == len([f for f in out.rglob("hfiles/f/*") if f.is_file()])


def test_access(in_s3, run, loaded):  # noqa: F811
    done = run("apply", loaded("access"), "--hbase", in_s3.hbase.master, "--check-access", "--upload", f"{FS}/bulk", user="alice",
               env=in_s3.env)
    assert done.returncode == 0 and "alice@EXAMPLE.COM" in done.stdout and "bulk: may write" in done.stdout, done.stdout + done.stderr
