/*
 * columns.c - find the types that fit all values of a column
 *
 * The reader of a load (field.h) tries each value in every form that accepted all earlier values.
 * So a form that remains at the end can read the whole file.
 */
#include <ctype.h>
#include <strings.h>

#include "sniff_parts.h"
#include "error.h"
#include "hash.h"

static int open_form(struct columns *c, struct field_form *form, size_t k, const struct field *like,
		     const struct signs *signs, struct error *err)
{
	c->fields[k] = *like;
	c->jobs[k].csv.decimal = signs ? signs->decimal : NULL;
	c->jobs[k].csv.thousands = signs ? signs->thousands : NULL;
	c->jobs[k].csv.minus = signs ? MINUS_TRAILING : MINUS_FRONT;
	return field_form_init(form, &c->arena, &c->jobs[k], &c->fields[k], c->c_locale, err);
}

int columns_open(struct columns *c, struct error *err)
{
	size_t ntimes = times_count(), all = ntimes + SIGN_PAIRS + 3;
	struct field flag = {.name = "value", .type = FIELD_BOOL},
		     real = {.name = "value", .type = FIELD_F64},
		     uuid = {.name = "value", .type = FIELD_UUID},
		     ip = {.name = "value", .type = FIELD_IP};

	*c = (struct columns){.c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
	if (!c->c_locale)
		return error_errno(err, "cannot set up the C locale");
	c->fields = arena_alloc(&c->arena, all * sizeof *c->fields);
	c->jobs = arena_alloc(&c->arena, all * sizeof *c->jobs);
	c->times = arena_alloc(&c->arena, ntimes * sizeof *c->times);
	int rc = open_form(c, &c->flag, 0, &flag, NULL, err);
	for (size_t i = 0; i < SIGN_PAIRS && rc == RC_OK; i++)
		rc = open_form(c, &c->number[i], 1 + i, &real, &sign_pairs[i], err);
	for (size_t i = 0; i < ntimes && rc == RC_OK; i++) {
		struct field time = {.name = "value", .type = FIELD_TIME, .format = time_forms[i]};

		rc = open_form(c, &c->times[i], 1 + SIGN_PAIRS + i, &time, NULL, err);
	}
	if (rc == RC_OK)
		rc = open_form(c, &c->uuid, all - 2, &uuid, NULL, err);
	if (rc == RC_OK)
		rc = open_form(c, &c->ip, all - 1, &ip, NULL, err);
	return rc;
}

void columns_restart(struct columns *c)
{
	for (size_t i = 0; i < c->n; i++)
		distinct_release(&c->column[i].distinct);
	names_release(&c->names);
	names_release(&c->empty);
	c->empty = (struct name_index){0};
	c->unnamed = 0;
	c->n = 0;
	c->rows = 0;
}

void columns_close(struct columns *c)
{
	columns_restart(c);
	mem_free(c->column);
	buf_release(&c->members);
	names_release(&c->beside);
	field_scratch_release(&c->scratch);
	if (c->c_locale)
		freelocale(c->c_locale);
	arena_release(&c->arena);
}

struct sniffed *columns_add(struct columns *c, struct bytes name)
{
	char *text = mem_format("%.*s", (int)name.len, (const char *)name.ptr);
	const struct name_entry *known = names_find(&c->names, text);

	mem_free(text);
	if (known)
		return &c->column[known->number - 1];
	c->column = mem_grow(c->column, c->n, sizeof *c->column);
	struct sniffed *s = &c->column[c->n++];
	*s = (struct sniffed){.name = arena_strndup(&c->arena, name.ptr, name.len),
			      .times = ~UINT64_C(0) >> (64 - times_count()),
			      .flags = true,
			      .uuids = true,
			      .ips = true,
			      .ipv4 = true};
	for (size_t i = 0; i < SIGN_PAIRS; i++)
		s->numbers[i] = (struct numbers){.fits = true, .least = UINT64_MAX};
	for (size_t i = 0; i < TIME_FORMS_MOST; i++)
		s->oldest[i] = INT64_MAX;
	names_add(&c->names, s->name)->number = c->n;
	return s;
}

/* --- one value --- */

/* Compare a value with all earlier values. */
static void rank(struct sniffed *s, uint64_t v)
{
	if (s->ranked++ == 0)
		s->highest = s->lowest = v;
	s->rising += v >= s->highest;
	s->falling += v <= s->lowest;
	s->highest = v > s->highest ? v : s->highest;
	s->lowest = v < s->lowest ? v : s->lowest;
}

static void try_ids(struct columns *c, struct sniffed *s, struct bytes text)
{
	static const uint8_t mapped[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	struct reject why;
	struct value v = {.text = text};

	s->uuids = s->uuids && field_read(&c->uuid, &v, &c->scratch, &why) == RC_OK;
	if (s->uuids) {
		uint64_t head = 0;

		for (size_t i = 0; i < 8; i++)
			head = head << 8 | v.bytes.ptr[i];
		rank(s, head);
	}
	v = (struct value){.text = text};
	s->ips = s->ips && field_read(&c->ip, &v, &c->scratch, &why) == RC_OK;
	for (size_t i = 12; s->ips && i < 16; i++)
		s->ip_like = s->ip_like || v.bytes.ptr[i] >= 100;
	s->ipv4 = s->ipv4 && s->ips && memcmp(v.bytes.ptr, mapped, sizeof mapped) == 0;
}

static bool is_null_word(struct sniffed *s, struct bytes text)
{
	size_t k = null_word(text);

	if (!null_words[k])
		return false;
	s->words[k]++;
	return true;
}

/* Note whether all values begin with a blank, or have blanks up to the same length. */
static void see_padding(struct sniffed *s, struct bytes text, struct bytes plain)
{
	uint32_t n = 0;

	for (size_t i = 0; i < text.len; i++)
		n += (text.ptr[i] & 0xc0) != 0x80;
	s->padding.least = s->padding.most && n > s->padding.least ? s->padding.least : n;
	s->padding.most = n > s->padding.most ? n : s->padding.most;
	s->padding.with += plain.len != text.len;
	s->padding.before += plain.ptr != text.ptr;
	s->padding.n++;
}

static bool is_padded(const struct sniffed *s)
{
	const struct padding *p = &s->padding;

	return p->with > 1 && (p->before == p->n || (p->least == p->most && p->with * 4 > p->n));
}

static void see_flag(struct columns *c, struct sniffed *s, struct bytes t)
{
	struct value v = {.text = t};
	struct reject why;

	/* true and false only: yes, N and NO may be codes, and a later row may have a third one */
	s->flags = t.len >= 4 && field_read(&c->flag, &v, &c->scratch, &why) == RC_OK;
}

/* Return true for a text between ", ', ` or typographic quotes. */
static bool is_wrapped(struct bytes t)
{
	static const char *const pairs[] = {"\"\"", "''", "``", "“”", "„“", "«»", NULL};

	for (size_t i = 0; pairs[i]; i++) {
		size_t n = strlen(pairs[i]) / 2;

		if (t.len >= 2 * n && memcmp(t.ptr, pairs[i], n) == 0 &&
		    memcmp(t.ptr + t.len - n, pairs[i] + n, n) == 0)
			return true;
	}
	return false;
}

/* Return true for digits, E and digits without a sign or a point, which may be a code. */
static bool is_exponent_code(struct bytes t)
{
	size_t letters = 0;

	for (size_t i = 0; i < t.len; i++) {
		bool e = t.ptr[i] == 'e' || t.ptr[i] == 'E';

		if (!e && !isdigit(t.ptr[i]))
			return false;
		letters += e;
	}
	return letters == 1;
}

void column_see(struct columns *c, struct sniffed *s, struct bytes text, bool quoted)
{
	struct bytes t = without_blanks(text);

	if (!quoted && t.len)
		see_padding(s, text, t);
	if (t.len != text.len) {
		s->blanks = s->blanks || !quoted;
		s->quoted_blanks = s->quoted_blanks || quoted;
	}
	if (t.len == 0) {
		s->nulls++;
		s->quoted_words = s->quoted_words || quoted;
		return;
	}
	s->values++;
	s->quoted += quoted;
	s->wrapped += !c->json && is_wrapped(t);
	s->plus = s->plus || (t.len == 1 && t.ptr[0] == '+');
	s->codes += !c->json && is_exponent_code(t);
	if (!s->distinct.many)
		distinct_add_later(&s->distinct, XXH3_64bits(t.ptr, t.len));
	if (is_null_word(s, t)) {
		s->quoted_words = s->quoted_words || quoted;
		return;
	}
	s->marked = s->marked || !text_is_digits(t);
	if (s->flags)
		see_flag(c, s, t);
	if (is_infinite(t))
		s->infinite++;
	else
		numbers_try(c, s, t);
	if (s->uuids || s->ips)
		try_ids(c, s, t);
	if (s->numbers[0].fits && text_is_digits(t))
		rank(s, digits_value(t));
	if (s->times)
		times_try(c, s, t);
}

/* --- all values of a column --- */

/* 10.0.1.2 may be a version. */
static bool is_version(const char *name)
{
	static const char *const words[] = {"version", "release", "build", "oid", NULL};

	return name_contains(name, words) || name_ends_in(name, "ver") || name_ends_in(name, "v");
}

/*
 * Return true for decimal numbers in texts of JSON that a decimal field would write with other digits
 * after the point. A program whose type is a fixed scale writes all digits of the scale.
 */
static bool is_uneven(const struct columns *c, const struct sniffed *s, const struct numbers *n)
{
	return c->json && !c->schema && !c->form.extended && s->quoted && n->real &&
	       (n->points < s->values - words_count(s) || n->places_least < n->places);
}

static void decide(struct columns *c, struct sniffed *s)
{
	uint64_t words = words_count(s);
	const struct numbers *n = &s->numbers[c->signs];

	s->type = FIELD_TEXT;
	if (s->values == words)
		return;
	/* 132.169.144.219 is no number with groups of three digits */
	bool grouped = sign_pairs[c->signs].thousands && !n->real && s->ips && s->ipv4;
	if (s->infinite) {
		if (number_fits(s, c->signs) && s->infinite < s->values - words)
			s->note = "numbers, of which some are infinite, so only text fits";
	} else if (number_fits(s, c->signs) && is_uneven(c, s, n)) {
		s->note = "numbers in texts, with other digits after the point; for numbers, write "
			  "`type: f64`, or `type: decimal` with a `scale`";
	} else if (number_fits(s, c->signs) && !grouped && s->codes < s->values - words) {
		number_decide(s, n);
		c->trailing = c->trailing || s->trailing;
	} else if (s->flags)
		s->type = FIELD_BOOL;
	else if (s->uuids && !words)
		s->type = FIELD_UUID;
	else if (s->ips && !words && (!s->ipv4 || s->ip_like) && !is_version(s->name))
		s->type = FIELD_IP;
	else if (s->times && (s->marked || name_is_time(s->name)))
		time_decide(s);
}

/* Return true if word `k` means null in this column. */
static bool is_null(const struct columns *c, const struct sniffed *s, size_t k)
{
	bool mark = strchr("?-.", null_words[k][0]); /* alone in a column, it may be a value */

	return s->words[k] && (s->type != FIELD_TEXT || (!mark && s->values == words_count(s)) ||
			       (c->null_word && strcmp(null_words[k], "NULL") == 0) ||
			       (c->slash_null && strcmp(null_words[k], "\\N") == 0) ||
			       (c->dash_null && strcmp(null_words[k], "-") == 0));
}

void columns_decide(struct columns *c)
{
	for (size_t i = 0; i < c->n; i++) {
		numbers_part(&c->column[i]);
		distinct_settle(&c->column[i].distinct);
	}
	signs_choose(c);
	for (size_t i = 0; i < c->n; i++) {
		struct sniffed *s = &c->column[i];

		decide(c, s);
		for (size_t k = 0; null_words[k]; k++)
			c->words[k] = c->words[k] || is_null(c, s, k);
		c->blanks = c->blanks || is_padded(s);
		if (c->dash_null)
			c->quoted_words = c->quoted_words || s->quoted_words;
		if (s->type != FIELD_TEXT) {
			c->blanks = c->blanks || s->blanks;
			c->quoted_words = c->quoted_words || s->quoted_words;
			c->quoted_blanks = c->quoted_blanks || s->quoted_blanks;
		}
	}
	for (size_t i = 0; i < c->n; i++) {
		struct sniffed *s = &c->column[i];

		s->has_nulls = s->values + s->nulls < c->rows || s->nulls > 0;
		for (size_t k = 0; null_words[k]; k++)
			s->has_nulls = s->has_nulls || (c->words[k] && s->words[k]);
	}
}
