/*
 * conditional.c - encode events of jobs with conditions or delete markers
 *
 * Conditions are `where` of the job, `expect` of fields, and `when` of tables and cells. A delete
 * marker replaces the cells of the same event that it covers. These cells have the timestamp of the
 * marker, so HBase would never return them. Therefore an event that deletes needs no values.
 *
 * The functions decode and check on demand the values that conditions need, and values that depend
 * on a condition. They decode together the values of every event, as in a job without conditions.
 */
#include "compiled.h"
#include "error.h"

/* An event during the evaluation of its conditions. */
struct asked_event {
	struct row_encoder *e;
	const struct event *ev;
	struct reject *why;
};

static int know(struct row_encoder *e, size_t slot, const struct event *ev, struct reject *why)
{
	if (e->known[slot])
		return RC_OK;
	const struct demand nobodys = {NEED_NOTHING, NULL};
	int rc = value_decode(e, &e->plan->bindings[slot], nobodys, ev, why);
	e->known[slot] = rc == RC_OK;
	return rc;
}

static const struct value *value_of(void *ctx, size_t field)
{
	struct asked_event *a = ctx;
	size_t slot = a->e->plan->slots[field];

	return know(a->e, slot, a->ev, a->why) ? NULL : &a->e->values[slot];
}

/*
 * Evaluate a condition. Return RC_DATA if a value that the condition needs is invalid for its
 * field.
 */
static int choose(struct row_encoder *e, const struct predicate *p, const struct event *ev,
		  bool *taken, struct reject *why)
{
	struct asked_event a = {e, ev, why};

	why->reason = NULL;
	*taken = predicate_ask(p, value_of, &a) == ANSWER_YES;
	return why->reason ? RC_DATA : RC_OK;
}

/* Match a text. All patterns of an event share one budget of steps. A null matches. */
static enum pattern_result match(struct row_encoder *e, const struct expectation *x,
				 const struct value *v)
{
	return v->text.ptr ? pattern_find_more(x->match, &e->match, v->text, NULL) : PATTERN_FOUND;
}

/*
 * Check the rules of all fields. Return RC_DATA, with the broken rule, if the event breaks one.
 * Return RC_LIMIT if the values of `unique` exceed memory.
 */
static int check_expectations(struct row_encoder *e, const struct event *ev, struct reject *why)
{
	const struct job *job = e->plan->job;

	for (size_t i = 0; i < job->nexpects; i++) {
		const struct expectation *x = &job->expects[i];
		struct asked_event a = {e, ev, why};
		const struct value *v = value_of(&a, x->field);

		if (!v)
			return RC_DATA;
		if (x->unique) {
			int rc = note_unique(e, i, v, why);

			if (rc)
				return rc;
			continue;
		}
		const struct predicate *p = e->plan->expects[i];
		enum pattern_result found = p ? PATTERN_NONE : match(e, x, v);
		if (p ? predicate_ask(p, value_of, &a) != ANSWER_NO : found == PATTERN_FOUND)
			continue;
		const char *name = job->fields[x->field].name;
		if (found == PATTERN_COSTLY)
			return reject_value(why, "too_costly", name, v->text,
					    "for which `expect` takes more than 10 million steps, "
					    "expected a text that needs fewer");
		if (!v->text.ptr)
			return reject_set(why, x->reason, name, "found no value, expected %s",
					  x->expected);
		return reject_value(why, x->reason, name, v->text, "expected %s", x->expected);
	}
	return RC_OK;
}

int conditional_start(struct row_encoder *e, const struct event *ev, bool *taken,
		      struct reject *why)
{
	const struct row_plan *p = e->plan;

	memset(e->known, 0, p->nbindings);
	*taken = true;
	if (ev->ncolumns >= p->ncolumns && p->where) {
		int rc = choose(e, p->where, ev, taken, why);

		if (rc || !*taken)
			return rc;
	}
	int rc = values_decode(e, ev, why);
	memset(e->known, 1, p->nalways);
	return rc ? rc : check_expectations(e, ev, why);
}

/* Decode a value. Reject the event if the value is null but required. */
static int require(struct row_encoder *e, size_t slot, enum need need, const struct table_plan *t,
		   const struct event *ev, struct reject *why)
{
	int rc = know(e, slot, ev, why);

	if (rc || !need || e->values[slot].text.ptr)
		return rc;
	const struct demand demand = {need, t->table->schema.name};
	return value_decode(e, &e->plan->bindings[slot], demand, ev, why);
}

static int require_all(struct row_encoder *e, const struct slots *s, enum need need,
		       const struct table_plan *t, const struct event *ev, struct reject *why)
{
	int rc = RC_OK;

	for (size_t i = 0; i < s->n && rc == RC_OK; i++)
		rc = require(e, s->of[i], need, t, ev, why);
	return rc;
}

/* Note which delete markers the event has. */
static int note_markers(struct row_encoder *e, const struct table_plan *t, const struct event *ev,
			struct reject *why)
{
	int rc = RC_OK;

	for (size_t i = 0; t->markers && i < t->ncells && rc == RC_OK; i++) {
		const struct cell_step *s = &t->cells[i];

		e->marked[i] = s->type != CELL_PUT;
		if (e->marked[i] && s->when)
			rc = choose(e, s->when, ev, &e->marked[i], why);
	}
	return rc;
}

static int is_taken(struct row_encoder *e, const struct table_plan *t, const struct cell_step *s,
		    const struct event *ev, bool *taken, struct reject *why)
{
	*taken = true;
	if (s->type != CELL_PUT) {
		*taken = e->marked[s - t->cells];
		return RC_OK;
	}
	for (size_t i = 0; i < s->covers.n; i++)
		if (e->marked[s->covers.of[i]])
			*taken = false;
	return *taken && s->when ? choose(e, s->when, ev, taken, why) : RC_OK;
}

static int chosen_cell(struct row_encoder *e, const struct table_plan *t, const struct cell_step *s,
		       const struct event *ev, bool *any, struct reject *why)
{
	struct buf *out = &e->out[t - e->plan->tables].payload;
	enum need need = s->optional ? NEED_NOTHING : NEED_CELL;
	bool taken;
	int rc = is_taken(e, t, s, ev, &taken, why);

	if (rc == RC_OK && !taken) {
		*buf_room(out, 1) = 0;
		out->len++;
		return RC_OK;
	}
	if (rc == RC_OK)
		rc = require_all(e, &s->qualifier_slots, need, t, ev, why);
	if (rc == RC_OK && !s->value.ptr && !s->key_value)
		rc = require(e, s->layout.slot, need, t, ev, why);
	if (rc == RC_OK && s->ttl_unit_ms)
		rc = require(e, s->ttl_slot, NEED_NOTHING, t, ev, why);
	return rc ? rc : cell_encode(e, t, s, out, any, why);
}

int conditional_table(struct row_encoder *e, size_t table, const struct event *ev, bool *any,
		      struct reject *why)
{
	const struct table_plan *t = &e->plan->tables[table];
	bool taken = true;
	int rc = t->when ? choose(e, t->when, ev, &taken, why) : RC_OK;

	if (rc || !taken)
		return rc;
	rc = require_all(e, &t->key_slots, NEED_KEY, t, ev, why);
	if (rc == RC_OK && t->ts != TS_CONSTANT)
		rc = require(e, t->ts_slot, NEED_TIMESTAMP, t, ev, why);
	if (rc == RC_OK)
		rc = table_encode_key(e, table, why);
	if (rc == RC_OK)
		rc = note_markers(e, t, ev, why);
	e->out[table].payload.len = 0;
	for (const struct cell_step *s = t->cells, *end = s + t->ncells; s < end && rc == RC_OK;
	     s++)
		rc = chosen_cell(e, t, s, ev, any, why);
	return rc;
}
