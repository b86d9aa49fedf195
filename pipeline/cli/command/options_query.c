/* options_query.c - options of tables, keys, queries and their answers */
#include <limits.h>
#include <string.h>

#include "cli/answer.h"
#include "field.h"
#include "hfile.h"
#include "io.h"
#include "options.h"
#include "query.h"
#include "cli/reports.h"

#define ANSWERS		 "get scan"
#define OFFLINE		 "get scan verify init"
#define HFILES		 OFFLINE " inspect diff merge convert rekey"
#define KEYS_FILE_BYTES	 (64 << 10)
#define DICTIONARY_BYTES (64 << 20)

/* Reads a key in \xHH form. */
static int take_key(const struct cli_option *o, const char *text, void *slot, struct error *err)
{
	struct buf *key = slot;

	(void)o, (void)err;
	key->len = 0;
	bytes_unescape_utf8(key, bytes_str(text));
	return RC_OK;
}

/*
 * Reads milliseconds since 1970, or ISO 8601. ISO 8601 times are in UTC unless they have an offset.
 */
static bool is_time(struct bytes text, int64_t *ms)
{
	static const struct field time = {.name = "time", .type = FIELD_TIME, .unit = TIME_MS};
	const struct field_form form = {.field = &time};
	struct field_scratch scratch = {0};
	struct value v = {.text = text};
	struct reject why;
	int rc = field_read_loosely(&form, &v, &scratch, &why);

	*ms = (int64_t)v.u;
	field_scratch_release(&scratch);
	return rc == RC_OK && *ms >= 0;
}

static int take_time(const struct cli_option *o, const char *text, void *slot, struct error *err)
{
	if (!is_time(bytes_str(text), slot))
		return option_refuse(o, text, err,
				     "milliseconds since 1970, or a time like "
				     "2012-09-01T00:00:00Z");
	return RC_OK;
}

static int take_time_range(const struct cli_option *o, const char *text, void *slot,
			   struct error *err)
{
	struct query *q = slot;
	const char *dots = strstr(text, "..");
	bool good = dots != NULL;

	q->from_ms = 0;
	q->to_ms = INT64_MAX;
	if (good && dots > text)
		good = is_time(bytes_of(text, (size_t)(dots - text)), &q->from_ms);
	if (good && dots[2])
		good = is_time(bytes_str(dots + 2), &q->to_ms);
	if (!good)
		return option_refuse(o, text, err,
				     "A..B, each in milliseconds or like 2012-09-01T00:00:00Z, or "
				     "empty");
	return q->from_ms < q->to_ms ? RC_OK
				     : option_refuse(o, text, err, "a start before the end");
}

typedef int add_extra(struct hfile_extras *x, const char *name, struct bytes content,
		      struct error *err);

/* Reads a file that HFiles need, and lets all readers of this process use its content. */
static int take_extra(const char *path, size_t most, add_extra *add, struct hfile_extras **slot,
		      struct error *err)
{
	struct buf content = {0};

	if (!*slot && !(*slot = hfile_extras_new()))
		return error_memory(err, 1, path);
	hfile_extras_use(*slot);
	int rc = io_read_file_upto(path, most, &content, err);
	if (rc == RC_OK)
		rc = add(*slot, path, buf_bytes(&content), err);
	if (content.ptr)
		explicit_bzero(content.ptr, content.cap);
	buf_release(&content);
	return rc;
}

static int take_master_keys(const struct cli_option *o, const char *text, void *slot,
			    struct error *err)
{
	(void)o;
	return take_extra(text, KEYS_FILE_BYTES, hfile_extras_add_keys, slot, err);
}

static int take_dictionary(const struct cli_option *o, const char *text, void *slot,
			   struct error *err)
{
	(void)o;
	return take_extra(text, DICTIONARY_BYTES, hfile_extras_add_dictionary, slot, err);
}

/* clang-format off */
const struct cli_option options_query[] = {
	{"master-keys", 0, "FILE", HFILES, take_master_keys, AT(extras),
	 .help = "read encrypted HFiles with the master keys of FILE, 32 hex digits on each line"},
	{"zstd-dictionary", 0, "FILE", HFILES, take_dictionary, AT(extras),
	 .help = "read HFiles with this ZSTD dictionary (hbase.io.compress.zstd.dictionary); you can "
	 "give several"},
	{"row", 0, "KEY", "get", take_key, AT(scan.start),
	 .help = "the row key, in \\xHH form"},
	{"table-dir", 0, "URI", OFFLINE, take_text, AT(table_dir),
	 .help = "read the store files of HBase's folder ROOT/data/NAMESPACE/TABLE, without a "
	 "server: /PATH, hdfs://..., webhdfs://... or swebhdfs://...",
	 .without = "hbase snapshot via"},
	{"snapshot", 0, "URI", OFFLINE, take_text, AT(snapshot),
	 .help = "read the store files of a snapshot ROOT/.hbase-snapshot/NAME, without a server",
	 .without = "hbase table-dir via"},
	{"where", 0, "TEXT", "scan", take_text, AT(where),
	 .help = "return the rows that match, like \"owner = 1 and created >= 20120901 and f:name "
	 "is not null\". Use fields of the job or columns, and = != < <= > >=, between A and B, in "
	 "(A, B), starts with A, is null, and, or, not"},
	{"where", 0, "TEXT", "key", take_text, AT(where),
	 .help = "for ranges: the query, like \"owner = 1 and created >= 20120901\"; - reads one "
	 "query from each line of standard input"},
	{"start", 0, "KEY", "scan diff", take_key, AT(scan.start),
	 .help = "return rows from this key (in \\xHH form) on"},
	{"stop", 0, "KEY", "scan diff", take_key, AT(scan.stop),
	 .help = "return rows before this key"},
	{"prefix", 0, "KEY", "scan", take_key, AT(scan.prefix),
	 .help = "return rows whose key begins with these bytes"},
	{"reverse", 0, NULL, "scan", take_flag, AT(scan.q.reversed),
	 .help = "return rows in descending order; --start is then the largest key"},
	{"any-version", 0, NULL, "scan", take_flag, AT(scan.any_version),
	 .help = "--where also matches older versions of a column, not only the newest",
	 .with = "where"},
	{"limit", 0, "N", "scan", take_number, AT(scan.q.limit),
	 .help = "return at most N rows, and print a token for the next ones to standard error",
	 .least = 1},
	{"page", 0, "TOKEN", "scan", take_text, AT(scan.page),
	 .help = "continue after the rows of an earlier --limit; TOKEN is the token that the "
		 "earlier scan printed; "
	 "repeat the same query"},
	{"via", 0, "TABLE", "scan", take_text, AT(scan.via),
	 .help = "query this index table and return the rows that its cells name, in the order of "
	 "the index; skip and count entries of changed rows", .without = "explain"},
	{"raw", 0, NULL, "scan", take_flag, AT(scan.q.raw),
	 .help = "return all stored cells, including delete markers"},
	{"raw", 0, NULL, "diff", take_flag, AT(scan.q.raw),
	 .help = "compare all stored cells, including delete markers, deleted and expired cells"},
	{"raw", 0, NULL, "merge", take_flag, AT(scan.q.raw),
	 .help = "keep all stored cells, including delete markers, deleted and expired cells"},
	{"versions", 0, "N", "diff", take_number, AT(versions),
	 .help = "compare at most N versions of a column (default: all that VERSIONS keeps)",
	 .least = 1, .most = INT32_MAX},
	{"show", 0, "N", "diff", take_number, AT(shown),
	 .help = "print the first N differing cells", .standard = "20", .most = INT32_MAX},
	{"show", 0, "N", "agree", take_number, AT(shown),
	 .help = "print the first N differences of each table", .standard = "20", .most = INT32_MAX},
	{"truth", 0, "TABLE", "agree", take_text, AT(agree.truth),
	 .help = "the table of the job that is right"},
	{"repair", 0, "OUT", "agree", take_text, AT(agree.repair),
	 .help = "write the cells that repair the other tables to OUT.csv, a job for them to OUT.yaml, "
	 "and the load to OUT, for `saltmill apply OUT`"},
	{"delete-extra", 0, NULL, "agree", take_flag, AT(agree.delete_extra),
	 .help = "let --repair also delete extra cells that may be older events", .with = "repair"},
	{"columns", 0, "F:Q,F,...", ANSWERS, take_text, AT(scan.columns),
	 .help = "return only these columns and families"},
	{"versions", 0, "N", ANSWERS, take_number, AT(versions),
	 .help = "return up to N versions of a column, but not more than VERSIONS keeps", .standard = "1",
	 .least = 1, .most = INT32_MAX},
	{"time-range", 0, "A..B", ANSWERS " diff", take_time_range, AT(scan.q),
	 .help = "return cells with timestamps from A to before B, in ms or like "
	 "2012-09-01T00:00:00Z"},
	{"max-columns", 0, "N", ANSWERS, take_number, AT(scan.q.max_columns),
	 .help = "return at most N columns of a row, each with its newest version", .least = 1},
	{"now", 0, "TIME", ANSWERS " diff agree merge", take_time, AT(scan.q.now_ms),
	 .help = "for folders: expire cells by TTL as of this time (default: the clock)"},
	{"format", 0, NULL, ANSWERS, take_choice, AT(scan.format),
	 .help = "the form of the answer",
	 .standard = "table", CHOICES({"table", ANSWER_TABLE}, {"csv", ANSWER_CSV},
				      {"jsonl", ANSWER_JSONL})},
	{"decode", 0, NULL, ANSWERS, take_flag, AT(scan.decode),
	 .help = "return keys and values as fields of the job"},
	{"explain", 0, NULL, ANSWERS, take_flag, AT(scan.explain),
	 .help = "print which files scan reads and why; for a live table, print the request to "
                 "each region and the work of the servers"},

	{"to", 0, NULL, "key", take_choice, AT(form),
	 .help = "for encode: the form of the keys",
	 .standard = "escaped", CHOICES({"escaped", KEY_ESCAPED}, {"hex", KEY_HEX})},
	{"to", 0, "TABLE", "rekey", take_text, AT(rekey.to),
	 .help = "the table of NEW (default: its only table, or that with the name of the old table)"},
	{"since", 0, "SOURCE", "rekey", take_text, AT(rekey.since),
	 .help = "leave out the files that this earlier snapshot of the table has, too, because an earlier "
	 "rekey has moved their cells", .without = "hbase"},
	{"join-rows", 0, NULL, "rekey", take_flag, AT(rekey.join_rows),
	 .help = "let several old rows become one new row (default: refuse them)"},
	{"qualifier", 0, NULL, "key", take_flag, AT(qualifier),
	 .help = "for encode: print family:qualifier of the computed column with these fields, "
                 "instead of the row key"},
	{"from", 0, NULL, "key", take_choice, AT(form),
	 .help = "for decode: the form of the keys",
	 .standard = "escaped", CHOICES({"escaped", KEY_ESCAPED}, {"hex", KEY_HEX})},
	{"format", 0, NULL, "key", take_choice, AT(format),
	 .help = "for ranges: the form of the answer",
	 CHOICES({"table", RANGES_TABLE}, {"json", RANGES_JSON}, {"shell", RANGES_SHELL},
		 {"java", RANGES_JAVA}, {"python", RANGES_PYTHON})},

	{"limit", 0, "N", "key", take_number, AT(scan.q.limit),
	 .help = "for ranges: add a row limit and a matching caching value to shell, java or "
	  "python code",
	 .least = 1, .most = INT32_MAX},

	{"max-columns", 0, "N", "key", take_number, AT(scan.q.max_columns),
	 .help = "for ranges: write a limit for the columns of a row into shell, java or python",
	 .least = 1, .most = INT32_MAX},

	{"compression", 0, NULL, "convert", take_choice, AT(convert.codec),
	 .help = "compress the blocks with this codec",
	 CHOICES({"NONE", CODEC_NONE}, {"GZ", CODEC_GZ}, {"SNAPPY", CODEC_SNAPPY}, {"LZ4", CODEC_LZ4},
		 {"ZSTD", CODEC_ZSTD})},
	{"level", 0, "N", "convert", take_number, AT(convert.level),
	 .help = "the level of ZSTD or GZ (default: 3 for ZSTD, 6 for GZ)", .least = 1, .most = 22},
	{"framing", 0, NULL, "convert", take_choice, AT(convert.framing),
	 .help = "the HBase ZSTD codec that reads the files (default: as the input; for other inputs hbase)",
	 CHOICES({"hbase", ZSTD_FRAMING_HBASE}, {"hadoop", ZSTD_FRAMING_HADOOP})},
	{"data-block-encoding", 0, NULL, "convert", take_choice, AT(convert.encoding),
	 .help = "encode the blocks in this way",
	 CHOICES({"NONE", ENCODING_NONE}, {"PREFIX", ENCODING_PREFIX}, {"DIFF", ENCODING_DIFF},
		 {"FAST_DIFF", ENCODING_FAST_DIFF}, {"ROW_INDEX_V1", ENCODING_ROW_INDEX_V1})},
	{"blocksize", 0, "SIZE", "convert", take_size, AT(convert.block_bytes),
	 .help = "begin a new block after this many bytes of cells", .least = 1024, .most = 16 << 20},
	{"bloomfilter", 0, NULL, "convert", take_choice, AT(convert.bloom),
	 .help = "the content of the Bloom filter",
	 CHOICES({"NONE", BLOOM_NONE}, {"ROW", BLOOM_ROW}, {"ROWCOL", BLOOM_ROWCOL})},
	{"what-if", 0, NULL, "convert", take_flag, AT(convert.what_if),
	 .help = "write nothing; try codecs, encodings and block sizes on a sample, and print sizes and read costs",
	 .without = "output level framing bloomfilter splits"},
	{"keep-sequence-ids", 0, NULL, "merge convert", take_flag, AT(convert.keep_sequence),
	 .help = "write store files that can replace those of a disabled table, with the sequence id of "
	 "each cell (mvcc, MAX_SEQ_ID_KEY); give one input",
	 .without = "what-if splits"},
	{"family", 0, "FAMILY", "convert", take_text, AT(convert.family),
	 .help = "change only this family (default: all families)"},
	{"splits", 0, "FILE", "merge convert", take_text, AT(splits),
	 .help = "split the load at these keys, one a line, as in splits.txt (default: the regions "
	 "of the last input)"},
	{"splits", 0, "FILE", "ddl", take_text, AT(splits),
	 .help = "split the new table at these keys, one a line, as in splits.txt of `plan` or "
	 "`load`",
	 .without = "alter drop"},
	{"histogram", 0, "FILE", "ddl", take_text, AT(histogram),
	 .help = "with `split: key`: shares of key prefixes (header prefix,share) or of a field's "
	 "values (FIELD,share)",
	 .without = "splits alter drop"},
	{"alter", 0, "FILE", "ddl", take_text, AT(alter_file),
	 .help = "print the commands that change the existing table; FILE is the output of "
	 "`describe`",
	 .without = "drop"},
	{"drop", 0, NULL, "ddl", take_flag, AT(drop),
	 .help = "print the commands that drop the table"},

	{"first", 0, "T", "split", take_text, AT(first),
	 .help = "the first row key"},
	{"last", 0, "T", "split", take_text, AT(last),
	 .help = "the last row key"},
	{"firstrow", 0, "T", "split", take_text, AT(first),
	 .help = "the same as --first, with RegionSplitter's name"},
	{"lastrow", 0, "T", "split", take_text, AT(last),
	 .help = "the same as --last, with RegionSplitter's name"},
	{"format", 0, NULL, "split", take_choice, AT(format),
	 .help = "the form of the keys (default: text; escaped for UniformSplit; ddl with TABLE)",
	 CHOICES({"text", SPLITS_TEXT}, {"escaped", SPLITS_ESCAPED}, {"hex", SPLITS_HEX},
		 {"json", SPLITS_JSON}, {"ddl", SPLITS_DDL})},
	{NULL, 'c', "N", "split", take_number, AT(regions),
	 .help = "the number of regions of TABLE",
	 .least = 1, .most = INT32_MAX},
	{NULL, 'f', "FAMILY[:FAMILY...]", "split", take_text, AT(families),
	 .help = "the column families of TABLE"},

	{"cells", 0, NULL, "inspect", take_flag, AT(cells),
	 .help = "print every cell"},
	{"blocks", 0, NULL, "inspect", take_flag, AT(blocks),
	 .help = "print every block"},
	{"salvage", 0, "OUT", "inspect", take_text, AT(salvage),
	 .help = "write the cells of all intact data blocks of a damaged FILE to the new HFile OUT"},
	{"timings", 0, "FILE", "report", take_text, AT(timings),
	 .help = "the output of `load --json`; the page then shows the duration of the load"},
	{"lint", 0, "FILE", "report", take_text, AT(lint),
	 .help = "the output of `lint --json` or `plan --json`; the page then shows the findings"},

	{"format", 0, NULL, "help", take_choice, AT(format),
	 .help = "the form of the help: for job also markdown or json-schema; for commands also "
	 "man, or the completions of bash, zsh or fish", .standard = "text",
	 CHOICES({"text", HELP_TEXT}, {"markdown", HELP_MARKDOWN}, {"json-schema", HELP_SCHEMA},
		 {"man", HELP_MAN}, {"bash", HELP_BASH}, {"zsh", HELP_ZSH}, {"fish", HELP_FISH})},
	{"tables", 0, "JOB", "help", take_text, AT(job),
	 .help = "print the names of the tables of this job file, one a line"},
	{0}
};
/* clang-format on */
