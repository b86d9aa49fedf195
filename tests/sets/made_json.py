"""These sets are JSON files of databases, services and message queues."""

import datetime
import gzip
import json
import random

from made_databases import NAMES, at, day, money
from truth import D, Set, made


def dumps(v):
    return json.dumps(v, separators=(",", ":"), ensure_ascii=False)


def jsonl(docs):
    return "".join(dumps(d) + "\n" for d in docs).encode()


def people(name, n):
    """Returns (documents, rows) with an object in an object and a list"""
    r = random.Random(name)
    docs, rows = [], []
    for i in range(n):
        d = {
            "id": i + 1,
            "name": NAMES[i % 9],
            "born": str(day(i)),
            "address": {"city": ["Paris", "Łódź", "Kyōto"][i % 3], "geo": {"lat": r.randrange(90000) / 1000}},
            "tags": ["a", "b"][: i % 3],
            "active": i % 2 == 0,
            "score": None if i % 5 == 3 else r.randrange(1000) / 8,
        }
        docs.append(d)
        rows.append(
            [
                d["id"],
                d["name"],
                d["born"],
                d["address"]["city"],
                str(d["address"]["geo"]["lat"]),
                json.dumps(d["tags"]),
                d["active"],
                d["score"],
            ]
        )
    return docs, rows


PEOPLE = "id:n name:x born:t address.city:x address.geo.lat:n tags:j active:b score:n"


@made("json lines with objects in objects")
def nested():
    docs, rows = people("n", 80)
    return Set(("people.jsonl", jsonl(docs)), PEOPLE, rows, reader="json")


@made("one json array, pretty")
def pretty_array():
    docs, rows = people("p", 60)
    return Set(("people.json", json.dumps(docs, indent=2).encode()), PEOPLE, rows, reader="json")


@made("one json array on one line")
def array_line():
    docs, rows = people("o", 70)
    return Set(("dump.json", dumps(docs).encode()), PEOPLE, rows, reader="json")


@made("pretty documents one after the other")
def concatenated():
    docs, rows = people("c", 50)
    return Set(
        ("jq-output.json", "".join(json.dumps(d, indent=2, ensure_ascii=False) + "\n" for d in docs).encode()),
        PEOPLE,
        rows,
        reader="json",
    )


@made("documents without line ends between")
def glued():
    docs, rows = people("g", 50)
    return Set(("firehose-1-2025-11-03", "".join(map(dumps, docs)).encode()), PEOPLE, rows, reader="json")


@made("array inside a document")
def page():
    docs, rows = people("a", 55)
    doc = {"meta": {"page": 1, "total": 55, "next": None}, "links": ["https://api.example.com/people?page=2"], "data": docs}
    return Set(("response.json", dumps(doc).encode()), PEOPLE, rows, reader="json")


@made("json lines, gzip, with a mark")
def marked():
    docs, rows = people("m", 60)
    return Set(("people.jsonl.gz", gzip.compress(b"\xef\xbb\xbf" + jsonl(docs), mtime=0)), PEOPLE, rows, reader="json")


@made("json text sequence of rfc 7464")
def sequence():
    docs, rows = people("s", 50)
    return Set(
        ("people.json-seq", b"".join(b"\x1e" + dumps(d).encode() + b"\n" for d in docs)),
        PEOPLE,
        rows,
        reader="json",
        refuse="RFC 7464 is not among the forms that are asked for",
    )


@made("elasticsearch bulk pairs")
def bulk():
    r = random.Random(80)
    out, rows = [], []
    for i in range(60):
        doc = {
            "@timestamp": f"{at(i).isoformat()}.000Z",
            "user": {"name": NAMES[i % 9]},
            "message": f"order {i}",
            "took": r.randrange(900),
        }
        out += [{"index": {"_index": f"orders-{i % 2}", "_id": f"Ab{i:04d}"}}, doc]
        rows.append([f"orders-{i % 2}", f"Ab{i:04d}", doc["@timestamp"], doc["user"]["name"], doc["message"], doc["took"]])
    return Set(("bulk.ndjson", jsonl(out)), "_index:x _id:x @timestamp:t user.name:x message:x took:n", rows, reader="json")


@made("elasticdump")
def elasticdump():
    r = random.Random(81)
    docs, rows = [], []
    for i in range(60):
        d = {
            "_index": "tickets",
            "_type": "_doc",
            "_id": f"{r.getrandbits(80):020x}",
            "_score": 1,
            "_source": {"opened": f"{at(i).isoformat()}Z", "state": ["open", "closed"][i % 2], "n": i},
        }
        docs.append(d)
        rows.append(["tickets", d["_id"], d["_source"]["opened"], d["_source"]["state"], i])
    return Set(("tickets.json", jsonl(docs)), "_index:x _id:x _source.opened:t _source.state:x _source.n:n", rows, reader="json")


def mongo(name, n):
    r = random.Random(name)
    docs, rows = [], []
    for i in range(n):
        oid, t, price = f"{r.getrandbits(96):024x}", f"{at(i).isoformat()}.{i * 7 % 1000:03d}Z", money(r)
        docs.append(
            {
                "_id": {"$oid": oid},
                "createdAt": {"$date": t},
                "total": {"$numberDecimal": price},
                "views": {"$numberLong": str(2**40 + i)},
                "qty": i % 9,
                "customer": {"name": NAMES[i % 9], "vip": i % 4 == 0},
                "items": [{"sku": f"S{i}", "n": 1}],
                "ratio": {"$numberDouble": f"{i}.5"},
            }
        )
        rows.append(
            [oid, t, price, 2**40 + i, i % 9, NAMES[i % 9], i % 4 == 0, json.dumps([{"sku": f"S{i}", "n": 1}]), D(f"{i}.5")]
        )
    return docs, rows


MONGO = "_id:x createdAt:t total:n views:n qty:n customer.name:x customer.vip:b items:j ratio:n"


@made("mongoexport")
def mongoexport():
    docs, rows = mongo("l", 70)
    return Set(("orders.json", jsonl(docs)), MONGO, rows, reader="json")


@made("mongoexport --jsonArray")
def mongo_array():
    docs, rows = mongo("a", 60)
    return Set(("orders-array.json", ("[" + ",\n".join(map(dumps, docs)) + "]\n").encode()), MONGO, rows, reader="json")


@made("debezium envelopes")
def debezium():
    r = random.Random(82)
    docs, rows = [], []
    for i in range(70):
        op = "cuud"[i % 4]
        row = {"id": 1000 + i, "name": NAMES[i % 9], "balance": money(r)}
        ms = 1762208109000 + i * 1234
        docs.append(
            {
                "before": None if op == "c" else row,
                "after": None if op == "d" else {**row, "name": row["name"] + "!"},
                "source": {"connector": "postgresql", "db": "bank", "table": "accounts", "lsn": 24023128 + i},
                "op": op,
                "ts_ms": ms,
            }
        )
        b, a = docs[-1]["before"] or {}, docs[-1]["after"] or {}
        rows.append([op, (stamp(ms), str(ms)), 24023128 + i, *[x.get(k) for x in (b, a) for k in ("id", "name", "balance")]])
    return Set(
        ("bank.public.accounts.json", jsonl(docs)),
        "op:x ts_ms:t source.lsn:n before.id:n before.name:x before.balance:n after.id:n after.name:x after.balance:n",
        rows,
        reader="json",
        variants=[
            (
                "op:x ts_ms:t source.lsn:n id:n name:x balance:n",
                [[*x[:3], *(x[6:] if x[6] is not None else x[3:6])] for x in rows],
            )
        ],
    )


def stamp(ms):
    t = datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=ms)
    return t.isoformat(" ", "milliseconds")


@made("kafka connect with schema and payload")
def connect():
    r = random.Random(83)
    schema = {
        "type": "struct",
        "fields": [{"field": "sensor", "type": "string"}, {"field": "value", "type": "double"}],
        "optional": False,
    }
    docs = [{"schema": schema, "payload": {"sensor": f"s{i}", "value": r.randrange(999) / 4}} for i in range(50)]
    return Set(
        ("topic.json", jsonl(docs)),
        "payload.sensor:x payload.value:n",
        [[d["payload"]["sensor"], d["payload"]["value"]] for d in docs],
        reader="json",
    )


@made("geojson feature collection")
def geojson():
    r = random.Random(84)
    features, rows = [], []
    for i in range(50):
        p = [r.randrange(-1800000, 1800000) / 1e4, r.randrange(-900000, 900000) / 1e4]
        features.append(
            {
                "type": "Feature",
                "id": f"us{i:05d}",
                "geometry": {"type": "Point", "coordinates": p},
                "properties": {"place": f"{i} km N of Town", "mag": r.randrange(70) / 10, "time": 1762208109000 + i * 60000},
            }
        )
        rows.append(
            [
                f"us{i:05d}",
                json.dumps(p),
                f"{i} km N of Town",
                features[-1]["properties"]["mag"],
                (stamp(1762208109000 + i * 60000), str(1762208109000 + i * 60000)),
            ]
        )
    doc = {"type": "FeatureCollection", "metadata": {"generated": 1762208109000, "count": 50}, "features": features}
    return Set(
        ("all_day.geojson", dumps(doc).encode()),
        "id:x geometry.coordinates:j properties.place:x properties.mag:n properties.time:t",
        rows,
        reader="json",
    )


@made("dynamodb export")
def dynamodb():
    r = random.Random(85)
    docs, rows = [], []
    for i in range(50):
        v = r.randrange(1000)
        docs.append({"Item": {"pk": {"S": f"USER#{i}"}, "score": {"N": str(v)}, "admin": {"BOOL": i % 5 == 0}}})
        rows.append([f"USER#{i}", v, i % 5 == 0])
    return Set(("ddb.json", jsonl(docs)), "Item.pk.S:x Item.score.N:n Item.admin.BOOL:b", rows, reader="json")


@made("object of objects by id")
def by_id():
    doc = {f"-Mx{i:04d}": {"title": f"Task {i}", "done": i % 2 == 0, "prio": i % 4} for i in range(50)}
    return Set(
        ("firebase-export.json", dumps(doc).encode()),
        "title:x done:b prio:n",
        [[v["title"], v["done"], v["prio"]] for v in doc.values()],
        reader="json",
        refuse="the records have no list",
    )


@made("table as columns and rows in json")
def split_table():
    r = random.Random(86)
    rows = [[i + 1, NAMES[i % 9], r.randrange(100)] for i in range(50)]
    return Set(
        ("split.json", dumps({"columns": ["id", "name", "n"], "data": rows}).encode()),
        "id:n name:x n:n",
        rows,
        named=False,
        reader="json",
        refuse="a record is a list without names",
    )


@made("json lines of lists")
def lists():
    r = random.Random(87)
    rows = [[i + 1, NAMES[i % 9], r.randrange(100)] for i in range(50)]
    return Set(
        ("rows.jsonl", jsonl(rows)),
        "id:n name:x n:n",
        rows,
        named=False,
        reader="json",
        refuse="a record is a list without names",
    )


@made("github events")
def github():
    docs, rows = [], []
    for i in range(60):
        kind = ["PushEvent", "WatchEvent", "IssuesEvent"][i % 3]
        payload = [
            {"push_id": 10**10 + i, "size": 1, "commits": [{"sha": f"{i:040x}", "message": 'fix: a "quoted" thing\n\nbody'}]},
            {"action": "started"},
            {"action": "opened", "issue": {"number": i, "title": f"Bug {i}", "labels": []}},
        ][i % 3]
        docs.append(
            {
                "id": str(4 * 10**10 + i),
                "type": kind,
                "actor": {"id": 500 + i, "login": f"dev{i % 7}"},
                "repo": {"name": f"org/r{i % 4}"},
                "payload": payload,
                "public": True,
                "created_at": f"{at(i).isoformat()}Z",
            }
        )
        rows.append(
            [
                docs[-1]["id"],
                kind,
                500 + i,
                f"dev{i % 7}",
                f"org/r{i % 4}",
                payload.get("action"),
                payload.get("push_id"),
                json.dumps(payload["commits"]) if "commits" in payload else None,
                payload.get("issue", {}).get("title"),
                f"{at(i).isoformat()}Z",
            ]
        )
    return Set(
        ("2025-11-03-22.json", jsonl(docs)),
        "id:n type:x actor.id:n actor.login:x repo.name:x payload.action:x payload.push_id:n payload.commits:j payload.issue.title:x created_at:t",
        rows,
        reader="json",
    )


@made("json lines of mixed types")
def mixed():
    docs, rows = [], []
    for i in range(60):
        v = [i, str(i) + " kg", None, {"value": i, "unit": "g"}][i % 4]
        docs.append({"k": f"key{i}", "v": v, "flag": ["yes", True][i % 2]})
        rows.append(
            [f"key{i}", dumps(v) if isinstance(v, dict) else None if v is None else str(v), (True, ["yes", "true"][i % 2])]
        )
    return Set(("mixed.jsonl", jsonl(docs)), "k:x v:x flag:b?", rows, reader="json", refuse="one member has four types")


@made("json lines in utf-16")
def utf16_lines():
    docs, rows = people("16", 50)
    return Set(
        ("people16.json", b"\xff\xfe" + jsonl(docs).decode().encode("utf-16-le")), PEOPLE, rows, encoding="utf-16", reader="json"
    )


@made("json lines with large numbers and escapes")
def escapes():
    docs = [
        {"id": 2**60 + i, "text": "tab\t\u00e9 \U0001f600 \\ / \u2028" + str(i), "price": i / 64, "key": f"a.b {i}"}
        for i in range(60)
    ]
    data = "".join(json.dumps(d) + "\n" for d in docs)
    return Set(
        ("escapes.jsonl", data.encode()),
        "id:n text:x price:n key:x",
        [[d["id"], d["text"], d["price"], d["key"]] for d in docs],
        reader="json",
    )


@made("json lines with dots in names")
def dots():
    docs = [
        {"event.id": i, "host": {"name": f"h{i % 3}"}, "http.status": 200 + i % 3, "a b": f"x{i}", "list[0]": i * 2}
        for i in range(60)
    ]
    return Set(
        ("ecs.jsonl", jsonl(docs)),
        ["event.id:n", "host.name:x", "http.status:n", "a b:x", "list[0]:n"],
        [[d["event.id"], d["host"]["name"], d["http.status"], d["a b"], d["list[0]"]] for d in docs],
        reader="json",
    )
