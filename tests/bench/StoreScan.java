package org.apache.hadoop.hbase.regionserver;

import java.io.File;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellComparator;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.KeepDeletedCells;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;

/**
 * Scans all rows with HBase's own StoreScanner, as a region server scans the files of each region.
 * The scan merges cells and applies versions, deletes and TTL. The files are those of one load,
 * with one file for each region. Prints a line of JSON for each round, with rows, cells and CPU
 * seconds of this thread. The first rounds are slow, because Java compiles the code.
 *
 *   java StoreScan ROUNDS FAMILY VERSIONS TTL_MS HFILE...
 */
public final class StoreScan {
  private final Configuration conf = HBaseConfiguration.create();
  private final FileSystem fs;
  private final ScanInfo family;
  private long rows, cells;

  private StoreScan(String name, int versions, long ttl) throws Exception {
    fs = FileSystem.getLocal(conf).getRaw();
    family = new ScanInfo(conf, name.getBytes(), 0, versions, ttl, KeepDeletedCells.FALSE, 65536, 0,
      CellComparator.getInstance(), false);
  }

  private void scan(File file) throws Exception {
    StoreFileInfo info = new StoreFileInfo(conf, fs, file.lastModified(), new Path(file.getPath()),
      file.length(), null, null, true);
    HStoreFile store = new HStoreFile(info, BloomType.ROW, CacheConfig.DISABLED);
    store.initReader();
    List<StoreFileScanner> files = StoreFileScanner.getScannersForStoreFiles(List.of(store), false,
      false, false, false, Long.MAX_VALUE);
    try (StoreScanner scanner = new StoreScanner(new Scan(), family, null, files)) {
      List<Cell> row = new ArrayList<>();
      boolean more = true;
      while (more) {
        row.clear();
        more = scanner.next(row, ScannerContext.newBuilder().build());
        rows += row.isEmpty() ? 0 : 1;
        cells += row.size();
      }
    }
    store.closeStoreFile(true);
  }

  public static void main(String[] args) throws Exception {
    var threads = ManagementFactory.getThreadMXBean();
    for (int round = 0; round < Integer.parseInt(args[0]); round++) {
      StoreScan s = new StoreScan(args[1], Integer.parseInt(args[2]), Long.parseLong(args[3]));
      long start = threads.getCurrentThreadCpuTime();
      for (int i = 4; i < args.length; i++) {
        s.scan(new File(args[i]).getAbsoluteFile());
      }
      System.out.printf("{\"rows\": %d, \"cells\": %d, \"cpu\": %.3f}%n", s.rows, s.cells,
        (threads.getCurrentThreadCpuTime() - start) / 1e9);
    }
    System.exit(0);
  }
}
