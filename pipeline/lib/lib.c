/* lib.c - structs that pass between programs and libraries of different versions */
#include "lib.h"

static size_t size_of(const void *given)
{
	size_t size;

	memcpy(&size, given, sizeof size);
	return size;
}

static int check_size(size_t theirs, size_t ours, const char *what, struct error *err)
{
	/* the structs of the first version have the sizes of today */
	if (theirs >= ours)
		return RC_OK;
	return error_set(err, RC_CONFIG,
			 "%s: found a size of %zu bytes, expected at least %zu; set the member "
			 "size to sizeof of the struct",
			 what, theirs, ours);
}

int lib_take_struct(void *ours, size_t our_bytes, const void *given, const char *what,
		    struct error *err)
{
	size_t theirs = size_of(given);
	const uint8_t *p = given;
	int rc = check_size(theirs, our_bytes, what, err);

	for (size_t i = our_bytes; rc == RC_OK && i < theirs; i++)
		if (p[i])
			return error_set(
				err, RC_CONFIG,
				"%s: found a member at byte %zu, which saltmill " SALTMILL_VERSION
				" does not know; update libsaltmill",
				what, i);
	if (rc == RC_OK)
		memcpy(ours, given, our_bytes);
	return rc;
}

int lib_give_struct(void *given, const void *ours, size_t our_bytes, const char *what,
		    struct error *err)
{
	size_t theirs = size_of(given);
	int rc = check_size(theirs, our_bytes, what, err);

	if (rc)
		return rc;
	memset(given, 0, theirs);
	memcpy(given, ours, our_bytes);
	memcpy(given, &theirs, sizeof theirs);
	return RC_OK;
}

int lib_give_counts(struct sm_counts *given, const struct hfile_summary *sum, struct error *err)
{
	const struct sm_counts ours = {
		.cells = sum->cells,
		.rows = sum->rows,
		.data_blocks = sum->data_blocks,
		.file_bytes = sum->file_bytes,
		.cell_bytes = sum->cell_bytes,
		.min_timestamp = sum->min_ts,
		.max_timestamp = sum->max_ts,
	};

	return given ? lib_give_struct(given, &ours, sizeof ours, "sm_counts", err) : RC_OK;
}

const char *sm_version(void)
{
	return SALTMILL_VERSION;
}
