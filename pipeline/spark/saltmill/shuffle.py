"""Sends bytes to partitions with Spark's shuffle, without a Python object for each row and without pickling.

RDD.partitionBy collects up to a thousand pairs for a partition before it sends them.  This is too much memory for
pieces of megabytes.  This module sends each piece to the JVM at once, in the form of PairwiseRDD
(org.apache.spark.api.python).  That form is the partition as a long, then the bytes.
"""

import struct

from pyspark.rdd import RDD
from pyspark.serializers import NoOpSerializer

from .counts import counted


def to_partition(index):  # PythonPartitioner compares a function's identity, so all shuffles use this function
    return index


def send(pairs):
    """Yield (partition, bytes) in the form that the JVM reads, for mapPartitions."""
    for partition, data in pairs:
        if partition is not None:  # else counts, which go no further
            yield struct.pack("!q", partition)
        yield data


def shuffle(rdd, partitions, counts):
    """Shuffle an RDD of (partition, bytes).  Return a handle for `received`.  `counts` is the function of counts.py."""
    keyed = rdd.mapPartitions(send, preservesPartitioning=True)
    keyed._bypass_serializer = True
    jvm = rdd.ctx._jvm
    pairs = jvm.PairwiseRDD(counted(keyed, counts).rdd()).asJavaPairRDD()
    return pairs.partitionBy(jvm.PythonPartitioner(partitions, id(to_partition)))


def received(sc, shuffles):
    """Return an RDD of bytes.  Its partition i has the bytes that all shuffles sent to i.

    All shuffles have the same number of partitions and the same partitioner.  So Spark's union joins them partition by
    partition.
    """
    pairs = shuffles[0]
    for more in shuffles[1:]:
        pairs = pairs.union(more)
    return RDD(sc._jvm.PythonRDD.valueOfPair(pairs), sc, NoOpSerializer())
