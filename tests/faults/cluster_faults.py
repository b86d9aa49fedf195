"""Tests faults of commands that use HBase, with the cluster of bulk_hbase.py, which has no faults itself.

However `apply` ended, the table contains each cell of the load at most once, and no other cell. The load's folder does not change. The next run continues with the journal and ends with 0. Each cell is then in the table once, and HDFS
contains only the table. The same holds for the loads of a state. apply marks the loads in HBase and removes them by the rule of --keep.

OpenSSL's own calls do not fail. The program loads OpenSSL only because libcurl needs it, and encrypts nothing.
The program queries servers that do not answer again for minutes, so all sleeps are HASTE times as fast (preload.c).
"""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess

import faults
import topic_faults
from bulk_hbase import BulkHBase, Even, FakeHBase, LocalHBase, hfile_py

APPLY = "--hbase HBASE --webhdfs HDFS --user ann"
SCENARIOS = {
    "apply": f"apply OUT/load {APPLY} --create --check --json",
    "apply over other borders": f"apply OUT/load {APPLY} --json",
    "apply in a local file system": "apply OUT/load --hbase HBASE --user ann --create --check --json",
    "apply of a state": f"apply --state OUT/state {APPLY} --create --keep 1 --json",
    "apply that follows": f"apply --state OUT/state {APPLY} --create --keep 1 --follow --quiet",
    "stream into HBase": f"stream TOPIC --state OUT/state -o OUT/loads --apply {APPLY.removeprefix('--hbase ')} --create "
                         "--memory 16M --threads 1 --quiet",
    "scan of HBase": "scan JOB --hbase HBASE --where 'id > 7' --format jsonl",
    "get of HBase": "get JOB --hbase HBASE id=2291 name=n1 --format jsonl",
    "reduce that sends": "reduce job.yaml maps --plan planned --share 1/2 -o OUT/out --hfiles OUT/sent --threads 1 --memory 64M",
    "reduce that sends to HDFS": "reduce job.yaml maps --plan planned --share 1/2 -o OUT/out --threads 1 --memory 64M "
                                 "--hfiles webhdfs://HDFS/user/ann/sent --hdfs-user ann",
    "unite of what was sent": "unite job.yaml in.csv more.csv.gz --plan planned --maps maps --reduces OUT/reduces "
                              "--hfiles OUT/sent -o OUT/out --threads 1 --max-rejects 5 --json",
}
HASTE = 200
WAITS = 3  # seconds until the test stops a run without an end; three times as long in a repeated run
EVENTS = 60
JOB = """\
source: {csv: {files: [small.csv]}}
fields: {id: {type: u32}, when: {type: time, unit: s}}
tables:
  - name: events
    rowkey: [{salt: 4, of: [id]}, {field: id, as: u32}, {field: name, terminator: '-'}]
    timestamp: when
    families: {f: {compression: GZ, bloomfilter: ROWCOL}}
    cells:
      - {family: f, qualifier: name, value: {field: name}}
      - {family: f, qualifier: id, value: {field: id, as: text}}
    regions: {split: sampled, count: 2}
"""


def write_load(folder):
    """Makes (job, published load) of a few events."""
    (folder / "small.yaml").write_text(JOB)
    rows = [f"{i * 2291},{1400000000 + i},n{i % 11}\n" for i in range(EVENTS)]
    (folder / "small.csv").write_text("id,when,name\n" + "".join(rows))
    if not (folder / "small").exists():
        subprocess.run([faults.PROGRAM, "load", "small.yaml", "-o", "small", "--quiet"], cwd=folder, check=True)
    return folder / "small.yaml", folder / "small"


def cells_of(load):
    return [(c.row, path.parent.name.encode(), c.qualifier, c.ts, c.value)
            for path in sorted(load.glob("*/hfiles/*/*")) for c in hfile_py.read(path)]


def plain(text):
    """Returns a row key in the form of HBase's shell."""
    return re.sub(rb"\\x([0-9A-F]{2})", lambda m: bytes([int(m[1], 16)]), text.encode())


class ClusterScenario(faults.Scenario):
    lines = SCENARIOS
    apart = "=libcrypto"
    loaded = "libcurl.so.4"
    jobs = 5 * os.cpu_count()  # servers take some time

    def __init__(self, name, inputs, scratch):
        self.servers = {}  # {OUT: its cluster}
        self.job, self.load = write_load(scratch)
        self.topic = scratch / "topic.yaml"
        super().__init__(name, inputs, scratch)
        if self.measure_is_wrong():
            self.close()
            raise SystemExit(f"{name}: the undisturbed run, against which all others are held, did not do all: "
                             f"{self.want.status}, {self.want.stderr}")

    def measure_is_wrong(self):
        """Compares the undisturbed run with its input."""
        return False

    def command(self, out):
        server = self.servers.get(str(out))
        line = self.line.replace("JOB", str(self.job)).replace("TOPIC", str(self.topic))
        if server:
            line = line.replace("HBASE", server.address)
        if isinstance(server, BulkHBase):
            line = line.replace("HDFS", server.webhdfs)
        return self.words(line, out)

    @staticmethod
    def environment(slot):
        return faults.Scenario.environment(slot) | {"FAULT_HASTE": str(HASTE)}

    def serve(self, slot, server):
        self.servers[str(slot.out)] = server.__enter__()
        return server

    def close(self):
        super().close()
        for server in self.servers.values():
            server.__exit__()


class ScanScenario(ClusterScenario):
    def prepare(self, slot):
        cells = cells_of(self.load)
        borders = [b"\1", sorted(c[0] for c in cells)[len(cells) * 3 // 4]]
        self.serve(slot, FakeHBase("events", ["f"], cells, borders, Even()))

    def measure_is_wrong(self):
        load, rows = cells_of(self.load), self.want.stdout
        asked = {row for row, _, qualifier, _, value in load if qualifier == b"id" and
                 (int(value) > 7 if self.line.startswith("scan") else value == b"2291")}
        got = [(plain(row["row"]), c["family"].encode(), c["qualifier"].encode(), c["timestamp"], c["value"].encode())
               for row in (rows if isinstance(rows, list) else [rows]) for c in row["cells"]]
        return not asked or sorted(got) != sorted(c for c in load if c[0] in asked)


class ApplyScenario(ClusterScenario):
    def prepare(self, slot):
        server = self.serve(slot, BulkHBase("events", ["f"]))
        shutil.copytree(self.load, slot.out / "load")
        slot.before = faults.files_of(slot.out)
        slot.reset = server.reset
        if "borders" in self.name:
            self.other_borders(slot, server)

    def other_borders(self, slot, server):
        """Makes a table with a region that begins inside a file."""
        status, _, stderr = self.run_alone(slot, [*self.command(slot.out), "--create"])
        if status:
            raise SystemExit(f"{self.name}: {stderr.decode()}")
        server.like = server.schema
        server.borders = [server.keys[EVENTS // 5]]

    def tree_of(self, slot):
        """Counts each cell of the table, and lists other files in HDFS by path."""
        server = self.servers[str(slot.out)]
        kept = {k: v for k, v in faults.tree(slot.out).items() if not k.endswith(".saltmill-apply")}
        with server.tree.lock:
            waiting = {f"hdfs:{path}": None for path in server.tree.children("/user/ann")}
        return self.of_state(kept) | waiting | {"table": dict(server.stored)}

    def measure_is_wrong(self):
        return self.want.tree["table"] != collections.Counter(cells_of(self.load))

    @staticmethod
    def of_state(tree):
        return tree

    def left_wrong(self, got):
        stored, want = got.tree["table"], self.want.tree["table"]
        if any(n > 1 or c not in want for c, n in stored.items()):
            return "failed, and the table has a cell twice, or one of nobody's"
        if self.folders_of(got.tree) != self.folders_of(self.want.tree):
            return "failed, and the load's folder was changed"
        return None

    @staticmethod
    def folders_of(tree):
        return {k: v for k, v in tree.items() if k.split("/")[0] == "load"}

    def wrong_next(self, slot, got):
        if self.same(got):
            return None
        again = self.run(slot)
        if again.status in (0, self.want.status) and again.tree == self.want.tree:
            return None
        other = sorted(k for k in {*again.tree, *self.want.tree} if again.tree.get(k) != self.want.tree.get(k))
        return f"the next run did not go on: {again.status}, {again.stderr.strip()}, {other[:3]}"


class LocalScenario(ApplyScenario):
    """These servers copy files, so apply sends a call without an answer again. HBase shows a doubled cell once."""

    def prepare(self, slot):
        self.serve(slot, LocalHBase("events", ["f"], slot.out.with_name(f"{slot.out.name}-hbase")))
        shutil.copytree(self.load, slot.out / "load")
        slot.before, slot.reset = faults.files_of(slot.out), self.servers[str(slot.out)].reset

    def tree_of(self, slot):
        found = super().tree_of(slot)
        return found | {"table": {c: 1 for c in found["table"]}}


class FollowScenario(ApplyScenario):
    """A state with two loads, which a stream made from the topic of topic_faults.py."""

    def prepare(self, slot):
        server = self.serve(slot, BulkHBase("t", ["f"]))
        topic_faults.write_job(self.topic)
        (slot.out / "loads").mkdir()
        slot.reset = server.reset
        if self.line.startswith("stream"):
            slot.before = faults.files_of(slot.out)
            return
        line = topic_faults.SCENARIOS["stream"].replace("JOB", str(self.topic))
        status, stderr = topic_faults.run_stream(self.words(line, slot.out), slot.out, faults.PATIENCE, cwd=self.inputs)
        if status not in (0, 3):
            raise SystemExit(f"{self.name}: {stderr.decode()}")
        slot.before = faults.files_of(slot.out)

    def measure_is_wrong(self):
        """Returns the fault if an event is not in the table once, a load has no mark, or --keep has not removed the older folder."""
        tree = self.want.tree
        names = [b"%d-%d" % (p, i) for p in range(topic_faults.PARTITIONS) for i in range(topic_faults.EVENTS)
                 if not topic_faults.is_bad(i)]
        events = sorted((row, family, qualifier, value) for (row, family, qualifier, _, value), n in tree["table"].items()
                        for _ in range(n))
        return (events != sorted((name, b"f", b"v", name) for name in names) or
                not {"state/handed/00000002", "state/handed/00000003"} <= set(tree) or
                ("--keep" in self.line and any(name.startswith("loads/00000002") for name in tree)))

    def wrong(self, got, campaign):
        """A load in HBase may still wait for its removal, which the status shows."""
        waits = "the next start removes the rest of the load" in got.stderr
        if got.status == self.want.status and waits and not campaign.unnoticed:
            return self.left_wrong(got)
        return super().wrong(got, campaign)

    @staticmethod
    def of_state(tree):
        """Compares only which loads the state has marked, because the state also stores times."""
        return {k: None if k.startswith("state/handed/") else v for k, v in tree.items()
                if not k.startswith("state/") or k.startswith("state/handed/")}

    @staticmethod
    def folders_of(tree):
        """Returns the folders of the last load, because follow removes the earlier load after both are in HBase."""
        return {k: v for k, v in tree.items() if k.startswith("loads/00000003")}


class EndlessScenario(FollowScenario):
    """A process that the test stops after all loads are in HBase, or when this takes too long."""

    def undisturbed(self):
        """Repeats the run with more time if it stopped before all loads were in HBase."""
        slot = self.slots.take()
        for slot.tries in range(faults.TRIES):
            slot.begin()
            outcome = self.run(slot)
            if not slot.stopped:
                break
        slot.tries = 0
        self.slots.give_back(slot)
        return outcome

    def run(self, slot, fault=None):
        end = faults.Patience(WAITS * 3 ** slot.tries)

        def look(pid):
            late, done = not end.look(), self.is_done(slot)
            slot.stopped = slot.stopped or (late and not done)  # if the result is wrong, repeat the run
            return (late or done) and self.is_ready(pid, slot) and topic_faults.stop(pid)
        status, _, stderr = self.run_served(slot, fault, look)
        return self.outcome(slot, status, b"", stderr)

    @staticmethod
    def is_done(slot):
        """Both loads have a mark, and --keep has removed the older folder."""
        out = slot.out
        marked = all((out / "state" / "handed" / name).exists() for name in ("00000002", "00000003"))
        return marked and not any(out.glob("loads/00000002*"))

    @staticmethod
    def is_ready(*_):
        """Returns true if the process has set up its signals. This is certain if the process finished its work or the test waited for it."""
        return True

    def wrong(self, got, campaign):
        """The stream retries a load that HBase does not accept without end. It still waits when the test stops the process, so the status is 3."""
        if got.status == 3 and not self.same(got) and not campaign.unnoticed:
            return self.left_wrong(got) or (None if "saltmill" in got.stderr else "waits without a sentence")
        return super().wrong(got, campaign)


class StreamScenario(EndlessScenario):
    """One process loads from the topic into HBase. The scenario of `apply` checks libcurl without memory."""
    apart = "librdkafka,libcurl,=libcrypto"
    loaded = "librdkafka.so.1,libcurl.so.4"

    @staticmethod
    def is_done(slot):
        return all((slot.out / "state" / "handed" / name).exists() for name in ("00000002", "00000003"))

    @staticmethod
    def is_ready(pid, slot):
        return topic_faults.has_state(pid, slot.out)

    @staticmethod
    def folders_of(tree):
        return {}


class SentScenario(ClusterScenario):
    """Without a cluster, the parts of a load send HFiles to a folder."""

    def prepare(self, slot):
        (slot.out / "sent").mkdir()
        if self.line.startswith("unite"):
            for share in ("1", "2"):
                line = self.lines["reduce that sends"].replace("1/2", f"{share}/2").replace("OUT/out", f"OUT/reduces/{share}")
                (slot.out / "reduces").mkdir(exist_ok=True)
                status, _, stderr = self.run_alone(slot, self.words(line, slot.out))
                if status:
                    raise SystemExit(f"{self.name}: {stderr.decode()}")
        slot.before = faults.files_of(slot.out)

    def left_wrong(self, got):
        rest = {k: v for k, v in got.tree.items() if k.split("/")[0] not in ("sent", "reduces")}
        return super().left_wrong(got._replace(tree=rest))

    def tidy(self, slot):
        """An attempt's own part goes with the folder, even if a disk that fails permanently keeps the attempt from
        removing it."""
        super().tidy(slot)
        for part in (slot.out / "sent").glob(".*"):
            part.unlink()


class HdfsScenario(SentScenario):
    """Sends the files to a folder in HDFS. It contains the expected files, and at most parts of the failed attempt."""

    def prepare(self, slot):
        server = self.serve(slot, BulkHBase("events", ["f"]))

        def reset():
            server.reset()
            server.tree.nodes["/user/ann/sent"] = server.tree.node("ann", "777")
        slot.reset = reset
        reset()

    def tree_of(self, slot):
        server = self.servers[str(slot.out)]
        with server.tree.lock:
            sent = {path: node["data"] for path, node in server.tree.children("/user/ann/sent").items()}
        return super().tree_of(slot) | {f"sent/{path}": content for path, content in sent.items()}

    def measure_is_wrong(self):
        """Checks that each HFile of the report exists, with the content whose digest is its name."""
        report = json.loads(self.want.tree["out/report.json"])
        named = [pathlib.Path(f["path"]).name for t in report["tables"] for r in t["regions"] for f in r["files"]]
        sent = [k for k, v in self.want.tree.items() if k.startswith("sent/") and v is not None]
        return not named or {pathlib.Path(k).name.rpartition(".")[2] for k in sent} != set(named) or len(sent) != len(named)

    def left_wrong(self, got):
        other = [k for k, v in got.tree.items() if k.startswith("sent/") and "/." not in k and self.want.tree.get(k) != v]
        return f"failed, and HDFS has {other}" if other else super().left_wrong(got)

    def tidy(self, slot):
        """Removes an attempt's part, as unite does."""
        faults.Scenario.tidy(self, slot)
        tree = self.servers[str(slot.out)].tree
        with tree.lock:
            for part in [path for path in tree.children("/user/ann/sent") if "/." in path]:
                del tree.nodes[part]


def scenario(name, inputs, scratch):
    kind = {"apply of a state": FollowScenario, "apply that follows": EndlessScenario, "stream into HBase": StreamScenario,
            "apply in a local file system": LocalScenario, "reduce that sends to HDFS": HdfsScenario,
            "reduce that sends": SentScenario, "unite of what was sent": SentScenario}
    usual = ScanScenario if name.endswith("of HBase") else ApplyScenario
    return kind.get(name, usual)(name, inputs, scratch)
