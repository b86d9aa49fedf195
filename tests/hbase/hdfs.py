"""Runs a whole HDFS (NameNode, DataNode) from the jars of the server tests.

    with Hdfs(folder) as hdfs:
        hdfs.url("/up")            # webhdfs://127.0.0.1:PORT/up
        hdfs.ask("PUT", "/up", "MKDIRS", user="ann", permission="755")

The user who starts the HDFS is its superuser. Tests run the program as another user, because a superuser meets no
permission errors.
"""

import getpass
import json
import os
import pathlib
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

from cluster import LOG4J, OPENS, QUICK, free_ports, jars, site, stop, tail

START_SECONDS = 600  # a quiet machine takes 20


class HdfsError(Exception):
    """The error of a server, or the end of the log of a server that ended."""


class Hdfs:
    """A NameNode and a DataNode on free ports of 127.0.0.1, with their data below `folder`."""

    def __init__(self, folder, **settings):
        self.folder = pathlib.Path(folder)
        self.settings = settings
        self.conf = self.folder / "hdfs-conf"
        self.namenode = self.datanode = self.start_seconds = None
        (self.rpc_port, self.http_port, self.data_port, self.data_ipc_port,
         self.data_http_port) = free_ports(5)

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    @property
    def fs(self):
        """Returns the configuration of Hadoop's own clients."""
        return f"hdfs://127.0.0.1:{self.rpc_port}"

    def url(self, path):
        return f"webhdfs://127.0.0.1:{self.http_port}{path}"

    def _configure(self):
        for name in ("hdfs", "datanode", "static"):  # the jar lacks these files, and empty files suffice
            (self.conf / "webapps" / name).mkdir(parents=True, exist_ok=True)
        (self.conf / "log4j2.properties").write_text(LOG4J)
        site(self.conf / "core-site.xml", {"fs.defaultFS": self.fs})
        site(self.conf / "hdfs-site.xml", {
            "dfs.replication": 1,
            "dfs.namenode.name.dir": self.folder / "name",
            "dfs.datanode.data.dir": self.folder / "blocks",
            "dfs.namenode.rpc-address": f"127.0.0.1:{self.rpc_port}",
            "dfs.namenode.http-address": f"127.0.0.1:{self.http_port}",
            "dfs.datanode.address": f"127.0.0.1:{self.data_port}",
            "dfs.datanode.ipc.address": f"127.0.0.1:{self.data_ipc_port}",
            "dfs.datanode.http.address": f"127.0.0.1:{self.data_http_port}",
            "dfs.datanode.hostname": "localhost",
            "dfs.namenode.datanode.registration.ip-hostname-check": "false",
            "dfs.namenode.safemode.extension": 0,
            "dfs.heartbeat.interval": 1,
            **self.settings})

    def java(self, name, heap, main, *arguments):
        path = ":".join([str(self.conf), *jars()])
        with open(self.folder / f"{name}.log", "a", encoding="utf-8") as log:
            return subprocess.Popen(
                ["java", *OPENS, *QUICK, f"-Xmx{heap}m", "-cp", path, main, *arguments],
                cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def start(self):
        began = time.monotonic()
        self._configure()
        if not (self.folder / "name").exists():
            done = self.java("format", 200, "org.apache.hadoop.hdfs.server.namenode.NameNode",
                             "-format", "-nonInteractive")
            if done.wait(START_SECONDS):
                raise HdfsError("format failed\n" + tail(self.folder / "format.log"))
        self.start_namenode()
        self.start_datanode()
        self.wait()
        self.start_seconds = time.monotonic() - began

    def start_namenode(self):
        self.namenode = self.java("namenode", 300,
                                  "org.apache.hadoop.hdfs.server.namenode.NameNode")

    def start_datanode(self):
        self.datanode = self.java("datanode", 300,
                                  "org.apache.hadoop.hdfs.server.datanode.DataNode")

    def wait(self):
        """Waits until HDFS accepts files."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            for name, process in (("namenode", self.namenode), ("datanode", self.datanode)):
                if process.poll() is not None:
                    raise HdfsError(f"the {name} ended\n" + tail(self.folder / f"{name}.log"))
            try:
                if self.state()["NumLiveDataNodes"] > 0 and self.state()["FSState"] == "Operational":
                    return
            except (OSError, ValueError, LookupError):
                pass
            time.sleep(0.2)
        raise HdfsError("HDFS is not ready\n" + tail(self.folder / "namenode.log") +
                        tail(self.folder / "datanode.log"))

    def state(self):
        with urllib.request.urlopen(
                f"http://127.0.0.1:{self.http_port}/jmx?qry=Hadoop:service=NameNode,"
                "name=FSNamesystemState", timeout=10) as answer:
            return json.load(answer)["beans"][0]

    def stop(self):
        stop(self.datanode)
        stop(self.namenode)

    def ask(self, method, path, op, user=None, **parameters):
        """Makes one REST call with the tests' own client. Returns None if the path does not exist."""
        query = urllib.parse.urlencode({"op": op, "user.name": user or getpass.getuser(), **parameters})
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.http_port}/webhdfs/v1{urllib.parse.quote(path)}?{query}",
            method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                text = answer.read()
        except urllib.error.HTTPError as refusal:
            text = refusal.read()
            if refusal.code == 404:
                return None
            raise HdfsError(f"{op} {path}: {refusal.code} {text.decode(errors='replace')}") from None
        if op == "OPEN":
            return text
        return json.loads(text) if text else {}

    def make_dirs(self, path, mode="755", user=None):
        self.ask("PUT", path, "MKDIRS", user, permission=mode)
        self.ask("PUT", path, "SETPERMISSION", permission=mode)

    def status(self, path):
        answer = self.ask("GET", path, "GETFILESTATUS")
        return answer and answer["FileStatus"]

    def list(self, path):
        """Returns {name: status} of a folder."""
        answer = self.ask("GET", path, "LISTSTATUS")
        return answer and {f["pathSuffix"]: f for f in answer["FileStatuses"]["FileStatus"]}

    def read(self, path):
        return self.ask("GET", path, "OPEN")

    def tree(self, path):
        """Returns {relative path: bytes} of all files below a folder."""
        found = {}
        for name, status in (self.list(path) or {}).items():
            below = f"{path}/{name}"
            if status["type"] == "DIRECTORY":
                found.update({f"{name}/{n}": b for n, b in self.tree(below).items()})
            else:
                found[name] = self.read(below)
        return found
