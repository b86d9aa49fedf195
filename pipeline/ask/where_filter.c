/* where_filter.c - see where_filter.h */
#include "where_filter.h"

static struct filter *kept(const struct filter_maker *m, struct filter f)
{
	struct filter *to = arena_alloc(m->arena, sizeof *to);

	*to = f;
	return to;
}

static enum filter_op op_of(enum key_filter_op op)
{
	static const enum filter_op ops[] = {[KEY_FILTER_LESS] = FILTER_LESS,
					     [KEY_FILTER_LESS_OR_EQUAL] = FILTER_LESS_OR_EQUAL,
					     [KEY_FILTER_EQUAL] = FILTER_EQUAL,
					     [KEY_FILTER_NOT_EQUAL] = FILTER_NOT_EQUAL,
					     [KEY_FILTER_GREATER_OR_EQUAL] =
						     FILTER_GREATER_OR_EQUAL,
					     [KEY_FILTER_GREATER] = FILTER_GREATER};
	return ops[op];
}

static struct filter *fuzzy_of(const struct filter_maker *m, const struct key_filter *f)
{
	struct filter_fuzzy *patterns = arena_alloc(m->arena, f->n * sizeof *patterns);

	for (size_t i = 0; i < f->n; i++)
		patterns[i] = (struct filter_fuzzy){f->patterns[i].key, f->patterns[i].mask};
	return kept(m,
		    (struct filter){.type = FILTER_FUZZY_ROW, .fuzzy = patterns, .nfuzzy = f->n});
}

static struct filter *column_of(const struct filter_maker *m, const struct key_filter *f)
{
	if (!m->asks_column(m->ctx, f->family, f->qualifier))
		return NULL;
	return kept(m, (struct filter){.type = FILTER_SINGLE_COLUMN_VALUE,
				       .family = f->family,
				       .qualifier = f->qualifier,
				       .op = op_of(f->op),
				       .with = {.type = COMPARE_BINARY, .value = f->value},
				       .if_missing = true});
}

/* Of all that must pass what is none is left out; one of several that may pass takes all with it.
 */
static struct filter *list_of(const struct filter_maker *m, const struct key_filter *f)
{
	bool all = f->kind == KEY_FILTER_ALL;
	struct filter list = {.type = all ? FILTER_LIST_AND : FILTER_LIST_OR};

	list.of = arena_alloc(m->arena, f->n * sizeof(struct filter *));
	for (size_t i = 0; i < f->n; i++) {
		struct filter *one = filter_of(m, f->of[i]);
		if (!one && !all)
			return NULL;
		if (one)
			list.of[list.nof++] = one;
	}
	return list.nof > 1 ? kept(m, list) : list.nof ? list.of[0] : NULL;
}

struct filter *filter_of(const struct filter_maker *m, const struct key_filter *f)
{
	switch (f->kind) {
	case KEY_FILTER_FUZZY: return m->fuzzy ? fuzzy_of(m, f) : NULL;
	case KEY_FILTER_COLUMN: return column_of(m, f);
	case KEY_FILTER_ROW:
		if (!m->rows)
			return NULL;
		return kept(m, (struct filter){.type = FILTER_ROW,
					       .op = op_of(f->op),
					       .with = {.type = COMPARE_COMPONENT,
							.value = f->value,
							.at = f->at}});
	case KEY_FILTER_ALL:
	case KEY_FILTER_ONE: break;
	}
	return list_of(m, f);
}
