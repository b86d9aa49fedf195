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

/* largest number of digits after the point in an amount; a measurement may have more */
#define DECIMAL_MOST 6
#define DAYS_LEAST   8 /* different days that prove that the numbers are days, for any name */

const struct signs sign_pairs[SIGN_PAIRS] = {{NULL, NULL},    {",", NULL},    {",", "."},
					     {NULL, ","},     {NULL, "'"},    {",", " "},
					     {",", "\u202f"}, {",", "\u00a0"}};

const char *const null_words[] = {"NA", "N/A",	"n/a", "NULL", "null", "\\N",  "-",
				  "--", "None", "nan", "NaN",  "?",    "#N/A", NULL};

const char *const time_forms[] = {"iso8601",
				  "%Y/%m/%d",
				  "%Y/%m/%d %H:%M",
				  "%Y/%m/%d %H:%M:%S",
				  "%d.%m.%Y",
				  "%d.%m.%Y %H:%M",
				  "%d.%m.%Y %H:%M:%S",
				  "%d.%m.%y",
				  "%d/%m/%Y",
				  "%m/%d/%Y",
				  "%d/%m/%Y %H:%M",
				  "%m/%d/%Y %H:%M",
				  "%d/%m/%Y %H:%M:%S",
				  "%m/%d/%Y %H:%M:%S",
				  "%m/%d/%Y %I:%M %p",
				  "%d/%m/%Y %I:%M %p",
				  "%m/%d/%Y %I:%M:%S %p",
				  "%d/%m/%Y %I:%M:%S %p",
				  "%d-%m-%Y",
				  "%m-%d-%Y",
				  "%d-%b-%Y",
				  "%d-%b-%y",
				  "%d %b %Y",
				  "%b %d %Y",
				  "%b %d, %Y",
				  "%d-%b-%Y %H:%M:%S",
				  "%d/%b/%Y:%H:%M:%S %z",
				  "[%d/%b/%Y:%H:%M:%S %z]",
				  "%a %b %e %H:%M:%S %Y",
				  "%a %b %e %H:%M:%S %Z %Y",
				  "%a, %d %b %Y %H:%M:%S %z",
				  "%a, %d %b %Y %H:%M:%S %Z",
				  "%Y-%m-%d %H:%M:%S.%f %z",
				  "%Y%m%d%H%M%S",
				  "%Y%m%d %H%M%S",
				  NULL};

static int open_form(struct columns *c, struct field_form *form, size_t k, const struct field *like,
		     const struct signs *signs, struct error *err)
{
	c->fields[k] = *like;
	c->jobs[k].csv.decimal = signs ? signs->decimal : NULL;
	c->jobs[k].csv.thousands = signs ? signs->thousands : NULL;
	c->jobs[k].csv.minus = signs ? MINUS_TRAILING : MINUS_FRONT;
	return field_form_init(form, &c->arena, &c->jobs[k], &c->fields[k], c->c_locale, err);
}

static size_t count_times(void)
{
	size_t n = 0;

	while (time_forms[n])
		n++;
	return n;
}

int columns_open(struct columns *c, struct error *err)
{
	size_t ntimes = count_times(), all = ntimes + SIGN_PAIRS + 3;
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
			      .times = ~UINT64_C(0) >> (64 - count_times()),
			      .flags = true,
			      .spelled = true,
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

/* Note the plain text of a number that some form accepted. */
static void see_number(struct numbers *n, struct bytes t)
{
	bool minus = t.ptr[0] == '-', sign = minus || t.ptr[0] == '+';
	uint32_t whole = 0, places = 0;
	uint64_t v = 0;
	bool point = false, large = false;

	for (size_t i = sign; i < t.len; i++) {
		uint8_t c = t.ptr[i];

		if (c == '.') {
			point = true;
		} else if (!isdigit(c)) {
			n->exponent = true;
			break;
		} else if (point) {
			places++;
		} else {
			whole++;
			large = large || __builtin_mul_overflow(v, 10u, &v) ||
				__builtin_add_overflow(v, (uint64_t)(c - '0'), &v);
		}
	}
	/* 007 is a name, not a number, and +49 begins a telephone number */
	if ((whole > 1 && t.ptr[sign] == '0') || (sign && !minus) || large)
		n->fits = false;
	n->negative = n->negative || minus;
	n->real = n->real || point;
	n->whole = whole > n->whole ? whole : n->whole;
	n->places = places > n->places ? places : n->places;
	n->least = v < n->least ? v : n->least;
	n->most = v > n->most ? v : n->most;
}

/* Return true if the text consists of 1 to 18 digits. */
static bool is_digits(struct bytes t)
{
	for (size_t i = 0; i < t.len; i++)
		if (!isdigit(t.ptr[i]))
			return false;
	return t.len > 0 && t.len <= 18;
}

/* Return the number of up to 18 digits. */
static uint64_t number_of(struct bytes digits)
{
	uint64_t v = 0;

	for (size_t i = 0; i < digits.len; i++)
		v = 10 * v + (digits.ptr[i] - '0');
	return v;
}

static void try_numbers(struct columns *c, struct sniffed *s, struct bytes text)
{
	struct reject why;
	bool digits = is_digits(text);

	s->trailing = s->trailing || text.ptr[text.len - 1] == '-';
	for (size_t i = 0; i < SIGN_PAIRS; i++) {
		struct value v = {.text = text};

		if (!s->numbers[i].fits)
			continue;
		/* plain digits are a number in every form */
		if (!digits)
			s->numbers[i].fits =
				field_read(&c->number[i], &v, &c->scratch, &why) == RC_OK;
		if (s->numbers[i].fits)
			see_number(&s->numbers[i], v.text);
	}
}

static void try_times(struct columns *c, struct sniffed *s, struct bytes text)
{
	struct reject why;

	count_order(s, text);
	for (uint64_t left = s->times; left; left &= left - 1) {
		size_t i = (size_t)__builtin_ctzll(left);
		struct value v = {.text = text};

		if (text.len < 6 || field_read(&c->times[i], &v, &c->scratch, &why))
			s->times &= ~(UINT64_C(1) << i);
		else if ((int64_t)v.u < s->oldest[i])
			s->oldest[i] = (int64_t)v.u;
	}
}

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
	for (size_t i = 0; null_words[i]; i++) {
		if (bytes_eq(bytes_str(null_words[i]), text)) {
			s->words[i]++;
			return true;
		}
	}
	return false;
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
	s->flags = t.len > 1 && field_read(&c->flag, &v, &c->scratch, &why) == RC_OK;
	if (s->flags)
		s->truths[v.u & 1] = true;
	s->spelled = s->spelled && t.len >= 4;
}

/* NO alone may be Norway, but true and false need no opposite. */
static bool has_flags(const struct sniffed *s)
{
	return s->flags && (s->spelled || (s->truths[0] && s->truths[1]));
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
	if (!s->distinct.many)
		distinct_add(&s->distinct, XXH3_64bits(t.ptr, t.len));
	if (is_null_word(s, t)) {
		s->quoted_words = s->quoted_words || quoted;
		return;
	}
	if (s->flags)
		see_flag(c, s, t);
	try_numbers(c, s, t);
	if (s->uuids || s->ips)
		try_ids(c, s, t);
	if (s->numbers[0].fits && is_digits(t))
		rank(s, number_of(t));
	if (s->times)
		try_times(c, s, t);
}

/* --- all values of a column --- */

static uint64_t count_words(const struct sniffed *s)
{
	uint64_t n = 0;

	for (size_t i = 0; null_words[i]; i++)
		n += s->words[i];
	return n;
}

static bool has_number(const struct sniffed *s, size_t pair)
{
	const struct numbers *n = &s->numbers[pair];

	/* 5- is a grade or a code, but 5.00- is an amount */
	return s->values > count_words(s) && n->fits && (!s->trailing || n->real);
}

/* Return true if some numbers have another value with the other pair of signs. */
static bool signs_differ(const struct columns *c, size_t a, size_t b)
{
	for (size_t k = 0; k < c->n; k++) {
		const struct sniffed *s = &c->column[k];

		if (has_number(s, a) && has_number(s, b) &&
		    (s->numbers[a].places != s->numbers[b].places ||
		     s->numbers[a].whole != s->numbers[b].whole))
			return true;
	}
	return false;
}

static void choose_signs(struct columns *c)
{
	size_t typed[SIGN_PAIRS] = {0}, best = 0;

	for (size_t i = 0; i < SIGN_PAIRS; i++) {
		for (size_t k = 0; k < c->n; k++)
			typed[i] += has_number(&c->column[k], i);
		best = typed[i] > typed[best] ? i : best;
	}
	c->signs = best;
	c->signs_typed = typed[best];
	c->signs_next = best == 0;
	for (size_t i = 0; i < SIGN_PAIRS; i++)
		if (i != best && typed[i] > typed[c->signs_next] &&
		    (typed[i] < typed[best] || signs_differ(c, best, i)))
			c->signs_next = i;
	c->signs_next_typed = typed[c->signs_next];
	c->signs_other = best;
	/* 1,234 and 1.234 have two readings */
	for (size_t i = 0; i < SIGN_PAIRS; i++)
		if (i != best && typed[i] == typed[best] && signs_differ(c, best, i))
			c->signs_other = i;
}

static bool has_word(const char *name, const char *const *words)
{
	for (; *words; words++)
		if (strcasestr(name, *words))
			return true;
	return false;
}

bool name_ends_in(const char *name, const char *word)
{
	size_t len = strlen(name), n = strlen(word);
	const char *at = name + len - n;

	if (len < n || strcasecmp(at, word) != 0)
		return false;
	return at == name || !isalpha((unsigned char)at[-1]) ||
	       (isupper((unsigned char)*at) && islower((unsigned char)at[-1]));
}

/* Return true for names such as created_at, eventTime, ts and ts_ms. */
static bool is_time_name(const char *name)
{
	static const char *const words[] = {"time",    "date", "epoch", "stamp", "created",
					    "updated", "zeit", "datum", "when",	 NULL};
	static const char *const ends[] = {"ts",     "at",   "ts_ms", "ms", "millis",
					   "micros", "ts_s", "start", "end"};
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (name_ends_in(name, ends[i]))
			return true;
	return has_word(name, words) || strncasecmp(dot ? dot + 1 : name, "ts_", 3) == 0;
}

/*
 * Return the unit of whole numbers that count from 1970. The size of the numbers and the name of
 * the column decide.
 */
static const char *epoch_unit(const struct sniffed *s, const struct numbers *n)
{
	static const struct {
		const char *unit;
		uint64_t in_s;
	} units[] = {{"s", 1}, {"ms", 1000}, {"us", 1000000}, {"ns", 1000000000}};
	bool named = is_time_name(s->name);

	for (size_t i = 0; i < 4 && named && !n->real && !n->negative; i++)
		if (n->least >= 631152000 * units[i].in_s && n->most < 4102444800 * units[i].in_s)
			return units[i].unit;
	return NULL;
}

/* Return true for numbers such as 20260103. */
static bool is_day_number(const struct sniffed *s, const struct numbers *n)
{
	static const char *const words[] = {"date", "day", "datum", "tag", "dt", NULL};

	if (!(s->times & 1) || n->real || n->least < 19000101 || n->most > 21991231)
		return false;
	/* many numbers that are all days of a calendar are no chance, for any name */
	bool many = s->distinct.n >= DAYS_LEAST && n->least >= 19500101 && n->most <= 20601231;
	return has_word(s->name, words) || is_time_name(s->name) ||
	       (many && !name_ends_in(s->name, "id") && !name_ends_in(s->name, "no") &&
		!name_ends_in(s->name, "nr") && !name_ends_in(s->name, "key") &&
		!name_ends_in(s->name, "code"));
}

static void decide_number(struct sniffed *s, const struct numbers *n)
{
	bool fixed =
		n->real && !n->exponent && n->places <= DECIMAL_MOST && n->whole + n->places <= 18;
	const char *unit = epoch_unit(s, n);

	if (is_day_number(s, n)) {
		s->type = FIELD_TIME;
		s->format = "%Y%m%d";
		s->oldest_ms = s->oldest[0];
	} else if (unit) {
		s->type = FIELD_TIME;
		s->unit = unit;
		s->oldest_ms = 0;
	} else if (n->real || n->exponent) {
		s->type = fixed ? FIELD_DECIMAL : FIELD_F64;
		s->scale = n->places;
	} else if (n->negative) {
		s->type = n->most <= INT64_MAX ? FIELD_I64 : FIELD_TEXT;
	} else {
		s->type = n->most <= UINT32_MAX ? FIELD_U32 : FIELD_U64;
	}
}

static bool day_and_month_differ(const char *a, const char *b)
{
	return strncmp(a, "%d", 2) == 0 && strncmp(b, "%m", 2) == 0;
}

static void decide_time(struct sniffed *s)
{
	size_t first = (size_t)__builtin_ctzll(s->times);

	s->type = FIELD_TIME;
	s->format = time_forms[first];
	s->oldest_ms = s->oldest[first];
	for (uint64_t left = s->times & (s->times - 1); left; left &= left - 1) {
		const char *other = time_forms[__builtin_ctzll(left)];

		if (s->type == FIELD_TEXT)
			break;
		if (!day_and_month_differ(s->format, other) &&
		    !day_and_month_differ(other, s->format))
			continue;
		s->type = FIELD_TEXT;
		s->format = NULL;
		s->note = "a time, but its values do not show which number is the day and which "
			  "the month";
	}
}

/* 10.0.1.2 may be a version. */
static bool is_version(const char *name)
{
	static const char *const words[] = {"version", "release", "build", "oid", NULL};

	return has_word(name, words) || name_ends_in(name, "ver") || name_ends_in(name, "v");
}

static void decide(struct columns *c, struct sniffed *s)
{
	uint64_t words = count_words(s);
	const struct numbers *n = &s->numbers[c->signs];

	s->type = FIELD_TEXT;
	if (s->values == words)
		return;
	if (has_number(s, c->signs)) {
		decide_number(s, n);
		c->trailing = c->trailing || s->trailing;
	} else if (has_flags(s))
		s->type = FIELD_BOOL;
	else if (s->uuids && !words)
		s->type = FIELD_UUID;
	else if (s->ips && !words && (!s->ipv4 || s->ip_like) && !is_version(s->name))
		s->type = FIELD_IP;
	else if (s->times)
		decide_time(s);
}

/* Return true if word `k` means null in this column. */
static bool is_null(const struct columns *c, const struct sniffed *s, size_t k)
{
	return s->words[k] && (s->type != FIELD_TEXT || s->values == count_words(s) ||
			       (c->null_word && strcmp(null_words[k], "NULL") == 0) ||
			       (c->slash_null && strcmp(null_words[k], "\\N") == 0) ||
			       (c->dash_null && strcmp(null_words[k], "-") == 0));
}

void columns_decide(struct columns *c)
{
	choose_signs(c);
	for (size_t i = 0; i < c->n; i++) {
		struct sniffed *s = &c->column[i];

		decide(c, s);
		for (size_t k = 0; null_words[k]; k++)
			c->words[k] = c->words[k] || is_null(c, s, k);
		c->blanks = c->blanks || is_padded(s);
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
