/* columns_report.c - warns of input columns that differ from those of an earlier load */
#include <string.h>

#include "mem.h"
#include "cli/reports.h"

#define LISTED 20 /* most names to list for each kind of change */

enum { ADDED, MISSING, MOVED, TYPED, KINDS };

struct changes {
	struct buf names[KINDS];
	size_t n[KINDS];
};

static void note(struct changes *c, int kind, const char *name)
{
	struct buf *b = &c->names[kind];

	if (c->n[kind]++ < LISTED)
		buf_printf(b, "%s`%s`", b->len ? ", " : "", name);
	else if (c->n[kind] == LISTED + 1)
		buf_append_str(b, ", ...");
}

/* Notes a type that differs. Ignores columns without a type in either load. */
static void note_type(struct changes *c, const struct manifest_column *was,
		      const struct manifest_column *is)
{
	if (!was->type || !is->type || strcmp(was->type, is->type) == 0)
		return;
	struct buf text = {0};
	buf_printf(&text, "%s` from %s to `%s%c", is->name, was->type, is->type, 0);
	note(c, TYPED, (const char *)text.ptr);
	buf_release(&text);
}

static size_t find(const struct manifest *m, const char *name)
{
	size_t i = 0;

	while (i < m->ncolumns && strcmp(m->columns[i].name, name) != 0)
		i++;
	return i;
}

/*
 * Notes the columns that moved. at[i] is the new place of the i-th earlier column. Columns outside
 * the longest rising run have moved. This rule gives the fewest moves.
 */
static void note_moved(struct changes *c, const struct manifest *now, const size_t *at,
		       const size_t *which, size_t n)
{
	size_t *run = mem_calloc(2 * n + 2, sizeof *run), *from = run + n + 1, last = n;
	bool *stays = mem_calloc(n + 1, sizeof *stays);

	for (size_t i = 0; i < n; i++) {
		run[i] = 1;
		from[i] = n;
		for (size_t k = 0; k < i; k++)
			if (at[k] < at[i] && run[k] >= run[i]) {
				run[i] = run[k] + 1;
				from[i] = k;
			}
		last = last == n || run[i] > run[last] ? i : last;
	}
	for (size_t i = last; i < n; i = from[i])
		stays[i] = true;
	for (size_t i = 0; i < n; i++)
		if (!stays[i])
			note(c, MOVED, now->columns[which[i]].name);
	mem_free(stays);
	mem_free(run);
}

static void compare(struct changes *c, const struct manifest *before, const struct manifest *now)
{
	size_t *at = mem_calloc(2 * now->ncolumns + 2, sizeof *at), n = 0;
	size_t *which = at + now->ncolumns + 1;

	for (size_t i = 0; i < before->ncolumns; i++)
		if (find(now, before->columns[i].name) == now->ncolumns)
			note(c, MISSING, before->columns[i].name);
	for (size_t i = 0; i < now->ncolumns; i++) {
		const struct manifest_column *is = &now->columns[i];
		size_t k = find(before, is->name);

		if (k == before->ncolumns) {
			note(c, ADDED, is->name);
			continue;
		}
		note_type(c, &before->columns[k], is);
		/* a schema finds its fields by name, so their order does not matter */
		if (is->type)
			continue;
		at[n] = k;
		which[n++] = i;
	}
	note_moved(c, now, at, which, n);
	mem_free(at);
}

void report_columns(struct buf *out, const struct manifest *before, const char *dir,
		    const struct manifest *now)
{
	static const char *const words[] = {"added", "missing", "moved", "with another type"};
	struct changes c = {0};

	if (before->ncolumns == 0 || now->ncolumns == 0) {
		buf_printf(out,
			   "cannot compare the columns with those of %s: %s lists no columns "
			   "(only delimited text, Avro and Arrow have a list of columns)\n",
			   dir, before->ncolumns ? "this load" : "its manifest");
		return;
	}
	compare(&c, before, now);
	for (int i = 0; i < KINDS; i++) {
		if (c.n[i])
			buf_printf(out, "warning: columns %s since %s: %.*s\n", words[i], dir,
				   (int)c.names[i].len, (const char *)c.names[i].ptr);
		buf_release(&c.names[i]);
	}
}
