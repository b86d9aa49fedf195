/*
 * page.h - makes an HTML page about a published load, a plan or a state folder
 *
 * The code is in pipeline/cli/html. The page works without network and without scripts. A script
 * only adds sorting and tooltips. The page uses the light or dark scheme of the browser and has a
 * style for paper. All figures come from the folder. For a load, they come from the manifest, the
 * rejects and the indexes of the HFiles. For a plan, they come from plan.json, and for a state from
 * its records. The same folder gives the same bytes.
 *
 * The page contains no measurement of the machine, unless the caller passes the output of `load
 * --json`.
 */
#ifndef SALTMILL_PAGE_H
#define SALTMILL_PAGE_H

#include "bytes.h"
#include "error.h"
#include "run.h"

/*
 * JSON files with further figures, which other commands printed. If a member is NULL, the page
 * omits the figures of that file.
 */
struct page_files {
	const char *timings;	   /* output of `load --json` */
	const char *lint;	   /* output of `lint --json` or `plan --json` */
	struct progress *progress; /* NULL if nobody watches the progress */
};

/*
 * Append the page about `path` to `out`. `path` is the folder of a load, a plan or a state, or a
 * file with the output of `plan --json`. Sets *kind to the kind of page. Returns RC_DATA or RC_IO
 * if `path` is none of these, or if it cannot read `path`.
 */
int page_make(struct buf *out, const char *path, const struct page_files *files, const char **kind,
	      struct error *err);

struct design_result;
/*
 * Append the page of `design`. The page has the designs as a table. For each recommended design, it
 * has the row keys, the blocks of each drawn question, and the regions that the events write over
 * time.
 */
void page_design(struct buf *out, const struct design_result *r);

struct watch;
/*
 * Append the page of `watch`: the hot spot, a heat map of reads and one of writes, and a table of
 * the regions. `wall_ms` is the time of the newest reading.
 */
void page_watch(struct buf *out, const struct watch *w, int64_t wall_ms);

#endif
