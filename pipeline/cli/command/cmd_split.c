/*
 * cmd_split.c - `saltmill split ALGORITHM N`, and RegionSplitter's own form
 *
 *   saltmill split HexStringSplit 16
 *   saltmill split test_table HexStringSplit -c 10 -f info:data
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "ddl.h"
#include "mem.h"
#include "splits.h"
#include "bytes.h"

enum { OPT_FIRST = 500, OPT_LAST, OPT_FORMAT };
enum format { FORMAT_DEFAULT, FORMAT_TEXT, FORMAT_ESCAPED, FORMAT_HEX, FORMAT_JSON, FORMAT_DDL };

struct split_arguments {
	const char *first, *last;
	const char *table, *families; /* RegionSplitter's form; NULL otherwise */
	enum split_algorithm algorithm;
	enum format format;
	uint32_t regions; /* 0: not given */
};

static int parse_regions(const char *text, const char *what, uint32_t *out, struct error *err)
{
	char *end = NULL;

	errno = 0;
	unsigned long n = text[0] >= '0' && text[0] <= '9' ? strtoul(text, &end, 10) : 0;
	if (!end || *end || errno || n < 1 || n > INT32_MAX)
		return error_set(err, RC_CONFIG,
				 "%s: found `%s`, expected a number of regions from 1 to %d", what,
				 text, INT32_MAX);
	*out = (uint32_t)n;
	return RC_OK;
}

static int parse_format(const char *text, enum format *out, struct error *err)
{
	static const char *const names[] = {"text", "escaped", "hex", "json", "ddl", NULL};
	size_t i = 0;
	int rc = parse_choice("--format", text, names, &i, err);

	*out = FORMAT_TEXT + (enum format)i;
	return rc;
}

static int parse_algorithm(const char *text, enum split_algorithm *out, struct error *err)
{
	static const char *const names[] = {"UniformSplit", "HexStringSplit", "DecimalStringSplit"};
	int a = split_algorithm_parse(text);

	if (a < 0) {
		const char *near = near_miss(text, names, 3);

		if (near)
			return error_set(err, RC_CONFIG, "unknown algorithm `%s`; did you mean %s?",
					 text, near);
		return error_set(err, RC_CONFIG,
				 "unknown algorithm `%s`, expected UniformSplit, HexStringSplit or "
				 "DecimalStringSplit",
				 text);
	}
	*out = (enum split_algorithm)a;
	return RC_OK;
}

static int take_option(void *ctx, int opt, const char *arg, struct error *err)
{
	struct split_arguments *a = ctx;

	switch (opt) {
	case OPT_FIRST: a->first = arg; return RC_OK;
	case OPT_LAST: a->last = arg; return RC_OK;
	case OPT_FORMAT: return parse_format(arg, &a->format, err);
	case 'c': return parse_regions(arg, "-c", &a->regions, err);
	default: a->families = arg; return RC_OK;
	}
}

/* ALGORITHM N, or TABLE ALGORITHM with -c and -f. */
static int take_operands(struct split_arguments *a, int n, char **operand, struct error *err)
{
	if (n != 2)
		return error_set(err, RC_CONFIG,
				 "found %d operands, expected ALGORITHM N, or TABLE ALGORITHM "
				 "-c N -f FAMILY",
				 n);
	if (!a->regions && !a->families) {
		int rc = parse_algorithm(operand[0], &a->algorithm, err);

		return rc ? rc : parse_regions(operand[1], operand[0], &a->regions, err);
	}
	if (!a->regions || !a->families)
		return error_set(err, RC_CONFIG, "%s: expected both -c N and -f FAMILY[:FAMILY...]",
				 a->regions ? "no column family" : "no number of regions");
	a->table = operand[0];
	return parse_algorithm(operand[1], &a->algorithm, err);
}

/* --- output --- */

static void put_text(const struct splits *s, struct buf *out)
{
	for (size_t i = 0; i < s->count; i++) {
		buf_append(out, s->keys[i].ptr, s->keys[i].len);
		buf_put(out, '\n');
	}
}

static void hex_key(struct buf *out, struct bytes key)
{
	for (size_t i = 0; i < key.len; i++)
		buf_printf(out, "%02x", key.ptr[i]);
}

static void put_hex(const struct splits *s, struct buf *out)
{
	for (size_t i = 0; i < s->count; i++) {
		hex_key(out, s->keys[i]);
		buf_put(out, '\n');
	}
}

static json_t *key_list(const struct splits *s, void (*form)(struct buf *, struct bytes))
{
	json_t *list = json_array();
	struct buf text = {0};

	for (size_t i = 0; i < s->count; i++) {
		text.len = 0;
		form(&text, s->keys[i]);
		json_array_append_new(list, json_stringn((const char *)text.ptr, text.len));
	}
	buf_release(&text);
	return list;
}

static void put_json(const struct split_arguments *a, const struct splits *s, struct buf *out)
{
	json_t *all =
		json_pack("{s:s, s:I, s:o, s:o}", "algorithm", split_algorithm_name(a->algorithm),
			  "regions", (json_int_t)a->regions, "splits", key_list(s, bytes_escape),
			  "hex", key_list(s, hex_key));
	char *text = json_dumps(all, JSON_INDENT(2));

	buf_append_str(out, text);
	buf_put(out, '\n');
	free(text);
	json_decref(all);
}

/* What goes behind `create 't', 'f', ` in the shell. */
static void put_clause(const struct splits *s, struct buf *out)
{
	buf_append_str(out, "SPLITS => [");
	for (size_t i = 0; i < s->count; i++) {
		buf_append_str(out, i ? ", '" : "'");
		bytes_escape(out, s->keys[i]);
		buf_put(out, '\'');
	}
	buf_append_str(out, "]\n");
}

/* HBase's default attributes, as those of a job that says nothing. */
static int put_create(const struct split_arguments *a, const struct splits *s, struct buf *out,
		      struct error *err)
{
	struct arena arena = {0};
	struct table t = {.name = a->table};
	struct pos at = {0};
	const struct ddl_options all_inline = {.inline_keys = SIZE_MAX};

	t.families = arena_alloc(&arena, (strlen(a->families) + 1) * sizeof *t.families);
	for (const char *p = a->families; *p;) {
		size_t len = strcspn(p, ":");

		t.families[t.nfamilies++] = family_default(arena_strndup(&arena, p, len));
		p += len + (p[len] == ':');
	}
	int rc = table_check(&t, &arena, &at, err);
	if (rc == RC_OK)
		rc = ddl_create_with(out, &t, s, &all_inline, err);
	arena_release(&arena);
	return rc;
}

/* UniformSplit's keys are any bytes; those of the others are digits. */
static enum format natural_format(const struct split_arguments *a)
{
	if (a->table)
		return FORMAT_DDL;
	return a->algorithm == SPLIT_ALGORITHM_UNIFORM ? FORMAT_ESCAPED : FORMAT_TEXT;
}

static int put_splits(const struct split_arguments *a, const struct splits *s, struct buf *out,
		      struct error *err)
{
	enum format f = a->format == FORMAT_DEFAULT ? natural_format(a) : a->format;

	switch (f) {
	case FORMAT_TEXT:
		if (a->algorithm == SPLIT_ALGORITHM_UNIFORM)
			return error_set(err, RC_CONFIG,
					 "--format text: keys of UniformSplit are any bytes, "
					 "expected escaped or hex");
		put_text(s, out);
		return RC_OK;
	case FORMAT_HEX: put_hex(s, out); return RC_OK;
	case FORMAT_JSON: put_json(a, s, out); return RC_OK;
	case FORMAT_DDL:
		if (a->table)
			return put_create(a, s, out, err);
		put_clause(s, out);
		return RC_OK;
	default: splits_format(s, out); return RC_OK;
	}
}

int cmd_split(int argc, char **argv)
{
	static const struct option own[] = {{"first", required_argument, NULL, OPT_FIRST},
					    {"last", required_argument, NULL, OPT_LAST},
					    {"firstrow", required_argument, NULL, OPT_FIRST},
					    {"lastrow", required_argument, NULL, OPT_LAST},
					    {"format", required_argument, NULL, OPT_FORMAT},
					    {0}};
	struct run_options o;
	struct error err;
	struct split_arguments a = {0};
	struct splits s = {0};
	struct buf out = {0};
	int first, rc = options_parse(argc, argv, &o, own, "c:f:", take_option, &a, &first);

	if (rc)
		return rc == RC_END ? EXIT_DONE : EXIT_USAGE;
	if (o.json && a.format == FORMAT_DEFAULT)
		a.format = FORMAT_JSON;
	rc = take_operands(&a, argc - first, argv + first, &err);
	if (rc == RC_OK)
		rc = splits_compute(&s, a.algorithm, a.regions, a.first, a.last, &err);
	if (rc == RC_OK)
		rc = put_splits(&a, &s, &out, &err);
	int status = rc ? command_fail("split", &err) : command_print("split", &out);
	buf_release(&out);
	splits_release(&s);
	return status;
}
