"""A cluster that accepts bulk loads, with the region server of tests/cli/fake_hbase.py and the HDFS of
tests/unit/fake_webhdfs.py. The cluster behaves like HBase 2.6.4 (pipeline/deliver/apply/README.md). A call renames its
files from the upload folder into the token's folder, and then into the region's folder. If a file is missing or crosses
the region's border, the answer is "not loaded". The clean-up removes the token's folder with all its files. The cluster
adds no faults itself.
"""

import collections
import functools
import pathlib
import shutil
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "cli"), str(TESTS / "unit")]
import fake_webhdfs  # noqa: E402  (needs the path above)
import hfile_py  # noqa: E402
from fake_hbase import FakeHBase, Refusal, Region, data, fields, last, number  # noqa: E402

fake_webhdfs.checksum = functools.lru_cache(64)(fake_webhdfs.checksum)  # the same few files again and again

ROOT = "hdfs://127.0.0.1:8020"
STAGING = "/hbase/staging"


class Even:
    """Replaces the random generator, so that each run gets the same pieces."""

    @staticmethod
    def random():
        return 0.5

    @staticmethod
    def choice(of):
        return of[len(of) // 2]

    @staticmethod
    def randrange(_):
        return 0


class BulkHBase(FakeHBase):
    """`borders` lists the borders of an existing table with the attributes in `like`. If it is None, the table does not
    exist."""

    def __init__(self, table, families, borders=None, like=None):
        super().__init__(table, families, [], [], Even())
        self.borders, self.like = borders, like
        servers = fake_webhdfs.serve()
        servers[1].shutdown()
        self.hdfs, self.tree = servers[0], servers[0].RequestHandlerClass.tree
        self.webhdfs = f"127.0.0.1:{self.hdfs.server_port}"
        self.reset()

    def __exit__(self, *_):
        super().__exit__()
        self.hdfs.shutdown()
        self.hdfs.server_close()

    def reset(self):
        with self.lock, self.tree.lock:
            self.rows, self.keys, self.made, self.scanners = {}, [], 0, {}
            self.stored = collections.Counter()  # {cell: count}
            self.schema = self.nonce = None
            self.tree.nodes.clear()
            self.tree.next_id = 16385
            for path in ("/", "/user", "/user/ann", "/hbase", STAGING, "/hbase/data"):
                self.tree.nodes[path] = self.tree.node("ann", "777")
            self.regions = []
            if self.borders is not None:
                self.schema = self.like
                self.open_regions(self.borders)

    def open_regions(self, borders):
        self.regions = [Region(self, a, b) for a, b in zip([b"", *borders], [*borders, b""])]
        for region in self.regions:
            self.make_folders(self.folder(region))

    def folder(self, region):
        return f"/hbase/data/default/{self.table}/{region.name.decode('latin-1').rsplit('.', 2)[1]}"

    def make_folders(self, path):
        """Makes the folders in which apply searches for loaded files by their ids."""
        names = path.split("/")
        for n in range(2, len(names) + 1):
            self.tree.nodes.setdefault("/".join(names[:n]), self.tree.node("ann", "777"))

    # --- the master ---

    def do_GetClusterStatus(self, _):
        return data(1, data(1, data(1, "2.6.4")) + data(2, data(1, self.place()) + data(2, b""))), b""

    def do_GetTableDescriptors(self, _):
        with self.lock:
            return data(1, self.schema) if self.schema else b"", b""

    def do_CreateTable(self, request):
        with self.lock:
            nonce = last(request, 3), last(request, 4)
            if self.schema and nonce != self.nonce:
                raise Refusal("hadoop.hbase.TableExistsException")
            if not self.schema:
                self.schema, self.nonce = last(request, 1), nonce
                self.open_regions(request.get(2, []))
            return number(1, 7), b""

    def do_getProcedureResult(self, _):
        return number(1, 2), b""

    # --- bulk loads ---

    def do_PrepareBulkLoad(self, _):
        with self.lock, self.tree.lock:
            self.made += 1
            token = f"{STAGING}/ann__{self.table}__{self.made}"
            self.tree.nodes[token] = self.tree.node("ann", "777")
            return data(1, ROOT + token), b""

    def do_CleanupBulkLoad(self, request):
        token = last(request, 1).decode().removeprefix(ROOT)
        with self.tree.lock:
            for path in [token, *self.tree.children(token)]:
                self.tree.nodes.pop(path, None)
        return b"", b""

    def do_BulkLoadHFile(self, request):
        name = last(fields(last(request, 1)), 2)
        files = [(last(f, 1), last(f, 2).decode().removeprefix(ROOT)) for f in map(fields, request[2])]
        with self.lock, self.tree.lock:
            region = next((r for r in self.regions if r.name == name), None)
            if not region:
                raise Refusal("hadoop.hbase.NotServingRegionException")
            found = [self.content(path) for _, path in files]
            if None in found:
                return number(1, 0), b""
            cells = [self.cells_in(content, family) for content, (family, _) in zip(found, files)]
            if not all(self.fits(region, c[0]) for of in cells for c in of):
                return number(1, 0), b""
            for family, path in files:
                self.keep(region, family, path)
            for of in cells:
                self.show(of)
            return number(1, 1), b""

    def content(self, path):
        """Returns the id of a waiting file, or None if the file does not exist."""
        node = self.tree.nodes.get(path)
        return node and node["data"]

    def keep(self, region, family, path):
        """Moves the file into the region."""
        self.made += 1
        folder = f"{self.folder(region)}/{family.decode()}"
        self.make_folders(folder)
        self.tree.nodes[f"{folder}/{self.made}"] = self.tree.nodes.pop(path)

    @staticmethod
    def fits(region, row):
        return row >= region.start and (not region.end or row < region.end)

    @classmethod
    def cells_in(cls, hfile, family):
        return [(c.row, family, c.qualifier, c.ts, c.value) for c in cls.read(hfile)]

    @staticmethod
    @functools.lru_cache(64)
    def read(hfile):
        with tempfile.NamedTemporaryFile(dir="/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None) as f:
            f.write(hfile)
            f.flush()
            return hfile_py.read(f.name)

    def show(self, cells):
        self.stored.update(cells)
        for c in cells:
            of = self.rows.setdefault(c[0], [])
            if c not in of:
                of.append(c)
                of.sort(key=lambda c: (c[1], c[2], -c[3]))
        self.keys = sorted(self.rows)


class LocalHBase(BulkHBase):
    """The root is `file://`, so the server copies files, and the originals stay."""

    def __init__(self, table, families, root):
        self.staging = root / "staging"
        super().__init__(table, families)

    def reset(self):
        super().reset()
        shutil.rmtree(self.staging, ignore_errors=True)
        self.staging.mkdir(parents=True)

    def do_PrepareBulkLoad(self, _):
        with self.lock:
            self.made += 1
            token = self.staging / f"ann__{self.table}__{self.made}"
            token.mkdir()
            return data(1, f"file://{token}"), b""

    def do_CleanupBulkLoad(self, request):
        shutil.rmtree(last(request, 1).decode().removeprefix("file://"), ignore_errors=True)
        return b"", b""

    def content(self, path):
        file = pathlib.Path(path.removeprefix("file://"))
        return file.read_bytes() if file.is_file() else None

    def keep(self, region, family, path):
        pass
