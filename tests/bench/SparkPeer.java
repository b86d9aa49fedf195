import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.function.Supplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.io.ImmutableBytesWritable;
import org.apache.hadoop.hbase.spark.FamilyHFileWriteOptions;
import org.apache.hadoop.hbase.spark.HBaseContext;
import org.apache.hadoop.hbase.spark.KeyFamilyQualifier;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.input.TextInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.spark.Partitioner;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;
import scala.collection.JavaConverters;
import scala.runtime.AbstractFunction1;

/**
 * Two Spark programs that write the rows, keys and cells of SaltedLoad to HFiles, without a server.
 *
 * lean: one small value a row through repartitionAndSortWithinPartitions, both cells made behind it, and
 * HFileOutputFormat2: the fastest form of such a job that we know.  connector: HBaseContext.bulkLoad of
 * org.apache.hbase.connectors.spark, the real artifact; OfflineConnection describes the table to it.
 */
public final class SparkPeer {
  private SparkPeer() {}

  static final class Line extends SaltedLoad.LineMapper<Object> {}

  /** Iterates over the results of `next` until one is null. */
  static final class Until<T> implements Iterator<T> {
    private final Supplier<T> source;
    private T ahead;

    Until(Supplier<T> source) {
      this.source = source;
      ahead = source.get();
    }

    @Override
    public boolean hasNext() {
      return ahead != null;
    }

    @Override
    public T next() {
      if (ahead == null) throw new NoSuchElementException();
      T now = ahead;
      ahead = source.get();
      return now;
    }
  }

  /** Divides the input as MapReduce would. */
  private static JavaPairRDD<LongWritable, Text> lines(JavaSparkContext sc, String csv, int splits)
    throws IOException {
    Configuration conf = new Configuration(sc.hadoopConfiguration());
    conf.setLong(FileInputFormat.SPLIT_MAXSIZE, Files.size(Path.of(csv)) / splits + 1);
    return sc.newAPIHadoopFile("file:" + csv, TextInputFormat.class, LongWritable.class, Text.class,
      conf);
  }

  private static boolean parse(Line line, Tuple2<LongWritable, Text> of) {
    try {
      return line.parse(of._1, of._2);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  // --- lean ---

  static final class BySalt extends Partitioner {
    @Override
    public int numPartitions() {
      return SaltedLoad.BUCKETS;
    }

    @Override
    public int getPartition(Object key) {
      return ((byte[]) key)[0];
    }
  }

  interface Order extends java.util.Comparator<byte[]>, Serializable {}

  /** Returns the row key, and "movieId,rating". */
  private static Iterator<Tuple2<byte[], byte[]>> rows(Iterator<Tuple2<LongWritable, Text>> in) {
    Line line = new Line();
    return new Until<>(() -> {
      while (in.hasNext())
        if (parse(line, in.next()))
          return new Tuple2<>(line.row.clone(), Arrays.copyOfRange(line.buf, line.movieAt,
            line.ratingAt + line.ratingLen));
      return null;
    });
  }

  /** Makes both cells of each row. If several rows have one key, the first row counts. */
  private static Iterator<Tuple2<ImmutableBytesWritable, KeyValue>>
    cells(Iterator<Tuple2<byte[], byte[]>> in) {
    ArrayDeque<Tuple2<ImmutableBytesWritable, KeyValue>> made = new ArrayDeque<>();
    byte[][] last = { new byte[0] };
    return new Until<>(() -> {
      while (made.isEmpty() && in.hasNext()) {
        Tuple2<byte[], byte[]> r = in.next();
        byte[] row = r._1, v = r._2;
        if (Arrays.equals(row, last[0])) continue;
        last[0] = row;
        Deaths.row();
        int comma = 0;
        while (v[comma] != ',') comma++;
        long ts = Long.MAX_VALUE - Bytes.toLong(row, 9);
        ImmutableBytesWritable key = new ImmutableBytesWritable(row);
        made.add(new Tuple2<>(key, SaltedLoad.cell(row, 0, SaltedLoad.MOVIE, ts, v, 0, comma)));
        made.add(new Tuple2<>(key,
          SaltedLoad.cell(row, 0, SaltedLoad.RATING, ts, v, comma + 1, v.length - comma - 1)));
      }
      return made.poll();
    });
  }

  public static void lean(JavaSparkContext sc, String csv, String out, String tmp, int splits)
    throws IOException {
    Job job = Job.getInstance(HBaseConfiguration.create(sc.hadoopConfiguration()));
    job.getConfiguration().set("hbase.fs.tmp.dir", tmp);
    job.setMapOutputKeyClass(ImmutableBytesWritable.class);
    job.setMapOutputValueClass(KeyValue.class);
    FileOutputFormat.setOutputPath(job, new org.apache.hadoop.fs.Path("file:" + out));
    SaltedLoad.describe(job);
    Order order = Arrays::compareUnsigned;
    lines(sc, csv, splits).mapPartitionsToPair(SparkPeer::rows)
      .repartitionAndSortWithinPartitions(new BySalt(), order)
      .mapPartitionsToPair(SparkPeer::cells).saveAsNewAPIHadoopDataset(job.getConfiguration());
  }

  // --- connector ---

  /** Returns a line's cells in the form that HBaseContext.bulkLoad needs. */
  static final class Cells extends
    AbstractFunction1<Tuple2<LongWritable, Text>, scala.collection.Iterator<Tuple2<KeyFamilyQualifier, byte[]>>>
    implements Serializable {
    private static final long serialVersionUID = 1;
    private transient Line line;

    @Override
    public scala.collection.Iterator<Tuple2<KeyFamilyQualifier, byte[]>>
      apply(Tuple2<LongWritable, Text> of) {
      if (line == null) line = new Line();
      if (!parse(line, of))
        return JavaConverters.asScalaIterator(java.util.Collections.emptyIterator());
      byte[] row = line.row.clone(), b = line.buf;
      return JavaConverters.asScalaIterator(Arrays.asList(
        new Tuple2<>(new KeyFamilyQualifier(row, SaltedLoad.FAMILY, SaltedLoad.MOVIE),
          Arrays.copyOfRange(b, line.movieAt, line.movieAt + line.movieLen)),
        new Tuple2<>(new KeyFamilyQualifier(row, SaltedLoad.FAMILY, SaltedLoad.RATING),
          Arrays.copyOfRange(b, line.ratingAt, line.ratingAt + line.ratingLen))).iterator());
    }
  }

  /**
   * largest: bytes of cells after which it begins another file, as HBase's own
   * hbase.hregion.max.filesize.
   */
  public static void connector(JavaSparkContext sc, String csv, String out, int splits, long largest)
    throws IOException {
    Configuration conf = HBaseConfiguration.create(sc.hadoopConfiguration());
    conf.set("hbase.client.connection.impl", OfflineConnection.class.getName());
    Map<byte[], FamilyHFileWriteOptions> families = new HashMap<>();
    families.put(SaltedLoad.FAMILY, new FamilyHFileWriteOptions("ZSTD", "ROW", 65536, "NONE"));
    new HBaseContext(sc.sc(), conf, null).bulkLoad(lines(sc, csv, splits).rdd(),
      TableName.valueOf("ratings"), new Cells(), "file:" + out, families, false, largest,
      System.currentTimeMillis());
  }

  // --- deaths ---

  /**
   * Ends an executor at once, in its first task that has advanced far enough, if the file
   * -Dpeer.death exists.
   */
  static final class Deaths {
    private static final String MARK = System.getProperty("peer.death", "");
    private static final ThreadLocal<long[]> COUNTS = ThreadLocal.withInitial(() -> new long[2]);

    private Deaths() {}

    private static void after(int n) {
      if (MARK.isEmpty()) return;
      long[] count = COUNTS.get(); // the attempt, and the number of rows
      long attempt = TaskContext.get().taskAttemptId();
      count[1] = count[0] == attempt ? count[1] + 1 : 1;
      count[0] = attempt;
      if (count[1] != n) return;
      try {
        Path done = Path.of(MARK + ".done");
        Files.move(Path.of(MARK), done, StandardCopyOption.ATOMIC_MOVE);
        Files.writeString(done, Long.toString(ProcessHandle.current().pid()));
        Runtime.getRuntime().halt(137);
      } catch (IOException e) {
        return; // no executor must die, or another executor has taken the file
      }
    }

    static void row() {
      after(20_000);
    }

    static void file() {
      after(3);
    }
  }
}
