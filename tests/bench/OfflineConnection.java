import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.BufferedMutatorParams;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.client.TableBuilder;
import org.apache.hadoop.hbase.security.User;

/** A connection without a server. It knows the regions of the table, but no server addresses. */
public final class OfflineConnection implements Connection {
  private final Configuration conf;

  /** ConnectionFactory creates it through hbase.client.connection.impl. */
  public OfflineConnection(Configuration conf, ExecutorService pool, User user,
    Map<String, byte[]> attributes) {
    this.conf = conf;
  }

  @Override
  public Configuration getConfiguration() {
    return conf;
  }

  @Override
  public RegionLocator getRegionLocator(TableName name) {
    RegionLocator regions = SaltedLoad.regions(name);
    return (RegionLocator) Proxy.newProxyInstance(getClass().getClassLoader(),
      new Class<?>[] { RegionLocator.class }, (proxy, method, args) -> {
        if (method.getName().equals("getRegionLocation")) SparkPeer.Deaths.file(); // for each new file
        return method.invoke(regions, args);
      });
  }

  @Override
  public BufferedMutator getBufferedMutator(TableName name) {
    throw new UnsupportedOperationException();
  }

  @Override
  public BufferedMutator getBufferedMutator(BufferedMutatorParams params) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void clearRegionLocationCache() {}

  @Override
  public Admin getAdmin() {
    throw new UnsupportedOperationException();
  }

  @Override
  public TableBuilder getTableBuilder(TableName name, ExecutorService pool) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {}

  @Override
  public boolean isClosed() {
    return false;
  }

  @Override
  public void abort(String why, Throwable e) {}

  @Override
  public boolean isAborted() {
    return false;
  }
}
