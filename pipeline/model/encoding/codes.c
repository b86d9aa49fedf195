#include "encoding.h"

#include <stdlib.h>

void codes_add(struct codes *c, struct arena *a, struct bytes name, uint32_t code)
{
	c->by_name = arena_grow(a, c->by_name, c->n, sizeof *c->by_name);
	c->by_name[c->n++] = (struct code){name, code};
}

static int name_order(const void *a, const void *b)
{
	return bytes_cmp(((const struct code *)a)->name, ((const struct code *)b)->name);
}

static int code_order(const void *a, const void *b)
{
	uint32_t x = ((const struct code *)a)->code, y = ((const struct code *)b)->code;

	return (x > y) - (x < y);
}

bool codes_sort(struct codes *c, struct arena *a, struct code *twice, bool *same_name)
{
	c->by_code = arena_alloc(a, (c->n + 1) * sizeof *c->by_code);
	if (c->n == 0)
		return true;
	memcpy(c->by_code, c->by_name, c->n * sizeof *c->by_code);
	qsort(c->by_name, c->n, sizeof *c->by_name, name_order);
	qsort(c->by_code, c->n, sizeof *c->by_code, code_order);
	for (size_t i = 1; i < c->n; i++) {
		*same_name = name_order(&c->by_name[i - 1], &c->by_name[i]) == 0;
		*twice = *same_name ? c->by_name[i] : c->by_code[i];
		if (*same_name || code_order(&c->by_code[i - 1], &c->by_code[i]) == 0)
			return false;
	}
	return true;
}

bool codes_find(const struct codes *c, struct bytes name, uint32_t *code)
{
	const struct code key = {.name = name};
	const struct code *found =
		c->n ? bsearch(&key, c->by_name, c->n, sizeof key, name_order) : NULL;

	if (found)
		*code = found->code;
	return found;
}

struct bytes codes_name(const struct codes *c, uint32_t code)
{
	const struct code key = {.code = code};
	const struct code *found =
		c->n ? bsearch(&key, c->by_code, c->n, sizeof key, code_order) : NULL;

	return found ? found->name : (struct bytes){0};
}
