/* write.c - write the job for a file, with the reasons as comments */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

#include "sniff_parts.h"
#include "bytes.h"

#define REGION_ROWS 200000 /* if there are fewer rows, one region is enough */
#define FIND_NAMES  3

/* --- source --- */

static bool is_preceded(const struct sniffed_shape *s, const struct lines *l)
{
	/* a load takes a ruler as the header, because it skips rulers only among the rows */
	for (size_t i = 0; i < s->first; i++)
		if (line_counts(s, l, i) || line_is_ruler(line_text(l, i)))
			return true;
	return false;
}

/* Return true if the file contains the name. Names such as #2 and name#2 are not in the file. */
static bool is_written(const char *name)
{
	return !strchr(name, '#');
}

static bool can_be_found(const struct columns *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (is_written(c->column[i].name))
			return true;
	return false;
}

/* Write the first names that are not empty and do not occur in a line above the header. */
static void put_find(const struct columns *c, struct buf *out)
{
	size_t put = 0;

	buf_append_str(out, "    header: {find: [");
	for (size_t i = 0; i < c->n && put < FIND_NAMES; i++) {
		if (!is_written(c->column[i].name))
			continue;
		buf_append_str(out, put++ ? ", " : "");
		put_text(out, c->column[i].name);
	}
	buf_append_str(out, "]}   # lines above this line are not data\n");
}

static void put_names(const struct columns *c, const struct sniffed_shape *s, struct buf *out)
{
	buf_append_str(out, "    columns: [");
	for (size_t i = 0; i < c->n; i++) {
		buf_append_str(out, i ? ", " : "");
		put_text(out, c->column[i].name);
	}
	buf_append_str(out,
		       s->form.pairs		   ? "]   # the keys\n"
		       : s->known		   ? "]   # as the preset names them\n"
		       : s->fields || s->commented ? "]   # as a comment of the file names them\n"
		       : s->under ? "]   # the line of names; the lines below it have units "
				    "or other names\n"
		       : s->own_names
			       ? (s->blanks ? "]   # the last name of the header has blanks\n"
					    : "]   # as the header, which has a delimiter more\n")
		       : s->header ? "]   # rows have more values than the header has names\n"
				   : "]   # no line has names; choose better ones\n");
}

static void put_footer(const struct sniffed_shape *s, const struct lines *l, struct buf *out)
{
	char text[44];

	text_quote(text, 40, line_text(l, s->end));
	buf_printf(out, "    skip_footer: %zu   # from `%s` on\n", s->footer, text);
}

static void put_nulls(const struct columns *c, struct buf *out)
{
	size_t put = 0;

	for (size_t k = 0; null_words[k]; k++) {
		if (!c->words[k])
			continue;
		buf_append_str(out, put++ ? ", " : "    'null': [");
		put_text(out, null_words[k]);
	}
	if (put)
		buf_append_str(out, "]   # and \"\": no value\n");
	if (c->quoted_words)
		buf_append_str(out, "    quoted_nulls: true   # in quotes too\n");
}

static void put_signs(const struct columns *c, struct buf *out)
{
	const struct signs *signs = &sign_pairs[c->signs];

	if (signs->decimal) {
		buf_append_str(out, "    decimal: ");
		put_text(out, signs->decimal);
		confidence_put_signs(c, out);
	}
	if (c->trailing)
		buf_append_str(out, "    minus: trailing   # 12.50- is negative\n");
	if (signs->thousands) {
		buf_append_str(out, "    thousands: ");
		put_text(out, signs->thousands);
		if (signs->decimal)
			buf_append_str(out, "\n");
		else
			confidence_put_signs(c, out);
	}
}

static void put_form(const struct csv_source *f, struct buf *out)
{
	static const char *const escapes[] = {[ESCAPES_NONE] = NULL,
					      [ESCAPES_PLAIN] = "plain",
					      [ESCAPES_MYSQL] = "mysql",
					      [ESCAPES_POSTGRES] = "postgres"};

	if (f->nwidths) {
		buf_append_str(out, "    widths: [");
		for (size_t i = 0; i < f->nwidths; i++)
			buf_printf(out, "%s%u", i ? ", " : "", f->widths[i]);
		buf_append_str(out, "]   # in characters; the last column has the rest\n");
		return;
	}
	buf_append_str(out, "    delimiter: ");
	if (f->long_delimiter.len)
		put_yaml(out, f->long_delimiter);
	else
		buf_printf(out, f->delimiter == '\t' ? "'\\t'" : "'%c'", f->delimiter);
	buf_append_str(out, f->pairs ? "\n    pairs: true   # KEY=VALUE\n" : "\n");
	if (f->quotes == QUOTES_NONE)
		buf_append_str(out, "    quotes: none\n");
	if (escapes[f->escapes])
		buf_printf(out, "    escapes: %s   # backslashes; \\N is null\n",
			   escapes[f->escapes]);
}

static void put_dialect(const struct sniffed_shape *s, struct buf *out)
{
	if (s->special)
		put_form(&s->form, out);
	else if (s->one)
		buf_append_str(out, "    delimiter: '\\x01'   # a line is one value\n"
				    "    quote: '\\x02'\n");
	else if (s->blanks)
		buf_printf(out, "    delimiter: blanks\n%s%s",
			   s->in_quotes ? "" : "    quotes: none\n",
			   s->rest ? "    extra: last   # the last column has the rest of a line\n"
				   : "");
	else if (s->delimiter == '\t')
		buf_append_str(out, "    delimiter: '\\t'\n");
	else if (s->delimiter == HIVE_DELIMITER)
		buf_append_str(out, "    delimiter: '\\x01'\n");
	else if (s->delimiter != ',')
		buf_printf(out, "    delimiter: '%c'\n", s->delimiter);
	if (s->quote == NO_QUOTE && !s->one && !s->special && !s->blanks)
		buf_append_str(out, "    quotes: none   # no value begins with one\n");
	else if (s->quote != '"' && !s->one && !s->special)
		buf_printf(out, "    quote: \"%c\"\n", s->quote);
	if (s->lenient)
		buf_append_str(out, "    quotes: lenient   # some are inside of values\n");
	if (s->comments)
		buf_append_str(out, "    comment: '#'\n");
}

/* Write a pattern for lines between the rows that are not rows. */
static void put_skipped(const struct sniffed_shape *s, const struct lines *l, struct buf *out)
{
	struct buf pattern = {0};

	skip_pattern(s, l, &pattern);
	if (pattern.len) {
		buf_append_str(out, "    skip_matching: ");
		put_yaml(out, buf_bytes(&pattern));
		buf_append_str(out, "   # rulers, counts of rows, headings, directives\n");
	}
	buf_release(&pattern);
}

static void put_rows(const struct columns *c, const struct sniffed_shape *s, const struct lines *l,
		     struct buf *out)
{
	bool preceded = is_preceded(s, l);
	bool own_names = !s->header || s->widest || s->own_names || s->row_names;
	size_t skip = preceded ? s->first : 0;

	if (own_names && s->header)
		skip = s->first + 1;
	if (!own_names && preceded && !s->repeats && can_be_found(c))
		put_find(c, out);
	else if (skip)
		buf_printf(out, "    skip: %zu   # lines that are not data\n", skip);
	if (own_names)
		put_names(c, s, out);
	if (s->by_name)
		buf_append_str(out, "    columns: by_name   # the headers of the files differ\n");
	if (s->footer)
		put_footer(s, l, out);
	put_skipped(s, l, out);
	if (s->missing)
		buf_append_str(out,
			       s->by_name
				       ? "    missing: 'null'   # some files lack a column\n"
				       : "    missing: 'null'   # some rows have fewer values\n");
	if (s->extra)
		buf_append_str(out, "    extra: empty   # some rows have more values, which are "
				    "empty\n");
}

static void put_encoding(const struct lines *l, struct buf *out)
{
	const struct encoding_found *f = &l->found;

	if (!l->encoding)
		return;
	buf_printf(out, "    encoding: %s", l->encoding);
	if (f->name)
		buf_printf(out, "   # %.0f %% of the characters are usual", 100 * f->score);
	if (f->name && f->next)
		buf_printf(out, "; next: %s, %.0f %%", f->next, 100 * f->next_score);
	buf_append_str(out, "\n");
}

static void put_preset(const struct columns *c, struct buf *out)
{
	if (preset_fits(c))
		buf_printf(out, "    preset: %s   # see `saltmill help preset %s`\n", c->preset,
			   c->preset);
}

static void put_csv(const struct columns *c, const struct sniffed_shape *s, const struct lines *l,
		    const char *name, struct buf *out)
{
	buf_append_str(out, "source:\n  csv:\n    files: [");
	put_text(out, name);
	buf_append_str(out, "]\n");
	hive_folders_put(c, out);
	put_preset(c, out);
	put_encoding(l, out);
	put_dialect(s, out);
	confidence_put(s, out);
	put_rows(c, s, l, out);
	if (c->blanks || c->quoted_blanks)
		buf_printf(out, "    trim: %s   # blanks around values\n",
			   c->quoted_blanks ? "all" : "true");
	put_signs(c, out);
	put_nulls(c, out);
}

static void put_json_form(const struct columns *c, struct buf *out)
{
	const struct json_form *f = &c->form;

	if (f->records) {
		buf_append_str(out, "    records: ");
		put_text(out, f->records);
		buf_append_str(out, f->layout == JSON_MEMBERS ? "   # _key is the name of a record"
							      : "");
		buf_append_str(out, c->members.len ? f->layout == JSON_MEMBERS ? "; not loaded: "
									       : "   # not loaded: "
						   : "");
		buf_append(out, c->members.ptr, c->members.len);
		buf_append_str(out, "\n");
	}
	if (f->layout == JSON_DOCUMENTS && !f->records) {
		buf_append_str(out, "    layout: documents   # records are not on lines of their "
				    "own\n");
	} else if (f->layout == JSON_BULK) {
		buf_append_str(out, "    layout: bulk   # _op, _index and _id are those of the "
				    "action\n");
	}
	if (f->explode) {
		buf_append_str(out, "    explode: ");
		put_text(out, f->explode);
		buf_append_str(out, "   # each item is an event, and has the record's other "
				    "values\n");
	}
	if (f->hex_escapes)
		buf_append_str(out, "    hex_escapes: true   # \\xHH in strings, as nginx writes "
				    "them\n");
	if (f->unwrap)
		buf_printf(out, "    unwrap: %s   # not loaded: %.*s\n", f->unwrap,
			   (int)c->members.len, (const char *)c->members.ptr);
	if (f->extended)
		buf_append_str(out, "    extended: true   # types of MongoDB, such as {\"$oid\": "
				    "\"5f\"}\n");
}

/* Return true if a column is at this path or below it. */
static bool has_path(const struct columns *c, const char *path)
{
	size_t len = strlen(path);

	for (size_t i = 0; i < c->n; i++) {
		const char *name = c->column[i].name;

		if (strncmp(name, path, len) == 0 && strchr(".[", name[len]))
			return true;
	}
	return false;
}

/* Write the members without a column. strchr also finds the NUL at the end of a name. */
static void put_left_out(const struct columns *c, struct buf *out)
{
	size_t put = 0;

	for (size_t i = 0; i < c->empty.room; i++) {
		const char *path = c->empty.entry[i].name;

		if (!path || has_path(c, path))
			continue;
		buf_append_str(out,
			       put++ ? ", " : "    # not loaded, because all are {} or null: ");
		text_utf8(out, bytes_str(path));
	}
	if (put)
		buf_append_str(out, "\n");
	if (c->unnamed)
		buf_printf(out,
			   "    # not loaded: %" PRIu64
			   " values whose names have both kinds of quotes\n",
			   c->unnamed);
	if (c->n == COLUMNS_MOST)
		buf_printf(out, "    # not loaded: columns after the first %d\n", COLUMNS_MOST);
}

/* --- fields --- */

static void put_json_nulls(const struct sniffed *s, struct buf *out)
{
	size_t put = 0;

	for (size_t k = 0; null_words[k]; k++) {
		if (!s->words[k])
			continue;
		buf_append_str(out, put++ ? ", " : ", 'null': [");
		put_text(out, null_words[k]);
	}
	if (s->nulls)
		buf_append_str(out, put++ ? ", ''" : ", 'null': [''");
	buf_append_str(out, put ? "]" : "");
}

static bool has_zone(const char *format)
{
	return strstr(format, "%z") || strstr(format, "%Z");
}

static void put_field(const struct columns *c, const struct sniffed *s, struct buf *out)
{
	char count[40];

	buf_append_str(out, "  ");
	put_text(out, s->name);
	buf_append_str(out, ": {");
	if (s->either[0]) {
		buf_append_str(out, "first: [");
		put_text(out, s->either[0]);
		buf_append_str(out, ", ");
		put_text(out, s->either[1]);
		buf_append_str(out, "], ");
	}
	buf_printf(out, "type: %s", field_type_name(s->type));
	if (s->unit)
		buf_printf(out, ", unit: %s", s->unit);
	if (s->format) {
		buf_append_str(out, ", format: ");
		put_text(out, s->format);
	}
	if (s->type == FIELD_DECIMAL)
		buf_printf(out, ", scale: %u", s->scale);
	if (c->json && (!c->schema || s->own == FIELD_TEXT) && s->type != FIELD_TEXT)
		put_json_nulls(s, out);
	snprintf(count, sizeof count, "%zu", s->distinct.n);
	buf_printf(out, "}   # %s%s different%s", s->distinct.many ? "more than " : "", count,
		   s->has_nulls ? ", some null" : "");
	if (s->type == FIELD_TIME && !c->schema)
		confidence_put_time(c, s, out);
	if (s->note)
		buf_printf(out, "; %s", s->note);
	if (s->list)
		buf_append_str(out, "; lists are JSON text; an item has a path such as "
				    "NAME[0]; `explode: NAME[]` makes an event of each item");
	if (s->format && !has_zone(s->format))
		buf_append_str(out, "; UTC if the value has no offset; for another zone add `zone: "
				    "Europe/Berlin`");
	buf_append_str(out, "\n");
}

/* --- table --- */

static void put_table_name(const char *file, struct buf *out)
{
	const char *slash = strrchr(file, '/'), *p = slash ? slash + 1 : file;
	size_t from = out->len;

	for (; *p && *p != '.'; p++)
		if (isalnum((unsigned char)*p) || *p == '_' || *p == '-')
			buf_put(out, out->len == from && *p == '-' ? '_' : (uint8_t)*p);
	if (out->len == from)
		buf_append_str(out, "events");
}

/* Write a qualifier. Escape backslashes, because a backslash begins a byte in hex. */
static void put_qualifier(const char *name, struct buf *out)
{
	struct buf text = {0};
	const uint8_t *p = (const uint8_t *)name, *end = p + strlen(name);

	while (p < end) {
		uint32_t code;
		size_t n = *p == '\\' ? 1 : yaml_unprintable(p, end, &code);

		if (!n)
			buf_put(&text, *p++);
		for (; n > 0; n--)
			buf_printf(&text, "\\x%02X", *p++);
	}
	put_yaml(out, buf_bytes(&text));
	buf_release(&text);
}

/* The default form of a time, milliseconds since 1970, has no earlier times. */
static void put_value(const struct sniffed *s, struct buf *out)
{
	bool early = time_is_early(s);

	buf_append_str(out, early ? "{field: " : "");
	put_text(out, s->name);
	buf_append_str(out, early ? ", as: text}" : "");
}

static void put_cells(const struct columns *c, struct buf *out)
{
	buf_append_str(out, "    cells:\n");
	for (size_t i = 0; i < c->n; i++) {
		buf_append_str(out, "      - {family: d, qualifier: ");
		put_qualifier(c->column[i].name, out);
		buf_append_str(out, ", value: ");
		put_value(&c->column[i], out);
		buf_append_str(out, c->column[i].has_nulls ? ", optional: true}\n" : "}\n");
	}
}

static void put_table(const struct columns *c, const struct sniffed_key *k, const char *name,
		      struct buf *out)
{
	buf_append_str(out, "tables:\n  - name: ");
	put_table_name(name, out);
	buf_append_str(out, "\n");
	key_put(c, k, out);
	buf_append_str(out, "    timestamp: ");
	if (k->time != SIZE_MAX) {
		put_text(out, c->column[k->time].name);
		buf_append_str(out, "   # time of the cells\n");
	} else {
		buf_append_str(out,
			       "1   # in ms; no column has a time in each row, so a later load "
			       "needs a greater number\n");
	}
	buf_append_str(out, "    families:\n      d: {versions: 1, compression: {codec: auto, "
			    "framing: hadoop}}\n");
	put_cells(c, out);
	buf_append_str(out, c->rows < REGION_ROWS ? "    regions: {split: none}\n"
						  : "    regions: {split: sampled, count: 16}\n");
}

void job_write(const struct columns *c, const struct sniffed_shape *s, const struct lines *l,
	       const struct sniffed_key *k, const char *name, struct buf *out)
{
	buf_printf(out,
		   "# Proposed by saltmill init from %s%" PRIu64 " rows; `saltmill check` shows "
		   "their cells.\n",
		   l->whole ? "" : "the first 64 MiB, ", c->rows);
	if (c->left_out)
		buf_printf(
			out,
			"# %zu of the schema's values cannot be fields: lists and maps of Arrow, "
			"null, a record inside itself, or a name with both kinds of quote.\n",
			c->left_out);
	if (!l->whole && !c->json)
		buf_append_str(out, "# init did not read the rest of the file, which may end with "
				    "a trailer.\n");
	if (c->json) {
		buf_printf(out, "source:\n  %s:\n    files: [", c->schema ? c->schema : "json");
		put_text(out, name);
		buf_append_str(out, "]\n");
		hive_folders_put(c, out);
		put_preset(c, out);
		put_encoding(l, out);
		put_json_form(c, out);
		put_left_out(c, out);
	} else {
		put_csv(c, s, l, name, out);
	}
	buf_append_str(out, "fields:\n");
	for (size_t i = 0; i < c->n; i++)
		put_field(c, &c->column[i], out);
	key_put_fields(c, k, out);
	put_table(c, k, name, out);
}
