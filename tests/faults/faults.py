"""Makes each allocation and each system call of saltmill's commands fail in turn, and judges the result.

A command first runs undisturbed. This run gives the number of calls, the exit status and the files. Then call after
call fails (preload.c), either once or permanently. The run must either

  - end as the undisturbed one, with the same bytes on standard output and in its folder, or
  - end with status 1 or 2 and an error message. It must publish nothing and leave only DIR.saltmill-partial, FILE.temp
    and files in the folder of temporary files. The next run must then behave as if this run had not happened.

A call that a signal interrupts (EINTR), or that moves fewer bytes than requested (short), must have no effect.

Three calls of each place fail, which are the first, the last and one between. The script omits the call between if calls fail permanently. A place is a stack of callers, of up to 32 frames through program and libraries. A loop over rows is one
place, and a function with three callers is three. The run itself reports the place that failed. A run can miss a place, because threads run in another order. The script then tries the place again, and reports places that all rounds missed.
--all takes each single call.

If two runs leave the same bytes, the script does not repeat the next run for the second run.

A run that does not end in time hangs, or the machine is busy. So the script repeats the run with a longer time limit. If it then ends, the script counts it as slow and judges it as usual. The script also repeats a run that seems wrong and stopped in between.

  python tests/faults/faults.py [--only NAME] [--all] [--sample N] [--jobs N]

runs.py makes runs cheap, topic_faults.py has the commands that use a topic, and cluster_faults.py has the commands that
use HBase.
"""

import argparse
import collections
import concurrent.futures
import gzip
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from runs import PRELOAD, ROOT, Overtime, Patience, Server, Slots, end_of, files_of

PROGRAM = os.environ.get("SALTMILL", str(ROOT / "build" / "saltmill"))
TIMEOUT, PATIENCE = 60, 600  # seconds; a run takes some milliseconds
TRIES = 3  # seconds for a run that the test stopped, or that was too slow
ROUNDS = 6  # rounds for missed places

Campaign = collections.namedtuple("Campaign", "calls kind rest unnoticed")
CAMPAIGNS = [
    Campaign("alloc", "ENOMEM", False, False),
    Campaign("alloc", "ENOMEM", True, False),
    Campaign("io", "EIO", False, False),
    Campaign("io", "EIO", True, False),
    Campaign("io", "ENOSPC", True, False),
    Campaign("io", "EINVAL", False, False),  # as from a file system that does not support it
    Campaign("io", "EACCES", False, False),
    Campaign("io", "EINTR", False, False),
    Campaign("transfer", "EINTR", False, True),
    Campaign("transfer", "short", False, True),
    Campaign("transfer", "short", True, True),
]

# The command of a scenario. OUT is the run's own folder. All scenarios share all other files, and only read them.
SCENARIOS = {
    "load": "load job.yaml in.csv more.csv.gz -o OUT/out --max-rejects 5 --threads 1 --json",
    "load, spilling": "load plain.yaml long.csv -o OUT/out --max-rejects 5 --threads 1 --memory 16M --json",
    "load, two threads": "load plain.yaml events -o OUT/out --existing live.txt --max-rejects 5 --threads 2 --json",
    "plan": "plan job.yaml in.csv -o OUT/out --sample 100% --save OUT/out.sketch --threads 1 --json",
    "plan from a sketch": "plan job.yaml --from keys.sketch -o OUT/out --json",
    "verify": "verify published --json",
    "inspect": "inspect published.hfile --cells --blocks --json",
    "drift": "drift --existing live.txt job.yaml in.csv --threads 1 --json",
    "scan": "scan job.yaml published later --where 'id > 7 and f:name is not null' --decode --explain --now 2020-01-01",
    "get": "get job.yaml published later id=14316557 --format jsonl --now 2020-01-01",
    "diff": "diff published later --threads 1 --json",
    "merge": "merge published later -o OUT/out --threads 1 --json",
    "convert": "convert published -o OUT/out --threads 1 --json --compression GZ --blocksize 1K",
    "lint": "lint job.yaml in.csv --threads 1 --json",
    "map": "map job.yaml in.csv --plan planned --slice 1/2 --pack -o OUT/out --threads 1 --memory 64M",
    "reduce": "reduce job.yaml maps --plan planned --share 1/2 -o OUT/out --threads 1 --memory 64M",
    "reduce of large pieces": "reduce plain.yaml longmaps --plan longplan -o OUT/out --threads 1 --memory 16M",
    "unite": "unite job.yaml in.csv more.csv.gz --plan planned --maps maps --reduces reduces -o OUT/out --threads 1 "
             "--max-rejects 5 --json",
    "check": "check job.yaml in.csv --json",
    "init": "init in.csv -o OUT/out.yaml",
    "digest": "digest in.csv --maps maps --input 0",
    "report": "report published -o OUT/out.html",
    "key ranges": "key ranges job.yaml published --where 'id > 7' --json",
    "ddl": "ddl job.yaml --splits splits.txt",
    "split": "split HexStringSplit 16",
}

JOB = """\
source:
  csv:
    files: [in.csv]
fields:
  id:   {type: u32}
  when: {type: time, unit: s}
tables:
  - name: events
    rowkey:
      - {salt: 4, of: [id]}
      - {field: id, as: u32}
    timestamp: when
    families:
      f: {compression: ZSTD, bloomfilter: ROW, data_block_encoding: FAST_DIFF}
      g: {compression: NONE, bloomfilter: ROWCOL}
    cells:
      - {family: f, qualifier: name, value: {field: name}}
      - {family: g, qualifier: id, value: {field: id, as: text}}
    regions: {split: sampled, count: 3}
"""
# Makes the inputs of scenarios that read files of other programs.
INPUTS = [
    "load job.yaml in.csv -o published --max-rejects 5",
    "load job.yaml more.csv.gz -o later --max-rejects 5",
    "plan job.yaml in.csv --sample 100% --save keys.sketch",
    "plan job.yaml in.csv more.csv.gz -o planned",
    "map job.yaml in.csv --plan planned -o maps/0",
    "map job.yaml more.csv.gz --plan planned --input 1 -o maps/1",
    "plan plain.yaml long.csv -o longplan",
    "map plain.yaml long.csv --plan longplan -o longmaps/0",
    "reduce job.yaml maps --plan planned --share 1/2 -o reduces/1",
    "reduce job.yaml maps --plan planned --share 2/2 -o reduces/2",
]


def write_inputs(folder):
    """Makes the jobs and events of all scenarios. Some events are bad."""
    rng = random.Random(1)
    plain = JOB.replace("ZSTD", "NONE").replace(", data_block_encoding: FAST_DIFF", "")
    (folder / "job.yaml").write_text(JOB)
    (folder / "plain.yaml").write_text(plain)
    head = "id,when,name\n"
    rows = [f"{i * 14316557 % 2**32},{1400000000 + i * 61},name {i % 97}\n" for i in range(300)]
    rows[3] = "5,never,bad\n"
    rows[200] = f"7,1400000000,{'x' * 70_000}\n"
    (folder / "in.csv").write_text(head + "".join(rows))
    more = [f"{rng.randrange(2**32)},{1500000000 + i},\"quoted, {i}\"\n" for i in range(100)]
    (folder / "more.csv.gz").write_bytes(gzip.compress((head + "".join(more) + "x,1,\n").encode(), mtime=0))
    # the smallest number of rows that spills three runs and merges them, to keep the campaign short
    (folder / "long.csv").write_text(head + "".join(f"{rng.randrange(2**32)},{1400000000 + i},{str(i + 1000) * 2000}\n"
                                                    for i in range(1_200)) + "x,never,\n")
    for name in ("events", "maps", "longmaps", "reduces"):
        (folder / name).mkdir()
    for name in ("1.csv", "2.csv"):
        (folder / "events" / name).write_text(head + "".join(rows))
    (folder / "splits.txt").write_text("\\x01\n\\x02\n")
    (folder / "live.txt").write_text("Total number of splits = 4\n\\x01\n\\x02\n\\x03\n")
    for line in INPUTS:
        done = subprocess.run([PROGRAM, *line.split(), "--quiet"], cwd=folder, capture_output=True, text=True)
        if done.returncode not in (0, 3):
            raise SystemExit(f"{line}: {done.stderr}")
    hfile = next((folder / "published" / "events" / "hfiles" / "f").iterdir())
    shutil.copy(hfile, folder / "published.hfile")


def stable(value):
    """Returns JSON without times and without the path of the run's folder."""
    if isinstance(value, dict):
        return {k: stable(v) for k, v in value.items() if k not in ("seconds", "ms", "output")}
    return [stable(v) for v in value] if isinstance(value, list) else value


def stable_text(data):
    """Masks the values in JSON, also if each value is on its own line."""
    try:
        return stable(json.loads(data))
    except ValueError:
        pass
    try:
        return [stable(json.loads(line)) for line in data.splitlines()]
    except ValueError:
        return data


def tree(folder):
    """Returns {path: content}, with None for folders."""
    return {name: stable_text(content) if name.endswith("manifest.json") else content
            for name, content in files_of(folder).items()}


Outcome = collections.namedtuple("Outcome", "status stdout stderr tree")


class Scenario:
    lines = SCENARIOS
    apart = ""  # libraries whose own calls do not fail
    loaded = ""  # libraries to open in advance
    jobs = os.cpu_count()  # runs at a time

    def __init__(self, name, inputs, scratch):
        self.name, self.line, self.inputs = name, self.lines[name], inputs
        self.slow = []  # runs that needed a repetition
        self.next_runs = {}  # {leftovers of a failed run: the fault of the next run}
        self.slots = Slots(scratch, self.prepare)
        self.want = self.undisturbed()
        if self.want.status not in (0, 3):
            raise SystemExit(f"{name}: {self.want.stderr}")
        if "spilling" in name and not self.want.stdout["spilled_bytes"]:
            raise SystemExit(f"{name}: nothing was spilled")

    def prepare(self, slot):
        """Prepares the content of OUT before each run."""

    def command(self, out):
        return self.words(self.line, out)

    @staticmethod
    def words(line, out):
        return [PROGRAM, *shlex.split(line.replace("OUT", str(out)))]

    @staticmethod
    def environment(slot):
        return {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TMPDIR": str(slot.out)}

    def undisturbed(self):
        """Runs the command without preload.c. Compares all other runs with this run."""
        slot = self.slots.take()
        slot.begin()
        outcome = self.outcome(slot, *self.run_alone(slot, self.command(slot.out)))
        self.slots.give_back(slot)
        return outcome

    def run_alone(self, slot, line, **env):
        """Runs any command. Returns (status, standard output, standard error)."""
        process = subprocess.Popen(line, cwd=self.inputs, env=self.environment(slot) | env, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        stdout, stderr = end_of(process, slot.patience or PATIENCE)
        return process.returncode, stdout, stderr

    def run(self, slot, fault=None):
        """`fault` has the form of preload.c. OUT.log then names the failed call."""
        return self.outcome(slot, *self.run_served(slot, fault))

    def run_served(self, slot, fault, meanwhile=None):
        if not slot.server:
            env = self.environment(slot) | {"FAULT_APART": self.apart, "FAULT_LOADED": self.loaded}
            slot.server = Server(self.command(slot.out), self.inputs, env, str(slot.out))
        status = slot.server.run(fault, slot.patience or PATIENCE, meanwhile)
        slot.stopped = slot.stopped or slot.server.stopped
        return status, slot.read(".stdout"), slot.read(".stderr")

    def outcome(self, slot, status, stdout, stderr):
        stdout = stdout.replace(str(slot.out).encode(), b"OUT")
        return Outcome(status, stable_text(stdout), stderr.decode(errors="replace"), self.tree_of(slot))

    def tree_of(self, slot):
        return tree(slot.out)

    def places(self, campaign):
        """Returns the origin of each call of the command."""
        slot = self.slots.take()
        slot.begin()
        self.run(slot, f"{campaign.calls}:{campaign.kind}:0")
        counted = re.search(r"calls (\d+)\n(.*)", slot.read(".log").decode(), re.DOTALL)
        self.slots.give_back(slot)
        return counted.group(2).split()

    def calls(self, campaign):
        return len(self.places(campaign))

    def close(self):
        self.slots.close()

    def same(self, got):
        return (got.status, got.stdout, got.tree) == (self.want.status, self.want.stdout, self.want.tree)

    def wrong(self, got, campaign):
        """Returns the problem of this outcome, or None if there is no problem."""
        if got.status == self.want.status:
            return None if self.same(got) else "ended as if nothing had been, with other bytes"
        if got.status not in (1, 2):
            return f"ended with {got.status}"
        if campaign.unnoticed:
            return "failed"
        return self.left_wrong(got) or self.said_wrong(got)

    def left_wrong(self, got):
        top = {name for name in got.tree if "/" not in name and 
               not re.search(r"\.saltmill-partial$|\.temp$|^saltmill-(plan|drift|lint)-\w{6}$", name)}
        # the learned keys are useful without the plan, and a job or page is complete even if its rename is not durable
        for name in {"out.sketch", "out.yaml", "out.html"} & top:
            if got.tree[name] == self.want.tree[name]:
                top.discard(name)
        # after the rename, the message must state that the file is in place
        if "out" in top and any(s in got.stderr for s in ("published all the same", "cannot print the report")) and \
                {k: v for k, v in got.tree.items() if k.split("/")[0] == "out"} == \
                {k: v for k, v in self.want.tree.items() if k.split("/")[0] == "out"}:
            top.discard("out")
        if "out" in top and any(s in got.stderr for s in ("published all the same as", "the load is published as")) and self.published_same(got):
            top.discard("out")  # the failed call came after the rename, and the message states this
        return f"failed and left {sorted(top)}" if top else None

    def published_same(self, got):
        return all(got.tree.get(name) == what for name, what in self.want.tree.items()
                   if name == "out" or name.startswith("out/"))

    def said_wrong(self, got):
        if isinstance(got.stdout, dict) and got.stdout.get("problems"):
            return None  # the messages of verify are its result
        sentence, told = got.stderr.strip(), self.object_of(got)
        if told:  # with --json; an "out of memory" that ends the process at once is an error message too
            bad = told["status"] != got.status or len(told["error"]) < 10
        else:
            bad = not sentence.startswith("saltmill") or len(sentence) < 20
        return "failed without a sentence" if bad or "(null)" in sentence else None

    @staticmethod
    def object_of(got):
        last = got.stderr.strip().rpartition("\n")[2]
        return json.loads(last) if last.startswith("{") else None

    def tidy(self, slot):
        """The script does not report these leftovers, because a person or the start of the system removes them."""
        for temporary in slot.out.glob("saltmill-*"):
            shutil.rmtree(temporary)

    def wrong_next(self, slot, got):
        """Returns the fault if the run after a failed run does not behave as the first run."""
        if got.status == self.want.status or not got.tree or {"out", "out.yaml", "out.html"} & set(got.tree):
            return None
        self.tidy(slot)
        left = hash(tuple(files_of(slot.out).items()))
        if left not in self.next_runs:
            again = self.run(slot)
            self.next_runs[left] = None if self.same(again) else f"the next run did not do: {again.status}, {again.stderr.strip()}"
        return self.next_runs[left]

    def judge(self, campaign, n):
        """Returns None, or (problem, the fault, its callers, standard error)."""
        return self.judge_call(campaign, n)[0]

    def judge_call(self, campaign, n):
        """Returns the result of judge() and the place of the call. The place is None if there was no such call."""
        fault = f"{campaign.calls}:{campaign.kind}:{n}{'+' if campaign.rest else ''}"
        slot = self.slots.take()
        wrong, stderr = self.judge_patiently(slot, campaign, fault)
        callers = slot.read(".log").decode()
        self.slots.give_back(slot)
        place = re.match(r"failed \d+ \w+ (\w+)", callers)
        wrong = wrong and wrong.replace(str(slot.out), "OUT")
        return (wrong, fault, callers, stderr) if wrong else None, place and place.group(1)

    def judge_patiently(self, slot, campaign, fault):
        """Returns (problem or None, standard error)."""
        slot.patience = TIMEOUT
        for slot.tries in range(TRIES):
            slot.begin()
            try:
                wrong, stderr = self.judge_run(slot, campaign, fault)
                again, why = wrong and slot.stopped, f"{wrong}, but it was stopped meanwhile"
            except Overtime as seen:
                wrong, stderr = f"did not end within {slot.patience} s", str(seen)
                again, why = slot.patience == TIMEOUT, f"not at its end after {TIMEOUT} s ({seen})"
                slot.patience = PATIENCE
            if not again:
                break
            self.slow.append(f"{self.name}: {fault}: {why}, done again")
        slot.tries = 0
        return wrong, stderr

    def judge_run(self, slot, campaign, fault):
        got = self.run(slot, fault)
        return self.wrong(got, campaign) or self.wrong_next(slot, got), got.stderr.strip()


def names_of(callers):
    """Returns "call < function < function" for the frames inside the program."""
    call = re.search(r"failed \d+ (\w+)", callers)
    frames = re.findall(rf"{re.escape(PROGRAM)}\(\+(0x[0-9a-f]+)\)|{re.escape(os.path.realpath(PROGRAM))}"
                        r"\(\+(0x[0-9a-f]+)\)", callers)
    at = [hex(int(a or b, 16) - 1) for a, b in frames]
    if not at:
        return call.group(1) if call else "?"
    done = subprocess.run(["addr2line", "-f", "-s", "-e", PROGRAM, *at], capture_output=True, text=True)
    lines = done.stdout.split("\n")
    return " < ".join([call.group(1), *(f"{f} ({place.split(' ')[0]})" for f, place in zip(lines[::2], lines[1::2]))])


def spread(places, sample, seed):
    """Returns about `sample` calls, evenly spread."""
    if len(places) <= sample:
        return list(range(1, len(places) + 1))
    step = len(places) / sample
    phase = random.Random(seed).random()
    return [1 + int((i + phase) * step) for i in range(sample)]


def of_each_place(places, seed, rest, missed=None):
    """Selects the first and the last call of each place and one between, and one call of each missed place."""
    rng, at = random.Random(seed), collections.defaultdict(list)
    for n, place in enumerate(places, 1):
        at[place].append(n)
    if missed is not None:
        return sorted(rng.choice(at[place]) for place in missed if place in at)
    between = [rng.choice(calls[1:-1]) for calls in at.values() if len(calls) > 2 and not rest]
    return sorted({*(c[0] for c in at.values()), *(c[-1] for c in at.values()), *between})


def campaign_line(scenario, campaign):
    how = "from one on" if campaign.rest else "once"
    return f"{scenario.name}: {campaign.calls} {campaign.kind} {how}"


def names():
    """Lists the settings of all scenarios."""
    import cluster_faults  # they need this module
    import topic_faults
    return [*SCENARIOS, *topic_faults.SCENARIOS, *cluster_faults.SCENARIOS]


def scenario_of(name, inputs, scratch):
    import cluster_faults
    import topic_faults
    if name in cluster_faults.SCENARIOS:
        return cluster_faults.scenario(name, inputs, scratch)
    return (Scenario if name in SCENARIOS else topic_faults.TopicScenario)(name, inputs, scratch)


class Run:
    """Plans one campaign of a scenario."""

    def __init__(self, scenario, campaign, pool):
        self.scenario, self.campaign, self.pool = scenario, campaign, pool
        self.places = scenario.places(campaign)
        self.judged, self.runs, self.found = collections.Counter(), 0, []

    def judge(self, picked):
        for violation, place in self.pool.map(lambda n: self.scenario.judge_call(self.campaign, n), picked):
            self.judged[place] += 1
            self.runs += place is not None  # otherwise no call failed
            if violation:
                self.found.append(violation)

    def judge_sample(self, sample, seed):
        """Threads run in another order. If the selected call did not occur, tries other calls."""
        self.judge(spread(self.places, sample, seed))
        for again in range(1, ROUNDS):
            if self.places and not self.runs:
                self.judge(spread(self.scenario.places(self.campaign), sample, seed + again))

    def must_have_failed(self):
        if self.places and not self.runs:
            c = self.campaign
            self.found.append(("no call was made to fail", f"{c.calls}:{c.kind}:*{'+' if c.rest else ''}", "", ""))

    def judge_each_place(self, seed):
        rest = self.campaign.rest
        self.judge(of_each_place(self.places, seed, rest))
        for again in range(ROUNDS):
            missed = self.missed()
            if missed:
                self.judge(of_each_place(self.scenario.places(self.campaign), seed + again, rest, missed))

    def missed(self):
        return sorted({place for place in self.places if not self.judged[place]})

    def line(self):
        missed, slow = len(self.missed()), len(self.scenario.slow)
        return (f"{campaign_line(self.scenario, self.campaign)}: {len(self.places)} calls from {len(set(self.places))} "
                f"places, {self.runs} runs, {len(self.found)} violations{f', {slow} done again' if slow else ''}"), missed


def run_scenario(name, inputs, scratch, sample=0, seed=1, jobs=None, campaigns=CAMPAIGNS, say=print, each=False):
    """Returns (runs in which a call failed, violations)."""
    folder = scratch / name.replace(" ", "-").replace(",", "")
    folder.mkdir()
    scenario = scenario_of(name, inputs, folder)
    runs, violations = 0, []
    with concurrent.futures.ThreadPoolExecutor(jobs or scenario.jobs) as pool:
        for campaign in campaigns:
            run = Run(scenario, campaign, pool)
            if each:
                run.judge(range(1, len(run.places) + 1))
            elif sample:
                run.judge_sample(sample, seed)
            else:
                run.judge_each_place(seed)
            run.must_have_failed()
            line, missed = run.line()
            say(line + (f", {missed} places missed" if missed and not sample else ""))
            for line in scenario.slow:
                say(line)
            scenario.slow.clear()
            runs += run.runs
            violations += [(scenario, *v) for v in run.found]
    scenario.close()
    shutil.rmtree(folder)
    return runs, violations


def report(violations):
    """Prints one paragraph for each place with a problem."""
    places = collections.defaultdict(list)
    for scenario, wrong, fault, callers, stderr in violations:
        places[scenario.name, re.sub(r"[0-9a-f]{32}", "#", wrong), names_of(callers)].append((scenario, fault, stderr))
    text = []
    for (name, wrong, where), cases in places.items():
        scenario, fault, stderr = cases[0]
        text.append(f"{name}: {wrong} ({len(cases)} times)\n  {where}\n  FAULT={fault} LD_PRELOAD={PRELOAD} "
                    f"{' '.join(scenario.command('OUT'))}\n  stderr: {stderr or '(nothing)'}")
    return "\n".join(text)


# Functions of libc that reach no system call that may fail, or whose failure the program cannot see.
HARMLESS = set("""
    llround log10 log2 lround pow round strtok_r
__longjmp_chk _setjmp fnmatch isalnum isalpha isdigit isxdigit rewind
alphasort fmax globfree iconv iconv_close inet_ntop inet_pton qsort_r re_search regcomp regerror regfree strchrnul strpbrk
__assert_fail __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc __cxa_finalize __errno_location __isoc99_sscanf __sched_cpucount
__stack_chk_fail _exit abort clock_gettime dirfd dlerror dlsym exit exp explicit_bzero expm1 fcntl feof ferror fflush fmin fprintf fputc fputs free
freeaddrinfo freelocale fwrite gai_strerror getaddrinfo getenv geteuid gethostname getnameinfo getopt_long getpid getppid gmtime_r isatty
ioctl iswalnum_l ldexp localtime_r log madvise mallopt memchr memcmp memcpy memmem memmove memrchr memset nanosleep
newlocale nextafterf printf pthread_cond_broadcast pthread_cond_destroy pthread_cond_init pthread_cond_signal
pthread_cond_clockwait pthread_cond_wait pthread_detach pthread_join pthread_mutex_destroy pthread_mutex_init
pthread_mutex_lock pthread_mutex_unlock pthread_tryjoin_np prctl putc putchar puts qsort raise sched_getaffinity setenv
shutdown sigaction signal snprintf sqrt strcasecmp strcat strchr strcmp strcpy strcspn strerror strftime strlen
strcasestr strncasecmp strncmp strnlen strptime strrchr strspn strstr strtod strtod_l strtof_l strtol strtoll strtoul strtoull sysconf
time timegm towlower_l towupper_l tzset umask unsetenv vasprintf vfprintf vsnprintf
""".split())


def symbols(path, which):
    """Returns the names that a program takes from libc, or that a library exports."""
    out = subprocess.run(["nm", "-D", which, path], capture_output=True, text=True, check=True).stdout
    names = [line.split()[-1] for line in out.splitlines()]
    return {n.split("@")[0] for n in names if which == "--defined-only" or "@GLIBC" in n}


def unknown_calls():
    """Returns the libc functions that the program calls and that neither preload.c nor the list above contains."""
    chk = {f"__{n}_chk" for n in HARMLESS}
    return sorted(symbols(PROGRAM, "--undefined-only") - symbols(PRELOAD, "--defined-only") - HARMLESS - chk)


def main():
    args = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    args.add_argument("--only", choices=sorted(names()), action="append", help="this scenario")
    args.add_argument("--calls", choices=["alloc", "io", "transfer"], action="append", help="calls of this class")
    args.add_argument("--all", action="store_true", help="each call, not three of each place")
    args.add_argument("--sample", type=int, default=0, metavar="N", help="N calls of each kind, not all")
    args.add_argument("--seed", type=int, default=1, help="which")
    args.add_argument("--jobs", type=int, help="runs at a time")
    args = args.parse_args()
    runs, violations = 0, []
    shm = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="saltmill-faults-", dir=shm) as folder:
        inputs = pathlib.Path(folder) / "inputs"
        inputs.mkdir()
        write_inputs(inputs)
        before = tree(inputs)
        for name in args.only or names():
            n, found = run_scenario(name, inputs, pathlib.Path(folder), args.sample, args.seed, args.jobs,
                                    [c for c in CAMPAIGNS if not args.calls or c.calls in args.calls],
                                    lambda line: print(line, flush=True), args.all)
            runs, violations = runs + n, violations + found
        changed = before != tree(inputs)
    if violations:
        print(report(violations))
    unknown = unknown_calls()
    if unknown:
        print(f"not known to tests/faults: {' '.join(unknown)}; add them to preload.c or to HARMLESS")
    if changed:
        print("a run changed what it was to read only")
    print(f"{runs} runs, {len(violations)} violations")
    return 1 if violations or unknown or changed else 0


if __name__ == "__main__":
    sys.modules["faults"] = sys.modules[__name__]  # topic_faults.py must see this same module
    sys.exit(main())
