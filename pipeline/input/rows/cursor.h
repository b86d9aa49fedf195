/*
 * cursor.h - a source, and the input it is reading; shared by cursor.c and source.c
 */
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

/* Reading one input. */
struct cursor {
	struct input_stream in;
	struct transcoder text; /* of an encoding that is not UTF-8 */
	struct buf rest;	/* read, decoded and not yet handed out; starts at a row's start */
	uint64_t offset;	/* of rest in the decoded file */
	uint64_t line;		/* line ends before rest; of blocks: events */
	uint64_t blocks, ranks; /* before rest, where the format has blocks (blocks.h) */
	bool open, eof;
	bool dry; /* nothing came when more was asked for, and yet the file goes on */
};

struct event_block_format;
struct decoding;
struct messages;

struct source {
	struct messages *messages; /* NULL: files, as all below */
	struct source_file *files;
	struct input_stamp *stamps; /* of each file */
	_Atomic uint64_t *rows;	    /* of each file */
	size_t nfiles;
	const char **columns;
	size_t ncolumns;
	char *header; /* the first file's, as it stands */
	bool libcsv_only;
	const struct csv_source *csv;		 /* the job's */
	struct decoding *json;			 /* the fields' paths; NULL: delimited text */
	const struct event_block_format *blocks; /* NULL: text */
	void *own;				 /* the block format's */
	size_t piece_bytes;
	double fraction;    /* of the pieces that are handed out; 1: all */
	size_t alone_bytes; /* pieces from here on are worked on one at a time */
	struct budget *budget;
	uint64_t max_row_bytes;
	bool row_by_memory; /* max_row_bytes is what the memory holds, less than the job allows */
	uint64_t bytes_total;
	_Atomic uint64_t bytes_done;
	struct arena arena;
	bool headless; /* the header was read from a file of its own */
	const struct input *input;

	pthread_mutex_t lock; /* all below */
	struct slice slice;
	struct csv_reader cutter;
	uint64_t cut;			 /* pieces so far */
	uint64_t cut_bytes, taken_bytes; /* decoded, of pieces cut and handed out */
	uint64_t taken;			 /* of them handed out */
	size_t current;			 /* file */
	struct cursor cursor;
	struct places places;
	uint64_t seq_base;     /* decoded bytes of the files before the current one */
	uint64_t bytes_before; /* bytes on disk of them */
	struct error failure;  /* code 0: none yet */
};

/* Open file i and go behind its byte order mark and header; the first header names the columns. */
int cursor_open(struct source *s, struct cursor *c, size_t i, struct error *err);
void cursor_close(struct cursor *c);
/* Read up to `want` bytes behind what buf holds; sets eof. */
int cursor_more(struct cursor *c, struct buf *buf, size_t want, struct error *err);
/*
 * Length of the leading part of buf that holds whole rows only, 0 if a row's end is still to be
 * read; at the input's end, 0 if only the footer is left.  Of a row whose quote never closes it is
 * the first line, alone.  *limit: the line that starts at buf is already too long.
 */
size_t cursor_whole(const struct source *s, struct csv_reader *cutter, const struct cursor *c,
		    const struct buf *buf, bool *limit);
/* How much to read behind `have` bytes. */
size_t source_more_bytes(const struct source *s, size_t have);

/* RC_LIMIT and the sentence on the row that starts at offset, behind `line` line ends. */
int source_long_row(const struct source *s, size_t file, uint64_t line, uint64_t offset,
		    struct error *err);

/* header.c: go behind the lines to skip and the header; the first header names the columns. */
int cursor_start(struct source *s, struct cursor *c, size_t i, struct error *err);
/* Drop n bytes at the start of rest. */
void cursor_advance(struct cursor *c, size_t n);

#endif
