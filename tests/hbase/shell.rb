# A stand-in for the HBase shell: the commands that a create-table script uses, by the rules of
# HBase 2.6's admin.rb.  One difference, on purpose: a key that the shell would only report as
# ignored is an error here.  The shell itself is not in the package registries.
require 'java'

java_import org.apache.hadoop.hbase.CellUtil
java_import org.apache.hadoop.hbase.HConstants
java_import org.apache.hadoop.hbase.MemoryCompactionPolicy
java_import org.apache.hadoop.hbase.KeepDeletedCells
java_import org.apache.hadoop.hbase.NamespaceDescriptor
java_import org.apache.hadoop.hbase.TableName
java_import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder
java_import org.apache.hadoop.hbase.client.Durability
java_import org.apache.hadoop.hbase.client.Get
java_import org.apache.hadoop.hbase.client.Scan
java_import org.apache.hadoop.hbase.filter.ParseFilter
java_import org.apache.hadoop.hbase.client.TableDescriptorBuilder
java_import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding
java_import org.apache.hadoop.hbase.regionserver.BloomType
java_import org.apache.hadoop.hbase.util.Bytes
java_import org.apache.hadoop.hbase.util.RegionSplitter

JInt = java.lang.Integer
JLong = java.lang.Long
JBool = java.lang.Boolean
Compression = org.apache.hadoop.hbase.io.compress.Compression::Algorithm

# How a value reaches the builder's setter.
INT = ->(v) { JInt.valueOf(v).to_java(:int) }
SHORT = ->(v) { JInt.valueOf(v).to_i.to_java(:short) }
LONG = ->(v) { JLong.valueOf(v).to_java(:long) }
BOOL = ->(v) { JBool.valueOf(v) }
TEXT = ->(v) { v.to_s }
INT_OR_TEXT = ->(v) { v.is_a?(String) ? v : v.to_java(:int) }
LONG_OR_TEXT = ->(v) { v.is_a?(String) ? v : v.to_java(:long) }

def enum_of(type, upcase)
  lambda do |v|
    name = upcase ? v.to_s.upcase : v
    type.values.find { |e| e.name == name } ||
      raise(ArgumentError, "#{v} is not supported. Use one of #{type.values.map(&:name).join(' ')}")
  end
end

FAMILY = {
  'BLOCKCACHE' => [:setBlockCacheEnabled, BOOL],
  'REPLICATION_SCOPE' => [:setScope, INT],
  'CACHE_DATA_ON_WRITE' => [:setCacheDataOnWrite, BOOL],
  'CACHE_INDEX_ON_WRITE' => [:setCacheIndexesOnWrite, BOOL],
  'CACHE_BLOOMS_ON_WRITE' => [:setCacheBloomsOnWrite, BOOL],
  'EVICT_BLOCKS_ON_CLOSE' => [:setEvictBlocksOnClose, BOOL],
  'IN_MEMORY' => [:setInMemory, BOOL],
  'IN_MEMORY_COMPACTION' => [:setInMemoryCompaction, enum_of(MemoryCompactionPolicy, false)],
  'TTL' => [:setTimeToLive, INT_OR_TEXT],
  'DATA_BLOCK_ENCODING' => [:setDataBlockEncoding, enum_of(DataBlockEncoding, false)],
  'BLOCKSIZE' => [:setBlocksize, INT_OR_TEXT],
  'VERSIONS' => [:setMaxVersions, INT],
  'MIN_VERSIONS' => [:setMinVersions, INT],
  'KEEP_DELETED_CELLS' => [:setKeepDeletedCells, enum_of(KeepDeletedCells, true)],
  'COMPRESS_TAGS' => [:setCompressTags, BOOL],
  'PREFETCH_BLOCKS_ON_OPEN' => [:setPrefetchBlocksOnOpen, BOOL],
  'IS_MOB' => [:setMobEnabled, BOOL],
  'MOB_THRESHOLD' => [:setMobThreshold, LONG],
  'NEW_VERSION_BEHAVIOR' => [:setNewVersionBehavior, BOOL],
  'BLOOMFILTER' => [:setBloomFilterType, enum_of(BloomType, true)],
  'COMPRESSION' => [:setCompressionType, enum_of(Compression, true)],
  'COMPRESSION_COMPACT' => [:setCompactionCompressionType, enum_of(Compression, true)],
  'COMPRESSION_COMPACT_MAJOR' => [:setMajorCompactionCompressionType, enum_of(Compression, true)],
  'COMPRESSION_COMPACT_MINOR' => [:setMinorCompactionCompressionType, enum_of(Compression, true)],
  'STORAGE_POLICY' => [:setStoragePolicy, ->(v) { v.upcase }],
  'DFS_REPLICATION' => [:setDFSReplication, SHORT]
}.freeze

TABLE = {
  'OWNER' => [:setOwnerString, TEXT],
  'MAX_FILESIZE' => [:setMaxFileSize, LONG_OR_TEXT],
  'MEMSTORE_FLUSHSIZE' => [:setMemStoreFlushSize, LONG_OR_TEXT],
  'READONLY' => [:setReadOnly, BOOL],
  'COMPACTION_ENABLED' => [:setCompactionEnabled, BOOL],
  'SPLIT_ENABLED' => [:setSplitEnabled, BOOL],
  'MERGE_ENABLED' => [:setMergeEnabled, BOOL],
  'NORMALIZATION_ENABLED' => [:setNormalizationEnabled, BOOL],
  'NORMALIZER_TARGET_REGION_COUNT' => [:setNormalizerTargetRegionCount, INT],
  'NORMALIZER_TARGET_REGION_SIZE_MB' => [:setNormalizerTargetRegionSize, LONG],
  'DURABILITY' => [:setDurability, enum_of(Durability, false)],
  'PRIORITY' => [:setPriority, INT],
  'FLUSH_POLICY' => [:setFlushPolicyClassName, TEXT],
  'SPLIT_POLICY' => [:setRegionSplitPolicyClassName, TEXT],
  'REGION_REPLICATION' => [:setRegionReplication, INT],
  'REGION_MEMSTORE_REPLICATION' => [:setRegionMemStoreReplication, BOOL],
  'ERASURE_CODING_POLICY' => [:setErasureCodingPolicy, TEXT]
}.freeze

# The shell's bare constants, each its own name; a misspelt one is a NameError here as there.
(FAMILY.keys + TABLE.keys +
 %w[NAME METHOD CONFIGURATION METADATA SPLITS SPLITS_FILE NUMREGIONS SPLITALGO] +
 %w[STARTROW STOPROW FILTER LIMIT CACHE REVERSED VERSIONS COLUMNS]).each do |name|
  Object.const_set(name, name) unless Object.const_defined?(name)
end

class StandIn
  attr_reader :admin

  def initialize(java_admin)
    @java = java_admin
    @admin = self # scripts also write admin.exists?('t')
  end

  def run_script(path)
    instance_eval(File.read(path, encoding: 'UTF-8'), path)
    0
  rescue SystemExit => e
    e.status
  rescue Exception, java.lang.Throwable => e # NameError of a misspelt constant included
    puts "ERROR #{e.class}: #{e.message}"
    1
  end

  def exists?(name)
    @java.tableExists(TableName.valueOf(name))
  end

  def exists(name)
    puts "Table #{name} " + (exists?(name) ? 'does exist' : 'does not exist')
    exists?(name)
  end

  def enabled?(name)
    @java.isTableEnabled(TableName.valueOf(name))
  end
  alias is_enabled enabled?

  def is_disabled(name)
    !enabled?(name)
  end

  def disable(name)
    @java.disableTable(TableName.valueOf(name)) if enabled?(name)
  end

  def enable(name)
    @java.enableTable(TableName.valueOf(name)) unless enabled?(name)
  end

  def drop(name)
    raise ArgumentError, "Table #{name} is enabled. Disable it first." if enabled?(name)
    @java.deleteTable(TableName.valueOf(name))
  end

  def truncate(name)
    disable(name)
    @java.truncateTable(TableName.valueOf(name), false)
  end

  def truncate_preserve(name)
    disable(name)
    @java.truncateTable(TableName.valueOf(name), true)
  end

  def snapshot(name, snapshot_name)
    @java.snapshot(snapshot_name, TableName.valueOf(name))
  end

  def clone_snapshot(snapshot_name, name)
    @java.cloneSnapshot(snapshot_name, TableName.valueOf(name))
  end

  # Minor compactions; major_compact works only while they are on.
  def compaction_switch(on)
    @java.compactionSwitch(on, [])
  end

  def restore_snapshot(snapshot_name)
    @java.restoreSnapshot(snapshot_name)
  end

  def flush(name)
    @java.flush(TableName.valueOf(name))
  end

  # Waits until each region has one file a family, unlike the shell's. On a busy machine, a compaction begins late, so the
  # state alone does not show that it is done.
  def major_compact(name)
    table = TableName.valueOf(name)
    @java.majorCompact(table)
    1200.times do
      sleep 0.1
      return if @java.getCompactionState(table).to_s == 'NONE' && one_file_a_family?(table)
    end
    raise "table #{name} is still being compacted"
  end

  # Counts the files that the regions use. A replaced file stays in the folder for some minutes.
  def one_file_a_family?(table)
    @java.getRegionServers.to_a.all? do |server|
      @java.getRegionMetrics(server, table).to_a.all? { |r| r.getStoreFileCount <= r.getStoreCount }
    end
  end

  # Each region with its neighbour.
  def merge_pairs(name)
    regions = @java.getRegions(TableName.valueOf(name)).to_a.sort { |a, b| a.compareTo(b) }
    regions.map(&:getEncodedNameAsBytes).each_slice(2) do |a, b|
      @java.mergeRegionsAsync(a, b, true).get if b
    end
  end

  def list(regex = '.*')
    names = @java.listTableNames.map(&:getNameAsString)
    names.select { |n| n =~ /\A(?:#{regex})\z/ }
  end

  def list_namespace(regex = '.*')
    names = @java.listNamespaceDescriptors.map(&:getName)
    names.select { |n| n =~ /\A(?:#{regex})\z/ }
  end

  def create_namespace(name, *args)
    b = NamespaceDescriptor.create(name)
    args.each { |h| h.each { |k, v| b.addConfiguration(k, v) } }
    @java.createNamespace(b.build)
  end

  def create(name, *args)
    raise ArgumentError, 'Table name must be of type String' unless name.is_a?(String)
    table = TableDescriptorBuilder.newBuilder(TableName.valueOf(name))
    families = {}
    splits = nil
    args.flatten.compact.each do |arg|
      case arg
      when String then families[arg] = family({ NAME => arg })
      when Hash
        if arg.key?(NAME)
          families[arg[NAME]] = family(arg.dup)
        else
          arg = arg.dup
          splits = take_splits(table, arg) || splits
          table_options(table, arg)
        end
      else raise ArgumentError, "#{arg.class} of #{arg.inspect} is not of Hash or String type"
      end
    end
    raise ArgumentError, 'Table must have at least one column family' if families.empty?
    families.each_value { |f| table.setColumnFamily(f) }
    splits ? @java.createTable(table.build, splits) : @java.createTable(table.build)
    puts "Created table #{name}"
  end

  def alter(name, *args)
    raise ArgumentError, "Can't find a table: #{name}" unless exists?(name)
    raise ArgumentError, 'There should be at least one argument but the table name' if args.empty?
    table_name = TableName.valueOf(name)
    old = @java.getDescriptor(table_name)
    table = TableDescriptorBuilder.newBuilder(old)
    args.each do |arg|
      arg = arg.is_a?(String) ? { NAME => arg } : arg.dup
      method = arg.delete(METHOD)
      if method.nil? && arg.key?(NAME)
        key = arg[NAME].to_java_bytes
        f = family(arg, old.getColumnFamily(key))
        old.hasColumnFamily(key) ? table.modifyColumnFamily(f) : table.setColumnFamily(f)
      elsif method == 'delete'
        table.removeColumnFamily(arg[NAME].to_java_bytes)
      elsif method.nil? || method == 'table_att'
        table_options(table, arg)
      else raise ArgumentError, "Unknown method: #{method}"
      end
    end
    @java.modifyTable(table.build)
  end

  # By the rules of table.rb (_hash_to_scan, _get_scanner): the keys are the raw bytes of Ruby's
  # strings, a filter is a text of the filter language or an object.  Rows are printed as the
  # driver's scan gives them.
  def scan(name, arg = {})
    arg = arg.dup
    s = Scan.new.withStartRow((arg.delete(STARTROW) || '').to_java_bytes)
    stop = arg.delete(STOPROW)
    s.withStopRow(stop.to_java_bytes) if stop
    restrict(s, arg)
    limit, cache = arg.delete(LIMIT), arg.delete(CACHE)
    s.setLimit(limit) if limit
    s.setCaching(cache) if cache
    s.setReversed(true) if arg.delete(REVERSED)
    refuse_rest('a scan', arg)
    table = @java.getConnection.getTable(TableName.valueOf(name))
    table.getScanner(s).each { |row| print_row(row) }
  end

  # The same of a row (_get_internal).
  def get(name, row, arg = {})
    arg = arg.dup
    g = Get.new(row.to_java_bytes)
    restrict(g, arg)
    refuse_rest('a get', arg)
    found = @java.getConnection.getTable(TableName.valueOf(name)).get(g)
    print_row(found) unless found.isEmpty
  end

  private

  def restrict(query, arg)
    filter = arg.delete(FILTER)
    filter = ParseFilter.new.parseFilterString(filter.to_java_bytes) if filter.is_a?(String)
    query.setFilter(filter) if filter
    (arg.delete(COLUMNS) || []).each { |c| add_column(query, c) }
    versions = arg.delete(VERSIONS)
    query.readVersions(versions) if versions
  end

  def add_column(query, name)
    family, qualifier = name.b.split(':', 2)
    return query.addFamily(family.to_java_bytes) unless qualifier
    query.addColumn(family.to_java_bytes, qualifier.to_java_bytes)
  end

  def print_row(row)
    cells = row.rawCells.map do |c|
      [CellUtil.cloneFamily(c), CellUtil.cloneQualifier(c), CellUtil.cloneValue(c)].map do |b|
        Bytes.toHex(b)
      end.insert(2, c.getTimestamp).join(':')
    end
    puts [Bytes.toHex(row.getRow), *cells].join("\t")
  end

  def apply(builder, known, arg)
    known.each do |key, (setter, convert)|
      builder.send(setter, convert.call(arg.delete(key))) if arg.key?(key)
    end
  end

  def refuse_rest(what, arg)
    return if arg.empty?
    raise ArgumentError, "the shell would ignore #{arg.keys.join(', ')} of #{what}"
  end

  def family(arg, old = nil)
    name = arg.delete(NAME)
    b = old ? ColumnFamilyDescriptorBuilder.newBuilder(old) :
              ColumnFamilyDescriptorBuilder.newBuilder(name.to_java_bytes)
    apply(b, FAMILY, arg)
    (arg.delete(METADATA) || {}).each { |k, v| b.setValue(k.to_s, v.to_s) }
    (arg.delete(CONFIGURATION) || {}).each { |k, v| b.setConfiguration(k.to_s, v.to_s) }
    refuse_rest("column family #{name}", arg)
    b.build
  end

  def table_options(b, arg)
    method = arg.delete(METHOD)
    raise ArgumentError, "METHOD => #{method}" unless method.nil? || method == 'table_att'
    apply(b, TABLE, arg)
    # both are plain values of a table
    (arg.delete(METADATA) || {}).each { |k, v| b.setValue(k.to_s, v.to_s) }
    (arg.delete(CONFIGURATION) || {}).each { |k, v| b.setValue(k.to_s, v.to_s) }
    refuse_rest('the table', arg)
  end

  def take_splits(table, arg)
    keys = arg.delete(SPLITS)
    if (path = arg.delete(SPLITS_FILE))
      raise ArgumentError, "Splits file #{path} doesn't exist" unless File.exist?(path)
      keys = File.foreach(path).map(&:chomp)
      table.setValue(SPLITS_FILE, path)
    end
    count, algorithm = arg.delete(NUMREGIONS), arg.delete(SPLITALGO)
    return binary(keys) if keys
    return nil unless count || algorithm
    raise ArgumentError, 'NUMREGIONS and SPLITALGO go together' unless count && algorithm
    raise ArgumentError, 'Number of regions must be greater than 1' unless count > 1
    RegionSplitter.newSplitAlgoInstance(@java.getConfiguration, algorithm).split(count)
  end

  # A Ruby string becomes a Java String first, as in the shell: that is what breaks the bytes of
  # a double-quoted key.
  def binary(keys)
    keys.map { |k| Bytes.toBytesBinary(k) }.to_java(Java::byte[])
  end
end

$shell = StandIn.new($admin)
