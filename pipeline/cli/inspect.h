/*
 * inspect.h - the contents of an HFile, as JSON and as text
 */
#ifndef SALTMILL_INSPECT_H
#define SALTMILL_INSPECT_H

#include "form.h"
#include "hfile.h"

struct inspection;
/* path: as the command names it.  Never NULL. */
struct inspection *inspection_new(const char *path);
void inspection_free(struct inspection *d);
/*
 * Collect what the file contains; each_block: also a list of all blocks.  If a block is damaged,
 * the result is negative and *d contains the rest.
 */
int inspect_file(struct inspection *d, struct hfile *f, bool each_block, struct error *err);

extern const struct form inspect_form;
/* Append the JSON without its closing brace, so that cells or an error can follow. */
void inspect_json(struct buf *out, const struct inspection *d);
/* Append tables; all: every entry of the root index, not only the first ones. */
void inspect_text(struct buf *out, const struct inspection *d, bool all);

/* Append a cell as JSON, on one line. */
void inspect_cell_json(struct buf *out, const struct cell *c);
/* Append a cell as a line.  widths start as {3, 6} and grow, so no cell waits for later ones. */
void inspect_cell_text(struct buf *out, const struct cell *c, int widths[2]);

#endif
