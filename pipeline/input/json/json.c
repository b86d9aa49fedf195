/*
 * json.c - one pass over the text, guided by the tree of paths
 *
 * The reader builds no tree, and only checks a value that no path leads to. The reader returns a
 * string without escapes in place, and scans strings 8 or 16 bytes at a time. (simdjson 3.0.1, on
 * demand, takes equally long for a line and does not check unused values.)
 */
#include "input/json_paths.h"

#include "bytes.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define ONES  0x0101010101010101u
#define HIGHS 0x8080808080808080u

struct scan {
	const uint8_t *p, *end;
	struct column *columns;
	/* end of the unescaped strings; the buffer is as long as the text, so all strings fit */
	uint8_t *scratch;
	const char *fault;
	unsigned depth;
	bool extended, hex_escapes;
};

static bool fail(struct scan *s, const uint8_t *at, const char *expected)
{
	s->p = at;
	s->fault = expected;
	return false;
}

static inline void skip_space(struct scan *s)
{
	while (s->p < s->end && (*s->p == ' ' || *s->p == '\n' || *s->p == '\r' || *s->p == '\t'))
		s->p++;
}

/* --- strings --- */

static inline uint64_t equal_bytes(uint64_t x, uint8_t c)
{
	x ^= ONES * c;
	return (x - ONES) & ~x;
}

/* Return the first byte at or after `p` that is not plain ASCII of a string. */
static inline const uint8_t *skip_plain(const uint8_t *p, const uint8_t *end)
{
#ifdef __SSE2__
	while (end - p >= 16) {
		__m128i x = _mm_loadu_si128((const __m128i *)p);
		__m128i odd = _mm_or_si128(_mm_cmpeq_epi8(x, _mm_set1_epi8('"')),
					   _mm_cmpeq_epi8(x, _mm_set1_epi8('\\')));
		/* bytes are signed here, so non-ASCII bytes are less than a space too */
		odd = _mm_or_si128(odd, _mm_cmplt_epi8(x, _mm_set1_epi8(' ')));
		unsigned marks = (unsigned)_mm_movemask_epi8(odd);
		if (marks)
			return p + __builtin_ctz(marks);
		p += 16;
	}
#endif
	while (end - p >= 8) {
		uint64_t x;

		memcpy(&x, p, 8);
		/* exact up to the lowest marked byte; the caller ignores higher bytes */
		uint64_t marks = (equal_bytes(x, '"') | equal_bytes(x, '\\') |
				  ((x - ONES * 0x20) & ~x) | x) &
				 HIGHS;
		if (marks)
			return p + __builtin_ctzll(marks) / 8;
		p += 8;
	}
	while (p < end && *p != '"' && *p != '\\' && *p >= 0x20 && *p < 0x80)
		p++;
	return p;
}

static inline int hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Read four hex digits. Return -1 if a digit is missing. */
static int32_t hex4(const uint8_t *p, const uint8_t *end)
{
	int32_t v = 0;

	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int d = hex_digit(p[i]);

		if (d < 0)
			return -1;
		v = v * 16 + d;
	}
	return v;
}

static uint8_t *put_utf8(uint8_t *out, uint32_t c)
{
	if (c < 0x80) {
		*out++ = (uint8_t)c;
	} else if (c < 0x800) {
		*out++ = (uint8_t)(0xc0 | c >> 6);
		*out++ = (uint8_t)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		*out++ = (uint8_t)(0xe0 | c >> 12);
		*out++ = (uint8_t)(0x80 | (c >> 6 & 0x3f));
		*out++ = (uint8_t)(0x80 | (c & 0x3f));
	} else {
		*out++ = (uint8_t)(0xf0 | c >> 18);
		*out++ = (uint8_t)(0x80 | (c >> 12 & 0x3f));
		*out++ = (uint8_t)(0x80 | (c >> 6 & 0x3f));
		*out++ = (uint8_t)(0x80 | (c & 0x3f));
	}
	return out;
}

/* Read the digits of an escape. `s->p` is after \u. */
static bool scan_unicode(struct scan *s, uint8_t **out)
{
	const uint8_t *at = s->p - 2;
	int32_t c = hex4(s->p, s->end);

	if (c < 0)
		return fail(s, at, "four hex digits after \\u");
	s->p += 4;
	uint32_t code = (uint32_t)c;
	if (c >= 0xd800 && c < 0xe000) {
		int32_t low = -1;

		if (c < 0xdc00 && s->end - s->p >= 6 && s->p[0] == '\\' && s->p[1] == 'u')
			low = hex4(s->p + 2, s->end);
		if (low < 0xdc00 || low > 0xdfff)
			return fail(s, at, "both halves of a surrogate pair");
		s->p += 6;
		code = 0x10000 + ((code & 0x3ff) << 10 | ((uint32_t)low & 0x3ff));
	}
	*out = put_utf8(*out, code);
	return true;
}

/* Read \xHH, which nginx writes for a byte. `s->p` is after \x. */
static bool scan_hex(struct scan *s, uint8_t **out)
{
	int high = s->end - s->p < 2 ? -1 : hex_digit(s->p[0]);
	int low = high < 0 ? -1 : hex_digit(s->p[1]);

	if (low < 0)
		return fail(s, s->p - 2, "two hex digits after \\x");
	*(*out)++ = (uint8_t)(high << 4 | low);
	s->p += 2;
	return true;
}

/* Read an escape. `s->p` is at the backslash. */
static bool scan_escape(struct scan *s, uint8_t **out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";

	if (s->end - s->p < 2)
		return fail(s, s->end, "the end of the string");
	uint8_t c = s->p[1];
	const char *at = c ? strchr(from, c) : NULL;
	s->p += 2;
	if (c == 'u')
		return scan_unicode(s, out);
	if (c == 'x' && s->hex_escapes)
		return scan_hex(s, out);
	if (!at)
		return fail(s, s->p - 2,
			    "one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u after a backslash");
	*(*out)++ = (uint8_t)to[at - from];
	return true;
}

static bool scan_utf8(struct scan *s)
{
	size_t n = utf8_char(s->p, s->end);

	if (!n)
		return fail(s, s->p, "UTF-8");
	s->p += n;
	return true;
}

static bool is_utf8(struct bytes t)
{
	const uint8_t *p = t.ptr, *end = p + t.len;
	size_t n = 1;

	for (; p < end && n; p += n)
		n = utf8_char(p, end);
	return n;
}

/*
 * Read a string that is not plain ASCII to its end. The string begins at `start`, and `s->p` is at
 * its first other byte.
 */
static bool scan_other_string(struct scan *s, const uint8_t *start, struct bytes *out)
{
	const uint8_t *copied = start;
	uint8_t *to = NULL, *text = s->scratch;

	for (;; s->p = skip_plain(s->p, s->end)) {
		if (s->p == s->end)
			return fail(s, s->end, "the end of the string");
		if (*s->p == '"')
			break;
		if (*s->p >= 0x80) {
			if (!scan_utf8(s))
				return false;
			continue;
		}
		if (*s->p != '\\')
			return fail(s, s->p, "no control characters in a string");
		if (!to)
			to = text;
		memcpy(to, copied, (size_t)(s->p - copied));
		to += s->p - copied;
		if (!scan_escape(s, &to))
			return false;
		copied = s->p;
	}
	*out = bytes_of(start, (size_t)(s->p - start));
	if (to) {
		memcpy(to, copied, (size_t)(s->p - copied));
		to += s->p - copied;
		*out = bytes_of(text, (size_t)(to - text));
		s->scratch = to;
		/* the bytes of hex escapes may be part of a character, or of none */
		if (s->hex_escapes && !is_utf8(*out))
			return fail(s, start, "UTF-8");
	}
	s->p++;
	return true;
}

/*
 * Read a string. `s->p` is at the opening quote. Set `*out` to the unescaped text between the
 * quotes.
 */
static inline bool scan_string(struct scan *s, struct bytes *out)
{
	const uint8_t *start = s->p + 1;

	s->p = skip_plain(start, s->end);
	if (s->p == s->end || *s->p != '"')
		return scan_other_string(s, start, out);
	*out = bytes_of(start, (size_t)(s->p++ - start));
	return true;
}

/* --- numbers and names --- */

static inline const uint8_t *skip_digits(const uint8_t *p, const uint8_t *end)
{
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p;
}

static bool scan_number(struct scan *s)
{
	const uint8_t *p = s->p + (*s->p == '-'), *digits = p;

	p = skip_digits(p, s->end);
	if (p == digits)
		return fail(s, s->p, json_expected(*s->p == '-', p, s->end));
	if (*digits == '0' && p - digits > 1)
		return fail(s, digits, "a number without a leading zero");
	if (p < s->end && *p == '.') {
		digits = ++p;
		p = skip_digits(p, s->end);
		if (p == digits)
			return fail(s, p, "a digit after the decimal point");
	}
	if (p < s->end && (*p | 0x20) == 'e') {
		p++;
		p += p < s->end && (*p == '+' || *p == '-');
		digits = p;
		p = skip_digits(p, s->end);
		if (p == digits)
			return fail(s, p, "a digit in the exponent");
	}
	s->p = p;
	return true;
}

static bool scan_name(struct scan *s, const char *name, size_t len)
{
	if ((size_t)(s->end - s->p) < len || memcmp(s->p, name, len) != 0)
		return fail(s, s->p, "a value");
	s->p += len;
	return true;
}

/* --- nesting --- */

static bool scan_value(struct scan *s, const struct json_node *n);

/* Drop all values found below `n`, because a repeated key replaces these values. */
static void forget(struct scan *s, const struct json_node *n)
{
	if (n->column != NO_COLUMN)
		s->columns[n->column].absent = true;
	for (const struct json_node *c = n->child; c; c = c->next)
		forget(s, c);
}

static inline void forget_node(struct scan *s, const struct json_node *n)
{
	if (n->child)
		forget(s, n);
	else if (n->column != NO_COLUMN)
		s->columns[n->column].absent = true;
}

static inline const struct json_node *member_node(struct scan *s, const struct json_node *n,
						  struct bytes key)
{
	for (const struct json_node *c = n ? n->child : NULL; c; c = c->next)
		if (c->key.len == key.len && c->key.ptr &&
		    memcmp(c->key.ptr, key.ptr, key.len) == 0) {
			forget_node(s, c);
			return c;
		}
	return NULL;
}

static bool enter(struct scan *s)
{
	if (++s->depth > JSON_MOST_NESTED)
		return fail(s, s->p, "at most 2048 levels of nesting");
	s->p++;
	skip_space(s);
	return true;
}

/* Read the comma or the closing bracket after an item. Set `*more` if another item follows. */
static inline bool scan_separator(struct scan *s, uint8_t close, const char *expected, bool *more)
{
	skip_space(s);
	if (s->p == s->end || (*s->p != ',' && *s->p != close))
		return fail(s, s->p, expected);
	*more = *s->p++ == ',';
	if (*more)
		skip_space(s);
	return true;
}

static bool scan_member(struct scan *s, const struct json_node *n)
{
	struct bytes key;

	if (s->p == s->end || *s->p != '"')
		return fail(s, s->p, "a key in double quotes");
	uint8_t *scratch = s->scratch;
	if (!scan_string(s, &key))
		return false;
	const struct json_node *child = member_node(s, n, key);
	s->scratch = scratch; /* reuse the key's memory */
	skip_space(s);
	if (s->p == s->end || *s->p != ':')
		return fail(s, s->p, "a colon after the key");
	s->p++;
	skip_space(s);
	return scan_value(s, child);
}

static bool scan_object(struct scan *s, const struct json_node *n)
{
	bool more = true;

	if (!enter(s))
		return false;
	if (s->p < s->end && *s->p == '}') {
		s->p++;
		more = false;
	}
	while (more)
		if (!scan_member(s, n) || !scan_separator(s, '}', "a comma or }", &more))
			return false;
	s->depth--;
	return true;
}

static const struct json_node *item_node(const struct json_node *n, size_t index)
{
	for (const struct json_node *c = n ? n->child : NULL; c; c = c->next)
		if (!c->key.ptr && c->index == index)
			return c;
	return NULL;
}

static bool scan_array(struct scan *s, const struct json_node *n)
{
	bool more = true;

	if (!enter(s))
		return false;
	if (s->p < s->end && *s->p == ']') {
		s->p++;
		more = false;
	}
	for (size_t i = 0; more; i++)
		if (!scan_value(s, item_node(n, i)) ||
		    !scan_separator(s, ']', "a comma or ]", &more))
			return false;
	s->depth--;
	return true;
}

/* Return true for a key of MongoDB's extended JSON whose value is one text or number. */
static bool is_typed_key(struct bytes key)
{
	static const char *const keys[] = {"$oid",	 "$date",	  "$numberLong",
					   "$numberInt", "$numberDouble", "$numberDecimal",
					   "$uuid",	 "$symbol",	  NULL};

	for (size_t i = 0; keys[i]; i++)
		if (bytes_eq(bytes_str(keys[i]), key))
			return true;
	return false;
}

/*
 * Find the value in {"$oid": "5f0"}, which may be such an object too, as in {"$date":
 * {"$numberLong": "0"}}. The text is valid JSON. Return false, and leave `*c` unchanged, for any
 * other object.
 */
static bool unwrap_typed(struct scan *of, struct bytes text, struct column *c)
{
	struct scan s = *of;
	struct bytes key, value;

	s.p = text.ptr + 1;
	s.end = text.ptr + text.len;
	skip_space(&s);
	if (*s.p != '"' || !scan_string(&s, &key) || !is_typed_key(key))
		return false;
	skip_space(&s);
	s.p++; /* the colon */
	skip_space(&s);
	const uint8_t *start = s.p;
	bool string = *start == '"';
	if (string ? !scan_string(&s, &value) : !scan_value(&s, NULL))
		return false;
	if (!string)
		value = bytes_of(start, (size_t)(s.p - start));
	skip_space(&s);
	if (*s.p != '}')
		return false;
	if (*start == '{')
		return unwrap_typed(of, value, c);
	of->scratch = s.scratch;
	*c = (struct column){.ptr = value.ptr, .len = (uint32_t)value.len, .quoted = string};
	return *start != '[';
}

static bool scan_value(struct scan *s, const struct json_node *n)
{
	const uint8_t *start = s->p;
	struct bytes text;
	bool fine, string = false, absent = false;

	if (s->p == s->end)
		return fail(s, s->p, "a value");
	switch (*s->p) {
	case '"':
		fine = scan_string(s, &text);
		string = true;
		break;
	case '{': fine = scan_object(s, n); break;
	case '[': fine = scan_array(s, n); break;
	case 't': fine = scan_name(s, "true", 4); break;
	case 'f': fine = scan_name(s, "false", 5); break;
	case 'n':
		fine = scan_name(s, "null", 4);
		absent = true;
		break;
	default: fine = scan_number(s);
	}
	if (!fine || !n || n->column == NO_COLUMN)
		return fine;
	if (!string)
		text = bytes_of(start, (size_t)(s->p - start));
	s->columns[n->column] = (struct column){.ptr = text.ptr,
						.len = (uint32_t)text.len,
						.quoted = string,
						.absent = absent};
	if (s->extended && *start == '{')
		unwrap_typed(s, text, &s->columns[n->column]);
	return true;
}

static bool scan_whole(struct scan *s, const struct json_node *root)
{
	skip_space(s);
	if (!scan_value(s, root))
		return false;
	skip_space(s);
	return s->p == s->end || fail(s, s->p, "nothing after the value");
}

/* Return the value of the member `unwrap`, or the whole text if it has no such object. */
static struct bytes unwrap_record(const struct json_paths *p, struct scan *s, struct bytes text)
{
	struct column found = {.absent = true};
	struct json_node member = {.key = p->unwrap, .column = 0};
	const struct json_node root = {.column = NO_COLUMN, .child = &member};
	struct scan look = *s;

	look.columns = &found;
	if (!scan_whole(&look, &root) || found.absent || found.quoted)
		return text;
	return bytes_of(found.ptr, found.len);
}

bool json_extract(const struct json_paths *p, struct json_scratch *scratch, struct bytes text,
		  struct column *columns, struct json_fault *fault)
{
	if (!text.ptr)
		text.ptr = (const uint8_t *)"";
	/* the strings of an item are after those of the record, which contains the item */
	scratch->text = mem_reserve(scratch->text, &scratch->room,
				    (text.len << p->explode) + EVENT_ROOM_BYTES, 1);
	struct scan s = {.p = text.ptr,
			 .end = text.ptr + text.len,
			 .columns = columns,
			 .scratch = scratch->text,
			 .extended = p->extended,
			 .hex_escapes = p->hex_escapes};
	for (size_t i = 0; i < p->ncolumns + p->explode; i++)
		columns[i] = (struct column){.absent = true};
	if (p->unwrap.ptr) {
		struct bytes record = unwrap_record(p, &s, text);

		s.p = record.ptr;
		s.end = record.ptr + record.len;
	}
	bool fine = scan_whole(&s, &p->root);
	if (!fine)
		*fault = (struct json_fault){(size_t)(s.p - text.ptr), s.fault};
	scratch->used = (size_t)(s.scratch - scratch->text);
	return fine;
}

/* --- items of a list --- */

struct json_list json_list_of(const struct json_paths *p, const struct column *columns)
{
	const struct column *c = &columns[p->list];
	bool list = !c->absent && !c->quoted && c->len > 1 && c->ptr[0] == '[';

	return (struct json_list){.list = bytes_of(list ? c->ptr : NULL, list ? c->len : 0),
				  .at = 1};
}

bool json_list_next(const struct json_paths *p, struct json_scratch *scratch,
		    struct json_list *items, struct column *columns, struct bytes *item)
{
	struct scan s = {.p = items->list.ptr + items->at,
			 .end = items->list.ptr + items->list.len,
			 .columns = columns,
			 .scratch = scratch->text + scratch->used,
			 .extended = p->extended,
			 .hex_escapes = p->hex_escapes};

	skip_space(&s);
	if (s.p == s.end || *s.p == ']')
		return false;
	forget(&s, &p->item);
	const uint8_t *start = s.p;
	if (!scan_value(&s, &p->item))
		return false; /* impossible, because json_extract has checked the list */
	*item = bytes_of(start, (size_t)(s.p - start));
	skip_space(&s);
	items->at = (size_t)(s.p - items->list.ptr) + (*s.p == ',');
	return true;
}

void json_scratch_release(struct json_scratch *s)
{
	mem_free(s->text);
	*s = (struct json_scratch){0};
}
