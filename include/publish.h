/*
 * publish.h - the output of a load: staging, rejects, manifest, settings, verification
 *
 *   staging_open, write below staging_path, staging_publish (or staging_abort)
 *   rejects_new, rejects_add*, rejects_write, rejects_free
 *   manifest_format, manifest_write, manifest_read
 *   verify_load, verify_release
 *
 * A load becomes visible by one rename: all of it or nothing.
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

/* The temporary sibling is DIR plus this suffix; one rename makes it DIR. */
#define STAGING_SUFFIX ".saltmill-partial"
struct staging;
/*
 * Create the sibling and lock it (flock on its file `lock`). The leftover sibling of a dead run is
 * removed, and *removed is set. RC_CONFIG: dir exists, a running process owns the sibling, or the
 * parent is missing or not writable.
 */
int staging_open(struct staging **out, const char *dir, bool *removed, struct error *err);
/*
 * A sibling may contain the only copy of some files. Before any sibling is emptied or removed, save
 * moves them out of the folder. If it fails, nothing is removed.
 */
struct staging_rescue {
	int (*save)(void *ctx, struct storage *s, const char *folder, struct error *err);
	void *ctx; /* lives as long as the staging */
};
/*
 * The same, where dir may also be a URI (storage.h); place: options of that storage. rescue NULL:
 * no sibling contains an only copy.
 */
int staging_open_at(struct staging **out, const char *dir, const struct storage_options *place,
		    const struct staging_rescue *rescue, bool *removed, struct error *err);
/* Return the sibling's path, in its storage. */
const char *staging_path(const struct staging *s);
struct storage *staging_storage(const struct staging *s);
bool staging_is_remote(const struct staging *s);
/* Sync the sibling, so that a power loss does not remove it; its content is not synced. */
int staging_keep(struct staging *s, struct error *err);
/*
 * Make everything durable (writers have synced the files; folders are synced bottom up), rename to
 * DIR without replacing, and sync the parent. Frees s on success; after a failure call
 * staging_abort.
 */
int staging_publish(struct staging *s, struct error *err);
/*
 * After a failure: true if DIR was visible, even if it was taken back. A power loss may show it
 * again.
 */
bool staging_was_visible(const struct staging *s);
/* Remove the sibling and free s.  NULL is fine. */
void staging_abort(struct staging *s);

/*
 * Return root/table, or root/ns/table for "ns:table", as in HBase's own data folder. The caller
 * owns it.
 */
char *table_dir(const char *root, const char *name);
/*
 * Create such a folder and its namespace folder. RC_CONFIG: the name collides with a file of the
 * load.
 */
int table_make_dir(const char *dir, const char *name, struct error *err);
/* The same in another storage. */
int table_make_dir_at(struct storage *s, const char *dir, const char *name, struct error *err);

/* --- rejects: rejected events, collected by several workers, written in input order --- */
struct rejects;
struct reject_line {
	const char *file;
	uint64_t line, offset; /* line from 1; byte offset in the decompressed file */
	uint64_t block;	       /* not 0: line is an event's number, offset that of its block */
	uint64_t seq;
	struct bytes raw;
	const struct message *message; /* Kafka: replaces file and line; otherwise NULL */
	const struct reject *why;
};
/* A line of rejects.jsonl. */
extern const struct form reject_form;
struct reject_reason {
	const char *reason;
	uint64_t count;
};
/*
 * Create a collection. A few MB of lines stay in memory; the others go to unlinked temporary files
 * in temp_dir, limited by quota (NULL: no limit).
 */
int rejects_new(struct rejects **out, const char *temp_dir, struct budget *quota, unsigned workers,
		struct error *err);
void rejects_free(struct rejects *r);
/* Add a reject; one thread for each worker number. */
int rejects_add(struct rejects *r, unsigned worker, const struct reject_line *l, struct error *err);
/*
 * Add a line of another run's rejects.jsonl. add_lines is added to its line numbers, and its file
 * is called `file`. Lines come in input order. RC_DATA: it is not such a line.
 */
int rejects_restore(struct rejects *r, struct bytes text, const char *file, uint64_t add_lines,
		    struct error *err);
uint64_t rejects_count(const struct rejects *r); /* any thread */
/*
 * After all workers ended: append the n-th (from 0) in input order to *sentence, as "file:line
 * (byte N): reason: field: detail". RC_END: there are not that many.
 */
int rejects_nth(struct rejects *r, uint64_t n, struct buf *sentence, struct error *err);
/* Return counts by reason, most frequent first, ties by name; valid until rejects_free. */
const struct reject_reason *rejects_by_reason(struct rejects *r, size_t *n);
/*
 * Write rejects.jsonl: one JSON object for each reject, in input order; an empty file if there is
 * none. digest: XXH3-128 of it.
 */
int rejects_write(struct rejects *r, struct storage *to, const char *path, uint8_t digest[16],
		  struct error *err);

/* --- manifest.json: the content of a load, as plain data without clock or thread count --- */
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
	/* predicted size of its files: cell_bytes times the ratio of a sample */
	uint64_t predicted_bytes;
};
/* Compression settings found by `level: auto`, and the sizes of the sample. */
struct manifest_tuning {
	const char *family, *aim;
	size_t level, hash_log; /* hash_log 0: from the level */
	size_t min_match;	/* for sequences made here; 0: zstd finds matches itself */
	uint64_t plain_bytes, stored_bytes;
};
struct manifest_family {
	const char *name;
};
/* A part of a row key, as in struct key_shape. */
struct manifest_part {
	const char *name;	 /* a field's name, or salt, hash, constant */
	size_t bytes;		 /* including its terminator; 0: they vary */
	struct bytes terminator; /* a byte or none */
	size_t buckets;		 /* for a salt; else 0 */
};
struct manifest_table {
	const char *name;
	const char *dir; /* its folder, relative to DIR; NULL: name, with '/' for ':' */
	struct manifest_family
		*families; /* each has a folder; none: an older manifest that does not list them */
	size_t nfamilies;
	/* of its row keys; none: an older manifest that does not list them */
	struct manifest_part *parts;
	size_t nparts;
	/*
	 * For an index table: the table whose row keys its cells contain. It decides, and is
	 * published first. NULL: not an index table.
	 */
	const char *index_of;
	uint64_t loaded, filtered, deduplicated; /* events */
	uint64_t rows, cells,
		cells_deduplicated; /* stored row keys and cells; cells overwritten by duplicates */
	uint64_t predicted_bytes;   /* sum of all regions */
	uint64_t target_bytes;	    /* of a region: bytes of all files / number of wanted regions */
	double largest_over_target; /* the largest region's bytes / target_bytes; 0: no bytes */
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
	uint64_t first, end; /* byte range of the file */
	uint64_t lines;	     /* line ends before its end, counted like the lines of its rejects */
	bool begins, ends;   /* no row is before it; no row is after it */
	size_t size;	     /* bytes of the whole file; 0: unknown */
};
struct manifest_input {
	const char *path;
	uint64_t bytes, rows;
	uint8_t digest[16];
	/* given: the other numbers and the digest describe only the slice */
	struct manifest_slice slice;
};
/* A column of the inputs, in their order: of delimited text, or of the first input's schema. */
struct manifest_column {
	const char *name;
	const char *type; /* type in a schema: "i64", "decimal(2)", "local time"; NULL: no schema */
};
/* Kafka: the previous load of the same state folder. */
struct manifest_link {
	bool known;
	const char *load;
	uint8_t digest[16]; /* XXH3-128 of its manifest.json */
};
/* Digests that show later changes; known false in older manifests without digests. */
struct manifest_digests {
	bool known;
	uint8_t rejects[16];  /* XXH3-128 of rejects.jsonl */
	uint8_t manifest[16]; /* of all bytes of manifest.json except these 32 digits */
};
struct manifest {
	const char *job_path;
	uint8_t job_digest[16];
	struct manifest_input *inputs;
	size_t ninputs;
	struct manifest_column *columns; /* none: not written */
	size_t ncolumns;
	/*
	 * Only for Kafka; otherwise NULL and none, and not written. topic: for offsets without a
	 * topic; NULL if the job has several topics and each range names its own
	 */
	const char *topic, *cluster;
	const char *load; /* its name in the state folder; NULL: none */
	struct manifest_link previous;
	struct offset_range *offsets;
	size_t noffsets;
	uint64_t read, rejected;
	int64_t created_ms; /* time written into the files: newest cell, or SOURCE_DATE_EPOCH */
	struct reject_reason *reasons;
	size_t nreasons;
	struct manifest_table *tables;
	size_t ntables;
	/*
	 * Number of loads whose files are side by side here; a row counts once in each. 0: a single
	 * load.
	 */
	size_t joined;
	struct manifest_digests digests; /* .manifest is computed when the file is written */
};
extern const struct form manifest_form;
/* True if the load is from Kafka. */
static inline bool manifest_is_of_topics(const struct manifest *m)
{
	return m->topic || m->cluster || m->noffsets;
}
/* Return the bytes on disk of all regions of a table; *largest: of the largest one. */
uint64_t manifest_region_bytes(const struct manifest_table *t, uint64_t *largest);
/* Append the JSON text: keys in a fixed order, two spaces of indent, a final newline. */
void manifest_format(const struct manifest *m, struct buf *out);
/* Write manifest.json durably; path is in the storage `to`. */
int manifest_write(const struct manifest *m, struct storage *to, const char *path,
		   struct error *err);
/*
 * Read it back; every string and array lives in *a. RC_DATA: it is not a manifest, or its digest
 * does not match.
 */
struct arena;
int manifest_read(struct manifest *m, const char *path, struct arena *a, struct error *err);

/* --- settings.json of a plan: the settings besides the split keys, for runs with that plan --- */

struct settings_column {
	struct bytes name;
};
struct settings_table {
	const char *name;
	/* bytes on disk for one byte of cells; 0: no rows were read */
	double disk_per_byte;
	uint8_t splits_digest[16];     /* XXH3-128 of splits.txt */
	struct manifest_tuning *tuned; /* for families with `level: auto` */
	size_t ntuned;
};
struct plan_settings {
	uint8_t job_digest[16];
	bool tuned;			 /* settings for `level: auto` were searched */
	struct settings_column *columns; /* columns of the input, in order */
	size_t ncolumns;
	struct settings_table *tables; /* in the order of the job */
	size_t ntables;
};

extern const struct form settings_form;
int settings_write(const struct plan_settings *s, const char *path, struct error *err);
/* Read it; all data is in *a. RC_DATA: it is not such a file. */
int settings_read(struct plan_settings *s, const char *path, struct arena *a, struct error *err);

/* --- verify: check a published load from its files alone --- */

struct finding {
	bool problem;
	char *path; /* relative to DIR */
	char *text; /* what was proved, or the problem */
};

struct findings {
	struct finding *item;
	size_t count, problems;
};
void findings_add(struct findings *f, bool problem, const char *path, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void findings_vadd(struct findings *f, bool problem, const char *path, const char *fmt, va_list ap)
	__attribute__((format(printf, 4, 0)));
/* Move all findings of from to the end of to. */
void findings_append(struct findings *to, struct findings *from);
void findings_release(struct findings *f);

struct verify_result {
	struct findings findings; /* in a fixed order: manifest, scripts, files, regions, rejects */
	uint64_t files, rows, cells; /* of the tables; proved if there are no problems */
};

/*
 * Check the load in dir. A problem is a finding, not an error; the only error is RC_STOPPED. Call
 * verify_release whatever the result. progress may be NULL.
 */
int verify_load(struct verify_result *out, const char *dir, unsigned threads,
		struct progress *progress, struct error *err);
/* Check a single HFile (hfile_verify): one finding. */
int verify_hfile(struct verify_result *out, const char *path, struct progress *progress,
		 struct error *err);
void verify_release(struct verify_result *r);

/* Check each HFile against its manifest entry and its region's bounds, on several threads. */
int verify_files(struct findings *out, const char *dir, const struct manifest *m, unsigned threads,
		 struct progress *progress, struct error *err);
/* Check that DIR contains exactly the files and folders of the manifest. */
void verify_folder(struct findings *out, const char *dir, const struct manifest *m);

#endif
