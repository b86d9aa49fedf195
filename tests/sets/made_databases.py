"""These sets are files that databases and their tools write."""

import datetime as dt
import random

from truth import Set, made

NAMES = ["Ana Lima", "Bo Jensen", "Chloé Petit", "Dmitri Orlov", "Eva Kühn", "Farid Aziz", "Gil O'Neil", "Hana Sato", "Ivo Novák"]


def day(i):
    return dt.date(2024, 1, 15) + dt.timedelta(days=i * 5)


def at(i, step=4321):
    return dt.datetime(2025, 11, 3, 22, 15, 9) + dt.timedelta(seconds=i * step)


def money(r, low=1, high=500000):
    return f"{r.randrange(low, high) / 100:.2f}"


def lines(rows, delimiter="\t", end="\n"):
    return "".join(delimiter.join(r) + end for r in rows)


def escaped(v, null="\\N"):
    if v is None:
        return null
    return v.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def orders(name, n):
    """id, customer, placed, total, note (null, with tabs, line ends, backslashes)"""
    r = random.Random(name)
    notes = [None, "call first", "left\tright", "two\nlines", "C:\\temp\\new", "50% off", "ok", None, 'say "hi"', "a,b"]
    return [[str(1001 + i), NAMES[i % 9], f"{at(i)}", money(r), notes[i % 10]] for i in range(n)]


@made("mysqldump --tab")
def mysqldump_tab():
    rows = orders("tab", 120)

    def out(v):  # a backslash before the byte, not \\t
        return "\\N" if v is None else "".join("\\" + c if c in "\\\t\n" else c for c in v)

    data = lines([out(v) for v in row] for row in rows)
    return Set(("orders.txt", data.encode()), "id:n customer:x placed:t total:n note:x", rows, named=False)


@made("mysql select into outfile, optionally enclosed")
def mysql_outfile():
    rows = orders("outfile", 90)

    def out(i, v):
        if v is None:
            return "\\N"
        v = v.replace("\\", "\\\\").replace("\n", "\\\n").replace('"', '\\"')
        return f'"{v}"' if i in (1, 2, 4) else v

    data = lines(([out(i, v) for i, v in enumerate(row)] for row in rows), ",")
    return Set(("outfile.csv", data.encode()), "id:n customer:x placed:t total:n note:x", rows, named=False)


@made("mysql --batch")
def mysql_batch():
    rows = orders("batch", 70)
    data = "id\tcustomer\tplaced\ttotal\tnote\n" + lines([escaped(v, "NULL") for v in row] for row in rows)
    return Set(("result.tsv", data.encode()), "id:n customer:x placed:t total:n note:x", rows)


def boxed(rows, head, corner="+", side="|", null="NULL"):
    cells = [[null if v is None else v for v in row] for row in [head, *rows]]
    w = [max(len(row[i]) for row in cells) for i in range(len(head))]
    rule = corner + corner.join("-" * (n + 2) for n in w) + corner + "\n"
    body = [side + side.join(f" {v:<{w[i]}} " for i, v in enumerate(row)) + side + "\n" for row in cells]
    return rule + body[0] + rule + "".join(body[1:]) + rule


@made("mysql --table")
def mysql_table():
    r = random.Random(3)
    rows = [[str(i + 1), NAMES[i % 9], str(day(i)), money(r), None if i % 7 == 3 else str(r.randrange(90))] for i in range(48)]
    data = boxed(rows, ["id", "name", "joined", "balance", "points"]) + "48 rows in set (0.00 sec)\n\n"
    return Set(("members.txt", data.encode()), "id:n name:x joined:t balance:n points:n", rows)


@made("postgres copy text")
def postgres_copy():
    r = random.Random(4)
    rows, out = [], []
    for i in range(100):
        t = at(i, 777)
        note = [None, "path C:\\x", "tab\there", "", "plain", "line\nend"][i % 6]
        tags = ["{red,blue}", "{}", None, '{"a b",c}'][i % 4]
        row = [str(i + 1), "t" if i % 3 else "f", f"{t:%Y-%m-%d %H:%M:%S}+01", money(r), note, tags]
        out.append([escaped(v) for v in row])
        rows.append([row[0], (bool(i % 3), row[1]), (f"{t.isoformat()}+01:00", row[2]), *row[3:]])
    return Set(("account.copy", lines(out).encode()), "id:n active:b? at:t total:n note:x tags:x", rows, named=False)


@made("postgres copy csv header")
def postgres_csv():
    r = random.Random(5)
    rows, out = [], []
    for i in range(80):
        t = at(i, 90001)
        name = NAMES[i % 9] + ["", ", Jr.", ' "Ace"', "\nc/o Smith"][i % 4]
        row = [str(7000 + i), name, "t" if i % 2 else "f", f"{t}.{i:06d}", money(r), None if i % 5 else "vip"]
        quoted = f'"{name}"'.replace('"', '""')[1:-1] if any(c in name for c in ',"\n') else name
        out.append([row[0], quoted, row[2], row[3], row[4], row[5] or ""])
        rows.append([row[0], name, (bool(i % 2), row[2]), row[3], row[4], row[5]])
    data = "id,name,active,changed_at,balance,flag\n" + lines(out, ",")
    return Set(("customers.csv", data.encode()), "id:n name:x active:b? changed_at:t balance:n flag:x", rows)


def psql_rows():
    r = random.Random(6)
    return [
        [
            str(i * 3 + 1),
            f"sensor-{i % 7}",
            f"{at(i, 60)}+00",
            None if i % 9 == 4 else f"{r.randrange(-900, 4000) / 100}",
            "ok" if i % 4 else "needs service",
        ]
        for i in range(60)
    ]


@made("psql aligned")
def psql_aligned():
    rows = psql_rows()
    head = ["id", "sensor", "taken_at", "value", "state"]
    cells = [[v or "" for v in row] for row in rows]
    w = [max(len(row[i]) for row in [head, *cells]) for i in range(5)]
    data = "|".join(f" {h:^{w[i]}} " for i, h in enumerate(head)) + "\n" + "+".join("-" * (n + 2) for n in w) + "\n"
    data += "".join(
        "|".join(f" {v:>{w[i]}} " if i in (0, 3) else f" {v:<{w[i]}} " for i, v in enumerate(row)).rstrip() + "\n"
        for row in cells
    )
    return Set(("out.txt", (data + "(60 rows)\n\n").encode()), "id:n sensor:x taken_at:t value:n state:x", rows)


@made("psql unaligned")
def psql_unaligned():
    rows = psql_rows()
    data = "id|sensor|taken_at|value|state\n" + lines([[v or "" for v in row] for row in rows], "|") + "(60 rows)\n"
    return Set(("out.psql", data.encode()), "id:n sensor:x taken_at:t value:n state:x", rows)


@made("psql expanded")
def psql_expanded():
    rows = psql_rows()
    data = "".join(
        f"-[ RECORD {i + 1} ]{'-' * 18}\n"
        + "".join(f"{n:<8} | {v or ''}\n" for n, v in zip(["id", "sensor", "taken_at", "value", "state"], row))
        for i, row in enumerate(rows)
    )
    return Set(
        ("expanded.txt", data.encode()), "id:n sensor:x taken_at:t value:n state:x", rows, refuse="a record has many lines"
    )


@made("sqlplus with page headings")
def sqlplus():
    r = random.Random(7)
    jobs = ["CLERK", "SALESMAN", "MANAGER", "ANALYST"]
    rows = [
        [
            str(7369 + i * 4),
            ["SMITH", "ALLEN", "WARD", "JONES", "BLAKE"][i % 5],
            jobs[i % 4],
            f"{day(i)}",
            str(r.randrange(800, 5000)),
            str(10 * (1 + i % 4)),
        ]
        for i in range(64)
    ]
    head = "     EMPNO ENAME      JOB       HIREDATE         SAL     DEPTNO\n"
    rule = "---------- ---------- --------- --------- ---------- ----------\n"
    data = ""
    for i, (no, name, job, hired, sal, dept) in enumerate(rows):
        if i % 11 == 0:
            data += "\n" + head + rule
        d = dt.date.fromisoformat(hired).strftime("%d-%b-%y").upper()
        data += f"{no:>10} {name:<10} {job:<9} {d:<9} {sal:>10} {dept:>10}\n"
        rows[i][3] = (hired, d)
    data += "\n64 rows selected.\n\n"
    return Set(("emp.lst", data.encode()), "EMPNO:n ENAME:x JOB:x HIREDATE:t SAL:n DEPTNO:n", rows)


@made("oracle sql developer csv")
def sql_developer():
    r = random.Random(8)
    rows = [
        [str(100 + i), NAMES[i % 9], (f"{day(i)}", f"{day(i):%d-%b-%y}".upper()), money(r), None if i % 4 else "0.2"]
        for i in range(60)
    ]
    data = '"EMPLOYEE_ID","FULL_NAME","HIRE_DATE","SALARY","COMMISSION_PCT"\n' + "".join(
        f'{a},"{b}",{c[1]},{d},{e or ""}\n' for a, b, c, d, e in rows
    )
    return Set(("export.csv", data.encode()), "EMPLOYEE_ID:n FULL_NAME:x HIRE_DATE:t SALARY:n COMMISSION_PCT:n", rows)


def hive_rows(name, n):
    r = random.Random(name)
    return [
        [
            f"u{r.randrange(10**6):06d}",
            str(i + 1),
            ["view", "click", "buy"][i % 3],
            money(r) if i % 3 == 2 else None,
            NAMES[i % 9],
        ]
        for i in range(n)
    ]


@made("hive text with ^A")
def hive_text():
    rows = hive_rows("h", 150)
    data = lines([[v or "\\N" for v in row] for row in rows], "\x01")
    return Set(("000000_0", data.encode()), "user:x seq:n action:x price:n name:x", rows, named=False)


@made("hive partitions")
def hive_partitions():
    files, rows = {}, []
    for k, (d, c) in enumerate([("2026-10-01", "DE"), ("2026-10-01", "FR"), ("2026-10-02", "DE")]):
        part = hive_rows(f"p{k}", 40)
        for row in part:
            row[1] = str(int(row[1]) + 1000 * k)
        files[f"events/dt={d}/country={c}/000000_0"] = lines([[v or "\\N" for v in row] for row in part], "\x01").encode()
        rows += [[*row, (d, d), c] for row in part]
    return Set(files, "user:x seq:n action:x price:n name:x dt:t? country:x", rows, named=False, target="events")


@made("spark csv folder")
def spark_folder():
    files, rows = {"sales/_SUCCESS": b""}, []
    r = random.Random(9)
    for k in range(3):
        part = [[str(k * 30 + i), f"shop {i % 5}", f"{at(i + 30 * k)}".replace(" ", "T") + ".000Z", money(r)] for i in range(30)]
        data = "id,shop,sold_at,amount\n" + lines(part, ",")
        files[f"sales/part-0000{k}-5be9f4b2-c000.csv"] = data.encode()
        rows += part
    return Set(files, "id:n shop:x sold_at:t amount:n", rows, target="sales")


def german(v):
    whole, _, part = f"{abs(float(v)):,.2f}".partition(".")
    return whole.replace(",", ".") + "," + part


@made("sap alv list")
def sap_alv():
    r = random.Random(10)
    rows, out = [], [
        "14.11.2025                                       Dynamische Listenausgabe                                      1",
        "",
        "Buchungskreis 1000",
        "",
    ]
    head = "|  Belegnr   | Konto  | Buch.dat.  | Text               |       Betrag HW | Währg |"
    rule = "-" * len(head)
    total = 0
    for i in range(57):
        if i % 19 == 0:
            out += [rule, head, rule]
        v = r.randrange(-900000, 2500000) / 100
        total += v
        d = day(i)
        amount = german(v) + ("-" if v < 0 else " ")
        text = ["Miete", "Gehälter Januar", "Büromaterial", "Rückerstattung"][i % 4]
        out.append(
            f"| {19000000 + i} ".ljust(13) + f"| {400000 + i % 6 * 1000} | {d:%d.%m.%Y} | {text:<18} | {amount:>15} | EUR   |"
        )
        rows.append(
            [str(19000000 + i), str(400000 + i % 6 * 1000), (f"{d}", f"{d:%d.%m.%Y}"), text, (f"{v:.2f}", amount.strip()), "EUR"]
        )
    out += [rule, "| *" + " " * 56 + f"| {german(total) + ' ':>15} | EUR   |", rule]
    data = "\r\n".join(out) + "\r\n"
    return Set(
        ("liste.txt", data.encode("cp1252")),
        ["Belegnr:n", "Konto:n", "Buch.dat.:t", "Text:x", "Betrag HW:n", "Währg:x"],
        rows,
        encoding="cp1252",
    )


@made("db2 export of del")
def db2():
    r = random.Random(11)
    rows, out = [], []
    for i in range(75):
        v, t = r.randrange(-90000, 900000) / 100, at(i)
        d, stamp = f"{day(i):%Y%m%d}", f"{t:%Y-%m-%d-%H.%M.%S}.000000"
        note = None if i % 6 == 1 else ["plain", 'with ""quotes""', "a, b"][i % 3]
        sign = "-" if v < 0 else "+"
        out.append(
            f'{i + 1},"{NAMES[i % 9]}",{d},"{stamp}",{sign}{abs(v):012.2f},{"" if note is None else chr(34) + note + chr(34)}\n'
        )
        rows.append(
            [
                str(i + 1),
                NAMES[i % 9],
                (f"{day(i)}", d),
                (t.isoformat(), stamp),
                (f"{v:.2f}", f"{sign}{abs(v):012.2f}"),
                note and note.replace('""', '"'),
            ]
        )
    return Set(("org.del", "".join(out).encode()), "id:n name:x day:t stamp:t? amount:n note:x", rows, named=False)


def bcp_rows():
    r = random.Random(12)
    return [
        [str(i + 1), NAMES[i % 9], f"{at(i)}.{i * 7 % 1000:03d}", money(r), None if i % 8 == 5 else f"P{i:04d}", str(i % 2)]
        for i in range(85)
    ]


@made("bcp -c")
def bcp_c():
    rows = bcp_rows()
    data = lines([[v or "" for v in row] for row in rows], end="\r\n")
    return Set(
        ("dbo.Orders.dat", data.encode("cp1252", "replace")),
        "id:n name:x at:t total:n part:x bit:n?",
        [[a, b.encode("cp1252", "replace").decode("cp1252"), *c] for a, b, *c in rows],
        encoding="cp1252",
        named=False,
    )


@made("bcp -w, utf-16le without a mark")
def bcp_w():
    rows = bcp_rows()
    data = lines([[v or "" for v in row] for row in rows], end="\r\n")
    return Set(
        ("orders.dat", data.encode("utf-16-le")), "id:n name:x at:t total:n part:x bit:n?", rows, encoding="utf-16le", named=False
    )


@made("sqlcmd result with ruler")
def sqlcmd():
    rows = bcp_rows()[:44]
    head, w = ["OrderID", "Customer", "OrderDate", "Total", "Part"], [11, 20, 23, 12, 8]
    data = " ".join(f"{h:<{n}}" for h, n in zip(head, w)) + "\r\n" + " ".join("-" * n for n in w) + "\r\n"
    for a, b, c, d, e, _ in rows:
        data += f"{a:>11} {b:<20} {c:<23} {d:>12} {e or 'NULL':<8}\r\n"
    data += "\r\n(44 rows affected)\r\n"
    return Set(("result.rpt", data.encode("utf-8-sig")), "OrderID:n Customer:x OrderDate:t Total:n Part:x", [r[:5] for r in rows])


@made("sqlite column mode")
def sqlite_column():
    r = random.Random(13)
    rows = [
        [str(i + 1), ["oak", "silver birch", "ash"][i % 3] + f" {i}", f"{day(i)}", f"{r.randrange(10, 900) / 10}"]
        for i in range(50)
    ]
    head = ["id", "tree", "planted", "height_m"]
    w = [max(len(row[i]) for row in [head, *rows]) for i in range(4)]
    data = "".join("  ".join(f"{v:<{n}}" for v, n in zip(row, w)).rstrip() + "\n" for row in [head, ["-" * n for n in w], *rows])
    return Set(("trees.txt", data.encode()), "id:n tree:x planted:t height_m:n", rows)


@made("informix unload")
def informix():
    r = random.Random(14)
    rows = [
        [str(100 + i), NAMES[i % 9], (f"{day(i)}", f"{day(i):%m/%d/%Y}"), money(r), None if i % 3 else f"pipe | {i}"]
        for i in range(66)
    ]
    data = "".join(f"{a}|{b}|{c[1]}|{d}|{(e or '').replace('|', chr(92) + '|')}|\n" for a, b, c, d, e in rows)
    return Set(("customer.unl", data.encode()), "id:n name:x day:t total:n note:x", rows, named=False)


@made("redshift unload with escape")
def redshift():
    r = random.Random(15)
    rows = [
        [
            str(i),
            f"https://shop.example/p/{i}?a=1|b=2" if i % 4 == 0 else f"https://shop.example/{i}",
            f"{at(i)}.{i:06d}",
            money(r),
        ]
        for i in range(1, 91)
    ]
    data = "".join("|".join(v.replace("\\", "\\\\").replace("|", "\\|") for v in row) + "\n" for row in rows)
    return Set(("unload_0000_part_00", data.encode()), "id:n url:x at:t price:n", rows, named=False)


@made("cassandra copy to")
def cassandra():
    r = random.Random(16)
    rows, out = [], []
    for i in range(70):
        u = f"{r.getrandbits(32):08x}-{r.getrandbits(16):04x}-4{r.getrandbits(12):03x}-a{r.getrandbits(12):03x}-{r.getrandbits(48):012x}"
        t = at(i)
        stamp = f"{t:%Y-%m-%d %H:%M:%S}.{i:03d}+0000"
        note = ["plain", 'the "best"', "x, y", None][i % 4]
        text = "" if note is None else '"' + note.replace('"', '\\"') + '"' if note != "plain" else note
        out.append(f"{u},{stamp},{i % 2 == 0},{r.randrange(100)},{text}\n")
        rows.append([u, (f"{t.isoformat()}.{i:03d}", stamp), (i % 2 == 0, str(i % 2 == 0)), out[-1].split(",")[3], note])
    return Set(
        ("ks.users.csv", ("id,created,active,score,note\n" + "".join(out)).encode()),
        "id:x created:t active:b? score:n note:x",
        rows,
    )


@made("bigquery export")
def bigquery():
    r = random.Random(17)
    rows = [
        [
            f"{r.getrandbits(64):016x}",
            (f"{at(i).isoformat()}Z", f"{at(i)} UTC"),
            (bool(i % 3), str(bool(i % 3)).lower()),
            money(r),
            None if i % 5 else "EU",
        ]
        for i in range(60)
    ]
    data = "event_id,event_time,converted,revenue,zone\n" + "".join(
        f"{a},{b[1]},{c[1]},{d},{e or ''}\n" for a, b, c, d, e in rows
    )
    return Set(("bq-results.csv", data.encode()), "event_id:x event_time:t converted:b? revenue:n zone:x", rows)


@made("clickhouse tsv with names and types")
def clickhouse():
    r = random.Random(18)
    rows = [
        [str(i), f"{at(i)}", ["GET", "POST"][i % 2], str(r.randrange(9999)), None if i % 6 == 0 else f"a\\b {i}"]
        for i in range(80)
    ]
    data = "id\tat\tmethod\tms\tnote\nUInt64\tDateTime\tLowCardinality(String)\tUInt32\tNullable(String)\n" + lines(
        [escaped(v) for v in row] for row in rows
    )
    return Set(("q.tsv", data.encode()), "id:n at:t method:x ms:n note:x", rows)


@made("salesforce export")
def salesforce():
    r = random.Random(19)
    rows = [
        [
            f"0015g00000{''.join(r.choices('ABCDEFGHJKabcdefghj0123456789', k=8))}",
            f"{NAMES[i % 9]} GmbH",
            (f"{at(i).isoformat()}Z", f"{at(i).isoformat()}.000Z"),
            money(r) if i % 3 else None,
            (i % 2 == 0, str(i % 2 == 0).lower()),
        ]
        for i in range(55)
    ]
    data = '"Id","Name","CreatedDate","AnnualRevenue","IsDeleted"\n' + "".join(
        f'"{a}","{b}","{c[1]}","{d or ""}","{e[1]}"\n' for a, b, c, d, e in rows
    )
    return Set(("Account.csv", data.encode()), "Id:x Name:x CreatedDate:t AnnualRevenue:n IsDeleted:b?", rows)
