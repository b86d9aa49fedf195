/*
 * webhdfs_upload.c - write each file to HDFS by one PUT to a DataNode, and check the result
 *
 * The upload sends a file in chunks if it arrives piece by piece. The writer calls curl without a
 * separate thread, and pauses curl when there are no bytes to send.
 *
 * A broken PUT leaves a short file. Therefore the upload compares the length and the checksum that
 * HDFS returns afterwards with the sent bytes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "io.h"
#include "pool.h"
#include "webhdfs.h"
#define XXH_STATIC_LINKING_ONLY
#include "hash.h"

#define BUFFER_BYTES ((size_t)256 << 10)
#define POLL_MS	     200
#define LEAST_SPEED  16384.0 /* bytes a second; a slower DataNode counts as silent */

enum { ABORT_TRIES = 10, ABORT_PAUSE_MS = 100, DIFFERS_TRIES = 3 };

struct upload {
	struct webhdfs *w;
	char *path;
	unsigned mode; /* 0 for the default of HDFS */
	CURLM *multi;
	CURL *curl;
	struct curl_slist *headers;
	struct webhdfs_answer answer;
	const uint8_t *next; /* bytes to send now */
	size_t left;
	bool asked;		     /* the request has its head, and curl wants bytes */
	bool paused;		     /* curl pauses, because there were no bytes */
	bool last;		     /* no more bytes will follow */
	bool done;		     /* the answer is complete */
	bool differs;		     /* HDFS answered 201, but the stored file differs */
	double asked_s;		     /* time of clock_seconds at which the PUT began */
	struct webhdfs_token *token; /* of the PUT; NULL without Kerberos */
	uint64_t bytes;
	struct buf buffer;
	struct hdfs_sum sum;
	XXH3_state_t *digest;
	struct error failure; /* the first failure; code is 0 if there is none */
};

static void upload_close(struct upload *u)
{
	if (u->multi && u->curl)
		curl_multi_remove_handle(u->multi, u->curl);
	curl_easy_cleanup(u->curl);
	curl_multi_cleanup(u->multi);
	curl_slist_free_all(u->headers);
	webhdfs_answer_release(&u->answer);
	u->curl = NULL;
	u->multi = NULL;
	u->headers = NULL;
	u->asked = u->paused = u->done = u->differs = false;
}

static void upload_free(struct upload *u)
{
	upload_close(u);
	mem_free(u->path);
	buf_release(&u->buffer);
	hdfs_sum_release(&u->sum);
	XXH3_freeState(u->digest);
	mem_free(u);
}

/* --- driving curl --- */

static size_t give_bytes(char *to, size_t size, size_t n, void *ctx)
{
	struct upload *u = ctx;
	size_t take = u->left < size * n ? u->left : size * n;

	u->asked = true;
	if (take == 0 && !u->last) {
		u->paused = true;
		return CURL_READFUNC_PAUSE;
	}
	if (take)
		memcpy(to, u->next, take);
	u->next += take;
	u->left -= take;
	return take;
}

static void see_end(struct upload *u)
{
	int more;

	const CURLMsg *m;
	while ((m = curl_multi_info_read(u->multi, &more)))
		if (m->msg == CURLMSG_DONE) {
			webhdfs_read_answer(u->curl, m->data.result, &u->answer);
			u->done = true;
		}
}

enum awaited { AWAIT_START, AWAIT_SENT, AWAIT_ANSWER };

static bool reached(const struct upload *u, enum awaited what)
{
	return u->done || (what == AWAIT_START && u->asked) || (what == AWAIT_SENT && u->left == 0);
}

/*
 * Run curl until the event `what`. Return RC_OK also if the answer comes earlier. If the server
 * stalls, `u->answer.why` has the reason.
 */
static int drive(struct upload *u, enum awaited what, struct error *err)
{
	double until = clock_seconds() + u->w->patience_s;
	/* the limit, even if the server accepts a few bytes now and then */
	double end = until + (double)u->left / LEAST_SPEED;
	size_t left = u->left;
	int running, rc;

	if (u->paused && (u->left || u->last)) {
		u->paused = false;
		curl_easy_pause(u->curl, CURLPAUSE_CONT);
	}
	for (;;) {
		double spent = webhdfs_keep_alive(u->w, u->token);
		until += spent;
		end += spent;

		curl_multi_perform(u->multi, &running);
		see_end(u);
		if (reached(u, what))
			return RC_OK;
		if ((rc = stop_check(err)) != RC_OK)
			return rc;
		if (u->left != left)
			until = clock_seconds() + u->w->patience_s;
		left = u->left;
		if (clock_seconds() > (until < end ? until : end)) {
			snprintf(u->answer.why, sizeof u->answer.why,
				 "the server accepts fewer than 16 KiB a second, or does not "
				 "answer");
			u->done = true;
			return RC_OK;
		}
		curl_multi_poll(u->multi, NULL, 0, POLL_MS, NULL);
	}
}

/* --- one PUT --- */

static bool set_up(struct upload *u, uint64_t bytes)
{
	u->multi = curl_multi_init();
	u->curl = webhdfs_handle(u->w);
	u->headers = curl_slist_append(NULL, "Content-Type: application/octet-stream");
	struct curl_slist *more = curl_slist_append(u->headers, "Expect:");
	if (!u->multi || !u->curl || !more)
		return false;
	u->headers = more;
	curl_easy_setopt(u->curl, CURLOPT_URL, u->answer.location);
	curl_easy_setopt(u->curl, CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(u->curl, CURLOPT_HTTPHEADER, u->headers);
	curl_easy_setopt(u->curl, CURLOPT_READFUNCTION, give_bytes);
	curl_easy_setopt(u->curl, CURLOPT_READDATA, u);
	curl_easy_setopt(u->curl, CURLOPT_UPLOAD_BUFFERSIZE, (long)BUFFER_BYTES);
	if (bytes != UINT64_MAX)
		curl_easy_setopt(u->curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)bytes);
	return true;
}

/*
 * Start a PUT to the DataNode that the NameNode chooses. `bytes` is the file's size, or UINT64_MAX
 * if the size is unknown.
 */
static int start_put(struct upload *u, const char *query, uint64_t bytes, struct error *err)
{
	upload_close(u);
	u->asked_s = clock_seconds();
	int rc = webhdfs_ask_location(u->w, "PUT", u->path, query, &u->answer, err);
	u->token = webhdfs_token_now(u->w);
	if (rc == RC_OK && !u->answer.location)
		rc = webhdfs_refused(u->w, "create", u->path, &u->answer, err);
	if (rc)
		return rc;
	if (!set_up(u, bytes))
		return error_set(err, RC_IO, "cannot set up libcurl");
	const char *location = u->answer.location, *host = strstr(location, "://");
	size_t n = host ? strcspn(host + 3, "/?") + (size_t)(host + 3 - location) : 0;
	char *server = mem_format("%.*s", (int)n, location);
	webhdfs_answer_release(&u->answer);
	u->answer.server = server;
	curl_easy_setopt(u->curl, CURLOPT_WRITEDATA, &u->answer);
	curl_easy_setopt(u->curl, CURLOPT_ERRORBUFFER, u->answer.why);
	curl_multi_add_handle(u->multi, u->curl);
	rc = drive(u, AWAIT_START, err);
	/* an empty file may be complete already */
	if (rc == RC_OK && u->done && u->answer.status != 201)
		rc = webhdfs_refused(u->w, "write", u->path, &u->answer, err);
	return rc;
}

/* Return true if the connection failed, or if the server may succeed at the next attempt. */
static bool broke(const struct upload *u, int rc)
{
	return rc == RC_IO && u->done && webhdfs_passing(&u->answer);
}

/*
 * Return true if the DataNode's token ended during the PUT, although HDFS does not renew it or the
 * ticket had ended.
 */
static bool lost_token(const struct upload *u, int rc)
{
	return rc && u->w->secured && u->done && webhdfs_wants_login(&u->answer);
}

/* Get another token. Returns RC_OK if a second attempt to write the file may succeed. */
static int log_in_again(struct upload *u, struct error *err)
{
	int rc = webhdfs_login(u->w, u->asked_s, err);

	return rc ? error_prefix(err, "%s: the token ended during the upload: ", u->path) : RC_OK;
}

static int send_bytes(struct upload *u, const uint8_t *p, size_t n, struct error *err)
{
	if (n == 0)
		return RC_OK;
	hdfs_sum_add(&u->sum, p, n);
	u->bytes += n;
	u->next = p;
	u->left = n;
	int rc = drive(u, AWAIT_SENT, err);
	if (rc == RC_OK && u->left)
		rc = webhdfs_refused(u->w, "write", u->path, &u->answer, err);
	u->left = 0;
	return rc;
}

/* --- compare the stored file with the sent bytes --- */

static int compare(struct upload *u, struct storage_info *there, bool *same, struct error *err)
{
	uint8_t mine[HDFS_SUM_BYTES], its[HDFS_SUM_BYTES];
	bool known, open;

	*same = there->kind == STORAGE_FILE && there->bytes == u->bytes;
	if (!*same || u->bytes == 0 || there->opaque ||
	    (there->block_bytes && there->block_bytes != u->sum.block_bytes))
		return RC_OK;
	int rc = webhdfs_checksum(u->w, u->path, its, &known, &open, err);
	if (rc == RC_OK && open)
		*same = false; /* a run died while it wrote this file, so write the file again */
	if (rc || open || !known)
		return rc;
	hdfs_sum_end(&u->sum, mine);
	*same = memcmp(mine, its, sizeof mine) == 0;
	return RC_OK;
}

static int end_put(struct upload *u, struct storage_info *there, struct error *err)
{
	bool same = false;

	u->last = true;
	int rc = drive(u, AWAIT_ANSWER, err);
	if (rc == RC_OK && u->answer.status != 201 && u->answer.status != 200)
		rc = webhdfs_refused(u->w, "write", u->path, &u->answer, err);
	if (rc == RC_OK)
		rc = webhdfs_stat(u->w->place, u->path, there, err);
	if (rc == RC_OK)
		rc = compare(u, there, &same, err);
	if (rc == RC_OK && same && u->mode && there->mode != u->mode) {
		/* set the mode again, because the server applies its umask */
		rc = storage_set_mode(u->w->place, u->path, u->mode, err);
		there->mode = u->mode;
	}
	u->differs = rc == RC_OK && !same;
	if (u->differs)
		rc = error_set(
			err, RC_IO,
			"%s: HDFS stored other bytes than saltmill sent: expected %llu bytes, found %llu bytes or another checksum",
			u->path, (unsigned long long)u->bytes, (unsigned long long)there->bytes);
	return rc;
}

static struct upload *upload_new(struct storage *s, const char *path, unsigned mode)
{
	struct upload *u = mem_calloc(1, sizeof *u);

	u->w = s->self;
	u->path = mem_strdup(path);
	u->mode = mode;
	u->digest = XXH3_createState();
	if (u->digest)
		XXH3_128bits_reset(u->digest);
	return u;
}

static char *create_query(const char *overwrite, unsigned mode, uint64_t block_bytes)
{
	/*
	 * with unmaskedpermission, the DataNode's umask does not apply (HDFS-6962); older servers
	 * ignore this parameter
	 */
	char *permission = mode ? mem_format("&permission=%o&unmaskedpermission=%o", mode, mode)
				: mem_strdup("");
	char *query = mem_format("op=CREATE&createparent=false&overwrite=%s&blocksize=%llu%s",
				 overwrite, (unsigned long long)block_bytes, permission);

	mem_free(permission);
	return query;
}

/* --- files that arrive piece by piece --- */

/* Start an upload. If a DataNode does not answer, the next attempt uses another DataNode. */
static int start(struct upload *u, uint64_t block_bytes, struct error *err)
{
	double until = webhdfs_until(u->w);
	char *query = create_query("false", u->mode, block_bytes);
	int rc;

	for (unsigned n = 0;; n++) {
		rc = start_put(u, query, UINT64_MAX, err);
		if (rc == RC_OK || !broke(u, rc))
			break;
		int waited = backoff_wait(n, until, err);
		if (waited == RC_END)
			break;
		if (waited) {
			rc = waited;
			break;
		}
	}
	mem_free(query);
	return rc;
}

int webhdfs_begin(struct storage *s, void **file, const char *path, unsigned mode,
		  struct error *err)
{
	struct webhdfs_defaults defaults = {0};
	struct upload *u = upload_new(s, path, mode);
	int rc = u->digest ? webhdfs_defaults(u->w, &defaults, err)
			   : error_memory(err, sizeof *u->digest, path);

	hdfs_sum_start(&u->sum, defaults.block_bytes);
	struct storage_info there = {0};
	if (rc == RC_OK)
		rc = webhdfs_stat(s, path, &there, err);
	if (rc == RC_OK && there.kind != STORAGE_NOTHING)
		rc = error_set(err, RC_IO, "cannot create %s: the file already exists", path);
	if (rc == RC_OK)
		rc = start(u, defaults.block_bytes, err);
	if (rc) {
		upload_free(u);
		return rc;
	}
	*file = u;
	return RC_OK;
}

static int flush(struct upload *u, struct error *err)
{
	int rc = send_bytes(u, u->buffer.ptr, u->buffer.len, err);

	u->buffer.len = 0;
	return rc;
}

static int outcome(struct upload *u, int rc, struct error *err)
{
	if (lost_token(u, rc)) {
		struct error refusal = *err;

		rc = log_in_again(u, err);
		if (rc)
			return rc;
		*err = refusal;
		return err->code = RC_BROKEN;
	}
	return broke(u, rc) ? (err->code = RC_BROKEN) : rc;
}

int webhdfs_add(void *file, const void *ptr, size_t len, struct error *err)
{
	struct upload *u = file;

	XXH3_128bits_update(u->digest, ptr, len);
	int rc = u->buffer.len + len > BUFFER_BYTES ? flush(u, err) : RC_OK;
	if (rc)
		return outcome(u, rc, err);
	if (len >= BUFFER_BYTES)
		return outcome(u, send_bytes(u, ptr, len, err), err);
	buf_append(&u->buffer, ptr, len);
	return RC_OK;
}

int webhdfs_end(void *file, uint8_t digest[16], struct error *err)
{
	struct upload *u = file;
	struct storage_info there;
	XXH128_canonical_t c;

	XXH128_canonicalFromHash(&c, XXH3_128bits_digest(u->digest));
	memcpy(digest, c.digest, 16);
	int rc = flush(u, err);
	if (rc == RC_OK)
		rc = end_put(u, &there, err);
	if (rc)
		return outcome(u, rc, err);
	upload_free(u);
	return RC_OK;
}

/* Return true if this upload created the file. Do not remove a file that existed before. */
static bool is_ours(const struct upload *u)
{
	const char *why = u->answer.refusal.exception;

	return strcmp(why, "FileAlreadyExistsException") != 0 &&
	       strcmp(why, "AlreadyBeingCreatedException") != 0;
}

void webhdfs_abort(void *file)
{
	struct upload *u = file;
	struct error ignored;
	bool ours = is_ours(u), found = false, late = u->asked && !u->done;

	upload_close(u);
	/* the DataNode may not have created the file yet */
	for (unsigned n = 0; ours && !found && n < ABORT_TRIES; n++) {
		if (n)
			clock_sleep_ms(ABORT_PAUSE_MS);
		if (webhdfs_remove(u->w, u->path, &found, &ignored) || !late)
			break;
	}
	upload_free(u);
}

/* --- local files --- */

static int read_some(int fd, uint8_t *piece, size_t *n, const char *local, struct error *err)
{
	ssize_t got;

	do
		got = read(fd, piece, BUFFER_BYTES);
	while (got < 0 && errno == EINTR);
	*n = got < 0 ? 0 : (size_t)got;
	return got < 0 ? error_errno(err, "cannot read %s", local) : RC_OK;
}

/* Add all bytes of `fd` to the checksum. If a PUT is open, also send the bytes. */
static int pass_file(struct upload *u, int fd, const char *local, struct error *err)
{
	uint8_t *piece = mem_alloc(BUFFER_BYTES);
	size_t n = 1;
	int rc = lseek(fd, 0, SEEK_SET) < 0 ? error_errno(err, "cannot read %s", local) : RC_OK;

	while (rc == RC_OK && n) {
		rc = read_some(fd, piece, &n, local, err);
		if (rc == RC_OK && u->curl) {
			rc = throttle_wait(&u->w->place->throttle, n, err);
			if (rc == RC_OK)
				rc = send_bytes(u, piece, n, err);
		} else if (rc == RC_OK) {
			hdfs_sum_add(&u->sum, piece, n);
			u->bytes += n;
			rc = stop_check(err);
		}
	}
	mem_free(piece);
	return rc;
}

static void restart_sum(struct upload *u, uint64_t block_bytes)
{
	hdfs_sum_release(&u->sum);
	hdfs_sum_start(&u->sum, block_bytes);
	u->bytes = 0;
	u->last = false;
}

/*
 * Set `*same` to true if HDFS already has the same file. Set `*same` to false if the file differs,
 * or if there is no comparable checksum.
 */
static int is_there(struct upload *u, int fd, const char *local, uint64_t bytes,
		    struct storage_info *there, bool *same, struct error *err)
{
	*same = false;
	int rc = webhdfs_stat(u->w->place, u->path, there, err);
	if (rc || there->kind != STORAGE_FILE || there->bytes != bytes || !there->block_bytes ||
	    there->opaque)
		return rc;
	restart_sum(u, there->block_bytes);
	rc = pass_file(u, fd, local, err);
	return rc ? rc : compare(u, there, same, err);
}

static int put_once(struct upload *u, int fd, const char *local, const char *query, uint64_t bytes,
		    struct storage_info *out, struct error *err)
{
	int rc = start_put(u, query, bytes, err);

	if (rc == RC_OK)
		rc = pass_file(u, fd, local, err);
	return rc ? rc : end_put(u, out, err);
}

/*
 * Return true if another writer replaced the file during the PUT (FSNamesystem.checkLease). A
 * DataNode may run the CREATE of a process that died later than our CREATE.
 */
static bool was_replaced(const struct upload *u)
{
	const struct webhdfs_refusal *r = &u->answer.refusal;

	return strcmp(r->exception, "LeaseExpiredException") == 0 ||
	       (strcmp(r->exception, "FileNotFoundException") == 0 &&
		strstr(r->message, "does not have any open files"));
}

/*
 * Write the file, and write it again if the attempt failed for a while. Also write it again if
 * another writer replaced the file during the PUT or after it.
 */
static int put_file(struct upload *u, int fd, const char *local, uint64_t bytes,
		    struct storage_info *out, struct error *err)
{
	struct webhdfs_defaults defaults = {0};
	double until = webhdfs_until(u->w);
	int rc = webhdfs_defaults(u->w, &defaults, err);
	char *query = create_query("true", u->mode, defaults.block_bytes);

	bool logged_in = false;
	for (unsigned n = 0; rc == RC_OK; n++) {
		restart_sum(u, defaults.block_bytes);
		rc = put_once(u, fd, local, query, bytes, out, err);
		if (lost_token(u, rc) && !logged_in) {
			logged_in = true;
			rc = log_in_again(u, err);
			continue;
		}
		bool replaced = u->differs || (rc == RC_IO && was_replaced(u));
		if (rc == RC_OK || !(replaced ? n + 1 < DIFFERS_TRIES : broke(u, rc)))
			break;
		int waited = backoff_wait(n, until, err);
		rc = waited == RC_END ? rc : waited;
		if (waited == RC_END)
			break;
	}
	mem_free(query);
	return rc;
}

int webhdfs_put(struct storage *s, const char *local, const char *path, unsigned mode,
		struct storage_info *out, bool *kept, struct error *err)
{
	struct stat st;
	int fd = io_open_input(local, err);

	if (fd < 0)
		return fd;
	struct upload *u = upload_new(s, path, mode);
	int rc = fstat(fd, &st) < 0 ? error_errno(err, "cannot read %s", local) : RC_OK;
	if (rc == RC_OK)
		rc = is_there(u, fd, local, (uint64_t)st.st_size, out, kept, err);
	if (rc == RC_OK && *kept && mode && out->mode != mode) {
		rc = storage_set_mode(s, path, mode, err);
		out->mode = mode;
	}
	if (rc == RC_OK && !*kept)
		rc = put_file(u, fd, local, (uint64_t)st.st_size, out, err);
	upload_free(u);
	close(fd);
	return rc;
}
