/* cursor.h - a source and the input that it is reading; shared by the files of this folder */
#ifndef SALTMILL_SOURCE_CURSOR_H
#define SALTMILL_SOURCE_CURSOR_H

#include <pthread.h>
#include <stdatomic.h>

#include "input/csv.h"
#include "input/input.h"
#include "input/messages.h"
#include "place.h"
#include "slice.h"
#include "input/transcode.h"
#include "mem.h"
#include "source.h"

/* The state of reading one input. */
struct cursor {
	struct input_stream in;
	struct transcoder text; /* for an encoding other than UTF-8 */
	struct buf rest;	/* decoded bytes not yet passed on; starts at the start of a row */
	uint64_t offset;	/* of rest in the decoded file */
	uint64_t line;		/* line ends before rest; in block formats: events */
	uint64_t blocks, ranks; /* before rest, in block formats (blocks.h) */
	bool open, eof;
	bool dry; /* the last read returned nothing although the file continues */
};

struct event_block_format;
struct decoding;
struct messages;

struct source {
	/* NULL: the source reads files, and the members below are used */
	struct messages *messages;
	struct source_file *files;
	struct input_stamp *stamps; /* by file */
	_Atomic uint64_t *rows;	    /* by file */
	size_t nfiles;
	const char **columns;
	size_t ncolumns;
	char *header; /* the first file's header, unchanged */
	bool libcsv_only;
	const struct csv_source *csv;		 /* of the job */
	struct decoding *json;			 /* the fields' paths; NULL: delimited text */
	const struct event_block_format *blocks; /* NULL: text */
	void *own;				 /* data of the block format */
	size_t piece_bytes;
	double fraction;    /* share of the pieces to read; 1: all */
	size_t alone_bytes; /* longer pieces are worked on one at a time */
	struct budget *budget;
	uint64_t max_row_bytes;
	bool row_by_memory; /* --memory, not the job, determines max_row_bytes */
	uint64_t bytes_total;
	_Atomic uint64_t bytes_done;
	struct arena arena;
	bool headless; /* the header comes from a separate file */
	const struct input *input;

	pthread_mutex_t lock; /* protects all members below */
	struct slice slice;
	struct csv_reader cutter;
	uint64_t cut; /* pieces so far */
	/* decoded bytes, of all pieces cut and of those passed to workers */
	uint64_t cut_bytes, taken_bytes;
	uint64_t taken; /* pieces passed to workers */
	size_t current; /* index of the file */
	struct cursor cursor;
	struct places places;
	uint64_t seq_base;     /* decoded bytes of the files before the current one */
	uint64_t bytes_before; /* bytes on disk of the files before the current one */
	struct error failure;  /* code 0: none yet */
};

/* Open file i and read its byte order mark and header. The first header names the columns. */
int cursor_open(struct source *s, struct cursor *c, size_t i, struct error *err);
void cursor_close(struct cursor *c);
/* Append up to `want` bytes to buf; sets eof. */
int cursor_more(struct cursor *c, struct buf *buf, size_t want, struct error *err);
/*
 * Return the length of the whole rows at the start of buf. 0: no row is complete, or only the
 * footer is left at the end of the input. A row whose quote is never closed counts as its first
 * line only. *limit: the row that starts at buf is too long.
 */
size_t cursor_whole(const struct source *s, struct csv_reader *cutter, const struct cursor *c,
		    const struct buf *buf, bool *limit);
/* Return how many bytes to read after `have` bytes. */
size_t source_more_bytes(const struct source *s, size_t have);

/* Set the error for a too long row at offset, after `line` line ends. Returns RC_LIMIT. */
int source_long_row(const struct source *s, size_t file, uint64_t line, uint64_t offset,
		    struct error *err);

/* header.c: read the lines to skip and the header. The first header names the columns. */
int cursor_start(struct source *s, struct cursor *c, size_t i, struct error *err);
/* Drop the first n bytes of rest. */
void cursor_advance(struct cursor *c, size_t n);

#endif
