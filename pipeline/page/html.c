/* html.c - text, figures and drawings of the page (html.h) */
#include "html.h"

#include <stdio.h>
#include <string.h>

#include "text.h"
#include "units.h"

static const char styles[] =
	":root{color-scheme:light dark;--back:#fff;--text:#1d232a;--soft:#5b6570;--line:#d5dbe1;"
	"--bar:#2f6f9f;--good:#1d6b3c;--warn:#8a4b00;--bad:#a3202c;--heat:47,111,159;--mark:#"
	"b04a00}"
	"@media(prefers-color-scheme:dark){:root{--back:#14181d;--text:#e4e9ee;--soft:#a3afba;"
	"--line:#38424c;--bar:#6db1e2;--good:#6fce95;--warn:#f0b35a;--bad:#ff8f96;"
	"--heat:109,177,226;--mark:#f3a15f}}"
	"body{font:16px/1.5 system-ui,sans-serif;background:var(--back);color:var(--text);margin:0 "
	"auto;"
	"max-width:62rem;padding:1.5rem}"
	"h1{font-size:1.6rem;margin:0 0 .3rem}h2{font-size:1.25rem;margin:2.2rem 0 .5rem}"
	"h3{font-size:1rem;margin:1.4rem 0 .4rem}"
	"p,figure{margin:.5rem 0}figcaption,small{color:var(--soft);font-size:.88rem}"
	"table{border-collapse:collapse;margin:.6rem 0;width:100%}"
	"th,td{text-align:left;padding:.2rem .7rem .2rem 0;border-bottom:1px solid var(--line);"
	"vertical-align:top}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}"
	"code,pre{font:.86rem/1.45 ui-monospace,monospace;overflow-wrap:anywhere}"
	"pre{background:color-mix(in srgb,var(--text) 6%,transparent);padding:.6rem .8rem;"
	"white-space:pre-wrap;border-radius:.3rem}"
	".good{color:var(--good)}.warn{color:var(--warn)}.bad{color:var(--bad)}"
	"ul.verdict{list-style:none;padding:0;margin:.8rem 0}ul.verdict li{margin:.25rem 0}"
	"ul.verdict b{display:inline-block;min-width:5.5rem}"
	"svg{width:100%;height:auto;display:block}svg text{fill:var(--soft);font:11px system-ui,"
	"sans-serif}.bar{fill:var(--bar)}.foreseen{stroke:var(--text);stroke-width:1.5}"
	".target{stroke:var(--mark);stroke-width:1.5;stroke-dasharray:4 3}"
	".frame{fill:none;stroke:var(--line)}.heat{fill:rgb(var(--heat))}"
	"@media print{body{max-width:none;padding:0}details{display:block}h2{break-after:avoid}"
	"figure,tr{break-inside:avoid}}";

void html_begin(struct buf *out, const char *title)
{
	buf_append_str(out,
		       "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		       "<meta name=\"viewport\" content=\"width=device-width, "
		       "initial-scale=1\">\n<title>");
	html_text(out, bytes_str(title));
	buf_printf(out, "</title>\n<style>%s</style>\n</head>\n<body>\n", styles);
}

void html_end(struct buf *out)
{
	buf_append_str(out, "</body>\n</html>\n");
}

void html_text(struct buf *out, struct bytes text)
{
	struct buf plain = {0};
	text_visible(&plain, text);
	for (size_t i = 0; i < plain.len; i++) {
		switch (plain.ptr[i]) {
		case '&': buf_append_str(out, "&amp;"); break;
		case '<': buf_append_str(out, "&lt;"); break;
		case '>': buf_append_str(out, "&gt;"); break;
		case '"': buf_append_str(out, "&quot;"); break;
		default: buf_append(out, &plain.ptr[i], 1); break;
		}
	}
	buf_release(&plain);
}

void html_key(struct buf *out, struct bytes key, size_t max)
{
	struct buf text = {0};
	if (!key.len)
		buf_append_str(out, "(begin)");
	bytes_escape(&text, key);
	html_text(out, bytes_of(text.ptr, text.len < max ? text.len : max));
	if (text.len > max)
		buf_append_str(out, "...");
	buf_release(&text);
}

void html_count(struct buf *out, uint64_t n)
{
	char digits[24];
	int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			buf_append_str(out, ",");
		buf_append(out, &digits[i], 1);
	}
}

void html_bytes(struct buf *out, uint64_t n)
{
	char text[16];
	buf_append_str(out, format_bytes(text, n));
}

void html_svg(struct buf *out, double width, double height, const char *label)
{
	buf_printf(out, "<svg viewBox=\"0 0 %g %g\" role=\"img\" aria-label=\"", width, height);
	html_text(out, bytes_str(label));
	buf_append_str(out, "\">\n");
}

void html_rect(struct buf *out, const char *class, double x, double y, double width, double height)
{
	buf_printf(out,
		   "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
		   class, x, y, width, height);
}

void html_heat(struct buf *out, double x, double y, double width, double height, double share)
{
	buf_printf(out,
		   "<rect class=\"heat\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
		   "opacity=\"%.2f\"/>\n",
		   x, y, width, height, share);
}

void html_line(struct buf *out, const char *class, double x1, double y1, double x2, double y2)
{
	buf_printf(out, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
		   class, x1, y1, x2, y2);
}

void html_label(struct buf *out, const char *anchor, double x, double y, const char *text)
{
	buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
	html_text(out, bytes_str(text));
	buf_append_str(out, "</text>\n");
}
