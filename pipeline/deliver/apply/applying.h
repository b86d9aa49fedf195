/* applying.h - one run of `apply`, shared by the files of this folder */
#ifndef SALTMILL_APPLY_APPLYING_H
#define SALTMILL_APPLY_APPLYING_H

#include "apply.h"
#include "ddl.h"
#include "handover.h"
#include "hbase.h"
#include "incarnation.h"
#include "deliver/journal.h"
#include "deliver/staging_token.h"
#include "kept.h"
#include "publish.h"
#include "splits.h"
#include "storage.h"

/*
 * The source of a file's bytes. The load's files come first, then the parts of cut files
 * (cut_file.c).
 */
struct applied_file {
	const char *path; /* on this machine */
	const char *name; /* within the load's folder; NULL for a part of a cut file */
	const char *family;
	uint64_t bytes, cells;
	uint8_t digest[16];
};

struct applied {
	const struct manifest_table *manifest;
	size_t index; /* index of the table in the manifest */
	struct apply_table *result;
	struct description want;
	struct description live; /* latest description of the live table, if the table exists */
	struct splits splits;
	bool exists, create_noted, created;
	bool changed;		  /* true if this run created or altered the table */
	bool tracked;		  /* the live table has the store file tracker FILE */
	bool keeps_noted;	  /* a note has listed the attributes that the table keeps */
	bool stores_seen;	  /* true after look_at_stores */
	struct incarnation bound; /* the incarnation in the journal */
	/* true if the user may not read the table's folders, and apply has printed a warning */
	_Atomic bool unreadable;
	uint64_t nonce[2];
	bool paced; /* `calm` is known */
	struct pace {
		size_t compacting;  /* regions with running compactions */
		size_t full;	    /* regions of this table that reach blockingStoreFiles */
		uint64_t left;	    /* cells that compactions have not read yet */
		int64_t slowest_ms; /* longest read of one row of any server of the table */
		struct hbase_place slowest;
	} calm;	     /* before the first call of this run */
	char *token; /* owned; NULL before the request of a token */
	/* start of the paths for region servers, such as "hdfs://nn:8020" */
	char *prefix;
	char *upload_dir;	      /* path within the storage */
	struct applied_file *sources; /* the source of each item of hand.files */
	size_t sources_room;
	struct handover hand;
	struct hand_world world;
	struct applying *run;
};

struct applying {
	const struct apply_options *opt;
	struct apply_kept *kept;
	struct hbase *hbase; /* owned by `kept` */
	/* owned by `kept`; NULL before the first token shows the place of HBase's files */
	struct storage *storage;
	struct journal journal;
	struct manifest manifest;
	struct storage *origin;	  /* S3 with the load's HFiles, or NULL (load_in_s3.c) */
	int64_t origin_ms;	  /* time of its manifest */
	_Atomic bool origin_said; /* a thread has reported that apply reads HFiles */
	char *upload, *folder;	  /* upload folder and the load's folder in it, NULL if unknown */
	char *load; /* the line of journal_load in the journal, NULL before it is known */
	bool finished;
	bool cut_begun; /* true if this load has created the folder of parts */
	bool placed;	/* true if apply has checked the upload folder */
	bool probing;	/* true if the storage is open only for a check */
	pthread_mutex_t cut_lock;
	_Atomic bool window_said; /* a thread has reported that it waits for the window */
	struct applied *tables;
	size_t ntables;
	struct apply_result *result;
	_Atomic uint64_t done; /* number of files in their regions */
	uint64_t nfiles;
	_Atomic int64_t said_ms; /* time of the last progress message */
	enum apply_phase phase;
	int64_t phase_ms; /* start of the current phase */
};

void applying_say(const struct applying *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
int applying_note(struct applying *a, struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Begins a phase, and adds the duration of the previous phase to its total. A phase may begin
 * several times.
 */
void applying_begin(struct applying *a, enum apply_phase phase);
/* Reports a warning and adds it to the result. */
void applying_warn(struct applying *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Removes the load's folder within the upload folder. */
int remove_folder(struct applying *a, struct error *err);

/*
 * Opens the storage of the upload folder (upload_place.c). This storage is the file system of
 * HBase's root, because region servers read only that file system.
 */
int upload_storage(struct applying *a, const char *token, struct error *err);
/* Return true if HBase keeps its files in S3, so that region servers copy files. */
bool token_is_object(const char *token);
/*
 * Return the number that identifies a file at its place (copies.c): its inode number, or a hash of
 * the ETag in S3. Returns 0 if there is no file, or no number.
 */
uint64_t place_id(const struct storage_info *info);
/*
 * Sets *is if `e`, an object in `folder`, is a copy of the file that was made after its upload.
 * Reads the object if its ETag is not that of the upload.
 */
int copy_is_of(struct applied *t, const struct hand_file *f, const char *folder,
	       const struct storage_entry *e, bool *is, struct error *err);
/* Sets the upload path of file number `i`, and its path in the token's folder. */
void upload_place(struct applied *t, struct hand_file *f, size_t i);
/*
 * Copies a file of the load from S3, if it is not on this machine. Checks it against the size and
 * digest in the manifest or the journal. Returns RC_DATA if the file differs.
 */
int source_prove(struct applying *a, const struct applied_file *s, struct error *err);

/* Opens the storage of opt->origin, if there is one (load_in_s3.c). */
int origin_open(struct applying *a, struct error *err);
/* Copies a file of the load from S3 to this machine, unless it is here. */
int origin_fetch(struct applying *a, const struct applied_file *s, struct error *err);
/*
 * Lets the server of S3 copy a file of the load to `path`. Sets *copied to false if the server
 * cannot, or if nothing proves that the copy has the bytes that the load published.
 */
int origin_copy(struct applied *t, const struct applied_file *s, const char *path, bool *copied,
		struct error *err);

/*
 * Waits until the hours of --window begin (gentle.c). Returns RC_STOPPED after a signal. Any thread
 * may call this function.
 */
int gentle_window(struct applying *a, struct error *err);
bool gentle_is_open(const struct apply_options *opt);
/* Implement ready and settle of struct hand_world. */
int gentle_ready(void *self, struct error *err);
int gentle_settle(void *self, struct error *err);
/*
 * Warns if peers get the load's files, or lack its cells, if a backup contains the table, and if
 * the normalizer may change the table's regions.
 */
void look_at_replication(struct applied *t);
/* Returns hbase.hstore.blockingStoreFiles of the table, or HBase's default. */
size_t blocking_files_of(const struct applied *t);

/* Checks the state of the cluster. Returns RC_CONFIG if the cluster cannot take a load. */
int look_at_cluster(struct applying *a, struct error *err);
/* Warns if regions of the table are in transition. */
void look_at_transitions(struct applied *t);
/* Warns if stores would have too many files. */
void look_at_stores(struct applied *t, const struct hbase_regions *r);
/*
 * Checks the upload folder. Returns RC_CONFIG if the files do not fit there. Warns if the user may
 * not write there.
 */
int look_at_place(struct applying *a, struct error *err);
/* Checks what this run may do, and adds the findings to the result. */
int check_access(struct applying *a, struct error *err);

/*
 * Compares the live table with the load (live_table.c). Returns RC_CONFIG if the table cannot take
 * the load.
 */
int table_look(struct applied *t, struct error *err);
/*
 * Checks that the live table is still the same. Returns RC_CONFIG if a user has dropped or
 * recreated the table.
 */
int table_still(struct applied *t, struct error *err);
/* Creates or alters the table to match the load, if the options allow it. */
int table_prepare(struct applied *t, struct error *err);
/* Counts the live regions and the files that cross their borders. */
int table_check_regions(struct applied *t, struct error *err);

/* Sets the functions by which the state machine uses storage, servers and journal (world.c). */
void world_make(struct applied *t);
/* Checks the upload folder before apply changes anything. */
int world_look(struct applied *t, struct error *err);
/*
 * Opens the token's folder and the upload folder. Requests the token once, and notes it in the
 * journal.
 */
/*
 * Checks that the user may write in the table's folder, if the table has a store file tracker.
 * Region servers move the files there as the user, and not through the token's folder.
 */
int may_track(struct applied *t, struct error *err);
int world_open(struct applied *t, struct error *err);

/*
 * Returns the table's folder, derived from the token's path (store_files.c). The caller frees the
 * result. `under` is "" or "/archive", a folder within HBase's root. Returns NULL if the token's
 * path does not have HBase's usual form.
 */
char *table_folder(const char *staging, const char *under, const char *table);
/* Implements in_table of struct hand_world. */
int store_files_find(void *self, const struct hbase_region *r, struct hand_file *const *files,
		     size_t n, bool *in, struct error *err);
/* Implements explain of struct hand_world (explain.c). */
int explain_refusal(void *self, const struct hand_file *f, struct buf *hint, struct error *err);
/* Reads the inode number of the table's folder. Sets *id to 0 if the number is unknown. */
int table_folder_id(struct applied *t, uint64_t *id, struct error *err);

/*
 * Notes the table's incarnation in the journal. If the journal has one already, checks that the
 * incarnation is the same (binding.c).
 */
int bind_table(struct applied *t, struct error *err);
/*
 * Compares the live table with the journal. Returns RC_CONFIG if the journal belongs to another
 * incarnation or to a dropped table.
 */
int bind_check(struct applied *t, const struct hbase_regions *r, struct error *err);
int bind_still(struct applied *t, struct error *err);
int bind_missing(const struct applied *t, struct error *err);
/* Returns RC_CONFIG if the journal notes sent files, but no incarnation. */
int bind_known(const struct applied *t, struct error *err);

/* Opens the load's journal, or begins a new one (hand_journal.c). */
int open_journal(struct applying *a, struct error *err);
/*
 * Opens an existing journal of any load with this manifest. Sets *there to false if there is none.
 * Never begins a new journal.
 */
int open_old_journal(struct applying *a, bool *there, struct error *err);
/*
 * Removes the upload folder, the token's folder, the parts and finally the journal of an earlier
 * run (abandon.c).
 */
int abandon(struct applying *a, struct error *err);

/* Implements cut and part of struct hand_world (cut_file.c). */
int cut_at_regions(void *self, const struct hand_file *f, const struct hbase_regions *r,
		   struct buf *words, struct error *err);
int cut_part(void *self, size_t of, const char *word, struct hand_file *out, struct error *err);
/* Removes the folder of the parts, if apply has cut a file. */
int cut_forget(struct applying *a, struct error *err);

/* Compares each cell of the files with the live cells, by parallel scans (live_cells.c). */
int table_prove(struct applied *t, struct error *err);
/* Implements cells of struct hand_world. */
int live_cells_have(void *self, const struct hand_file *f, bool *in, struct error *err);

#endif
