"""Runs a secured HDFS and a secured HBase with AccessController on 127.0.0.1, with the KDC of kdc.py.

    with Kdc(folder / "kdc") as kdc, SecuredHdfs(folder, kdc) as hdfs, SecuredHBase(folder, kdc, hdfs) as hbase:
        hbase.admin("grant", "alice", "@default", "RWC")
        hbase.admin("digest", "t")        # rows, cells and the XOR of the cells' SHA-256, as HBase's client reads them

The servers accept all three protections. Admin.java is HBase's own client, which logs in as the superuser `hbase`.
"""

import contextlib
import json
import os
import pathlib
import subprocess
import time
import types

from authority import Authority
from cluster import ANSWER_SECONDS, OPENS, QUICK, START_SECONDS, Cluster, HBaseError, driver_classes, free_ports, jars, site, stop, tail
from hdfs import Hdfs
from kdc import PARTNER, REALM

HERE = pathlib.Path(__file__).resolve().parent
VISIBILITY = "org.apache.hadoop.hbase.security.visibility.VisibilityController"
ACCESS = "org.apache.hadoop.hbase.security.access.AccessController"


def kerberos(kdc):
    return [f"-Djava.security.krb5.conf={kdc.env['KRB5_CONFIG']}"]


class SecuredHdfs(Hdfs):
    def __init__(self, folder, kdc, tls):
        super().__init__(folder)
        self.kdc, self.tls = kdc, tls
        self.https_port, self.data_https_port = free_ports(2)
        self.cache, self.more = None, {}

    @property
    def fs(self):
        return f"hdfs://localhost:{self.rpc_port}"

    def url(self, path):
        return f"webhdfs://localhost:{self.http_port}{path}"

    def _configure(self):
        self.settings = {
            "dfs.namenode.rpc-address": f"localhost:{self.rpc_port}",
            "dfs.namenode.http-address": f"localhost:{self.http_port}",
            "dfs.namenode.https-address": f"localhost:{self.https_port}",
            "dfs.datanode.https.address": f"127.0.0.1:{self.data_https_port}",
            "dfs.http.policy": "HTTP_AND_HTTPS",
            "dfs.block.access.token.enable": "true",
            "ignore.secure.ports.for.testing": "true",
            "dfs.data.transfer.protection": "authentication",
            "dfs.namenode.kerberos.principal": f"nn/localhost@{REALM}",
            "dfs.namenode.keytab.file": self.kdc.keytab("nn/localhost"),
            "dfs.datanode.kerberos.principal": f"dn/localhost@{REALM}",
            "dfs.datanode.keytab.file": self.kdc.keytab("dn/localhost"),
            "dfs.web.authentication.kerberos.principal": f"HTTP/localhost@{REALM}",
            "dfs.web.authentication.kerberos.keytab": self.kdc.keytab("HTTP/localhost"), **self.more}
        super()._configure()
        site(self.conf / "core-site.xml", {
            "fs.defaultFS": self.fs,
            "hadoop.security.authentication": "kerberos",
            "hadoop.security.authorization": "true",
            # users need no accounts on this machine
            "hadoop.security.group.mapping": "org.apache.hadoop.security.NullGroupsMapping",
            # Hadoop 3.3 and later read these for WebHDFS, and not dfs.web.authentication
            "hadoop.http.authentication.type": "kerberos",
            "hadoop.http.authentication.kerberos.principal": f"HTTP/localhost@{REALM}",
            "hadoop.http.authentication.kerberos.keytab": self.kdc.keytab("HTTP/localhost"),
            "hadoop.http.authentication.simple.anonymous.allowed": "false",
            # one user of another realm has a name; the others have none
            "hadoop.security.auth_to_local": f"RULE:[1:$1@$0](visitor@{PARTNER})s/@.*/_partner/\nDEFAULT",
            "hadoop.proxyuser.oozie.hosts": "*",
            "hadoop.proxyuser.oozie.users": "alice"})
        site(self.conf / "ssl-server.xml", {
            "ssl.server.keystore.location": self.tls.keystore, "ssl.server.keystore.type": "pkcs12",
            "ssl.server.keystore.password": "secret", "ssl.server.keystore.keypassword": "secret"})

    def java(self, name, heap, main, *arguments):
        path = ":".join([str(self.conf), *jars()])
        with open(self.folder / f"{name}.log", "a", encoding="utf-8") as log:
            return subprocess.Popen(
                ["java", *OPENS, *kerberos(self.kdc), *QUICK, f"-Xmx{heap}m", "-cp", path, main, *arguments],
                cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def curl(self, method, path, user="nn/localhost", body=None):
        """Makes one request with curl and a ticket. Returns the answer's text."""
        cache = self.cache = self.cache or self.kdc.kinit(user)
        done = subprocess.run(
            ["curl", "-sS", "--negotiate", "-u", ":", "-X", method, f"http://localhost:{self.http_port}{path}"],
            env={**os.environ, **self.kdc.env, "KRB5CCNAME": str(cache)}, capture_output=True, text=True, timeout=60, check=False)
        return done.stdout

    def state(self):
        return json.loads(self.curl("GET", "/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState"))["beans"][0]

    def ask(self, method, path, op, user=None, **parameters):
        more = "".join(f"&{k}={v}" for k, v in parameters.items())
        text = self.curl(method, f"/webhdfs/v1{path}?op={op}{more}")
        answer = json.loads(text) if text else {}
        if "RemoteException" in answer:
            if answer["RemoteException"]["exception"] == "FileNotFoundException":
                return None
            raise HBaseError(f"{op} {path}: {text}")
        return answer


class SecuredHBase(Cluster):
    def __init__(self, folder, kdc, hdfs, tls, more=()):
        hbase = f"hbase/localhost@{REALM}"
        super().__init__(folder, hdfs.fs, jvm=kerberos(kdc), settings={
            "hbase.security.authentication": "kerberos",
            "hbase.security.authorization": "true",
            "hbase.rpc.protection": "authentication,integrity,privacy",
            "hbase.master.kerberos.principal": hbase,
            "hbase.master.keytab.file": kdc.keytab("hbase/localhost"),
            "hbase.regionserver.kerberos.principal": hbase,
            "hbase.regionserver.keytab.file": kdc.keytab("hbase/localhost"),
            "hbase.coprocessor.region.classes": f"org.apache.hadoop.hbase.security.token.TokenProvider,{ACCESS},{VISIBILITY}",
            "hbase.coprocessor.master.classes": f"{ACCESS},{VISIBILITY}",
            "hbase.coprocessor.regionserver.classes": ACCESS,
            # clients may negotiate AES, and need not
            "hbase.rpc.crypto.encryption.aes.enabled": "true",
            # one port for clients with TLS, which need a certificate, and without TLS
            "hbase.server.netty.tls.enabled": "true",
            "hbase.server.netty.tls.supportplaintext": "true",
            "hbase.client.netty.tls.enabled": "false",
            "hbase.rpc.tls.keystore.location": tls.keystore,
            "hbase.rpc.tls.keystore.type": "pkcs12",
            "hbase.rpc.tls.keystore.password": "secret",
            "hbase.rpc.tls.truststore.location": tls.ca,
            "hbase.rpc.tls.truststore.type": "pem", **dict(more)})
        self.kdc, self.hdfs, self.tls = kdc, hdfs, tls

    def _configure(self):
        conf = super()._configure()
        for name in ("core-site.xml", "hdfs-site.xml"):
            (conf / name).write_text((self.hdfs.conf / name).read_text())
        return conf

    def _start_driver(self, conf):
        """Starts Admin.java instead of the driver of the tests without Kerberos."""
        with open(self.driver_log, "a", encoding="utf-8") as log:
            self.driver = subprocess.Popen(
                ["java", *kerberos(self.kdc), *QUICK, "-Xmx400m", "-cp",
                 ":".join([str(conf), driver_classes(HERE / "Admin.java"), *jars()]), "Admin",
                 f"hbase/localhost@{REALM}", str(self.kdc.keytab("hbase/localhost"))],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)

    def _start(self):
        self.hdfs.ask("PUT", "/hbase", "MKDIRS", permission="755")
        self.hdfs.ask("PUT", "/hbase", "SETOWNER", owner="hbase")
        self._configure()
        self._start_again("w")

    def _start_again(self, how):
        before = self.server_log.stat().st_size if how == "a" else 0
        began = time.monotonic()
        self._start_server(self.folder / "conf", how)
        while b"Master has completed initialization" not in self.server_log.read_bytes()[before:]:
            if self.server.poll() is not None or time.monotonic() > began + START_SECONDS:
                raise HBaseError("HBase did not start\n" + tail(self.server_log))
            time.sleep(0.2)
        self.start_seconds = time.monotonic() - began

    def restart(self):
        """Kills the servers if they run, and starts them on their ports and data."""
        self.kill()
        stop(self.driver)  # its connections may wait for dead servers
        self.driver = None
        self._start_again("a")

    def admin(self, *words):
        """Sends a line to Admin.java and returns the words of its answer."""
        if self.driver is None:
            self._start_driver(self.folder / "conf")
        self.driver.stdin.write((" ".join(words) + "\n").encode())
        self.driver.stdin.flush()
        answer = self._read_line(words[0], time.monotonic() + ANSWER_SECONDS)
        answer = bytes(answer).decode()
        kind, _, rest = answer.strip().partition(" ")
        if kind != "ok":
            raise HBaseError(f"{words}: {answer}\n" + tail(self.driver_log, 20))
        return rest.split()


def shorten_tokens(rig, seconds, longest=None):
    """Starts the NameNode again, so that its tokens end after some seconds. HDFS renews a token until it is `longest` seconds
    old. Without `longest`, it does not renew tokens. HBase waits for the NameNode."""
    stop(rig.hdfs.namenode)
    rig.hdfs.more = {"dfs.namenode.delegation.token.max-lifetime": 1000 * (longest or seconds),
                     "dfs.namenode.delegation.token.renew-interval": 1000 * seconds}
    rig.hdfs._configure()
    rig.hdfs.start_namenode()
    rig.hdfs.wait()


@contextlib.contextmanager
def new_rig(folder, kdc):
    """Starts HDFS and HBase for the KDC. The user alice may create tables, and every user may write below /bulk."""
    tls = Authority(folder / "tls")
    with SecuredHdfs(folder / "hdfs", kdc, tls) as hdfs:
        for path in ("/bulk", "/tmp"):
            hdfs.make_dirs(path, "1777")
        with SecuredHBase(folder / "hbase", kdc, hdfs, tls) as hbase:
            hbase.admin("grant", "alice", "@default", "RWC")
            yield types.SimpleNamespace(kdc=kdc, hdfs=hdfs, hbase=hbase, tls=tls)
