/*
 * state_page.c - writes the page of a state folder, with all loads and the waiting loads (pages.h)
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "html.h"
#include "stream.h"
#include "pages.h"
#include "page_parts.h"

#define SHOWN_MOST 5	  /* largest number of waiting loads whose commands the page prints */
#define LAG_FINE   100000 /* in offsets; a busy topic may have this lag between two loads */

/* A load, and figures that its record does not contain. */
struct seen_load {
	const struct state_load *load;
	const char *name;
	char *problem; /* why apply refuses the load; NULL if the load is unchanged */
	bool gone;
};

struct state_page {
	struct buf *out;
	const char *dir;
	struct state_view view;
	struct state_view_load *records;
	struct seen_load *loads; /* oldest first; excludes positions that a user set by hand */
	size_t n, waiting, broken;
	uint64_t read, rejected;
	struct reject_reason *reasons;
	size_t nreasons;
	struct arena arena;
};

static void add(struct state_page *p, const char *text)
{
	buf_append_str(p->out, text);
}

/* Returns true if the load has no mark as loaded. A load without its folder may be lost. */
static bool waits(const struct seen_load *l)
{
	return !l->load->handed;
}

/*
 * Returns true if apply would refuse the load in its present state. Later loads must then also
 * wait.
 */
static bool holds_up(const struct seen_load *l)
{
	return waits(l) && (l->problem || l->gone);
}

/* --- collect --- */

static void add_reason(struct state_page *p, const struct reject_reason *r)
{
	size_t i = 0;

	while (i < p->nreasons && strcmp(p->reasons[i].reason, r->reason) != 0)
		i++;
	if (i == p->nreasons) {
		p->reasons = mem_grow(p->reasons, i, sizeof *p->reasons);
		p->reasons[p->nreasons++] =
			(struct reject_reason){arena_strdup(&p->arena, r->reason), 0};
	}
	p->reasons[i].count += r->count;
}

/*
 * Adds the reject reasons of a load whose folder still exists. Counts an unreadable load as broken.
 */
static void take_reasons(struct state_page *p, const struct state_load *l)
{
	struct manifest m;
	struct arena arena = {0};
	struct error ignored;
	char *path = mem_format("%s/manifest.json", l->dir);

	if (l->rejected && manifest_read(&m, path, &arena, &ignored) == RC_OK)
		for (size_t i = 0; i < m.nreasons; i++)
			add_reason(p, &m.reasons[i]);
	arena_release(&arena);
	mem_free(path);
}

static void take_load(struct state_page *p, const struct state_view_load *from)
{
	struct seen_load *l = &p->loads[p->n];

	if (from->load->phase == STATE_SEEK)
		return;
	char *name = mem_format("%s%s", from->prefix, from->load->name);
	*l = (struct seen_load){.load = from->load, .name = arena_strdup(&p->arena, name)};
	mem_free(name);
	l->problem = manifest_chain_check(l->load, &l->gone);
	if (!l->problem && waits(l) && !l->load->manifest_known)
		l->problem = manifest_chain_content(l->load);
	p->n++;
	p->waiting += waits(l);
	p->broken += l->problem != NULL;
	p->read += l->load->read;
	p->rejected += l->load->rejected;
	take_reasons(p, l->load);
}

static int open_state(struct state_page *p, struct error *err)
{
	size_t n = 0;
	int rc = state_view_open(&p->view, p->dir, VIEW_ALL, false, err);

	if (rc == RC_OK)
		rc = state_view_loads(&p->view, &p->records, &n, err);
	p->loads = mem_calloc(n + 1, sizeof *p->loads);
	for (size_t i = 0; rc == RC_OK && i < n; i++)
		take_load(p, &p->records[i]);
	return rc;
}

static void close_state(struct state_page *p)
{
	for (size_t i = 0; i < p->n; i++)
		mem_free(p->loads[i].problem);
	mem_free(p->loads);
	mem_free(p->records);
	mem_free(p->reasons);
	state_view_close(&p->view);
	arena_release(&p->arena);
}

/* --- summary --- */

static void say_running(struct state_page *p, const struct state *s, const char *prefix)
{
	struct state_note note;
	const struct state_load *intent = state_intent(s);
	bool runs = state_in_use(s), noted = state_noted(s, &note);
	bool parked = noted && note.parked[0];

	part_verdict(p->out,
		     parked ? "bad"
		     : runs ? "good"
			    : "warn",
		     parked ? "Parked"
		     : runs ? "Running"
			    : "Stopped");
	if (*prefix) {
		html_code(p->out, prefix);
		add(p, " ");
	}
	if (parked)
		html_text(p->out, bytes_str(note.parked));
	else
		add(p, runs ? "A process is running." : "No process is running.");
	if (intent) {
		add(p, " Load ");
		html_code(p->out, intent->name);
		add(p, runs ? " is in progress." : " is not complete; the next run handles it.");
	}
	part_verdict_end(p->out);
}

static void say_lag(struct state_page *p)
{
	uint64_t lag = 0, newest = 0;
	double rate = 0;
	bool noted = false;
	struct state_note n;

	for (size_t i = 0; i < p->view.n; i++)
		if (state_noted(p->view.states[i], &n)) {
			noted = true;
			lag += n.lag;
			rate += n.rate;
			newest = (uint64_t)n.time_ms > newest ? (uint64_t)n.time_ms : newest;
		}
	if (!noted)
		return;
	part_verdict(p->out, lag <= LAG_FINE ? "good" : "warn", "Lag");
	html_count(p->out, lag);
	add(p, " offsets are in no load yet");
	if (rate >= 1) {
		add(p, ", at ");
		html_count(p->out, (uint64_t)rate);
		add(p, " events a second");
	}
	add(p, ", as a stream reported ");
	html_time(p->out, (int64_t)newest);
	add(p, " UTC.");
	part_verdict_end(p->out);
}

/* Writes the last status of the process that applies the loads to HBase. */
static void say_applying(struct state_page *p, const struct state *s, const char *prefix)
{
	struct state_applying a;

	if (!state_applying(s, &a))
		return;
	bool stuck = a.trouble[0] && a.waiting;
	part_verdict(p->out, stuck ? "bad" : a.waiting ? "warn" : "good", "To HBase");
	if (*prefix) {
		html_code(p->out, prefix);
		add(p, " ");
	}
	html_count(p->out, a.waiting);
	add(p, a.waiting == 1 ? " load was" : " loads were");
	add(p, " not in HBase ");
	html_time(p->out, a.time_ms);
	add(p, " UTC");
	if (a.oldest_ms) {
		add(p, ", the oldest published ");
		html_time(p->out, a.oldest_ms);
	}
	add(p, stuck ? ": " : ".");
	if (stuck)
		html_text(p->out, bytes_str(a.trouble));
	part_verdict_end(p->out);
}

static void say_loads(struct state_page *p)
{
	part_verdict(p->out, p->broken ? "bad" : "good", p->broken ? "Broken" : "Complete");
	if (p->broken) {
		html_count(p->out, p->broken);
		add(p, " of ");
	}
	html_count(p->out, p->n);
	add(p, p->broken ? " loads differ from the published loads; see below." : " loads of ");
	if (!p->broken) {
		html_count(p->out, p->read);
		add(p, " events; all are unchanged and in offset order.");
	}
	part_verdict_end(p->out);
	if (p->rejected) {
		part_verdict(p->out, "warn", "Rejected");
		html_count(p->out, p->rejected);
		add(p, " events, in the loads' <code>rejects.jsonl</code>.");
		part_verdict_end(p->out);
	}
	part_verdict(p->out, p->waiting ? "warn" : "good", p->waiting ? "Waiting" : "In HBase");
	if (p->waiting) {
		html_count(p->out, p->waiting);
		add(p, p->waiting == 1 ? " load is" : " loads are");
		add(p, " not marked as applied to HBase.");
	} else {
		add(p, "No load is waiting.");
	}
	part_verdict_end(p->out);
}

static void overview(struct state_page *p)
{
	const struct state_view *v = &p->view;
	struct buf names = {0};

	add(p, "<h1>State ");
	html_text(p->out, bytes_str(p->dir));
	add(p, "</h1>\n<p><small>");
	if (v->is_shared) {
		add(p, "Topic ");
		html_code(p->out, v->shared.topic.topic);
		add(p, ", shared by partition");
	} else if (state_topics(v->states[0])->n) {
		const struct state_topics *t = state_topics(v->states[0]);

		add(p, t->n == 1 ? "Topic " : "Topics ");
		html_code(p->out, state_topics_text(t, &names));
		add(p, " of cluster ");
		html_code(p->out, t->item->cluster);
	}
	add(p, "</small></p>\n<ul class=\"verdict\">\n");
	for (size_t i = 0; i < v->n; i++)
		say_running(p, v->states[i], v->prefixes[i]);
	say_lag(p);
	say_loads(p);
	for (size_t i = 0; i < v->n; i++)
		say_applying(p, v->states[i], v->prefixes[i]);
	add(p, "</ul>\n");
	buf_release(&names);
}

static void mark_as_loaded(struct state_page *p, const struct seen_load *l)
{
	add(p, "saltmill loads --state ");
	part_shell_word(p->out, p->dir, "");
	add(p, " --loaded ");
	part_shell_word(p->out, l->name, "");
	add(p, "\n");
}

/* Writes the commands for a load. Returns false if its manifest changed a moment ago. */
static bool commands_of(struct state_page *p, const struct seen_load *l)
{
	struct manifest m;
	struct arena arena = {0};
	struct error ignored;
	char *path = mem_format("%s/manifest.json", l->load->dir);
	bool known = manifest_read(&m, path, &arena, &ignored) == RC_OK;

	for (size_t i = 0; known && i < m.ntables; i++)
		if (m.tables[i].nfiles)
			part_bulk_load(p->out, l->load->dir, m.tables[i].name, false);
	if (known)
		mark_as_loaded(p, l);
	arena_release(&arena);
	mem_free(path);
	return known;
}

/*
 * Lists the waiting loads in order, up to the first load that apply would refuse. The user must
 * apply loads in order. Returns the number of listed loads.
 */
static size_t give(struct state_page *p)
{
	size_t shown = 0, i = 0;

	while (i < p->n && !waits(&p->loads[i]))
		i++;
	if (i == p->n || holds_up(&p->loads[i]))
		return 0;
	add(p, "<p>Load these into HBase, in this order:</p>\n<pre class=\"run\"><code>");
	for (; i < p->n && shown < SHOWN_MOST && !holds_up(&p->loads[i]); i++)
		if (waits(&p->loads[i])) {
			if (!commands_of(p, &p->loads[i]))
				break;
			shown++;
		}
	add(p, "</code></pre>\n");
	return shown;
}

static void say_held_up(struct state_page *p, const struct seen_load *l)
{
	add(p, "<p>All loads after load ");
	html_code(p->out, l->name);
	add(p, " wait for this load, because a later load must overwrite an earlier load. ");
	add(p, !l->gone	    ? "Another program changed this load after its publication."
	       : l->problem ? "The folder of this load is missing."
			    : "Another program moved this load.");
	add(p, l->gone ? " After the load is in HBase, mark it with <code>saltmill loads "
			 "--loaded</code>."
		       : " Restore the folder. Then this page shows the next commands.");
	add(p, "</p>\n");
}

static void commands(struct state_page *p)
{
	const struct seen_load *held_up = NULL;

	add(p, "<h2>Next steps</h2>\n");
	for (size_t i = 0; i < p->n; i++) {
		if (!held_up && holds_up(&p->loads[i]))
			held_up = &p->loads[i];
		if (p->loads[i].problem) {
			add(p, "<p>Load ");
			html_code(p->out, p->loads[i].name);
			add(p, ": ");
			html_text(p->out, bytes_str(p->loads[i].problem));
			add(p, "</p>\n");
		}
	}
	if (!p->waiting) {
		add(p, p->broken ? "" : "<p>Nothing.</p>\n");
		return;
	}
	size_t shown = give(p);
	if (held_up) {
		say_held_up(p, held_up);
		return;
	}
	if (p->waiting > shown) {
		add(p, "<p>The same for ");
		html_count(p->out, p->waiting - shown);
		add(p, " more.</p>\n");
	}
	add(p, "<p>Or apply all these loads, and later loads when they are published, without a "
	       "JVM:</p>\n"
	       "<pre class=\"run\"><code>saltmill apply --state ");
	part_shell_word(p->out, p->dir, "");
	add(p, " --hbase HOST --create --follow\n</code></pre>\n");
}

/* --- loads --- */

static void drawing(struct state_page *p)
{
	struct load_bar *bars = arena_alloc(&p->arena, (p->n + 1) * sizeof *bars);

	for (size_t i = 0; i < p->n; i++)
		bars[i] = (struct load_bar){p->loads[i].load->published_ms, p->loads[i].load->read,
					    waits(&p->loads[i])};
	if (!chart_loads_differ(bars, p->n))
		return;
	part_figure(p->out);
	chart_loads(p->out, bars, p->n);
	part_figure_end(p->out,
			"Events by publication time of their load (UTC). Loads that wait for HBase "
			"have another colour.");
}

static const char *fate_of(const struct seen_load *l)
{
	if (l->load->handed)
		return "in HBase";
	return l->gone ? l->problem ? "gone" : "moved" : "waits";
}

static void load_row(struct state_page *p, const struct seen_load *l)
{
	add(p, "<tr>");
	html_code_cell(p->out, l->name);
	html_time_cell(p->out, l->load->published_ms);
	html_count_cell(p->out, l->load->read);
	html_count_cell(p->out, l->load->rejected);
	buf_printf(p->out, "<td>%s%s", fate_of(l), l->problem ? ", broken" : "");
	if (l->load->handed_ms) {
		add(p, " since ");
		html_time(p->out, l->load->handed_ms);
	}
	add(p, "</td>");
	html_code_cell(p->out, l->load->dir);
	add(p, "</tr>\n");
}

static void loads(struct state_page *p)
{
	size_t skipped = p->n > LISTED ? p->n - LISTED : 0;

	add(p, "<h2>Loads</h2>\n");
	if (!p->n) {
		add(p, "<p>None yet.</p>\n");
		return;
	}
	drawing(p);
	html_table(p->out, "loads, newest first",
		   "load|published (UTC)|#events|#rejected|where|folder");
	for (size_t i = p->n; i-- > skipped;)
		load_row(p, &p->loads[i]);
	html_table_end(p->out);
	if (skipped)
		add(p, "<p><small>The table lists only the newest; <code>saltmill loads</code> "
		       "lists all.</small></p>\n");
}

static void rejects(struct state_page *p)
{
	if (!p->nreasons)
		return;
	add(p, "<h2>Rejected</h2>\n");
	html_table(p->out, "rejected events by reason", "#events|reason");
	for (size_t i = 0; i < p->nreasons; i++) {
		add(p, "<tr>");
		html_count_cell(p->out, p->reasons[i].count);
		add(p, "<td>");
		html_text(p->out, bytes_str(p->reasons[i].reason));
		add(p, "</td></tr>\n");
	}
	html_table_end(p->out);
	add(p, "<p><small>Counts only loads whose folders exist.</small></p>\n");
}

/* --- partitions --- */

/*
 * Returns the events of a partition. `place` is the topic's name in the records of the state, or
 * NULL if the records name no topic.
 */
static uint64_t events_of(const struct state_page *p, const char *place, const char *topic,
			  int32_t partition)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; k < p->loads[i].load->nranges; k++) {
			const struct offset_range *r = &p->loads[i].load->ranges[k];
			bool same = r->topic ? strcmp(r->topic, topic) == 0 : !place;

			n += same && r->partition == partition ? (uint64_t)r->events : 0;
		}
	return n;
}

static void partition_row(struct state_page *p, const struct state *s, const char *place,
			  const char *shown, int32_t partition)
{
	int64_t at;

	if (!state_position(s, place, partition, &at))
		return;
	add(p, "<tr>");
	html_code_cell(p->out, shown);
	buf_printf(p->out, "<td class=\"n\">%" PRId32 "</td><td class=\"n\">", partition);
	html_count(p->out, (uint64_t)at);
	add(p, "</td>");
	html_count_cell(p->out, events_of(p, place, shown, partition));
	add(p, "</tr>\n");
}

static void partitions(struct state_page *p)
{
	add(p, "<h2>Partitions</h2>\n");
	html_table(p->out, "partitions", "topic|#partition|#next offset|#events in loads");
	for (size_t i = 0; i < p->view.n; i++) {
		const struct state *s = p->view.states[i];
		const struct state_topics *t = state_topics(s);

		for (size_t k = 0; k < t->n; k++)
			for (int32_t n = 0; n < t->item[k].npartitions; n++)
				if (!p->view.is_shared || n == (int32_t)i)
					partition_row(p, s,
						      t->unnamed && k == 0 ? NULL
									   : t->item[k].topic,
						      t->item[k].topic, n);
	}
	html_table_end(p->out);
}

int page_state(struct buf *out, const char *dir, const struct page_files *f, struct error *err)
{
	struct state_page p = {.out = out, .dir = dir};
	struct extras extras;
	int rc = open_state(&p, err);

	if (rc == RC_OK)
		rc = extras_read(&extras, f, NULL, &p.arena, err);
	if (rc == RC_OK) {
		char *title = mem_format("saltmill: state %s", dir);

		html_begin(out, title);
		mem_free(title);
		overview(&p);
		commands(&p);
		loads(&p);
		partitions(&p);
		rejects(&p);
		part_findings(out, &extras);
		html_end(out);
	}
	close_state(&p);
	return rc;
}
