"""Tests servers that accept a connection and then say nothing, or a byte now and then, at each door of a secured cluster:
HBase (SASL and TLS), WebHDFS (SPNEGO and https) and S3. Each run ends in its time with the reason, and a signal ends it."""

import contextlib
import os
import pathlib
import re
import signal
import socketserver
import ssl
import struct
import subprocess
import threading
import time

import pytest

from acceptor import accepting, exactly
from authority import Authority
from cluster import wait_until
from kdc import REALM
from test_hostile import Threads, job, serving

PATIENCE = 8  # seconds, in which a busy machine starts all processes and logs them in
EVERY = 0.4  # seconds between two bytes
MANY = 1000  # bytes, which take longer than LIMIT
LIMIT = 180  # seconds until all runs have ended; an idle machine takes two patiences and two seconds
LATEST = 60  # seconds from a signal to the end; an idle machine takes 1
OBJECT = 'HTTP/1.1 %s\r\nContent-Length: 1000000\r\nContent-Range: bytes 0-999999/1000000\r\nETag: "x"\r\n\r\n'


def silent(talk, context=None):
    """Returns a server. talk(socket) returns the bytes that the server sends one by one, before it says nothing more. The
    event `reached` is set before the first byte."""
    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            with contextlib.suppress(OSError):
                to = context.wrap_socket(self.request, server_side=True) if context else self.request
                said = talk(to)
                self.server.reached.set()
                for byte in said:
                    to.sendall(bytes([byte]))
                    time.sleep(EVERY)
                while to.recv(1 << 16):
                    pass
    server = Threads(("127.0.0.1", 0), Handler)
    server.reached = threading.Event()
    return server


def proved():
    """Returns a server that proves its identity, and then says nothing."""
    reached = threading.Event()
    server = accepting(7, lambda _: reached.set() or time.sleep(LIMIT) or b"")
    server.reached = reached
    return server


def nothing(_):
    return b""


def header(to):
    """Reads one request."""
    text = b""
    while not text.endswith(b"\r\n\r\n"):
        text += exactly(to, 1)
    return text.decode()


def begin_of_proof(to):
    """Sends a part of a login token of HBase."""
    exactly(to, 6)
    exactly(to, struct.unpack(">I", exactly(to, 4))[0])
    return struct.pack(">II", 0, 2 * MANY) + bytes(MANY)


def namenode(more):
    """Demands a ticket, and sends the bytes `more` to a client that has one."""
    def talk(to):
        while "\r\nAuthorization: Negotiate" not in header(to):
            to.sendall(b"HTTP/1.1 401 x\r\nWWW-Authenticate: Negotiate\r\nContent-Length: 0\r\n\r\n")
        return more
    return talk


def bucket(to):
    """Has one object, which it sends slowly."""
    while (asked := header(to)).startswith("HEAD"):
        to.sendall((OBJECT % "200 OK").encode())
    found = re.search(r"(?i)\nrange: bytes=(\d+)-", asked)
    first = int(found[1]) if found else 0
    answer = OBJECT.replace("bytes 0-", f"bytes {first}-").replace("Length: 1000000", f"Length: {1000000 - first}")
    to.sendall((answer % "206 Partial Content").encode())
    return b"1,2\n" * 1000


@pytest.fixture(scope="module")
def tls(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("silent") / "tls")


@pytest.fixture
def doors(kdc, tls, tmp_path, saltmill, monkeypatch):
    """Returns a function that makes (name, process, words of the message, server) for each door, with a patience in
    seconds."""
    monkeypatch.setenv("KRB5_CONFIG", kdc.env["KRB5_CONFIG"])
    monkeypatch.setenv("KRB5_KTNAME", f"FILE:{kdc.keytab('hbase/localhost')}")
    kdc.keytab("HTTP/localhost")
    job(tmp_path)
    (tmp_path / "s3.yaml").write_text((tmp_path / "job.yaml").read_text().replace("a.csv", "s3://b/x.csv"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tls.certificate, tls.key)
    login = ["--principal", f"alice@{REALM}", "--keytab", kdc.keytab("alice")]
    env = {**os.environ, "KRB5CCNAME": f"FILE:{kdc.kinit('alice')}", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b",
           "AWS_REGION": "x", "AWS_ENDPOINT_URL": "http://localhost:{port}"}
    scan = ["scan", tmp_path / "job.yaml", "--hbase", "localhost:{port}"]
    secret = ["load", tmp_path / "job.yaml", "--quiet", "--hdfs-ca", tls.ca]
    record = b"\x16\x03\x03\x20\x00" + bytes(MANY)  # the begin of a record of 8 KiB
    no, https, slow = "no answer in time; check that HBase", "https-address", "fewer than 1 KiB a second arrive; check AWS_ENDPOINT_URL"
    made = {
        "HBase, before its proof": (silent(nothing), [*scan, *login], no),
        "HBase, in its proof": (silent(begin_of_proof), [*scan, *login], no),
        "HBase, before TLS": (silent(nothing), [*scan, "--ca", tls.ca], "TLS: no answer in time; check that the server uses TLS"),
        "HBase, in TLS": (silent(lambda _: record), [*scan, "--ca", tls.ca], "TLS: no answer in time"),
        "HBase, after TLS": (silent(nothing, context), [*scan, "--ca", tls.ca, *login], no),
        "HBase, after its proof": (proved(), [*scan, *login], no),
        "NameNode, after a ticket": (silent(namenode(b"")), [*secret, "-o", "webhdfs://localhost:{port}/x"], https),
        "NameNode, in an answer": (silent(namenode(b"HTTP/1.1 200 OK\r\nX: " + MANY * b"x")),
                                   [*secret, "-o", "webhdfs://localhost:{port}/x"], https),
        "NameNode, before TLS": (silent(nothing), [*secret, "-o", "swebhdfs://localhost:{port}/x"], https),
        "NameNode, after TLS": (silent(nothing, context), [*secret, "-o", "swebhdfs://localhost:{port}/x"], https),
        "S3": (silent(nothing), ["verify", "s3://b/x"], "check AWS_ENDPOINT_URL"),
        "S3, in its header": (silent(lambda _: (OBJECT % "200 OK").encode()[:-2] + b"X: " + MANY * b"x"), ["verify", "s3://b/x"], "check AWS_ENDPOINT_URL"),
        "S3, in an object": (silent(bucket), ["load", tmp_path / "s3.yaml", "-o", tmp_path / "out", "--quiet"], slow)}

    @contextlib.contextmanager
    def start(patience):
        with contextlib.ExitStack() as stack:
            processes = []
            for name, (server, words, found) in made.items():
                port = stack.enter_context(serving(server))
                words = [str(w).format(port=port) for w in words]
                words += ["--timeout" if words[0] == "scan" else "--hdfs-patience", f"{patience}s"]
                processes.append((name, subprocess.Popen(
                    [saltmill, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                    env={k: v.format(port=port) if k.startswith("AWS") else v for k, v in env.items()}), found, server))
                stack.callback(processes[-1][1].kill)
            yield processes
    return start


def test_each_run_ends(doors):
    with doors(PATIENCE) as processes:
        wait_until(lambda: all(p.poll() is not None for _, p, *_ in processes), seconds=LIMIT)
        for name, process, found, _ in processes:
            said = process.communicate()[0]
            assert process.returncode != 0 and found in said, (name, process.returncode, said)


def test_a_signal_ends_each_run(doors):
    with doors(10 * LATEST) as processes:
        for name, process, _, server in processes:
            wait_until(server.reached.is_set, process)
            process.send_signal(signal.SIGTERM)
        wait_until(lambda: all(p.poll() is not None for _, p, *_ in processes), seconds=LATEST)
        assert all(process.returncode for _, process, *_ in processes)


def test_a_signal_ends_the_wait_for_a_silent_kdc(kdc, saltmill, tmp_path):
    """The KDC accepts connections and never answers: to a keytab, to a ticket for HBase and to a ticket for HDFS. Without a
    signal, libkrb5 waits for more than 20 s, and the run then reports that."""
    job(tmp_path)
    keytab, cache, config = kdc.keytab("alice"), kdc.kinit("alice"), tmp_path / "krb5.conf"
    tables = ["tables", "--principal", f"alice@{REALM}", "--hbase"]
    for server, words in (
            (silent(nothing), [*tables, "localhost:{port}", "--keytab", keytab]),
            (silent(nothing), [*tables, "localhost:{port}"]),
            (silent(namenode(b"")), ["load", tmp_path / "job.yaml", "--quiet", "-o", "webhdfs://localhost:{port}/x"])):
        asked = silent(lambda to: exactly(to, 4) and b"")  # a part of the request
        with serving(asked) as kdc_port, serving(server) as port:
            config.write_text(pathlib.Path(kdc.env["KRB5_CONFIG"]).read_text().replace(f":{kdc.port}\n", f":{kdc_port}\n"))
            with subprocess.Popen(
                    [saltmill, *(str(w).format(port=port) for w in words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                    env={**os.environ, "KRB5_CONFIG": str(config), "KRB5CCNAME": f"FILE:{cache}"}) as process:
                try:
                    wait_until(asked.reached.is_set, process)
                    process.send_signal(signal.SIGTERM)
                    said = process.communicate(timeout=LATEST)[0]
                finally:
                    process.kill()
        assert process.returncode == 128 + signal.SIGTERM and "stopped by a signal" in said, (words, process.returncode, said)


def test_timeout_ends_the_wait_for_a_silent_kdc(kdc, saltmill, tmp_path):
    """libkrb5 itself waits for more than 20 s."""
    config, asked = tmp_path / "krb5.conf", silent(lambda to: exactly(to, 4) and b"")
    with serving(asked) as kdc_port:
        config.write_text(pathlib.Path(kdc.env["KRB5_CONFIG"]).read_text().replace(f":{kdc.port}\n", f":{kdc_port}\n"))
        done = subprocess.run(
            [saltmill, "tables", "--principal", f"alice@{REALM}", "--keytab", kdc.keytab("alice"), "--hbase", "localhost:1",
             "--timeout", "2s"], capture_output=True, text=True, timeout=LATEST, check=False, env={**os.environ, "KRB5_CONFIG": str(config)})
    assert asked.reached.is_set() and done.returncode and "the KDC has not answered within 2 s" in done.stderr, done.stderr
