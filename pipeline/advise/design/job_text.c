/* job_text.c - write the job file of a design */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "design.h"

/* --- the files of the job, as absolute paths --- */

static void put_path(struct buf *out, const struct job *job, const char *file, bool given)
{
	char *joined =
		file[0] == '/' || given ? mem_strdup(file) : mem_format("%s/%s", job->dir, file);
	char *whole = realpath(joined, NULL); /* NULL for a pattern, and for "-" */

	text_json(out, bytes_str(whole ? whole : joined));
	free(whole);
	mem_free(joined);
}

static void put_files(struct buf *out, const struct job *job, const struct input *input)
{
	size_t n = input->nfiles ? input->nfiles : job->csv.nfiles;

	buf_append_str(out, "[");
	for (size_t i = 0; i < n; i++) {
		buf_append_str(out, i ? ", " : "");
		put_path(out, job, input->nfiles ? input->files[i] : job->csv.files[i],
			 input->nfiles > 0);
	}
	buf_append_str(out, "]");
}

/* --- the other parts of the text --- */

static size_t line_end(struct bytes text, size_t at)
{
	const uint8_t *nl = memchr(text.ptr + at, '\n', text.len - at);

	return nl ? (size_t)(nl - text.ptr) + 1 : text.len;
}

/* Return true if a key of the job begins here. */
static bool begins_key(struct bytes text, size_t at)
{
	return at < text.len && !strchr(" \t\r\n#-", text.ptr[at]);
}

static size_t indent_of(struct bytes text, size_t at)
{
	size_t n = 0;

	while (at + n < text.len && text.ptr[at + n] == ' ')
		n++;
	return n;
}

/* Return the end of the value of `files:`, which is a list in brackets or on lines of its own. */
static size_t files_end(struct bytes text, size_t line, size_t value)
{
	const uint8_t *bracket = memchr(text.ptr + value, ']', text.len - value);
	size_t end = line_end(text, line), indent = indent_of(text, line);

	if (value < text.len && text.ptr[value] == '[')
		return bracket ? (size_t)(bracket - text.ptr) + 1 : end;
	if (value < end && text.ptr[value] != '\n' && text.ptr[value] != '#')
		return end - (end > 0 && text.ptr[end - 1] == '\n');
	while (end < text.len) {
		size_t in = indent_of(text, end), first = end + in;

		if (first < text.len && text.ptr[first] != '-' && in <= indent)
			break;
		if (first < text.len && text.ptr[first] == '-' && in < indent)
			break;
		end = line_end(text, end);
	}
	return end - 1;
}

/* Append a part of the job, with other files. */
static void put_source(struct buf *out, struct bytes text, const struct job *job,
		       const struct input *input)
{
	for (size_t at = 0, end; at < text.len; at = end) {
		end = line_end(text, at);
		const uint8_t *word = memmem(text.ptr + at, end - at, "files:", 6);

		if (!word || text.ptr[at + indent_of(text, at)] == '#') {
			buf_append(out, text.ptr + at, end - at);
			continue;
		}
		size_t value = (size_t)(word - text.ptr) + 6;
		buf_append(out, text.ptr + at, value - at);
		value += indent_of(text, value);
		buf_append_str(out, " ");
		put_files(out, job, input);
		end = files_end(text, at, value);
	}
}

/* --- tables --- */

static void put_list(struct buf *out, const char *key, const char *const *items, size_t n)
{
	buf_printf(out, "    %s:\n", key);
	for (size_t i = 0; i < n; i++)
		buf_printf(out, "      - %s\n", items[i]);
}

/* Append the settings of a family. A setting of the job of `design` stays. */
static void put_family(struct buf *out, const char *text, const struct design_table *k)
{
	const char *rest = text[0] == '{' ? text + 1 : "}";
	const char *between = *rest == '}' ? "" : ", ";
	bool bloom = !strstr(rest, "bloomfilter:"), block = !strstr(rest, "blocksize:");

	if (text[0] && text[0] != '{') {
		buf_append_str(out, text);
		return;
	}
	buf_append_str(out, "{");
	if (bloom)
		buf_printf(out, "bloomfilter: %s", bloom_name(k->bloom));
	if (bloom && k->bloom == BLOOM_ROWPREFIX)
		buf_printf(out, ", bloom_prefix: %u", k->bloom_prefix);
	if (bloom)
		buf_append_str(out, block ? ", " : between);
	if (block)
		buf_printf(out, "blocksize: %uK%s", k->block_bytes >> 10, between);
	buf_append_str(out, rest);
}

/* Return true if a cell of the table is in the family. */
static bool has_family(const struct job_table *t, const struct design_table *k, const char *name)
{
	bool has = !k->ncells;

	for (size_t i = 0; i < k->ncells; i++)
		has = has ||
		      strcmp(t->schema.families[t->cells[k->cells[i]].family].name, name) == 0;
	return has;
}

static void put_families(struct buf *out, const struct job_table *t, const struct design_table *k)
{
	buf_printf(out, "    families:   # %s\n", k->advice);
	for (size_t i = 0; i < t->written.families.n; i++) {
		const struct written_item *f = &t->written.families.item[i];

		if (!has_family(t, k, f->name))
			continue;
		buf_printf(out, "      %s: ", f->name);
		put_family(out, f->text, k);
		buf_append_str(out, "\n");
	}
}

/* Return the end of a YAML value in a flow mapping. */
static size_t flow_end(const char *text, size_t at)
{
	char quote = 0;

	for (unsigned depth = 0; text[at]; at++) {
		char c = text[at];

		if (quote) {
			quote = c == quote ? 0 : quote;
			at += c == '\\' && quote == '"';
		} else if (c == '"' || c == '\'') {
			quote = c;
		} else if (c == '[' || c == '{') {
			depth++;
		} else if (depth && (c == ']' || c == '}')) {
			depth--;
		} else if (!depth && (c == ',' || c == '}')) {
			break;
		}
	}
	return at;
}

/* Append a cell of the job, whose qualifier begins with the parts of the wide table. */
static void put_wide_cell(struct buf *out, const char *text, const struct cell_spec *c,
			  const struct design_table *k)
{
	const struct bytes name = c->qualifier[0].constant;
	bool plain = true;
	size_t at = 1;

	for (size_t i = 0; i < name.len; i++)
		plain = plain && name.ptr[i] >= ' ' && name.ptr[i] < 0x7F;
	buf_append_str(out, "      - {qualifier: [");
	for (size_t i = 0; i < k->nqualifier; i++)
		buf_printf(out, "%s%s", i ? ", " : "", k->qualifier[i]);
	if (name.len && plain) {
		buf_append_str(out, ", {const: ");
		text_json(out, name);
		buf_append_str(out, "}");
	} else if (name.len) {
		buf_append_str(out, ", {hex: \"");
		bytes_hex(out, name);
		buf_append_str(out, "\"}");
	}
	buf_append_str(out, "]");
	while (text[at] && text[at] != '}') {
		at += strspn(text + at, ", ");
		size_t end = flow_end(text, at);
		bool qualifier = strncmp(text + at, "qualifier:", 10) == 0;

		if (!qualifier && end > at)
			buf_printf(out, ", %.*s", (int)(end - at), text + at);
		at = end;
	}
	buf_append_str(out, "}\n");
}

static void put_cells(struct buf *out, const struct job_table *t, const struct design_table *k,
		      const char *base)
{
	buf_append_str(out, "    cells:\n");
	if (k->kind == DESIGN_INDEX_TABLE) {
		buf_printf(out, "      - {family: %s, qualifier: k, value: {key_of: %s}}\n",
			   t->schema.families[0].name, base);
		return;
	}
	for (size_t i = 0; i < k->ncells; i++)
		buf_printf(out, "      - %s\n", t->written.cells.item[k->cells[i]].text);
	for (size_t i = 0; k->nqualifier && i < t->ncells; i++)
		put_wide_cell(out, t->written.cells.item[i].text, &t->cells[i], k);
	for (size_t i = 0; !k->ncells && !k->nqualifier && i < t->written.cells.n; i++)
		buf_printf(out, "      - %s\n", t->written.cells.item[i].text);
}

static void put_table(struct buf *out, const struct job *job, const struct design *g, size_t n)
{
	const struct job_table *t = &job->tables[0];
	const struct design_table *k = &g->tables[n];

	buf_append_str(out, "  - name: ");
	text_json(out, bytes_str(k->name));
	buf_printf(out, "   # %s, %.0f bytes\n", k->key, k->key_bytes);
	put_list(out, "rowkey", k->parts, k->nparts);
	buf_append_str(out, "    timestamp: ");
	if (t->timestamp_constant)
		buf_printf(out, "%lld\n", (long long)t->timestamp_ms);
	else
		text_json(out, bytes_str(job->fields[t->timestamp_field].name));
	buf_append_str(out, t->timestamp_constant ? "" : "\n");
	put_families(out, t, k);
	if (g->kept_s >= 1)
		buf_printf(
			out,
			"    # --rows at --writes keep %.3g days: add `ttl: %.0fs` to each family to "
			"delete older rows\n",
			g->kept_s / 86400, ceil(g->kept_s));
	if (g->window_s >= 1)
		buf_printf(
			out,
			"    # no question reads older events: add `ttl: %.0fs` to each family if "
			"nobody needs them\n",
			ceil(g->window_s));
	put_cells(out, t, k, g->tables[0].name);
	if (k->hidden)
		buf_append_str(out, "    # some events of the sample are equal, and share a row\n");
	buf_printf(out, "    regions: {split: sampled, count: %zu}\n", k->regions);
}

static void put_questions(struct buf *out, const struct design *g)
{
	buf_printf(out, "# Made by saltmill design: %s.\n", g->sentence);
	for (size_t q = 0; q < g->nanswers; q++)
		buf_printf(out, "# q%zu  %s  (%.4g/s, table %s)\n", q + 1, g->answers[q].ask,
			   g->answers[q].rate, g->tables[g->answers[q].table].name);
}

int design_job(struct buf *out, const struct design *g, const struct job *job, struct bytes yaml,
	       const struct input *input, struct error *err)
{
	size_t from = 0;

	while (from < yaml.len &&
	       !(yaml.len - from > 7 && memcmp(yaml.ptr + from, "tables:", 7) == 0))
		from = line_end(yaml, from);
	if (from >= yaml.len)
		return error_set(
			err, RC_CONFIG,
			"%s: found no line that begins with `tables:`, expected one, because "
			"design replaces the tables",
			job->path);
	size_t to = line_end(yaml, from);
	while (to < yaml.len && !begins_key(yaml, to))
		to = line_end(yaml, to);
	put_questions(out, g);
	put_source(out, bytes_of(yaml.ptr, from), job, input);
	buf_append_str(out, "tables:\n");
	for (size_t t = 0; t < g->ntables; t++)
		put_table(out, job, g, t);
	put_source(out, bytes_of(yaml.ptr + to, yaml.len - to), job, input);
	return RC_OK;
}
