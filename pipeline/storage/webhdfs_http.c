/* webhdfs_http.c - send one request to a NameNode, and retry until there is an answer */
#include <stdio.h>
#include <strings.h>

#include "clock.h"
#include "io.h"
#include "pool.h"
#include "webhdfs.h"

#define LOGINS	    3 /* with the token of the file, that of a newer file, and with a ticket */
#define CONNECT_S   10L
#define STALL_S	    60L	  /* seconds without a byte */
#define HURRY_S	    5L	  /* limit of a whole request after storage_hurry, in seconds */
#define SLOW_BYTES  1024L /* bytes a second; a slower server counts as silent */
#define LEAST_SPEED 65536 /* bytes a second of a whole answer, not counting STALL_S */
#define PAGE_MOST   ((size_t)16 << 20)
#define LIST_MOST   ((size_t)64 << 20) /* enough for a folder of 200,000 files */

/* --- one exchange --- */

static int stop_on_signal(void *ctx, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	(void)a, (void)b, (void)c, (void)d;
	return webhdfs_stopped(ctx);
}

bool webhdfs_stopped(const struct webhdfs *w)
{
	return stop_flag != 0 && !w->hurried;
}

size_t webhdfs_take(char *data, size_t size, size_t n, void *answer)
{
	struct webhdfs_answer *a = answer;
	size_t most = a->most ? a->most : WEBHDFS_ANSWER_MOST;

	if (a->body.len + size * n > most) {
		a->too_long = true;
		return 0;
	}
	buf_append(&a->body, data, size * n);
	return size * n;
}

CURL *webhdfs_handle(struct webhdfs *w)
{
	CURL *c = curl_easy_init();
	if (!c)
		return NULL;
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
	/* use no proxy, like Hadoop's clients */
	curl_easy_setopt(c, CURLOPT_NOPROXY, "*");
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT,
			 w->patience_s < CONNECT_S ? (long)w->patience_s + 1 : CONNECT_S);
	curl_easy_setopt(c, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, webhdfs_take);
	curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, stop_on_signal);
	curl_easy_setopt(c, CURLOPT_XFERINFODATA, w);
	const struct login *l = login_used();
	if (w->ca_file)
		curl_easy_setopt(c, CURLOPT_CAINFO, w->ca_file);
	if (l->cert_file) {
		curl_easy_setopt(c, CURLOPT_SSLCERT, l->cert_file);
		curl_easy_setopt(c, CURLOPT_SSLKEY, l->key_file ? l->key_file : l->cert_file);
	}
	return c;
}

void webhdfs_answer_release(struct webhdfs_answer *a)
{
	buf_release(&a->body);
	mem_free(a->location);
	mem_free(a->server);
	*a = (struct webhdfs_answer){0};
}

static void answer_clear(struct webhdfs_answer *a)
{
	struct buf body = a->body;

	body.len = 0;
	a->body = (struct buf){0};
	webhdfs_answer_release(a);
	a->body = body;
}

/* Return "http://host:port" of a URL. */
static char *server_of(const char *url)
{
	const char *host = strstr(url, "://");
	size_t n = host ? strcspn(host + 3, "/?") + (size_t)(host + 3 - url) : 0;

	return mem_format("%.*s", (int)n, url);
}

void webhdfs_read_answer(CURL *c, CURLcode code, struct webhdfs_answer *a)
{
	const char *url = NULL;

	if (code != CURLE_OK) {
		a->unresolved = code == CURLE_COULDNT_RESOLVE_HOST;
		a->stopped = code == CURLE_ABORTED_BY_CALLBACK; /* stop_on_signal */
		if (a->too_long)
			snprintf(a->why, sizeof a->why,
				 "found an answer of more than %zu bytes, expected at most this "
				 "size",
				 a->most ? a->most : WEBHDFS_ANSWER_MOST);
		else if (!a->why[0])
			snprintf(a->why, sizeof a->why, "%s", curl_easy_strerror(code));
		return;
	}
	curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &a->status);
	curl_easy_getinfo(c, CURLINFO_REDIRECT_URL, &url);
	if (url)
		a->location = mem_strdup(url);
	if (a->status >= 400)
		answer_refusal(buf_bytes(&a->body), &a->refusal);
}

static CURL *take_handle(struct webhdfs *w)
{
	pthread_mutex_lock(&w->lock);
	CURL *c = w->nidle ? w->idle[--w->nidle] : NULL;
	pthread_mutex_unlock(&w->lock);
	return c ? c : webhdfs_handle(w);
}

static void give_handle(struct webhdfs *w, CURL *c)
{
	pthread_mutex_lock(&w->lock);
	bool kept = w->nidle < IDLE_MOST;
	if (kept)
		w->idle[w->nidle++] = c;
	pthread_mutex_unlock(&w->lock);
	if (!kept)
		curl_easy_cleanup(c);
}

/* How a request proves its user. The URL has the name or the token. */
enum proof { BY_URL, BY_TICKET };

/*
 * Return a header that logs in to the server with a ticket (RFC 4559), or NULL. libcurl's own login
 * would wait for a silent KDC despite a signal, and reports no reason if there is no ticket.
 */
static struct curl_slist *ticket_header(struct webhdfs_answer *a)
{
	struct login_context c;
	struct error err;
	struct buf text = {0};
	struct curl_slist *header = NULL;
	const char *host = strstr(a->server, "://") + 3;
	int n = (int)strcspn(host, ":/");
	char *service = mem_format("HTTP@%.*s", n, host);
	int rc = login_begin(&c, service, LOGIN_WEB, &err);

	mem_free(service);
	a->stopped = rc == RC_STOPPED;
	a->no_ticket = rc && !a->stopped;
	if (rc == RC_OK) {
		buf_printf(&text, "Authorization: Negotiate ");
		text_base64(&text, buf_bytes(&c.token));
		buf_put(&text, 0);
		header = curl_slist_append(NULL, (const char *)text.ptr);
	}
	if (a->no_ticket) {
		a->status = 401;
		snprintf(a->why, sizeof a->why,
			 "found no ticket for HTTP/%.*s: %.480s; check with `kvno HTTP/%.*s`", n,
			 host, err.msg, n, host);
	}
	login_context_release(&c);
	buf_release(&text);
	return header;
}

/*
 * Send a request without a body. The answer may have `most` bytes, which also determine the time
 * limit of the whole exchange.
 */
static void exchange(struct webhdfs *w, const char *method, const char *url, size_t most,
		     enum proof proof, struct webhdfs_answer *a)
{
	long seconds = w->hurried ? HURRY_S : STALL_S + (long)(most / LEAST_SPEED);

	answer_clear(a);
	a->most = most;
	a->server = server_of(url);
	struct curl_slist *header = proof == BY_TICKET ? ticket_header(a) : NULL;
	if (proof == BY_TICKET && !header)
		return;
	/* a handle with a ticket would prove the user to other servers, too */
	CURL *c = proof == BY_TICKET ? webhdfs_handle(w) : take_handle(w);
	if (!c) {
		curl_slist_free_all(header);
		snprintf(a->why, sizeof a->why, "cannot set up libcurl");
		return;
	}
	curl_easy_setopt(c, CURLOPT_URL, url);
	curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, method);
	curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, SLOW_BYTES);
	curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME,
			 w->patience_s < STALL_S ? (long)w->patience_s + 1 : STALL_S);
	curl_easy_setopt(c, CURLOPT_TIMEOUT, seconds);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, a);
	curl_easy_setopt(c, CURLOPT_ERRORBUFFER, a->why);
	if (header)
		curl_easy_setopt(c, CURLOPT_HTTPHEADER, header);
	webhdfs_read_answer(c, curl_easy_perform(c), a);
	curl_easy_setopt(c, CURLOPT_ERRORBUFFER, NULL);
	if (proof == BY_TICKET)
		curl_easy_cleanup(c);
	else
		give_handle(w, c);
	curl_slist_free_all(header);
}

/* --- the meaning of an answer --- */

static bool named(const struct webhdfs_answer *a, const char *exception)
{
	return strcmp(a->refusal.exception, exception) == 0;
}

static bool is_standby(const struct webhdfs_answer *a)
{
	return named(a, "StandbyException") || named(a, "ObserverRetryOnActiveException");
}

bool webhdfs_passing(const struct webhdfs_answer *a)
{
	if (a->too_long)
		return false;
	return a->status == 0 || a->status == 429 || (a->status >= 502 && a->status <= 504) ||
	       is_standby(a) || named(a, "RetriableException") || named(a, "SafeModeException") ||
	       named(a, "ServerTooBusyException");
}

/* Return a fix for the user, or "" if there is none. */
static const char *advice(const struct webhdfs *w, const struct webhdfs_answer *a)
{
	static const struct {
		const char *exception, *advice;
	} known[] = {
		{"AccessControlException",
		 "; to act as another user, set HADOOP_USER_NAME or --hdfs-user (for apply: "
		 "--user)"},
		{"NSQuotaExceededException",
		 "; the folder has reached its quota of names; raise the quota or remove files there"},
		{"DSQuotaExceededException",
		 "; the folder has reached its quota of space; raise it or remove files there"},
		{"QuotaByStorageTypeExceededException",
		 "; the folder has reached its quota of space; raise it or remove files there"},
		{"SafeModeException", "; the NameNode is in safe mode and accepts no changes; "
				      "wait until safe mode ends"},
		{"StandbyException", "; list all NameNodes as HOST1:PORT,HOST2:PORT"},
		{"InvalidToken",
		 "; if one file takes longer than dfs.namenode.delegation.token.max-lifetime, raise "
		 "it, or write smaller files"},
	};
	/* with Kerberos, the ticket decides who the user is */
	for (size_t i = w->secured ? 1 : 0; i < sizeof known / sizeof *known; i++)
		if (named(a, known[i].exception))
			return known[i].advice;
	if (strstr(a->refusal.message, "could only be written to 0 of"))
		return "; no live DataNode has enough free space";
	if (strstr(a->refusal.message, "are bad. Aborting"))
		return "; all DataNodes of this file failed; check their logs and their free "
		       "disk space";
	if (a->status == 401)
		return "; the server requires Kerberos";
	return "";
}

/*
 * Return a fix for a NameNode without an answer. NAME in hdfs://NAME is often a name in the cluster's
 * configuration (dfs.nameservices), not a host.
 */
static const char *advice_of_silence(const struct webhdfs *w, const struct webhdfs_answer *a)
{
	bool namenode = false;

	for (size_t i = 0; i < w->nbases && a->server; i++)
		namenode |= strcmp(w->bases[i], a->server) == 0;
	if (!namenode || a->too_long)
		return "";
	return a->unresolved && strncmp(w->place->prefix, "hdfs:", 5) == 0
		       ? "; add the NameNodes with --webhdfs HOST[:PORT],..., or set "
			 "HADOOP_CONF_DIR"
		       : "; check that the NameNode runs, and its address "
			 "(dfs.namenode.http-address or https-address)";
}

int webhdfs_refused(const struct webhdfs *w, const char *what, const char *path,
		    const struct webhdfs_answer *a, struct error *err)
{
	int code = named(a, "AccessControlException") || a->status == 401 ? RC_CONFIG : RC_IO;

	if (a->stopped)
		return error_set(err, RC_STOPPED, "stopped by a signal");
	char *name = storage_name(w->place, path);
	const char *server = a->server ? a->server : "HDFS";

	if (a->status == 0)
		error_set(err, code, "cannot %s %s: %s: %s%s", what, name, server, a->why,
			  advice_of_silence(w, a));
	else if (a->refusal.exception[0])
		error_set(err, code, "cannot %s %s: %s reports %s: %s%s", what, name, server,
			  a->refusal.exception, a->refusal.message, advice(w, a));
	else
		error_set(err, code, "cannot %s %s: %s answers %ld%s%s", what, name, server,
			  a->status,
			  a->status < 400 ? ", expected an answer of a NameNode; check that the "
					    "port is the NameNode's HTTP port"
					  : "",
			  advice(w, a));
	mem_free(name);
	return code;
}

/* --- retry --- */

double webhdfs_until(const struct webhdfs *w)
{
	return clock_seconds() + (w->given_up ? 0 : w->patience_s);
}

void webhdfs_escape(struct buf *b, const char *text)
{
	for (const char *p = text; *p; p++) {
		if ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
		    (*p >= '0' && *p <= '9') || strchr("-._~/", *p))
			buf_put(b, (uint8_t)*p);
		else
			buf_printf(b, "%%%02X", (unsigned)(uint8_t)*p);
	}
}

static char *make_url(struct webhdfs *w, size_t server, const char *path, const char *query,
		      enum proof proof)
{
	struct buf b = {0};
	char *identity = proof == BY_TICKET ? mem_strdup("") : webhdfs_identity(w);

	webhdfs_escape(&b, path);
	buf_put(&b, 0);
	char *url = mem_format("%s/webhdfs/v1%s?%s%s%s", w->bases[server], (const char *)b.ptr,
			       query, *identity ? "&" : "", identity);
	mem_free(identity);
	buf_release(&b);
	return url;
}

void webhdfs_page(struct webhdfs *w, const char *page, struct webhdfs_answer *a)
{
	char *url = mem_format("%s%s", w->bases[w->active], page);

	exchange(w, "GET", url, PAGE_MOST, w->secured ? BY_TICKET : BY_URL, a);
	mem_free(url);
}

static size_t answer_most(const char *query)
{
	return strncmp(query, "op=LISTSTATUS", 13) == 0 ? LIST_MOST : WEBHDFS_ANSWER_MOST;
}

/*
 * Try all NameNodes, beginning with the NameNode that answered last. Return true if an answer is
 * final.
 */
static bool ask_round(struct webhdfs *w, const char *method, const char *path, const char *query,
		      enum proof proof, struct webhdfs_answer *a)
{
	size_t first = w->active;

	for (size_t i = 0; i < w->nbases && !webhdfs_stopped(w); i++) {
		size_t server = (first + i) % w->nbases;
		char *url = make_url(w, server, path, query, proof);

		exchange(w, method, url, answer_most(query), proof, a);
		mem_free(url);
		if (!webhdfs_passing(a)) {
			w->active = server;
			w->given_up = false;
			return true;
		}
		if (a->status && !is_standby(a))
			break; /* this NameNode is active and will answer later */
	}
	return false;
}

/* Return the verb for messages about "op=NAME...". */
static const char *doing(const char *query)
{
	static const char *const verbs[][2] = {{"CREATE", "create"},
					       {"MKDIRS", "create folder"},
					       {"RENAME", "rename"},
					       {"DELETE", "remove"},
					       {"LISTSTATUS", "list"},
					       {"SETPERMISSION", "set the mode of"},
					       {"OPEN", "read"}};

	for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
		if (strncmp(query + 3, verbs[i][0], strlen(verbs[i][0])) == 0)
			return verbs[i][1];
	return "look at";
}

static int ask(struct webhdfs *w, const char *method, const char *path, const char *query,
	       enum proof proof, struct webhdfs_answer *a, struct error *err)
{
	double until = webhdfs_until(w);

	for (unsigned n = 0;; n++) {
		if (ask_round(w, method, path, query, proof, a))
			return RC_OK;
		int rc = w->hurried ? RC_END : stop_check(err);
		if (rc == RC_OK)
			rc = backoff_wait(n, until, err);
		if (rc == RC_END) {
			w->given_up = true;
			return webhdfs_refused(w, doing(query), path, a, err);
		}
		if (rc)
			return rc;
	}
}

int webhdfs_ask_by_ticket(struct webhdfs *w, const char *method, const char *query,
			  struct webhdfs_answer *a, struct error *err)
{
	return ask(w, method, "/", query, BY_TICKET, a, err);
}

void webhdfs_try_by_ticket(struct webhdfs *w, const char *method, const char *query,
			   struct webhdfs_answer *a)
{
	ask_round(w, method, "/", query, BY_TICKET, a);
}

bool webhdfs_wants_login(const struct webhdfs_answer *a)
{
	return a->status == 401 || named(a, "InvalidToken") ||
	       (a->status == 403 && strstr(a->refusal.message, "InvalidToken"));
}

int webhdfs_ask(struct webhdfs *w, const char *method, const char *path, const char *query,
		struct webhdfs_answer *a, struct error *err)
{
	/* a login that the user demands must not end as a name without a proof */
	int rc = login_used()->principal ? webhdfs_login(w, 0, err) : RC_OK;
	double asked_s = clock_seconds();

	if (rc == RC_OK)
		rc = ask(w, method, path, query, BY_URL, a, err);
	for (unsigned i = 0; rc == RC_OK && i < LOGINS && webhdfs_wants_login(a); i++) {
		rc = webhdfs_login(w, asked_s, err);
		asked_s = clock_seconds();
		if (rc == RC_OK)
			rc = ask(w, method, path, query, BY_URL, a, err);
	}
	return rc;
}

/* --- find the DataNode --- */

/* Refuse to send a file without encryption if the URI demands encryption. */
static int check_location(const struct webhdfs *w, const struct webhdfs_answer *a,
			  struct error *err)
{
	if (strncmp(w->bases[0], "https:", 6) != 0 || strncmp(a->location, "https:", 6) == 0)
		return RC_OK;
	return error_set(err, RC_CONFIG,
			 "%s redirects to a DataNode without TLS, expected https:; set "
			 "dfs.http.policy to HTTPS_ONLY",
			 a->server);
}

static int find_location(struct webhdfs *w, const char *path, const char *query,
			 struct webhdfs_answer *a, struct error *err)
{
	struct buf url = {0};
	int rc = RC_OK;

	if (a->status == 200)
		rc = answer_location(buf_bytes(&a->body), &url, err);
	else if (!a->location)
		return webhdfs_refused(w, doing(query), path, a, err);
	if (rc) {
		error_prefix(err, "%s: ", a->server);
		err->code = RC_IO;
	} else if (url.len) {
		mem_free(a->location);
		a->location = mem_strdup((const char *)url.ptr);
	}
	buf_release(&url);
	return rc ? RC_IO : check_location(w, a, err);
}

int webhdfs_ask_location(struct webhdfs *w, const char *method, const char *path, const char *query,
			 struct webhdfs_answer *a, struct error *err)
{
	char *redirect = mem_format("%s&noredirect=true", query);
	int rc = webhdfs_ask(w, method, path, redirect, a, err);

	mem_free(redirect);
	if (rc || a->status == 404)
		return rc;
	return find_location(w, path, query, a, err);
}

int webhdfs_fetch(struct webhdfs *w, const char *path, const char *query, size_t most,
		  struct webhdfs_answer *a, struct error *err)
{
	double until = webhdfs_until(w);

	for (unsigned n = 0, logins = 0;; n++) {
		double asked_s = clock_seconds();
		int rc = webhdfs_ask_location(w, "GET", path, query, a, err);

		if (rc || a->status == 404)
			return rc;
		char *url = mem_strdup(a->location);
		exchange(w, "GET", url, most, BY_URL, a);
		mem_free(url);
		if (a->too_long)
			return error_set(
				err, RC_LIMIT,
				"%s: found more than %zu bytes, expected at most this size", path,
				most);
		if (a->status == 200 || a->status == 404)
			return RC_OK;
		if (w->secured && webhdfs_wants_login(a) && logins++ < LOGINS)
			rc = webhdfs_login(w, asked_s, err);
		else
			rc = webhdfs_passing(a) ? backoff_wait(n, until, err) : RC_END;
		if (rc == RC_END)
			return webhdfs_refused(w, doing(query), path, a, err);
		if (rc)
			return rc;
	}
}
