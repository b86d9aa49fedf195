/*
 * cmd_split.c - implements `saltmill split`, which prints the split points of HBase's own
 * algorithms
 *
 * The command also accepts the arguments of HBase's RegionSplitter.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "ddl.h"
#include "form.h"
#include "schemas.h"
#include "mem.h"
#include "splits.h"
#include "bytes.h"

/* One run, with its options and operands. */
struct split_run {
	const struct arguments *args;
	const char *table; /* for RegionSplitter's form, the table; otherwise NULL */
	enum split_algorithm algorithm;
	uint32_t regions;
};

static int parse_regions(const char *text, uint32_t *out, struct error *err)
{
	char *end = NULL;

	errno = 0;
	unsigned long n = text[0] >= '0' && text[0] <= '9' ? strtoul(text, &end, 10) : 0;
	if (!end || *end || errno || n < 1 || n > INT32_MAX)
		return error_set(err, RC_CONFIG,
				 "N: found `%s`, expected a number of regions from 1 to %d", text,
				 INT32_MAX);
	*out = (uint32_t)n;
	return RC_OK;
}

static int parse_algorithm(const char *text, enum split_algorithm *out, struct error *err)
{
	static const char *const names[] = {"UniformSplit", "HexStringSplit", "DecimalStringSplit"};
	int a = split_algorithm_parse(text);

	if (a < 0) {
		const char *near = strcmp(text, "hex") == 0	  ? names[1]
				   : strcmp(text, "decimal") == 0 ? names[2]
				   : strcmp(text, "uniform") == 0 ? names[0]
								  : near_miss(text, names, 3);

		if (near)
			return error_set(err, RC_CONFIG, "ALGORITHM: found `%s`; did you mean %s?",
					 text, near);
		return error_set(err, RC_CONFIG,
				 "ALGORITHM: found `%s`, expected UniformSplit, HexStringSplit or "
				 "DecimalStringSplit",
				 text);
	}
	*out = (enum split_algorithm)a;
	return RC_OK;
}

/* Reads ALGORITHM N, or TABLE ALGORITHM with -c and -f. */
static int take_operands(struct split_run *r, struct error *err)
{
	const struct arguments *a = r->args;

	if (!a->regions && !a->families) {
		int rc = parse_algorithm(a->operand[0], &r->algorithm, err);

		return rc ? rc : parse_regions(a->operand[1], &r->regions, err);
	}
	if (!a->families)
		return error_set(
			err, RC_CONFIG,
			"-c: found no column family, expected `-f FAMILY[:FAMILY...]` too");
	if (!a->regions)
		return error_set(err, RC_CONFIG,
				 "-f: found no number of regions, expected `-c N` too");
	r->table = a->operand[0];
	r->regions = (uint32_t)a->regions;
	return parse_algorithm(a->operand[1], &r->algorithm, err);
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

struct split_view {
	const char *algorithm;
	uint32_t regions;
	struct splits s;
	char **hex;
};

static const struct form_member split_members[] = {
	{"algorithm", FORM_TEXT, IN(split_view, algorithm), "name of the split algorithm"},
	{"regions", FORM_UINT, IN(split_view, regions), "number of regions"},
	{"splits", FORM_KEYS, IN(split_view, s.keys), "split points, one fewer than the regions",
	 COUNT_AT(split_view, s.count)},
	{"hex", FORM_TEXTS, IN(split_view, hex), "the split points as hex digits",
	 COUNT_AT(split_view, s.count)},
};
const struct form split_form = NAMED_FORM(split_view, split_members, "split", "split --json");

static void put_json(const struct split_run *r, const struct splits *s, struct buf *out)
{
	struct arena arena = {0};
	struct split_view v = {.algorithm = split_algorithm_name(r->algorithm),
			       .regions = r->regions,
			       .s = *s,
			       .hex = arena_alloc(&arena, s->count * sizeof *v.hex)};

	for (size_t i = 0; i < s->count; i++) {
		struct buf text = {0};

		hex_key(&text, s->keys[i]);
		v.hex[i] = arena_strndup(&arena, (const char *)text.ptr, text.len);
		buf_release(&text);
	}
	form_put(out, &split_form, &v, FORM_REPORT);
	arena_release(&arena);
}

/* Appends the clause that follows `create 't', 'f', ` in the HBase shell. */
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

/* Appends a `create` command with HBase's default attributes. */
static int put_create(const struct split_run *r, const struct splits *s, struct buf *out,
		      struct error *err)
{
	struct arena arena = {0};
	struct table t = {.name = r->table};
	struct pos at = {0};
	const struct ddl_options all_inline = {.inline_keys = SIZE_MAX};

	t.families = arena_alloc(&arena, (strlen(r->args->families) + 1) * sizeof *t.families);
	for (const char *p = r->args->families; *p;) {
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

/*
 * Returns the default output form. UniformSplit's keys may contain any byte. The keys of other
 * algorithms are digits.
 */
static enum splits_form usual_form(const struct split_run *r)
{
	if (r->table)
		return SPLITS_DDL;
	return r->algorithm == SPLIT_ALGORITHM_UNIFORM ? SPLITS_ESCAPED : SPLITS_TEXT;
}

static int put_splits(const struct split_run *r, const struct splits *s, struct buf *out,
		      struct error *err)
{
	enum splits_form f = r->args->format;

	if (f == SPLITS_USUAL)
		f = r->args->run.json ? SPLITS_JSON : usual_form(r);
	switch (f) {
	case SPLITS_TEXT:
		if (r->algorithm == SPLIT_ALGORITHM_UNIFORM)
			return error_set(err, RC_CONFIG,
					 "--format text: keys of UniformSplit are binary, "
					 "expected escaped or hex");
		put_text(s, out);
		return RC_OK;
	case SPLITS_HEX: put_hex(s, out); return RC_OK;
	case SPLITS_JSON: put_json(r, s, out); return RC_OK;
	case SPLITS_DDL:
		if (r->table)
			return put_create(r, s, out, err);
		put_clause(s, out);
		return RC_OK;
	case SPLITS_USUAL:
	case SPLITS_ESCAPED: break;
	}
	splits_format(s, out);
	return RC_OK;
}

static int run(struct arguments *a)
{
	struct error err;
	struct split_run r = {.args = a};
	struct splits s = {0};
	struct buf out = {0};
	int rc = take_operands(&r, &err);

	if (rc == RC_OK)
		rc = splits_compute(&s, r.algorithm, r.regions, a->first, a->last, &err);
	if (rc == RC_OK)
		rc = put_splits(&r, &s, &out, &err);
	int status = rc ? command_fail("split", &err) : command_print("split", &out);
	buf_release(&out);
	splits_release(&s);
	return status;
}

const struct command split_command = {
	.name = "split",
	.usage = "ALGORITHM N [options] | TABLE ALGORITHM -c N -f FAMILY[:FAMILY...]",
	.summary = "print the split points of HBase's own algorithms, which need no data",
	.least = 2,
	.most = 2,
	.run = run,
	.decides = "The algorithms divide the range from --first to --last into N equal parts, "
		   "with the arithmetic of HBase. UniformSplit divides all bytes, HexStringSplit "
		   "the keys 00000000 to FFFFFFFF, DecimalStringSplit the keys 00000000 to "
		   "99999999. The algorithms ignore the distribution of your keys. Use them for "
		   "hashed keys, and `saltmill plan` for other keys. With TABLE, -c and -f, split "
		   "prints the table "
		   "that RegionSplitter would create.",
	.operands = {{"ALGORITHM", "UniformSplit, HexStringSplit or DecimalStringSplit"}},
	.statuses = "0 done; 1 failed; 2 wrong usage",
	.examples = {"saltmill split HexStringSplit 16 --format ddl",
		     "saltmill split UniformSplit 8 --first '\\x00' --last '\\x10'"}};
