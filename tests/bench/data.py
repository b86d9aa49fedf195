"""Makes the inputs of the benchmark, with the same bytes in each run, in a separate process (see rig.py).

    data.py ratings SOURCE|- TIMES OUT     the ratings, repeated so many times
    data.py shuffle IN OUT                 the same rows in another order
    data.py wide ROWS COLUMNS OUT          rows of many columns
    data.py huge ROWS BYTES OUT            rows with one large value

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


if __name__ == "__main__":
    {"ratings": ratings, "shuffle": shuffle, "wide": wide, "huge": huge}[sys.argv[1]](*sys.argv[2:])
