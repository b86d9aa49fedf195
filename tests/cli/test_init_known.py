"""Tests that init recognizes what known programs write: load balancers of AWS, nginx, Debezium, and lists of events."""

import csv
import io
import json

import pytest
from test_init_doubts import in_order, init, rows_of

ALB = (
    "type time elb client target request_processing_time target_processing_time response_processing_time elb_status_code"
    " target_status_code received_bytes sent_bytes request user_agent ssl_cipher ssl_protocol target_group_arn trace_id domain_name"
    " chosen_cert_arn matched_rule_priority request_creation_time actions_executed redirect_url error_reason target_list"
    " target_status_code_list classification classification_reason"
).split()
NUMBERS = [n for n in ALB if n.endswith(("_processing_time", "_status_code", "_bytes", "_priority"))]


def alb_line(i, more=""):
    failed = i % 5 == 0
    target, status = ("-", "-") if failed else (f"10.0.0.{i % 9}:80", "200")
    times = "-1 -1 -1" if failed else f"0.00{i % 7} 0.02{i % 9} 0.000"
    return (
        f"https 2026-11-02T22:{i % 60:02d}:00.186641Z app/lb/50dc6c 192.168.131.39:{2000 + i} {target} {times} {502 if failed else 200}"
        f' {status} {34 + i} {366 + i} "GET https://a.b:443/x?a=1 2 HTTP/1.1" "{"-" if failed else "curl/7.46.0 (a, b)"}" ECDHE-RSA TLSv1.2'
        f' arn:aws:x:targetgroup/t "Root=1-58337281-{i:04x}" "-" "arn:aws:acm" {i % 3} 2026-11-02T22:{i % 60:02d}:00.364Z "forward" "-" "-"'
        f' "{target}" "{status}" "-" "-"{more}\n'
    )


def expected_alb(text, names):
    rows = []
    for values in csv.reader(io.StringIO(text), delimiter=" "):
        row = {n: v for n, v in zip(names, values) if v != "-"}
        rows.append({n: float(v) if n in NUMBERS else v for n, v in row.items()})
    return rows


def numbers(rows):
    return [{n: float(v) if n in NUMBERS else str(v) for n, v in r.items()} for r in rows]


def test_a_log_of_a_load_balancer_of_aws(tmp_path, saltmill):
    """Older lines have fewer values. The last column is one that the preset does not name."""
    text = "".join(alb_line(i, " TID_1 new" if i > 20 else "") for i in range(40))
    r = init(saltmill, tmp_path, text.encode(), "lb.log")
    assert r.returncode == 0, r.stderr
    assert "preset: alb" in r.stdout and "missing: 'null'" in r.stdout
    names = [*ALB, "conn_trace_id", "c31"]
    assert in_order(numbers(rows_of(tmp_path, saltmill, r.stdout))) == in_order(expected_alb(text, names))


AWS = {
    "nlb": (
        "type version time elb listener client destination connection_time tls_handshake_time received_bytes sent_bytes"
        " incoming_tls_alert chosen_cert_arn chosen_cert_serial tls_cipher tls_protocol_version tls_named_group domain_name"
        " alpn_fe_protocol alpn_be_protocol alpn_client_preference_list tls_connection_creation_time",
        "tls 2.0 2026-04-01T08:51:{0:02d} net/lb/c6e g3d4 72.21.218.154:{0} 172.100.100.185:443 5 {1} 98 246 - arn:aws:acm - ECDHE tlsv12 -"
        " my.elb.amazonaws.com - - - 2026-04-01T08:51:20",
    ),
    "elb": (
        "time elb client backend request_processing_time backend_processing_time response_processing_time elb_status_code"
        " backend_status_code received_bytes sent_bytes request user_agent ssl_cipher ssl_protocol",
        '2026-11-15T22:00:{0:02d}.123456Z my-lb 10.0.0.1:{0} - -1 -1 -1 504 0 {1} 29 "GET http://a.com:80/ HTTP/1.1" "curl {0}" - -',
    ),
    "s3_access": (
        "bucket_owner bucket time time_offset remote_ip requester request_id operation key request_uri http_status error_code"
        " bytes_sent object_size total_time turn_around_time referer user_agent version_id host_id signature_version"
        " cipher_suite authentication_type host_header tls_version access_point_arn acl_required",
        '79a5 demo [06/Feb/2026:00:00:{0:02d} +0000] 192.0.2.{0} - 3E57 REST.GET.OBJECT a/{0}.jpg "GET /a?x=1 HTTP/1.1" 200 - {1} - 7 - "-"'
        ' "S3 Console, {0}" - s9lz SigV4 ECDHE AuthHeader demo.s3.amazonaws.com TLSV1.2 - -',
    ),
}


@pytest.mark.parametrize("preset", AWS)
def test_other_logs_of_aws(tmp_path, saltmill, preset):
    names, line = AWS[preset]
    text = "".join(line.format(i, i * 3) + "\n" for i in range(12))
    r = init(saltmill, tmp_path, text.encode(), "a.log")
    assert r.returncode == 0, r.stderr
    assert f"preset: {preset}" in r.stdout
    expected = [{n: v for n, v in zip(names.split(), x, strict=True) if v != "-"} for x in csv.reader(io.StringIO(text), delimiter=" ")]
    for row in expected:
        row |= {n: float(v) for n, v in row.items() if v.lstrip("-").replace(".", "", 1).isdigit()}
        row["time"] = row["time"].replace("[06/Feb/2026:", "2026-02-06T")
    found = [{n: v if isinstance(v, str) else float(v) for n, v in x.items()} for x in rows_of(tmp_path, saltmill, r.stdout)]
    for row in (*expected, *found):
        row |= {n: row[n][:19] for n in ("time", "tls_connection_creation_time") if n in row}
    assert in_order(found) == in_order(expected)


def test_an_access_log_with_more_values(tmp_path, saltmill):
    """No value is left out silently: what follows the size is a column."""
    line = '10.0.0.{0} - - [06/Feb/2026:00:00:3{0} +0000] "GET /a{0} HTTP/1.1" 200 1{0} "-" "curl/7" 0.12{0}\n'
    r = init(saltmill, tmp_path, "".join(line.format(i) for i in range(1, 9)).encode(), "access.log")
    assert r.returncode == 0, r.stderr
    assert {x["rest"] for x in rows_of(tmp_path, saltmill, r.stdout)} == {f'"-" "curl/7" 0.12{i}' for i in range(1, 9)}


def test_pairs_between_commas(tmp_path, saltmill):
    """Miller writes such lines. A key may be absent."""
    lines = [f"op=get,hit={i}" if i % 3 else f"time={i},size={i * 2},op=put" for i in range(1, 10)]
    r = init(saltmill, tmp_path, ("\n".join(lines) + "\n").encode(), "a.dkvp")
    assert r.returncode == 0, r.stderr
    expected = [dict(p.split("=") for p in x.split(",")) for x in lines]
    assert in_order([{k: str(v) for k, v in x.items()} for x in rows_of(tmp_path, saltmill, r.stdout)]) == in_order(expected)


def test_dates_with_colons_between_blanks(tmp_path, saltmill):
    """The colons are in the values."""
    text = "".join(f"19{y}:0{y % 9 + 1} 19{y + 1}:1{y % 3}\n" for y in range(23, 60, 3))
    r = init(saltmill, tmp_path, text.encode(), "nber.txt")
    assert r.returncode != 0 or in_order(rows_of(tmp_path, saltmill, r.stdout)) == in_order(
        [dict(zip(("c1", "c2"), x.split())) for x in text.splitlines()]), r.stdout


def test_lines_that_only_resemble_a_load_balancer(tmp_path, saltmill):
    """One line of another program makes init refuse the file."""
    text = "".join(alb_line(i) for i in range(9)) + "reload at 10:00\n"
    r = init(saltmill, tmp_path, text.encode(), "lb.log")
    assert r.returncode in (1, 3) and r.stderr


def test_hex_escapes_of_nginx(tmp_path, saltmill):
    agents = ['"a"', "caf\u00e9", "back\\slash", "tab\tx", "", "-"]
    lines, expected = [], []
    for i in range(36):
        agent, agent2 = agents[i % 6], agents[i // 6]
        row = {"time_iso8601": f"2026-11-01T10:{i:02d}:00.000Z", "remote_addr": f"10.0.0.{i}", "status": 200, "body_bytes_sent": 5 * i}
        text = {n: v.encode() for n, v in (("agent", agent), ("referer", agent2))}
        shown = {n: "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\x{b:02X}" for b in v) for n, v in text.items()}
        lines.append("{" + ",".join(f'"{n}":"{v}"' for n, v in {**row, **shown}.items()) + "}\n")
        expected.append({**row, **{n: v.decode() for n, v in text.items() if v not in (b"", b"-")}})
    r = init(saltmill, tmp_path, "".join(lines).encode(), "access.log")
    assert r.returncode == 0, r.stderr
    assert "preset: nginx_json" in r.stdout
    assert in_order(rows_of(tmp_path, saltmill, r.stdout)) == in_order(expected)


def change(i, op):
    row = {"id": i // 2, "name": f"N{i}"}
    source = {"connector": "mysql", "ts_ms": 1790000000000 + i, "pos": i * 7}
    return {"before": None if op == "c" else {**row, "name": "old"}, "after": None if op == "d" else row, "source": source,
            "op": op, "ts_ms": 1790000000000 + i}


def test_changes_of_debezium_in_envelopes(tmp_path, saltmill):
    """The row key begins with the id of the changed row, which a deleted row has in `before` only."""
    changes = [change(i, "cud"[i % 3]) for i in range(60)]
    schema = {"type": "struct", "fields": [{"type": "int64", "field": "id"}]}
    for envelope in False, True:
        docs = [{"schema": schema, "payload": c} for c in changes] if envelope else changes
        (folder := tmp_path / str(envelope)).mkdir()
        r = init(saltmill, folder, "".join(json.dumps(d) + "\n" for d in docs).encode(), "c.jsonl")
        assert r.returncode == 0, r.stderr
        assert ("unwrap: payload   # not loaded: schema" in r.stdout) == envelope
        assert "preset: debezium" in r.stdout and "- {field: id, as: u32}   # owner" in r.stdout
        rows = rows_of(folder, saltmill, r.stdout)
        assert sorted((x["op"], x["id"], x.get("before.name"), x.get("after.name"), x["source.pos"]) for x in rows) == sorted(
            (c["op"], (c["after"] or c["before"])["id"], (c["before"] or {}).get("name"), (c["after"] or {}).get("name"),
             c["source"]["pos"]) for c in changes)


def test_lists_of_events_make_events(tmp_path, saltmill):
    """Each event has the values of its record. A record without events is one row."""
    docs = [{"host": f"h{i % 3}", "batch": i, "tags": [], "events": [{"ts": 1790000000000 + 100 * i + k, "v": k}
                                                                    for k in range(0 if i == 7 else 3 + i % 5)]} for i in range(30)]
    expected = [{"host": d["host"], "batch": d["batch"], "tags": "[]", **{f"events[].{n}": v for n, v in (e or {}).items() if n != "ts"}}
                for d in docs for e in d["events"] or [None]]
    for layout, text in ("lines", "".join(json.dumps(d) + "\n" for d in docs)), ("documents", json.dumps(docs, indent=1)):
        (folder := tmp_path / layout).mkdir()
        r = init(saltmill, folder, text.encode(), "b.json")
        assert r.returncode == 0, r.stderr
        assert "explode: 'events[]'" in r.stdout
        rows = rows_of(folder, saltmill, r.stdout)
        assert in_order([{n: v for n, v in x.items() if n != "events[].ts"} for x in rows]) == in_order(expected)
        assert sorted(x["events[].ts"] for x in rows if "events[].ts" in x)[0].startswith("2026-09-21T")


def test_other_lists_stay_one_value(tmp_path, saltmill):
    """Lines of an order are no events, because they have no time. Two lists leave the choice to the user."""
    orders = [{"id": i, "items": [{"sku": "a", "n": 1}] * 9} for i in range(9)]
    both = [{"id": i, "events": [{"ts": 1790000000000, "v": 1}] * 3, "readings": [{"ts": 1790000000000, "v": 1}] * 3} for i in range(9)]
    for docs in orders, both:
        r = init(saltmill, tmp_path, "".join(json.dumps(d) + "\n" for d in docs).encode(), "o.jsonl")
        assert r.returncode == 0 and "\n    explode:" not in r.stdout
        assert "`explode: NAME[]` makes an event of each item" in r.stdout


def test_names_between_blanks_and_long_delimiters(tmp_path, saltmill):
    """The job names the columns as it reads them: without the blanks around them."""
    text = "price|| flag||  city\n" + "".join(f"{i},5|| {'yn'[i % 2]}|| {'Köln' if i % 3 else 'Bonn'} \n" for i in range(40))
    r = init(saltmill, tmp_path, text.encode())
    assert r.returncode == 0, r.stderr
    expected = [{"price": i + 0.5, "flag": "yn"[i % 2], "city": "Köln" if i % 3 else "Bonn"} for i in range(40)]
    found = [{**x, "flag": {True: "y", False: "n"}.get(x["flag"], x["flag"])} for x in rows_of(tmp_path, saltmill, r.stdout)]
    assert in_order(found) == in_order(expected)


def test_a_comment_before_the_rows_names_the_columns(tmp_path, saltmill):
    stations = [["IU", "ANMO", 34.9459], ["IU", "AFI", -13.9093], ["II", "BFO", 48.3301]]
    lines = "".join(f"{a}|{b}|{c}\n" for a, b, c in stations)
    for head, names in (("#Network | Station | Latitude\n", ["Network", "Station", "Latitude"]),
                        ("## made by hand\n#net|sta|lat\n", ["net", "sta", "lat"]),
                        ("#net|sta\n", ["c1", "c2", "c3"]),  # too few names
                        ("#net|net|lat\n", ["c1", "c2", "c3"]),  # two are equal
                        ("#net|sta|2\n", ["c1", "c2", "c3"])):  # a number is no name
        r = init(saltmill, tmp_path, (head + lines).encode(), "a.txt")
        assert r.returncode == 0, r.stderr
        assert f"columns: [{', '.join(names)}]   # " in r.stdout
        assert ("as a comment of the file names them" in r.stdout) == (names[0] != "c1")
    r = init(saltmill, tmp_path, ("#one|two|three\nnet|sta|lat\n" + lines).encode(), "a.txt")
    assert "columns:" not in r.stdout and "sta: {type" in r.stdout  # the first row has the names
