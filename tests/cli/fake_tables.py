"""A cluster with several tables that lists, describes and drops them, and fails on purpose.

    with FakeTables({"a": Table(), "ns:b": Table(state=DISABLED, borders=[b"m"])}) as cluster:
        cluster.address
"""

import random
import re

from fake_hbase import Broken, FakeHBase, Refusal, data, fields, key_value, last, number

ENABLED, DISABLED, DISABLING, ENABLING = range(4)


class Table:
    """`attributes` and `families` {name: (attributes, configuration)} are in the order of HBase's answer. A region of `homeless` is on no server. No server reports a region of `silent`. A region of `holes` is missing in hbase:meta."""

    def __init__(self, state=ENABLED, borders=(), attributes=None, families=None, homeless=(), silent=(), holes=()):
        self.state, self.starts, self.ends = state, [b"", *borders], [*borders, b""]
        self.attributes, self.families = attributes or {}, families or {"f": ({"VERSIONS": "1"}, {})}
        self.homeless, self.silent, self.holes = homeless, silent, holes


def full(name):
    return name if ":" in name else "default:" + name


def table_name(name):
    space, table = full(name).split(":")
    return data(1, space) + data(2, table)


def pairs(field, values):
    return b"".join(data(field, data(1, k) + data(2, v)) for k, v in values.items())


class FakeTables(FakeHBase):
    def __init__(self, tables):
        super().__init__("t", ["f"], [], [], random.Random(0))
        self.tables = dict(tables)
        self.changes = []  # (method, table, nonces) in the order of their arrival
        self.done = {}     # nonces: procedure
        self.trouble = {}  # (method, table): one of "lost", "denied", "gone"
        self.looks = 0

    # --- the registry's and the master's answers ---

    def do_GetTableDescriptors(self, request):
        with self.lock:
            regex = last(request, 2)
            asked = [n for n in self.tables if any(fields(q) == fields(table_name(n)) for q in request.get(1, []))]
            if 1 not in request:  # as HMaster.filterTablesByRegex
                whole = [n for n in self.tables if regex is None or re.fullmatch(regex.decode(), n)
                         or re.fullmatch(regex.decode(), full(n))]
                asked = whole
            return b"".join(data(1, self.schema(n)) for n in asked), b""

    def schema(self, name):
        t = self.tables[name]
        return data(1, table_name(name)) + pairs(2, t.attributes) + b"".join(
            data(3, data(1, f) + pairs(2, values) + pairs(3, configuration))
            for f, (values, configuration) in t.families.items())

    def table_of(self, message):
        space, table = (last(fields(message), n).decode() for n in (1, 2))
        name = table if space == "default" else f"{space}:{table}"
        if name not in self.tables:
            raise Refusal("hadoop.hbase.TableNotFoundException", name)
        return name

    def do_GetTableState(self, request):
        with self.lock:
            t = self.tables[self.table_of(last(request, 1))]
            if t.state in (DISABLING, ENABLING):
                self.looks += 1
                if self.looks > 2:
                    t.state = DISABLED
            return data(1, number(1, t.state)), b""

    def change(self, method, request):
        with self.lock:
            nonces = last(request, 2), last(request, 3)
            if nonces in self.done:
                return number(1, self.done[nonces]), b""
            name = self.table_of(last(request, 1))
            self.changes.append((method, name, nonces))
            trouble = self.trouble.pop((method, name), None)
            if trouble == "denied":
                raise Refusal("hadoop.hbase.security.AccessDeniedException", "not for you")
            if trouble == "gone":
                del self.tables[name]
                raise Refusal("hadoop.hbase.TableNotFoundException", name)
            t = self.tables[name]
            if method == "DisableTable":
                if t.state != ENABLED:
                    raise Refusal("hadoop.hbase.TableNotEnabledException", name)
                t.state = DISABLED
            else:
                if t.state != DISABLED:
                    raise Refusal("hadoop.hbase.TableNotDisabledException", name)
                del self.tables[name]
            self.done[nonces] = len(self.done) + 1
            if trouble == "lost":
                raise Broken
            return number(1, self.done[nonces]), b""

    def do_DisableTable(self, request):
        return self.change("DisableTable", request)

    def do_DeleteTable(self, request):
        return self.change("DeleteTable", request)

    def do_getProcedureResult(self, _):
        return number(1, 2), b""

    # --- regions ---

    def region_name(self, name, i):
        return b"%s,%s,%d.%032x." % (name.encode(), self.tables[name].starts[i], 1000 + i, i)

    def do_GetClusterStatus(self, _):
        loads = b"".join(
            data(5, data(1, number(1, 1) + data(2, self.region_name(n, i))) + number(2, 1) + number(3, i + 1) + number(5, 7 * i)
                 + number(8, 100 * i) + number(9, 3))
            for n, t in self.tables.items() for i in range(len(t.starts)) if i not in t.silent)
        return data(1, data(1, data(1, "2.6.4")) + data(2, data(1, self.place()) + data(2, loads))), b""

    def do_Scan(self, request):
        scan = fields(last(request, 2))
        wanted = last(scan, 3).decode().removesuffix(",,")
        out = b""
        with self.lock:
            for name, t in self.tables.items():
                for i in range(len(t.starts)) if name == wanted else ():
                    info = (number(1, 1000 + i) + data(2, table_name(name)) + data(3, t.starts[i]) + data(4, t.ends[i])
                            + number(5, 0) + number(6, 0) + number(7, 0))
                    if i in t.holes:
                        continue
                    out += key_value(self.region_name(name, i), b"info", b"regioninfo", 1, b"PBUF" + info)
                    if i not in t.homeless:
                        out += key_value(self.region_name(name, i), b"info", b"server", 1, self.address.encode())
        return number(3, 0), out
