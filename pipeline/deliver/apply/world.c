/* world.c - the functions by which the state machine uses storage, region servers and journal */
#include <stdatomic.h>
#include <stdlib.h>

#include "applying.h"
#include "clock.h"
#include "io.h"

/* a call may take long, because a region may first flush, and reads the whole files */
#define LOAD_MS (10 * 60 * 1000)
/* without Kerberos, region servers read the files as HBase's user */
#define FOLDER_MODE 0777
#define FILE_MODE   0666
/* with Kerberos, region servers act as the user, and nobody else may move the files */
#define OWN_FOLDER_MODE 0700
#define OWN_FILE_MODE	0600
#define SAY_MS		5000

static char *join(const char *a, const char *b)
{
	return mem_format("%s/%s", a, b);
}

/* Sets the paths of all files, from the token and the upload folder. */
static void place_files(struct applied *t)
{
	struct applying *a = t->run;
	const char *staging = token_path(t->token);
	char *top = join(storage_path(a->storage), a->folder);

	t->prefix = token_is_local(t->token)
			    ? mem_strdup("file://")
			    : mem_format("%.*s", (int)(staging - t->token), t->token);
	t->upload_dir = table_dir(top, t->result->name);
	mem_free(top);
	for (size_t i = 0; i < t->hand.nfiles; i++)
		upload_place(t, &t->hand.files[i], i);
}

static int ask_for_token(struct applied *t, struct error *err)
{
	struct hbase *h = t->run->hbase;
	struct hbase_attempts attempt = {0};

	for (;;) {
		struct hbase_regions r;
		struct hbase_failure why;
		int rc = kept_regions(t->run->kept, t->result->name, &r, &why, err);

		if (rc == RC_OK)
			rc = hbase_bulk_prepare(h, t->result->name, &r.item[0], &t->token, &why,
						err);
		hbase_regions_release(&r);
		if (rc == RC_OK)
			return applying_note(t->run, err, "%zu token %s", t->index, t->token);
		kept_moved(t->run->kept, t->result->name);
		if (!hbase_retry(&why, &attempt, err))
			return error_prefix(err, "table %s: ", t->result->name);
	}
}

static int make_folders(struct applied *t, struct error *err)
{
	struct storage *s = t->run->storage;
	bool secured = hbase_is_secured(t->run->hbase);
	unsigned mode = secured ? OWN_FOLDER_MODE : FOLDER_MODE;
	char *top = join(storage_path(s), t->run->folder);
	int rc = secured ? storage_make_dirs(s, top, mode, err) : RC_OK;

	mem_free(top);
	if (rc == RC_OK)
		rc = storage_make_dirs(s, t->upload_dir, mode, err);
	for (size_t i = 0; rc == RC_OK && i < t->want.nfamilies; i++) {
		char *dir = join(t->upload_dir, t->want.families[i].name);

		rc = storage_make_dirs(s, dir, mode, err);
		mem_free(dir);
	}
	return rc;
}

/*
 * Finds a region from which to request a token. If the table is missing, this is a region of
 * hbase:meta.
 */
static int any_region(struct applied *t, struct hbase_regions *r, struct hbase_region *out,
		      struct hbase_failure *why, struct error *err)
{
	if (!t->exists)
		return hbase_meta(t->run->hbase, out, why, err);
	int rc = kept_regions(t->run->kept, t->result->name, r, why, err);
	if (rc == RC_OK)
		*out = r->item[0];
	return rc;
}

/* Requests a token only to learn its path, and removes its folder at once. */
static int ask_where(struct applied *t, char **token, struct error *err)
{
	struct applying *a = t->run;
	struct hbase_regions r = {0};
	struct hbase_region at;
	struct hbase_failure why;
	struct error unsaid;
	int rc = any_region(t, &r, &at, &why, err);

	if (rc == RC_OK)
		rc = hbase_bulk_prepare(a->hbase, t->result->name, &at, token, &why, err);
	if (rc == RC_OK)
		hbase_bulk_cleanup(a->hbase, &at, *token, &why, &unsaid);
	hbase_regions_release(&r);
	return rc;
}

static int look_there(struct applying *a, const char *token, struct error *err)
{
	char *noted = a->upload;

	a->probing = true;
	a->upload = noted ? mem_strdup(noted) : NULL;
	int rc = upload_storage(a, token, err);
	if (rc == RC_OK)
		rc = look_at_place(a, err);
	a->placed = rc == RC_OK;
	a->probing = false;
	a->storage = NULL; /* `kept` owns the storage */
	mem_free(a->upload);
	a->upload = noted;
	return rc;
}

int world_look(struct applied *t, struct error *err)
{
	struct applying *a = t->run;
	char *token = NULL;

	if (a->placed || !t->hand.nfiles)
		return RC_OK;
	if (t->token)
		return look_there(a, t->token, err);
	int rc = ask_where(t, &token, err);
	if (rc == RC_OK) {
		rc = look_there(a, token, err);
	} else if (rc != RC_STOPPED && (!t->exists || !a->opt->dry_run)) {
		/*
		 * the user may not read hbase:meta, or HDFS is not ready; world_open retries and
		 * waits
		 */
		if (a->opt->dry_run)
			applying_warn(
				a,
				"apply did not check HDFS, because HBase does not report where "
				"its files are: %s",
				err->msg);
		a->placed = a->opt->dry_run;
		rc = RC_OK;
	}
	mem_free(token);
	return rc;
}

int world_open(struct applied *t, struct error *err)
{
	struct applying *a = t->run;
	int rc = t->token ? RC_OK : ask_for_token(t, err);

	if (rc == RC_OK)
		rc = upload_storage(a, t->token, err);
	if (rc == RC_OK)
		rc = may_track(t, err);
	if (rc == RC_OK && !a->placed)
		rc = look_at_place(a, err);
	a->placed = a->placed || rc == RC_OK;
	if (rc)
		return rc;
	place_files(t);
	t->hand.proves = token_is_object(t->token);
	t->hand.copies = t->hand.proves || token_is_local(t->token);
	return t->hand.cleaned ? RC_OK : make_folders(t, err);
}

/* --- functions for the state machine --- */

static int put(void *self, const struct hand_file *f, uint64_t *id, struct error *err)
{
	struct applied *t = self;
	const struct applied_file *s = &t->sources[f - t->hand.files];
	struct storage_info info;
	bool copied = false;
	int rc = origin_copy(t, s, f->upload, &copied, err);

	if (rc == RC_OK && !copied)
		rc = source_prove(t->run, s, err);
	if (rc == RC_OK && !copied)
		rc = storage_put(t->run->storage, s->path, f->upload,
				 hbase_is_secured(t->run->hbase) ? OWN_FILE_MODE : FILE_MODE, &info,
				 NULL, err);
	if (rc == RC_OK && t->hand.proves)
		rc = storage_stat(t->run->storage, f->upload, &info, err);
	if (rc == RC_OK)
		*id = place_id(&info);
	return rc;
}

static int look(void *self, const char *path, uint64_t *id, struct error *err)
{
	struct applied *t = self;
	struct storage_info info;
	int rc = storage_stat(t->run->storage, path, &info, err);

	*id = rc == RC_OK ? place_id(&info) : 0;
	return rc;
}

/* In S3, the upload only has to disappear, because apply cuts the local file (recut.c). */
static int move(void *self, const char *from, const char *to, struct error *err)
{
	struct applied *t = self;

	if (t->hand.proves)
		return storage_remove(t->run->storage, from, err);
	return storage_move(t->run->storage, from, to, err);
}

static int regions(void *self, struct hbase_regions *out, struct hbase_failure *why,
		   struct error *err)
{
	struct applied *t = self;
	int rc = kept_regions(t->run->kept, t->result->name, out, why, err);

	if (rc && why->trouble == TROUBLE_MISSING && t->bound.known)
		return bind_missing(t, err);
	if (rc == RC_OK)
		rc = bind_check(t, out, err);
	if (rc)
		why->trouble = why->trouble ? why->trouble : TROUBLE_REFUSED;
	return rc;
}

static void say_progress(struct applied *t)
{
	struct applying *a = t->run;
	int64_t now = clock_ms(), said = a->said_ms;

	if (now - said >= SAY_MS && atomic_compare_exchange_strong(&a->said_ms, &said, now))
		applying_say(a, "table %s: %llu of %llu files of the load are in their regions",
			     t->result->name, (unsigned long long)a->done,
			     (unsigned long long)a->nfiles);
}

/*
 * Makes the call. On a secured cluster with HDFS, the call has a delegation token that is less than an
 * hour old. S3 has no such tokens, and the region servers use their own credentials of S3.
 */
static int call(struct applied *t, const struct hbase_region *r, struct hbase_bulk *load,
		bool *loaded, struct hbase_failure *why, struct error *err)
{
	struct hbase *h = t->run->hbase;
	struct storage_token token;

	if (!hbase_is_secured(h) || token_is_object(t->token))
		return hbase_bulk_load(h, r, load, loaded, why, err);
	*why = (struct hbase_failure){.trouble = TROUBLE_REFUSED};
	int rc = storage_token(t->run->storage, t->prefix, &token, err);
	const struct hbase_fs_token proof = {token.identifier, token.password, token.kind,
					     token.service};

	load->fs_token = &proof;
	if (rc == RC_OK)
		rc = hbase_bulk_load(h, r, load, loaded, why, err);
	buf_release(&token.raw);
	return rc;
}

static int load(void *self, const struct hbase_region *r, struct hand_file *const *files, size_t n,
		bool *loaded, struct hbase_failure *why, struct error *err)
{
	struct applied *t = self;
	struct hbase_family_file *list = mem_calloc(n, sizeof *list);
	char **paths = mem_calloc(n, sizeof(char *));

	say_progress(t); /* replay has counted all files in the table */
	for (size_t i = 0; i < n; i++) {
		paths[i] = mem_format("%s%s", t->prefix, files[i]->upload);
		list[i] = (struct hbase_family_file){files[i]->family, paths[i]};
	}
	struct hbase_bulk calls = {.token = t->token,
				   .files = list,
				   .nfiles = n,
				   .no_replicate = t->run->opt->no_replicate,
				   .patience_ms = LOAD_MS};
	int rc = call(t, r, &calls, loaded, why, err);
	if (rc || !*loaded) /* HBase may have split the region, or moved it to another server */
		kept_moved(t->run->kept, t->result->name);
	for (size_t i = 0; i < n; i++)
		mem_free(paths[i]);
	mem_free(paths);
	mem_free(list);
	return rc;
}

static int cleanup(void *self, const struct hbase_region *r, struct hbase_failure *why,
		   struct error *err)
{
	struct applied *t = self;

	return hbase_bulk_cleanup(t->run->hbase, r, t->token, why, err);
}

static int sweep(void *self, struct error *err)
{
	struct applied *t = self;

	return storage_remove(t->run->storage, t->upload_dir, err);
}

static int note(void *self, const char *line, struct error *err)
{
	struct applied *t = self;

	return applying_note(t->run, err, "%zu %s", t->index, line);
}

static bool again(void *self, const struct hbase_failure *why, struct hbase_attempts *attempt,
		  struct error *err)
{
	struct applied *t = self;

	kept_moved(t->run->kept, t->result->name);
	bool yes = hbase_retry(why, attempt, err);
	if (yes)
		applying_say(t->run, "table %s: retrying: %s", t->result->name, err->msg);
	return yes;
}

static void pause_ms(void *self, unsigned ms)
{
	(void)self;
	clock_sleep_ms(ms);
}

static void begin(void *self, enum hand_phase phase)
{
	static const enum apply_phase of[] = {[HAND_UPLOADS] = APPLY_UPLOAD,
					      [HAND_CALLS] = APPLY_CALLS,
					      [HAND_CLEANS] = APPLY_CLEAN};
	struct applied *t = self;

	applying_begin(t->run, of[phase]);
}

void world_make(struct applied *t)
{
	t->world = (struct hand_world){.self = t,
				       .put = put,
				       .look = look,
				       .move = move,
				       .cut = cut_at_regions,
				       .part = cut_part,
				       .in_table = store_files_find,
				       .cells = live_cells_have,
				       .explain = explain_refusal,
				       .regions = regions,
				       .load = load,
				       .cleanup = cleanup,
				       .sweep = sweep,
				       .note = note,
				       .again = again,
				       .pause = pause_ms,
				       .ready = gentle_ready,
				       .settle = gentle_settle,
				       .begin = begin};
	t->hand.world = &t->world;
}
