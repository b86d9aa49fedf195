/*
 * reject.h - why an event was not taken, in words
 */
#ifndef SALTMILL_REJECT_H
#define SALTMILL_REJECT_H

#include "bytes.h"
#include "error.h"

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
