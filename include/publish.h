/*
 * publish.h - the output of a load: staging, rejects, manifest, settings, verification
 *
 *   staging_open, write below staging_path, staging_publish (or staging_abort)
 *   rejects_new, rejects_add*, rejects_write, rejects_free
 *   manifest_format, manifest_write, manifest_read
 *   verify_load, verify_release
 *
 * One rename makes the whole load visible.
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

/* The temporary sibling folder is DIR plus this suffix. One rename makes it DIR. */
#define STAGING_SUFFIX ".saltmill-partial"
struct staging;
/*
 * Create the sibling and lock it (flock on its file `lock`). If a dead run left a sibling, the
 * function removes the old sibling and sets *removed to true. Returns RC_CONFIG if `dir` exists, if
 * a running process owns the sibling, or if the parent is missing or not writable.
 */
int staging_open(struct staging **out, const char *dir, bool *removed, struct error *err);
/*
 * A sibling may contain the only copy of some files. Before the program empties or removes a
 * sibling, save() moves such files to another folder. If save() fails, the function removes
 * nothing.
 */
struct staging_rescue {
	int (*save)(void *ctx, struct storage *s, const char *folder, struct error *err);
	void *ctx; /* must live as long as the staging */
	/*
	 * In a storage without renames: the name of the folder within DIR that already contains the
	 * load's HFiles (sent_files_send). staging_abort keeps this folder. NULL means a new
	 * folder.
	 */
	const char *folder;
};
/*
 * Open a staging as staging_open does, but `dir` may also be a URI (storage.h). `place` has the
 * options of that storage. If `rescue` is NULL, no sibling contains an only copy.
 */
int staging_open_at(struct staging **out, const char *dir, const struct storage_options *place,
		    const struct staging_rescue *rescue, bool *removed, struct error *err);
/* Return the sibling's path within its storage. */
const char *staging_path(const struct staging *s);
struct storage *staging_storage(const struct staging *s);
bool staging_is_remote(const struct staging *s);
/* Return the folder within DIR for all files but the manifest (manifest.folder), or NULL if none. */
const char *staging_folder(const struct staging *s);
/*
 * Sync the name of the sibling, so that the folder survives a power loss. Its content needs no
 * sync.
 */
int staging_keep(struct staging *s, struct error *err);
/*
 * Publish the sibling. The call syncs the folders bottom up (writers have synced the files),
 * renames the sibling to DIR without replacing a folder, and syncs the parent. On success, the
 * function frees `s`. After a failure, call staging_abort.
 */
int staging_publish(struct staging *s, struct error *err);
/*
 * Return true if DIR became visible before staging_publish failed, even after a rename back. After
 * a power loss, DIR may be visible again.
 */
bool staging_was_visible(const struct staging *s);
/*
 * Remove the sibling and free `s`. NULL is fine. If staging_was_visible, the sibling stays, because
 * it proves that DIR is not published. The next run reuses it.
 */
void staging_abort(struct staging *s);
/* Free `s` and keep the sibling unchanged. A later run may reuse the sibling. */
void staging_leave(struct staging *s);

/*
 * Return root/table, or root/ns/table for "ns:table", as in HBase's own data folder. The caller
 * owns the result.
 */
char *table_dir(const char *root, const char *name);
/*
 * Create the folder of table_dir and its namespace folder. Returns RC_CONFIG if the name collides
 * with a file of the load.
 */
int table_make_dir(const char *dir, const char *name, struct error *err);
/* Create the folders as table_make_dir does, in the storage `s`. */
int table_make_dir_at(struct storage *s, const char *dir, const char *name, struct error *err);
struct table;
struct splits;
struct manifest_table;
/*
 * Write splits.txt and create.rb into the table's folder `dir`, and set their digests in `*m`.
 * Returns RC_CONFIG if an attribute has no form in a script.
 */
int table_write_scripts(struct manifest_table *m, struct storage *to, const char *dir,
			const struct table *schema, const struct splits *splits, struct error *err);

/* --- rejects: rejected events, collected by several workers, written in input order --- */
struct rejects;
struct reject_line {
	const char *file;
	/* `line` starts from 1; `offset` is in bytes of the decompressed file */
	uint64_t line, offset;
	/* if not 0, `line` is an event's number, and `offset` is the offset of the event's block */
	uint64_t block;
	uint64_t seq;
	struct bytes raw;
	/* the message, for Kafka (without `file` and `line`); NULL for files */
	const struct message *message;
	const struct reject *why;
};
/* A line of rejects.jsonl, as reject_form writes and reads it. */
struct reject_view {
	const char *reason, *field, *detail;
	bool of_file, is_line, of_topic, has_time;
	const char *file;
	uint64_t line, event, block;
	const char *topic;
	int32_t partition;
	int64_t offset, timestamp;
	struct bytes key, raw;
	const struct message_header *headers;
	size_t nheaders;
};
extern const struct form reject_form;
struct reject_reason {
	const char *reason;
	uint64_t count;
};
/*
 * Create a collection. A few MB of lines stay in memory. The other lines go to unlinked temporary
 * files in `temp_dir`. `quota` limits these files. NULL means no limit.
 */
int rejects_new(struct rejects **out, const char *temp_dir, struct budget *quota, unsigned workers,
		struct error *err);
void rejects_free(struct rejects *r);
/* Add a reject. Only one thread may use a worker number. */
int rejects_add(struct rejects *r, unsigned worker, const struct reject_line *l, struct error *err);
/*
 * Add a line of another run's rejects.jsonl, with `file` as its file name. Add lines in input
 * order. The function adds `add_lines` to its line number, if it has one, because events in blocks
 * have numbers in the whole file. Returns RC_DATA if `text` is not such a line.
 */
int rejects_restore(struct rejects *r, struct bytes text, const char *file, uint64_t add_lines,
		    struct error *err);
uint64_t rejects_count(const struct rejects *r); /* any thread */
struct job;
/* Let `max_share` of the job's fields cover rejects. Call it before the first reject. */
void rejects_tolerate(struct rejects *r, const struct job *job);
/* Return the number of rejects that no `max_share` covers. Any thread may call this function. */
uint64_t rejects_counted(const struct rejects *r);
/* Return RC_DATA if more than `max_share` of `events` break the rules of a field. */
int rejects_check_shares(const struct rejects *r, uint64_t events, struct error *err);
/*
 * Append the n-th reject (from 0) that no `max_share` covers, in input order, to *sentence, as "file:line (byte N): reason:
 * field: detail". All workers must have ended. Returns RC_END if there are fewer rejects.
 */
int rejects_nth(struct rejects *r, uint64_t n, struct buf *sentence, struct error *err);
/*
 * Return the number of rejects for each reason, most frequent first, ties by name. The result is
 * valid until rejects_free.
 */
const struct reject_reason *rejects_by_reason(struct rejects *r, size_t *n);
/*
 * Write rejects.jsonl, which has one JSON object for each reject, in input order. `digest` receives
 * XXH3-128 of the file.
 */
int rejects_write(struct rejects *r, struct storage *to, const char *path, uint8_t digest[16],
		  struct error *err);

/* --- manifest.json: the content of a load, independent of clock and thread count --- */
struct manifest_file {
	const char *path; /* path relative to DIR, such as "ratings/hfiles/f/<hex>" */
	const char *family;
	size_t region; /* index of the region, from 0 */
	uint64_t rows, cells, bytes, cell_bytes;
	struct bytes first_row, last_row;
	int64_t min_ts, max_ts;
	uint8_t digest[16]; /* XXH3-128 of the file */
};
struct manifest_region {
	struct bytes start, end; /* row keys; empty means unbounded */
	uint64_t rows, cells, bytes, cell_bytes;
	/* predicted size of the region's files, which is cell_bytes times the ratio of a sample */
	uint64_t predicted_bytes;
};
/* Compression settings found by `level: auto`, and the sizes of the sample. */
struct manifest_tuning {
	const char *family, *aim;
	int64_t level;
	size_t hash_log; /* 0 means that the level decides */
	/* shortest match of our match finder; 0 means that zstd finds matches */
	size_t min_match;
	const char *encoding; /* NULL means that the job gives the encoding */
	size_t block_bytes;   /* 0 means that the job gives the block size */
	uint64_t plain_bytes, stored_bytes;
	uint64_t usual_bytes; /* sample with ZSTD 3 and without encoding; 0 means not tried */
};
struct manifest_family {
	const char *name;
};
/* A part of a row key, as in struct key_shape. */
struct manifest_part {
	const char *name; /* a field's name, or salt, hash, constant */
	/* number of bytes, including the terminator; 0 means that the number varies */
	size_t bytes;
	struct bytes terminator; /* one byte, or empty */
	size_t buckets;		 /* number of buckets of a salt; else 0 */
};
struct manifest_table {
	const char *name;
	/*
	 * the table's folder, relative to DIR; NULL means the table's name with '/' instead of ':'
	 */
	const char *dir;
	struct manifest_family *families; /* each family has a folder; empty in older manifests */
	size_t nfamilies;
	/* parts of the table's row keys; empty in older manifests */
	struct manifest_part *parts;
	size_t nparts;
	/*
	 * For an index table, the table whose row keys the cells contain. The load publishes that
	 * table first, and its data is right if both tables differ. NULL means that this is not an
	 * index table.
	 */
	const char *index_of;
	uint64_t loaded, filtered, deduplicated; /* events */
	uint64_t rows, cells,
		/*
		 * numbers of stored row keys, of stored cells, and of cells overwritten by
		 * duplicates
		 */
		cells_deduplicated;
	uint64_t cells_hidden;	  /* stored cells that delete markers of the load hide */
	uint64_t predicted_bytes; /* sum of all regions */
	/* target size of a region, which is bytes of all files / number of wanted regions */
	uint64_t target_bytes;
	/* the largest region's bytes / target_bytes; 0 if there are no bytes */
	double largest_over_target;
	struct manifest_tuning *tuned; /* the file omits an empty list */
	size_t ntuned;
	struct manifest_region *regions;
	size_t nregions;
	struct manifest_file *files;
	size_t nfiles;
	uint8_t splits_digest[16], create_digest[16]; /* XXH3-128 of splits.txt and create.rb */
};
struct manifest_slice {
	bool given;
	uint64_t first, end; /* byte range in the file */
	/* number of line ends before the slice's end, counted like the lines of rejects */
	uint64_t lines;
	/*
	 * `begins` is true if no row is before the slice; `ends` is true if no row is after the
	 * slice
	 */
	bool begins, ends;
	size_t size; /* bytes of the whole file; 0 means unknown */
};
struct manifest_input {
	const char *path;
	uint64_t bytes, rows;
	uint8_t digest[16];
	/* with a slice, the other numbers and the digest describe only the slice */
	struct manifest_slice slice;
};
/*
 * A column of the inputs. Its name is from the header of delimited text, or from the first input's
 * schema.
 */
struct manifest_column {
	const char *name;
	/* type in a schema: "i64", "decimal(2)", "local time"; NULL means no schema */
	const char *type;
};
/* Kafka: the previous load of the same state folder. */
struct manifest_link {
	bool known;
	const char *load;
	uint8_t digest[16]; /* XXH3-128 of that load's manifest.json */
};
/* Digests that show later changes. `known` is false in older manifests without digests. */
struct manifest_digests {
	bool known;
	uint8_t rejects[16];  /* XXH3-128 of rejects.jsonl */
	uint8_t manifest[16]; /* XXH3-128 of all bytes of manifest.json except these 32 digits */
};
struct manifest {
	/*
	 * The folder, relative to the manifest, that has the files of a load in S3; NULL means
	 * beside the manifest. manifest_read adds it to all paths, and the file has paths without it.
	 */
	const char *folder;
	const char *job_path;
	const char
		*rewritten; /* name of the command, for a load of HFiles, whose events are cells */
	uint8_t job_digest[16];
	struct manifest_input *inputs;
	size_t ninputs;
	struct manifest_column *columns; /* the file omits an empty list */
	size_t ncolumns;
	/*
	 * These members are empty and left out of the file unless the source is Kafka. `topic`
	 * applies to ranges that do not name a topic. `topic` is NULL if the job has several
	 * topics.
	 */
	const char *topic, *cluster;
	const char *load; /* the load's name in the state folder; NULL means no name */
	struct manifest_link previous;
	struct offset_range *offsets;
	size_t noffsets;
	uint64_t read, rejected;
	/*
	 * Delimited text: number of line ends inside rejected events, and inside events that no
	 * table takes. A stray quote joins several lines into one event.
	 */
	uint64_t rejected_lines, filtered_lines;
	/* time written into the files, of the newest cell or from SOURCE_DATE_EPOCH */
	int64_t created_ms;
	struct reject_reason *reasons;
	size_t nreasons;
	struct manifest_table *tables;
	size_t ntables;
	/*
	 * Number of loads in this joined load. A row counts once in each of these loads. 0 means
	 * that the load is not a joined one.
	 */
	size_t joined;
	struct manifest_digests digests; /* the writer computes .manifest */
};
extern const struct form manifest_form;
/* Return true if the load is from Kafka. */
static inline bool manifest_is_of_topics(const struct manifest *m)
{
	return m->topic || m->cluster || m->noffsets;
}
/*
 * Return the bytes on disk of all regions of a table. *largest receives the bytes of the largest
 * region.
 */
uint64_t manifest_region_bytes(const struct manifest_table *t, uint64_t *largest);
struct hfile_summary;
/*
 * Describe a file of the table's folder. `family` is its index in the schema. All strings are in
 * the arena.
 */
void manifest_describe_file(struct manifest_file *m, struct arena *a, const struct table *schema,
			    size_t family, size_t region, const struct hfile_summary *sum);
/*
 * Compare the largest region with its size in `wanted` equal regions. The sizes are bytes on disk,
 * because HBase splits regions by this size.
 */
void manifest_compare_sizes(struct manifest_table *m, size_t wanted);
/* Append the JSON text, with keys in a fixed order, two spaces of indent and a final newline. */
void manifest_format(const struct manifest *m, struct buf *out);
/* Write manifest.json durably. `path` is within the storage `to`. */
int manifest_write(const struct manifest *m, struct storage *to, const char *path,
		   struct error *err);
/*
 * Read a manifest, whose path may be a URI. All its strings and arrays are in *a. Returns RC_DATA if the file is not a
 * manifest, or if its digest does not match.
 */
struct arena;
int manifest_read(struct manifest *m, const char *path, struct arena *a, struct error *err);

/* --- files of loads on any storage --- */

/* A file of a storage, such as query_file.place. */
struct remote_file {
	struct storage *storage;
	const char *path;
	const char *archive; /* the place to which HBase may move the file; NULL if unknown */
	uint64_t bytes;
};
struct hfile_source;
/* Set the source of a remote file, whose storage and paths the caller keeps. */
int remote_file_source(struct hfile_source *out, const struct remote_file *f, const char *name,
		       struct error *err);
/* Set the source of a file of a load. `path` is a path of this machine, or a URI (storage.h). */
int load_file_source(struct hfile_source *out, const char *path, struct error *err);

/* Return the path of rejects.jsonl relative to the manifest. The caller owns it. */
char *manifest_rejects_path(const struct manifest *m);
/*
 * Copy the file `name` of the load at the path of `s` to ROOT/NAME, and compare its digest, unless
 * `digest` is NULL. A file at ROOT/NAME is whole. Returns RC_DATA if the file is missing or differs.
 */
int load_fetch_file(struct storage *s, const char *name, const char *root, const uint8_t *digest,
		    struct progress *progress, struct error *err);
/*
 * Copy a remote load to the new folder `dir` of this machine, and check the digests of its files.
 * If `dir` already has the same load, its files stay. Sets *later to true, and copies no HFiles, if
 * the load is in S3, where servers may copy them. Returns RC_CONFIG if `dir` has another load.
 */
int load_fetch(const char *uri, const char *dir, bool *later, struct progress *progress,
	       struct error *err);

/* --- settings.json of a plan: the settings besides the split keys, for runs with that plan --- */

struct settings_column {
	struct bytes name;
};
struct settings_table {
	const char *name;
	/* bytes on disk for one byte of cells; 0 without rows */
	double disk_per_byte;
	uint8_t splits_digest[16];     /* XXH3-128 of splits.txt */
	struct manifest_tuning *tuned; /* settings of the families with `level: auto` */
	size_t ntuned;
};
struct plan_settings {
	uint8_t job_digest[16];
	bool tuned;			 /* true after a search of settings for `level: auto` */
	struct settings_column *columns; /* columns of the input, in order */
	size_t ncolumns;
	struct settings_table *tables; /* the tables, in the order of the job */
	size_t ntables;
};

extern const struct form settings_form;
int settings_write(const struct plan_settings *s, const char *path, struct error *err);
/* Read settings.json. All data is in *a. Returns RC_DATA if the file has another form. */
int settings_read(struct plan_settings *s, const char *path, struct arena *a, struct error *err);

/* --- verify: check a published load using only its files --- */

struct finding {
	bool problem;
	char *path; /* path relative to DIR */
	char *text; /* the verified fact, or the problem */
};

struct findings {
	struct finding *item;
	size_t count, problems;
};
void findings_add(struct findings *f, bool problem, const char *path, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void findings_vadd(struct findings *f, bool problem, const char *path, const char *fmt, va_list ap)
	__attribute__((format(printf, 4, 0)));
/* Move all findings of `from` to the end of `to`. */
void findings_append(struct findings *to, struct findings *from);
void findings_release(struct findings *f);

struct verify_result {
	struct findings
		findings; /* findings in the order manifest, scripts, files, regions, rejects */
	uint64_t files, rows, cells; /* sums of all tables; verified if there are no problems */
};

/*
 * Check the load in dir, which may be a URI. A problem is a finding, not an error. The only errors
 * are RC_STOPPED, and for a URI those of storage_open. Call verify_release whatever the result.
 * `progress` may be NULL. Copies of remote files are in `temp_dir`; NULL means $TMPDIR or /tmp.
 */
int verify_load(struct verify_result *out, const char *dir, unsigned threads, const char *temp_dir,
		struct progress *progress, struct error *err);
/* Check a single HFile with hfile_verify, and add one finding. */
int verify_hfile(struct verify_result *out, const char *path, struct progress *progress,
		 struct error *err);
void verify_release(struct verify_result *r);

/*
 * Check each HFile against its manifest entry and its region's bounds, on several threads. If `from`
 * is not NULL, it has the files, and `dir` gets a copy of each during its check.
 */
int verify_files(struct findings *out, const char *dir, struct storage *from,
		 const struct manifest *m, unsigned threads, struct progress *progress,
		 struct error *err);
/* Check that DIR contains exactly the files and folders of the manifest. */
void verify_folder(struct findings *out, const char *dir, const struct manifest *m);

#endif
