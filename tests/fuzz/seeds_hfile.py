"""seeds_hfile.py FOLDER writes seeds for the fuzz target. The seeds are small HFiles with every compression, encoding
and bloom filter, and files of HBase with the codecs that saltmill only reads, encrypted files and files with a dictionary.

The first byte of each file has options of the target, and a dictionary may follow.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SALTMILL", str(ROOT / "build" / "saltmill"))

LARGEST = 12000
CRC32C = 2  # the only checksums that the target corrects

JOB = """\
source: {{csv: {{files: [in.csv]}}}}
tables:
  - name: t
    rowkey: [{{field: id}}]
    timestamp: 1700000000000
    families:
      f: {{compression: {compression}, data_block_encoding: {encoding}, bloomfilter: {bloom}, blocksize: 1024}}
    cells:
      - {{family: f, qualifier: a, value: {{field: a}}}}
      - {{family: f, qualifier: b, value: {{field: b}}}}
    regions: {{split: none}}
"""


def main(folder):
    folder = pathlib.Path(folder)
    if folder.is_dir():
        return
    with tempfile.TemporaryDirectory() as scratch:
        rows = "".join(f"row{i * 37 % 60:03},value {i},{'b' * (1 + i % 9)}\n" for i in range(60))
        (pathlib.Path(scratch) / "in.csv").write_text("id,a,b\n" + rows)
        seeds = {}
        for compression in ("NONE", "GZ", "SNAPPY", "LZ4", "ZSTD"):
            for encoding in ("NONE", "PREFIX", "DIFF", "FAST_DIFF", "ROW_INDEX_V1"):
                bloom = ("NONE", "ROW", "ROWCOL")[len(seeds) % 3]
                seeds[f"{compression}-{encoding}-{bloom}"] = hfile(scratch, compression, encoding, bloom)
    for archive in ("files.zip", "random.zip"):
        with zipfile.ZipFile(ROOT / "tests" / "hbase2" / archive) as z:
            seeds.update((n, z.read(n)) for n in z.namelist() if "." not in n and z.getinfo(n).file_size < LARGEST)
            dictionary = z.read("zstd.dictionary") if "zstd.dictionary" in z.namelist() else b""
    folder.mkdir(parents=True)
    for name, content in seeds.items():
        more = len(dictionary).to_bytes(2, "big") + dictionary if name.endswith("dictionary") else b""
        (folder / name).write_bytes(bytes([(content[24] == CRC32C) | 2 * bool(more)]) + more + content)


def hfile(scratch, compression, encoding, bloom):
    job = pathlib.Path(scratch) / "job.yaml"
    out = pathlib.Path(scratch) / f"{compression}-{encoding}"
    job.write_text(JOB.format(compression=compression, encoding=encoding, bloom=bloom))
    done = subprocess.run([PROGRAM, "load", job, "-o", out, "--quiet"], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{job.read_text()}{done.stderr}")
    [file] = (out / "t" / "hfiles" / "f").iterdir()
    return file.read_bytes()


if __name__ == "__main__":
    main(*sys.argv[1:])
