/* broker_lists.c - implements librdkafka's lists of partitions */
#include <stdlib.h>
#include <string.h>

#include "broker.h"

rd_kafka_topic_partition_list_t *rd_kafka_topic_partition_list_new(int size)
{
	(void)size;
	return calloc(1, sizeof(rd_kafka_topic_partition_list_t));
}

void rd_kafka_topic_partition_list_destroy(rd_kafka_topic_partition_list_t *l)
{
	for (int i = 0; i < l->cnt; i++) {
		free(l->elems[i].topic);
		free(l->elems[i].metadata);
	}
	free(l->elems);
	free(l);
}

rd_kafka_topic_partition_t *rd_kafka_topic_partition_list_add(rd_kafka_topic_partition_list_t *l,
							      const char *topic, int32_t partition)
{
	l->elems = realloc(l->elems, (size_t)(l->cnt + 1) * sizeof *l->elems);
	l->elems[l->cnt] = (rd_kafka_topic_partition_t){.topic = strdup(topic),
							.partition = partition,
							.offset = RD_KAFKA_OFFSET_INVALID};
	return &l->elems[l->cnt++];
}

rd_kafka_topic_partition_t *
rd_kafka_topic_partition_list_find(const rd_kafka_topic_partition_list_t *l, const char *topic,
				   int32_t partition)
{
	for (int i = 0; i < l->cnt; i++)
		if (l->elems[i].partition == partition && !strcmp(l->elems[i].topic, topic))
			return &l->elems[i];
	return NULL;
}

int rd_kafka_topic_partition_list_del(rd_kafka_topic_partition_list_t *l, const char *topic,
				      int32_t partition)
{
	rd_kafka_topic_partition_t *e = rd_kafka_topic_partition_list_find(l, topic, partition);

	if (!e)
		return 0;
	free(e->topic);
	free(e->metadata);
	l->cnt--;
	memmove(e, e + 1, (size_t)(l->elems + l->cnt - e) * sizeof *e);
	return 1;
}
