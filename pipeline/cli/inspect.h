/*
 * inspect.h - prints the contents of an HFile as JSON and as text
 */
#ifndef SALTMILL_INSPECT_H
#define SALTMILL_INSPECT_H

#include "form.h"
#include "hfile.h"

struct inspection;
/* Return a new inspection, never NULL. path is the path that the user gave. */
struct inspection *inspection_new(const char *path);
void inspection_free(struct inspection *d);
/*
 * Read the contents of the file into `d`. If `each_block` is true, also list all blocks. Returns a
 * negative code if a block is damaged. `d` then contains the other parts.
 */
int inspect_file(struct inspection *d, struct hfile *f, bool each_block, struct error *err);

extern const struct form inspect_form;
/* Append the JSON without its closing brace, so that the caller can add cells or an error. */
void inspect_json(struct buf *out, const struct inspection *d);
/*
 * Append the contents as tables. If `all` is true, print every entry of the root index, not only
 * the first ones.
 */
void inspect_text(struct buf *out, const struct inspection *d, bool all);

/* Append a cell as JSON, on one line. */
void inspect_cell_json(struct buf *out, const struct cell *c);
/*
 * Append a cell as one line. Initialize `widths` to {3, 6}. The widths grow with the cells, so that
 * the command can print each cell at once.
 */
void inspect_cell_text(struct buf *out, const struct cell *c, int widths[2]);

/*
 * The result of hfile_salvage. Add each lost range (the `lost` of hfile_salvage), then the counts. The
 * report keeps `from` and `to`.
 */
struct salvage_report;
struct salvage_report *salvage_report_new(const char *from, const char *to);
void salvage_report_free(struct salvage_report *r);
void salvage_report_add(void *report, const struct hfile_loss *l);
void salvage_report_end(struct salvage_report *r, const struct hfile_salvaged *s);
/* Append the lost ranges, the counts, or both as JSON. */
void salvage_losses_text(struct buf *text, const struct salvage_report *r);
void salvage_result_text(struct buf *text, const struct salvage_report *r);
extern const struct form salvage_form;
void salvage_json(struct buf *out, const struct salvage_report *r);

#endif
