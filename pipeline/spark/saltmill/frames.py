"""Rows of a DataFrame as Arrow streams, without a Python object a row.

What mapInArrow sends to Python, its record batches, is taken as bytes: the JVM writes each as an IPC message
(Dataset.toArrowBatchRdd), and the native program reads them behind the schema's message.  Each partition is an
input of its own, so that its rows are told by partition and place in it.
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
    """A DataFrame to load: the same rows each time that it is computed."""

    def __init__(self, frame, ordered):
        self.frame, self.ordered = frame, ordered
        try:
            self.schema = to_arrow_schema(frame.schema).serialize().to_pybytes()
        except TypeError as e:  # a type that Arrow has not
            raise JobError(f"the DataFrame: {e}") from e

    @functools.cached_property
    def batches(self):
        return batches_of(self.frame)

    def inputs(self):
        return [Input(n, f"dataframe/part-{n:05d}", "", 0, False) for n in range(self.batches.getNumPartitions())]

    def judge(self, reduced):
        """Which of two rows for one cell is newer, only an order tells: JobError where there is none."""
        for d in reduced:
            for table in d["report"]["tables"]:
                for r in table["regions"]:
                    if not self.ordered and (r["deduplicated"] or r["cells_deduplicated"]):
                        row = r.get("collision", {}).get("row", "")
                        raise JobError(
                            f"table {table['name']}: two rows of the DataFrame give one cell" +
                            (f", of row key {row}" if row else "") + "; which of them is newer only an order tells, and "
                            "a DataFrame has none: make the key unique, or say ordered=True of one whose rows "
                            "come in the same order each time")
