"""Simulates a small WebHDFS in memory, by Hadoop's documentation of WebHDFS, with faults on request.

    python3 fake_webhdfs.py        prints "PORT STANDBY_PORT" and serves until its input ends

The path selects the faults. A component `fault-WHAT-N` makes WHAT happen in the first N requests
for paths below it (see `FAULTS`). Plain Python computes the checksum of a file, by the rules in
Hadoop's sources.
"""

import hashlib
import http.server
import json
import re
import socket
import ssl
import struct
import sys
import threading
import time
import urllib.parse

BLOCK = 4096  # for new files whose request gives no size
FAULTS = {
    "busy": "503 without a body",
    "safemode": "403 SafeModeException",
    "html": "500 with a page for people",
    "garbage": "200 with what is no JSON",
    "huge": "200 with 64 MB of blanks",
    "drip": "200 with two bytes a second",
    "lost": "what is asked is done, the connection ends without an answer",
    "dead": "the DataNode's address is one where nobody listens",
    "cut": "the DataNode's connection ends after 3,000 bytes, which stay",
    "slow": "the DataNode takes nothing for 1.8 seconds",
    "garbled": "one byte is stored wrong",
    "replaced": "another writer replaces the file before its end",
    "full": "no DataNode has room",
    "quota": "the folder has reached its quota of space",
    "denied": "403 AccessControlException",
    "oldsum": "the checksum is of a kind that is not known",
    "unclosed": "the file has no checksum, as its writer died before its end",
    "old": "a server that answers 307 whatever is asked for",
    "nameless": "statuses without a fileId, as a gateway's (always)",
    "namelost": "the same, and what is asked is done without an answer",
    "encrypted": "a folder whose checksums are of other bytes (always)",
    "coded": "the same, erasure-coded (always)",
}

TABLE = []
for i in range(256):
    for _ in range(8):
        i = (i >> 1) ^ (0x82F63B78 if i & 1 else 0)
    TABLE.append(i)


def crc32c(data):
    crc = 0xFFFFFFFF
    for b in data:
        crc = (crc >> 8) ^ TABLE[(crc ^ b) & 255]
    return crc ^ 0xFFFFFFFF


def checksum(data, block):
    if not data:
        return "MD5-of-0MD5-of-0CRC32", "0" * 24 + "70bc8f4b72a86921468bf8e8441dce51" + "0" * 8
    blocks = [data[i:i + block] for i in range(0, len(data), block)]
    md5s = b"".join(hashlib.md5(b"".join(
        struct.pack(">I", crc32c(b[i:i + 512])) for i in range(0, len(b), 512))).digest()
        for b in blocks)
    capacity = 32
    while capacity < len(md5s):
        capacity *= 2
    each = block // 512 if len(blocks) > 1 else 0
    digest = hashlib.md5(md5s.ljust(capacity, b"\0")).digest()
    return (f"MD5-of-{each}MD5-of-512CRC32C",
            (struct.pack(">iq", 512, each) + digest + b"\0\0\0\0").hex())


class Refusal(Exception):
    def __init__(self, status, name, message):
        super().__init__(message)
        self.status, self.name = status, name


class Tree:
    """Maps paths to nodes. A node is a dictionary, with `data` for a file."""

    def __init__(self):
        self.lock = threading.Lock()
        self.next_id = 16385
        self.nodes = {}
        self.faults = {}
        self.users = set()  # of all requests to the NameNode
        self.free = None  # bytes free on all DataNodes; None closes that page
        self.states = []  # the next answers of that page, as of a NameNode that has just started
        self.nodes["/"] = self.node("root", "755")

    def node(self, owner, mode, data=None, block=BLOCK):
        self.next_id += 1
        return {"id": self.next_id, "owner": owner, "mode": mode, "data": data, "block": block,
                "time": int(time.time() * 1000)}

    def fault(self, path, among):
        """Returns the fault of this call, which is one of `among`."""
        found = re.search(r"\d*-?fault-([a-z]+)-(\d+)", path)
        if not found or found[1] not in among.split():
            return None
        with self.lock:
            left = self.faults.setdefault(found[0], int(found[2]))
            self.faults[found[0]] = max(0, left - 1)
        return found[1] if left else None

    def starting(self):
        return self.states.pop(0) if self.states else {}

    def children(self, path):
        top = path.rstrip("/") + "/"
        return {p: n for p, n in self.nodes.items() if p.startswith(top) and p != "/"}

    def need(self, path):
        if path not in self.nodes:
            raise Refusal(404, "FileNotFoundException", f"File does not exist: {path}")
        return self.nodes[path]


def parent(path):
    return path.rsplit("/", 1)[0] or "/"


def status_of(node, name, path):
    """Writes the status as JsonUtil does, with encBit and ecBit only if they are true."""
    kind = re.search(r"fault-([a-z]+)-", path)
    kind = kind[1] if kind else ""
    status = {"pathSuffix": name, "type": "DIRECTORY" if node["data"] is None else "FILE",
            "length": len(node["data"] or b""), "owner": node["owner"], "group": "g",
            "permission": node["mode"], "fileId": node["id"], "modificationTime": node["time"],
            "blockSize": 0 if node["data"] is None else node["block"], "replication": 1}
    if kind in ("nameless", "namelost"):
        del status["fileId"]
    if kind in ("encrypted", "coded"):
        status["encBit" if kind == "encrypted" else "ecBit"] = True
    return status


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16
    disable_nagle_algorithm = True
    tree = None  # a member of each server's own class
    standby = False
    scheme = "http"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def say(self, **values):
        self.answer(200, json.dumps(values).encode())

    def vanish(self):
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def do_all(self):
        url = urllib.parse.urlsplit(self.path)
        query = {k: v[0] for k, v in urllib.parse.parse_qs(url.query).items()}
        path = urllib.parse.unquote(url.path)
        try:
            if path.startswith("/data"):
                self.data(path[5:], query)
            elif path == "/jmx" and self.tree.free is not None:
                self.say(beans=[{"name": query["qry"], "CapacityRemaining": self.tree.free, **self.tree.starting()}])
            elif path.startswith("/webhdfs/v1/"):
                self.name(path[11:].rstrip("/") or "/", query)
            else:
                self.answer(404, b"<html>not here</html>")
        except Refusal as r:
            self.answer(r.status, json.dumps({"RemoteException": {
                "exception": r.name, "javaClassName": "org.apache.hadoop." + r.name,
                "message": str(r) + "\n\tat a line of a stack"}}).encode())

    do_GET = do_PUT = do_DELETE = do_all

    # --- the NameNode ---

    def name(self, path, query):
        tree, op = self.tree, query["op"]
        tree.users.add(query["user.name"])
        at_data = op in ("CREATE", "OPEN", "GETFILECHECKSUM")
        fault = None if self.standby else tree.fault(
            path, "busy html garbage huge drip safemode denied " + ("dead old" if at_data else
                                                          "" if op.startswith("GET") else "lost namelost"))
        if self.standby:
            raise Refusal(403, "StandbyException",
                          "Operation category READ is not supported in state standby")
        if fault == "busy":
            return self.answer(503)
        if fault == "html":
            return self.answer(500, b"<html>oops</html>")
        if fault == "garbage":
            return self.answer(200, b'{"boolean": "perhaps", "FileStatus": [1]}')
        if fault in ("huge", "drip"):
            return self.pour(64 << 20 if fault == "huge" else 1000, 1 << 16 if fault == "huge" else 2, fault == "drip")
        if fault == "safemode":
            raise Refusal(403, "SafeModeException", f"Cannot {op} {path}. Name node is in safe mode.")
        if fault == "denied":
            raise Refusal(403, "AccessControlException", f"Permission denied: user={query['user.name']}")
        if at_data:
            return self.redirect(op, path, query, fault)
        with tree.lock:
            done = getattr(self, op.lower())(path, query)
        if fault in ("lost", "namelost"):
            return self.vanish()
        return self.answer(200) if done is None else self.say(**done)

    def pour(self, size, part, slowly):
        """Sends an answer that does not end before the client's time limit."""
        self.send_response(200)
        self.send_header("Content-Length", str(size))
        self.end_headers()
        try:
            for _ in range(0, size, part):
                self.wfile.write(b" " * part)
                self.wfile.flush()
                time.sleep(slowly)
        except OSError:
            pass  # the client has left
        self.close_connection = True

    def redirect(self, op, path, query, fault):
        if op != "CREATE":
            self.tree.need(path)
        port = self.server.server_port
        if fault == "dead":
            with socket.socket() as s:
                s.bind(("127.0.0.1", 0))
                port = s.getsockname()[1]
        to = (f"{self.scheme}://127.0.0.1:{port}/data{urllib.parse.quote(path)}?"
              f"{urllib.parse.urlencode(query)}")
        if fault == "old" or "noredirect" not in query:
            return self.answer(307, Location=to)
        return self.say(Location=to)

    def getserverdefaults(self, _, __):
        return {"FsServerDefaults": {"blockSize": BLOCK, "bytesPerChecksum": 512, "replication": 2}}

    def getfilestatus(self, path, _):
        return {"FileStatus": status_of(self.tree.need(path), "", path)}

    def liststatus(self, path, _):
        self.tree.need(path)
        return {"FileStatuses": {"FileStatus": [
            status_of(n, p.rsplit("/", 1)[1], p) for p, n in self.tree.children(path).items()
            if parent(p) == path]}}

    def checkaccess(self, path, _):
        self.tree.need(path)

    def getquotausage(self, path, _):
        """A folder `quota-N` accepts at most N names and N blocks of two copies."""
        self.tree.need(path)
        most = re.search(r"quota-(\d+)$", path)
        files = [n for n in self.tree.children(path).values() if n["data"] is not None]
        return {"QuotaUsage": {
            "fileAndDirectoryCount": 1 + len(self.tree.children(path)), "quota": int(most[1]) if most else -1,
            "spaceConsumed": 2 * sum(len(n["data"]) for n in files),
            "spaceQuota": int(most[1]) * 2 * BLOCK if most else -1, "typeQuota": {}}}

    def mkdirs(self, path, query):
        missing = []
        while path not in self.tree.nodes:
            missing.append(path)
            path = parent(path)
        if self.tree.nodes[path]["data"] is not None:
            raise Refusal(403, "FileAlreadyExistsException", f"Path is not a directory: {path}")
        for p in reversed(missing):
            self.tree.nodes[p] = self.tree.node(query["user.name"], query.get("permission", "755"))
        return {"boolean": True}

    def delete(self, path, _):
        for p in self.tree.children(path):
            del self.tree.nodes[p]
        return {"boolean": self.tree.nodes.pop(path, None) is not None}

    def rename(self, path, query):
        to = query["destination"]
        if path not in self.tree.nodes or parent(to) not in self.tree.nodes:
            if "renameoptions" not in query:
                return {"boolean": False}
            raise Refusal(404, "FileNotFoundException", f"rename source {path} is not found.")
        if to in self.tree.nodes:
            raise Refusal(403, "FileAlreadyExistsException", f"rename destination {to} exists")
        for p, n in {path: self.tree.nodes[path], **self.tree.children(path)}.items():
            del self.tree.nodes[p]
            self.tree.nodes[to + p[len(path):]] = n
        return None if "renameoptions" in query else {"boolean": True}

    def setpermission(self, path, query):
        self.tree.need(path)["mode"] = query["permission"]

    # --- the DataNode ---

    def body(self):
        """Returns the request's bytes as they arrive."""
        if self.headers.get("Transfer-Encoding") == "chunked":
            while True:
                n = int(self.rfile.readline(), 16)
                part = self.rfile.read(n)
                self.rfile.readline()
                if not n:
                    return
                yield part
        else:
            left = int(self.headers["Content-Length"])
            while left:
                part = self.rfile.read1(min(left, 65536))
                if not part:
                    return
                left -= len(part)
                yield part

    def data(self, path, query):
        op = query["op"]
        if op == "CREATE":
            try:
                return self.create(path, query)
            except Refusal:
                for _ in self.body():  # a client may miss an answer if the server closes at once
                    pass
                raise
        fault = self.tree.fault(path, "oldsum encrypted coded unclosed")
        node = self.tree.need(path)
        if op == "OPEN":
            start = int(query.get("offset", 0))
            return self.answer(200, node["data"][start:start + int(query.get("length", len(node["data"])))])
        if fault == "unclosed":
            raise Refusal(403, "IOException", f"Fail to get checksum, since file {path} is under construction.")
        other = bytes(b ^ 1 for b in node["data"]) if fault in ("encrypted", "coded") else node["data"]
        kind, text = checksum(other, node["block"])
        if fault == "oldsum":
            kind, text = "COMPOSITE-CRC32C", "00000000"
        return self.say(FileChecksum={"algorithm": kind, "bytes": text, "length": 28})

    def create(self, path, query):
        fault = self.tree.fault(path, "slow full quota cut garbled replaced")
        if fault == "slow":
            time.sleep(1.8)
        if fault == "full":
            raise Refusal(403, "IOException", f"File {path} could only be written to 0 of the 1 "
                          "minReplication nodes. There are 1 datanode(s) running and no node(s) "
                          "are excluded in this operation.")
        if fault == "quota":
            raise Refusal(403, "DSQuotaExceededException", "The DiskSpace quota of /x is exceeded")
        with self.tree.lock:
            if self.tree.need(parent(path))["data"] is not None:
                raise Refusal(403, "ParentNotDirectoryException", parent(path))
            if path in self.tree.nodes and query["overwrite"] != "true":
                raise Refusal(403, "FileAlreadyExistsException", f"{path} already exists")
            node = self.tree.nodes[path] = self.tree.node(
                query["user.name"], query.get("permission", "644"), b"", int(query["blocksize"]))
        if fault == "replaced":
            node["data"] = b""
            raise Refusal(404, "FileNotFoundException", f"File does not exist: {path} (inode 16694) Holder DFSClient_1 does not "
                          "have any open files.")
        data = bytearray()
        for part in self.body():
            data += part
            if fault == "cut" and len(data) >= 3000:
                node["data"] = bytes(data[:3000])
                return self.vanish()
        if fault == "garbled":
            data[-1] ^= 1
        node["data"] = bytes(data)
        return self.answer(201, Location=f"hdfs://fake{path}")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass  # a client that closed its connection


def serve(certificate=None):
    """Returns (active server, standby server) on one tree. The servers use https if given a PEM file of key and
    certificate."""
    tree = Tree()
    servers = []
    for standby in (False, True):
        handler = type("H", (Handler,), {"tree": tree, "standby": standby})
        server = Server(("127.0.0.1", 0), handler)
        if certificate:
            handler.scheme = "https"
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=[0.05], daemon=True).start()
        servers.append(server)
    return servers


if __name__ == "__main__":
    print(*(s.server_port for s in serve()), flush=True)
    sys.stdin.read()
