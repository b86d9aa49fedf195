"""Simulates a region server, a master and a registry with HBase's protocol. The simulation fails on purpose.

    with FakeHBase("t", ["f", "g"], cells, regions, rng, faults=0.1) as server:
        server.address    # HOST:PORT for --hbase

A cell is (row, family, qualifier, timestamp, value) in bytes. The server sends rows in pieces, with empty answers
between them. With `faults`, the server cuts, garbles, delays and refuses calls, forgets scanners, and splits and
renames regions.
"""

import bisect
import socketserver
import struct
import threading
import time

MODE_REFUSE_FILTERS = "refuse filters"
# exceptions sent with do_not_retry: the subclasses of DoNotRetryIOException in HBase
FOR_GOOD = ("DoNotRetryIOException", "UnknownScannerException", "OutOfOrderScannerNextException")


# --- protobuf ---

def varint(n):
    out = bytearray()
    while True:
        out.append(n & 127 | (128 if n > 127 else 0))
        n >>= 7
        if not n:
            return bytes(out)


def number(field, n):
    return varint(field << 3) + varint(n)


def data(field, b):
    b = b.encode() if isinstance(b, str) else b
    return varint(field << 3 | 2) + varint(len(b)) + b


def read_varint(b, at):
    n = shift = 0
    while True:
        n |= (b[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if not b[at - 1] & 128:
            return n, at


def fields(b):
    """Returns {number: [values]}: integers and bytes."""
    out, at = {}, 0
    while at < len(b):
        tag, at = read_varint(b, at)
        v, at = read_varint(b, at)
        if tag & 7 == 2:
            v, at = b[at:at + v], at + v
        out.setdefault(tag >> 3, []).append(v)
    return out


def last(message, field, default=None):
    return message.get(field, [default])[-1]


def delimited(b):
    return varint(len(b)) + b


def key_value(row, family, qualifier, ts, value):
    key = struct.pack(">H", len(row)) + row + bytes([len(family)]) + family + qualifier + struct.pack(">qB", ts, 4)
    body = struct.pack(">II", len(key), len(value)) + key + value
    return struct.pack(">I", len(body)) + body


class Refusal(Exception):
    def __init__(self, name, said="said so"):
        super().__init__(name)
        self.name, self.said, self.for_good = name, said, name.endswith(FOR_GOOD)


class Broken(Exception):
    """The server closes the connection."""


class Region:
    def __init__(self, server, start, end):
        server.made += 1
        self.start, self.end = start, end
        self.name = b"%s,%s,%d.%032x." % (server.table.encode(), start, server.made, server.made)


class FakeHBase:
    def __init__(self, table, families, cells, borders, rng, faults=0.0, mode="", lease_ms=60_000):
        self.table, self.families, self.rng, self.faults, self.mode = table, families, rng, faults, mode
        self.lease_ms = lease_ms
        self.rows = {}
        for c in sorted(cells, key=lambda c: (*c[:3], -c[3])):
            self.rows.setdefault(c[0], []).append(c)
        self.keys = sorted(self.rows)
        self.made = 0
        self.regions = [Region(self, a, b) for a, b in zip([b"", *borders], [*borders, b""])]
        self.scanners, self.lock = {}, threading.RLock()
        self.seen = {"renewals": 0, "faults": 0, "filters": 0, "opened": 0, "closed": 0}

    def __enter__(self):
        outer = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                try:
                    outer.serve(self.request)
                except (OSError, EOFError, Broken):
                    pass

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            allow_reuse_address = True
        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.address = f"127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    # --- connections ---

    def serve(self, sock):
        def take(n):
            got = b""
            while len(got) < n:
                part = sock.recv(n - len(got))
                if not part:
                    raise EOFError
                got += part
            return got
        assert take(6) == b"HBas\0P"
        take(struct.unpack(">I", take(4))[0])
        while True:
            request = take(struct.unpack(">I", take(4))[0])
            n, at = read_varint(request, 0)
            header = fields(request[at:at + n])
            n, at = read_varint(request, at + n)
            call, method = last(header, 1), last(header, 3).decode()
            try:
                message, cells = getattr(self, "do_" + method)(fields(request[at:at + n]))
                head = number(1, call) + (data(3, number(1, len(cells))) if cells else b"")
                answer = delimited(head) + delimited(message) + cells
            except Refusal as r:
                told = data(1, "org.apache." + r.name) + data(2, f"org.apache.{r.name}: {r.said}\n\tat Some.java") + number(5, r.for_good)
                answer = delimited(number(1, call) + data(2, told))
            frame = struct.pack(">I", len(answer)) + answer
            sent = self.spoil(frame) if method == "Scan" else frame
            sock.sendall(sent)
            if len(sent) < len(frame):
                raise Broken

    def spoil(self, frame):
        """Damages the answer, or leaves it unchanged in most cases. A damaged answer is short, garbled or late.
        """
        with self.lock:
            draw = self.rng.random()
            cut = self.rng.randrange(len(frame))
        if draw >= self.faults:
            return frame
        self.seen["faults"] += 1
        kind = draw / self.faults
        if kind < 0.25:
            time.sleep(0.05)
            return frame
        if kind < 0.75:
            return frame[:cut]
        return b"\x7f\xff\xff\xff" + frame[4:] if kind < 0.9 else frame[:4] + b"\x03\x0a\x0a\x0a" + frame[8:]

    # --- registry and master ---

    def place(self):
        return data(1, "127.0.0.1") + number(2, self.port) + number(3, 1)

    def do_GetClusterId(self, _):
        return data(1, "a-cluster"), b""

    def do_GetActiveMaster(self, _):
        return data(1, self.place()), b""

    def do_GetMetaRegionLocations(self, _):
        info = number(1, 1) + data(2, data(1, "hbase") + data(2, "meta")) + number(7, 0)
        return data(1, data(1, info) + data(2, self.place()) + number(3, 0)), b""

    def do_GetTableDescriptors(self, _):
        return data(1, data(1, data(1, "default") + data(2, self.table)) + b"".join(data(3, data(1, f)) for f in self.families)), b""

    def do_GetTableState(self, _):
        return data(1, number(1, 0)), b""

    # --- scans ---

    def do_Scan(self, request):
        with self.lock:
            if 3 in request:
                return self.go_on(request)
            name = last(fields(last(request, 1)), 2)
            scan = fields(last(request, 2))
            if name == b"hbase:meta,,1":
                return self.scan_meta()
            return self.open(name, scan, request)

    def scan_meta(self):
        out = b""
        table = data(1, "default") + data(2, self.table)
        some = len(self.regions) > 1 and self.rng.random() < self.faults / 2
        hole = self.rng.randrange(len(self.regions)) if some else -1  # HBase is splitting one region
        for i, r in enumerate(self.regions):
            info = number(1, 1) + data(2, table) + data(3, r.start) + data(4, r.end) + number(5, 0) + number(6, 0) + number(7, 0)
            if i != hole:
                out += key_value(r.name, b"info", b"regioninfo", 1, b"PBUF" + info)
                out += key_value(r.name, b"info", b"server", 1, self.address.encode())
        return number(3, 0), out

    def happen(self, region):
        """Changes the cluster between scans as a real cluster may change."""
        if self.rng.random() >= self.faults:
            return
        self.seen["faults"] += 1
        kind = self.rng.randrange(4)
        inside = [k for k in self.keys if k > region.start and (not region.end or k < region.end)]
        at = self.regions.index(region)
        if kind == 0 and inside and len(self.regions) < 12:
            key = self.rng.choice(inside)
            self.regions[at:at + 1] = [Region(self, region.start, key), Region(self, key, region.end)]
        elif kind == 1:
            self.regions[at] = Region(self, region.start, region.end)
        elif kind == 2:
            raise Refusal("hadoop.hbase.CallQueueTooBigException")
        raise Refusal("hadoop.hbase.exceptions.RegionMovedException" if kind == 1 else "hadoop.hbase.NotServingRegionException")

    def open(self, name, scan, request):
        region = next((r for r in self.regions if r.name == name), None)
        if not region:
            raise Refusal("hadoop.hbase.NotServingRegionException", "it is not online")
        if 5 in scan:
            self.seen["filters"] += 1
            if self.mode == MODE_REFUSE_FILTERS:
                raise Refusal("hadoop.hbase.DoNotRetryIOException", "no such class")
        self.happen(region)
        self.made += 1
        self.seen["opened"] += 1
        cells = [c for row in self.rows_of(region, scan) for c in self.cells_of(row, scan)]
        self.scanners[self.made] = {"cells": cells, "next": 0, "region": region}
        return self.answer(self.made, request)

    def rows_of(self, region, scan):
        back = bool(last(scan, 15, 0))
        start, stop = last(scan, 3, b""), last(scan, 4, b"")
        with_start, with_stop = bool(last(scan, 21, 1)), bool(last(scan, 22, 0))
        low, high, with_low, with_high = (stop, start, with_stop, with_start) if back else (start, stop, with_start, with_stop)
        rows = self.keys[bisect.bisect_left(self.keys, region.start):]
        rows = [r for r in rows if (not region.end or r < region.end) and (not low or r > low or (with_low and r == low))
                and (not high or r < high or (with_high and r == high))]
        return rows[::-1] if back else rows

    def cells_of(self, row, scan):
        wanted = {}
        for c in scan.get(1, []):
            column = fields(c)
            wanted.setdefault(last(column, 1), set()).update(column.get(2, []))
        times = fields(last(scan, 6, b""))
        found = [c for c in self.rows[row] if not wanted or (c[1] in wanted and (not wanted[c[1]] or c[2] in wanted[c[1]]))]
        return [c for c in found if not times or last(times, 1) <= c[3] < last(times, 2)]

    def go_on(self, request):
        scanner = self.scanners.get(last(request, 3))
        if last(request, 5):
            self.seen["closed"] += scanner is not None
            self.scanners.pop(last(request, 3), None)
            return number(3, 0), b""
        if not scanner or self.rng.random() < self.faults / 2:
            self.scanners.pop(last(request, 3), None)
            raise Refusal("hadoop.hbase.UnknownScannerException")
        if last(request, 6) != scanner["next"]:
            raise Refusal("hadoop.hbase.exceptions.OutOfOrderScannerNextException", f"expected {scanner['next']}")
        scanner["next"] += 1
        if last(request, 10):
            self.seen["renewals"] += 1
            return b"", b""
        self.happen(scanner["region"]) if scanner["region"] in self.regions else self.refuse_gone()
        return self.answer(last(request, 3), request)

    @staticmethod
    def refuse_gone():
        raise Refusal("hadoop.hbase.NotServingRegionException")

    def answer(self, number_of, request):
        scanner = self.scanners[number_of]
        n = 0 if self.rng.random() < 0.1 else self.rng.choice([1, 2, 7, 40, 200])
        some, scanner["cells"] = scanner["cells"][:n], scanner["cells"][n:]
        limit = last(request, 11)
        out = number(2, number_of) + number(4, self.lease_ms)
        if limit:  # count only whole rows
            rows = []
            for c in some:
                rows += [c[0]] if c[0] not in rows else []
            rest = scanner["cells"]
            if len(rows) > limit:
                some = [c for c in some if c[0] in rows[:limit]]
                rest = []
            if len(rows) >= limit:
                while rest and rest[0][0] == some[-1][0]:
                    some.append(rest.pop(0))
                rest = []
            scanner["cells"] = rest
        ended = not scanner["cells"]
        if ended:
            del self.scanners[number_of]
        out += number(3, 1 if not ended or not limit else 0) + number(8, 0 if ended else 1) + number(9, 0 if some else 1)
        return out, b"".join(key_value(*c) for c in some)
