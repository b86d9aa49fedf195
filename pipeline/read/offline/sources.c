/* sources.c - open store files of any storage */
#include "offline.h"
#include "publish.h"

int offline_open_file(const struct query_file *f, struct hfile_source *out, struct error *err)
{
	const struct remote_file *file = f->place;
	int rc;

	if (!storage_is_here(file->storage)) {
		rc = remote_file_source(out, file, f->name, err);
	} else {
		struct error moved;

		rc = hfile_file_source(out, file->path, err);
		if (rc && file->archive && hfile_file_source(out, file->archive, &moved) == RC_OK)
			rc = RC_OK;
	}
	return rc ? rc : hfile_source_watch(out, f->progress, err);
}
