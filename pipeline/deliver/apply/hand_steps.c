/* hand_steps.c - note events, find files and choose regions for the state machine (handover.h) */
#include "hand_steps.h"

#include <stdlib.h>

#include "pool.h"

#define LOOK_MS	   1000 /* time between two checks for a file in the token's folder */
#define STAGED_MAX 60	/* after this number of checks, apply moves a file back from that folder */
/* time in which a region server copies a file in S3, as a number of checks */
#define COPY_CHECKS 30
#define COPY_SHIFT  22 /* one check more for each 4 MiB */

enum hand_where { AT_UPLOAD, AT_STAGED, AT_NEITHER };

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
 * Finds a file at its upload path or in the token's folder. Checks both places twice, because a
 * server may move a file back between the checks.
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
 * Finds out whether a file that is in neither folder is in the table. If the user may not read the
 * table's folder, the cells of the table decide.
 */
static int find_in_table(const struct handover *h, struct hand_file *f,
			 const struct hbase_region *r, bool *in, struct error *err)
{
	const struct hand_world *w = h->world;
	int rc = RC_OK;

	/* a copy in the table has another id, and the file itself is still in the upload folder */
	if (h->copies && !h->proves)
		return RC_OK;
	if (r)
		rc = w->in_table(w->self, r, &f, 1, in, err);
	if (rc == RC_OK && !*in) /* an earlier call may have used another region */
		rc = w->in_table(w->self, NULL, &f, 1, in, err);
	return rc == RC_END ? w->cells(w->self, f, in, err) : rc;
}

static int note_found(struct handover *h, struct hand_file *f, bool in, bool ended,
		      enum hand_state otherwise, struct error *err)
{
	int rc = RC_OK;

	if (in)
		rc = hand_note(h, "done", &f, 1, err);
	else if (ended)
		rc = hand_note(h, "back", &f, 1, err);
	if (rc == RC_OK)
		f->state = in ? HAND_DONE : otherwise;
	if (rc == RC_OK && in)
		hand_count(h, 1);
	return rc;
}

/*
 * Finds the copy of a file in the table. While a call without an answer may still copy the file,
 * searches again. All calls of an earlier run together get this time, because they run meanwhile.
 */
static int resolve_copy(struct handover *h, struct hand_file *f, const struct hbase_region *r,
			bool ended, struct error *err)
{
	const struct hand_world *w = h->world;
	bool in = false, runs = f->state == HAND_SENT && !ended;
	uint64_t own = 0, *checks = r ? &own : &h->checks, id = 0;
	int rc = find_in_table(h, f, r, &in, err);

	while (rc == RC_OK && !in && runs && *checks < COPY_CHECKS + (f->bytes >> COPY_SHIFT)) {
		++*checks;
		rc = stop_check(err);
		w->pause(w->self, LOOK_MS);
		if (rc == RC_OK)
			rc = find_in_table(h, f, r, &in, err);
	}
	if (rc == RC_OK && !in)
		rc = w->look(w->self, f->upload, &id, err);
	return rc ? rc
		  : note_found(h, f, in, ended, id && id == f->id ? HAND_READY : HAND_NEW, err);
}

int hand_resolve(struct handover *h, struct hand_file *f, const struct hbase_region *r, bool ended,
		 struct error *err)
{
	if (h->proves)
		return resolve_copy(h, f, r, ended, err);
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
	return rc ? rc : note_found(h, f, in, ended, at == AT_UPLOAD ? HAND_READY : HAND_NEW, err);
}

int hand_ready(const struct handover *h, struct error *err)
{
	int rc = stop_check(err);

	return rc || !h->world->ready ? rc : h->world->ready(h->world->self, err);
}

static bool is_open(const struct hand_file *f)
{
	return f->state == HAND_NEW || f->state == HAND_READY;
}

void hand_batch(struct handover *h, const struct hbase_regions *r)
{
	bool *open = mem_calloc(r->count + 1, sizeof *open);
	size_t last = 0, regions = 0, at = 0;

	for (size_t i = 0; i < h->nfiles; i++)
		if (is_open(&h->files[i])) {
			handover_region(r, &h->files[i], &at);
			open[at] = true;
		}
	for (; last < r->count && (!h->batch || regions < h->batch); last++)
		regions += open[last];
	for (size_t i = 0; i < h->nfiles; i++) {
		handover_region(r, &h->files[i], &at);
		h->files[i].later = is_open(&h->files[i]) && at >= last;
	}
	mem_free(open);
}

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
