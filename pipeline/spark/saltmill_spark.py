#!/usr/bin/env python3
"""spark-submit saltmill_spark.py JOB INPUT... -o OUT: a load with Apache Spark.

The exit status is that of `saltmill load`: 0 done, 3 published with rejects, 1 failed. After status 1, saltmill has
published nothing, unless the message begins with "published as OUT, but".
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from pyspark.sql import SparkSession  # noqa: E402  (saltmill is next to this file, or installed)

import saltmill.spark  # noqa: E402


def arguments():
    p = argparse.ArgumentParser(prog="saltmill_spark.py", description="load files into HFiles with Apache Spark")
    p.add_argument("job")
    p.add_argument("inputs", nargs="+", metavar="INPUT", help="files, patterns, folders; URIs of pyarrow.fs")
    p.add_argument("-o", "--output", required=True, metavar="OUT", help="publish the load as this new folder; a path, or hdfs://, webhdfs://, s3://")
    p.add_argument("--slices", type=int, metavar="N", help="use about N map tasks (default: one for each 256 MiB)")
    p.add_argument("--existing", action="append", metavar="FILE", help="use the regions of an existing table, as in `saltmill load`")
    p.add_argument("--plan", metavar="DIR", help="use the split points and settings that `saltmill plan -o DIR` wrote")
    p.add_argument("--max-rejects", default="0", metavar="N|P%%", help="accept at most this many bad events in all slices together (default: 0)")
    p.add_argument("--max-duplicates", metavar="N|P%%", help="publish nothing if more than this many events are overwritten")
    p.add_argument("--no-shuffle", action="store_true",
                   help="join up to 16 loads of slices without a shuffle; only for unique keys")
    p.add_argument("--webhdfs", metavar="HOST[:PORT],..", help="for OUT hdfs://...: the HTTP addresses of the NameNodes")
    p.add_argument("--memory", default="512M", metavar="SIZE", help="memory limit of the program in each task (default: 512M)")
    p.add_argument("--program", metavar="FILE", help="the saltmill binary for all machines")
    p.add_argument("--login", action="store_true", help="log in to a secured HDFS once, and send tokens to the tasks")
    p.add_argument("--principal", metavar="NAME@REALM", help="for --login: the principal (default: the ticket cache's)")
    p.add_argument("--keytab", metavar="FILE", help="for --login: the keytab of --principal (default: the tickets of kinit)")
    p.add_argument("--break-lock", action="store_true", help="remove the lock of a run on another host that has certainly ended")
    return p.parse_args()


def login_of(a):
    named = [word for name in ("principal", "keytab") if getattr(a, name) for word in (f"--{name}", getattr(a, name))]
    return named if a.login or named else None


def report(r):
    lines = [f"read {r.manifest['read']:,} events in {r.slices} slices" +
             (f", {r.mended} of them mapped again" if r.mended else "") + f"; {r.shuffled / 1e6:,.1f} MB shuffled"]
    for name, counts in r.counts["tables"].items():
        lines.append(f"table {name}: {counts['rows']:,} rows, {counts['cells']:,} cells in {len(r.regions[name])} files; "
                     f"loaded {counts['loaded']:,}, filtered {counts['filtered']:,}, "
                     f"deduplicated {counts['deduplicated']:,}")
    lines.append(f"rejected {r.manifest['rejected']:,}")
    lines.append(", ".join(f"{name.replace('_', ' ')} {s:.1f} s" for name, s in r.seconds.items()))
    lines.append(f"published as {r.out}")
    return "\n".join(lines)


def main():
    a = arguments()
    # the program has already compressed the pieces
    spark = SparkSession.builder.appName(f"saltmill {pathlib.Path(a.job).stem}") \
        .config("spark.shuffle.compress", "false").config("spark.shuffle.spill.compress", "false").getOrCreate()
    try:
        r = saltmill.spark.load(spark, a.inputs, a.job, a.output, slices=a.slices, existing=a.existing or (),
                                plan=a.plan, max_rejects=a.max_rejects, max_duplicates=a.max_duplicates,
                                memory=a.memory, shuffle=not a.no_shuffle, program=a.program, break_lock=a.break_lock,
                                webhdfs=a.webhdfs, login=login_of(a))
    except saltmill.JobError as e:
        print(f"saltmill: {e}", file=sys.stderr)
        return 1
    finally:
        spark.stop()
    print(report(r))
    return 3 if r.manifest["rejected"] else 0


if __name__ == "__main__":
    sys.exit(main())
