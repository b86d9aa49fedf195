/* scan_answer.c - runs a query of `saltmill get` or `scan` and prints the answer */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mem.h"
#include "reporter.h"
#include "scan_desk.h"

#define PRINT_BYTES (64u << 10)

/* --- printing --- */

static int print_part(struct buf *text, size_t least)
{
	if (text->len == 0 || text->len < least)
		return RC_OK;
	bool fine = command_write(buf_bytes(text));
	text->len = 0;
	return fine ? RC_OK : RC_IO;
}

void scan_print_start(struct scan_printer *p, const struct scan_desk *d)
{
	const struct scan_arguments *args = d->args;

	*p = (struct scan_printer){.args = args, .answer = {.format = args->format}};
	p->decoding = (struct answer_decoding){.stored = &d->stored,
					       .families = d->loads.families,
					       .columns = d->columns,
					       .ncolumns = d->ncolumns,
					       .versions = args->q.versions > 1 || args->q.raw,
					       .raw = args->q.raw};
	if (args->decode)
		answer_decode(&p->answer, &p->decoding);
}

int scan_print_cell(struct scan_printer *p, const struct cell *c, bool new_row, struct error *err)
{
	p->rows += new_row;
	p->cells++;
	if (new_row && p->rows == p->args->q.limit) {
		p->row.len = 0;
		buf_append(&p->row, c->row.ptr, c->row.len);
	}
	if (new_row && p->progress)
		atomic_store_explicit(&p->progress->events, p->rows, memory_order_relaxed);
	int rc = p->args->quiet ? RC_OK : answer_cell(&p->answer, &p->text, c, new_row, err);
	if (rc == RC_OK && print_part(&p->text, PRINT_BYTES))
		rc = error_errno(err, "cannot write the answer");
	return rc;
}

int scan_print_end(struct scan_printer *p, int rc, struct error *err)
{
	if (rc == RC_OK && p->args->quiet)
		buf_printf(&p->text, "%llu rows, %llu cells\n", (unsigned long long)p->rows,
			   (unsigned long long)p->cells);
	else if (rc == RC_OK)
		answer_end(&p->answer, &p->text);
	int printed = print_part(&p->text, 0);
	if (rc == RC_OK && (printed || fflush(stdout)))
		rc = error_errno(err, "cannot write the answer");
	buf_release(&p->text);
	answer_release(&p->answer);
	return rc;
}

/* --- from loads or a live table --- */

static int print_all(struct scan_printer *p, struct scan_rows *r, struct error *err)
{
	struct cell c;
	int rc;

	if (p->args->quiet)
		return scan_rows_count(r, &p->rows, &p->cells, err);
	while ((rc = scan_rows_next(r, &c, err)) == RC_OK)
		if ((rc = scan_print_cell(p, &c, scan_rows_start(r), err)))
			return rc;
	return rc < 0 ? rc : RC_OK;
}

static void explain(const struct scan_desk *d, struct scan_rows *r)
{
	struct buf why = {0};
	struct live_explained live;

	if (r->live) {
		live_explain(r->live, &live);
		answer_explain_live(&why, &live, &d->q, d->filter);
		mem_free(live.visits);
	} else {
		answer_explain(&why, r->files, d->loads.nfiles);
	}
	fwrite(why.ptr, 1, why.len, stderr);
	buf_release(&why);
}

/* --- progress --- */

/* Returns true if the query reads all bytes of each file. */
static bool asks_for_all(const struct query *q)
{
	return !q->get && !q->start.len && !q->stop.len && !q->nranges && !q->salt_bytes &&
	       !q->from_ms && !q->to_ms && !q->ncolumns && !q->limit && !q->filter && !q->judge;
}

static void begin(struct progress *p, struct scan_desk *d)
{
	bool counts = d->args->quiet;
	uint64_t bytes = 0;
	struct stat st;

	for (size_t i = 0; i < d->loads.nfiles; i++) {
		d->loads.files[i].progress = p;
		bytes += stat(d->loads.files[i].name, &st) == 0 ? (uint64_t)st.st_size : 0;
	}
	progress_begin(p, "scanning",
		       !counts	  ? PROGRESS_ROWS
		       : d->hbase ? PROGRESS_SECONDS
				  : PROGRESS_BYTES,
		       asks_for_all(&d->q) ? bytes : 0);
}

/*
 * Returns true if the command shows progress. The line would disturb an answer that goes to a
 * terminal or a pager.
 */
static bool is_watched(const struct scan_desk *d)
{
	struct stat st;

	return d->args->quiet || (fstat(STDOUT_FILENO, &st) == 0 && S_ISREG(st.st_mode));
}

/* Reports that no row has the key. A user may mean a key with `=` as FIELD=VALUE. */
static void say_missing(const struct scan_desk *d)
{
	struct bytes key = d->q.start;
	const uint8_t *equals = key.len ? memchr(key.ptr, '=', key.len) : NULL;
	struct error ignored;
	size_t field;

	if (equals && !d->args->nfields &&
	    field_find(&d->job, bytes_of(key.ptr, (size_t)(equals - key.ptr)), &field, &ignored) ==
		    RC_OK)
		command_say("get",
			    "no row has this key; --row takes the key itself; to build it from "
			    "fields, write `%.*s` without --row",
			    (int)key.len, (const char *)key.ptr);
	else
		command_say("get", "no row has this key");
}

static int answer(struct scan_desk *d, struct error *err)
{
	struct progress progress = {.phase = NULL};
	struct scan_rows rows;
	struct scan_printer printer;

	begin(&progress, d);
	struct reporter *reporter = is_watched(d) ? reporter_start_on_terminal(&progress) : NULL;
	int rc = scan_rows_open(&rows, d, &d->q, err);
	scan_print_start(&printer, d);
	printer.progress = &progress;
	if (rc == RC_OK)
		rc = print_all(&printer, &rows, err);
	reporter_stop(reporter);
	rc = scan_print_end(&printer, rc, err);
	if (rc == RC_OK && d->q.get && printer.rows == 0 && !d->args->quiet)
		say_missing(d);
	if (rc == RC_OK && d->args->explain)
		explain(d, &rows);
	if (rc == RC_OK && printer.row.len && !d->q.get)
		scan_page_print(d, &(struct scan_page){.row = buf_bytes(&printer.row)});
	buf_release(&printer.row);
	scan_rows_close(&rows);
	return rc;
}

int scan_answer(const struct scan_arguments *a, const struct scan_place *place, struct error *err)
{
	struct scan_desk d = {.args = a, .no_values = a->quiet};
	int rc = scan_desk_open(&d, place, a->table, SCAN_ALL, err);

	if (rc == RC_OK)
		rc = answer(&d, err);
	scan_desk_close(&d);
	return rc;
}
