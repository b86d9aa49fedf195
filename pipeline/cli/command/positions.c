#include "positions.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"

static int by_place(const void *a, const void *b)
{
	const struct offset_range *x = a, *y = b;

	return place_order(x->topic, x->partition, y->topic, y->partition);
}

/* Parse "3=1200" or "orders/3=1200". Ends the topic in `text` with a 0 byte. */
static bool parse_position(char *text, struct offset_range *out)
{
	char *end, *slash = strrchr(text, '/');
	const char *number = slash ? slash + 1 : text;
	unsigned long p = strtoul(number, &end, 10);

	if (number[0] < '0' || number[0] > '9' || *end != '=' || p > 1000000 || slash == text)
		return false;
	const char *offset = end + 1;
	long long v = strtoll(offset, &end, 10);
	if (offset[0] < '0' || offset[0] > '9' || *end != 0)
		return false;
	if (slash)
		*slash = 0;
	*out = (struct offset_range){.topic = slash ? text : NULL,
				     .partition = (int32_t)p,
				     .end = v};
	return true;
}

int positions_parse(char **words, size_t n, struct offset_range *to, struct error *err)
{
	if (n == 0)
		return error_set(err, RC_CONFIG,
				 "found no position, expected PARTITION=OFFSET like 3=1200");
	for (size_t i = 0; i < n; i++)
		if (!parse_position(words[i], &to[i]))
			return error_set(err, RC_CONFIG,
					 "found `%s`, expected PARTITION=OFFSET like 3=1200, or "
					 "TOPIC/PARTITION=OFFSET",
					 words[i]);
	qsort(to, n, sizeof *to, by_place);
	for (size_t i = 1; i < n; i++)
		if (by_place(&to[i], &to[i - 1]) == 0)
			return error_set(err, RC_CONFIG,
					 "found partition %s twice, expected it once",
					 place_text(to[i].topic, to[i].partition).text);
	return RC_OK;
}

int positions_split(const char *text, struct arena *arena, struct offset_range **out, size_t *n,
		    struct error *err)
{
	char **words = arena_alloc(arena, (strlen(text) + 1) * sizeof *words), *rest;

	*n = 0;
	for (char *word = strtok_r(arena_strdup(arena, text), ",", &rest); word;
	     word = strtok_r(NULL, ",", &rest))
		words[(*n)++] = word;
	*out = arena_alloc(arena, (*n + 1) * sizeof **out);
	return positions_parse(words, *n, *out, err);
}
