"""Tests `other_load: true`, a family that another load fills. The script has both families, but the load has only its
own."""

import json

import pytest

import loads

JOB = """\
source: {csv: {files: [in.csv], header: true}}
fields: {key: {type: u32}, at: {type: time, unit: s}, op: {type: text}}
tables:
  - name: two
    rowkey: [{field: key, as: u32}]
    timestamp: at
    families:
FAMILIES
    cells: [{family: OWN, qualifier: v, value: key}]
MORE
    regions: {split: uniform, count: 2}
"""
BOTH = {"a": "a: {versions: 3, compression: GZ}", "b": "b: {ttl: 30d, bloomfilter: ROWCOL}"}


def job(folder, own, more="", others=True):
    families = [f.replace("}", ", other_load: true}") if n != own else f for n, f in BOTH.items() if others or n == own]
    (folder / f"{own}.yaml").write_text(
        JOB.replace("FAMILIES", "\n".join("      " + f for f in families)).replace("OWN", own).replace("MORE", more))
    (folder / "in.csv").write_text("key,at,op\n" + "".join(f"{i},1400000000,{'d' if i == 3 else 'p'}\n" for i in range(9)))
    return folder / f"{own}.yaml"


def done(*args):
    r = loads.run(*args)
    assert r.returncode == 0, r.stderr
    return r.stdout


def families_of(script):
    return sorted(line.strip().rstrip(",") for line in script.splitlines() if "NAME =>" in line)


def test_both_jobs_print_the_same_families(tmp_path):
    """Whichever job creates the table, it has both families with the same attributes."""
    scripts = [done("ddl", job(tmp_path, own)) for own in "ab"]
    assert [len(families_of(s)) for s in scripts] == [2, 2]
    assert "2 column families" in scripts[0]
    for script in scripts:
        assert "'a', VERSIONS => 3" in script and "COMPRESSION => 'GZ'" in script
        assert "'b', VERSIONS => 1" in script and "TTL => 2592000" in script and "BLOOMFILTER => 'ROWCOL'" in script


def test_alter_adds_the_family(tmp_path):
    (tmp_path / "described.txt").write_text("two\nCOLUMN FAMILIES DESCRIPTION\n{NAME => 'a', VERSIONS => '3', COMPRESSION => 'GZ'}\n")
    script = done("ddl", job(tmp_path, "a"), "--alter", tmp_path / "described.txt")
    assert "alter 'two'" in script and families_of(script)[0].startswith("{NAME => 'b'") and len(families_of(script)) == 1


def test_a_load_has_only_its_own_family(tmp_path):
    for own in "ab":
        out = tmp_path / f"night_{own}"
        done("load", job(tmp_path, own), "-o", out, "--quiet")
        manifest = json.loads((out / "manifest.json").read_text())
        assert {f["family"] for f in manifest["tables"][0]["files"]} == {own}
        assert [d.name for d in (out / "two" / "hfiles").iterdir()] == [own]
        assert len(families_of((out / "two" / "create.rb").read_text())) == 2
        done("verify", out)
        # the same bytes as by a job that does not name the other family
        alone = tmp_path / f"alone_{own}"
        done("load", job(tmp_path, own, others=False), "-o", alone, "--quiet")
        files = [sorted(f.read_bytes() for f in d.rglob("hfiles/*/*")) for d in (out, alone)]
        assert files[0] == files[1] and len(files[0]) >= 1


def test_a_row_delete_leaves_the_other_family(tmp_path):
    path = job(tmp_path, "a", more="    deletes: [{row: true, when: op = d}]")
    done("load", path, "-o", tmp_path / "night", "--quiet")
    assert [d.name for d in (tmp_path / "night" / "two" / "hfiles").iterdir()] == ["a"]


@pytest.mark.parametrize("change,message", [
    (lambda t: t.replace(", other_load: true", ""), "if another load fills the family, write `other_load: true`"),
    (lambda t: t.replace("{family: a, q", "{family: b, q"), "found `b`, which has `other_load: true`, expected a family that this job fills"),
    (lambda t: t.replace("ROWCOL", "ROWCOLS"), "did you mean"),
])
def test_what_is_refused(tmp_path, change, message):
    path = job(tmp_path, "a")
    path.write_text(change(path.read_text()))
    r = loads.run("ddl", path)
    assert r.returncode == 2 and message in " ".join(r.stderr.split()), r.stderr
