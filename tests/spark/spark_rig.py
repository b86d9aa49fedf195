"""Runs Spark with two hosts on this machine, and the native program with faults that a test requests. There are a
standalone master and two workers, 127.0.0.1 and 127.0.0.2. Spark treats the workers as two hosts and repeats a slow
task on the other host. Each executor is a separate process, so tests can kill it. All processes listen on loopback addresses and write below one folder. The rig stops them by process id.
"""

import ctypes
import filecmp
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "pipeline" / "spark"
sys.path[:0] = [str(PACKAGE), str(ROOT / "tests" / "cli"), str(ROOT / "tests" / "hbase")]

from cluster import wait_until  # noqa: E402  (needs the path above)

# The program that tasks run. The script notes the process that runs it, and carries out the fault in the file
# CONTROL/COMMAND.always or, once, in CONTROL/COMMAND. The first process removes CONTROL/COMMAND. Then the script runs
# saltmill. For the driver's calls, the file is driver-COMMAND.
WRAPPER = """#!/bin/sh
control={control} worker=$PPID what=$1
read -r _ _ _ daemon _ </proc/$worker/stat
read -r _ _ _ executor _ </proc/$daemon/stat
grep -q pyspark.daemon /proc/$worker/cmdline || what=driver-$1
echo "$what $executor $worker $$" >>$control/log
[ ! -e $control/$what ] || ! mv $control/$what $control/$what.$$.done 2>/dev/null || . $control/$what.$$.done
[ ! -e $control/$what.always ] || . $control/$what.always
exec {program} "$@"
"""


def die_with_parent():
    """Ends the servers with the tests, whatever happens to the tests."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def home_of(folder):
    """Copies SPARK_HOME except for `work`, into which executors write."""
    import pyspark
    home = folder / "home"
    home.mkdir()
    for entry in pathlib.Path(pyspark.__file__).parent.iterdir():
        (home / entry.name).symlink_to(entry)
    (home / "work").unlink(missing_ok=True)
    return home


def environment_of(folder):
    local = folder / "local"
    local.mkdir()
    return {"SPARK_HOME": str(home_of(folder)), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": str(local),
            "PYSPARK_PYTHON": sys.executable, "SPARK_CONF_DIR": str(conf_of(folder))}


def conf_of(folder):
    """Logs only warnings, and messages of master and workers."""
    conf = folder / "conf"
    conf.mkdir()
    (conf / "log4j2.properties").write_text(
        "rootLogger.level = warn\nrootLogger.appenderRef.console.ref = console\n"
        "appender.console.type = Console\nappender.console.name = console\nappender.console.target = SYSTEM_ERR\n"
        "appender.console.layout.type = PatternLayout\nappender.console.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex\n"
        "logger.deploy.name = org.apache.spark.deploy\nlogger.deploy.level = info\n")
    return conf


# short-lived JVMs that start quickly, and trust the classes of the released jars
JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"

SETTINGS = {
    "spark.ui.port": "0", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1",
    "spark.executor.memory": "512m", "spark.driver.memory": "768m", "spark.shuffle.compress": "false",
    "spark.driver.extraJavaOptions": JVM, "spark.executor.extraJavaOptions": JVM,
    "spark.executor.cores": "1", "spark.cores.max": "2", "spark.ui.showConsoleProgress": "false",
    "spark.shuffle.io.maxRetries": "1", "spark.shuffle.io.retryWait": "100ms",
    # Spark starts a second attempt of slow tasks, and only tests that sleep are slow
    "spark.speculation": "true", "spark.speculation.interval": "200ms", "spark.speculation.quantile": "0.1",
    "spark.speculation.multiplier": "2", "spark.speculation.minTaskRuntime": "8s",
}


class Machines:
    """Starts the master and its workers."""

    memory = "2g"  # memory of each worker for its executors

    def __init__(self, folder):
        self.folder = folder
        self.running = {}
        self.environment = {**os.environ, "SPARK_DAEMON_JAVA_OPTS": f"{JVM} -Dspark.deploy.maxExecutorRetries=-1",
                            "SPARK_DAEMON_MEMORY": "256m", "SPARK_NO_DAEMONIZE": "1"}
        try:
            self.begin()
        except BaseException:
            self.stop()
            raise

    def begin(self):
        self.start("master", "master.Master", "--host", "127.0.0.1", "--port", "0")
        self.url = self.said("master", r"Starting Spark master at (spark://\S+)")
        for host in ("127.0.0.1", "127.0.0.2"):
            self.start_worker(host)
        for host in ("127.0.0.1", "127.0.0.2"):
            self.said(host, "Successfully registered with master")

    def start(self, name, what, *args):
        log = open(self.folder / f"{name}.log", "w")
        self.running[name] = subprocess.Popen(
            [f"{self.environment['SPARK_HOME']}/bin/spark-class", f"org.apache.spark.deploy.{what}", "--webui-port", "0", *args],
            stdout=log, stderr=log, env=self.environment, cwd=self.folder, preexec_fn=die_with_parent)
        log.close()

    def start_worker(self, host):
        self.start(host, "worker.Worker", "--host", host, "--cores", "2", "--memory", self.memory, "--work-dir",
                   str(self.folder / f"work-{host}"), self.url)

    def said(self, name, pattern):
        """Returns the output of the process after its end."""
        log = self.folder / f"{name}.log"
        wait_until(lambda: re.search(pattern, log.read_text()))
        return re.search(pattern, log.read_text()).group(0).split()[-1]

    def kill(self, name, sig=signal.SIGKILL):
        process = self.running.pop(name)
        process.send_signal(sig)
        process.wait(30)
        return process.pid

    def stop(self):
        for name in list(self.running):
            self.kill(name, signal.SIGTERM)


class Rig:
    def __init__(self, folder, program):
        self.folder, self.program = folder, program
        self.control = folder / "control"
        self.control.mkdir()
        self.wrapper = folder / "saltmill"
        self.wrapper.write_text(WRAPPER.format(control=self.control, program=program))
        self.wrapper.chmod(0o755)
        os.environ.update(environment_of(folder))
        self.machines = Machines(folder)
        try:
            self.spark = self.session()
        except BaseException:
            self.machines.stop()
            raise

    def session(self, **more):
        """`more` contains settings, with _ for the dots of their names."""
        from pyspark.sql import SparkSession
        builder = SparkSession.builder.master(self.machines.url).appName("saltmill tests")
        for key, value in {**SETTINGS, **{k.replace("_", "."): v for k, v in more.items()}}.items():
            builder = builder.config(key, value)
        return builder.getOrCreate()

    def new_session(self, **more):
        """Replaces the current session, so that the new session gets its own executors."""
        self.spark.stop()
        self.spark = self.session(**more)

    def stop(self):
        gateway = self.spark.sparkContext._gateway
        self.spark.stop()
        gateway.shutdown()
        gateway.proc.stdin.close()  # at which the JVM ends
        try:
            gateway.proc.wait(20)
        except subprocess.TimeoutExpired:
            gateway.proc.kill()
            gateway.proc.wait()
        self.machines.stop()

    # --- faults ---

    def begin(self):
        """Clears the faults of the test before."""
        for f in self.control.iterdir():
            f.unlink()
        (self.control / "log").touch()

    def once(self, command, code):
        (self.control / command).write_text(code + "\n")

    def always(self, command, code):
        (self.control / f"{command}.always").write_text(code + "\n")

    def done(self, command):
        """Returns the number of times that a fault of `once` happened."""
        return len(list(self.control.glob(f"{command}.*.done")))

    def runs(self, command):
        """Returns (executor, Python worker, process) of each run of the command by a task."""
        lines = [line.split() for line in (self.control / "log").read_text().splitlines()]
        return [tuple(map(int, line[1:])) for line in lines if line[0] == command]

    # --- loads ---

    def load(self, folder, job, inputs, out="two", **more):
        import saltmill.spark
        with inside(folder):
            return saltmill.spark.load(self.spark, inputs, job, out, program=self.wrapper, **more)

    def native(self, folder, *args, status=0):
        quiet = [] if args[0] == "scan" else ["--quiet"]  # a quiet scan prints only the number of rows
        r = subprocess.run([self.program, *map(str, args), *quiet], cwd=folder, capture_output=True, text=True, timeout=60)
        assert status is None or r.returncode == status, f"{args}: {r.stderr}"
        return r


class inside:
    """Changes the working directory to the folder inside a `with` block."""

    def __init__(self, folder):
        self.folder = folder

    def __enter__(self):
        self.before = os.getcwd()
        os.chdir(self.folder)

    def __exit__(self, *_):
        os.chdir(self.before)


def assert_same(one, two):
    """Checks that two folders contain the same files with the same bytes."""
    names = [sorted(p.relative_to(f).as_posix() for p in f.rglob("*")) for f in (one, two)]
    assert names[0] == names[1]
    for name in names[0]:
        if (one / name).is_file():
            assert filecmp.cmp(one / name, two / name, shallow=False), f"{name} differs in {two}"


def assert_nothing(folder, out="two"):
    """Checks that there is neither a load nor a part of a load."""
    left = [p.name for p in folder.iterdir() if p.name.startswith(out)]
    assert left == []


def alive(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def manifest_of(folder):
    return json.loads((folder / "manifest.json").read_text())


def remove(folder):
    shutil.rmtree(folder, ignore_errors=True)
