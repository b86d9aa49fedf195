/*
 * store_files.c - find which files of the load are in the folders where HBase keeps a table's files
 *
 *   ROOT/data/NAMESPACE/TABLE/REGION/FAMILY/FILE            live files
 *   ROOT/archive/data/NAMESPACE/TABLE/REGION/FAMILY/FILE    archived files, kept for a while
 *
 * ROOT is the folder above the staging folder (CommonFSUtils.getRegionDir, HFileArchiveUtil).
 */
#include <stdatomic.h>

#include "applying.h"
#include "pool.h"

#define ENCODED_CHARS 32
#define LIST_MOST     ((size_t)64 << 20)

static const char *const below[] = {"", "/archive"};

/* Returns the length of HBase's root in the path or URI of a staging folder, or -1. */
static int root_length(const char *staging)
{
	const char *slash = strrchr(staging, '/');
	size_t above = sizeof "/staging" - 1, root = slash ? (size_t)(slash - staging) : 0;

	if (root < above || memcmp(slash - above, "/staging", above) != 0)
		return -1;
	return (int)(root - above);
}

char *token_root(const char *token)
{
	const char *place = token_is_local(token) ? token_path(token) : token;
	int length = place ? root_length(place) : -1;

	return length < 0 ? NULL : mem_format("%.*s", length, place);
}

char *root_table(const char *root, const char *under, const char *table)
{
	const char *colon = strchr(table, ':');
	int space = colon ? (int)(colon - table) : (int)sizeof "default" - 1;

	return mem_format("%s%s/data/%.*s/%s", root, under, space, colon ? table : "default",
			  colon ? colon + 1 : table);
}

char *table_folder(const char *staging, const char *under, const char *table)
{
	int length = root_length(staging);

	if (length < 0)
		return NULL;
	char *root = mem_format("%.*s", length, staging);
	char *folder = root_table(root, under, table);
	mem_free(root);
	return folder;
}

static int unreadable(struct applied *t, const char *folder, const char *why)
{
	if (!atomic_exchange(&t->unreadable, true))
		applying_say(t->run,
			     "table %s: apply cannot look for files in %s (%s); if a call gets no "
			     "answer, apply looks for the cells of its files in the table",
			     t->result->name, folder, why);
	return RC_END;
}

/*
 * Lists a folder. Returns RC_END if the user may not read the folder. A missing folder has no
 * entries.
 */
static int list(struct applied *t, const char *folder, struct arena *a, struct storage_entry **e,
		size_t *n, struct error *err)
{
	struct storage *s = t->run->storage;
	struct storage_info info;
	struct error said;
	int rc = storage_list(s, folder, a, e, n, &said);

	if (rc == RC_OK)
		return rc;
	*n = 0;
	if (rc == RC_STOPPED) {
		*err = said;
		return rc;
	}
	if (rc != RC_CONFIG)
		rc = storage_stat(s, folder, &info, err);
	if (rc == RC_OK && info.kind == STORAGE_NOTHING)
		return RC_OK;
	if (rc != RC_CONFIG) {
		*err = said;
		return said.code;
	}
	return unreadable(t, folder, said.msg);
}

/*
 * Sets *listed if the tracker's list in `folder`/.filelist has the file. HBase ignores a file that
 * is in the folder only (StoreFileListFile: a message with the names, in one of two files).
 */
static int ask_tracker(struct applied *t, const char *folder, const char *name, bool *listed,
		       struct error *err)
{
	char *lists = mem_format("%s/.filelist", folder);
	struct arena a = {0};
	struct storage_entry *e = NULL;
	size_t n = 0;
	int rc = list(t, lists, &a, &e, &n, err);

	for (size_t i = 0; rc == RC_OK && i < n && !*listed; i++) {
		char *path = mem_format("%s/%s", lists, e[i].name);
		struct buf text = {0};

		rc = storage_read(t->run->storage, path, LIST_MOST, &text, err);
		*listed = rc == RC_OK && memmem(text.ptr, text.len, name, strlen(name));
		if (rc == RC_IO) /* HBase has just replaced this list */
			rc = RC_OK;
		buf_release(&text);
		mem_free(path);
	}
	arena_release(&a);
	mem_free(lists);
	return rc;
}

/* Marks the files of one family that are in a folder. */
static int mark(struct applied *t, const char *folder, struct hand_file *const *files, size_t n,
		const char *family, bool *in, struct error *err)
{
	struct arena a = {0};
	struct storage_entry *e = NULL;
	size_t entries = 0;
	int rc = list(t, folder, &a, &e, &entries, err);

	for (size_t i = 0; rc == RC_OK && i < n; i++) {
		if (strcmp(files[i]->family, family) != 0)
			continue;
		for (size_t k = 0; rc == RC_OK && k < entries && !in[i]; k++) {
			bool same = e[k].info.file_id && e[k].info.file_id == files[i]->id;

			if (t->hand.proves)
				rc = copy_is_of(t, files[i], folder, &e[k], &same, err);
			if (rc || !same)
				continue;
			in[i] = !t->tracked;
			if (t->tracked)
				rc = ask_tracker(t, folder, e[k].name, &in[i], err);
		}
	}
	arena_release(&a);
	return rc;
}

static bool is_first_of_family(struct hand_file *const *files, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(files[k]->family, files[i]->family) == 0)
			return false;
	return true;
}

static bool family_found(struct hand_file *const *files, size_t n, const bool *in,
			 const char *family)
{
	for (size_t i = 0; i < n; i++)
		if (!in[i] && strcmp(files[i]->family, family) == 0)
			return false;
	return true;
}

/* Marks the files that are in a region. `region` is the path of the region's folder. */
static int mark_region(struct applied *t, const char *region, struct hand_file *const *files,
		       size_t n, bool *in, struct error *err)
{
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < n; i++) {
		const char *family = files[i]->family;

		if (!is_first_of_family(files, i) || family_found(files, n, in, family))
			continue;
		char *folder = mem_format("%s/%s", region, family);
		rc = mark(t, folder, files, n, family, in, err);
		mem_free(folder);
	}
	return rc;
}

static int mark_all_regions(struct applied *t, const char *top, struct hand_file *const *files,
			    size_t n, bool *in, struct error *err)
{
	struct arena a = {0};
	struct storage_entry *e = NULL;
	size_t entries = 0;
	int rc = list(t, top, &a, &e, &entries, err);

	for (size_t i = 0; rc == RC_OK && i < entries; i++) {
		if (e[i].info.kind != STORAGE_FOLDER || strlen(e[i].name) != ENCODED_CHARS)
			continue;
		char *region = mem_format("%s/%s", top, e[i].name);
		rc = stop_check(err);
		if (rc == RC_OK)
			rc = mark_region(t, region, files, n, in, err);
		mem_free(region);
	}
	arena_release(&a);
	return rc;
}

/*
 * Searches the live files first. Meanwhile, a compaction may move them into the archive, but never
 * back.
 */
int store_files_find(void *self, const struct hbase_region *r, struct hand_file *const *files,
		     size_t n, bool *in, struct error *err)
{
	struct applied *t = self;
	struct bytes encoded = r ? hbase_encoded_name(r->name) : (struct bytes){0};
	int rc = RC_OK;

	/* the archive may have files that a tracker never had */
	for (size_t i = 0; rc == RC_OK && i < (t->tracked ? 1 : sizeof below / sizeof *below);
	     i++) {
		char *top = table_folder(token_path(t->token), below[i], t->result->name);

		if (!top || (r && !encoded.len)) {
			mem_free(top);
			return unreadable(t, "HBase's folder",
					  "hbase.bulkload.staging.dir is not the default");
		}
		char *region = mem_format("%s/%.*s", top, (int)encoded.len,
					  encoded.len ? (const char *)encoded.ptr : "");
		rc = r ? mark_region(t, region, files, n, in, err)
		       : mark_all_regions(t, top, files, n, in, err);
		mem_free(region);
		mem_free(top);
	}
	return rc;
}

int table_folder_id(struct applied *t, uint64_t *id, struct error *err)
{
	struct storage_info info = {0};
	bool copies = !t->token || token_is_local(t->token);
	char *top = copies ? NULL : table_folder(token_path(t->token), "", t->result->name);
	int rc = top ? storage_stat(t->run->storage, top, &info, err) : RC_OK;

	*id = rc == RC_OK && info.kind == STORAGE_FOLDER ? info.file_id : 0;
	mem_free(top);
	return rc == RC_CONFIG ? RC_OK : rc;
}

int may_track(struct applied *t, struct error *err)
{
	bool copies = token_is_local(t->token);
	char *top = t->tracked && !copies ? table_folder(token_path(t->token), "", t->result->name)
					  : NULL;
	int rc = top ? storage_may(t->run->storage, top, "-wx", err) : RC_OK;

	mem_free(top);
	if (rc == RC_CONFIG)
		error_prefix(err,
			     "table %s has the store file tracker FILE, so region servers move the "
			     "files directly into its folder, as user %s; run apply as the user of "
			     "HBase, or use a table with the tracker DEFAULT: ",
			     t->result->name, hbase_user(t->run->hbase));
	return rc;
}
