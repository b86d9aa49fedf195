/* write_job.c - write the job of a table, with the confidence of each part as a comment */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "advise/yaml_text.h"
#include "ddl.h"
#include "infer.h"

/* --- comments --- */

/* Write a comment as one line, because a value of the table must not begin a line of the job. */
static void put_comment(struct buf *out, const struct guess *g)
{
	buf_printf(out, "   # %s%s", g->opaque || g->widened || g->doubt ? "CHECK: " : "",
		   g->widened ? "bytes, because no form gives all values again: " : "");
	text_visible(out, bytes_str(g->what ? g->what : ""));
	if (g->doubt)
		buf_printf(out, "; %s", g->doubt);
	if (!g->opaque && !g->widened)
		buf_printf(out, "; %u %%", g->confidence);
	buf_append_str(out, "\n");
}

/* --- fields --- */

static void put_field(struct buf *out, const char *name, const struct guess *g)
{
	buf_append_str(out, "  ");
	put_text(out, name);
	buf_printf(out, ": {type: %s", field_type_name(g->type));
	if (g->type == FIELD_TIME && g->format) {
		buf_append_str(out, ", format: ");
		put_text(out, g->format);
	} else if (g->type == FIELD_TIME) {
		/* decoded times are milliseconds, unless the key or value is a text */
		buf_printf(out, ", unit: %s", g->unit);
	}
	buf_append_str(out, "}");
	put_comment(out, g);
}

static void each_name(const struct guess_table *t,
		      void (*see)(struct buf *, const char *, const struct guess *),
		      struct buf *out)
{
	for (size_t i = 0; i < t->key.n; i++)
		if (t->key.part[i].name)
			see(out, t->key.part[i].name, &t->key.part[i]);
	for (size_t c = 0; c < t->ncolumns; c++) {
		const struct guess_column *col = &t->columns[c];

		for (size_t i = 0; i < col->qualifiers.n; i++)
			if (col->qualifiers.part[i].name)
				see(out, col->qualifiers.part[i].name, &col->qualifiers.part[i]);
		see(out, col->name, &col->value);
	}
}

static void put_name(struct buf *out, const char *name, const struct guess *g)
{
	(void)g;
	buf_append_str(out, out->ptr[out->len - 1] == '[' ? "" : ", ");
	put_text(out, name);
}

static void put_source(const struct guess_table *t, struct buf *out)
{
	buf_append_str(out, "source:\n  csv:   # a new load needs files with these columns\n"
			    "    files: ['-']\n    columns: [");
	each_name(t, put_name, out);
	buf_append_str(out, t->time_is_key ? "]\n" : ", timestamp]\n");
	buf_append_str(out, "fields:\n");
	each_name(t, put_field, out);
	if (!t->time_is_key)
		buf_append_str(out, "  timestamp: {type: time, unit: ms}   # of the cells\n");
}

/* --- row key and qualifiers --- */

static void put_of(struct buf *out, const struct guesses *g, const struct guess *p)
{
	buf_append_str(out, ", of: [");
	for (size_t i = 0; i < p->nof; i++) {
		buf_append_str(out, i ? ", " : "");
		put_text(out, g->part[p->of[i]].name);
	}
	buf_append_str(out, "]");
}

static void put_salt(struct buf *out, const struct guesses *g, const struct guess *p)
{
	static const char *const names[] = {[HASH_MURMUR3] = "murmur3",
					    [HASH_PHOENIX] = "phoenix",
					    [HASH_OPENTSDB] = "opentsdb",
					    [HASH_HBASEWD] = "hbasewd"};

	buf_printf(out, "{salt: %u", p->buckets);
	if (p->drawn)
		buf_append_str(out, ", draw: random");
	else if (p->hash != HASH_MURMUR3)
		buf_printf(out, ", hash: %s", names[p->hash]);
	if (!p->drawn && p->nof)
		put_of(out, g, p);
	buf_append_str(out, p->width == 2 && p->buckets <= 256 ? ", width: 2}" : "}");
}

static void put_constant(struct buf *out, struct bytes b)
{
	buf_append_str(out, "{hex: '");
	bytes_hex(out, b);
	buf_append_str(out, "'}");
}

static void put_field_part(struct buf *out, const struct guess *p)
{
	buf_append_str(out, "{field: ");
	put_text(out, p->name);
	buf_printf(out, ", as: %s", encodings[p->as].name);
	if (p->padded)
		buf_printf(out, ", width: %u%s", p->width, p->zeros ? ", pad: '\\x00'" : "");
	if (p->terminator != NO_TERMINATOR && p->as != AS_DESCENDING_TEXT) {
		bool print = p->terminator > 0x20 && p->terminator < 0x7f;

		buf_printf(out, print ? ", terminator: '%c'" : ", terminator: '\\x%02X'",
			   (unsigned)p->terminator);
	}
	buf_append_str(out, "}");
}

/* Write the parts. `keys` has a key, which has the constants. */
static void put_parts(struct buf *out, const struct guesses *g, struct bytes key,
		      const char *indent)
{
	struct bytes parts[GUESS_PARTS] = {{0}};

	guess_split(g, key, parts);
	for (size_t i = 0; i < g->n; i++) {
		const struct guess *p = &g->part[i];

		buf_printf(out, "%s- ", indent);
		switch (p->kind) {
		case GUESS_CONST: put_constant(out, parts[i]); break;
		case GUESS_SALT: put_salt(out, g, p); break;
		case GUESS_FIELD: put_field_part(out, p); break;
		case GUESS_HASH:
			buf_printf(out, "{hash: %s", p->hash == HASH_MD5 ? "md5" : "murmur3");
			put_of(out, g, p);
			buf_printf(out, ", bytes: %u}", p->width);
			break;
		}
		if (p->kind == GUESS_CONST) {
			buf_append_str(out, "   # ");
			text_visible(out, parts[i]);
			buf_printf(out, ": %s; %u %%\n", p->what, p->confidence);
		} else {
			put_comment(out, p);
		}
	}
}

/* --- families and cells --- */

/* Write an attribute of a family if HBase's default differs. */
static void put_attribute(struct buf *out, const struct attributes *items, const char *key,
			  const char *name, const char *usual)
{
	const char *v = attributes_get(items, key);

	if (!v || strcasecmp(v, usual) == 0)
		return;
	buf_append_str(out, out->ptr[out->len - 1] == '{' ? "" : ", ");
	buf_printf(out, "%s: ", name);
	put_text(out, v);
}

static void put_ttl(struct buf *out, const struct attributes *items)
{
	const char *v = attributes_get(items, "TTL");
	int32_t ttl_s;

	if (!v || !ttl_parse(v, &ttl_s) || ttl_s == TTL_FOREVER)
		return;
	buf_printf(out, "%sttl: %ds", out->ptr[out->len - 1] == '{' ? "" : ", ", (int)ttl_s);
}

static void put_configuration(struct buf *out, const struct described *f)
{
	if (!f->configuration.count)
		return;
	buf_append_str(out,
		       out->ptr[out->len - 1] == '{' ? "configuration: {" : ", configuration: {");
	for (size_t i = 0; i < f->configuration.count; i++) {
		buf_append_str(out, i ? ", " : "");
		put_text(out, f->configuration.item[i].key);
		buf_append_str(out, ": ");
		put_text(out, f->configuration.item[i].value);
	}
	buf_append_str(out, "}");
}

static void put_described(struct buf *out, const struct described *f, bool sampled)
{
	const char *codec = attributes_get(&f->items, "COMPRESSION");
	bool lzo = codec && strcasecmp(codec, "LZO") == 0;

	buf_append_str(out, "      ");
	put_text(out, f->name);
	buf_append_str(out, ": {");
	put_attribute(out, &f->items, "VERSIONS", "versions", "1");
	put_attribute(out, &f->items, "MIN_VERSIONS", "min_versions", "0");
	put_ttl(out, &f->items);
	put_attribute(out, &f->items, "BLOOMFILTER", "bloomfilter", "ROW");
	if (!lzo)
		put_attribute(out, &f->items, "COMPRESSION", "compression", "NONE");
	put_attribute(out, &f->items, "DATA_BLOCK_ENCODING", "data_block_encoding", "NONE");
	put_attribute(out, &f->items, "BLOCKSIZE", "blocksize", "65536");
	put_attribute(out, &f->items, "IN_MEMORY", "in_memory", "false");
	put_attribute(out, &f->items, "KEEP_DELETED_CELLS", "keep_deleted_cells", "FALSE");
	put_attribute(out, &f->items, "REPLICATION_SCOPE", "replication_scope", "0");
	put_configuration(out, f);
	if (!sampled)
		buf_append_str(out, out->ptr[out->len - 1] == '{' ? "other_load: true"
								  : ", other_load: true");
	buf_append_str(out, lzo	      ? "}   # LZO in the table, which saltmill does not write\n"
			    : sampled ? "}\n"
				      : "}   # CHECK: no sampled row has a cell of this family\n");
}

static bool is_sampled(const struct guess_table *t, const char *family)
{
	for (size_t c = 0; c < t->ncolumns; c++)
		if (bytes_eq(t->columns[c].family, bytes_str(family)))
			return true;
	return false;
}

static void put_families(const struct guess_table *t, struct buf *out)
{
	const struct description *d = t->sample->description;

	buf_append_str(out, "    families:\n");
	for (size_t i = 0; d && i < d->nfamilies; i++)
		put_described(out, &d->families[i], is_sampled(t, d->families[i].name));
	for (size_t c = 0; !d && c < t->ncolumns; c++) {
		if (c && bytes_eq(t->columns[c].family, t->columns[c - 1].family))
			continue;
		buf_append_str(out, "      ");
		put_yaml(out, t->columns[c].family);
		buf_append_str(out, ": {}   # CHECK: the attributes of the family are unknown\n");
	}
}

static void put_value(const struct guess_column *c, struct buf *out)
{
	buf_append_str(out, "value: {field: ");
	put_text(out, c->name);
	buf_printf(out, ", as: %s}", encodings[c->value.as].name);
}

/* Write a column whose qualifier has several lines. */
static void put_wide(const struct guess_column *c, struct buf *out)
{
	buf_append_str(out, "      - family: ");
	put_yaml(out, c->family);
	buf_append_str(out, "\n        qualifier:   # many different qualifiers: a wide table\n");
	put_parts(out, &c->qualifiers, c->qualifier, "          ");
	buf_append_str(out, "        ");
	put_value(c, out);
	buf_append_str(out, "\n        optional: true\n");
}

static void put_cells(const struct guess_table *t, struct buf *out)
{
	const size_t rows = t->sample->nrows;

	buf_append_str(out, "    cells:\n");
	for (size_t i = 0; i < t->ncolumns; i++) {
		const struct guess_column *c = &t->columns[i];

		if (c->wide) {
			put_wide(c, out);
			continue;
		}
		if (c->open)
			buf_printf(out, "      # CHECK: these qualifiers %s\n", c->open);
		buf_append_str(out, "      - {family: ");
		put_yaml(out, c->family);
		buf_append_str(out, ", qualifier: '");
		bytes_escape(out, c->qualifier);
		buf_append_str(out, "', ");
		put_value(c, out);
		buf_printf(out, "%s}   # in %zu of %zu sampled rows\n",
			   c->rows < rows ? ", optional: true" : "", c->rows, rows);
	}
}

/* --- the job --- */

static void put_table(const struct guess_table *t, struct buf *out)
{
	const struct sampled_table *s = t->sample;

	buf_append_str(out, "tables:\n  - name: ");
	put_text(out, s->table);
	buf_append_str(out, "\n    rowkey:");
	if (t->key.note)
		buf_printf(out, "   # %s", t->key.note);
	buf_append_str(out, "\n");
	put_parts(out, &t->key, s->rows[0].key, "      ");
	buf_append_str(out, "    timestamp: ");
	put_text(out, t->time_is_key ? t->key.part[t->time_part].name : "timestamp");
	buf_append_str(out,
		       t->time_is_key ? "   # the cells have the time of the row key\n" : "\n");
	put_families(t, out);
	put_cells(t, out);
	if (s->regions > 1)
		buf_printf(out,
			   "    regions: {split: none}   # the table has %zu regions; for as many "
			   "in a load, write {split: sampled, count: %zu}\n",
			   s->regions, s->regions);
	else
		buf_append_str(out, "    regions: {split: none}\n");
}

/* List the parts that have another reading. */
static void put_readings(const struct guesses *g, const char *of, struct buf *doubts)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->part[i].doubt && !g->part[i].opaque)
			buf_printf(doubts, "part %zu of the %s, %s, %s\n", i + 1, of,
				   g->part[i].name, g->part[i].doubt);
}

/* Doubt that the names of a family's columns are all names. */
static void put_open(const struct guess_column *c, struct buf *doubts)
{
	if (!c->open)
		return;
	buf_append_str(doubts, "the qualifiers of family ");
	text_visible(doubts, c->family);
	buf_printf(
		doubts,
		" %s; if other ones can come, write one cell for them: qualifier: {field: NAME}\n",
		c->open);
}

/* List the parts and columns that are bytes because their form is unknown. */
static void put_doubts(const struct guess_table *t, struct buf *doubts)
{
	for (size_t i = 0; i < t->key.n; i++)
		if (t->key.part[i].opaque)
			buf_printf(doubts, "the form of part %zu of the row key, %s, is unknown\n",
				   i + 1, t->key.part[i].name);
	put_readings(&t->key, "row key", doubts);
	for (size_t c = 0; c < t->ncolumns; c++) {
		const struct guess_column *col = &t->columns[c];

		put_readings(&col->qualifiers, "qualifiers", doubts);
		put_open(col, doubts);
		for (size_t i = 0; i < col->qualifiers.n; i++)
			if (col->qualifiers.part[i].opaque)
				buf_printf(doubts, "the form of qualifiers, %s, is unknown\n",
					   col->qualifiers.part[i].name);
		if (col->value.opaque)
			buf_printf(doubts, "the form of the values of %s is unknown\n", col->name);
	}
	if (t->sample->nrows < DRAWN_LEAST)
		buf_printf(doubts, "only %zu rows were sampled, which may look alike by chance\n",
			   t->sample->nrows);
}

void guess_write(const struct guess_table *t, struct inferred *out)
{
	const struct sampled_table *s = t->sample;
	struct buf job = {0};

	put_source(t, &job);
	put_table(t, &job);
	out->yaml.len = out->doubts.len = 0;
	put_doubts(t, &out->doubts);
	buf_printf(&out->yaml, "# Inferred by saltmill init from %zu rows of ", s->nrows);
	text_visible(&out->yaml, bytes_str(s->origin));
	buf_append_str(&out->yaml, ".\n# Percents are the confidence of each guess. Each sampled "
				   "key and value has\n# the same bytes after decoding and "
				   "encoding by this job.\n");
	buf_append(&out->yaml, job.ptr, job.len);
	buf_release(&job);
}
