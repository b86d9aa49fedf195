/* scan_answer.c - the answer of published loads to `saltmill get` and `scan` */
#include <stdio.h>

#include "scan_desk.h"

#define PRINT_BYTES (64u << 10)

/* --- printing --- */

static int print_part(struct buf *text, size_t least)
{
	if (text->len == 0 || text->len < least)
		return RC_OK;
	bool fine = fwrite(text->ptr, 1, text->len, stdout) == text->len;
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

/* --- from the loads --- */

static int print_all(struct scan_printer *p, struct query_scan *s, struct error *err)
{
	struct cell c;
	int rc;
	if (p->args->quiet)
		return query_count(s, &p->rows, &p->cells, err);
	while ((rc = query_next(s, &c, err)) == RC_OK)
		if ((rc = scan_print_cell(p, &c, query_starts_row(s), err)))
			return rc;
	return rc < 0 ? rc : RC_OK;
}

static int answer(struct scan_desk *d, struct error *err)
{
	struct query_scan *s = NULL;
	const struct published *p = &d->loads;
	struct scan_printer printer;
	struct buf why = {0};
	int rc = query_open(&s, p->families, p->nfamilies, p->files, p->nfiles, &d->q, err);
	scan_print_start(&printer, d);
	if (rc == RC_OK)
		rc = print_all(&printer, s, err);
	rc = scan_print_end(&printer, rc, err);
	if (rc == RC_OK && d->args->explain) {
		answer_explain(&why, s, p->nfiles);
		fwrite(why.ptr, 1, why.len, stderr);
	}
	query_close(s);
	buf_release(&why);
	return rc;
}

int scan_answer(const struct scan_arguments *a, const char *job, const char *const *dirs,
		size_t ndirs, struct error *err)
{
	struct scan_desk d = {.args = a};
	int rc = scan_desk_open(&d, job, a->table, SCAN_ALL, dirs, ndirs, err);
	if (rc == RC_OK)
		rc = answer(&d, err);
	scan_desk_close(&d);
	return rc;
}
