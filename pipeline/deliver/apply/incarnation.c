#include "incarnation.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define NAME_CHARS (INCARNATION_NAME - 1)

static int by_name(const void *a, const void *b)
{
	return memcmp(a, b, NAME_CHARS);
}

static void add(struct incarnation *i, const uint8_t *name)
{
	i->regions = mem_grow(i->regions, i->nregions, sizeof *i->regions);
	memcpy(i->regions[i->nregions], name, NAME_CHARS);
	i->regions[i->nregions++][NAME_CHARS] = 0;
}

static void sort(struct incarnation *i)
{
	if (i->nregions)
		qsort(i->regions, i->nregions, sizeof *i->regions, by_name);
}

void incarnation_take(struct incarnation *i, const struct hbase_regions *r, uint64_t folder)
{
	size_t most = r->count < INCARNATION_REGIONS ? r->count : INCARNATION_REGIONS;

	incarnation_release(i);
	i->known = true;
	i->folder = folder;
	for (size_t k = 0; k < most; k++) {
		struct bytes name = hbase_encoded_name(r->item[k * r->count / most].name);

		if (name.len == NAME_CHARS)
			add(i, name.ptr);
	}
	sort(i);
}

void incarnation_release(struct incarnation *i)
{
	mem_free(i->regions);
	*i = (struct incarnation){0};
}

void incarnation_words(struct buf *out, const struct incarnation *i)
{
	buf_printf(out, " %" PRIu64, i->folder);
	for (size_t k = 0; k < i->nregions; k++)
		buf_printf(out, " %s", i->regions[k]);
}

bool incarnation_read(struct incarnation *i, const char *words)
{
	char *p;

	incarnation_release(i);
	if (words[0] != ' ' || words[1] < '0' || words[1] > '9')
		return false;
	i->folder = strtoull(words + 1, &p, 10);
	for (; *p == ' '; p += 1 + NAME_CHARS) {
		if (strspn(p + 1, "0123456789abcdef") != NAME_CHARS)
			return false;
		add(i, (const uint8_t *)p + 1);
	}
	sort(i);
	i->known = *p == 0;
	return i->known;
}

static bool has(const struct incarnation *i, struct bytes name)
{
	return name.len == NAME_CHARS && i->nregions &&
	       bsearch(name.ptr, i->regions, i->nregions, sizeof *i->regions, by_name);
}

bool incarnation_has(const struct incarnation *i, const struct hbase_regions *r)
{
	for (size_t k = 0; k < r->count; k++)
		if (has(i, hbase_encoded_name(r->item[k].name)))
			return true;
	for (size_t k = 0; k < r->nparents; k++)
		if (has(i, r->parents[k]))
			return true;
	return false;
}

bool incarnation_in(const struct incarnation *i, uint64_t folder)
{
	return folder && i->folder == folder;
}
