"""Makes the inputs of the benchmark, with the same bytes in each run, in a separate process (see rig.py).

    data.py ratings SOURCE|- TIMES OUT     the ratings, repeated so many times
    data.py shuffle IN OUT                 the same rows in another order
    data.py wide ROWS COLUMNS OUT          rows of many columns
    data.py huge ROWS BYTES OUT            rows with one large value
    data.py orders ROWS OUT                orders of customers, with short values
    data.py counters ROWS OUT              counters of hosts, one row for each minute and metric

Repetition k of the ratings adds k*1000 to the user and k*7 days to the time. So all keys stay distinct, and the skew of
users stays the same. Without a source (-), data.py makes 100,004 random ratings of 671 users in the same order, from a
fixed seed.
"""

import random
import subprocess
import sys

SEED = 20130101
HEADER = "userId,movieId,rating,timestamp\n"


def made_up():
    r = random.Random(SEED)
    movies = sorted(r.sample(range(1, 164980), 9066))
    weights = [r.paretovariate(1.2) for _ in range(671)]
    share = 100004 / sum(weights)
    counts = [max(20, round(w * share)) for w in weights]
    while sum(counts) != 100004:
        i = r.randrange(671)
        counts[i] += 1 if sum(counts) < 100004 else -1 if counts[i] > 20 else 0
    for user, n in enumerate(counts, 1):
        start = r.randrange(789652009, 1476640644 - 86400 * 30)
        for movie in sorted(r.choices(movies, k=n)):
            yield user, movie, r.randint(1, 10) / 2, start + r.randrange(86400 * 30)


def distinct(rows):
    """Moves events with equal keys (user, time and movie) by a second."""
    seen = set()
    for user, movie, rating, time in rows:
        while (user, movie, time) in seen:
            time += 1
        seen.add((user, movie, time))
        yield user, f",{movie},{rating},", time


def real(path):
    with open(path) as f:
        f.readline()
        for line in f:
            user, movie, rating, time = line.rstrip("\r\n").split(",")
            yield int(user), f",{movie},{rating},", int(time)


def ratings(source, times, out):
    rows = list(distinct(made_up()) if source == "-" else real(source))
    with open(out, "w") as f:
        f.write(HEADER)
        for k in range(int(times)):
            du, dt = k * 1000, k * 86400 * 7
            f.write("".join([f"{u + du}{m}{t + dt}\n" for u, m, t in rows]))


def shuffle(source, out):
    with open(out, "wb") as f:
        for command in (["head", "-n", "1", source],
                        ["sh", "-c", 'tail -n +2 "$1" | shuf --random-source="$1"', "-", source]):
            subprocess.run(command, stdout=f, check=True)


def wide(rows, columns, out):
    r = random.Random(SEED)
    columns = int(columns)
    with open(out, "w") as f:
        f.write("id," + ",".join(f"c{i}" for i in range(columns)) + "\n")
        for _ in range(int(rows)):
            f.write(f"{r.getrandbits(48):012x},")
            f.write(",".join([str(r.getrandbits(20)) for _ in range(columns)]) + "\n")


def huge(rows, size, out):
    r = random.Random(SEED)
    size = int(size)
    text = r.randbytes(size).hex()  # has twice the size, because each value is a different window of these bytes
    with open(out, "w") as f:
        f.write("id,note,value\n")
        for i in range(int(rows)):
            at = r.randrange(size)
            f.write(f"{r.getrandbits(48):012x},row {i},{text[at:at + size]}\n")


def orders(rows, out):
    r = random.Random(SEED)
    with open(out, "w") as f:
        f.write("customer,at,state,items,total,shop\n")
        for i in range(int(rows)):
            f.write(f"{int(r.paretovariate(0.8)) % 1000003},{1600000000 + 3 * i},{r.choice(('new', 'paid', 'sent', 'back'))},"
                    f"{r.randint(1, 9)},{r.randint(100, 99999) / 100},shop{r.randint(1, 40)}\n")


def counters(rows, out):
    r = random.Random(SEED)
    totals = {(f"host{h:03}", m): [0, 0] for h in range(100) for m in ("requests", "errors", "retries", "hits", "misses")}
    with open(out, "w") as f:
        f.write("host,metric,at,count,bytes\n")
        for i in range(int(rows)):
            if i % len(totals) == 0:
                series = iter(totals.items())
            (host, metric), total = next(series)
            total[0] += r.randint(0, 50)
            total[1] += r.randint(0, 90000)
            f.write(f"{host},{metric},{1600000000 + 60 * (i // len(totals))},{total[0]},{total[1]}\n")


if __name__ == "__main__":
    {"ratings": ratings, "shuffle": shuffle, "wide": wide, "huge": huge, "orders": orders,
     "counters": counters}[sys.argv[1]](*sys.argv[2:])
