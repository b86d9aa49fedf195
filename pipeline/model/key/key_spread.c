/* key_spread.c - find the distribution of keys, from the job and a histogram but without events */
#include "key_spread.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io.h"

#define NUMBER_BYTES  7	 /* bytes of a number with an exact result */
#define NUMBER_DIGITS 15 /* the same for decimal digits */
#define WEIGHTS	      1e12

struct spreader {
	const struct key_table *keys;
	const struct field_forms *forms;
	struct arena *arena;
	struct error *err;
	struct buf *assumed;
};

static const struct regions *rules(const struct spreader *s)
{
	return &s->keys->table->regions;
}

static uint64_t power(uint32_t radix, uint32_t digits)
{
	uint64_t p = 1;

	while (digits--)
		p *= radix;
	return p;
}

/* All numbers of the first digits are equally likely. */
static void all_numbers(struct part_spread *p, uint32_t radix, uint32_t width)
{
	uint32_t most = radix == 10 ? NUMBER_DIGITS : radix == 16 ? 13 : NUMBER_BYTES;

	p->radix = radix;
	p->digits = width && width < most ? width : most;
	p->ends = width == 0 || width > most;
	p->many = power(radix, p->digits);
}

static void assume(struct spreader *s, const struct key_part *part, const char *what)
{
	if (!s->assumed)
		return;
	buf_printf(s->assumed, "%s%s of `%s`", s->assumed->len ? ", " : "", what,
		   s->keys->job->fields[part->field].name);
}

/* Spread the values of a field by its type and encoding. Returns false if nothing is known. */
static bool spread_by_type(struct spreader *s, const struct key_part *part, struct part_spread *p)
{
	const struct field *f = &s->keys->job->fields[part->field];
	bool padded = part->width && part->pad == '0' && part->pad_left;

	if (part->as == AS_REVERSED) {
		all_numbers(p, 10, part->width);
		assume(s, part, "the last digits");
	} else if (part->as == AS_TEXT && padded &&
		   (f->type == FIELD_U32 || f->type == FIELD_U64)) {
		all_numbers(p, 10, part->width);
		assume(s, part, "the digits");
	} else if (part->as == AS_UUID || (part->as == AS_BYTES && f->type == FIELD_HEX)) {
		all_numbers(p, 256, key_part_bytes(part));
		assume(s, part, "the bytes");
	} else if (part->as == AS_TEXT && (f->type == FIELD_HEX || f->type == FIELD_UUID)) {
		all_numbers(p, 16, 8);
		p->ends = true;
		assume(s, part, "the hex digits");
	} else {
		return false;
	}
	return true;
}

/* Parse a text as the field's value, and append its bytes in the key with their terminator. */
static int put_text(struct spreader *s, const struct layout *l, size_t field, struct bytes text,
		    struct buf *out)
{
	struct reject why;
	struct value v = {.text = text};
	int rc = field_read_kept(&s->forms->form[field], &v, s->arena, &why);

	if (rc == RC_OK)
		rc = layout_put(l, &v, out, &why);
	if (rc)
		return error_set(s->err, RC_CONFIG, "%s: %s", s->keys->job->fields[field].name,
				 why.detail);
	if (l->terminator != NO_TERMINATOR)
		buf_put(out, (uint8_t)l->terminator);
	return RC_OK;
}

/* Return the number of the digits, or of zeros after the end of the bytes. */
static uint64_t number_of(struct bytes b, uint32_t radix, uint32_t digits)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < digits; i++)
		n = n * radix + (i >= b.len ? 0 : radix == 10 ? b.ptr[i] - '0' : b.ptr[i]);
	return n;
}

static bool all_digits(struct bytes b)
{
	for (size_t i = 0; i < b.len; i++)
		if (b.ptr[i] < '0' || b.ptr[i] > '9')
			return false;
	return true;
}

/* Spread values evenly between the bytes of both ends, which have a common beginning. */
static void between(struct spreader *s, struct part_spread *p, struct bytes a, struct bytes b,
		    bool fixed)
{
	struct bytes low = bytes_cmp(a, b) < 0 ? a : b, high = low.ptr == a.ptr ? b : a;
	size_t same = 0;

	while (same < low.len && same < high.len && low.ptr[same] == high.ptr[same])
		same++;
	low = bytes_of(low.ptr + same, low.len - same);
	high = bytes_of(high.ptr + same, high.len - same);
	uint32_t most = low.len > high.len ? (uint32_t)low.len : (uint32_t)high.len;
	bool digits = fixed && low.len == high.len && all_digits(low) && all_digits(high);
	uint32_t cap = digits ? NUMBER_DIGITS : NUMBER_BYTES;
	p->radix = digits ? 10 : 256;
	p->digits = !fixed || most > cap ? cap : most;
	p->ends = !fixed || most > cap;
	p->head = bytes_of(arena_strndup(s->arena, (const char *)a.ptr, same), same);
	p->least = number_of(low, p->radix, p->digits);
	p->many = number_of(high, p->radix, p->digits) - p->least + 1;
}

/* Return the reason why bounds of the values do not limit the bytes of the part, or NULL. */
static const char *unordered(const struct field *f, const struct key_part *part)
{
	bool padded = part->width && part->pad == '0' && part->pad_left;

	if (part->as == AS_MONTH || part->as == AS_DAY || part->as == AS_HOUR)
		return "which repeats";
	if (part->as != AS_TEXT)
		return NULL;
	if (f->type == FIELD_I64 || f->type == FIELD_F64 || f->type == FIELD_DECIMAL ||
	    ((f->type == FIELD_U32 || f->type == FIELD_U64) && !padded))
		return "whose texts do not sort by value";
	return NULL;
}

/* Add the place and the field to the message. Returns RC_CONFIG. */
static int spread_fault(struct spreader *s, const struct spread_field *given, const char *what)
{
	return error_set(s->err, RC_CONFIG, "%s:%u:%u: spread: %s: found %s", s->keys->job->path,
			 given->pos.line, given->pos.column, given->name, what);
}

static int spread_between(struct spreader *s, const struct spread_field *given, size_t at,
			  struct part_spread *p)
{
	const struct layout *l = &s->keys->schema.steps[at].layout;
	const struct key_part *part = &s->keys->table->rowkey[at];
	const char *why = unordered(&s->keys->job->fields[given->field], part);
	struct buf a = {0}, b = {0};
	char what[200];

	if (why) {
		snprintf(what, sizeof what,
			 "`as: %s`, %s; expected another encoding, or a histogram",
			 encodings[part->as].name, why);
		return spread_fault(s, given, what);
	}
	int rc = put_text(s, l, given->field, bytes_str(given->from), &a);
	if (rc == RC_OK)
		rc = put_text(s, l, given->field, bytes_str(given->to), &b);
	int order = bytes_cmp(buf_bytes(&a), buf_bytes(&b));
	if (encodings[part->as].order == ORDER_FALLING)
		order = -order;
	if (rc)
		error_prefix(s->err, "%s:%u:%u: spread: ", s->keys->job->path, given->pos.line,
			     given->pos.column);
	else if (order > 0)
		rc = spread_fault(s, given, "`from` above `to`, expected the smallest value first");
	else
		between(s, p, buf_bytes(&a), buf_bytes(&b), l->width > 0);
	buf_release(&a);
	buf_release(&b);
	return rc;
}

static const struct spread_field *spread_given(const struct spreader *s, size_t field)
{
	const struct regions *r = rules(s);

	for (size_t i = 0; i < r->nspreads; i++)
		if (r->spreads[i].field == field)
			return &r->spreads[i];
	return NULL;
}

/* --- histograms --- */

static int by_bytes(const void *a, const void *b)
{
	return bytes_cmp(((const struct weighted *)a)->bytes, ((const struct weighted *)b)->bytes);
}

/* Sort the items, and add the weights of equal items. */
static void items_sort(struct part_spread *p)
{
	size_t n = 0;

	qsort(p->items, p->nitems, sizeof *p->items, by_bytes);
	for (size_t i = 0; i < p->nitems; i++) {
		p->weight += p->items[i].weight;
		if (n && bytes_eq(p->items[n - 1].bytes, p->items[i].bytes))
			p->items[n - 1].weight += p->items[i].weight;
		else
			p->items[n++] = p->items[i];
	}
	p->nitems = n;
}

/*
 * The parts up to part `at` that depend only on the field of part `at`: constants, and salts and
 * hashes of this field. If other bytes decide them, only part `at` follows.
 */
static size_t first_decided(const struct key_schema *k, size_t at)
{
	for (size_t i = 0; i < at; i++) {
		const struct key_part *p = &k->parts[i];
		bool derived = (p->kind == PART_SALT || p->kind == PART_HASH) && p->nof == 1 &&
			       p->of[0] == k->parts[at].field && !p->fanout && !p->draw;

		if (p->kind != PART_CONST && !derived)
			return at;
	}
	return 0;
}

/* Make the bytes of the parts first..at for one value. */
static int value_bytes(struct spreader *s, size_t first, size_t at, struct bytes text,
		       struct buf *out)
{
	const struct key_table *k = s->keys;
	size_t field = k->table->rowkey[at].field;
	struct reject why;

	if (first == at)
		return put_text(s, &k->schema.steps[at].layout, field, text, out);
	struct key_maker maker = {.job = k->job, .arena = s->arena};
	struct key_schema schema;
	struct key_scratch scratch;
	struct value *values = mem_calloc(k->job->nfields + 1, sizeof *values);
	key_schema_make(&schema, &maker, k->table->rowkey, at + 1);
	key_scratch_init(&scratch, &maker);
	values[field].text = text;
	int rc = field_read_kept(&s->forms->form[field], &values[field], s->arena, &why);
	if (rc == RC_OK)
		rc = key_build(&schema, &scratch, values, out, &why);
	if (rc)
		rc = error_set(s->err, RC_CONFIG, "%s: %s", k->job->fields[field].name, why.detail);
	key_scratch_release(&scratch);
	mem_free(values);
	return rc;
}

/* The lines of a histogram: the bytes before the last comma of a line, and the share after it. */
struct histogram {
	const char *path;
	struct bytes left;
	size_t line;
	struct bytes value;
	double share;
};

static int next_line(struct histogram *h, struct bytes *line)
{
	while (h->left.len) {
		const uint8_t *end = memchr(h->left.ptr, '\n', h->left.len);
		size_t n = end ? (size_t)(end - h->left.ptr) : h->left.len;

		*line = bytes_of(h->left.ptr, n && h->left.ptr[n - 1] == '\r' ? n - 1 : n);
		n += end != NULL;
		h->left = bytes_of(h->left.ptr + n, h->left.len - n);
		h->line++;
		if (line->len)
			return RC_OK;
	}
	return RC_END;
}

static int line_fault(const struct histogram *h, struct bytes line, const char *what,
		      struct error *err)
{
	char text[64];

	text_quote(text, 60, line);
	return error_set(err, RC_CONFIG, "%s:%zu: found `%s`, expected %s", h->path,
			 h->line ? h->line : 1, text, what);
}

/* Get the next value and its share. Returns RC_END after the last. */
static int histogram_next(struct histogram *h, struct error *err)
{
	struct bytes line;
	int rc = next_line(h, &line);
	char text[32], *end = text;

	if (rc)
		return rc;
	const uint8_t *comma = memrchr(line.ptr, ',', line.len);
	size_t at = comma ? (size_t)(comma - line.ptr) : 0, n = line.len - at - 1;
	if (comma && n && n < sizeof text) {
		memcpy(text, comma + 1, n);
		text[n] = 0;
		h->share = strspn(text, "0123456789. %") == n ? strtod(text, &end) : -1;
		end += strspn(end, " %");
	}
	if (end == text || *end || !(h->share >= 0) || !at)
		return line_fault(h, line, "VALUE,SHARE such as `DE,0.4`", err);
	h->value = bytes_of(line.ptr, at);
	return RC_OK;
}

static int add_items(struct spreader *s, struct histogram *h, struct part_spread *p, size_t first,
		     size_t at)
{
	size_t room = 0;
	double sum = 0, *share = NULL;
	struct buf bytes = {0};
	int rc;

	for (const uint8_t *b = h->left.ptr; b < h->left.ptr + h->left.len; b++)
		room += *b == '\n';
	p->items = arena_alloc(s->arena, (room + 2) * sizeof *p->items);
	share = mem_calloc(room + 2, sizeof *share);
	while ((rc = histogram_next(h, s->err)) == RC_OK) {
		bytes.len = 0;
		if (at == SIZE_MAX)
			bytes_unescape_utf8(&bytes, h->value);
		else
			rc = value_bytes(s, first, at, h->value, &bytes);
		if (rc) {
			error_prefix(s->err, "%s:%zu: ", h->path, h->line);
			break;
		}
		const char *kept = arena_strndup(s->arena, (const char *)bytes.ptr, bytes.len);
		sum += share[p->nitems] = h->share;
		p->items[p->nitems++].bytes = bytes_of(kept, bytes.len);
	}
	for (size_t i = 0; i < p->nitems; i++)
		p->items[i].weight = (uint64_t)llround(share[i] / sum * WEIGHTS);
	buf_release(&bytes);
	mem_free(share);
	if (rc == RC_END && !(sum > 0))
		return error_set(s->err, RC_CONFIG, "%s: found no share above 0, expected some",
				 h->path);
	items_sort(p);
	return rc == RC_END ? RC_OK : rc;
}

/* The histogram of the job: the parts that it is about, and its spread. */
struct given_shares {
	bool any;
	size_t first, last; /* parts; the first is part 0 for prefixes */
	bool prefixes;
	struct part_spread spread;
};

/* Find the part that the header `NAME,share` names. */
static int header_part(struct spreader *s, struct histogram *h, struct given_shares *g, size_t *at)
{
	static const char share[] = ",share";
	const struct job_table *t = s->keys->table;
	struct bytes line;
	const size_t n = sizeof share - 1;

	if (next_line(h, &line))
		line = bytes_str("");
	if (line.len > n && !memcmp(line.ptr + line.len - n, share, n)) {
		struct bytes name = bytes_of(line.ptr, line.len - n);

		g->prefixes = bytes_eq(name, bytes_str("prefix"));
		*at = SIZE_MAX;
		if (g->prefixes)
			return RC_OK;
		for (*at = 0; *at < t->nrowkey; ++*at)
			if (t->rowkey[*at].kind == PART_FIELD &&
			    bytes_eq(name,
				     bytes_str(s->keys->job->fields[t->rowkey[*at].field].name)))
				return RC_OK;
	}
	return line_fault(h, line,
			  "`prefix,share`, or `FIELD,share` with a field of the table's row key",
			  s->err);
}

static int read_shares(struct spreader *s, struct given_shares *g)
{
	struct buf text = {0};
	struct histogram h = {.path = rules(s)->histogram};
	size_t at = 0;

	*g = (struct given_shares){.any = h.path != NULL};
	if (!g->any)
		return RC_OK;
	int rc = io_read_file(h.path, &text, s->err);
	h.left = buf_bytes(&text);
	if (rc == RC_OK)
		rc = header_part(s, &h, g, &at);
	if (rc == RC_OK && !g->prefixes) {
		g->first = first_decided(&s->keys->schema, at);
		g->last = at;
	}
	if (rc == RC_OK)
		rc = add_items(s, &h, &g->spread, g->first, at);
	g->spread.ends = g->prefixes;
	buf_release(&text);
	return rc;
}

/* --- parts --- */

/* Spread part `at`. Returns RC_END if nothing is known of it. */
static int spread_part(struct spreader *s, size_t at, struct part_spread *p)
{
	const struct key_part *part = &s->keys->table->rowkey[at];
	const struct spread_field *given = NULL;

	switch (part->kind) {
	case PART_SALT:
		all_numbers(p, 256, part->width);
		p->many = part->buckets;
		return RC_OK;
	case PART_HASH: all_numbers(p, 256, part->width); return RC_OK;
	case PART_CONST:
		p->items = arena_alloc(s->arena, sizeof *p->items);
		*p->items = (struct weighted){part->constant, (uint64_t)WEIGHTS};
		p->nitems = 1;
		p->weight = (uint64_t)WEIGHTS;
		return RC_OK;
	case PART_FIELD:
		given = spread_given(s, part->field);
		if (given && part->as != AS_REVERSED)
			return spread_between(s, given, at, p);
		return spread_by_type(s, part, p) ? RC_OK : RC_END;
	case PART_KEY: break;
	}
	return RC_END;
}

int key_spread(struct key_spread *out, const struct key_table *k, const struct field_forms *forms,
	       struct arena *a, struct buf *assumed, struct error *err)
{
	struct spreader s = {k, forms, a, err, assumed};
	struct given_shares g;
	int rc = read_shares(&s, &g);

	*out = (struct key_spread){0};
	for (size_t i = 0; rc == RC_OK && i < k->table->nrowkey && out->n < SHAPE_MAX_PARTS; i++) {
		struct part_spread *p = &out->part[out->n];

		*p = (struct part_spread){0};
		if (g.any && i == g.first) {
			*p = g.spread;
			i = g.last;
		} else {
			rc = spread_part(&s, i, p);
		}
		if (rc == RC_END && k->table->rowkey[i].kind == PART_FIELD)
			out->unknown = k->job->fields[k->table->rowkey[i].field].name;
		out->n += rc == RC_OK;
		if (rc == RC_OK && p->ends)
			break;
	}
	return rc == RC_END ? RC_OK : rc;
}
