/* rebuild.c - find the published loads of a state by their manifests */
#include "stream.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io.h"
#include "publish.h"
#include "state.h"

struct search {
	int32_t only; /* partition, or -1 for all */
	struct state_found *found;
	size_t n;
	struct state_topics topics;
	struct arena arena;
};

static int64_t changed_ms(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : (int64_t)st.st_mtim.tv_sec * 1000;
}

static struct state_topic *topic_named(struct search *s, const char *name, const char *cluster)
{
	struct state_topics *t = &s->topics;

	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->item[i].topic, name) == 0)
			return &t->item[i];
	t->item = mem_grow(t->item, t->n, sizeof *t->item);
	t->item[t->n] = (struct state_topic){cluster, name, 0, NULL};
	return &t->item[t->n++];
}

static void see_place(struct search *s, const struct manifest *m, const struct offset_range *r)
{
	const char *name = r->topic ? r->topic : m->topic;
	struct state_topic *t = topic_named(s, name, m->cluster ? m->cluster : "");

	if (r->partition >= t->npartitions)
		t->npartitions = r->partition + 1;
	if (r->topic || s->topics.unnamed)
		return;
	/* places without a name belong to the first topic */
	const struct state_topic first = *s->topics.item;
	*s->topics.item = *t;
	*t = first;
	s->topics.unnamed = true;
}

static void add(struct search *s, const char *dir, const char *path, const struct manifest *m,
		const uint8_t digest[16])
{
	char *full = realpath(dir, NULL);

	s->found = mem_grow(s->found, s->n, sizeof *s->found);
	struct state_found *f = &s->found[s->n++];
	*f = (struct state_found){.load = {.name = m->load,
					   .dir = arena_strdup(&s->arena, full ? full : dir),
					   .phase = STATE_PUBLISHED,
					   .ranges = m->offsets,
					   .nranges = m->noffsets,
					   .read = m->read,
					   .rejected = m->rejected,
					   .published_ms = changed_ms(path),
					   .manifest_known = true},
				  .follows = m->previous.known ? m->previous.load : NULL};
	memcpy(f->load.manifest, digest, sizeof f->load.manifest);
	if (f->follows)
		memcpy(f->follows_manifest, m->previous.digest, sizeof f->follows_manifest);
	for (size_t i = 0; i < m->noffsets; i++)
		see_place(s, m, &m->offsets[i]);
	free(full);
}

/* Check that each offset range of the manifest names its topic. */
static int check_places(const char *path, const struct manifest *m, struct error *err)
{
	for (size_t i = 0; i < m->noffsets && !m->topic; i++)
		if (!m->offsets[i].topic)
			return error_set(
				err, RC_DATA,
				"%s: found offsets of partition %d without a topic, expected "
				"`topic`",
				path, m->offsets[i].partition);
	return RC_OK;
}

static int look_at(struct search *s, const char *dir, bool *is_load, struct error *err)
{
	struct manifest m;
	uint8_t digest[16];
	uint64_t size;
	char *path = mem_format("%s/manifest.json", dir);
	int rc = io_exists(path, is_load, err);

	if (rc == RC_OK && *is_load)
		rc = io_digest_file(path, digest, &size, err);
	if (rc == RC_OK && *is_load)
		rc = manifest_read(&m, path, &s->arena, err);
	bool ours = rc == RC_OK && *is_load && manifest_is_of_topics(&m) && m.load &&
		    (s->only < 0 || (m.noffsets == 1 && m.offsets[0].partition == s->only));
	if (ours)
		rc = check_places(path, &m, err);
	const char *before = s->topics.unnamed ? s->topics.item->topic : NULL;
	if (rc == RC_OK && ours && before && m.topic && strcmp(before, m.topic) != 0)
		rc = error_set(
			err, RC_CONFIG,
			"%s: found a load of topic %s, expected a load of topic %s as in the "
			"earlier folders; remove the folder from the command",
			dir, m.topic, before);
	else if (rc == RC_OK && ours)
		add(s, dir, path, &m, digest);
	mem_free(path);
	return rc;
}

/* Search a folder, which is a load or contains loads. */
static int search_in(struct search *s, const char *dir, struct error *err)
{
	bool is_load;
	struct dirent **names = NULL;
	int rc = look_at(s, dir, &is_load, err);

	if (rc || is_load)
		return rc;
	int n = scandir(dir, &names, NULL, alphasort);
	if (n < 0)
		return error_errno(err, "cannot read %s", dir);
	for (int i = 0; i < n; i++) {
		char *path = mem_format("%s/%s", dir, names[i]->d_name);
		size_t len = strlen(path), end = strlen(STAGING_SUFFIX);
		bool partial = len > end && strcmp(path + len - end, STAGING_SUFFIX) == 0;

		if (rc == RC_OK && names[i]->d_name[0] != '.' && !partial)
			rc = look_at(s, path, &is_load, err);
		mem_free(path);
		free(names[i]);
	}
	free(names);
	return rc;
}

/*
 * Rebuild one state. `known` lists the state's topics. If known->topic is NULL, the topics are
 * unknown.
 */
static int rebuild_one(const char *dir, int32_t only, const struct state_topic *known,
		       const char *const *folders, size_t n, struct buf *lines, struct error *err)
{
	struct search s = {.only = only};

	if (known->topic) {
		topic_named(&s, known->topic, known->cluster)->npartitions = known->npartitions;
		s.topics.unnamed = true;
	}
	char *own = mem_format("%s/published", dir);
	bool there;
	int rc = io_exists(own, &there, err);
	if (rc == RC_OK && there)
		rc = search_in(&s, own, err);
	for (size_t i = 0; rc == RC_OK && i < n; i++)
		rc = search_in(&s, folders[i], err);
	if (rc == RC_OK)
		rc = state_rebuild(dir, &s.topics, s.found, s.n, lines, err);
	mem_free(own);
	mem_free(s.found);
	mem_free(s.topics.item);
	arena_release(&s.arena);
	return rc;
}

static int rebuild_shared(const char *dir, const char *const *folders, size_t n, struct buf *lines,
			  struct error *err)
{
	struct shared shared;
	struct error bad;
	bool whole = shared_open(&shared, dir, false, &bad) == RC_OK && shared.topic.topic;
	int32_t end = shared.topic.npartitions;
	int rc = whole ? RC_OK : shared_folders(dir, &end, err);

	for (int32_t p = 0; rc == RC_OK && p < end; p++) {
		char *one = shared_dir(dir, p);
		bool there = whole;

		if (!whole)
			rc = io_exists(one, &there, err);
		if (rc == RC_OK && there)
			rc = rebuild_one(one, p, &shared.topic, folders, n, lines, err);
		mem_free(one);
	}
	shared_close(&shared);
	return rc || whole ? rc : shared_rebuild(dir, lines, err);
}

int rebuild_run(const char *state_dir, const char *const *folders, size_t nfolders,
		struct buf *lines, struct error *err)
{
	bool is_shared;
	int32_t end = 0;
	int rc = shared_is(state_dir, &is_shared, err);

	if (rc == RC_OK && !is_shared)
		rc = shared_folders(state_dir, &end, err);
	if (rc)
		return rc;
	return is_shared || end > 0 ? rebuild_shared(state_dir, folders, nfolders, lines, err)
				    : rebuild_one(state_dir, -1, &(struct state_topic){0}, folders,
						  nfolders, lines, err);
}
