"""These sets are logs of web servers, clouds and operating systems."""

import datetime as dt
import json
import random

from made_databases import at
from truth import Set, made

PATHS = ["/", "/index.html", "/api/v1/users", "/img/logo.png", "/search", "/login"]
AGENTS = [
    "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/128.0",
    "curl/8.5.0",
    "Googlebot/2.1 (+http://www.google.com/bot.html)",
]


def ip(r):
    return f"{r.randrange(1, 224)}.{r.randrange(256)}.{r.randrange(256)}.{r.randrange(1, 255)}"


def dash(v):
    """Marks a dash as a missing value. A reader may keep the dash."""
    return (None, "-") if v is None else v


def text(cell):
    return cell[1] if isinstance(cell, tuple) else cell


@made("iis w3c log")
def iis():
    r = random.Random(60)
    head = "date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) sc-status time-taken".split()
    rows, out = [], []
    start = (
        "#Software: Microsoft Internet Information Services 10.0\r\n#Version: 1.0\r\n#Date: {}\r\n#Fields: "
        + " ".join(head)
        + "\r\n"
    )
    for i in range(90):
        t = at(i, 97)
        if i in (0, 50):
            out.append(start.format(t))
        row = [
            f"{t:%Y-%m-%d}",
            f"{t:%H:%M:%S}",
            "10.0.0.4",
            ["GET", "POST"][i % 2],
            PATHS[i % 6],
            dash(f"q={i}" if i % 4 == 0 else None),
            "443",
            dash(f"CORP\\user{i % 5}" if i % 5 else None),
            ip(r),
            AGENTS[i % 3].replace(" ", "+"),
            ["200", "304", "404", "500"][i % 4],
            str(r.randrange(2000)),
        ]
        out.append(" ".join(text(v) for v in row) + "\r\n")
        rows.append(row)
    kinds = [
        "date:t",
        "time:x",
        "s-ip:x",
        "cs-method:x",
        "cs-uri-stem:x",
        "cs-uri-query:x",
        "s-port:n",
        "cs-username:x",
        "c-ip:x",
        "cs(User-Agent):x",
        "sc-status:n",
        "time-taken:n",
    ]
    both = [["time:t", *kinds[2:]], [[f"{a} {b}", *c] for a, b, *c in rows]]
    return Set(("u_ex251103.log", "".join(out).encode()), kinds, rows, variants=[both])


def clf(t):
    return (f"{t.isoformat()}+02:00", f"{t:%d/%b/%Y:%H:%M:%S} +0200")


@made("apache combined log")
def apache():
    r = random.Random(61)
    rows, out = [], []
    for i in range(120):
        row = [
            ip(r),
            dash(None),
            dash("frank" if i % 7 == 0 else None),
            clf(at(i, 31)),
            ["GET", "POST", "HEAD"][i % 3],
            PATHS[i % 6] + (f"?n={i}" if i % 5 == 0 else ""),
            ["200", "301", "404"][i % 3],
            dash(str(r.randrange(90000)) if i % 6 else None),
            dash('https://example.org/a?b=\\"c\\"' if i % 4 == 0 else None),
            AGENTS[i % 3],
        ]
        a, b, c, d, e, f, g, h, k, m = map(text, row)
        out.append(f'{a} {b} {c} [{d}] "{e} {f} HTTP/1.1" {g} {h} "{k}" "{m}"\n')
        rows.append(row)
    names = "host:x user:x time:t method:x path:x status:n bytes:n referer:x agent:x"
    rows = [row[:1] + row[2:] for row in rows]
    bare = [[c.replace('\\"', '"') if isinstance(c, str) else c for c in row] for row in rows]
    return Set(
        ("access_log", "".join(out).encode()),
        names,
        rows,
        named=False,
        variants=[(names, bare), whole_request(names, rows), whole_request(names, bare)],
    )


def whole_request(names, rows):
    """Returns the same table with the request as one column."""
    items = names.split()
    i = items.index("method:x")
    protocol = "HTTP/2.0" if "vhost:x" in items else "HTTP/1.1"
    return [*items[:i], "request:x", *items[i + 2 :]], [
        [*row[:i], f"{row[i]} {row[i + 1]} {protocol}", *row[i + 2 :]] for row in rows
    ]


@made("apache common log with virtual hosts")
def vhosts():
    r = random.Random(62)
    rows, out = [], []
    for i in range(80):
        row = [
            f"www{i % 3}.example.com:443",
            ip(r),
            clf(at(i, 77)),
            "GET",
            PATHS[i % 6] + f"?p={i}",
            ["200", "404"][i % 2],
            str(r.randrange(9000)),
            dash(None),
            AGENTS[i % 3],
        ]
        a, b, c, d, e, f, g, h, k = map(text, row)
        out.append(f'{a} {b} - - [{c}] "{d} {e} HTTP/2.0" {f} {g} "{h}" "{k}"\n')
        rows.append(row)
    names, rows = "vhost:x host:x time:t method:x path:x status:n bytes:n agent:x", [row[:7] + row[8:] for row in rows]
    return Set(
        ("other_vhosts_access.log", "".join(out).encode()),
        names,
        rows,
        named=False,
        variants=[whole_request(names, rows)],
        refuse="the format begins with another item than usual",
    )


@made("nginx json log")
def nginx_json():
    r = random.Random(63)
    rows, out = [], []
    for i in range(80):
        t = at(i, 13)
        row = [
            f"{t.isoformat()}+00:00",
            ip(r),
            PATHS[i % 6] + f"?x={i}",
            ["200", "502"][i % 2],
            str(r.randrange(99999)),
            f"{r.randrange(2000) / 1000:.3f}",
            AGENTS[i % 3],
        ]
        names = "time_iso8601 remote_addr request_uri status body_bytes_sent request_time http_user_agent".split()
        out.append("{" + ",".join(f'"{n}":"{v}"' for n, v in zip(names, row)) + "}\n")
        rows.append(row)
    return Set(
        ("access.json.log", "".join(out).encode()),
        "time_iso8601:t remote_addr:x request_uri:x status:n body_bytes_sent:n request_time:n http_user_agent:x",
        rows,
        reader="json",
    )


@made("aws vpc flow log")
def vpc():
    r = random.Random(64)
    head = "version account-id interface-id srcaddr dstaddr srcport dstport protocol packets bytes start end action log-status"
    rows = []
    for i in range(90):
        s = 1762208109 + i * 60
        iso = [(str(at(i, 60)), str(s)), (str(at(i, 60) + dt.timedelta(seconds=59)), str(s + 59))]
        if i % 30 == 7:
            rows.append(["2", "123456789010", f"eni-0a{i:06x}", *[dash(None)] * 7, *iso, dash(None), "NODATA"])
        else:
            rows.append(
                [
                    "2",
                    "123456789010",
                    f"eni-0a{i:06x}",
                    ip(r),
                    ip(r),
                    str(r.randrange(65536)),
                    "443",
                    "6",
                    str(r.randrange(99)),
                    str(r.randrange(99999)),
                    *iso,
                    ["ACCEPT", "REJECT"][i % 2],
                    "OK",
                ]
            )
    data = head + "\n" + "".join(" ".join(map(text, row)) + "\n" for row in rows)
    kinds = dict.fromkeys(head.split(), "n") | dict.fromkeys(
        ["account-id", "interface-id", "srcaddr", "dstaddr", "action", "log-status"], "x"
    )
    return Set(
        ("123456789010_vpcflowlogs_eu-west-1.log", data.encode()),
        [f"{k}:{'t' if k in ('start', 'end') else v}" for k, v in kinds.items()],
        rows,
    )


@made("aws load balancer log")
def alb():
    r = random.Random(65)
    rows, out = [], []
    for i in range(70):
        t = f"{at(i, 17).isoformat()}.{i * 1009 % 1000000:06d}Z"
        row = [
            "https",
            t,
            "app/web/50dc6c495c0c9188",
            f"{ip(r)}:{r.randrange(1024, 65536)}",
            f"10.0.0.{i % 9 + 1}:80",
            f"{r.randrange(9) / 1000:.3f}",
            f"{r.randrange(999) / 1000:.3f}",
            "0.000",
            ["200", "503"][i % 2],
            str(r.randrange(999)),
            str(r.randrange(9999)),
            f"GET https://www.example.com:443{PATHS[i % 6]}?i={i} HTTP/1.1",
            AGENTS[i % 3],
            "ECDHE-RSA-AES128-GCM-SHA256",
            "TLSv1.2",
            f"Root=1-58337262-36d228ad5d99923122bbe{i:03x}",
        ]
        a = row
        out.append(
            f'{a[0]} {a[1]} {a[2]} {a[3]} {a[4]} {a[5]} {a[6]} {a[7]} {a[8]} {a[8]} {a[9]} {a[10]} "{a[11]}" "{a[12]}" {a[13]} {a[14]} '
            f'arn:aws:elasticloadbalancing:us-east-2:123456789012:targetgroup/t/73e2d6bc24d8a067 "{a[15]}" "-" "-" 0 {a[1]} "forward" "-" "-" "{a[4]}" "{a[8]}" "-" "-"\n'
        )
        rows.append(row)
    return Set(
        ("123456789012_elasticloadbalancing.log", "".join(out).encode()),
        "type:x time:t elb:x client:x target:x t1:n t2:n t3:n status:n received:n sent:n request:x agent:x cipher:x protocol:x trace:x",
        rows,
        named=False,
    )


@made("aws s3 access log")
def s3():
    r = random.Random(66)
    rows, out = [], []
    for i in range(60):
        t = at(i, 71)
        row = [
            "amzn-s3-demo",
            (f"{t.isoformat()}Z", f"[{t:%d/%b/%Y:%H:%M:%S} +0000]"),
            ip(r),
            f"3E57427F3EXAMP{i:02X}",
            "REST.GET.OBJECT",
            f"photos/2025/{i}.jpg",
            f"GET /amzn-s3-demo/photos/2025/{i}.jpg HTTP/1.1",
            "200",
            dash(None),
            str(r.randrange(99999)),
            AGENTS[i % 3],
        ]
        b, ts, a, q, op, key, req, st, er, by, ag = map(text, row)
        out.append(
            f'79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be {b} {ts} {a} - {q} {op} {key} "{req}" {st} {er} {by} {by} 70 10 "-" "{ag}" - '
            "s9lzHYrFp76ZVxRcpX9+5cjAnEH2ROuNkd2BHfIa6UkFVdtjf5mKR3/eTPFvsiP/XV/VLi31234= SigV4 ECDHE-RSA-AES128-GCM-SHA256 AuthHeader s3.amazonaws.com TLSV1.2 - -\n"
        )
        rows.append(row)
    return Set(
        ("2025-11-03-22-15-09-0123456789ABCDEF", "".join(out).encode()),
        "bucket:x time:t ip:x request_id:x operation:x key:x request:x status:n error:x bytes:n agent:x",
        rows,
        named=False,
        refuse="the times contain the delimiter and have no quotes",
    )


@made("cloudfront log")
def cloudfront():
    r = random.Random(67)
    head = "date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs-uri-query x-edge-result-type time-taken"
    rows = []
    for i in range(80):
        t = at(i, 19)
        rows.append(
            [
                f"{t:%Y-%m-%d}",
                f"{t:%H:%M:%S}",
                "LHR62-C2",
                str(r.randrange(9999)),
                ip(r),
                "GET",
                "d111111abcdef8.cloudfront.net",
                PATHS[i % 6],
                ["200", "404"][i % 2],
                dash(None),
                dash(f"a={i}" if i % 3 else None),
                ["Hit", "Miss"][i % 2],
                f"{r.randrange(999) / 1000:.3f}",
            ]
        )
    data = "#Version: 1.0\n#Fields: " + head + "\n" + "".join("\t".join(map(text, row)) + "\n" for row in rows)
    kinds = [f"{h}:{dict(date='t', **{'sc-bytes': 'n', 'sc-status': 'n', 'time-taken': 'n'}).get(h, 'x')}" for h in head.split()]
    both = [["time:t", *kinds[2:]], [[f"{a} {b}", *c] for a, b, *c in rows]]
    return Set(("EMLARXS9EXAMPLE.2025-11-03-22.RT4KCN4SGK9", data.encode()), kinds, rows, variants=[both])


@made("cloudtrail records")
def cloudtrail():
    r = random.Random(68)
    records, rows = [], []
    for i in range(50):
        t = f"{at(i, 41).isoformat()}Z"
        e = {
            "eventVersion": "1.08",
            "userIdentity": {
                "type": "IAMUser",
                "principalId": f"AIDA{i:04d}EXAMPLE",
                "accountId": "123456789012",
                "userName": ["mia", "noah"][i % 2],
            },
            "eventTime": t,
            "eventSource": "ec2.amazonaws.com",
            "eventName": ["StartInstances", "DescribeInstances"][i % 2],
            "awsRegion": "eu-central-1",
            "sourceIPAddress": ip(r),
            "requestParameters": {"instancesSet": {"items": [{"instanceId": f"i-{i:017x}"}]}} if i % 2 == 0 else None,
            "eventID": f"c0ffee00-0000-4000-8000-{i:012x}",
            "readOnly": i % 2 == 1,
        }
        records.append(e)
        rows.append(
            [
                t,
                e["userIdentity"]["userName"],
                e["userIdentity"]["principalId"],
                e["eventName"],
                e["sourceIPAddress"],
                e["eventID"],
                e["readOnly"],
                json.dumps(e["requestParameters"]["instancesSet"]["items"]) if e["requestParameters"] else None,
            ]
        )
    data = json.dumps({"Records": records}, separators=(",", ":"))
    return Set(
        ("123456789012_CloudTrail_eu-central-1.json", data.encode()),
        "eventTime:t userIdentity.userName:x userIdentity.principalId:x eventName:x sourceIPAddress:x eventID:x readOnly:b requestParameters.instancesSet.items:j",
        rows,
        reader="json",
    )


@made("logfmt")
def logfmt():
    r = random.Random(69)
    rows, out = [], []
    for i in range(80):
        row = [
            f"{at(i, 5).isoformat()}Z",
            ["info", "warn", "error"][i % 3],
            ["request done", 'bad "token"', "started"][i % 3],
            f"{r.randrange(999)}",
            f"tenant-{i % 4}",
            None if i % 3 else f"/v1/items/{i}",
        ]
        quoted = row[2].replace('"', '\\"')
        out.append(
            f'ts={row[0]} level={row[1]} msg={chr(34) + quoted + chr(34) if " " in quoted else quoted} took_ms={row[3]} tenant={row[4]}'
            + (f" path={row[5]}" if row[5] else "")
            + "\n"
        )
        rows.append(row)
    return Set(("service.log", "".join(out).encode()), "ts:t level:x msg:x took_ms:n tenant:x path:x", rows)


@made("firewall log of keys and values")
def key_value():
    r = random.Random(70)
    rows, out = [], []
    for i in range(80):
        t = at(i, 3)
        row = [
            (f"{t:%Y-%m-%d}", f"{t:%Y-%m-%d}"),
            f"{t:%H:%M:%S}",
            "FGT60F-1",
            ["traffic", "utm"][i % 2],
            ["accept", "deny"][i % 2],
            ip(r),
            str(r.randrange(65536)),
            str(r.randrange(9999)),
            ["allow web", "block all"][i % 2],
        ]
        out.append(
            'date={} time={} devname="{}" type="{}" action="{}" srcip={} srcport={} sentbyte={} policyname="{}"\n'.format(
                *map(text, row)
            )
        )
        rows.append(row)
    kinds = "date:t time:x devname:x type:x action:x srcip:x srcport:n sentbyte:n policyname:x".split()
    both = [["time:t", *kinds[2:]], [[f"{a[0]} {b}", *c] for a, b, *c in rows]]
    return Set(("fortigate.log", "".join(out).encode()), kinds, rows, variants=[both])


@made("syslog of rfc 3164")
def syslog():
    rows, out = [], []
    for i in range(90):
        t = at(i, 59)
        row = [
            (f"{t.isoformat()}", f"{t:%b} {t.day:2d} {t:%H:%M:%S}"),
            f"web{i % 3}",
            ["sshd", "CRON", "kernel"][i % 3],
            str(900 + i) if i % 3 != 2 else None,
            [
                f"Accepted publickey for deploy from 10.0.0.{i} port {50000 + i}",
                f"(root) CMD (run-parts /etc/cron.{i})",
                f"[{i}.{i:06d}] eth0: link up",
            ][i % 3],
        ]
        out.append(f"{row[0][1]} {row[1]} {row[2]}{f'[{row[3]}]' if row[3] else ''}: {row[4]}\n")
        rows.append(row)
    return Set(("syslog-20251110", "".join(out).encode()), "time:t host:x program:x pid:n text:x", rows, named=False)


@made("syslog of rfc 5424")
def syslog5424():
    rows, out = [], []
    for i in range(70):
        t = f"{at(i, 59).isoformat()}.{i * 7 % 1000:03d}Z"
        row = [
            str(30 + i % 8),
            t,
            f"node{i % 4}.example.com",
            ["app", "db"][i % 2],
            dash(str(1000 + i) if i % 3 else None),
            f"ID{i % 5}",
            f"user {i} logged {'in' if i % 2 else 'out'}",
        ]
        p, a, b, c, d, e, f = map(text, row)
        out.append(f'<{p}>1 {a} {b} {c} {d} {e} [origin@32473 ip="10.1.2.{i}"] {f}\n')
        rows.append(row)
    return Set(
        ("messages", "".join(out).encode()),
        "time:t host:x app:x pid:n id:x text:x",
        [row[1:] for row in rows],
        named=False,
        refuse="RFC 5424 is not among the formats of the guide",
    )


@made("squid access log")
def squid():
    r = random.Random(71)
    rows, out = [], []
    for i in range(80):
        s = int(at(i, 29).replace(tzinfo=dt.timezone.utc).timestamp())
        row = [
            (f"{at(i, 29)}.{i * 9:03d}", f"{s}.{i * 9:03d}"),
            str(r.randrange(5000)),
            ip(r),
            ["TCP_MISS/200", "TCP_HIT/200", "TCP_DENIED/403"][i % 3],
            str(r.randrange(99999)),
            "GET",
            f"http://example.com/{i}",
            dash(None),
            ["HIER_DIRECT/93.184.216.34", "HIER_NONE/-"][i % 2],
            "text/html",
        ]
        a, b, c, d, e, f, g, h, k, m = map(text, row)
        out.append(f"{a} {b:>6} {c} {d} {e} {f} {g} {h} {k} {m}\n")
        rows.append([v for j, v in enumerate(row) if j != 7])
    return Set(
        ("squid.log", "".join(out).encode()),
        "time:t? elapsed:n client:x result:x bytes:n method:x url:x hierarchy:x type:x",
        rows,
        named=False,
    )


@made("postgres csvlog")
def csvlog():
    rows, out = [], []
    for i in range(60):
        t = f"{at(i, 11)}.{i * 13 % 1000:03d} UTC"
        q = [f"duration: {i}.25 ms", 'syntax error at or near "FORM"', "connection received: host=[local]"][i % 3]
        row = [
            (t[:-4], t),
            "app" if i % 4 else None,
            str(3000 + i),
            f"65{i:06x}.bb8",
            str(i + 1),
            ["LOG", "ERROR", "LOG"][i % 3],
            q,
        ]
        user = f'"{row[1]}"' if row[1] else ""
        text5 = q.replace('"', '""')
        out.append(
            f'{t},{user},"shop",{row[2]},"[local]",{row[3]},{row[4]},"SELECT",{t},3/{i},0,{row[5]},00000,"{text5}",,,,,,,,,"psql","client backend",,0\n'
        )
        rows.append(row)
    return Set(
        ("postgresql.csv", "".join(out).encode()), "time:t user:x pid:n session:x line:n level:x message:x", rows, named=False
    )


@made("journalctl -o json")
def journal():
    rows, out = [], []
    for i in range(60):
        us = 1762208109000000 + i * 1700001
        e = {
            "__REALTIME_TIMESTAMP": str(us),
            "_HOSTNAME": "pi",
            "PRIORITY": str(3 + i % 4),
            "_PID": str(400 + i),
            "SYSLOG_IDENTIFIER": ["sshd", "systemd"][i % 2],
            "MESSAGE": f"unit {i} \u2014 ok" if i % 9 else [104, 105, i],
        }
        out.append(json.dumps(e) + "\n")
        iso = dt.datetime.fromtimestamp(us / 1e6, dt.timezone.utc).strftime("%Y-%m-%d %H:%M:%S.") + f"{us % 10**6:06d}"
        rows.append(
            [
                (iso, str(us)),
                "pi",
                e["PRIORITY"],
                e["_PID"],
                e["SYSLOG_IDENTIFIER"],
                e["MESSAGE"] if isinstance(e["MESSAGE"], str) else (json.dumps(e["MESSAGE"], separators=(",", ":")), json.dumps(e["MESSAGE"])),
            ]
        )
    return Set(
        ("journal.json", "".join(out).encode()),
        "__REALTIME_TIMESTAMP:t? _HOSTNAME:x PRIORITY:n _PID:n SYSLOG_IDENTIFIER:x MESSAGE:x",
        rows,
        reader="json",
    )


@made("java log of several lines")
def java():
    rows, out = [], []
    for i in range(60):
        t = f"{at(i, 7)},{i * 17 % 1000:03d}"
        message = f"Request {i} failed" if i % 5 == 0 else f"Request {i} done in {i * 3} ms"
        out.append(f"{t} {['INFO ', 'WARN ', 'ERROR'][i % 3]} [worker-{i % 4}] com.example.Service - {message}\n")
        trace = (
            "java.lang.IllegalStateException: no\n\tat com.example.A.b(A.java:12)\n\tat com.example.C.d(C.java:34)\n"
            if i % 5 == 0
            else ""
        )
        out.append(trace)
        rows.append(
            [t, ["INFO", "WARN", "ERROR"][i % 3], f"worker-{i % 4}", "com.example.Service", (message + "\n" + trace).rstrip("\n")]
        )
    return Set(
        ("app.log", "".join(out).encode()),
        "time:t level:x thread:x logger:x message:x",
        rows,
        named=False,
        refuse="a record has several lines",
    )
