/* positions.h - positions in topics, as commands take them: "3=1200" or "orders/3=1200" */
#ifndef SALTMILL_CMD_POSITIONS_H
#define SALTMILL_CMD_POSITIONS_H

#include "error.h"
#include "event.h"
#include "mem.h"

/*
 * Parse `n` words into `n` ranges, sorted by topic and partition. The offset of a word becomes both
 * ends of its range. Returns RC_CONFIG if a word has another form, or if two words name the same
 * partition. The ranges point into the words, which this function changes.
 */
int positions_parse(char **words, size_t n, struct offset_range *to, struct error *err);
/* Parse a list with commas as positions_parse parses words. The arena owns the ranges. */
int positions_split(const char *text, struct arena *arena, struct offset_range **out, size_t *n,
		    struct error *err);

#endif
