/* decoded.h - writes cells of an answer as the fields of the job (inside pipeline/cli/text only) */
#ifndef SALTMILL_SHOW_DECODED_H
#define SALTMILL_SHOW_DECODED_H

#include "cli/answer.h"

struct decoded *decoded_new(const struct answer_decoding *how, enum answer_format format);
void decoded_free(struct decoded *d); /* `d` may be NULL */
/*
 * Appends a cell. Returns RC_DATA if the job does not write this key or value. Returns RC_CONFIG if
 * the column has no place in a line.
 */
int decoded_cell(struct decoded *d, struct buf *out, const struct cell *c, bool new_row,
		 struct error *err);
void decoded_end(struct decoded *d, struct buf *out);

#endif
