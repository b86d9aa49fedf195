"""Runs one real Kafka broker (KRaft, one node) in its own folder, and a producer.

    with Broker(folder) as kafka:
        kafka.create("clicks", partitions=6)
        kafka.produce("clicks", [(0, b"key", b"value"), ...])

Every wait has a limit, and every failure shows the end of the log that explains it.
"""

import json
import os
import pathlib
import struct
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "hbase"))

from cluster import CACHE, QUICK, driver_classes, free_ports, stop, tail, wait_until  # noqa: E402  (needs the path above)

HERE = pathlib.Path(__file__).resolve().parent
START_SECONDS = 600  # a quiet machine takes 6
TOOL_SECONDS = 120

SERVER = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={folder}/data
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
log.cleaner.backoff.ms=100
log.cleaner.dedupe.buffer.size=8388608
log.initial.task.delay.ms=100
log.retention.check.interval.ms=500
log.segment.delete.delay.ms=100
log.retention.ms=-1
auto.create.topics.enable=false
"""

LOG4J = """\
Configuration:
  Appenders:
    Console: {name: err, target: SYSTEM_ERR, PatternLayout: {pattern: "%d{HH:mm:ss.SSS} %p %c{1}: %m%n"}}
  Loggers:
    Root: {level: WARN, AppenderRef: [{ref: err}]}
"""


class KafkaError(Exception):
    """The error of a tool or the broker, with the end of its log."""


def jars():
    lib = CACHE / "kafka-lib"
    if not lib.is_dir():
        raise KafkaError(f"no jars in {lib}: run `make deps` (tests/deps.sh test)")
    return f"{lib}/*"


class Broker:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.log = self.folder / "server.log"
        self.port, self.controller = free_ports(2)
        self.brokers = f"127.0.0.1:{self.port}"
        self.server = self.driver = None
        self.properties = self.folder / "server.properties"
        self.properties.write_text(
            SERVER.format(port=self.port, controller=self.controller, folder=self.folder))
        (self.folder / "log4j2.yaml").write_text(LOG4J)

    def __enter__(self):
        try:
            self.format()
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        stop(self.driver)
        self.stop()

    def _command(self, main, *arguments, memory="256m", path=None):
        return ["java", f"-Xmx{memory}", *QUICK,
                f"-Dlog4j2.configurationFile={self.folder}/log4j2.yaml", "-cp",
                path or jars(), main, *arguments]

    def _java(self, main, *arguments):
        done = subprocess.run(self._command(main, *arguments), capture_output=True, text=True,
                              timeout=TOOL_SECONDS, check=False)
        if done.returncode:
            raise KafkaError(f"{main} {arguments}:\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def format(self, *more):
        self._java("kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c",
                   str(self.properties), *more)

    def start(self):
        """Starts the broker (again) on its ports and its data."""
        with open(self.log, "ab") as log:
            self.server = subprocess.Popen(
                self._command("kafka.Kafka", str(self.properties), memory="1g"), stdout=log,
                stderr=log)
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            if self.server.poll() is not None:
                raise KafkaError("the broker ended\n" + tail(self.log))
            done = subprocess.run(["kcat", "-b", self.brokers, "-L", "-m", "1"],
                                  capture_output=True, check=False)
            if done.returncode == 0 and b" broker 1 at" in done.stdout:
                return
            time.sleep(0.1)
        raise KafkaError("the broker does not answer\n" + tail(self.log))

    def stop(self):
        stop(self.server)
        self.server = None

    def kill(self):
        """Kills the broker like a power failure, without a flush or a clean shutdown."""
        self.server.kill()
        self.server.wait()
        self.server = None

    # --- calls of the driver: one JVM for all commands of a session ---

    def call(self, *words):
        """Runs one command of Driver.java. Returns the words of the answer."""
        if self.driver is None:
            path = f"{driver_classes(HERE / 'Driver.java', jars())}:{jars()}"
            self.driver = subprocess.Popen(
                self._command("Driver", self.brokers, path=path), stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=open(self.folder / "driver.log", "ab"), text=True)
        self.driver.stdin.write("\t".join(str(w) for w in words) + "\n")
        self.driver.stdin.flush()
        answer = self.driver.stdout.readline().rstrip("\n").split("\t")
        if answer[0] != "ok":
            raise KafkaError(f"{words}: {answer}\n" + tail(self.folder / "driver.log"))
        return answer[1:]

    def create(self, topic, partitions=1, **config):
        self.call("create", topic, partitions,
                  *(f"{k.replace('_', '.')}={v}" for k, v in config.items()))

    def remove(self, topic):
        """Deletes a topic, and waits until the broker has no topic of this name."""
        self.call("delete", topic)
        wait_until(lambda: topic not in self.topics())

    def grow(self, topic, partitions):
        """Adds partitions, and waits until the broker knows them."""
        self.call("grow", topic, partitions)
        wait_until(lambda: len(self.ends(topic)) == partitions)

    def topics(self):
        """Returns the names of the topics, as kcat lists them."""
        done = subprocess.run(["kcat", "-b", self.brokers, "-L", "-J"], capture_output=True, check=True, timeout=TOOL_SECONDS)
        return {t["topic"] for t in json.loads(done.stdout)["topics"]}

    def produce(self, topic, messages, codec="none", transaction="", commit=True):
        """Produces messages (partition, key, value[, timestamp]) with bytes or None, in order. Waits until the broker acknowledges all."""
        file = self._write(messages)
        self.call("produce", topic, file, codec, transaction or "-", int(commit))
        file.unlink()

    def feed(self, topic, messages, codec, transaction=""):
        """Works as produce, with a producer that stays for the next batch. Aborts the transaction."""
        file = self._write(messages)
        self.call("feed", topic, file, codec, transaction or "-")
        file.unlink()

    def _write(self, messages):
        file = self.folder / f"batch-{os.urandom(6).hex()}"
        with open(file, "w") as out:
            for m in messages:
                partition, key, value, ts = (*m, None)[:4] if len(m) == 3 else m
                out.write(f"{partition}\t{ts if ts is not None else 1476640644000}\t"
                          f"{'-' if key is None else key.hex() or '='}\t"
                          f"{'-' if value is None else value.hex() or '='}\n")
        return file

    def pour(self, topic, partition, values, codec, *properties):
        """Produces values without keys with kcat, so that the batches and the compression come from another client.
        Each property is NAME=VALUE of librdkafka."""
        done = subprocess.run(["kcat", "-P", "-b", self.brokers, "-t", topic, "-p", str(partition),
                               "-z", codec, *(w for p in properties for w in ("-X", p))], input=b"\n".join(values), capture_output=True,
                              timeout=TOOL_SECONDS, check=False)
        if done.returncode:
            raise KafkaError(f"kcat: {done.stderr.decode()}\n" + tail(self.log))

    def records(self, topic):
        """Returns the committed messages that Kafka's own client reads, as {(partition, offset): (key, value, ts)}."""
        file = self.folder / f"records-{os.urandom(6).hex()}"
        self.call("records", topic, file)
        seen = {}
        for line in open(file):
            p, o, ts, key, value = line.rstrip("\n").split("\t")
            seen[int(p), int(o)] = tuple(
                None if t == "-" else bytes.fromhex(t.strip("=")) for t in (key, value)) + (int(ts),)
        file.unlink()
        return seen

    def damage(self, topic, partition, offset):
        """Flips a bit of the stored batch that has the offset, as a bad disk does. Returns (first, next) offset of the
        batch."""
        path = self.folder / "data" / f"{topic}-{partition}" / f"{0:020}.log"
        data = path.read_bytes()
        at = 0
        while at < len(data):
            first, length = struct.unpack_from(">qi", data, at)
            last = first + struct.unpack_from(">i", data, at + 23)[0]
            at += 12 + length
            if first <= offset <= last:
                with open(path, "r+b") as f:
                    f.seek(at - 1)
                    f.write(bytes([data[at - 1] ^ 0x20]))
                return first, last + 1
        raise KafkaError(f"{topic}/{partition} has no offset {offset}")

    def settle(self, topic):
        """Produces aborted transactions, whose batches stay in the topic, so that its end offsets stay."""
        self.call("settle", topic)

    def ends(self, topic):
        """Returns [(low, high)] of each partition."""
        words = self.call("ends", topic)
        return [tuple(int(n) for n in w.split(":")) for w in words]

    def committed(self, group, topic):
        return {int(p): int(o) for p, o in (w.split(":") for w in self.call("committed", group, topic))}
