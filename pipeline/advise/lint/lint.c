#include "lint.h"

#include <stdarg.h>

#include "findings_of.h"

const char *lint_text(struct lint *l, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	const char *text = arena_vformat(&l->arena, fmt, ap);
	va_end(ap);
	return text;
}

void lint_add(struct lint *l, const struct lint_finding *f)
{
	l->findings = arena_grow(&l->arena, l->findings, l->count, sizeof *l->findings);
	l->findings[l->count++] = *f;
}

void lint_release(struct lint *l)
{
	arena_release(&l->arena);
	*l = (struct lint){0};
}

const char *const lint_severities[] = {"advice", "warning", "severe", NULL};
