/* plan.c - plan regions from a sample, with their sizes, and report problems of the key */
#include "plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "splits.h"
#include "sample.h"

#define MAX_PER_SERVER 200 /* README.md 2.4 advises 20 to 200 */
#define MAX_FILES      32  /* README.md 2.4 */
#define MAX_HEAVY      20
#define UNEVEN_BUCKET  2 /* report a bucket with more than this many times its even share */
#define DEFAULT_RISK   0.01
#define Z_99	       2.576 /* 99 % of a normal distribution is within this many standard deviations */

static void warn(struct plan *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void warn(struct plan *p, const char *fmt, ...)
{
	va_list ap;

	p->warnings = arena_grow(&p->arena, p->warnings, p->nwarnings, sizeof *p->warnings);
	va_start(ap, fmt);
	p->warnings[p->nwarnings++] = arena_vformat(&p->arena, fmt, ap);
	va_end(ap);
}

static double disk_per_byte(const struct plan_options *o)
{
	return o->disk_per_byte > 0 ? o->disk_per_byte : 1;
}

static void close_region(struct plan_region *r, const struct sketch *sketch,
			 const struct plan_options *o)
{
	double bytes = (double)r->bytes, rows = r->rows;

	if (r->bytes == 0) { /* assume that missing rows have the average size of the other rows */
		bytes = (double)sketch_bytes(sketch);
		rows = (double)sketch_rows(sketch);
	}
	r->bytes_error = sketch_error(sketch, r->bytes, o->risk > 0 ? o->risk : DEFAULT_RISK);
	r->rows_error = bytes > 0 ? r->bytes_error * rows / bytes : 0;
	r->disk_bytes = (uint64_t)((double)r->bytes * disk_per_byte(o));
	r->disk_bytes += r->bytes ? o->disk_per_region : 0;
}

static void evaluate(struct plan_region *out, const struct sketch_view *v,
		     const struct sketch *sketch, const struct splits *splits,
		     const struct plan_options *o)
{
	size_t j = 0;

	for (size_t i = 0; i <= splits->count; i++) {
		out[i] = (struct plan_region){0};
		for (; j < v->count; j++) {
			const struct sketch_point *p = &v->points[j];

			if (i < splits->count && bytes_cmp(p->key, splits->keys[i]) >= 0)
				break;
			out[i].bytes += p->bytes;
			out[i].rows += p->rows;
		}
		close_region(&out[i], sketch, o);
	}
}

static void compare_rivals(struct plan *p, const struct sketch_view *v, const struct sketch *sketch,
			   const struct plan_options *o)
{
	static const enum split_algorithm all[PLAN_RIVALS] = {SPLIT_ALGORITHM_UNIFORM,
							      SPLIT_ALGORITHM_HEX,
							      SPLIT_ALGORITHM_DECIMAL};
	size_t regions = p->splits.count + 1;

	if (regions < 2)
		return;
	struct plan_region *r = mem_alloc(regions * sizeof *r);
	for (size_t i = 0; i < PLAN_RIVALS; i++) {
		struct splits s = {0};
		struct error ignored;

		if (splits_compute(&s, all[i], (uint32_t)regions, NULL, NULL, &ignored) == RC_OK) {
			struct plan_rival *rival = &p->rivals[p->nrivals++];
			uint64_t most = 0;

			evaluate(r, v, sketch, &s, o);
			*rival = (struct plan_rival){.algorithm = all[i], .regions = regions};
			for (size_t k = 0; k < regions; k++) {
				rival->empty += r[k].bytes == 0;
				most = r[k].bytes > most ? r[k].bytes : most;
			}
			rival->largest_share = (double)most / (double)v->bytes;
		}
		splits_release(&s);
	}
	mem_free(r);
}

/* A group of adjacent points with a common key prefix. */
struct plan_group {
	struct bytes key;
	uint64_t bytes;
	double rows;
};

static void add_heavy(struct plan *p, size_t part, const struct plan_group *g,
		      const struct sketch *sketch, double risk)
{
	double error = sketch_error(sketch, g->bytes, risk), bytes = (double)g->bytes;
	double most = fmin(bytes + error, (double)sketch_bytes(sketch));
	double salts = ceil(most / p->target_bytes);

	p->heavy = arena_grow(&p->arena, p->heavy, p->nheavy, sizeof *p->heavy);
	p->heavy[p->nheavy++] =
		(struct plan_heavy){.part = part,
				    .key = arena_bytes(&p->arena, g->key),
				    .bytes = g->bytes,
				    .rows = g->rows,
				    .at_least = bytes > error ? (uint64_t)(bytes - error) : 0,
				    .at_most = (uint64_t)most,
				    .salts = salts < UINT32_MAX ? (uint32_t)salts : UINT32_MAX};
}

static int compare_heavy(const void *a, const void *b)
{
	const struct plan_heavy *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return bytes_cmp(x->key, y->key);
}

/* Find at most MAX_HEAVY heavy prefixes up to the end of one part, or heavy rows. */
static void find_heavy_parts(struct plan *p, const struct sketch_view *v, const struct sample *s,
			     size_t part, double threshold, double risk)
{
	size_t ends[SHAPE_MAX_PARTS], first = p->nheavy;
	struct plan_group g = {0};

	for (size_t j = 0; j <= v->count; j++) {
		const struct sketch_point *point = j < v->count ? &v->points[j] : NULL;
		struct bytes key = {0};

		if (point && part == SHAPE_ROW)
			key = point->key;
		else if (point && shape_ends(&s->shape, point->key, ends) > part)
			key = bytes_of(point->key.ptr, ends[part]);
		if (!point || !bytes_eq(key, g.key)) {
			if (g.key.len && (double)g.bytes >= threshold)
				add_heavy(p, part, &g, s->sketch, risk);
			g = (struct plan_group){.key = key};
		}
		if (point) {
			g.bytes += point->bytes;
			g.rows += point->rows;
		}
	}
	if (p->nheavy > first)
		qsort(p->heavy + first, p->nheavy - first, sizeof *p->heavy, compare_heavy);
	if (p->nheavy > first + MAX_HEAVY)
		p->nheavy = first + MAX_HEAVY;
}

/*
 * Find heavy rows, then heavy prefixes from the longest to the shortest. The prefix up to the end
 * of the last part is the row.
 */
static void find_heavy(struct plan *p, const struct sketch_view *v, const struct sample *s,
		       double risk)
{
	double all = (double)v->bytes;
	/*
	 * A heavy prefix has more bytes than a region. If the caller wants one region, no prefix is
	 * heavy.
	 */
	double region = p->wanted > 1 ? p->target_bytes * 1.0001 : all * 2;

	find_heavy_parts(p, v, s, SHAPE_ROW, region, risk);
	for (size_t i = s->shape.nparts ? s->shape.nparts - 1 : 0; i-- > 0;) {
		bool salt = i == 0 && s->shape.salt_bytes && s->shape.buckets > 1;
		double threshold = salt ? UNEVEN_BUCKET * all / s->shape.buckets : region;

		find_heavy_parts(p, v, s, i, threshold, risk);
	}
}

static void find_places(struct plan *p, const struct sketch_view *v)
{
	uint64_t seen = 0, step = v->bytes / PLAN_PLACES + 1;

	p->places = arena_alloc(&p->arena, PLAN_PLACES * sizeof *p->places);
	for (size_t i = 0; i < v->count; i++) {
		const struct sketch_point *point = &v->points[i];

		if (p->nplaces * step <= seen && p->nplaces < PLAN_PLACES)
			p->places[p->nplaces++] =
				(struct plan_place){arena_bytes(&p->arena, point->key), 0};
		p->places[p->nplaces - 1].bytes += point->bytes;
		seen += point->bytes;
	}
}

/* Append a key for a message, with its fields if the caller can name them, and its bytes. */
static void name_key(struct buf *out, struct bytes key, size_t part, const struct plan_options *o)
{
	bool cut = key.len > 64;
	size_t before = out->len;

	if (o->name_key)
		o->name_key(o->name_ctx, key, part, out);
	bool named = out->len > before;
	buf_append_str(out, named ? " (" : "");
	bytes_escape(out, bytes_of(key.ptr, cut ? 64 : key.len));
	buf_append_str(out, cut ? "..." : "");
	buf_append_str(out, named ? ")" : "");
	buf_put(out, 0);
}

static void warn_heavy(struct plan *p, const struct sample *s, const struct plan_options *o)
{
	double all = p->bytes;

	for (size_t i = 0; i < p->nheavy; i++) {
		const struct plan_heavy *h = &p->heavy[i];
		struct buf text = {0};

		name_key(&text, h->key, h->part, o);
		const char *key = (const char *)text.ptr;
		double share = 100 * (double)h->bytes / all;
		double regions = (double)h->bytes / p->target_bytes;
		uint64_t rows = (uint64_t)(h->rows + 0.5);
		if (h->part == SHAPE_ROW)
			warn(p,
			     "row %s has %.1f%% of the bytes (%" PRIu64 ", in %" PRIu64
			     " events), %.1f times a region's share. HBase cannot split inside a "
			     "row, so "
			     "no split helps. Use a salt of %" PRIu32 " values or a longer key",
			     key, share, h->bytes, rows, regions, h->salts);
		else if (h->part == 0 && s->shape.salt_bytes)
			warn(p,
			     "salt bucket %s has %.1f%% of the bytes (%" PRIu64 ", in %" PRIu64
			     " rows), expected about %.1f%%, because the values of the salted "
			     "fields are "
			     "uneven; salt more fields",
			     key, share, h->bytes, rows, 100.0 / s->shape.buckets);
		else
			warn(p,
			     "keys that start with %s have %.1f%% of the bytes (%" PRIu64
			     ", in %" PRIu64
			     " rows), %.1f times a region's share. Their writes and scans go to "
			     "few "
			     "servers. Use a salt of %" PRIu32 " values before them",
			     key, share, h->bytes, rows, regions, h->salts);
		buf_release(&text);
	}
}

static void warn_limits(struct plan *p, const struct plan_options *o)
{
	uint64_t limit = o->max_filesize ? o->max_filesize : REGION_BYTES;
	size_t regions = p->splits.count + 1, over = 0, files_over = 0;

	if (o->rule.servers && regions > (size_t)o->rule.servers * MAX_PER_SERVER)
		warn(p,
		     "%zu regions on %" PRIu32
		     " servers are %zu for each server, expected at most %d. More regions cost "
		     "memory and slow down recovery; plan fewer regions",
		     regions, o->rule.servers, regions / o->rule.servers, MAX_PER_SERVER);
	for (size_t i = 0; i < regions; i++) {
		over += p->regions[i].disk_bytes > limit;
		files_over += o->max_hfile_bytes &&
			      p->regions[i].disk_bytes > MAX_FILES * o->max_hfile_bytes;
	}
	if (over)
		warn(p,
		     "%zu regions would be larger than hbase.hregion.max.filesize (%" PRIu64
		     " bytes; the largest has %" PRIu64
		     "), so HBase would split them after the load; plan more regions",
		     over, limit, p->regions[p->largest].disk_bytes);
	if (files_over)
		warn(p,
		     "%zu regions may get more than %d files in a family, which the bulk load "
		     "would reject; raise the file size limit or plan more regions",
		     files_over, MAX_FILES);
	if (regions < p->wanted)
		warn(p,
		     "the job requests %zu regions, but the plan has %zu, because a row is "
		     "larger than a region or there are too few distinct keys",
		     p->wanted, regions);
	if (regions > p->wanted)
		warn(p,
		     "the job requests %zu regions, but the plan has %zu, because each salt "
		     "bucket has at least one",
		     p->wanted, regions);
}

static struct bytes point_key(const void *view, size_t i)
{
	const struct sketch_view *v = view;

	return v->points[i].key;
}

/* Cut at quantiles of the points. Their weights differ from the rows' by at most sketch_error. */
static int cut(struct plan *p, const struct sketch_view *v, const struct sample *s,
	       const struct plan_options *o, struct error *err)
{
	const struct division d = {.shape = &s->shape,
				   .regions = p->wanted,
				   .align_salt = o->rule.align_salt};

	if (o->given)
		return splits_copy(&p->splits, o->given, err);
	uint64_t *before = mem_alloc((v->count + 1) * sizeof *before);
	struct listed_keys points = {v, point_key, v->count, before};
	before[0] = 0;
	for (size_t j = 0; j < v->count; j++)
		before[j + 1] = before[j] + v->points[j].bytes;
	const struct key_weights weights = listed_weights(&points);
	int rc = divide(&weights, &d, &p->splits, err);
	mem_free(before);
	return rc;
}

/*
 * Scale from the sample's rows to all rows. Scaling adds an error. The error of the sum is
 * scale_error. The error of a region is that of rows drawn at random. The standard deviation of
 * their sizes may equal their mean, which gives a factor of the square root of 2.
 */
static void scale_up(struct plan *p, const struct sketch *s, const struct plan_options *o)
{
	double scale = o->scale > 0 ? o->scale : 1, error = o->scale_error;

	p->bytes = (double)sketch_bytes(s) * scale;
	p->rows = (double)sketch_rows(s) * scale;
	if (scale == 1)
		return;
	p->target_bytes *= scale;
	for (size_t i = 0; i <= p->splits.count; i++) {
		struct plan_region *r = &p->regions[i];
		bool any = r->bytes > 0;
		double of_region = error + Z_99 * sqrt(2 * (1 - 1 / scale) / fmax(r->rows, 1));

		r->bytes = (uint64_t)((double)r->bytes * scale + 0.5);
		r->rows *= scale;
		r->bytes_error = r->bytes_error * scale + (double)r->bytes * of_region;
		r->rows_error = r->rows_error * scale + r->rows * of_region;
		r->disk_bytes = (uint64_t)((double)r->bytes * disk_per_byte(o)) +
				(any ? o->disk_per_region : 0);
	}
	for (size_t i = 0; i < p->nplaces; i++)
		p->places[i].bytes = (uint64_t)((double)p->places[i].bytes * scale + 0.5);
	for (size_t i = 0; i < p->nheavy; i++) {
		struct plan_heavy *h = &p->heavy[i];
		double of_key = error + Z_99 * sqrt(2 * (1 - 1 / scale) / fmax(h->rows, 1));

		h->bytes = (uint64_t)((double)h->bytes * scale + 0.5);
		h->rows *= scale;
		h->at_least = (uint64_t)fmax(0, (double)h->at_least * scale * (1 - of_key));
		h->at_most = (uint64_t)fmin(p->bytes, (double)h->at_most * scale * (1 + of_key));
	}
}

static void find_extremes(struct plan *p)
{
	for (size_t i = 1; i <= p->splits.count; i++) {
		if (p->regions[i].bytes > p->regions[p->largest].bytes)
			p->largest = i;
		if (p->regions[i].bytes < p->regions[p->smallest].bytes)
			p->smallest = i;
	}
}

/* Plan empty regions: the given ones, or one. */
static int plan_nothing(struct plan *p, const struct plan_options *o, struct error *err)
{
	int rc = o->given ? splits_copy(&p->splits, o->given, err) : RC_OK;

	p->wanted = p->splits.count + 1;
	p->regions = arena_alloc(&p->arena, p->wanted * sizeof *p->regions);
	return rc;
}

int plan_make(struct plan *p, struct sample *s, const struct plan_options *o, struct error *err)
{
	struct sketch_view v;

	*p = (struct plan){0};
	sketch_view_open(&v, s->sketch);
	if (v.bytes == 0) {
		sketch_view_close(&v);
		return plan_nothing(p, o, err);
	}
	double disk =
		(double)sketch_bytes(s->sketch) * disk_per_byte(o) * (o->scale > 0 ? o->scale : 1);
	p->wanted = o->given ? o->given->count + 1 : region_rule_count(&o->rule, disk);
	p->target_bytes = (double)v.bytes / (double)p->wanted;
	int rc = cut(p, &v, s, o, err);
	if (rc == RC_OK) {
		p->regions = arena_alloc(&p->arena, (p->splits.count + 1) * sizeof *p->regions);
		evaluate(p->regions, &v, s->sketch, &p->splits, o);
		find_extremes(p);
		compare_rivals(p, &v, s->sketch, o);
		find_places(p, &v);
		find_heavy(p, &v, s, o->risk > 0 ? o->risk : DEFAULT_RISK);
		scale_up(p, s->sketch, o);
		warn_heavy(p, s, o);
		warn_limits(p, o);
	}
	sketch_view_close(&v);
	return rc;
}

void plan_release(struct plan *p)
{
	splits_release(&p->splits);
	arena_release(&p->arena);
	*p = (struct plan){0};
}
