"""Tests inputs that the program cannot open, because another process reads them and feeds their bytes.

map, plan, load and digest take standard input as a part of a named file. The oracle is `load --plan` of the file
itself. All bytes must be equal.
"""

import gzip
import json
import os
import re
import shutil
import subprocess

import pyarrow as pa
import pytest

import schema_events as se
from load_help import HEADER, JOB
from test_halves import ROWS, Halves, assert_same, refused
from xxh3 import xxh3_128


class Fed(Halves):
    """The files are the same, but maps, digests and unite never see the inputs."""

    def map_fed(self, number, to, slice_, *args, rest=True, **kw):
        data = (self.folder / self.inputs[number]).read_bytes()
        a, b = (int(x) for x in re.findall(r"(\d+)[=-].*?(\d+)$", slice_)[0])
        offset = a if "=" in slice_ else max(a - 1, 0)
        fed = data[offset:] if rest else data[offset:b + rest_of_row(data, b)]
        return self.map_stdin(number, to, fed, "--slice", slice_, "--bytes", len(fed), "--offset", offset,
                              "--size", len(data), *args, **kw)

    def map_stdin(self, number, to, fed, *args, **kw):
        (self.folder / "maps").mkdir(exist_ok=True)
        return self.run("map", "-", "--name", self.inputs[number], "--plan", "plan", "--input", number,
                        "-o", f"maps/{to}", *args, input=fed, **kw)

    def map_file(self, number, slices, **kw):
        """Works as a driver does. It maps a slice again if the slice does not meet the slice before."""
        size = (self.folder / self.inputs[number]).stat().st_size
        expected, mended = None, 0
        for k in range(slices):
            a, b = size * k // slices, size * (k + 1) // slices
            to = f"{number}-{k}"
            self.map_fed(number, to, f"{a}-{b}", **kw)
            report = self.report(to)
            if expected is not None and report["first"] != expected:
                shutil.rmtree(self.folder / "maps" / to)
                self.map_fed(number, to, f"{a}={expected}-{b}", **kw)
                report, mended = self.report(to), mended + 1
            expected = report["end"]
        return mended

    def map_again(self, number, **kw):
        """Maps all slices of a file without quotes again."""
        for folder in sorted((self.folder / "maps").glob(f"{number}-*")):
            r = self.report(folder.name)
            shutil.rmtree(folder)
            self.map_fed(number, folder.name, f"{r['from']}-{r['to']}", **kw)

    def digest(self, number, **kw):
        data = (self.folder / self.inputs[number]).read_bytes()
        r = subprocess.run([self.program, "digest", "-", "--maps", "maps", "--input", str(number), "--name",
                            self.inputs[number], "--bytes", str(len(data))], cwd=self.folder, input=data,
                           capture_output=True, timeout=60)
        assert r.returncode == 0, r.stderr.decode()
        return json.loads(r.stdout)

    def unite_told(self, digests, *args, **kw):
        inputs = [{"path": n, "size": (self.folder / n).stat().st_size} for n in self.inputs]
        (self.folder / "inputs.json").write_text(json.dumps({"inputs": inputs, "digests": digests}))
        hidden = self.folder / "hidden"
        hidden.mkdir()
        for n in self.inputs:
            (self.folder / n).rename(hidden / n)
        try:
            return self.run("unite", "--inputs", "inputs.json", "--plan", "plan", "--maps", "maps",
                            "--reduces", "reduces", "-o", "two", *args, **kw)
        finally:
            for n in self.inputs:
                (hidden / n).rename(self.folder / n)
            hidden.rmdir()


def rest_of_row(data, b):
    """Returns the bytes from b to the end of its row, for text without quotes, and one more."""
    end = data.find(b"\n", max(b - 1, 0))
    return (len(data) if end < 0 else end + 2) - b


@pytest.fixture
def fed(tmp_path, saltmill):
    (tmp_path / "job.yaml").write_text(JOB)
    (tmp_path / "in.csv").write_bytes(HEADER + b"".join(ROWS))
    h = Fed(tmp_path, saltmill, ["in.csv"])
    h.plan()
    return h


@pytest.mark.parametrize("slices", [1, 2, 7])
@pytest.mark.parametrize("rest", [True, False])
def test_fed_slices_make_the_load_of_the_file(fed, slices, rest):
    fed.load()
    assert fed.map_file(0, slices, rest=rest) == 0
    fed.reduce_all(2)
    fed.unite_told([fed.digest(0)])
    assert_same(fed.folder / "one", fed.folder / "two")
    files = Halves(fed.folder, fed.program, fed.inputs)  # and the maps equal those of the file
    for k in range(slices):
        size = (fed.folder / "in.csv").stat().st_size
        files.map(0, f"same{k}", "--slice", f"{size * k // slices}-{size * (k + 1) // slices}")
        a, b = fed.folder / f"maps/0-{k}", fed.folder / f"maps/same{k}"
        assert (a / "runs").read_bytes() == (b / "runs").read_bytes()


def test_several_inputs_whole_packed_and_sliced_with_rejects_and_quotes(tmp_path, saltmill):
    (tmp_path / "job.yaml").write_text(JOB.replace("    timestamp: at\n", "    timestamp: at\n    duplicates: last\n"))
    bad = [*ROWS[:100], b"bad,1,x\n", *ROWS[100:200]]
    quoted = [f'{i % 9},{1_400_000_000 + i},"{"a" * (i % 5)}\r\n{i}"\n'.encode() for i in range(300)]
    (tmp_path / "a.csv").write_bytes(HEADER + b"".join(bad))
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(HEADER + b"".join(ROWS)))
    (tmp_path / "c.csv").write_bytes(b"\xef\xbb\xbf" + HEADER + b"".join(quoted) + b"x\n" + b"1,1400000000,no end")
    h = Fed(tmp_path, saltmill, ["a.csv", "b.csv.gz", "c.csv"])
    h.plan(status=3)
    h.load("--max-rejects", 2, status=3)
    h.map_file(0, 3)
    packed = (tmp_path / "b.csv.gz").read_bytes()
    h.map_stdin(1, "b", packed, "--bytes", len(packed))
    assert h.map_file(2, 5) > 0
    h.reduce_all(1)
    digests = [h.digest(0), h.digest(2)]
    h.unite_told(digests, "--max-rejects", 2, status=3)
    assert_same(tmp_path / "one", tmp_path / "two")
    lines = [json.loads(line) for line in (tmp_path / "two/rejects.jsonl").read_text().splitlines()]
    assert [(r["file"], r["line"]) for r in lines] == [("a.csv", 102), ("c.csv", 602)]
    shutil.rmtree(tmp_path / "two")
    refused(h.unite_told(digests, "--max-rejects", 1, status=4), 4, "c.csv")
    shutil.rmtree(tmp_path / "reduces")
    h.map_again(0, rest=False)
    h.reduce_all(1)
    refused(h.unite_told(digests[1:], "--max-rejects", 2, status=4), 4, "a.csv: found maps of its slices",
            "saltmill digest")
    digests[0]["parts"][1]["digest"] = "0" * 32
    refused(h.unite_told(digests, "--max-rejects", 2, status=1), 1, "a.csv", "expected the mapped bytes")
    digests[0]["parts"].pop(1)
    refused(h.unite_told(digests, "--max-rejects", 2, status=4), 4, "found a digest without bytes")
    h.inputs.append("d.csv")
    (tmp_path / "d.csv").write_bytes(HEADER)
    refused(h.unite_told(digests, "--max-rejects", 2, status=4), 4, "found no map of input 3")


def test_an_input_that_is_not_all_there_or_has_more_is_refused(fed):
    data = (fed.folder / "in.csv").read_bytes()
    n = len(data)

    def maps(fed_bytes, *args, status=1):
        r = fed.map_stdin(0, "x", fed_bytes, *args, status=status)
        assert not (fed.folder / "maps/x").exists() and not (fed.folder / "maps/x.saltmill-partial").exists()
        return r
    for short in (0, 1, 5, n // 2, n - 1):
        refused(maps(data[:short], "--bytes", n), 1, f"in.csv: found {short} bytes on standard input, expected {n}")
    refused(maps(data + b"1,1400000000,x\n", "--bytes", n), 1, f"too long: found more than {n} bytes")
    half = n // 2
    refused(maps(data[half - 1:-9], "--bytes", n - half + 1, "--offset", half - 1, "--size", n, "--slice",
                 f"{half}-{n}"), 1, " bytes on standard input, expected ")
    # up to the slice's end, not its last row's end
    b = data.index(b"\n", half + 50) - 2
    cut = data[half - 1:b]
    refused(maps(cut, "--bytes", len(cut), "--offset", half - 1, "--size", n, "--slice", f"{half}-{b}"), 1,
            "ends within the slice's last row")
    cut = data[half:]
    refused(maps(cut, "--bytes", len(cut), "--offset", half, "--size", n, "--slice", f"{half}-{n}", status=2), 2,
            f"but the slice needs the bytes from {half - 1}; change --offset")
    refused(maps(data, status=2), 2, "add --bytes N")
    refused(maps(data, "--bytes", n, "--size", n + 1, status=2), 2, "so the rows to read are unknown; add --slice")
    refused(maps(data, "--bytes", n, "--size", n - 1, "--slice", "0-5", status=2), 2, "exceeds the")
    # these could be the bytes up to some border; only the file's size shows whether its last row is complete
    refused(maps(data[:half], "--bytes", half, "--slice", f"0-{half}", status=2), 2, "--slice: found no --size, expected `--size S`")
    refused(fed.run("map", "in.csv", "--name", "x", "--bytes", n, "--plan", "plan", "-o", "no", status=2), 2,
            "expected `-` as the only input")
    refused(fed.run("map", "-", "--plan", "plan", "-o", "no", status=2, input=data), 2, "--name and --bytes")


def test_who_feeds_may_go_on_when_a_slice_is_done(fed):
    """A slice closes the pipe early, so the process that feeds the slice does not wait for the sort."""
    row = b"1,1400000000,x\n"
    size = 1 << 40
    p = subprocess.Popen([fed.program, "map", "job.yaml", "-", "--name", "in.csv", "--plan", "plan", "-o", "one",
                          "--slice", "0-1000", "--bytes", str(size), "--size", str(size), "--quiet"], cwd=fed.folder, stdin=subprocess.PIPE, bufsize=0)
    p.stdin.write(HEADER)
    with pytest.raises(BrokenPipeError):
        while True:
            os.write(p.stdin.fileno(), row * 1000)
    p.stdin.close()
    assert p.wait(timeout=30) == 0
    report = json.loads((fed.folder / "one/report.json").read_text())
    assert report["read"] == len(range(len(HEADER), 1000, len(row))) and report["size"] == size and not report["last"]


def test_plans_of_what_is_fed_are_those_of_the_file(fed):
    data = (fed.folder / "in.csv").read_bytes()
    fed.run("plan", "-", "--name", "in.csv", "--bytes", len(data), "-o", "fed", input=data)
    assert_same(fed.folder / "plan", fed.folder / "fed")
    (fed.folder / "head").write_bytes(data[:50])  # the beginning of the file, with its header, and any later bytes
    for k in range(3):
        a, b = len(data) * k // 3, len(data) * (k + 1) // 3
        fed.run("plan", "in.csv", "--slice", f"{a}-{b}", "--save", f"file{k}")
        rest, head = data[max(a - 1, 0):], ["--columns", "head"] if k else []
        fed.run("plan", "-", "--name", "in.csv", "--bytes", len(rest), "--offset", max(a - 1, 0), "--size", len(data),
                "--slice", f"{a}-{b}", "--save", f"fed{k}", *head, input=rest)
        assert (fed.folder / f"file{k}").read_bytes() == (fed.folder / f"fed{k}").read_bytes()
    refused(fed.run("plan", "-", "--name", "in.csv", "--bytes", 50, "--offset", len(data) - 50, "--size", len(data),
                    "--slice", f"{len(data) - 40}-{len(data)}", input=data[-50:], status=2), 2, "add --columns FILE")
    short = fed.run("plan", "-", "--bytes", len(data), input=data[:-1], status=1)
    refused(short, 1, " bytes on standard input, expected ")


def test_a_load_of_what_is_fed_is_that_of_the_file(fed):
    data = (fed.folder / "in.csv").read_bytes()
    fed.run("load", "in.csv", "-o", "one")
    fed.run("load", "-", "--name", "in.csv", "--bytes", len(data), "-o", "two", input=data)
    assert_same(fed.folder / "one", fed.folder / "two")


def test_arrow_streams_tell_their_end_themselves(tmp_path, saltmill):
    job = JOB.replace("csv: {files: [in.csv]}", "arrow: {files: [in]}").replace(", unit: s", "")
    (tmp_path / "job.yaml").write_text(job)
    table = pa.table({"id": pa.array(range(900), "uint32"), "value": ["é" * (i % 5) for i in range(900)],
                         "at": pa.array([1_400_000_000 + i for i in range(900)], pa.timestamp("s"))})
    parts = [se.as_arrow(table.slice(300 * k, 300), True, None, 100) for k in range(3)]
    for k, part in enumerate(parts):
        (tmp_path / f"part-{k}").write_bytes(part)
    h = Fed(tmp_path, saltmill, [f"part-{k}" for k in range(3)])
    h.plan()
    h.load()
    refused(h.map_stdin(0, "0", parts[0][:-8], status=4), 4, "part-0", "truncated")
    for k, part in enumerate(parts):
        h.map_stdin(k, k, part)
    h.reduce_all(2)
    h.unite_told([])
    assert_same(tmp_path / "one", tmp_path / "two")


AUTO = JOB.replace("compression: NONE", "compression: {codec: ZSTD, level: auto, framing: hbase}")


def test_a_plan_is_made_of_slices_that_each_saw_alone(tmp_path, saltmill):
    """unite joins three slices as a tree. Two of them come from standard input. The result contains all that a load needs from a
    plan."""
    rows = b"".join(f"{i * 7919 % 5000},{1_400_000_000 + i},{'x' * (i % 60)}{i}\n".encode() for i in range(6000))
    (tmp_path / "job.yaml").write_text(AUTO)
    (tmp_path / "in.csv").write_bytes(HEADER + rows + b"bad,1,x\n")
    h = Fed(tmp_path, saltmill, ["in.csv"])
    data = (tmp_path / "in.csv").read_bytes()
    (tmp_path / "head").write_bytes(HEADER)
    borders = [0, len(data) // 3, len(data) * 2 // 3, len(data)]
    h.run("plan", "in.csv", "--slice", f"0-{borders[1]}", "--save", "a", "--tune")
    for name, a, b in ("b", *borders[1:3]), ("c", *borders[2:4]):
        h.run("plan", "-", "--name", "in.csv", "--slice", f"{a}-{b}", "--offset", a - 1, "--size", len(data), "--bytes",
              len(data) - a + 1, "--columns", "head", "--save", name, "--tune", input=data[a - 1:],
              status=3 if name == "c" else 0)
    h.run("plan", "--from", "a", "b", "--save", "ab", "--tune")
    told = h.run("plan", "--from", "ab", "c", "--tune", "-o", "plan", "--json", status=3)
    assert json.loads(told.stdout)["events"] == 6001 and json.loads(told.stdout)["rejected"] == 1
    settings = json.loads((tmp_path / "plan/settings.json").read_text())
    assert settings["tuned"] and [c["name"] for c in settings["columns"]] == ["id", "at", "value"]
    (family,) = settings["tables"][0]["tuned"]
    saved = []  # the settings come from the slice that measured most
    for name in "abc":
        h.run("plan", "--from", name, "--tune", "-o", f"of-{name}", status=None)
        saved += json.loads((tmp_path / f"of-{name}/settings.json").read_text())["tables"][0]["tuned"]
    assert family in saved and family["plain_bytes"] == max(s["plain_bytes"] for s in saved)
    h.load("--max-rejects", 1, status=3)
    h.map_file(0, 2)
    h.reduce_all(2)
    h.unite_told([h.digest(0)], "--max-rejects", 1, status=3)
    assert_same(tmp_path / "one", tmp_path / "two")


def test_a_plan_of_slices_says_what_it_does_not_know(tmp_path, saltmill):
    (tmp_path / "job.yaml").write_text(AUTO)
    (tmp_path / "in.csv").write_bytes(HEADER + b"".join(ROWS))
    (tmp_path / "other.csv").write_bytes(b"more," + HEADER + b"".join(b"1," + r for r in ROWS))
    h = Fed(tmp_path, saltmill, ["in.csv"])
    h.run("plan", "in.csv", "--save", "tuned", "--tune")
    h.run("plan", "in.csv", "--save", "untuned")
    h.run("plan", "other.csv", "--save", "other", "--tune")
    refused(h.run("plan", "--from", "tuned", "untuned", "--tune", "-o", "x", status=2), 2, "found sketches without the settings of --tune")
    r = h.run("plan", "--from", "tuned", "untuned", "-o", "x")
    assert b"lack the settings of `level: auto`" in r.stderr
    refused(h.run("load", "in.csv", "--plan", "x", "-o", "y", status=2), 2, "--tune")
    r = h.run("plan", "--from", "tuned", "other", "--tune", "-o", "z")
    assert b"with different columns" in r.stderr and not (tmp_path / "z/settings.json").exists()
    data = (tmp_path / "tuned").read_bytes()
    for cut in (10, 40, len(data) - 1):
        (tmp_path / "cut").write_bytes(data[:cut])
        refused(h.run("plan", "--from", "cut", status=1), 1, "cut")


# --- the digest of a file, as a sum of its slices ---

CHUNK = 1 << 20


def file_digest(data):
    """Returns the sum of the XXH3-128 of the chunks, each with its number as seed, by xxHash's own library."""
    chunks = [data[at:at + CHUNK] for at in range(0, len(data), CHUNK)] or [b""]
    return f"{sum(int(xxh3_128(c, seed), 16) for seed, c in enumerate(chunks)) % 2**128:032x}"


@pytest.fixture
def long(tmp_path, saltmill):
    """Writes a file of several chunks. Some rows contain line ends, and one row is longer than a chunk."""
    (tmp_path / "job.yaml").write_text(JOB)
    rows = [f'{i % 9},{1_400_000_000 + i},"{"v" * (i % 700)}\n{i}"\n'.encode() for i in range(9000)]
    rows.insert(5000, b'7,1500000000,"' + b"long\n" * 270_000 + b'"\n')
    (tmp_path / "in.csv").write_bytes(HEADER + b"".join(rows))
    h = Fed(tmp_path, saltmill, ["in.csv"])
    h.plan()
    return h


@pytest.mark.parametrize("slices", [1, 3, 40])
def test_slices_have_the_digest_of_the_file(long, slices):
    long.load()
    manifest = json.loads((long.folder / "one/manifest.json").read_text())
    assert manifest["inputs"][0]["digest"] == file_digest((long.folder / "in.csv").read_bytes())
    assert (long.map_file(0, slices) > 0) == (slices > 1)
    long.reduce_all(1)
    long.unite_told([])
    assert_same(long.folder / "one", long.folder / "two")


def test_a_file_that_changed_between_two_maps(long):
    path = long.folder / "in.csv"
    data = path.read_bytes()
    half = CHUNK - 50_000
    border = data.index(b'"\n', half) + 2
    at = data.index(b"v", border)
    assert at < CHUNK  # in the chunk of the first slice, but a row of the second slice
    long.map_fed(0, "0", f"0-{half}")
    path.write_bytes(data[:at] + b"w" + data[at + 1:])
    long.map_fed(0, "1", f"{half}={border}-{len(data)}")
    path.write_bytes(data)
    long.reduce_all(1)
    refused(long.unite_told([], status=1), 1, "in.csv", "expected the mapped bytes")
