/*
 * file_age.c - decide which of two equal cells is newer (README.md 1)
 *
 * HStoreFile.open reads the sequence id of a file. StoreFileComparators.SEQ_ID orders files with
 * equal ids.
 */
#include <stdlib.h>

#include "store.h"

#define BULK_NAME "_SeqId_"

/* Read the number of NAME_SeqId_N_, the name that HBase gives a bulk-loaded file. */
static bool sequence_of_name(const char *name, int64_t *out)
{
	const char *at = NULL;
	char *end;

	for (const char *p = name; (p = strstr(p, BULK_NAME)); p++)
		at = p;
	if (!at)
		return false;
	*out = strtoll(at + sizeof BULK_NAME - 1, &end, 10);
	return *end == '_';
}

static int64_t number_of(const struct hfile *h, const char *key, int64_t missing)
{
	struct bytes v;

	return hfile_info_get(h, key, &v) && v.len == 8 ? (int64_t)get_be64(v.ptr) : missing;
}

void file_age_read(struct file_age *out, const struct query_file *f, struct hfile *h)
{
	const char *slash = strrchr(f->name, '/');
	struct bytes skip;
	int64_t named = 0;

	*out = (struct file_age){.name = slash ? slash + 1 : f->name,
				 .bytes = hfile_trailer(h)->file_bytes,
				 .sequence = number_of(h, "MAX_SEQ_ID_KEY", -1),
				 .bulkload_ms = number_of(h, "BULKLOAD_TIMESTAMP", INT64_MAX)};
	bool is_named = sequence_of_name(out->name, &named);
	if (is_named)
		out->sequence = named;
	if (out->sequence >= 0)
		out->sequence += f->newer;
	out->of_all = is_named || out->bulkload_ms != INT64_MAX;
	if (hfile_info_get(h, "SKIP_RESET_SEQ_ID", &skip) && skip.len == 1 && skip.ptr[0]) {
		out->sequence += out->of_all;
		out->of_all = false;
	}
}

int64_t file_age_sequence(const struct store_cursor *c)
{
	return c->age.of_all ? c->age.sequence : (int64_t)c->cell.mvcc;
}

bool file_age_newer(const struct store_cursor *a, const struct store_cursor *b)
{
	const struct file_age *x = &a->age, *y = &b->age;

	if (a->file->age_rank != b->file->age_rank)
		return a->file->age_rank > b->file->age_rank;
	if (!x->name || !y->name)
		return false;
	if (file_age_sequence(a) != file_age_sequence(b))
		return file_age_sequence(a) > file_age_sequence(b);
	if (x->sequence != y->sequence)
		return x->sequence > y->sequence;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes;
	if (x->bulkload_ms != y->bulkload_ms)
		return x->bulkload_ms > y->bulkload_ms;
	return strcmp(x->name, y->name) > 0;
}
