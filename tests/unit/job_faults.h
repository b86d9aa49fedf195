/*
 * job_faults.h - a good job, and edits of it that must be refused (for test_job.c)
 *
 * In a replacement '^' marks where the fault must be reported; without one any place will do.
 */
#ifndef SALTMILL_TEST_JOB_FAULTS_H
#define SALTMILL_TEST_JOB_FAULTS_H

static const char *const good = "source:\n"
				"  csv:\n"
				"    files: [a.csv, /b.csv, '-']\n"
				"fields:\n"
				"  user: {type: u32}\n"
				"  big: {type: u64}\n"
				"  neg: {type: i64}\n"
				"  real: {type: f64}\n"
				"  time: {type: time, unit: s}\n"
				"tables:\n"
				"  - name: t\n"
				"    rowkey:\n"
				"      - {salt: 16, of: [user]}\n"
				"      - {field: user}\n"
				"      - {field: name}\n"
				"    timestamp: time\n"
				"    families:\n"
				"      f: {versions: 2}\n"
				"    cells:\n"
				"      - {family: f, qualifier: q, value: name}\n"
				"    regions: {split: sampled, count: 4}\n";

struct fault_case {
	const char *find, *replace, *message;
};

#define KEY   "      - {field: name}\n"
#define FIELD "{type: u32}"
#define FAM   "{versions: 2}"
#define CELL  "{family: f, qualifier: q, value: name}"
#define REG   "{split: sampled, count: 4}"
#define FILES "files: [a.csv, /b.csv, '-']"
#define CSV   "  csv:\n    " FILES
#define KAFKA "brokers: b, topic: t"
#define SALT  "{salt: 16, of: [user]}"
#define TIME  "{type: time, unit: s}"

static const struct fault_case faults[] = {
	/* YAML */
	{"source:", "^\tsource:", "tab"},
	{"fields:", "fields:\n  fields: [\n", "not YAML: did not find expected"},
	{"  big:", "  ^user:", "key `user` stands twice in one mapping, first in line 5"},
	{REG, REG "\n^---\nsource: {}", "second document"},
	{"name: t", "name: ^!!str t", "tag"},
	{"name: t", "name: ^*nobody", "alias `*nobody`"},
	{"fields:", "? ^[a]\n: b\nfields:", "found a list as a key"},
	{"name: t", "name: ^\xff", "UTF-8"},
	/* the top */
	{"fields:", "^feilds:", "unknown key `feilds`; did you mean `fields`?"},
	{"fields:", "^extras:", "known: source, fields, tables"},
	{"source:\n  csv:\n    " FILES "\n", "^", "lacks the key `source`"},
	{"source:\n  csv:\n    " FILES, "source: ^[a]", "source: found a list, expected a mapping"},
	/* source */
	{"csv:", "^cvs:", "did you mean `csv`?"},
	{CSV, "  kafka: ^{brokers: b}", "kafka lacks the key `topic`"},
	{CSV, "  kafka: {topic: t, format: json, brokers: ^}", "brokers: found nothing"},
	{CSV, "  kafka: {" KAFKA ", format: ^jsno}", "did you mean `json`?"},
	{CSV, "  kafka: {brokers: b, format: raw, topic: ^a/b}", "a topic name"},
	{CSV, "  kafka: {" KAFKA ", format: raw, ^borkers: c}", "did you mean `brokers`?"},
	{CSV, "  kafka: {" KAFKA ", format: raw, partitions: ^[]}", "a list of partition numbers"},
	{CSV, "  kafka: {" KAFKA ", format: raw, partitions: [1, ^-1]}", "from 0 to 1000000"},
	{CSV, "  kafka: {" KAFKA ", format: raw, partitions: [3, 1, ^3]}", "found 3 twice"},
	{CSV, "  kafka: {" KAFKA ", format: raw, share: ^true}", "found no `group`"},
	{CSV, "  kafka: {" KAFKA ", format: raw, group: g, partitions: [1], share: ^true}",
	 "one of the two"},
	{CSV, "  kafka: {" KAFKA ", format: raw, group: g, share: ^maybe}", "share"},
	{CSV,
	 "  kafka: {" KAFKA ", format: raw, properties: {^partition.assignment.strategy: range}}",
	 "cooperative-sticky"},
	{CSV, "  kafka: {" KAFKA ", format: raw, start: ^yesterday}", "earliest, latest or a time"},
	{CSV, "  kafka: {" KAFKA ", format: raw, start: ^2026-11-01T25:00:00Z}", "a time in UTC"},
	{CSV, "  kafka: {" KAFKA ", format: raw, tombstones: ^drop}", "one of filter, reject"},
	{CSV, "  kafka: {" KAFKA ", format: raw, roll: ^{}}", "expected bytes, rows or time"},
	{CSV, "  kafka: {" KAFKA ", format: raw, roll: {time: ^soon}}", "a time like 90s"},
	{CSV, "  kafka: {" KAFKA ", format: raw, patience: ^0}", "a time like 90s"},
	{CSV, "  kafka: {" KAFKA ", format: json, delimiter: ^;}", "nothing without `format: csv`"},
	{CSV, "  kafka: ^{" KAFKA ", format: csv}", "lacks the key `columns`"},
	{CSV, "  kafka: {" KAFKA ", format: raw, properties: {^group.id: g}}", "the key `group`"},
	{CSV, "  kafka: {" KAFKA ", format: raw, properties: {^isolation.level: x}}", "aborted"},
	{CSV, "  kafka: {" KAFKA ", format: raw, properties: {^auto.offset.reset: x}}",
	 "never reset"},
	{CSV, "  kafka: {" KAFKA ", format: raw, properties: {^enable.auto.commit: x}}",
	 "published"},
	{CSV, "  kafka: {" KAFKA ", format: raw, properties: {^auto.commit.enable: x}}",
	 "published"},
	{CSV, "  kafka: {" KAFKA ", format: raw, properties: {^enable.partition.eof: x}}", "ends"},
	{CSV, "  kafka: {" KAFKA ", format: raw, properties: {^check.crcs: false}}", "damaged"},
	{CSV, "  kafka: {" KAFKA ", format: raw, properties: {^allow.auto.create.topics: x}}",
	 "not there"},
	{CSV, "  kafka: {" KAFKA ", format: raw, properties: {^log.queue: x}}", "shown"},
	{CSV, "  kafka: {" KAFKA ", format: raw, properties: {a: ^{}}}",
	 "{file: NAME} or {env: NAME}"},
	{CSV, "  kafka: {" KAFKA ", format: raw, properties: {a: ^{file: x, env: y}}}",
	 "{file: NAME}"},
	{"  csv:\n", "  ^kafka: {}\n  csv:\n", "found `kafka` and `csv`"},
	{FILES, "^file: a.csv", "did you mean `files`?"},
	{FILES, "files: ^{a: b}", "files: found a mapping, expected a list of texts"},
	{FILES, "header: ^maybe", "header: found `maybe`, expected true, false, replace"},
	{FILES, "header: ^false", "expected `columns: [a, b]` too"},
	{FILES, "columns: [a]\n    header: ^true", "`columns` and `header: true`"},
	{FILES, "columns: [a, b, ^a]", "`a` twice"},
	{FILES, "columns: ^[]", "empty list"},
	{FILES, "delimiter: ^ab", "delimiter: found `ab`, expected one byte"},
	{FILES, "delimiter: ^'\"'", "expected another byte"},
	{FILES, "max_row: ^16Q", "a size like 64K"},
	{FILES, "max_row: ^0", "1 to 2147483648 bytes"},
	{FILES, "quoted_nulls:^ ", "found nothing, expected true or false"},
	{"  csv:\n", "  json:\n    ^header: true\n", "unknown key `header`"},
	{"  csv:\n", "  ^json: {}\n  csv:\n", "found `json` and `csv`"},
	{FILES, "header: ^replace", "`replace` alone, expected `columns: [a, b]` too"},
	{FILES, "header: {^found: [a]}", "unknown key `found`; did you mean `find`?"},
	{FILES, "header: {find: ^[]}", "found an empty list, expected column names"},
	{FILES, "header: {find: [a, ^a]}", "find: found `a` twice"},
	{FILES, "skip: ^-1", "skip: found `-1`, expected a whole number"},
	{FILES, "skip_footer: ^1001", "a whole number from 0 to 1000"},
	{FILES, "comment: ^'//'", "one byte"},
	{FILES, "comment: ^','", "comment: found the delimiter"},
	{FILES, "comment: ^'\"'", "comment: found the delimiter, the quote"},
	{FILES, "trim: ^yes", "expected one of false, true, all"},
	{FILES, "trim: true\n    quote: ^' '", "a blank that `trim` takes away"},
	{FILES, "missing: ^nul", "did you mean `null`?"},
	{FILES, "extra: ^keep", "one of reject, empty, ignore"},
	{FILES, "thousands: ^','\n    decimal: ','", "which is the decimal sign too"},
	{FILES, "thousands: ^'.'", "which is the decimal sign too"},
	{FILES, "thousands: ^'1'", "one character that is no digit, sign or e"},
	{FILES, "decimal: ^'..'", "one character that is no digit"},
	{FILES, "encoding: ^klingon", "a name that `iconv --list` knows"},
	{FILES, "encoding: ^'utf-8//IGNORE'", "a name that `iconv --list` knows"},
	{FILES, "empty: ^0", "expected null or value"},
	{"{type: u64}", "^{type: decimal}", "lacks `scale`"},
	{"{type: u64}", "{type: decimal, scale: ^19}", "a whole number from 0 to 18"},
	{"{type: u64}", "{type: u64, scale: ^2}", "only with type: decimal"},
	{"{type: u64}", "{type: u64, default: ^[]}",
	 "default: found an empty list, expected a text"},
	/* fields */
	{FIELD, "{^typ: u32}", "did you mean `type`?"},
	{FIELD, "{type: ^u23}", "type: found `u23`; did you mean `u32`?"},
	{FIELD, "{type: ^double}", "expected one of text, bytes, hex, u32"},
	{FIELD, "^[u32]", "a field: found a list, expected a mapping"},
	{FIELD, "{type: u32, unit: ^s}", "found `unit` in a field of type u32"},
	{FIELD, "{type: u32, join: ^'-'}", "`join` for one column"},
	{FIELD, "{type: u32, from: ^[]}", "empty list"},
	{TIME, "^{type: time}", "lacks its form"},
	{TIME, "^time", "lacks its form"},
	{TIME, "{type: time, unit: ^s, format: '%Y'}", "`unit` and `format`"},
	{TIME, "{type: time, unit: s, zone: ^Asia/Shanghai}", "`zone` with `unit`"},
	{TIME, "{type: time, format: ^'%Y-%Q'}", "found `%Q`"},
	{TIME, "{type: time, format: ^'%H:%M'}", "without a year"},
	{TIME, "{type: time, format: ^'%Y %I'}", "%I and %p"},
	{TIME, "{type: time, format: '%Y', zone: ^Asia/Shangai}", "unknown zone `Asia/Shangai`"},
	{TIME, "{type: time, format: '%Y', zone: ^zone.tab}", "unknown zone"},
	{TIME, "{type: time, format: '%Y', zone: ^../../../etc/localtime}", "unknown zone"},
	{TIME, "{type: time, format: '%Y', zone: ^+25:00}", "unknown zone"},
	{TIME, "{type: time, format: '%Y %z', zone: ^UTC}", "`zone` with %z"},
	/* tables and row key */
	{"tables:\n", "tables: {}\n^x:\n", "unknown key `x`"},
	{"  - name: t\n", "  - ^nam: t\n", "did you mean `name`?"},
	{"  - name: t\n    rowkey", "  - ^rowkey", "a table lacks the key `name`"},
	{"name: t\n", "name: ^\"\"\n", "empty text"},
	{"    timestamp: time\n", "",
	 "cell timestamps never come from the clock; name a time field"},
	{"timestamp: time", "timestamp: ^name", "found `name` of type text, expected a time field"},
	{"timestamp: time", "timestamp: ^big", "found `big` of type u64"},
	{"timestamp: time", "timestamp: ^9223372036854775807", "milliseconds below"},
	{"timestamp: time", "timestamp: ^-5", "milliseconds since 1970"},
	{SALT, "{salt: ^0, of: [user]}", "a whole number from 1 to 65536"},
	{SALT, "{salt: ^65537, of: [user]}", "a whole number from 1 to 65536"},
	{SALT, "^{salt: 16}", "lacks the key `of`"},
	{SALT, "{salt: 16, of: ^[]}", "of: found an empty list"},
	{SALT, "{salt: 16, of: [user, ^user]}", "`user` twice"},
	{SALT, "{salt: 16, of: [user], hash: ^murmur}", "did you mean `murmur3`?"},
	{SALT, "{salt: ^300, hash: phoenix}", "1 to 256"},
	{SALT, "{salt: 20, hash: hbasewd, width: ^2}", "expected 1"},
	{SALT, "{salt: 300, of: [user], width: ^1}", "expected 2"},
	{KEY, "      - ^{salt: 4, of: [name]}\n" KEY, "first part of a row key"},
	{KEY, "      - ^{field: name}\n      - {field: user}\n", "variable length before the last"},
	{KEY, "      - ^name\n", "a mapping like {field: userId, as: u64}"},
	{KEY, "      - {^feild: name}\n", "did you mean `field`?"},
	{KEY, "      - {field: name, as: ^u64}\n", "`name: {type: u64}`"},
	{KEY, "      - {field: user, as: ^rversed}\n", "did you mean `reversed`?"},
	{KEY, "      - {field: user, as: ^reversed_millis}\n", "type: time, unit: s"},
	{KEY, "      - {field: time, as: ^u64}\n", "expected millis or reversed_millis"},
	{KEY, "      - {field: real, as: ^u64}\n", "of type f64"},
	{KEY, "      - {field: neg, as: ^reversed}\n", "of type i64"},
	{KEY, "      - {field: name, as: ^bool}\n", "`name: {type: bool}`"},
	{KEY, "      - {field: time, as: ^f64}\n", "expected millis or reversed_millis"},
	{KEY, "      - {field: user, as: u64, width: ^8}\n", "always 8 bytes"},
	{KEY, "      - {field: neg, as: text, width: ^8}\n", "do not sort"},
	{KEY, "      - {field: name, width: ^32768}\n", "1 to 32767"},
	{KEY, "      - {field: name, pad: ^x}\n", "pad: found without width"},
	{KEY, "      - {field: name, width: 4, pad: ^xy}\n", "one byte"},
	{KEY, "      - {field: name, width: 4, side: ^lift}\n", "did you mean `left`?"},
	{KEY, "      - {field: name, width: 4, terminator: ^'\\x00'}\n", "fixed width"},
	{KEY, "      - {field: name, terminator: ^'\\x0g'}\n", "\\xHH"},
	{KEY, "      - {field: name, terminator: ^\"\\xFF\"}\n", "single quotes"},
	{KEY, "      - {const: ^'a\\b'}\n", "\\x5C is a backslash"},
	{KEY, "      - ^{const: ''}\n", "a constant part has 0 bytes"},
	{KEY, "      - {hex: ^abc}\n", "pairs of hex digits"},
	{KEY, "      - {hash: ^sha1, of: [name]}\n", "expected one of md5, murmur3"},
	{KEY, "      - ^{hash: md5}\n", "lacks the key `of`"},
	{KEY, "      - {hash: murmur3, of: [name], bytes: ^5}\n", "murmur3 has 4 bytes"},
	{"rowkey:\n      - " SALT "\n      - {field: user}\n" KEY, "rowkey: ^[]\n", "empty list"},
	{"rowkey:\n      - " SALT "\n      - {field: user}\n" KEY, "rowkey: ^[{const: a}]\n",
	 "one row"},
	{"rowkey:\n      - " SALT "\n      - {field: user}\n" KEY,
	 "rowkey: ^[{field: name, width: 32767}, {const: a}]\n", "32768 bytes, expected at most"},
	/* families */
	{FAM, "{^compresion: ZSTD}", "unknown key `compresion`; did you mean `compression`?"},
	{FAM, "{compression: ^GZIP}", "did you mean `GZ`?"},
	{FAM, "{compression: ^LZO}", "saltmill does not write LZO; use ZSTD"},
	{FAM, "{compression: ^zstd}", "did you mean `ZSTD`?"},
	{FAM, "{compression: {codec: SNAPPY, level: ^3}}", "without ZSTD or GZ"},
	{FAM, "{compression: {codec: GZ, level: ^12}}", "1 to 9"},
	{FAM, "{compression: {codec: GZ, level: ^auto}}", "1 to 9"},
	{FAM, "{compression: {codec: SNAPPY, level: ^auto}}", "without ZSTD or GZ"},
	{FAM, "{compression: {codec: ZSTD, aim: ^size}}", "without `level: auto`"},
	{FAM, "{compression: {codec: ZSTD, level: 3, aim: ^speed}}", "without `level: auto`"},
	{FAM, "{compression: {codec: ZSTD, level: auto, aim: ^fast}}", "speed, size"},
	{FAM, "{compression: {codec: LZ4, framing: ^hadoop}}", "without ZSTD"},
	{FAM, "{compression: ^{level: 3}}", "lacks the key `codec`"},
	{FAM, "{bloomfilter: ^ROWCOLS}", "did you mean `ROWCOL`?"},
	{FAM, "{bloomfilter: ^ROWPREFIX_FIXED_LENGTH}", "`bloom_prefix: n`"},
	{FAM, "{bloom_prefix: ^4}", "without `bloomfilter"},
	{FAM, "{ttl: ^10y}", "a time like 90s"},
	{FAM, "{ttl: ^0}", "1 to 2147483647 seconds"},
	{FAM, "{ttl: ^30000d}", "1 to 2147483647 seconds"},
	{FAM, "{versions: ^0}", "1 to 2147483647"},
	{FAM, "{versions: 2, min_versions: ^3}", "at most versions (2)"},
	{FAM, "{blocksize: ^512}", "1024 to 16777216 bytes"},
	{FAM, "{data_block_encoding: ^fast_diff}", "did you mean `FAST_DIFF`?"},
	{FAM, "{data_block_encoding: ^PREFIX_TREE}", "use FAST_DIFF"},
	{FAM, "{in_memory: ^1}", "true or false"},
	{FAM, "{blockcache: ^2}", "BLOCKCACHE"},
	{FAM, FAM "\n      ^g: {}", "family `g` has no cell"},
	{FAM, FAM "\n      ^f: {}", "stands twice"},
	/* cells */
	{CELL, "{^famly: f, qualifier: q, value: name}", "did you mean `family`?"},
	{CELL, "^{qualifier: q, value: name}", "a cell lacks the key `family`"},
	{CELL, "{family: ^g, qualifier: q, value: name}", "unknown family `g`"},
	{CELL, "^{family: f, qualifier: q}", "lacks the key `value`"},
	{CELL, CELL "\n      - ^{family: f, qualifier: '\\x71', value: user}", "of line 20"},
	{CELL, "{family: f, qualifier: ^{salt: 4, of: [user]}, value: name}", "first part"},
	{CELL, "{family: f, value: {field: name, as: ^i64}}", "which is text"},
	{CELL, "{family: f, value: ^{as: text}}", "one of `field`, `const` and `hex`"},
	{CELL, "{family: f, value: {const: a, as: ^text}}", "with a constant"},
	{CELL, "{family: f, value: name, optional: ^oui}", "true or false"},
	{"cells:\n      - " CELL, "cells: ^[]", "a list like"},
	/* the rest */
	{"timestamp: time", "timestamp: time\n    duplicates: ^lats", "did you mean `last`?"},
	{"timestamp: time", "timestamp: time\n    max_hfile: ^big", "a size like"},
	{"timestamp: time", "timestamp: time\n    attributes: {^max_filsize: 1G}",
	 "did you mean `max_filesize`?"},
	{"timestamp: time", "timestamp: time\n    attributes: {readonly: ^maybe}", "READONLY"},
	{"timestamp: time", "timestamp: time\n    attributes: {max_filesize: ^1M}", "MAX_FILESIZE"},
	{"timestamp: time", "timestamp: time\n    attributes: {owner: ^[a, b]}", "found a list"},
	{"timestamp: time", "timestamp: time\n    metadata: ^x", "a mapping like"},
	{"name: t\n", "name: ^.t\n", "starts with '.'"},
	{"f: " FAM "\n    cells:\n      - {family: f,",
	 "^'f:x': " FAM "\n    cells:\n      - {family: 'f:x',", "':'"},
	{FAM,
	 "{bloomfilter: ROWPREFIX_FIXED_LENGTH, configuration: "
	 "{^RowPrefixBloomFilter.prefix_length: 0}}",
	 "prefix"},
	{"timestamp: time", "timestamp: time\n    configuration: ^[a]", "a mapping like"},
	{REG, "{split: ^sample}", "did you mean `sampled`?"},
	{REG, "{split: sampled, count: ^0}", "1 to 1000000"},
	{REG, "{split: sampled, count: 4, size: ^1G}", "`count` and `size`"},
	{REG, "{split: sampled, size: 1G, servers: ^3}", "`size` and `servers`"},
	{REG, "{split: sampled, per_server: ^3}", "expected `servers: n` too"},
	{REG, "^{split: file}", "lacks the key `file`"},
	{REG, "{split: none, count: ^4}", "means nothing with split: none"},
	{REG, "{split: sampled, first: ^'00'}", "means nothing with split: sampled"},
	{REG, "{split: sampled, min: ^5, max: 4}", "at most max (4)"},
	{REG, "{split: sampled, count: ^9, max: 4}", "within min and max"},
	{REG, "{split: sampled, tolerance: ^0.9}", "a number from 1 to 1000"},
	{REG, "{split: sampled, headroom: ^nan}", "a number from 0 to 100"},
	{REG, "{split: sampled, align: ^user}", "expected `salt`"},
	{REG,
	 REG "\n  - name: ^t\n    rowkey: [{field: user}]\n    timestamp: 0\n"
	     "    families: {f: }\n    cells: [{family: f, value: name}]",
	 "table `t` stands twice, first in line 11"},
};

#endif
