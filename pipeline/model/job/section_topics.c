/*
 * section_topics.c - the topics of a kafka source
 *
 * The job names one topic, several topics, or a pattern for the topics' names.
 */
#include "sections.h"

#include "pattern.h"

#define NAME_MOST 249 /* Kafka's Topic.MAX_NAME_LENGTH */

static bool is_topic_name(const char *name)
{
	size_t len = strlen(name);

	return len > 0 && len <= NAME_MOST && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			    "0123456789._-") == len;
}

static int bad_topic(struct reader *r, const struct node *n, const struct key *key)
{
	return expected(r, n, key->name, "a topic name: up to 249 letters, digits, . _ -");
}

int read_topic(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	const char *name;
	int rc = read_text(r, n, key, &name);

	if (rc)
		return rc;
	if (!is_topic_name(name))
		return bad_topic(r, n, key);
	memcpy(slot, &name, sizeof name);
	return RC_OK;
}

int read_topics(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct kafka_source *k = slot;
	struct buf all = {0};
	int rc = read_texts(r, n, key->name, false, &k->topics, &k->ntopics);

	if (rc == RC_OK && k->ntopics == 0)
		rc = fault(r, n->pos, "topics: found an empty list, expected topic names");
	for (size_t i = 0; rc == RC_OK && i < k->ntopics; i++) {
		const struct node *item = n->kind == NODE_SEQUENCE ? n->items[i] : n;

		if (!is_topic_name(k->topics[i]))
			rc = bad_topic(r, item, key);
		for (size_t j = 0; rc == RC_OK && j < i; j++)
			if (strcmp(k->topics[i], k->topics[j]) == 0)
				rc = fault(r, item->pos,
					   "topics: found %s twice, expected different names",
					   k->topics[i]);
		buf_printf(&all, "%s%s", i ? ", " : "", k->topics[i]);
	}
	if (rc == RC_OK)
		k->several = arena_strndup(&r->job->arena, all.ptr, all.len);
	buf_release(&all);
	return rc;
}

/*
 * Read a pattern for topic names. The pattern must match the whole name, as in Kafka's consumers.
 */
int read_topic_pattern(struct reader *r, const struct node *n, const struct key *key, void *slot)
{
	struct kafka_source *k = slot;
	struct error why;
	struct arena *a = &r->job->arena;
	int rc = read_text(r, n, key, &k->pattern);

	if (rc)
		return rc;
	if (pattern_new(&k->like, a, k->pattern, &why))
		return fault(r, n->pos, "pattern: %s", why.msg);
	char *whole = mem_format("\\A(?:%s)\\z", k->pattern);
	if (pattern_new(&k->like, a, whole, &why))
		rc = fault(r, n->pos, "pattern: %s", why.msg);
	k->several = k->pattern;
	mem_free(whole);
	return rc;
}

/*
 * Return true if the pattern matches. Kafka's internal topics (__consumer_offsets) never match,
 * because they contain no events of users.
 */
static bool is_like(const struct pattern *like, const char *name)
{
	struct pattern_scratch scratch = {0};
	bool is = strncmp(name, "__", 2) != 0 &&
		  pattern_find(like, &scratch, bytes_str(name), NULL) == PATTERN_FOUND;

	pattern_scratch_release(&scratch);
	return is;
}

bool kafka_has_topic(const struct kafka_source *k, const char *name)
{
	if (k->topic)
		return strcmp(k->topic, name) == 0;
	for (size_t i = 0; i < k->ntopics; i++)
		if (strcmp(k->topics[i], name) == 0)
			return true;
	return k->like && is_like(k->like, name);
}

int check_topics(struct reader *r, const struct node *n)
{
	const struct kafka_source *k = &r->job->kafka;

	if ((k->topic != NULL) + (k->ntopics > 0) + (k->pattern != NULL) != 1)
		return fault(
			r, n->pos,
			"kafka: found %s of the keys `topic`, `topics` and `pattern`, expected one of them",
			k->topic || k->ntopics || k->pattern ? "several" : "none");
	if (k->dead_letters && kafka_has_topic(k, k->dead_letters))
		return fault(
			r, node_get(n, "dead_letters")->pos,
			"dead_letters: found topic %s, which the job also reads, expected another "
			"one, because rejected messages would be read and rejected again",
			k->dead_letters);
	return RC_OK;
}
