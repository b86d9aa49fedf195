/* sniff.c - turn a file into a job, step by step */
#include <stdio.h>

#include "pool.h"
#include "sniff_parts.h"

#define FEW_ROWS 8 /* rows among which numbers without a group may be absent by chance */

/*
 * Name columns as the source does. The second column with a name gets name#2. A column without a
 * name gets #N.
 */
static void add_names(struct columns *c, const struct sniffed_shape *s, const struct lines *l,
		      const struct sniffed_row *r)
{
	struct name_index twins = {0}; /* number: the last number of a column with this name */
	bool named = s->header || s->under;

	if (s->fields || s->commented)
		fields_names(s, l, c);
	if (s->known)
		known_names(s, c);
	if (s->row_names)
		columns_add(c, bytes_str("row"));
	for (size_t i = c->n; i < s->ncolumns; i++) {
		char other[40];
		size_t k = i - s->row_names;
		struct bytes name = named && k < r->n ? r->value[k] : bytes_of("", 0);
		struct bytes plain = without_blanks(name);

		c->blanks = c->blanks || plain.len != name.len;
		snprintf(other, sizeof other,
			 named && i < r->n ? "#%zu"
			 : s->one	   ? "line"
					   : "c%zu",
			 i + 1);
		size_t before = c->n;
		struct name_entry *first =
			names_add(&twins,
				  columns_add(c, plain.len ? plain : bytes_str(other))->name);
		first->number += first->number == 0;
		while (c->n == before) {
			struct buf twice = {0};

			buf_printf(&twice, "%.*s#%zu", (int)plain.len, (const char *)plain.ptr,
				   ++first->number);
			columns_add(c, buf_bytes(&twice));
			buf_release(&twice);
		}
	}
	names_release(&twins);
}

static void look_at_rows(struct columns *c, const struct sniffed_shape *s, const struct lines *l)
{
	struct sniffed_row r = {0};
	size_t i = next_row(s, l, s->first);

	if (s->header)
		i = row_split(s, l, i, s->end, &r);
	else if (s->under)
		row_split(s, l, s->header_line, s->first, &r);
	add_names(c, s, l, &r);
	for (i = next_row(s, l, i); i < s->end; i = next_row(s, l, i)) {
		i = row_split(s, l, i, s->end, &r);
		if (r.n > s->ncolumns && !s->extra)
			continue; /* the load will reject this row */
		c->rows++;
		for (size_t k = 0; k < r.n && k < s->ncolumns; k++)
			column_see(c, &c->column[k], r.value[k], r.quoted[k]);
	}
	row_release(&r);
}

/* Note values that may mean something else than the job loads. */
static void doubt_values(const struct columns *c, struct buf *out)
{
	size_t dash = null_word(bytes_str("-"));
	const struct sniffed *wrapped = NULL, *signs = NULL;

	for (size_t i = 0; i < c->n; i++) {
		const struct sniffed *s = &c->column[i];

		wrapped = s->wrapped > 1 && s->wrapped == s->values ? s : wrapped;
		signs = s->plus && s->words[dash] && c->words[dash] ? s : signs;
	}
	if (wrapped)
		buf_printf(out,
			   "all values of the column `%s` are between quotes, which the job loads; "
			   "if they are not part of the values, see `quote`\n",
			   wrapped->name);
	if (signs)
		buf_printf(out,
			   "the job takes `-` as no value, but it may be a value like `+` in the "
			   "column `%s`; see `null`\n",
			   signs->name);
}

static int sniff(struct columns *c, struct lines *l, const char *file, const char *name,
		 struct sniff *out, struct error *err)
{
	struct sniffed_shape s = {0};
	struct sniffed_key k;

	int rc = c->schema || c->json ? RC_OK : json_find(c, l, file, name, err);
	if (rc)
		return rc;
	if (!c->schema && !c->json) {
		if (log_write(l, file, name, out->equal > 0, &out->yaml)) {
			if (out->key)
				return error_set(err, RC_CONFIG,
						 "--key: found a log, whose job has its own row "
						 "key; run init without --key, and change "
						 "`rowkey` in the job");
			out->rows = l->n - l->nblank;
			return RC_OK;
		}
		shape_find(&s, l);
		if (strcmp(file, "-") != 0 && !s.known)
			special_find(&s, l, c);
		files_match(&s, l);
		if (!s.special && !s.by_name && l->nfiles < 2)
			under_header_find(&s, l);
		else if (s.special && s.form.escapes && l->nfiles < 2)
			types_find(&s, l);
		rc = text_refuse(&s, l, name, err);
		rc = rc ? rc : files_refuse(&s, l, name, err);
		if (rc == RC_OK && (s.special || s.by_name))
			rc = special_look(c, &s, l, file, err);
		else if (rc == RC_OK)
			look_at_rows(c, &s, l);
		if (rc == RC_OK && !s.special && !s.by_name && !s.fields && !s.known) {
			if (!s.under)
				preamble_doubt(&s, l);
			delimiter_doubt(&s, l);
			confidence_measure(&s, l);
		}
		if (rc)
			return rc;
		shape_doubts(&s, l);
		s.lenient =
			out->lenient && !s.special && !s.blanks && !s.one && !s.missing && !s.extra;
	}
	if (stop_check(err))
		return err->code;
	if (c->rows == 0 || c->n == 0)
		return error_set(err, RC_DATA, "%s: found no rows, expected at least one", name);
	rc = hive_folders_see(c, out->folders, file, err);
	if (rc)
		return rc;
	preset_find(c, &s, l);
	columns_decide(c);
	if (c->schema)
		schema_decide(c);
	rc = key_choose(&k, c, &s, l, out->key, err);
	if (rc)
		return rc;
	k.all = out->whole_key;
	k.hash = k.hash || k.all;
	k.equal = out->equal;
	out->rows = c->rows;
	const char *doubt =
		c->json || c->schema || s.special || s.by_name ? NULL : header_doubt(c, &s, l);
	if (doubt)
		buf_printf(&out->doubts, "%s\n", doubt);
	if (!c->json && !c->schema && c->signs_other != c->signs &&
	    (c->signs || s.delimiter == ';'))
		buf_printf(
			&out->doubts,
			"some numbers have two readings: `%s` may be the decimal sign, or between "
			"groups of three digits; see `decimal` and `thousands`\n",
			sign_pairs[c->signs].decimal ? sign_pairs[c->signs].decimal
			: c->signs		     ? sign_pairs[c->signs].thousands
						     : ".");
	else if (!c->json && !c->schema && c->listed && (s.delimiter != ';' || c->point_too))
		buf_printf(
			&out->doubts,
			"values of the column `%s` such as `1,2` may be numbers or lists; if they "
			"are lists, remove `decimal` and make the field a text\n",
			c->listed);
	else if (!c->json && !c->schema && c->grouped && (s.delimiter != ',' || c->rows < FEW_ROWS))
		buf_printf(&out->doubts,
			   "all numbers of the column `%s` have one group of three digits; if the "
			   "sign before it is the decimal one, see `decimal` and `thousands`\n",
			   c->grouped);
	if (!c->json && !c->schema)
		doubt_values(c, &out->doubts);
	if (s.doubt)
		buf_printf(&out->doubts, "%s\n", s.doubt);
	if (l->found.doubtful) {
		buf_printf(&out->doubts,
			   "the encoding may be %s (%.0f %% of the characters are usual)%s%s",
			   l->found.name, 100 * l->found.score, l->found.next ? " or " : "",
			   l->found.next ? l->found.next : "");
		for (size_t i = 0; l->found.also[i]; i++)
			buf_printf(&out->doubts, ", %s", l->found.also[i]);
		buf_append_str(&out->doubts, "; compare some values with the source\n");
	}
	job_write(c, &s, l, &k, name, &out->yaml);
	return stop_check(err);
}

static int look(struct columns *c, struct lines *l, const char *file, const char *name,
		struct error *err)
{
	if (schema_known(file))
		return schema_look(c, file, &l->whole, err);
	int rc = lines_read(l, file, err);
	struct error ignored;
	/* a line that is too long may be a JSON document */
	if (rc == RC_LIMIT && json_find(c, l, file, name, &ignored) == RC_OK && c->json)
		return RC_OK;
	if (rc == RC_OK && l->n == 0)
		rc = error_set(err, RC_DATA, "%s: found no lines, expected at least one", name);
	return rc;
}

void sniff_release(struct sniff *s)
{
	buf_release(&s->yaml);
	buf_release(&s->doubts);
}

int sniff_file(const char *file, const char *name, struct sniff *out, struct error *err)
{
	struct lines l = {0};
	struct columns c;
	int rc = columns_open(&c, err);

	if (rc == RC_OK)
		rc = look(&c, &l, file, name, err);
	if (rc == RC_OK)
		rc = sniff(&c, &l, file, name, out, err);
	out->whole = l.whole;
	columns_close(&c);
	lines_release(&l);
	return rc;
}
