"""Runs moto, and puts the faults of s3_server.py before it.

moto is an S3 server that saltmill's authors did not write. With its IAM checks, moto computes the signature of each
request with botocore (path, query, signed headers, the digest of the body) and demands a policy for the action. moto
compares no digest with the body, so `check_digests` of s3_server.py does. moto refuses parts that are too small, parts
with other ETags, and a second object with `If-None-Match: *`.
"""

import http.client
import json
import logging

from moto import settings
from moto.core.authorization import ActionAuthenticatorMixin
from moto.iam.models import iam_backends
from moto.s3.models import s3_backends
from moto.server import ThreadedMotoServer

from s3_server import BUCKET, REGION, S3

ACCOUNT, USER = "123456789012", "etl"
RIGHTS = ("GetObject", "PutObject", "DeleteObject", "ListBucket", "AbortMultipartUpload", "ListBucketMultipartUploads")


class Behind(S3):
    """Passes each request to the server at address(), and breaks its answers. Subclasses have `objects`, put and clear."""

    def fulfil(self, to, bucket, key, query, body, fault):
        """Passes the request on, and breaks the answer."""
        if fault == "change":
            self.put(key, self.objects[bucket, key] + b"more")
        if fault == "error200" and to.command == "POST" and "uploadId" in query:
            return self.answer(to, 200, b"<Error><Code>InternalError</Code><Message>again</Message></Error>")
        reads = to.command in ("GET", "HEAD")
        with self.lock:
            status, headers, data = self.forward(to, body)
            if fault == "corrupt" and "x-amz-copy-source" in to.headers and "partNumber" not in query:
                self.put(key, self.objects[bucket, key][:-1] + b"!")
            if not reads:
                self.after_write()
        if fault == "lost":
            return self.hang_up(to)
        to.send_response(status)
        for name, value in headers:
            if name.lower() not in ("connection", "transfer-encoding", "server", "date"):
                to.send_header(name, value)
        if not any(name.lower() == "content-length" for name, _ in headers):
            to.send_header("Content-Length", str(len(data)))
        to.end_headers()
        if fault == "cut":
            data = data[:len(data) // 3 + 1]
        if to.command != "HEAD":
            to.wfile.write(data)
        return self.hang_up(to) if fault == "cut" else None

    def forward(self, to, body):
        """Sends the request as it is, and returns status, headers and bytes of the answer."""
        connection = http.client.HTTPConnection(*self.address(), timeout=60)
        connection.putrequest(to.command, to.path, skip_host=True, skip_accept_encoding=True)
        for name, value in to.headers.items():
            if name.lower() not in ("connection", "expect"):
                connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        try:
            return answer.status, answer.getheaders(), answer.read()
        finally:
            connection.close()


class Moto(Behind):
    """`objects` and `uploads` are copies of what moto has. A class attribute of moto switches the checks on, so only
    one such server can run at once."""

    def __init__(self):
        super().__init__()
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        s3_backends.reset()
        iam_backends.reset()
        self.backend, self.iam = s3_backends[ACCOUNT]["aws"], iam_backends[ACCOUNT]["aws"]
        self.bucket = self.backend.create_bucket(BUCKET, REGION)
        self.iam.create_user(REGION, USER)
        self.access = self.iam.create_access_key(USER)
        self.allow(*RIGHTS)
        settings.INITIAL_NO_AUTH_ACTION_COUNT = ActionAuthenticatorMixin.request_count = 0
        self.moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)

    def allow(self, *actions):
        """Allows the user these actions of S3 and no others."""
        self.iam.put_user_policy(USER, "loads", json.dumps({"Version": "2012-10-17", "Statement": [
            {"Effect": "Allow", "Action": [f"s3:{a}" for a in actions], "Resource": "*"}]}))

    def address(self):
        return self.moto.get_host_and_port()

    def versioning(self, status):
        self.backend.put_bucket_versioning(BUCKET, status)

    def forget(self):
        """Removes everything, also old versions."""
        dict.clear(self.bucket.keys)

    def __enter__(self):
        self.moto.start()
        return super().__enter__()

    def __exit__(self, *more):
        super().__exit__(*more)
        self.moto.stop()
        settings.INITIAL_NO_AUTH_ACTION_COUNT = float("inf")

    def env(self):
        return {**super().env(), "AWS_ACCESS_KEY_ID": self.access.access_key_id, "AWS_SECRET_ACCESS_KEY": self.access.secret_access_key}

    @property
    def objects(self):
        keys = list(self.bucket.keys.items()) if self.bucket else []
        return {(BUCKET, name): key.value for name, key in keys if hasattr(key, "value")}  # no marks of deleted versions

    @objects.setter
    def objects(self, _):
        self.bucket = None  # S3 starts without objects

    @property
    def uploads(self):
        return {i: {"key": u.key_name} for i, u in list(self.bucket.multiparts.items())} if self.bucket else {}

    @uploads.setter
    def uploads(self, _):
        pass

    def put(self, key, data):
        self.backend.put_object(BUCKET, key, data)

    def remove(self, key):
        self.backend.delete_object(BUCKET, key)

    def clear(self):
        for name in list(self.bucket.keys):
            self.backend.delete_object(BUCKET, name)
        self.bucket.multiparts.clear()
