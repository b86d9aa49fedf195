/*
 * page.h - one page of HTML about a published load, for people
 *
 * Implemented in pipeline/page.  The page needs no network and no script, follows the reader's
 * light or dark scheme, and can be printed; every figure is of the manifest, the rejects or the
 * HFiles' indexes.  What depends on the load alone is always the same bytes.
 */
#ifndef SALTMILL_PAGE_H
#define SALTMILL_PAGE_H

#include "bytes.h"
#include "error.h"

/* The page of the load in the folder dir, appended to out.  RC_DATA, RC_IO: dir is no load. */
int page_load(struct buf *out, const char *dir, struct error *err);

#endif
