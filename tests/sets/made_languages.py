"""These sets are files of spreadsheets and programs in other languages and encodings."""

import random

from made_databases import at, day
from truth import Set, made

DE = ["Müller", "Schröder", "Weiß", "Jäger", "Köhler", "Böhm", "Groß", "Übel"]
FR = ["Lefèvre", "Françoise", "Hébert", "Noël", "Gérard", "Benoît", "Ménard", "Maçon"]
DA = ["Sørensen", "Ågaard", "Kjær", "Nørgaard", "Bæk", "Højlund", "Møller", "Østergaard"]
PL = ["Wójcik", "Żukowski", "Łuczak", "Błażej", "Śliwa", "Gąska", "Kędzierski", "Jasiński"]
RU = ["Иванов", "Смирнова", "Кузнецов", "Попова", "Васильев", "Петрова", "Соколов", "Щербаков"]
JA = ["佐藤 花子", "鈴木 一郎", "高橋 健", "田中 美咲", "伊藤 翔", "渡辺 直美", "山本 大輔", "中村 優子"]
JA_TOWN = ["東京都千代田区", "大阪府大阪市北区", "北海道札幌市", "神奈川県横浜市", "愛知県名古屋市", "福岡県福岡市"]
ZH = ["王伟", "李娜", "张敏", "刘洋", "陈静", "杨帆", "赵磊", "黄丽"]
ZH_TOWN = ["北京市海淀区", "上海市浦东新区", "广州市天河区", "成都市武侯区", "杭州市西湖区"]
TW = ["陳雅婷", "林家豪", "黃淑芬", "張志明", "李美玲", "王俊傑", "吳怡君"]
TW_TOWN = ["臺北市中正區", "新北市板橋區", "高雄市苓雅區", "臺中市西屯區"]
KO = ["김민준", "이서연", "박지훈", "최수빈", "정하은", "강도윤", "조예린"]
KO_TOWN = ["서울특별시 강남구", "부산광역시 해운대구", "대구광역시 수성구", "인천광역시 연수구"]
CS = ["Dvořák", "Růžičková", "Šťastný", "Čermák", "Němcová", "Křížek"]
TR = ["Yılmaz", "Şahin", "Öztürk", "Çelik", "Doğan", "Güneş"]
EL = ["Παπαδόπουλος", "Γεωργίου", "Νικολάου", "Αθανασίου", "Οικονόμου"]
HE = ["כהן", "לוי", "מזרחי", "פרץ", "ביטון"]
TH = ["สมชาย ใจดี", "สมหญิง รักไทย", "ประยุทธ์ มั่นคง", "วิภา สุขใจ"]


def local(v, group, point=","):
    """Writes a number with a group character and a decimal comma."""
    return f"{v:,.2f}".replace(",", "g").replace(".", point).replace("g", group)


def excel(name, encoding, head, people, dates, group, n=80, end="\r\n", note=None, low=-90000, refuse="", delimiter=";"):
    """Writes a sheet saved as CSV, with number, person, date, amount and remark."""
    r = random.Random(name)
    rows, out = [], [delimiter.join(head)]
    for i in range(n):
        v = r.randrange(low, 9000000) / 100
        row = [
            str(10001 + i),
            people[i % len(people)],
            (f"{day(i)}", f"{day(i):{dates}}"),
            (f"{v:.2f}", local(v, group)),
            (note or ["", "geprüft"])[i % len(note or "12")] or None,
        ]
        out.append(delimiter.join(c[1] if isinstance(c, tuple) else c or "" for c in row))
        rows.append(row)
    data = (end.join(out) + end).encode(encoding)
    return Set((name, data), [f"{h}:{k}" for h, k in zip(head, "nxtnx")], rows, encoding=encoding, refuse=refuse)


@made("excel csv, german")
def excel_de():
    return excel("umsatz.csv", "cp1252", ["Kundennr", "Name", "Datum", "Umsatz", "Prüfung"], DE, "%d.%m.%Y", ".")


@made("excel csv, french")
def excel_fr():
    return excel(
        "ventes.csv",
        "cp1252",
        ["N° client", "Nom", "Date", "Montant", "État"],
        FR,
        "%d/%m/%Y",
        "\u00a0",
        note=["payé", "", "en retard – relancé"],
    )


@made("excel csv, danish")
def excel_da():
    return excel(
        "salg.csv",
        "cp1252",
        ["Kundenr", "Navn", "Dato", "Beløb", "Bemærkning"],
        DA,
        "%d-%m-%Y",
        ".",
        note=["", "rykker nr. 2", "på hold"],
    )


@made("excel csv, polish")
def excel_pl():
    return excel(
        "sprzedaz.csv",
        "cp1250",
        ["Nr", "Nazwisko", "Data", "Kwota", "Uwagi"],
        PL,
        "%d.%m.%Y",
        "\u00a0",
        note=["zapłacono", "", "częściowo"],
    )


@made("excel csv, czech")
def excel_cs():
    return excel(
        "faktury.csv",
        "cp1250",
        ["Číslo", "Jméno", "Datum", "Částka", "Poznámka"],
        CS,
        "%d.%m.%Y",
        "\u00a0",
        note=["zaplaceno", "čeká se", ""],
    )


@made("excel csv, turkish")
def excel_tr():
    return excel(
        "satis.csv",
        "cp1254",
        ["No", "Müşteri", "Tarih", "Tutar", "Açıklama"],
        TR,
        "%d.%m.%Y",
        ".",
        note=["ödendi", "", "kısmî ödeme, şubat"],
        refuse="windows-1254 differs from 1252 in six letters only",
    )


@made("csv in windows-1253, greek")
def excel_el():
    return excel(
        "poliseis.csv",
        "cp1253",
        ["Κωδικός", "Όνομα", "Ημερομηνία", "Ποσό", "Σχόλια"],
        EL,
        "%d/%m/%Y",
        ".",
        note=["πληρώθηκε", "", "εκκρεμεί η πληρωμή"],
    )


@made("csv in windows-1255, hebrew")
def hebrew():
    r = random.Random("he")
    rows = [
        [
            str(500 + i),
            HE[i % 5],
            (f"{day(i)}", f"{day(i):%d/%m/%Y}"),
            f"{r.randrange(1, 90000) / 100:.2f}",
            ["שולם", "ממתין לתשלום", "נשלח"][i % 3],
        ]
        for i in range(70)
    ]
    data = "מספר,שם,תאריך,סכום,הערה\r\n" + "".join(f"{a},{b},{c[1]},{d},{e}\r\n" for a, b, c, d, e in rows)
    return Set(("sales.csv", data.encode("cp1255")), "מספר:n שם:x תאריך:t סכום:n הערה:x", rows, encoding="cp1255")


@made("csv in tis-620, thai")
def thai():
    r = random.Random("th")
    rows = [[str(1 + i), TH[i % 4], f"{day(i)}", f"{r.randrange(1, 90000) / 100:.2f}"] for i in range(60)]
    data = "ลำดับ,ชื่อ,วันที่,ยอดเงิน\r\n" + "".join(",".join(row) + "\r\n" for row in rows)
    return Set(("yod.csv", data.encode("cp874")), "ลำดับ:n ชื่อ:x วันที่:t ยอดเงิน:n", rows, encoding="cp874")


def eastern(name, encoding, head, people, towns, n=90, delimiter=",", dates="%Y/%m/%d", end="\r\n"):
    r = random.Random(name)
    rows = [
        [
            f"{i + 1:05d}",
            people[i % len(people)],
            towns[i % len(towns)],
            (f"{day(i)}", f"{day(i):{dates}}"),
            str(r.randrange(100, 99999)),
        ]
        for i in range(n)
    ]
    data = delimiter.join(head) + end + "".join(delimiter.join([a, b, c, d[1], e]) + end for a, b, c, d, e in rows)
    return Set((name, data.encode(encoding)), [f"{h}:{k}" for h, k in zip(head, "xxxtn")], rows, encoding=encoding)


@made("csv in shift-jis")
def shift_jis():
    return eastern("meibo.csv", "cp932", ["会員番号", "氏名", "住所", "登録日", "購入金額"], JA, JA_TOWN)


@made("tsv in euc-jp")
def euc_jp():
    return eastern(
        "meibo.tsv", "euc_jp", ["会員番号", "氏名", "住所", "登録日", "購入金額"], JA, JA_TOWN, delimiter="\t", end="\n"
    )


@made("post codes in shift-jis without a header")
def ken_all():
    kana = ["ﾎﾂｶｲﾄﾞｳ", "ﾄｳｷﾖｳﾄ", "ｵｵｻｶﾌ", "ｱｲﾁｹﾝ"]
    towns = ["旭ケ丘", "大通東", "北一条西", "円山西町", "南郷通", "平岸一条"]
    rows = [
        [
            f"{1101 + i:05d}",
            f"{600000 + i * 37:07d}",
            kana[i % 4],
            ["北海道", "東京都", "大阪府", "愛知県"][i % 4],
            towns[i % 6] + str(i),
            str(i % 2),
        ]
        for i in range(100)
    ]
    data = "".join(f'{a},"{b}","{c}","{d}","{e}",{f}\r\n' for a, b, c, d, e, f in rows)
    return Set(
        ("KEN_ALL.CSV", data.encode("cp932")), "code:x zip:x kana:x pref:x town:x flag:n?", rows, encoding="cp932", named=False
    )


@made("csv in gb18030")
def gb18030():
    return eastern("dingdan.csv", "gb18030", ["编号", "姓名", "地址", "日期", "金额"], ZH, ZH_TOWN, dates="%Y-%m-%d")


@made("csv in big5")
def big5():
    return eastern("kehu.csv", "big5", ["編號", "姓名", "地址", "日期", "金額"], TW, TW_TOWN)


@made("csv in euc-kr")
def euc_kr():
    return eastern("gogaek.csv", "euc_kr", ["번호", "이름", "주소", "가입일", "구매금액"], KO, KO_TOWN, dates="%Y-%m-%d")


def russian(name, encoding):
    r = random.Random(name)
    rows = [
        [
            str(i + 1),
            RU[i % 8],
            ["Москва", "Санкт-Петербург", "Нижний Новгород"][i % 3],
            (f"{day(i)}", f"{day(i):%d.%m.%Y}"),
            (f"{(v := r.randrange(100, 9000000) / 100):.2f}", f"{v:.2f}".replace(".", ",")),
            ["оплачено", "ожидает оплаты", None][i % 3],
        ]
        for i in range(80)
    ]
    data = "Номер;Фамилия;Город;Дата;Сумма;Примечание\r\n" + "".join(
        f"{a};{b};{c};{d[1]};{e[1]};{f or ''}\r\n" for a, b, c, d, e, f in rows
    )
    return Set((name, data.encode(encoding)), "Номер:n Фамилия:x Город:x Дата:t Сумма:n Примечание:x", rows, encoding=encoding)


@made("csv in windows-1251")
def cp1251():
    return russian("platezhi.csv", "cp1251")


@made("csv in koi8-r")
def koi8():
    return russian("platezhi.txt", "koi8-r")


@made("csv in cp866")
def cp866():
    s = russian("PLAT.CSV", "cp866")
    s.refuse = "cp866 is not among the encodings that are asked for"
    return s


def western(name, encoding, mark=b"", delimiter="\t", n=60, end="\r\n"):
    r = random.Random(name)
    rows = [[str(i + 1), (DE + FR + RU[:2] + PL)[i % 26], f"{at(i)}", f"{r.randrange(100, 90000) / 100:.2f}"] for i in range(n)]
    data = delimiter.join(["Nr", "Name", "Zeit", "Preis"]) + end + "".join(delimiter.join(row) + end for row in rows)
    return Set((name, mark + data.encode(encoding)), "Nr:n Name:x Zeit:t Preis:n", rows, encoding=encoding)


@made("excel unicode text, utf-16 with a mark")
def utf16_mark():
    return western("Mappe1.txt", "utf-16-le", b"\xff\xfe")


@made("csv in utf-16be without a mark")
def utf16be():
    return western("export.csv", "utf-16-be", delimiter=",")


@made("csv in utf-16le without a mark")
def utf16le():
    return western("kunden.csv", "utf-16-le", delimiter=";", end="\n")


@made("csv in utf-8 with a mark")
def utf8_mark():
    return western("zeiten.csv", "utf-8", b"\xef\xbb\xbf", delimiter=",")


@made("csv in latin-9 with euro signs")
def latin9():
    r = random.Random("l9")
    rows = [
        [str(i + 1), ["cœur", "Œuvre", "naïve", "été", "forêt"][i % 5] + f" {i}", "€", f"{r.randrange(100, 90000) / 100:.2f}"]
        for i in range(60)
    ]
    data = "id;désignation;devise;prix\n" + "".join(";".join(row) + "\n" for row in rows)
    return Set(
        ("prix.csv", data.encode("iso8859-15")),
        "id:n désignation:x devise:x prix:n",
        rows,
        encoding="iso8859-15",
        refuse="Latin-9 and Latin-1 differ in eight letters only",
    )


@made("csv in cp850 of a till")
def cp850():
    r = random.Random("850")
    rows = [
        [str(i + 1), ["Käse", "Brötchen", "Würstchen", "Süßes", "Öl"][i % 5], f"{r.randrange(100, 9000) / 100:.2f}"]
        for i in range(60)
    ]
    data = "BON;ARTIKEL;PREIS\r\n" + "".join(";".join(row) + "\r\n" for row in rows)
    return Set(
        ("KASSE.CSV", data.encode("cp850")),
        "BON:n ARTIKEL:x PREIS:n",
        rows,
        encoding="cp850",
        refuse="cp850 is not among the encodings that are asked for",
    )


@made("csv in mac roman with returns")
def mac_roman():
    r = random.Random("mac")
    rows = [[str(i + 1), ["Café", "Señor", "Zürich", "Åsa"][i % 4], f"{r.randrange(100, 9000) / 100:.2f}"] for i in range(60)]
    data = "id,name,price\r" + "".join(",".join(row) + "\r" for row in rows)
    return Set(
        ("export mac.csv", data.encode("mac_roman")),
        "id:n name:x price:n",
        rows,
        encoding="mac_roman",
        refuse="Mac Roman is not among the encodings that are asked for",
    )
