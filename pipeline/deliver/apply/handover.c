#include "handover.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "hand_steps.h"
#include "pool.h"
#include "schedule.h"

/* --- the journal --- */

static void replay_file(struct handover *h, struct hand_file *f, enum hand_state state)
{
	if (state == HAND_DONE && f->state != HAND_DONE)
		hand_count(h, 1);
	f->state = state;
}

static bool replay_files(struct handover *h, char *p, enum hand_state state)
{
	uint64_t i;

	while (*p) {
		if (!h->nfiles || !hand_number(&p, h->nfiles - 1, &i))
			return false;
		replay_file(h, &h->files[i], state);
	}
	return true;
}

static bool word(char *line, const char *name, char **rest)
{
	size_t n = strlen(name);

	*rest = line + n;
	return strncmp(line, name, n) == 0 && (line[n] == ' ' || line[n] == 0);
}

int handover_replay(struct handover *h, char *line, struct error *err)
{
	char *p;
	uint64_t i, id;
	bool good = true;

	if (word(line, "put", &p)) {
		good = h->nfiles && hand_number(&p, h->nfiles - 1, &i) &&
		       hand_number(&p, UINT64_MAX, &id) && id && !*p;
		if (good) {
			h->files[i].id = id;
			h->files[i].state = HAND_READY;
		}
	} else if (word(line, "sent", &p)) {
		good = replay_files(h, p, HAND_SENT);
	} else if (word(line, "back", &p)) {
		good = replay_files(h, p, HAND_READY);
	} else if (word(line, "done", &p)) {
		good = replay_files(h, p, HAND_DONE);
	} else if (word(line, "aside", &p)) {
		good = replay_files(h, p, HAND_ASIDE);
	} else if (word(line, "cut", &p)) {
		return recut_replay(h, p, err);
	} else if (word(line, "cleaned", &p)) {
		h->cleaned = true;
	} else {
		return RC_END;
	}
	return good ? RC_OK
		    : error_set(err, RC_DATA, "`%.100s` is not an event of table %s with %zu files",
				line, h->table, h->nfiles);
}

/* --- uploading --- */

static int upload(void *ctx, unsigned worker, size_t index, struct error *err)
{
	struct handover *h = ctx;
	struct hand_file *f = &h->files[index];
	char line[64];

	(void)worker;
	if (f->state != HAND_NEW || f->later)
		return RC_OK;
	int rc = hand_ready(h, err);
	if (rc == RC_OK)
		rc = h->world->put(h->world->self, f, &f->id, err);
	if (rc == RC_OK && f->id == 0)
		rc = error_set(err, RC_CONFIG,
			       "%s: found no fileId in the server's answer, which apply needs to "
			       "identify files; give --webhdfs the NameNodes, not a gateway",
			       f->upload);
	if (rc)
		return rc;
	snprintf(line, sizeof line, "put %zu %" PRIu64, index, f->id);
	rc = h->world->note(h->world->self, line, err);
	if (rc)
		return rc;
	f->state = HAND_READY;
	progress_add(h->progress, 1);
	return RC_OK;
}

/* --- calls --- */

static int send_next(void *ctx, unsigned worker, size_t index, struct error *err)
{
	struct schedule *s = ctx;
	struct group *g = schedule_take(s);

	(void)worker;
	(void)index;
	int rc = hand_ready(s->ctx, err);
	if (rc == RC_OK)
		rc = hand_send(s->ctx, g, err);
	schedule_give(s, g);
	return rc;
}

/* --- rounds --- */

/* Combines the failures of a round. The first failure decides how long to wait. */
static void round_failure(const struct schedule *s, struct hbase_failure *why, struct error *err)
{
	*why = (struct hbase_failure){.trouble = TROUBLE_BUSY};
	error_set(err, RC_IO, "region servers did not load all files");
	for (size_t i = 0; i < s->ngroups; i++) {
		if (!s->groups[i].failed)
			continue;
		*why = s->groups[i].why;
		*err = s->groups[i].error;
		return;
	}
}

static size_t count_done(const struct handover *h)
{
	size_t n = 0;

	for (size_t i = 0; i < h->nfiles; i++)
		n += h->files[i].state == HAND_DONE || h->files[i].state == HAND_CUT;
	return n;
}

/* Returns the number of files of this batch that are not in the table. */
static size_t count_open(const struct handover *h)
{
	size_t n = 0;

	for (size_t i = 0; i < h->nfiles; i++)
		n += h->files[i].state != HAND_DONE && h->files[i].state != HAND_CUT &&
		     !h->files[i].later;
	return n;
}

/*
 * Requests the current regions. Returns RC_END if the regions are unknown at the moment. The caller
 * always releases *out.
 */
static int ask_regions(const struct handover *h, struct hbase_regions *out,
		       struct hbase_failure *why, struct error *err)
{
	int rc = h->world->regions(h->world->self, out, why, err);
	bool passing = rc && rc != RC_STOPPED && why->trouble != TROUBLE_REFUSED &&
		       why->trouble != TROUBLE_MISSING;

	return passing ? RC_END : rc;
}

/* Cuts the files that cross a border of the current regions, and chooses the batch. */
static int fit_regions(struct handover *h, struct hbase_failure *why, struct error *err)
{
	struct hbase_regions regions = {0};
	int rc = ask_regions(h, &regions, why, err);

	if (rc == RC_OK)
		rc = recut_files(h, &regions, err);
	if (rc == RC_OK)
		hand_batch(h, &regions);
	hbase_regions_release(&regions);
	return rc;
}

/*
 * Sends all ready files of the batch once. Returns RC_END if some remain, with the cause in *why
 * and *err.
 */
static int one_round(struct handover *h, struct hbase_failure *why, struct error *err)
{
	struct hbase_regions regions = {0};
	struct schedule s = {0};
	int rc = ask_regions(h, &regions, why, err);

	if (rc) {
		hbase_regions_release(&regions);
		return rc;
	}
	schedule_make(&s, h, &regions);
	rc = pool_run(h->threads, s.ngroups, send_next, &s, err);
	if (rc == RC_OK && count_open(h)) {
		round_failure(&s, why, err);
		rc = RC_END;
	}
	schedule_release(&s);
	hbase_regions_release(&regions);
	return rc;
}

/* Returns RC_DATA if the file is still at `path`. Removing the folder would then lose the file. */
static int check_gone(const struct handover *h, const struct hand_file *f, const char *path,
		      struct error *err)
{
	uint64_t id = 0;
	int rc = h->world->look(h->world->self, path, &id, err);

	if (rc || !id || id != f->id)
		return rc;
	return error_set(
		err, RC_DATA,
		"%s still exists, but its region server answered that it had loaded the file; "
		"apply removes nothing; run apply again, and check the server's log if this "
		"repeats",
		path);
}

static int check_left(void *ctx, unsigned worker, size_t index, struct error *err)
{
	struct handover *h = ctx;
	const struct hand_file *f = &h->files[index];
	int rc = stop_check(err);

	(void)worker;
	if (rc == RC_OK && !h->proves) /* servers leave their copies in the token's folder */
		rc = check_gone(h, f, f->staged, err);
	return rc || h->copies ? rc : check_gone(h, f, f->upload, err);
}

/*
 * Begins the progress line of a phase. The total counts only the remaining files, because the
 * estimate of the time left uses the total.
 */
static void show_phase(struct handover *h, enum hand_phase phase)
{
	size_t fresh = 0, left = count_open(h);

	for (size_t i = 0; i < h->nfiles; i++)
		fresh += h->files[i].state == HAND_NEW && !h->files[i].later;
	if (phase == HAND_UPLOADS && fresh) {
		h->sends = false;
		progress_begin(h->progress, "uploading", PROGRESS_FILES, fresh);
	} else if (phase == HAND_CALLS && !fresh && left && !h->sends) {
		h->sends = true;
		progress_begin(h->progress, "handing over", PROGRESS_FILES, left);
	}
}

static void begin(struct handover *h, enum hand_phase phase)
{
	if (h->world->begin)
		h->world->begin(h->world->self, phase);
	show_phase(h, phase);
}

static int clean_up(struct handover *h, struct error *err)
{
	const struct hand_world *w = h->world;
	struct hbase_attempts attempt = {0};
	int rc;

	begin(h, HAND_CLEANS);
	rc = pool_run(h->threads, h->nfiles, check_left, h, err);
	if (rc)
		return rc;
	for (;;) {
		struct hbase_regions regions = {0};
		struct hbase_failure why = {0};

		rc = w->regions(w->self, &regions, &why, err);
		if (rc == RC_OK)
			rc = w->cleanup(w->self, &regions.item[0], &why, err);
		hbase_regions_release(&regions);
		if (rc == RC_OK || !w->again(w->self, &why, &attempt, err))
			break;
	}
	if (rc == RC_OK)
		rc = w->sweep(w->self, err);
	if (rc == RC_OK)
		rc = w->note(w->self, "cleaned", err);
	h->cleaned = rc == RC_OK;
	return rc;
}

/* Uploads and sends the files of a batch once, and returns as one_round does. */
static int one_batch(struct handover *h, struct hbase_failure *why, struct error *err)
{
	const struct hand_world *w = h->world;

	begin(h, HAND_UPLOADS);
	int rc = fit_regions(h, why, err);
	if (rc == RC_OK) {
		/* show the phase again, because the total now has the parts of cut files */
		show_phase(h, HAND_UPLOADS);
		rc = pool_run(h->threads, h->nfiles, upload, h, err);
	}
	begin(h, HAND_CALLS);
	if (rc == RC_OK && w->settle)
		rc = w->settle(w->self, err);
	return rc ? rc : one_round(h, why, err);
}

int handover_run(struct handover *h, struct error *err)
{
	struct hbase_attempts attempt = {.rounds = true};
	int rc = RC_OK;

	if (h->cleaned)
		return RC_OK;
	/* look for the files of calls that an earlier run began */
	begin(h, HAND_CALLS);
	for (size_t i = 0; rc == RC_OK && i < h->nfiles; i++)
		if (h->files[i].state == HAND_SENT)
			rc = hand_resolve(h, &h->files[i], NULL, false, err);
	while (rc == RC_OK) {
		struct hbase_failure why = {0};
		size_t before = count_done(h);

		rc = one_batch(h, &why, err);
		if (rc == RC_OK && count_done(h) == h->nfiles)
			break;
		if (rc == RC_OK) {
			attempt.n = 0;
			continue;
		}
		if (rc != RC_END)
			break;
		if (count_done(h) > before)
			attempt.n = 0;
		rc = h->world->again(h->world->self, &why, &attempt, err) ? RC_OK : err->code;
	}
	return rc ? rc : clean_up(h, err);
}
