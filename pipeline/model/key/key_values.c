/* key_values.c - builds row keys from names and texts of fields */
#include "key.h"

#include <string.h>

#include "mem.h"

void key_values_open(struct key_values *g, const struct job *job, const struct field_forms *forms)
{
	size_t n = job->nfields + 1;

	g->job = job;
	g->forms = forms;
	g->values = mem_calloc(n, sizeof *g->values);
	g->texts = mem_calloc(n, sizeof *g->texts);
	g->read = mem_calloc(n, sizeof *g->read);
	g->has = mem_calloc(n, sizeof *g->has);
}

void key_values_close(struct key_values *g)
{
	for (size_t i = 0; i < g->job->nfields; i++) {
		buf_release(&g->texts[i]);
		field_scratch_release(&g->read[i]);
	}
	mem_free(g->values);
	mem_free(g->texts);
	mem_free(g->read);
	mem_free(g->has);
}

void key_values_clear(struct key_values *g)
{
	for (size_t i = 0; i < g->job->nfields; i++)
		g->has[i] = false;
}

int key_values_give(struct key_values *g, struct bytes name, struct bytes text, struct error *err)
{
	size_t i;
	struct reject why;
	int rc = field_find(g->job, name, &i, err);

	if (rc)
		return rc;
	if (g->has[i])
		return error_set(err, RC_CONFIG, "found `%s` twice", g->job->fields[i].name);
	struct buf *kept = &g->texts[i];

	kept->len = 0;
	buf_append(kept, text.ptr, text.len);
	buf_put(kept, 0);
	g->values[i] = (struct value){.text = bytes_of(kept->ptr, text.len)};
	g->has[i] = true;
	if (field_read_loosely(&g->forms->form[i], &g->values[i], &g->read[i], &why))
		return error_set(err, RC_CONFIG, "%s: %s", g->job->fields[i].name, why.detail);
	return RC_OK;
}

int key_values_take(struct key_values *g, const char *operand, struct error *err)
{
	const char *equals = strchr(operand, '=');

	const char *colon = strchr(operand, ':');

	if (!equals && colon && colon > operand)
		return error_set(err, RC_CONFIG,
				 "found `%.200s`, expected FIELD=VALUE; write `%.*s=%.200s`",
				 operand, (int)(colon - operand), operand, colon + 1);
	if (!equals)
		return error_set(err, RC_CONFIG, "found `%s`, expected FIELD=VALUE", operand);
	return key_values_give(g, bytes_of(operand, (size_t)(equals - operand)),
			       bytes_str(equals + 1), err);
}

static bool is_used(const struct job_table *t, size_t field)
{
	for (size_t i = 0; i < t->nrowkey; i++) {
		const struct key_part *p = &t->rowkey[i];

		if (p->kind == PART_FIELD && p->field == field)
			return true;
		for (size_t k = 0; k < p->nof; k++)
			if (p->of[k] == field)
				return true;
	}
	return false;
}

int key_values_check(const struct key_values *g, const struct job_table *t, struct error *err)
{
	for (size_t i = 0; i < g->job->nfields; i++)
		if (g->has[i] && !is_used(t, i))
			return error_set(err, RC_CONFIG,
					 "found `%s`, expected only fields in the row key of table "
					 "%s, or `scan --where`",
					 g->job->fields[i].name, t->schema.name);
	return RC_OK;
}

static int need(const struct key_values *g, const struct job_table *t, size_t field,
		struct error *err)
{
	if (g->has[field])
		return RC_OK;
	return error_set(
		err, RC_CONFIG,
		"found no value for `%s`, expected `%s=VALUE`, because the row key of table %s "
		"contains it",
		g->job->fields[field].name, g->job->fields[field].name, t->schema.name);
}

int key_values_build(const struct key_values *g, struct key_table *k, struct buf *out,
		     struct error *err)
{
	const struct job_table *t = k->table;
	struct reject why;
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < t->nrowkey; i++) {
		const struct key_part *p = &t->rowkey[i];

		if (p->kind == PART_FIELD)
			rc = need(g, t, p->field, err);
		for (size_t n = 0; rc == RC_OK && n < p->nof; n++)
			rc = need(g, t, p->of[n], err);
	}
	if (rc)
		return rc;
	rc = key_build(&k->schema, &k->scratch, g->values, out, &why);
	if (rc == RC_OK)
		rc = key_check_length(t->schema.name, out->len, &why);
	if (rc == RC_OK)
		return RC_OK;
	return error_set(err, RC_CONFIG, "%s%s%s", why.field ? why.field : "",
			 why.field ? ": " : "", why.detail);
}

void key_piece_text(const struct key_table *k, size_t part, const struct value *v, struct buf *out)
{
	const struct layout *l = &k->schema.steps[part].layout;

	if (l->kind == LAY_DATE)
		layout_text(l, v, out);
	else
		field_text(&k->job->fields[k->schema.parts[part].field], v, out);
}
