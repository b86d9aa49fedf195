/*
 * Tests every order of steps, crashes, lost answers and restarts of a hand-over with a model of
 * HBase. Each file gets into the table exactly once.
 *
 * The model follows the behaviour of real servers. A call moves its files from the upload folder
 * into the token's folder, and from there into a region. A server may drop the call, do it without
 * an answer, do it much later, stop half-way, or answer "not loaded". Regions split between calls.
 * The model counts rows, because apply cuts a file that crosses a region's border into parts. At
 * each action of the state machine the model chooses the outcome. The test runs all sequences of
 * choices with at most FAULTS bad outcomes.
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

#define FILES  4  /* of the load */
#define MOST   16 /* with their parts */
#define ROWS   26
#define SPLITS 2
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define FAULTS 2 /* a sanitizer looks at the paths, and takes minutes for all their orders */
#define LEAST  100
#else
#define FAULTS 3
#define LEAST  1000
#endif
#define STEPS	 4000
#define RESTARTS 8

enum place { NOWHERE, LOCAL_ONLY, UPLOADED, ASIDE, STAGED, IN_TABLE };

/* A call that the servers received and have not carried out. */
struct pending {
	bool there;
	size_t n, files[MOST];
};

struct model {
	/* choices of this run, and the number of outcomes at each choice */
	unsigned char choice[STEPS], ways[STEPS];
	size_t nchoices, given; /* number of choices made, and number of choices set by the test */
	unsigned faults;
	/* the world */
	enum place at[MOST];
	uint64_t id[MOST], next_id;
	unsigned loaded[FILES][ROWS]; /* number of times that the table got a row of a file */
	struct pending late;
	unsigned splits, splits_before; /* number of splits, and number of splits before the load */
	bool cleaned, copies;
	bool proves;   /* apply finds the copies in the table */
	bool lied;     /* a server answered "loaded" without an effect */
	bool late_ran; /* a call was carried out after apply had given it up */
	bool thieves;  /* another user removes files, and the process never dies */
	bool sweepers; /* another user may empty the upload folder between two runs */
	bool droppers; /* another user may recreate the table at any call */
	bool anew;     /* a user has recreated the table */
	bool blind;    /* folder and table were unreadable, so apply may add files twice */
	bool nameless; /* the place has no file ids */
	size_t batch;  /* regions of a batch, 0 for all */
	/* the process */
	bool dead;
	char journal[400][64];
	size_t nlines;
	size_t of[MOST]; /* index of the load's file of which this file is a part */
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
/* each region has two files; splits cut the first file, and then the second part of this file */
static const char *const own_rows[FILES] = {"adf", "ef", "no", "pq"};
static const char *const borders[SPLITS + 1][SPLITS + 1] = {{"m"}, {"c", "m"}, {"c", "e", "m"}};

/* --- outcomes --- */

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

/* Chooses an outcome. Outcome 0 is good. */
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

/* Returns the smallest number of loads of a row, or the largest number if `most` is true. */
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

/* Carries out a call as a server does, with all files or no file. */
static bool take_files(const size_t *files, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (m.at[files[i]] != UPLOADED || m.cleaned)
			return false;
	for (size_t i = 0; i < n; i++)
		take_in(files[i]);
	return true;
}

/* A server may carry out an earlier call at any later time. */
static void late_turn(void)
{
	if (m.late.there && choose(2)) {
		m.late.there = false;
		m.late_ran = take_files(m.late.files, m.late.n) || m.late_ran;
	}
}

/* A user drops the table. Its files go to the archive, and an empty table gets its name. */
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

static size_t region_of(size_t file)
{
	size_t at = 0;

	while (at <= m.splits && m.rows[file][0] >= borders[m.splits][at][0])
		at++;
	return at;
}

/* In batches of one region, the files of earlier regions are in the table before an upload. */
static void check_batch(size_t file)
{
	for (size_t i = 0; m.batch == 1 && i < m.hand.nfiles; i++) {
		enum hand_state s = m.hand.files[i].state;

		if (s != HAND_DONE && s != HAND_CUT && region_of(i) < region_of(file))
			tell_history("the run uploads a file of a later batch");
	}
}

static int put(void *self, const struct hand_file *f, uint64_t *id, struct error *err)
{
	size_t i = (size_t)(f - m.hand.files);

	(void)self;
	if (m.dead)
		return die(err);
	check_batch(i);
	if (m.nameless) {
		m.at[i] = UPLOADED;
		*id = m.id[i] = 0;
		return RC_OK;
	}
	late_turn();
	unsigned way = choose(m.thieves ? 1 : 3);
	if (way == 1)
		return die(err); /* an earlier upload */
	if (m.at[i] == IN_TABLE && !m.blind)
		tell_history("the run uploads a file again that HBase has");
	if (m.at[i] != UPLOADED) { /* HBase keeps the same file */
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
	if (there == ASIDE) { /* no older file has this name */
		char name[32];
		snprintf(name, sizeof name, "u%zu.aside-%llu", i, (unsigned long long)m.id[i]);
		assert_true(m.at[i] != here || strcmp(to, name) == 0);
	}
	if (m.proves) { /* the upload disappears */
		assert_true(here == UPLOADED && there == UPLOADED);
		m.at[i] = LOCAL_ONLY;
		return way == 2 ? die(err) : RC_OK;
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
		tell_history("the run cuts a file that HBase has");
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

static bool has_rows(size_t file)
{
	for (const char *row = m.rows[file]; *row; row++)
		if (!m.loaded[m.of[file]][*row - 'a'])
			return false;
	return true;
}

/* The user who runs apply may lack permission to read the folder. If other users remove files, the
 * folder must be readable. */
static int in_table(void *self, const struct hbase_region *r, struct hand_file *const *files,
		    size_t n, bool *in, struct error *err)
{
	(void)self;
	(void)r;
	if (m.dead)
		return die(err);
	/* if servers that copy lie, only the folder shows it */
	unsigned way = choose(m.thieves ? 1 : m.proves && m.lied ? 2 : 3);
	if (way == 1)
		return die(err);
	if (way == 2)
		return RC_END;
	for (size_t i = 0; i < n; i++) {
		size_t file = (size_t)(files[i] - m.hand.files);

		/* an id identifies one upload, and apply may have uploaded the file again */
		in[i] = m.at[file] == IN_TABLE && m.id[file] == files[i]->id;
		if (m.proves)
			in[i] = has_rows(file);
	}
	return RC_OK;
}

/* The user may lack permission to read the table, too. */
static int cells(void *self, const struct hand_file *f, bool *in, struct error *err)
{
	size_t file = (size_t)(f - m.hand.files);

	(void)self;
	if (m.dead)
		return die(err);
	unsigned way = choose(3);
	if (way == 1)
		return die(err);
	*in = way == 0;
	for (const char *row = m.rows[file]; *row; row++)
		*in = *in && m.loaded[m.of[file]][*row - 'a'];
	m.blind = m.blind || way == 2;
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
	if (m.anew) { /* the same check as in binding.c */
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

/* A region that has split reports none of its files. */
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
	FATE_LATE,	  /* no answer, done later */
	FATE_DIES_LATE,	  /* no answer, done later, and the process dies */
	FATE_MOVED,
	FATE_FALSE,	     /* "not loaded" without a reason */
	FATE_STUCK,	     /* "not loaded", the first file is in the token's folder */
	FATE_HALF,	     /* no answer, the first file is in, the others are stuck */
	FATE_SPLIT,	     /* the region splits before the call arrives */
	FATE_FALSE_FIRST_IN, /* "not loaded", the first file is in, the others are stuck */
	FATE_FALSE_ALL_IN,   /* "not loaded", and all are in */
	FATE_REFUSED,	     /* an exception because of a quota, and no other effect */
	/* an exception because of a quota, the first file is in, the others are stuck */
	FATE_REFUSED_HALF,
	FATE_TRUE_NOT_IN, /* the answer "loaded" without an effect */
	FATE_STOLEN,	  /* another user removes a file that no call has touched */
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
	case FATE_TRUE_NOT_IN:
		m.lied = true;
		*loaded = !m.copies || m.proves;
		return RC_OK;
	case FATE_DONE:
	case FATE_SPLIT:
	case FATE_STOLEN: break;
	}
	*loaded = take_files(list, n);
	return RC_OK;
}

/* Some reasons pass, for example safe mode. */
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
		if (m.at[i] == STAGED) { /* this would lose a user's file */
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
		tell_history("the run removes its folders, but a row is missing");
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

/* The progress counts from the beginning of its phase and reaches its total when the phase ends. */
static void check_shown(void)
{
	const char *phase = m.progress.phase;
	bool uploads = phase && strcmp(phase, "uploading") == 0;
	size_t left = 0;

	for (size_t i = 0; i < m.hand.nfiles; i++) {
		enum hand_state s = m.hand.files[i].state;

		if (m.hand.files[i].later)
			continue;
		left += uploads ? s == HAND_NEW : s != HAND_DONE && s != HAND_CUT;
	}
	if (phase && m.progress.done + left != m.progress.total)
		tell_history("the shown number of remaining files is wrong");
}

static bool again(void *self, const struct hbase_failure *why, struct hbase_attempts *attempt,
		  struct error *err)
{
	(void)self;
	if (m.dead)
		return die(err), false;
	check_shown();
	assert_int_not_equal(why->trouble, TROUBLE_NONE);
	return why->trouble != TROUBLE_REFUSED && ++attempt->n < 40;
}

static void pause_ms(void *self, unsigned ms)
{
	(void)self;
	(void)ms;
}

/* --- one history --- */

/* The reported number of finished files is right, also after a restart. */
static void check_done(void)
{
	size_t n = 0;

	for (size_t i = 0; i < m.hand.nfiles; i++)
		n += m.hand.files[i].state == HAND_DONE || m.hand.files[i].state == HAND_CUT;
	if (m.done != n)
		tell_history("the reported number of finished files is wrong");
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
				      .cells = cells,
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
				   .proves = m.proves,
				   .batch = m.batch,
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
	m.cleaned = m.blind = m.anew = m.lied = m.late_ran = false;
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

/* Runs to the end and restarts after each death. */
static void live(void)
{
	m.nchoices = 0;
	new_world();
	for (unsigned life = 0;; life++) {
		struct error err = {0};

		if (life == RESTARTS)
			tell_history("the run does not end");
		start();
		int rc = handover_run(&m.hand, &err);
		if (!m.dead) {
			check_done();
			check_shown();
		}
		m.steps += m.nchoices;
		if (rc == RC_OK)
			break;
		if (m.anew) /* this is correct, because apply does not report the load as done */
			return;
		/* apply refused, so a person reads the error and starts apply again */
		if (!m.dead && !strstr(err.msg, "gives no reason") &&
		    !strstr(err.msg, "SpaceLimitingException") && !strstr(err.msg, "it loaded"))
			tell_history(err.msg);
		if (m.sweepers && choose(2))
			empty_upload_folder();
	}
	if (m.anew)
		tell_history("the table is a new one, but the run reports success");
	/* the server carries out a late call */
	if (m.late.there)
		m.late_ran = take_files(m.late.files, m.late.n) || m.late_ran;
	if (rows_in(false) == 0)
		tell_history("a row is not in the table");
	if (rows_in(true) > 1 && !m.blind && (!m.copies || (m.proves && !m.late_ran)))
		tell_history("a row is in the table twice");
}

/* Runs all sequences of choices. The last choice changes first. */
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
	assert_true(n > LEAST);
}

/* If servers copy files, they may add a file twice (with the same cells), but they lose no file. */
static void test_servers_that_copy(void **state)
{
	(void)state;
	m.copies = true;
	assert_true(explore() > LEAST);
	m.copies = false;
}

/*
 * If apply finds the copies by their bytes, each file is in the table once. Only a call that runs
 * long after its connection has ended can add a file twice.
 */
static void test_servers_that_copy_in_s3(void **state)
{
	(void)state;
	m.copies = m.proves = true;
	m.splits_before = 1; /* apply also cuts a file */
	unsigned long n = explore();
	print_message("%lu histories\n", n);
	assert_true(n > LEAST);
	m.splits_before = 0;
	m.copies = m.proves = false;
}

/* The regions come one after another, and each file is in the table once all the same. */
static void test_batches(void **state)
{
	(void)state;
	m.batch = 1;
	unsigned long n = explore();
	print_message("%lu histories\n", n);
	assert_true(n > LEAST);
	m.batch = 0;
}

/*
 * The table's regions differ from the load's regions. apply cuts a file, and perhaps one of its
 * parts, too.
 */
static void test_other_regions(void **state)
{
	(void)state;
	m.splits_before = 1;
	unsigned long n = explore();
	print_message("%lu histories\n", n);
	assert_true(n > LEAST);
	m.splits_before = 0;
}

/*
 * Another user removes a file before any call touches it. apply uploads the file again, even if the
 * run ended after a server's refusal.
 */
static void test_thieves(void **state)
{
	(void)state;
	m.thieves = true;
	unsigned long n = explore();
	print_message("%lu histories\n", n);
	assert_true(n > LEAST);
	m.thieves = false;
}

/*
 * Another user empties the upload folder after a run. HBase refused the call, or the run died
 * between the note and the call. Then apply does not assume that a file outside of both folders is
 * in the table.
 */
static void test_sweepers(void **state)
{
	(void)state;
	m.sweepers = true;
	unsigned long n = explore();
	print_message("%lu histories\n", n);
	assert_true(n > LEAST);
	m.sweepers = false;
}

/* A recreated table has none of the files, whatever the journal notes. */
static void test_droppers(void **state)
{
	(void)state;
	m.droppers = true;
	unsigned long n = explore();
	print_message("%lu histories\n", n);
	assert_true(n > LEAST);
	m.droppers = false;
}

static void start_anew(void)
{
	m.nchoices = m.given = 0;
	new_world();
	start();
}

/* Without file ids, apply cannot identify files. apply sends and removes no file. */
static void test_no_ids(void **state)
{
	struct error err = {0};

	(void)state;
	start_anew();
	m.nameless = true;
	int rc = handover_run(&m.hand, &err);
	m.nameless = false;
	assert_int_equal(rc, RC_CONFIG);
	assert_string_equal(err.msg, "u0: found no fileId in the server's answer, which apply "
				     "needs to identify files; give --webhdfs the NameNodes, "
				     "not a gateway");
	assert_int_equal(rows_in(true), 0);
	assert_false(m.cleaned);
}

/*
 * The journal notes a file as loaded, but the file is still in the folder. apply does not remove
 * the folder.
 */
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
			    "u2 still exists, but its region server answered that it had "
			    "loaded the file; apply removes nothing; run apply again, and check "
			    "the server's log if this repeats");
	assert_false(m.cleaned);
}

/* HBase's layout is ROOT/data/NAMESPACE/TABLE, as seen on a server of 2.6.4. */
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
		cmocka_unit_test(test_every_history),
		cmocka_unit_test(test_servers_that_copy),
		cmocka_unit_test(test_servers_that_copy_in_s3),
		cmocka_unit_test(test_batches),
		cmocka_unit_test(test_other_regions),
		cmocka_unit_test(test_thieves),
		cmocka_unit_test(test_sweepers),
		cmocka_unit_test(test_droppers),
		cmocka_unit_test(test_no_ids),
		cmocka_unit_test(test_no_sweep),
		cmocka_unit_test(test_table_folder),
		cmocka_unit_test(test_replay_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
