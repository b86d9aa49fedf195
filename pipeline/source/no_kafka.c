/*
 * no_kafka.c - in place of kafka.c, kafka_topic.c, dead_letters.c and group_member.c where
 * librdkafka is left out
 *
 * Nobody gets a client, so that nothing else here is ever called with one.
 */
#include "group_member.h"
#include "kafka.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

static int none(struct error *err)
{
	return error_set(err, RC_CONFIG,
			 "this saltmill was built without Kafka (make worker): use one that was "
			 "built with it (make)");
}

bool kafka_is_here(void)
{
	return false;
}

int kafka_open(struct kafka **out, const struct job *job, uint64_t memory_bytes,
	       const struct kafka_log *log, struct error *err)
{
	return none(err);
}

void kafka_close(struct kafka *k)
{
}

void kafka_stop_by(struct kafka *k, const atomic_int *flag)
{
}

void kafka_patience(struct kafka *k, uint64_t seconds)
{
}

void kafka_topic_is_known(struct kafka *k, int32_t npartitions)
{
}

int kafka_look(struct kafka *k, struct kafka_topic *out, struct error *err)
{
	return none(err);
}

int kafka_look_at(struct kafka *k, const int32_t *partitions, size_t n, struct kafka_topic *out,
		  struct error *err)
{
	return none(err);
}

int kafka_is_refused(struct kafka *k, const char *topic, bool *refused, struct error *err)
{
	return none(err);
}

int kafka_send_rejects(struct kafka *k, const char *rejects, uint64_t n, struct error *err)
{
	return none(err);
}

int kafka_offsets_at(struct kafka *k, int64_t time_ms, struct offset_range *ranges, size_t n,
		     struct error *err)
{
	return none(err);
}

int kafka_committed(struct kafka *k, const struct offset_range *ranges, struct group_note *notes,
		    size_t n, struct error *err)
{
	return none(err);
}

int kafka_commit(struct kafka *k, const struct offset_range *ranges, size_t n, struct error *err)
{
	return none(err);
}

int kafka_read(struct kafka *k, const struct offset_range *ranges, size_t n, struct error *err)
{
	return none(err);
}

int kafka_take(struct kafka *k, struct kafka_batch *b, struct error *err)
{
	return none(err);
}

void kafka_taken(const struct kafka *k, struct offset_range *ranges, size_t n)
{
}

void kafka_message(const struct kafka_batch *b, size_t i, bool headers, struct message *out,
		   struct message_header **room, size_t *nroom)
{
}

void kafka_batch_clear(struct kafka_batch *b)
{
}

void kafka_batch_release(struct kafka_batch *b)
{
}

int member_open(struct member **out, const struct job *job, const struct member_calls *calls,
		const struct kafka_log *log, struct error *err)
{
	return none(err);
}

void member_close(struct member *m)
{
}

int member_poll(struct member *m, int wait_ms, struct error *err)
{
	return none(err);
}

void member_let_go(struct member *m)
{
}

void member_note(struct member *m, const struct offset_range *ranges, size_t n)
{
}
