/*
 * reject.h - why an event was not taken, in words (inside pipeline/row only)
 */
#ifndef SALTMILL_ROW_REJECT_H
#define SALTMILL_ROW_REJECT_H

#include "event.h"

/* Both return RC_DATA.  reject_value puts "found `<value>`, " in front of the sentence. */
int reject_set(struct reject *why, const char *reason, const char *field, const char *fmt, ...)
	ERROR_FORMAT(4, 5);
int reject_value(struct reject *why, const char *reason, const char *field, struct bytes found,
		 const char *fmt, ...) ERROR_FORMAT(5, 6);

#endif
