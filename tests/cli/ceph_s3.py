"""Runs Ceph's object gateway (radosgw), and puts the faults of s3_server.py before it.

The cluster is one monitor and one OSD in memory, on 127.0.0.1, in a temporary folder. Ceph checks each signature, each
digest of a body and each right of a user.
"""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time
import types

import boto3
from botocore.config import Config

from moto_s3 import RIGHTS, Behind, Moto
from s3_server import BUCKET

FSID, OSD = "5a1730c0-0000-4000-8000-000000000001", "5a1730c0-0000-4000-8000-000000000002"
USER, ADMIN = "etl", "admin"
SECONDS = 120  # until a server answers; an idle machine takes 3
CONF = """\
[global]
fsid = {fsid}
mon host = v2:127.0.0.1:{mon}
ms bind msgr1 = false
auth cluster required = none
auth service required = none
auth client required = none
ms mon client mode = crc
run dir = {folder}
admin socket = {folder}/$name.asok
log file = {folder}/$name.log
pid file =
mon data = {folder}/mon
mon allow pool size one = true
osd data = {folder}/osd
osd objectstore = memstore
memstore device bytes = 4294967296
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
public addr = 127.0.0.1
cluster addr = 127.0.0.1
rgw frontends = beast endpoint=127.0.0.1:{http}
rgw data = {folder}/rgw
"""


def store():
    """Returns the server that $SALTMILL_S3 names."""
    return Ceph() if os.environ.get("SALTMILL_S3") == "ceph" else Moto()


def free_ports(n):
    made = [socket.socket() for _ in range(n)]
    for s in made:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in made]
    for s in made:
        s.close()
    return ports


class Ceph(Behind):
    """`objects` and `uploads` are copies of what Ceph has."""

    def __init__(self):
        super().__init__()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="saltmill-ceph-"))
        self.processes = []
        mon, self.port = free_ports(2)
        for name in ("mon", "osd", "rgw"):
            (self.folder / name).mkdir()
        (self.folder / "ceph.conf").write_text(CONF.format(fsid=FSID, mon=mon, http=self.port, folder=self.folder))
        try:
            self.start(mon)
        except BaseException:
            self.stop()
            raise

    def tool(self, *words):
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, timeout=SECONDS, check=False)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def run(self, *words):
        with open(self.folder / f"{words[0]}.out", "wb") as out:
            self.processes.append(subprocess.Popen([*words, "-f"], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out))

    def start(self, mon):
        conf = ("-c", "ceph.conf")
        self.tool("monmaptool", "--create", "--addv", "a", f"[v2:127.0.0.1:{mon}]", "--fsid", FSID, "monmap")
        self.tool("ceph-mon", "--mkfs", "-i", "a", "--monmap", "monmap", *conf)
        self.run("ceph-mon", "-i", "a", *conf)
        self.tool("ceph", *conf, "osd", "create", OSD)
        self.tool("ceph-osd", "--mkfs", "-i", "0", "--osd-uuid", OSD, *conf)
        self.run("ceph-osd", "-i", "0", *conf)
        user = ("radosgw-admin", *conf, "user", "create", "--display-name", "x", "--uid")
        keys = json.loads(self.tool(*user, USER))["keys"][0]
        admin = json.loads(self.tool(*user, ADMIN))["keys"][0]
        self.run("radosgw", "-n", "client.rgw", *conf)
        until = time.monotonic() + SECONDS
        while True:
            try:
                socket.create_connection(self.address(), 1).close()
                break
            except OSError:
                assert time.monotonic() < until and all(p.poll() is None for p in self.processes), "Ceph did not start"
                time.sleep(0.1)
        self.access = types.SimpleNamespace(access_key_id=keys["access_key"], secret_access_key=keys["secret_key"])
        self.client = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{self.port}", region_name="us-east-1",
                                   aws_access_key_id=admin["access_key"], aws_secret_access_key=admin["secret_key"],
                                   config=Config(s3={"addressing_style": "path"}))
        self.make_bucket()

    def make_bucket(self):
        self.client.create_bucket(Bucket=BUCKET)
        self.allow(*RIGHTS)

    def stop(self):
        for p in reversed(self.processes):
            p.kill()
            p.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __exit__(self, *more):
        super().__exit__(*more)
        self.stop()

    def address(self):
        return "127.0.0.1", self.port

    def env(self):
        return {**super().env(), "AWS_ACCESS_KEY_ID": self.access.access_key_id, "AWS_SECRET_ACCESS_KEY": self.access.secret_access_key}

    def allow(self, *actions):
        """Allows the user these actions of S3 and no others. The bucket's owner reads the user's objects."""
        def allowed(user, actions):
            return {"Effect": "Allow", "Principal": {"AWS": [f"arn:aws:iam:::user/{user}"]}, "Action": [f"s3:{a}" for a in actions],
                    "Resource": [f"arn:aws:s3:::{BUCKET}", f"arn:aws:s3:::{BUCKET}/*"]}
        self.client.put_bucket_policy(Bucket=BUCKET, Policy=json.dumps(
            {"Version": "2012-10-17", "Statement": [allowed(USER, actions), allowed(ADMIN, "*")]}))

    def versioning(self, status):
        self.client.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": status})

    def pages(self, what, part):
        for page in self.client.get_paginator(what).paginate(Bucket=BUCKET):
            yield from page.get(part, ())

    @property
    def objects(self):
        found = {}
        for o in self.pages("list_objects_v2", "Contents"):
            try:
                found[BUCKET, o["Key"]] = self.client.get_object(Bucket=BUCKET, Key=o["Key"])["Body"].read()
            except self.client.exceptions.NoSuchKey:  # deleted in between
                pass
        return found

    @objects.setter
    def objects(self, _):
        pass

    @property
    def uploads(self):
        return {u["UploadId"]: {"key": u["Key"]} for u in self.pages("list_multipart_uploads", "Uploads")}

    @uploads.setter
    def uploads(self, _):
        pass

    def put(self, key, data):
        self.client.put_object(Bucket=BUCKET, Key=key, Body=data)

    def remove(self, key):
        self.client.delete_object(Bucket=BUCKET, Key=key)

    def clear(self):
        for o in list(self.pages("list_objects_v2", "Contents")):
            self.remove(o["Key"])
        for u in list(self.pages("list_multipart_uploads", "Uploads")):
            self.client.abort_multipart_upload(Bucket=BUCKET, Key=u["Key"], UploadId=u["UploadId"])

    def forget(self):
        """Makes a new bucket. In a bucket with suspended versioning, Ceph 16.2 answers 412 to a PUT with `If-None-Match: *`
        of a deleted object."""
        for part in ("Versions", "DeleteMarkers"):
            for v in list(self.pages("list_object_versions", part)):
                self.client.delete_object(Bucket=BUCKET, Key=v["Key"], VersionId=v["VersionId"])
        self.client.delete_bucket(Bucket=BUCKET)
        self.make_bucket()
