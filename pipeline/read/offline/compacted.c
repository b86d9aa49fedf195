/*
 * compacted.c - find store files that a compaction has replaced
 *
 * HBase leaves such files in the folder for some minutes. The new file lists their names in its file
 * info, so that a server that opens the region ignores them (StoreEngine.removeCompactedStoreFiles).
 */
#include <string.h>

#include "offline.h"

/* Mark the files of the folder that `h` replaces. */
static int mark(const struct hfile *h, const struct storage_entry *e, size_t n, bool *gone,
		struct error *err)
{
	struct bytes list;
	int rc = RC_OK;

	if (!hfile_info_get(h, "COMPACTION_EVENT_KEY", &list))
		return RC_OK;
	for (size_t i = 0; rc == RC_OK && i < n; i++) {
		bool named = false;

		rc = disk_names_compacted(list, e[i].name, &named, err);
		gone[i] |= named;
	}
	return rc;
}

int offline_find_compacted(struct offline *o, const char *folder, const struct storage_entry *e,
			   size_t n, bool *gone, struct error *err)
{
	int rc = RC_OK;

	memset(gone, 0, n * sizeof *gone);
	for (size_t i = 0; rc == RC_OK && n > 1 && i < n; i++) {
		const char *path = arena_format(o->a, "%s/%s", folder, e[i].name);
		const struct remote_file place = offline_place_of(o, path, e[i].info.bytes);
		const struct query_file f = {.name = path, .place = &place};
		struct hfile_source source;
		struct hfile *h;

		if (strpbrk(e[i].name, ".=") || e[i].info.bytes == 0)
			continue; /* references and links belong to other regions */
		rc = offline_open_file(&f, &source, err);
		if (rc == RC_OK)
			rc = hfile_open_source(&h, &source, err);
		if (rc)
			return rc;
		rc = mark(h, e, n, gone, err);
		hfile_close(h);
		if (rc)
			error_prefix(err, "%s: ", path);
	}
	return rc;
}
