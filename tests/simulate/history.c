/*
 * history.c - runs one history of programs and faults, and checks the invariants
 *
 * Programs run while messages arrive and calls fail. Then the faults end, and in limited time each
 * message must be in exactly one load.
 */
#include "history.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_OFFSETS = 1000,
	PARTS = 8,
	HALVES_EVERY = 8,
	HALVES_AT = 5,
	STORMY_EVERY = 2,
	STORMY_AT = 1,
	STORM_KILLS = 4,
	STATUS_STOPPED = 3
};
#define CALM_S 3600
#define MIB    ((size_t)1 << 20)
/* --memory limits a load; the program, its state and its calls need additional memory
 */
#define MORE_MEMORY (2 * MIB)

/* The programs that run are stream alone, with --apply, with a second process that applies, or
 * several that share. */
enum mode { MODE_STREAM, MODE_APPLY, MODE_FOLLOW, MODE_SHARE, MODE_SHARE_APPLY, MODES };

struct plan {
	enum mode mode;
	int partitions, threads, memory_mib, regions;
	int keep; /* one more than the number of --keep, or 0 for all loads */
	bool group;
	int roll_rows, roll_s;
};

enum { ROLES = 3 };
struct role {
	const char *name;
	const char *args[40];
	int proc;   /* -1 means that it does not run */
	bool extra; /* a second start by mistake, which the program must refuse */
};

static struct plan plan;
static char memory_text[20], threads_text[20], keep_text[20];
static struct role roles[ROLES];
static int nroles;
static unsigned char *seen[PARTS];

/* --- counting by the mark "<pPARTITIONoOFFSET>" in each message's value --- */

static void count_marks(void *ctx, const char *path, const uint8_t *data, size_t size)
{
	const char *end = (const char *)data + size;

	(void)ctx;
	if (strstr(path, ".saltmill-"))
		return;
	for (const char *p = (const char *)data; p && p < end;
	     p = memchr(p + 1, '<', (size_t)(end - p - 1))) {
		int partition, offset;
		char last; /* other bytes of a file may begin as a mark does */

		if (end - p > 6 && p[0] == '<' && p[1] == 'p' &&
		    sscanf(p, "<p%do%d%c", &partition, &offset, &last) == 3 && last == '>' &&
		    partition < PARTS && offset < MOST_OFFSETS)
			seen[partition][offset]++;
	}
}

static void forget_counts(void)
{
	for (int p = 0; p < PARTS; p++)
		memset(seen[p], 0, MOST_OFFSETS);
}

static bool has_hbase(void)
{
	return plan.mode == MODE_APPLY || plan.mode == MODE_FOLLOW || plan.mode == MODE_SHARE_APPLY;
}

/* Return true if each message is in a load. A message in several loads is an error at any time. */
static bool all_there(void)
{
	bool all = true;

	forget_counts();
	if (has_hbase())
		cluster_each(count_marks, NULL);
	else
		disk_each("/w/state", count_marks, NULL);
	for (int p = 0; p < plan.partitions; p++)
		for (int o = 0; o < broker_end(p); o++) {
			if (seen[p][o] > 1)
				sim_violate("offset %d of partition %d is in %d %s", o, p,
					    seen[p][o],
					    has_hbase() ? "files of the table" : "loads");
			all = all && (seen[p][o] || !broker_has(p, o));
		}
	return all;
}

static void name_missing(void)
{
	for (int p = 0; p < plan.partitions; p++)
		for (int o = 0; o < broker_end(p); o++)
			if (!seen[p][o] && broker_has(p, o))
				sim_violate(
					"offset %d of partition %d is %s after %d s without faults",
					o, p, has_hbase() ? "not in the table" : "in no load",
					CALM_S);
}

/* --- watching removed loads, which must be in the table and marked --- */

static void must_be_in_table(void *ctx, const char *path, const uint8_t *data, size_t size)
{
	static unsigned char mine[PARTS][MOST_OFFSETS];

	(void)ctx;
	forget_counts();
	count_marks(NULL, "", data, size);
	for (int p = 0; p < PARTS; p++)
		memcpy(mine[p], seen[p], MOST_OFFSETS);
	forget_counts();
	cluster_each(count_marks, NULL);
	for (int p = 0; p < plan.partitions; p++)
		for (int o = 0; o < MOST_OFFSETS; o++)
			if (mine[p][o] && !seen[p][o])
				sim_violate(
					"%s is removed, and offset %d of partition %d is not in the table",
					path, o, p);
}

/* Return true if the mark of the load PATH is on disk, so that a power loss keeps the mark. */
static bool is_marked(const char *path)
{
	char mark[400];
	const char *at = strstr(path, "/published/");

	snprintf(mark, sizeof mark, "%.*s/handed/%s", (int)(at - path), path,
		 at + sizeof "/published/" - 1);
	return disk_is_kept(mark);
}

static void watch(const char *what, const char *path, const char *to)
{
	const char *at = strstr(path, "/published/");

	if (!at || strstr(path, ".saltmill-") || strcmp(what, "rename") != 0)
		return;
	if (to && strstr(to, "removed")) {
		disk_each(path, must_be_in_table, NULL);
		if (!is_marked(path))
			sim_violate("%s is removed before it is marked", path);
	}
}

/* --- drawing --- */

static unsigned odds(unsigned among, unsigned most)
{
	return sim_below(among) ? 0 : 2 + (unsigned)sim_below(most);
}

static void draw_plan(void)
{
	static const int rolls[] = {1, 3, 10, 50, 1000};

	plan = (struct plan){.mode = (enum mode)sim_below(MODES),
			     .partitions = 1 + (int)sim_below(4),
			     .threads = 1 + (int)sim_below(3),
			     .memory_mib = 16 << sim_below(2),
			     .keep = (int)sim_below(4),
			     .regions = (int)sim_below(4),
			     .group = sim_below(2),
			     .roll_rows = rolls[sim_below(5)],
			     .roll_s = 1 + (int)sim_below(3)};
	W->odds = (struct sim_odds){.change = 2 + (unsigned)sim_below(60),
				    .spurious = odds(2, 50),
				    .full = odds(4, 400),
				    .broken = odds(4, 2000),
				    .slow_sync = odds(2, 20),
				    .short_write = odds(2, 20),
				    .write_back = odds(2, 10),
				    .fetch_late = odds(2, 10),
				    .fetch_error = odds(2, 20),
				    .ask_late = odds(2, 30),
				    .ask_error = odds(2, 30),
				    .http_lost = odds(2, 40),
				    .http_refused = odds(2, 40),
				    .http_late = odds(2, 40),
				    .http_cut = odds(2, 10),
				    .http_done_lost = odds(2, 30),
				    .call_lost = odds(2, 30),
				    .call_done_lost = odds(2, 20),
				    .call_late = odds(2, 6),
				    .call_moved = odds(2, 20),
				    .call_busy = odds(2, 30),
				    .call_false = odds(2, 6),
				    .call_lies = odds(2, 6),
				    .call_half = odds(2, 6),
				    .call_refused = odds(3, 10)};
}

static bool shares(void)
{
	return plan.mode == MODE_SHARE || plan.mode == MODE_SHARE_APPLY;
}

static void write_job(void)
{
	char text[2000], regions[60] = "none";

	if (plan.regions || shares())
		snprintf(regions, sizeof regions, "file, file: keys.txt");
	disk_put("/w/keys.txt", plan.regions == 1   ? "1-\n"
				: plan.regions == 2 ? "0-5\n1-2\n"
						    : "0-3\n0-7\n1-4\n2-\n");
	snprintf(text, sizeof text,
		 "source:\n"
		 "  kafka:\n"
		 "    brokers: sim:9092\n"
		 "    topic: events\n"
		 "    format: json\n"
		 "%s"
		 "    start: earliest\n"
		 "    roll: {rows: %d, time: %ds}\n"
		 "%s"
		 "fields:\n"
		 "  ts: {type: time, unit: ms, from: $timestamp}\n"
		 "tables:\n"
		 "  - name: t\n"
		 "    rowkey: [{field: $partition, as: text, terminator: '-'},"
		 " {field: $offset, as: text}]\n"
		 "    timestamp: ts\n"
		 "    families: {f: {compression: NONE}}\n"
		 "    cells: [{family: f, qualifier: v, value: v}]\n"
		 "    regions: {split: %s}\n",
		 plan.group || shares() ? "    group: g\n" : "", plan.roll_rows, plan.roll_s,
		 shares() ? "    share: true\n" : "", regions);
	disk_put("/w/job.yaml", text);
}

/* Many small loads are slow, so use fewer messages if each load has only a few. */
static void produce(int most)
{
	int few = 2 + 4 * plan.roll_rows;

	for (int n = (int)sim_below((uint64_t)(most < few ? most : few)) + 1; n > 0; n--) {
		int p = (int)sim_below((uint64_t)plan.partitions);
		char text[100];

		if (broker_end(p) >= MOST_OFFSETS - 1)
			continue;
		if (sim_below(12) == 0) {
			broker_gap(p);
			continue;
		}
		int len =
			snprintf(text, sizeof text, "{\"v\": \"<p%do%d>\"}", p, (int)broker_end(p));
		broker_produce(p, text, (size_t)len);
	}
}

/* --- events --- */

static void add_options(struct role *r, int n, bool applies)
{
	if (applies) {
		r->args[n++] = "--webhdfs";
		r->args[n++] = "nn1:9870,nn2:9870";
		r->args[n++] = "--create";
		if (plan.keep) {
			r->args[n++] = "--keep";
			r->args[n++] = keep_text;
		}
	}
	r->args[n] = NULL;
}

static void cast_stream(struct role *r, bool applies)
{
	int n = 0;

	*r = (struct role){.name = "stream", .proc = -1};
	r->args[n++] = "stream";
	r->args[n++] = "/w/job.yaml";
	r->args[n++] = "--state";
	r->args[n++] = "/w/state";
	r->args[n++] = "--memory";
	r->args[n++] = memory_text;
	r->args[n++] = "--threads";
	r->args[n++] = threads_text;
	if (applies) {
		r->args[n++] = "--apply";
		r->args[n++] = "hb1";
	}
	add_options(r, n, applies);
}

static void cast_follower(struct role *r)
{
	int n = 0;

	*r = (struct role){.name = "apply", .proc = -1};
	r->args[n++] = "apply";
	r->args[n++] = "--state";
	r->args[n++] = "/w/state";
	r->args[n++] = "--hbase";
	r->args[n++] = "hb1";
	r->args[n++] = "--follow";
	add_options(r, n, true);
}

static void cast(void)
{
	snprintf(memory_text, sizeof memory_text, "%dM", plan.memory_mib);
	snprintf(threads_text, sizeof threads_text, "%d", plan.threads);
	snprintf(keep_text, sizeof keep_text, "%d", plan.keep - 1);
	nroles = 1;
	cast_stream(&roles[0], plan.mode == MODE_APPLY || plan.mode == MODE_SHARE_APPLY);
	if (plan.mode == MODE_FOLLOW)
		cast_follower(&roles[nroles++]);
	if (shares()) {
		cast_stream(&roles[nroles++], plan.mode == MODE_SHARE_APPLY);
	} else {
		roles[nroles] = roles[sim_below((uint64_t)nroles)];
		roles[nroles++].extra = true;
	}
}

/* A follower needs the state that a stream makes. */
static bool can_start(const struct role *r)
{
	return strcmp(r->name, "apply") != 0 || disk_is_there("/w/state/loads");
}

static void start(struct role *r)
{
	bool streams = strcmp(r->name, "stream") == 0;

	r->proc = sim_start(r->name, r->args);
	W->proc[r->proc].memory = (size_t)(streams ? plan.memory_mib : 0) * MIB + MORE_MEMORY;
}

/* Start most of the programs that do not run. */
static void start_missing(bool all)
{
	for (int i = 0; i < nroles; i++)
		if (roles[i].proc < 0 && !roles[i].extra && (all || sim_below(3)))
			start(&roles[i]);
}

static int reap(struct role *r)
{
	if (r->proc < 0 || !W->proc[r->proc].ended)
		return -1;
	int status = sim_reap(r->proc);
	sim_note("status", (uint64_t)status, 0);
	r->proc = -1;
	return status;
}

static void reap_all(void)
{
	for (int i = 0; i < nroles; i++)
		reap(&roles[i]);
}

static void stop(struct role *r)
{
	if (r->proc >= 0)
		sim_kill(r->proc);
	r->proc = -1;
}

static void lose_power(void)
{
	for (int i = 0; i < nroles; i++)
		stop(&roles[i]);
	disk_power_loss();
}

uint64_t history_some_steps(void)
{
	return 1 + sim_below(UINT64_C(1) << (3 + sim_below(13)));
}

static void check_progress(void)
{
	reap_all();
	if (W->deadlock)
		sim_violate("every thread waits without an end");
}

/* Aim at an action of a process on any file, on files of one kind, or by a call. */
static struct sim_aim draw_aim(const char *word)
{
	static const unsigned any[] = {DID_RENAME,	     DID_NAME,	DID_NAME | DID_SYNC,
				       DID_NAME | DID_WRITE, DID_WRITE, DID_CALL};
	static const unsigned named[] = {DID_RENAME, DID_NAME, DID_NAME | DID_WRITE};
	struct sim_aim a = {.proc = -1, .word = word};

	a.kinds = *word ? named[sim_below(3)] : any[sim_below(6)];
	a.left = 1 + (int)sim_below(UINT64_C(2) << sim_below(*word ? 3 : 6));
	return a;
}

/*
 * Kill a process, or cut the power, just after one of its actions. Repeat this, so that the run
 * that repairs crashes, too. A later power loss shows which data both runs did not sync.
 */
static void storm(void)
{
	static const char *const words[] = {"",	      "",
					    "",	      "intent",
					    "intent", "lock",
					    "/loads", "published",
					    "handed", "saltmill-apply"};
	const char *word = words[sim_below(sizeof words / sizeof *words)];
	struct sim_aim again = draw_aim(word);
	bool same = sim_below(2); /* true if the runs crash at the same place */

	for (int n = 1 + (int)sim_below(STORM_KILLS); n > 0; n--) {
		produce(5); /* a run without work does nothing to crash at */
		start_missing(true);
		W->wake_step = 0;
		W->aim = same ? again : draw_aim(word);
		sim_direct(W->now + (*word ? 15 : 3) * SIM_S);
		W->aim.left = 0;
		check_progress();
		if (sim_below(2) == 0)
			lose_power();
		for (int i = 0; i < nroles; i++)
			if (roles[i].proc >= 0 && roles[i].proc == W->aim.proc)
				stop(&roles[i]);
	}
	if (sim_below(2))
		lose_power();
}

static void trouble(void)
{
	struct role *r = &roles[sim_below((uint64_t)nroles)];

	W->wake_step = sim_below(3) ? W->steps + history_some_steps() : 0;
	sim_direct(W->now + (int64_t)sim_below(3000) * SIM_MS);
	check_progress();
	switch (sim_below(10)) {
	case 0: stop(r); break;
	case 1: lose_power(); break;
	case 2: broker_down(sim_below(2)); break;
	case 3:
		if (r->proc >= 0)
			sim_stop(r->proc, 1 + (int)sim_below(2000));
		break;
	case 4:
	case 5: cluster_stir(); break;
	case 6:
		r = &roles[nroles - 1];
		if (r->extra && r->proc < 0)
			start(r);
		break;
	default: produce(20);
	}
	start_missing(false);
	if (!has_hbase() || sim_below(4) == 0)
		all_there(); /* no message may be in two loads */
}

/* Run until the loads contain all messages. A program that ends now has met no fault. */
static void finish_work(void)
{
	int64_t until = W->now + CALM_S * SIM_S;
	int restarts = 0;

	while (!all_there()) {
		for (int i = 0; i < nroles; i++) {
			if (roles[i].proc >= 0 || roles[i].extra || !can_start(&roles[i]))
				continue;
			if (restarts++ == 40)
				sim_violate("%s ends again and again, without faults",
					    roles[i].name);
			start(&roles[i]);
		}
		sim_direct(W->now + SIM_S);
		check_progress();
		if (W->now > until)
			name_missing();
	}
}

static void stop_in_order(struct role *r)
{
	reap(r); /* it may have ended before the signal, because it found no state folder */
	if (r->proc < 0)
		start(r);
	sim_stop(r->proc, 1 + (int)sim_below(200));
	for (int i = 0; r->proc >= 0; i++) {
		sim_direct(W->now + SIM_S);
		int status = reap(r);
		if (status > 0 && status != STATUS_STOPPED)
			sim_violate("%s ended with status %d after SIGTERM", r->name, status);
		if (W->deadlock || i == 900)
			sim_violate("%s does not end after SIGTERM", r->name);
	}
}

static void calm_down(void)
{
	sim_note("calm", 0, 0);
	W->calm = true;
	W->wake_step = 0;
	broker_down(false);
	cluster_settle();
	produce(10);
	for (int i = 0; i < nroles; i++)
		if (roles[i].proc >= 0 && (roles[i].extra || W->proc[roles[i].proc].stop_after))
			stop(&roles[i]);
	finish_work();
	for (int i = 0; i < nroles; i++)
		if (!roles[i].extra)
			stop_in_order(&roles[i]);
	if (!all_there())
		sim_violate("a message was loaded, and is not there any more");
}

static void run(void)
{
	disk_begin();
	draw_plan();
	broker_begin(plan.partitions);
	hdfs_begin();
	cluster_begin(0);
	if (W->seed % HALVES_EVERY == HALVES_AT) {
		history_halves();
		return;
	}
	write_job();
	cast();
	disk_watch = watch;
	for (int p = 0; p < PARTS; p++)
		seen[p] = sim_new(MOST_OFFSETS);
	produce(30);
	bool stormy = W->seed % STORMY_EVERY == STORMY_AT;
	if (stormy && sim_below(2))
		storm();
	start_missing(true);
	for (int n = (int)sim_below(12) + 1; n > 0; n--)
		if (stormy && sim_below(3) == 0)
			storm();
		else
			trouble();
	calm_down();
}

bool history_run(uint64_t seed, bool loud)
{
	sigjmp_buf escape;

	sim_escape = &escape;
	sim_begin(seed, loud);
	if (sigsetjmp(escape, 0) == 0)
		run();
	sim_end();
	return !W->violation[0];
}
