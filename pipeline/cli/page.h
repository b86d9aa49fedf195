/*
 * page.h - one page of HTML about a published load, a plan or a state folder, for people
 *
 * Implemented in pipeline/cli/html.  The page needs no network and, though a script makes it handier,
 * no script; it follows the reader's light or dark scheme, and can be printed.  Every figure is of
 * what it is about: the manifest, the rejects and the HFiles' indexes of a load, plan.json of a
 * plan, the records of a state.  The same folder gives the same bytes.
 *
 * What depends on the machine is in none of them, as the same input gives the same load whatever
 * the machine: the seconds of the run are in what `load --json` printed.
 */
#ifndef SALTMILL_PAGE_H
#define SALTMILL_PAGE_H

#include "bytes.h"
#include "error.h"
#include "run.h"

/* What is shown besides: paths of JSON that commands printed; NULL: nothing of it. */
struct page_files {
	const char *timings;	   /* `load --json` of the load */
	const char *lint;	   /* `lint --json`, or `plan --json` */
	struct progress *progress; /* NULL: nobody looks */
};

/*
 * The page of what is at path, appended to out: the folder of a load, of a plan or of a state, or
 * a file with what `plan --json` printed.  RC_DATA, RC_IO: it is none; *kind says which it was.
 */
int page_make(struct buf *out, const char *path, const struct page_files *files, const char **kind,
	      struct error *err);

#endif
