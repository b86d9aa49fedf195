/*
 * Campaign.java - writes random HFiles with the writer of HBase 2.6, and reads HFiles with its reader
 *
 *   javac -d OUT -cp 'LIB/*' tests/hbase2/Campaign.java
 *   java -cp 'OUT:LIB/*' Campaign write FOLDER FROM TO
 *   java -cp 'OUT:LIB/*' Campaign read FOLDER
 *
 * `write` writes files FROM to before TO. File n depends on n alone, except for the IVs of encryption. The file's name
 * contains its options, and NAME.cells has its cells. FOLDER also gets the master keys, in HBase's keystore and as hex
 * digits, and the dictionary of ZSTD. `read` writes NAME.read with the cells that HBase reads. Each line is a cell with
 * row, qualifier, time, type, value, mvcc and tags, where "-" means no bytes.
 *
 * tests/random_hfiles.py uses this class. HBase 2.6.4 on Java 17 made random.zip with it: the LZ4 files with this source,
 * and the others before it had LZ4, which changed the numbers. LZ4 is Hadoop's codec, as in HBase, and needs lz4-java.
 */
import com.github.luben.zstd.ZstdDictTrainer;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import javax.crypto.spec.SecretKeySpec;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.hbase.ArrayBackedTag;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellComparator;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.Tag;
import org.apache.hadoop.hbase.io.compress.Compression.Algorithm;
import org.apache.hadoop.hbase.io.crypto.Encryption;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.io.hfile.HFileScanner;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.StoreFileWriter;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.ChecksumType;

/** Writes random files, or reads files. */
public final class Campaign {
  private static final byte[] FAMILY = Bytes.toBytes("cf");
  private static final Configuration BASE = HBaseConfiguration.create();
  private static final String PASSWORD = "saltmill";
  private static final String[] MASTERS = { "hbase", "older" };
  private static final KeyValue.Type[] MARKERS = { KeyValue.Type.Delete, KeyValue.Type.DeleteColumn,
    KeyValue.Type.DeleteFamilyVersion, KeyValue.Type.DeleteFamily };
  private static final DataBlockEncoding[] ENCODINGS = { DataBlockEncoding.NONE, DataBlockEncoding.PREFIX,
    DataBlockEncoding.DIFF, DataBlockEncoding.FAST_DIFF, DataBlockEncoding.ROW_INDEX_V1 };
  private static final Algorithm[] CODECS = { Algorithm.NONE, Algorithm.GZ, Algorithm.SNAPPY, Algorithm.ZSTD,
    Algorithm.LZ4 };
  private static final BloomType[] BLOOMS = { BloomType.NONE, BloomType.ROW, BloomType.ROWCOL,
    BloomType.ROWPREFIX_FIXED_LENGTH };
  private static final String[] HASHES = { "murmur", "jenkins", "murmur3" };
  private static final String[] DIGESTS = { "MD5", "SHA-256", "SHA-384" };
  private static final int[] SUMS = { 16384, 512, 100, 33 };

  private final Random random;
  private final int n;
  private final boolean tags, packed, mvcc, small, encrypted;

  private Campaign(int n) {
    this.n = n;
    random = new Random(n * 0x9E3779B97F4A7C15L);
    tags = random.nextInt(3) == 0;
    packed = tags && random.nextBoolean();
    mvcc = random.nextBoolean();
    small = random.nextInt(3) > 0;
    encrypted = random.nextInt(4) == 0;
  }

  public static void main(String[] args) throws Exception {
    String folder = new File(args[1]).getAbsolutePath();
    if (args[0].equals("read")) {
      for (String name : new File(folder).list()) {
        if (name.indexOf('.') < 0) {
          read(folder, name);
        }
      }
      return;
    }
    makeKeys(folder);
    makeDictionary(folder);
    for (int n = Integer.parseInt(args[2]); n < Integer.parseInt(args[3]); n++) {
      new Campaign(n).write(folder);
    }
  }

  private static void makeKeys(String folder) throws Exception {
    KeyStore store = KeyStore.getInstance("JCEKS");
    KeyStore.ProtectionParameter password = new KeyStore.PasswordProtection(PASSWORD.toCharArray());
    Random random = new Random(folder.length());
    StringBuilder text = new StringBuilder("# the master keys of keys.jceks\n");
    store.load(null, null);
    for (String master : MASTERS) {
      byte[] key = new byte[16];
      random.nextBytes(key);
      store.setEntry(master, new KeyStore.SecretKeyEntry(new SecretKeySpec(key, "AES")), password);
      text.append(Bytes.toHex(key)).append('\n');
    }
    try (FileOutputStream out = new FileOutputStream(folder + "/keys.jceks")) {
      store.store(out, PASSWORD.toCharArray());
    }
    Files.write(Paths.get(folder, "keys.txt"), text.toString().getBytes(StandardCharsets.US_ASCII));
  }

  private static void makeDictionary(String folder) throws IOException {
    ZstdDictTrainer trainer = new ZstdDictTrainer(1 << 20, 4096);
    Random random = new Random(1);
    for (int i = 0; i < 3000; i++) {
      trainer.addSample(("cf" + random.nextInt(50) + "acbabc" + random.nextInt(9) + "row" + random.nextInt(99))
        .getBytes(StandardCharsets.US_ASCII));
    }
    Files.write(Paths.get(folder, "zstd.dictionary"), trainer.trainSamples());
  }

  /** Returns the configuration that the writer and the reader of a file need. */
  private static Configuration configuration(String folder, Algorithm codec, boolean dictionary, String master) {
    Configuration conf = new Configuration(BASE); // a new one would read the XML files again
    conf.set("hbase.io.compress.zstd.codec", "org.apache.hadoop.hbase.io.compress.zstd.ZstdCodec");
    conf.set("hbase.io.compress.snappy.codec", "org.apache.hadoop.hbase.io.compress.xerial.SnappyCodec");
    if (dictionary) {
      conf.set("hbase.io.compress.zstd.dictionary", "file://" + folder + "/zstd.dictionary");
    }
    conf.set("hbase.crypto.keyprovider", "org.apache.hadoop.hbase.io.crypto.KeyStoreKeyProvider");
    conf.set("hbase.crypto.keyprovider.parameters", "jceks://" + folder + "/keys.jceks?password=" + PASSWORD);
    conf.set("hbase.crypto.master.key.name", master);
    conf.set("hbase.crypto.master.alternate.key.name", MASTERS[1]);
    codec.reload(conf);
    return conf;
  }

  private void write(String folder) throws IOException {
    Algorithm codec = CODECS[random.nextInt(CODECS.length)];
    DataBlockEncoding encoding = ENCODINGS[random.nextInt(ENCODINGS.length)];
    BloomType bloom = BLOOMS[random.nextInt(BLOOMS.length)];
    boolean dictionary = codec == Algorithm.ZSTD && random.nextBoolean();
    Configuration conf = configuration(folder, codec, dictionary, MASTERS[random.nextInt(2)]);
    conf.set("hbase.hash.type", HASHES[random.nextInt(HASHES.length)]);
    conf.set("hbase.crypto.key.hash.algorithm", DIGESTS[random.nextInt(DIGESTS.length)]);
    conf.setInt("RowPrefixBloomFilter.prefix_length", 1 + random.nextInt(4));
    if (small) { // several levels of the index, several bloom chunks
      conf.setInt("hfile.index.block.max.size", 40 + random.nextInt(200));
      conf.setInt("io.storefile.bloom.block.size", 64);
    }
    FileSystem disk = new RawLocalFileSystem();
    disk.initialize(disk.getUri(), conf);
    String name = String.format("%05d-v3-%s-%s-%s%s%s%s%s%s", n, codec, encoding, bloom,
      packed ? "-packed" : tags ? "-tags" : "", mvcc ? "-mvcc" : "", small ? "-small" : "", encrypted ? "-encrypted" : "",
      dictionary ? "-dictionary" : "");
    HFileContextBuilder context = new HFileContextBuilder().withCompression(codec).withDataBlockEncoding(encoding)
      .withBlockSize(small ? 100 + random.nextInt(900) : 1024 << random.nextInt(7)).withIncludesTags(tags)
      .withCompressTags(packed).withIncludesMvcc(mvcc).withBytesPerCheckSum(SUMS[random.nextInt(SUMS.length)])
      .withChecksumType(ChecksumType.values()[random.nextInt(3)]);
    if (encrypted) {
      byte[] key = new byte[16];
      random.nextBytes(key);
      Encryption.Context crypto = Encryption.newContext(conf);
      crypto.setCipher(Encryption.getCipher(conf, "AES"));
      crypto.setKey(key);
      context.withEncryptionContext(crypto);
    }
    StoreFileWriter writer = new StoreFileWriter.Builder(conf, new CacheConfig(conf), disk)
      .withFilePath(new Path(folder, name)).withBloomType(bloom).withMaxKeyCount(5000)
      .withFileContext(context.build()).build();
    List<KeyValue> cells = cells();
    for (KeyValue cell : cells) {
      writer.append(cell);
    }
    writer.appendMetadata(random.nextInt(100), random.nextBoolean());
    writer.close();
    try (PrintWriter out = new PrintWriter(folder + "/" + name + ".cells", "US-ASCII")) {
      for (KeyValue c : cells) {
        list(out, c);
      }
    }
  }

  private static void read(String folder, String name) throws IOException {
    // a file of HBase 1 names its encoding first, and has no codec that needs a configuration
    Algorithm codec = Arrays.stream(CODECS).filter(c -> c.name().equals(name.split("-")[2])).findAny().orElse(Algorithm.GZ);
    Configuration conf = configuration(folder, codec, name.endsWith("-dictionary"), MASTERS[0]);
    FileSystem disk = new RawLocalFileSystem();
    disk.initialize(disk.getUri(), conf);
    try (HFile.Reader reader = HFile.createReader(disk, new Path(folder, name), CacheConfig.DISABLED, true, conf);
      PrintWriter out = new PrintWriter(folder + "/" + name + ".read", "US-ASCII")) {
      HFileScanner scanner = reader.getScanner(conf, false, false);
      for (boolean more = scanner.seekTo(); more; more = scanner.next()) {
        list(out, scanner.getCell());
      }
    }
  }

  private static void list(PrintWriter out, Cell c) {
    byte[] tagsOfCell = PrivateCellUtil.cloneTags(c);
    out.println(String.join(" ", hex(CellUtil.cloneRow(c)), hex(CellUtil.cloneQualifier(c)),
      Long.toString(c.getTimestamp()), KeyValue.Type.codeToType(c.getTypeByte()).name(), hex(CellUtil.cloneValue(c)),
      Long.toString(c.getSequenceId()), hex(tagsOfCell)));
  }

  /** Returns cells in the order of HBase, without equal keys. */
  private List<KeyValue> cells() {
    List<KeyValue> cells = new ArrayList<>();
    int longest = 1 + random.nextInt(random.nextInt(4) == 0 ? 300 : 8);
    for (int rows = 1 + random.nextInt(small ? 60 : 200); rows > 0; rows--) {
      byte[] row = bytes(1 + random.nextInt(longest));
      for (int i = random.nextInt(4); i >= 0; i--) {
        cells.add(cell(row));
      }
    }
    cells.sort(CellComparator.getInstance());
    for (int i = cells.size() - 1; i > 0; i--) {
      if (CellComparator.getInstance().compare(cells.get(i - 1), cells.get(i), true) == 0) {
        cells.remove(i);
      }
    }
    return cells;
  }

  private KeyValue cell(byte[] row) {
    boolean put = random.nextInt(6) > 0;
    KeyValue.Type type = put ? KeyValue.Type.Put : MARKERS[random.nextInt(MARKERS.length)];
    boolean family = type == KeyValue.Type.DeleteFamily || type == KeyValue.Type.DeleteFamilyVersion;
    byte[] qualifier = bytes(family ? 0 : random.nextInt(random.nextInt(9) == 0 ? 200 : 5));
    byte[] value = bytes(put ? random.nextInt(random.nextInt(50) == 0 ? 20000 : 12) : 0);
    long time = random.nextBoolean() ? 1700000000000L + random.nextInt(1000) : random.nextInt(100000);
    List<Tag> list = new ArrayList<>();
    for (int i = tags ? random.nextInt(4) : 0; i > 0; i--) {
      list.add(new ArrayBackedTag((byte) (64 + random.nextInt(3)), bytes(random.nextInt(3))));
    }
    KeyValue cell = new KeyValue(row, FAMILY, qualifier, time, type, value, list);
    if (mvcc && random.nextBoolean()) {
      cell.setSequenceId(random.nextInt(70000));
    }
    return cell;
  }

  private byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) (random.nextInt(8) > 0 ? 'a' + random.nextInt(3) : random.nextInt(256));
    }
    return bytes;
  }

  private static String hex(byte[] bytes) {
    return bytes.length == 0 ? "-" : Bytes.toHex(bytes);
  }
}
