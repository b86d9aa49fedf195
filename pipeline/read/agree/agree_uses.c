/* agree_uses.c - list the fields that a row or a cell of a job depends on */
#include "agree.h"

static bool condition_uses(const struct job_condition *c, agree_use *use, void *ctx)
{
	for (size_t i = 0; c && i < c->question->nconditions; i++)
		if (!use(ctx, c->fields[i], WHOLE_VALUE))
			return false;
	return true;
}

static bool part_uses(const struct job *job, const struct key_part *k, agree_use *use, void *ctx)
{
	if (k->kind == PART_FIELD && !use(ctx, k->field, (int)k->as))
		return false;
	for (size_t i = 0; i < k->nof; i++)
		if (!use(ctx, k->of[i], WHOLE_VALUE))
			return false;
	if (k->kind == PART_SALT && k->draw && !use(ctx, DRAWN_SALT, WHOLE_VALUE))
		return false;
	return k->kind != PART_KEY || agree_key_uses(job, &job->tables[k->table], use, ctx);
}

static bool parts_use(const struct job *job, const struct key_part *parts, size_t n, agree_use *use,
		      void *ctx)
{
	for (size_t i = 0; i < n; i++)
		if (!part_uses(job, &parts[i], use, ctx))
			return false;
	return true;
}

bool agree_key_uses(const struct job *job, const struct job_table *t, agree_use *use, void *ctx)
{
	return parts_use(job, t->rowkey, t->nrowkey, use, ctx) &&
	       condition_uses(t->when, use, ctx) &&
	       (t->timestamp_constant || use(ctx, t->timestamp_field, AS_MILLIS));
}

bool agree_cell_uses(const struct job *job, const struct cell_spec *c, agree_use *use, void *ctx)
{
	return parts_use(job, c->qualifier, c->nqualifier, use, ctx) &&
	       condition_uses(c->when, use, ctx) &&
	       (c->kind != VALUE_FIELD || use(ctx, c->field, (int)c->as)) &&
	       (c->kind != VALUE_KEY || agree_key_uses(job, &job->tables[c->table], use, ctx));
}
