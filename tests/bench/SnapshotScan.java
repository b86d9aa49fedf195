import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.TableSnapshotScanner;

/**
 * Scans a snapshot with HBase's own TableSnapshotScanner, without servers. Prints a line of JSON for
 * each round, with rows, cells, seconds and CPU seconds of the process. The first rounds are slow,
 * because Java compiles the code.
 *
 *   java SnapshotScan ROUNDS ROOT SNAPSHOT RESTORE_FOLDER
 */
public final class SnapshotScan {
  private SnapshotScan() {}

  public static void main(String[] args) throws Exception {
    Configuration conf = HBaseConfiguration.create();
    Path root = new Path(args[1]);
    conf.set(HConstants.HBASE_DIR, args[1]);
    var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    conf.set("fs.defaultFS", root.toUri().getScheme() + ":///");
    for (int round = 0; round < Integer.parseInt(args[0]); round++) {
      long rows = 0, cells = 0, began = System.nanoTime(), cpu = system.getProcessCpuTime();
      Path restore = new Path(args[3], UUID.randomUUID().toString());
      try (TableSnapshotScanner scanner = new TableSnapshotScanner(conf, root, restore, args[2],
        new Scan().setCacheBlocks(false))) {
        for (Result r; (r = scanner.next()) != null; rows++) {
          cells += r.size();
        }
      }
      System.out.printf("{\"rows\": %d, \"cells\": %d, \"seconds\": %.3f, \"cpu\": %.3f}%n",
        rows, cells, (System.nanoTime() - began) / 1e9, (system.getProcessCpuTime() - cpu) / 1e9);
    }
    System.exit(0);
  }
}
