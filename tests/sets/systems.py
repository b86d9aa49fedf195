"""Twenty tables as known systems write them. `init` infers their jobs, and the decoded rows judge the jobs.

    systems.py SALTMILL [--half develop|held-out] [--show NAME]

The row keys follow the documentation of each system. A random shuffle splits the names. Improve `init` with the half
`develop` only. A job is right if `scan --decode` by it gives each part of the row keys and each value. A part that no job
can express may be bytes.
"""

import argparse
import datetime
import hashlib
import json
import pathlib
import random
import re
import struct
import sys
import tempfile
import uuid

import tables
from tables import LONG, START, WORDS, Piece, iso, java31

ROWS = 600


def hidden(data, *texts):
    """A salt, a hash or a constant, which need not be a field."""
    return Piece(data, *texts, silent=True, opaque=True)


def unknown(data, *texts):
    """Bytes that no job can type."""
    return Piece(data, data.hex(), *texts, opaque=True)


def text(v):
    return Piece(v.encode(), v)


class Free(Piece):
    """A text that may be one field, or fields with a punctuation mark between them."""


def free(v):
    return Free(v.encode(), v)


def shows_free(whole, values):
    """Returns true if the values are in the text, in this order, and only punctuation marks are between them."""
    for v in map(str, values):
        if re.fullmatch(r"\d{4}-\d\d-\d\dT[0-9:.]+Z", v):
            v = str(int(datetime.datetime.fromisoformat(v[:-1] + "+00:00").timestamp() * 1000 + 0.5))
        skipped, found, whole = whole.partition(v)
        if not found or any(c not in ":,./" for c in skipped):
            return False
    return all(c in ":,./" for c in whole)


def number(v, form):
    return Piece(struct.pack(form, v), v)


def flipped(v, width):
    return Piece((v ^ 1 << 8 * width - 1).to_bytes(width, "big"), v)


def padded(v, width):
    return Piece(v.encode().ljust(width, b"\0"), v, v + "\0" * (width - len(v)), v.ljust(width, "\0").encode().hex())


def moment(r, days=60):
    return START * 1000 + r.randrange(days * 86400 * 1000)


def shown_time(ms, form):
    return datetime.datetime.fromtimestamp(ms // 1000, datetime.timezone.utc).strftime(form)


def text_time(ms, form):
    v = shown_time(ms, form)
    back = datetime.datetime.strptime(v, form).replace(tzinfo=datetime.timezone.utc)
    return Piece(v.encode(), v, iso(int(back.timestamp()) * 1000))


def joined(pieces):
    return b"".join(p.data for p in pieces)


def name(r):
    return r.choice(WORDS) + str(r.randrange(300))


def varint(v):
    out = bytearray()
    while v > 127:
        out.append(v & 127 | 128)
        v >>= 7
    return bytes(out + bytes([v]))


# --- OpenTSDB: [salt] metric, hour, tags; a qualifier has the offset in the hour ---

def points(r):
    cells = []
    for _ in range(r.randrange(1, 9)):
        width = r.choice([1, 2, 8])
        q = struct.pack(">H", r.randrange(3600) << 4 | width - 1)
        v = r.randrange(1 << 8 * min(width, 3) - 1).to_bytes(width, "big")
        cells.append(("t", q, unknown(q), unknown(v)))
    return cells


def tsdb_key(r, tags):
    metric = r.randrange(1, 60).to_bytes(3, "big")
    hour = START + 3600 * r.randrange(24 * 30)
    out = [unknown(metric), Piece(struct.pack(">I", hour), hour, iso(hour * 1000))]
    for k in range(1, tags + 1):
        out += [unknown(k.to_bytes(3, "big")), unknown(r.randrange(1, 400).to_bytes(3, "big"))]
    return out


def opentsdb(r):
    return tsdb_key(r, 2), points(r)


def opentsdb_salted(r):
    key = tsdb_key(r, r.randrange(1, 4))
    of = key[0].data + joined(key[2:])
    tags = unknown(joined(key[2:]))
    return [hidden(bytes([abs(java31(of, 1)) % 20])), key[0], key[1], tags], points(r)


# --- Phoenix ---

def phoenix_salted(r):
    """SALT_BUCKETS = 8, PRIMARY KEY (host VARCHAR, created DATE), encoded column names."""
    key = [text(name(r)).ended(b"\0"), (lambda v: Piece(flipped(v, 8).data, v, iso(v)))(moment(r))]
    salt = hidden(bytes([abs(java31(joined(key), 1)) % 8]))
    return [salt] + key, [("0", b"\0\0\0\0", None, text("x")),
                          ("0", b"\x80\x0b", None, text(r.choice(WORDS))),
                          ("0", b"\x80\x0c", None, unknown(flipped(r.randrange(10 ** 6), 8).data)),
                          ("0", b"\x80\x0d", None, unknown(flipped(r.randrange(1000), 4).data))]


def phoenix_tenant(r):
    """PRIMARY KEY (tenant CHAR(15), kind VARCHAR, id INTEGER), column names as written."""
    tenant = "00D" + random.Random(r.randrange(30)).choices("0123456789ABCDEFabcdef", k=12).__str__().translate(
        str.maketrans("", "", "[]', "))
    return [text(tenant), text(r.choice(WORDS)).ended(b"\0"), flipped(r.randrange(40000), 4)], [
        ("0", b"NAME", None, text(name(r))), ("0", b"QTY", None, unknown(flipped(r.randrange(500), 4).data)),
        ("0", b"_0", None, text("x"))]


def phoenix_desc(r):
    """PRIMARY KEY (region VARCHAR, created UNSIGNED_LONG DESC, id INTEGER)."""
    at = moment(r)
    return [text(r.choice(WORDS)).ended(b"\0"), Piece(struct.pack(">Q", at ^ (1 << 64) - 1), at, iso(at)),
            flipped(r.randrange(10 ** 5), 4)], [
        ("0", b"\0\0\0\0", None, text("x")), ("0", b"\x80\x0b", None, unknown(flipped(r.randrange(10 ** 9), 8).data))]


# --- other systems ---

def janusgraph(r):
    """The edge store: the partition in the first 5 bits of the vertex's number, and binary columns."""
    vertex = r.randrange(32) << 59 | r.randrange(1, 60000) << 3
    cells = [b"\x02", b"\x50\xa0"] + [b"\x71\xc0" + varint(r.randrange(10 ** 6) << 3) + bytes([r.randrange(64)])
                                      for _ in range(r.randrange(5))]
    return [number(vertex, ">Q")], [("e", q, unknown(q), unknown(b"\0" + varint(r.randrange(10 ** 6)))) for q in cells]


def pinpoint_agents(r):
    """AgentInfo: the name in 24 bytes, and Long.MAX_VALUE - start."""
    at = moment(r)
    return [padded(name(r), 24), Piece(struct.pack(">Q", LONG - at), iso(at))], [
        ("Info", b"i", None, unknown(bytes([0, 9]) + r.choice(WORDS).encode() + varint(r.randrange(9999))))]


def pinpoint_trace(r):
    """TraceV2: a salt, the name in 24 bytes, the start of the agent, and the number of the transaction."""
    agent = r.randrange(30)
    start = START * 1000 + agent * 86400123
    key = [padded(f"{WORDS[agent % 30]}{agent}", 24), Piece(struct.pack(">Q", start), start, iso(start)),
           number(r.randrange(10 ** 6), ">Q")]
    salt = hidden(bytes([abs(java31(joined(key), 1)) % 32]))
    q = struct.pack(">Q", r.getrandbits(63))
    return [salt] + key, [("S", q, unknown(q), unknown(bytes([1]) + varint(r.getrandbits(50))))]


def kylin(r):
    """A cube: the shard, the cuboid, and the dictionary codes of its dimensions."""
    cuboid = r.choice([7, 6, 5, 3, 1])
    dims = joined([Piece(v) for bit, v in ((4, r.randrange(900).to_bytes(2, "big")), (2, bytes([r.randrange(50)])),
                                           (1, bytes([r.randrange(12)]))) if cuboid & bit])
    shard = abs(java31(dims, 1)) % 4
    return [hidden(struct.pack(">H", shard), shard), number(cuboid, ">Q"), unknown(dims)], [
        ("F1", b"M", None, unknown(varint(r.randrange(300, 10 ** 7)) + varint(r.randrange(10 ** 9))))]


def nutch(r):
    """A web crawl: the reversed name of the host, the protocol and the path."""
    host = f"com.{r.choice(WORDS)}.{r.choice(['www', 'shop', 'news'])}"
    scheme, path = r.choice(["http", "https"]), f"/{r.choice(WORDS)}/{name(r)}.html"
    at = moment(r)
    key = [Piece(host.encode(), host).ended(b":"), Piece(scheme.encode(), scheme), text(path)]
    if r.random() < 0.5:
        key[1].ended(b":8080")
    return [free(joined(key).decode())], [
        ("f", b"fi", None, number(2592000, ">i")), ("f", b"st", None, number(r.randrange(1, 6), ">i")),
        ("f", b"ts", None, Piece(struct.pack(">q", at), iso(at), at)), ("f", b"typ", None, text("text/html")),
        ("s", b"s", None, number(r.randrange(400) / 16, ">f"))] + [
        ("il", u.encode(), Piece(u.encode(), u), text(r.choice(WORDS)))
        for u in {f"http://{r.choice(WORDS)}.org/{name(r)}" for _ in range(r.randrange(4))}]


def book_bucket(r):
    """The HBase book, time series: [time % 16][time][host][event]."""
    at = moment(r)
    return [hidden(bytes([at % 16])), Piece(struct.pack(">Q", at), iso(at), at), text(name(r)).ended(b"\0"),
            text(r.choice(["GET", "POST", "PUT"]))], [("d", b"bytes", None, number(r.randrange(10 ** 6), ">q")),
                                                      ("d", b"status", None, number(r.choice([200, 404, 500]), ">i"))]


def book_orders(r):
    """The HBase book, customers and orders in one table: [customer][type] and [customer][type][order]."""
    customer = r.randrange(1, 3000)
    if r.random() < 0.3:
        return [number(customer, ">Q"), number(1, ">B")], [("c", b"name", None, text(name(r)))]
    return [number(customer, ">Q"), number(2, ">B"), (lambda v: Piece(struct.pack(">Q", v), v, opaque=True))(
        r.randrange(10 ** 7))], [("o", b"total", None, number(r.randrange(10 ** 6) / 100, ">d"))]


def twitbase(r):
    """HBase in Action: [MD5 of the user][-time]."""
    user, at = name(r), moment(r)
    return [unknown(hashlib.md5(user.encode()).digest()), Piece(struct.pack(">q", -at), -at, at, iso(at), opaque=True)], [
        ("twits", b"user", None, text(user)), ("twits", b"twit", None, text(" ".join(r.choices(WORDS, k=6))))]


def hbase_meta(r):
    """hbase:meta: table, start key, time of creation, and encoded name of the region."""
    at, host = moment(r), f"rs{r.randrange(12)}.example.com"
    first = r.choice(["", f"{r.randrange(10 ** 6):06}"])
    prefix = f"{r.choice(WORDS)},{first},{at}"
    encoded = hashlib.md5(prefix.encode()).hexdigest()
    whole = f"{prefix}.{encoded}."
    return [free(whole)], [
        ("info", b"regioninfo", None, unknown(b"PBUF\x08" + varint(at) + prefix.encode())),
        ("info", b"seqnumDuringOpen", None, number(r.randrange(2, 90000), ">q")),
        ("info", b"server", None, text(f"{host}:16020")),
        ("info", b"serverstartcode", None, (lambda v: Piece(struct.pack(">q", v), iso(v), v))(START * 1000 + 777)),
        ("info", b"state", None, text("OPEN"))]


def yarn_flowrun(r):
    """YARN's timeline service: cluster!user!flow!(Long.MAX_VALUE - time)."""
    at = moment(r)
    end = at + r.randrange(10 ** 7)
    return [text("prod"), hidden(b"!"), text(name(r)).ended(b"!"), text(r.choice(WORDS)).ended(b"!"),
            Piece(struct.pack(">Q", LONG - at), iso(at))], [
        ("i", b"max_end_time", None, Piece(struct.pack(">q", end), iso(end), end)),
        ("i", b"min_start_time", None, Piece(struct.pack(">q", at), iso(at), at)),
        ("m", b"MAP_SLOT_MILLIS", None, number(r.randrange(10 ** 8), ">q"))]


def telecom_calls(r):
    """Call records: a region number, caller, time, callee, direction and duration, with _ between them."""
    a, b, at = f"1{r.randrange(3, 9)}{r.randrange(10 ** 9):09}", f"1{r.randrange(3, 9)}{r.randrange(10 ** 9):09}", moment(r, 300)
    code = (int(a[-4:]) ^ int(shown_time(at, "%Y%m"))) % 6
    return [hidden(b"%02d" % code, code, f"{code:02}").ended(b"_"), text(a).ended(b"_"),
            text_time(at, "%Y%m%d%H%M%S").ended(b"_"), text(b).ended(b"_"), text(r.choice("01")).ended(b"_"),
            text(f"{r.randrange(1, 1800):04}")], [("f1", b"call1", None, text(a)), ("f1", b"call2", None, text(b))]


def bigtable_phone(r):
    """Bigtable's example of time series: phone#device#day."""
    device = hashlib.md5(b"%d" % r.randrange(200)).hexdigest()[:8]
    return [hidden(b"phone"), hidden(b"#"), text(device).ended(b"#"), text_time(moment(r, 300), "%Y%m%d")], [
        ("stats_summary", b"connected_cell", None, number(r.randrange(2), ">q")),
        ("stats_summary", b"connected_wifi", None, number(r.randrange(2), ">q")),
        ("stats_summary", b"os_build", None, text(f"PQ2A.{r.randrange(190101, 190999)}.{r.randrange(9):03}"))]


def geomesa_z3(r):
    """GeoMesa's Z3 index: shard, week, place and time interleaved, and the UUID of the feature."""
    z = struct.pack(">Q", 3 << 60 | r.getrandbits(56))
    fid = str(uuid.UUID(int=r.getrandbits(128), version=4))
    shard = abs(java31(fid.encode(), 1)) % 4
    return [hidden(bytes([shard])), (lambda v: Piece(struct.pack(">H", v), v, opaque=True))(2660 + r.randrange(9)),
            unknown(z, int.from_bytes(z, "big")), text(fid)], [
        ("d", b"d", None, unknown(bytes([3, 0, r.randrange(9)]) + r.choice(WORDS).encode() + b"\xf1\x80"))]


def md5hex_user(r):
    """The first 6 hex digits of the user's MD5, the user and the day."""
    user = f"u{r.randrange(5000):08}"
    return [hidden(hashlib.md5(user.encode()).hexdigest()[:6].encode()).ended(b"|"), text(user).ended(b"|"),
            text_time(moment(r, 300), "%Y-%m-%d")], [
        ("cf", b"pv", None, text(str(r.randrange(1000)))), ("cf", b"tags", None, text(json.dumps({"a": r.choice(WORDS)})))]


def reversed_uid(r):
    """The user's number, padded and reversed, and Long.MAX_VALUE - time as digits."""
    uid, at = r.randrange(1000000, 1060000), moment(r)
    digits = f"{uid:010}"
    return [Piece(digits[::-1].encode(), uid, digits, digits[::-1]).ended(b"_"),
            Piece(str(LONG - at).encode(), LONG - at, at, iso(at))], [
        ("info", b"event", None, text(r.choice(WORDS))), ("info", b"amount", None, text(f"{r.randrange(10 ** 5) / 100:.2f}"))]


SYSTEMS = [opentsdb, opentsdb_salted, phoenix_salted, phoenix_tenant, phoenix_desc, janusgraph, pinpoint_agents,
           pinpoint_trace, kylin, nutch, book_bucket, book_orders, twitbase, hbase_meta, yarn_flowrun, telecom_calls,
           bigtable_phone, geomesa_z3, md5hex_user, reversed_uid]


def halves():
    names = [f.__name__ for f in SYSTEMS]
    random.Random("systems of 2026-11-27").shuffle(names)
    return {"develop": names[:10], "held-out": names[10:]}


class System(tables.Table):
    def __init__(self, chosen):
        r = random.Random(chosen)
        self.kind = "system"
        make = next(f for f in SYSTEMS if f.__name__ == chosen)
        self.rows, self.parts = [], [chosen]
        for _ in range(ROWS):
            key, cells = make(r)
            self.rows.append((key, list({c[:2]: c for c in cells}.values()), START * 1000 + r.randrange(10 ** 9)))
        self.rows = list({joined(row[0]): row for row in self.rows}.values())


    def key_fault(self, key, fields):
        if len(key) == 1 and isinstance(key[0], Free) and shows_free(key[0].data.decode(), fields.values()):
            return None
        ending = key[:1] + [unknown(joined(key[1:]))]  # a last part that is optional: the rest is bytes
        fault = tables.key_fault(key, fields)
        return tables.key_fault(ending, fields) if fault and self.parts == ["book_orders"] else fault


def main():
    p = argparse.ArgumentParser()
    p.add_argument("saltmill")
    p.add_argument("--half", choices=["develop", "held-out"], default="develop")
    p.add_argument("--show", help="judge only this system, and print its job")
    a = p.parse_args()
    saltmill, right = str(pathlib.Path(a.saltmill).resolve()), 0
    names = [a.show] if a.show else halves()[a.half]
    silent = 0
    for chosen in names:
        verdict, why = judge(saltmill, chosen)
        right, silent = right + verdict.startswith("right"), silent + (verdict == "silent")
        print(f"{verdict:14} {chosen}")
        if a.show or not verdict.startswith("right"):
            print("     " + (why if a.show else why.split("\n", 1)[0][:300]))
    print(f"{a.half}: {right} of {len(names)} right, {silent} silently wrong")
    return silent > 0 or right < 0.75 * len(names)


def judge(saltmill, chosen):
    table = System(chosen)
    with tempfile.TemporaryDirectory() as temporary:
        return tables.judge_table(saltmill, table, pathlib.Path(temporary))


if __name__ == "__main__":
    sys.exit(main())
