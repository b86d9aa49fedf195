/* key_qualifier.h - builds computed qualifiers from FIELD=VALUE operands (inside pipeline/cli/command only) */
#ifndef SALTMILL_CMD_KEY_QUALIFIER_H
#define SALTMILL_CMD_KEY_QUALIFIER_H

#include "key.h"

/*
 * Append the qualifier of the first computed column whose fields all have values. Sets *column to
 * its description. Returns RC_CONFIG if there is no such column, or if a value does not fit.
 */
int key_qualifier_build(const struct key_values *g, const struct key_table *k,
			const struct cell_spec **column, struct buf *out, struct error *err);

#endif
