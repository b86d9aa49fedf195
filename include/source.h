/*
 * source.h - read the events of files or of Kafka messages, with any number of threads
 *
 *   source_open, source_worker_new (for each thread), source_work* until RC_END,
 *   source_worker_free, source_files, source_close
 *
 * Inputs are files in the given order (also folders and patterns), and "-" for standard input.
 * Inputs are plain or compressed with gzip, zstd, bzip2 or xz, or are zip archives with one member.
 * Magic bytes show the format. The events, with their seq, line and offset, do not depend on the
 * number of threads and the piece size. Only the order between threads differs.
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
	 * If true, the first row starts at `row`, and `to` may be less than `from`. If false, the source
	 * assumes that the first row starts after the first line end at or after from - 1. This
	 * assumption is wrong if the line end is inside quotes. The ranges of struct source_part
	 * then have a gap or overlap, which the caller detects.
	 */
	bool exact;
	uint64_t row; /* if `exact` is true, the offset of the first row, at least `from` */
	/*
	 * if `parts` > 0, the slice is part number `part` (from 1) of `parts` equal parts, and
	 * `from` and `to` are unset
	 */
	unsigned part, parts;
};

/*
 * Describes standard input ("-") with the bytes of a file that this machine cannot open. The end of
 * a pipe does not prove that all bytes arrived. So the caller gives the number of bytes in advance,
 * and fewer or more bytes are an error.
 */
struct source_feed {
	const char *name; /* name of the file, for reports and messages */
	uint64_t offset;  /* offset in the file of the first byte of standard input */
	/* bytes in standard input; UINT64_MAX for a block format that marks its end */
	uint64_t bytes;
	uint64_t size; /* size of the whole file */
	/*
	 * The file's header, if `offset` > 0. NULL means that columns_file or the job has the
	 * names.
	 */
	const char *const *columns;
	size_t ncolumns;
};

/* The first seq of file `number` in a load on several machines. */
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

/* Files that other processes have read. This process may be unable to open these files. */
struct source_input {
	const char *path;
	uint64_t size;
};
struct source_inputs {
	struct source_input *inputs;
	size_t ninputs;
	struct source_digest *digests; /* digests of the files with slices */
	size_t ndigests;
	const char *const *columns; /* columns of their headers */
	size_t ncolumns;
};

/* Messages of Kafka, by partition. No other code may use the client during the read. */
struct source_topic {
	struct kafka *client;
	const struct offset_range *ranges;
	size_t nranges;
};

/*
 * The input of a command. The command fills this struct once, from its arguments. All readers take
 * a pointer to the struct, which must stay valid and unchanged until source_close. {0} means the
 * job's files. `topic` and `known` replace files, and all other members describe files.
 */
struct input {
	const char *const *files; /* files that replace the job's files if nfiles > 0 */
	size_t nfiles;
	const char
		/* the only file with a header; NULL if all files have a header */
		*columns_file;
	const struct source_slice *slice; /* slice of the only file; NULL means all rows */
	/* description of "-", the only file; NULL means a stream */
	const struct source_feed *feed;
	uint32_t number; /* number of the first file among all files of the load */
	/* files to report but not to open, followed by source_take_parts; or NULL */
	const struct source_inputs *known;
	const struct source_topic *topic; /* topic to read if the job's source is Kafka; or NULL */
};

struct source_options {
	const struct job *job;
	const struct input *input;
	size_t piece_bytes; /* decoded bytes that a worker takes at once; 0 means 1 MiB */
	/* the longest row or message that fits in memory; 0 means the job's limit */
	uint64_t row_bytes;
	/* part of the input to read, in small, evenly spread pieces; 0 means all */
	double fraction;
	bool libcsv_only;      /* use libcsv for all rows and borders; for tests */
	struct budget *budget; /* budget for pieces that a long row made large; or NULL */
};

/* The part of a file that a source read. Offsets are in the decoded file. */
struct source_part {
	uint64_t number;	   /* number of the file, as in struct input */
	uint64_t size;		   /* size of the file on disk */
	uint64_t head, head_lines; /* bytes and line ends before the first row */
	/* false if the input did not contain the header; `head` is then 0 */
	bool head_read;
	/* the requested range; 0 and the file's end for the whole file */
	uint64_t from, to;
	/* the source read [first, end); `lines` is the number of line ends in this range */
	uint64_t first, end, lines;
	uint64_t seqs;	    /* difference between the seqs of the next file and of this one */
	uint64_t line_base; /* line ends before `first`; line numbers count from there */
	uint64_t rows;
	const char *path; /* path of the file, as the reading process named it */
	/*
	 * true without a slice; `digest` is then the digest of the file on disk, even if compressed
	 */
	bool whole;
	bool last;	    /* no row is after `end` */
	uint8_t digest[16]; /* XXH3-128 of [first, end) */
	/*
	 * The file_digest (hash.h) of the chunks that begin in [from, to). False for the whole
	 * file, and if standard input ended before the last of these chunks ended.
	 */
	bool summed;
	uint8_t sum[16];
	/*
	 * XXH3-128 of bytes that the previous and the next slice also read. These bytes are between
	 * the first row of a slice and the first chunk that begins in the slice.
	 */
	uint8_t before[16], after[16];
};

struct source_file {
	const char *path;
	uint64_t size;	    /* bytes on disk; for a stream, the bytes so far */
	uint8_t digest[16]; /* XXH3-128 of these bytes, big-endian; set at the end of the input */
	/*
	 * rows read, including rejected rows; header, blank lines, comments and footer do not count
	 */
	uint64_t rows;
	bool compressed;
};

/* A rejected row. The callback borrows all data until it returns. */
struct rejected {
	const char *file; /* path, or topic/partition for Kafka */
	uint64_t line;	  /* line of the row's first byte in the decoded file, from 1 */
	/*
	 * not 0 for Avro or Arrow; `line` then counts events, and `offset` is the offset of the
	 * block
	 */
	uint64_t block;
	uint64_t offset; /* offset of the row's first byte in the decoded file */
	uint64_t seq;
	struct bytes raw; /* bytes of the row without its line end */
	/* message of the row for Kafka; NULL if the row is from a file */
	const struct message *message;
	struct reject why;
};

struct source_sink {
	void *ctx;
	/*
	 * Receives an event. Returns 0, or fills *why and returns RC_DATA to pass the row to
	 * `reject`. Any other value stops source_work, which returns that value and does not change
	 * its `err`. NULL means that the source only counts events.
	 */
	int (*event)(void *ctx, const struct event *event, struct reject *why);
	/*
	 * Receives a rejected row. A result other than 0 stops source_work. NULL means that the
	 * source only counts rejects.
	 */
	int (*reject)(void *ctx, const struct rejected *rejected, struct error *err);
	/*
	 * Receives up to EVENT_BATCH events at once, and sets *taken to true if it takes all of
	 * them. If *taken is false, the source passes each event to `event`. Any result except 0
	 * stops source_work, as for `event`. NULL means that `event` receives all events.
	 */
	int (*rows)(void *ctx, const struct event_rows *rows, bool *taken);
	/*
	 * The enum column_use of each column. It allows batches of events without delimited text.
	 * Such batches have only the used columns. NULL means that `event` receives all such
	 * events.
	 */
	const uint8_t *uses;
};

struct source_counts {
	uint64_t events;      /* rows read, including rejected ones */
	uint64_t rejects;     /* events that the source or the sink rejected */
	uint64_t blank_lines; /* skipped lines, including comments */
	/* filtered events: messages without a value, and rows that match skip_matching */
	uint64_t filtered;
	/* delimited text: line ends inside rejected rows, and inside rows of skip_matching */
	uint64_t rejected_lines, filtered_lines;
};

/*
 * Expand each name. A name is a file, "-", a folder, or, if no such file exists, a pattern of
 * glob(7). A folder gives its own files, without the files of its subfolders. The files of a name
 * are in strcmp order. Patterns and folders skip names that begin with . or _, because programs use
 * such names for unfinished files. Returns RC_IO if a name matches nothing, and RC_CONFIG if the
 * list has a file twice.
 */
int paths_expand(struct arena *a, const char *const *names, size_t n, const char ***paths,
		 size_t *npaths, struct error *err);

/*
 * Open all inputs and compare the headers of all files, so that errors appear before any work
 * begins. Except for the first input, streams ("-" and pipes) open only when the source reads them.
 * *out has a value only on success. Returns RC_IO if it cannot read an input. Returns RC_DATA if a
 * header is missing or differs. Returns RC_LIMIT if a header is longer than source.csv.max_row or
 * row_bytes. Returns RC_CONFIG if there is no input, or two inputs are standard input.
 */
int source_open(struct source **out, const struct source_options *options, struct error *err);
/* Close a source. The caller must free all its workers first. NULL is fine. */
void source_close(struct source *s);

/* Return the column names from the header or from the job, valid until source_close. */
const char *const *source_columns(const struct source *s, size_t *n);
/* A value in a schema, and the matching field type. */
struct schema_value {
	const char *path;
	enum field_type type; /* for FIELD_TIME without unit and format */
	unsigned scale;	      /* scale of a FIELD_DECIMAL */
	bool local;	      /* a time without a zone */
};
/*
 * Get the values in the schema of the first file, in the order of the schema. *left_out counts
 * lists and maps of Arrow, unsupported types and values that no path can name. Lists and maps of
 * Avro are JSON text. Returns the number of values, or 0 if the source has no schema or this process
 * did not open it.
 */
size_t source_schema_values(struct source *s, const struct schema_value **values, size_t *left_out);
/*
 * Append the step to member `name` to a JSON path, as .name or ["na me"]. Returns false and leaves
 * `path` unchanged if the name has both kinds of quotes, because no step can contain such a name.
 */
bool source_path_step(struct buf *path, struct bytes name);

/*
 * Return the files. No worker may run during the call. Digests and stream sizes are complete after
 * RC_END.
 */
const struct source_file *source_files(struct source *s, size_t *n);
/*
 * After RC_END, get the part of the first file that the source has read. `line_base` is 0 if the
 * part begins after the first row.
 */
void source_part(struct source *s, struct source_part *out);
/*
 * Use parts that other processes have read, so that no worker reads any input. The caller must sort
 * the parts by `number` and `first`. They must be adjacent and cover all files. The function reads
 * each file once for its digest, unless the digest is known. Returns RC_IO if the bytes differ from
 * those of the parts. Returns RC_DATA if a known digest is for other bytes. After this call, the
 * results of source_files and source_place are as if this process had read the files, with the seqs
 * of the parts. `progress` may be NULL.
 */
int source_take_parts(struct source *s, const struct source_part *parts, size_t n,
		      struct progress *progress, struct error *err);
/*
 * Compute a file's size and digest, and the digests of ranges of the file. The caller sets `first`
 * and `end` of the ranges, rising and without overlap. If `feed` is not NULL, standard input has
 * the bytes. If `feed` is NULL, the call reads d->path. `progress` may be NULL.
 */
int source_digest_file(struct source_digest *d, const struct source_feed *feed,
		       struct progress *progress, struct error *err);
/*
 * Return the ranges of a Kafka source. After RC_END, the ranges have their number of events. Other
 * sources have no ranges.
 */
const struct offset_range *source_ranges(struct source *s, size_t *n);
/*
 * Append the place of the event with that seq, such as "FILE:LINE (byte N)" or "TOPIC/PARTITION at
 * offset N". The function leaves out the line if it cannot read the input again. No worker may run
 * during the call.
 */
void source_place(struct source *s, uint64_t seq, struct buf *out);
/*
 * Return the share of the input's bytes so far. For a topic, return the share of its messages. Call
 * source_share at the end of the input. The source always reads the first piece.
 */
double source_share(struct source *s);
/*
 * Get the bytes read on disk so far, and the bytes of all inputs (0 means unknown). Any thread may
 * call this function at any time.
 */
void source_progress(const struct source *s, uint64_t *bytes_done, uint64_t *bytes_total);

struct source_worker *source_worker_new(struct source *s);
void source_worker_free(struct source_worker *w);
void source_worker_counts(const struct source_worker *w, struct source_counts *counts);

/*
 * Return the number of the last taken piece, from 0 and without gaps over all workers. A piece has
 * the same rows whatever the threads. For a Kafka topic, the numbers may have gaps and the pieces
 * may differ.
 */
uint64_t source_worker_piece(const struct source_worker *w);

/*
 * Take the next piece and pass its rows to sink in input order. Returns RC_END if the input has
 * ended.
 *
 * Rejects of the source have the reasons "bad_quote", "open_quote" and "field_count". Messages also
 * have "bad_json", "several_rows", "tombstone" and "too_long". If a quote has no end within
 * source.csv.max_row, the source rejects only the first line of the row. Reading continues with the
 * next line.
 *
 * Returns RC_LIMIT, with file, line and offset, if a line exceeds source.csv.max_row or a row
 * exceeds row_bytes. Returns RC_IO if it cannot read the input, or if the input changes during the
 * read. Returns RC_DATA if compressed data is damaged or truncated. After an error, all workers
 * return the same error.
 */
int source_work(struct source_worker *w, const struct source_sink *sink, struct error *err);

/* Read all input with one worker, in input order. Also returns RC_OK if the sink returns RC_END. */
int source_read_through(struct source *s, const struct source_sink *sink, struct error *err);
/* Open a source, read all its input as source_read_through does, and close it. */
int source_read_once(const struct source_options *options, const struct source_sink *sink,
		     struct error *err);

#endif
