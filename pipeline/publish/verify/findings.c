/* findings.c - the list of proofs and faults that verify reports */
#include <string.h>

#include "mem.h"
#include "publish.h"

void findings_vadd(struct findings *f, bool problem, const char *path, const char *fmt, va_list ap)
{
	char *text = mem_vformat(fmt, ap);

	f->item = mem_grow(f->item, f->count, sizeof *f->item);
	f->item[f->count++] =
		(struct finding){.problem = problem, .path = mem_strdup(path), .text = text};
	f->problems += problem;
}

void findings_add(struct findings *f, bool problem, const char *path, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	findings_vadd(f, problem, path, fmt, ap);
	va_end(ap);
}

void findings_append(struct findings *to, struct findings *from)
{
	for (size_t i = 0; i < from->count; i++) {
		to->item = mem_grow(to->item, to->count, sizeof *to->item);
		to->item[to->count++] = from->item[i];
	}
	to->problems += from->problems;
	mem_free(from->item);
	*from = (struct findings){0};
}

void findings_release(struct findings *f)
{
	for (size_t i = 0; i < f->count; i++) {
		mem_free(f->item[i].path);
		mem_free(f->item[i].text);
	}
	mem_free(f->item);
	*f = (struct findings){0};
}
