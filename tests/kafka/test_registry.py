"""Tests Confluent's wire format, with Avro and JSON and with schemas from a small registry with a REST API."""

import base64
import http.server
import io
import json
import struct
import threading
import urllib.parse

import fastavro
import pytest

from rig import tree
from test_formats import make

V1 = {"type": "record", "name": "r", "fields": [{"name": "x", "type": "string"},
                                                {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}}]}
V2 = {"type": "record", "name": "r", "fields": [{"name": "n", "type": ["null", "int"]}, {"name": "x", "type": "string"}]}


PAGES = (1200, 1404)  # these statuses less 1000, with an HTML page


class Registry(http.server.ThreadingHTTPServer):
    """`schemas` maps an id to an answer. The next len(faults) requests get the statuses in `faults`."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.schemas, self.faults, self.asked, self.user = {}, [], [], None
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        s = self.server
        by_number = self.path.startswith("/schemas/ids/")
        number = int(self.path.removeprefix("/schemas/ids/")) if by_number else urllib.parse.unquote(self.path)
        s.asked.append(number)
        status, answer = 200, s.schemas.get(number)
        wanted = s.user and "Basic " + base64.b64encode(s.user.encode()).decode()
        if wanted and self.headers.get("Authorization") != wanted:
            status, answer = 401, {"error_code": 401, "message": "Unauthorized"}
        elif s.faults:
            status, answer = s.faults.pop(0), {"message": "later"}
        elif answer is None:
            status, answer = 404, {"error_code": 40403, "message": f"Schema {number} not found"}
        if status in PAGES:  # a proxy's page
            status, answer = status - 1000, None
        body = json.dumps(answer).encode() if answer is not None else b"<html>back soon</html>"
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def registry():
    r = Registry()
    r.schemas = {7: {"schema": json.dumps(V1)}, 300: {"schema": json.dumps(V2), "schemaType": "AVRO"},
                 8: {"schema": '{"type": "object"}', "schemaType": "JSON"},
                 11: {"schema": 'syntax = "proto3"; message M { string x = 1; }', "schemaType": "PROTOBUF"}}
    yield r
    r.shutdown()
    r.server_close()


def avro(number, schema, record):
    to = io.BytesIO()
    fastavro.schemaless_writer(to, fastavro.parse_schema(schema), record)
    return b"\0" + struct.pack(">I", number) + to.getvalue()


def how(registry, form="avro", more="", properties="{}"):
    return f"format: {form}, registry: {{url: '{registry.url}/', properties: {properties}}}{more}"


def test_avro_by_each_messages_own_schema(saltmill, kafka, tmp_path, topic, registry):
    """A topic has two schemas, and the reader requests each once. The registry starts slowly and requires a
    password."""
    rig = make(saltmill, kafka, tmp_path, topic)
    registry.faults, registry.user = [503, 1200, 1404], "me:secret"
    values = [avro(7, V1, {"x": f"a{i}", "at": 5 + i}) if i % 2 else avro(300, V2, {"n": i, "x": f"b{i}"}) for i in range(200)]
    kafka.produce(topic, [(0, None, v) for v in values])
    (tmp_path / "user").write_text("me:secret\n")
    found = rig.values(how(registry, properties="{basic.auth.user.info: {file: '%s'}}" % (tmp_path / "user")), "x",
                       "x: {type: text}")
    assert found == {i: f"{'ab'[i % 2 == 0]}{i}" for i in range(200)}
    assert sorted(registry.asked) == sorted([7, 300] + [registry.asked[0]] * 3)


def test_what_is_no_message_of_a_schema(saltmill, kafka, tmp_path, topic, registry):
    rig = make(saltmill, kafka, tmp_path, topic)
    good = avro(7, V1, {"x": "fine", "at": 5})
    kafka.produce(topic, [(0, None, v) for v in (
        good, avro(9, V1, {"x": "?", "at": 1}), avro(8, V1, {"x": "?", "at": 1}), good[:8], good + b"!", b'{"x": 1}', b"\0\0", good,
        b"\0\0\0\0\x0b\0\x0a\x01x")])
    found = rig.values(how(registry), "x", "x: {type: text}", rejects=7)
    assert found == {0: "fine", 7: "fine"}
    rejects = [json.loads(l) for l in (rig.out / "rejects.jsonl").read_text().splitlines()]
    assert [(r["offset"], r["reason"]) for r in rejects] == [
        (1, "unknown_schema"), (2, "wrong_schema"), (3, "bad_avro"), (4, "bad_avro"), (5, "bad_wire"), (6, "bad_wire"), (8, "wrong_schema")]
    assert "format PROTOBUF, expected one of AVRO; no C library decodes Protobuf" in rejects[6]["detail"]
    assert rejects[6]["detail"].endswith("CREATE STREAM a WITH (VALUE_FORMAT='AVRO') AS SELECT * FROM b")
    assert "schema ID 9, expected one that the registry has" in rejects[0]["detail"]


def test_schemas_that_refer_to_others(saltmill, kafka, tmp_path, topic, registry):
    """The order refers to customer and payee, and both refer to the address. saltmill requests each schema once."""
    address = {"type": "record", "name": "Address", "namespace": "shop.base", "fields": [{"name": "town", "type": "string"}]}
    person = {"type": "record", "namespace": "shop", "fields": [{"name": "at", "type": "shop.base.Address"}, {"name": "n", "type": "int"}]}
    people = [{**person, "name": name} for name in ("Customer", "Payee")]
    order = {"type": "record", "name": "Order", "namespace": "shop", "fields": [
        {"name": "from", "type": ["null", "Customer"]}, {"name": "to", "type": "Payee"}, {"name": "x", "type": "string"}]}
    to_address = [{"name": "shop.base.Address", "subject": "the/address", "version": 2}]
    registry.schemas = {
        5: {"schema": json.dumps(order), "references": [
            {"name": "shop.Customer", "subject": "customer-value", "version": 1},
            {"name": "shop.Payee", "subject": "payee-value", "version": 4}]},
        "/subjects/customer-value/versions/1": {"schema": json.dumps(people[0]), "references": to_address, "id": 3},
        "/subjects/payee-value/versions/4": {"schema": json.dumps(people[1]), "references": to_address, "id": 4},
        "/subjects/the/address/versions/2": {"schema": json.dumps(address), "id": 2}}
    whole = {**order, "fields": [
        {"name": "from", "type": ["null", {**people[0], "fields": [{"name": "at", "type": address}, people[0]["fields"][1]]}]},
        {"name": "to", "type": people[1]}, order["fields"][2]]}
    messages = [{"from": {"at": {"town": f"a{i}"}, "n": i} if i % 3 else None, "to": {"at": {"town": f"b{i}"}, "n": -i}, "x": f"x{i}"}
                for i in range(30)]
    rig = make(saltmill, kafka, tmp_path, topic)
    kafka.produce(topic, [(0, None, avro(5, whole, m)) for m in messages])
    assert rig.values(how(registry), "to.at.town", "to.at.town: {type: text}") == {i: f"b{i}" for i in range(30)}
    assert sorted(map(str, registry.asked)) == sorted(map(str, registry.schemas))


def test_versions_of_one_type(saltmill, kafka, tmp_path, topic, registry):
    """Customer and payee refer to two versions of the address, also under another subject. The first reference wins,
    as for the writer."""
    town, gone = ({"type": "record", "name": "Address", "fields": [{"name": f, "type": t}]} for f, t in (("town", "string"), ("zip", "int")))
    names = ("Customer", "Payee", "Heir")
    people = {n: {"type": "record", "name": n, "fields": [{"name": "at", "type": "Address"}]} for n in names}
    order = {"type": "record", "name": "Order", "fields": [{"name": n.lower(), "type": n} for n in names]}
    registry.schemas = {5: {"schema": json.dumps(order), "references": [{"name": n, "subject": n, "version": 1} for n in names]}}
    for n, (subject, version) in zip(names, (("address", 1), ("address", 2), ("copy", 1))):
        registry.schemas[f"/subjects/{n}/versions/1"] = {
            "schema": json.dumps(people[n]), "references": [{"name": "Address", "subject": subject, "version": version}]}
        registry.schemas[f"/subjects/{subject}/versions/{version}"] = {"schema": json.dumps(town if version == 1 else gone)}
    whole = {**order, "fields": [{"name": "customer", "type": {**people["Customer"], "fields": [{"name": "at", "type": town}]}},
                                 *({"name": n.lower(), "type": people[n]} for n in names[1:])]}
    messages = [{n.lower(): {"at": {"town": f"{n}{i}"}} for n in names} for i in range(9)]
    rig = make(saltmill, kafka, tmp_path, topic)
    kafka.produce(topic, [(0, None, avro(5, whole, m)) for m in messages])
    assert rig.values(how(registry), "heir.at.town", "heir.at.town: {type: text}") == {i: f"Heir{i}" for i in range(9)}


def test_json_by_a_schema(saltmill, kafka, tmp_path, topic, registry):
    rig = make(saltmill, kafka, tmp_path, topic)
    head = b"\0" + struct.pack(">I", 8)
    kafka.produce(topic, [(0, None, head + b'{"x": "a"}'), (0, None, head + b'{"x": '), (0, None, b'{"x": "c"}')])
    assert rig.values(how(registry, "json"), "x", "x: {type: text}", rejects=2) == {0: "a"}


CIRCLE = [{"name": "q", "subject": "q", "version": 1}]


@pytest.mark.parametrize("change,words", [
    (lambda r: r.faults.extend([500] * 99), ["does not return schema 7: found status 500; all retries failed"]),
    (lambda r: r.faults.extend([1200] * 99), ["does not return schema 7: found status 200 with a body other than JSON"]),
    (lambda r: (r.shutdown(), r.server_close()), ["does not return schema 7: ", "all retries failed"]),
    (lambda r: setattr(r, "user", "other:one"), ["does not return schema 7: found status 401; check basic.auth.user.info in the registry's properties"]),
    (lambda r: r.schemas.update({7: {"schema": '{"type": "strange"}'}}), ["schema 7 of the registry at", "unknown type `strange`"]),
    (lambda r: r.schemas.update({7: {"schema": '"null"', "references": [{"name": "q"}]}}), ["schema 7: found a reference without `subject` and `version`"]),
    (lambda r: r.schemas.update({7: {"schema": '"q"', "references": [{"name": "q", "subject": "a b", "version": 3}]}}),
     ["does not have version 3 of subject a b, which schema 7 refers to"]),
    (lambda r: r.schemas.update({7: {"schema": '"q"', "references": CIRCLE}, "/subjects/q/versions/1": {
        "schema": '{"type": "array", "items": "q"}', "references": CIRCLE}}), ["schema 7 of the registry at", "unknown type `q`"]),
    (lambda r: r.schemas.update({7: ["no object"]}), ["found another answer, expected a JSON object with a `schema`"]),
], ids=["errors", "page", "down", "password", "schema", "references", "reference", "circle", "answer"])
def test_a_registry_that_does_not_tell(saltmill, kafka, tmp_path, topic, registry, change, words):
    """saltmill loses and rejects no message because of the registry. The run fails, and the next
    run loads every message after the registry works."""
    rig = make(saltmill, kafka, tmp_path, topic)
    kafka.produce(topic, [(0, None, avro(7, V1, {"x": "a", "at": 5}))])
    change(registry)
    rig.set(how(registry, more=", patience: 1s"), "x", "x: {type: text}")
    done = rig.run("load", rig.job, "-o", tmp_path / "none", status=1 if "does not return" in words[0] else 2)
    assert all(w in done.stderr for w in words), done.stderr
    assert len(registry.asked) < 6, registry.asked  # the usual patience of 30 s gives time for 6 retries
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("text,words", [
    ("format: avro", "kafka lacks the key `registry`"),
    ("format: protobuf", "found `protobuf`, expected json, avro, csv or raw; no C library decodes Protobuf"),
    ("format: csv, columns: [x, y], registry: {url: 'http://h'}", "registry: has no effect without"),
    ("format: avro, registry: {url: 'http://u:p@h'}", "put user and password into `properties"),
    ("format: avro, registry: {url: 'ftp://h'}", "expected http:// or https://"),
    ("format: avro, registry: {url: 'http://h', properties: {sasl.username: x}}", "found registry property `sasl.username`"),
], ids=["none", "protobuf", "csv", "user", "ftp", "property"])
def test_jobs(saltmill, kafka, tmp_path, topic, text, words):
    rig = make(saltmill, kafka, tmp_path, topic)
    kafka.produce(topic, [(0, None, b"x")])
    rig.set(text, "x", "x: {type: text}")
    assert words in rig.run("load", rig.job, "-o", tmp_path / "out", status=2).stderr


SAME = """\
source:
  {source}
fields:
  id: {{type: u32}}
  at: {{type: time{unit}}}
  price: {{type: f64}}
tables:
  - name: t
    rowkey: [{{salt: 4, of: [id]}}, {{field: id, as: u32}}, {{field: at, as: reversed_millis}}]
    timestamp: at
    families: {{f: {{compression: NONE}}}}
    cells: [{{family: f, qualifier: n, value: name, optional: true}}, {{family: f, qualifier: p, value: {{field: price, as: f64}}}}]
    regions: {{split: uniform, count: 4, first: '\\x00', last: '\\x04'}}
"""


def test_the_same_cells_as_from_csv(saltmill, kafka, tmp_path, topic, registry):
    """The same events as a CSV file and as Avro and JSON in the wire format give the same HFiles, byte for byte."""
    schema = {"type": "record", "name": "e", "fields": [
        {"name": "id", "type": "int"}, {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "name", "type": ["null", "string"]}, {"name": "price", "type": "double"}]}
    registry.schemas[41] = {"schema": json.dumps(schema)}
    rig = make(saltmill, kafka, tmp_path, topic)
    events = [{"id": i * 7919 % 5000, "at": 1476640644000 + i, "name": None if i % 11 == 0 else f"n\u00fc{i}, \"x\"",
               "price": i / 8} for i in range(3000)]
    lines = ["id,at,name,price"]
    for e in events:
        name = "" if e["name"] is None else '"' + e["name"].replace('"', '""') + '"'
        lines.append(f"{e['id']},{e['at']},{name},{e['price']!r}")
    (tmp_path / "events.csv").write_text("\n".join(lines) + "\n")
    head = b"\0" + struct.pack(">I", 8)
    forms = {"avro": [avro(41, schema, e) for e in events], "json": [head + json.dumps(e).encode() for e in events]}
    sources = {"csv": f"csv: {{files: [{tmp_path}/events.csv]}}"}
    for form, values in forms.items():
        kafka.create(f"{topic}.{form}", 3)
        kafka.produce(f"{topic}.{form}", [(i % 3, None, v) for i, v in enumerate(values)], "lz4")
        sources[form] = f"kafka: {{brokers: '{kafka.brokers}', topic: {topic}.{form}, {how(registry, form)}}}"
    trees, texts = {}, {}
    for name, source in sources.items():
        rig.job.write_text(SAME.format(source=source, unit="" if name == "avro" else ", unit: ms"))
        _, out = rig.load(state=False)
        files = sorted(p for p in (out / "t/hfiles").rglob("*") if p.is_file())
        # in the order of the files' names, which are digests
        texts[name] = sorted(l for l in rig.run("inspect", "--cells", *files).stdout.splitlines() if " f:" in l)
        trees[name] = tree(out / "t")
    assert len(texts["csv"]) == sum(1 + (e["name"] is not None) for e in events)
    assert texts["avro"] == texts["csv"] and texts["json"] == texts["csv"]
    assert trees["avro"] == trees["csv"] and trees["json"] == trees["csv"]
