#include "state_files.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

#include "bytes.h"
#include "io.h"

static const char *const phase_names[] = {"reading", "publishing", "published", "seek"};

static int write_json(const char *path, json_t *json, const char *crash, struct error *err)
{
	char *text = json_dumps(json, JSON_INDENT(1));
	json_decref(json);
	if (!text)
		return error_set(err, RC_DATA, "%s: cannot be written: a name in it is not UTF-8",
				 path);
	struct buf b = {0};
	buf_printf(&b, "%s\n", text);
	free(text);
	int rc = io_replace_file(path, buf_bytes(&b), crash, err);
	buf_release(&b);
	return rc;
}

static int read_json(const char *path, json_t **out, struct error *err)
{
	struct buf text = {0};
	json_error_t bad;
	int rc = io_read_file(path, &text, err);
	if (!rc) {
		*out = json_loadb((const char *)text.ptr, text.len, JSON_REJECT_DUPLICATES, &bad);
		if (!*out)
			rc = error_set(err, RC_DATA, "%s:%d: %s", path, bad.line, bad.text);
	}
	buf_release(&text);
	return rc;
}

/* NULL where there is none: json_pack leaves it out. */
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
	return json_pack("{s:i, s:I, s:I, s:I, s:o*}", "partition", r->partition, "start",
			 (json_int_t)r->start, "end", (json_int_t)r->end, "events",
			 (json_int_t)r->events, "last", anchor_json(&r->last));
}

int load_write(const char *path, const struct state_load *l, const char *crash, struct error *err)
{
	json_t *ranges = json_array();
	for (size_t i = 0; i < l->nranges; i++)
		json_array_append_new(ranges, range_json(&l->ranges[i]));
	return write_json(path,
			  json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:o*, s:o}", "name", l->name,
				    "phase", phase_names[l->phase], "dir", l->dir, "read",
				    (json_int_t)l->read, "rejected", (json_int_t)l->rejected,
				    "published_ms", (json_int_t)l->published_ms, "manifest",
				    digest_json(l->manifest_known, l->manifest), "offsets", ranges),
			  crash, err);
}

/* NULL, in a folder of before there were any, or no message was loaded yet: not known. */
static bool read_anchor(json_t *json, struct anchor *a)
{
	json_int_t offset, timestamp;
	const char *digest;
	*a = (struct anchor){0};
	if (!json)
		return true;
	if (json_unpack(json, "{s:I, s:I, s:s}", "offset", &offset, "timestamp_ms", &timestamp,
			"digest", &digest) ||
	    !bytes_unhex(a->digest, sizeof(a->digest), digest))
		return false;
	a->known = true;
	a->offset = offset;
	a->timestamp_ms = timestamp;
	return true;
}

static bool read_ranges(const json_t *list, struct state_load *l, struct arena *a)
{
	l->nranges = json_array_size(list);
	l->ranges = arena_alloc(a, (l->nranges + 1) * sizeof(*l->ranges));
	for (size_t i = 0; i < l->nranges; i++) {
		struct offset_range *r = &l->ranges[i];
		json_int_t start, end, events;
		json_t *last = NULL;
		int partition;
		if (json_unpack(json_array_get(list, i), "{s:i, s:I, s:I, s:I, s?:o}", "partition",
				&partition, "start", &start, "end", &end, "events", &events, "last",
				&last) ||
		    (i && r[-1].partition >= partition) || !read_anchor(last, &r->last))
			return false;
		r->partition = partition;
		r->start = start;
		r->end = end;
		r->events = events;
	}
	return true;
}

int load_read(const char *path, struct state_load *l, struct arena *a, struct error *err)
{
	json_t *json = NULL, *ranges;
	const char *name, *phase, *dir, *manifest = NULL;
	json_int_t read, rejected, published;
	int rc = read_json(path, &json, err);
	if (rc)
		return rc;
	size_t p = 0;
	bool good = json_unpack(json, "{s:s, s:s, s:s, s:I, s:I, s:I, s?:s, s:o}", "name", &name,
				"phase", &phase, "dir", &dir, "read", &read, "rejected", &rejected,
				"published_ms", &published, "manifest", &manifest, "offsets",
				&ranges) == 0;
	while (good && p < 4 && strcmp(phase, phase_names[p]) != 0)
		p++;
	if (good && p < 4) {
		*l = (struct state_load){.name = arena_strdup(a, name),
					 .dir = arena_strdup(a, dir),
					 .phase = (enum state_phase)p,
					 .read = (uint64_t)read,
					 .rejected = (uint64_t)rejected,
					 .published_ms = published};
		l->manifest_known = manifest != NULL;
		good = read_ranges(ranges, l, a) &&
		       (!manifest || bytes_unhex(l->manifest, sizeof(l->manifest), manifest));
	}
	json_decref(json);
	return good && p < 4 ? RC_OK
			     : error_set(err, RC_DATA,
					 "%s: found something else than a load's record", path);
}

int topic_write(const char *path, const struct state_topic *t, struct error *err)
{
	return write_json(path,
			  json_pack("{s:s, s:s, s:i}", "cluster", t->cluster, "topic", t->topic,
				    "partitions", t->npartitions),
			  NULL, err);
}

int topic_read(const char *path, struct state_topic *t, struct arena *a, struct error *err)
{
	json_t *json = NULL;
	const char *cluster, *topic;
	int partitions;
	int rc = read_json(path, &json, err);
	if (rc)
		return rc;
	if (json_unpack(json, "{s:s, s:s, s:i}", "cluster", &cluster, "topic", &topic, "partitions",
			&partitions))
		rc = error_set(err, RC_DATA, "%s: found something else than a topic's record",
			       path);
	else
		*t = (struct state_topic){arena_strdup(a, cluster), arena_strdup(a, topic),
					  partitions};
	json_decref(json);
	return rc;
}

int note_write(const char *path, const struct state_note *n, struct error *err)
{
	json_t *json = json_pack("{s:I, s:I, s:I, s:I, s:f, s:I, s:I, s:I, s:o*}", "time_ms",
				 (json_int_t)n->time_ms, "lag", (json_int_t)n->lag, "cut",
				 (json_int_t)n->cut, "cut_age_ms", (json_int_t)n->cut_age_ms,
				 "rate", n->rate, "loads", (json_int_t)n->loads, "events",
				 (json_int_t)n->events, "rejected", (json_int_t)n->rejected,
				 "parked", n->parked[0] ? json_string(n->parked) : NULL);
	char *temp = mem_format("%s.temp", path);
	int rc = json_dump_file(json, temp, JSON_INDENT(1)) || rename(temp, path)
			 ? error_errno(err, "cannot write %s", path)
			 : RC_OK;
	json_decref(json);
	mem_free(temp);
	return rc;
}

int note_read(const char *path, struct state_note *n, struct error *err)
{
	json_t *json = NULL;
	json_int_t time, lag, cut, age = 0, loads, events, rejected;
	double rate = 0;
	const char *parked = "";
	int rc = read_json(path, &json, err);
	if (!rc &&
	    json_unpack(json, "{s:I, s:I, s:I, s?:I, s?:F, s:I, s:I, s:I, s?:s}", "time_ms", &time,
			"lag", &lag, "cut", &cut, "cut_age_ms", &age, "rate", &rate, "loads",
			&loads, "events", &events, "rejected", &rejected, "parked", &parked))
		rc = error_set(err, RC_DATA, "%s: found something else than a status", path);
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
		snprintf(n->parked, sizeof(n->parked), "%s", parked);
	json_decref(json);
	return rc;
}
