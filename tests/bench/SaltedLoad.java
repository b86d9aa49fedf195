import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.ImmutableBytesWritable;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.mapreduce.HFileOutputFormat2;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.MapReduceExtendedCell;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.util.Tool;
import org.apache.hadoop.util.ToolRunner;

/**
 * SaltedLoad CSV OUT does the work of conf/ratings.yaml in HBase's own way. It is a MapReduce job
 * that sorts by row key and writes with HFileOutputFormat2, without a connection to a server.
 *
 * It writes the same rows and cells as conf/ratings.yaml: salt, userId (8 bytes), reversed ms (8),
 * movieId (4); f:m and f:r at the rating's time. Only the salt differs, which is
 * abs(Arrays.hashCode % 16).
 *
 * The job has two forms. By default, one small value for each row goes through the shuffle, and the
 * reducer makes both cells. This is the fastest form of such a job that we know. With -Dcells=true,
 * the job sends one KeyValue for each cell to CellSortReducer, as in the reference guide.
 */
public class SaltedLoad extends Configured implements Tool {
  static final int BUCKETS = 16;
  static final int ROW = 21;
  static final byte[] FAMILY = Bytes.toBytes("f");
  static final byte[] MOVIE = Bytes.toBytes("m");
  static final byte[] RATING = Bytes.toBytes("r");

  /** Parses a line's key, timestamp and two spans without creating a String. */
  abstract static class LineMapper<V>
    extends Mapper<LongWritable, Text, ImmutableBytesWritable, V> {
    final byte[] row = new byte[ROW];
    final byte[] entity = new byte[8];
    final ImmutableBytesWritable key = new ImmutableBytesWritable(row);
    byte[] buf;
    int movieAt, movieLen, ratingAt, ratingLen;
    long tsMs;

    private static int comma(byte[] b, int from, int end) {
      while (from < end && b[from] != ',') from++;
      return from;
    }

    private static long number(byte[] b, int from, int to) throws IOException {
      long n = 0;
      for (int i = from; i < to; i++) {
        int d = b[i] - '0';
        if (d < 0 || d > 9) throw new IOException("no number: " + new String(b, from, to - from));
        n = n * 10 + d;
      }
      return n;
    }

    /** Returns false for the header. */
    boolean parse(LongWritable at, Text line) throws IOException {
      buf = line.getBytes();
      int end = line.getLength();
      if (at.get() == 0) return false;
      int a = comma(buf, 0, end), b = comma(buf, a + 1, end), c = comma(buf, b + 1, end);
      if (c >= end) throw new IOException("too few columns: " + line);
      tsMs = number(buf, c + 1, end) * 1000;
      Bytes.putLong(entity, 0, number(buf, 0, a));
      row[0] = (byte) Math.abs(Arrays.hashCode(entity) % BUCKETS);
      System.arraycopy(entity, 0, row, 1, 8);
      Bytes.putLong(row, 9, Long.MAX_VALUE - tsMs);
      Bytes.putInt(row, 17, (int) number(buf, a + 1, b));
      movieAt = a + 1;
      movieLen = b - a - 1;
      ratingAt = b + 1;
      ratingLen = c - b - 1;
      return true;
    }
  }

  static KeyValue cell(byte[] row, int at, byte[] qualifier, long ts, byte[] v, int from, int len) {
    return new KeyValue(row, at, ROW, FAMILY, 0, 1, qualifier, 0, 1, ts, KeyValue.Type.Put, v,
      from, len);
  }

  public static class CellMapper extends LineMapper<KeyValue> {
    @Override
    protected void map(LongWritable at, Text line, Context ctx)
      throws IOException, InterruptedException {
      if (!parse(at, line)) return;
      ctx.write(key, cell(row, 0, MOVIE, tsMs, buf, movieAt, movieLen));
      ctx.write(key, cell(row, 0, RATING, tsMs, buf, ratingAt, ratingLen));
    }
  }

  public static class RowMapper extends LineMapper<BytesWritable> {
    final BytesWritable out = new BytesWritable();

    @Override
    protected void map(LongWritable at, Text line, Context ctx)
      throws IOException, InterruptedException {
      if (!parse(at, line)) return;
      out.set(buf, movieAt, movieLen + 1 + ratingLen); // "movieId,rating"
      ctx.write(key, out);
    }
  }

  public static class RowReducer
    extends Reducer<ImmutableBytesWritable, BytesWritable, ImmutableBytesWritable, KeyValue> {
    @Override
    protected void reduce(ImmutableBytesWritable key, Iterable<BytesWritable> values, Context ctx)
      throws IOException, InterruptedException {
      BytesWritable v = values.iterator().next();
      byte[] b = v.getBytes(), row = key.get();
      int comma = 0, at = key.getOffset();
      while (b[comma] != ',') comma++;
      long ts = Long.MAX_VALUE - Bytes.toLong(row, at + 9);
      ctx.write(key, cell(row, at, MOVIE, ts, b, 0, comma));
      ctx.write(key, cell(row, at, RATING, ts, b, comma + 1, v.getLength() - comma - 1));
    }
  }

  static byte[][] startKeys() {
    byte[][] keys = new byte[BUCKETS][];
    keys[0] = new byte[0];
    for (int i = 1; i < BUCKETS; i++) keys[i] = new byte[] { (byte) i };
    return keys;
  }

  /** Makes the description of the table's regions that a connection would return. */
  static RegionLocator regions(TableName name) {
    return (RegionLocator) Proxy.newProxyInstance(SaltedLoad.class.getClassLoader(),
      new Class<?>[] { RegionLocator.class },
      (proxy, method, args) -> method.getName().equals("getStartKeys") ? startKeys()
        : method.getName().equals("getName") ? name : null);
  }

  static void describe(Job job) throws IOException {
    TableName name = TableName.valueOf("ratings");
    TableDescriptor table = TableDescriptorBuilder.newBuilder(name)
      .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(FAMILY)
        .setCompressionType(Compression.Algorithm.ZSTD).setBloomFilterType(BloomType.ROW).build())
      .build();
    // otherwise each writer asks a server for the address of its region
    job.getConfiguration().setBoolean(HFileOutputFormat2.LOCALITY_SENSITIVE_CONF_KEY, false);
    HFileOutputFormat2.configureIncrementalLoad(job, table, regions(name));
  }

  @Override
  public int run(String[] args) throws Exception {
    Job job = Job.getInstance(getConf(), "SaltedLoad");
    boolean cells = getConf().getBoolean("cells", false);
    job.setJarByClass(SaltedLoad.class);
    job.setMapperClass(cells ? CellMapper.class : RowMapper.class);
    job.setMapOutputKeyClass(ImmutableBytesWritable.class);
    // with KeyValue as map output, configureIncrementalLoad chooses CellSortReducer
    job.setMapOutputValueClass(cells ? KeyValue.class : BytesWritable.class);
    FileInputFormat.addInputPath(job, new Path(args[0]));
    FileOutputFormat.setOutputPath(job, new Path(args[1]));
    describe(job);
    if (!cells) { // a reducer that configureIncrementalLoad does not know is set after it
      job.setReducerClass(RowReducer.class);
      job.setOutputValueClass(MapReduceExtendedCell.class);
    }
    return job.waitForCompletion(true) ? 0 : 1;
  }

  public static void main(String[] args) throws Exception {
    System.exit(ToolRunner.run(HBaseConfiguration.create(), new SaltedLoad(), args));
  }
}
