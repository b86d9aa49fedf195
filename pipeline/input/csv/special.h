/* special.h - split rows that libcsv cannot split (inside this room) */
#ifndef SALTMILL_SOURCE_SPECIAL_H
#define SALTMILL_SOURCE_SPECIAL_H

#include "input/csv.h"

/* Return true if libcsv cannot read the dialect. */
bool special_needed(const struct csv_source *d);
/*
 * Find the end of the row at `p` < `end`, as the scanner of csv.c does. If `store` is true, set also
 * the columns, which borrow from the text and from r->text.
 */
void special_row(struct csv_reader *r, const uint8_t *p, const uint8_t *end, bool final, bool store,
		 struct csv_row *row);
/*
 * Return the number of bytes up to the last row end that is visible without a scan, or SIZE_MAX if
 * the dialect has none.
 */
size_t special_cut(const struct csv_source *d, const uint8_t *data, size_t len, bool final);

#endif
