/* charts.c - draws the charts of a table (charts.h) */
#include "charts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "html.h"
#include "splits.h"

#define WIDTH	  960.0
#define LEFT	  70.0
#define COLUMNS	  240 /* largest number of bars; several regions may share a bar */
#define SLICES	  96  /* columns of the key heat map */
#define MOMENTS	  120
#define MAX_BANDS 64
#define SHADES	  12
/* The balance is unknown if more than 1/UNSURE of the bytes span several first bytes. */
#define UNSURE 10

/* --- regions --- */

/* Regions that share a bar. The bar shows the largest of them. */
struct stack {
	size_t first, last, largest;
	uint64_t bytes, foreseen;
};

static size_t gather_columns(struct stack *c, const struct region_bar *r, size_t nregions,
			     uint64_t *most)
{
	size_t n = nregions < COLUMNS ? nregions : COLUMNS;

	memset(c, 0, COLUMNS * sizeof *c);
	for (size_t i = nregions; i-- > 0;) {
		struct stack *at = &c[i * n / nregions];

		if (!at->last)
			at->last = at->largest = i;
		at->first = i;
		if (r[i].bytes >= at->bytes) {
			at->bytes = r[i].bytes;
			at->largest = i;
		}
		if (r[i].foreseen > at->foreseen)
			at->foreseen = r[i].foreseen;
		if (at->bytes > *most)
			*most = at->bytes;
		if (at->foreseen > *most)
			*most = at->foreseen;
	}
	return n;
}

/* Returns the tooltip of a column. The caller frees it. */
static char *about_column(const struct stack *c, const struct region_bar *r)
{
	struct buf text = {0}, key = {0};
	const struct region_bar *at = &r[c->largest];

	if (c->first != c->last)
		buf_printf(&text, "regions %zu to %zu, the largest is ", c->first, c->last);
	buf_printf(&text, "region %zu: ", c->largest);
	html_bytes(&text, at->bytes);
	if (at->foreseen != at->bytes) {
		buf_append_str(&text, " (predicted ");
		html_bytes(&text, at->foreseen);
		buf_append_str(&text, ")");
	}
	buf_append_str(&text, ", ");
	html_count(&text, at->rows);
	buf_append_str(&text, at->start.len ? " rows, from " : " rows, from the first row");
	bytes_escape(&key, at->start);
	buf_append(&text, key.ptr, key.len < 40 ? key.len : 40);
	buf_release(&key);
	buf_put(&text, 0);
	return (char *)text.ptr;
}

static void draw_columns(struct buf *out, const struct stack *c, size_t n,
			 const struct region_bar *r, double base, double scale)
{
	double wide = (WIDTH - LEFT) / (double)n;

	for (size_t i = 0; i < n; i++) {
		double x = LEFT + (double)i * wide, tall = (double)c[i].bytes * scale;
		double foreseen = base - (double)c[i].foreseen * scale;
		char *about = about_column(&c[i], r);

		html_rect(out, "bar", x + wide * .08, base - tall, wide * .84, tall, about);
		mem_free(about);
		if (c[i].foreseen != c[i].bytes)
			html_line(out, "foreseen", x + wide * .02, foreseen, x + wide * .98,
				  foreseen);
	}
}

void chart_regions(struct buf *out, const struct region_bar *r, size_t nregions, uint64_t target)
{
	static const double height = 210, room = 170;
	struct stack c[COLUMNS];
	uint64_t most = target;
	char text[120];
	size_t n = gather_columns(c, r, nregions, &most);

	if (!most)
		return;
	double scale = room / (double)most, base = height - 24;
	snprintf(text, sizeof text, "%zu regions, one bar each, height by bytes", nregions);
	html_svg(out, WIDTH, height, text);
	draw_columns(out, c, n, r, base, scale);
	double at = base - (double)target * scale;
	html_line(out, "target", LEFT, at, WIDTH, at);
	html_label(out, "end", LEFT - 6, at + 4, "target");
	if (base - at > 14)
		html_label(out, "end", LEFT - 6, base + 4, "0");
	html_label(out, "start", LEFT, height - 4, "first region");
	html_label(out, "end", WIDTH, height - 4, "last region");
	buf_append_str(out, "</svg>\n");
}

/* --- key heat map --- */

static uint8_t first_byte(struct bytes row)
{
	return row.len ? row.ptr[0] : 0;
}

/*
 * Returns the length of the prefix that all rows share after their first byte, plus 1 for the first
 * byte.
 */
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

/* Returns the six bytes after the shared prefix as a number. */
static double position(struct bytes row, size_t from)
{
	double at = 0;

	for (size_t i = 0; i < 6; i++)
		at = at * 256 + (from + i < row.len ? row.ptr[from + i] : 0);
	return at;
}

struct bands {
	uint8_t byte[MAX_BANDS];
	size_t n, rows_together; /* number of bands; first bytes in each band */
	double bytes[MAX_BANDS][SLICES];
	double most;
	double low, high; /* lowest and highest position() */
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
		used[first_byte(p->item[i].row)] = true;
	for (size_t i = 0; i < 256; i++)
		n += used[i];
	b->rows_together = (n + MAX_BANDS - 1) / MAX_BANDS;
	for (size_t i = 0; i < 256; i++)
		if (used[i] && at++ % b->rows_together == 0)
			b->byte[b->n++] = (uint8_t)i;
}

/*
 * Returns the column of a position. A position outside the chart belongs to the nearest edge
 * column.
 */
static size_t slice_of(const struct bands *b, double at)
{
	double span = b->high > b->low ? b->high - b->low : 1;
	double share = (at < b->high ? at - b->low : b->high - b->low) / span;

	return share > 0 ? (size_t)(share * (SLICES - 1) + .5) : 0;
}

static size_t cell_of(const struct bands *b, struct bytes row, size_t from)
{
	return band_of(b, first_byte(row)) * SLICES + slice_of(b, position(row, from));
}

/*
 * Spreads the bytes of a place evenly from its first row to its last row, because the index
 * contains no more detail.
 */
static void fill_place(struct bands *b, const struct extent *e, size_t from)
{
	size_t first = cell_of(b, e->row, from);
	size_t last = e->last.len ? cell_of(b, e->last, from) : first;

	last = last < first
		       ? first
		       : last; /* rows of a band with several first bytes are not in key order */
	for (size_t i = first; i <= last; i++) {
		double *cell = &b->bytes[i / SLICES][i % SLICES];

		*cell += (double)e->bytes / (double)(last - first + 1);
		b->most = *cell > b->most ? *cell : b->most;
	}
}

static void fill_bands(struct bands *b, const struct extents *p)
{
	size_t from = common_bytes(p);

	*b = (struct bands){.low = 1e300};
	name_bands(b, p);
	for (size_t i = 0; i < p->n; i++) {
		double at = position(p->item[i].row, from);

		b->low = at < b->low ? at : b->low;
		b->high = at > b->high ? at : b->high;
	}
	for (size_t i = 0; i < p->n; i++)
		fill_place(b, &p->item[i], from);
}

static void frame_band(struct buf *out, const struct bands *b, size_t band, double y, double tall)
{
	char name[8];

	snprintf(name, sizeof name, "\\x%02X", b->byte[band]);
	if (tall > 9)
		html_label(out, "end", LEFT - 6, y + tall / 2 + 4, name);
	html_rect(out, "frame", LEFT, y, WIDTH - LEFT, tall, NULL);
}

/* Returns the shade of a cell that has bytes. */
static int shade_of(const struct bands *b, size_t band, size_t slice)
{
	/* the square root keeps small cells visible if another cell is very large */
	int own = (int)(sqrt(b->bytes[band][slice] / b->most) * SHADES);

	return own < SHADES ? own : SHADES - 1;
}

/* Draws all cells of a shade as one path, which keeps the page small. */
static void draw_shade(struct buf *out, const struct bands *b, int shade, double tall)
{
	double wide = (WIDTH - LEFT) / SLICES;

	buf_printf(out, "<path class=\"heat\" opacity=\"%.2f\" d=\"",
		   .04 + .96 * (shade + 1) / SHADES);
	for (size_t i = 0; i < b->n; i++)
		for (size_t s = 0; s < SLICES; s++) {
			if (b->bytes[i][s] > 0 && shade_of(b, i, s) == shade)
				buf_printf(out, "M%.1f %gh%.1fv%gh-%.1fz", LEFT + (double)s * wide,
					   (double)i * (tall + 2), wide, tall, wide);
		}
	buf_append_str(out, "\"/>\n");
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
		 "keys: %zu bands by first byte, %d columns by the bytes after it", b.n, SLICES);
	html_svg(out, WIDTH, (double)b.n * (tall + 2) + 20, text);
	for (size_t i = 0; i < b.n; i++)
		frame_band(out, &b, i, (double)i * (tall + 2), tall);
	for (int shade = 0; shade < SHADES; shade++)
		draw_shade(out, &b, shade, tall);
	html_label(out, "start", LEFT, (double)b.n * (tall + 2) + 15,
		   "lowest key after the first byte");
	html_label(out, "end", WIDTH, (double)b.n * (tall + 2) + 15, "highest");
	buf_append_str(out, "</svg>\n");
}

double chart_keys_balance(const struct extents *p, size_t *n)
{
	uint64_t bytes[256] = {0}, most = 0, unsure = 0;

	*n = 0;
	for (size_t i = 0; i < p->n; i++) {
		const struct extent *e = &p->item[i];
		uint8_t from = first_byte(e->row), to = e->last.len ? first_byte(e->last) : from;

		unsure += from == to ? 0 : e->bytes;
		bytes[from] += e->bytes - e->bytes / 2;
		bytes[to] += e->bytes / 2;
	}
	for (size_t i = 0; i < 256; i++) {
		*n += bytes[i] > 0;
		most = bytes[i] > most ? bytes[i] : most;
	}
	bool told = unsure <= p->bytes / UNSURE && p->bytes;
	return told ? (double)most * (double)*n / (double)p->bytes : 0;
}

/* --- bytes by time --- */

static void label_time(struct buf *out, const char *anchor, double x, double y, int64_t ms)
{
	struct buf text = {0};

	html_time(&text, ms);
	buf_put(&text, 0);
	html_label(out, anchor, x, y, (const char *)text.ptr);
	buf_release(&text);
}

struct chart_span {
	int64_t first, last;
};

/*
 * Returns the position of `ms` in the span, from 0 to 1. Uses double, because last - first may
 * overflow an int64_t.
 */
static double span_share(const struct chart_span *s, int64_t ms)
{
	return ((double)ms - (double)s->first) / ((double)s->last - (double)s->first);
}

/* Finds the first and the last time. Returns false if all places have the same time. */
static bool find_span(struct chart_span *s, const struct extents *p)
{
	*s = (struct chart_span){INT64_MAX, INT64_MIN};
	for (size_t i = 0; i < p->n; i++)
		if (p->item[i].timed) {
			s->first = p->item[i].ts < s->first ? p->item[i].ts : s->first;
			s->last = p->item[i].ts > s->last ? p->item[i].ts : s->last;
		}
	return s->first < s->last;
}

void chart_times(struct buf *out, const struct extents *p)
{
	static const double height = 140, room = 108;
	uint64_t bytes[MOMENTS] = {0}, most = 0;
	struct chart_span span;
	/* with more columns than an eighth of the places, the chart would have gaps */
	size_t n = p->timed / 8 < 12 ? 12 : p->timed / 8 > MOMENTS ? MOMENTS : p->timed / 8;

	if (!find_span(&span, p))
		return;
	for (size_t i = 0; i < p->n; i++)
		if (p->item[i].timed) {
			double share = span_share(&span, p->item[i].ts);
			size_t at = (size_t)(share * (double)n);

			at = at < n ? at : n - 1;
			bytes[at] += p->item[i].bytes;
			most = bytes[at] > most ? bytes[at] : most;
		}
	html_svg(out, WIDTH, height, "bytes by cell timestamp");
	double wide = (WIDTH - LEFT) / (double)n;
	for (size_t i = 0; i < n; i++) {
		double tall = most ? room * (double)bytes[i] / (double)most : 0;

		if (bytes[i])
			html_rect(out, "bar", LEFT + (double)i * wide, height - 22 - tall,
				  wide * .9, tall, NULL);
	}
	label_time(out, "start", LEFT, height - 4, span.first);
	label_time(out, "end", WIDTH, height - 4, span.last);
	buf_append_str(out, "</svg>\n");
}

void chart_times_of_keys(struct buf *out, const struct extents *p)
{
	static const double height = 260, room = 230, dot = 5;
	struct chart_span span;
	uint64_t before = 0;

	if (!find_span(&span, p) || !p->bytes)
		return;
	html_svg(out, WIDTH, height, "cell timestamps by position in the key space");
	html_rect(out, "frame", LEFT, 0, WIDTH - LEFT, room + dot, NULL);
	buf_append_str(out, "<path class=\"heat\" opacity=\".7\" d=\"");
	for (size_t i = 0; i < p->n; i++) {
		double x = LEFT, y = room * (double)before / (double)p->bytes;

		before += p->item[i].bytes;
		if (!p->item[i].timed)
			continue;
		x += span_share(&span, p->item[i].ts) * (WIDTH - LEFT - dot);
		buf_printf(out, "M%.1f %.1fh%gv%gh-%gz", x, y, dot, dot, dot);
	}
	buf_append_str(out, "\"/>\n");
	html_label(out, "end", LEFT - 6, 12, "first key");
	html_label(out, "end", LEFT - 6, room + dot, "last key");
	label_time(out, "start", LEFT, height - 4, span.first);
	label_time(out, "end", WIDTH, height - 4, span.last);
	buf_append_str(out, "</svg>\n");
}

/* --- loads of a stream --- */

struct moment {
	uint64_t events, waiting, loads;
};

static void draw_moment(struct buf *out, const struct moment *m, double x, double wide, double base,
			double scale)
{
	struct buf about = {0};
	double given = (double)(m->events - m->waiting) * scale, rest = (double)m->waiting * scale;

	if (!m->loads)
		return;
	html_count(&about, m->loads);
	buf_append_str(&about, m->loads == 1 ? " load, " : " loads, ");
	html_count(&about, m->events);
	buf_append_str(&about, " events");
	if (m->waiting) {
		buf_append_str(&about, ", of which ");
		html_count(&about, m->waiting);
		buf_append_str(&about, " wait for HBase");
	}
	buf_put(&about, 0);
	if (given > 0)
		html_rect(out, "bar", x, base - given, wide, given, (const char *)about.ptr);
	if (rest > 0)
		html_rect(out, "waiting", x, base - given - rest, wide, rest,
			  (const char *)about.ptr);
	buf_release(&about);
}

/*
 * Finds the first and the last time. Loads are in offset order, which may differ from time order if
 * somebody set the clock back.
 */
static struct chart_span span_of_loads(const struct load_bar *l, size_t n)
{
	struct chart_span s = {INT64_MAX, INT64_MIN};

	for (size_t i = 0; i < n; i++) {
		s.first = l[i].ms < s.first ? l[i].ms : s.first;
		s.last = l[i].ms > s.last ? l[i].ms : s.last;
	}
	return s;
}

bool chart_loads_differ(const struct load_bar *l, size_t n)
{
	struct chart_span s = span_of_loads(l, n);

	return s.first < s.last;
}

void chart_loads(struct buf *out, const struct load_bar *l, size_t n)
{
	static const double height = 190, room = 150;
	struct moment m[MOMENTS] = {0};
	uint64_t most = 0;
	char text[100];
	const struct chart_span span = span_of_loads(l, n);

	if (span.first >= span.last)
		return;
	for (size_t i = 0; i < n; i++) {
		struct moment *at = &m[(size_t)(span_share(&span, l[i].ms) * (MOMENTS - 1) + .5)];

		at->loads++;
		at->events += l[i].events;
		at->waiting += l[i].waiting ? l[i].events : 0;
		most = at->events > most ? at->events : most;
	}
	snprintf(text, sizeof text, "events of %zu loads by publication time", n);
	html_svg(out, WIDTH, height, text);
	double wide = (WIDTH - LEFT) / MOMENTS, scale = most ? room / (double)most : 0;
	for (size_t i = 0; i < MOMENTS; i++)
		draw_moment(out, &m[i], LEFT + (double)i * wide, wide * .9, height - 22, scale);
	struct buf top = {0};
	html_count(&top, most);
	buf_put(&top, 0);
	html_label(out, "end", LEFT - 6, height - 18 - room, (const char *)top.ptr);
	buf_release(&top);
	html_label(out, "end", LEFT - 6, height - 18, "0");
	label_time(out, "start", LEFT, height - 4, span.first);
	label_time(out, "end", WIDTH, height - 4, span.last);
	buf_append_str(out, "</svg>\n");
}

/* --- other split algorithms --- */

static void append_rival(struct buf *out, const char *name, const struct splits *s,
			 const struct extents *p)
{
	uint64_t *bytes = mem_calloc(s->count + 1, sizeof *bytes), most = 0;
	size_t empty = 0;

	for (size_t i = 0; i < p->n; i++)
		bytes[splits_region(s, p->item[i].row)] += p->item[i].bytes;
	for (size_t i = 0; i <= s->count; i++) {
		most = bytes[i] > most ? bytes[i] : most;
		empty += bytes[i] == 0;
	}
	buf_printf(out, "<tr><td>%s</td>", name);
	html_real_cell(out, 1, p->bytes ? 100. * (double)most / (double)p->bytes : 0, " %");
	buf_append_str(out, "<td class=\"n\">");
	html_count(out, empty);
	buf_append_str(out, " of ");
	html_count(out, s->count + 1);
	buf_append_str(out, "</td></tr>\n");
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
