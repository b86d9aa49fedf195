"""Bytes to partitions by Spark's shuffle, without a Python object a row and without pickling.

RDD.partitionBy collects up to a thousand pairs for a partition before it hands them on, which is
right for rows and not for pieces of megabytes.  Here each goes to the JVM as it comes: a long, the
partition, and the bytes, as PairwiseRDD (org.apache.spark.api.python) reads them.
"""

import struct

from pyspark.rdd import RDD
from pyspark.serializers import NoOpSerializer


def to_partition(index):  # PythonPartitioner wants a function's identity: the same for all shuffles
    return index


def send(pairs):
    """mapPartitions: (partition, bytes) as the JVM reads them."""
    for partition, data in pairs:
        yield struct.pack("!q", partition)
        yield data


def shuffle(rdd, partitions):
    """A handle for `received`; rdd: of (partition, bytes)."""
    keyed = rdd.mapPartitions(send, preservesPartitioning=True)
    keyed._bypass_serializer = True
    jvm = rdd.ctx._jvm
    pairs = jvm.PairwiseRDD(keyed._jrdd.rdd()).asJavaPairRDD()
    return pairs.partitionBy(jvm.PythonPartitioner(partitions, id(to_partition)))


def received(sc, shuffles):
    """RDD of bytes: partition i has what all shuffles, of as many partitions, sent to i.

    Their partitioner is one, so that Spark's union joins them partition by partition.
    """
    pairs = shuffles[0]
    for more in shuffles[1:]:
        pairs = pairs.union(more)
    return RDD(sc._jvm.PythonRDD.valueOfPair(pairs), sc, NoOpSerializer())
