/*
 * progress_text.h - where a run stands, in a line
 */
#ifndef SALTMILL_PROGRESS_TEXT_H
#define SALTMILL_PROGRESS_TEXT_H

#include "bytes.h"
#include "run.h"
#include "apply.h"
#include "form.h"

/*
 * Append "reading 5%, 3 s left, 1,200 events, 64 KB of 1.2 MB, 45,000 events/s" for a phase that
 * has gone on for so many seconds, what matters most in front: its share and the time left where
 * the whole is known, then what it tells (run.h); of phases that cannot tell how far they are
 * "publishing, 3 s"; without counts the phase's name alone.
 */
void progress_text(struct buf *out, const struct progress *p, double seconds, bool counts);

/*
 * --- where a stream stands, in a line ---
 */

struct stream_view {
	uint64_t lag, loads;
	double rate;	    /* events a second, over the last minute */
	uint64_t cut;	    /* offsets of the open cut; 0: it is empty */
	double cut_age_s;   /* since its first event was seen */
	int loading;	    /* it is being loaded, */
	uint64_t cut_read;  /* and so many of its events were read */
	uint64_t parked;    /* partitions */
	uint64_t waiting;   /* loads that are not in HBase and shall be */
	double published_s; /* since the last publication; below 0: none */
};
/* "lag 1,200 offsets, 350 events/s, open cut 1,200 offsets (3 s), 4 loads, the last 8 s ago" */
void stream_text(struct buf *out, const struct stream_view *w);
/* A load that was handed over to HBase. */
struct applied_view {
	const char *name, *dir;
	uint64_t cells, files;
	const int64_t *ms; /* of each phase (follow.h) */
};
/* "00000002: in HBase, 1,200 cells in 4 files, 0.61 s behind its publication (waited 0.00, ...)" */
void stream_applied_text(struct buf *out, const struct applied_view *w);
/* Name of an enum follow_phase: "waited", "looked"... */
const char *stream_phase(size_t phase);
extern const struct form applied_form, stream_form;
/* The same as one line of JSON, without its end. */
void stream_applied_json(struct buf *out, const struct applied_view *w);
/* A load that was published, in the same way. */
void stream_load_json(struct buf *out, const char *name, uint64_t read, uint64_t rejected,
		      const char *dir);

#endif
