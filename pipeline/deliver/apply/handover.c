#include "handover.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "hand_steps.h"
#include "pool.h"
#include "schedule.h"

#define LOOK_MS	   1000 /* between two looks at a file in the token's folder */
#define STAGED_MAX 60	/* looks until a file there is taken as abandoned */

/* --- the journal --- */

int hand_note(const struct handover *h, const char *what, struct hand_file *const *files, size_t n,
	      struct error *err)
{
	struct buf line = {0};

	buf_append_str(&line, what);
	for (size_t i = 0; i < n; i++)
		buf_printf(&line, " %zu", (size_t)(files[i] - h->files));
	buf_put(&line, 0);
	int rc = h->world->note(h->world->self, (const char *)line.ptr, err);
	buf_release(&line);
	return rc;
}

bool hand_number(char **p, uint64_t most, uint64_t *out)
{
	char *end;

	if (**p != ' ' || (*p)[1] < '0' || (*p)[1] > '9')
		return false;
	*out = strtoull(*p + 1, &end, 10);
	*p = end;
	return *out <= most;
}

void hand_count(struct handover *h, size_t n)
{
	if (h->done)
		*h->done += n;
	if (h->sends)
		progress_add(h->progress, n);
}

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
	if (f->state != HAND_NEW)
		return RC_OK;
	int rc = stop_check(err);
	if (rc == RC_OK)
		rc = h->world->put(h->world->self, f, &f->id, err);
	if (rc == RC_OK && f->id == 0)
		rc = error_set(
			err, RC_CONFIG,
			"%s: the server does not report fileId, and apply identifies files by it: "
			"--webhdfs must name NameNodes, not a gateway",
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

/* --- where files are after a call --- */

enum hand_where { AT_UPLOAD, AT_STAGED, AT_NEITHER };

static int find_once(const struct handover *h, const struct hand_file *f, enum hand_where *out,
		     struct error *err)
{
	const struct hand_world *w = h->world;
	uint64_t id = 0;

	*out = AT_UPLOAD;
	int rc = w->look(w->self, f->upload, &id, err);
	if (rc || (id && id == f->id))
		return rc;
	*out = AT_STAGED;
	rc = w->look(w->self, f->staged, &id, err);
	if (rc || (id && id == f->id))
		return rc;
	*out = AT_NEITHER;
	return RC_OK;
}

/*
 * Finds a file at its upload path or in the token's folder. Looks twice, because a server may move
 * a file back between the two looks.
 */
static int find_file(const struct handover *h, const struct hand_file *f, enum hand_where *out,
		     struct error *err)
{
	int rc = find_once(h, f, out, err);

	if (rc || *out != AT_NEITHER)
		return rc;
	h->world->pause(h->world->self, LOOK_MS);
	return find_once(h, f, out, err);
}

/*
 * Finds out whether a file in neither folder is in the table. If nobody may look there, it counts
 * as absent.
 */
static int find_in_table(const struct handover *h, struct hand_file *f,
			 const struct hbase_region *r, bool *in, struct error *err)
{
	const struct hand_world *w = h->world;
	int rc = RC_OK;

	/* a copy in the table has another id, and the file itself is still in the upload folder */
	if (h->copies)
		return RC_OK;
	if (r)
		rc = w->in_table(w->self, r, &f, 1, in, err);
	if (rc == RC_OK && !*in) /* an earlier call may have named another region */
		rc = w->in_table(w->self, NULL, &f, 1, in, err);
	return rc == RC_END ? RC_OK : rc;
}

int hand_resolve(struct handover *h, struct hand_file *f, const struct hbase_region *r, bool ended,
		 struct error *err)
{
	const struct hand_world *w = h->world;
	enum hand_where at;
	bool in = false;
	int rc = find_file(h, f, &at, err);

	for (unsigned i = 0; rc == RC_OK && at == AT_STAGED && i < STAGED_MAX; i++) {
		rc = stop_check(err);
		w->pause(w->self, LOOK_MS);
		if (rc == RC_OK)
			rc = find_file(h, f, &at, err);
	}
	if (rc)
		return rc;
	if (at == AT_STAGED) {
		rc = w->move(w->self, f->staged, f->upload, err);
		at = AT_UPLOAD;
	}
	if (rc)
		return rc;
	if (at == AT_NEITHER)
		rc = find_in_table(h, f, r, &in, err);
	if (rc == RC_OK && in)
		rc = hand_note(h, "done", &f, 1, err);
	else if (rc == RC_OK && ended)
		rc = hand_note(h, "back", &f, 1, err);
	if (rc == RC_OK)
		f->state = at == AT_UPLOAD ? HAND_READY : in ? HAND_DONE : HAND_NEW;
	if (rc == RC_OK && f->state == HAND_DONE)
		hand_count(h, 1);
	return rc;
}

/* --- calls --- */

static int send_next(void *ctx, unsigned worker, size_t index, struct error *err)
{
	struct schedule *s = ctx;
	struct group *g = schedule_take(s);

	(void)worker;
	(void)index;
	int rc = stop_check(err);
	if (rc == RC_OK)
		rc = hand_send(s->ctx, g, err);
	schedule_give(s, g);
	return rc;
}

/* --- rounds --- */

bool handover_region(const struct hbase_regions *r, const struct hand_file *f, size_t *region)
{
	size_t low = 0, high = r->count;

	/* find the last region that starts at or before the file's first row */
	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;
		if (bytes_cmp(r->item[mid].start, f->first) <= 0)
			low = mid;
		else
			high = mid;
	}
	*region = low;
	return r->item[low].end.len == 0 || bytes_cmp(f->last, r->item[low].end) < 0;
}

/* Makes one failure from those of a round: the first of them decides how to wait. */
static void round_failure(const struct schedule *s, struct hbase_failure *why, struct error *err)
{
	*why = (struct hbase_failure){.trouble = TROUBLE_BUSY};
	error_set(err, RC_IO, "region servers did not take all files");
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

/*
 * Requests the regions as they are now. RC_END: they are unknown at the moment. Release *out
 * always.
 */
static int ask_regions(const struct handover *h, struct hbase_regions *out,
		       struct hbase_failure *why, struct error *err)
{
	int rc = h->world->regions(h->world->self, out, why, err);
	bool passing = rc && rc != RC_STOPPED && why->trouble != TROUBLE_REFUSED &&
		       why->trouble != TROUBLE_MISSING;

	return passing ? RC_END : rc;
}

/* Cuts the files that cross a border of the present regions. */
static int fit_regions(struct handover *h, struct hbase_failure *why, struct error *err)
{
	struct hbase_regions regions = {0};
	int rc = ask_regions(h, &regions, why, err);

	if (rc == RC_OK)
		rc = recut_files(h, &regions, err);
	hbase_regions_release(&regions);
	return rc;
}

/* Sends all ready files once. RC_END: files are left; *why and *err have the cause. */
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
	if (rc == RC_OK && count_done(h) < h->nfiles) {
		round_failure(&s, why, err);
		rc = RC_END;
	}
	schedule_release(&s);
	hbase_regions_release(&regions);
	return rc;
}

/* RC_DATA: the file is still at path. Removing its folder would lose it. */
static int check_gone(const struct handover *h, const struct hand_file *f, const char *path,
		      struct error *err)
{
	uint64_t id = 0;
	int rc = h->world->look(h->world->self, path, &id, err);

	if (rc || !id || id != f->id)
		return rc;
	return error_set(
		err, RC_DATA,
		"%s is still there, but its region answered that it was loaded: apply removes nothing",
		path);
}

static int check_left(void *ctx, unsigned worker, size_t index, struct error *err)
{
	struct handover *h = ctx;
	const struct hand_file *f = &h->files[index];
	int rc = stop_check(err);

	(void)worker;
	if (rc == RC_OK)
		rc = check_gone(h, f, f->staged, err);
	return rc || h->copies ? rc : check_gone(h, f, f->upload, err);
}

/*
 * Begins the progress line of a phase. It counts only what the phase still has to do, so that its
 * estimate of the time left is right.
 */
static void show_phase(struct handover *h, enum hand_phase phase)
{
	size_t fresh = 0, left = h->nfiles - count_done(h);

	for (size_t i = 0; i < h->nfiles; i++)
		fresh += h->files[i].state == HAND_NEW;
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
	unsigned attempt = 0;
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

int handover_run(struct handover *h, struct error *err)
{
	unsigned attempt = 0;
	int rc = RC_OK;

	if (h->cleaned)
		return RC_OK;
	/* calls of the previous run */
	begin(h, HAND_CALLS);
	for (size_t i = 0; rc == RC_OK && i < h->nfiles; i++)
		if (h->files[i].state == HAND_SENT)
			rc = hand_resolve(h, &h->files[i], NULL, false, err);
	while (rc == RC_OK) {
		struct hbase_failure why = {0};
		size_t before = count_done(h);

		begin(h, HAND_UPLOADS);
		rc = fit_regions(h, &why, err);
		if (rc == RC_OK) {
			/* again: it now includes the parts of files that were cut */
			show_phase(h, HAND_UPLOADS);
			rc = pool_run(h->threads, h->nfiles, upload, h, err);
		}
		begin(h, HAND_CALLS);
		if (rc == RC_OK)
			rc = one_round(h, &why, err);
		if (rc != RC_END)
			break;
		if (count_done(h) > before)
			attempt = 0;
		rc = h->world->again(h->world->self, &why, &attempt, err) ? RC_OK : err->code;
	}
	return rc ? rc : clean_up(h, err);
}
