"""These sets are fixed-width files, transport and map exports, weather records, archives, Avro and Arrow."""

import bz2
import datetime as dt
import decimal
import gzip
import io
import random
import zipfile

from made_databases import NAMES, at, day, lines, money
from truth import Set, Skip, made


def need(module):
    try:
        return __import__(module, fromlist=["x"])
    except ImportError:
        raise Skip(f"the Python package {module} is missing") from None


# ---- weather stations ----


@made("noaa isd-lite")
def isd_lite():
    r = random.Random(90)
    rows, out = [], []
    for i in range(120):
        t = dt.datetime(2024, 1, 1) + dt.timedelta(hours=i)
        values = [
            None if (i + k) % 13 == 0 else r.randrange(low, high)
            for k, (low, high) in enumerate(
                [(-300, 350), (-300, 200), (9700, 10400), (0, 360), (0, 200), (0, 9), (0, 90), (0, 120)]
            )
        ]
        out.append(f"{t:%Y %m %d %H}" + "".join(f"{-9999 if v is None else v:6d}" for v in values) + "\n")
        rows.append(
            [f"{t:%Y}", str(t.month), str(t.day), str(t.hour), *[(None, "-9999") if v is None else str(v) for v in values]]
        )
    kinds = ["year:n", "month:n", "day:n", "hour:n", *[f"v{k}:n?" for k in range(8)]]
    kept = [[c[1] if isinstance(c, tuple) else c for c in row] for row in rows]
    return Set(
        ("724940-23234-2024", "".join(out).encode()),
        kinds,
        rows,
        named=False,
        variants=[([k.replace("?", "") for k in kinds], kept)],
    )


@made("noaa ghcn stations")
def ghcn_stations():
    r = random.Random(91)
    rows, out = [], []
    for i in range(80):
        row = [
            f"USW{i * 37:08d}",
            f"{r.randrange(-900000, 900000) / 1e4:.4f}",
            f"{r.randrange(-1800000, 1800000) / 1e4:.4f}",
            f"{r.randrange(-50, 40000) / 10:.1f}",
            [None, "TX", "CO", "AK"][i % 4],
            ["BIG SPRING", "ST JOHN COOLIDGE FLD", "PALMER JOB CORPS"][i % 3],
            ["GSN", None, None][i % 3],
            f"7{i:04d}" if i % 2 else None,
        ]
        out.append(
            f"{row[0]:<11} {row[1]:>8} {row[2]:>9} {row[3]:>6} {row[4] or '':2} {row[5]:<30} {row[6] or '':3} {'':3} {row[7] or '':5}\n"
        )
        rows.append(row)
    return Set(
        ("ghcnd-stations.txt", "".join(out).encode()),
        "id:x lat:n lon:n elevation:n state:x name:x gsn:x wmo:x",
        rows,
        named=False,
    )


@made("fixed width with a header")
def fixed_header():
    r = random.Random(92)
    rows, out = [], ["ACCOUNT   HOLDER               OPENED     BALANCE      BRANCH"]
    for i in range(70):
        row = [f"{10**8 + i * 7919}", NAMES[i % 9], f"{day(i)}", money(r), ["Main St", "Old Town", "Port"][i % 3]]
        out.append(f"{row[0]:<10}{row[1]:<21}{row[2]:<11}{row[3]:>12} {row[4]}")
        rows.append(row)
    return Set(("accounts.txt", ("\n".join(out) + "\n").encode()), "ACCOUNT:n HOLDER:x OPENED:t BALANCE:n BRANCH:x", rows)


@made("cobol copy book records")
def cobol():
    r = random.Random(93)
    rows, out = [], []
    for i in range(60):
        v = r.randrange(1, 9999999)
        row = [
            f"{i + 1:06d}",
            NAMES[i % 9].upper().replace("É", "E").replace("Ü", "U").replace("Á", "A"),
            (f"{day(i)}", f"{day(i):%Y%m%d}"),
            (f"{v / 100:.2f}", f"{v:09d}"),
        ]
        out.append(f"{row[0]}{row[1]:<20}{row[2][1]}{row[3][1]}\r\n")
        rows.append(row)
    return Set(
        ("MASTER.DAT", "".join(out).encode()),
        "no:x name:x day:t? amount:n?",
        rows,
        named=False,
        refuse="nothing separates the fields",
        variants=[("no:x name:x day:t? amount:n", [[a, b, c, str(int(d[1]))] for a, b, c, d in rows])],
    )


@made("fixed width in shift-jis")
def fixed_japanese():
    rows, out = [], []
    for i in range(60):
        row = [f"{i + 1:04d}", ["山田商店", "鈴木電機", "佐藤"][i % 3], str(1000 + i * 37)]
        b = row[1].encode("cp932")
        out.append(row[0].encode() + b" " + b + b" " * (12 - len(b)) + f"{row[2]:>8}\r\n".encode())
        rows.append(row)
    return Set(
        ("TOKUI.TXT", b"".join(out)),
        "no:x name:x sum:n",
        rows,
        encoding="cp932",
        named=False,
        refuse="widths are bytes of Shift-JIS",
    )


# ---- transport and maps ----


@made("gtfs stops")
def gtfs_stops():
    r = random.Random(94)
    rows = [
        [
            f"de:08111:{6000 + i}",
            f'Haltestelle, "{NAMES[i % 9]}"' if i % 6 == 0 else f"Hauptstraße {i}",
            f"{48 + r.randrange(10**6) / 1e6:.6f}",
            f"{9 + r.randrange(10**6) / 1e6:.6f}",
            str(i % 2),
            f"de:08111:{5000 + i // 2}" if i % 2 == 0 else None,
            None,
        ]
        for i in range(80)
    ]
    data = "\ufeffstop_id,stop_name,stop_lat,stop_lon,location_type,parent_station,platform_code\r\n" + "".join(
        "{},{},{},{},{},{},{}\r\n".format(a, '"' + b.replace('"', '""') + '"' if "," in b else b, c, d, e, f or "", g or "")
        for a, b, c, d, e, f, g in rows
    )
    return Set(
        ("stops.txt", data.encode()),
        "stop_id:x stop_name:x stop_lat:n stop_lon:n location_type:n parent_station:x platform_code:x",
        rows,
    )


@made("gtfs stop times past midnight")
def gtfs_times():
    rows = []
    for i in range(100):
        m = 22 * 60 + i * 3
        rows.append(
            [f"trip{i // 10}", f"{m // 60:02d}:{m % 60:02d}:00", f"{m // 60:02d}:{m % 60:02d}:30", f"S{i % 10}", str(i % 10)]
        )
    data = "trip_id,arrival_time,departure_time,stop_id,stop_sequence\n" + lines(rows, ",")
    return Set(("stop_times.txt", data.encode()), "trip_id:x arrival_time:x departure_time:x stop_id:x stop_sequence:n", rows)


@made("overpass csv of openstreetmap")
def overpass():
    r = random.Random(95)
    rows = [
        [
            str(10**9 + i * 977),
            "node",
            f"{50 + r.randrange(10**7) / 1e7:.7f}",
            f"{6 + r.randrange(10**7) / 1e7:.7f}",
            None if i % 5 == 0 else f"Café {i}",
            ["cafe", "bar"][i % 2],
            None if i % 3 else f"Mo-Fr 0{7 + i % 3}:00-18:00; Sa off",
        ]
        for i in range(80)
    ]
    data = "@id\t@type\t@lat\t@lon\tname\tamenity\topening_hours\n" + lines([[v or "" for v in row] for row in rows])
    return Set(("export.csv", data.encode()), "@id:n @type:x @lat:n @lon:n name:x amenity:x opening_hours:x", rows)


@made("geonames dump")
def geonames():
    r = random.Random(96)
    rows = [
        [
            str(2800000 + i),
            f"Ort{i}",
            f"Ort{i}",
            f"Ort {i},Орт" if i % 3 == 0 else None,
            f"{47 + r.randrange(10**5) / 1e5:.5f}",
            f"{8 + r.randrange(10**5) / 1e5:.5f}",
            "P",
            "PPL",
            "DE",
            None,
            f"{i % 16:02d}",
            None,
            str(r.randrange(99999)),
            None,
            str(r.randrange(900)),
            "Europe/Berlin",
            f"{day(i)}",
        ]
        for i in range(90)
    ]
    data = lines([[v or "" for v in row] for row in rows])
    return Set(
        ("DE.txt", data.encode()),
        "id:n name:x ascii:x alternate:x lat:n lon:n class:x code:x country:x cc2:x admin1:x admin2:x population:n elevation:n dem:n timezone:x changed:t",
        rows,
        named=False,
    )


@made("wkt with semicolons")
def wkt():
    r = random.Random(97)
    rows = [
        [f"POINT ({r.randrange(10**6) / 1e4} {r.randrange(10**6) / 1e4})", str(i), f"Feld {i}", f"{r.randrange(10**5) / 100}"]
        for i in range(50)
    ]
    data = "WKT;fid;name;area\n" + "".join(f'"{a}";{b};{c};{d}\n' for a, b, c, d in rows)
    return Set(("felder.csv", data.encode()), "WKT:x fid:n name:x area:n", rows)


@made("genome features in gff")
def gff():
    r = random.Random(98)
    rows, out = [], ["##gff-version 3", "##sequence-region chr1 1 248956422"]
    for i in range(70):
        row = [
            f"chr{1 + i % 3}",
            "HAVANA",
            ["gene", "exon"][i % 2],
            str(1000 * i + 1),
            str(1000 * i + r.randrange(2, 999)),
            (None, "."),
            ["+", "-"][i % 2],
            f"ID=gene{i};Name=ABC{i}",
        ]
        out.append("\t".join(c[1] if isinstance(c, tuple) else c for c in [*row[:7], ".", row[7]]))
        rows.append(row)
    return Set(
        ("genes.gff3", ("\n".join(out) + "\n").encode()),
        "seqid:x source:x type:x start:n end:n score:x strand:x attributes:x",
        rows,
        named=False,
    )


# ---- archives ----


def plain(name, n=80):
    r = random.Random(name)
    rows = [[str(i + 1), NAMES[i % 9], f"{at(i)}", money(r)] for i in range(n)]
    return rows, "id,name,placed_at,total\n" + lines(rows, ",")


@made("csv in zip with its folder")
def zipped():
    rows, data = plain("zip")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr(zipfile.ZipInfo("export/orders.csv"), data)
    return Set(("orders.zip", out.getvalue()), "id:n name:x placed_at:t total:n", rows)


@made("csv in bzip2")
def bzipped():
    rows, data = plain("bz2")
    return Set(("orders.csv.bz2", bz2.compress(data.encode())), "id:n name:x placed_at:t total:n", rows)


@made("semicolons in windows-1252 in gzip")
def gzipped():
    rows, data = plain("gz")
    return Set(
        ("orders.gz", gzip.compress(data.replace(",", ";").encode("cp1252"), mtime=0)),
        "id:n name:x placed_at:t total:n",
        rows,
        encoding="cp1252",
    )


# ---- Avro and Arrow ----


def avro(schema, records):
    out = io.BytesIO()
    need("fastavro").writer(out, schema, records, codec="deflate", sync_marker=bytes(range(16)))
    return out.getvalue()


@made("avro with unions and logical types")
def avro_logical():
    schema = {
        "type": "record",
        "name": "Order",
        "namespace": "com.example",
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "customer", "type": ["null", "string"]},
            {"name": "placed", "type": {"type": "long", "logicalType": "timestamp-millis"}},
            {"name": "due", "type": {"type": "int", "logicalType": "date"}},
            {"name": "total", "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}},
            {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["NEW", "PAID"]}},
            {"name": "ratio", "type": ["null", "double"]},
            {"name": "gift", "type": "boolean"},
        ],
    }
    r = random.Random(99)
    records, rows = [], []
    for i in range(80):
        t, total = at(i).replace(tzinfo=dt.timezone.utc), decimal.Decimal(money(r))
        records.append(
            dict(
                id=i + 1,
                customer=NAMES[i % 9] if i % 4 else None,
                placed=t,
                due=day(i),
                total=total,
                state=["NEW", "PAID"][i % 2],
                ratio=i / 8 if i % 3 else None,
                gift=i % 5 == 0,
            )
        )
        e = records[-1]
        rows.append([e["id"], e["customer"], str(at(i)), str(day(i)), str(total), e["state"], e["ratio"], e["gift"]])
    return Set(
        ("orders.avro", avro(schema, records)), "id:n customer:x placed:t due:t total:n state:x ratio:n gift:b", rows, reader=None
    )


@made("avro with records, arrays and maps")
def avro_nested():
    schema = {
        "type": "record",
        "name": "Event",
        "fields": [
            {"name": "key", "type": "string"},
            {
                "name": "user",
                "type": {
                    "type": "record",
                    "name": "User",
                    "fields": [{"name": "name", "type": "string"}, {"name": "age", "type": ["null", "int"]}],
                },
            },
            {"name": "tags", "type": {"type": "array", "items": "string"}},
            {"name": "props", "type": {"type": "map", "values": "long"}},
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        ],
    }
    records, rows = [], []
    for i in range(60):
        t = at(i).replace(tzinfo=dt.timezone.utc, microsecond=i * 1000)
        records.append(
            dict(
                key=f"k{i:04d}",
                user=dict(name=NAMES[i % 9], age=None if i % 3 == 0 else 20 + i),
                tags=["x", "y"][: i % 3],
                props={"n": i},
                at=t,
            )
        )
        rows.append(
            [
                f"k{i:04d}",
                NAMES[i % 9],
                None if i % 3 == 0 else 20 + i,
                '["x", "y"]' if i % 3 == 2 else '["x"]' if i % 3 else "[]",
                f'{{"n": {i}}}',
                f"{at(i)}.{i:03d}",
            ]
        )
    return Set(("events.avro", avro(schema, records)), "key:x user.name:x user.age:n tags:j props:j at:t", rows, reader=None)


def arrow(table, stream):
    pa = need("pyarrow")
    out = io.BytesIO()
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(out, table.schema) as w:
        w.write_table(table)
    return out.getvalue()


@made("arrow with dictionary, decimal and timestamps")
def arrow_typed():
    pa = need("pyarrow")
    r = random.Random(100)
    n = 90
    totals = [decimal.Decimal(money(r)) for _ in range(n)]
    table = pa.table(
        {
            "id": pa.array(range(1, n + 1), pa.uint32()),
            "kind": pa.array([["red", "green", None][i % 3] for i in range(n)]).dictionary_encode(),
            "total": pa.array(totals, pa.decimal128(12, 2)),
            "at": pa.array([at(i) for i in range(n)], pa.timestamp("us", "UTC")),
            "day": pa.array([day(i) for i in range(n)], pa.date32()),
            "ok": pa.array([i % 2 == 0 for i in range(n)]),
            "ratio": pa.array([i / 16 for i in range(n)], pa.float32()),
        }
    )
    rows = [[i + 1, ["red", "green", None][i % 3], str(totals[i]), str(at(i)), str(day(i)), i % 2 == 0, i / 16] for i in range(n)]
    return Set(("table.arrow", arrow(table, False)), "id:n kind:x total:n at:t day:t ok:b ratio:n", rows, reader=None)


@made("arrow stream with a struct")
def arrow_struct():
    pa = need("pyarrow")
    n = 60
    table = pa.table(
        {
            "key": [f"k{i:03d}" for i in range(n)],
            "pos": [{"x": i / 4, "y": -i} for i in range(n)],
            "at": pa.array([at(i) for i in range(n)], pa.timestamp("ms")),
        }
    )
    rows = [[f"k{i:03d}", i / 4, -i, str(at(i))] for i in range(n)]
    return Set(("stream.arrows", arrow(table, True)), "key:x pos.x:n pos.y:n at:t", rows, reader=None)


# ---- as on Kaggle ----


@made("kaggle passengers")
def passengers():
    r = random.Random(101)
    names = ["Braund, Mr. Owen", "Heikkinen, Miss. Laina", 'O\'Dwyer, Mrs. John (Florence "Flo")']
    rows = []
    for i in range(120):
        rows.append(
            [
                str(i + 1),
                str(i % 2),
                str(1 + i % 3),
                f"{names[i % 3]} {i}",
                ["male", "female"][i % 2],
                None if i % 6 == 5 else f"{r.randrange(1, 160) / 2:g}",
                f"{['A/5 ', 'PC ', ''][i % 3]}{r.randrange(10**4, 10**6)}",
                f"{r.randrange(70000, 5000000) / 1e4:g}",
                None if i % 4 else f"C{i}",
                ["S", "C", "Q"][i % 3],
            ]
        )
    data = "PassengerId,Survived,Pclass,Name,Sex,Age,Ticket,Fare,Cabin,Embarked\r\n" + "".join(
        "{},{},{},{},{},{},{},{},{},{}\r\n".format(*row[:3], '"' + row[3].replace('"', '""') + '"', *[v or "" for v in row[4:]])
        for row in rows
    )
    return Set(
        ("train.csv", data.encode()),
        "PassengerId:n Survived:n Pclass:n Name:x Sex:x Age:n Ticket:x Fare:n Cabin:x Embarked:x",
        rows,
    )


@made("kaggle trips with an index column")
def trips():
    r = random.Random(102)
    rows = [
        [
            str(i),
            f"2015-05-07 {19 + i // 60 % 5:02d}:{i % 60:02d}:06.0000003",
            f"{r.randrange(250, 5200) / 100}",
            f"2015-05-07 {19 + i // 60 % 5:02d}:{i % 60:02d}:06 UTC",
            f"-73.{r.randrange(10**15):015d}",
            str(1 + i % 6),
        ]
        for i in range(110)
    ]
    data = ",key,fare_amount,pickup_datetime,pickup_longitude,passenger_count\n" + lines(rows, ",")
    rows = [[a, b, c, (d[:-4], d), e, f] for a, b, c, d, e, f in rows]
    return Set(
        ("uber.csv", data.encode()),
        [":n", "key:x", "fare_amount:n", "pickup_datetime:t", "pickup_longitude:n", "passenger_count:n"],
        rows,
        variants=[([":n", "key:t", "fare_amount:n", "pickup_datetime:t", "pickup_longitude:n", "passenger_count:n"], rows)],
    )


@made("tweets in csv without a header")
def tweets():
    rows = [
        [
            ["0", "4"][i % 2],
            str(1467810369 + i * 313),
            f"Mon Apr {6 + i % 20:02d} 22:{i % 60:02d}:45 PDT 2009",
            "NO_QUERY",
            f"user_{i}",
            ["@bob I can't, sorry :(", 'so "happy" today &amp; more, really', "http://t.co/x"][i % 3] + f" {i}",
        ]
        for i in range(100)
    ]
    data = "".join(",".join('"' + v.replace('"', '""') + '"' for v in row) + "\n" for row in rows)
    return Set(("tweets.csv", data.encode("latin-1")), "target:n id:n date:x flag:x user:x text:x", rows, named=False)
