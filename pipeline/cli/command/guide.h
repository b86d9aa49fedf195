/*
 * guide.h - the chapters of conf/guide, which the build puts into the program
 */
#ifndef SALTMILL_GUIDE_H
#define SALTMILL_GUIDE_H

#include "bytes.h"

/* Return the name of chapter i, in the order of their file names; NULL after the last. */
const char *guide_name(size_t i);
/* Return a chapter's Markdown; NULL: there is no such chapter. */
const char *guide_chapter(const char *name);

/* Append a line per chapter: its name and title. */
void guide_list(struct buf *out);
/* Append the manual page saltmill-NAME(7). */
void guide_man(struct buf *out, const char *name);

#endif
