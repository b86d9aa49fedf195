/*
 * publish.h - results become visible, all or nothing
 *
 *   staging_open -> write below staging_path -> staging_publish (or staging_abort)
 */
#ifndef SALTMILL_PUBLISH_H
#define SALTMILL_PUBLISH_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bytes.h"
#include "error.h"
#include "event.h"
#include "form.h"
#include "mem.h"
#include "storage.h"
#include "run.h"

/* The temporary sibling DIR.saltmill-partial, which becomes DIR by one rename. */
#define STAGING_SUFFIX ".saltmill-partial"
struct staging;
/*
 * Create the sibling and lock it (flock on its file `lock`).  dir must not exist (RC_CONFIG).  A
 * sibling left by a run that died is removed, and *removed says so; one whose owner lives is
 * RC_CONFIG.  A parent that is missing or not writable is RC_CONFIG.
 */
int staging_open(struct staging **out, const char *dir, bool *removed, struct error *err);
/*
 * Something in a sibling may be all that there is of it: before one is emptied or removed, a left
 * one or our own, save brings that away from the folder.  When it fails nothing is removed.
 */
struct staging_rescue {
	int (*save)(void *ctx, struct storage *s, const char *folder, struct error *err);
	void *ctx; /* lives as long as the staging */
};
/*
 * The same where dir may also be a place elsewhere (storage.h); place: how to get there.  rescue
 * NULL: all in a sibling can be made again.
 */
int staging_open_at(struct staging **out, const char *dir, const struct storage_options *place,
		    const struct staging_rescue *rescue, bool *removed, struct error *err);
/* Of the sibling, in the storage that it is in. */
const char *staging_path(const struct staging *s);
struct storage *staging_storage(const struct staging *s);
bool staging_is_remote(const struct staging *s);
/* A power loss does not undo that the sibling is there; what is in it may go. */
int staging_keep(struct staging *s, struct error *err);
/*
 * Make everything durable (files were synced by their writers; folders bottom up), rename to DIR
 * without replacing, sync the parent.  Frees s on success; on failure staging_abort is still due.
 */
int staging_publish(struct staging *s, struct error *err);
/* After a failure: DIR was there, even if it was taken back; a power loss may show it again. */
bool staging_was_visible(const struct staging *s);
/* Remove the sibling and free s.  NULL is fine. */
void staging_abort(struct staging *s);

/* root/table, or root/ns/table for "ns:table", as in HBase's own data folder; owned by the caller.
 */
char *table_dir(const char *root, const char *name);
/* Make such a folder, that of its namespace too; RC_CONFIG: where a file of the load's own goes. */
int table_make_dir(const char *dir, const char *name, struct error *err);
/* The same in a place elsewhere. */
int table_make_dir_at(struct storage *s, const char *dir, const char *name, struct error *err);

/* Rejected events, collected by several workers, written in input order. */
struct rejects;
struct reject_line {
	const char *file;
	uint64_t line, offset; /* 1-based line; byte offset in the decompressed file */
	uint64_t block;	       /* not 0: line is an event's number, offset that of its block */
	uint64_t seq;
	struct bytes raw;
	const struct message *message; /* Kafka: says where instead of file and line; else NULL */
	const struct reject *why;
};
/* A line of rejects.jsonl. */
extern const struct form reject_form;
struct reject_reason {
	const char *reason;
	uint64_t count;
};
/*
 * A few MB of lines are kept in memory, the others in unlinked temporary files in temp_dir, as many
 * as quota allows (NULL: any).
 */
int rejects_new(struct rejects **out, const char *temp_dir, struct budget *quota, unsigned workers,
		struct error *err);
void rejects_free(struct rejects *r);
/* One thread a worker number. */
int rejects_add(struct rejects *r, unsigned worker, const struct reject_line *l, struct error *err);
/*
 * A line of such a file of another run, whose lines were counted from another place: add_lines
 * more, and the file is called `file` here.  They come in input order.  RC_DATA: no such line.
 */
int rejects_restore(struct rejects *r, struct bytes text, const char *file, uint64_t add_lines,
		    struct error *err);
uint64_t rejects_count(const struct rejects *r); /* any thread */
/*
 * After all workers ended: the n-th (0-based) in input order as "file:line (byte N): reason: field:
 * detail", behind what is in *sentence.  RC_END when there are not that many.
 */
int rejects_nth(struct rejects *r, uint64_t n, struct buf *sentence, struct error *err);
/* Counts by reason, most frequent first, ties by name; valid until rejects_free. */
const struct reject_reason *rejects_by_reason(struct rejects *r, size_t *n);
/* Write rejects.jsonl: one JSON object a line, in input order.  Empty file when none.  digest:
 * XXH3-128 of it. */
int rejects_write(struct rejects *r, struct storage *to, const char *path, uint8_t digest[16],
		  struct error *err);

/* manifest.json: what a load is made of.  Plain data, no clock, no thread count. */
struct manifest_file {
	const char *path; /* relative to DIR: "ratings/hfiles/f/<hex>" */
	const char *family;
	size_t region; /* 0-based */
	uint64_t rows, cells, bytes, cell_bytes;
	struct bytes first_row, last_row;
	int64_t min_ts, max_ts;
	uint8_t digest[16]; /* XXH3-128 of the file */
};
struct manifest_region {
	struct bytes start, end; /* row keys, empty at the ends */
	uint64_t rows, cells, bytes, cell_bytes;
	uint64_t predicted_bytes; /* of its files: cell_bytes times a ratio that a sample gave
				     before */
};
/* Compression settings found by `level: auto`, and what they made of the sample. */
struct manifest_tuning {
	const char *family, *aim;
	size_t level, hash_log; /* hash_log 0: of the level */
	size_t min_match;	/* of ready-made sequences; 0: zstd looks for matches */
	uint64_t plain_bytes, stored_bytes;
};
struct manifest_family {
	const char *name;
};
/* Of a row key, as struct key_shape has it. */
struct manifest_part {
	const char *name;	 /* a field's, or salt, hash, constant */
	size_t bytes;		 /* its terminator included; 0: they vary */
	struct bytes terminator; /* a byte or none */
	size_t buckets;		 /* of a salt; else 0 */
};
struct manifest_table {
	const char *name;
	const char *dir; /* its folder, relative to DIR; NULL: name, with '/' for ':' */
	struct manifest_family
		*families; /* each has a folder; none: written before they were told */
	size_t nfamilies;
	struct manifest_part *parts; /* of its row keys; none: written before they were told */
	size_t nparts;
	/* The table whose row keys its cells are, which decides and is published before it; NULL:
	 * of none. */
	const char *index_of;
	uint64_t loaded, filtered, deduplicated; /* events */
	uint64_t rows, cells,
		cells_deduplicated; /* stored row keys and cells; cells shadowed by duplicates */
	uint64_t predicted_bytes;   /* of all regions */
	uint64_t target_bytes; /* of a region: all bytes of its files / the regions that were wanted
				*/
	double largest_over_target;    /* the largest region's bytes / target_bytes; 0: no bytes */
	struct manifest_tuning *tuned; /* none: not written */
	size_t ntuned;
	struct manifest_region *regions;
	size_t nregions;
	struct manifest_file *files;
	size_t nfiles;
	uint8_t splits_digest[16], create_digest[16]; /* XXH3-128 of splits.txt and create.rb */
};
struct manifest_slice {
	bool given;
	uint64_t first, end; /* bytes of the file */
	uint64_t lines;	     /* line ends in front of its end, counted as its rejects' lines are */
	bool begins, ends;   /* no row is in front of it; behind it */
	size_t size;	     /* bytes of the whole file; 0: not known */
};
struct manifest_input {
	const char *path;
	uint64_t bytes, rows;
	uint8_t digest[16];
	struct manifest_slice slice; /* given: the other numbers and the digest are of this only */
};
/* Of the inputs, in their order: of delimited text, or of what the first one's schema has. */
struct manifest_column {
	const char *name;
	const char *type; /* of a schema: "i64", "decimal(2)", "local time"; NULL: it has none */
};
/* Kafka: the load before this one, of the same state folder. */
struct manifest_link {
	bool known;
	const char *load;
	uint8_t digest[16]; /* XXH3-128 of its manifest.json */
};
/* What shows that nothing was changed since: known false in manifests of before there were any. */
struct manifest_digests {
	bool known;
	uint8_t rejects[16];  /* XXH3-128 of rejects.jsonl */
	uint8_t manifest[16]; /* of all bytes of manifest.json but these 32 digits */
};
struct manifest {
	const char *job_path;
	uint8_t job_digest[16];
	struct manifest_input *inputs;
	size_t ninputs;
	struct manifest_column *columns; /* none: not written */
	size_t ncolumns;
	/* Kafka; otherwise NULL and none, and not written.  topic: of the offsets that name none;
	 * NULL where the job has several, each range then names its own */
	const char *topic, *cluster;
	const char *load; /* its name in the state folder; NULL: without one */
	struct manifest_link previous;
	struct offset_range *offsets;
	size_t noffsets;
	uint64_t read, rejected;
	int64_t created_ms; /* the time stamped into the files: newest cell, or SOURCE_DATE_EPOCH */
	struct reject_reason *reasons;
	size_t nreasons;
	struct manifest_table *tables;
	size_t ntables;
	/* Loads whose files stand side by side here; a row counts once in each.  0: it is one. */
	size_t joined;
	struct manifest_digests digests; /* .manifest is computed where it is written */
};
extern const struct form manifest_form;
/* Is it of a load from Kafka? */
static inline bool manifest_is_of_topics(const struct manifest *m)
{
	return m->topic || m->cluster || m->noffsets;
}
/* Bytes of all regions of a table, on disk; *largest: of the largest one. */
uint64_t manifest_region_bytes(const struct manifest_table *t, uint64_t *largest);
/* The JSON text, keys in a fixed order, two spaces of indent, a final newline. */
void manifest_format(const struct manifest *m, struct buf *out);
/* Write DIR-relative manifest.json durably. */
int manifest_write(const struct manifest *m, struct storage *to, const char *path,
		   struct error *err);
/*
 * Read it back; every string and array lives in *a.  RC_DATA when it is not a manifest, or not what
 * its digest says.
 */
struct arena;
int manifest_read(struct manifest *m, const char *path, struct arena *a, struct error *err);

/*
 * --- settings.json of a plan: what runs that keep to it take from there, besides the
 * split keys
 */

struct settings_column {
	struct bytes name;
};
struct settings_table {
	const char *name;
	double disk_per_byte;	       /* bytes on disk for one of cells; 0: no row was seen */
	uint8_t splits_digest[16];     /* XXH3-128 of splits.txt */
	struct manifest_tuning *tuned; /* of families with `level: auto` */
	size_t ntuned;
};
struct plan_settings {
	uint8_t job_digest[16];
	bool tuned;			 /* `level: auto` was looked for */
	struct settings_column *columns; /* of the input, in order */
	size_t ncolumns;
	struct settings_table *tables; /* in the order of the job */
	size_t ntables;
};

extern const struct form settings_form;
int settings_write(const struct plan_settings *s, const char *path, struct error *err);
/* All is in *a.  RC_DATA when it is no such file. */
int settings_read(struct plan_settings *s, const char *path, struct arena *a, struct error *err);

/*
 * --- prove a published load from its files alone ---
 */

struct finding {
	bool problem;
	char *path; /* relative to DIR */
	char *text; /* what was proved, or what is wrong */
};

struct findings {
	struct finding *item;
	size_t count, problems;
};
void findings_add(struct findings *f, bool problem, const char *path, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void findings_vadd(struct findings *f, bool problem, const char *path, const char *fmt, va_list ap)
	__attribute__((format(printf, 4, 0)));
/* Move all of from behind to's. */
void findings_append(struct findings *to, struct findings *from);
void findings_release(struct findings *f);

struct verify_result {
	struct findings findings; /* in a fixed order: manifest, scripts, files, regions, rejects */
	uint64_t files, rows, cells; /* of the tables; proved when there are no problems */
};

/*
 * Check the load in dir.  What is wrong with it becomes a finding, not an error; the error is
 * RC_STOPPED.  Release *out whatever the result.  progress NULL: nobody looks.
 */
int verify_load(struct verify_result *out, const char *dir, unsigned threads,
		struct progress *progress, struct error *err);
/* The same of one HFile, by itself (hfile_verify): one finding. */
int verify_hfile(struct verify_result *out, const char *path, struct progress *progress,
		 struct error *err);
void verify_release(struct verify_result *r);

/* verify_files.c: each HFile against its entry and its region's bounds, on several threads. */
int verify_files(struct findings *out, const char *dir, const struct manifest *m, unsigned threads,
		 struct progress *progress, struct error *err);
/* verify_folder.c: DIR holds the files and folders of the manifest and nothing else. */
void verify_folder(struct findings *out, const char *dir, const struct manifest *m);

#endif
