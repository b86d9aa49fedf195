"""Rows of a DataFrame as Arrow streams, without a Python object for each row.

The JVM writes each record batch as an IPC message (Dataset.toArrowBatchRdd).  Python passes these bytes to the native
program without decoding, after the message with the schema.  Each partition is an input, so messages name a row by its
partition and its place in the partition.
"""

import collections
import functools

from pyspark.rdd import RDD
from pyspark.serializers import NoOpSerializer
from pyspark.sql.pandas.types import to_arrow_schema

from . import JobError
from .inputs import Input


def batches_of(frame):
    jrdd = frame._jdf.toArrowBatchRdd(frame._jdf.queryExecution().executedPlan()).toJavaRDD()
    return RDD(jrdd, frame.sparkSession.sparkContext, NoOpSerializer())


def arrow_schema(frame):
    """Return the Arrow schema, or None if Arrow, or Python, lacks the type of a column."""
    try:
        return to_arrow_schema(frame.schema)
    except (TypeError, ValueError):
        return None


def of_arrow(frame):
    """Return the DataFrame without the columns that Arrow cannot hold, like intervals.

    If the job uses such a column, the program reports that it is missing.
    """
    names = [f.name() for f in frame._jdf.schema().fields()]
    twice = [n for n, times in collections.Counter(names).items() if times > 1]
    if twice:
        raise JobError(f"the DataFrame: found {names.count(twice[0])} columns `{twice[0]}`, expected unique names; rename "
                       "or drop the others")
    if arrow_schema(frame):
        return frame
    quoted = ["`" + n.replace("`", "``") + "`" for n in names]
    kept = [q for q in quoted if arrow_schema(frame.select(q))]
    if not kept:
        raise JobError("the DataFrame: found no column with a type of Arrow, expected at least one; cast the columns")
    return frame.select(*kept)


class Frame:
    """A DataFrame to load.  Each computation of it must give the same rows."""

    def __init__(self, frame, ordered):
        self.frame, self.ordered = of_arrow(frame), ordered
        self.schema = arrow_schema(self.frame).serialize().to_pybytes()

    @functools.cached_property
    def batches(self):
        return batches_of(self.frame)

    def inputs(self):
        return [Input(n, f"dataframe/part-{n:05d}", "", 0, False) for n in range(self.batches.getNumPartitions())]

    def judge(self, reduced):
        """Raise JobError if two rows of a DataFrame without an order give one cell, because either could be newer."""
        for d in reduced:
            for table in d["report"]["tables"]:
                for r in table["regions"]:
                    if not self.ordered and (r["deduplicated"] or r["cells_deduplicated"]):
                        row = r.get("collision", {}).get("row", "")
                        raise JobError(
                            f"table {table['name']}: found two rows of the DataFrame for one cell" +
                            (f", of row key {row}" if row else "") + ", expected one, because a DataFrame has no order "
                            "that shows the newer row; make the row key unique, or use ordered=True if the rows always "
                            "have the same order")
