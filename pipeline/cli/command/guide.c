/* guide.c - the chapters of conf/guide (guide.h) */
#include "guide.h"

#include "markdown.h"
#include "cli/reference.h"

/*
 * The chapters of the guide, as a list in which names and texts alternate. NULL ends the list.
 * guide_embed.awk generates this table from conf/guide.
 */
extern const char *const guide_chapters[];

const char *guide_name(size_t i)
{
	for (size_t k = 0; guide_chapters[2 * k]; k++)
		if (k == i)
			return guide_chapters[2 * k];
	return NULL;
}

const char *guide_chapter(const char *name)
{
	for (size_t i = 0; guide_name(i); i++)
		if (strcmp(guide_name(i), name) == 0)
			return guide_chapters[2 * i + 1];
	return NULL;
}

void guide_list(struct buf *out)
{
	for (size_t i = 0; guide_name(i); i++) {
		struct bytes title = markdown_title(guide_chapters[2 * i + 1]);

		buf_printf(out, "  %-16s%.*s\n", guide_name(i), (int)title.len,
			   (const char *)title.ptr);
	}
}

void guide_man(struct buf *out, const char *name)
{
	const char *text = guide_chapter(name);
	struct bytes title = markdown_title(text);
	struct buf line = {0};

	buf_append_str(out, ".TH SALTMILL\\-");
	reference_roff(out, name);
	buf_append_str(out, " 7 \"\" saltmill\n.SH NAME\nsaltmill\\-");
	reference_roff(out, name);
	buf_printf(&line, " - %.*s\n", (int)title.len, (const char *)title.ptr);
	reference_roff(out, (const char *)line.ptr);
	buf_append_str(out, ".SH DESCRIPTION\n");
	markdown_roff(out, text);
	buf_append_str(out, ".SH SEE ALSO\n.BR saltmill (1),\n.BR saltmill\\-job (5)");
	for (size_t i = 0; guide_name(i); i++)
		if (strcmp(guide_name(i), name) != 0) {
			buf_append_str(out, ",\n.BR saltmill\\-");
			reference_roff(out, guide_name(i));
			buf_append_str(out, " (7)");
		}
	buf_append_str(out, "\n");
	buf_release(&line);
}
