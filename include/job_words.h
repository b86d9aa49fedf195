/*
 * job_words.h - the job file's keys as a person, an editor or a page is told of them
 *
 * Implemented in pipeline/job, from the very tables that read a job file.
 */
#ifndef SALTMILL_JOB_WORDS_H
#define SALTMILL_JOB_WORDS_H

#include <stdbool.h>

#include "bytes.h"

struct job_key {
	const char *path; /* "tables[].families.NAME.ttl": [] an item of a list, NAME any name */
	const char *name; /* its last part */
	const char *of;	  /* what it is a key of: "a family" */
	const char *form; /* "a size like 64K", "one of last, first, error" */
	const char *standard; /* the default; NULL: none */
	const char *sentence, *example;
	unsigned depth; /* 0: of the file itself */
	bool required;
};

/*
 * Show each key to see(), one above those that stand in it.  Keys that stand in several places
 * (the parts of row keys and qualifiers) are shown in the first.  The texts hold until see()
 * returns.
 */
void job_words(void (*see)(void *ctx, const struct job_key *key), void *ctx);

/* Append the JSON Schema (draft 2020-12) of a job file, for editors; ends with a line end. */
void job_words_json_schema(struct buf *out);

#endif
