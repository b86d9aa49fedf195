/* options.c - finds options in the table (options.h) */
#include "options.h"

#include <string.h>

#include "bytes.h"

static bool is_of(const struct cli_option *o, const struct command *c)
{
	return !o->of || word_in(o->of, c->name);
}

/* Returns true if the command has another option of this name. */
static bool is_replaced(const struct cli_option *o, const struct command *c)
{
	for (const struct cli_option *const *t = option_tables; *t; t++)
		for (const struct cli_option *row = *t; row->name || row->letter; row++)
			if (row->name && strcmp(row->name, o->name) == 0 && is_of(row, c))
				return true;
	return false;
}

const struct cli_option *option_next(struct option_place *at, const struct command *c, bool listed)
{
	for (; option_tables[at->table]; at->table++, at->row = 0) {
		const struct cli_option *row = option_tables[at->table] + at->row;

		for (; row->name || row->letter; row++, at->row++)
			if (is_of(row, c) || (!listed && row->anywhere && !is_replaced(row, c))) {
				at->row++;
				return row;
			}
	}
	return NULL;
}
