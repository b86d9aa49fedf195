"""form.py csv|json|avro|arrow CSV OUT. Writes the ratings in the form that another program would write."""

import csv
import json
import sys

SCHEMA = {"type": "record", "name": "rating", "fields": [
    {"name": "userId", "type": "int"}, {"name": "movieId", "type": "int"}, {"name": "rating", "type": "double"},
    {"name": "timestamp", "type": "long"}]}


def rows(path):
    with open(path, newline="") as f:
        for r in csv.DictReader(f):
            yield {"userId": int(r["userId"]), "movieId": int(r["movieId"]), "rating": float(r["rating"]),
                   "timestamp": int(r["timestamp"])}


form, source, out = sys.argv[1:]
if form == "json":
    with open(out, "w") as to:
        to.writelines(json.dumps(r) + "\n" for r in rows(source))
elif form == "avro":
    import fastavro
    with open(out, "wb") as to:
        fastavro.writer(to, fastavro.parse_schema(SCHEMA), rows(source), codec="null", sync_interval=64_000)
else:
    import pyarrow as pa
    import pyarrow.csv
    table = pyarrow.csv.read_csv(source, convert_options=pyarrow.csv.ConvertOptions(column_types={
        "userId": pa.int32(), "movieId": pa.int32(), "rating": pa.float64(), "timestamp": pa.int64()}))
    if form == "csv":
        pyarrow.csv.write_csv(table, out, pyarrow.csv.WriteOptions(quoting_style="none"))
        sys.exit()
    with pa.ipc.new_file(out, table.schema) as w:
        w.write_table(table, max_chunksize=65_536)
