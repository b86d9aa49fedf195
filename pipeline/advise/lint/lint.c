#include "lint.h"

#include <stdarg.h>

#include "findings_of.h"

const char *lint_text(struct lint *l, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	char *text = mem_vformat(fmt, ap);
	va_end(ap);
	const char *kept = arena_strdup(&l->arena, text);
	mem_free(text);
	return kept;
}

void lint_add(struct lint *l, const struct lint_finding *f)
{
	if (l->count == l->room) {
		l->room = l->room ? 2 * l->room : 16;
		struct lint_finding *more = arena_alloc(&l->arena, l->room * sizeof *more);
		if (l->count)
			memcpy(more, l->findings, l->count * sizeof *more);
		l->findings = more;
	}
	l->findings[l->count++] = *f;
}

void lint_release(struct lint *l)
{
	arena_release(&l->arena);
	*l = (struct lint){0};
}

const char *const lint_severities[] = {"advice", "warning", "severe", NULL};
