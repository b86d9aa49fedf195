/* patience.c - wait for brokers that do not answer, or stop with an error (kafka_client.h) */
#include <stdio.h>

#include "kafka_client.h"
#include "pool.h"

#define PAUSE_MS 200

/* Return true for an error that ends when the cluster is healthy again. */
bool kafka_is_passing(rd_kafka_resp_err_t e)
{
#define E(name) RD_KAFKA_RESP_ERR_##name
	static const rd_kafka_resp_err_t passing[] = {
		E(_AUTHENTICATION), /* on_error judges it: a new connection may get a new token */
		E(SASL_AUTHENTICATION_FAILED),
		E(_TRANSPORT),
		E(_ALL_BROKERS_DOWN),
		E(_RESOLVE),
		E(_TIMED_OUT),
		E(_TIMED_OUT_QUEUE),
		E(_MSG_TIMED_OUT),
		E(_WAIT_COORD),
		E(_WAIT_CACHE),
		E(_IN_PROGRESS),
		E(_NODE_UPDATE),
		E(_OUTDATED),
		E(REQUEST_TIMED_OUT),
		E(NETWORK_EXCEPTION),
		E(LEADER_NOT_AVAILABLE),
		E(NOT_LEADER_FOR_PARTITION),
		E(BROKER_NOT_AVAILABLE),
		E(REPLICA_NOT_AVAILABLE),
		E(OFFSET_NOT_AVAILABLE),
		E(KAFKA_STORAGE_ERROR),
		E(FENCED_LEADER_EPOCH),
		E(UNKNOWN_LEADER_EPOCH),
		E(COORDINATOR_LOAD_IN_PROGRESS),
		E(COORDINATOR_NOT_AVAILABLE),
		E(NOT_COORDINATOR),
	};
#undef E
	for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
		if (passing[i] == e)
			return true;
	return false;
}

uint64_t kafka_patience_of(const struct kafka *k)
{
	uint64_t said = k->job->kafka.patience_s;

	return said ? said : k->patience_s;
}

/* Return RC_OK if the caller may retry. */
int kafka_check_patience(struct kafka *k, struct error *err)
{
	int rc = silence_check(&k->silence, kafka_patience_of(k), err);

	if (rc == RC_OK && k->stop && *k->stop)
		return error_set(err, RC_STOPPED,
				 "the load stops because the group revoked the partition");
	return rc ? rc : stop_check(err);
}

int kafka_wait_or_fail(struct kafka *k, rd_kafka_resp_err_t e, const char *what, struct error *err)
{
	if (!kafka_is_passing(e))
		return error_set(err, RC_IO, "topic %s: %s: %s", kafka_name(&k->job->kafka), what,
				 rd_kafka_err2str(e));
	rd_kafka_poll(k->client, 0); /* runs on_error, which may know more */
	int known = silence_check(&k->silence, DURATION_FOREVER, err);
	if (known)
		return known;
	if (!*k->silence.reason)
		snprintf(k->silence.reason, sizeof k->silence.reason, "%s", rd_kafka_err2str(e));
	silence_begin(&k->silence, kafka_patience_of(k));
	for (int waited = 0; waited < 1000; waited += PAUSE_MS) {
		int rc = kafka_check_patience(k, err);

		if (rc)
			return rc;
		rd_kafka_poll(k->client, PAUSE_MS);
	}
	return RC_OK;
}
