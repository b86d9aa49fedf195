"""Runs saltmill with servers of a secured HBase that allow less than those of secured.py.

make strict-servers [ARGS="--only tls"]

For each case of CASES, an ordinary user creates and loads a table, reads it, and reads it with a token of HBase alone.
HBase's own client reads the same cells. A client with a weaker login is refused, and saltmill names the reason.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "hbase")]

from authority import Authority  # noqa: E402  (needs the path above)
from kdc import REALM, Kdc  # noqa: E402
from secured import SecuredHBase, SecuredHdfs  # noqa: E402
from test_secured import JOB, expected, rows  # noqa: E402

TLS = {"hbase.server.netty.tls.supportplaintext": "false", "hbase.client.netty.tls.enabled": "true"}
PRIVACY = {"hbase.rpc.protection": "privacy", "hbase.rpc.crypto.encryption.aes.enabled": "false"}
AES = {**PRIVACY, "hbase.rpc.crypto.encryption.aes.enabled": "true"}
WEAK = ["--protection", "integrity"], "offers privacy, expected integrity; change --protection"
PLAIN = ["without-tls"], "or accepts only TLS (--ca)"
# case: the settings of the servers, and the words of a weaker login with words of its refusal
CASES = {"privacy": (PRIVACY, [WEAK]), "tls": (TLS, [PLAIN]), "aes": (AES, [WEAK]), "all": ({**TLS, **AES}, [WEAK, PLAIN])}


class Trial:
    def __init__(self, saltmill, folder, hdfs, hbase, tls):
        self.saltmill, self.folder, self.hdfs, self.hbase = saltmill, folder, hdfs, hbase
        self.ca = [] if tls is None else ["--ca", tls.ca, "--cert", tls.certificate, "--key", tls.key]
        self.login = ["--principal", f"alice@{REALM}", "--keytab", hdfs.kdc.keytab("alice")]

    def run(self, *words, login=None, ca=None, status=0, **env):
        words = [*words, *(self.login if login is None else login), *(self.ca if ca is None else ca)]
        done = subprocess.run([self.saltmill, *map(str, words)], capture_output=True, text=True, timeout=300, check=False, cwd=self.folder,
                              env={**os.environ, **self.hdfs.kdc.env, "KRB5CCNAME": "FILE:/nonexistent", **env})
        assert (done.returncode == 0) == (status == 0), (words, done.stdout, done.stderr)
        return done.stderr if status else done.stdout

    def whole(self, table):
        """Loads the table and reads it in each way."""
        job, where = self.folder / f"{table}.yaml", ["--hbase", self.hbase.master]
        job.write_text(JOB.format(table=table))
        (self.folder / "rows.csv").write_text("id,ts,v\n" + "".join(f"{k},{t},{v}\n" for k, t, v in rows()))
        self.run("load", job, "-o", self.folder / table, "--quiet", login=[], ca=[])
        upload = f"webhdfs://localhost:{self.hdfs.http_port}/bulk"
        if self.ca:
            upload = f"swebhdfs://localhost:{self.hdfs.https_port}/bulk"
        self.run("apply", self.folder / table, "--create", *where, "--upload", upload)
        assert self.hbase.admin("digest", table) == expected()
        local = self.run("scan", job, self.folder / table, "--format", "jsonl", login=[], ca=[])
        assert self.run("scan", job, *where, "--format", "jsonl") == local != ""
        tokens = self.folder / f"{table}.tokens"
        self.run("tokens", tokens, *where)
        assert self.run("scan", job, *where, "--format", "jsonl", login=[], HADOOP_TOKEN_FILE_LOCATION=str(tokens)) == local
        return where

    def refused(self, where, weaker):
        for words, found in weaker:
            plain = words == PLAIN[0]
            said = self.run("tables", *where, *([] if plain else words), ca=[] if plain else None, status=1)
            assert found in said, (words, said)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--only", choices=CASES)
    options.add_argument("saltmill", nargs="?", default="build/saltmill")
    o = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="saltmill-strict-") as name, Kdc(pathlib.Path(name) / "kdc") as kdc:
        folder = pathlib.Path(name)
        tls = Authority(folder / "tls")
        with SecuredHdfs(folder / "hdfs", kdc, tls) as hdfs:
            for path in ("/bulk", "/tmp"):
                hdfs.make_dirs(path, "1777")
            for case, (settings, weaker) in CASES.items():
                if o.only not in (None, case):
                    continue
                began = time.monotonic()
                with SecuredHBase(folder / case, kdc, hdfs, tls, settings) as hbase:
                    hbase.admin("grant", "alice", "@default", "RWC")
                    trial = Trial(pathlib.Path(o.saltmill).resolve(), folder, hdfs, hbase,
                                  tls if "hbase.client.netty.tls.enabled" in settings else None)
                    trial.refused(trial.whole(f"s{case}"), weaker)
                    print(f"{case}: right, {time.monotonic() - began:.0f} s with its start", flush=True)
                hdfs.ask("DELETE", "/hbase", "DELETE", recursive="true")


if __name__ == "__main__":
    sys.exit(main())
