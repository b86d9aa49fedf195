/*
 * Writer.java - writes HFiles with the writer of HBase 2.6, each with a list of the file's cells
 *
 * HBase 2.6.4 on Java 17 made files.zip. The modules of HBase for BROTLI, LZMA and LZO are not in every registry. So
 * class Glue does the same as their codecs: it passes one chunk at a time to the compressor of brotli4j, XZ for Java or
 * aircompressor, in the stream of Hadoop (BlockCompressorStream) with the buffer sizes of HBase. HBase writes BZIP2 only
 * with Hadoop's native library. So class Bzip2 passes the block to Commons Compress, in the same stream of Hadoop
 * (CompressorStream) as the native codec.
 *
 *   mvn -f tests/hbase2/pom.xml dependency:copy-dependencies -DoutputDirectory=LIB
 *   javac -d OUT -cp 'LIB/*' tests/hbase2/Writer.java
 *   java -cp 'OUT:LIB/*' Writer FOLDER
 *   python3 -m zipfile -c tests/hbase2/files.zip FOLDER/*
 */
import com.aayushatharva.brotli4j.Brotli4jLoader;
import com.aayushatharva.brotli4j.encoder.Encoder;
import io.airlift.compress.lzo.LzoCompressor;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.commons.compress.compressors.bzip2.BZip2CompressorOutputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.hbase.CellComparator;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.io.compress.Compression.Algorithm;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.StoreFileWriter;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.io.compress.BlockCompressorStream;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.CompressionInputStream;
import org.apache.hadoop.io.compress.CompressionOutputStream;
import org.apache.hadoop.io.compress.Compressor;
import org.apache.hadoop.io.compress.CompressorStream;
import org.apache.hadoop.io.compress.Decompressor;
import org.tukaani.xz.LZMA2Options;
import org.tukaani.xz.LZMAOutputStream;

/** Writes files of each codec into FOLDER. The file's name contains its options. */
public final class Writer {
  private static final byte[] FAMILY = Bytes.toBytes("cf");

  private Writer() {
  }

  /** A codec of Hadoop's block stream. A subclass compresses one chunk. */
  public abstract static class Glue extends Configured implements CompressionCodec {
    abstract byte[] pack(byte[] plain) throws IOException;

    int bufferSize() {
      return 256 * 1024;
    }

    /** Returns true if a block without bytes has packed bytes, too. */
    boolean packsEmpty() {
      return false;
    }

    @Override
    public CompressionOutputStream createOutputStream(OutputStream out) throws IOException {
      return createOutputStream(out, createCompressor());
    }

    @Override
    public CompressionOutputStream createOutputStream(OutputStream out, Compressor c) throws IOException {
      return new BlockCompressorStream(out, c, bufferSize(), bufferSize() / 6 + 32);
    }

    @Override
    public Compressor createCompressor() {
      return new Whole(this);
    }

    @Override
    public Class<? extends Compressor> getCompressorType() {
      return Compressor.class; // HBase then takes no compressor of another codec from its pool
    }

    @Override
    public String getDefaultExtension() {
      return ".glue";
    }

    @Override
    public CompressionInputStream createInputStream(InputStream in) {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompressionInputStream createInputStream(InputStream in, Decompressor d) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Class<? extends Decompressor> getDecompressorType() {
      return Decompressor.class;
    }

    @Override
    public Decompressor createDecompressor() {
      throw new UnsupportedOperationException();
    }
  }

  /** Collects a chunk, and compresses it when the stream finishes it. */
  public static final class Whole implements Compressor {
    private final Glue codec;
    private final ByteArrayOutputStream in = new ByteArrayOutputStream();
    private byte[] packed = {};
    private int at;
    private long read;
    private boolean finish, done;

    Whole(Glue codec) {
      this.codec = codec;
    }

    @Override
    public void setInput(byte[] b, int off, int len) {
      in.write(b, off, len);
      read += len;
    }

    @Override
    public boolean needsInput() {
      return !finished();
    }

    @Override
    public int compress(byte[] b, int off, int len) throws IOException {
      if (finish && !done) {
        done = true;
        packed = in.size() > 0 || codec.packsEmpty() ? codec.pack(in.toByteArray()) : packed;
      }
      int n = Math.min(len, packed.length - at);
      System.arraycopy(packed, at, b, off, n);
      at += n;
      return n;
    }

    @Override
    public boolean finished() {
      return done && at == packed.length;
    }

    @Override
    public void finish() {
      finish = true;
    }

    @Override
    public void reset() {
      in.reset();
      packed = new byte[0];
      at = 0;
      read = 0;
      finish = false;
      done = false;
    }

    @Override
    public long getBytesRead() {
      return read;
    }

    @Override
    public long getBytesWritten() {
      return at;
    }

    @Override
    public void setDictionary(byte[] b, int off, int len) {
    }

    @Override
    public void end() {
    }

    @Override
    public void reinit(Configuration conf) {
      reset();
    }
  }

  /** One bzip2 stream for each block, as Hadoop's BZip2Codec with the native library. */
  public static final class Bzip2 extends Glue {
    @Override
    public CompressionOutputStream createOutputStream(OutputStream out, Compressor c) {
      return new CompressorStream(out, c, 64 * 1024);
    }

    @Override
    boolean packsEmpty() {
      return true;
    }

    @Override
    byte[] pack(byte[] plain) throws IOException {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      try (BZip2CompressorOutputStream bzip2 = new BZip2CompressorOutputStream(out)) {
        bzip2.write(plain);
      }
      return out.toByteArray();
    }
  }

  /** The chunks of HBase's BrotliCodec: level 6. */
  public static final class Brotli extends Glue {
    @Override
    byte[] pack(byte[] plain) throws IOException {
      Brotli4jLoader.ensureAvailability();
      return Encoder.compress(plain, new Encoder.Parameters().setQuality(6));
    }
  }

  /** The chunks of HBase's LzmaCodec: preset 6, a file of the .lzma format with the size in its header. */
  public static final class Lzma extends Glue {
    @Override
    byte[] pack(byte[] plain) throws IOException {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      try (LZMAOutputStream lzma = new LZMAOutputStream(out, new LZMA2Options(6), plain.length)) {
        lzma.write(plain);
      }
      return out.toByteArray();
    }
  }

  /** The chunks of HBase's LzoCodec. */
  public static final class Lzo extends Glue {
    @Override
    int bufferSize() {
      return 64 * 1024;
    }

    @Override
    byte[] pack(byte[] plain) {
      LzoCompressor lzo = new LzoCompressor();
      byte[] out = new byte[lzo.maxCompressedLength(plain.length)];
      return Arrays.copyOf(out, lzo.compress(plain, 0, plain.length, out, 0, out.length));
    }
  }

  public static void main(String[] args) throws IOException {
    Configuration conf = HBaseConfiguration.create();
    conf.set("hbase.io.compress.bzip2.codec", Bzip2.class.getName());
    conf.set("hbase.io.compress.brotli.codec", Brotli.class.getName());
    conf.set("hbase.io.compress.lzma.codec", Lzma.class.getName());
    conf.set("hbase.io.compress.lzo.codec", Lzo.class.getName());
    DataBlockEncoding[] encodings = { DataBlockEncoding.NONE, DataBlockEncoding.FAST_DIFF };
    int n = 0;
    for (Algorithm codec : new Algorithm[] { Algorithm.BZIP2, Algorithm.LZMA, Algorithm.BROTLI, Algorithm.LZO }) {
      codec.reload(conf);
      for (int kind = 0; kind < 3; kind++, n++) {
        // small files have several levels of the index; long ones have blocks of several chunks
        String size = kind == 0 ? "small" : kind == 1 ? "usual" : "long";
        write(conf, args[0], n, codec, encodings[n % 2], size);
      }
    }
  }

  private static void write(Configuration conf, String folder, int n, Algorithm codec, DataBlockEncoding encoding,
    String size) throws IOException {
    Random random = new Random(n);
    Configuration own = new Configuration(conf);
    int blockBytes = size.equals("small") ? 300 : size.equals("usual") ? 65536 : 1 << 20;
    if (size.equals("small")) {
      own.setInt("hfile.index.block.max.size", 100);
    }
    FileSystem disk = new RawLocalFileSystem();
    disk.initialize(disk.getUri(), own);
    String name = String.format("%02d-v3-%s-%s-%s", n, codec, encoding, size);
    StoreFileWriter writer = new StoreFileWriter.Builder(own, new CacheConfig(own), disk)
      .withFilePath(new Path(folder, name)).withBloomType(BloomType.ROW).withMaxKeyCount(1000)
      .withFileContext(new HFileContextBuilder().withCompression(codec).withDataBlockEncoding(encoding)
        .withBlockSize(blockBytes).withIncludesTags(false).withIncludesMvcc(n % 2 == 1).build())
      .build();
    List<KeyValue> cells = cells(random, size, n % 2 == 1);
    for (KeyValue cell : cells) {
      writer.append(cell);
    }
    writer.appendMetadata(1000 + n, n % 2 == 0);
    writer.close();
    try (PrintWriter out = new PrintWriter(folder + "/" + name + ".cells", "US-ASCII")) {
      for (KeyValue c : cells) {
        out.println(String.join(" ", hex(Bytes.copy(c.getRowArray(), c.getRowOffset(), c.getRowLength())),
          hex(Bytes.copy(c.getQualifierArray(), c.getQualifierOffset(), c.getQualifierLength())),
          Long.toString(c.getTimestamp()), KeyValue.Type.codeToType(c.getTypeByte()).name(),
          hex(Bytes.copy(c.getValueArray(), c.getValueOffset(), c.getValueLength())),
          Long.toString(c.getSequenceId()), "-"));
      }
    }
  }

  /** Returns cells in the order of HBase. A long file has one value that a codec cannot compress well. */
  private static List<KeyValue> cells(Random random, String size, boolean mvcc) {
    List<KeyValue> cells = new ArrayList<>();
    for (int row = 0; row < 15; row++) {
      byte[] key = Bytes.toBytes(row * 77_777);
      for (int q = random.nextInt(3); q >= 0; q--) {
        boolean marker = random.nextInt(6) == 0;
        byte[] value = new byte[marker ? 0 : random.nextInt(20)];
        Arrays.fill(value, (byte) ('a' + random.nextInt(26)));
        cells.add(new KeyValue(key, FAMILY, Bytes.toBytes("q" + q), 1700000000000L + random.nextInt(5),
          marker ? KeyValue.Type.DeleteColumn : KeyValue.Type.Put, value));
      }
    }
    if (size.equals("long")) {
      byte[] value = new byte[300_000];
      for (int i = 0; i < value.length; i++) {
        value[i] = (byte) (i % 1000 < 4 ? random.nextInt(256) : i / 1000);
      }
      cells.add(new KeyValue(Bytes.toBytes(5), FAMILY, Bytes.toBytes("long"), 7, KeyValue.Type.Put, value));
    }
    cells.sort(CellComparator.getInstance());
    for (int i = 0; mvcc && i < cells.size(); i += 2) {
      cells.get(i).setSequenceId(random.nextInt(70000));
    }
    return cells;
  }

  private static String hex(byte[] bytes) {
    return bytes.length == 0 ? "-" : Bytes.toHex(bytes);
  }
}
