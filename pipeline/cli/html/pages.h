/* pages.h - writes the three kinds of page; each function appends to out */
#ifndef SALTMILL_PAGE_PAGES_H
#define SALTMILL_PAGE_PAGES_H

#include "cli/page.h"

int page_load(struct buf *out, const char *dir, const struct page_files *f, struct error *err);
/* json: the plan's file; dir: its folder, or NULL for a single file. */
int page_plan(struct buf *out, const char *json, const char *dir, const struct page_files *f,
	      struct error *err);
int page_state(struct buf *out, const char *dir, const struct page_files *f, struct error *err);

#endif
