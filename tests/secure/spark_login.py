"""Runs on a driver of Spark whose processes have no Kerberos ticket: loads rows.csv with job.yaml into OUT, and applies it.

PACKAGE PROGRAM OUT APPLY LOGIN, where the last two are lists as JSON.
"""

import json
import sys

package, program, out, apply, login = sys.argv[1:]
sys.path.insert(0, package)

from pyspark.sql import SparkSession  # noqa: E402  (needs the path above)

import saltmill.spark  # noqa: E402

spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
try:
    saltmill.spark.load(spark, ["rows.csv"], "job.yaml", out, slices=2, program=program, apply=json.loads(apply), login=json.loads(login))
finally:
    spark.stop()
