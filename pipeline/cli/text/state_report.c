#include "cli/reports.h"

#include <inttypes.h>
#include <time.h>

#include "stream.h"
#include "show_json.h"
#include "cli/progress_text.h"

/* "2026-11-01T06:30:00Z"; text holds at least 32 bytes. */
static const char *format_time(char *text, int64_t ms)
{
	time_t s = (time_t)(ms / 1000);
	struct tm tm;

	gmtime_r(&s, &tm);
	strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
	return text;
}

/* A topic as the state's places call it. */
static const char *place_topic(const struct state_topics *of, size_t i)
{
	return of->unnamed && i == 0 ? NULL : of->item[i].topic;
}

static json_t *positions_json(const struct state *s, const struct state_topics *of)
{
	json_t *list = json_array();
	int64_t at;

	for (size_t i = 0; i < of->n; i++)
		for (int32_t p = 0; p < of->item[i].npartitions; p++)
			if (state_position(s, place_topic(of, i), p, &at))
				json_array_append_new(list, json_pack("{s:s*, s:i, s:I}", "topic",
								      of->n > 1 || !of->unnamed
									      ? of->item[i].topic
									      : NULL,
								      "partition", p, "offset",
								      (json_int_t)at));
	return list;
}

/* "topic" of one; "topics" of several. */
static void set_topics(json_t *out, const struct state_topics *of)
{
	if (of->n == 1 && of->unnamed) {
		json_object_set_new(out, "topic", json_string(of->item->topic));
		return;
	}
	json_t *list = json_array();
	for (size_t i = 0; i < of->n; i++)
		json_array_append_new(list, json_string(of->item[i].topic));
	json_object_set_new(out, "topics", list);
}

/* NULL: its loads were never handed over by this program. */
static json_t *applying_json(const struct state *s)
{
	struct state_applying a;

	if (!state_applying(s, &a))
		return NULL;
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o*}", "time_ms", (json_int_t)a.time_ms,
			 "unapplied", (json_int_t)a.waiting, "oldest_unapplied_ms",
			 (json_int_t)a.oldest_ms, "applied", (json_int_t)a.applied, "applied_ms",
			 (json_int_t)a.applied_ms, "trouble",
			 a.trouble[0] ? json_string(a.trouble) : NULL);
}

static json_t *state_json(const struct state *s)
{
	const struct state_load *last = state_newest(s), *intent = state_intent(s);
	struct state_note n;
	const struct state_topics *of = state_topics(s);
	json_t *out = json_pack("{s:s}", "cluster", of->item->cluster);

	set_topics(out, of);
	json_object_set_new(out, "running", json_boolean(state_in_use(s)));
	json_object_set_new(out, "positions", positions_json(s, of));
	if (intent)
		json_object_set_new(out, "making", json_string(intent->name));
	if (last)
		json_object_set_new(out, "last",
				    json_pack("{s:s, s:s, s:I, s:I, s:I}", "load", last->name,
					      "output", last->dir, "read", (json_int_t)last->read,
					      "rejected", (json_int_t)last->rejected,
					      "published_ms", (json_int_t)last->published_ms));
	if (state_noted(s, &n))
		json_object_set_new(out, "stream",
				    json_pack("{s:I, s:I, s:f, s:I, s:I, s:I, s:I, s:I, s:o*}",
					      "time_ms", (json_int_t)n.time_ms, "lag",
					      (json_int_t)n.lag, "rate", n.rate, "cut",
					      (json_int_t)n.cut, "cut_age_ms",
					      (json_int_t)n.cut_age_ms, "loads",
					      (json_int_t)n.loads, "events", (json_int_t)n.events,
					      "rejected", (json_int_t)n.rejected, "parked",
					      n.parked[0] ? json_string(n.parked) : NULL));
	json_t *applying = applying_json(s);
	if (applying)
		json_object_set_new(out, "apply", applying);
	return out;
}

/* Of a shared folder: what is so of all, and each partition's own under `partitions`. */
static json_t *shared_json(const struct state_view *v)
{
	json_t *positions = json_array(), *each = json_array();
	bool running = false;
	struct state_topic all = v->shared.topic;

	for (size_t i = 0; i < v->n; i++) {
		json_t *at = positions_json(v->states[i], &(struct state_topics){&all, 1, true});

		json_array_extend(positions, at);
		json_decref(at);
		running = running || state_in_use(v->states[i]);
		if (state_topics(v->states[i])->n)
			json_array_append_new(each, state_json(v->states[i]));
	}
	return json_pack("{s:s, s:s, s:b, s:o, s:o}", "cluster", v->shared.topic.cluster, "topic",
			 v->shared.topic.topic, "running", running, "positions", positions,
			 "partitions", each);
}

/* As the stream's own progress line says it, at the time of the note. */
static void put_note(struct buf *out, const struct state_note *n, const struct state_load *last)
{
	char when[32];
	struct buf line = {0};
	struct stream_view w = {.lag = n->lag,
				.loads = n->loads,
				.rate = n->rate,
				.cut = n->cut,
				.cut_age_s = (double)n->cut_age_ms / 1000,
				.published_s = -1};

	if (last && n->time_ms >= last->published_ms)
		w.published_s = (double)(n->time_ms - last->published_ms) / 1000;
	stream_text(&line, &w);
	buf_printf(out, "stream, seen %s: %.*s\n", format_time(when, n->time_ms), (int)line.len,
		   (const char *)line.ptr);
	buf_release(&line);
}

/* "HBase, seen ...: 3 loads wait, the oldest since ...; 7 were handed over, the last ..." */
static void put_applying(struct buf *out, const struct state *s, const char *before)
{
	struct state_applying a;
	char when[32], count[28];

	if (!state_applying(s, &a))
		return;
	buf_printf(out, "%sHBase, seen %s: %s load%s not in it", before,
		   format_time(when, a.time_ms), format_count(count, a.waiting),
		   a.waiting == 1 ? " is" : "s are");
	if (a.oldest_ms)
		buf_printf(out, ", the oldest published %s", format_time(when, a.oldest_ms));
	if (a.applied)
		buf_printf(out, "; %s handed over since the start, the last %s",
			   format_count(count, a.applied), format_time(when, a.applied_ms));
	buf_put(out, '\n');
	if (a.trouble[0])
		buf_printf(out, "%s  WAITS: %s\n", before, a.trouble);
}

static void put_positions(struct buf *out, const struct state *s, const struct state_topics *of)
{
	int64_t at;

	for (size_t i = 0; i < of->n; i++) {
		const char *shown = of->n == 1 && of->unnamed ? NULL : of->item[i].topic;

		for (int32_t p = 0; p < of->item[i].npartitions; p++)
			if (state_position(s, place_topic(of, i), p, &at))
				buf_printf(out, "  partition %s: next offset %" PRId64 "\n",
					   place_text(shown, p).text, at);
	}
}

static void put_state(struct buf *out, const struct state *s)
{
	const struct state_load *last = state_newest(s), *intent = state_intent(s);
	struct state_note n;
	char when[32], count[28];
	const struct state_topics *of = state_topics(s);
	struct buf names = {0};

	buf_printf(out, "topic%s %s of cluster %s, %s\n", of->n == 1 ? "" : "s",
		   state_topics_text(of, &names), of->item->cluster,
		   state_in_use(s) ? "in use by a running process" : "no process is running");
	buf_release(&names);
	put_positions(out, s, of);
	if (intent)
		buf_printf(out, "making load %s as %s\n", intent->name, intent->dir);
	if (last)
		buf_printf(out,
			   "last load %s: %s events, %" PRIu64 " rejected, published %s as %s\n",
			   last->name, format_count(count, last->read), last->rejected,
			   format_time(when, last->published_ms), last->dir);
	if (state_noted(s, &n))
		put_note(out, &n, last);
	put_applying(out, s, "");
}

/* A line a partition. */
static void put_shared(struct buf *out, const struct state_view *v)
{
	const struct state_topic *t = &v->shared.topic;

	buf_printf(out, "topic %s of cluster %s, shared by partition\n", t->topic, t->cluster);
	for (size_t i = 0; i < v->n; i++) {
		const struct state *s = v->states[i];
		const struct state_load *last = state_newest(s), *intent = state_intent(s);
		struct state_note n;
		char when[32], count[28];
		int64_t at = 0;

		state_position(s, NULL, (int32_t)i, &at);
		buf_printf(out, "  partition %zu: next offset %" PRId64 ", %s", i, at,
			   state_in_use(s) ? "in use" : "nobody has it");
		bool noted = state_noted(s, &n);
		if (noted)
			buf_printf(out, ", lag %s, %.0f events/s", format_count(count, n.lag),
				   n.rate);
		if (intent)
			buf_printf(out, ", making %s%s", v->prefixes[i], intent->name);
		if (last)
			buf_printf(out, ", last load %s%s of %s", v->prefixes[i], last->name,
				   format_time(when, last->published_ms));
		buf_put(out, '\n');
		if (noted && n.parked[0])
			buf_printf(out, "    PARKED, seen %s: %s\n", format_time(when, n.time_ms),
				   n.parked);
		put_applying(out, s, "    ");
	}
}

void state_report_text(struct buf *out, const struct state_view *v)
{
	if (v->is_shared)
		put_shared(out, v);
	else if (!state_topics(v->states[0])->n)
		buf_append_str(out, "nothing was loaded yet\n");
	else
		put_state(out, v->states[0]);
}

void state_report_json(struct buf *out, const struct state_view *v)
{
	if (v->is_shared)
		show_json(out, shared_json(v), JSON_INDENT(2));
	else if (!state_topics(v->states[0])->n)
		buf_append_str(out, "{}\n");
	else
		show_json(out, state_json(v->states[0]), JSON_INDENT(2));
}

/* --- loads --- */

static const char *where_it_is(const struct state_load *l, const char *problem, bool gone)
{
	if (l->handed)
		return "loaded";
	return !gone ? "waiting" : problem ? "gone" : "moved";
}

/* problem: of its place in the chain, or NULL; gone: its folder is not there. */
static void put_load(struct buf *out, const char *prefix, const struct state_load *l,
		     const char *problem, bool gone)
{
	char when[32], count[28];

	if (l->phase == STATE_SEEK)
		buf_printf(out, "%s%s  %s  positions set:", prefix, l->name,
			   format_time(when, l->published_ms));
	else
		buf_printf(out, "%s%s  %s  %-8s %s events, %" PRIu64 " rejected  %s ", prefix,
			   l->name, format_time(when, l->published_ms),
			   where_it_is(l, problem, gone), format_count(count, l->read), l->rejected,
			   l->dir);
	for (size_t i = 0; i < l->nranges; i++)
		buf_printf(out, " %s:%" PRId64 "-%" PRId64,
			   place_text(l->ranges[i].topic, l->ranges[i].partition).text,
			   l->ranges[i].start, l->ranges[i].end);
	buf_put(out, '\n');
	if (problem)
		buf_printf(out, "  BROKEN: %s\n", problem);
}

static void put_load_json(struct buf *out, const char *prefix, const struct state_load *l,
			  const char *problem, bool gone)
{
	char *name = mem_format("%s%s", prefix, l->name);
	json_t *ranges = json_array();

	for (size_t i = 0; i < l->nranges; i++)
		json_array_append_new(ranges, json_pack("{s:s*, s:i, s:I, s:I, s:I}", "topic",
							l->ranges[i].topic, "partition",
							l->ranges[i].partition, "start",
							(json_int_t)l->ranges[i].start, "end",
							(json_int_t)l->ranges[i].end, "events",
							(json_int_t)l->ranges[i].events));
	json_t *load = json_pack("{s:s, s:s, s:b, s:b, s:I, s:I, s:I, s:o}", "load", name, "output",
				 l->dir, "seek", l->phase == STATE_SEEK, "loaded", l->handed,
				 "read", (json_int_t)l->read, "rejected", (json_int_t)l->rejected,
				 "published_ms", (json_int_t)l->published_ms, "offsets", ranges);
	if (l->handed_to)
		json_object_update_new(load, json_pack("{s:s, s:I}", "applied_to", l->handed_to,
						       "applied_ms", (json_int_t)l->handed_ms));
	if (gone)
		json_object_set_new(load, "gone", json_true());
	if (problem)
		json_object_set_new(load, "problem", json_string(problem));
	show_json(out, load, JSON_COMPACT);
	mem_free(name);
}

bool state_report_load(struct buf *out, const struct state_view_load *l, bool as_json)
{
	bool gone;
	char *problem = manifest_chain_check(l->load, &gone);
	bool good = !problem;

	if (as_json)
		put_load_json(out, l->prefix, l->load, problem, gone);
	else
		put_load(out, l->prefix, l->load, problem, gone);
	mem_free(problem);
	return good;
}

/* --- seek --- */

static void put_step(struct buf *out, const struct seek_step *s)
{
	char count[28];

	buf_printf(out, "partition %s: ", place_text(s->topic, s->partition).text);
	if (!s->was_set) {
		buf_printf(out, "begins at %" PRId64 ", it had no position\n", s->to);
		return;
	}
	if (s->from == s->to) {
		buf_printf(out, "stays at %" PRId64 "\n", s->to);
		return;
	}
	buf_printf(out, "from %" PRId64 " to %" PRId64 ": ", s->from, s->to);
	if (s->to > s->from) {
		buf_printf(out, "skips %s offsets, which no later load will have",
			   format_count(count, (uint64_t)(s->to - s->from)));
		if (s->lost)
			buf_printf(out, " (the topic itself has no more %s of them)",
				   format_count(count, s->lost));
	} else {
		buf_printf(out, "repeats %s offsets",
			   format_count(count, (uint64_t)(s->from - s->to)));
		if (s->nloads == 1)
			buf_printf(out, ", which load %s has", s->first);
		if (s->nloads > 1)
			buf_printf(out, ", which %zu loads from %s to %s have", s->nloads, s->first,
				   s->last);
	}
	buf_put(out, '\n');
}

static json_t *step_json(const struct seek_step *s)
{
	bool repeats = s->was_set && s->to < s->from, skips = s->was_set && s->to > s->from;
	json_t *out =
		json_pack("{s:s*, s:i, s:I, s:I, s:I, s:I}", "topic", s->topic, "partition",
			  s->partition, "to", (json_int_t)s->to, "skipped",
			  (json_int_t)(skips ? s->to - s->from : 0), "lost", (json_int_t)s->lost,
			  "repeated", (json_int_t)(repeats ? s->from - s->to : 0));

	if (s->was_set)
		json_object_set_new(out, "from", json_integer(s->from));
	return out;
}

void state_report_seek(struct buf *out, const struct seek_result *r, bool as_json)
{
	for (size_t i = 0; i < r->n; i++)
		if (as_json)
			show_json(out, step_json(&r->steps[i]), JSON_COMPACT);
		else
			put_step(out, &r->steps[i]);
}
