/*
 * source.h - the events of files or of Kafka messages, for any number of threads
 *
 *   source_open, source_worker_new (one a thread), source_work* until RC_END, source_worker_free,
 *   source_files, source_close
 *
 * Inputs are files in the order given (paths.h: folders and patterns too), plain or compressed
 * (gzip, zstd, bzip2, xz and zip of one member, told by their magic bytes), and "-", standard
 * input.  Whatever the number of threads and the piece size, the events are the same, each with the
 * same seq, line and offset; only the order between threads differs.
 */
#ifndef SALTMILL_SOURCE_H
#define SALTMILL_SOURCE_H

#include "bytes.h"
#include "error.h"
#include "event.h"
#include "job.h"
#include "run.h"

struct source;
struct source_worker;
struct kafka; /* kafka.h */

/*
 * The rows of one plain file whose first byte is in [from, to).  If the slices of a file are
 * adjacent, each row is in exactly one of them.
 */
struct source_slice {
	uint64_t from, to;
	/*
	 * true: a row starts at `from`; `to` may be less than `from`.
	 * false: the first row is assumed to start after the first line end at or after from - 1.
	 * That is wrong if the line end is inside quotes.  Then the ranges of struct source_part
	 * do not meet, and the caller notices.
	 */
	bool exact;
	unsigned part, parts; /* parts > 0: part K (from 1) of N equal parts; from, to unset */
};

/*
 * Describes standard input, "-", when it carries the bytes of a file that this machine cannot
 * open.  The end of a pipe does not prove that all bytes arrived, so the number of bytes is given
 * beforehand: fewer or more bytes are an error.
 */
struct source_feed {
	const char *name; /* of the file, for reports and messages */
	uint64_t offset;  /* the first byte of the file in standard input */
	uint64_t bytes;	  /* in standard input; UINT64_MAX: a block format that marks its end */
	uint64_t size;	  /* of the whole file */
	/* The file's header, if offset > 0; NULL: columns_file or the job has the names. */
	const char *const *columns;
	size_t ncolumns;
};

/* In a load on several machines, the rows of file `number` have seqs from this one on. */
#define SOURCE_FILE_SEQ(number) ((uint64_t)(number) << 44)
#define SOURCE_FILES_MOST	(1u << 20)

/* XXH3-128 of a file's bytes on disk, and of some ranges of them. */
struct source_range {
	uint64_t first, end;
	uint8_t digest[16];
};
struct source_digest {
	uint64_t number; /* of the file, as in struct input */
	const char *path;
	uint64_t size;
	uint8_t digest[16];
	struct source_range *parts;
	size_t nparts;
};

/* Files that other processes have read.  This process need not be able to open them. */
struct source_input {
	const char *path;
	uint64_t size;
};
struct source_inputs {
	struct source_input *inputs;
	size_t ninputs;
	struct source_digest *digests; /* of the files that were read in slices */
	size_t ndigests;
	const char *const *columns; /* from their headers */
	size_t ncolumns;
};

/* Messages of Kafka, by partition.  Nobody else uses the client while they are read. */
struct source_topic {
	struct kafka *client;
	const struct offset_range *ranges;
	size_t nranges;
};

/*
 * What a command reads.  The command describes it once, from its arguments; all that read take a
 * pointer to that description, which stays valid and unchanged until source_close.
 *
 * {0} is the job's own files.  `topic` and `known` replace files; all other members describe files.
 */
struct input {
	const char *const *files; /* replace the job's files, if nfiles > 0 */
	size_t nfiles;
	const char
		*columns_file; /* has the header, which the files then lack; NULL: they have it */
	const struct source_slice *slice;  /* of the only file; NULL: all rows */
	const struct source_feed *feed;	   /* what "-", the only file, carries; NULL: a stream */
	uint32_t number;		   /* of the first file among all files of the load */
	const struct source_inputs *known; /* opens nothing; source_take_parts follows; or NULL */
	const struct source_topic *topic;  /* of a job whose source is Kafka; or NULL */
};

struct source_options {
	const struct job *job;
	const struct input *input;
	size_t piece_bytes;    /* decoded bytes a worker takes at once; 0: 1 MiB */
	uint64_t row_bytes;    /* the longest row that fits in memory; 0: the job's max_row */
	double fraction;       /* of the input, in small, evenly spread pieces; 0: all */
	bool libcsv_only;      /* use libcsv for every row and for borders; for tests */
	struct budget *budget; /* is charged for pieces that a long row made large; or NULL */
};

/* What was read of a file, in bytes of the decoded file. */
struct source_part {
	uint64_t number;	    /* of the file, as in struct input */
	uint64_t size;		    /* of the file on disk */
	uint64_t head, head_lines;  /* what is in front of the first row, and its line ends */
	bool head_read;		    /* no: it was not fed, head is 0 */
	uint64_t from, to;	    /* asked for; all: 0 and the file's end */
	uint64_t first, end, lines; /* [first, end) was read; line ends in it */
	uint64_t seqs; /* how far the seqs of a file behind this one are from those of this one */
	uint64_t line_base; /* line ends in front of `first` that lines are counted from */
	uint64_t rows;
	const char *path;   /* of the file, as who read it named it */
	bool whole;	    /* no slice: the digest is the file's, packed or not */
	bool last;	    /* no row is behind `end` */
	uint8_t digest[16]; /* XXH3-128 of [first, end) */
};

struct source_file {
	const char *path;
	uint64_t size;	    /* bytes on disk; of a stream: bytes read */
	uint8_t digest[16]; /* XXH3-128 of those bytes, big-endian; set when the input is at its end
			     */
	uint64_t rows;	    /* rows read, rejected ones included; neither header nor blank lines
			     * nor comments nor footer */
	bool compressed;
};

/* A row that was not taken.  Borrowed until the callback returns. */
struct rejected {
	const char *file; /* Kafka: topic/partition */
	uint64_t line;	  /* of the row's first byte, from 1, in the decoded file */
	uint64_t block;	  /* not 0: of Avro or Arrow; line counts events, offset is the block's */
	uint64_t offset;  /* of the row's first byte in the decoded file */
	uint64_t seq;
	struct bytes raw;	       /* without its line end */
	const struct message *message; /* Kafka; NULL: from a file */
	struct reject why;
};

struct source_sink {
	void *ctx;
	/*
	 * Returns 0, or RC_DATA with *why filled: the row is then handed to reject.  Any other
	 * value stops source_work, which returns it and leaves its err alone.  NULL: only count.
	 */
	int (*event)(void *ctx, const struct event *event, struct reject *why);
	/* A result other than 0 stops source_work.  NULL: only count. */
	int (*reject)(void *ctx, const struct rejected *rejected, struct error *err);
	/*
	 * Up to EVENT_BATCH events at once.  *taken: all; otherwise none, and each is handed to
	 * event. Any result but 0 stops source_work, as of event.  NULL: event has them all.
	 */
	int (*rows)(void *ctx, const struct event_rows *rows, bool *taken);
	/* By column, enum column_use: rows are made of events that are no delimited text, of what
	 * is looked at.  NULL: event has them all. */
	const uint8_t *uses;
};

struct source_counts {
	uint64_t events;      /* rows read, rejected ones included */
	uint64_t rejects;     /* of them: by the source or by the sink */
	uint64_t blank_lines; /* skipped, comments among them */
	uint64_t filtered;    /* of the events: messages without a value, rows of skip_matching */
};

/*
 * Check all inputs, and read and compare the headers of all files, so that nothing is begun that
 * must fail.  (Streams, "-" and pipes, are looked at when their turn comes; the first input is
 * read at once.)  *out is set only on success.  Errors: RC_IO for what cannot be read, RC_DATA
 * for a missing or different header, RC_LIMIT for a header longer than source.csv.max_row or
 * row_bytes, RC_CONFIG for no input at all or standard input named twice.
 */
int source_open(struct source **out, const struct source_options *options, struct error *err);
/* After all workers are freed.  NULL is allowed. */
void source_close(struct source *s);

/* Names from the header or from the job, valid until source_close. */
const char *const *source_columns(const struct source *s, size_t *n);
/* A value that a schema has, and what a field of it can be. */
struct schema_value {
	const char *path;
	enum field_type type; /* FIELD_TIME: without unit and format */
	unsigned scale;	      /* FIELD_DECIMAL */
	bool local;	      /* a time without a zone */
};
/*
 * The values that the schema of the first file has, in its order; lists, maps, what is not read
 * and what no path can name are *left_out.  0: the source has no schema, or was not opened here.
 */
size_t source_schema_values(struct source *s, const struct schema_value **values, size_t *left_out);
/*
 * Append the step to a member of that name to a path of JSON: .name, ["na me"].  false: none can
 * be, as the name has both kinds of quote; the path is as it was.
 */
bool source_path_step(struct buf *path, struct bytes name);

/* Call it when no worker runs; digests and stream sizes are complete once RC_END was seen. */
const struct source_file *source_files(struct source *s, size_t *n);
/* What was read of the first file, once RC_END was seen; line_base is 0 but for its first rows. */
void source_part(struct source *s, struct source_part *out);
/*
 * Nothing is read by workers: all was, elsewhere, in these parts, which are sorted by number and
 * first, meet, and cover all files.  Each file's bytes are read once, for its digest, unless it is
 * known: RC_IO if they are not those that the parts had; RC_DATA when what is known is of others.
 * source_files and source_place then answer as if all had been read here, seqs being those of the
 * parts.  progress NULL: nobody looks.
 */
int source_take_parts(struct source *s, const struct source_part *parts, size_t n,
		      struct progress *progress, struct error *err);
/*
 * A file's digest, and those of parts of it, whose first and end are given, rising and apart; size
 * is found.  feed: its bytes come by standard input; NULL: it is at path.  progress NULL: nobody
 * looks.
 */
int source_digest_file(struct source_digest *d, const struct source_feed *feed,
		       struct progress *progress, struct error *err);
/* Kafka: the ranges, with their events counted once RC_END was seen.  Otherwise none. */
const struct offset_range *source_ranges(struct source *s, size_t *n);
/*
 * Append where the event of that seq stands: "FILE:LINE (byte N)" or "TOPIC/PARTITION at offset N";
 * of what cannot be read again the line is left out.  Call it when no worker runs.
 */
void source_place(struct source *s, uint64_t seq, struct buf *out);
/*
 * Once the input is at its end: the share of its bytes (of a topic: its messages) that was handed
 * out; the first piece always is.
 */
double source_share(struct source *s);
/* Bytes on disk read so far, and of all inputs (0: unknown).  Any thread, any time. */
void source_progress(const struct source *s, uint64_t *bytes_done, uint64_t *bytes_total);

struct source_worker *source_worker_new(struct source *s);
void source_worker_free(struct source_worker *w);
void source_worker_counts(const struct source_worker *w, struct source_counts *counts);

/*
 * The number of the piece last taken, from 0 and without gaps over all workers; the same rows are
 * in it whatever the threads.  Of a Kafka topic neither holds.
 */
uint64_t source_worker_piece(const struct source_worker *w);

/*
 * Take the next piece and hand its rows to sink in input order.  RC_END: the input is at its end.
 * Reasons of its own rejects: "bad_quote", "open_quote" and "field_count"; of messages also
 * "bad_json", "several_rows", "tombstone" and "too_long".  Of a row that begins with an open quote
 * and has no end, or none within source.csv.max_row, the first line is the reject and what stands
 * below is read on.  Fatal: a line over source.csv.max_row, a row over row_bytes (RC_LIMIT), both
 * with file, line and offset.  RC_IO: unreadable, or it changed while it was read.  RC_DATA:
 * damaged or truncated compressed data.  After a failure all workers fail so.
 */
int source_work(struct source_worker *w, const struct source_sink *sink, struct error *err);

/* All of it by one worker, in input order; RC_OK also where the sink ended it by RC_END. */
int source_read_through(struct source *s, const struct source_sink *sink, struct error *err);

#endif
