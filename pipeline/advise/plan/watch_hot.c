/* watch_hot.c - find the hot region of a live table, and the reason why it is hot */
#include <math.h>
#include <string.h>

#include "key.h"
#include "planning.h"

#define HOT_FACTOR 4   /* a region with so many times the even share is hot */
#define HOT_WRITES 0.9 /* share of writes in the last region that shows a rising key */

/* Return true if the share of one of `n` is too large for chance in so many requests. */
static bool is_hot(uint64_t most, uint64_t all, size_t n)
{
	if (all < WATCH_LEAST || n < 2)
		return false;
	double even = 1 / (double)n, share = (double)most / (double)all;
	double noise = 1.4 * sqrt(share / (double)all);

	return share - noise >= fmin(HOT_FACTOR * even, (1 + even) / 2);
}

static size_t busiest_region(const struct watch *w, enum watch_kind k)
{
	size_t best = 0;

	for (size_t g = 1; g < w->nregions; g++)
		if (w->regions[g].last[k] > w->regions[best].last[k])
			best = g;
	return best;
}

/* Find a hot server. Sets *region to its busiest region. */
static uint64_t busiest_server(const struct watch *w, enum watch_kind k, size_t *region)
{
	uint64_t most = 0;

	for (size_t s = 0; s < w->nservers; s++) {
		uint64_t sum = 0;
		size_t best = SIZE_MAX, n = 0;

		for (size_t g = 0; g < w->nregions; g++) {
			if (w->regions[g].server != s)
				continue;
			n++;
			sum += w->regions[g].last[k];
			if (best == SIZE_MAX || w->regions[g].last[k] > w->regions[best].last[k])
				best = g;
		}
		if (n > 1 && sum > most) {
			most = sum;
			*region = best;
		}
	}
	return most;
}

/* --- the keys of a region as fields of the job --- */

static size_t first_field(const struct key_schema *s)
{
	size_t i = 0;

	while (i < s->nsteps && s->steps[i].kind != PART_FIELD)
		i++;
	return i;
}

/* Return true if both borders have all parts up to `part`, and they are equal. */
static bool share_part(const struct watch *w, const struct watched_region *r, size_t part)
{
	const struct key_schema *s = &w->keys->schema;
	struct key_piece *a = mem_calloc(s->nsteps + 1, sizeof *a),
			 *b = mem_calloc(s->nsteps + 1, sizeof *b);
	bool same = key_split(s, r->start, a) > part && key_split(s, r->end, b) > part &&
		    a[part].end == b[part].end &&
		    memcmp(r->start.ptr, r->end.ptr, a[part].end) == 0;

	mem_free(a);
	mem_free(b);
	return same;
}

/* Return a border as a salt, or UINT64_MAX if it has other bytes. */
static uint64_t salt_at(struct bytes key, size_t width)
{
	uint64_t salt = 0;

	for (size_t i = 0; i < width && i < key.len; i++)
		salt = salt << 8 | key.ptr[i];
	return key.len == width ? salt : UINT64_MAX;
}

/* Return true if the region has exactly the rows of one salt. */
static bool is_salt(const struct watch *w, const struct watched_region *r)
{
	const struct key_step *step = w->keys->schema.steps;
	size_t width = step->layout.width;

	if (step->kind != PART_SALT)
		return false;
	uint64_t from = r->start.len ? salt_at(r->start, width) : 0;
	uint64_t end = r->end.len ? salt_at(r->end, width) : w->keys->schema.parts->buckets;
	return from != UINT64_MAX && from + 1 == end;
}

static bool is_newest(const struct watch *w, size_t region)
{
	const struct watched_region *r = &w->regions[region];

	if (w->hot.of != WATCH_WRITES || w->hot.share < HOT_WRITES)
		return false;
	if (!w->keys)
		return !r->end.len;
	const struct key_schema *s = &w->keys->schema;
	size_t i = first_field(s);
	if (i > 0 || i == s->nsteps)
		return false;
	enum encode_as as = s->parts[i].as;
	bool reversed =
		as == AS_REVERSED_MILLIS || as == AS_REVERSED_SECONDS || as == AS_REVERSED_MICROS;
	bool time = w->keys->job->fields[s->parts[i].field].type == FIELD_TIME;
	return reversed ? time && !r->start.len : !r->end.len;
}

static enum hot_kind reason_of(struct watch *w)
{
	const struct watched_region *r = &w->regions[w->hot.region];

	if (is_newest(w, w->hot.region))
		return HOT_NEWEST;
	if (!w->keys)
		return HOT_RANGE;
	size_t field = first_field(&w->keys->schema);
	if (field < w->keys->schema.nsteps && share_part(w, r, field))
		return HOT_ENTITY;
	return is_salt(w, r) ? HOT_SALT : HOT_RANGE;
}

/* Append a border, such as "userId 42", or the bytes if they contain no whole field. */
static void put_border(struct buf *out, const struct watch *w, struct bytes key, bool salt)
{
	const struct key_schema *s = &w->keys->schema;
	struct key_piece *pieces = mem_calloc(s->nsteps + 1, sizeof *pieces);
	size_t n = key_split(s, key, pieces), before = out->len;

	if (salt && n && s->steps[0].kind == PART_SALT) {
		buf_append_str(out, "salt ");
		key_name(w->keys, key, 0, out);
		if (n > 1 && s->steps[1].kind == PART_FIELD)
			buf_append_str(out, ", ");
	}
	if (n > 1 || (n && s->steps[0].kind != PART_SALT))
		key_name(w->keys, key, n - 1, out);
	if (out->len == before)
		bytes_escape(out, key);
	mem_free(pieces);
}

void watch_name(const struct watch *w, struct buf *out, struct bytes key)
{
	if (!key.len)
		buf_append_str(out, "(begin)");
	else if (w->keys)
		put_border(out, w, key, true);
	else
		bytes_escape(out, key);
}

/* Name the part that makes the region hot, or its borders. */
static const char *name_spot(struct watch *w)
{
	const struct watched_region *r = &w->regions[w->hot.region];
	struct buf text = {0};

	if (w->hot.kind == HOT_ENTITY) {
		key_name(w->keys, r->start, first_field(&w->keys->schema), &text);
	} else if (w->hot.kind == HOT_SALT && r->start.len) {
		put_border(&text, w, r->start, true);
	} else if (w->hot.kind == HOT_SALT) {
		buf_append_str(&text, "salt 0");
	} else {
		watch_name(w, &text, r->start);
		buf_append_str(&text, " to ");
		if (r->end.len)
			watch_name(w, &text, r->end);
		else
			buf_append_str(&text, "the end");
	}
	const char *name = arena_strndup(&w->arena, (const char *)text.ptr, text.len);
	buf_release(&text);
	return name;
}

static void describe(struct watch *w)
{
	struct watch_hot *h = &w->hot;

	if (w->keys) {
		const struct key_schema *s = &w->keys->schema;
		size_t i = first_field(s);

		h->field = i < s->nsteps ? s->steps[i].layout.title : NULL;
		h->rest = i + 1 < s->nsteps;
	}
	h->name = name_spot(w);
}

static bool judge_kind(struct watch *w, enum watch_kind k)
{
	uint64_t all = w->total[k];
	struct watch_hot h = {.of = k, .region = busiest_region(w, k), .name = ""};
	uint64_t most = w->regions[h.region].last[k];

	if (w->nregions == 1 && all >= WATCH_LEAST) {
		h.kind = HOT_ONLY_REGION;
	} else if (is_hot(most, all, w->nregions)) {
		h.kind = HOT_RANGE;
	} else {
		most = busiest_server(w, k, &h.region);
		if (!is_hot(most, all, w->nservers))
			return false;
		h.kind = HOT_SERVER;
	}
	h.share = (double)most / (double)all;
	w->hot = h;
	if (h.kind == HOT_RANGE)
		w->hot.kind = reason_of(w);
	describe(w);
	return true;
}

void watch_judge(struct watch *w)
{
	enum watch_kind more =
		w->total[WATCH_WRITES] > w->total[WATCH_READS] ? WATCH_WRITES : WATCH_READS;

	w->hot = (struct watch_hot){.name = ""};
	if (w->nregions && w->nwindows && !judge_kind(w, more))
		judge_kind(w, more == WATCH_READS ? WATCH_WRITES : WATCH_READS);
}
