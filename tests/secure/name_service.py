"""Runs saltmill on an HDFS of two NameNodes with one name (dfs.nameservices), with Kerberos and without.

make name-service [ARGS="--without-kerberos"]

$HADOOP_CONF_DIR has the addresses. The script loads from the name service into it, and reads the load there. Then it
applies a load while the active NameNode dies and the other one becomes active. On the secured HDFS, it also uses tokens
alone (ha-hdfs:NAME), lets `hdfs fetchdt` print, renew and cancel them, and reads tokens that fetchdt has written.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import types
import xml.etree.ElementTree as tree

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "hbase")]

from authority import Authority  # noqa: E402  (needs the path above)
from cluster import Cluster, HBaseError, free_ports, site, tail  # noqa: E402
from hdfs import START_SECONDS, Hdfs  # noqa: E402
from kdc import REALM, Kdc  # noqa: E402
from kills import words_of  # noqa: E402
from secured import SecuredHBase, SecuredHdfs  # noqa: E402
from test_secured import JOB, ROWS, expected, hfiles, rows, table_files  # noqa: E402

NAME = "duo"
NAMENODE = "org.apache.hadoop.hdfs.server.namenode.NameNode"


class TwoNameNodes:
    """Two NameNodes, nn1 and nn2, with their common edits in a folder. nn1 becomes active."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        self.active, self.other = "nn1", None
        self.ports = {"nn1": (self.rpc_port, self.http_port), "nn2": tuple(free_ports(2))}

    @property
    def fs(self):
        return f"hdfs://{NAME}"

    def _configure(self):
        super()._configure()
        file = self.conf / "hdfs-site.xml"
        found = {p.findtext("name"): p.findtext("value") for p in tree.parse(file).getroot()}
        for key in ("rpc-address", "http-address", "https-address"):
            found.pop(f"dfs.namenode.{key}", None)
        for node, (rpc, http) in self.ports.items():
            found[f"dfs.namenode.rpc-address.{NAME}.{node}"] = f"localhost:{rpc}"
            found[f"dfs.namenode.http-address.{NAME}.{node}"] = f"localhost:{http}"
            found[f"dfs.namenode.https-address.{NAME}.{node}"] = f"localhost:{free_ports(1)[0]}"
        site(file, {
            **found, "dfs.nameservices": NAME, f"dfs.ha.namenodes.{NAME}": "nn1,nn2",
            f"dfs.client.failover.proxy.provider.{NAME}":
                "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider",
            "dfs.namenode.shared.edits.dir": f"file://{self.folder}/edits", "dfs.ha.fencing.methods": "shell(true)",
            "dfs.ha.tail-edits.period": "1s", "dfs.ha.namenode.id": "${nn.id}", "dfs.namenode.name.dir": f"{self.folder}/${{nn.id}}"})

    def tool(self, name, main, *words, node="nn1", env=None):
        """Runs a program of Hadoop and returns its output."""
        before = {k: os.environ.get(k) for k in env or {}}
        os.environ.update(env or {}, JAVA_TOOL_OPTIONS=f"-Dnn.id={node}")
        try:
            process = self.java(name, 200, main, *map(str, words))
        finally:
            for key, value in before.items():
                os.environ.pop(key) if value is None else os.environ.update({key: value})
            os.environ.pop("JAVA_TOOL_OPTIONS")
        if process.wait(START_SECONDS):
            raise HBaseError(f"{name} {words} failed\n" + tail(self.folder / f"{name}.log"))
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def start_one(self, node):
        os.environ["JAVA_TOOL_OPTIONS"] = f"-Dnn.id={node}"
        try:
            return self.java(f"namenode-{node}", 300, NAMENODE)
        finally:
            os.environ.pop("JAVA_TOOL_OPTIONS")

    def admin_login(self):
        return {}

    def become_active(self, node):
        self.tool("haadmin", "org.apache.hadoop.hdfs.tools.DFSHAAdmin", "-ns", NAME, "-transitionToActive", *(["--forceactive"] if node == "nn2" else []), node, env=self.admin_login())
        self.active, self.http_port = node, self.ports[node][1]

    def start(self):
        self._configure()
        self.tool("format", NAMENODE, "-format", "-nonInteractive")
        self.namenode = self.start_one("nn1")
        self.wait_for_port(self.namenode, self.ports["nn1"][0])
        self.tool("standby", NAMENODE, "-bootstrapStandby", "-nonInteractive", node="nn2")
        self.other = self.start_one("nn2")
        self.wait_for_port(self.other, self.ports["nn2"][0])
        self.start_datanode()
        self.become_active("nn1")
        self.wait()

    def wait_for_port(self, process, port):
        import socket
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and process.poll() is None:
            try:
                return socket.create_connection(("localhost", port), 1).close()
            except OSError:
                time.sleep(0.2)
        raise HBaseError("no NameNode" + "".join(tail(f) for f in self.folder.glob("namenode-*.log")))

    def fail_over(self):
        """Kills the active NameNode. The other one becomes active a moment later."""
        dead, self.namenode, self.other = self.namenode, self.other, None
        dead.kill()
        dead.wait()
        time.sleep(2)
        self.become_active("nn2")

    def stop(self):
        super().stop()
        if self.other:
            self.other.kill()
            self.other.wait()


class PlainPair(TwoNameNodes, Hdfs):
    pass


class SecuredPair(TwoNameNodes, SecuredHdfs):
    def _configure(self):
        super()._configure()
        file = self.conf / "core-site.xml"
        found = {p.findtext("name"): p.findtext("value") for p in tree.parse(file).getroot()}
        site(file, {**found, "hadoop.security.service.user.name.key": f"nn/localhost@{REALM}"})

    def admin_login(self):
        return {**self.kdc.env, "KRB5CCNAME": f"FILE:{self.kdc.kinit('nn/localhost')}"}


class PlainHBase(Cluster):
    """HBase without Kerberos, with the settings of the two NameNodes."""

    def __init__(self, folder, hdfs):
        super().__init__(folder, hdfs.fs)
        self.hdfs = hdfs

    def _configure(self):
        conf = super()._configure()
        for name in ("core-site.xml", "hdfs-site.xml"):
            (conf / name).write_text((self.hdfs.conf / name).read_text())
        return conf


class Trial:
    def __init__(self, saltmill, folder, hdfs, hbase, env, login):
        self.saltmill, self.folder, self.hdfs, self.hbase, self.login = saltmill, folder, hdfs, hbase, login
        self.env = {**os.environ, "HADOOP_CONF_DIR": str(hdfs.conf), "KRB5CCNAME": "/nonexistent", **env}

    def run(self, *words, login=None, **more):
        done = subprocess.run([self.saltmill, *map(str, [*words, *(self.login if login is None else login)])], capture_output=True,
                              text=True, timeout=300, env={**self.env, **more}, check=False)
        if done.returncode:
            raise HBaseError(f"{words}: {done.returncode} {done.stdout} {done.stderr}")
        print(f"right: saltmill {' '.join(map(str, words[:3]))}", flush=True)
        return done.stdout

    def job(self, table, source="rows.csv"):
        folder = self.folder / table
        folder.mkdir()
        (folder / "job.yaml").write_text(JOB.format(table=table).replace("rows.csv", source))
        (folder / "rows.csv").write_text("id,ts,v\n" + "".join(f"{k},{t},{v}\n" for k, t, v in rows()))
        return folder

    def files(self):
        """Loads into the name service, and from it."""
        folder = self.job("files")
        self.run("load", folder / "job.yaml", "-o", f"hdfs://{NAME}/bulk/one", "--quiet")
        self.run("verify", f"hdfs://{NAME}/bulk/one", "--quiet")
        self.hdfs.ask("PUT", "/bulk/in", "MKDIRS", permission="777")
        self.hdfs.tool("put", "org.apache.hadoop.fs.FsShell", "-put", folder / "rows.csv", "/bulk/in/", env=self.hdfs.admin_login())
        reader = self.job("input", f"hdfs://{NAME}/bulk/in/rows.csv")
        self.run("load", reader / "job.yaml", "-o", reader / "out", "--quiet")
        (found,) = json.loads((reader / "out/manifest.json").read_text())["inputs"]
        assert found["rows"] == ROWS, found
        text = self.run("load", folder / "job.yaml", "-o", "hdfs:///bulk/two", "--quiet")
        assert not text and "manifest.json" in self.hdfs.list("/bulk/two"), self.hdfs.list("/bulk/two")

    def digest(self, table):
        if isinstance(self.hbase, SecuredHBase):
            found = self.hbase.admin("digest", table)
            if found != expected():
                raise HBaseError(f"{table}: found {found}, expected {expected()}")
        files = table_files(types.SimpleNamespace(hdfs=self.hdfs), table)
        if len(files) != len(hfiles(self.folder / table / "out")):
            raise HBaseError(f"{table}: found {files}")
        print(f"right: table {table}", flush=True)

    def apply(self, table, *words, login=None, between=None, **more):
        folder = self.job(table)
        self.run("load", folder / "job.yaml", "-o", folder / "out", "--quiet", login=[])
        command = [self.saltmill, "apply", folder / "out", "--create", "--check", "--hbase", self.hbase.master, *words,
                   *(self.login if login is None else login)]
        with open(folder / "log", "w", encoding="utf-8") as log, \
                subprocess.Popen([*map(str, command)], stdout=log, stderr=log, env={**self.env, **more}) as process:
            while between and process.poll() is None and not any(w == "put" for _, w in words_of(folder / "out.saltmill-apply")):
                time.sleep(0.01)
            if between:
                print("apply has", "ended" if process.poll() is not None else "uploaded a file", flush=True)
                between()
            if process.wait(300):
                raise HBaseError(f"apply {table}: {process.returncode}\n{(folder / 'log').read_text()}")
        self.digest(table)

    def tokens(self, user):
        """Uses tokens alone, and Hadoop's fetchdt with the same files."""
        file, theirs = self.folder / "tokens", self.folder / "fetchdt.tokens"
        out = self.run("tokens", file, f"hdfs://{NAME}/bulk", "--hbase", self.hbase.master)
        assert f"ha-hdfs:{NAME}" in out, out
        alone = {"login": [], "HADOOP_TOKEN_FILE_LOCATION": str(file)}
        self.apply("bytoken", **alone)
        env = {**self.hdfs.kdc.env, "KRB5CCNAME": f"FILE:{self.hdfs.kdc.kinit(user)}"}
        main = "org.apache.hadoop.hdfs.tools.DelegationTokenFetcher"
        said = self.hdfs.tool("fetchdt-print", main, "--print", file, env=env)
        assert f"service:ha-hdfs:{NAME}" in said.lower().replace("service: ", "service:") or f"ha-hdfs:{NAME}" in said, said
        self.hdfs.tool("fetchdt-renew", main, "--renew", file, env=env)
        self.hdfs.tool("fetchdt-get", main, "--renewer", user, theirs, env=env)
        alone["HADOOP_TOKEN_FILE_LOCATION"] = str(theirs)
        self.run("verify", f"hdfs://{NAME}/bulk/one", "--quiet", **alone)
        web = self.folder / "web.tokens"
        port = self.hdfs.ports[self.hdfs.active][1]
        self.hdfs.tool("fetchdt-web", main, "--webservice", f"http://localhost:{port}", "--renewer", user, web, env=env)
        self.run("verify", f"webhdfs://localhost:{port}/bulk/one", "--quiet", login=[], HADOOP_TOKEN_FILE_LOCATION=str(web))
        renewed = self.run("tokens", file, f"hdfs://{NAME}/bulk", "--renew")
        assert re.search(rf"ha-hdfs:{NAME}  {user}  valid until 20", renewed), renewed
        self.hdfs.tool("fetchdt-cancel", main, "--cancel", file, env=env)
        self.run("tokens", theirs, f"hdfs://{NAME}/bulk", "--cancel")
        # the ticket is better than a cancelled token
        self.run("verify", f"hdfs://{NAME}/bulk/one", "--quiet", HADOOP_TOKEN_FILE_LOCATION=str(file))
        for one in (file, theirs):
            done = subprocess.run([self.saltmill, "verify", f"hdfs://{NAME}/bulk/one"], capture_output=True, text=True, check=False,
                                  env={**self.env, "HADOOP_TOKEN_FILE_LOCATION": str(one)}, timeout=300)
            if not done.returncode or "found no valid Kerberos ticket" not in done.stdout + done.stderr:
                raise HBaseError(f"a cancelled token: {done.returncode} {done.stdout} {done.stderr}")


def secured(saltmill, folder):
    with Kdc(folder / "kdc") as kdc:
        tls = Authority(folder / "tls")
        with SecuredPair(folder / "hdfs", kdc, tls) as hdfs:
            for path, mode in (("/bulk", "1777"), ("/tmp", "1777"), ("/user/alice", "777")):
                hdfs.make_dirs(path, mode)
            with SecuredHBase(folder / "hbase", kdc, hdfs, tls) as hbase:
                hbase.admin("grant", "alice", "@default", "RWC")
                trial = Trial(saltmill, folder, hdfs, hbase, kdc.env,
                              ["--principal", f"alice@{REALM}", "--keytab", kdc.keytab("alice")])
                trial.files()
                trial.tokens("alice")
                trial.apply("failover", between=hdfs.fail_over)
                trial.apply("after")


def plain(saltmill, folder):
    with PlainPair(folder / "hdfs") as hdfs:
        for path in ("/bulk", "/tmp", "/hbase", f"/user/{os.environ.get('USER', 'root')}"):
            hdfs.make_dirs(path, "1777")
        with PlainHBase(folder / "hbase", hdfs) as hbase:
            trial = Trial(saltmill, folder, hdfs, hbase, {}, [])
            trial.files()
            trial.apply("failover", between=hdfs.fail_over)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--without-kerberos", action="store_true")
    options.add_argument("saltmill", nargs="?", default="build/saltmill")
    o = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="saltmill-name-service-") as name:
        (plain if o.without_kerberos else secured)(pathlib.Path(o.saltmill).resolve(), pathlib.Path(name))
    print(f"all right ({ROWS} rows in each table)")


if __name__ == "__main__":
    sys.exit(main())
