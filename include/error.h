/*
 * error.h - result codes, the sentence that goes with them, and who listens to sentences
 *
 * Fallible functions return int: 0, RC_END (iterators only) or a negative RC_*.  Their last
 * parameter is a caller-owned struct error.  Who detects the fault writes the sentence (what was
 * found, what was expected); who knows more puts it in front (path, line).  Only
 * pipeline/cli/command prints.
 */
#ifndef SALTMILL_ERROR_H
#define SALTMILL_ERROR_H

#include <stdarg.h>
#include <stddef.h>

#include "bytes.h"

enum {
	RC_OK = 0,
	RC_END = 1,	 /* iterators: nothing more */
	RC_IO = -1,	 /* the system refused: disk, file, network */
	RC_MEMORY = -2,	 /* an allocation failed, in a room that gives it back as an error */
	RC_DATA = -3,	 /* the input is not what the job says; a row's fault is a reject */
	RC_ORDER = -4,	 /* keys out of order: a bug of ours or a damaged file */
	RC_LIMIT = -5,	 /* larger than a documented limit */
	RC_CONFIG = -6,	 /* the job file or the command line is wrong: exit status 2 */
	RC_STOPPED = -7, /* SIGINT or SIGTERM */
	RC_BUSY = -8	 /* another process has it: exit status 2 */
};

struct error {
	int code;
	char msg[760];
};

#define ERROR_FORMAT(f, a) __attribute__((format(printf, f, a)))

/* Write the sentence and return code, for `return error_set(err, RC_DATA, "...")`. */
int error_set(struct error *err, int code, const char *fmt, ...) ERROR_FORMAT(3, 4);

/* The same with ": " and strerror(errno) behind it; always RC_IO. */
int error_errno(struct error *err, const char *fmt, ...) ERROR_FORMAT(2, 3);

/* "out of memory: so many bytes for WHAT"; always RC_MEMORY. */
int error_memory(struct error *err, size_t bytes, const char *what);

/* Put text in front of the sentence that is there; returns err->code. */
int error_prefix(struct error *err, const char *fmt, ...) ERROR_FORMAT(2, 3);

/* Who hears how a run goes on, a sentence at a time.  hear NULL: nobody. */
struct listener {
	void (*hear)(void *ctx, const char *sentence);
	void *ctx;
};

/* Report a sentence of any length.  It writes none if l or l->hear is NULL. */
void report_to(const struct listener *l, const char *fmt, ...) ERROR_FORMAT(2, 3);
void vreport_to(const struct listener *l, const char *fmt, va_list ap) ERROR_FORMAT(2, 0);

/*
 * --- why an event was not taken, in words ---
 */

/* Why an event was not taken.  reason is a fixed slug for counting ("bad_number"). */
struct reject {
	const char *reason;
	const char *field; /* field or column name, or NULL */
	char detail[240];  /* what was found and what was expected */
};

/* Both return RC_DATA.  reject_value puts "found `<value>`, " in front of the sentence. */
int reject_set(struct reject *why, const char *reason, const char *field, const char *fmt, ...)
	ERROR_FORMAT(4, 5);
int reject_value(struct reject *why, const char *reason, const char *field, struct bytes found,
		 const char *fmt, ...) ERROR_FORMAT(5, 6);

#endif
