"""A small S3 server on 127.0.0.1 that checks each signature by the published rules (AWS Signature Version 4).

It reads, lists and writes objects, also in parts, and breaks its answers on demand. `signature` is checked with the example of the documentation of S3.
"""

import base64
import calendar
import hashlib
import hmac
import http.server
import re
import threading
import time
import urllib.parse
from xml.sax.saxutils import escape

KEY_ID, SECRET, REGION = "AKIDEXAMPLE", "wJalrXUtnFEMI+K7MDENG/bPxRfiCYEXAMPLEKEY", "eu-test-1"
BUCKET = "bucket"  # moto refuses shorter names


def signature(secret, scope, stamp, method, path, query, headers, signed, payload):
    """Returns the hex signature of a request. `headers` maps lower-case names to values, `signed` lists names."""
    canonical = "\n".join([method, path, "&".join(sorted(query.split("&"))) if query else "",
                           *(f"{name}:{' '.join(headers[name].split())}" for name in signed), "", ";".join(signed), payload])
    text = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + secret).encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


class S3:
    """`objects` maps (bucket, key) to bytes, and `uploads` maps ids to unfinished uploads.

    `faults` lists what the next GETs of objects do: "503", "cut", "stall", "change", "shift" (another range), or None.
    `write_faults` lists what the next PUTs, POSTs and DELETEs do: "503", "reset" (nothing happens), "lost" (no answer to
    what happened), "corrupt" (stores other bytes, except of a manifest), "error200" (an error in an answer 200), "slow", or
    None. `before_write` is called before each of them, `after_write` after each change, and `after_read` after each answer with
    an object. `gate`, with the handler and the key, may hold a request before them.
    """

    def __init__(self):
        self.buckets, self.uploads, self.write_faults, self.after_write, self.page = {"b", BUCKET}, {}, [], lambda: None, 1000
        self.before_write, self.slow_seconds, self.busy = lambda: None, 1.5, 0
        self.after_read = lambda: None
        self.gate = lambda to, key: None
        self.lock = threading.Lock()
        self.objects, self.faults, self.asked, self.secret, self.session = {}, [], [], SECRET, None
        self.read_keys = []  # of each GET of an object
        self.home, self.where, self.names_home = REGION, 301, True
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                with outer.lock:
                    outer.busy += 1
                try:
                    outer.serve(self)
                except ConnectionError:  # the client is dead
                    self.close_connection = True
                finally:
                    with outer.lock:
                        outer.busy -= 1

            do_HEAD = do_PUT = do_POST = do_DELETE = do_GET

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def env(self):
        return {"AWS_ACCESS_KEY_ID": KEY_ID, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": REGION, "AWS_ENDPOINT_URL": self.url,
                "AWS_EC2_METADATA_DISABLED": "true"}

    @staticmethod
    def refuse(to, status, code, more="", headers=()):
        body = f"<?xml version=\"1.0\"?>\n<Error><Code>{code}</Code><Message>the message</Message>{more}</Error>".encode()
        to.send_response(status)
        for name, value in (*headers, ("Content-Length", str(len(body)))):
            to.send_header(name, value)
        to.end_headers()
        if to.command != "HEAD":
            to.wfile.write(body)

    @staticmethod
    def answer(to, status, body=b"", headers=()):
        to.send_response(status)
        for name, value in (*headers, ("Content-Length", str(len(body)))):
            to.send_header(name, value)
        to.end_headers()
        to.wfile.write(body)

    def check(self, to):
        """Returns the error code of a request with a wrong proof, or None."""
        headers = {k.lower(): v for k, v in to.headers.items()}
        algorithm, _, rest = headers.get("authorization", "").partition(" ")
        parts = dict(p.strip().split("=", 1) for p in rest.split(",")) if rest else {}
        if algorithm != "AWS4-HMAC-SHA256":
            return "AccessDenied"
        key_id, _, scope = parts["Credential"].partition("/")
        if key_id != KEY_ID:
            return "InvalidAccessKeyId"
        signed = parts["SignedHeaders"].split(";")
        if not {"host", "x-amz-date", "x-amz-content-sha256"} <= set(signed) or (self.session and "x-amz-security-token" not in signed):
            return "AccessDenied"
        with self.lock:  # a test changes the session and the client's file together
            if self.session and headers["x-amz-security-token"] != self.session:
                return "ExpiredToken"
        if abs(calendar.timegm(time.strptime(headers["x-amz-date"], "%Y%m%dT%H%M%SZ")) - time.time()) > 900:
            return "RequestTimeTooSkewed"
        path, _, query = to.path.partition("?")
        right = signature(self.secret, scope, headers["x-amz-date"], to.command, path, query, headers, signed,
                          headers["x-amz-content-sha256"])
        return None if right == parts["Signature"] else "SignatureDoesNotMatch"

    def serve(self, to):
        path, _, query = to.path.partition("?")
        bucket, _, key = urllib.parse.unquote(path.lstrip("/")).partition("/")
        reads = to.command in ("GET", "HEAD")
        body = b"" if reads else to.rfile.read(int(to.headers.get("content-length", 0)))
        faults = self.write_faults if not reads else self.faults if to.command == "GET" and key else []
        fault = faults.pop(0) if faults else None
        self.asked.append((to.command, to.headers.get("range"), fault))
        if to.command == "GET" and key:
            self.read_keys.append(key)
        if not reads:
            self.gate(to, key)
            self.before_write()
        if fault == "503":
            return self.refuse(to, 503, "SlowDown")
        if fault == "reset":
            return self.hang_up(to)
        if fault == "slow":
            time.sleep(self.slow_seconds)
        wrong_digest = None if reads else self.check_digests(to, body)
        if wrong_digest:
            return self.refuse(to, 400, wrong_digest)
        if fault == "corrupt" and body and not key.endswith("/manifest.json"):
            body = body[:-1] + bytes([body[-1] ^ 1])
        query = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        return self.fulfil(to, bucket, key, query, body, fault)

    @staticmethod
    def check_digests(to, body):
        """Returns the error code of a body with a wrong digest, or None."""
        sum_ = to.headers.get("content-md5")
        if to.headers["x-amz-content-sha256"] != hashlib.sha256(body).hexdigest():
            return "XAmzContentSHA256Mismatch"
        return "BadDigest" if sum_ and base64.b64decode(sum_) != hashlib.md5(body).digest() else None

    def fulfil(self, to, bucket, key, query, body, fault):
        """Checks the signature, and does what the request asks."""
        wrong = self.check(to)
        if wrong:
            return self.refuse(to, 400 if wrong == "ExpiredToken" else 403, wrong)
        scope = to.headers["authorization"].split("Credential=")[1].split("/")[2]
        if scope != self.home and self.where == 400:
            return self.refuse(to, 400, "AuthorizationHeaderMalformed", f"<Region>{self.home}</Region>")
        if scope != self.home:
            return self.refuse(to, 301, "PermanentRedirect", headers=[("x-amz-bucket-region", self.home)] if self.names_home else [])
        if bucket not in self.buckets | {b for b, _ in self.objects}:
            return self.refuse(to, 404, "NoSuchBucket")
        if to.command not in ("GET", "HEAD"):
            return self.write(to, bucket, key, query, body, fault)
        if not key:
            return self.list_uploads(to, bucket, query) if "uploads" in query else self.list(to, bucket, query)
        self.read(to, bucket, key, fault)
        return self.after_read()

    @staticmethod
    def hang_up(to):
        to.close_connection = True
        to.connection.shutdown(2)

    def list(self, to, bucket, query):
        """ListObjectsV2. The token of a page is the last name of the page before."""
        assert query["list-type"] == "2" and query["encoding-type"] == "url"
        prefix, slash, after = query.get("prefix", ""), query.get("delimiter"), query.get("continuation-token", "")
        most = min(int(query["max-keys"]), self.page)
        names, found = {}, sorted(k for b, k in list(self.objects) if b == bucket and k.startswith(prefix))
        for k in found:
            rest = k[len(prefix):]
            folder = slash and slash in rest
            names.setdefault(prefix + rest.partition(slash)[0] + slash if folder else k, folder)
        left = [n for n in sorted(names) if n > after]
        xml = "".join(
            f"<CommonPrefixes><Prefix>{urllib.parse.quote(n)}</Prefix></CommonPrefixes>" if names[n] else
            f"<Contents><Key>{urllib.parse.quote(n)}</Key><LastModified>2026-11-27T01:02:03.000Z</LastModified>"
            f"<ETag>&quot;{hashlib.md5(self.objects[bucket, n]).hexdigest()}&quot;</ETag>"
            f"<Size>{len(self.objects[bucket, n])}</Size></Contents>" for n in left[:most])
        more = len(left) > most
        token = f"<NextContinuationToken>{escape(left[most - 1])}</NextContinuationToken>" if more else ""
        self.answer(to, 200, (f"<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>{str(more).lower()}</IsTruncated>"
                              f"{token}{xml}</ListBucketResult>").encode())

    def list_uploads(self, to, bucket, query):
        xml = "".join(f"<Upload><Key>{urllib.parse.quote(u['key'])}</Key><UploadId>{i}</UploadId></Upload>"
                      for i, u in list(self.uploads.items()) if u["bucket"] == bucket and u["key"].startswith(query["prefix"]))
        self.answer(to, 200, f"<ListMultipartUploadsResult><EncodingType>url</EncodingType>{xml}</ListMultipartUploadsResult>".encode())

    def write(self, to, bucket, key, query, body, fault):
        with self.lock:
            answer = self.change(to, bucket, key, query, body, fault)
            self.after_write()
        if fault == "lost":
            return self.hang_up(to)
        status, *rest = answer
        return self.refuse(to, status, *rest) if status >= 400 else self.answer(to, status, *rest)

    def change(self, to, bucket, key, query, body, fault):
        """Returns a status and the code of an error, or a status with body and headers."""
        upload = self.uploads.get(query.get("uploadId"))
        if "uploadId" in query and (upload is None or upload["key"] != key):
            return 404, "NoSuchUpload"
        etag = [("ETag", '"' + hashlib.md5(body).hexdigest() + '"')]
        if to.command == "DELETE":
            if upload:
                del self.uploads[query["uploadId"]]
            else:
                self.objects.pop((bucket, key), None)
            return 204, b""
        if "uploads" in query:
            name = f"id+{len(self.asked)}/{len(self.uploads)}="
            self.uploads[name] = {"bucket": bucket, "key": key, "parts": {}}
            return 200, f"<R><Key>{escape(key)}</Key><UploadId>{name}</UploadId></R>".encode()
        if "partNumber" in query:
            upload["parts"][int(query["partNumber"])] = body
            return 200, b"", etag
        if upload:
            if fault == "error200":
                return 200, b"<Error><Code>InternalError</Code><Message>again</Message></Error>"
            return self.join(query["uploadId"], body)
        if to.headers.get("if-none-match") == "*" and (bucket, key) in self.objects:
            return 412, "PreconditionFailed"
        self.objects[bucket, key] = body
        return 200, b"", etag

    def join(self, name, body):
        upload = self.uploads[name]
        listed = re.findall(r"<PartNumber>(\d+)</PartNumber><ETag>&quot;(\w+)&quot;</ETag>", body.decode())
        parts = [upload["parts"].get(int(n), b"") for n, _ in listed]
        if [hashlib.md5(p).hexdigest() for p in parts] != [tag for _, tag in listed]:
            return 400, "InvalidPart"
        if any(len(p) < 5 << 20 for p in parts[:-1]):
            return 400, "EntityTooSmall"
        self.objects[upload["bucket"], upload["key"]] = b"".join(parts)
        del self.uploads[name]
        return 200, b"<CompleteMultipartUploadResult></CompleteMultipartUploadResult>"

    def read(self, to, bucket, key, fault):
        if (bucket, key) not in self.objects:
            return self.refuse(to, 404, "NoSuchKey")
        if fault == "change":
            self.objects[bucket, key] += b"more"
        data = self.objects[bucket, key]
        etag = '"' + hashlib.md5(data).hexdigest() + '"'
        if to.headers.get("if-match") not in (None, etag):
            return self.refuse(to, 412, "PreconditionFailed")
        start, last = 0, len(data)
        if to.headers.get("range"):
            first, _, end = to.headers["range"].removeprefix("bytes=").partition("-")
            start, last = int(first), min(int(end) + 1, last) if end else last
        size, data = len(data), data[:last]
        if fault == "shift":
            start += 7
        to.send_response(206 if to.headers.get("range") else 200)
        to.send_header("ETag", etag)
        if to.headers.get("range"):
            to.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{size}")
        to.send_header("Content-Length", str(len(data) - start))
        to.end_headers()
        if to.command == "GET":
            end = start + (len(data) - start) // 3 + 1 if fault in ("cut", "stall") else len(data)
            to.wfile.write(data[start:end])
            if fault == "stall":
                to.connection.settimeout(60)
                to.rfile.read(1)
            if fault == "cut":
                to.close_connection = True
                to.connection.shutdown(2)
        return None
