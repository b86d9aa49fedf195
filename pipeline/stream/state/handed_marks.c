/*
 * handed_marks.c - marks of the loads that are in HBase
 *
 * A mark contains a copy of the load's record. If the record is damaged and the load's folder is
 * gone, the mark is enough to rebuild the state. Old versions wrote empty marks.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "io.h"
#include "records.h"
#include "state_files.h"

char *mark_path(const char *dir, const char *name)
{
	return mem_format("%s/handed/%s", dir, name);
}

int state_keep_marks(const char *dir, struct error *err)
{
	char *folder = mem_format("%s/handed", dir);
	int rc = io_sync_dir(folder, err);

	mem_free(folder);
	return rc;
}

int mark_read(const char *path, struct state_load *mark, struct arena *a, struct error *err)
{
	struct stat st;

	*mark = (struct state_load){0};
	if (stat(path, &st) < 0)
		return errno == ENOENT ? RC_END : error_errno(err, "cannot look at %s", path);
	return st.st_size ? load_read(path, mark, a, err) : RC_OK;
}

int marks_see(struct state *s, struct state_load *l, struct error *err)
{
	struct state_load mark;
	char *path = mark_path(s->dir, l->name);
	int rc = mark_read(path, &mark, &s->arena, err);
	bool other = rc == RC_OK && mark.name &&
		     (strcmp(mark.name, l->name) != 0 ||
		      (mark.manifest_known && l->manifest_known &&
		       memcmp(mark.manifest, l->manifest, sizeof l->manifest) != 0));

	if (other)
		rc = error_set(
			err, RC_DATA,
			"%s is the mark of another load, expected the one of %s/loads/%s.json; "
			"`saltmill loads --state %s --rebuild` renames the mark",
			path, s->dir, l->name, s->dir);
	l->handed = rc == RC_OK;
	l->handed_ms = mark.handed_ms;
	l->handed_to = mark.handed_to;
	mem_free(path);
	return rc == RC_END ? RC_OK : rc;
}
