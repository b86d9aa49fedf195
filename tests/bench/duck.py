"""duck.py load CSV PARQUET THREADS | count PARQUET. DuckDB does the comparable part of the work.

It reads, makes an equivalent key, sorts by it, and writes Parquet with zstd. The key is the row key in hex. Its salt is
a bucket of DuckDB's own hash, which has the same cost but other values.
"""

import sys

import duckdb

LOAD = """
COPY (
  SELECT printf('%02x%016x%016x%08x', (hash(userId) % 16)::INTEGER, userId,
                9223372036854775807 - "timestamp" * 1000, movieId) AS k,
         movieId, rating, "timestamp" * 1000 AS ts
  FROM read_csv('{csv}', header=true, columns={{'userId': 'BIGINT', 'movieId': 'INTEGER',
                                               'rating': 'VARCHAR', 'timestamp': 'BIGINT'}})
  ORDER BY k
) TO '{out}' (FORMAT parquet, COMPRESSION zstd)
"""

if sys.argv[1] == "load":
    csv, out, threads = sys.argv[2:]
    db = duckdb.connect(config={"threads": int(threads), "memory_limit": "8GB"})
    db.execute(LOAD.format(csv=csv, out=out))
else:
    print(duckdb.connect().execute(f"SELECT count(k) FROM '{sys.argv[2]}'").fetchall()[0][0])
