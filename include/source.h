/*
 * source.h - read the events of files or of Kafka messages, with any number of threads
 *
 *   source_open, source_worker_new (one a thread), source_work* until RC_END, source_worker_free,
 *   source_files, source_close
 *
 * Inputs are files in the given order (also folders and patterns), and "-" for standard input. They
 * are plain or compressed: gzip, zstd, bzip2, xz, or zip with one member, detected by their magic
 * bytes. Whatever the number of threads and the piece size, the events are the same, each with the
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
	 * true: a row starts at `from`; `to` may be less than `from`. false: the first row is
	 * assumed to start after the first line end at or after from - 1. That is wrong if the line
	 * end is inside quotes. Then the ranges of struct source_part do not meet, and the caller
	 * notices.
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
	const char *name; /* name of the file, for reports and messages */
	uint64_t offset;  /* the first byte of the file in standard input */
	uint64_t bytes;	  /* in standard input; UINT64_MAX: a block format that marks its end */
	uint64_t size;	  /* size of the whole file */
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
	uint64_t number; /* number of the file, as in struct input */
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
	struct source_digest *digests; /* digests of the files that were read in slices */
	size_t ndigests;
	const char *const *columns; /* from their headers */
	size_t ncolumns;
};

/* Messages of Kafka, by partition. No other code uses the client while they are read. */
struct source_topic {
	struct kafka *client;
	const struct offset_range *ranges;
	size_t nranges;
};

/*
 * The input of a command. The command describes it once, from its arguments. All readers take a
 * pointer to that description, which stays valid and unchanged until source_close. {0} is the job's
 * own files. `topic` and `known` replace files; all other members describe files.
 */
struct input {
	const char *const *files; /* replace the job's files, if nfiles > 0 */
	size_t nfiles;
	const char
		/* file with the header, which the files then lack; NULL: they have it */
		*columns_file;
	const struct source_slice *slice; /* of the only file; NULL: all rows */
	const struct source_feed *feed;	  /* content of "-", the only file; NULL: a stream */
	uint32_t number;		  /* of the first file among all files of the load */
	/* files to report but not to open; then call source_take_parts; or NULL */
	const struct source_inputs *known;
	const struct source_topic *topic; /* for a job whose source is Kafka; or NULL */
};

struct source_options {
	const struct job *job;
	const struct input *input;
	size_t piece_bytes; /* decoded bytes a worker takes at once; 0: 1 MiB */
	uint64_t row_bytes; /* the longest row that fits in memory; 0: the job's max_row */
	/* part of the input to read, in small, evenly spread pieces; 0: all */
	double fraction;
	bool libcsv_only;      /* use libcsv for every row and for borders; for tests */
	struct budget *budget; /* is charged for pieces that a long row made large; or NULL */
};

/* The part of a file that was read, in bytes of the decoded file. */
struct source_part {
	uint64_t number;	    /* number of the file, as in struct input */
	uint64_t size;		    /* of the file on disk */
	uint64_t head, head_lines;  /* bytes and line ends before the first row */
	bool head_read;		    /* false: the header was not in the input, head is 0 */
	uint64_t from, to;	    /* the requested range; all: 0 and the file's end */
	uint64_t first, end, lines; /* [first, end) was read; lines: its line ends */
	uint64_t seqs;	    /* how far the seqs of the next file are from those of this one */
	uint64_t line_base; /* line ends before `first`; line numbers count from there */
	uint64_t rows;
	const char *path;   /* path of the file, as its reader named it */
	bool whole;	    /* no slice: the digest is of the file on disk, compressed or not */
	bool last;	    /* no row is after `end` */
	uint8_t digest[16]; /* XXH3-128 of [first, end) */
};

struct source_file {
	const char *path;
	uint64_t size;	    /* bytes on disk; for a stream: bytes read */
	uint8_t digest[16]; /* XXH3-128 of those bytes, big-endian; set at the end of the input */
	/* rows read, including rejected ones; without header, blank lines, comments and footer */
	uint64_t rows;
	bool compressed;
};

/* A rejected row. Borrowed until the callback returns. */
struct rejected {
	const char *file; /* Kafka: topic/partition */
	uint64_t line;	  /* of the row's first byte, from 1, in the decoded file */
	uint64_t block;	  /* not 0: Avro or Arrow; line counts events, offset is the block's */
	uint64_t offset;  /* of the row's first byte in the decoded file */
	uint64_t seq;
	struct bytes raw;	       /* without its line end */
	const struct message *message; /* Kafka; NULL: the row is from a file */
	struct reject why;
};

struct source_sink {
	void *ctx;
	/*
	 * Returns 0, or RC_DATA with *why filled: the row is then passed to reject. Any other value
	 * stops source_work, which returns it and does not change err. NULL: only count.
	 */
	int (*event)(void *ctx, const struct event *event, struct reject *why);
	/* A result other than 0 stops source_work.  NULL: only count. */
	int (*reject)(void *ctx, const struct rejected *rejected, struct error *err);
	/*
	 * Receives up to EVENT_BATCH events at once. *taken true: all were taken; otherwise none,
	 * and each is passed to event. Any result except 0 stops source_work, as for event. NULL:
	 * event receives all.
	 */
	int (*rows)(void *ctx, const struct event_rows *rows, bool *taken);
	/*
	 * By column, enum column_use: allows batches of events that are not delimited text; they
	 * have only the used columns. NULL: event receives all of those.
	 */
	const uint8_t *uses;
};

struct source_counts {
	uint64_t events;      /* rows read, including rejected ones */
	uint64_t rejects;     /* of them, rejected by the source or by the sink */
	uint64_t blank_lines; /* skipped, including comments */
	uint64_t filtered;    /* of the events: messages without a value, rows of skip_matching */
};

/*
 * Open all inputs and compare the headers of all files, so that errors appear before any work
 * begins. (Streams, "-" and pipes, are opened when their turn comes; the first input is read at
 * once.) *out is set only on success. RC_IO: an input cannot be read. RC_DATA: a header is missing
 * or differs. RC_LIMIT: a header is longer than source.csv.max_row or row_bytes. RC_CONFIG: there
 * is no input, or standard input is named twice.
 */
int source_open(struct source **out, const struct source_options *options, struct error *err);
/* Close it after all workers are freed. NULL is allowed. */
void source_close(struct source *s);

/* Return the column names from the header or from the job, valid until source_close. */
const char *const *source_columns(const struct source *s, size_t *n);
/* A value in a schema, and the field type that suits it. */
struct schema_value {
	const char *path;
	enum field_type type; /* FIELD_TIME: without unit and format */
	unsigned scale;	      /* FIELD_DECIMAL */
	bool local;	      /* a time without a zone */
};
/*
 * Get the values in the schema of the first file, in its order. Lists, maps, unsupported types and
 * values that no path can name are counted in *left_out. 0: the source has no schema, or was not
 * opened here.
 */
size_t source_schema_values(struct source *s, const struct schema_value **values, size_t *left_out);
/*
 * Append the step to a member `name` to a JSON path: .name, ["na me"]. False: impossible, because
 * the name has both kinds of quotes; the path is unchanged.
 */
bool source_path_step(struct buf *path, struct bytes name);

/* Return the files, when no worker runs. Digests and stream sizes are complete after RC_END. */
const struct source_file *source_files(struct source *s, size_t *n);
/*
 * Get the part that was read of the first file, after RC_END. line_base is 0 unless the part begins
 * at the first row.
 */
void source_part(struct source *s, struct source_part *out);
/*
 * Use parts that other processes have read; then no worker reads anything. They are sorted by
 * number and first, they meet, and they cover all files. Each file is read once for its digest,
 * unless its digest is known. RC_IO: the bytes differ from those of the parts. RC_DATA: a known
 * digest is for other bytes. Afterwards source_files and source_place answer as if all had been
 * read here, with the parts' seqs. progress may be NULL.
 */
int source_take_parts(struct source *s, const struct source_part *parts, size_t n,
		      struct progress *progress, struct error *err);
/*
 * Compute a file's digest, and those of parts of it: their first and end are given, rising and
 * separate. Sets size. feed: the bytes come from standard input; NULL: from path. progress may be
 * NULL.
 */
int source_digest_file(struct source_digest *d, const struct source_feed *feed,
		       struct progress *progress, struct error *err);
/* Kafka: return the ranges, with their events counted after RC_END. Otherwise none. */
const struct offset_range *source_ranges(struct source *s, size_t *n);
/*
 * Append the place of the event with that seq: "FILE:LINE (byte N)" or "TOPIC/PARTITION at offset
 * N". The line is left out if the input cannot be read again. Call it when no worker runs.
 */
void source_place(struct source *s, uint64_t seq, struct buf *out);
/*
 * Return, at the end of the input, the share of its bytes (for a topic: its messages) that was
 * read. The first piece is always read.
 */
double source_share(struct source *s);
/*
 * Get the bytes on disk that were read so far, and those of all inputs (0: unknown). Any thread,
 * any time.
 */
void source_progress(const struct source *s, uint64_t *bytes_done, uint64_t *bytes_total);

struct source_worker *source_worker_new(struct source *s);
void source_worker_free(struct source_worker *w);
void source_worker_counts(const struct source_worker *w, struct source_counts *counts);

/*
 * Return the number of the last taken piece, from 0 and without gaps over all workers. A piece has
 * the same rows whatever the threads. Neither is true for a Kafka topic.
 */
uint64_t source_worker_piece(const struct source_worker *w);

/*
 * Take the next piece and pass its rows to sink in input order. RC_END: the input has ended.
 *
 * Rejects of the source have the reasons "bad_quote", "open_quote" and "field_count"; for messages
 * also "bad_json", "several_rows", "tombstone" and "too_long". If a row begins with an open quote
 * and has no end, or none within source.csv.max_row, only its first line is rejected; reading
 * continues after it.
 *
 * Errors: RC_LIMIT, with file, line and offset: a line exceeds source.csv.max_row, or a row
 * row_bytes. RC_IO: the input is unreadable, or it changed while it was read. RC_DATA: compressed
 * data is damaged or truncated. After an error all workers return it.
 */
int source_work(struct source_worker *w, const struct source_sink *sink, struct error *err);

/* Read everything with one worker, in input order; RC_OK also if the sink ended it by RC_END. */
int source_read_through(struct source *s, const struct source_sink *sink, struct error *err);

#endif
