"""Checks cells with tags: their own TTL, visibility labels and access lists; the answers of scan, and values that are no TTL.

A Python reader reads the HFiles. HBase's own answers are in tests/hbase/test_cell_ttl.py.
"""
import json
import struct
import subprocess

import pytest

import hfile_py
from loads import PROGRAM

DAY, NOW = 86400000, 1_700_000_000_000
JOB = """\
source: {{csv: {{files: [in.csv]}}}}
fields:
  id: {{type: u32}}
  at: {{type: time, unit: ms}}
  keep: {{type: i64}}
tables:
  - name: t
    rowkey: [{{field: id, as: u32}}]
    timestamp: at
    families: {{f: {{versions: 9, compression: NONE, data_block_encoding: {encoding}}}, g: {{compression: NONE}}}}
    cells:
      - {{family: f, qualifier: b, value: v, ttl: 30d}}
      - {{family: f, qualifier: c, value: v, ttl: {{field: keep, unit: h}}}}
      - {{family: f, qualifier: a, value: {{const: x}}, ttl: {{field: keep, unit: d}}{more}}}
      - {{family: f, qualifier: d, value: v}}
      - {{family: g, qualifier: d, value: v}}
"""


def saltmill(folder, *args, status=0):
    done = subprocess.run([PROGRAM, *args], cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == status, done.stderr
    return done


def tag(ms):
    return struct.pack(">HBq", 9, 8, ms)


def write(folder, rows, encoding="NONE", more=""):
    (folder / "job.yaml").write_text(JOB.format(encoding=encoding, more=more))
    (folder / "in.csv").write_text("id,at,keep,v\n" + "".join(",".join(map(str, r)) + "\n" for r in rows))


def cells_of(folder, family):
    [file] = (folder / "out/t/hfiles" / family).iterdir()
    return hfile_py.HFile(file)


def expected(rows):
    for row, at, keep, v in rows:
        for q, ms, value in (("a", keep and keep * DAY, "x"), ("b", 30 * DAY, v), ("c", keep and keep * DAY // 24, v),
                             ("d", "", v)):
            yield struct.pack(">I", row), q.encode(), at, value.encode(), tag(ms) if ms else b""


# the last row has two events, so the load gathers it; a null in `keep` means no TTL
ROWS = [(i, NOW + i, i % 7 or "", f"v{i}") for i in range(1, 500)] + [(5000, NOW, 2, "old"), (5000, NOW, 3, "new")]


@pytest.mark.parametrize("encoding, more", [("NONE", ""), ("FAST_DIFF", ""), ("DIFF", ", when: v starts with v or v = new"),
                                            ("PREFIX", ""), ("ROW_INDEX_V1", "")])
def test_the_tags(tmp_path, encoding, more):
    write(tmp_path, ROWS, encoding, more)
    saltmill(tmp_path, "load", "job.yaml", "-o", "out")
    got = [(c.row, c.qualifier, c.ts, c.value, c.tags) for c in cells_of(tmp_path, "f").cells]
    assert got == list(expected(ROWS[:-2] + ROWS[-1:]))
    other = cells_of(tmp_path, "g")
    assert "hfile.MAX_TAGS_LEN" not in other.info and not any(c.tags for c in other.cells)
    saltmill(tmp_path, "verify", "out")


def test_what_scan_shows(tmp_path):
    write(tmp_path, [(1, NOW, 2, "one")])
    saltmill(tmp_path, "load", "job.yaml", "-o", "out")
    for passed, left in ((0, "abcd"), (2 * DAY // 24, "abcd"), (2 * DAY // 24 + 1, "abd"), (2 * DAY + 1, "bd"),
                         (30 * DAY, "bd"), (30 * DAY + 1, "d")):
        done = saltmill(tmp_path, "scan", "job.yaml", "out", "--columns", "f", "--format", "jsonl", "--now",
                        str(NOW + passed))
        assert [c["qualifier"] for c in json.loads(done.stdout)["cells"]] == list(left), passed


def test_diff_of_expired_cells(tmp_path):
    """Cells a and c have passed their TTL. diff --raw compares all stored cells, and diff those that a scan returns."""
    for name, ttl in (("a", 1), ("b", 2)):
        (tmp_path / name).mkdir()
        write(tmp_path / name, [(1, NOW, ttl, "one")])
        saltmill(tmp_path / name, "load", "job.yaml", "-o", "out")
    diff = ["diff", "a/out", "b/out", "--json"]
    assert json.loads(saltmill(tmp_path, *diff, "--now", str(NOW + 9 * DAY)).stdout)["cells_a"] == 3
    found = json.loads(saltmill(tmp_path, *diff, "--raw", status=3).stdout)
    assert (found["cells_a"], found["cells_b"], found["other_tags"]) == (5, 5, 2)


def test_values_that_are_no_ttl(tmp_path):
    bad = [0, -1, 24856, 2**63 - 1]  # 24856 days exceed 2147483647 s
    write(tmp_path, [(1, NOW, 24855, "good")] + [(2 + i, NOW, keep, "bad") for i, keep in enumerate(bad)])
    saltmill(tmp_path, "load", "job.yaml", "-o", "out", "--max-rejects", "9", status=3)
    rejects = [json.loads(line) for line in (tmp_path / "out/rejects.jsonl").read_text().splitlines()]
    assert [(r["reason"], r["field"]) for r in rejects] == [("out_of_range", "keep")] * 4
    assert all("expected a TTL of 1 to 24855" in r["detail"] for r in rejects), rejects


def test_check_prints_the_ttl(tmp_path):
    write(tmp_path, [(1, NOW, 2, "one")])
    out = saltmill(tmp_path, "check", "job.yaml").stdout
    assert f"f:b  {NOW}  one  (TTL 2592000 s)\n" in out and f"f:c  {NOW}  one  (TTL 7200 s)\n" in out
    assert f"f:d  {NOW}  one\n" in out


@pytest.mark.parametrize("ttl, said", [
    ("keep", "ttl: found `keep`, expected a time like 90s, 24h or 30d below 2147483647 seconds, or a field like {field: "),
    ("0s", "ttl: found `0s`, expected a time like"), ("forever", "ttl: found `forever`, expected a time like"),
    ("{field: v, unit: d}", "ttl: found `v` of type text, expected a whole number; declare the field under fields: `v: "),
    ("{field: keep}", "lacks the key `unit`"), ("{field: keep, unit: w}", "unit: found `w`"),
])
def test_mistakes(tmp_path, ttl, said):
    write(tmp_path, [(1, NOW, 2, "one")])
    job = tmp_path / "job.yaml"
    job.write_text(job.read_text().replace("ttl: 30d", f"ttl: {ttl}"))
    assert said in saltmill(tmp_path, "check", "job.yaml", status=2).stderr


def test_a_timestamp_that_is_too_large(tmp_path):
    write(tmp_path, [(1, NOW, 2, "one")])
    job = tmp_path / "job.yaml"
    job.write_text(job.read_text().replace("timestamp: at", f"timestamp: {2**63 - 2}"))
    assert "expected one of at most" in saltmill(tmp_path, "check", "job.yaml", status=2).stderr


# Tags that HBase 2.6.4 makes: VisibilityUtils.createVisibilityExpTags, with label lN for the number N, and
# AccessControlUtil.toUsersAndPermissions, as (type, value in hex). HBase fails for the last two of NAMED.
VISIBILITY = [
    ("3", [(4, "01"), (2, "03")]),
    ("2&1 | 3", [(4, "01"), (2, "0102"), (2, "03")]),
    ("7 & !4", [(4, "01"), (2, "fcffffff0f07")]),
    ("1|2|300&!20000", [(4, "01"), (2, "e0e3feff0f01"), (2, "e0e3feff0f02"), (2, "e0e3feff0fac02")]),
    ("1|2&3", [(4, "01"), (2, "0103"), (2, "0203")]),
    ("(1&2) | (2&1)", [(4, "01"), (2, "0102"), (2, "0102")]),
]
NAMED = [
    ("3&(l1|2)", [(4, "01"), (2, "0103"), (2, "0203")]),
    ("!(l1|2)", [(4, "01"), (2, "feffffff0fffffffff0f")]),
    ("!(!l1)", [(4, "01"), (2, "01")]),
    (r'"l \\1\"" & 2', [(4, "01"), (2, "0205")]),
    ("l1&(2|(3&4))", [(4, "01"), (2, "0102"), (2, "010304")]),
    ("(l1|2)&(3|4)", [(4, "01"), (2, "0103"), (2, "0104"), (2, "0203"), (2, "0204")]),
    ("((a:b/c.d-e_1))", [(4, "01"), (2, "06")]),
    ("l1|2|3&4|a:b/c.d-e_1", [(4, "01"), (2, "0104"), (2, "0204"), (2, "0304"), (2, "06")]),
    ("!(l1&2)|3", [(4, "01"), (2, "ffffffff0f"), (2, "feffffff0f"), (2, "03")]),
    ("l1&!(2|3)", [(4, "01"), (2, "fdffffff0ffeffffff0f01")]),
]
LABELS = {"l1": 1, "2": 2, "3": 3, "4": 4, 'l \\1"': 5, "a:b/c.d-e_1": 6}
ACL = [
    ("alice:RW", [(1, "0a110a05616c69636512080801120408000801")]),
    ("alice:WR, @staff:RXCA",
     [(1, "0a110a05616c696365120808011204080008010a160a06407374616666120c080112080800080208030804")]),
]


def packed(tags):
    return b"".join(struct.pack(">HB", 1 + len(v) // 2, kind) + bytes.fromhex(v) for kind, v in tags)


def with_tags(folder, more):
    """Writes the job, in which cell d of family g has `more`."""
    write(folder, [(1, NOW, 2, "one"), (2, NOW, "", "two")])
    job = folder / "job.yaml"
    job.write_text(job.read_text().replace("{family: g, qualifier: d, value: v}", f"{{family: g, qualifier: d, value: v{more}}}"))


@pytest.mark.parametrize("key, text, tags", [("visibility", *v) for v in VISIBILITY] + [("acl", *a) for a in ACL])
def test_labels_and_access_lists(tmp_path, key, text, tags):
    with_tags(tmp_path, f', {key}: "{text}"')
    saltmill(tmp_path, "load", "job.yaml", "-o", "out")
    assert [c.tags for c in cells_of(tmp_path, "g").cells] == [packed(tags)] * 2
    saltmill(tmp_path, "verify", "out")


@pytest.mark.parametrize("text, tags", NAMED)
@pytest.mark.parametrize("form", ["mapping", "file"])
def test_labels_by_name(tmp_path, text, tags, form):
    """The names decide, also if they are digits."""
    with_tags(tmp_path, f", visibility: {json.dumps(text)}")
    (tmp_path / "labels.csv").write_text("".join(f"{name},{number}\n" for name, number in LABELS.items()))
    with open(tmp_path / "job.yaml", "a", encoding="utf-8") as job:
        job.write(f"labels: {json.dumps(LABELS) if form == 'mapping' else 'labels.csv'}\n")
    saltmill(tmp_path, "load", "job.yaml", "-o", "out")
    assert [c.tags for c in cells_of(tmp_path, "g").cells] == [packed(tags)] * 2


@pytest.mark.parametrize("text, labels, said", [
    ("secret", '{"a": 1}', "visibility: found the label `secret`, expected one of the names under `labels`"),
    ("a & 1", '{"a": 1}', "found the label `1`"), ("!!a", '{"a": 1}', "found `!!a`, expected labels of the job"),
    ("(a", '{"a": 1}', "found `(a`"), ("a)", '{"a": 1}', "found `a)`"), ("a b", '{"a": 1}', "found `a b`"), ("a & ()", '{"a": 1}', "found"),
    ("a", '{"a": 0}', "labels: found the number 0 for `a`, expected 1 to 2147483647"), ("a", "{}", "labels: found no name"),
    ("a", '{"a": 2147483648}', "labels: found the number 2147483648"),
    ("a", '{"a": 1, "b": 1}', "labels: found the number 1 twice, the second time for `b`, expected another number"),
    ("&".join(["(a|b)"] * 9), '{"a": 1, "b": 2}', "expected labels of the job"), ("(" * 40 + "a" + ")" * 40, '{"a": 1}', "expected labels of the job"),
])
def test_mistakes_in_labels(tmp_path, text, labels, said):
    with_tags(tmp_path, f", visibility: {json.dumps(text)}")
    with open(tmp_path / "job.yaml", "a", encoding="utf-8") as job:
        job.write(f"labels: {labels}\n")
    assert said in saltmill(tmp_path, "check", "job.yaml", status=2).stderr


def test_all_tags_of_a_cell(tmp_path):
    """Labels, access list and TTL together. A null TTL leaves the other tags."""
    fixed = packed([*VISIBILITY[0][1], *ACL[0][1]])
    for number, (ttl, ends) in enumerate([("3d", [tag(3 * DAY)] * 2), ("{field: keep, unit: d}", [tag(2 * DAY), b""])]):
        folder = tmp_path / str(number)
        folder.mkdir()
        with_tags(folder, f', ttl: {ttl}, acl: "alice:RW", visibility: "3"')
        saltmill(folder, "load", "job.yaml", "-o", "out")
        assert [c.tags for c in cells_of(folder, "g").cells] == [fixed + end for end in ends]


@pytest.mark.parametrize("more, said", [
    ('visibility: "secret"', "visibility: found `secret`, expected numbers of labels like \"1 & !4 | 3\""),
    ('visibility: ""', "visibility: found an empty text"), ('visibility: "1 &"', "visibility: found `1 &`, expected"),
    ('visibility: "1 | | 2"', "expected numbers"), ('visibility: "0"', "expected numbers"),
    ('visibility: "2147483648"', "expected numbers"), ('visibility: "(1"', "expected numbers"),
    ('acl: "alice"', "acl: found `alice`, expected users and rights like \"alice:RW, @staff:R\""),
    ('acl: "alice:"', "acl: found `alice:`, expected"), ('acl: "alice:RZ"', "acl: found `alice:RZ`, expected"),
    ('acl: "alice:R,"', "expected users"), ('acl: ":R"', "expected users"),
])
def test_mistakes_in_tags(tmp_path, more, said):
    with_tags(tmp_path, ", " + more)
    assert said in saltmill(tmp_path, "check", "job.yaml", status=2).stderr
