/* webhdfs.c - read and write HDFS, for webhdfs://, swebhdfs:// and hdfs:// (README.md 2) */
#include "webhdfs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "late.h"
#include "io.h"

#define PATIENCE_S     60
#define DEFAULT_BLOCK  ((uint64_t)128 << 20)
#define DEFAULT_COPIES 3 /* dfs.replication */

/* --- opening --- */

static char *escaped(const char *text)
{
	struct buf b = {0};

	webhdfs_escape(&b, text);
	buf_put(&b, 0);
	char *out = mem_strdup((const char *)b.ptr);
	buf_release(&b);
	return out;
}

static int open_place(struct storage *s, const char *scheme, const char *rest,
		      const struct storage_options *opt, struct error *err)
{
	struct webhdfs *w = s->self = mem_calloc(1, sizeof *w);

	w->place = s;
	pthread_mutex_init(&w->lock, NULL);
	pthread_mutex_init(&w->login_lock, NULL);
	if (late_need(LATE_CURL, err))
		return err->code;
	curl_global_init(CURL_GLOBAL_DEFAULT);
	w->patience_s = opt->patience_s ? opt->patience_s : PATIENCE_S;
	const char *ca = opt->ca_file ? opt->ca_file : login_used()->ca_file;
	w->ca_file = ca ? mem_strdup(ca) : NULL;
	s->user = who_acts(opt->user);
	w->user = escaped(s->user);
	w->named_user = opt->user && *opt->user ? escaped(opt->user) : NULL;
	w->keep_token = opt->keep_token;
	const char *host = rest + 2, *path = host + strcspn(rest + 2, "/");
	bool rpc = strcmp(scheme, "hdfs") == 0;
	if (strncmp(rest, "//", 2) != 0 || (path == host && !rpc))
		return error_set(err, RC_CONFIG, "found URI %s:%.200s, expected %s://HOST%s/PATH",
				 scheme, rest, scheme, rpc ? "" : "[:PORT]");
	if (*path != '/' || path[1] == 0)
		return error_set(err, RC_CONFIG,
				 "found URI %s:%.200s, expected a path after the host", scheme,
				 rest);
	char *authority = mem_format("%.*s", (int)(path - host), host);
	int rc = webhdfs_find_namenodes(w, scheme, authority, opt->http, err);
	mem_free(authority);
	s->prefix = mem_format("%s://%s", scheme, w->authority);
	s->path = mem_strdup(path);
	return rc;
}

static void hurry(struct storage *s)
{
	struct webhdfs *w = s->self;

	w->hurried = true;
}

static void close_place(struct storage *s)
{
	struct webhdfs *w = s->self;

	if (!w)
		return;
	webhdfs_logout(w);
	for (size_t i = 0; i < w->nidle; i++)
		curl_easy_cleanup(w->idle[i]);
	for (size_t i = 0; i < w->nbases; i++)
		mem_free(w->bases[i]);
	mem_free(w->bases);
	mem_free(w->authority);
	mem_free(w->user);
	mem_free(w->named_user);
	mem_free(w->ca_file);
	pthread_mutex_destroy(&w->login_lock);
	pthread_mutex_destroy(&w->lock);
	mem_free(w);
}

/* --- queries --- */

/* Report an answer that does not parse. The message names the server. */
static int misread(const struct webhdfs_answer *a, struct error *err)
{
	error_prefix(err, "%s: ", a->server);
	err->code = RC_IO;
	return RC_IO;
}

int webhdfs_stat(struct storage *s, const char *path, struct storage_info *out, struct error *err)
{
	struct webhdfs *w = s->self;
	struct webhdfs_answer a = {0};

	*out = (struct storage_info){0};
	int rc = webhdfs_ask(w, "GET", path, "op=GETFILESTATUS", &a, err);
	if (rc == RC_OK && a.status == 200)
		rc = answer_status(buf_bytes(&a.body), out, err) ? misread(&a, err) : RC_OK;
	else if (rc == RC_OK &&
		 !(a.status == 404 && strcmp(a.refusal.exception, "FileNotFoundException") == 0))
		rc = webhdfs_refused(w, "look at", path, &a, err);
	webhdfs_answer_release(&a);
	return rc;
}

static int list_folder(struct storage *s, const char *path, struct arena *arena,
		       struct storage_entry **out, size_t *n, struct error *err)
{
	struct webhdfs *w = s->self;
	struct webhdfs_answer a = {0};
	struct storage_info info;
	/* check first, because HDFS lists a file as the only entry of itself */
	int rc = webhdfs_stat(s, path, &info, err);

	if (rc == RC_OK && info.kind == STORAGE_FILE)
		rc = error_set(err, RC_IO, "cannot list %s: found a file, expected a folder", path);
	if (rc == RC_OK)
		rc = webhdfs_ask(w, "GET", path, "op=LISTSTATUS", &a, err);
	if (rc == RC_OK && a.status == 200)
		rc = answer_list(buf_bytes(&a.body), arena, out, n, err) ? misread(&a, err) : RC_OK;
	else if (rc == RC_OK)
		rc = webhdfs_refused(w, "list", path, &a, err);
	webhdfs_answer_release(&a);
	return rc;
}

int webhdfs_checksum(struct webhdfs *w, const char *path, uint8_t sum[HDFS_SUM_BYTES], bool *known,
		     bool *open, struct error *err)
{
	struct webhdfs_answer a = {0};

	*known = false;
	int rc = webhdfs_fetch(w, path, "op=GETFILECHECKSUM", 1 << 20, &a, err);
	if (rc == RC_OK && a.status == 200)
		rc = answer_checksum(buf_bytes(&a.body), sum, known, err) ? misread(&a, err)
									  : RC_OK;
	else if (rc == RC_OK)
		rc = webhdfs_refused(w, "look at", path, &a, err);
	*open = rc == RC_IO && strstr(a.refusal.message, "under construction") != NULL;
	if (*open)
		rc = RC_OK;
	webhdfs_answer_release(&a);
	return rc;
}

static int read_whole(struct storage *s, const char *path, size_t most, struct buf *out,
		      struct error *err)
{
	struct webhdfs *w = s->self;
	struct webhdfs_answer a = {0};
	int rc = webhdfs_fetch(w, path, "op=OPEN", most, &a, err);

	if (rc == RC_OK && a.status == 200)
		buf_append(out, a.body.ptr, a.body.len);
	else if (rc == RC_OK)
		rc = webhdfs_refused(w, "read", path, &a, err);
	webhdfs_answer_release(&a);
	return rc;
}

static int read_part(struct storage *s, const char *path, uint64_t offset, void *to, size_t len,
		     struct error *err)
{
	struct webhdfs *w = s->self;
	struct webhdfs_answer a = {0};
	char *query = mem_format("op=OPEN&offset=%" PRIu64 "&length=%zu", offset, len);
	int rc = webhdfs_fetch(w, path, query, len, &a, err);

	if (rc == RC_OK && a.status != 200)
		rc = webhdfs_refused(w, "read", path, &a, err);
	else if (rc == RC_OK && a.body.len != len)
		rc = error_set(err, RC_DATA,
			       "%s: found %zu bytes from byte %" PRIu64 " on, expected %zu", path,
			       a.body.len, offset, len);
	if (rc == RC_OK && len)
		memcpy(to, a.body.ptr, len);
	webhdfs_answer_release(&a);
	mem_free(query);
	return rc;
}

int webhdfs_defaults(struct webhdfs *w, struct webhdfs_defaults *out, struct error *err)
{
	struct webhdfs_answer a = {0};
	struct error unread;

	pthread_mutex_lock(&w->lock);
	*out = w->defaults;
	pthread_mutex_unlock(&w->lock);
	if (out->block_bytes)
		return RC_OK;
	int rc = webhdfs_ask(w, "GET", "/", "op=GETSERVERDEFAULTS", &a, err);
	/* some servers lack this operation */
	if (rc == RC_OK && (a.status != 200 || answer_defaults(buf_bytes(&a.body), out, &unread)))
		*out = (struct webhdfs_defaults){DEFAULT_BLOCK, DEFAULT_COPIES};
	webhdfs_answer_release(&a);
	if (rc)
		return rc;
	pthread_mutex_lock(&w->lock);
	w->defaults = *out;
	pthread_mutex_unlock(&w->lock);
	return RC_OK;
}

/* --- changes --- */

/* Send a change that answers {"boolean": ...}. */
static int change(struct webhdfs *w, const char *method, const char *path, const char *query,
		  const char *what, bool *done, struct error *err)
{
	struct webhdfs_answer a = {0};
	int rc = webhdfs_ask(w, method, path, query, &a, err);

	if (rc == RC_OK && a.status == 200)
		rc = answer_boolean(buf_bytes(&a.body), done, err) ? misread(&a, err) : RC_OK;
	else if (rc == RC_OK)
		rc = webhdfs_refused(w, what, path, &a, err);
	webhdfs_answer_release(&a);
	return rc;
}

/* Send a change with an empty answer. */
static int set_something(struct webhdfs *w, const char *path, const char *query, const char *what,
			 struct error *err)
{
	struct webhdfs_answer a = {0};
	int rc = webhdfs_ask(w, "PUT", path, query, &a, err);

	if (rc == RC_OK && a.status != 200)
		rc = webhdfs_refused(w, what, path, &a, err);
	webhdfs_answer_release(&a);
	return rc;
}

static int set_mode(struct storage *s, const char *path, unsigned mode, struct error *err)
{
	char query[64];

	snprintf(query, sizeof query, "op=SETPERMISSION&permission=%o", mode);
	return set_something(s->self, path, query, "set the mode of", err);
}

static int touch(struct storage *s, const char *path, struct error *err)
{
	char query[80];

	snprintf(query, sizeof query, "op=SETTIMES&modificationtime=%lld",
		 (long long)clock_wall_ms());
	return set_something(s->self, path, query, "set the time of", err);
}

static int make_dirs(struct storage *s, const char *path, unsigned mode, struct error *err)
{
	struct storage_info before;
	bool done = false;
	char *query = mode ? mem_format("op=MKDIRS&permission=%o", mode) : mem_strdup("op=MKDIRS");
	int rc = mode ? webhdfs_stat(s, path, &before, err) : RC_OK;

	if (rc == RC_OK)
		rc = change(s->self, "PUT", path, query, "create folder", &done, err);
	mem_free(query);
	if (rc == RC_OK && !done)
		rc = error_set(
			err, RC_IO,
			"cannot create folder %s: found a file of that name; move the file away",
			path);
	/* set the mode again, because the server applies its umask */
	return rc == RC_OK && mode && before.kind == STORAGE_NOTHING ? set_mode(s, path, mode, err)
								     : rc;
}

int webhdfs_remove(struct webhdfs *w, const char *path, bool *found, struct error *err)
{
	return change(w, "DELETE", path, "op=DELETE&recursive=true", "remove", found, err);
}

static int remove_all(struct storage *s, const char *path, struct error *err)
{
	bool found;

	return webhdfs_remove(s->self, path, &found, err);
}

/*
 * Return true after a successful rename. HDFS answers with an empty body, and gateways answer true.
 */
static bool said_yes(const struct webhdfs_answer *a)
{
	struct error ignored;
	bool yes = a->body.len == 0;

	if (a->status == 200 && !yes && answer_boolean(buf_bytes(&a->body), &yes, &ignored))
		return false;
	return a->status == 200 && yes;
}

/*
 * Find out whether a repeated rename, whose source no longer exists, succeeded the first time. The
 * first rename succeeded if the target has the id of the source. If the server returns no ids, the
 * outcome is unknown.
 */
static int judge_move(struct storage *s, const struct storage_info *source, const char *from,
		      const char *to, const struct webhdfs_answer *a, struct error *err)
{
	struct storage_info target;
	bool yes = false;
	int rc = webhdfs_stat(s, to, &target, err);

	if (rc)
		return rc;
	bool same = source->file_id ? target.file_id == source->file_id : said_yes(a);
	if (target.kind != STORAGE_NOTHING && same)
		return RC_OK;
	if (target.kind != STORAGE_NOTHING)
		return error_set(err, RC_IO, "cannot rename %s to %s: the target already exists",
				 from, to);
	if (a->status == 200 && answer_boolean(buf_bytes(&a->body), &yes, err) == RC_OK)
		return error_set(
			err, RC_IO,
			"cannot rename %s to %s: HDFS gives no reason; check that the parent "
			"folder exists",
			from, to);
	return webhdfs_refused(s->self, "rename", from, a, err);
}

/*
 * Rename with renameoptions. The NameNode then uses FileSystem.rename2, which keeps an existing
 * `to` and gives a reason for a refusal. Gateways without renameoptions answer a boolean.
 */
static int move(struct storage *s, const char *from, const char *to, struct error *err)
{
	struct webhdfs_answer a = {0};
	struct storage_info source, target;
	struct buf query = {0};
	int rc = webhdfs_stat(s, from, &source, err);

	if (rc == RC_OK)
		rc = webhdfs_stat(s, to, &target, err);
	if (rc == RC_OK && source.kind == STORAGE_NOTHING)
		rc = error_set(err, RC_IO, "cannot rename %s to %s: the source does not exist",
			       from, to);
	/* check first, because the older rename moves the source into an existing folder */
	if (rc == RC_OK && target.kind != STORAGE_NOTHING)
		rc = error_set(err, RC_IO, "cannot rename %s to %s: the target already exists",
			       from, to);
	if (rc)
		return rc;
	buf_append_str(&query, "op=RENAME&renameoptions=NONE&destination=");
	webhdfs_escape(&query, to);
	buf_put(&query, 0);
	rc = webhdfs_ask(s->self, "PUT", from, (const char *)query.ptr, &a, err);
	if (rc == RC_OK)
		rc = judge_move(s, &source, from, to, &a, err);
	buf_release(&query);
	webhdfs_answer_release(&a);
	return rc;
}

static const char *const schemes[] = {"webhdfs", "swebhdfs", "hdfs", NULL};

const struct storage_backend webhdfs_storage = {.schemes = schemes,
						.remote = true,
						.open = open_place,
						.close = close_place,
						.hurry = hurry,
						.stat = webhdfs_stat,
						.list = list_folder,
						.make_dirs = make_dirs,
						.set_mode = set_mode,
						.free = webhdfs_free,
						.quota = webhdfs_quota,
						.may = webhdfs_may,
						.token = webhdfs_token,
						.renew = webhdfs_renew,
						.touch = touch,
						.move = move,
						.remove = remove_all,
						.read = read_whole,
						.read_at = read_part,
						.put = webhdfs_put,
						.begin = webhdfs_begin,
						.add = webhdfs_add,
						.end = webhdfs_end,
						.abort = webhdfs_abort};
