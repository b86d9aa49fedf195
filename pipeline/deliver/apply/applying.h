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

/* Where the bytes of a file are from: the load's own, then parts of them (cut_file.c). */
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
	struct description live; /* as it was described last, if it exists */
	struct splits splits;
	bool exists, create_noted, created;
	bool changed;		  /* created or altered by this run */
	bool stores_seen;	  /* how many files they would have */
	struct incarnation bound; /* of which its journal speaks */
	_Atomic bool unreadable;  /* HBase's folders of it; said */
	uint64_t nonce[2];
	char *token;		      /* owned; NULL: none yet */
	char *prefix;		      /* of paths as region servers take them: "hdfs://nn:8020" */
	char *upload_dir;	      /* within the storage */
	struct applied_file *sources; /* of hand.files, with the same numbers */
	struct handover hand;
	struct hand_world world;
	struct applying *run;
};

struct applying {
	const struct apply_options *opt;
	struct apply_kept *kept;
	struct hbase *hbase;	 /* of kept */
	struct storage *storage; /* of kept; NULL until the first token says where HBase lives */
	struct journal journal;
	struct manifest manifest;
	char *upload,
		*folder; /* where files wait, and the load's own folder there; NULL: not yet */
	char *load;	 /* journal_load's line, as the journal has it; NULL: not yet */
	bool finished;
	bool cut_begun; /* the folder of parts is ours */
	bool placed;	/* the upload folder was looked at */
	bool probing;	/* what is opened now is for a look only, and not noted */
	pthread_mutex_t cut_lock;
	struct applied *tables;
	size_t ntables;
	struct apply_result *result;
	_Atomic uint64_t done; /* files in their regions */
	uint64_t nfiles;
	_Atomic int64_t said_ms; /* when it was told last how far it is */
	enum apply_phase phase;
	int64_t phase_ms; /* since when */
};

void applying_say(const struct applying *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
int applying_note(struct applying *a, struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Another phase begins, or the same once more. */
void applying_begin(struct applying *a, enum apply_phase phase);

/* A file of this machine is what the manifest or the journal says of it; RC_DATA: it is not. */
int source_prove(const struct applied_file *s, struct error *err);

/* look_ahead.c: what is said and kept as a warning. */
void applying_warn(struct applying *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The cluster as a whole; RC_CONFIG: nothing can be done with it. */
int look_at_cluster(struct applying *a, struct error *err);
/* Warn of regions of the table that are in transition. */
void look_at_transitions(struct applied *t);
/* Warn of stores that would have too many files. */
void look_at_stores(struct applied *t, const struct hbase_regions *r);
/* RC_CONFIG: what is to be uploaded does not fit; warn when the folder is another's. */
int look_at_place(struct applying *a, struct error *err);

/* live_table.c: the table as it is, compared; RC_CONFIG: it cannot take the load. */
int table_look(struct applied *t, struct error *err);
/* RC_CONFIG: it is gone, or another one has its name. */
int table_still(struct applied *t, struct error *err);
/* Make it what the load wants, as the options allow. */
int table_prepare(struct applied *t, struct error *err);
/* How many regions there are, and how many files lie across them. */
int table_check_regions(struct applied *t, struct error *err);

/* world.c: what the state machine does to the world, for real. */
void world_make(struct applied *t);
/* Looks at the place where files would wait, before anything is changed. */
int world_look(struct applied *t, struct error *err);
/* The token's folder and where files go before it: asked for once, and noted. */
int world_open(struct applied *t, struct error *err);
/* Where file number i waits, and where it is put first. */
void world_place(struct applied *t, struct hand_file *f, size_t i);
/* Opens where files wait: in the file system of HBase's root, which region servers read. */
int world_storage(struct applying *a, const char *token, struct error *err);
/* The path of "hdfs://nn:8020/hbase/staging/x" or "file:/x"; NULL: it has none. */
const char *token_path(const char *token);
bool token_is_local(const char *token);

/*
 * store_files.c: the table's folder, by the token's path; the caller's.  under: "" or "/archive",
 * within HBase's root.  NULL: the path is not as HBase makes it.
 */
char *table_folder(const char *staging, const char *under, const char *table);
/* struct hand_world's in_table. */
int store_files_find(void *self, const struct hbase_region *r, struct hand_file *const *files,
		     size_t n, bool *in, struct error *err);
/* explain.c: struct hand_world's explain. */
int explain_refusal(void *self, const struct hand_file *f, struct buf *hint, struct error *err);
/* The inode number of the table's folder; 0: it cannot be known. */
int table_folder_id(struct applied *t, uint64_t *id, struct error *err);

/* binding.c: notes which incarnation of the table the journal speaks of, or checks that it still
 * is. */
int bind_table(struct applied *t, struct error *err);
/* RC_CONFIG: the journal is bound to another incarnation, or to one that is dropped. */
int bind_check(struct applied *t, const struct hbase_regions *r, struct error *err);
int bind_still(struct applied *t, struct error *err);
int bind_missing(const struct applied *t, struct error *err);
/* RC_CONFIG: files were sent, and the journal does not note to which incarnation. */
int bind_known(const struct applied *t, struct error *err);

/* Remove the load's folder of files that wait. */
int remove_folder(struct applying *a, struct error *err);
/* hand_journal.c: open the load's journal, or begin it. */
int open_journal(struct applying *a, struct error *err);
/* The same without making one, of any load with this manifest. */
int open_old_journal(struct applying *a, bool *there, struct error *err);
/* abandon.c: remove what an earlier run left: upload folder, staging, parts, last the journal. */
int abandon(struct applying *a, struct error *err);

/* cut_file.c: struct hand_world's cut and part. */
int cut_at_regions(void *self, const struct hand_file *f, const struct hbase_regions *r,
		   struct buf *words, struct error *err);
int cut_part(void *self, size_t of, const char *word, struct hand_file *out, struct error *err);
/* The parts are not needed any more: remove their folder, if there was a cut. */
int cut_forget(struct applying *a, struct error *err);

/* live_cells.c: each cell of the files beside the live ones, by scans in parallel. */
int table_prove(struct applied *t, struct error *err);

#endif
