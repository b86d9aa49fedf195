package org.apache.hadoop.hbase.regionserver;

import java.io.File;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellComparator;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.KeepDeletedCells;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Gets random rows with HBase's own StoreScanner from its block cache. A scan of the files of one load fills the cache, and
 * an eighth of the rows, chosen by their keys, is asked in random order. Prints a line of JSON for each round, with gets,
 * cells and microseconds of this thread's CPU for each get. A get that misses the cache ends the program.
 *
 *   java StoreGet ROUNDS FAMILY HFILE...
 */
public final class StoreGet {
  private final Configuration conf = HBaseConfiguration.create();
  private final FileSystem fs = FileSystem.getLocal(conf).getRaw();
  private final CacheConfig cache = new CacheConfig(conf, BlockCacheFactory.createBlockCache(conf));
  private final ScanInfo family;
  private final TreeMap<byte[], HStoreFile> asked = new TreeMap<>(Bytes.BYTES_COMPARATOR);

  private StoreGet(String name) throws Exception {
    family = new ScanInfo(conf, name.getBytes(), 0, 1, Long.MAX_VALUE, KeepDeletedCells.FALSE, 65536, 0,
      CellComparator.getInstance(), false);
  }

  private StoreScanner open(HStoreFile store, Scan scan) throws Exception {
    return new StoreScanner(scan, family, null, StoreFileScanner.getScannersForStoreFiles(List.of(store), true, true,
      false, false, Long.MAX_VALUE));
  }

  private void fill(File file) throws Exception {
    HStoreFile store = new HStoreFile(new StoreFileInfo(conf, fs, file.lastModified(), new Path(file.getPath()),
      file.length(), null, null, true), BloomType.ROW, cache);
    store.initReader();
    try (StoreScanner scanner = open(store, new Scan())) {
      List<Cell> row = new ArrayList<>();
      boolean more = true;
      while (more) {
        row.clear();
        more = scanner.next(row, ScannerContext.newBuilder().build());
        byte[] key = row.isEmpty() ? new byte[0] : CellUtil.cloneRow(row.get(0));
        if (Bytes.hashCode(key) % 8 == 5) {
          asked.put(key, store);
        }
      }
    }
  }

  private long get(byte[] key) throws Exception {
    List<Cell> row = new ArrayList<>();
    try (StoreScanner scanner = open(asked.get(key), new Scan(new Get(key)))) {
      scanner.next(row, ScannerContext.newBuilder().build());
    }
    return row.size();
  }

  public static void main(String[] args) throws Exception {
    StoreGet s = new StoreGet(args[1]);
    for (int i = 2; i < args.length; i++) {
      s.fill(new File(args[i]).getAbsoluteFile());
    }
    List<byte[]> keys = new ArrayList<>(s.asked.keySet());
    Collections.shuffle(keys, new Random(29));
    var stats = s.cache.getBlockCache().get().getStats();
    long missed = stats.getMissCount();
    var threads = ManagementFactory.getThreadMXBean();
    for (int round = 0; round < Integer.parseInt(args[0]); round++) {
      long cells = 0, start = threads.getCurrentThreadCpuTime();
      for (byte[] key : keys) {
        cells += s.get(key);
      }
      System.out.printf("{\"gets\": %d, \"cells\": %d, \"us\": %.3f}%n", keys.size(), cells,
        (threads.getCurrentThreadCpuTime() - start) / 1e3 / keys.size());
    }
    System.exit(stats.getMissCount() == missed ? 0 : 1);
  }
}
