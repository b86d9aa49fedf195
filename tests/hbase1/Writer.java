/*
 * Writer.java - writes HFiles with the writer of HBase 1, each with a list of the file's cells
 *
 * HBase 1.7.2 on Java 17 made files.zip:
 *
 *   mvn -f tests/hbase1/pom.xml dependency:copy-dependencies -DoutputDirectory=LIB
 *   javac -d OUT -cp 'LIB/*' tests/hbase1/Writer.java
 *   java --add-opens java.base/java.nio=ALL-UNNAMED -cp 'OUT:LIB/*' Writer FOLDER 0 48
 *   python3 -m zipfile -c tests/hbase1/files.zip FOLDER/*
 */
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.Tag;
import org.apache.hadoop.hbase.io.compress.Compression.Algorithm;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.StoreFile;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.ChecksumType;

/**
 * Writes files FROM to before TO into FOLDER, and one file with PREFIX_TREE. File n depends on n
 * alone. The file's name contains its options. Each line of NAME.cells is a cell with row,
 * qualifier, time, type, value, mvcc and tags, where "-" means no bytes.
 *
 *   java Writer FOLDER FROM TO
 */
public final class Writer {
  private static final byte[] FAMILY = Bytes.toBytes("cf");
  private static final KeyValue.Type[] MARKERS = { KeyValue.Type.Delete, KeyValue.Type.DeleteColumn,
    KeyValue.Type.DeleteFamilyVersion, KeyValue.Type.DeleteFamily };
  private static final DataBlockEncoding[] ENCODINGS = { DataBlockEncoding.NONE, DataBlockEncoding.PREFIX,
    DataBlockEncoding.DIFF, DataBlockEncoding.FAST_DIFF };
  private static final BloomType[] BLOOMS = { BloomType.NONE, BloomType.ROW, BloomType.ROWCOL };
  private static final String[] HASHES = { "murmur", "jenkins", "murmur3" };

  private final Random random;
  private final boolean tags, packed, mvcc, small;

  private Writer(int n, boolean tagsAllowed) {
    random = new Random(n * 0x9E3779B97F4A7C15L);
    tags = random.nextBoolean() && tagsAllowed;
    packed = tags && random.nextBoolean();
    mvcc = random.nextBoolean();
    small = random.nextInt(3) > 0;
  }

  public static void main(String[] args) throws IOException {
    int to = Integer.parseInt(args[2]);
    for (int n = Integer.parseInt(args[1]); n < to; n++) {
      int version = n % 3 == 2 ? 2 : 3;
      new Writer(n, version == 3).write(args[0], n, version, ENCODINGS[n / 3 % ENCODINGS.length]);
    }
    new Writer(to, true).write(args[0], to, 3, DataBlockEncoding.PREFIX_TREE);
  }

  private void write(String folder, int n, int version, DataBlockEncoding encoding) throws IOException {
    Algorithm codec = random.nextBoolean() ? Algorithm.GZ : Algorithm.NONE;
    BloomType bloom = BLOOMS[random.nextInt(BLOOMS.length)];
    Configuration conf = HBaseConfiguration.create();
    conf.setInt("hfile.format.version", version);
    conf.set("hbase.hash.type", HASHES[random.nextInt(HASHES.length)]);
    if (small) { // several levels of the index, several bloom chunks
      conf.setInt("hfile.index.block.max.size", 40 + random.nextInt(100));
      conf.setInt("io.storefile.bloom.block.size", 64);
    }
    FileSystem disk = new RawLocalFileSystem();
    disk.initialize(disk.getUri(), conf);
    String name = String.format("%03d-v%d-%s-%s-%s%s%s%s", n, version, encoding, codec, bloom,
      packed ? "-packed" : tags ? "-tags" : "", mvcc ? "-mvcc" : "", small ? "-small" : "");
    StoreFile.Writer writer = new StoreFile.WriterBuilder(conf, new CacheConfig(conf), disk)
      .withFilePath(new Path(folder, name)).withBloomType(bloom).withMaxKeyCount(1000)
      .withFileContext(new HFileContextBuilder().withCompression(codec).withDataBlockEncoding(encoding)
        .withBlockSize(small ? 200 : 65536).withIncludesTags(tags).withCompressTags(packed).withIncludesMvcc(mvcc)
        .withChecksumType(random.nextBoolean() ? ChecksumType.CRC32C : ChecksumType.CRC32).build())
      .build();
    List<KeyValue> cells = cells();
    for (KeyValue cell : cells) {
      writer.append(cell);
    }
    writer.appendMetadata(random.nextInt(100), random.nextBoolean());
    writer.close();
    list(folder + "/" + name + ".cells", cells);
  }

  private void list(String path, List<KeyValue> cells) throws IOException {
    try (PrintWriter out = new PrintWriter(path, "US-ASCII")) {
      for (KeyValue c : cells) {
        int at = c.getTagsOffset();
        byte[] tagsOfCell = Arrays.copyOfRange(c.getTagsArray(), at, at + c.getTagsLength());
        out.println(String.join(" ", hex(c.getRow()), hex(c.getQualifier()), Long.toString(c.getTimestamp()),
          KeyValue.Type.codeToType(c.getTypeByte()).name(), hex(c.getValue()), Long.toString(c.getSequenceId()),
          hex(tagsOfCell)));
      }
    }
  }

  /** Returns cells in the order of HBase, without equal keys. */
  private List<KeyValue> cells() {
    List<KeyValue> cells = new ArrayList<>();
    for (int rows = 1 + random.nextInt(small ? 30 : 8); rows > 0; rows--) {
      byte[] row = bytes(1 + random.nextInt(6));
      for (int i = random.nextInt(4); i >= 0; i--) {
        cells.add(cell(row));
      }
    }
    cells.sort(KeyValue.COMPARATOR);
    for (int i = cells.size() - 1; i > 0; i--) {
      if (KeyValue.COMPARATOR.compareOnlyKeyPortion(cells.get(i - 1), cells.get(i)) == 0) {
        cells.remove(i);
      }
    }
    return cells;
  }

  private KeyValue cell(byte[] row) {
    boolean put = random.nextInt(6) > 0;
    KeyValue.Type type = put ? KeyValue.Type.Put : MARKERS[random.nextInt(MARKERS.length)];
    boolean family = type == KeyValue.Type.DeleteFamily || type == KeyValue.Type.DeleteFamilyVersion;
    byte[] qualifier = bytes(family ? 0 : random.nextInt(5));
    byte[] value = bytes(put ? random.nextInt(12) : 0);
    long time = random.nextBoolean() ? 1700000000000L + random.nextInt(1000) : random.nextInt(100000);
    List<Tag> list = new ArrayList<>();
    for (int i = tags ? random.nextInt(3) : 0; i > 0; i--) {
      list.add(new Tag((byte) (64 + random.nextInt(3)), bytes(random.nextInt(3))));
    }
    KeyValue cell = new KeyValue(row, FAMILY, qualifier, time, type, value, list);
    if (mvcc && random.nextBoolean()) {
      cell.setSequenceId(random.nextInt(70000));
    }
    return cell;
  }

  private byte[] bytes(int n) {
    byte[] bytes = new byte[n];
    for (int i = 0; i < n; i++) {
      bytes[i] = (byte) (random.nextInt(8) > 0 ? 'a' + random.nextInt(3) : random.nextInt(256));
    }
    return bytes;
  }

  private static String hex(byte[] bytes) {
    return bytes.length == 0 ? "-" : Bytes.toHex(bytes);
  }
}
