/*
 * guide.h - the chapters of conf/guide, which the build embeds into the program
 */
#ifndef SALTMILL_GUIDE_H
#define SALTMILL_GUIDE_H

#include "bytes.h"

/* Return the name of chapter `i`, in the order of file names, or NULL after the last chapter. */
const char *guide_name(size_t i);
/* Return a chapter's Markdown, or NULL if there is no such chapter. */
const char *guide_chapter(const char *name);

/* Append a line for each chapter, with its name and title. */
void guide_list(struct buf *out);
/* Append the manual page saltmill-NAME(7). */
void guide_man(struct buf *out, const char *name);

#endif
