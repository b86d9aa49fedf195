"""Tests that whichever process dies, the load equals the load of one process, or there is no load and one error gives
the reason. Each test proves that it killed its target. The fault happened, the process is dead, and others ran in its place.
"""

import random
import shutil

import pytest

import needs_pyspark  # noqa: F401  (before what imports pyspark)

from cluster import wait_until  # noqa: E402
from spark_rig import alive, assert_nothing, assert_same  # noqa: E402

import saltmill  # noqa: E402
from load_help import HEADER, JOB  # noqa: E402

ROWS = [f"{i * 7919 % 4000},{1_400_000_000 + i},{'x' * (1 + i % 7)}\n".encode() for i in range(6_000)]


@pytest.fixture
def small(rig, tmp_path):
    """Makes a job, 6,000 rows, a plan of four regions, and the load of one process."""
    (tmp_path / "job.yaml").write_text(JOB.replace("count: 2", "count: 4"))
    (tmp_path / "in.csv").write_bytes(HEADER + b"".join(ROWS))
    rig.native(tmp_path, "plan", "job.yaml", "in.csv", "--tune", "-o", "plan")
    rig.native(tmp_path, "load", "job.yaml", "in.csv", "--plan", "plan", "-o", "one")
    return tmp_path


def load(rig, folder, slices=4, **more):
    r = rig.load(folder, "job.yaml", "in.csv", slices=slices, plan="plan", **more)
    assert_same(folder / "one", folder / "two")
    assert not (folder / "two.saltmill-spark").exists()
    return r


KILL_EXECUTOR = "kill -9 $executor $$"
# Standard input is a pipe without data, so the program waits until its Python worker ends.
WAIT = "mkfifo pipe; exec 3<>pipe 0<&3"


@pytest.mark.parametrize("stage", ["map", "reduce"])
def test_an_executor_is_killed(small, rig, stage):
    """Spark loses the output of the executor's finished map tasks and makes it again."""
    rig.once(stage, f"echo $executor >{rig.control}/victim; {KILL_EXECUTOR}")
    load(rig, small)
    victim = int((rig.control / "victim").read_text())
    executors = [e for e, *_ in rig.runs("map") + rig.runs("reduce")]
    assert rig.done(stage) == 1 and not alive(victim)
    assert victim in executors and len(set(executors)) >= 2
    assert len(rig.runs(stage)) > 4


def test_an_executor_is_killed_between_map_and_reduce(small, rig):
    """The executor dies when the driver checks the maps. The lost maps run again before any reduce starts."""
    rig.once("driver-unite", f"read -r _ victim _ <{rig.control}/log.map; kill -9 $victim; echo $victim >{rig.control}/victim")
    rig.always("map", f"echo map $executor >>{rig.control}/log.map")
    load(rig, small)
    victim = int((rig.control / "victim").read_text())
    assert rig.done("driver-unite") == 1 and not alive(victim)
    assert len(rig.runs("map")) > 4, "expected that maps run again"
    assert victim not in {e for e, *_ in rig.runs("reduce")}


def test_a_python_worker_and_a_native_child_are_killed(small, rig):
    """A native child does not outlive its Python worker."""
    rig.once("reduce", f"echo $worker $$ >{rig.control}/victim; (sleep 1; kill -9 $worker) & {WAIT}")
    rig.once("map", "kill -9 $$")
    load(rig, small)
    worker, child = map(int, (rig.control / "victim").read_text().split())
    assert rig.done("map") == rig.done("reduce") == 1
    assert not alive(worker)
    wait_until(lambda: not alive(child))
    assert len(rig.runs("map")) >= 5 and len(rig.runs("reduce")) >= 5


def test_a_twin_overtakes_a_sleeper(small, rig):
    """With speculation, the first attempt waits, the second attempt's result counts, and the sleeping attempt has no
    effect."""
    rig.once("reduce", WAIT)
    load(rig, small)
    (sleeper,) = [int(p.name.split(".")[1]) for p in rig.control.glob("reduce.*.done")]
    assert len(rig.runs("reduce")) >= 5 and sleeper in {run[2] for run in rig.runs("reduce")}
    wait_until(lambda: not alive(sleeper))
    assert sorted(p.name for p in small.iterdir()) == ["in.csv", "job.yaml", "one", "plan", "two"]


def test_a_machine_is_lost(small, rig):
    """The worker and its executor die while maps run. The other host does all the work."""
    rig.once("map", f"echo $executor >{rig.control}/victim; read -r _ _ _ machine _ </proc/$executor/stat; "
                    f"echo $machine >{rig.control}/machine; kill -9 $machine $executor $$")
    load(rig, small)
    machine, victim = (int((rig.control / name).read_text()) for name in ("machine", "victim"))
    (host,) = [name for name, process in rig.machines.running.items() if process.pid == machine]
    assert rig.done("map") == 1 and not alive(victim) and not alive(machine)
    assert len(rig.runs("map")) >= 5 and victim not in {e for e, *_ in rig.runs("reduce")}
    rig.machines.kill(host)  # only to reap it
    rig.machines.start_worker(host)
    rig.machines.said(host, "Successfully registered with master")


def test_a_task_that_is_awake_after_the_commit_writes_nothing(tmp_path, monkeypatch):
    from saltmill import tasks
    (tmp_path / "file").write_text("late")
    monkeypatch.setattr(tasks, "TaskContext", type("T", (), {"get": staticmethod(
        lambda: type("C", (), {"taskAttemptId": staticmethod(lambda: 7)}))}))
    with pytest.raises(tasks.Failed, match="No such file"):
        tasks.deliver(tmp_path / "file", tmp_path / "two.saltmill-spark" / "run-x" / "files", "0.0.0.abc")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def fails(rig, folder, *fragments, slices=4):
    with pytest.raises(saltmill.JobError) as e:
        rig.load(folder, "job.yaml", "in.csv", slices=slices, plan="plan")
    sentence = str(e.value)
    assert "\n" not in sentence and all(f in sentence for f in fragments), sentence
    assert_nothing(folder)
    return sentence


def test_four_failures_are_one_sentence(small, rig):
    rig.always("map", "kill -9 $$")
    fails(rig, small, "saltmill map job: saltmill map was killed by signal 9 (SIGKILL)", "spark.task.maxFailures")
    assert len(rig.runs("map")) >= 4


def test_full_disks(small, rig, disk_of):
    """First the executors' disk is full, then the output's disk."""
    values = random.Random(1).randbytes(6 << 20).hex()
    rows = "".join(f"{i},1400000000,{values[i * 4096:i * 4096 + 4096]}\n" for i in range(len(values) // 4096))
    (small / "in.csv").write_bytes(HEADER + rows.encode())
    disk = disk_of(2)
    rig.always("map", f"mkdir {disk}/$$ && cp -r job plan {disk}/$$ && cd {disk}/$$")
    fails(rig, small, "No space left on device", slices=2)
    rig.begin()
    disk = disk_of(2)
    for name in ("job.yaml", "plan"):
        (shutil.copytree if name == "plan" else shutil.copy)(small / name, disk / name)
    (disk / "in.csv").symlink_to(small / "in.csv")
    fails(rig, disk, "No space left on device", slices=2)
    assert rig.runs("reduce") and sorted(p.name for p in disk.iterdir()) == ["in.csv", "job.yaml", "plan"]


def test_a_fault_of_the_data_is_not_tried_again(small, rig):
    """The error is the same as that of one process."""
    (small / "job.yaml").write_text(JOB.replace("    timestamp: at\n", "    timestamp: at\n    duplicates: error\n"))
    rows = [*ROWS[:3000], ROWS[1000].replace(b"x", b"y"), *ROWS[3000:]]
    (small / "in.csv").write_bytes(HEADER + b"".join(ROWS[:10]))
    shutil.rmtree(small / "plan")
    rig.native(small, "plan", "job.yaml", "in.csv", "--tune", "-o", "plan")
    (small / "in.csv").write_bytes(HEADER + b"".join(rows))
    one = rig.native(small, "load", "job.yaml", "in.csv", "--plan", "plan", "-o", "no", status=1)
    sentence = fails(rig, small)
    assert one.stderr == f"saltmill load: {sentence}\n"
    assert len(rig.runs("reduce")) < 2 * 4, "a failed task must not run four times"


def test_another_program_on_a_machine_is_refused(tmp_path, monkeypatch):
    from saltmill import native, tasks
    (tmp_path / "ours").write_text("#!/bin/sh\n")
    (tmp_path / "theirs").write_text("#!/bin/sh\nexit 0\n")
    setting = tasks.Setting("ours", native.digest_of(tmp_path / "ours"), "job.yaml", {}, "64M", 1)
    for name, there in (("ours", True), ("theirs", False)):
        monkeypatch.setattr(tasks.SparkFiles, "get", staticmethod(lambda _, name=name: str(tmp_path / name)))
        path, why_not = tasks.program_of(setting)
        assert (path == str(tmp_path / "ours")) == there and ("another saltmill" in (why_not or "")) == (not there)


def test_locks(tmp_path):
    """There are two runs with one output, a dead run, a run on another machine, and a second attempt of the same
    application."""
    from saltmill.staging import Staging
    out = tmp_path / "two"
    with Staging(out, "app-1") as first:
        with pytest.raises(saltmill.JobError, match="application app-1 .*break-lock"):
            Staging(out, "app-2").__enter__()
        assert first.run.is_dir()
    assert_nothing(tmp_path)
    folder = tmp_path / "two.saltmill-spark"

    def left_by(text):
        folder.mkdir()
        (folder / "lock").write_text(text)
        (folder / "run-old").mkdir()

    left_by('{"application": "app-1", "attempt": "1", "host": "elsewhere", "pid": 7}')
    with pytest.raises(saltmill.JobError, match="host elsewhere"):
        Staging(out, "app-2").__enter__()
    with pytest.raises(saltmill.JobError):
        Staging(out, "app-1", "1").__enter__()
    with Staging(out, "app-1", "2") as s:
        assert [p.name for p in folder.iterdir() if p.is_dir()] == [s.run.name]
    left_by('{"application": "app-1", "attempt": null, "host": "elsewhere", "pid": 7}')
    with Staging(out, "app-9", break_lock=True):
        pass
    left_by("")
    dead = Staging(out, "app-3")
    dead.__enter__()
    shutil.copytree(folder, tmp_path / "copy")
    dead.__exit__()
    shutil.copytree(tmp_path / "copy", folder)  # as if its process had died here
    with Staging(out, "app-4"):
        pass
    shutil.rmtree(tmp_path / "copy")
    assert_nothing(tmp_path)
