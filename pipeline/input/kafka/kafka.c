/* kafka.c - open, configure and close a Kafka client, and wait for brokers that do not answer */
#include <pthread.h>
#include <stdio.h>
#include <sys/random.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "kafka_client.h"
#include "clock.h"
#include "io.h"
#include "late.h"
#include "pool.h"
#include "properties.h"
#include "bytes.h"

#define CLOSE_S	      3
#define CLOSE_LOOK_MS 2

/* --- advice --- */

/*
 * The SCRAM code of librdkafka before 2.6.1 repeats the nonce. Newer brokers reject such a login as
 * wrong credentials (librdkafka issue 4895, CVE-2024-56128).
 */
static const char *scram_advice(const char *reason)
{
	return rd_kafka_version() < 0x02060100 && strstr(reason, "SCRAM")
		       ? "; if name and password are right, use librdkafka 2.6.1 or later, "
			 "because Kafka 3.8.1 and later reject SCRAM of older versions"
		       : "";
}

/* Return what to do if librdkafka or libsasl2 lack a part, or "". */
static const char *part_advice(const char *reason)
{
	static const char *const parts[][2] = {
		{"No worthy mechs",
		 "; libsasl2 has no module for GSSAPI: install libsasl2-modules-gssapi-mit (Debian, "
		 "Ubuntu) or cyrus-sasl-gssapi (Fedora, RHEL)"},
		{"No provider for SASL mechanism GSSAPI",
		 "; use a librdkafka that was built with libsasl2, such as that of Debian"},
		{"OAuth/OIDC depends on", "; use a librdkafka that was built with libcurl"}};

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (strstr(reason, parts[i][0]))
			return parts[i][1];
	return "";
}

/* --- configuration --- */

struct setting {
	struct kafka *kafka;
	rd_kafka_conf_t *conf;
};

int kafka_set_property(void *ctx, const struct property *p, struct error *err)
{
	char why[300];
	rd_kafka_conf_res_t r = rd_kafka_conf_set(ctx, p->name, p->value, why, sizeof why);

	if (r == RD_KAFKA_CONF_OK || p->optional)
		return RC_OK;
	return error_set(err, RC_CONFIG, "librdkafka rejects property %s%s%s%s", p->name,
			 p->secret ? "" : ": ", p->secret ? "" : why, part_advice(why));
}

/* Set a property. Remember a secret, so that no message shows it. */
static int set_property(void *ctx, const struct property *p, struct error *err)
{
	struct setting *s = ctx;
	struct kafka *k = s->kafka;

	broker_access_note(&k->access, p);
	k->shows_log = k->shows_log || (strcmp(p->name, "debug") == 0 && *p->value);
	if (p->secret && *p->value) {
		k->secrets = mem_grow(k->secrets, k->nsecrets, sizeof *k->secrets);
		k->secrets[k->nsecrets++] = mem_strdup(p->value);
	}
	return kafka_set_property(s->conf, p, err);
}

/* --- brokers that do not answer --- */

/* Replace the secrets in librdkafka's text by asterisks. */
static const char *without_secrets(const struct kafka *k, char *text)
{
	for (size_t i = 0; i < k->nsecrets; i++) {
		size_t len = strlen(k->secrets[i]);

		for (char *at = text; (at = strstr(at, k->secrets[i])); at += len)
			memset(at, '*', len);
	}
	return text;
}

/* Handle an error of librdkafka. The thread that takes messages or polls calls it. */
static void on_error(rd_kafka_t *client, int code, const char *reason, void *opaque)
{
	char text[600];
	struct kafka *k = opaque;
	bool login = code == RD_KAFKA_RESP_ERR__AUTHENTICATION ||
		     code == RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED;

	(void)client;
	if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
		silence_begin(&k->silence, kafka_patience_of(k));
		return;
	}
	snprintf(text, sizeof text, "%.350s%s%s", reason, login ? scram_advice(reason) : "",
		 login ? part_advice(reason) : "");
	silence_complaint(&k->silence, without_secrets(k, text), login);
}

/*
 * Handle a log line, in the same thread as on_error (log.queue). If a broker closes the connection,
 * librdkafka since 2.1 only logs the event and reports no error. With `debug` in the job, print all
 * lines.
 */
static void on_log(const rd_kafka_t *client, int level, const char *facility, const char *said)
{
	char text[2000];
	struct kafka *k = rd_kafka_opaque(client);

	snprintf(text, sizeof text, "librdkafka: %s: %s", facility, said);
	without_secrets(k, text);
	if (k->shows_log)
		report_to(&k->silence.listener, "%s", text);
	const char *thread_end = strstr(text, "]: ");
	if (level < LOG_DEBUG && thread_end && strcmp(facility, "FAIL") == 0 &&
	    strstr(text, "Disconnected"))
		silence_complaint(&k->silence, thread_end + 3, false);
}

/* --- life --- */

/* Convert bytes to MiB. Round up. */
static unsigned long long mib(uint64_t bytes)
{
	return (bytes + (1 << 20) - 1) >> 20;
}

int kafka_check_memory(const struct job *job, uint64_t memory_bytes, struct error *err)
{
	const struct kafka_source *k = &job->kafka;

	if (memory_bytes >= k->max_message)
		return RC_OK;
	return error_set(err, RC_CONFIG,
			 "%s:%u:%u: `max_message` allows messages of %llu bytes: found --memory "
			 "%lluM, expected at least %lluM; raise --memory, or lower `max_message`",
			 job->path, k->pos.line, k->pos.column, (unsigned long long)k->max_message,
			 (unsigned long long)(memory_bytes * KAFKA_MEMORY_SHARE >> 20),
			 mib(k->max_message * KAFKA_MEMORY_SHARE));
}

static void forget_secrets(struct kafka *k)
{
	for (size_t i = 0; i < k->nsecrets; i++) {
		explicit_bzero(k->secrets[i], strlen(k->secrets[i]));
		mem_free(k->secrets[i]);
	}
	mem_free(k->secrets);
	broker_access_release(&k->access);
}

static void name_client(struct kafka *k)
{
	char host[65] = "";
	uint64_t random = 0;

	gethostname(host, sizeof host - 1);
	/* two containers with the same host name may both run as process 1 */
	if (getrandom(&random, sizeof random, 0) != sizeof random)
		random = (uint64_t)(clock_seconds() * 1e9);
	snprintf(k->name, sizeof k->name, "saltmill, process %ld on %s, %016llx", (long)getpid(),
		 host, (unsigned long long)random);
}

/* Find a missing ticket here, because librdkafka's message does not name the remedy. */
static int check_login(const struct job *job, struct error *err)
{
	struct login_ticket ticket;
	int rc = RC_OK;

	if (properties_use_our_ticket(job))
		rc = login_ticket(&ticket, err);
	if (rc)
		error_prefix(err, "%s:%u:%u: Kafka with GSSAPI: ", job->path, job->kafka.pos.line,
			     job->kafka.pos.column);
	return rc;
}

int kafka_open(struct kafka **out, const struct job *job, uint64_t memory_bytes,
	       const struct listener *listener, struct error *err)
{
	char why[300];

	if ((memory_bytes && kafka_check_memory(job, memory_bytes, err)) ||
	    late_need(LATE_RDKAFKA, err))
		return err->code;
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	struct kafka *k = mem_calloc(1, sizeof *k);
	k->job = job;
	/* begin with small batches, until the size of messages is known */
	k->mean_bytes = 64 << 10;
	k->patience_s = DURATION_FOREVER;
	k->silence.brokers = job->kafka.brokers;
	if (listener)
		k->silence.listener = *listener;
	rd_kafka_conf_set_opaque(conf, k);
	rd_kafka_conf_set_error_cb(conf, on_error);
	rd_kafka_conf_set_log_cb(conf, on_log);
	/* makes on_log run in the thread that polls */
	rd_kafka_conf_set(conf, "log.queue", "true", NULL, 0);
	int rc = properties_each(job, memory_bytes, set_property, &(struct setting){k, conf}, err);
	if (rc == RC_OK)
		rc = check_login(job, err);
	if (rc == RC_OK)
		k->client = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof why);
	if (!k->client) {
		rd_kafka_conf_destroy(conf);
		forget_secrets(k);
		mem_free(k);
		return rc ? rc
			  : error_set(err, RC_CONFIG, "%s:%u:%u: librdkafka: %s%s", job->path,
				      job->kafka.pos.line, job->kafka.pos.column, why,
				      part_advice(why));
	}
	rd_kafka_set_log_queue(k->client, NULL);
	k->queue = rd_kafka_queue_get_consumer(k->client);
	kafka_open_topics(k);
	name_client(k);
	*out = k;
	return RC_OK;
}

void kafka_patience(struct kafka *k, uint64_t seconds)
{
	k->patience_s = seconds;
}

void kafka_stop_by(struct kafka *k, const atomic_int *flag)
{
	k->stop = flag;
}

void kafka_settle(rd_kafka_t *client)
{
	for (int i = 0; i < 2; i++) {
		rd_kafka_topic_partition_list_t *l = NULL;

		if (rd_kafka_assignment(client, &l) == RD_KAFKA_RESP_ERR_NO_ERROR)
			rd_kafka_topic_partition_list_destroy(l);
	}
}

/*
 * Destroy the client in a separate thread, because both calls wait for the client's main thread, in
 * which a login may hang.
 */
static void *destroy_client(void *client)
{
	kafka_settle(client);
	rd_kafka_destroy_flags(client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
	return NULL;
}

bool kafka_destroy_in_time(rd_kafka_t *client)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, destroy_client, client) != 0) {
		destroy_client(client);
		return true;
	}
	/* pthread_timedjoin_np uses the wall clock, which may go back */
	int64_t end = clock_ms() + CLOSE_S * 1000;
	bool ended;
	while (!(ended = pthread_tryjoin_np(thread, NULL) == 0) && clock_ms() < end)
		clock_sleep_ms(CLOSE_LOOK_MS);
	if (!ended)
		pthread_detach(thread);
	return ended;
}

void kafka_close(struct kafka *k)
{
	if (!k)
		return;
	rd_kafka_queue_destroy(k->queue);
	kafka_close_topics(k);
	if (!kafka_destroy_in_time(k->client))
		return; /* do not free *k, because its threads may still use it */
	forget_secrets(k);
	ranges_release(&k->ranges);
	arena_release(&k->names);
	mem_free(k->topics);
	mem_free(k);
}
