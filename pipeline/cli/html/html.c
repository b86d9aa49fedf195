/* html.c - writes text, figures and drawings of a page (html.h) */
#include "html.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "page_script.h"
#include "bytes.h"

static const char styles[] =
	":root{color-scheme:light dark;--back:#fff;--text:#1d232a;--soft:#5b6570;--line:#d5dbe1;"
	"--bar:#2f6f9f;--good:#1d6b3c;--warn:#8a4b00;--bad:#a3202c;--heat:47,111,159;--mark:#"
	"b04a00}"
	"@media(prefers-color-scheme:dark){:root{--back:#14181d;--text:#e4e9ee;--soft:#a3afba;"
	"--line:#38424c;--bar:#6db1e2;--good:#6fce95;--warn:#f0b35a;--bad:#ff8f96;"
	"--heat:109,177,226;--mark:#f3a15f}}"
	"*{box-sizing:border-box}"
	"body{font:16px/1.5 system-ui,sans-serif;background:var(--back);color:var(--text);margin:0 "
	"auto;max-width:62rem;padding:1.5rem}"
	"h1{font-size:1.6rem;margin:0 0 .3rem;overflow-wrap:anywhere}"
	"h2{font-size:1.25rem;margin:2.4rem 0 .5rem;border-bottom:2px solid var(--line);"
	"overflow-wrap:anywhere}"
	"h3{font-size:1rem;margin:1.4rem 0 .4rem}"
	"p,figure{margin:.5rem 0}figcaption,small,caption{color:var(--soft);font-size:.88rem}"
	"caption{text-align:left}"
	".wide{overflow-x:auto}"
	"table{border-collapse:collapse;margin:.6rem 0;width:100%}"
	"th,td{text-align:left;padding:.2rem .7rem .2rem 0;border-bottom:1px solid var(--line);"
	"vertical-align:top}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;"
	"white-space:nowrap}"
	"code,pre{font:.86rem/1.45 ui-monospace,monospace;overflow-wrap:anywhere}"
	"td code{overflow-wrap:break-word;display:inline-block;max-width:34rem}"
	"td.n,th.n{padding-right:1rem}td.t{white-space:nowrap}"
	"pre{background:color-mix(in srgb,var(--text) 6%,var(--back));padding:.6rem .8rem;"
	"white-space:pre-wrap;border-radius:.3rem}"
	".plain{--tone:var(--soft)}.good{--tone:var(--good)}.warn{--tone:var(--warn)}.bad{--tone:"
	"var(--bad)}"
	"ul.verdict{list-style:none;padding:0;margin:1rem 0}"
	"ul.verdict li{margin:.35rem 0;padding:.1rem 0 .1rem .8rem;border-left:.3rem solid "
	"var(--tone);display:flex;flex-wrap:wrap;column-gap:.8rem}"
	"ul.verdict b{color:var(--tone);flex:0 0 6.5rem}"
	"ul.verdict span{flex:1 1 18rem;overflow-wrap:anywhere}"
	"svg{width:100%;height:auto;display:block}svg text{fill:var(--soft);font:12px system-ui,"
	"sans-serif}.bar{fill:var(--bar)}.foreseen{stroke:var(--text);stroke-width:1.5}"
	".target{stroke:var(--mark);stroke-width:1.5;stroke-dasharray:4 3}"
	".border{stroke:var(--line);stroke-width:1}"
	".frame{fill:none;stroke:var(--line)}.heat{fill:rgb(var(--heat))}"
	".waiting{fill:var(--mark)}.hot{fill:var(--bad)}"
	".busiest{fill:none;stroke:var(--bar);stroke-width:1.5}"
	".side{display:flex;flex-wrap:wrap;gap:1rem}.side figure{flex:1 1 25rem;min-width:0}"
	".idle td{color:var(--soft)}.key{display:flex;flex-wrap:wrap;gap:.2rem;margin:.5rem 0}"
	".key span{flex:1 1 auto;min-width:4rem;padding:.2rem .5rem;border-top:.3rem solid "
	"var(--bar);overflow-wrap:anywhere;background:color-mix(in srgb,var(--bar) 8%,var(--back))}"
	".key .made{border-color:var(--mark)}.key small{display:block}"
	"dd{margin:0 0 .5rem 1rem;overflow-wrap:anywhere}"
	"rect.bar:hover,rect.waiting:hover{filter:brightness(1.25)}"
	"summary{cursor:pointer;margin:.4rem 0}"
	"button{font:inherit;color:inherit;background:none;border:1px solid var(--line);"
	"border-radius:.3rem;cursor:pointer}th button{border:0;padding:0;font-weight:bold;"
	"text-align:inherit}th[aria-sort=ascending] button:after{content:' \\2191'}"
	"th[aria-sort=descending] button:after{content:' \\2193'}"
	"input{font:inherit;color:inherit;background:var(--back);border:1px solid var(--soft);"
	"border-radius:.3rem;padding:.1rem .4rem}"
	".copy{float:right;font-size:.8rem;background:var(--back);min-width:5.5rem;"
	"min-height:2rem;margin-left:.6rem;user-select:none}"
	".tip{position:fixed;pointer-events:none;background:var(--text);color:var(--back);"
	"padding:.15rem .5rem;border-radius:.3rem;font-size:.82rem;max-width:24rem;"
	"overflow-wrap:anywhere}"
	"@media(max-width:40rem){body{padding:.8rem}figure{overflow-x:auto}svg{min-width:38rem}"
	"svg text{font-size:16px}figcaption{position:sticky;left:0}"
	"td code{overflow-wrap:anywhere;min-width:6rem}"
	".copy{float:none;display:block;min-height:2.6rem;margin:0 0 .4rem auto}}"
	"@media print{body{max-width:none;padding:0}.wide{overflow:visible}table{font-size:.72rem}"
	"th,td,td.n,th.n{padding-right:.35rem;white-space:normal}td code{white-space:"
	"normal;overflow-wrap:anywhere}button,input,label{display:none}th "
	"button{display:inline}h2{break-after:avoid}figure,tr,li{break-inside:avoid}}";

void html_begin(struct buf *out, const char *title)
{
	buf_append_str(out,
		       "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		       "<meta name=\"viewport\" content=\"width=device-width, "
		       "initial-scale=1\">\n<title>");
	html_text(out, bytes_str(title));
	buf_printf(out, "</title>\n<style>%s</style>\n</head>\n<body>\n<main>\n", styles);
}

void html_end(struct buf *out)
{
	buf_printf(out, "</main>\n<script>%s</script>\n</body>\n</html>\n", page_script);
}

/* --- text and figures --- */

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

void html_code(struct buf *out, const char *text)
{
	buf_append_str(out, "<code>");
	html_text(out, bytes_str(text));
	buf_append_str(out, "</code>");
}

void html_key(struct buf *out, struct bytes key, size_t max)
{
	struct buf text = {0};

	bytes_escape(&text, key);
	if (!text.len)
		buf_append_str(out, "(begin)");
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

void html_time(struct buf *out, int64_t ms)
{
	char text[40];
	time_t s = (time_t)(ms >= 0 ? ms / 1000 : (ms - 999) / 1000);
	struct tm tm;

	if (gmtime_r(&s, &tm) && strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm))
		buf_append_str(out, text);
}

/* --- tables --- */

void html_table(struct buf *out, const char *caption, const char *heads)
{
	buf_append_str(out, "<div class=\"wide\" role=\"group\" aria-label=\"");
	html_text(out, bytes_str(caption));
	buf_append_str(out, "\"><table>\n<thead><tr>");
	for (const char *h = heads; h;) {
		size_t n = strcspn(h, "|");
		bool number = *h == '#';

		buf_printf(out, "<th scope=\"col\"%s>%.*s</th>", number ? " class=\"n\"" : "",
			   (int)n - number, h + number);
		h = h[n] ? h + n + 1 : NULL;
	}
	buf_append_str(out, "</tr></thead>\n<tbody>\n");
}

void html_table_end(struct buf *out)
{
	buf_append_str(out, "</tbody></table></div>\n");
}

void html_count_cell(struct buf *out, uint64_t n)
{
	buf_append_str(out, "<td class=\"n\">");
	html_count(out, n);
	buf_append_str(out, "</td>");
}

void html_bytes_cell(struct buf *out, uint64_t n)
{
	buf_printf(out, "<td class=\"n\" data-v=\"%llu\">", (unsigned long long)n);
	html_bytes(out, n);
	buf_append_str(out, "</td>");
}

void html_real_cell(struct buf *out, int digits, double v, const char *unit)
{
	buf_printf(out, "<td class=\"n\">%.*f%s</td>", digits, v, unit);
}

void html_code_cell(struct buf *out, const char *text)
{
	buf_append_str(out, "<td>");
	html_code(out, text);
	buf_append_str(out, "</td>");
}

void html_time_cell(struct buf *out, int64_t ms)
{
	buf_append_str(out, "<td class=\"t\">");
	html_time(out, ms);
	buf_append_str(out, "</td>");
}

/* --- drawings --- */

void html_svg(struct buf *out, double width, double height, const char *label)
{
	buf_printf(out, "<svg viewBox=\"0 0 %g %g\" role=\"img\" aria-label=\"", width, height);
	html_text(out, bytes_str(label));
	buf_append_str(out, "\">\n");
}

void html_rect(struct buf *out, const char *class, double x, double y, double width, double height,
	       const char *about)
{
	buf_printf(out, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"",
		   class, x, y, width, height);
	if (about) {
		buf_append_str(out, "><title>");
		html_text(out, bytes_str(about));
		buf_append_str(out, "</title></rect>\n");
	} else {
		buf_append_str(out, "/>\n");
	}
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
