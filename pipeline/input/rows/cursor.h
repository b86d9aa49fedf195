/* cursor.h - a source and its current input, shared by the files of this folder */
#ifndef SALTMILL_SOURCE_CURSOR_H
#define SALTMILL_SOURCE_CURSOR_H

#include <pthread.h>
#include <stdatomic.h>

#include "input/csv.h"
#include "input/input.h"
#include "input/json_walk.h"
#include "input/messages.h"
#include "place.h"
#include "slice.h"
#include "input/transcode.h"
#include "mem.h"
#include "source.h"

/* The state of reading one input. */
struct cursor {
	struct input_stream in;
	struct transcoder text; /* decoder for an encoding other than UTF-8 */
	struct buf rest;	/* decoded bytes not yet passed on, from the start of a row */
	uint64_t offset;	/* offset of `rest` in the decoded file */
	uint64_t line;		/* line ends before `rest`, or events in block formats */
	uint64_t rows;		/* rows before `rest`, if the source counts them */
	uint64_t blocks, ranks; /* blocks and ranks before `rest`, in block formats (blocks.h) */
	bool open, eof;
	bool dry; /* the last read returned nothing although the file continues */
};

struct event_block_format;
struct decoding;
struct messages;

struct source {
	/* if NULL, the source reads files and uses the members below */
	struct messages *messages;
	struct source_file *files;
	struct input_stamp *stamps; /* one per file */
	_Atomic uint64_t *rows;	    /* one per file */
	size_t nfiles;
	const char **columns;
	size_t ncolumns;
	char *header; /* the first file's header, unchanged */
	const struct job *job;
	/* `columns: by_name`: the columns of each file; NULL without it (by_name.c) */
	struct file_columns {
		size_t n;   /* columns of the file */
		size_t *at; /* by column of the source: the file's column, or NOT_IN_FILE */
		size_t nat;
	} * by_name;
	bool opened; /* no header adds a column any more */
	bool libcsv_only;
	const struct csv_source *csv; /* the job's dialect */
	struct decoding *json;	      /* the fields' paths, NULL for delimited text */
	bool documents;		      /* JSON that is not one object per line (documents.c) */
	struct json_walk walk;	      /* place in the documents; protected by the lock */
	size_t op; /* column _op of a bulk request; SIZE_MAX if no field uses it */
	const struct event_block_format *blocks; /* NULL for text */
	void *own;				 /* data of the block format */
	size_t piece_bytes;
	double fraction;    /* share of the pieces to read, 1 for all */
	size_t alone_bytes; /* the source handles longer pieces one at a time */
	struct budget *budget;
	uint64_t max_row_bytes;
	bool row_by_memory; /* true if --memory, not the job, limits max_row_bytes */
	uint64_t bytes_total;
	_Atomic uint64_t bytes_done;
	struct arena arena;
	bool headless; /* the header comes from a separate file */
	const struct input *input;

	pthread_mutex_t lock; /* protects all members below */
	struct slice slice;
	struct csv_reader cutter;
	bool counts_rows; /* a field reads $row */
	struct csv_reader counter;
	uint64_t cut; /* number of pieces cut */
	/* decoded bytes of all pieces cut, and of those passed to workers */
	uint64_t cut_bytes, taken_bytes;
	uint64_t taken; /* pieces passed to workers */
	size_t current; /* index of the file */
	struct cursor cursor;
	struct places places;
	uint64_t seq_base;     /* decoded bytes of the files before the current one */
	uint64_t bytes_before; /* bytes on disk of the files before the current one */
	struct error failure;  /* code 0 if none */
};

/*
 * Open file `i`, and read the file's byte order mark and header. The first header names the
 * columns.
 */
int cursor_open(struct source *s, struct cursor *c, size_t i, struct error *err);
void cursor_close(struct cursor *c);
/* Append up to `want` bytes to `buf`. Set `eof` at the end. */
int cursor_more(struct cursor *c, struct buf *buf, size_t want, struct error *err);
/*
 * Return the length of the whole rows at the start of `buf`, or 0 if no row is complete or only the
 * footer remains. If a row has a quote without an end, only the row's first line counts as the row.
 * Set `*limit` if the row at the start of `buf` is too long.
 */
size_t cursor_whole(const struct source *s, struct csv_reader *cutter, const struct cursor *c,
		    const struct buf *buf, bool *limit);
/* Return the number of bytes to read after the first `have` bytes. */
size_t source_more_bytes(const struct source *s, size_t have);

/*
 * Set the error for the row at `offset`, which is too long. `line` is the number of line ends
 * before the row. Return RC_LIMIT.
 */
int source_long_row(const struct source *s, size_t file, uint64_t line, uint64_t offset,
		    struct error *err);

#define NOT_IN_FILE SIZE_MAX
/*
 * Note the columns of file `i` (by_name.c). Before the source is open, new names become columns of
 * the source.
 */
void by_name_take(struct source *s, size_t i, const char *const *names, size_t n);
/*
 * Check that file `i` has all columns that the job's fields read. Returns RC_DATA if one is missing
 * and the job does not make it null.
 */
int by_name_check(const struct source *s, size_t i, struct error *err);

/* Read the lines to skip and the header (header.c). The first header names the columns. */
int cursor_start(struct source *s, struct cursor *c, size_t i, struct error *err);
/* Drop the first `n` bytes of `rest`. */
void cursor_advance(struct cursor *c, size_t n);

#endif
