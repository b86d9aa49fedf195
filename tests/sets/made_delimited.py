"""These sets are exports as delimited text, with preambles, totals, rare delimiters, and many forms of numbers and times."""

import datetime as dt
import random

from made_databases import NAMES, at, day, german, lines, money
from truth import Set, made


@made("two bars as delimiter")
def two_bars():
    r = random.Random(20)
    rows = [[str(i + 1), NAMES[i % 9] + (" | Co" if i % 5 == 0 else ""), f"{day(i)}", money(r)] for i in range(60)]
    data = "id||name||since||limit\n" + lines(rows, "||")
    return Set(("accounts.dat", data.encode()), "id:n name:x since:t limit:n", rows)


@made("tilde bar tilde as delimiter")
def tilde_bar():
    r = random.Random(21)
    rows = [[f"C{i:05d}", NAMES[i % 9], f"{at(i)}", money(r), None if i % 3 else "a|b~c"] for i in range(70)]
    data = "cust_id~|~cust_name~|~updated~|~credit~|~remark\n" + lines([[v or "" for v in row] for row in rows], "~|~")
    return Set(("extract.txt", data.encode()), "cust_id:x cust_name:x updated:t credit:n remark:x", rows)


@made("tsv with ragged lines")
def ragged():
    r = random.Random(22)
    rows, out = [], ["gene\tchrom\tstart\tend\tnote\tsource"]
    for i in range(80):
        row = [
            f"GENE{i}",
            f"chr{1 + i % 22}",
            str(1000 * i),
            str(1000 * i + r.randrange(900)),
            "curated" if i % 3 == 0 else None,
            "ens" if i % 4 == 0 else None,
        ]
        out.append("\t".join(v or "" for v in row).rstrip("\t"))
        rows.append(row)
    return Set(("genes.tsv", ("\n".join(out) + "\n").encode()), "gene:x chrom:x start:n end:n note:x source:x", rows)


@made("csv with line ends in quotes")
def line_ends():
    r = random.Random(23)
    rows = [
        [
            str(i + 1),
            ["Main St 5\nFlat 3\n12345 Town", 'Near "The Mill"\r\nHill Rd', "Short Rd 1", "a,b;c\td"][i % 4],
            money(r),
            f"{day(i)}",
        ]
        for i in range(60)
    ]
    data = "id,address,amount,day\n" + "".join('{},"{}",{},{}\n'.format(a, b.replace('"', '""'), c, d) for a, b, c, d in rows)
    return Set(("addresses.csv", data.encode()), "id:n address:x amount:n day:t", rows)


@made("csv with inch marks in values")
def inches():
    r = random.Random(24)
    rows = [
        [
            f"SKU-{i:03d}",
            [f'Pipe {i % 7}" steel', f'TV {40 + i % 9}" flat', "Hammer", "Rope 5m"][i % 4],
            str(r.randrange(900)),
            money(r, 100, 9000),
        ]
        for i in range(60)
    ]
    data = "sku,title,stock,price\n" + lines(rows, ",")
    return Set(("articles.csv", data.encode()), "sku:x title:x stock:n price:n", rows)


@made("csv with repeated headers")
def repeated():
    r = random.Random(25)
    rows = [[f"{at(i)}", f"pump{i % 4}", f"{r.randrange(100, 900) / 10}"] for i in range(90)]
    data = "".join("time,unit,pressure\n" + lines(rows[k : k + 30], ",") for k in (0, 30, 60))
    return Set(("joined.csv", data.encode()), "time:t unit:x pressure:n", rows)


@made("csv with a row of totals")
def totals():
    r = random.Random(26)
    rows = [[f"Store {i:02d}", str(v := r.randrange(100, 900)), f"{v * 13.5:.2f}"] for i in range(40)]
    data = (
        "store,units,revenue\n"
        + lines(rows, ",")
        + f"Total,{sum(int(x[1]) for x in rows)},{sum(float(x[2]) for x in rows):.2f}\n"
    )
    return Set(("week45.csv", data.encode()), "store:x units:n revenue:n", rows)


@made("bank statement with preamble")
def bank():
    r = random.Random(27)
    rows, out = [], [
        '"Kontonummer:";"DE12 5001 0517 0648 4898 90 / Girokonto";',
        "",
        '"Von:";"01.01.2024";',
        '"Bis:";"31.03.2024";',
        '"Kontostand vom 31.03.2024:";"12.345,67 EUR";',
        "",
        '"Buchungstag";"Wertstellung";"Buchungstext";"Auftraggeber / Begünstigter";"Verwendungszweck";"Betrag (EUR)";',
    ]
    for i in range(60):
        v = r.randrange(-300000, 250000) / 100
        d = day(i % 18) + dt.timedelta(days=i % 5)
        row = [
            (f"{d}", f"{d:%d.%m.%Y}"),
            (f"{d}", f"{d:%d.%m.%Y}"),
            ["Gutschrift", "Lastschrift", "Überweisung"][i % 3],
            NAMES[i % 9],
            f"Rechnung {4711 + i}",
            (f"{v:.2f}", ("-" if v < 0 else "") + german(v)),
        ]
        out.append(";".join(f'"{c[1] if isinstance(c, tuple) else c}"' for c in row) + ";")
        rows.append(row)
    return Set(
        ("Umsatzanzeige.csv", ("\n".join(out) + "\n").encode("cp1252")),
        [
            "Buchungstag:t",
            "Wertstellung:t",
            "Buchungstext:x",
            "Auftraggeber / Begünstigter:x",
            "Verwendungszweck:x",
            "Betrag (EUR):n",
        ],
        rows,
        encoding="cp1252",
    )


@made("amounts with a trailing minus")
def trailing_minus():
    r = random.Random(28)
    rows = []
    for i in range(60):
        v = r.randrange(-90000, 90000) / 100
        rows.append([str(7000 + i), f"{day(i)}", (f"{v:.2f}", f"{abs(v):.2f}" + ("-" if v < 0 else ""))])
    data = "doc,day,amount\n" + "".join(f"{a},{b},{c[1]}\n" for a, b, c in rows)
    return Set(("ledger.csv", data.encode()), "doc:n day:t amount:n", rows)


@made("amounts in parentheses with dollars")
def parentheses():
    r = random.Random(29)
    rows = []
    for i in range(60):
        v = r.randrange(-9000000, 9000000) / 100
        text = f"${abs(v):,.2f}"
        rows.append([f"INV-{i:04d}", f"{day(i)}", (f"{v:.2f}", f"({text})" if v < 0 else text)])
    data = "invoice,posted,net\n" + "".join(f'{a},{b},"{c[1]}"\n' for a, b, c in rows)
    return Set(("quickbooks.csv", data.encode()), "invoice:x posted:t net:n?", rows)


@made("world bank csv with preamble")
def world_bank():
    r = random.Random(30)
    years = [str(y) for y in range(2005, 2021)]
    places = [("Aruba", "ABW"), ("Korea, Rep.", "KOR"), ("Côte d'Ivoire", "CIV"), ("Egypt, Arab Rep.", "EGY"), ("World", "WLD")]
    rows = [
        [
            f"{places[i % 5][0]}{'' if i < 5 else f' {i}'}",
            f"{places[i % 5][1]}{i // 5}",
            "Population growth (annual %)",
            "SP.POP.GROW",
            *[None if (i + k) % 7 == 0 else str(r.randrange(-2000, 4000) / 1000) for k in range(16)],
        ]
        for i in range(45)
    ]
    data = '\ufeff"Data Source","World Development Indicators",\r\n\r\n"Last Updated Date","2021-06-30",\r\n\r\n'
    data += "".join(f'"{h}",' for h in ["Country Name", "Country Code", "Indicator Name", "Indicator Code", *years]) + "\r\n"
    data += "".join("".join(f'"{v or ""}",' for v in row) + "\r\n" for row in rows)
    return Set(
        ("API_SP.POP.GROW_DS2.csv", data.encode()),
        ["Country Name:x", "Country Code:x", "Indicator Name:x", "Indicator Code:x", *[f"{y}:n" for y in years]],
        rows,
    )


@made("census csv with numeric headers")
def census():
    r = random.Random(31)
    rows = [[f"County {i}", *[str(r.randrange(1000, 99999)) for _ in range(4)]] for i in range(50)]
    data = "name,2020,2021,2022,2023\n" + lines(rows, ",")
    return Set(("pop.csv", data.encode()), "name:x 2020:n 2021:n 2022:n 2023:n", rows)


@made("numbers under a header of years only")
def years_only():
    r = random.Random(32)
    rows = [[str(r.randrange(10, 999)) for _ in range(5)] + [f"{r.randrange(100, 999) / 10}"] for _ in range(60)]
    data = "2019,2020,2021,2022,2023,mean\n" + lines(rows, ",")
    return Set(("yearly.csv", data.encode()), "2019:n 2020:n 2021:n 2022:n 2023:n mean:n", rows)


@made("folder with other column orders")
def orders_of_columns():
    r = random.Random(33)
    heads = [["id", "city", "temp", "at"], ["at", "id", "temp", "city"], ["id", "at", "city", "temp"]]
    files, rows = {}, []
    for k, head in enumerate(heads):
        out = [",".join(head)]
        for i in range(30):
            row = dict(
                id=str(k * 30 + i),
                city=["Oslo", "Rome", "Bonn"][i % 3],
                temp=f"{r.randrange(-90, 400) / 10}",
                at=f"{at(i + 30 * k)}",
            )
            out.append(",".join(row[h] for h in head))
            rows.append([row[h] for h in heads[0]])
        files[f"inbox/2026-0{k + 1}.csv"] = ("\n".join(out) + "\n").encode()
    return Set(files, "id:n city:x temp:n at:t", rows, target="inbox")


@made("folder where a later file has one more column")
def more_columns():
    r = random.Random(34)
    rows = [[str(i), f"k{i % 9}", str(r.randrange(99)), None if i < 40 else f"u{i}"] for i in range(80)]
    files = {
        "logs/a.csv": ("id,kind,n\n" + lines([row[:3] for row in rows[:40]], ",")).encode(),
        "logs/b.csv": ("id,kind,n,user\n" + lines(rows[40:], ",")).encode(),
    }
    return Set(files, "id:n kind:x n:n user:x", rows, target="logs")


@made("excel serial dates")
def serial_dates():
    r = random.Random(35)
    rows = [[f"T{i:04d}", (f"{day(i)}", str((day(i) - dt.date(1899, 12, 30)).days)), money(r)] for i in range(60)]
    data = "ticket,opened_date,cost\n" + "".join(f"{a},{b[1]},{c}\n" for a, b, c in rows)
    return Set(("tickets.csv", data.encode()), "ticket:x opened_date:t? cost:n", rows)


@made("dates as 20120901")
def compact_dates():
    r = random.Random(36)
    rows = [[str(100 + i), (f"{day(i * 3)}", f"{day(i * 3):%Y%m%d}"), str(r.randrange(9))] for i in range(70)]
    data = "station,obs_date,rain\n" + "".join(f"{a},{b[1]},{c}\n" for a, b, c in rows)
    return Set(("rain.csv", data.encode()), "station:n obs_date:t rain:n", rows)


@made("epoch seconds")
def epoch_s():
    r = random.Random(37)
    rows = [
        [f"dev{i % 6}", (f"{at(i)}", str(int(at(i).replace(tzinfo=dt.timezone.utc).timestamp()))), f"{r.randrange(900) / 8}"]
        for i in range(90)
    ]
    data = "device,created_at,level\n" + "".join(f"{a},{b[1]},{c}\n" for a, b, c in rows)
    return Set(("levels.csv", data.encode()), "device:x created_at:t level:n", rows)


@made("epoch milliseconds")
def epoch_ms():
    r = random.Random(38)
    rows = []
    for i in range(90):
        ms = int(at(i, 61).replace(tzinfo=dt.timezone.utc).timestamp()) * 1000 + i * 11
        rows.append([(f"{at(i, 61)}.{i * 11:03d}", str(ms)), f"veh-{i % 5}", f"{48 + r.randrange(9000) / 1e5:.5f}"])
    data = "ts_ms,vehicle,lat\n" + "".join(f"{a[1]},{b},{c}\n" for a, b, c in rows)
    return Set(("gps.csv", data.encode()), "ts_ms:t vehicle:x lat:n", rows)


@made("uuids and addresses of machines")
def uuids():
    r = random.Random(39)
    rows = []
    for i in range(70):
        u = f"{r.getrandbits(32):08x}-{r.getrandbits(16):04x}-4{r.getrandbits(12):03x}-8{r.getrandbits(12):03x}-{r.getrandbits(48):012x}"
        ip = f"10.{r.randrange(256)}.{r.randrange(256)}.{r.randrange(256)}" if i % 6 else f"2001:db8::{i + 1:x}"
        rows.append([u, ip, f"{at(i).isoformat()}Z", str(r.randrange(65536))])
    data = "session,client_ip,started,port\n" + lines(rows, ",")
    return Set(("sessions.csv", data.encode()), "session:x client_ip:x started:t port:n", rows)


@made("codes with leading zeros")
def zeros():
    r = random.Random(40)
    rows = [
        [f"{r.randrange(10**8):013d}", f"{i:04d}", f"{r.randrange(501, 99951):05d}", f"+1 555 01{i:02d}", str(r.randrange(50))]
        for i in range(80)
    ]
    data = "ean,branch,zip,phone,qty\n" + lines(rows, ",")
    return Set(("stock.csv", data.encode()), "ean:x branch:x zip:x phone:x qty:n", rows)


@made("apostrophes as thousands")
def apostrophes():
    r = random.Random(41)
    rows = []
    for i in range(60):
        v = r.randrange(1000, 900000000) / 100
        rows.append(
            [
                str(i + 1),
                ["Zürich", "Genève", "Lugano"][i % 3] + f" {i}",
                (f"{v:.2f}", f"{v:,.2f}".replace(",", "'")),
                (f"{day(i)}", f"{day(i):%d.%m.%Y}"),
            ]
        )
    data = "Nr;Filiale;Umsatz CHF;Stichtag\n" + "".join(f"{a};{b};{c[1]};{d[1]}\n" for a, b, c, d in rows)
    return Set(("filialen.csv", data.encode("utf-8-sig")), ["Nr:n", "Filiale:x", "Umsatz CHF:n", "Stichtag:t"], rows)


@made("indian groups of digits")
def lakh():
    r = random.Random(42)
    rows = []
    for i in range(50):
        v = r.randrange(10**5, 10**9)
        head, tail = str(v)[:-3], str(v)[-3:]
        groups = []
        while head:
            groups.insert(0, head[-2:])
            head = head[:-2]
        rows.append([f"Branch {i}", (str(v), ",".join([*groups, tail])), f"{day(i)}"])
    data = "branch,deposits,as_of\n" + "".join(f'{a},"{b[1]}",{c}\n' for a, b, c in rows)
    return Set(("deposits.csv", data.encode()), "branch:x deposits:n? as_of:t", rows)


@made("fractions that look like thousands")
def fractions():
    r = random.Random(43)
    rows = [[f"S{i:03d}", f"0.{r.randrange(100, 999)}", f"{1 + i % 9}.{r.randrange(100, 999)}"] for i in range(60)]
    data = "sample;absorbance;ratio\n" + lines(rows, ";")
    return Set(("lab.csv", data.encode()), "sample:x absorbance:n ratio:n", rows)


@made("csv in single quotes")
def single_quotes():
    r = random.Random(44)
    rows = [[str(i + 1), ["red, green", "blue", "it's", "a 'b' c"][i % 4] + f" {i}", money(r)] for i in range(60)]
    data = "'id','colour','price'\n" + "".join("{},'{}',{}\n".format(a, b.replace("'", "''"), c) for a, b, c in rows)
    return Set(("colours.csv", data.encode()), "id:n colour:x price:n", rows)


@made("csv with comments")
def comments():
    r = random.Random(45)
    rows = [
        [f"{at(i, 600).isoformat()}", f"{r.randrange(900, 1100)}.{i % 10}", f"{r.randrange(-90, 300) / 10}"] for i in range(80)
    ]
    data = (
        "# station: Zugspitze\n# unit of p: hPa\n#\ntime,p,t\n"
        + lines(rows[:40], ",")
        + "# sensor replaced\n"
        + lines(rows[40:], ",")
    )
    return Set(("station.csv", data.encode()), "time:t p:n t:n", rows)


@made("csv with a row of units")
def units():
    r = random.Random(46)
    rows = [
        [f"{at(i, 900)}", f"{r.randrange(-90, 300) / 10}", f"{r.randrange(0, 200) / 10}", str(r.randrange(360))]
        for i in range(70)
    ]
    data = "TIMESTAMP,AirTemp,WindSpeed,WindDir\nTS,degC,m/s,deg\n" + lines(rows, ",")
    return Set(("logger.csv", data.encode()), "TIMESTAMP:t AirTemp:n WindSpeed:n WindDir:n", rows)


@made("campbell logger toa5")
def toa5():
    r = random.Random(47)
    rows = [
        [f"{at(i, 600)}", str(i), f"{r.randrange(1180, 1400) / 100}", None if i % 11 == 5 else f"{r.randrange(-90, 300) / 10}"]
        for i in range(70)
    ]
    data = '"TOA5","CR1000X","CR1000X","12345","CR1000X.Std.05.01","CPU:met.CR1X","1234","Table1"\r\n"TIMESTAMP","RECORD","BattV_Min","AirTC_Avg"\r\n'
    data += '"TS","RN","Volts","Deg C"\r\n"","","Min","Avg"\r\n' + "".join(
        f'"{a}",{b},{c},{d or chr(34) + "NAN" + chr(34)}\r\n' for a, b, c, d in rows
    )
    return Set(("Table1.dat", data.encode()), "TIMESTAMP:t RECORD:n BattV_Min:n AirTC_Avg:n", rows)


@made("csv with a delimiter at the end")
def ends_with_delimiter():
    r = random.Random(48)
    rows = [[str(i + 1), NAMES[i % 9], money(r)] for i in range(60)]
    data = "id;name;sum;\n" + "".join(";".join(row) + ";\n" for row in rows)
    return Set(("old.csv", data.encode()), "id:n name:x sum:n", rows)


@made("csv with percent signs")
def percents():
    r = random.Random(49)
    rows = [
        [f"Campaign {i}", (f"{(v := r.randrange(1, 999) / 10)}", f"{v}%"), str(r.randrange(99999)), f"{day(i)}"]
        for i in range(50)
    ]
    data = "campaign,click_rate,views,day\n" + "".join(f"{a},{b[1]},{c},{d}\n" for a, b, c, d in rows)
    return Set(("ads.csv", data.encode()), "campaign:x click_rate:n? views:n day:t", rows)


@made("csv with sep= in the first line")
def sep_line():
    r = random.Random(50)
    rows = [[str(i + 1), NAMES[i % 9], f"{day(i)}", money(r)] for i in range(50)]
    data = "sep=;\r\nid;name;day;sum\r\n" + lines(rows, ";", "\r\n")
    return Set(("sep.csv", data.encode("utf-8-sig")), "id:n name:x day:t sum:n", rows)


@made("csv with na and -9999")
def missing_words():
    r = random.Random(51)
    rows, out = [], ["plot,species,height,cover"]
    for i in range(70):
        h = None if i % 9 == 2 else f"{r.randrange(10, 400) / 10}"
        c = (None, "-9999") if i % 8 == 3 else f"{r.randrange(100)}"
        out.append(f"{i + 1},{['oak', 'ash', 'elm'][i % 3]},{h or 'NA'},{c[1] if isinstance(c, tuple) else c}")
        rows.append([str(i + 1), ["oak", "ash", "elm"][i % 3], h, c])
    return Set(
        ("plots.csv", ("\n".join(out) + "\n").encode()),
        "plot:n species:x height:n cover:n?",
        rows,
        variants=[
            ("plot:n species:x height:n cover:n", [[a, b, c, "-9999" if isinstance(d, tuple) else d] for a, b, c, d in rows])
        ],
    )


@made("days and months that may be exchanged")
def exchanged():
    rows = [[str(i + 1), f"{1 + i % 12:02d}/{1 + i * 5 % 12:02d}/2025", f"v{i}"] for i in range(40)]
    data = "id,day,value\n" + lines(rows, ",")
    return Set(("days.csv", data.encode()), "id:n day:x value:x", rows, refuse="nobody knows whether the day comes first")


@made("american dates with am and pm")
def american():
    r = random.Random(52)
    rows = []
    for i in range(70):
        t = at(i, 5000)
        rows.append(
            [
                f"R-{i}",
                (t.isoformat(), f"{t.month}/{t.day}/{t.year} {(t.hour - 1) % 12 + 1}:{t:%M:%S} {'AM' if t.hour < 12 else 'PM'}"),
                money(r),
            ]
        )
    data = "ride,pickup,fare\r\n" + "".join(f"{a},{b[1]},{c}\r\n" for a, b, c in rows)
    return Set(("rides.csv", data.encode()), "ride:x pickup:t fare:n", rows)


@made("dates written in several ways")
def several_ways():
    rows, forms = [], ["%Y-%m-%d", "%d.%m.%Y", "%d %B %Y"]
    for i in range(50):
        text = f"{day(i):{forms[i % 3]}}"
        rows.append([str(i + 1), (f"{day(i)}", text), f"name {i}"])
    data = "id,born,name\n" + "".join(f"{a},{b[1]},{c}\n" for a, b, c in rows)
    return Set(("people.csv", data.encode()), "id:n born:t? name:x", rows)


@made("space aligned columns")
def aligned():
    r = random.Random(53)
    rows = [
        [
            f"host{i:02d}",
            str(r.randrange(1, 400)),
            f"{r.randrange(0, 999) / 10}",
            f"{r.randrange(99999)}",
            ["running", "sleeping", "zombie"][i % 3],
        ]
        for i in range(50)
    ]
    data = "HOST       CPUS  LOAD     MEM_MB STATE\n" + "".join(f"{a:<10}{b:>5}{c:>6}{d:>11} {e}\n" for a, b, c, d, e in rows)
    return Set(("top.txt", data.encode()), "HOST:x CPUS:n LOAD:n MEM_MB:n STATE:x", rows)


@made("markdown table")
def markdown():
    r = random.Random(54)
    rows = [
        [
            f"lib{i}",
            f"{r.randrange(9)}.{r.randrange(20)}.{i}",
            ["MIT", "BSD-3-Clause", "Apache-2.0"][i % 3],
            str(r.randrange(9999)),
        ]
        for i in range(40)
    ]
    data = "| package | version | licence | stars |\n|---|---|---|---:|\n" + "".join(
        "| " + " | ".join(row) + " |\n" for row in rows
    )
    return Set(("packages.md", data.encode()), "package:x version:x licence:x stars:n", rows)


@made("very large and very small numbers")
def large():
    r = random.Random(55)
    rows = [
        [
            str(10**18 + r.randrange(10**18)),
            f"{r.randrange(1, 999)}.{r.randrange(999)}e-{5 + i % 9}",
            f"{r.getrandbits(64):d}",
            f"-{i}.5E+{i % 12}",
        ]
        for i in range(60)
    ]
    data = "id,small,hash64,big\n" + lines(rows, ",")
    return Set(("numbers.csv", data.encode()), "id:n small:n hash64:n big:n", rows)
