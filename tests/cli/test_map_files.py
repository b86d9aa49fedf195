"""Tests `map: FILE` and `codes: FILE` by the stored bytes, and by questions that use the names."""

import json
import subprocess

import pytest

JOB = """
source: {csv: {files: [in.csv]}}
fields:
  n: u64
  owner: {%s}
tables:
  - name: t
    rowkey: [{field: owner, %s}, {field: n, as: u32}]
    timestamp: 5
    families: {f: {}}
    cells: [{family: f, qualifier: o, value: owner}]
    regions: {split: none}
"""
NAMES = {"浙江卫视": "000001", "O'Brien, \"Bob\"": "000020", "é": "000300"}


@pytest.fixture
def folder(tmp_path):
    quoted = lambda s: '"' + s.replace('"', '""') + '"'
    (tmp_path / "users.csv").write_text("".join(f"{quoted(k)},{v}\n" for k, v in NAMES.items()), encoding="utf-8")
    (tmp_path / "codes.csv").write_text("".join(f"{k},{int(v)}\n" for k, v in NAMES.items()), encoding="utf-8")
    rows = "".join(f"{i},{quoted(k)}\n" for i, k in enumerate(NAMES))
    (tmp_path / "in.csv").write_text("n,owner\n" + rows, encoding="utf-8")
    return tmp_path


def run(saltmill, folder, *words):
    return subprocess.run([saltmill, *words], cwd=folder, capture_output=True, text=True, timeout=60)


def load(saltmill, folder, field, part):
    (folder / "job.yaml").write_text(JOB % (field, part), encoding="utf-8")
    r = run(saltmill, folder, "load", "job.yaml", "-o", "out", "--quiet")
    assert r.returncode == 0, r.stderr
    r = run(saltmill, folder, "scan", "job.yaml", "out", "--format", "jsonl")
    return [json.loads(x)["row"] for x in r.stdout.splitlines()]


@pytest.mark.parametrize("field, part, keys", [
    ("map: users.csv", "as: text, terminator: \"\\x00\"", ["000001\\x00", "000020\\x00", "000300\\x00"]),
    ("map: users.csv", "as: text, width: 6", ["000001", "000020", "000300"]),
    ("map: users.csv", "as: reversed, width: 6", ["003000", "020000", "100000"]),
    ("map: users.csv, type: u32", "as: u16", ["\\x00\\x01", "\\x00\\x14", "\\x01\\x2C"]),
    ("map: users.csv, type: u32", "as: text, width: 6", ["000001", "000020", "000300"]),
    ("map: users.csv, type: u32", "as: descending_u16", ["\\xFE\\xD3", "\\xFF\\xEB", "\\xFF\\xFE"]),
    ("codes: codes.csv, type: u32", "as: text, width: 6", ["000001", "000020", "000300"]),
    ("codes: codes.csv, type: u32", "as: reversed, width: 6", ["003000", "020000", "100000"]),
    ("codes: codes.csv, type: u64", "as: descending_u16", ["\\xFE\\xD3", "\\xFF\\xEB", "\\xFF\\xFE"]),
    ("codes: codes.csv", "as: u16", ["\\x00\\x01", "\\x00\\x14", "\\x01\\x2C"]),
])
def test_keys_by_hand(saltmill, folder, field, part, keys):
    rows = load(saltmill, folder, field, part)
    assert sorted(x[:-16] for x in rows) == sorted(keys)
    question = {"浙江卫视": "0", "é": "2"}
    for name, n in question.items():
        for words in (["scan", "job.yaml", "out", "--where", f"owner = '{name}'"],
                      ["scan", "job.yaml", "out", "--where", f"owner in ({name})"],
                      ["get", "job.yaml", "out", f"owner={name}", f"n={n}"]):
            r = run(saltmill, folder, *words, "--format", "jsonl", "--decode")
            assert [json.loads(x)["key"]["n"] for x in r.stdout.splitlines()] == [int(n)], (words, r)
        r = run(saltmill, folder, "key", "ranges", "job.yaml", "--where", f"owner = {name}", "--format", "json")
        assert json.loads(r.stdout)["exact"] is True, r


def test_conditions_of_a_job_use_names(saltmill, folder):
    job = (JOB % ("map: users.csv", "as: text, width: 6")).replace("tables:", "where: owner = 浙江卫视\ntables:")
    (folder / "job.yaml").write_text(job, encoding="utf-8")
    r = run(saltmill, folder, "load", "job.yaml", "-o", "out", "--json")
    assert (json.loads(r.stdout)["tables"][0]["rows"]) == 1, r.stdout


def test_a_text_that_is_a_value_keeps_its_meaning(saltmill, tmp_path):
    """`B` is both a name and a replacement, so `owner = B` means the stored value."""
    (tmp_path / "in.csv").write_text("n,owner\n0,A\n1,B\n2,D\n")
    (tmp_path / "job.yaml").write_text(JOB % ("map: {A: B, B: C}, otherwise: {keep: true}", "as: text, width: 6"))
    assert run(saltmill, tmp_path, "load", "job.yaml", "-o", "out", "--quiet").returncode == 0
    for name, n in (("B", [0]), ("C", [1]), ("A", [0]), ("D", [2])):
        r = run(saltmill, tmp_path, "scan", "job.yaml", "out", "--where", f"owner = {name}", "--format", "jsonl", "--decode")
        assert [json.loads(x)["key"]["n"] for x in r.stdout.splitlines()] == n, (name, r)


def test_many_names(saltmill, tmp_path):
    names = {f"name {i * 7919 % 99991}": f"{i:06d}" for i in range(30000)}
    (tmp_path / "users.csv").write_text("".join(f"{k},{v}\n" for k, v in names.items()))
    (tmp_path / "in.csv").write_text("n,owner\n" + "".join(f"{i},{k}\n" for i, k in enumerate(names)))
    rows = load(saltmill, tmp_path, "map: users.csv", "as: text, width: 6")
    assert [x[:6] for x in rows] == [f"{i:06d}" for i in range(len(names))]


@pytest.mark.parametrize("text, field, said", [
    ("a,1\nb\n", "map: users.csv", "map: users.csv: row 2: found another form, expected FROM,TO as in CSV"),
    ("a,1\nb,2,3\n", "map: users.csv", "row 2: found another form"),
    ('a,1\n"b,2\n', "map: users.csv", "row 2: found another form"),
    ("", "map: users.csv", "row 1: found another form"),
    ("a,1\na,2\n", "map: users.csv", "map: found `a` twice, expected it once"),
    ("a,1\n", "map: nosuch.csv", "map: cannot open nosuch.csv: No such file"),
    ("a,1\n", "map: []", "a mapping of texts, such as {A: 1, B: 2}, or a file of FROM,TO"),
    ("a,1\n", "codes: users.csv, type: i64", "type: found i64 with `codes`, expected code, u32, u64 or no type"),
])
def test_wrong_files(saltmill, folder, text, field, said):
    (folder / "users.csv").write_text(text)
    (folder / "job.yaml").write_text(JOB % (field, "as: text, width: 6"), encoding="utf-8")
    r = run(saltmill, folder, "check", "job.yaml")
    assert r.returncode == 2 and said in r.stderr, r.stderr


def test_the_file_is_part_of_the_job(saltmill, folder):
    """Another file of names makes another job digest, as the job's own text does."""
    digests = set()
    for out in ("a", "b"):
        (folder / "job.yaml").write_text(JOB % ("map: users.csv", "as: text, width: 6"), encoding="utf-8")
        assert run(saltmill, folder, "load", "job.yaml", "-o", out, "--quiet").returncode == 0
        digests.add(json.loads((folder / out / "manifest.json").read_text())["job_digest"])
        (folder / "users.csv").write_text((folder / "users.csv").read_text().replace("000001", "000002"))
    assert len(digests) == 2
