"""Tests `design` with the experts' cases. `design_sets.py` makes the events, and a few lines of Python count the figures."""
import bisect
import collections
import functools
import json
import random
import re
import subprocess
from datetime import datetime

import pytest

import design_sets
from load_oracle import murmur3_32
from loads import PROGRAM, ROOT

DAY_MS = 86400000
RATINGS = ROOT.parent / "shared" / "data" / "ratings.csv"


@pytest.fixture(scope="module")
def sets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("golden")
    return functools.lru_cache(None)(lambda name: design_sets.write(folder, name))


def design(path, *words):
    done = subprocess.run([str(PROGRAM), "design", *map(str, [path, *words]), "--json", "--quiet"], capture_output=True, text=True)
    assert done.returncode in (0, 3), done.stderr
    return json.loads(done.stdout)["list"]


def asks(*texts):
    return [w for i in range(0, len(texts), 2) for w in ("--ask", texts[i], texts[i + 1])]


def keys(found):
    """Returns the fields and heads of each table's key, such as ["salt 16 of user", "user", "at"]."""
    def name(part):
        words = part.replace('"', "").strip("{}")
        if not words.startswith("field: "):
            head, _, of = words.partition(", of: [")
            return head.replace(":", "") + " of " + of.split("]")[0] + (" fanout" if "fanout" in of else "")
        field = words.split(",")[0][7:]
        return field + (" reversed" if "as: reversed," in words else "")
    return [[name(p) for p in t["rowkey"]] for t in found["tables"]]


def millis(text):
    return round((datetime.fromisoformat(text[:-1]) - datetime(1970, 1, 1)).total_seconds() * 1000)


def near_median(figure, values):
    """The median of 200 drawn values is between these quantiles of all values."""
    values = sorted(values)
    return values[len(values) * 38 // 100] <= figure["median"] <= values[len(values) * 62 // 100]


def test_files(sets):
    path, rows = sets("files")
    found = design(path, *asks("owner = ? and created between ? and ? + 1d", "1000/s", "created between ? and ? + 10m", "1/s",
                               "owner = ? latest 20", "200/s"), "--rows", "1G", "--writes", "500/s")
    best = found[0]
    assert keys(best)[0] == ["owner", "created", "id"] and best["tables"][0]["key_bytes"] == 2 + 8 + 4
    assert keys(best)[1][1:] == ["created", "id"] and keys(best)[1][0].startswith("salt 16 of ")
    times = {}
    for row in rows:
        times.setdefault(row[4], []).append(millis(row[1]))
    last = max(t[-1] for t in times.values())
    days = [bisect.bisect_right(t, at + DAY_MS) - bisect.bisect_left(t, at) for t in times.values() for at in t if at + DAY_MS <= last]
    q1, q2, q3 = best["questions"]
    assert near_median(q1["rows"], days) and q1["rows"] == q1["returned"]
    assert [q["ranges"]["max"] for q in best["questions"]] == [1, 16, 1] and q3["rows"]["max"] == 20
    first = next(d for d in found if d["name"] == "time first")
    assert first["busiest_write"] == 1 and first["tables"][0]["busiest_region"] == 1


def test_memory(sets):
    """1,000,000 events and 5 questions must fit in 512 MB, so 120,000 events must fit in an eighth of it."""
    path, _ = sets("files")
    words = asks("owner = ? latest 20", "200/s", "owner = ? and category = ?", "1/s", "created between ? and ? + 10m", "1/s")
    done = subprocess.run(["/usr/bin/time", "-f", "%M", str(PROGRAM), "design", str(path), *words, "--memory", "64M", "--threads", "2", "--json", "--quiet"],
                          capture_output=True, text=True)
    assert json.loads(done.stdout)["events"] == 120000 and int(done.stderr) < 64 << 10, done.stderr


# --- one user has 30 % of the events ---

def key_of(row, fanout):
    i, at, user = row[0], millis(row[1]), row[2]
    rest = user.to_bytes(4, "big") + (2**63 - 1 - at).to_bytes(8, "big") + i.to_bytes(8, "big")
    return bytes([(murmur3_32(rest[:4]) + murmur3_32(rest, 1) % fanout) % 16]) + rest


def busiest_server(found, regions, servers):
    """Cuts regions of equal numbers of the oldest 80 % of the keys, and returns the mean share of the busiest server while the others arrive."""
    old = len(found) * 4 // 5
    older = sorted(found[:old])
    cuts = [older[old * i // regions] for i in range(1, regions)]
    window = (len(found) - old) // 5
    shares = []
    for at in range(old, len(found), window):
        count = [0] * servers
        for key in found[at:at + window]:
            count[bisect.bisect_right(cuts, key) % servers] += 1
        shares.append(max(count) / sum(count))
    return sum(shares) / len(shares)


def test_hot_user(sets):
    """With a fanout of F, the user's writes go to F regions, and a server has several of them.

    8.75 % of all writes are other users' writes on a server. A server with two of the user's 8 regions gets at least
    8.75 % + 2 * 30 % / 8 = 16.25 %. It gets 20 % only if three of them fall to one server, which these buckets do not.
    """
    path, rows = sets("hot")
    found = design(path, *asks("user = ? latest 20", "500/s", "user = ? and at between ? and ? + 1h", "100/s"),
                   "--writes", "200k/s", "--rows", "50G")
    assert keys(found[0]) == [["salt 16 of user fanout", "user", "at", "id"]]
    for fanout, expert in ((8, 0.1625), (4, 0.2375), (1, 0.3875)):
        head = f"fanout: {fanout}" if fanout > 1 else '{salt: 16, of: ["user"]}'
        one = next(d for d in found if not d["obvious"] and head in d["tables"][0]["rowkey"][0])
        assert [q["ranges"]["max"] for q in one["questions"]] == [fanout, fanout]
        assert one["tables"][0]["regions"] == 64
        share = busiest_server([key_of(r, fanout) for r in rows], 64, 8)
        assert abs(one["busiest_write"] - share) < 0.01 and abs(share - expert) < 0.03


def test_metrics(sets):
    """No key alone answers both questions in one short range: either the host or the time follows the metric.

    A metric has 60 hosts * 100 minutes = 6000 rows. The range of an hour has 60 * 61 rows if the time follows, and all 6000
    if the host follows. OpenTSDB's one row therefore costs more here than two tables, by more than a quarter.
    """
    path, _ = sets("metrics")
    found = design(path, *asks("metric = ? and at between ? and ? + 1h", "50/s", "metric = ? and host = ? and at between ? and ? + 1h", "500/s"))
    best = found[0]
    assert sorted([p for p in k if not p.startswith(("salt", "hash"))] for k in keys(best)) == [["host", "metric", "at"], ["metric", "at", "host"]]
    assert [(q["rows"]["median"], q["rows"]["max"]) for q in best["questions"]] == [(60 * 61, 60 * 61), (61, 61)]
    single = next(d for d in found if len(d["tables"]) == 1 and not d["obvious"])
    assert keys(single) == [["salt 16 of metric", "metric", "host", "at"]]
    assert [q["rows"]["max"] for q in single["questions"]] == [6000, 61]
    assert single["busiest"] > 1.25 * min(d["busiest"] for d in found) + 0.005


# --- the other cases ---

def test_orders(sets):
    path, _ = sets("orders")
    best = design(path, *asks("customer = ? latest 20", "100/s", "customer = ? and order = ?", "100/s", "order = ?", "100/s"))[0]
    assert keys(best) == [["customer", "order"], ["salt 16 of order", "order"]]
    assert [(t["kind"], t["key_bytes"]) for t in best["tables"]] == [("base", 8), ("index", 5)]
    q = best["questions"][2]
    assert q["plan"] == "index" and q["gets"]["max"] == 1 and q["rows"]["max"] == 1


def test_lists(sets):
    path, rows = sets("lists")
    best = design(path, *asks("user = ?", "100/s", "user = ? and value = ?", "100/s"))[0]
    assert keys(best)[0][-2:] == ["user", "value"] and best["tables"][0]["key_bytes"] in (12, 13) and len(best["tables"]) == 1
    count = collections.Counter(user for user, _ in rows)
    q = best["questions"][0]
    assert near_median(q["rows"], [count[user] for user, _ in rows]) and q["ranges"]["max"] == 1
    assert 1 < q["blocks"]["median"] < 1.1


def test_devices_report_in_their_order(sets):
    """The busiest server gets 1000 events of a quarter of an hour in their order, unless the device is reversed."""
    path, _ = sets("iot")
    found = design(path, *asks("device = ? latest 1", "100/s", "device = ? and at between ? and ? + 1d", "10/s"))
    best = {tuple(keys(d)[0]): d for d in found}
    assert found[0]["tables"][0]["key_bytes"] == 16 and keys(found[0])[0][0].startswith("device")
    assert abs(best["device reversed", "at"]["busiest_write"] - 0.14) < 0.03
    assert best["device", "at"]["busiest_write"] > 0.22


def test_phones_need_no_head(sets):
    path, _ = sets("phones")
    best = design(path, *asks("phone = ? latest 20", "100/s", "phone = ? and at between ? and ? + 7d", "10/s"))[0]
    assert keys(best) == [["phone", "at"]] and best["tables"][0]["key_bytes"] == 16 and best["busiest_write"] < 0.17


def test_no_table_of_tweets_writes_one_region(sets):
    path, _ = sets("tweets")
    best = design(path, *asks("author = ? latest 20", "1000/s", "tweet = ?", "1000/s"))[0]
    assert all(t["busiest_region"] < 0.5 for t in best["tables"])
    assert [k[-1] for k in keys(best)] == ["tweet", "tweet"] and "author" in keys(best)[0]


@pytest.mark.skipif(not RATINGS.exists(), reason=f"{RATINGS} is absent")
def test_ratings():
    best = design(RATINGS, *asks("userId = ?", "100/s", "movieId = ? latest 50", "100/s"))[0]
    assert sorted(k[0] for k in keys(best)) == ["movieId", "userId"]
    users = [line.split(",")[0] for line in RATINGS.read_text().splitlines()[1:]]
    count = collections.Counter(users)
    q1, q2 = best["questions"]
    assert near_median(q1["rows"], [count[u] for u in users]) and abs(q1["blocks"]["p99"] - 7) <= 1.4 and q2["rows"]["max"] == 50


# --- keys that do not contain the field of the question ---

# events of each owner; murmur3_32 of the u32, modulo 4, puts 1, 5, 7, 8 in bucket 0; 4, 6 in 1; 3 in 2; 2 in 3
OWNERS = {1: 10, 5: 20, 7: 30, 8: 40, 4: 70, 6: 80, 3: 60, 2: 50}
OF_BUCKET = """\
source: {csv: {files: [events.csv], columns: [id, at, owner]}}
fields: {id: {type: u32}, at: {type: time, unit: s}, owner: {type: u32}}
tables:
  - name: t
    rowkey: [HEAD, {field: at, as: millis}, {field: id, as: u32}]
    timestamp: at
    families: {f: {}}
    cells: [{family: f, qualifier: o, value: owner}]
"""


@pytest.mark.parametrize("head, bound, rows", [
    ("{salt: 4, of: [owner]}", "owner = 5", 10 + 20 + 30 + 40),
    ("{salt: 4, of: [owner]}", "owner = 6", 70 + 80),
    ("{salt: 4, of: [owner]}", "owner = 3 latest 7", 7),
    ("{salt: 4, of: [owner], fanout: 4}", "owner = 5", 360),
    ("{hash: md5, of: [owner], bytes: 4}", "owner = 8", 40),
    ("{hash: md5, of: [owner], bytes: 4}", "owner in (5, 8)", 20 + 40),
    ("{salt: 4, of: [owner]}", "id = 9", 360)])
def test_only_a_salt_is_known(tmp_path, head, bound, rows):
    """A question that gives a salt or hash reads its bucket, not the table. Without them, it reads all 360 rows."""
    events = [(owner, n) for owner, n in OWNERS.items() for _ in range(n)]
    (tmp_path / "events.csv").write_text("".join(f"{i},{1700000000 + i * 7919 % 86400},{owner}\n" for i, (owner, _) in enumerate(events)))
    (tmp_path / "job.yaml").write_text(OF_BUCKET.replace("HEAD", head))
    (tmp_path / "q.yaml").write_text(json.dumps([{"ask": bound, "rate": "1/s"}]))
    done = subprocess.run([str(PROGRAM), "check", tmp_path / "job.yaml", "--queries", tmp_path / "q.yaml", "--json", "--quiet"],
                          capture_output=True, text=True)
    q = json.loads(done.stdout)["list"][0]["questions"][0]
    assert q["rows"]["max"] == rows
    assert q["plan"] == ("full" if bound == "id = 9" else "range")
    if q["plan"] == "range":
        assert q["ranges"]["max"] == (2 if "in" in bound else 1)


def rows_until(keys, wanted, latest, rising):
    """Counts the rows that a scan of the sorted keys reads until it has found `latest` rows of the owner."""
    found = read = 0
    for _, owner in sorted(keys, reverse=rising):
        if found == latest:
            break
        read += 1
        found += owner == wanted
    return read


@pytest.mark.parametrize("latest", [1, 7, 70])
@pytest.mark.parametrize("rising", [False, True])
@pytest.mark.parametrize("ask", ["owner = ?", "part = 1 and owner = ?", "owner = ? and part != 0"])
def test_rows_until_the_newest_of_an_owner(tmp_path, ask, rising, latest):
    """The time comes first in the key, so `latest` reads rows of all owners until it has enough. 200 draws ask for each of the 8 owners. An
    owner is null in 30 events."""
    r = random.Random(latest)
    owners = [o for o, n in OWNERS.items() for _ in range(n)] + [""] * 30
    r.shuffle(owners)
    events = [(i, 1700000000 + i * 7919 % 86400, o, r.randrange(2)) for i, o in enumerate(owners)]
    (tmp_path / "events.csv").write_text("".join(",".join(map(str, e)) + "\n" for e in events))
    job = OF_BUCKET.replace("HEAD, ", "").replace("owner]", "owner, part]").replace("value: owner}]", "value: owner, optional: true}, {family: f, qualifier: p, value: part}]")
    (tmp_path / "job.yaml").write_text(job if rising else job.replace("as: millis", "as: reversed_millis"))
    (tmp_path / "q.yaml").write_text(json.dumps([{"ask": f"{ask} latest {latest}", "rate": "1/s"}]))
    done = subprocess.run([str(PROGRAM), "check", tmp_path / "job.yaml", "--queries", tmp_path / "q.yaml", "--json", "--quiet"],
                          capture_output=True, text=True)
    q = json.loads(done.stdout)["list"][0]["questions"][0]
    keys = [(at if rising else -at, o if "part" not in ask or part == 1 else None) for _, at, o, part in events]
    assert q["rows"]["max"] == max(rows_until(keys, o, latest, rising) for o in OWNERS)


def test_settings_of_families(sets, tmp_path):
    """A query gets an index and its rows by key, so the filter is ROW. A range needs no Bloom filter. 5 rows are less than 8 KiB, 10 minutes of 1G
    rows more than 1 MiB."""
    path, _ = sets("orders")
    best = design(path, *asks("customer = ? latest 20", "100/s", "order = ?", "100/s"), "-o", tmp_path / "orders")[0]
    assert [(t["kind"], t["bloomfilter"], t["blocksize"]) for t in best["tables"]] == [("base", "ROW", 16384), ("index", "ROW", 16384)]
    assert (tmp_path / "orders" / "job.yaml").read_text().count("d: {bloomfilter: ROW, blocksize: 16K, versions: 1, ") == 2
    files, _ = sets("files")
    best = design(files, *asks("created between ? and ? + 10m", "1/s"), "--rows", "1G", "--writes", "500/s", "-o", tmp_path / "files")[0]
    assert "keep 23.1 days: add `ttl: 2000000s`" in (tmp_path / "files" / "job.yaml").read_text()  # 1G / 500
    assert [(t["bloomfilter"], t["blocksize"]) for t in best["tables"]] == [("NONE", 131072)]
    # the new jobs keep settings of the job
    job = (tmp_path / "orders" / "job.yaml").read_text().replace("bloomfilter: ROW, blocksize: 16K", "blocksize: 256K")
    (tmp_path / "mine.yaml").write_text(job)
    design(tmp_path / "mine.yaml", *asks("customer = ? latest 20", "100/s"), "-o", tmp_path / "again")
    assert "d: {bloomfilter: NONE, blocksize: 256K, versions: 1, " in (tmp_path / "again" / "job.yaml").read_text()


def test_a_table_after_an_odd_field(tmp_path):
    """A further table has the name of its first field. HBase accepts only letters, digits, _ . and - in it."""
    (tmp_path / "n.csv").write_text("id,user <id>,at\n" + "".join(f"{i},w{i * 7919 % 50},{1735689600000 + i * 1000}\n" for i in range(2000)))
    design(tmp_path / "n.csv", *asks("`user <id>` = ? latest 3", "5/s", "id = ?", "3/s"), "--rows", "1G", "-o", tmp_path / "out")
    names = re.findall(r'- name: "([^"]+)"', (tmp_path / "out" / "job.yaml").read_text())
    assert names in (["n", "n_by_id"], ["n", "n_by_user__id_"])


def test_constants(sets, tmp_path):
    """Seconds of a question are ranges * seek + bytes / 65536 * block + rows * row. design refuses a missing
    constant."""
    path, _ = sets("orders")
    own = {"seek_s": 0.5, "block_s": 3, "row_s": 0.25, "get_s": 0, "write_row_s": 0, "write_byte_s": 0}
    (tmp_path / "c.json").write_text(json.dumps(own))
    q = design(path, *asks("customer = ?", "1/s"), "--tables", "1", "--constants", tmp_path / "c.json")[0]["questions"][0]
    assert q["seconds"]["mean"] == pytest.approx(q["ranges"]["mean"] * 0.5 + q["bytes"]["mean"] / 65536 * 3 + q["rows"]["mean"] * 0.25, rel=1e-4)
    (tmp_path / "c.json").write_text(json.dumps({k: v for k, v in own.items() if k != "get_s"} | {"gets_s": 1}))
    done = subprocess.run([str(PROGRAM), "design", path, "--ask", "order = ?", "--constants", tmp_path / "c.json"], capture_output=True, text=True)
    assert done.returncode == 2 and "get_s is missing" in done.stderr
