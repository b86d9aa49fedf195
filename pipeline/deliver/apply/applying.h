/*
 * applying.h - one run of `apply`, shared by the files of this room
 */
#ifndef SALTMILL_APPLY_APPLYING_H
#define SALTMILL_APPLY_APPLYING_H

#include "apply.h"
#include "ddl.h"
#include "handover.h"
#include "hbase.h"
#include "incarnation.h"
#include "journal.h"
#include "kept.h"
#include "publish.h"
#include "splits.h"
#include "storage.h"

/*
 * Where the bytes of a file come from: the load's own files first, then their parts (cut_file.c).
 */
struct applied_file {
	const char *path; /* on this machine */
	const char *family;
	uint64_t bytes, cells;
	uint8_t digest[16];
};

struct applied {
	const struct manifest_table *manifest;
	size_t index; /* in the manifest */
	struct apply_table *result;
	struct description want;
	struct description live; /* its last description, if the table exists */
	struct splits splits;
	bool exists, create_noted, created;
	bool changed;		  /* created or altered by this run */
	bool stores_seen;	  /* the files of its stores were counted */
	struct incarnation bound; /* the incarnation that the journal is bound to */
	_Atomic bool unreadable;  /* HBase's folders of it cannot be read; was reported */
	uint64_t nonce[2];
	char *token;		      /* owned; NULL: none yet */
	char *prefix;		      /* start of paths for region servers: "hdfs://nn:8020" */
	char *upload_dir;	      /* within the storage */
	struct applied_file *sources; /* the source of each item of hand.files */
	struct handover hand;
	struct hand_world world;
	struct applying *run;
};

struct applying {
	const struct apply_options *opt;
	struct apply_kept *kept;
	struct hbase *hbase; /* owned by kept */
	/* owned by kept; NULL until the first token shows where HBase's files are */
	struct storage *storage;
	struct journal journal;
	struct manifest manifest;
	char *upload,
		*folder; /* the upload folder, and the load's own folder in it; NULL: not yet */
	char *load;	 /* journal_load's line in the journal; NULL: not yet */
	bool finished;
	bool cut_begun; /* this load has made the folder of parts */
	bool placed;	/* the upload folder was checked */
	bool probing;	/* the storage is opened for a check only, and not noted */
	pthread_mutex_t cut_lock;
	struct applied *tables;
	size_t ntables;
	struct apply_result *result;
	_Atomic uint64_t done; /* files in their regions */
	uint64_t nfiles;
	_Atomic int64_t said_ms; /* time of the last progress message */
	enum apply_phase phase;
	int64_t phase_ms; /* its start */
};

void applying_say(const struct applying *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
int applying_note(struct applying *a, struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Begins a phase, and adds the time of the previous one. A phase may come several times. */
void applying_begin(struct applying *a, enum apply_phase phase);

/*
 * Checks a local file against the size and digest in the manifest or the journal; RC_DATA: it
 * differs.
 */
int source_prove(const struct applied_file *s, struct error *err);

/* look_ahead.c: reports a warning and keeps it in the result. */
void applying_warn(struct applying *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Checks the cluster as a whole; RC_CONFIG: it cannot take a load. */
int look_at_cluster(struct applying *a, struct error *err);
/* Warns of regions of the table that are in transition. */
void look_at_transitions(struct applied *t);
/* Warns of stores that would have too many files. */
void look_at_stores(struct applied *t, const struct hbase_regions *r);
/*
 * Checks the upload folder. RC_CONFIG: the files do not fit there. Warns if the user may not write
 * there.
 */
int look_at_place(struct applying *a, struct error *err);

/* live_table.c: compares the live table with the load; RC_CONFIG: it cannot take the load. */
int table_look(struct applied *t, struct error *err);
/* RC_CONFIG: the table is gone, or another one has its name. */
int table_still(struct applied *t, struct error *err);
/* Creates or alters the table as the load wants it, if the options allow that. */
int table_prepare(struct applied *t, struct error *err);
/* Counts the live regions, and the files that cross their borders. */
int table_check_regions(struct applied *t, struct error *err);

/* world.c: sets the functions by which the state machine acts on storage, servers and journal. */
void world_make(struct applied *t);
/* Checks the place where files will wait, before anything is changed. */
int world_look(struct applied *t, struct error *err);
/* Opens the token's folder and the upload folder. The token is requested once, and noted. */
int world_open(struct applied *t, struct error *err);
/* Sets the upload path and the token's path of file number i. */
void world_place(struct applied *t, struct hand_file *f, size_t i);
/*
 * Opens the storage of the upload folder: the file system of HBase's root, which region servers
 * read.
 */
int world_storage(struct applying *a, const char *token, struct error *err);
/* Returns the path of "hdfs://nn:8020/hbase/staging/x" or "file:/x"; NULL: it has none. */
const char *token_path(const char *token);
bool token_is_local(const char *token);

/*
 * store_files.c: returns the table's folder, derived from the token's path; the caller frees it.
 * under: "" or "/archive", within HBase's root. NULL: the path has not the form that HBase gives
 * it.
 */
char *table_folder(const char *staging, const char *under, const char *table);
/* Implements in_table of struct hand_world. */
int store_files_find(void *self, const struct hbase_region *r, struct hand_file *const *files,
		     size_t n, bool *in, struct error *err);
/* explain.c: implements explain of struct hand_world. */
int explain_refusal(void *self, const struct hand_file *f, struct buf *hint, struct error *err);
/* Reads the inode number of the table's folder; 0: unknown. */
int table_folder_id(struct applied *t, uint64_t *id, struct error *err);

/* binding.c: notes the table's incarnation in the journal, or checks that it is still the same. */
int bind_table(struct applied *t, struct error *err);
/* RC_CONFIG: the journal is bound to another incarnation, or to one that is dropped. */
int bind_check(struct applied *t, const struct hbase_regions *r, struct error *err);
int bind_still(struct applied *t, struct error *err);
int bind_missing(const struct applied *t, struct error *err);
/* RC_CONFIG: files were sent, but the journal does not note the incarnation. */
int bind_known(const struct applied *t, struct error *err);

/* Removes the load's folder within the upload folder. */
int remove_folder(struct applying *a, struct error *err);
/* hand_journal.c: opens the load's journal, or begins it. */
int open_journal(struct applying *a, struct error *err);
/* Opens an existing journal of any load with this manifest, and begins none. */
int open_old_journal(struct applying *a, bool *there, struct error *err);
/* abandon.c: removes what an earlier run left: upload folder, staging, parts, the journal last. */
int abandon(struct applying *a, struct error *err);

/* cut_file.c: implements cut and part of struct hand_world. */
int cut_at_regions(void *self, const struct hand_file *f, const struct hbase_regions *r,
		   struct buf *words, struct error *err);
int cut_part(void *self, size_t of, const char *word, struct hand_file *out, struct error *err);
/* Removes the folder of the parts, if a file was cut: they are not needed any more. */
int cut_forget(struct applying *a, struct error *err);

/* live_cells.c: compares each cell of the files with the live ones, by parallel scans. */
int table_prove(struct applied *t, struct error *err);

#endif
