"""conf/nightly.sh against a real HBase: the first night makes the table, later ones are appended to it.

Started again at any point it does what is left; what the table then shows is worked out here.
"""

import csv
import datetime
import os
import subprocess

from oracle import Cells, reversed_millis, salt, u32, u64
from test_load import CONF, derive


def orders(*nights):
    """conf/nightly.yaml by hand: of an order that came again, the later change."""
    newest = {}
    for night in nights:
        for r in csv.DictReader((CONF / night).open()):
            at, changed = (int(datetime.datetime.fromisoformat(r[name].replace("Z", "+00:00")).timestamp() * 1000)
                           for name in ("at", "changed"))
            customer = u32(int(r["customer"]))
            row = salt(8, customer) + customer + reversed_millis(at) + u64(int(r["order"]))
            newest[row] = max(newest.get(row, (0, "", "")), (changed, r["amount"], r["state"]))
    cells = Cells()
    for row, (changed, amount, state) in newest.items():
        cells.add(row, [("o", b"amount", changed, amount.encode()), ("o", b"state", changed, state.encode())])
    return cells


def test_two_nights(saltmill, hbase, tmp_path):
    job = derive(tmp_path, "nightly.yaml", ("name: orders", "name: recipe_orders"))
    loads = tmp_path / "loads"

    def night(day, file, *options):
        done = subprocess.run([CONF / "nightly.sh", job, loads, hbase.master, CONF / file, *options], capture_output=True, text=True,
                              env={**os.environ, "SALTMILL": str(saltmill), "DAY": day}, timeout=120, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def shows(*nights):
        scan, expected = tmp_path / "scan", orders(*nights)
        hbase.scan("recipe_orders", out=str(scan))
        assert expected.differences(scan) == [] and len(expected.rows) >= 3

    broken = tmp_path / "broken.csv"  # one bad row, which is allowed: status 3 of `load` is no failure
    broken.write_text((CONF / "nightly_1.csv").read_text() + "42,none,,,,\n")
    night("2026-03-02", broken, "--max-rejects", "1")
    shows("nightly_1.csv")
    borders = hbase.splits("recipe_orders")
    night("2026-03-02", "nightly_1.csv")  # cron ran twice
    shows("nightly_1.csv")
    # the hand-over of the first night got lost on the way: the second makes up for it
    (loads / "2026-03-02.saltmill-apply").unlink()
    night("2026-03-03", "nightly_2.csv")
    shows("nightly_1.csv", "nightly_2.csv")
    assert hbase.splits("recipe_orders") == borders
    splits = (loads / "2026-03-03" / "recipe_orders" / "splits.txt").read_text().splitlines()
    assert len(splits) == len(borders) == 1
    # a night whose export is empty changes nothing, and says so
    empty = tmp_path / "empty.csv"
    empty.write_text((CONF / "nightly_1.csv").read_text().splitlines()[0] + "\n")
    done = subprocess.run([CONF / "nightly.sh", job, loads, hbase.master, empty], capture_output=True, text=True,
                          env={**os.environ, "SALTMILL": str(saltmill), "DAY": "2026-03-04"}, timeout=120, check=False)
    assert done.returncode == 1 and "--min-rows" in done.stderr and not (loads / "2026-03-04").exists()
