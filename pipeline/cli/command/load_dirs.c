/* load_dirs.c - lists the folders of the loads that a query reads */
#include "load_dirs.h"

#include "io.h"
#include "storage.h"
#include "stream.h"
#include "mem.h"

static void add(struct load_dirs *d, const char *path)
{
	d->path = mem_grow(d->path, d->n, sizeof *d->path);
	d->path[d->n++] = mem_strdup(path);
}

int load_dirs_judge(const char *folder, enum load_dirs_kind *kind, struct error *err)
{
	static const char *const names[] = {"manifest.json", "shared.json", "topic.json", "loads"};
	bool there = false;
	int rc = RC_OK;

	*kind = LOAD_DIRS_LOAD;
	if (storage_is_remote(folder))
		return RC_OK; /* a state is always on this machine */
	for (size_t i = 0; rc == RC_OK && !there && i < sizeof names / sizeof *names; i++) {
		char *path = mem_format("%s/%s", folder, names[i]);

		rc = io_exists(path, &there, err);
		*kind = !there ? LOAD_DIRS_OTHER : i ? LOAD_DIRS_STATE : LOAD_DIRS_LOAD;
		mem_free(path);
	}
	return rc;
}

/* Fails if the load's folder is missing or changed, because the answer would then be wrong. */
static int check(const char *state, const struct state_view_load *l, struct error *err)
{
	bool gone;
	char *wrong = manifest_chain_check(l->load, &gone);
	int rc = RC_OK;

	if (wrong || gone)
		rc = error_set(err, RC_DATA, "%s: load %s%s: %s%s", state, l->prefix, l->load->name,
			       wrong ? wrong : l->load->dir,
			       wrong ? ""
				     : " is gone, expected all published loads; name the folders "
				       "of some loads instead of the state");
	mem_free(wrong);
	return rc;
}

static int add_state(struct load_dirs *d, const char *path, struct error *err)
{
	struct state_view v;
	struct state_view_load *all = NULL;
	size_t n = 0;
	int rc = state_view_open(&v, path, VIEW_ALL, false, err);

	if (rc == RC_OK)
		rc = state_view_loads(&v, &all, &n, err);
	for (size_t i = 0; rc == RC_OK && i < n; i++) {
		if (all[i].load->phase != STATE_PUBLISHED)
			continue;
		rc = check(path, &all[i], err);
		add(d, all[i].load->dir);
	}
	mem_free(all);
	state_view_close(&v);
	return rc;
}

int load_dirs_add(struct load_dirs *d, const char *path, struct error *err)
{
	enum load_dirs_kind kind = LOAD_DIRS_OTHER;
	int rc = load_dirs_judge(path, &kind, err);

	if (rc == RC_OK && kind == LOAD_DIRS_STATE)
		rc = add_state(d, path, err);
	else if (rc == RC_OK)
		add(d, path);
	return rc;
}

void load_dirs_release(struct load_dirs *d)
{
	for (size_t i = 0; i < d->n; i++)
		mem_free(d->path[i]);
	mem_free(d->path);
	*d = (struct load_dirs){0};
}
