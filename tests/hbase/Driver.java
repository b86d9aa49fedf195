import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.SafeModeAction;
import org.apache.hadoop.hbase.ArrayBackedTag;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.Tag;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Query;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.filter.ParseFilter;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileContext;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.io.hfile.HFilePrettyPrinter;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.StoreFileWriter;
import org.apache.hadoop.hbase.tool.BulkLoadHFiles;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.ChecksumType;
import org.apache.hadoop.hbase.util.CommonFSUtils;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hbase.thirdparty.com.google.gson.Gson;
import org.apache.hbase.thirdparty.com.google.gson.GsonBuilder;
import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonParser;
import org.jruby.embed.LocalContextScope;
import org.jruby.embed.PathType;
import org.jruby.embed.ScriptingContainer;

/**
 * The tests' client of HBase. One JVM runs for the whole session, because the start of a JVM and of
 * JRuby takes seconds. The driver reads a JSON object from each line ({"cmd": ..., arguments}) and
 * answers with a JSON object ({"ok": ...} or {"error": ..., "trace": ...}). Row keys and other
 * binary values are hex.
 */
public class Driver {
  private final Configuration conf = HBaseConfiguration.create();
  private final Gson gson = new GsonBuilder().disableHtmlEscaping().serializeNulls().create();
  private final String shell;
  private Connection connection;
  private ScriptingContainer ruby;

  interface Command {
    Object run(JsonObject a) throws Exception;
  }

  private final Map<String, Command> commands = new TreeMap<>();

  private Driver(String shell) {
    this.shell = shell;
    commands.put("ready", this::ready);
    commands.put("run_script", this::runScript);
    commands.put("bulk_load", this::bulkLoad);
    commands.put("scan", this::scan);
    commands.put("scan_by", this::scanBy);
    commands.put("get", this::get);
    commands.put("mutate", this::mutate);
    commands.put("splits", this::splits);
    commands.put("split", this::split);
    commands.put("move", this::move);
    commands.put("describe", this::describe);
    commands.put("store_files", this::storeFiles);
    commands.put("pretty", this::pretty);
    commands.put("write_hfile", this::writeHFile);
    commands.put("safe_mode", this::safeMode);
  }

  /** Lets the HDFS of HBase enter or leave safe mode. */
  private Object safeMode(JsonObject a) throws Exception {
    FileSystem fs = new Path(conf.get(HConstants.HBASE_DIR)).getFileSystem(conf);
    return ((DistributedFileSystem) fs).setSafeMode(SafeModeAction.valueOf(a.get("how").getAsString()));
  }

  public static void main(String[] args) throws Exception {
    PrintStream answers = new PrintStream(System.out, true, "UTF-8");
    System.setOut(System.err); // output of libraries must not mix with the answers
    Driver d = new Driver(args[0]);
    BufferedReader in =
      new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = in.readLine()) != null;) {
      answers.println(d.answer(line));
    }
    System.exit(0);
  }

  private String answer(String line) {
    Map<String, Object> answer = new LinkedHashMap<>();
    try {
      JsonObject a = new JsonParser().parse(line).getAsJsonObject();
      Command c = commands.get(a.get("cmd").getAsString());
      if (c == null) {
        throw new IllegalArgumentException("unknown command " + a.get("cmd"));
      }
      answer.put("ok", c.run(a));
    } catch (Throwable t) {
      Throwable root = t;
      while (root.getCause() != null && root.getCause() != root) {
        root = root.getCause();
      }
      java.io.StringWriter trace = new java.io.StringWriter();
      t.printStackTrace(new java.io.PrintWriter(trace));
      answer.put("error", root.toString());
      answer.put("trace", trace.toString());
    }
    return gson.toJson(answer);
  }

  private static String text(JsonObject a, String name) {
    JsonElement e = a.get(name);
    return e == null || e.isJsonNull() ? null : e.getAsString();
  }

  private static int number(JsonObject a, String name, int missing) {
    JsonElement e = a.get(name);
    return e == null || e.isJsonNull() ? missing : e.getAsInt();
  }

  private static byte[] unhex(String s) {
    return Bytes.fromHex(s);
  }

  private static String hex(byte[] b) {
    return Bytes.toHex(b);
  }

  private static TableName table(JsonObject a) {
    return TableName.valueOf(text(a, "table"));
  }

  private Connection connection() throws IOException {
    if (connection == null) {
      connection = ConnectionFactory.createConnection(conf);
    }
    return connection;
  }

  /** Fails while the master is still starting. The caller then retries. */
  private Object ready(JsonObject a) throws Exception {
    Configuration impatient = new Configuration(conf);
    impatient.setInt("hbase.client.retries.number", 1);
    impatient.setInt("hbase.client.operation.timeout", 5000);
    impatient.setInt("hbase.client.meta.operation.timeout", 5000);
    impatient.setInt("hbase.rpc.timeout", 3000);
    impatient.setInt("zookeeper.recovery.retry", 0);
    try (Connection c = ConnectionFactory.createConnection(impatient); Admin admin = c.getAdmin()) {
      admin.getNamespaceDescriptor("default"); // refused until the master is initialized
      return admin.getRegionServers().size();
    }
  }

  /** Runs the script in shell.rb, which replaces the shell. */
  private Object runScript(JsonObject a) throws Exception {
    if (ruby == null) {
      ruby = new ScriptingContainer(LocalContextScope.SINGLETHREAD);
      ruby.put("$admin", connection().getAdmin());
      ruby.runScriptlet(PathType.ABSOLUTE, shell);
    }
    java.io.StringWriter out = new java.io.StringWriter();
    ruby.setWriter(out);
    ruby.setErrorWriter(out);
    Object status = ruby.callMethod(ruby.get("$shell"), "run_script", text(a, "file"));
    Map<String, Object> r = new LinkedHashMap<>();
    r.put("status", ((Number) status).intValue());
    r.put("output", out.toString());
    return r;
  }

  /** Does the work of `hbase completebulkload`, which moves the files. */
  private Object bulkLoad(JsonObject a) throws Exception {
    Configuration c = new Configuration(conf);
    c.setBoolean("hbase.loadincremental.fail.if.need.split.hfile", true);
    c.set(BulkLoadHFiles.CREATE_TABLE_CONF_KEY, "no");
    String dir = text(a, "dir");
    Map<BulkLoadHFiles.LoadQueueItem, ByteBuffer> done =
      BulkLoadHFiles.create(c).bulkLoad(table(a), new Path(dir.contains("://") ? dir : "file://" + dir));
    Set<ByteBuffer> regions = new HashSet<>(done.values());
    Map<String, Object> r = new LinkedHashMap<>();
    r.put("files", done.size());
    r.put("regions", regions.size());
    return r;
  }

  private static String cell(Cell c) {
    String marker = c.getType() == Cell.Type.Put ? "" : ":" + c.getType();
    return Bytes.toString(CellUtil.cloneFamily(c)) + ":" + hex(CellUtil.cloneQualifier(c)) + ":"
      + c.getTimestamp() + ":" + hex(CellUtil.cloneValue(c)) + marker;
  }

  private static void restrict(Query q, JsonObject a) throws Exception {
    if (text(a, "filter") != null) {
      q.setFilter(new ParseFilter()
        .parseFilterString(text(a, "filter").getBytes(StandardCharsets.UTF_8)));
    }
    if (text(a, "filter_hex") != null) {
      q.setFilter(new ParseFilter().parseFilterString(unhex(text(a, "filter_hex"))));
    }
  }

  /**
   * Returns rows in order, each "rowhex TAB family:qualifierhex:ts:valuehex TAB ...", in the file
   * `out` or as the answer. With `raw`, returns every stored cell and ignores VERSIONS and TTL.
   */
  private Object scan(JsonObject a) throws Exception {
    Scan s = new Scan().setCaching(1000).setCacheBlocks(false);
    if (a.has("raw")) {
      s.setRaw(true).readAllVersions();
    }
    if (number(a, "versions", 0) > 0) {
      s.readVersions(number(a, "versions", 0));
    }
    s.setReversed(a.has("reversed"));
    if (text(a, "start") != null) {
      s.withStartRow(unhex(text(a, "start")));
    }
    if (text(a, "stop") != null) {
      s.withStopRow(unhex(text(a, "stop")));
    }
    if (number(a, "limit", 0) > 0) {
      s.setLimit(number(a, "limit", 0));
    }
    if (text(a, "family") != null) {
      s.addFamily(Bytes.toBytes(text(a, "family")));
    }
    restrict(s, a);
    if (text(a, "out") == null) {
      List<String> rows = new ArrayList<>();
      scan(table(a), s, rows::add);
      return rows;
    }
    try (BufferedWriter w = Files.newBufferedWriter(Paths.get(text(a, "out")))) {
      return scan(table(a), s, row -> write(w, row));
    }
  }

  /**
   * Runs the scans that a method of a class in `classes` makes, one after another. The rows have
   * the form of scan.
   */
  private Object scanBy(JsonObject a) throws Exception {
    List<String> rows = new ArrayList<>();
    java.net.URL[] path = { Paths.get(text(a, "classes")).toUri().toURL() };
    try (java.net.URLClassLoader loader =
      new java.net.URLClassLoader(path, Driver.class.getClassLoader())) {
      Object scans = loader.loadClass(text(a, "class")).getMethod(text(a, "method")).invoke(null);
      for (Object s : (List<?>) scans) {
        scan(table(a), (Scan) s, rows::add);
      }
    }
    return rows;
  }

  private static void write(BufferedWriter w, String line) {
    try {
      w.write(line);
      w.write('\n');
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private Map<String, Long> scan(TableName name, Scan s, Consumer<String> sink) throws Exception {
    long rows = 0;
    long cells = 0;
    try (Table t = connection().getTable(name); ResultScanner scanner = t.getScanner(s)) {
      for (Result r; (r = scanner.next()) != null; rows++) {
        sink.accept(row(r));
        cells += r.size();
      }
    }
    Map<String, Long> counts = new LinkedHashMap<>();
    counts.put("rows", rows);
    counts.put("cells", cells);
    return counts;
  }

  private static String row(Result r) {
    StringBuilder line = new StringBuilder(hex(r.getRow()));
    for (Cell c : r.rawCells()) {
      line.append('\t').append(cell(c));
    }
    return line.toString();
  }

  /**
   * Returns one answer for each of `rows`, which is the row as scan writes it, or null if the row
   * does not exist.
   */
  private Object get(JsonObject a) throws Exception {
    List<Get> gets = new ArrayList<>();
    for (JsonElement row : a.getAsJsonArray("rows")) {
      Get g = new Get(unhex(row.getAsString()));
      if (text(a, "qualifier") != null) {
        g.addColumn(Bytes.toBytes(text(a, "family")), unhex(text(a, "qualifier")));
      } else if (text(a, "family") != null) {
        g.addFamily(Bytes.toBytes(text(a, "family")));
      }
      restrict(g, a);
      gets.add(g);
    }
    List<String> found = new ArrayList<>();
    try (Table t = connection().getTable(table(a))) {
      for (Result r : t.get(gets)) {
        found.add(r.isEmpty() ? null : row(r));
      }
    }
    return found;
  }

  private static Mutation mutation(JsonArray m) {
    byte[] row = unhex(m.get(1).getAsString());
    byte[] family = Bytes.toBytes(m.get(2).getAsString());
    byte[] qualifier = unhex(m.get(3).getAsString());
    long ts = m.get(4).isJsonNull() ? HConstants.LATEST_TIMESTAMP : m.get(4).getAsLong();
    switch (m.get(0).getAsString()) {
      case "Increment":
        return new Increment(row).addColumn(family, qualifier, 1);
      case "Put":
        Put p = new Put(row).addColumn(family, qualifier, ts, unhex(m.get(5).getAsString()));
        if (m.size() > 6) {
          p.setTTL(m.get(6).getAsLong());
        }
        return p;
      case "Delete":
        return new Delete(row).addColumn(family, qualifier, ts);
      case "DeleteColumn":
        return new Delete(row).addColumns(family, qualifier, ts);
      case "DeleteFamily":
        return new Delete(row).addFamily(family, ts);
      case "DeleteFamilyVersion":
        return new Delete(row).addFamilyVersion(family, ts);
      default:
        throw new IllegalArgumentException("unknown mutation " + m);
    }
  }

  /**
   * Applies `mutations` one after another. Each is [type, row, family, qualifier, ts, value, ttl],
   * with row, qualifier and value in hex. A Put may have a TTL in ms. A null as ts means the server's
   * clock. With `batch`, the client sends all at once.
   */
  private Object mutate(JsonObject a) throws Exception {
    JsonArray all = a.getAsJsonArray("mutations");
    try (Table t = connection().getTable(table(a))) {
      if (flag(a, "batch")) {
        List<Row> rows = new ArrayList<>();
        all.forEach(e -> rows.add(mutation(e.getAsJsonArray())));
        t.batch(rows, new Object[rows.size()]);
        return all.size();
      }
      for (JsonElement e : all) {
        Mutation m = mutation(e.getAsJsonArray());
        if (m instanceof Put) {
          t.put((Put) m);
        } else {
          t.delete((Delete) m);
        }
      }
    }
    return all.size();
  }

  private List<RegionInfo> regions(TableName name) throws IOException {
    try (Admin admin = connection().getAdmin()) {
      List<RegionInfo> regions = new ArrayList<>(admin.getRegions(name));
      Collections.sort(regions, RegionInfo.COMPARATOR);
      return regions;
    }
  }

  /**
   * Returns the start keys of all regions except the first, as the shell's get_splits prints them.
   */
  private Object splits(JsonObject a) throws Exception {
    List<String> keys = new ArrayList<>();
    for (RegionInfo r : regions(table(a))) {
      if (r.getStartKey().length > 0) {
        keys.add(Bytes.toStringBinary(r.getStartKey()));
      }
    }
    return keys;
  }

  /** Splits at a row and waits until the split is done. */
  private Object split(JsonObject a) throws Exception {
    int before = regions(table(a)).size();
    try (Admin admin = connection().getAdmin()) {
      admin.split(table(a), unhex(text(a, "row")));
    }
    for (int i = 0; i < 600 && regions(table(a)).size() == before; i++) {
      Thread.sleep(100);
    }
    return regions(table(a)).size();
  }

  /* * Moves every region to another server. If there is only one server, closes and reopens the
   * regions. */
  private Object move(JsonObject a) throws Exception {
    int moved = 0;
    try (Admin admin = connection().getAdmin();
      RegionLocator locator = connection().getRegionLocator(table(a))) {
      for (RegionInfo r : regions(table(a))) {
        ServerName here = locator.getRegionLocation(r.getStartKey(), true).getServerName();
        ServerName other =
          admin.getRegionServers().stream().filter(s -> !s.equals(here)).findFirst().orElse(null);
        if (other == null) {
          admin.unassign(r.getRegionName());
          admin.assign(r.getRegionName());
        } else {
          admin.move(r.getEncodedNameAsBytes(), other);
          moved++;
        }
      }
    }
    return moved;
  }

  private static Map<String, String> values(Map<Bytes, Bytes> in) {
    Map<String, String> out = new TreeMap<>();
    in.forEach((k, v) -> out.put(Bytes.toString(k.copyBytes()), Bytes.toString(v.copyBytes())));
    return out;
  }

  private Object describe(JsonObject a) throws Exception {
    try (Admin admin = connection().getAdmin()) {
      TableDescriptor d = admin.getDescriptor(table(a));
      Map<String, Object> families = new LinkedHashMap<>();
      for (ColumnFamilyDescriptor f : d.getColumnFamilies()) {
        Map<String, String> v = values(f.getValues());
        v.putAll(f.getConfiguration());
        families.put(f.getNameAsString(), v);
      }
      Map<String, Object> r = new LinkedHashMap<>();
      r.put("enabled", admin.isTableEnabled(table(a)));
      r.put("table", values(d.getValues()));
      r.put("families", families);
      return r;
    }
  }

  /** Returns the regions in order, with the files that they have on disk now. */
  private Object storeFiles(JsonObject a) throws Exception {
    Path dir = CommonFSUtils.getTableDir(CommonFSUtils.getRootDir(conf), table(a));
    FileSystem fs = dir.getFileSystem(conf);
    List<Object> answer = new ArrayList<>();
    for (RegionInfo r : regions(table(a))) {
      List<Object> files = new ArrayList<>();
      for (FileStatus family : fs.listStatus(new Path(dir, r.getEncodedName()))) {
        String name = family.getPath().getName();
        if (!family.isDirectory() || name.startsWith(".") || name.equals("recovered.edits")) {
          continue;
        }
        for (FileStatus f : fs.listStatus(family.getPath())) {
          Map<String, Object> file = new LinkedHashMap<>();
          file.put("family", name);
          file.put("path", f.getPath().toUri().getPath());
          file.put("bytes", f.getLen());
          files.add(file);
        }
      }
      Map<String, Object> region = new LinkedHashMap<>();
      region.put("start", hex(r.getStartKey()));
      region.put("end", hex(r.getEndKey()));
      region.put("files", files);
      answer.add(region);
    }
    return answer;
  }

  private Object pretty(JsonObject a) throws Exception {
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    PrintStream p = new PrintStream(text, true, "UTF-8");
    HFilePrettyPrinter printer = new HFilePrettyPrinter(conf);
    printer.setPrintStreams(p, p);
    String file = "file://" + text(a, "file");
    int status = printer.run(a.has("cells")
      ? new String[] { "-m", "-p", "-f", file }
      : new String[] { "-m", "-k", "-a", "-v", "-f", file });
    Map<String, Object> r = new LinkedHashMap<>();
    r.put("status", status);
    r.put("output", text.toString("UTF-8"));
    return r;
  }

  /** A cell is [row, qualifier, ts, value], all hex except ts, with optional {type, tags, mvcc}. */
  private static KeyValue keyValue(byte[] family, JsonArray c) {
    JsonObject more = c.size() > 4 ? c.get(4).getAsJsonObject() : new JsonObject();
    List<Tag> tags = new ArrayList<>();
    if (more.has("tags")) {
      for (JsonElement e : more.getAsJsonArray("tags")) {
        JsonArray t = e.getAsJsonArray();
        tags.add(new ArrayBackedTag(t.get(0).getAsByte(), unhex(t.get(1).getAsString())));
      }
    }
    KeyValue kv = new KeyValue(unhex(c.get(0).getAsString()), family,
      unhex(c.get(1).getAsString()), c.get(2).getAsLong(),
      KeyValue.Type.codeToType((byte) number(more, "type", KeyValue.Type.Put.getCode())),
      unhex(c.get(3).getAsString()), tags);
    kv.setSequenceId(number(more, "mvcc", 0));
    return kv;
  }

  private static boolean flag(JsonObject a, String name) {
    return a.has(name) && a.get(name).getAsBoolean();
  }

  private static HFileContext context(JsonObject a, byte[] family) {
    HFileContextBuilder b = new HFileContextBuilder().withColumnFamily(family)
      .withCompression(Compression.Algorithm.valueOf(text(a, "compression")))
      .withBytesPerCheckSum(number(a, "bytes_per_checksum", 16384))
      .withBlockSize(number(a, "block_bytes", 65536));
    if (a.has("encoding")) {
      b.withDataBlockEncoding(DataBlockEncoding.valueOf(text(a, "encoding")));
    }
    if (a.has("checksum")) {
      b.withChecksumType(ChecksumType.valueOf(text(a, "checksum")));
    }
    if (a.has("tags")) { // otherwise the builder's default
      b.withIncludesTags(flag(a, "tags")).withCompressTags(flag(a, "compress_tags"));
      b.withIncludesMvcc(flag(a, "mvcc"));
    }
    return b.build();
  }

  /**
   * Writes with HBase's own writers. With `meta` ({name: hex}), the writer is HFile.Writer, which
   * has no bloom filter. Otherwise it is StoreFileWriter. Cells come in order. `conf` contains
   * settings of the site.
   */
  private Object writeHFile(JsonObject a) throws Exception {
    Configuration c = new Configuration(conf);
    if (a.has("conf")) {
      a.getAsJsonObject("conf").entrySet().forEach(e -> c.set(e.getKey(), e.getValue().getAsString()));
    }
    Path file = new Path("file://" + text(a, "file"));
    byte[] family = Bytes.toBytes(file.getParent().getName());
    HFileContext context = context(a, family);
    JsonArray cells = a.getAsJsonArray("cells");
    if (a.has("meta")) {
      try (HFile.Writer w = HFile.getWriterFactory(c, new CacheConfig(c))
        .withPath(file.getFileSystem(c), file).withFileContext(context).create()) {
        for (JsonElement e : cells) {
          w.append(keyValue(family, e.getAsJsonArray()));
        }
        a.getAsJsonObject("meta").entrySet().forEach(
          e -> w.appendMetaBlock(e.getKey(), new BytesWritable(unhex(e.getValue().getAsString()))));
      }
      return cells.size();
    }
    StoreFileWriter w =
      new StoreFileWriter.Builder(c, new CacheConfig(c), file.getFileSystem(c))
        .withFilePath(file).withBloomType(BloomType.valueOf(text(a, "bloom")))
        .withMaxKeyCount(Math.max(1000, cells.size())).withFileContext(context).build();
    for (JsonElement e : cells) {
      w.append(keyValue(family, e.getAsJsonArray()));
    }
    w.appendTrackedTimestampsToMetadata();
    w.appendFileInfo(Bytes.toBytes("BULKLOAD_TIMESTAMP"), Bytes.toBytes(1L));
    w.close();
    return cells.size();
  }
}
