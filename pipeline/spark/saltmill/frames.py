"""Rows of a DataFrame as Arrow streams, without a Python object for each row.

The JVM writes each record batch as an IPC message (Dataset.toArrowBatchRdd).  Python passes these bytes to the native
program without decoding, after the message with the schema.  Each partition is an input, so messages name a row by its
partition and its place in the partition.
"""

import functools

from pyspark.rdd import RDD
from pyspark.serializers import NoOpSerializer
from pyspark.sql.pandas.types import to_arrow_schema

from . import JobError
from .inputs import Input


def batches_of(frame):
    jrdd = frame._jdf.toArrowBatchRdd(frame._jdf.queryExecution().executedPlan()).toJavaRDD()
    return RDD(jrdd, frame.sparkSession.sparkContext, NoOpSerializer())


class Frame:
    """A DataFrame to load.  Each computation of it must give the same rows."""

    def __init__(self, frame, ordered):
        self.frame, self.ordered = frame, ordered
        try:
            self.schema = to_arrow_schema(frame.schema).serialize().to_pybytes()
        except TypeError as e:  # Arrow lacks the type
            raise JobError(f"the DataFrame: {e}") from e

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
