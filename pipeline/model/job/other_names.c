/* other_names.c - names of other systems, and saltmill's names for them (schema.h) */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "schema.h"

struct other_name {
	const char *other, *ours;
};

/* Names of keys, and values of choices such as types and encodings. */
static const struct other_name names[] = {
	{"auto", "sampled"},
	{"bigint", "i64"},
	{"binary", "bytes"},
	{"blob", "bytes"},
	{"bloom", "bloomfilter"},
	{"boolean", "bool"},
	{"bootstrap.servers", "brokers"},
	{"bootstrap_servers", "brokers"},
	{"bucket", "salt"},
	{"buckets", "salt"},
	{"bytea", "bytes"},
	{"cf", "family"},
	{"char", "text"},
	{"charset", "encoding"},
	{"clob", "text"},
	{"codec", "compression"},
	{"column", "field"},
	{"column", "qualifier"},
	{"column_family", "family"},
	{"columns", "cells"},
	{"date", "time"},
	{"datetime", "time"},
	{"decimal", "decimal"},
	{"decimalstringsplit", "decimal"},
	{"dedup", "duplicates"},
	{"deflate", "GZ"},
	{"dir", "files"},
	{"directory", "files"},
	{"double", "f64"},
	{"expire", "ttl"},
	{"family", "families"},
	{"feather", "arrow"},
	{"field", "value"},
	{"file", "files"},
	{"float", "f64"},
	{"float32", "f32"},
	{"float32", "f64"},
	{"float64", "f64"},
	{"folder", "files"},
	{"guid", "uuid"},
	{"has_header", "header"},
	{"hexstringsplit", "hex"},
	{"inet", "ip"},
	{"input", "source"},
	{"int", "i64"},
	{"int16", "i64"},
	{"int32", "i32"},
	{"int32", "i64"},
	{"int64", "i64"},
	{"integer", "i64"},
	{"json", "text"},
	{"jsonb", "text"},
	{"jsonl", "json"},
	{"key", "rowkey"},
	{"long", "i64"},
	{"max_versions", "versions"},
	{"micros", "us"},
	{"microseconds", "us"},
	{"millis", "ms"},
	{"milliseconds", "ms"},
	{"na_values", "null"},
	{"nanos", "ns"},
	{"nanoseconds", "ns"},
	{"ndjson", "json"},
	{"null_values", "null"},
	{"nullstr", "null"},
	{"number", "count"},
	{"number", "f64"},
	{"numeric", "decimal"},
	{"path", "files"},
	{"paths", "files"},
	{"pk", "rowkey"},
	{"primary_key", "rowkey"},
	{"quotechar", "quote"},
	{"real", "f64"},
	{"regions", "count"},
	{"schema", "fields"},
	{"sec", "s"},
	{"second", "s"},
	{"seconds", "s"},
	{"sep", "delimiter"},
	{"separator", "delimiter"},
	{"seperator", "delimiter"},
	{"short", "i64"},
	{"skip_header", "skip"},
	{"skip_lines", "skip"},
	{"skip_rows", "skip"},
	{"skiprows", "skip"},
	{"smallint", "i64"},
	{"splits", "regions"},
	{"str", "text"},
	{"string", "text"},
	{"table", "name"},
	{"time", "timestamp"},
	{"timestamp", "millis"},
	{"timestamp", "time"},
	{"timestamptz", "time"},
	{"tinyint", "i64"},
	{"true", "ROW"},
	{"ts", "timestamp"},
	{"tsv", "csv"},
	{"type", "as"},
	{"uint32", "u32"},
	{"uint64", "u64"},
	{"uncompressed", "NONE"},
	{"uniformsplit", "uniform"},
	{"unsigned", "u64"},
	{"varbinary", "bytes"},
	{"varchar", "text"},
	{"varchar2", "text"},
	{"zlib", "GZ"},
	{"zstandard", "ZSTD"},
};

/* Values of keys that other programs or people write, and the text to write in the job. */
static const struct {
	const char *key, *value, *fix;
} values[] = {
	{"as", "md5", "{hash: md5, of: [FIELD], bytes: 8}"},
	{"as", "hash", "{hash: md5, of: [FIELD], bytes: 8}"},
	{"encoding", "ansi", "encoding: cp1252"},
	{"encoding", "latin", "encoding: latin1"},
	{"encoding", "unicode", "encoding: utf-16"},
	{"format", "unix", "unit: s"},
	{"format", "epoch", "unit: s"},
	{"format", "epoch_s", "unit: s"},
	{"format", "unixtime", "unit: s"},
	{"format", "seconds", "unit: s"},
	{"format", "s", "unit: s"},
	{"format", "epoch_ms", "unit: ms"},
	{"format", "epoch_millis", "unit: ms"},
	{"format", "unix_ms", "unit: ms"},
	{"format", "millis", "unit: ms"},
	{"format", "ms", "unit: ms"},
	{"format", "iso", "format: iso8601"},
	{"format", "iso-8601", "format: iso8601"},
	{"format", "rfc3339", "format: iso8601"},
	{"header", "0", "header: false"},
	{"header", "1", "header: true"},
	{"header", "no", "header: false"},
	{"header", "none", "header: false"},
	{"header", "yes", "header: true"},
	{"quote", "none", "quotes: none"},
	{"versions", "all", "versions: 2147483647"},
};

const char *value_fix(const char *key, const char *value)
{
	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		if (strcmp(values[i].key, key) == 0 && strcasecmp(values[i].value, value) == 0)
			return values[i].fix;
	return NULL;
}

const char *other_name(const char *name, const char *const *known, size_t nknown)
{
	/* the name ends before the length in varchar(20) */
	size_t len = strcspn(name, "( ");

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (strlen(names[i].other) != len || strncasecmp(names[i].other, name, len) != 0)
			continue;
		for (size_t k = 0; k < nknown; k++)
			if (strcmp(known[k], names[i].ours) == 0)
				return known[k];
	}
	return near_miss(name, known, nknown);
}

/* --- time formats --- */

/* Letters of Java, JavaScript and Oracle for times, by the length of a run, for strptime. */
static const struct time_letter {
	char letter;
	uint8_t least, most;
	const char *ours;
} time_letters[] = {{'y', 4, 4, "%Y"}, {'y', 2, 2, "%y"}, {'u', 4, 4, "%Y"}, {'Y', 4, 4, "%Y"},
		    {'Y', 2, 2, "%y"}, {'M', 4, 4, "%B"}, {'M', 3, 3, "%b"}, {'M', 1, 2, "%m"},
		    {'d', 1, 2, "%d"}, {'D', 2, 2, "%d"}, {'H', 1, 2, "%H"}, {'h', 2, 2, "%I"},
		    {'m', 2, 2, "%M"}, {'s', 2, 2, "%S"}, {'S', 3, 3, "%f"}, {'S', 2, 2, "%S"},
		    {'a', 1, 1, "%p"}, {'E', 3, 3, "%a"}, {'X', 1, 3, "%z"}, {'Z', 1, 1, "%z"},
		    {'z', 1, 1, "%Z"}};

/* Append strptime's letters for a run of `n` letters. Return false if there are none. */
static bool put_letters(struct buf *to, char letter, size_t n)
{
	for (size_t i = 0; i < sizeof time_letters / sizeof *time_letters; i++) {
		const struct time_letter *t = &time_letters[i];

		if (t->letter == letter && n >= t->least && n <= t->most) {
			buf_append_str(to, t->ours);
			return true;
		}
	}
	return false;
}

/* Append the text between quotes at `p`. Return the first character after it. */
static const char *put_quoted(struct buf *to, const char *p)
{
	for (p++; *p && *p != '\''; p++)
		buf_put(to, (uint8_t)*p);
	return *p ? p + 1 : p;
}

bool strptime_of_java(struct buf *to, const char *format)
{
	if (strchr(format, '%') || (!strstr(format, "yy") && !strstr(format, "YY")))
		return false;
	for (const char *p = format; *p;) {
		size_t n = 1;

		if (*p == '\'') {
			p = put_quoted(to, p);
			continue;
		}
		/* Oracle writes HH24:MI */
		if (strncmp(p, "HH24", 4) == 0 || strncmp(p, "MI", 2) == 0) {
			buf_append_str(to, *p == 'H' ? "%H" : "%M");
			p += *p == 'H' ? 4 : 2;
			continue;
		}
		while (isalpha((unsigned char)*p) && p[n] == *p)
			n++;
		if (isalpha((unsigned char)*p) && !put_letters(to, *p, n))
			return false;
		if (!isalpha((unsigned char)*p))
			buf_put(to, (uint8_t)*p);
		p += n;
	}
	buf_put(to, 0);
	return true;
}
