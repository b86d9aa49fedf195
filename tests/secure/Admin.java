import java.io.BufferedReader;
import java.io.DataOutputStream;
import java.io.File;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.security.Key;
import java.security.MessageDigest;
import javax.crypto.Mac;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HRegionLocation;
import org.apache.hadoop.hbase.RegionMetrics;
import org.apache.hadoop.hbase.ServerMetrics;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.*;
import org.apache.hadoop.hbase.security.User;
import org.apache.hadoop.hbase.security.access.AccessControlClient;
import org.apache.hadoop.hbase.security.access.Permission;
import org.apache.hadoop.hbase.security.token.AuthenticationKey;
import org.apache.hadoop.hbase.security.token.AuthenticationTokenIdentifier;
import org.apache.hadoop.hbase.security.visibility.Authorizations;
import org.apache.hadoop.hbase.security.visibility.VisibilityClient;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.Writables;
import org.apache.hadoop.hbase.zookeeper.ZKUtil;
import org.apache.hadoop.hbase.zookeeper.ZKWatcher;
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

  /** Signs a token of HBase with another end, in seconds from now, by the servers' key, which is in ZooKeeper. */
  private static String until(Configuration conf, String from, String to, String seconds) throws Exception {
    Credentials all = Credentials.readTokenStorageFile(new File(from), conf), signed = new Credentials();
    for (Token<?> t : all.getAllTokens()) {
      if (!(t.decodeIdentifier() instanceof AuthenticationTokenIdentifier)) continue;
      AuthenticationTokenIdentifier id = (AuthenticationTokenIdentifier) t.decodeIdentifier();
      Method end = id.getClass().getDeclaredMethod("setExpirationDate", long.class), secret = AuthenticationKey.class.getDeclaredMethod("getKey");
      end.setAccessible(true);
      secret.setAccessible(true);
      end.invoke(id, System.currentTimeMillis() + 1000 * Long.parseLong(seconds));
      AuthenticationKey key = new AuthenticationKey();
      try (ZKWatcher zk = new ZKWatcher(conf, "until", null)) {
        Writables.getWritable(ZKUtil.getData(zk, "/hbase/tokenauth/keys/" + id.getKeyId()), key);
      }
      Mac mac = Mac.getInstance("HmacSHA1");
      mac.init((Key) secret.invoke(key));
      signed.addToken(t.getService(), new Token<>(id.getBytes(), mac.doFinal(id.getBytes()), t.getKind(), t.getService()));
    }
    signed.writeTokenStorageFile(new Path(new File(to).toURI()), conf);
    return "";
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

  /** Waits until the master knows the requests of each region of the table, which its server counts. */
  private static String reported(Connection c, String table) throws Exception {
    TableName name = TableName.valueOf(table);
    try (org.apache.hadoop.hbase.client.Admin a = c.getAdmin()) {
      for (int tries = 0; tries < 600; tries++, Thread.sleep(100)) {
        boolean same = true;
        for (ServerMetrics s : a.getClusterMetrics().getLiveServerMetrics().values())
          for (RegionMetrics r : a.getRegionMetrics(s.getServerName(), name)) {
            RegionMetrics known = s.getRegionMetrics().get(r.getRegionName());
            same &= known != null && known.getRequestCount() == r.getRequestCount();
          }
        if (same) return "";
      }
    }
    throw new java.io.IOException("the master does not know the requests of " + table);
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

  /** Scans the table as a user with a keytab and labels, "-" for none. Returns the qualifiers of the cells. */
  private static String seen(Configuration conf, String user, String keytab, String table, String labels) throws Exception {
    User who = User.create(UserGroupInformation.loginUserFromKeytabAndReturnUGI(user, keytab));
    Scan scan = new Scan().setAuthorizations(new Authorizations(labels.equals("-") ? new String[0] : labels.split(",")));
    StringBuilder text = new StringBuilder();
    try (Connection c = ConnectionFactory.createConnection(conf, who); Table t = c.getTable(TableName.valueOf(table));
      ResultScanner all = t.getScanner(scan)) {
      for (Result r : all) for (Cell cell : r.rawCells()) text.append(Bytes.toString(CellUtil.cloneQualifier(cell)) + " ");
    }
    return text.toString();
  }

  /** Adds labels, which the user may then have. Returns NAME=NUMBER of each label of the cluster. */
  private static String labels(Connection c, String user, String labels) throws Throwable {
    VisibilityClient.addLabels(c, labels.split(","));
    VisibilityClient.setAuths(c, labels.split(","), user);
    StringBuilder text = new StringBuilder();
    Scan names = new Scan().addColumn(Bytes.toBytes("f"), new byte[1]); // VisibilityConstants.LABEL_QUALIFIER
    try (Table t = c.getTable(TableName.valueOf("hbase:labels")); ResultScanner all = t.getScanner(names)) {
      for (Result r : all) text.append(Bytes.toString(r.value()) + "=" + Bytes.toInt(r.getRow()) + " ");
    }
    return text.toString();
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
              : w[0].equals("labels") ? labels(c, w[1], w[2])
              : w[0].equals("seen") ? seen(conf, w[1], w[2], w[3], w[4])
              : w[0].equals("until") ? until(conf, w[1], w[2], w[3])
              : w[0].equals("reported") ? reported(c, w[1])
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
