/* load_state.h - the state that the phases of one load share (private to this folder) */
#ifndef SALTMILL_LOAD_STATE_H
#define SALTMILL_LOAD_STATE_H

#include "cut.h"
#include "half_reports.h"
#include "load.h"
#include "sorter.h"
#include "splits.h"

/* One table of the load. */
struct load_table {
	const struct job_table *job;
	struct sorter *sorter; /* owned by the pass; NULL after writing */
	char *dir;	       /* in the staging folder */
	struct cut_table cut;
	/* [families] in the result's arena, NULL if the job has no `level: auto` */
	struct hfile_tuning *tuned;
	struct splits splits;
	size_t wanted;		    /* wanted number of regions; heavy rows may cause fewer */
	double disk_per_byte;	    /* predicted bytes on disk for each cell byte, or 0 */
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
	char *temp;	  /* a local folder if the staging folder is remote */
	const char *work; /* temp, or the staging folder */
	struct maps maps; /* the maps of `unite` */
	/* [tables][regions], in the arena of `maps`: the rows of all maps */
	struct region_total **totals;
	struct reduced_file *reduced; /* [nreduced], see load_unite.c */
	size_t nreduced;
	bool brings;	  /* reduced files may already be in the staging folder */
	int64_t epoch_ms; /* SOURCE_DATE_EPOCH in ms, -1 if not set */
	struct load_table *tables;
};

/* Copy the counts of reading into the manifest. */
void load_note_reading(struct load *l);
/* Use the results of maps and reduces (load_unite.c). */
int load_take_maps(struct load *l, struct error *err);
int load_take_reduces(struct load *l, struct error *err);
/*
 * Move the files of the reduces into the staging folder. Call this function after the check of all
 * limits. Do nothing if this process wrote the files.
 */
int load_bring_files(struct load *l, struct error *err);
/*
 * Move the files of reduces from the staging folder back to the reduces' folders. This function is
 * a struct staging_rescue, and `ctx` is the load.
 */
int load_give_back(void *ctx, struct storage *s, const char *folder, struct error *err);
/* Choose write_threads after reading. Reserve their memory, even if the sum exceeds the budget. */
void load_reserve_writing(struct load *l);
/*
 * Link or copy a file of `folder` into the staging folder, and check its digest. If the file
 * differs from `f`, the message gives the advice `again`.
 */
int load_take_file(struct staging *s, const char *folder, const struct manifest_file *f,
		   const char *again, struct error *err);
/* Release everything that only the writing needs. */
void load_end_writing(struct load *l);

/*
 * Return RC_IO if the temporary folder is too small for the rest of the input. The prediction
 * begins after enough bytes have gone to disk. Any thread may call this function.
 */
int load_space_reading(struct load *l, struct error *err);
/*
 * Return RC_IO if the output's disk is too small for the HFiles. Call this function after reading.
 * The function may write samples in `work_dir`.
 */
int load_space_writing(struct load *l, const char *work_dir, struct error *err);

/*
 * Return RC_DATA if more events overwrite each other than the run allows. Call this function with a
 * complete manifest.
 */
int load_check_duplicates(struct load *l, struct error *err);
/* Describe the cells that delete markers hide, in hidden_cells and lost_cells of the result. */
void load_tell_hidden(struct load *l);
/*
 * Return RC_DATA if a table has fewer rows than the run expects, or if more events than `max_share`
 * break the rules of a field (load_guards.c).
 */
int load_check_guards(const struct load *l, struct rejects *rejects, struct error *err);

/* Write scripts, counts and manifest, then publish by one rename. */
int load_publish(struct load *l, struct error *err);

#endif
