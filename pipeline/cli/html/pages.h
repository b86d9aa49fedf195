/* pages.h - writes the pages of a load, a plan and a state; each function appends to `out` */
#ifndef SALTMILL_PAGE_PAGES_H
#define SALTMILL_PAGE_PAGES_H

#include "cli/page.h"

int page_load(struct buf *out, const char *dir, const struct page_files *f, struct error *err);
/*
 * Append the page of a plan. `json` is the file of the plan. `dir` is its folder, or NULL for a
 * single file.
 */
int page_plan(struct buf *out, const char *json, const char *dir, const struct page_files *f,
	      struct error *err);
int page_state(struct buf *out, const char *dir, const struct page_files *f, struct error *err);

#endif
