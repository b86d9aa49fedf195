"""Tests a load with Spark into a secured HDFS, and its apply: the driver logs in once, and only tokens reach the tasks."""

import json
import os
import pathlib
import subprocess
import sys

from secrets_of import secrets_in
from test_secured import JOB, expected, places, rows, table_files

ROOT = pathlib.Path(__file__).resolve().parents[2]
WRAPPER = """#!/bin/sh
echo "$1 $(stat -c %a "$HADOOP_TOKEN_FILE_LOCATION" 2>/dev/null || echo none)" >>{log}
exec {program} "$@"
"""


def test_one_login(rig, saltmill, tmp_path):
    (tmp_path / "job.yaml").write_text(JOB.format(table="t9"))
    (tmp_path / "rows.csv").write_text("id,ts,v\n" + "".join(f"{k},{t},{v}\n" for k, t, v in rows()))
    wrapper, log = tmp_path / "saltmill", tmp_path / "log"
    wrapper.write_text(WRAPPER.format(log=log, program=saltmill))
    wrapper.chmod(0o755)
    login = ["--principal", "alice@EXAMPLE.COM", "--keytab", str(rig.kdc.keytab("alice"))]
    apply = [rig.hbase.master, "--create", "--copy-to", str(tmp_path / "copy"), *places(rig)[2:]]
    java = f"-Djava.security.krb5.conf={rig.kdc.env['KRB5_CONFIG']} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    # Spark's own login is for Hadoop's client in the JVM of the driver, which keeps the tickets in its memory
    env = {**os.environ, **rig.kdc.env, "KRB5CCNAME": "/nonexistent", "HADOOP_CONF_DIR": str(rig.hdfs.conf),
           "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "TMPDIR": str(tmp_path / "tmp"),
           "PYSPARK_SUBMIT_ARGS": f"{' '.join(login)} --conf spark.local.dir={tmp_path / 'tmp'} "
                                  f"--driver-java-options '{java}' pyspark-shell"}
    (tmp_path / "tmp").mkdir()
    done = subprocess.run([sys.executable, pathlib.Path(__file__).with_name("spark_login.py"), ROOT / "pipeline" / "spark", wrapper,
                           rig.hdfs.url("/bulk/t9"), json.dumps(apply), json.dumps(login)],
                          cwd=tmp_path, env=env, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    modes = [line.split() for line in log.read_text().splitlines()]
    assert [c for c, _ in modes].count("tokens") == 1, "expected one login"
    assert {m for c, m in modes if c in ("map", "reduce", "unite", "apply")} == {"600"}, modes
    assert not list((tmp_path / "tmp").rglob("tokens")), "expected no token after the load"
    assert not secrets_in((done.stdout + done.stderr).encode(), [])
    assert rig.hdfs.list("/bulk")["t9"]["owner"] == "alice"
    assert rig.hbase.admin("digest", "t9") == expected()
    assert set(table_files(rig, "t9").values()) == {"alice"}
