#include "registry.h"

#include <curl/curl.h>
#include <pthread.h>
#include <time.h>

#include "clock.h"
#include "late.h"
#include "pool.h"
#include "properties.h"
#include "registry_schemas.h"

#define ANSWER_MOST  ((size_t)16 << 20)
#define PATIENCE_S   30
#define FIRST_WAIT_S 0.25
#define LONG_WAIT_S  10.0
#define ANSWER_S     20L
#define LOOK_NS	     50000000 /* longest delay until a signal ends a wait */

/* The schema of an ID. The registry keeps it until the end. */
struct known_schema {
	uint32_t id;
	struct schema_found found; /* `refusal` is `nowhere` if the registry lacks the schema */
};

struct registry {
	struct typed_columns columns;
	const struct kafka_source *job;
	CURL *curl;
	struct curl_slist *headers;
	struct buf answer;
	char why[CURL_ERROR_SIZE];
	struct arena arena;
	struct known_schema *item;
	size_t n;
	struct error failure; /* code 0 if there is none */
	pthread_mutex_t lock; /* protects all members above */
};

/* --- settings --- */

static int set_property(void *ctx, const struct property *p, struct error *err)
{
	static const struct {
		const char *name;
		CURLoption option;
	} known[] = {{"basic.auth.user.info", CURLOPT_USERPWD},
		     {"bearer.auth.token", CURLOPT_XOAUTH2_BEARER},
		     {"ssl.ca.location", CURLOPT_CAINFO},
		     {"ssl.certificate.location", CURLOPT_SSLCERT},
		     {"ssl.key.location", CURLOPT_SSLKEY},
		     {"ssl.key.password", CURLOPT_KEYPASSWD}};
	struct registry *r = ctx;

	if (strcmp(p->name, "bearer.auth.token") == 0)
		curl_easy_setopt(r->curl, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(known[i].name, p->name) == 0)
			return curl_easy_setopt(r->curl, known[i].option, p->value) == CURLE_OK
				       ? RC_OK
				       : error_set(err, RC_CONFIG,
						   "libcurl rejects property %s; correct its value "
						   "in `properties` of the registry",
						   p->name);
	return error_set(err, RC_CONFIG,
			 "found registry property `%s`, expected basic.auth.user.info, "
			 "bearer.auth.token, ssl.ca.location, ssl.certificate.location, "
			 "ssl.key.location or ssl.key.password",
			 p->name);
}

static size_t take_answer(char *data, size_t size, size_t n, void *ctx)
{
	struct registry *r = ctx;

	if (r->answer.len + size * n > ANSWER_MOST)
		return 0;
	buf_append(&r->answer, data, size * n);
	return size * n;
}

/* After a signal, end a request at once, also if the registry does not answer. */
static int stop_on_signal(void *ctx, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	(void)ctx, (void)a, (void)b, (void)c, (void)d;
	return stop_flag != 0;
}

static int set_up(struct registry *r, struct error *err)
{
	const struct job *job = r->columns.job;

	curl_global_init(CURL_GLOBAL_DEFAULT);
	r->curl = curl_easy_init();
	r->headers = curl_slist_append(
		NULL, "Accept: application/vnd.schemaregistry.v1+json, application/json");
	if (!r->curl || !r->headers)
		return error_set(err, RC_IO, "cannot set up libcurl");
	curl_easy_setopt(r->curl, CURLOPT_HTTPHEADER, r->headers);
	curl_easy_setopt(r->curl, CURLOPT_WRITEFUNCTION, take_answer);
	curl_easy_setopt(r->curl, CURLOPT_WRITEDATA, r);
	curl_easy_setopt(r->curl, CURLOPT_ERRORBUFFER, r->why);
	curl_easy_setopt(r->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(r->curl, CURLOPT_TIMEOUT, ANSWER_S);
	curl_easy_setopt(r->curl, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(r->curl, CURLOPT_XFERINFOFUNCTION, stop_on_signal);
	curl_easy_setopt(r->curl, CURLOPT_PROTOCOLS_STR, "http,https");
	return properties_of(job, r->job->registry.properties, r->job->registry.nproperties,
			     set_property, r, err);
}

int registry_open(struct registry **out, const struct typed_columns *columns, struct error *err)
{
	if (late_need(LATE_CURL, err))
		return err->code;
	struct registry *r = mem_calloc(1, sizeof *r);

	r->columns = *columns;
	r->columns.may_lack = true;
	r->job = &columns->job->kafka;
	pthread_mutex_init(&r->lock, NULL);
	int rc = set_up(r, err);
	if (rc) {
		registry_close(r);
		return rc;
	}
	*out = r;
	return RC_OK;
}

void registry_close(struct registry *r)
{
	if (!r)
		return;
	curl_easy_cleanup(r->curl);
	curl_slist_free_all(r->headers);
	pthread_mutex_destroy(&r->lock);
	buf_release(&r->answer);
	arena_release(&r->arena);
	mem_free(r->item);
	mem_free(r);
}

/* --- asking --- */

static int pause_for(double seconds, struct error *err)
{
	const struct timespec look = {.tv_nsec = LOOK_NS};
	double end = clock_seconds() + seconds;
	int rc;

	while ((rc = stop_check(err)) == RC_OK && clock_seconds() < end)
		nanosleep(&look, NULL);
	return rc;
}

/* Send one request. Returns the HTTP status, or 0 if there is no answer (`r->why`). */
static long ask_once(struct registry *r, const char *url)
{
	long status = 0;

	r->answer.len = 0;
	r->why[0] = 0;
	curl_easy_setopt(r->curl, CURLOPT_URL, url);
	CURLcode code = curl_easy_perform(r->curl);
	if (code == CURLE_OK)
		curl_easy_getinfo(r->curl, CURLINFO_RESPONSE_CODE, &status);
	else if (!r->why[0])
		snprintf(r->why, sizeof r->why, "%s", curl_easy_strerror(code));
	return status;
}

/*
 * Request `path` until the answer is final. 200 and 404 are final, and any other final status is an
 * error. `what` names the requested schema in messages.
 */
static int ask(struct registry *r, const char *path, const char *what, long *status,
	       struct error *err)
{
	uint64_t patience = r->job->patience_s ? r->job->patience_s : PATIENCE_S;
	double since = clock_seconds(), wait = FIRST_WAIT_S;
	char *url = mem_format("%s/%s", r->job->registry.url, path);
	int rc = RC_OK;

	for (;; wait = wait < LONG_WAIT_S ? 2 * wait : wait) {
		*status = ask_once(r, url);
		rc = stop_check(err);
		if (rc)
			break;
		bool final = *status == 200 || *status == 404,
		     other = final && !schema_answer_is_json(buf_bytes(&r->answer));
		if (final && !other)
			break;
		bool passing = other || *status == 0 || *status == 429 || *status >= 500;
		if (other)
			snprintf(r->why, sizeof r->why,
				 "found status %ld with a body other than JSON, like the page of "
				 "a proxy, expected JSON",
				 *status);
		else if (*status)
			snprintf(r->why, sizeof r->why, "found status %ld%s", *status,
				 *status == 401 || *status == 403
					 ? "; check basic.auth.user.info in the registry's "
					   "properties"
					 : "");
		double passed = clock_seconds() - since;
		if (!passing || passed + wait > (double)patience) {
			rc = error_set(err, RC_IO,
				       "the schema registry at %s does not return %s: %s%s",
				       r->job->registry.url, what, r->why,
				       passing ? "; all retries failed" : "");
			break;
		}
		rc = pause_for(wait, err);
		if (rc)
			break;
	}
	mem_free(url);
	return rc;
}

/* Request a version of a subject to which a schema refers, for schema_answer_read. */
static int ask_for_version(void *ctx, uint32_t id, const char *subject, long long version,
			   struct bytes *answer, struct error *err)
{
	struct registry *r = ctx;
	long status = 0;
	char *escaped = curl_easy_escape(r->curl, subject, 0);
	char *path = mem_format("subjects/%s/versions/%lld", escaped ? escaped : "", version);
	char *what = mem_format("version %lld of subject %.200s, which schema %u refers to",
				version, subject, id);
	int rc = ask(r, path, what, &status, err);

	if (rc == RC_OK && status != 200)
		rc = error_set(err, RC_DATA, "the schema registry at %s does not have %s",
			       r->job->registry.url, what);
	*answer = buf_bytes(&r->answer);
	curl_free(escaped);
	mem_free(path);
	mem_free(what);
	return rc;
}

static struct known_schema *find(struct registry *r, uint32_t id)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->item[i].id == id)
			return &r->item[i];
	return NULL;
}

static const char nowhere[] = "";

static int learn(struct registry *r, uint32_t id, struct error *err)
{
	struct known_schema k = {.id = id};
	const struct schema_place at = {.id = id,
					.columns = &r->columns,
					.arena = &r->arena,
					.version = ask_for_version,
					.ctx = r};
	long status;

	if (r->failure.code) {
		*err = r->failure;
		return err->code;
	}
	char path[40], what[40];
	snprintf(path, sizeof path, "schemas/ids/%u", id);
	snprintf(what, sizeof what, "schema %u", id);
	int rc = ask(r, path, what, &status, err);
	if (rc == RC_OK && status == 404)
		k.found.refusal = nowhere;
	else if (rc == RC_OK)
		rc = schema_answer_read(&k.found, &at, buf_bytes(&r->answer), err);
	if (rc) {
		if (rc == RC_DATA) /* not the fault of one message, so not a reject */
			err->code = rc = RC_CONFIG;
		r->failure = *err;
		return rc;
	}
	r->item = mem_grow(r->item, r->n, sizeof *r->item);
	r->item[r->n++] = k;
	return RC_OK;
}

int registry_find(struct registry *r, uint32_t id, const struct avro_plan **plan,
		  struct reject *why, struct error *err)
{
	int rc = RC_OK;

	pthread_mutex_lock(&r->lock);
	if (!find(r, id))
		rc = learn(r, id, err);
	struct schema_found k = {0};
	if (rc == RC_OK)
		k = find(r, id)->found;
	pthread_mutex_unlock(&r->lock);
	*plan = k.plan;
	if (rc != RC_OK || !k.refusal)
		return rc;
	if (k.refusal == nowhere)
		return reject_set(why, "unknown_schema", NULL,
				  "found schema ID %u, expected one that the registry has", id);
	return reject_set(why, "wrong_schema", NULL,
			  "found schema ID %u, of format %.20s, expected one of %s%s", id,
			  k.refusal, r->job->format == KAFKA_AVRO ? "AVRO" : "JSON",
			  strcmp(k.refusal, "PROTOBUF") == 0 ? "; " NO_PROTOBUF : "");
}
