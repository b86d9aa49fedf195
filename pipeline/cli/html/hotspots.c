/* hotspots.c - draws the regions that events write over time (hotspots.h) */
#include "hotspots.h"

#include <math.h>
#include <stdio.h>

#include "html.h"
#include "page_parts.h"

#define WIDTH  470.0
#define LEFT   34.0
#define WHOLE  10000.0 /* the unit of the shares */
#define SHADES 10
#define LINE   60.0 /* height of the line of the busiest server */
#define HOT    4    /* a region with so many times the even share has the strongest colour */

static double row_height(size_t rows)
{
	return rows > 16 ? 9 : rows > 8 ? 14 : 20;
}

/* Return the shade of a cell, from 1, or 0 for a cell without events. */
static int shade_at(const struct plan_hotspot_view *h, size_t band, size_t column)
{
	double share = (double)h->bands[band].share[column] / WHOLE * (double)h->regions / HOT;

	return share > 0 ? (int)fmin(1 + share * (SHADES - 1), SHADES) : 0;
}

/* Draw all cells of a shade as one path, which keeps the page small. */
static void draw_shade(struct buf *out, const struct plan_hotspot_view *h, int shade, double tall)
{
	size_t columns = h->nbusiest;
	double wide = (WIDTH - LEFT) / (double)columns;

	buf_printf(out, "<path class=\"hot\" opacity=\"%.2f\" d=\"", (double)shade / SHADES);
	for (size_t b = 0; b < h->nbands; b++)
		for (size_t c = 0; c < columns && c < h->bands[b].nshares; c++)
			if (shade_at(h, b, c) == shade)
				buf_printf(out, "M%.1f %gh%.1fv%gh-%.1fz", LEFT + (double)c * wide,
					   (double)b * tall, wide, tall - 1, wide);
	buf_append_str(out, "\"/>\n");
}

/* Draw the share of the busiest server as a line, from 0 to the whole. */
static void draw_line(struct buf *out, const struct plan_hotspot_view *h, double top)
{
	double wide = (WIDTH - LEFT) / (double)h->nbusiest, even = top + LINE * (1 - h->even);

	html_line(out, "border", LEFT, top + LINE, WIDTH, top + LINE);
	html_line(out, "target", LEFT, even, WIDTH, even);
	buf_append_str(out, "<polyline class=\"busiest\" points=\"");
	for (size_t c = 0; c < h->nbusiest; c++)
		buf_printf(out, "%.1f,%.1f ", LEFT + ((double)c + .5) * wide,
			   top + LINE * (1 - (double)h->busiest[c] / WHOLE));
	buf_append_str(out, "\"/>\n");
	html_label(out, "end", LEFT - 4, top + 10, "100 %");
	html_label(out, "end", LEFT - 4, top + LINE, "0");
}

void part_heat_map(struct buf *out, const struct heat_words *words,
		   const struct plan_hotspot_view *h)
{
	double tall = row_height(h->nbands), top = (double)h->nbands * tall + 10;
	char text[160];

	snprintf(text, sizeof text, "%s of table %.60s: %zu regions down, time across", words->of,
		 words->table, h->regions);
	html_svg(out, WIDTH, top + LINE + 18, text);
	for (int shade = 1; shade <= SHADES; shade++)
		draw_shade(out, h, shade, tall);
	html_label(out, "end", LEFT - 4, tall, "0");
	snprintf(text, sizeof text, "%zu", h->regions - 1);
	if (h->nbands > 2)
		html_label(out, "end", LEFT - 4, (double)h->nbands * tall, text);
	draw_line(out, h, top);
	html_label(out, "start", LEFT, top + LINE + 14, words->first);
	html_label(out, "end", WIDTH, top + LINE + 14, words->last);
	buf_append_str(out, "</svg>\n");
}

void part_hotspot(struct buf *out, const char *table, const struct plan_hotspot_view *h)
{
	const struct heat_words words = {"writes", table, "first event", "last event"};

	part_figure(out);
	part_heat_map(out, &words, h);
	buf_append_str(out, "<figcaption>");
	html_code(out, table);
	buf_printf(out,
		   ": busiest server %.1f %% (p99 %.1f %%), busiest region %.1f %%, %.1f of %zu "
		   "regions get writes at a time; after the newest fifth, the largest region is "
		   "%.2f times as large</figcaption></figure>\n",
		   100 * h->server_mean, 100 * h->server_p99, 100 * h->region_mean, h->written,
		   h->regions, h->grown);
}

void part_hotspots_begin(struct buf *out, const struct plan_hotspot_view *any)
{
	buf_append_str(out, "<h2>Writes over time</h2>\n<p><small>The events write in the order of "
			    "their arrival. A column has ");
	html_count(out, (any->windows + any->nbusiest - 1) / any->nbusiest);
	buf_append_str(out, " windows of ");
	html_count(out, any->window_events * any->every);
	buf_printf(out,
		   " events. A row is a region, or the busiest of several regions; the strongest "
		   "colour is %d times the even share. The line is the busiest of %zu servers, and "
		   "the dashed line is the even share (%.1f %%).</small></p>\n<div "
		   "class=\"side\">\n",
		   HOT, any->servers, 100 * any->even);
}

void part_hotspots_end(struct buf *out)
{
	buf_append_str(out, "</div>\n");
}

void part_hotspots(struct buf *out, const struct plan_table_view *tables, size_t n)
{
	const struct plan_hotspot_view *any = NULL;

	for (size_t i = 0; i < n; i++)
		if (tables[i].hotspot.nbusiest)
			any = &tables[i].hotspot;
	if (!any)
		return;
	part_hotspots_begin(out, any);
	for (size_t i = 0; i < n; i++)
		if (tables[i].hotspot.nbusiest)
			part_hotspot(out, tables[i].name, &tables[i].hotspot);
	part_hotspots_end(out);
}
