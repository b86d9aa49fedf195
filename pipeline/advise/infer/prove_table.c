/* prove_table.c - prove that the job encodes the sampled keys and values to the same bytes */
#include "field.h"
#include "infer.h"
#include "key.h"

/* The job, and the memory of the proof. */
struct table_proof {
	struct job job;
	struct field_forms forms;
	struct key_table keys;
	struct arena arena; /* of one key or value */
	bool changed;
};

/* Change a part, which has `width` bytes or a terminator, to bytes. */
static void widen(struct table_proof *p, struct guess *g)
{
	if (g->kind == GUESS_CONST || (g->type == FIELD_BYTES && g->widened))
		return;
	g->padded = g->width > 0;
	g->kind = GUESS_FIELD;
	g->type = FIELD_BYTES;
	g->as = AS_BYTES;
	g->stem = "bytes";
	g->unit = g->format = NULL;
	g->opaque = g->widened = p->changed = true;
}

/* Return true if the bytes have a value of the field that has the same bytes again. */
static bool comes_back(struct table_proof *p, const struct layout *l, size_t field, struct bytes in)
{
	struct field_scratch scratch = {0};
	struct buf out = {0};
	struct value v;
	struct reject why;
	struct error err;
	int rc = layout_take(l, in, &p->arena, &v, &err);
	struct bytes text = rc == RC_OK ? v.text : (struct bytes){0};

	if (rc == RC_OK && text.ptr) {
		rc = field_read(&p->forms.form[field], &v, &scratch, &why);
		v.text = text;
	}
	if (rc == RC_OK && !v.text.ptr && l->from == FIELD_BYTES)
		v.text = v.bytes;
	if (rc == RC_OK)
		rc = layout_put(l, &v, &out, &why);
	bool same = rc == RC_OK && bytes_eq(buf_bytes(&out), in);
	buf_release(&out);
	field_scratch_release(&scratch);
	return same;
}

/* Give up the function of a salt or a hash, because a key has other bytes. */
static bool give_up_function(struct table_proof *p, struct guesses *g)
{
	struct guess *first = &g->part[0];

	if (first->kind == GUESS_HASH)
		widen(p, first);
	if (first->kind != GUESS_SALT || first->drawn)
		return p->changed;
	first->drawn = p->changed = true;
	first->buckets = first->width == 1 ? 256 : 65536;
	first->what = "a salt of unknown function";
	return true;
}

/* Decode a key as scan does. Then check each part of it, and widen the first one that fails. */
static void prove_key(struct table_proof *p, const struct key_schema *s, struct guesses *g,
		      struct bytes key)
{
	struct key_piece *pieces = arena_alloc(&p->arena, (s->nsteps + 1) * sizeof *pieces);
	struct error err;
	size_t n = key_split(s, key, pieces);

	for (size_t i = 0; i < n && !p->changed; i++)
		if (s->steps[i].kind == PART_FIELD && i < g->n &&
		    !comes_back(p, &s->steps[i].layout, s->parts[i].field, pieces[i].bytes))
			widen(p, &g->part[i]);
	if (p->changed ||
	    (n == s->nsteps && key_decode(s, &p->forms, key, &p->arena, pieces, &err) == RC_OK))
		return;
	if (n == s->nsteps && give_up_function(p, g))
		return;
	/* the key has another form, so the parts do not fit it: the whole key is bytes */
	p->changed = true;
	*g = (struct guesses){.n = 1};
	g->part[0] = (struct guess){.type = FIELD_BYTES,
				    .as = AS_BYTES,
				    .terminator = NO_TERMINATOR,
				    .stem = "bytes",
				    .opaque = true,
				    .widened = true,
				    .what = "the keys have no form in common"};
}

static void prove_keys(struct table_proof *p, struct guess_table *t)
{
	const struct sampled_table *s = t->sample;

	for (size_t i = 0; i < s->nrows && !p->changed; i++) {
		prove_key(p, &p->keys.schema, &t->key, s->rows[i].key);
		arena_release(&p->arena);
		p->arena = (struct arena){0};
	}
}

static void prove_values(struct table_proof *p, struct guess_column *c,
			 const struct cell_spec *spec)
{
	const struct layout l =
		layout_of(c->name, p->job.fields[spec->field].type, spec->as, false);

	for (size_t i = 0; i < c->nvalues; i++)
		if (!comes_back(p, &l, spec->field, c->values[i])) {
			widen(p, &c->value);
			return;
		}
}

static void prove_qualifiers(struct table_proof *p, struct guess_table *t, struct guess_column *c,
			     const struct cell_spec *spec)
{
	struct key_schema schema;
	const struct sampled_table *s = t->sample;
	bool changed = p->changed;

	key_schema_make(&schema, &p->keys.maker, spec->qualifier, spec->nqualifier);
	p->changed = false;
	for (size_t i = 0; i < s->nrows && !p->changed; i++)
		for (size_t k = 0; k < s->rows[i].ncells && !p->changed; k++)
			if (bytes_eq(s->rows[i].cells[k].family, c->family))
				prove_key(p, &schema, &c->qualifiers,
					  s->rows[i].cells[k].qualifier);
	p->changed |= changed;
}

int guess_prove(struct guess_table *t, struct bytes yaml, bool *changed, struct error *err)
{
	struct table_proof p = {.changed = false};
	int rc = job_parse(&p.job, t->sample->table, yaml, err);

	if (rc == RC_OK)
		rc = field_forms_open(&p.forms, &p.job, err);
	if (rc) {
		job_release(&p.job);
		return error_prefix(err, "the inferred job: ");
	}
	const struct job_table *table = &p.job.tables[0];
	key_table_open(&p.keys, &p.job, table);
	prove_keys(&p, t);
	for (size_t c = 0; c < t->ncolumns; c++) {
		prove_values(&p, &t->columns[c], &table->cells[c]);
		if (t->columns[c].wide)
			prove_qualifiers(&p, t, &t->columns[c], &table->cells[c]);
	}
	*changed = p.changed;
	key_table_close(&p.keys);
	field_forms_close(&p.forms);
	arena_release(&p.arena);
	job_release(&p.job);
	return RC_OK;
}
