/* load_state.h - what the phases of one load share (inside pipeline/load/phases only) */
#ifndef SALTMILL_LOAD_STATE_H
#define SALTMILL_LOAD_STATE_H

#include "cut.h"
#include "load.h"
#include "sorter.h"
#include "splits.h"

/* One table of the load. */
struct load_table {
	const struct job_table *job;
	struct sorter *sorter; /* owned by the pass; NULL after writing */
	char *dir;	       /* in the staging folder */
	struct cut_table cut;
	/* [families] in the result's arena; NULL: the job asks for no tuning */
	struct hfile_tuning *tuned;
	struct splits splits;
	size_t wanted;		    /* wanted regions; heavy rows can make fewer */
	double disk_per_byte;	    /* predicted before writing; 0: no rows */
	struct cut_result *results; /* [splits.count + 1] */
};

struct load {
	const struct job *job;
	const struct load_options *opt;
	struct progress *progress;
	struct load_result *result;
	struct pass pass;
	unsigned threads, write_threads; /* threads of the pass, and threads for writing */
	uint64_t reserved;		 /* bytes of the budget for writing */
	struct {
		atomic_flag busy; /* guards the members below */
		_Atomic bool checked;
		bool begun;
		/* bytes spilled, and bytes of input read, when spilling began */
		uint64_t spilled, done;
	} space;
	struct staging *staging;
	char *temp;		      /* a local folder if the staging folder is remote */
	const char *work;	      /* temp, or the staging folder */
	struct maps maps;	      /* of `unite` */
	struct reduced_file *reduced; /* [nreduced]; load_unite.c */
	size_t nreduced;
	bool brings;	  /* some reduced files may already be in the staging folder */
	int64_t epoch_ms; /* SOURCE_DATE_EPOCH; -1: none */
	struct load_table *tables;
};

/* Copy the counts of reading into the manifest. */
void load_note_reading(struct load *l);
/* load_unite.c: take what maps have read and reduces have written. */
int load_take_maps(struct load *l, struct error *err);
int load_take_reduces(struct load *l, struct error *err);
/*
 * All limits are kept: move the files of the reduces into the staging folder. Does nothing if this
 * process wrote them.
 */
int load_bring_files(struct load *l, struct error *err);
/* A struct staging_rescue, ctx is the load: move files that reduces sent back to their folders. */
int load_give_back(void *ctx, struct storage *s, const char *folder, struct error *err);
/* After reading: decide write_threads and force their memory on the budget. */
void load_reserve_writing(struct load *l);
/*
 * Put a file of the folder into the staging folder, linked if possible, and prove its digest.
 * again: the advice if it differs from f.
 */
int load_take_file(struct staging *s, const char *folder, const struct manifest_file *f,
		   const char *again, struct error *err);
/* Release everything that only writing needed. */
void load_end_writing(struct load *l);

/*
 * RC_IO: the temporary folder will not hold the rest. Predicts once enough is spilled. Any thread.
 */
int load_space_reading(struct load *l, struct error *err);
/*
 * After reading. RC_IO: the output's disk will not hold the HFiles. May write samples in work_dir.
 */
int load_space_writing(struct load *l, const char *work_dir, struct error *err);

/* After describing. RC_DATA: more events overwrite each other than the run allows. */
int load_check_duplicates(struct load *l, struct error *err);
/* load_guards.c: RC_DATA: a table has less than the run expects. */
int load_check_guards(const struct load *l, struct error *err);

/* Write scripts, counts and manifest, then publish by one rename. */
int load_publish(struct load *l, struct error *err);

#endif
