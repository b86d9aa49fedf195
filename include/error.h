/*
 * error.h - result codes, error messages, progress sentences, and reasons of rejects
 *
 * Fallible functions return an int: 0, RC_END (iterators only) or a negative RC_*. The last
 * parameter of such a function is a struct error that the caller owns. The function that detects an
 * error writes the sentence with found and expected values. The callers of that function add the
 * path and line before the sentence. Only pipeline/cli/command prints messages.
 */
#ifndef SALTMILL_ERROR_H
#define SALTMILL_ERROR_H

#include <stdarg.h>
#include <stddef.h>

#include "bytes.h"

enum {
	RC_OK = 0,
	RC_END = 1,	 /* an iterator has no more items */
	RC_IO = -1,	 /* the system failed, for example disk, file or network */
	RC_MEMORY = -2,	 /* an allocation failed */
	RC_DATA = -3,	 /* the input does not match the job; a bad row is a reject instead */
	RC_ORDER = -4,	 /* keys are out of order, because of a bug of saltmill or a damaged file */
	RC_LIMIT = -5,	 /* a size exceeds a documented limit */
	RC_CONFIG = -6,	 /* the job file or the command line is wrong; exit status 2 */
	RC_STOPPED = -7, /* SIGINT or SIGTERM came */
	RC_BUSY = -8	 /* another process uses the file or folder; exit status 2 */
};

struct error {
	int code;
	char msg[760];
};

#define ERROR_FORMAT(f, a) __attribute__((format(printf, f, a)))

/* Write the sentence and return `code`, as in `return error_set(err, RC_DATA, "...")`. */
int error_set(struct error *err, int code, const char *fmt, ...) ERROR_FORMAT(3, 4);

/* Write the sentence as error_set does, and append ": " and strerror(errno). Always returns RC_IO.
 */
int error_errno(struct error *err, const char *fmt, ...) ERROR_FORMAT(2, 3);

/* Write "out of memory: N bytes for WHAT". Always returns RC_MEMORY. */
int error_memory(struct error *err, size_t bytes, const char *what);

/* Put text before the sentence. Returns err->code. */
int error_prefix(struct error *err, const char *fmt, ...) ERROR_FORMAT(2, 3);

/* A receiver of progress sentences. If `hear` is NULL, the listener drops all sentences. */
struct listener {
	void (*hear)(void *ctx, const char *sentence);
	void *ctx;
};

/* Pass a sentence of any length to `l`, unless `l` or l->hear is NULL. */
void report_to(const struct listener *l, const char *fmt, ...) ERROR_FORMAT(2, 3);
void vreport_to(const struct listener *l, const char *fmt, va_list ap) ERROR_FORMAT(2, 0);

/* --- rejects: reasons why a load omits events --- */

/*
 * The reason why a load rejected an event. `reason` is a fixed word for counting, such as
 * "bad_number".
 */
struct reject {
	const char *reason;
	const char *field; /* field or column name, or NULL */
	char detail[240];  /* found and expected values */
};

/* Fill *why and return RC_DATA. reject_value puts "found `<value>`, " before the sentence. */
int reject_set(struct reject *why, const char *reason, const char *field, const char *fmt, ...)
	ERROR_FORMAT(4, 5);
int reject_value(struct reject *why, const char *reason, const char *field, struct bytes found,
		 const char *fmt, ...) ERROR_FORMAT(5, 6);

#endif
