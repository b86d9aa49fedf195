/* cell.c - compare cells */
#include "cell.h"

const char *cell_type_name(unsigned type)
{
	switch (type) {
	case CELL_PUT: return "Put";
	case CELL_DELETE: return "Delete";
	case CELL_DELETE_FAMILY_VERSION: return "DeleteFamilyVersion";
	case CELL_DELETE_COLUMN: return "DeleteColumn";
	case CELL_DELETE_FAMILY: return "DeleteFamily";
	case CELL_MAXIMUM: return "Maximum";
	default: return "unknown";
	}
}

bool cell_type_known(unsigned type)
{
	return type == CELL_PUT ||
	       (type >= CELL_DELETE && type <= CELL_DELETE_FAMILY && type % 2 == 0);
}

int cell_in_row_cmp(const struct cell *a, const struct cell *b)
{
	/* cells of one file or row usually point to the same bytes of the family */
	bool same = a->family.ptr == b->family.ptr && a->family.len == b->family.len;
	int c = same ? 0 : bytes_cmp(a->family, b->family);

	if (c == 0)
		c = bytes_cmp(a->qualifier, b->qualifier);
	if (c == 0)
		c = (a->ts < b->ts) - (a->ts > b->ts);
	return c ? c : (a->type < b->type) - (a->type > b->type);
}

int cell_key_cmp(const struct cell *a, const struct cell *b)
{
	int c = bytes_cmp(a->row, b->row);

	return c ? c : cell_in_row_cmp(a, b);
}
