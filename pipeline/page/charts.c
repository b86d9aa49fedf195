/* charts.c - the page's drawings of a table (charts.h) */
#include "charts.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "html.h"
#include "splits.h"

#define WIDTH	  960.0
#define LEFT	  60.0
#define COLUMNS	  240 /* of regions: more are drawn together */
#define SLICES	  96  /* of the key space behind the first byte */
#define MOMENTS	  120
#define MAX_BANDS 64

/* --- regions --- */

/* Of the regions that share a column: the largest. */
struct stack {
	uint64_t bytes, foreseen;
};

static size_t gather_columns(struct stack *c, const struct manifest_table *t, uint64_t *most)
{
	size_t n = t->nregions < COLUMNS ? t->nregions : COLUMNS;
	memset(c, 0, COLUMNS * sizeof(*c));
	*most = t->target_bytes;
	for (size_t i = 0; i < t->nregions; i++) {
		const struct manifest_region *r = &t->regions[i];
		struct stack *at = &c[i * n / t->nregions];
		if (r->bytes > at->bytes)
			at->bytes = r->bytes;
		if (r->predicted_bytes > at->foreseen)
			at->foreseen = r->predicted_bytes;
		if (at->bytes > *most)
			*most = at->bytes;
		if (at->foreseen > *most)
			*most = at->foreseen;
	}
	return n;
}

void chart_regions(struct buf *out, const struct manifest_table *t)
{
	static const double height = 200, room = 170;
	struct stack c[COLUMNS];
	uint64_t most;
	char text[120];
	size_t n = gather_columns(c, t, &most);
	if (!most)
		return;
	double wide = (WIDTH - LEFT) / (double)n, scale = room / (double)most;
	snprintf(text, sizeof text, "%zu regions, each as a bar of its bytes", t->nregions);
	html_svg(out, WIDTH, height, text);
	for (size_t i = 0; i < n; i++) {
		double x = LEFT + (double)i * wide, tall = (double)c[i].bytes * scale;
		double foreseen = height - 20 - (double)c[i].foreseen * scale;
		html_rect(out, "bar", x + wide * .08, height - 20 - tall, wide * .84, tall);
		if (c[i].foreseen)
			html_line(out, "foreseen", x + wide * .02, foreseen, x + wide * .98,
				  foreseen);
	}
	double target = height - 20 - (double)t->target_bytes * scale;
	html_line(out, "target", LEFT, target, WIDTH, target);
	html_label(out, "end", LEFT - 6, target + 4, "target");
	html_label(out, "end", LEFT - 6, height - 16, "0");
	html_label(out, "start", LEFT, height - 4, "first region");
	html_label(out, "end", WIDTH, height - 4, "last region");
	buf_append_str(out, "</svg>\n");
}

/* --- where the keys lie --- */

static uint8_t first_byte(const struct extent *p)
{
	return p->row.len ? p->row.ptr[0] : 0;
}

/* Bytes that all rows have behind their first byte. */
static size_t common_bytes(const struct extents *p)
{
	size_t common = SIZE_MAX;
	const struct bytes a = p->item[0].row;
	for (size_t i = 1; i < p->n; i++) {
		const struct bytes b = p->item[i].row;
		size_t n = 1;
		while (n < a.len && n < b.len && n < common && a.ptr[n] == b.ptr[n])
			n++;
		common = n < common ? n : common;
	}
	return common == SIZE_MAX || common < 1 ? 1 : common;
}

/* What is behind them, as a number: its first six bytes. */
static double position(const struct extent *p, size_t from)
{
	double at = 0;
	for (size_t i = 0; i < 6; i++)
		at = at * 256 + (from + i < p->row.len ? p->row.ptr[from + i] : 0);
	return at;
}

struct bands {
	uint8_t byte[MAX_BANDS];
	size_t n, rows_together; /* first bytes a band; 1: each has its own */
	uint64_t bytes[MAX_BANDS][SLICES];
	uint64_t most;
	double low, high;
};

static size_t band_of(const struct bands *b, uint8_t byte)
{
	size_t i = 0;
	while (i + 1 < b->n && b->byte[i + 1] <= byte)
		i++;
	return i;
}

static void name_bands(struct bands *b, const struct extents *p)
{
	bool used[256] = {false};
	size_t n = 0, at = 0;
	for (size_t i = 0; i < p->n; i++)
		used[first_byte(&p->item[i])] = true;
	for (size_t i = 0; i < 256; i++)
		n += used[i];
	b->rows_together = (n + MAX_BANDS - 1) / MAX_BANDS;
	for (size_t i = 0; i < 256; i++)
		if (used[i] && at++ % b->rows_together == 0)
			b->byte[b->n++] = (uint8_t)i;
}

static void fill_bands(struct bands *b, const struct extents *p)
{
	size_t from = common_bytes(p);
	*b = (struct bands){.low = 1e300};
	name_bands(b, p);
	for (size_t i = 0; i < p->n; i++) {
		double at = position(&p->item[i], from);
		b->low = at < b->low ? at : b->low;
		b->high = at > b->high ? at : b->high;
	}
	double span = b->high > b->low ? b->high - b->low : 1;
	for (size_t i = 0; i < p->n; i++) {
		double share = (position(&p->item[i], from) - b->low) / span;
		size_t slice = (size_t)(share * (SLICES - 1) + .5);
		uint64_t *cell = &b->bytes[band_of(b, first_byte(&p->item[i]))][slice];
		*cell += p->item[i].bytes;
		b->most = *cell > b->most ? *cell : b->most;
	}
}

static void draw_band(struct buf *out, const struct bands *b, size_t band, double y, double tall)
{
	double wide = (WIDTH - LEFT) / SLICES;
	char name[8];
	snprintf(name, sizeof name, "\\x%02X", b->byte[band]);
	if (tall > 9)
		html_label(out, "end", LEFT - 6, y + tall / 2 + 4, name);
	html_rect(out, "frame", LEFT, y, WIDTH - LEFT, tall);
	for (size_t s = 0; s < SLICES; s++)
		if (b->bytes[band][s])
			html_heat(out, LEFT + (double)s * wide, y, wide, tall,
				  .15 + .85 * (double)b->bytes[band][s] / (double)b->most);
}

void chart_keys(struct buf *out, const struct extents *p)
{
	struct bands b;
	char text[160];
	if (p->n < 2)
		return;
	fill_bands(&b, p);
	double tall = b.n > 32 ? 6 : b.n > 16 ? 10 : 16;
	snprintf(text, sizeof text,
		 "keys: %zu bands by the first byte, %d slices of what is behind it", b.n, SLICES);
	html_svg(out, WIDTH, (double)b.n * (tall + 2) + 18, text);
	for (size_t i = 0; i < b.n; i++)
		draw_band(out, &b, i, (double)i * (tall + 2), tall);
	html_label(out, "start", LEFT, (double)b.n * (tall + 2) + 13,
		   "lowest key behind the first byte");
	html_label(out, "end", WIDTH, (double)b.n * (tall + 2) + 13, "highest");
	buf_append_str(out, "</svg>\n");
}

/* --- when --- */

static void label_time(struct buf *out, const char *anchor, double x, double y, int64_t ms)
{
	char text[40];
	time_t s = (time_t)(ms >= 0 ? ms / 1000 : (ms - 999) / 1000);
	struct tm tm;
	gmtime_r(&s, &tm);
	strftime(text, sizeof text, "%Y-%m-%d %H:%M", &tm);
	html_label(out, anchor, x, y, text);
}

void chart_times(struct buf *out, const struct extents *p)
{
	static const double height = 140, room = 112;
	uint64_t bytes[MOMENTS] = {0}, most = 0;
	int64_t first = INT64_MAX, last = INT64_MIN;
	for (size_t i = 0; i < p->n; i++)
		if (p->item[i].timed) {
			first = p->item[i].ts < first ? p->item[i].ts : first;
			last = p->item[i].ts > last ? p->item[i].ts : last;
		}
	if (first >= last)
		return;
	for (size_t i = 0; i < p->n; i++)
		if (p->item[i].timed) {
			double share = (double)(p->item[i].ts - first) / (double)(last - first);
			size_t at = (size_t)(share * (MOMENTS - 1) + .5);
			bytes[at] += p->item[i].bytes;
			most = bytes[at] > most ? bytes[at] : most;
		}
	html_svg(out, WIDTH, height, "bytes by the time of cells");
	double wide = (WIDTH - LEFT) / MOMENTS;
	for (size_t i = 0; i < MOMENTS; i++) {
		double tall = room * (double)bytes[i] / (double)most;
		html_rect(out, "bar", LEFT + (double)i * wide, height - 18 - tall, wide * .9, tall);
	}
	label_time(out, "start", LEFT, height - 4, first);
	label_time(out, "end", WIDTH, height - 4, last);
	buf_append_str(out, "</svg>\n");
}

/* --- how others would have cut --- */

static void append_rival(struct buf *out, const char *name, const struct splits *s,
			 const struct extents *p)
{
	uint64_t *bytes = mem_calloc(s->count + 1, sizeof(*bytes)), most = 0;
	size_t empty = 0;
	for (size_t i = 0; i < p->n; i++)
		bytes[splits_region(s, p->item[i].row)] += p->item[i].bytes;
	for (size_t i = 0; i <= s->count; i++) {
		most = bytes[i] > most ? bytes[i] : most;
		empty += bytes[i] == 0;
	}
	buf_printf(
		out,
		"<tr><td>%s</td><td class=\"n\">%.1f %%</td><td class=\"n\">%zu of %zu</td></tr>\n",
		name, p->bytes ? 100. * (double)most / (double)p->bytes : 0, empty, s->count + 1);
	mem_free(bytes);
}

void chart_rivals(struct buf *out, const struct manifest_table *t, const struct extents *p)
{
	static const enum split_algorithm rivals[] = {SPLIT_ALGORITHM_UNIFORM, SPLIT_ALGORITHM_HEX,
						      SPLIT_ALGORITHM_DECIMAL};
	struct splits own = {0};
	struct error ignored;
	for (size_t i = 1; i < t->nregions; i++)
		if (splits_add(&own, t->regions[i].start, &ignored))
			break;
	append_rival(out, "these regions", &own, p);
	splits_release(&own);
	for (size_t i = 0; i < sizeof rivals / sizeof *rivals; i++) {
		struct splits s = {0};
		if (splits_compute(&s, rivals[i], (uint32_t)t->nregions, NULL, NULL, &ignored) ==
		    RC_OK)
			append_rival(out, split_algorithm_name(rivals[i]), &s, p);
		splits_release(&s);
	}
}
