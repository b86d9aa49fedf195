/*
 * error.h - result codes, error messages, progress sentences, and reasons of rejects
 *
 * Fallible functions return an int: 0, RC_END (iterators only) or a negative RC_*. Their last
 * parameter is a struct error that the caller owns. The function that detects an error writes the
 * sentence: what was found, what was expected. Callers that know more put it before the sentence
 * (path, line). Only pipeline/cli/command prints.
 */
#ifndef SALTMILL_ERROR_H
#define SALTMILL_ERROR_H

#include <stdarg.h>
#include <stddef.h>

#include "bytes.h"

enum {
	RC_OK = 0,
	RC_END = 1,	 /* iterators: no more items */
	RC_IO = -1,	 /* the system failed: disk, file, network */
	RC_MEMORY = -2,	 /* an allocation failed, in code that returns this as an error */
	RC_DATA = -3,	 /* the input does not match the job; a bad row is a reject instead */
	RC_ORDER = -4,	 /* keys out of order: a bug of saltmill or a damaged file */
	RC_LIMIT = -5,	 /* larger than a documented limit */
	RC_CONFIG = -6,	 /* the job file or the command line is wrong: exit status 2 */
	RC_STOPPED = -7, /* SIGINT or SIGTERM */
	RC_BUSY = -8	 /* another process uses it: exit status 2 */
};

struct error {
	int code;
	char msg[760];
};

#define ERROR_FORMAT(f, a) __attribute__((format(printf, f, a)))

/* Write the sentence and return code: `return error_set(err, RC_DATA, "...")`. */
int error_set(struct error *err, int code, const char *fmt, ...) ERROR_FORMAT(3, 4);

/* The same with ": " and strerror(errno) appended; always RC_IO. */
int error_errno(struct error *err, const char *fmt, ...) ERROR_FORMAT(2, 3);

/* Write "out of memory: N bytes for WHAT"; always RC_MEMORY. */
int error_memory(struct error *err, size_t bytes, const char *what);

/* Put text before the sentence; returns err->code. */
int error_prefix(struct error *err, const char *fmt, ...) ERROR_FORMAT(2, 3);

/* A receiver of progress sentences. hear NULL: they are dropped. */
struct listener {
	void (*hear)(void *ctx, const char *sentence);
	void *ctx;
};

/* Report a sentence of any length. Nothing is written if l or l->hear is NULL. */
void report_to(const struct listener *l, const char *fmt, ...) ERROR_FORMAT(2, 3);
void vreport_to(const struct listener *l, const char *fmt, va_list ap) ERROR_FORMAT(2, 0);

/* --- rejects: why an event was not taken --- */

/* Why an event was rejected. reason is a fixed slug for counting ("bad_number"). */
struct reject {
	const char *reason;
	const char *field; /* field or column name, or NULL */
	char detail[240];  /* what was found and what was expected */
};

/* Fill *why and return RC_DATA. reject_value puts "found `<value>`, " before the sentence. */
int reject_set(struct reject *why, const char *reason, const char *field, const char *fmt, ...)
	ERROR_FORMAT(4, 5);
int reject_value(struct reject *why, const char *reason, const char *field, struct bytes found,
		 const char *fmt, ...) ERROR_FORMAT(5, 6);

#endif
