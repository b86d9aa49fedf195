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
	{"bigint", "i64"},
	{"binary", "bytes"},
	{"blob", "bytes"},
	{"bloom", "bloomfilter"},
	{"boolean", "bool"},
	{"bytea", "bytes"},
	{"cf", "family"},
	{"char", "text"},
	{"codec", "compression"},
	{"column", "qualifier"},
	{"column_family", "family"},
	{"columns", "cells"},
	{"date", "time"},
	{"datetime", "time"},
	{"double", "f64"},
	{"file", "files"},
	{"float", "f64"},
	{"float32", "f32"},
	{"float32", "f64"},
	{"float64", "f64"},
	{"guid", "uuid"},
	{"inet", "ip"},
	{"input", "source"},
	{"int", "i64"},
	{"int16", "i64"},
	{"int32", "i32"},
	{"int32", "i64"},
	{"int64", "i64"},
	{"integer", "i64"},
	{"key", "rowkey"},
	{"long", "i64"},
	{"max_versions", "versions"},
	{"number", "f64"},
	{"numeric", "decimal"},
	{"path", "files"},
	{"paths", "files"},
	{"pk", "rowkey"},
	{"primary_key", "rowkey"},
	{"real", "f64"},
	{"schema", "fields"},
	{"sep", "delimiter"},
	{"separator", "delimiter"},
	{"short", "i64"},
	{"smallint", "i64"},
	{"splits", "regions"},
	{"str", "text"},
	{"string", "text"},
	{"table", "name"},
	{"timestamp", "time"},
	{"timestamp", "millis"},
	{"timestamptz", "time"},
	{"tinyint", "i64"},
	{"uint32", "u32"},
	{"uint64", "u64"},
	{"unsigned", "u64"},
	{"varbinary", "bytes"},
	{"varchar", "text"},
	{"varchar2", "text"},
};

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

/* Letters of Java's SimpleDateFormat and DateTimeFormatter, and the same letters of strptime. */
static const struct other_name time_letters[] = {
	{"yyyy", "%Y"}, {"uuuu", "%Y"}, {"yy", "%y"}, {"MMMM", "%B"}, {"MMM", "%b"}, {"MM", "%m"},
	{"M", "%m"},	{"dd", "%d"},	{"d", "%d"},  {"HH", "%H"},   {"H", "%H"},   {"hh", "%I"},
	{"SSS", "%f"},	{"mm", "%M"},	{"ss", "%S"}, {"a", "%p"},    {"EEE", "%a"}, {"XXX", "%z"},
	{"XX", "%z"},	{"X", "%z"},	{"Z", "%z"},  {"z", "%Z"},
};

/* Append the letters for the run of one letter at `p`. Return false if there are none. */
static bool put_letters(struct buf *to, const char *p, size_t n)
{
	for (size_t i = 0; i < sizeof time_letters / sizeof *time_letters; i++)
		if (strlen(time_letters[i].other) == n &&
		    strncmp(time_letters[i].other, p, n) == 0) {
			buf_append_str(to, time_letters[i].ours);
			return true;
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
	if (strchr(format, '%') || !strstr(format, "yy"))
		return false;
	for (const char *p = format; *p;) {
		size_t n = 1;

		if (*p == '\'') {
			p = put_quoted(to, p);
			continue;
		}
		while (isalpha((unsigned char)*p) && p[n] == *p)
			n++;
		if (isalpha((unsigned char)*p) && !put_letters(to, p, n))
			return false;
		if (!isalpha((unsigned char)*p))
			buf_put(to, (uint8_t)*p);
		p += n;
	}
	buf_put(to, 0);
	return true;
}
