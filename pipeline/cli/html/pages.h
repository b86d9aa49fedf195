/* pages.h - the three kinds of page, each appended to out */
#ifndef SALTMILL_PAGE_PAGES_H
#define SALTMILL_PAGE_PAGES_H

#include "cli/page.h"

int page_load(struct buf *out, const char *dir, const struct page_files *f, struct error *err);
/* json: the file; dir: the folder that it is in, NULL: it stands alone. */
int page_plan(struct buf *out, const char *json, const char *dir, const struct page_files *f,
	      struct error *err);
int page_state(struct buf *out, const char *dir, const struct page_files *f, struct error *err);

#endif
