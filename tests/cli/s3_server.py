"""A small S3 server on 127.0.0.1 that checks each signature by the published rules (AWS Signature Version 4).

It breaks its answers on demand. `signature` is checked with the example of the documentation of S3.
"""

import hashlib
import hmac
import http.server
import threading
import urllib.parse

KEY_ID, SECRET, REGION = "AKIDEXAMPLE", "wJalrXUtnFEMI+K7MDENG/bPxRfiCYEXAMPLEKEY", "eu-test-1"


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
    """`objects` maps (bucket, key) to bytes. `faults` lists what the next GETs do: "503", "cut", "stall", "change", "shift", or None."""

    def __init__(self):
        self.objects, self.faults, self.asked, self.secret, self.session = {}, [], [], SECRET, None
        self.home = REGION
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                outer.serve(self)

            do_HEAD = do_GET

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
        return {"AWS_ACCESS_KEY_ID": KEY_ID, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": REGION, "AWS_ENDPOINT_URL": self.url}

    @staticmethod
    def refuse(to, status, code, more="", headers=()):
        body = f"<?xml version=\"1.0\"?>\n<Error><Code>{code}</Code><Message>the message</Message>{more}</Error>".encode()
        to.send_response(status)
        for name, value in (*headers, ("Content-Length", str(len(body)))):
            to.send_header(name, value)
        to.end_headers()
        if to.command == "GET":
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
        if not {"host", "x-amz-date", "x-amz-content-sha256"} <= set(signed) or (
                self.session and ("x-amz-security-token" not in signed or headers["x-amz-security-token"] != self.session)):
            return "AccessDenied"
        path, _, query = to.path.partition("?")
        right = signature(self.secret, scope, headers["x-amz-date"], to.command, path, query, headers, signed,
                          headers["x-amz-content-sha256"])
        return None if right == parts["Signature"] else "SignatureDoesNotMatch"

    def serve(self, to):
        fault = self.faults.pop(0) if to.command == "GET" and self.faults else None
        self.asked.append((to.command, to.headers.get("range"), fault))
        if fault == "503":
            return self.refuse(to, 503, "SlowDown")
        wrong = self.check(to)
        if wrong:
            return self.refuse(to, 403, wrong)
        scope = to.headers["authorization"].split("Credential=")[1].split("/")[2]
        if scope != self.home:
            return self.refuse(to, 301, "PermanentRedirect", headers=[("x-amz-bucket-region", self.home)])
        bucket, _, key = urllib.parse.unquote(to.path.lstrip("/")).partition("/")
        if bucket not in {b for b, _ in self.objects}:
            return self.refuse(to, 404, "NoSuchBucket")
        if (bucket, key) not in self.objects:
            return self.refuse(to, 404, "NoSuchKey")
        if fault == "change":
            self.objects[bucket, key] += b"more"
        data = self.objects[bucket, key]
        etag = '"' + hashlib.md5(data).hexdigest() + '"'
        if to.headers.get("if-match") not in (None, etag):
            return self.refuse(to, 412, "PreconditionFailed")
        start = 0
        if to.headers.get("range"):
            start = int(to.headers["range"].removeprefix("bytes=").split("-")[0])
        if fault == "shift":
            start += 7
        to.send_response(206 if to.headers.get("range") else 200)
        to.send_header("ETag", etag)
        if to.headers.get("range"):
            to.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
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
