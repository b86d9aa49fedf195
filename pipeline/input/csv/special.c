/*
 * special.c - rows with backslash escapes, delimiters of several bytes, runs of blanks, columns of a
 * fixed width, key=value pairs, stray quotes, or a last column with the rest of the line
 *
 * Most values are parts of the text. The function copies a value with an escape or a doubled quote
 * to r->text. A copy is never longer than its source, so r->text has room.
 */
#include "special.h"

#include "mem.h"

struct split {
	struct csv_reader *r;
	const struct csv_source *d;
	const uint8_t *p, *end;
	bool final, store;
	size_t n; /* values so far */
	bool rest_empty;
	bool last; /* the value is the rest of the line (EXTRA_LAST) */
	/* the current value: its start in the text, and in the copy if there is one */
	const uint8_t *from;
	uint8_t *to, *copy;
	/* QUOTES_LENIENT: a bit for each byte of the row, set by is_unclosed; NULL at first */
	const uint8_t *row;
	uint8_t *unclosed;
};

static bool is_gap(uint8_t c)
{
	return c == ' ' || c == '\t';
}

static bool at_line_end(const struct split *s, const uint8_t *p)
{
	return p == s->end || csv_is_end(*p);
}

/* Return the length of the blanks at `p`. Return 0 if the line ends after them. */
static size_t blanks_at(const struct split *s, const uint8_t *p)
{
	const uint8_t *q = p;

	while (q < s->end && is_gap(*q))
		q++;
	return at_line_end(s, q) ? 0 : (size_t)(q - p);
}

/* Return the length of the delimiter at `p`, or 0. */
static size_t delimiter_at(const struct split *s, const uint8_t *p)
{
	const struct bytes *d = &s->d->long_delimiter;

	if (s->last || p == s->end)
		return 0;
	if (s->d->blanks)
		return is_gap(*p) ? blanks_at(s, p) : 0;
	if (*p != s->d->delimiter)
		return 0;
	if (!d->len)
		return 1;
	return (size_t)(s->end - p) >= d->len && memcmp(p, d->ptr, d->len) == 0 ? d->len : 0;
}

/* --- values --- */

static void begin_value(struct split *s)
{
	s->from = s->p;
	s->copy = NULL;
}

/* Copy the value up to `p`, because the next bytes of the value are not those of the text. */
static void copy_to(struct split *s, const uint8_t *p)
{
	size_t n = (size_t)(p - s->from);

	if (!s->store)
		return;
	if (!s->copy)
		s->copy = s->to;
	memcpy(s->to, s->from, n);
	s->to += n;
}

static void put_byte(struct split *s, uint8_t c)
{
	if (s->store)
		*s->to++ = c;
}

static void set_column(struct split *s, size_t i, struct column c)
{
	if (s->store && i < s->r->max_columns)
		s->r->columns[i] = c;
}

/* End the value before `p`. */
static struct column end_value(struct split *s, const uint8_t *p, bool quoted)
{
	struct bytes v = bytes_of(s->from, (size_t)(p - s->from));

	if (s->copy) {
		copy_to(s, p);
		v = bytes_of(s->copy, (size_t)(s->to - s->copy));
	}
	return (struct column){.ptr = v.ptr, .len = (uint32_t)v.len, .quoted = quoted};
}

static void add_value(struct split *s, struct column c)
{
	if (s->n >= s->r->max_columns && c.len)
		s->rest_empty = false;
	set_column(s, s->n++, c);
}

/* --- escapes --- */

static int hex_at(const uint8_t *p, const uint8_t *end)
{
	if (p == end)
		return -1;
	if (*p >= '0' && *p <= '9')
		return *p - '0';
	uint8_t c = *p | 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_octal(const uint8_t *p, const uint8_t *end)
{
	return p < end && *p >= '0' && *p <= '7';
}

/* Read \xH, \xHH, \o, \oo or \ooo of PostgreSQL. `p` is after the backslash. */
static const uint8_t *postgres_number(const uint8_t *p, const uint8_t *end, uint8_t *c)
{
	unsigned v = 0;

	if (*p == 'x' && hex_at(p + 1, end) >= 0) {
		p++;
		for (int k = 0; k < 2 && hex_at(p, end) >= 0; k++)
			v = v << 4 | (unsigned)hex_at(p++, end);
	} else {
		for (int k = 0; k < 3 && is_octal(p, end); k++)
			v = v << 3 | (unsigned)(*p++ - '0');
	}
	*c = (uint8_t)v;
	return p;
}

/* Return the byte for a letter after a backslash. Any other byte means itself. */
static uint8_t escape_of(enum escapes escapes, uint8_t c)
{
	static const char mysql_from[] = "0bnrtZ", mysql_to[] = "\0\b\n\r\t\x1a";
	static const char postgres_from[] = "bfnrtv", postgres_to[] = "\b\f\n\r\t\v";
	const char *from = escapes == ESCAPES_MYSQL	 ? mysql_from
			   : escapes == ESCAPES_POSTGRES ? postgres_from
							 : "";
	const char *at = c ? strchr(from, c) : NULL;

	if (!at)
		return c;
	return (uint8_t)(escapes == ESCAPES_MYSQL ? mysql_to : postgres_to)[at - from];
}

/* Read an escape at `p`. Return the byte after it, or NULL if the text ends within it. */
static const uint8_t *take_escape(struct split *s, const uint8_t *p)
{
	enum escapes escapes = s->d->escapes;
	uint8_t c;

	copy_to(s, p);
	if (++p == s->end) {
		put_byte(s, '\\');
		s->from = p;
		return s->final ? p : NULL;
	}
	if (escapes == ESCAPES_POSTGRES && (is_octal(p, s->end) || *p == 'x')) {
		const uint8_t *next = postgres_number(p, s->end, &c);

		if (next > p) {
			put_byte(s, c);
			return s->from = next;
		}
	}
	if (*p == '\r' && p + 1 < s->end && p[1] == '\n') /* an escaped line end of Windows */
		put_byte(s, *p++);
	put_byte(s, escape_of(escapes, *p));
	return s->from = p + 1;
}

/* --- delimited rows --- */

/* With QUOTES_LENIENT a row is one line, so a backslash before a line end is text. */
static bool is_escape(const struct split *s, const uint8_t *p)
{
	if (*p != '\\' || s->d->escapes == ESCAPES_NONE)
		return false;
	return s->d->quotes != QUOTES_LENIENT || p + 1 == s->end || !csv_is_end(p[1]);
}

/*
 * Many values of a row may begin with a quote that no other quote closes. The search for the closing
 * quote fails if it comes to a byte from which an earlier search failed. So all searches in a row
 * read each byte at most twice.
 */
static bool is_unclosed(struct split *s, const uint8_t *p)
{
	size_t at = (size_t)(p - s->row);
	uint8_t bit = (uint8_t)(1u << at % 8);

	if (!s->unclosed)
		return false;
	bool marked = s->unclosed[at / 8] & bit;
	s->unclosed[at / 8] |= bit;
	return marked;
}

/* Mark bytes from the second search on. The row ends at or after `p`. */
static void mark_unclosed(struct split *s, const uint8_t *p)
{
	size_t n = (size_t)(p - s->row) / 8 + 1;

	if (s->unclosed)
		return;
	s->r->unclosed.len = 0;
	s->unclosed = buf_reserve(&s->r->unclosed, n);
	memset(s->unclosed, 0, n);
}

static void bad_quote(struct split *s, const uint8_t *at, bool in_quotes, struct csv_row *row)
{
	row->kind = CSV_BAD_QUOTE;
	row->bad_in_quotes = in_quotes;
	row->bad_byte = *at;
	row->bad_column = s->n + 1;
	s->p = at;
}

/*
 * Read a value in quotes. `s->p` is at the quote. Return false, and leave the kind of `row`
 * unchanged, if the value is only text that begins with a quote (QUOTES_LENIENT).
 */
static bool take_quoted(struct split *s, struct csv_row *row)
{
	uint8_t quote = s->d->quote;
	bool lenient = s->d->quotes == QUOTES_LENIENT;
	const uint8_t *p = s->p + 1;

	s->from = p;
	for (;;) {
		if (lenient && (at_line_end(s, p) || is_unclosed(s, p))) {
			mark_unclosed(s, p);
			return false;
		}
		if (p == s->end) {
			row->kind = CSV_OPEN;
			return true;
		}
		if (is_escape(s, p)) {
			p = take_escape(s, p);
			p = p ? p : s->end;
			continue;
		}
		if (*p != quote) {
			p++;
			continue;
		}
		if (p + 1 < s->end && p[1] == quote) {
			copy_to(s, p);
			s->from = p + 1;
			p += 2;
			continue;
		}
		const uint8_t *next = p + 1;
		while ((s->d->trim || s->d->blanks) && next < s->end && is_gap(*next) &&
		       !delimiter_at(s, next))
			next++;
		if (next == s->end && !s->final) {
			row->kind = CSV_OPEN;
			return true;
		}
		if (at_line_end(s, next) || delimiter_at(s, next)) {
			add_value(s, end_value(s, p, true));
			s->p = next;
			return true;
		}
		if (!lenient) {
			bad_quote(s, next, true, row);
			return true;
		}
		p++;
	}
}

static void take_plain(struct split *s, struct csv_row *row)
{
	const uint8_t *p = s->p, *start = p;

	while (!at_line_end(s, p) && !delimiter_at(s, p)) {
		if (is_escape(s, p)) {
			p = take_escape(s, p);
			if (!p) {
				row->kind = CSV_OPEN;
				return;
			}
			continue;
		}
		if (*p == s->d->quote && s->d->quotes == QUOTES_STRICT) {
			bad_quote(s, p, false, row);
			return;
		}
		p++;
	}
	const uint8_t *last = p;
	while (s->d->blanks && last > start && is_gap(last[-1]))
		last--;
	struct column c = end_value(s, last, false);
	bool null = s->d->escapes != ESCAPES_NONE && p - start == 2 && memcmp(start, "\\N", 2) == 0;
	if (null)
		c = (struct column){.ptr = start, .absent = true};
	add_value(s, c);
	s->p = p;
}

static void take_value(struct split *s, struct csv_row *row)
{
	const uint8_t *start = s->p;
	uint8_t *to = s->to;

	begin_value(s);
	while (s->d->trim && s->p < s->end && is_gap(*s->p) && !delimiter_at(s, s->p))
		s->p++;
	if (s->p < s->end && *s->p == s->d->quote && s->d->quotes != QUOTES_NONE) {
		if (take_quoted(s, row))
			return;
		s->p = start;
		s->to = to;
		begin_value(s);
	}
	s->p = start;
	take_plain(s, row);
}

static void split_delimited(struct split *s, struct csv_row *row)
{
	if (s->d->blanks)
		s->p += blanks_at(s, s->p);
	for (;;) {
		s->last = s->d->extra == EXTRA_LAST && s->n + 1 == s->r->max_columns;
		take_value(s, row);
		size_t delimiter = row->kind == CSV_ROW ? delimiter_at(s, s->p) : 0;
		if (!delimiter)
			return;
		s->p += delimiter;
	}
}

/* --- columns of a fixed width --- */

static const uint8_t *skip_characters(const uint8_t *p, const uint8_t *end, uint32_t n)
{
	for (; n > 0 && p < end; n--) {
		size_t len = utf8_char(p, end);

		p += len ? len : 1;
	}
	return p;
}

static void split_fixed(struct split *s)
{
	const uint8_t *end = s->p;

	while (!at_line_end(s, end))
		end++;
	for (size_t i = 0; i < s->d->nwidths; i++) {
		const uint8_t *next =
			i + 1 < s->d->nwidths ? skip_characters(s->p, end, s->d->widths[i]) : end;
		const uint8_t *last = next;

		while (s->p < last && is_gap(*s->p))
			s->p++;
		while (last > s->p && is_gap(last[-1]))
			last--;
		begin_value(s);
		add_value(s, end_value(s, last, false));
		s->p = next;
	}
}

/* --- pairs --- */

/* Find the column of a key. Keys usually come in the order of the columns. */
static size_t find_key(const struct split *s, struct bytes key, size_t guess)
{
	for (size_t k = 0; k < s->d->ncolumns; k++) {
		size_t i = (guess + k) % s->d->ncolumns;

		if (bytes_eq(bytes_str(s->d->columns[i]), key))
			return i;
	}
	return SIZE_MAX;
}

/* Read a value in quotes with escapes as in Go. Return false if it does not end. */
static bool take_pair_quoted(struct split *s, struct column *c)
{
	static const char from[] = "nrt", to[] = "\n\r\t";
	const uint8_t *p = s->p + 1;

	s->from = p;
	for (; !at_line_end(s, p) && *p != s->d->quote; p++) {
		if (*p != '\\' || at_line_end(s, p + 1))
			continue;
		copy_to(s, p);
		const char *at = *++p ? strchr(from, *p) : NULL;
		put_byte(s, at ? (uint8_t)to[at - from] : *p);
		s->from = p + 1;
	}
	if (at_line_end(s, p))
		return false;
	*c = end_value(s, p, true);
	s->p = p + 1;
	return true;
}

static struct column take_pair_value(struct split *s)
{
	const uint8_t *start = s->p;
	uint8_t *to = s->to;
	struct column c;

	begin_value(s);
	if (!at_line_end(s, s->p) && *s->p == s->d->quote && take_pair_quoted(s, &c))
		return c;
	s->p = start;
	s->to = to;
	begin_value(s);
	while (!at_line_end(s, s->p) && !delimiter_at(s, s->p))
		s->p++;
	const uint8_t *last = s->p;
	while (last > start && is_gap(last[-1]))
		last--;
	return end_value(s, last, false);
}

/* A key without a value is true. A later pair replaces an earlier one with the same key. */
static void split_pairs(struct split *s)
{
	static const uint8_t yes[EVENT_ROOM_BYTES + 4] = "true";
	size_t next = 0;

	for (size_t i = 0; i < s->d->ncolumns; i++)
		set_column(s, i, (struct column){.ptr = yes, .absent = true});
	while (!at_line_end(s, s->p)) {
		size_t skip = is_gap(*s->p) ? 1 : delimiter_at(s, s->p);
		const uint8_t *key = s->p;

		if (skip) {
			s->p += skip;
			continue;
		}
		while (!at_line_end(s, s->p) && *s->p != '=' && !is_gap(*s->p) &&
		       !delimiter_at(s, s->p))
			s->p++;
		size_t i = find_key(s, bytes_of(key, (size_t)(s->p - key)), next);
		struct column c = {.ptr = yes, .len = 4};
		if (s->p < s->end && *s->p == '=') {
			s->p++;
			c = take_pair_value(s);
		}
		if (i != SIZE_MAX)
			set_column(s, i, c);
		next = i == SIZE_MAX ? next : i + 1;
	}
	s->n = s->d->ncolumns;
}

/* --- rows --- */

bool special_needed(const struct csv_source *d)
{
	return d->long_delimiter.len || d->blanks || d->extra == EXTRA_LAST || d->nwidths ||
	       d->pairs || d->quotes != QUOTES_STRICT || d->escapes != ESCAPES_NONE;
}

void special_row(struct csv_reader *r, const uint8_t *p, const uint8_t *end, bool final, bool store,
		 struct csv_row *row)
{
	struct split s = {.r = r,
			  .d = r->special,
			  .p = p,
			  .row = p,
			  .end = end,
			  .final = final,
			  .store = store,
			  .rest_empty = true};

	r->text.len = 0;
	s.to = store ? buf_reserve(&r->text, (size_t)(end - p) + EVENT_ROOM_BYTES) : NULL;
	row->kind = CSV_ROW;
	if (s.d->nwidths)
		split_fixed(&s);
	else if (s.d->pairs)
		split_pairs(&s);
	else
		split_delimited(&s, row);
	while (!at_line_end(&s, s.p)) /* the rest of a line with a misplaced quote */
		s.p++;
	row->end = s.p;
	row->next = s.p == end ? end : s.p + 1 + (*s.p == '\r' && s.p + 1 < end && s.p[1] == '\n');
	row->ncolumns = s.n;
	row->rest_empty = s.rest_empty;
	if (row->kind == CSV_OPEN || (s.p == end && !final)) {
		row->kind = CSV_OPEN;
		row->bad_column = s.n + 1;
		row->end = row->next = end;
	}
}

size_t special_cut(const struct csv_source *d, const uint8_t *data, size_t len, bool final)
{
	bool lines = d->nwidths || d->pairs || d->quotes == QUOTES_LENIENT;
	bool escapes = !lines && d->escapes != ESCAPES_NONE;

	if (!lines && d->quotes != QUOTES_NONE)
		return SIZE_MAX;
	if (final)
		return len;
	while (len > 0) {
		while (len > 0 && !csv_is_end(data[len - 1]))
			len--;
		size_t at = len, slashes = 0;
		while (at > 0 && csv_is_end(data[at - 1]) && len - at < 2)
			at--;
		while (slashes < at && data[at - slashes - 1] == '\\')
			slashes++;
		if (!escapes || slashes % 2 == 0)
			return len;
		len = at;
	}
	return 0;
}
