/*
 * inspect.h - an HFile described as JSON, and that as text
 */
#ifndef SALTMILL_INSPECT_H
#define SALTMILL_INSPECT_H

#include <jansson.h>

#include "hfile.h"

/*
 * Members, in order: path, trailer {}, file_info [{key, value, type, time}], root_index [{offset,
 * bytes, key}], bloom {}, block_types [{type, count, disk_bytes, plain_bytes}] and, with each,
 * blocks [{offset, type, disk_bytes, plain_bytes, previous}].  When a block is damaged the rest
 * is there and the result is negative; the caller owns *out in any case.
 */
int inspect_file(json_t *out, struct hfile *f, bool each_block, struct error *err);

/* A cell as {row, column, timestamp, time, type, value}. */
json_t *inspect_cell(const struct cell *c);
/* \xHH form. */
json_t *inspect_bytes(struct bytes v);

/*
 * A description as text: an object as aligned names and values, an array of objects as a table, of
 * which the first rows alone are shown unless all is asked; appended to out.
 */
void inspect_text(struct buf *out, json_t *description, bool all);
/* A cell as a line.  widths, {3, 6} at first, grow with what was seen: no cell is held back. */
void inspect_cell_text(struct buf *out, const struct cell *c, int widths[2]);

#endif
