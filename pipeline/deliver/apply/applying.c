/* applying.c - messages, phases and journal of a run (applying.h) */
#include "applying.h"

#include <stdarg.h>
#include <stdio.h>

#include "clock.h"
#include "run.h"

void applying_say(const struct applying *a, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vreport_to(&a->opt->listener, fmt, ap);
	va_end(ap);
}

void applying_begin(struct applying *a, enum apply_phase phase)
{
	int64_t now = clock_ms();

	a->result->ms[a->phase] += now - a->phase_ms;
	a->phase = phase;
	a->phase_ms = now;
}

/* Lets a test kill the process right before and right after a write to the journal. */
static void crash_near(const char *when, const char *line)
{
	char step[64];
	const char *word = line + strspn(line, "0123456789 ");

	snprintf(step, sizeof step, "apply-%s%.*s", when, (int)strcspn(word, " "), word);
	crash_at(step);
}

int applying_note(struct applying *a, struct error *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	char *line = mem_vformat(fmt, ap);
	va_end(ap);
	crash_near("before-", line);
	int rc = journal_note(&a->journal, line, err);
	crash_near("", line);
	mem_free(line);
	return rc;
}

void applying_warn(struct applying *a, const char *fmt, ...)
{
	struct apply_result *r = a->result;

	va_list ap;

	va_start(ap, fmt);
	const char *text = arena_vformat(&r->arena, fmt, ap);
	va_end(ap);
	r->warnings = arena_grow(&r->arena, r->warnings, r->nwarnings, sizeof *r->warnings);
	r->warnings[r->nwarnings++] = text;
	applying_say(a, "%s", text);
}

int remove_folder(struct applying *a, struct error *err)
{
	if (!a->storage)
		return RC_OK;
	char *top = mem_format("%s/%s", storage_path(a->storage), a->folder);
	int rc = storage_remove(a->storage, top, err);
	mem_free(top);
	return rc;
}
