/* late_rdkafka.c - the functions of librdkafka that we call */
#include <librdkafka/rdkafka.h>

#include "late.h"

#define FUNCTIONS(GIVES, DOES)                                                                     \
	GIVES(rd_kafka_resp_err_t, rd_kafka_assign,                                                \
	      (rd_kafka_t * k, const rd_kafka_topic_partition_list_t *l), (k, l))                  \
	GIVES(rd_kafka_resp_err_t, rd_kafka_assignment,                                            \
	      (rd_kafka_t * k, rd_kafka_topic_partition_list_t * *l), (k, l))                      \
	GIVES(int, rd_kafka_assignment_lost, (rd_kafka_t * k), (k))                                \
	GIVES(char *, rd_kafka_clusterid, (rd_kafka_t * k, int ms), (k, ms))                       \
	GIVES(rd_kafka_resp_err_t, rd_kafka_commit,                                                \
	      (rd_kafka_t * k, const rd_kafka_topic_partition_list_t *l, int async),               \
	      (k, l, async))                                                                       \
	GIVES(rd_kafka_resp_err_t, rd_kafka_committed,                                             \
	      (rd_kafka_t * k, rd_kafka_topic_partition_list_t * l, int ms), (k, l, ms))           \
	DOES(rd_kafka_conf_destroy, (rd_kafka_conf_t * c), (c))                                    \
	GIVES(rd_kafka_conf_t *, rd_kafka_conf_new, (void), ())                                    \
	GIVES(rd_kafka_conf_res_t, rd_kafka_conf_set,                                              \
	      (rd_kafka_conf_t * c, const char *name, const char *value, char *why,                \
	       size_t why_size),                                                                   \
	      (c, name, value, why, why_size))                                                     \
	DOES(rd_kafka_conf_set_dr_msg_cb,                                                          \
	     (rd_kafka_conf_t * c,                                                                 \
	      void (*cb)(rd_kafka_t * k, const rd_kafka_message_t *m, void *ctx)),                 \
	     (c, cb))                                                                              \
	DOES(rd_kafka_conf_set_error_cb,                                                           \
	     (rd_kafka_conf_t * c,                                                                 \
	      void (*cb)(rd_kafka_t * k, int err, const char *reason, void *ctx)),                 \
	     (c, cb))                                                                              \
	DOES(rd_kafka_conf_set_log_cb,                                                             \
	     (rd_kafka_conf_t * c,                                                                 \
	      void (*cb)(const rd_kafka_t *k, int level, const char *fac, const char *buf)),       \
	     (c, cb))                                                                              \
	DOES(rd_kafka_conf_set_offset_commit_cb,                                                   \
	     (rd_kafka_conf_t * c, void (*cb)(rd_kafka_t * k, rd_kafka_resp_err_t err,             \
					      rd_kafka_topic_partition_list_t * l, void *ctx)),    \
	     (c, cb))                                                                              \
	DOES(rd_kafka_conf_set_opaque, (rd_kafka_conf_t * c, void *ctx), (c, ctx))                 \
	DOES(rd_kafka_conf_set_rebalance_cb,                                                       \
	     (rd_kafka_conf_t * c, void (*cb)(rd_kafka_t * k, rd_kafka_resp_err_t err,             \
					      rd_kafka_topic_partition_list_t * l, void *ctx)),    \
	     (c, cb))                                                                              \
	GIVES(ssize_t, rd_kafka_consume_batch_queue,                                               \
	      (rd_kafka_queue_t * queue, int ms, rd_kafka_message_t **messages, size_t n),         \
	      (queue, ms, messages, n))                                                            \
	GIVES(rd_kafka_error_t *, rd_kafka_consumer_close_queue,                                   \
	      (rd_kafka_t * k, rd_kafka_queue_t * queue), (k, queue))                              \
	GIVES(int, rd_kafka_consumer_closed, (rd_kafka_t * k), (k))                                \
	GIVES(rd_kafka_message_t *, rd_kafka_consumer_poll, (rd_kafka_t * k, int ms), (k, ms))     \
	DOES(rd_kafka_destroy, (rd_kafka_t * k), (k))                                              \
	DOES(rd_kafka_destroy_flags, (rd_kafka_t * k, int flags), (k, flags))                      \
	GIVES(const char *, rd_kafka_err2str, (rd_kafka_resp_err_t err), (err))                    \
	GIVES(rd_kafka_resp_err_t, rd_kafka_error_code, (const rd_kafka_error_t *error), (error))  \
	DOES(rd_kafka_error_destroy, (rd_kafka_error_t * error), (error))                          \
	GIVES(const char *, rd_kafka_error_string, (const rd_kafka_error_t *error), (error))       \
	GIVES(rd_kafka_resp_err_t, rd_kafka_fatal_error,                                           \
	      (rd_kafka_t * k, char *why, size_t why_size), (k, why, why_size))                    \
	GIVES(rd_kafka_resp_err_t, rd_kafka_header_add,                                            \
	      (rd_kafka_headers_t * h, const char *name, ssize_t name_len, const void *value,      \
	       ssize_t value_len),                                                                 \
	      (h, name, name_len, value, value_len))                                               \
	GIVES(size_t, rd_kafka_header_cnt, (const rd_kafka_headers_t *h), (h))                     \
	GIVES(rd_kafka_resp_err_t, rd_kafka_header_get_all,                                        \
	      (const rd_kafka_headers_t *h, size_t i, const char **name, const void **value,       \
	       size_t *size),                                                                      \
	      (h, i, name, value, size))                                                           \
	DOES(rd_kafka_headers_destroy, (rd_kafka_headers_t * h), (h))                              \
	GIVES(rd_kafka_headers_t *, rd_kafka_headers_new, (size_t initial_count), (initial_count)) \
	GIVES(rd_kafka_error_t *, rd_kafka_incremental_assign,                                     \
	      (rd_kafka_t * k, const rd_kafka_topic_partition_list_t *l), (k, l))                  \
	GIVES(rd_kafka_error_t *, rd_kafka_incremental_unassign,                                   \
	      (rd_kafka_t * k, const rd_kafka_topic_partition_list_t *l), (k, l))                  \
	DOES(rd_kafka_mem_free, (rd_kafka_t * k, void *ptr), (k, ptr))                             \
	GIVES(void *, rd_kafka_mem_malloc, (rd_kafka_t * k, size_t size), (k, size))               \
	DOES(rd_kafka_message_destroy, (rd_kafka_message_t * m), (m))                              \
	GIVES(const char *, rd_kafka_message_errstr, (const rd_kafka_message_t *m), (m))           \
	GIVES(rd_kafka_resp_err_t, rd_kafka_message_headers,                                       \
	      (const rd_kafka_message_t *m, rd_kafka_headers_t **out), (m, out))                   \
	GIVES(int64_t, rd_kafka_message_timestamp,                                                 \
	      (const rd_kafka_message_t *m, rd_kafka_timestamp_type_t *kind), (m, kind))           \
	GIVES(rd_kafka_resp_err_t, rd_kafka_metadata,                                              \
	      (rd_kafka_t * k, int all_topics, rd_kafka_topic_t *only,                             \
	       const struct rd_kafka_metadata **out, int ms),                                      \
	      (k, all_topics, only, out, ms))                                                      \
	DOES(rd_kafka_metadata_destroy, (const struct rd_kafka_metadata *metadata), (metadata))    \
	GIVES(rd_kafka_t *, rd_kafka_new,                                                          \
	      (rd_kafka_type_t type, rd_kafka_conf_t * c, char *why, size_t why_size),             \
	      (type, c, why, why_size))                                                            \
	GIVES(rd_kafka_resp_err_t, rd_kafka_offsets_for_times,                                     \
	      (rd_kafka_t * k, rd_kafka_topic_partition_list_t * l, int ms), (k, l, ms))           \
	GIVES(void *, rd_kafka_opaque, (const rd_kafka_t *k), (k))                                 \
	GIVES(int, rd_kafka_outq_len, (rd_kafka_t * k), (k))                                       \
	GIVES(rd_kafka_resp_err_t, rd_kafka_pause_partitions,                                      \
	      (rd_kafka_t * k, rd_kafka_topic_partition_list_t * l), (k, l))                       \
	GIVES(int, rd_kafka_poll, (rd_kafka_t * k, int ms), (k, ms))                               \
	GIVES(rd_kafka_resp_err_t, rd_kafka_poll_set_consumer, (rd_kafka_t * k), (k))              \
	GIVES(rd_kafka_error_t *, rd_kafka_produceva,                                              \
	      (rd_kafka_t * k, const rd_kafka_vu_t *vus, size_t cnt), (k, vus, cnt))               \
	GIVES(rd_kafka_resp_err_t, rd_kafka_purge, (rd_kafka_t * k, int flags), (k, flags))        \
	DOES(rd_kafka_queue_destroy, (rd_kafka_queue_t * queue), (queue))                          \
	GIVES(rd_kafka_queue_t *, rd_kafka_queue_get_consumer, (rd_kafka_t * k), (k))              \
	GIVES(size_t, rd_kafka_queue_length, (rd_kafka_queue_t * queue), (queue))                  \
	GIVES(rd_kafka_resp_err_t, rd_kafka_resume_partitions,                                     \
	      (rd_kafka_t * k, rd_kafka_topic_partition_list_t * l), (k, l))                       \
	GIVES(rd_kafka_resp_err_t, rd_kafka_set_log_queue,                                         \
	      (rd_kafka_t * k, rd_kafka_queue_t * queue), (k, queue))                              \
	GIVES(rd_kafka_resp_err_t, rd_kafka_subscribe,                                             \
	      (rd_kafka_t * k, const rd_kafka_topic_partition_list_t *topics), (k, topics))        \
	DOES(rd_kafka_topic_destroy, (rd_kafka_topic_t * t), (t))                                  \
	GIVES(const char *, rd_kafka_topic_name, (const rd_kafka_topic_t *t), (t))                 \
	GIVES(rd_kafka_topic_t *, rd_kafka_topic_new,                                              \
	      (rd_kafka_t * k, const char *topic, rd_kafka_topic_conf_t *c), (k, topic, c))        \
	GIVES(rd_kafka_topic_partition_t *, rd_kafka_topic_partition_list_add,                     \
	      (rd_kafka_topic_partition_list_t * l, const char *topic, int32_t partition),         \
	      (l, topic, partition))                                                               \
	GIVES(int, rd_kafka_topic_partition_list_del,                                              \
	      (rd_kafka_topic_partition_list_t * l, const char *topic, int32_t partition),         \
	      (l, topic, partition))                                                               \
	DOES(rd_kafka_topic_partition_list_destroy, (rd_kafka_topic_partition_list_t * l), (l))    \
	GIVES(rd_kafka_topic_partition_t *, rd_kafka_topic_partition_list_find,                    \
	      (const rd_kafka_topic_partition_list_t *l, const char *topic, int32_t partition),    \
	      (l, topic, partition))                                                               \
	GIVES(rd_kafka_topic_partition_list_t *, rd_kafka_topic_partition_list_new, (int size),    \
	      (size))                                                                              \
	GIVES(int, rd_kafka_version, (void), ())

FUNCTIONS(LATE_GIVES, LATE_DOES)

const struct late_function late_rdkafka[] = {FUNCTIONS(LATE_GIVES_LINE, LATE_DOES_LINE){0}};
