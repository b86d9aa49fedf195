"""Writes the data sets of the golden cases of `design`: python3 tests/cli/design_sets.py FOLDER [NAME...]

Each set has its own seed, so that a set does not depend on the others. The values follow the published descriptions of
the cases. They have Zipf frequencies, random times in 30 days, and one user with 30 % of the events.
"""
import bisect
import datetime
import itertools
import random
import sys
from pathlib import Path

EVENTS = 120000
START_MS = 1735689600000  # 2025-01-01
DAY_MS = 86400000
EPOCH = datetime.datetime(1970, 1, 1)


def iso(ms):
    return (EPOCH + datetime.timedelta(milliseconds=ms)).isoformat(timespec="milliseconds") + "Z"


def zipf(r, n, k, power):
    """Returns n numbers below k. The probability of number i is proportional to 1 / (i + 1) ** power."""
    sums = list(itertools.accumulate(1 / (i + 1) ** power for i in range(k)))
    return [bisect.bisect(sums, r.random() * sums[-1]) for _ in range(n)]


def times(r, days=30):
    return sorted(START_MS + r.randrange(days * DAY_MS) for _ in range(EVENTS))


def files(r):
    owners = zipf(r, EVENTS, 1000, 0.8)
    kinds = ["variety", "news", "ad", "clip"]
    return ("id,created,name,category,owner",
            [(i + 1, iso(t), f"file {r.randrange(5000)}", r.choice(kinds), o + 1) for i, (t, o) in enumerate(zip(times(r), owners))])


def hot(r):
    users = [4242 if r.random() < 0.3 else u + 1000 for u in zipf(r, EVENTS, 3000, 0.7)]
    actions = r.choices(["view", "buy", "like"], [80, 5, 15], k=EVENTS)
    return ("id,at,user,action,item",
            [(10**9 + i, iso(t), u, a, r.randrange(1, 20000)) for i, (t, u, a) in enumerate(zip(times(r), users, actions))])


def metrics(r):
    names = ["sys.cpu.user", "sys.cpu.idle", "mem.free", "net.in", "net.out"] + ["app.metric%02d" % i for i in range(15)]
    return ("at,metric,host,value",
            [(START_MS // 1000 + minute * 60, name, f"web{host:02}", "%.2f" % r.gauss(50, 10))
             for minute in range(EVENTS // (20 * 60)) for name in names for host in range(60)])


def lists(r):
    return "user,value", [(u + 1, r.randrange(10**9)) for u in zipf(r, EVENTS, 6000, 0.5)]


def orders(r):
    customers = zipf(r, EVENTS, 30000, 0.4)
    return ("customer,order,at,amount",
            [(c + 1, i + 1, iso(t), r.randrange(100, 99999)) for i, (c, t) in enumerate(zip(customers, times(r)))])


def phones(r):
    numbers = ["%s%08d" % (p, r.randrange(10**8)) for p in r.choices(["138", "139", "186"], [6, 3, 1], k=4000)]
    return ("phone,at,callee,seconds",
            [(numbers[c], iso(t), r.choice(numbers), r.randrange(1, 3600)) for c, t in zip(zipf(r, EVENTS, 4000, 0.6), times(r))])


def iot(r):
    return ("device,at,kw",
            [(f"em-{d:05}", iso(START_MS + k * 900000 + d * 7), "%.3f" % r.gauss(3, 1)) for k in range(EVENTS // 1000) for d in range(1000)])


def tweets(r):
    authors = zipf(r, EVENTS, 8000, 0.9)
    return ("tweet,at,author,text",
            [(5 * 10**17 + 7 * i, iso(t), a + 1, f"some words number {i} of a tweet") for i, (t, a) in enumerate(zip(times(r), authors))])


SETS = {f.__name__: f for f in (files, hot, metrics, lists, orders, phones, iot, tweets)}


def make(name):
    """Returns the header line and the rows of a set."""
    return SETS[name](random.Random(f"design {name}"))


def write(folder, name):
    """Writes FOLDER/NAME.csv. Returns its path and its rows."""
    path = Path(folder) / f"{name}.csv"
    header, rows = make(name)
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path, rows


if __name__ == "__main__":
    Path(sys.argv[1]).mkdir(exist_ok=True)
    for wanted in sys.argv[2:] or SETS:
        write(sys.argv[1], wanted)
