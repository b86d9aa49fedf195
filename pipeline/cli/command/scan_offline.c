/*
 * scan_offline.c - opens a table's folder, a snapshot or a folder of HFiles for a query
 *
 * Without a job, the query uses a job that has the families of the place. Its row key is one text
 * field, `row`.
 */
#include <string.h>

#include "mem.h"
#include "scan_desk.h"

#define NAME_MOST 64

/* Returns a name for messages: the last name of the path. */
static const char *name_of(struct arena *a, const char *uri)
{
	size_t n = strlen(uri), at;

	while (n > 1 && uri[n - 1] == '/')
		n--;
	for (at = n; at && uri[at - 1] != '/' && n - at < NAME_MOST;)
		at--;
	return arena_strndup(a, uri + at, n - at);
}

static void put_families(struct buf *text, const struct published *p)
{
	buf_append_str(text, "    families: {");
	for (size_t i = 0; i < p->nfamilies; i++) {
		buf_append_str(text, i ? ", " : "");
		text_json(text, p->families[i].name);
		buf_append_str(text, ": {}");
	}
	buf_append_str(text, "}\n    cells:\n");
	for (size_t i = 0; i < p->nfamilies; i++) {
		buf_append_str(text, "      - {family: ");
		text_json(text, p->families[i].name);
		buf_append_str(text, ", qualifier: row, value: {field: row}}\n");
	}
}

/* Makes the job of a query without a job file. */
static int make_job(struct scan_desk *d, const char *uri, struct error *err)
{
	struct buf text = {0};

	buf_append_str(&text, "source: {csv: {columns: [row]}}\n"
			      "tables:\n"
			      "  - name: hfiles\n"
			      "    timestamp: 0\n"
			      "    rowkey: [{field: row, as: text}]\n");
	put_families(&text, &d->loads);
	int rc = job_parse(&d->job, name_of(&d->arena, uri), buf_bytes(&text), err);
	buf_release(&text);
	return rc;
}

int scan_offline_open(struct scan_desk *d, const struct scan_place *place, struct error *err)
{
	int rc = offline_open(&d->loads, &place->offline, err);

	return rc || place->job ? rc : make_job(d, place->offline.uri, err);
}

int scan_offline_check(struct scan_desk *d, const struct scan_place *place, struct error *err)
{
	const struct listener say = command_listener(d->args->q.get ? "get" : "scan");

	if (!place->job)
		return RC_OK;
	return offline_restrict(&d->loads, place->offline.kind, &d->table->schema,
				d->args->quiet ? NULL : &say, err);
}
