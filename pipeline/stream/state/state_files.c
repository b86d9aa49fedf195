#include "state_files.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

#include "bytes.h"
#include "checkpoint.h"
#include "io.h"
#include "hash.h"

static const char *const phase_names[] = {"reading", "publishing", "published", "seek"};

/* Digest all members but the digest itself, whatever the file's layout. False: not UTF-8. */
static bool digest_text(json_t *json, char hex[33])
{
	XXH128_canonical_t digest;
	struct buf b = {0};
	char *text = json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS);

	if (!text)
		return false;
	XXH128_canonicalFromHash(&digest, XXH3_128bits(text, strlen(text)));
	bytes_hex(&b, bytes_of(digest.digest, sizeof digest.digest));
	snprintf(hex, 33, "%.*s", (int)b.len, (const char *)b.ptr);
	buf_release(&b);
	free(text);
	return true;
}

static int write_json(const char *path, json_t *json, const char *crash, struct error *err)
{
	char hex[33], *text = NULL;

	if (digest_text(json, hex) && json_object_set_new(json, "digest", json_string(hex)) == 0)
		text = json_dumps(json, JSON_INDENT(1));
	json_decref(json);
	if (!text)
		return error_set(err, RC_DATA, "%s: cannot write it: a name in it is not UTF-8",
				 path);
	struct buf b = {0};
	buf_printf(&b, "%s\n", text);
	free(text);
	int rc = io_replace_file(path, buf_bytes(&b), crash, err);
	buf_release(&b);
	return rc;
}

static int damaged(const char *path, const char *why, struct error *err)
{
	return error_set(err, RC_DATA,
			 "%s was damaged or changed by hand: %s; `saltmill loads --state DIR "
			 "--rebuild` rebuilds a state from its loads",
			 path, why);
}

/* Check the digest. A file without one was written by a version without digests. */
static int check_digest(const char *path, json_t *json, bool needed, struct error *err)
{
	char hex[33];
	const char *said = json_string_value(json_object_get(json, "digest"));
	char *kept = said ? mem_strdup(said) : NULL;

	json_object_del(json, "digest");
	bool good = kept ? digest_text(json, hex) && strcmp(kept, hex) == 0 : !needed;
	mem_free(kept);
	return good ? RC_OK : damaged(path, "its content does not match its digest", err);
}

/* digest: the file must have a digest. */
static int read_json(const char *path, json_t **out, bool digest, struct error *err)
{
	struct buf text = {0};
	json_error_t bad;
	int rc = io_read_file(path, &text, err);

	if (!rc) {
		*out = json_loadb((const char *)text.ptr, text.len, JSON_REJECT_DUPLICATES, &bad);
		if (!*out)
			rc = damaged(path, bad.text, err);
	}
	if (!rc)
		rc = check_digest(path, *out, digest, err);
	if (rc && *out) {
		json_decref(*out);
		*out = NULL;
	}
	buf_release(&text);
	return rc;
}

/* Return NULL if there is no digest: json_pack then omits it. */
static json_t *digest_json(bool known, const uint8_t digest[16])
{
	struct buf hex = {0};

	bytes_hex(&hex, bytes_of(digest, 16));
	json_t *out = known ? json_stringn((const char *)hex.ptr, hex.len) : NULL;
	buf_release(&hex);
	return out;
}

static json_t *anchor_json(const struct anchor *a)
{
	return a->known ? json_pack("{s:I, s:I, s:o*}", "offset", (json_int_t)a->offset,
				    "timestamp_ms", (json_int_t)a->timestamp_ms, "digest",
				    digest_json(true, a->digest))
			: NULL;
}

static json_t *range_json(const struct offset_range *r)
{
	return json_pack("{s:s*, s:i, s:I, s:I, s:I, s:o*}", "topic", r->topic, "partition",
			 r->partition, "start", (json_int_t)r->start, "end", (json_int_t)r->end,
			 "events", (json_int_t)r->events, "last", anchor_json(&r->last));
}

static json_t *ranges_json(const struct offset_range *r, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, range_json(&r[i]));
	return list;
}

int load_write(const char *path, const struct state_load *l, const char *crash, struct error *err)
{
	return write_json(path,
			  json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:o*, s:o, s:o*, s:s*}", "name",
				    l->name, "phase", phase_names[l->phase], "dir", l->dir, "read",
				    (json_int_t)l->read, "rejected", (json_int_t)l->rejected,
				    "published_ms", (json_int_t)l->published_ms, "manifest",
				    digest_json(l->manifest_known, l->manifest), "offsets",
				    ranges_json(l->ranges, l->nranges), "handed_ms",
				    l->handed_ms ? json_integer(l->handed_ms) : NULL, "cluster",
				    l->handed_to),
			  crash, err);
}

/* Read an anchor. NULL in an old folder, or before the first message: not known. */
static bool read_anchor(json_t *json, struct anchor *a)
{
	json_int_t offset, timestamp;
	const char *digest;

	*a = (struct anchor){0};
	if (!json)
		return true;
	if (json_unpack(json, "{s:I, s:I, s:s}", "offset", &offset, "timestamp_ms", &timestamp,
			"digest", &digest) ||
	    !bytes_unhex(a->digest, sizeof a->digest, digest))
		return false;
	a->known = true;
	a->offset = offset;
	a->timestamp_ms = timestamp;
	return true;
}

static bool read_range(json_t *json, struct offset_range *r, struct arena *a)
{
	json_int_t start, end, events;
	json_t *last = NULL;
	const char *topic = NULL;
	int partition;

	if (json_unpack(json, "{s?:s, s:i, s:I, s:I, s:I, s?:o}", "topic", &topic, "partition",
			&partition, "start", &start, "end", &end, "events", &events, "last",
			&last) ||
	    !read_anchor(last, &r->last))
		return false;
	r->topic = topic ? arena_strdup(a, topic) : NULL;
	r->partition = partition;
	r->start = start;
	r->end = end;
	r->events = events;
	return true;
}

/* Check that no place occurs twice: partitions rise, and each topic is written in one piece. */
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

static bool read_ranges(const json_t *list, struct offset_range **out, size_t *n, struct arena *a)
{
	*n = json_array_size(list);
	*out = arena_alloc(a, (*n + 1) * sizeof **out);
	for (size_t i = 0; i < *n; i++) {
		struct offset_range *r = &(*out)[i];

		if (!read_range(json_array_get(list, i), r, a) || !is_new_place(*out, i))
			return false;
		/* share one name among all ranges of a topic */
		if (i && r->topic && r[-1].topic && strcmp(r->topic, r[-1].topic) == 0)
			r->topic = r[-1].topic;
	}
	return true;
}

int load_read(const char *path, struct state_load *l, struct arena *a, struct error *err)
{
	json_t *json = NULL, *ranges;
	const char *name, *phase, *dir, *manifest = NULL, *cluster = NULL;
	json_int_t read, rejected, published, handed = 0;
	int rc = read_json(path, &json, false, err);

	if (rc)
		return rc;
	size_t p = 0;
	bool good =
		json_unpack(json, "{s:s, s:s, s:s, s:I, s:I, s:I, s?:s, s:o, s?:I, s?:s}", "name",
			    &name, "phase", &phase, "dir", &dir, "read", &read, "rejected",
			    &rejected, "published_ms", &published, "manifest", &manifest, "offsets",
			    &ranges, "handed_ms", &handed, "cluster", &cluster) == 0;
	while (good && p < 4 && strcmp(phase, phase_names[p]) != 0)
		p++;
	if (good && p < 4) {
		*l = (struct state_load){.name = arena_strdup(a, name),
					 .dir = arena_strdup(a, dir),
					 .phase = (enum state_phase)p,
					 .read = (uint64_t)read,
					 .rejected = (uint64_t)rejected,
					 .published_ms = published,
					 .handed_ms = handed,
					 .handed_to = cluster ? arena_strdup(a, cluster) : NULL};
		l->manifest_known = manifest != NULL;
		good = read_ranges(ranges, &l->ranges, &l->nranges, a) &&
		       (!manifest || bytes_unhex(l->manifest, sizeof l->manifest, manifest));
	}
	json_decref(json);
	return good && p < 4 ? RC_OK
			     : damaged(path, "found something other than a load's record", err);
}

/* With one topic, the format is unchanged and places have no name. */
static json_t *topics_json(const struct state_topics *t)
{
	if (t->n == 1 && t->unnamed)
		return json_pack("{s:s, s:s, s:i}", "cluster", t->item->cluster, "topic",
				 t->item->topic, "partitions", t->item->npartitions);
	json_t *list = json_array();
	for (size_t i = 0; i < t->n; i++)
		json_array_append_new(list, json_pack("{s:s, s:i}", "topic", t->item[i].topic,
						      "partitions", t->item[i].npartitions));
	return json_pack("{s:s, s:o, s:s*}", "cluster", t->n ? t->item->cluster : "", "topics",
			 list, "unnamed", t->unnamed ? t->item->topic : NULL);
}

int topics_write(const char *path, const struct state_topics *t, struct error *err)
{
	return write_json(path, topics_json(t), NULL, err);
}

static bool read_topic_list(const json_t *list, const char *cluster, const char *unnamed,
			    struct state_topics *t, struct arena *a)
{
	t->n = json_array_size(list);
	t->item = arena_alloc(a, (t->n + 1) * sizeof *t->item);
	t->unnamed = unnamed != NULL;
	for (size_t i = 0; i < t->n; i++) {
		const char *topic;
		int partitions;

		if (json_unpack(json_array_get(list, i), "{s:s, s:i}", "topic", &topic,
				"partitions", &partitions))
			return false;
		for (size_t j = 0; j < i; j++)
			if (strcmp(t->item[j].topic, topic) == 0)
				return false;
		t->item[i] = (struct state_topic){arena_strdup(a, cluster), arena_strdup(a, topic),
						  partitions};
	}
	return t->n > 0 && (!unnamed || strcmp(unnamed, t->item->topic) == 0);
}

int topics_read(const char *path, struct state_topics *t, struct arena *a, struct error *err)
{
	json_t *json = NULL, *list = NULL;
	const char *cluster, *topic = NULL, *unnamed = NULL;
	int partitions = 0;

	*t = (struct state_topics){0};
	int rc = read_json(path, &json, false, err);
	if (rc)
		return rc;
	bool good = json_unpack(json, "{s:s, s?:s, s?:i, s?:o, s?:s}", "cluster", &cluster, "topic",
				&topic, "partitions", &partitions, "topics", &list, "unnamed",
				&unnamed) == 0 &&
		    !topic != !list && !topic == !json_object_get(json, "partitions");
	if (good && list) {
		good = read_topic_list(list, cluster, unnamed, t, a);
	} else if (good) {
		t->item = arena_alloc(a, sizeof *t->item);
		*t->item = (struct state_topic){arena_strdup(a, cluster), arena_strdup(a, topic),
						partitions};
		t->n = 1;
		t->unnamed = true;
	}
	json_decref(json);
	if (good)
		return RC_OK;
	*t = (struct state_topics){0};
	return damaged(path, "found something other than a topic's record", err);
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

	if (!rc && (all.n != 1 || !all.unnamed))
		rc = damaged(path, "found several topics, expected one", err);
	if (!rc)
		*t = *all.item;
	return rc;
}

/* Write a file for people: not synced, without a digest. */
static int write_note(const char *path, json_t *json, struct error *err)
{
	char *temp = mem_format("%s.temp", path);
	int rc = json_dump_file(json, temp, JSON_INDENT(1)) || rename(temp, path)
			 ? error_errno(err, "cannot write %s", path)
			 : RC_OK;

	json_decref(json);
	mem_free(temp);
	return rc;
}

int note_write(const char *path, const struct state_note *n, struct error *err)
{
	return write_note(path,
			  json_pack("{s:I, s:I, s:I, s:I, s:f, s:I, s:I, s:I, s:o*}", "time_ms",
				    (json_int_t)n->time_ms, "lag", (json_int_t)n->lag, "cut",
				    (json_int_t)n->cut, "cut_age_ms", (json_int_t)n->cut_age_ms,
				    "rate", n->rate, "loads", (json_int_t)n->loads, "events",
				    (json_int_t)n->events, "rejected", (json_int_t)n->rejected,
				    "parked", n->parked[0] ? json_string(n->parked) : NULL),
			  err);
}

int note_read(const char *path, struct state_note *n, struct error *err)
{
	json_t *json = NULL;
	json_int_t time, lag, cut, age = 0, loads, events, rejected;
	double rate = 0;
	const char *parked = "";
	int rc = read_json(path, &json, false, err);

	if (!rc &&
	    json_unpack(json, "{s:I, s:I, s:I, s?:I, s?:F, s:I, s:I, s:I, s?:s}", "time_ms", &time,
			"lag", &lag, "cut", &cut, "cut_age_ms", &age, "rate", &rate, "loads",
			&loads, "events", &events, "rejected", &rejected, "parked", &parked))
		rc = error_set(err, RC_DATA, "%s: found something other than a status", path);
	if (!rc)
		*n = (struct state_note){.time_ms = time,
					 .lag = (uint64_t)lag,
					 .cut = (uint64_t)cut,
					 .cut_age_ms = age,
					 .rate = rate,
					 .loads = (uint64_t)loads,
					 .events = (uint64_t)events,
					 .rejected = (uint64_t)rejected};
	if (!rc)
		snprintf(n->parked, sizeof n->parked, "%s", parked);
	json_decref(json);
	return rc;
}

int applying_write(const char *path, const struct state_applying *n, struct error *err)
{
	return write_note(path,
			  json_pack("{s:I, s:s, s:I, s:I, s:I, s:I, s:s}", "time_ms",
				    (json_int_t)n->time_ms, "upto", n->upto, "waiting",
				    (json_int_t)n->waiting, "oldest_ms", (json_int_t)n->oldest_ms,
				    "applied", (json_int_t)n->applied, "applied_ms",
				    (json_int_t)n->applied_ms, "trouble", n->trouble),
			  err);
}

int applying_read(const char *path, struct state_applying *n, struct error *err)
{
	json_t *json = NULL;
	json_int_t time, waiting, oldest, applied, applied_ms;
	const char *upto, *trouble;
	int rc = read_json(path, &json, false, err);

	if (!rc && json_unpack(json, "{s:I, s:s, s:I, s:I, s:I, s:I, s:s}", "time_ms", &time,
			       "upto", &upto, "waiting", &waiting, "oldest_ms", &oldest, "applied",
			       &applied, "applied_ms", &applied_ms, "trouble", &trouble))
		rc = error_set(err, RC_DATA, "%s: found something other than a status", path);
	if (!rc) {
		*n = (struct state_applying){.time_ms = time,
					     .waiting = (uint64_t)waiting,
					     .oldest_ms = oldest,
					     .applied = (uint64_t)applied,
					     .applied_ms = applied_ms};
		snprintf(n->upto, sizeof n->upto, "%s", upto);
		snprintf(n->trouble, sizeof n->trouble, "%s", trouble);
	}
	json_decref(json);
	return rc;
}

static char *checkpoint_path(const char *dir)
{
	return mem_format("%s/checkpoint.json", dir);
}

void checkpoint_write(const char *dir, const struct checkpoint *c)
{
	struct error ignored;
	char *path = checkpoint_path(dir);

	write_json(path,
		   json_pack("{s:I, s:s, s:s*, s:o}", "records", (json_int_t)c->records, "last",
			     c->last, "newest", c->newest, "positions",
			     ranges_json(c->positions, c->npositions)),
		   NULL, &ignored);
	mem_free(path);
}

bool checkpoint_read(const char *dir, struct checkpoint *c, struct arena *a)
{
	struct error ignored;
	json_t *json = NULL, *positions;
	json_int_t records;
	const char *last, *newest = NULL;
	char *path = checkpoint_path(dir);
	bool good = read_json(path, &json, true, &ignored) == RC_OK &&
		    json_unpack(json, "{s:I, s:s, s?:s, s:o}", "records", &records, "last", &last,
				"newest", &newest, "positions", &positions) == 0 &&
		    read_ranges(positions, &c->positions, &c->npositions, a);

	if (good) {
		c->records = (size_t)records;
		c->last = arena_strdup(a, last);
		c->newest = newest ? arena_strdup(a, newest) : NULL;
	}
	json_decref(json);
	mem_free(path);
	return good;
}
