"""Tests servers that lie: changed or weaker protection, huge or missing answers, redirects that would leak a token."""

import contextlib
import http.server
import json
import os
import socket
import socketserver
import ssl
import struct
import subprocess
import threading

import pytest

from acceptor import accepting, exactly
from cluster import wait_until

SECRET = "SecretTokenOfTheTest0123456789"


@contextlib.contextmanager
def serving(server):
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


class Threads(socketserver.ThreadingTCPServer):
    daemon_threads = allow_reuse_address = True


def liar(answer):
    """Returns a server that reads the first token of a login and answers these bytes."""
    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            with contextlib.suppress(OSError):
                exactly(self.request, 6)
                exactly(self.request, struct.unpack(">I", exactly(self.request, 4))[0])
                self.request.sendall(answer)
                if answer:
                    self.request.recv(1)
    return Threads(("127.0.0.1", 0), Handler)


@pytest.mark.parametrize("answer, words", [
    (struct.pack(">II", 0, 1 << 30), "found a login token of 1073741824 bytes"),
    (struct.pack(">I", 1 << 30), "found an answer of 1073741824 bytes to the login"),
    (struct.pack(">Ii", 0, -88), "the server does not use Kerberos, and saltmill does not fall back"),
    (struct.pack(">II", 1, 1 << 30), "the server refuses" ),
    (struct.pack(">II", 1, 4) + b"a.Ex" + struct.pack(">I", 3) + b"why", "its log has the reason: why"),
    (struct.pack(">II", 0, 8) + b"\x60\x06garbage"[:8], "cannot log in"),
    (b"", "the server closed the connection")])
def test_false_answers(rig, run, answer, words):
    with serving(liar(answer)) as port:
        done = run("tables", "--hbase", f"localhost:{port}", user="alice", env={"SALTMILL_TEST": "1"})
    assert done.returncode != 0
    if words != "the server refuses":
        assert words in done.stderr, done.stderr


def meddler(rig, change):
    """Returns a proxy before the region server. `change` gets (number, bytes) of each frame from the server."""
    host, port = rig.hbase.master.split(":")

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            with contextlib.suppress(OSError), socket.create_connection((host, int(port))) as up:
                threading.Thread(target=self.back, args=(up,), daemon=True).start()
                while data := self.request.recv(1 << 16):
                    up.sendall(data)

        def back(self, up):
            with contextlib.suppress(OSError):
                for number in range(1 << 20):
                    status = exactly(up, 4) if number < 2 else b""
                    length = exactly(up, 4)
                    body = exactly(up, struct.unpack(">I", length)[0])
                    for copy in change(number, body):
                        self.request.sendall(status + struct.pack(">I", len(copy)) + copy)
    return Threads(("127.0.0.1", 0), Handler)


class Repeat:
    """Sends the offer of a connection again, before the first answer."""

    def __init__(self):
        self.offer = b""

    def __call__(self, number, body):
        self.offer = body if number == 1 else self.offer
        return [self.offer, body] if number == 2 else [body]


def flip(body, at):
    return body[:at] + bytes([body[at] ^ 6]) + body[at + 1:]


@pytest.mark.parametrize("change, words", [
    # frame 0 proves the server, frame 1 offers the protections, and the later ones are answers
    (lambda n, b: [flip(b, 40) if n == 0 else b], "cannot log in"),
    (lambda n, b: [flip(b, 16) if n == 1 else b], "cannot read the offered protections"),
    (lambda n, b: [flip(b, len(b) - 1) if n == 2 else b], "expected one that the server protected"),
    (Repeat(), "expected one that the server protected"),
])
def test_changed_messages(rig, run, change, words):
    """The client refuses a change of the server's proof, of the offer or of an answer, and a repeated
    message."""
    with serving(meddler(rig, change)) as port:
        done = run("tables", "--hbase", f"localhost:{port}", "--protection", "integrity", user="alice")
    assert done.returncode != 0 and words in done.stderr, done.stderr


def sealed(context, data, private):
    wrapped = context.wrap(data, private)
    return struct.pack(">I", len(wrapped)) + wrapped


@pytest.mark.parametrize("offer, protection, answer, words", [
    (1, "privacy", None, "found a server that offers authentication, expected privacy"),
    (3, "privacy", None, "found a server that offers authentication, integrity, expected privacy"),
    (1, "integrity", None, "found a server that offers authentication, expected integrity"),
    (0, None, None, "found a server that offers nothing, expected authentication"),
    (7, None, lambda c: sealed(c, b"\0\0\0\1x", False), "found a message without encryption, expected privacy"),
    (4, "privacy", lambda c: struct.pack(">I", 1 << 30), "found a protected message of 1073741824 bytes"),
    (2, "integrity", lambda c: sealed(c, struct.pack(">I", 1 << 30), False), "1073741824 bytes")])
def test_downgraded_protection(kdc, run, monkeypatch, offer, protection, answer, words):
    """A server with the right key weakens the protection, or sends answers of 1 GiB."""
    monkeypatch.setenv("KRB5_CONFIG", kdc.env["KRB5_CONFIG"])
    monkeypatch.setenv("KRB5_KTNAME", f"FILE:{kdc.keytab('hbase/localhost')}")
    server = accepting(offer, answer)
    with serving(server) as port:
        done = run("tables", "--hbase", f"localhost:{port}", *(["--protection", protection] if protection else []), user="alice")
    assert done.returncode != 0 and words in done.stderr, done.stderr
    assert bool(server.chosen) == bool(answer)  # otherwise the client has not gone on


@pytest.mark.parametrize("offer", [2, 4])
def test_answers_in_pieces(kdc, saltmill, monkeypatch, offer):
    """A protected message may have any part of an answer. After the cluster's id in messages of one byte, the client goes on
    with a second connection. Without the last byte, it fails."""
    monkeypatch.setenv("KRB5_CONFIG", kdc.env["KRB5_CONFIG"])
    monkeypatch.setenv("KRB5_KTNAME", f"FILE:{kdc.keytab('hbase/localhost')}")
    frame = bytes.fromhex("00000009 020801 05 0a03616263")  # call 1, GetClusterIdResponse of "abc"
    cache = kdc.kinit("alice")
    for length, least, most in ((len(frame), 2, 1000), (len(frame) - 1, 1, 1)):
        server = accepting(offer, lambda c: b"".join(sealed(c, frame[i:i + 1], offer == 4) for i in range(length)))
        with serving(server) as port, subprocess.Popen(
                [saltmill, "tables", "--hbase", f"localhost:{port}", "--principal", "alice@EXAMPLE.COM"], stderr=subprocess.DEVNULL,
                env={**os.environ, "KRB5CCNAME": f"FILE:{cache}"}) as client:
            wait_until(lambda: server.chosen > 1 or client.poll() is not None)
            client.kill()
        assert least <= server.chosen <= most, (length, server.chosen)


def test_server_with_another_key(kdc, run, monkeypatch):
    """A server that has only its own key cannot read a login for HBase, and cannot answer it."""
    monkeypatch.setenv("KRB5_CONFIG", kdc.env["KRB5_CONFIG"])
    monkeypatch.setenv("KRB5_KTNAME", f"FILE:{kdc.keytab('thief/localhost')}")
    kdc.keytab("hbase/localhost")
    server = accepting(7, None)
    with serving(server) as port:
        done = run("tables", "--hbase", f"localhost:{port}", user="alice")
        assert done.returncode != 0 and "the server closed the connection" in done.stderr and not server.chosen, done.stderr
        done = run("tables", "--hbase", f"localhost:{port}", "--server-principal", "hbase/other", user="alice")
        assert done.returncode != 0 and "hbase/other@EXAMPLE.COM not found in Kerberos database" in done.stderr, done.stderr


class NameNode(http.server.BaseHTTPRequestHandler):
    """Gives the token SECRET to everybody, and answers other requests as `self.server.script` says."""

    protocol_version = "HTTP/1.1"

    def _answer(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _any(self):
        self.server.seen.append((self.command, self.path, self.headers.get("Authorization")))
        if "GETDELEGATIONTOKEN" in self.path:
            self._answer(200, json.dumps({"Token": {"urlString": SECRET}}).encode())
        elif "delegation=" not in self.path:
            self._answer(401, b"", [("WWW-Authenticate", "Negotiate")])
        else:
            self._answer(*(self.server.script[0](self.path) if callable(self.server.script[0]) else self.server.script))

    do_GET = do_PUT = do_DELETE = do_POST = _any

    def log_message(self, *_):
        pass


def namenode(*script):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), NameNode)
    server.seen, server.script = [], script
    return server


REFUSAL = {"RemoteException": {"exception": "AccessControlException", "message": "denied", "javaClassName": "x"}}


def job(folder):
    (folder / "job.yaml").write_text(
        "source: {csv: {files: [a.csv], header: true}}\ntables: [{name: t, timestamp: 1, rowkey: [{field: a, as: text}], "
        "families: {f: {versions: 1, compression: NONE}}, cells: [{family: f, qualifier: b, value: {field: b}}]}]\n")
    (folder / "a.csv").write_text("a,b\n1,2\n")


def test_redirects_get_no_token(rig, run, tmp_path):
    """A NameNode that sends us elsewhere gets no second request, and the other server gets none at all."""
    job(tmp_path)
    other = namenode(200, b"{}")
    with serving(other) as port:
        thief = f"http://127.0.0.1:{port}/webhdfs/v1/x?op=GETFILESTATUS"
        for script in ((307, b"", [("Location", thief)]), (401, b"", [("WWW-Authenticate", "Negotiate"), ("Location", thief)]),
                       (403, json.dumps(REFUSAL).encode()), (500, f"<html>{SECRET}</html>".encode())):
            server = namenode(*script)
            with serving(server) as here:
                done = run("load", tmp_path / "job.yaml", "-o", f"webhdfs://localhost:{here}/x", "--quiet", "--hdfs-patience", "20s",
                           user="alice")
            assert done.returncode != 0
            assert any(f"delegation={SECRET}" in path for _, path, _ in server.seen), (done.stderr, server.seen)
            assert SECRET not in done.stderr + done.stdout and "delegation=" not in done.stderr, done.stderr
            # only requests for a token have the ticket, so no other server can use it
            assert all(("DELEGATIONTOKEN" in path) == bool(proof) for _, path, proof in server.seen), server.seen
    assert other.seen == []


def test_why_there_is_no_ticket(kdc, run, tmp_path):
    """libcurl reports no reason if the KDC gives no ticket for the NameNode, so saltmill asks for the ticket."""
    class Closed(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(401)
            self.send_header("WWW-Authenticate", "Negotiate")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass
    job(tmp_path)
    cache = kdc.kinit("alice")
    with serving(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Closed)) as port:
        load = ["load", tmp_path / "job.yaml", "-o", f"webhdfs://127.0.0.1:{port}/x", "--quiet", "--hdfs-patience", "20s"]
        done = run(*load, cache=cache)
        assert done.returncode == 2 and "found no ticket for HTTP/127.0.0.1: Server HTTP/127.0.0.1@EXAMPLE.COM not found in Kerberos " \
            "database; check with `kvno HTTP/127.0.0.1`" in done.stderr, done.stderr
        kdc.stop()
        try:
            done = run(*load, cache=cache)
        finally:
            kdc.start()
        assert done.returncode == 2 and "found no ticket for HTTP/127.0.0.1: Cannot contact any KDC" in done.stderr, done.stderr


def test_no_fall_back_to_plain_connections(rig, run):
    """With --ca, a server that does not answer by TLS gets no login."""
    seen = []

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            seen.append(self.request.recv(1 << 16))
            self.request.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    with serving(Threads(("127.0.0.1", 0), Handler)) as port:
        done = run("tables", "--hbase", f"localhost:{port}", "--ca", rig.tls.ca, user="alice")
    assert done.returncode != 0 and "TLS: the server refuses the connection" in done.stderr, done.stderr
    assert seen and all(data[:1] == b"\x16" and b"HBas" not in data for data in seen)


def test_no_redirect_from_https_to_http(rig, run, tmp_path):
    job(tmp_path)
    missing = {"RemoteException": {"exception": "FileNotFoundException", "message": "x", "javaClassName": "x"}}
    folder = {"FileStatus": {"type": "DIRECTORY", "length": 0, "permission": "755"}}

    def answer(path):
        if "op=CREATE" in path:
            return 200, json.dumps({"Location": "http://127.0.0.1:1/webhdfs/v1/x?op=CREATE"}).encode()
        if "op=GETFILESTATUS" in path and not path.startswith("/webhdfs/v1/d?"):
            return 404, json.dumps(missing).encode()
        return 200, json.dumps({"boolean": True, **folder}).encode()
    server = namenode(answer)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(rig.tls.certificate, rig.tls.key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    with serving(server) as here:
        done = run("load", tmp_path / "job.yaml", "-o", f"swebhdfs://localhost:{here}/d/x", "--quiet", "--hdfs-patience", "20s",
                   "--ca", rig.tls.ca, user="alice")
    assert done.returncode != 0 and "redirects to a DataNode without TLS, expected https:" in done.stderr, (done.stderr, server.seen)
    assert SECRET not in done.stderr
