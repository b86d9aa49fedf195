"""Simulates a power failure at any moment. Rebuilds the possible disk contents, and judges them with the next run.

strace records the calls by which a command changes its folder. For every K, a crash after the first K calls keeps

  - the bytes of a file at its last fsync, and any part of the bytes written since, torn anywhere;
  - the entries of a folder at its last fsync, and any of the changes since (a rename as a whole).

POSIX promises this much, and ext4 keeps more. An fsync of a file does not keep the file's name. After the crash, DIR
exists with all its bytes or does not exist. After the end of the command, DIR exists. If DIR does not exist, the next
run makes it.

topic_power.py has the commands that use a topic and a state folder.

  python tests/faults/power.py [--only NAME] [--states N] [--seed N]
"""

import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

from faults import PROGRAM, stable_text, tree, write_inputs

# OUT is the run's own folder, which is empty before the run. The scenarios only read all other files.
SCENARIOS = {
    "load": "load job.yaml in.csv more.csv.gz -o OUT/out --max-rejects 5 --threads 1 --quiet",
    "load, two threads": "load plain.yaml events -o OUT/out --existing live.txt --max-rejects 5 --threads 2 --quiet",
    "plan": "plan job.yaml in.csv -o OUT/out --quiet",
    "plan --save": "plan job.yaml in.csv --save OUT/out --quiet",
}
TRACED = ("open,openat,creat,write,pwrite64,ftruncate,fallocate,fsync,fdatasync,rename,renameat,renameat2,mkdir,"
          "mkdirat,unlink,unlinkat,rmdir,link,linkat,writev,pwritev,copy_file_range,sendfile,mmap,close")
# Calls that could change the folder in ways that Disk does not model.
UNKNOWN = {"creat", "link", "linkat", "writev", "pwritev", "copy_file_range", "sendfile"}


class File:
    def __init__(self, content=b""):
        self.synced, self.content, self.pending = bytes(content), bytearray(content), []

    def write(self, at, data):
        if len(self.content) < at + len(data):
            self.content.extend(bytes(at + len(data) - len(self.content)))
        self.content[at:at + len(data)] = data
        self.pending.append((at, bytes(data)))

    def resize(self, size):
        grown = bytes(max(0, size - len(self.content)))
        del self.content[size:]
        self.content.extend(grown)
        self.pending.append((size, None))

    def sync(self):
        self.synced, self.pending = bytes(self.content), []

    def after_crash(self, rng, keep):
        content = bytearray(self.synced)
        for at, data in self.pending:
            if rng.random() >= keep:
                continue
            if data is None:
                content = content[:at].ljust(at, b"\0")
                continue
            part = len(data) if rng.random() < keep else rng.randrange(len(data) + 1)
            content = content.ljust(at, b"\0")
            content[at:at + part] = data[:part]
            if rng.random() < 0.5:  # the file kept its size but lost its bytes
                content = content.ljust(at + len(data), b"\0")
        return bytes(content)


class Folder:
    """Changes are (name, new content), where None means a removed name. A rename is several changes at
    once."""

    def __init__(self):
        self.synced, self.entries, self.pending = {}, {}, []

    def change(self, *changes):
        self.apply(self.entries, changes)
        self.pending.append(changes)

    @staticmethod
    def apply(entries, changes):
        for name, node in changes:
            if node is None:
                entries.pop(name, None)
            else:
                entries[name] = node

    def sync(self):
        self.synced, self.pending = dict(self.entries), []

    def after_crash(self, rng, keep):
        entries = dict(self.synced)
        for changes in self.pending:
            if rng.random() < keep:
                self.apply(entries, changes)
        return entries


class Disk:
    """Models the calls of a trace that change files below `base`. With `unsynced`, an fsync of a File, or of a Folder,
    has no effect. `tree` is the earlier content {path: content}, with None for folders. A folder precedes its
    content."""

    def __init__(self, base, unsynced=None, tree=None):
        self.base, self.root, self.open, self.unsynced = base, Folder(), {}, unsynced
        for name, content in (tree or {}).items():
            folder, last = self.find(f"{base}/{name}")
            folder.entries[last] = folder.synced[last] = Folder() if content is None else File(content)

    def find(self, path):
        """Returns (folder, name) of an absolute path, or None if the path is not below `base`."""
        if not path.startswith(self.base + "/"):
            return None
        *folders, name = os.path.relpath(path, self.base).split("/")
        node = self.root
        for f in folders:
            node = node.entries[f]
        return node, name

    def node(self, path):
        if path == self.base:
            return self.root
        at = self.find(path)
        return at and at[0].entries.get(at[1])

    def opened(self, path, flags, fd):
        at = self.find(path)
        if "O_TMPFILE" in flags:
            self.open[fd] = [File(), 0]
            return
        if at and "O_CREAT" in flags and at[1] not in at[0].entries:
            at[0].change((at[1], File()))
        node = self.node(path)
        if node and "O_TRUNC" in flags and node.content:
            node.resize(0)
        self.open[fd] = [node, 0]

    def write(self, fd, data, at=None):
        opened = self.open.get(fd)
        if not opened or not opened[0]:
            return
        opened[0].write(opened[1] if at is None else at, data)
        if at is None:
            opened[1] += len(data)

    def rename(self, old, new):
        if not self.find(old):
            return
        (a, x), (b, y) = self.find(old), self.find(new)
        node = a.entries[x]
        if a is b:
            a.change((x, None), (y, node))
        else:
            a.change((x, None))
            b.change((y, node))

    def remove(self, path):
        at = self.find(path)
        if at:
            at[0].change((at[1], None))

    def sync(self, fd):
        node = self.open.get(fd, [None])[0]
        if node and type(node) is not self.unsynced:
            node.sync()

    def apply(self, call):
        name, args, result = call
        if name in ("open", "openat"):
            folder, path, flags = (None, *args[:2]) if name == "open" else args[:3]
            self.opened(path_of(folder, path), flags, number(result))
        elif name in ("write", "pwrite64"):
            data = text_of(args[1])[:int(result)]
            self.write(number(args[0]), data, int(args[3]) if name == "pwrite64" else None)
        elif name in ("ftruncate", "fallocate"):
            self.resize(number(args[0]), args, name)
        elif name in ("fsync", "fdatasync"):
            self.sync(number(args[0]))
        elif name in ("mkdir", "mkdirat"):
            at = self.find(path_of(*args[:-1]) if name == "mkdirat" else path_of(None, args[0]))
            if at:
                at[0].change((at[1], Folder()))
        elif name in ("rename", "renameat", "renameat2"):
            a, old, b, new = (None, args[0], None, args[1]) if name == "rename" else args[:4]
            self.rename(path_of(a, old), path_of(b, new))
        elif name in ("unlink", "rmdir"):
            self.remove(path_of(None, args[0]))
        elif name == "unlinkat":
            self.remove(path_of(args[0], args[1]))
        elif name == "close":
            self.open.pop(number(args[0]), None)

    def resize(self, fd, args, name):
        opened = self.open.get(fd)
        if not opened or not opened[0]:
            return
        if name == "ftruncate":
            opened[0].resize(int(args[1]))
        elif args[1] == "0":  # fallocate without FALLOC_FL_KEEP_SIZE
            end = int(args[2]) + int(args[3])
            if end > len(opened[0].content):
                opened[0].resize(end)


Disk.cwd = None


def number(text):
    """Parses a descriptor, after which its path follows."""
    return int(re.match(r"\d+", text).group())


def text_of(quoted):
    """Decodes strings of strace -xx, such as "\\x61\\x62"."""
    return bytes.fromhex(quoted.strip('"').replace("\\x", ""))


def path_of(folder, quoted):
    """`folder` is AT_FDCWD<path>, 5<path> or None (the working directory)."""
    path = text_of(quoted).decode()
    if path.startswith("/"):
        return os.path.normpath(path)
    base = Disk.cwd if folder is None else text_of(re.search(r"<(.*)>", folder).group(1)).decode()
    return os.path.normpath(os.path.join(base, path))


def split_args(text):
    """Splits the arguments of a call. Strings and <paths> contain no commas, because they are hexadecimal."""
    return [a.strip() for a in text.split(", ")]


def read_trace(log):
    """Returns [(name, arguments, result)] of the successful calls, in the order in which they ended."""
    begun, calls = {}, []
    for line in log.read_text().splitlines():
        pid, rest = line.split(" ", 1)
        rest = rest.strip()
        if rest.endswith("<unfinished ...>"):
            begun[pid] = rest[:-len("<unfinished ...>")]
            continue
        resumed = re.match(r"<\.\.\. \w+ resumed>", rest)
        if resumed:
            rest = begun.pop(pid) + rest[resumed.end():]
        found = re.match(r"(\w+)\((.*)\)\s+= (\d+.*)$", rest)
        if found:
            calls.append((found.group(1), split_args(found.group(2)), found.group(3)))
    return calls


def traced(line, log):
    """Returns the command under strace, which keeps its process and its id."""
    return ["strace", "-D", "-f", "-qq", "-xx", "-y", "-s", "100000000", "-e", f"trace={TRACED}", "-o", str(log), *line]


def record(line, inputs, out, log):
    """Runs a command under strace. Returns the calls and the status of the command."""
    out.mkdir(exist_ok=True)
    done = subprocess.run(traced([PROGRAM, *line.replace("OUT", str(out)).split()], log), cwd=inputs,
                          capture_output=True, text=True)  # strace ends with it, because it has the same pipes
    if done.returncode not in (0, 3):
        raise SystemExit(f"{line}: {done.stderr}")
    return calls_below(out, log), done.returncode


def calls_below(out, log):
    """Returns the calls of a trace. Fails if a call changes OUT in a way that Disk does not model."""
    calls = read_trace(log)
    below = str(out)
    for name, args, _ in calls:
        first = re.search(r"<((?:\\x[0-9a-f]{2})+)>", args[0])
        of = text_of(first.group(1)).decode() if first else ""
        if name in UNKNOWN and of.startswith(below):
            raise SystemExit(f"{name} is not known to power.py")
        if name == "mmap" and "MAP_SHARED" in args[3] and "PROT_WRITE" in args[2]:
            raise SystemExit("files mapped for writing are not known to power.py")
    return calls


def crash_tree(folder, rng, keep):
    """Returns {path: content} after a crash, with None for folders."""
    found = {}
    for name, node in sorted(folder.after_crash(rng, keep).items()):
        if isinstance(node, Folder):
            found[name] = None
            found.update({f"{name}/{k}": v for k, v in crash_tree(node, rng, keep).items()})
        else:
            found[name] = node.after_crash(rng, keep)
    return found


def crash_states(calls, disk, states, seed, every=1):
    """Yields (K, ended, tree) for every K, or each n-th K, that changed something. Each K has some random trees without
    repetition."""
    rng, seen, changes = random.Random(seed), set(), 0
    for k, call in enumerate(calls):
        disk.apply(call)
        ended = k + 1 == len(calls)
        if not ended and (call[0] in ("mmap", "close") or
                          call[0] in ("open", "openat") and "O_CREAT" not in call[1][-2]):
            continue
        changes += 1
        if changes % every and not ended:
            continue
        for i in range(states * (10 if ended else 1)):
            # only the synced data, all data, and cases between
            found = crash_tree(disk.root, rng, (0, 1, 0.5, 0.8, 0.2)[i % 5])
            key = hash((ended, tuple(found.items())))
            if key not in seen:
                seen.add(key)
                yield k, ended, found


def materialise(found, folder):
    folder.mkdir()
    for name, content in found.items():
        if content is None:
            (folder / name).mkdir()
        else:
            (folder / name).write_bytes(content)


def whole(found):
    return {k: stable_text(v) if k.endswith("manifest.json") and v else v for k, v in found.items()
            if k == "out" or k.startswith("out/")}


def judge(line, inputs, scratch, want, status, state):
    number, (k, ended, found) = state
    if "out" in found:
        return None if whole(found) == want else "DIR is there and not whole"
    if ended:
        return "the command had ended and DIR is gone"
    folder = scratch / f"crash-{number}"
    materialise(found, folder)
    done = subprocess.run([PROGRAM, *line.replace("OUT", str(folder)).split()], cwd=inputs, capture_output=True, text=True)
    after = tree(folder)
    shutil.rmtree(folder)
    if done.returncode != status:
        return f"the next run ended with {done.returncode}: {done.stderr.strip()}"
    return None if after == want else f"the next run made something else: {sorted(after)}"


def run_scenario(name, inputs, scratch, states=5, seed=1, jobs=None, unsynced=None):
    """Returns (number of crashes judged, [problems]). `unsynced` is as for Disk and proves that the judge detects
    errors."""
    line = SCENARIOS[name]
    scratch = scratch / name.replace(" ", "-").replace(",", "")
    scratch.mkdir()
    Disk.cwd = str(inputs)
    base = scratch / "want"
    calls, status = record(line, inputs, base, scratch / "trace")
    want = tree(base)
    all_states = list(enumerate(crash_states(calls, Disk(str(base), unsynced), states, seed)))
    with concurrent.futures.ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        verdicts = pool.map(lambda s: judge(line, inputs, scratch, want, status, s), all_states)
        found = []
        for (_, (k, ended, kept)), wrong in zip(all_states, verdicts):
            if wrong:
                last = "the end" if ended else f"call {k}, {calls[k][0]}"
                found.append(f"{name}: power lost behind {last}: {wrong.replace(str(scratch), '')}\n  kept: {sorted(kept)}")
    shutil.rmtree(scratch)
    return len(all_states), found


def names():
    """Lists the settings of all scenarios."""
    import topic_power  # it needs this module
    return [*SCENARIOS, *topic_power.SCENARIOS]


def can_trace():
    try:
        return subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def main():
    args = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    args.add_argument("--only", choices=sorted(names()), action="append", help="this scenario")
    args.add_argument("--states", type=int, default=20, help="crashes for each call")
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--jobs", type=int, help="runs at a time")
    args = args.parse_args()
    if not can_trace():
        print("strace cannot trace here")
        return 1
    crashes, wrong = 0, []
    shm = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="saltmill-power-", dir=shm) as folder:
        inputs = pathlib.Path(folder) / "inputs"
        inputs.mkdir()
        write_inputs(inputs)
        for name in args.only or names():
            if name in SCENARIOS:
                n, found = run_scenario(name, inputs, pathlib.Path(folder), args.states, args.seed, args.jobs)
            else:
                import topic_power
                n, found = topic_power.run_scenario(name, inputs, pathlib.Path(folder), args.states, args.seed)
            print(f"{name}: {n} crashes, {len(found)} violations", flush=True)
            crashes, wrong = crashes + n, wrong + found
    for text in wrong[:20]:
        print(text)
    print(f"{crashes} crashes, {len(wrong)} violations")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.modules["power"] = sys.modules[__name__]  # topic_power.py must see this same module
    sys.exit(main())
