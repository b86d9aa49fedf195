/*
 * known_rows.c - recognize rows without names whose columns a preset names: access logs of
 * Application Load Balancers of AWS
 */
#include <ctype.h>
#include <stdio.h>

#include "job.h"
#include "sniff_parts.h"

#define ALB_LEAST 18 /* values in the first version of the logs */

static bool is_one_of(struct bytes t, const char *const *words)
{
	while (*words && !bytes_eq(t, bytes_str(*words)))
		words++;
	return *words;
}

/* Return true for a time such as 2026-11-01T10:00:00.123456Z. */
static bool is_utc_time(struct bytes t)
{
	static const char form[] = "9999-99-99T99:99:99";

	for (size_t i = 0; i < sizeof form - 1 && i < t.len; i++)
		if (form[i] == '9' ? !isdigit(t.ptr[i]) : t.ptr[i] != (uint8_t)form[i])
			return false;
	return t.len > sizeof form && t.ptr[t.len - 1] == 'Z';
}

static bool is_alb_row(const struct sniffed_row *r)
{
	static const char *const types[] = {"http", "https", "h2", "grpcs", "ws", "wss", NULL};

	return r->n >= ALB_LEAST && is_one_of(r->value[0], types) && is_utc_time(r->value[1]) &&
	       r->value[2].len > 4 && memcmp(r->value[2].ptr, "app/", 4) == 0;
}

bool shape_of_known(struct sniffed_shape *s, const struct lines *l)
{
	struct sniffed_shape try = *s;
	struct sniffed_row r = {0};
	size_t rows = 0;
	bool all = true;

	try.delimiter = ' ';
	try.quote = '"';
	try.ncolumns = 0;
	try.comments = try.rulers = try.counts = try.one = false;
	for (size_t i = next_row(&try, l, 0); i < try.end && all; rows++) {
		i = next_row(&try, l, row_split(&try, l, i, try.end, &r));
		all = is_alb_row(&r);
		try.missing = try.missing || (rows && r.n != try.ncolumns);
		try.ncolumns = r.n > try.ncolumns ? r.n : try.ncolumns;
	}
	row_release(&r);
	if (!all || !rows)
		return false;
	try.first = next_row(&try, l, 0);
	try.known = "alb";
	*s = try;
	return true;
}

/* Return the text after `columns: [` in the preset. */
static const char *columns_of(const char *preset)
{
	static const char key[] = "columns: [";
	const struct job_preset *list;
	size_t n = job_presets(&list), i = 0;

	while (i < n && strcmp(list[i].name, preset) != 0)
		i++;
	const char *at = i < n ? strstr(list[i].keys, key) : NULL;
	return at ? at + sizeof key - 1 : "";
}

void known_names(const struct sniffed_shape *s, struct columns *c)
{
	const char *p = columns_of(s->known);

	while (c->n < s->ncolumns && *p && *p != ']') {
		p += strspn(p, ", \n");
		size_t len = strcspn(p, ", \n]");

		if (len)
			columns_add(c, bytes_of(p, len));
		p += len;
	}
}
