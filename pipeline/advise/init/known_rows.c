/*
 * known_rows.c - recognize rows without names whose columns a preset names: access logs of the load
 * balancers and of S3 of AWS
 */
#include <ctype.h>
#include <stdio.h>

#include "job.h"
#include "sniff_parts.h"

#define ALB_LEAST 18 /* values in the first version of each log */
#define NLB_LEAST 20
#define ELB_LEAST 12
#define S3_LEAST  19

static bool is_one_of(struct bytes t, const char *const *words)
{
	while (*words && !bytes_eq(t, bytes_str(*words)))
		words++;
	return *words;
}

/* Return true if the text begins with this form, in which 9 is a digit and A a letter. */
static bool begins_with_form(struct bytes t, const char *form)
{
	for (size_t i = 0; form[i]; i++)
		if (i == t.len || (form[i] == '9'   ? !isdigit(t.ptr[i])
				   : form[i] == 'A' ? !isalpha(t.ptr[i])
						    : t.ptr[i] != (uint8_t)form[i]))
			return false;
	return true;
}

static const char iso_form[] = "9999-99-99T99:99:99";

/* Return true for a time such as 2026-11-01T10:00:00.123456Z. */
static bool is_utc_time(struct bytes t)
{
	return begins_with_form(t, iso_form) && t.ptr[t.len - 1] == 'Z';
}

static bool is_alb_row(const struct sniffed_row *r)
{
	static const char *const types[] = {"http", "https", "h2", "grpcs", "ws", "wss", NULL};

	return r->n >= ALB_LEAST && is_one_of(r->value[0], types) && is_utc_time(r->value[1]) &&
	       r->value[2].len > 4 && memcmp(r->value[2].ptr, "app/", 4) == 0;
}

static bool is_nlb_row(const struct sniffed_row *r)
{
	return r->n >= NLB_LEAST && bytes_eq(r->value[0], bytes_str("tls")) &&
	       begins_with_form(r->value[1], "9.9") && begins_with_form(r->value[2], iso_form) &&
	       begins_with_form(r->value[3], "net/");
}

static bool is_elb_row(const struct sniffed_row *r)
{
	return r->n >= ELB_LEAST && is_utc_time(r->value[0]) && r->quoted[11] &&
	       memchr(r->value[2].ptr, ':', r->value[2].len);
}

/* The time is two values, because a blank is before its offset. */
static bool is_s3_row(const struct sniffed_row *r)
{
	return r->n >= S3_LEAST && begins_with_form(r->value[2], "[99/AAA/9999:99:99:99") &&
	       bytes_eq(r->value[3], bytes_str("+0000]")) &&
	       memchr(r->value[7].ptr, '.', r->value[7].len) && r->quoted[16] == r->quoted[17];
}

static const struct known_rows {
	const char *preset;
	bool (*is_row)(const struct sniffed_row *r);
} known[] = {{"alb", is_alb_row},
	     {"nlb", is_nlb_row},
	     {"elb", is_elb_row},
	     {"s3_access", is_s3_row}};

static bool are_known(struct sniffed_shape *s, const struct lines *l, const struct known_rows *k)
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
		all = k->is_row(&r);
		try.missing = try.missing || (rows && r.n != try.ncolumns);
		try.ncolumns = r.n > try.ncolumns ? r.n : try.ncolumns;
	}
	row_release(&r);
	if (!all || !rows)
		return false;
	try.first = next_row(&try, l, 0);
	try.known = k->preset;
	*s = try;
	return true;
}

bool shape_of_known(struct sniffed_shape *s, const struct lines *l)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (are_known(s, l, &known[i]))
			return true;
	return false;
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
