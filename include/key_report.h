/*
 * key_report.h - row keys as text or JSON
 *
 * Implemented in pipeline/show.
 */
#ifndef SALTMILL_KEY_REPORT_H
#define SALTMILL_KEY_REPORT_H

#include "key.h"

/* A line: "salt 5, userId 7, movieId 42", or {"row": ..., "salt": 5, "key": {"userId": 7, ...}}. */
void key_report(struct buf *out, const struct key_table *k, struct bytes key,
		const struct key_piece *pieces, bool json);

#endif
