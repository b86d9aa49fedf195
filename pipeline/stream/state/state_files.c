#include "state_files.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "bytes.h"
#include "checkpoint.h"
#include "form.h"
#include "io.h"

/* --- forms --- */

static const char *const phases[] = {"reading", "publishing", "published", "seek", NULL};
static const struct form_member load_members[] = {
	{"name", FORM_TEXT, IN(state_load, name),
	 "name of the load, which is a number with "
	 "leading zeros"},
	{"phase", FORM_CHOICE, IN(state_load, phase),
	 "reading or publishing for a load in progress; seek for positions that a user set",
	 .choices = phases},
	{"dir", FORM_TEXT, IN(state_load, dir),
	 "absolute path of the load's folder; empty for a "
	 "seek"},
	{"read", FORM_COUNT, IN(state_load, read), "events"},
	{"rejected", FORM_COUNT, IN(state_load, rejected), "bad events"},
	{"published_ms", FORM_INT, IN(state_load, published_ms),
	 "wall clock time of the publication, in ms since 1970"},
	{"manifest", FORM_DIGEST, IN(state_load, manifest), "XXH3-128 of the load's manifest.json",
	 FORM_IF, IF(state_load, manifest_known)},
	{"offsets", FORM_LIST, IN(state_load, ranges), "by topic and partition",
	 ITEMS(state_load, offset_range_form, nranges)},
	{"handed_ms", FORM_INT, IN(state_load, handed_ms),
	 "in a mark: wall clock time when the load came into HBase, in ms since 1970", FORM_IF_ANY},
	{"cluster", FORM_TEXT, IN(state_load, handed_to),
	 "in a mark: id of the HBase cluster; absent if a user marked the load", FORM_IF_ANY},
};
const struct form state_load_form =
	NAMED_FORM(state_load, load_members, "state-load",
		   "intent.json, loads/NAME.json and handed/NAME of a state",
		   .seal = FORM_SEALED_LATER);

/*
 * The form of topic.json. If there is one topic, and places do not name it, the file has no list.
 */
struct topics_view {
	const char *cluster, *topic;
	bool is_one;
	int32_t partitions;
	const char *id;
	struct state_topic *topics;
	size_t ntopics;
	const char *unnamed;
};
static const struct form_member topic_members[] = {
	{"topic", FORM_TEXT, IN(state_topic, topic), "its name"},
	{"partitions", FORM_INT32, IN(state_topic, npartitions), "number of its partitions"},
	{"id", FORM_TEXT, IN(state_topic, id), "the brokers' id of the topic", FORM_IF_ANY},
};
static const struct form topic_form = FORM(state_topic, topic_members);
static const struct form_member topics_members[] = {
	{"cluster", FORM_TEXT, IN(topics_view, cluster), "Kafka's cluster id"},
	{"topic", FORM_TEXT, IN(topics_view, topic), "the topic, if the job has one", FORM_IF_ANY},
	{"partitions", FORM_INT32, IN(topics_view, partitions), "number of its partitions", FORM_IF,
	 IF(topics_view, is_one)},
	{"id", FORM_TEXT, IN(topics_view, id), "the brokers' id of the topic", FORM_IF_ANY},
	{"topics", FORM_LIST, IN(topics_view, topics), "the topics, if the job has several",
	 FORM_IF_ANY, ITEMS(topics_view, topic_form, ntopics)},
	{"unnamed", FORM_TEXT, IN(topics_view, unnamed), "the topic of places without a name",
	 FORM_IF_ANY},
};
const struct form state_topics_form =
	NAMED_FORM(topics_view, topics_members, "state-topic",
		   "topic.json and shared.json of a state", .seal = FORM_SEALED_LATER);

static const struct form_member checkpoint_members[] = {
	{"records", FORM_SIZE, IN(checkpoint, records), "files in loads/"},
	{"last", FORM_TEXT, IN(checkpoint, last), "name of the newest of these records"},
	{"newest", FORM_TEXT, IN(checkpoint, newest),
	 "name of the newest load; absent if a user set all positions", FORM_IF_ANY},
	{"positions", FORM_LIST, IN(checkpoint, positions), "by topic and partition",
	 ITEMS(checkpoint, offset_range_form, npositions)},
};
const struct form state_checkpoint_form =
	NAMED_FORM(checkpoint, checkpoint_members, "state-sum", "checkpoint.json of a state",
		   .seal = FORM_SEALED);

static const struct form_member note_members[] = {
	{"time_ms", FORM_INT, IN(state_note, time_ms), "time of these figures, in ms since 1970"},
	{"lag", FORM_COUNT, IN(state_note, lag), "offsets in no load yet"},
	{"cut", FORM_COUNT, IN(state_note, cut), "offsets of the load in progress"},
	{"cut_age_ms", FORM_INT, IN(state_note, cut_age_ms),
	 "age of the first event of that load, "
	 "in ms",
	 FORM_NEWER},
	{"rate", FORM_REAL, IN(state_note, rate), "events per second in the last minute",
	 FORM_NEWER},
	{"loads", FORM_COUNT, IN(state_note, loads), "loads since the stream started"},
	{"events", FORM_COUNT, IN(state_note, events), "events since the stream started"},
	{"rejected", FORM_COUNT, IN(state_note, rejected), "bad events since the stream started"},
	{"parked", FORM_CHARS, IN(state_note, parked),
	 "why the partition waits until somebody fixes the problem", FORM_IF_ANY,
	 .count_at = sizeof(((struct state_note *)0)->parked)},
};
const struct form state_note_form =
	NAMED_FORM(state_note, note_members, "state-status", "status.json of a state");

static const struct form_member applying_members[] = {
	{"time_ms", FORM_INT, IN(state_applying, time_ms),
	 "time of these figures, in ms since 1970"},
	{"upto", FORM_CHARS, IN(state_applying, upto), "the newest load that the process has seen",
	 .count_at = sizeof(((struct state_applying *)0)->upto)},
	{"waiting", FORM_COUNT, IN(state_applying, waiting), "loads that are not in HBase"},
	{"oldest_ms", FORM_INT, IN(state_applying, oldest_ms),
	 "publication time of the oldest of these loads, in ms since 1970; 0 if there is none"},
	{"applied", FORM_COUNT, IN(state_applying, applied), "loads applied since the start"},
	{"applied_ms", FORM_INT, IN(state_applying, applied_ms),
	 "time when the last load came into HBase, in ms since 1970; 0 if there is none"},
	{"trouble", FORM_CHARS, IN(state_applying, trouble),
	 "why the oldest load is not in HBase; empty if there is no problem",
	 .count_at = sizeof(((struct state_applying *)0)->trouble)},
};
const struct form state_applying_form =
	NAMED_FORM(state_applying, applying_members, "state-applying", "applying.json of a state");

/* --- files --- */

static int write_file(const char *path, const struct form *f, const void *object, const char *crash,
		      struct error *err)
{
	struct buf text = {0};

	form_put(&text, f, object, FORM_NARROW);
	int rc = io_replace_file(path, buf_bytes(&text), crash, err);
	buf_release(&text);
	return rc;
}

static int damaged(const char *path, const char *why, struct error *err)
{
	return error_set(err, RC_DATA,
			 "%s has damage or a change by hand: %s; `saltmill loads --state DIR "
			 "--rebuild` rebuilds a state from its loads",
			 path, why);
}

/* Read a file by its form. `what` names the content in messages, for example "a load's record". */
static int read_file(const char *path, const struct form *f, void *object, const char *what,
		     struct arena *a, struct error *err)
{
	struct buf text = {0};
	struct error why;
	const char *slash = strrchr(path, '/');
	int rc = io_read_file(path, &text, err);

	if (rc == RC_OK && form_parse(f, object, buf_bytes(&text), slash ? slash + 1 : path, what,
				      a, &why) != RC_OK)
		rc = damaged(path, why.msg, err);
	buf_release(&text);
	return rc;
}

/* Write a file for people. The function does not sync the file, which has no final newline. */
static int write_note(const char *path, const struct form *f, const void *object, struct error *err)
{
	struct buf text = {0};
	char *temp = mem_format("%s.temp", path);
	FILE *file = fopen(temp, "we");

	form_put(&text, f, object, FORM_NARROW);
	bool good = file && fwrite(text.ptr, 1, text.len - 1, file) == text.len - 1;
	good = file && fclose(file) == 0 && good && rename(temp, path) == 0;
	int rc = good ? RC_OK : error_errno(err, "cannot write %s", path);
	buf_release(&text);
	mem_free(temp);
	return rc;
}

/* --- loads --- */

int load_write(const char *path, const struct state_load *l, const char *crash, struct error *err)
{
	return text_is_utf8(bytes_str(l->dir))
		       ? write_file(path, &state_load_form, l, crash, err)
		       : error_set(err, RC_DATA,
				   "%s: cannot write the file: found a name that is "
				   "not UTF-8, expected only UTF-8",
				   path);
}

/*
 * Return true if the place is new. The partition numbers of a topic rise, and the ranges of a topic
 * are adjacent.
 */
static bool is_new_place(const struct offset_range *r, size_t i)
{
	if (!i)
		return true;
	if (place_order(r[i - 1].topic, 0, r[i].topic, 0) == 0)
		return r[i - 1].partition < r[i].partition;
	for (size_t j = 0; j < i; j++)
		if ((j == 0 || r[j].topic != r[j - 1].topic) &&
		    place_order(r[j].topic, 0, r[i].topic, 0) == 0)
			return false;
	return true;
}

static bool are_places(struct offset_range *r, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!is_new_place(r, i))
			return false;
		/* store one name for all ranges of a topic */
		if (i && r[i].topic && r[i - 1].topic && strcmp(r[i].topic, r[i - 1].topic) == 0)
			r[i].topic = r[i - 1].topic;
	}
	return true;
}

int load_read(const char *path, struct state_load *l, struct arena *a, struct error *err)
{
	*l = (struct state_load){0};
	int rc = read_file(path, &state_load_form, l, "a load's record", a, err);

	if (rc == RC_OK && !are_places(l->ranges, l->nranges))
		rc = damaged(path,
			     "found a partition twice or out of order, expected rising "
			     "partitions",
			     err);
	return rc;
}

/* --- topics --- */

int topics_write(const char *path, const struct state_topics *t, struct error *err)
{
	assert(t->n > 0);
	struct topics_view v = {.cluster = t->item->cluster,
				.unnamed = t->unnamed ? t->item->topic : NULL};

	if (t->n == 1 && t->unnamed) {
		v.topic = v.unnamed;
		v.unnamed = NULL;
		v.is_one = true;
		v.partitions = t->item->npartitions;
		v.id = t->item->id;
	} else {
		v.topics = t->item;
		v.ntopics = t->n;
	}
	return write_file(path, &state_topics_form, &v, NULL, err);
}

/* Check that the file has one topic or a list, and that no topic occurs twice. */
static bool are_topics(const struct topics_view *v)
{
	for (size_t i = 0; i < v->ntopics; i++)
		for (size_t j = 0; j < i; j++)
			if (strcmp(v->topics[i].topic, v->topics[j].topic) == 0)
				return false;
	if (!v->topic == !v->ntopics || !v->topic == v->is_one)
		return false;
	return v->topic || !v->unnamed || strcmp(v->unnamed, v->topics->topic) == 0;
}

int topics_read(const char *path, struct state_topics *t, struct arena *a, struct error *err)
{
	struct topics_view v = {0};

	*t = (struct state_topics){0};
	int rc = read_file(path, &state_topics_form, &v, "a topic's record", a, err);
	if (rc)
		return rc;
	if (!are_topics(&v))
		return damaged(path, "expected one topic, or a list of different ones", err);
	if (v.topic) {
		v.topics = arena_alloc(a, sizeof *v.topics);
		*v.topics = (struct state_topic){.topic = v.topic,
						 .npartitions = v.partitions,
						 .id = v.id};
		v.ntopics = 1;
	}
	*t = (struct state_topics){v.topics, v.ntopics, v.topic || v.unnamed};
	for (size_t i = 0; i < t->n; i++)
		t->item[i].cluster = v.cluster;
	return RC_OK;
}

int topic_write(const char *path, const struct state_topic *t, struct error *err)
{
	struct state_topic one = *t;

	return topics_write(path, &(struct state_topics){&one, 1, true}, err);
}

int topic_read(const char *path, struct state_topic *t, struct arena *a, struct error *err)
{
	struct state_topics all;
	int rc = topics_read(path, &all, a, err);

	if (rc == RC_OK && (all.n != 1 || !all.unnamed))
		rc = damaged(path, "found several topics, expected one", err);
	if (rc == RC_OK)
		*t = *all.item;
	return rc;
}

/* --- notes and checkpoint --- */

int note_write(const char *path, const struct state_note *n, struct error *err)
{
	return write_note(path, &state_note_form, n, err);
}

int note_read(const char *path, struct state_note *n, struct error *err)
{
	struct arena none = {0};

	*n = (struct state_note){0};
	return form_read(&state_note_form, n, path, "a status", &none, err);
}

int applying_write(const char *path, const struct state_applying *n, struct error *err)
{
	return write_note(path, &state_applying_form, n, err);
}

int applying_read(const char *path, struct state_applying *n, struct error *err)
{
	struct arena none = {0};

	*n = (struct state_applying){0};
	return form_read(&state_applying_form, n, path, "a status", &none, err);
}

static char *checkpoint_path(const char *dir)
{
	return mem_format("%s/checkpoint.json", dir);
}

void checkpoint_write(const char *dir, const struct checkpoint *c)
{
	struct error ignored;
	char *path = checkpoint_path(dir);

	write_file(path, &state_checkpoint_form, c, NULL, &ignored);
	mem_free(path);
}

bool checkpoint_read(const char *dir, struct checkpoint *c, struct arena *a)
{
	struct error ignored;
	char *path = checkpoint_path(dir);

	*c = (struct checkpoint){0};
	bool good =
		read_file(path, &state_checkpoint_form, c, "a checkpoint", a, &ignored) == RC_OK &&
		are_places(c->positions, c->npositions);

	mem_free(path);
	return good;
}

int shared_is(const char *dir, bool *is_shared, struct error *err)
{
	char *path = mem_format("%s/shared.json", dir);
	int rc = io_exists(path, is_shared, err);

	mem_free(path);
	return rc;
}
