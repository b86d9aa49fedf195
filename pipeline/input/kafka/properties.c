/*
 * properties.c - librdkafka's settings
 *
 * librdkafka keeps at most queued.max.messages.kbytes of values and keys, and about 400 bytes more
 * per message, so set both limits.
 */
#include "properties.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "bytes.h"
#include "io.h"

#define LARGEST_VALUE (1u << 20)
#define MIB	      ((uint64_t)1 << 20)
#define FETCH_MOST    (16 * MIB)
#define RECEIVE_LEAST 100000000 /* librdkafka's default */

struct setter {
	int (*set)(void *ctx, const struct property *p, struct error *err);
	void *ctx;
};

static int set_own(const struct setter *s, const char *name, const char *value, struct error *err)
{
	struct property p = {.name = name, .value = value};

	return s->set(s->ctx, &p, err);
}

static int set_number(const struct setter *s, const char *name, uint64_t value, struct error *err)
{
	char text[24];

	snprintf(text, sizeof text, "%llu", (unsigned long long)value);
	return set_own(s, name, text, err);
}

static uint64_t within(uint64_t v, uint64_t min, uint64_t max)
{
	return v < min ? min : v > max ? max : v;
}

static int set_limits(const struct setter *s, const struct job *job, uint64_t memory_bytes,
		      struct error *err)
{
	uint64_t queued = within(memory_bytes / 2, MIB, 256 * MIB);
	int rc = set_number(s, "queued.max.messages.kbytes", queued / 1024, err);

	if (rc == RC_OK)
		rc = set_number(s, "queued.min.messages", queued / 512, err);
	/*
	 * A fetch needs extra memory. librdkafka decompresses a whole answer at once, and 1 MiB of
	 * lz4 became 25 MiB in a test. A broker sends a larger batch alone.
	 */
	uint64_t fetch = within(queued / 32, MIB / 16, FETCH_MOST);
	if (rc == RC_OK && fetch < MIB) /* librdkafka raises fetch.max.bytes to message.max.bytes */
		rc = set_number(s, "message.max.bytes", fetch, err);
	if (rc == RC_OK)
		rc = set_number(s, "fetch.max.bytes", fetch, err);
	if (rc == RC_OK)
		rc = set_number(s, "fetch.message.max.bytes", within(fetch, MIB / 16, MIB), err);
	/* the largest answer, and the largest batch that zstd unpacks; independent of the memory */
	if (rc == RC_OK)
		rc = set_number(s, "receive.message.max.bytes",
				within(job->kafka.max_message + 2 * FETCH_MOST, RECEIVE_LEAST,
				       INT32_MAX),
				err);
	/*
	 * with small queues the default stalls for a second (stream/loads/README.md 4); librdkafka
	 * before 2.2 lacks the property
	 */
	struct property backoff = {.name = "fetch.queue.backoff.ms",
				   .value = "5",
				   .optional = true};
	return rc ? rc : s->set(s->ctx, &backoff, err);
}

/*
 * Return true if the value is a secret, which no message may show even if the job file contains the
 * secret.
 */
static bool is_secret(const struct kafka_property *p)
{
	static const char *const parts[] = {"password",		  "secret", "pem", "jaas",
					    "oauthbearer.config", "token"};
	bool secret = p->file || p->env;

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		secret = secret || strstr(p->name, parts[i]);
	return secret;
}

/* Properties whose values are libraries to load or commands to run. */
static const char *const code[] = {"plugin.library.paths", "sasl.kerberos.kinit.cmd",
				   "ssl.engine.location", "ssl.engine.id", "ssl.providers"};
/* Properties whose values become part of the kinit command, which a shell runs. */
static const char *const shell_words[] = {"sasl.kerberos.principal", "sasl.kerberos.keytab",
					  "sasl.kerberos.service.name"};

static bool is_among(const char *name, const char *const *names, size_t n)
{
	while (n > 0 && strcmp(name, names[n - 1]) != 0)
		n--;
	return n > 0;
}

/* Reject properties that run code, because another person may have written the job file. */
static int refuse_code(const char *name, const char *value, struct error *err)
{
	if (is_among(name, code, sizeof code / sizeof *code))
		return error_set(
			err, RC_CONFIG,
			"found property `%s`, which names code to run; if you trust the job, add "
			"--allow-code",
			name);
	size_t good = strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789._-/@:+=,");
	if (is_among(name, shell_words, sizeof shell_words / sizeof *shell_words) && value[good])
		return error_set(
			err, RC_CONFIG,
			"property `%s`, a part of a shell command: found the character `%c`, "
			"expected letters, digits and . _ - / @ : + = ,; if you trust the job, "
			"add --allow-code",
			name, value[good]);
	return RC_OK;
}

/* --- logins --- */

static const struct kafka_property *find(const struct job *job, const char *name)
{
	const struct kafka_property *p = job->kafka.properties, *end = p + job->kafka.nproperties;

	while (p < end && strcmp(p->name, name) != 0)
		p++;
	return p < end ? p : NULL;
}

static bool begins(const struct kafka_property *p, const char *with)
{
	return p && p->value && strncasecmp(p->value, with, strlen(with)) == 0;
}

static const struct kafka_property *mechanism_of(const struct job *job)
{
	const struct kafka_property *p = find(job, "sasl.mechanism");

	return p ? p : find(job, "sasl.mechanisms");
}

bool properties_use_our_ticket(const struct job *job)
{
	const struct kafka_property *mechanism = mechanism_of(job);

	return begins(find(job, "security.protocol"), "sasl_") &&
	       (!mechanism || begins(mechanism, "GSSAPI")) /* librdkafka's default */ &&
	       !find(job, "sasl.kerberos.keytab") && !find(job, "sasl.kerberos.kinit.cmd");
}

/*
 * Without this setting, librdkafka waits for `kinit` with a keytab that the job does not name. Builds
 * of librdkafka without Kerberos reject the setting.
 */
static int set_no_kinit(const struct setter *s, const struct job *job, struct error *err)
{
	struct property p = {.name = "sasl.kerberos.min.time.before.relogin",
			     .value = "0",
			     .optional = true};

	return properties_use_our_ticket(job) ? s->set(s->ctx, &p, err) : RC_OK;
}

/* Without a source of tokens, librdkafka tries no login, and waits forever. */
static int check_tokens(const struct job *job, struct error *err)
{
	const struct kafka_property *mechanism = mechanism_of(job);

	if (!begins(mechanism, "OAUTHBEARER") || find(job, "sasl.oauthbearer.method") ||
	    find(job, "enable.sasl.oauthbearer.unsecure.jwt"))
		return RC_OK;
	return error_set(err, RC_CONFIG,
			 "%s:%u:%u: OAUTHBEARER: found no source of tokens, expected "
			 "`sasl.oauthbearer.method: oidc` with sasl.oauthbearer.client.id, "
			 "sasl.oauthbearer.client.secret and sasl.oauthbearer.token.endpoint.url",
			 job->path, mechanism->pos.line, mechanism->pos.column);
}

/*
 * librdkafka up to 2.11 crashes when it renews its own token without a signature (no callback_q in
 * rd_kafka_sasl_oauthbearer_init). So let the token be valid for as long as librdkafka can count.
 */
static int lengthen_unsigned_token(const struct job *job, const struct kafka_property *p,
				   struct buf *value, struct error *err)
{
	if (strcmp(p->name, "sasl.oauthbearer.config") != 0 ||
	    !begins(find(job, "enable.sasl.oauthbearer.unsecure.jwt"), "true"))
		return RC_OK;
	if (strstr((const char *)value->ptr, "lifeSeconds="))
		return error_set(
			err, RC_CONFIG,
			"sasl.oauthbearer.config: found lifeSeconds, but librdkafka crashes when a "
			"token without a signature ends; leave lifeSeconds out");
	value->len--; /* the final 0 */
	buf_append_str(value, " lifeSeconds=2147483");
	buf_put(value, 0);
	return RC_OK;
}

/* --- values --- */

static int property_value(const struct kafka_property *p, struct buf *out, struct error *err)
{
	int rc = RC_OK;

	if (p->value) {
		buf_append_str(out, p->value);
	} else if (p->env) {
		const char *v = getenv(p->env);

		if (!v)
			return error_set(
				err, RC_CONFIG,
				"%s: found no environment variable %s; set it before you start "
				"saltmill",
				p->name, p->env);
		buf_append_str(out, v);
	} else {
		rc = io_read_file_upto(p->file, LARGEST_VALUE, out, err);
		while (out->len && strchr("\r\n", out->ptr[out->len - 1]))
			out->len--;
	}
	buf_put(out, 0);
	return rc;
}

static int set_property(const struct setter *s, const struct kafka_property *p,
			const struct job *job, struct error *err)
{
	struct buf value = {0};
	int rc = property_value(p, &value, err);

	if (rc == RC_OK && !job->allow_code)
		rc = refuse_code(p->name, (const char *)value.ptr, err);
	if (rc == RC_OK)
		rc = lengthen_unsigned_token(job, p, &value, err);
	struct property set = {.name = p->name,
			       .value = (const char *)value.ptr,
			       .secret = is_secret(p)};
	if (rc == RC_OK)
		rc = s->set(s->ctx, &set, err);
	if (value.ptr)
		explicit_bzero(value.ptr, value.cap);
	buf_release(&value);
	return rc;
}

int properties_of(const struct job *job, const struct kafka_property *properties, size_t n,
		  int (*set)(void *ctx, const struct property *p, struct error *err), void *ctx,
		  struct error *err)
{
	const struct setter s = {set, ctx};
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < n; i++) {
		const struct pos *at = &properties[i].pos;

		rc = set_property(&s, &properties[i], job, err);
		if (rc) {
			err->code = rc = RC_CONFIG;
			error_prefix(err, "%s:%u:%u: ", job->path, at->line, at->column);
		}
	}
	return rc;
}

int properties_each(const struct job *job, uint64_t memory_bytes,
		    int (*set)(void *ctx, const struct property *p, struct error *err), void *ctx,
		    struct error *err)
{
	static const char *const own[][2] = {
		{"enable.auto.commit", "false"},  {"enable.auto.offset.store", "false"},
		{"auto.offset.reset", "error"},	  {"isolation.level", "read_committed"},
		{"enable.partition.eof", "true"}, {"check.crcs", "true"},
		{"client.id", "saltmill"},	  {"reconnect.backoff.max.ms", "2000"},
		{"fetch.wait.max.ms", "100"},	  {"fetch.error.backoff.ms", "50"},
	};
	const struct kafka_source *k = &job->kafka;
	const struct setter s = {set, ctx};
	int rc = set_limits(&s, job, memory_bytes, err);

	for (size_t i = 0; rc == RC_OK && i < sizeof own / sizeof *own; i++)
		rc = set_own(&s, own[i][0], own[i][1], err);
	if (rc == RC_OK)
		rc = set_own(&s, "bootstrap.servers", k->brokers, err);
	/*
	 * librdkafka assigns partitions through its group code; without commits the name has no
	 * effect
	 */
	if (rc == RC_OK)
		rc = set_own(&s, "group.id", k->group ? k->group : "saltmill", err);
	if (rc == RC_OK)
		rc = set_no_kinit(&s, job, err);
	if (rc == RC_OK)
		rc = check_tokens(job, err);
	return rc ? rc : properties_of(job, k->properties, k->nproperties, set, ctx, err);
}
