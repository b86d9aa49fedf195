/*
 * load_state.h - what the phases of one load share; only load.c and load_publish.c see it
 */
#ifndef SALTMILL_LOAD_STATE_H
#define SALTMILL_LOAD_STATE_H

#include "cut.h"
#include "load.h"
#include "sorter.h"
#include "splits.h"

/* One table on its way. */
struct load_table {
	const struct job_table *job;
	struct sorter *sorter; /* of the pass; NULL once all is written */
	char *dir;	       /* below the staging folder */
	struct cut_table cut;
	struct hfile_tuning *tuned; /* [families] in the result's arena; NULL: none asked */
	struct splits splits;
	size_t wanted;	      /* regions; fewer come out when rows are heavier than a region */
	double disk_per_byte; /* predicted before anything is written; 0: no rows */
	struct cut_result *results; /* [splits.count + 1] */
};

struct load {
	const struct job *job;
	const struct load_options *opt;
	struct progress *progress;
	struct load_result *result;
	struct pass pass;
	unsigned threads, write_threads; /* of the pass; of those, for writing */
	uint64_t reserved;		 /* on the budget, for writing */
	struct {
		atomic_flag busy; /* for what is below */
		_Atomic bool checked;
		bool begun;
		uint64_t spilled, done; /* bytes when spilling began, and of input read by then */
	} space;
	struct staging *staging;
	char *temp;	  /* a folder of this machine when the staging folder is elsewhere */
	const char *work; /* that, or the staging folder */
	struct maps maps; /* of load_halves */
	struct reduced_file *reduced; /* [nreduced]; load_unite.c */
	size_t nreduced;
	bool brings;	  /* the first of them may be in the staging folder */
	int64_t epoch_ms; /* SOURCE_DATE_EPOCH; -1: none */
	struct load_table *tables;
};

/* The manifest's counts of what was read. */
void load_note_reading(struct load *l);
/* load_unite.c: reading and writing were done elsewhere. */
int load_take_maps(struct load *l, struct error *err);
int load_take_reduces(struct load *l, struct error *err);
/*
 * All limits are kept: the files of the reduces come to the staging folder.  Nothing to do when
 * they were written here.
 */
int load_bring_files(struct load *l, struct error *err);
/* As struct staging_rescue, ctx is the load: what reduces have sent goes back to where it waited.
 */
int load_give_back(void *ctx, struct storage *s, const char *folder, struct error *err);
/* All is read: decide write_threads and force what they need on the budget. */
void load_reserve_writing(struct load *l);
/*
 * Let the file of the folder stand in the staging one: linked where that can be, and proven.
 * again: what to do when it is another than f says.
 */
int load_take_file(struct staging *s, const char *folder, const struct manifest_file *f,
		   const char *again, struct error *err);
/* Release all that only writing needed. */
void load_end_writing(struct load *l);

/* Once enough was spilled to predict the rest: will the temporary folder hold it?  Any thread. */
int load_space_reading(struct load *l, struct error *err);
/* All is read: will the output's disk hold the HFiles?  Samples may be written in work_dir. */
int load_space_writing(struct load *l, const char *work_dir, struct error *err);

/* All is described: do more events hide each other than a sound row key lets them? */
int load_check_duplicates(struct load *l, struct error *err);
/* load_guards.c: RC_DATA when a table got less than the run was told to expect. */
int load_check_guards(const struct load *l, struct error *err);

/* Scripts, counts, manifest; then the one rename that publishes. */
int load_publish(struct load *l, struct error *err);

#endif
