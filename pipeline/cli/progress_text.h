/*
 * progress_text.h - describes the progress of a run in one line
 */
#ifndef SALTMILL_PROGRESS_TEXT_H
#define SALTMILL_PROGRESS_TEXT_H

#include "bytes.h"
#include "run.h"
#include "apply.h"
#include "form.h"

/*
 * Append a line such as "reading 5%, 3 s left, 1,200 events, 64 KB of 1.2 MB, 45,000 events/s".
 * `seconds` is the age of the phase. If the total is known, the share and the time left come first.
 * For a phase without counts, the line is like "publishing, 3 s". If `counts` is false, append only
 * the name of the phase.
 */
void progress_text(struct buf *out, const struct progress *p, double seconds, bool counts);

/* --- the status line of a stream --- */

struct stream_view {
	uint64_t lag, loads;
	double rate;	    /* events per second in the last minute */
	uint64_t cut;	    /* offsets of the open cut; 0 for an empty cut */
	double cut_age_s;   /* seconds since the first event of the cut arrived */
	int loading;	    /* 1 during the load of the cut */
	uint64_t cut_read;  /* events of the cut so far */
	uint64_t parked;    /* number of parked partitions */
	uint64_t waiting;   /* published loads that are not in HBase yet */
	double published_s; /* seconds since the last publication; negative if there was none */
};
/*
 * Append "lag 1,200 offsets, 350 events/s, open cut 1,200 offsets (3 s), 4 loads, the last 8 s
 * ago".
 */
void stream_text(struct buf *out, const struct stream_view *w);
/* A load that is now in HBase. */
struct applied_view {
	const char *name, *dir;
	uint64_t cells, files;
	const int64_t *ms; /* milliseconds of each phase (follow.h) */
};
/*
 * Append "00000002: in HBase, 1,200 cells in 4 files, 0.61 s after publication (waited 0.00, ...)".
 */
void stream_applied_text(struct buf *out, const struct applied_view *w);
/* Return the name of an enum follow_phase: "waited", "looked"... */
const char *stream_phase(size_t phase);
extern const struct form applied_form, stream_form;
/* Append the applied load as one line of JSON, without a line feed. */
void stream_applied_json(struct buf *out, const struct applied_view *w);
/* Append a published load as one line of JSON, without a line feed. */
void stream_load_json(struct buf *out, const char *name, uint64_t read, uint64_t rejected,
		      const char *dir);

#endif
