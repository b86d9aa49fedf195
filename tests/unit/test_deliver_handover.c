/*
 * Every order of steps, crashes, lost answers and restarts of a hand-over, against a model of
 * HBase's side: each file ends up in the table once, and is never nowhere.
 *
 * The model knows what servers are seen to do: a call moves its files out of the upload folder into
 * the token's and from there into a region; it may be dropped, be done without an answer, be done
 * much later, break off half-way, or answer "not loaded"; regions are split under it.  What is
 * counted is rows: a file that reaches over a border becomes parts.  At each thing that the state
 * machine does the model chooses what happens; the test goes through all sequences of choices with
 * up to FAULTS of them not the good one.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "pipeline/deliver/apply/applying.h"
#include "pipeline/deliver/apply/handover.h"

#define FILES	 4  /* of the load */
#define MOST	 16 /* with their parts */
#define ROWS	 26
#define SPLITS	 2
#define FAULTS	 3
#define STEPS	 4000
#define RESTARTS 8

enum place { NOWHERE, LOCAL_ONLY, UPLOADED, ASIDE, STAGED, IN_TABLE };

/* A call that the servers have and have not done. */
struct pending {
	bool there;
	size_t n, files[MOST];
};

struct model {
	/* choices: those of this run, and how many ways each could have gone */
	unsigned char choice[STEPS], ways[STEPS];
	size_t nchoices, given; /* made; prescribed by the test */
	unsigned faults;
	/* the world */
	enum place at[MOST];
	uint64_t id[MOST], next_id;
	unsigned loaded[FILES][ROWS]; /* how often a row of a file came into the table */
	struct pending late;
	unsigned splits, splits_before; /* those that were; of them before the load */
	bool cleaned, copies;
	bool thieves;  /* somebody removes files, and nobody dies */
	bool sweepers; /* between two runs somebody may empty the upload folder */
	bool droppers; /* the table may be created anew at any call */
	bool anew;     /* it was */
	bool blind;    /* the table's folder could not be read, so files may come in twice */
	bool nameless; /* the place does not tell ids */
	/* the process */
	bool dead;
	char journal[400][64];
	size_t nlines;
	size_t of[MOST]; /* the load's file of which it is a part */
	char rows[MOST][8];
	struct handover hand;
	_Atomic uint64_t done;
	struct progress progress;
	struct hand_world world;
	unsigned long steps;
};

static struct model m;

static const char *const up[] = {"u0", "u1", "u2",  "u3",  "u4",  "u5",	 "u6",	"u7",
				 "u8", "u9", "u10", "u11", "u12", "u13", "u14", "u15"};
static const char *const st[] = {"s0", "s1", "s2",  "s3",  "s4",  "s5",	 "s6",	"s7",
				 "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15"};
/* two files of each region; splits go through the first, and through its second part */
static const char *const own_rows[FILES] = {"adf", "ef", "no", "pq"};
static const char *const borders[SPLITS + 1][SPLITS + 1] = {{"m"}, {"c", "m"}, {"c", "e", "m"}};

/* --- what happens --- */

static void tell_history(const char *what)
{
	print_message("choices:");
	for (size_t i = 0; i < m.nchoices; i++)
		if (m.choice[i])
			print_message(" %zu=%u", i, m.choice[i]);
	print_message("\n");
	for (size_t i = 0; i < m.nlines; i++)
		print_message("  %s\n", m.journal[i]);
	fail_msg("%s", what);
}

/* Way 0 is the good one. */
static unsigned choose(unsigned ways)
{
	unsigned way = 0;

	assert_true(m.nchoices < STEPS);
	if (m.nchoices < m.given)
		way = m.choice[m.nchoices];
	m.ways[m.nchoices] = (unsigned char)(m.faults + (way > 0) <= FAULTS ? ways : 1);
	if (m.faults == FAULTS && way == 0)
		m.ways[m.nchoices] = 1;
	m.choice[m.nchoices++] = (unsigned char)way;
	m.faults += way > 0;
	return way;
}

static int die(struct error *err)
{
	m.dead = true;
	return error_set(err, RC_STOPPED, "killed");
}

static void take_in(size_t file)
{
	m.at[file] = m.copies ? UPLOADED : IN_TABLE;
	for (const char *row = m.rows[file]; *row; row++)
		m.loaded[m.of[file]][*row - 'a']++;
}

/* Of all rows the fewest, or the most, that one is in. */
static unsigned rows_in(bool most)
{
	unsigned out = most ? 0 : UINT_MAX;

	for (size_t i = 0; i < FILES; i++)
		for (const char *row = own_rows[i]; *row; row++) {
			unsigned n = m.loaded[i][*row - 'a'];

			if (most ? n > out : n < out)
				out = n;
		}
	return out;
}

/* What a server does with a call: all of it, or nothing. */
static bool take_files(const size_t *files, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (m.at[files[i]] != UPLOADED || m.cleaned)
			return false;
	for (size_t i = 0; i < n; i++)
		take_in(files[i]);
	return true;
}

/* A call of before gets its turn: it may come at any time. */
static void late_turn(void)
{
	if (m.late.there && choose(2)) {
		m.late.there = false;
		take_files(m.late.files, m.late.n);
	}
}

/* The table is dropped, its files go to the archive, and an empty one takes its name. */
static void drop_turn(void)
{
	if (!m.droppers || m.anew || !choose(2))
		return;
	m.anew = true;
	memset(m.loaded, 0, sizeof m.loaded);
}

/* --- the world of the state machine --- */

static size_t file_of(const char *path, enum place *at)
{
	*at = path[0] == 's' ? STAGED : strstr(path, ".aside") ? ASIDE : UPLOADED;
	return (size_t)atoi(path + 1);
}

static int put(void *self, const struct hand_file *f, uint64_t *id, struct error *err)
{
	size_t i = (size_t)(f - m.hand.files);

	(void)self;
	if (m.dead)
		return die(err);
	if (m.nameless) {
		m.at[i] = UPLOADED;
		*id = m.id[i] = 0;
		return RC_OK;
	}
	late_turn();
	unsigned way = choose(m.thieves ? 1 : 3);
	if (way == 1)
		return die(err); /* before */
	if (m.at[i] == IN_TABLE && !m.blind)
		tell_history("a file is uploaded again that HBase has");
	if (m.at[i] != UPLOADED) { /* the same file there is kept */
		m.at[i] = UPLOADED;
		m.id[i] = m.next_id++;
	}
	*id = m.id[i];
	return way == 2 ? die(err) : RC_OK;
}

static int look(void *self, const char *path, uint64_t *id, struct error *err)
{
	enum place at;
	size_t i = file_of(path, &at);

	(void)self;
	if (m.dead)
		return die(err);
	late_turn();
	*id = m.at[i] == at ? m.id[i] : 0;
	return RC_OK;
}

static int move(void *self, const char *from, const char *to, struct error *err)
{
	enum place here, there;
	size_t i = file_of(from, &here);

	(void)self;
	assert_int_equal(file_of(to, &there), i);
	if (m.dead)
		return die(err);
	unsigned way = choose(m.thieves ? 1 : 3);
	if (way == 1)
		return die(err);
	if (here == UPLOADED)
		late_turn();
	if (there == ASIDE) { /* no older file has that name */
		char name[32];
		snprintf(name, sizeof name, "u%zu.aside-%llu", i, (unsigned long long)m.id[i]);
		assert_true(m.at[i] != here || strcmp(to, name) == 0);
	}
	assert_true((here == STAGED && there == UPLOADED) || (here == UPLOADED && there == ASIDE));
	if (m.at[i] == here)
		m.at[i] = there;
	else if (here == UPLOADED)
		return error_set(err, RC_IO, "nothing is there");
	return way == 2 ? die(err) : RC_OK;
}

static int cut(void *self, const struct hand_file *f, const struct hbase_regions *r,
	       struct buf *words, struct error *err)
{
	size_t i = (size_t)(f - m.hand.files), region = SIZE_MAX;

	(void)self;
	if (m.dead)
		return die(err);
	late_turn();
	unsigned way = choose(m.thieves ? 1 : 3);
	if (way == 1)
		return die(err);
	if (!m.copies && !m.blind && (m.at[i] == IN_TABLE || m.at[i] == STAGED))
		tell_history("a file is cut that HBase has");
	for (const char *row = m.rows[i]; *row; row++) {
		size_t at = r->count;

		while (bytes_cmp(bytes_of(row, 1), r->item[--at].start) < 0)
			;
		if (at != region)
			buf_printf(words, " %zu:", m.of[i]);
		buf_put(words, (uint8_t)*row);
		region = at;
	}
	return way == 2 ? die(err) : RC_OK;
}

static struct hand_file make_file(size_t i, size_t of, const char *rows)
{
	assert_true(i < MOST);
	m.of[i] = of;
	memmove(m.rows[i], rows, strlen(rows) + 1);
	return (struct hand_file){.family = of % 2 ? "g" : "f",
				  .upload = up[i],
				  .staged = st[i],
				  .first = bytes_of(m.rows[i], 1),
				  .last = bytes_of(m.rows[i] + strlen(rows) - 1, 1)};
}

static int part(void *self, size_t of, const char *word, struct hand_file *out, struct error *err)
{
	(void)self;
	(void)err;
	assert_int_equal(m.of[of], (size_t)(word[0] - '0'));
	*out = make_file(m.hand.nfiles, m.of[of], word + 2);
	return RC_OK;
}

/* Whoever runs it may be kept from looking; but among thieves it has to be known. */
static int in_table(void *self, const struct hbase_region *r, struct hand_file *const *files,
		    size_t n, bool *in, struct error *err)
{
	(void)self;
	(void)r;
	if (m.dead)
		return die(err);
	unsigned way = choose(m.thieves ? 1 : 3);
	if (way == 1)
		return die(err);
	if (way == 2) {
		m.blind = true;
		return RC_END;
	}
	for (size_t i = 0; i < n; i++) {
		size_t file = (size_t)(files[i] - m.hand.files);

		/* an id is of one upload: the file may have been uploaded again since */
		in[i] = m.at[file] == IN_TABLE && m.id[file] == files[i]->id;
	}
	return RC_OK;
}

static int regions(void *self, struct hbase_regions *out, struct hbase_failure *why,
		   struct error *err)
{
	(void)self;
	*out = (struct hbase_regions){0};
	if (m.dead)
		return die(err);
	drop_turn();
	if (m.anew) { /* as binding.c does */
		why->trouble = TROUBLE_REFUSED;
		return error_set(err, RC_CONFIG, "the table is another one");
	}
	if (choose(2)) {
		why->trouble = TROUBLE_BUSY;
		return error_set(err, RC_IO, "a region is being split");
	}
	out->count = m.splits + 2;
	out->item = mem_calloc(out->count, sizeof *out->item);
	for (size_t i = 0; i <= m.splits; i++)
		out->item[i].end = out->item[i + 1].start = bytes_str(borders[m.splits][i]);
	return RC_OK;
}

/* A region that was split since answers for none of its files. */
static bool right_region(const struct hbase_region *r, struct hand_file *const *files, size_t n)
{
	for (size_t i = 0; i <= m.splits; i++)
		if (bytes_cmp(r->start, bytes_str(borders[m.splits][i])) < 0 &&
		    (r->end.len == 0 || bytes_cmp(bytes_str(borders[m.splits][i]), r->end) < 0))
			return false;
	for (size_t i = 0; i < n; i++)
		if (bytes_cmp(files[i]->first, r->start) < 0 ||
		    (r->end.len && bytes_cmp(files[i]->last, r->end) >= 0))
			return false;
	return true;
}

enum fate {
	FATE_DONE,
	FATE_DIES_BEFORE,
	FATE_DIES_BEHIND,
	FATE_DROPPED,	  /* no answer, never done */
	FATE_DONE_SILENT, /* no answer, done */
	FATE_LATE,	  /* no answer, done at some time */
	FATE_DIES_LATE,	  /* the same, and we die */
	FATE_MOVED,
	FATE_FALSE,	     /* "not loaded" without a reason */
	FATE_STUCK,	     /* "not loaded", the first file is in the token's folder */
	FATE_HALF,	     /* no answer, the first file is in, the others are stuck */
	FATE_SPLIT,	     /* the region is split before the call comes */
	FATE_FALSE_FIRST_IN, /* "not loaded", the first file is in, the others are stuck */
	FATE_FALSE_ALL_IN,   /* "not loaded", and all are in */
	FATE_REFUSED,	     /* an exception, of a quota: nothing was done */
	FATE_REFUSED_HALF,   /* the same, the first file is in, the others are stuck */
	FATE_TRUE_NOT_IN,    /* "loaded", and nothing was done */
	FATE_STOLEN,	     /* somebody removes a file that no call can have got hold of */
};

static int lost(struct hbase_failure *why, struct error *err)
{
	why->trouble = TROUBLE_LOST;
	return error_set(err, RC_IO, "no answer in time");
}

static int moved(struct hbase_failure *why, struct error *err)
{
	why->trouble = TROUBLE_GONE;
	return error_set(err, RC_IO, "the region is not here");
}

static int refused(struct hbase_failure *why, struct error *err)
{
	why->trouble = TROUBLE_REFUSED;
	return error_set(err, RC_IO, "SpaceLimitingException");
}

static void stick(const size_t *list, size_t n, bool first_in)
{
	for (size_t i = 0; i < n; i++)
		if (m.at[list[i]] != UPLOADED || m.copies)
			return;
	if (first_in) {
		take_in(list[0]);
		for (size_t i = 1; i < n; i++)
			m.at[list[i]] = STAGED;
	} else {
		m.at[list[0]] = STAGED;
	}
}

static int load(void *self, const struct hbase_region *r, struct hand_file *const *files, size_t n,
		bool *loaded, struct hbase_failure *why, struct error *err)
{
	size_t list[MOST];

	(void)self;
	*loaded = false;
	if (m.dead)
		return die(err);
	for (size_t i = 0; i < n; i++)
		list[i] = (size_t)(files[i] - m.hand.files);
	late_turn();
	static const enum fate among_thieves[] = {FATE_DONE,	     FATE_MOVED,
						  FATE_FALSE,	     FATE_STUCK,
						  FATE_SPLIT,	     FATE_FALSE_FIRST_IN,
						  FATE_FALSE_ALL_IN, FATE_STOLEN};
	enum fate fate = m.thieves ? among_thieves[choose(8)] : choose(FATE_STOLEN);
	if (fate == FATE_SPLIT && m.splits < SPLITS)
		m.splits++;
	if (fate == FATE_STOLEN && m.at[list[0]] == UPLOADED)
		m.at[list[0]] = LOCAL_ONLY;
	drop_turn();
	if (m.anew || !right_region(r, files, n))
		return moved(why, err);
	switch (fate) {
	case FATE_DIES_BEFORE: return die(err);
	case FATE_DIES_BEHIND: take_files(list, n); return die(err);
	case FATE_DROPPED: return lost(why, err);
	case FATE_DONE_SILENT: take_files(list, n); return lost(why, err);
	case FATE_LATE:
	case FATE_DIES_LATE:
		m.late = (struct pending){.there = true, .n = n};
		memcpy(m.late.files, list, sizeof list);
		return fate == FATE_LATE ? lost(why, err) : die(err);
	case FATE_MOVED: return moved(why, err);
	case FATE_FALSE: return RC_OK;
	case FATE_STUCK: stick(list, n, false); return RC_OK;
	case FATE_HALF: stick(list, n, true); return lost(why, err);
	case FATE_FALSE_FIRST_IN: stick(list, n, true); return RC_OK;
	case FATE_FALSE_ALL_IN: take_files(list, n); return RC_OK;
	case FATE_REFUSED: return refused(why, err);
	case FATE_REFUSED_HALF: stick(list, n, true); return refused(why, err);
	case FATE_TRUE_NOT_IN: *loaded = !m.copies; return RC_OK;
	case FATE_DONE:
	case FATE_SPLIT:
	case FATE_STOLEN: break;
	}
	*loaded = take_files(list, n);
	return RC_OK;
}

/* Sometimes the reason passes, as a safe mode does. */
static int explain(void *self, const struct hand_file *f, struct buf *hint, struct error *err)
{
	(void)self;
	(void)f;
	if (m.dead)
		return die(err);
	buf_append_str(hint, "; perhaps so");
	return choose(m.thieves ? 1 : 2) ? error_set(err, RC_IO, "safe mode") : RC_OK;
}

static int cleanup(void *self, const struct hbase_region *r, struct hbase_failure *why,
		   struct error *err)
{
	(void)self;
	(void)r;
	if (m.dead)
		return die(err);
	unsigned way = choose(m.thieves ? 1 : 4);
	if (way == 1)
		return die(err);
	if (way == 2)
		return moved(why, err);
	for (size_t i = 0; i < MOST; i++)
		if (m.at[i] == STAGED) { /* that is how a user's file is lost */
			m.at[i] = NOWHERE;
			fail_msg("a file was in the folder that is removed");
		}
	m.cleaned = true;
	return way == 3 ? die(err) : RC_OK;
}

static int sweep(void *self, struct error *err)
{
	(void)self;
	if (m.dead)
		return die(err);
	if (rows_in(false) == 0)
		tell_history("a row is not in the table, and it is cleaned up");
	return choose(m.thieves ? 1 : 2) ? die(err) : RC_OK;
}

static int note(void *self, const char *line, struct error *err)
{
	(void)self;
	if (m.dead)
		return die(err);
	unsigned way = choose(m.thieves ? 1 : 3);
	if (way == 1)
		return die(err);
	assert_true(m.nlines < 400 && strlen(line) < 64);
	strcpy(m.journal[m.nlines++], line);
	return way == 2 ? die(err) : RC_OK;
}

/* What is shown counts from the begin of its phase, and comes to its end with it. */
static void check_shown(void)
{
	const char *phase = m.progress.phase;
	bool uploads = phase && strcmp(phase, "uploading") == 0;
	size_t left = 0;

	for (size_t i = 0; i < m.hand.nfiles; i++) {
		enum hand_state s = m.hand.files[i].state;

		left += uploads ? s == HAND_NEW : s != HAND_DONE && s != HAND_CUT;
	}
	if (phase && m.progress.done + left != m.progress.total)
		tell_history("another number of files is left than is shown");
}

static bool again(void *self, const struct hbase_failure *why, unsigned *attempt, struct error *err)
{
	(void)self;
	if (m.dead)
		return die(err), false;
	check_shown();
	assert_int_not_equal(why->trouble, TROUBLE_NONE);
	return why->trouble != TROUBLE_REFUSED && ++*attempt < 40;
}

static void pause_ms(void *self, unsigned ms)
{
	(void)self;
	(void)ms;
}

/* --- one history --- */

/* What is told of how far it is, also behind a restart. */
static void check_done(void)
{
	size_t n = 0;

	for (size_t i = 0; i < m.hand.nfiles; i++)
		n += m.hand.files[i].state == HAND_DONE || m.hand.files[i].state == HAND_CUT;
	if (m.done != n)
		tell_history("another number of files is done than is told");
}

static void start(void)
{
	m.dead = false;
	m.world = (struct hand_world){.put = put,
				      .look = look,
				      .move = move,
				      .cut = cut,
				      .part = part,
				      .in_table = in_table,
				      .explain = explain,
				      .regions = regions,
				      .load = load,
				      .cleanup = cleanup,
				      .sweep = sweep,
				      .note = note,
				      .again = again,
				      .pause = pause_ms};
	mem_free(m.hand.files);
	m.hand.files = mem_calloc(FILES, sizeof *m.hand.files);
	m.hand = (struct handover){.world = &m.world,
				   .table = "t",
				   .files = m.hand.files,
				   .nfiles = FILES,
				   .threads = 1,
				   .copies = m.copies,
				   .done = &m.done,
				   .progress = &m.progress};
	m.done = 0;
	m.progress = (struct progress){.phase = NULL};
	for (size_t i = 0; i < FILES; i++)
		m.hand.files[i] = make_file(i, i, own_rows[i]);
	for (size_t i = 0; i < m.nlines; i++) {
		struct error err = {0};
		char line[64];

		strcpy(line, m.journal[i]);
		if (handover_replay(&m.hand, line, &err))
			fail_msg("%s: %s", m.journal[i], err.msg);
	}
	check_done();
}

static void new_world(void)
{
	m.nlines = 0;
	m.faults = 0;
	m.next_id = 100;
	m.late = (struct pending){0};
	m.splits = m.splits_before;
	m.cleaned = m.blind = m.anew = false;
	memset(m.loaded, 0, sizeof m.loaded);
	for (size_t i = 0; i < MOST; i++)
		m.at[i] = LOCAL_ONLY;
}

static void empty_upload_folder(void)
{
	for (size_t i = 0; i < MOST; i++)
		if (m.at[i] == UPLOADED || m.at[i] == ASIDE)
			m.at[i] = LOCAL_ONLY;
}

/* Run to the end, starting again whenever it dies. */
static void live(void)
{
	m.nchoices = 0;
	new_world();
	for (unsigned life = 0;; life++) {
		struct error err = {0};

		if (life == RESTARTS)
			tell_history("it does not come to an end");
		start();
		int rc = handover_run(&m.hand, &err);
		if (!m.dead) {
			check_done();
			check_shown();
		}
		m.steps += m.nchoices;
		if (rc == RC_OK)
			break;
		if (m.anew) /* all is well: it is not taken for done */
			return;
		/* refused: a person is told, and starts it again */
		if (!m.dead && !strstr(err.msg, "gives no reason") &&
		    !strstr(err.msg, "SpaceLimitingException") && !strstr(err.msg, "is loaded"))
			tell_history(err.msg);
		if (m.sweepers && choose(2))
			empty_upload_folder();
	}
	if (m.anew)
		tell_history("the table is another one, and it is taken for done");
	/* a call that is still somewhere comes after all */
	if (m.late.there)
		take_files(m.late.files, m.late.n);
	if (rows_in(false) == 0)
		tell_history("a row is not in the table");
	if (rows_in(true) > 1 && !m.copies && !m.blind)
		tell_history("a row is in the table twice");
}

/* All sequences of choices, in the order of their first difference from the end. */
static unsigned long explore(void)
{
	unsigned long histories = 0;

	m.given = 0;
	for (;;) {
		live();
		histories++;
		size_t i = m.nchoices;
		while (i > 0 && m.choice[i - 1] + 1 >= m.ways[i - 1])
			i--;
		if (i == 0)
			return histories;
		m.choice[i - 1]++;
		m.given = i;
	}
}

static void test_every_history(void **state)
{
	(void)state;
	m.copies = false;
	unsigned long n = explore();
	print_message("%lu histories with up to %d faults\n", n, FAULTS);
	assert_true(n > 10000);
}

/* Where servers copy, files may be taken twice (the same cells), but none is lost. */
static void test_servers_that_copy(void **state)
{
	(void)state;
	m.copies = true;
	assert_true(explore() > 10000);
	m.copies = false;
}

/* The table has other regions than the load: a file is cut, and one of its parts perhaps too. */
static void test_other_regions(void **state)
{
	(void)state;
	m.splits_before = 1;
	unsigned long n = explore();
	print_message("%lu histories\n", n);
	assert_true(n > 10000);
	m.splits_before = 0;
}

/*
 * A file that somebody removes before any call has got hold of it is uploaded again, also when the
 * run ended meanwhile because a server refused.
 */
static void test_thieves(void **state)
{
	(void)state;
	m.thieves = true;
	unsigned long n = explore();
	print_message("%lu histories\n", n);
	assert_true(n > 300);
	m.thieves = false;
}

/*
 * Somebody empties the upload folder after a run that was refused, or died with a call noted that
 * was never made.  A file in neither folder is not in the table for that.
 */
static void test_sweepers(void **state)
{
	(void)state;
	m.sweepers = true;
	unsigned long n = explore();
	print_message("%lu histories\n", n);
	assert_true(n > 10000);
	m.sweepers = false;
}

/* A table that is created anew meanwhile has none of the files, whatever the journal notes. */
static void test_droppers(void **state)
{
	(void)state;
	m.droppers = true;
	unsigned long n = explore();
	print_message("%lu histories\n", n);
	assert_true(n > 10000);
	m.droppers = false;
}

static void start_anew(void)
{
	m.nchoices = m.given = 0;
	new_world();
	start();
}

/* Where files have no ids nothing could be told of them: nothing is sent, nothing removed. */
static void test_no_ids(void **state)
{
	struct error err = {0};

	(void)state;
	start_anew();
	m.nameless = true;
	int rc = handover_run(&m.hand, &err);
	m.nameless = false;
	assert_int_equal(rc, RC_CONFIG);
	assert_string_equal(err.msg, "u0: the server does not report fileId, and apply identifies "
				     "files by it: --webhdfs must name NameNodes, not a "
				     "gateway");
	assert_int_equal(rows_in(true), 0);
	assert_false(m.cleaned);
}

/* A journal that says of a file that it is in, while it waits: it is not swept away. */
static void test_no_sweep(void **state)
{
	static const char *const lines[] = {"put 0 100", "put 1 101", "put 2 102", "put 3 103",
					    "done 0 1 2 3"};
	struct error err = {0};

	(void)state;
	start_anew();
	for (size_t i = 0; i < FILES; i++) {
		m.at[i] = i == 2 ? UPLOADED : IN_TABLE;
		m.id[i] = 100 + i;
	}
	m.nlines = sizeof lines / sizeof *lines;
	for (size_t i = 0; i < m.nlines; i++)
		strcpy(m.journal[i], lines[i]);
	start();
	assert_int_equal(handover_run(&m.hand, &err), RC_DATA);
	assert_string_equal(err.msg,
			    "u2 is still there, but its region answered that it was loaded: "
			    "apply removes nothing");
	assert_false(m.cleaned);
}

/* HBase: ROOT/data/NAMESPACE/TABLE, as seen at a server of 2.6.4. */
static void test_table_folder(void **state)
{
	static const struct {
		const char *staging, *under, *table, *folder;
	} cases[] = {
		{"/hbase/staging/me__gold__7ucb", "", "gold", "/hbase/data/default/gold"},
		{"/hbase/staging/x", "/archive", "gold", "/hbase/archive/data/default/gold"},
		{"/staging/x", "", "a:b", "/data/a/b"},
		{"/h/staging/x", "", "default:t", "/h/data/default/t"},
		{"/hbase/elsewhere/x", "", "t", NULL},
		{"x", "", "t", NULL},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *folder = table_folder(cases[i].staging, cases[i].under, cases[i].table);
		if (cases[i].folder ? !folder || strcmp(folder, cases[i].folder) : !!folder)
			fail_msg("case %zu: %s", i, folder ? folder : "none");
		mem_free(folder);
	}
}

static void test_replay_refuses(void **state)
{
	static const char *bad[] = {"put 4 1", "put 0",	  "put 0 0",	      "put 0 1 2",
				    "put x 1", "sent 9",  "done -1",	      "sent 0 x",
				    "cut 0",   "cut 0 4", "cut 0 5 0:a 0:df", "cut 4 4 0:a",
				    "aside 4"};

	(void)state;
	m.nlines = 0;
	start();
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct error err = {0};
		char line[64];

		strcpy(line, bad[i]);
		if (handover_replay(&m.hand, line, &err) != RC_DATA)
			fail_msg("%s", bad[i]);
	}
	struct error err = {0};
	char line[] = "token x";
	assert_int_equal(handover_replay(&m.hand, line, &err), RC_END);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_history), cmocka_unit_test(test_servers_that_copy),
		cmocka_unit_test(test_other_regions), cmocka_unit_test(test_thieves),
		cmocka_unit_test(test_sweepers),      cmocka_unit_test(test_droppers),
		cmocka_unit_test(test_no_ids),	      cmocka_unit_test(test_no_sweep),
		cmocka_unit_test(test_table_folder),  cmocka_unit_test(test_replay_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
