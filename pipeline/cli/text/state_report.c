#include "cli/reports.h"

#include <inttypes.h>
#include <time.h>

#include "stream.h"
#include "mem.h"
#include "cli/progress_text.h"

/* Formats a time such as "2026-11-01T06:30:00Z". `text` has at least 32 bytes. */
static const char *format_time(char *text, int64_t ms)
{
	time_t s = (time_t)(ms / 1000);
	struct tm tm;

	gmtime_r(&s, &tm);
	strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
	return text;
}

/* Returns the name of a topic in the positions of the state. */
static const char *place_topic(const struct state_topics *of, size_t i)
{
	return of->unnamed && i == 0 ? NULL : of->item[i].topic;
}

/* --- JSON --- */

struct position_view {
	const char *topic;
	int32_t partition;
	int64_t offset;
};
struct status_view {
	bool known; /* false before the first load */
	bool is_shared;
	const char *cluster, *topic;
	const char **topics;
	size_t ntopics;
	bool running;
	struct position_view *positions;
	size_t npositions;
	const char *making;
	bool has_last, has_stream, has_apply;
	struct state_load last;
	struct state_note stream;
	struct state_applying apply;
	struct status_view *partitions;
	size_t npartitions;
};

static const struct form_member position_members[] = {
	{"topic", FORM_TEXT, IN(position_view, topic),
	 "name of the topic; absent if "
	 "there is only one topic",
	 FORM_IF_ANY},
	{"partition", FORM_INT32, IN(position_view, partition), "number of the partition"},
	{"offset", FORM_INT, IN(position_view, offset), "next offset to load"},
};
static const struct form position_form = FORM(position_view, position_members);

static const struct form_member last_members[] = {
	{"load", FORM_TEXT, IN(state_load, name), "its name"},
	{"output", FORM_TEXT, IN(state_load, dir), "its folder"},
	{"read", FORM_COUNT, IN(state_load, read), "events"},
	{"rejected", FORM_COUNT, IN(state_load, rejected), "bad events"},
	{"published_ms", FORM_INT, IN(state_load, published_ms),
	 "wall clock time of the publication, in ms since 1970"},
};
static const struct form last_form = FORM(state_load, last_members);

static const struct form_member note_members[] = {
	{"time_ms", FORM_INT, IN(state_note, time_ms), "time of these figures, in ms since 1970"},
	{"lag", FORM_COUNT, IN(state_note, lag), "offsets that no load has yet"},
	{"rate", FORM_REAL, IN(state_note, rate), "events per second in the last minute"},
	{"cut", FORM_COUNT, IN(state_note, cut), "offsets of the load in progress"},
	{"cut_age_ms", FORM_INT, IN(state_note, cut_age_ms),
	 "age of the first event of that load, "
	 "in ms"},
	{"loads", FORM_COUNT, IN(state_note, loads), "loads since the stream started"},
	{"events", FORM_COUNT, IN(state_note, events), "events since the stream started"},
	{"rejected", FORM_COUNT, IN(state_note, rejected), "bad events since the stream started"},
	{"parked", FORM_CHARS, IN(state_note, parked),
	 "why the partition waits for a fix by the user", FORM_IF_ANY},
};
static const struct form note_form = FORM(state_note, note_members);

static const struct form_member applying_members[] = {
	{"time_ms", FORM_INT, IN(state_applying, time_ms),
	 "time of these figures, in ms since 1970"},
	{"unapplied", FORM_COUNT, IN(state_applying, waiting), "loads that are not in HBase"},
	{"oldest_unapplied_ms", FORM_INT, IN(state_applying, oldest_ms),
	 "publication time of the oldest of these loads, in ms since 1970; 0 if there is none"},
	{"applied", FORM_COUNT, IN(state_applying, applied), "loads applied since the start"},
	{"applied_ms", FORM_INT, IN(state_applying, applied_ms),
	 "time when the last load came into HBase, in ms since 1970; 0 if there is none"},
	{"trouble", FORM_CHARS, IN(state_applying, trouble), "why the oldest load is not in HBase",
	 FORM_IF_ANY},
};
static const struct form applying_form = FORM(state_applying, applying_members);

static const struct form_member status_members[] = {
	{"cluster", FORM_TEXT, IN(status_view, cluster),
	 "Kafka's cluster id; before the first load, all keys are absent", FORM_IF_ANY},
	{"topic", FORM_TEXT, IN(status_view, topic), "the topic, if the job has one", FORM_IF_ANY},
	{"topics", FORM_TEXTS, IN(status_view, topics), "the topics, if the job has several",
	 FORM_IF_ANY, COUNT_AT(status_view, ntopics)},
	{"running", FORM_FLAG, IN(status_view, running), "true if a process uses the folder",
	 FORM_IF, IF(status_view, known)},
	{"positions", FORM_LIST, IN(status_view, positions), "by topic and partition", FORM_IF,
	 ITEMS(status_view, position_form, npositions), IF(status_view, known)},
	{"making", FORM_TEXT, IN(status_view, making),
	 "the load that is in progress, or that a crash interrupted", FORM_IF_ANY},
	{"last", FORM_PART, IN(status_view, last), "the newest published load", FORM_IF, &last_form,
	 IF(status_view, has_last)},
	{"stream", FORM_PART, IN(status_view, stream),
	 "the last status that "
	 "a stream wrote",
	 FORM_IF, &note_form, IF(status_view, has_stream)},
	{"apply", FORM_PART, IN(status_view, apply),
	 "the last status that the process which applies loads wrote", FORM_IF, &applying_form,
	 IF(status_view, has_apply)},
	{"partitions", FORM_LIST, IN(status_view, partitions),
	 "the state of each partition, if instances share a topic", FORM_IF,
	 ITEMS(status_view, status_form, npartitions), IF(status_view, is_shared)},
};
const struct form status_form = NAMED_FORM(status_view, status_members, "status", "status --json");

static void add_positions(struct status_view *v, const struct state *s,
			  const struct state_topics *of, struct arena *a)
{
	size_t most = v->npositions;
	int64_t at;

	for (size_t i = 0; i < of->n; i++)
		most += (size_t)of->item[i].npartitions;
	struct position_view *all = arena_alloc(a, most * sizeof *all);
	if (v->npositions)
		memcpy(all, v->positions, v->npositions * sizeof *all);
	v->positions = all;
	for (size_t i = 0; i < of->n; i++)
		for (int32_t p = 0; p < of->item[i].npartitions; p++)
			if (state_position(s, place_topic(of, i), p, &at))
				all[v->npositions++] =
					(struct position_view){of->n > 1 || !of->unnamed
								       ? of->item[i].topic
								       : NULL,
							       p, at};
}

static struct status_view state_view_of(const struct state *s, struct arena *a)
{
	const struct state_load *last = state_newest(s), *intent = state_intent(s);
	const struct state_topics *of = state_topics(s);
	struct status_view v = {.known = of->n > 0};

	if (!v.known)
		return v;
	v.cluster = of->item->cluster;
	v.running = state_in_use(s);
	v.making = intent ? intent->name : NULL;
	v.has_last = last != NULL;
	if (last)
		v.last = *last;
	v.has_stream = state_noted(s, &v.stream);
	v.has_apply = state_applying(s, &v.apply);
	if (of->n == 1 && of->unnamed) {
		v.topic = of->item->topic;
	} else {
		v.topics = arena_alloc(a, of->n * sizeof *v.topics);
		for (v.ntopics = 0; v.ntopics < of->n; v.ntopics++)
			v.topics[v.ntopics] = of->item[v.ntopics].topic;
	}
	add_positions(&v, s, of, a);
	return v;
}

/*
 * Returns the view of a shared folder. The view has the common members, and one view per partition
 * in `partitions`.
 */
static struct status_view shared_view_of(const struct state_view *v, struct arena *a)
{
	struct state_topic topic = v->shared.topic;
	struct state_topics one = {&topic, 1, true};
	struct status_view all = {.known = true,
				  .is_shared = true,
				  .cluster = topic.cluster,
				  .topic = topic.topic,
				  .partitions = arena_alloc(a, v->n * sizeof *all.partitions)};

	for (size_t i = 0; i < v->n; i++) {
		add_positions(&all, v->states[i], &one, a);
		all.running = all.running || state_in_use(v->states[i]);
		if (state_topics(v->states[i])->n)
			all.partitions[all.npartitions++] = state_view_of(v->states[i], a);
	}
	return all;
}

/* --- text --- */

/* Prints the status of a stream. Rates and ages are from the time when the stream wrote the
 * status. */
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

/* Prints the last status of apply, for example "HBase, seen ...: 3 loads not in it, ...". */
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
		buf_printf(out, "; %s applied since the start, the last %s",
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
	bool noted = state_noted(s, &n);
	if (noted)
		put_note(out, &n, last);
	if (noted && n.parked[0])
		buf_printf(out, "  PARKED: %s\n", n.parked);
	put_applying(out, s, "");
}

/* Prints one line per partition. */
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
			   state_in_use(s) ? "in use" : "no process has it");
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
		buf_append_str(out, "no load yet\n");
	else
		put_state(out, v->states[0]);
}

void state_report_json(struct buf *out, const struct state_view *v)
{
	struct arena a = {0};
	struct status_view all =
		v->is_shared ? shared_view_of(v, &a) : state_view_of(v->states[0], &a);

	form_put(out, &status_form, &all, FORM_REPORT);
	arena_release(&a);
}

/* --- loads --- */

static const char *where_it_is(const struct state_load *l, const char *problem, bool gone)
{
	if (l->handed)
		return "loaded";
	return !gone ? "waiting" : problem ? "gone" : "moved";
}

/*
 * Prints the line of a load. `problem` is the reason why the load does not follow the previous
 * load, or NULL. `gone` is true if the load's folder does not exist.
 */
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

struct state_load_view {
	struct state_load l;
	const char *name, *problem;
	bool is_seek, is_applied, gone;
};

static const struct form_member range_members[] = {
	{"topic", FORM_TEXT, IN(offset_range, topic),
	 "name of the topic; absent if "
	 "there is only one topic",
	 FORM_IF_ANY},
	{"partition", FORM_INT32, IN(offset_range, partition), "number of the partition"},
	{"start", FORM_INT, IN(offset_range, start), "first offset"},
	{"end", FORM_INT, IN(offset_range, end), "first offset after the range"},
	{"events", FORM_INT, IN(offset_range, events), "messages in between"},
};
static const struct form range_form = FORM(offset_range, range_members);

static const struct form_member load_members[] = {
	{"load", FORM_TEXT, IN(state_load_view, name), "name of the load in the state folder"},
	{"output", FORM_TEXT, IN(state_load_view, l.dir),
	 "folder of the load; empty if a user set the positions"},
	{"seek", FORM_FLAG, IN(state_load_view, is_seek),
	 "true if a user set positions without a "
	 "load"},
	{"loaded", FORM_FLAG, IN(state_load_view, l.handed),
	 "true if the load is in HBase, or if a user marked it as such"},
	{"read", FORM_COUNT, IN(state_load_view, l.read), "events"},
	{"rejected", FORM_COUNT, IN(state_load_view, l.rejected), "bad events"},
	{"published_ms", FORM_INT, IN(state_load_view, l.published_ms),
	 "wall clock time of the publication, in ms since 1970"},
	{"offsets", FORM_LIST, IN(state_load_view, l.ranges),
	 "ranges of the load, by "
	 "topic and partition",
	 ITEMS(state_load_view, range_form, l.nranges)},
	{"applied_to", FORM_TEXT, IN(state_load_view, l.handed_to),
	 "id of the HBase cluster to which saltmill applied the load", FORM_IF_ANY},
	{"applied_ms", FORM_INT, IN(state_load_view, l.handed_ms),
	 "time when the load came into HBase, in ms since 1970", FORM_IF,
	 IF(state_load_view, is_applied)},
	{"gone", FORM_FLAG, IN(state_load_view, gone),
	 "true if the folder of the load does not "
	 "exist",
	 FORM_IF_ANY},
	{"problem", FORM_TEXT, IN(state_load_view, problem),
	 "why the load differs from the published one, or does not follow the "
	 "load before it",
	 FORM_IF_ANY},
};
const struct form loads_form =
	NAMED_FORM(state_load_view, load_members, "loads", "a line of `loads --json`");

static void put_load_json(struct buf *out, const char *prefix, const struct state_load *l,
			  const char *problem, bool gone)
{
	char *name = mem_format("%s%s", prefix, l->name);
	struct state_load_view v = {.l = *l,
				    .name = name,
				    .problem = problem,
				    .is_seek = l->phase == STATE_SEEK,
				    .is_applied = l->handed_to != NULL,
				    .gone = gone};

	form_put(out, &loads_form, &v, FORM_LINE);
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
		buf_printf(out, "begins at %" PRId64 ", which had no position\n", s->to);
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
			buf_printf(out, " (the topic no longer has %s of these offsets)",
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

struct step_view {
	struct seek_step s;
	uint64_t skipped, repeated;
};

static const struct form_member step_members[] = {
	{"topic", FORM_TEXT, IN(step_view, s.topic),
	 "name of the topic; absent if "
	 "there is only one topic",
	 FORM_IF_ANY},
	{"partition", FORM_INT32, IN(step_view, s.partition), "number of the partition"},
	{"to", FORM_INT, IN(step_view, s.to), "position after the seek"},
	{"skipped", FORM_COUNT, IN(step_view, skipped), "offsets that no later load will contain"},
	{"lost", FORM_COUNT, IN(step_view, s.lost), "skipped offsets that the topic no longer has"},
	{"repeated", FORM_COUNT, IN(step_view, repeated), "offsets that the next load repeats"},
	{"from", FORM_INT, IN(step_view, s.from),
	 "position before the seek; absent if there was "
	 "none",
	 FORM_IF, IF(step_view, s.was_set)},
};
const struct form seek_form = NAMED_FORM(step_view, step_members, "seek",
					 "a line of `seek "
					 "--json`");

static void put_step_json(struct buf *out, const struct seek_step *s)
{
	struct step_view v = {.s = *s};

	if (s->was_set && s->to > s->from)
		v.skipped = (uint64_t)(s->to - s->from);
	if (s->was_set && s->to < s->from)
		v.repeated = (uint64_t)(s->from - s->to);
	form_put(out, &seek_form, &v, FORM_LINE);
}

void state_report_seek(struct buf *out, const struct seek_result *r, bool as_json)
{
	for (size_t i = 0; i < r->n; i++)
		if (as_json)
			put_step_json(out, &r->steps[i]);
		else
			put_step(out, &r->steps[i]);
}
