/*
 * count_rows.c - what a source must know for the columns $line, $row and those of `partitions`
 *
 * Workers read pieces at the same time, so the number of a piece's first row is unknown until the
 * count of all earlier pieces. A thread counts pieces under the source's lock, where it also counts
 * lines. Only a job that reads $row pays for it.
 */
#include <stdio.h>

#include "field.h"
#include "worker.h"

static uint64_t count_lines(const struct buf *piece)
{
	const uint8_t *p = piece->ptr, *end = p + piece->len;
	uint64_t n = 0;

	while (p < end) {
		size_t len = csv_line(p, (size_t)(end - p));

		len = len > 0 ? len : (size_t)(end - p);
		n += !line_is_blank(bytes_of(p, len));
		p += len;
	}
	return n;
}

static uint64_t count_records(const struct source *s, const struct buf *piece)
{
	struct bytes record;
	size_t at = 0;
	uint64_t n = 0;

	while (json_walk_record(s->walk.layout, buf_bytes(piece), &at, &record))
		n++;
	return n;
}

uint64_t count_rows(struct source *s, struct buf *piece)
{
	struct event_rows plain;
	struct csv_row row;
	uint64_t n = 0;
	size_t many;

	if (s->documents)
		return count_records(s, piece);
	if (s->json)
		return count_lines(piece);
	buf_reserve(piece, CSV_SLACK);
	csv_start(&s->counter, piece->ptr, piece->len);
	do {
		while ((many = csv_plain(&s->counter, &plain)) > 0)
			n += many;
	} while (csv_next(&s->counter, &row) && ++n);
	return n;
}

void count_open(struct source *s)
{
	csv_open(&s->counter, s->csv, s->libcsv_only);
	csv_expect(&s->counter, s->ncolumns, s->max_row_bytes);
	csv_skip(&s->counter, s->csv->skip_matching);
}

static const struct field *reader_of(const struct job *job, enum origin origin)
{
	for (size_t i = 0; i < job->nfields; i++)
		for (size_t k = 0; k < job->fields[i].ncolumns; k++)
			if (column_origin(job, job->fields[i].columns[k]) == origin)
				return &job->fields[i];
	return NULL;
}

/* Refuse $line and $row if this process reads only a part of a file, so it cannot count from 1. */
static int check_part(const struct source *s, const struct job *job, struct error *err)
{
	const struct field *f = reader_of(job, ORIGIN_LINE);
	bool is_line = f != NULL;

	f = f ? f : reader_of(job, ORIGIN_ROW);
	if (!f || !s->input->slice)
		return RC_OK;
	return error_set(err, RC_CONFIG,
			 "%s:%u:%u: field `%s`: found %s and a slice of a file, expected whole "
			 "files, because lines and rows count from the start of a file",
			 job->path, f->pos.line, f->pos.column, f->name,
			 is_line ? "$line" : "$row");
}

int origins_check(const struct source *s, const struct job *job, struct error *err)
{
	const struct csv_source *csv = s->csv;
	struct bytes value;

	for (size_t i = 0; i < s->nfiles; i++)
		for (size_t k = 0; k < csv->npartitions; k++)
			if (!path_partition(s->files[i].path, csv->partitions[k], &value))
				return error_set(err, RC_CONFIG,
						 "%s: found no folder `%.80s=...` in the path, "
						 "expected one for `partitions`",
						 input_name(s->files[i].path), csv->partitions[k]);
	return check_part(s, job, err);
}
