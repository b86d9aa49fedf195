/* names.c - an index of names, by open addressing */
#include "hash.h"

#include <string.h>

#include "mem.h"

static struct name_entry *place_of(const struct name_index *s, const char *name, size_t len)
{
	size_t i = (size_t)XXH3_64bits(name, len) & (s->room - 1);

	while (s->entry[i].name && strcmp(s->entry[i].name, name) != 0)
		i = (i + 1) & (s->room - 1);
	return &s->entry[i];
}

static void grow(struct name_index *s)
{
	struct name_index to = {.room = s->room ? 2 * s->room : 64, .n = s->n};

	to.entry = mem_calloc(to.room, sizeof *to.entry);
	for (size_t i = 0; i < s->room; i++)
		if (s->entry[i].name)
			*place_of(&to, s->entry[i].name, strlen(s->entry[i].name)) = s->entry[i];
	mem_free(s->entry);
	*s = to;
}

struct name_entry *names_add(struct name_index *s, const char *name)
{
	if (2 * s->n >= s->room)
		grow(s);
	struct name_entry *e = place_of(s, name, strlen(name));

	s->n += !e->name;
	e->name = name;
	return e;
}

const struct name_entry *names_find(const struct name_index *s, const char *name)
{
	const struct name_entry *e = s->n ? place_of(s, name, strlen(name)) : NULL;

	return e && e->name ? e : NULL;
}

void names_release(struct name_index *s)
{
	mem_free(s->entry);
	*s = (struct name_index){0};
}
