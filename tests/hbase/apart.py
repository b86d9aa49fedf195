"""An HBase with one process for each server, so that a test can kill the servers one by one.

    with Hdfs(folder) as hdfs, Apart(folder, hdfs) as hbase:
        hbase.kill_one("master") # -9; one of hbase.NAMES, or the datanode
        hbase.revive()           # starts the dead servers again

The servers are ZooKeeper, a master and two region servers. ZooKeeper's sessions are short, so that a dead server is
soon detected. The sessions are long enough that a server that waits for a processor does not count as dead.
"""

import contextlib
import os
import pathlib
import signal
import subprocess
import time

from cluster import OPENS, QUICK, START_SECONDS, Cluster, HBaseError, free_ports, jars, site, stop, tail

SESSION_MS = 10000  # 20 ticks, the longest session that ZooKeeper allows


class Apart(Cluster):
    """Runs servers in separate processes. Calls of the driver work as in Cluster."""

    NAMES = {"master": "org.apache.hadoop.hbase.master.HMaster",
             "region1": "org.apache.hadoop.hbase.regionserver.HRegionServer",
             "region2": "org.apache.hadoop.hbase.regionserver.HRegionServer"}

    def __init__(self, folder, hdfs, settings=None):
        super().__init__(folder, hdfs.fs, 2, {
            "hbase.cluster.distributed": "true", "hbase.regionserver.port": 0, "hbase.client.retries.number": 20,
            "zookeeper.session.timeout": SESSION_MS, **(settings or {})})
        self.hdfs, self.processes = hdfs, {}

    def _launch(self, name, main, *arguments):
        path = ":".join([str(self.conf), *jars()])
        with open(self.folder / f"{name}.log", "a", encoding="utf-8") as log:
            self.processes[name] = subprocess.Popen(
                ["java", *OPENS, *QUICK, "-Xmx400m", "-cp",
                 path, main, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def _start(self):
        began = time.monotonic()
        self.conf = pathlib.Path(self._configure())
        zookeeper = int(self.zookeeper.rsplit(":", 1)[1])
        (self.folder / "zoo").mkdir(exist_ok=True)
        (self.folder / "zoo.cfg").write_text(
            f"tickTime=500\ndataDir={self.folder}/zoo\nclientPort={zookeeper}\nclientPortAddress=127.0.0.1\n"
            "admin.enableServer=false\n")
        self._launch("zookeeper", "org.apache.zookeeper.server.quorum.QuorumPeerMain", str(self.folder / "zoo.cfg"))
        self.launch_dead()
        self.server = self.processes["zookeeper"]
        self._start_driver(self.conf)
        if not self._serves(START_SECONDS):
            raise HBaseError("HBase does not start\n" + tail(self.folder / "zookeeper.log") + tail(self.folder / "master.log"))
        self.start_seconds = time.monotonic() - began

    def launch_dead(self):
        """Returns the dead servers, including servers that aborted later. A server notices a dead DataNode only at the
        next write of its log."""
        for name, main in self.NAMES.items():
            process = self.processes.get(name)
            if process is None or process.poll() is not None:
                self._launch(name, main, "start")

    def kill_one(self, name):
        """Kills the server at once, without a clean shutdown."""
        process = self.hdfs.datanode if name == "datanode" else self.processes[name]
        os.kill(process.pid, signal.SIGKILL)
        process.wait()

    def revive(self):
        """Starts the dead servers and waits until the cluster serves."""
        if self.hdfs.datanode.poll() is not None:
            self.hdfs.start_datanode()
            self.hdfs.wait()
            self.kill_all()
        self.launch_dead()
        if not self._serves(START_SECONDS):
            raise HBaseError("HBase does not come back\n" + tail(self.folder / "master.log"))

    def kill_all(self):
        """Kills the server, as an operator would do. A server that cannot write its log ends later, or syncs without end (FSHLog)."""
        for name in self.NAMES:
            if self.processes[name].poll() is None:
                self.kill_one(name)

    def _serves(self, seconds):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.launch_dead()
            with contextlib.suppress(HBaseError):
                if self.ready(timeout=seconds) >= self.region_servers:
                    return True
            time.sleep(0.1)
        return False

    def stop(self):
        stop(self.driver)
        for name in ("region1", "region2", "master", "zookeeper"):
            process = self.processes.get(name)
            if process is not None and process.poll() is None:
                process.kill()  # keeps none of the data
                process.wait()
