import java.io.BufferedReader;
import java.io.DataOutputStream;
import java.io.File;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.security.MessageDigest;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HRegionLocation;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.*;
import org.apache.hadoop.hbase.security.access.AccessControlClient;
import org.apache.hadoop.hbase.security.access.Permission;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.security.Credentials;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.token.Token;

/** HBase's own client, logged in with a keytab: reads a command per line, answers "ok ..." or "failed ...". */
public class Admin {
  private static Permission.Action[] actions(String letters) {
    return letters.chars().mapToObj(c -> c == 'R' ? Permission.Action.READ : c == 'W' ? Permission.Action.WRITE
        : c == 'C' ? Permission.Action.CREATE : Permission.Action.ADMIN).toArray(Permission.Action[]::new);
  }

  private static String grant(Connection c, String user, String where, String letters) throws Throwable {
    if (where.startsWith("@")) AccessControlClient.grant(c, where.substring(1), user, actions(letters));
    else AccessControlClient.grant(c, TableName.valueOf(where), user, null, null, actions(letters));
    return "";
  }

  /** The rows, the cells, and the XOR of the SHA-256 of row, family:qualifier, timestamp and value. */
  private static String digest(Connection c, String table) throws Exception {
    long rows = 0, cells = 0;
    byte[] sum = new byte[32];
    MessageDigest sha = MessageDigest.getInstance("SHA-256");
    try (Table t = c.getTable(TableName.valueOf(table)); ResultScanner all = t.getScanner(new Scan().readAllVersions())) {
      for (Result r : all) {
        rows++;
        for (Cell cell : r.rawCells()) {
          cells++;
          sha.update(CellUtil.cloneRow(cell));
          sha.update(CellUtil.cloneFamily(cell));
          sha.update((byte) ':');
          sha.update(CellUtil.cloneQualifier(cell));
          sha.update((" " + cell.getTimestamp() + " ").getBytes());
          byte[] d = sha.digest(CellUtil.cloneValue(cell));
          for (int i = 0; i < d.length; i++) sum[i] ^= d[i];
        }
      }
    }
    StringBuilder hex = new StringBuilder();
    for (byte b : sum) hex.append(String.format("%02x", b));
    return rows + " " + cells + " " + hex;
  }

  /** Reads a credentials file as Hadoop does, writes it again in a form, and lists kind, service and user of its tokens. */
  private static String credentials(Configuration conf, String from, String to, String form) throws Exception {
    Credentials all = Credentials.readTokenStorageFile(new File(from), conf);
    try (DataOutputStream out = new DataOutputStream(new FileOutputStream(to))) {
      all.writeTokenStorageToStream(out, Credentials.SerializedFormat.valueOf(form));
    }
    StringBuilder text = new StringBuilder();
    for (Token<?> t : all.getAllTokens())
      text.append(t.getKind() + " " + t.getService() + " " + t.decodeIdentifier().getUser().getUserName() + " ");
    return text.toString();
  }

  /** The names and start keys of the regions, in order. */
  private static String regions(Connection c, String table) throws Exception {
    StringBuilder text = new StringBuilder();
    try (RegionLocator l = c.getRegionLocator(TableName.valueOf(table))) {
      for (HRegionLocation r : l.getAllRegionLocations())
        text.append(r.getRegion().getEncodedName() + ":" + Bytes.toHex(r.getRegion().getStartKey()) + " ");
    }
    return text.toString();
  }

  private static String put(Connection c, String table, String row, String column, String ms, String value) throws Exception {
    String[] name = column.split(":");
    try (Table t = c.getTable(TableName.valueOf(table))) {
      t.put(new Put(Bytes.fromHex(row)).addColumn(name[0].getBytes(), name[1].getBytes(), Long.parseLong(ms), value.getBytes()));
    }
    return "";
  }

  private static String tracked(Connection c, String table, String family) throws Exception {
    try (org.apache.hadoop.hbase.client.Admin a = c.getAdmin()) {
      a.createTable(TableDescriptorBuilder.newBuilder(TableName.valueOf(table))
          .setColumnFamily(ColumnFamilyDescriptorBuilder.of(family))
          .setValue("hbase.store.file-tracker.impl", "FILE").build());
    }
    return "";
  }

  public static void main(String[] args) throws Exception {
    Configuration conf = HBaseConfiguration.create();
    UserGroupInformation.setConfiguration(conf);
    UserGroupInformation.loginUserFromKeytab(args[0], args[1]);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    try (Connection c = ConnectionFactory.createConnection(conf)) {
      for (String line; (line = in.readLine()) != null;) {
        String[] w = line.split(" ");
        try {
          String answer = w[0].equals("grant") ? grant(c, w[1], w[2], w[3])
              : w[0].equals("digest") ? digest(c, w[1])
              : w[0].equals("regions") ? regions(c, w[1])
              : w[0].equals("put") ? put(c, w[1], w[2], w[3], w[4], w[5])
              : w[0].equals("credentials") ? credentials(conf, w[1], w[2], w[3]) : tracked(c, w[1], w[2]);
          System.out.println("ok " + answer);
        } catch (Throwable e) {
          e.printStackTrace();
          System.out.println("failed " + e.toString().replace('\n', ' '));
        }
        System.out.flush();
      }
    }
    System.exit(0);
  }
}
