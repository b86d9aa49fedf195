"""Tests one region with several threads. The threads without a region help to write the region's files."""

import random
import subprocess

import pytest

from load_help import HEADER, JOB, Bench

TABLE = """\
    max_hfile: 200K
    families:
      f: {compression: {codec: ZSTD}, blocksize: 8K}
      g: {compression: GZ, blocksize: 4K, bloomfilter: ROWCOL, data_block_encoding: FAST_DIFF}
    cells:
      - {family: f, qualifier: v, value: {field: value}}
      - {family: g, qualifier: id, value: {field: id, as: text}}
    regions: {split: none}
"""


@pytest.mark.parametrize("roll", [True, False])
def test_same_files_by_any_threads(tmp_path, saltmill, roll):
    table = TABLE if roll else TABLE.replace("    max_hfile: 200K\n", "")
    bench = Bench(tmp_path, saltmill, JOB[:JOB.index("    families:")] + table)
    rng = random.Random(11)
    bench.input(HEADER + b"".join(b"%d,%d,%s\n" % (i, 1_500_000_000 + rng.randrange(9999), b"%x" % rng.getrandbits(40))
                                  for i in range(100_000)))
    seen = []
    for threads, memory in (("1", "1G"), ("2", "1G"), ("4", "1G"), ("4", "16M")):
        bench.out = bench.folder / f"out-{threads}-{memory}"
        r = bench.run("--threads", threads, "--memory", memory)
        assert r.returncode == 0, r.stderr
        seen.append([(f["path"], f["digest"], f["rows"]) for f in bench.manifest()["tables"][0]["files"]])
        proved = subprocess.run([saltmill, "verify", bench.out], capture_output=True)
        assert proved.returncode == 0, proved.stdout
    assert len(seen[0]) > 10 if roll else len(seen[0]) == 2
    assert seen[0] == seen[1] == seen[2] == seen[3]
