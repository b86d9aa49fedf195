"""Tests conf/nightly.sh with a real HBase. The first night creates the table, and later nights append to it. After a restart at any point, the script does the remaining steps. The test computes the expected table.
"""

import csv
import datetime
import os
import subprocess

from oracle import Cells, reversed_millis, salt, u32, u64
from test_load import CONF, derive


def orders(*nights):
    """Computes the cells of conf/nightly.yaml. For an order that occurs twice, the later change wins."""
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

    def night(day, file, *options, status=0, **env):
        done = subprocess.run([CONF / "nightly.sh", job, loads, hbase.master, CONF / file, *options], capture_output=True, text=True,
                              env={**os.environ, "SALTMILL": str(saltmill), "DAY": day, **env}, timeout=120, check=False)
        assert done.returncode == status, done.stdout + done.stderr
        return done

    def shows(*nights):
        scan, expected = tmp_path / "scan", orders(*nights)
        hbase.scan("recipe_orders", out=str(scan))
        assert expected.differences(scan) == [] and len(expected.rows) >= 3

    def made():
        return sorted(p.name for p in loads.iterdir() if (p / "manifest.json").exists())

    broken = tmp_path / "broken.csv"  # the job allows one bad row, so the script returns the load's status 3
    broken.write_text((CONF / "nightly_1.csv").read_text() + "42,none,,,,\n")
    night("2026-03-02", broken, "--max-rejects", "1", status=3)
    shows("nightly_1.csv")
    borders = hbase.splits("recipe_orders")
    assert "nothing to load" in night("2026-03-02", broken).stderr  # cron ran twice
    assert made() == ["2026-03-02"]
    # a corrected file causes an error and no second load
    broken.write_text((CONF / "nightly_1.csv").read_text() + "42,9001,2026-03-01T00:00:00Z,2026-03-01T00:00:00Z,1.00,open\n")
    done = night("2026-03-02", broken, status=2)
    assert "changed after load" in done.stderr and made() == ["2026-03-02"]
    broken.write_text((CONF / "nightly_1.csv").read_text())
    night("2026-03-02", broken, "--replace")
    shows("nightly_1.csv")
    assert made() == ["2026-03-02", "2026-03-02.02"]
    # the load is in HBase, but its journal is gone, so the next night applies it again
    (loads / "2026-03-02.saltmill-apply").unlink()
    metrics = tmp_path / "nightly.prom"
    night("2026-03-03", "nightly_2.csv", TEXTFILE=str(metrics))
    shows("nightly_1.csv", "nightly_2.csv")
    assert 'saltmill_ledger_waiting{ledger="%s"} 0\n' % loads in metrics.read_text()
    assert hbase.splits("recipe_orders") == borders
    splits = (loads / "2026-03-03" / "recipe_orders" / "splits.txt").read_text().splitlines()
    assert len(splits) == len(borders) == 1
    # a night with an empty export changes nothing and reports that
    empty = tmp_path / "empty.csv"
    empty.write_text((CONF / "nightly_1.csv").read_text().splitlines()[0] + "\n")
    done = night("2026-03-04", empty, status=1, TEXTFILE=str(metrics))
    assert "--min-rows" in done.stderr and not (loads / "2026-03-04").exists()
    # the ledger removes old loads and still knows their inputs
    night("2026-03-05", broken, KEEP="1")
    assert made() == ["2026-03-03"]
    listed = subprocess.run([CONF / "nightly.sh", "status", loads], capture_output=True, text=True,
                            env={**os.environ, "SALTMILL": str(saltmill)}, timeout=60, check=True).stdout
    assert listed.startswith("2026-03-03 ") and listed.endswith(", in HBase\n")
    assert "nothing to load" in night("2026-03-06", "nightly_1.csv").stderr
    shows("nightly_1.csv", "nightly_2.csv")
