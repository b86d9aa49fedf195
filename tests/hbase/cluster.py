"""Runs a whole HBase (ZooKeeper, master, region server) in one JVM, and the driver in another JVM.

    with Cluster(folder) as hbase:
        hbase.run_script("create.rb")
        hbase.bulk_load("hfiles", "ratings")

HBase can run on a real HDFS (hdfs.py), with two region servers in its JVM. The fixtures `hdfs` and `hbase_on_hdfs` of
tests/conftest.py start both for the session:

    with Hdfs(folder / "hdfs") as hdfs, Cluster(folder, hdfs.fs, region_servers=2) as hbase:
        hbase.master                # "localhost:PORT" of the protocol
        hdfs.url("/bulk/ann")       # webhdfs://127.0.0.1:PORT/bulk/ann; /bulk has mode 1777

Every wait has a limit, and every failure shows the end of the log that explains it.
"""

import hashlib
import json
import os
import pathlib
import random
import select
import selectors
import shutil
import socket
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
CACHE = pathlib.Path(os.environ.get("SALTMILL_CACHE") or pathlib.Path.home() / ".cache/saltmill")

START_SECONDS = 600  # a quiet machine takes 20
STOP_SECONDS = 5  # keeps none of the data
ANSWER_SECONDS = 300
HANG_SECONDS = 180  # until a test gives up an event, on a machine that is slow because of other work

# Packages that HBase and Hadoop open by reflection on Java 17.
OPENS = [
    *(f"--add-opens=java.base/{p}=ALL-UNNAMED" for p in (
        "java.lang", "java.nio", "sun.nio.ch", "java.lang.reflect", "java.util",
        "java.util.concurrent", "java.io")),
    *(f"--add-exports={p}=ALL-UNNAMED" for p in (
        "java.base/jdk.internal.misc", "java.security.jgss/sun.security.krb5",
        "java.base/sun.net.dns", "java.base/sun.net.util")),
]

# The servers of a test live for minutes. The second compiler of Java costs more time in them than it saves, and so does
# the proof that the classes of the released jars are well-formed.
QUICK = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote"]

LOG4J = """\
status = error
rootLogger.level = info
rootLogger.appenderRef.e.ref = err
appender.e.type = Console
appender.e.name = err
appender.e.target = SYSTEM_ERR
appender.e.layout.type = PatternLayout
appender.e.layout.pattern = %d{HH:mm:ss.SSS} %p %c{1}: %m%n
logger.zk.name = org.apache.zookeeper
logger.zk.level = warn
"""


class HBaseError(Exception):
    """An error of the driver or the server, with the root cause as message."""


def free_ports(count):
    """Returns ports that were free at the same moment, outside the system's range for connections, because suites run
    in parallel."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as f:
        own = range(10000, min(int(f.read().split()[0]), 32768))
    sockets = []
    try:
        while len(sockets) < count:
            s = socket.socket()
            sockets.append(s)
            while True:
                try:
                    s.bind(("127.0.0.1", random.SystemRandom().choice(own) if len(own) > 1000 else 0))
                    break
                except OSError:
                    pass  # this port is in use, so try another port
        return [s.getsockname()[1] for s in sockets]
    finally:
        for s in sockets:
            s.close()


def wait_until(condition, process=None, seconds=HANG_SECONDS, pause=0.05):
    """Waits until a condition is true, and returns its value. A process that ends before then is an error."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        if process is not None and process.poll() is not None:
            raise AssertionError(f"{process.args} ended: {process.communicate()}")
        assert time.monotonic() < deadline, f"waited {seconds} s for an event"
        time.sleep(pause)
    return found


def hear(process, words, seconds=HANG_SECONDS):
    """Reads the standard error of a process until it contains these words. Returns the text. The caller may read the rest
    with communicate(), because nothing is read ahead."""
    deadline, pipe, said = time.monotonic() + seconds, process.stderr.fileno(), b""
    while words.encode() not in said:
        assert select.select([pipe], [], [], max(0, deadline - time.monotonic()))[0], f"not in {seconds} s: {words}: {said}"
        part = os.read(pipe, 1 << 16)
        assert part, f"the process ended without {words}: {said}"
        said += part
    return said.decode(errors="replace")


def tail(path, lines=60):
    try:
        text = path.read_text(errors="replace").splitlines()
    except OSError:
        return f"({path} is missing)"
    return "\n".join([f"--- end of {path}"] + text[-lines:])


def complaints(path, lines=40):
    """Returns the last warnings and errors of a log."""
    try:
        text = path.read_text(errors="replace").splitlines()
    except OSError:
        return f"({path} is missing)"
    return "\n".join([l for l in text if " WARN " in l or " ERROR " in l][-lines:])


def jars(name="hbase-lib"):
    lib = sorted((CACHE / name).glob("*.jar"))
    if not lib:
        raise HBaseError(f"no jars in {CACHE / name}: run `make deps` (tests/deps.sh test)")
    return [str(j) for j in lib]


def driver_classes(source=HERE / "Driver.java", path=None):
    """Compiles a driver with the jars of `path` into the cache, unless the cache already contains this source."""
    key = hashlib.sha256(source.read_bytes()).hexdigest()[:16]
    out = CACHE / "classes" / key
    if not (out / f"{source.stem}.class").exists():
        out.parent.mkdir(parents=True, exist_ok=True)
        part = tempfile.mkdtemp(dir=out.parent)
        done = subprocess.run(
            ["javac", "-nowarn", "-proc:none", "-cp", path or ":".join(jars()), "-d", part,
             str(source)], capture_output=True, text=True, timeout=120, check=False)
        if done.returncode:
            raise HBaseError("javac failed:\n" + done.stderr)
        try:
            os.rename(part, out)
        except OSError:  # another suite has compiled it
            shutil.rmtree(part)
    return str(out)


def site(file, settings):
    """Writes a configuration file for Hadoop."""
    file.write_text("<configuration>\n" + "".join(
        f"<property><name>{k}</name><value>{v}</value></property>\n"
        for k, v in settings.items()) + "</configuration>\n")


def stop(process):
    """Ends a process that the tests started, and kills the process if it does not react."""
    if process is None or process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(STOP_SECONDS)


class Cluster:
    """A running HBase. Methods named in Driver.java's table of commands are calls to the driver."""

    def __init__(self, folder, filesystem=None, region_servers=1, settings=None, lib="hbase-lib", jvm=(), more_jars=()):
        """`filesystem` is "hdfs://HOST:PORT" for HBase's files, or None for the local disk. `settings` are additions to
        hbase-site.xml. `lib` is the folder of the servers' jars in the cache. The driver always uses hbase-lib. `jvm`
        contains more options of the servers' JVM. `more_jars` are paths of jars for servers and driver.
        """
        self.lib, self.jvm, self.more_jars = lib, list(jvm), list(more_jars)
        self.settings = settings or {}
        self.folder = pathlib.Path(folder)
        self.filesystem, self.region_servers = filesystem, region_servers
        self.master = self.zookeeper = None
        self.server_log = self.folder / "server.log"
        self.driver_log = self.folder / "driver.log"
        self.server = self.driver = None
        self.start_seconds = None

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        stop(self.driver)
        stop(self.server)

    def _configure(self):
        zk, master, region_server = free_ports(3)
        data = self.folder / "data"
        conf = self.folder / "conf"
        conf.mkdir(parents=True, exist_ok=True)
        self.master = f"localhost:{master}"
        self.zookeeper = f"zk:127.0.0.1:{zk}"  # for clients without the master's address
        settings = {
            "hbase.rootdir": f"{self.filesystem}/hbase" if self.filesystem else
                             f"file://{data}/root",
            "hbase.tmp.dir": f"{data}/tmp",
            "hbase.zookeeper.property.dataDir": f"{data}/zk",
            "hbase.zookeeper.quorum": "127.0.0.1",
            "hbase.zookeeper.property.clientPort": zk,
            "hbase.unsafe.stream.capability.enforce": str(bool(self.filesystem)).lower(),
            "hbase.wal.provider": "filesystem",
            "hbase.master.hostname": "localhost",
            "hbase.regionserver.hostname": "localhost",
            "hbase.master.ipc.address": "127.0.0.1",
            "hbase.regionserver.ipc.address": "127.0.0.1",
            "hbase.master.info.port": -1,
            "hbase.regionserver.info.port": -1,
            "hbase.master.port": master,
            "dfs.replication": 1,
            # several servers in one JVM use any free ports
            "hbase.regionserver.port": region_server if self.region_servers == 1 else 0,
            "hbase.io.compress.zstd.codec": "org.apache.hadoop.hbase.io.compress.zstd.ZstdCodec",
            "hbase.io.compress.snappy.codec":
                "org.apache.hadoop.hbase.io.compress.xerial.SnappyCodec",
            # the server reads every loaded file completely, and the loader refuses to split a file
            "hbase.hstore.bulkload.verify": "true",
            "hbase.loadincremental.fail.if.need.split.hfile": "true",
            # only the tests change files or regions
            "hbase.hregion.majorcompaction": 0,
            "hbase.store.delete.expired.storefile": "false",
            "hbase.normalizer.period": 2147483647,
            "hbase.balancer.period": 2147483647,  # it moved a region in HDFS's safe mode, and the server ended
            # metrics that no test reads, and the records of finished procedures, cost a tenth of the master's time
            "hbase.regionserver.metrics.period": 3600000,
            "hbase.procedure.cleaner.interval": 3600000,
            "hbase.client.retries.number": 6,
            **self.settings,
        }
        if not self.filesystem:
            settings["fs.file.impl"] = "Local"
            for file in pathlib.Path(driver_classes(HERE / "Local.java")).iterdir():
                shutil.copy(file, conf)  # `conf` is in the path of all programs that read it
        site(conf / "hbase-site.xml", settings)
        # Hadoop adds up counters of each thread whenever it closes a local file
        site(conf / "core-site.xml", {"fs.iostatistics.thread.level.enabled": "false"})
        (conf / "log4j2.properties").write_text(LOG4J)
        return conf

    def _java(self, conf, more, *command, lib="hbase-lib", **how):
        path = ":".join([str(conf), *more, *jars(lib), *self.more_jars])
        return subprocess.Popen(["java", *OPENS, *QUICK, "-Xmx1g", "-cp", path, *command], cwd=self.folder, **how)

    def _start(self):
        began = time.monotonic()
        for attempt in (1, 2):
            conf = self._configure()
            self._start_server(conf, "w")
            self._start_driver(conf)
            if self._wait(began + START_SECONDS):
                break
            # another process may have taken a port between our check and HBase's bind
            if attempt == 2 or "BindException" not in self.server_log.read_text(errors="replace"):
                raise HBaseError("HBase ended while starting\n" + tail(self.server_log))
        self.start_seconds = time.monotonic() - began

    def _start_server(self, conf, how):
        with open(self.server_log, how, encoding="utf-8") as log:
            self.server = self._java(conf, [], *self.jvm, "org.apache.hadoop.hbase.master.HMaster",
                                     f"--localRegionServers={self.region_servers}", "start", lib=self.lib,
                                     stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def _start_driver(self, conf):
        stop(self.driver)
        with open(self.driver_log, "a", encoding="utf-8") as log:
            self.driver = self._java(conf, [driver_classes()], "Driver", str(HERE / "shell.rb"),
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)

    def kill(self):
        """Kills ZooKeeper, master and region servers at once, like a power failure."""
        self.server.kill()
        self.server.wait()

    def restart(self):
        """Starts the servers on their ports and data. Returns when the master serves. The first call starts the driver.
        """
        stop(self.driver)  # its connections may wait for dead servers
        self.driver = None
        before, deadline = self.server_log.stat().st_size, time.monotonic() + START_SECONDS
        self._start_server(self.folder / "conf", "a")
        while b"Master has completed initialization" not in self.server_log.read_bytes()[before:]:
            if self.server.poll() is not None or time.monotonic() > deadline:
                raise HBaseError("HBase did not start anew\n" + tail(self.server_log))
            time.sleep(0.3)

    def _wait(self, deadline):
        """Returns True when the cluster serves, and False after the end of the server."""
        while time.monotonic() < deadline:
            if self.server.poll() is not None:
                return False
            try:
                if self.ready(timeout=max(60, deadline - time.monotonic())) >= self.region_servers:
                    return True
            except HBaseError:
                pass
            time.sleep(0.3)
        raise HBaseError(f"HBase not ready after {START_SECONDS} s\n" + tail(self.server_log))

    def _fail(self, what):
        raise HBaseError(f"{what}\n{tail(self.driver_log, 30)}\n{tail(self.server_log)}")

    def call(self, cmd, timeout=ANSWER_SECONDS, **arguments):
        if self.server.poll() is not None and cmd != "ready":
            self._fail(f"HBase has ended (status {self.server.returncode})")
        line = json.dumps({"cmd": cmd, **arguments}) + "\n"
        if self.driver is None:
            self._start_driver(self.folder / "conf")
        try:
            self.driver.stdin.write(line.encode())
            self.driver.stdin.flush()
        except OSError:
            self._fail(f"the driver has ended before {cmd}")
        answer = json.loads(self._read_line(cmd, time.monotonic() + timeout))
        if "error" in answer:
            with open(self.driver_log, "a", encoding="utf-8") as log:
                log.write(f"{cmd} {arguments}: {answer['trace']}\n")
            raise HBaseError(f"{cmd}: {answer['error']}")
        return answer["ok"]

    def _read_line(self, cmd, deadline):
        pipe = self.driver.stdout
        got = bytearray()
        with selectors.DefaultSelector() as ready:
            ready.register(pipe, selectors.EVENT_READ)
            while not got.endswith(b"\n"):
                if not ready.select(max(0, deadline - time.monotonic())):
                    # the next command would take the late answer as its own
                    self.driver.kill()
                    self._fail(f"no answer to {cmd} in time")
                part = os.read(pipe.fileno(), 1 << 16)
                if not part:
                    self._fail(f"the driver ended during {cmd}")
                got += part
        return got

    def ready(self, **a):
        return self.call("ready", **a)

    def run_script(self, file):
        """Evaluates a create-table script and returns its output. Raises an error if the script fails."""
        done = self.call("run_script", file=str(file))
        if done["status"]:
            raise HBaseError(f"{file}: exit {done['status']}: {done['output']}")
        return done["output"]

    def bulk_load(self, folder, table):
        return self.call("bulk_load", dir=str(folder), table=table)

    def scan(self, table, **a):
        return self.call("scan", table=table, **a)

    def get(self, table, rows, **a):
        return self.call("get", table=table, rows=[r.hex() for r in rows], **a)

    def splits(self, table):
        return self.call("splits", table=table)

    def split(self, table, row):
        """Splits a region at a row, and returns the new number of regions."""
        return self.call("split", table=table, row=row.hex())

    def move(self, table):
        """Moves each region of a table to another server."""
        return self.call("move", table=table)

    def describe(self, table):
        return self.call("describe", table=table)

    def store_files(self, table):
        return self.call("store_files", table=table)

    def pretty(self, file, **a):
        """Returns HFilePrettyPrinter's output for a file, and its warnings. `cells` prints cells and checks nothing."""
        done = self.call("pretty", file=str(file), **a)
        warnings = [l for l in done["output"].splitlines() if "WARN" in l or "ERROR" in l]
        if done["status"]:
            warnings.append(f"status {done['status']}")
        return done["output"], warnings

    def write_hfile(self, file, cells, compression="NONE", bloom="ROW", **options):
        """Writes cells (row, qualifier, ts, value) with optional {type, tags: [(type, value)], mvcc}."""
        def more(given):
            return [{**g, "tags": [[t, v.hex()] for t, v in g.get("tags", [])]} for g in given]
        return self.call("write_hfile", file=str(file), compression=compression, bloom=bloom,
                         cells=[[r.hex(), q.hex(), ts, v.hex(), *more(given)]
                                for r, q, ts, v, *given in cells], **options)

    def checksum_warnings(self):
        """Returns messages of the servers or the client about blocks with a wrong checksum."""
        return [line for log in (self.server_log, self.driver_log)
                for line in log.read_text(errors="replace").splitlines()
                if "checksum verification failed" in line.lower()]
