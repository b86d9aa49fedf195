/*
 * decoded.h - cells of an answer as the fields they were made of (inside pipeline/cli/text only)
 */
#ifndef SALTMILL_SHOW_DECODED_H
#define SALTMILL_SHOW_DECODED_H

#include "cli/answer.h"

struct decoded *decoded_new(const struct answer_decoding *how, enum answer_format format);
void decoded_free(struct decoded *d); /* NULL is fine */
/* RC_DATA: a key or a value that the job does not write; RC_CONFIG: a column that has no place. */
int decoded_cell(struct decoded *d, struct buf *out, const struct cell *c, bool new_row,
		 struct error *err);
void decoded_end(struct decoded *d, struct buf *out);

#endif
