/*
 * hand_call.c - make one bulk load call, and find out which of its files the region server loaded
 */
#include "hand_steps.h"
#include "schedule.h"

#define REFUSALS 2 /* fail after so many answers without a reason for one file */

/* Checks that all files of a call are in the upload folder. Returns RC_END if a file is missing. */
static int check_there(struct handover *h, struct hand_file *const *files, size_t n,
		       struct error *err)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t id;
		int rc = h->world->look(h->world->self, files[i]->upload, &id, err);

		if (rc)
			return rc;
		if (id != files[i]->id)
			return RC_END;
	}
	return RC_OK;
}

static int resolve_all(struct handover *h, struct hand_file *const *files, size_t n,
		       const struct hbase_region *r, bool ended, struct error *err)
{
	int rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < n; i++)
		rc = hand_resolve(h, files[i], r, ended, err);
	return rc;
}

/*
 * Looks for the cause of an answer without a reason. If the cause is temporary, sets *passes, and
 * the caller retries the call.
 */
static int ask_reason(struct handover *h, struct group *g, const struct hand_file *f,
		      struct buf *hint, bool *passes, struct error *err)
{
	const struct hand_world *w = h->world;
	int rc = w->explain(w->self, f, hint, err);

	*passes = rc == RC_IO;
	if (!*passes)
		return rc;
	g->failed = true;
	g->why = (struct hbase_failure){.trouble = TROUBLE_BUSY};
	g->error = *err;
	return RC_OK;
}

static int no_reason(const struct group *g, const struct hand_file *f, const char *hint,
		     struct error *err)
{
	const struct hbase_place *at = &g->region->place;

	return error_set(err, RC_IO,
			 "region server %s:%u does not load %s%s and gives no reason; look for "
			 "`Failed to complete bulk load` in the server's log%s",
			 at->host, at->port, f->upload,
			 g->n > 1 ? " or another file of the call" : "", hint);
}

/*
 * Counts an answer without a reason, if files of the call are not in the table. The second such
 * answer is an error.
 */
static int count_refusals(struct handover *h, struct group *g, bool loaded, struct error *err)
{
	const struct hand_file *left = NULL, *again = NULL;
	struct buf hint = {0};
	bool passes = false;

	for (size_t i = 0; i < g->n && !left; i++)
		if (g->files[i]->state != HAND_DONE)
			left = g->files[i];
	int rc = left && !loaded ? ask_reason(h, g, left, &hint, &passes, err) : RC_OK;
	for (size_t i = 0; rc == RC_OK && !passes && i < g->n; i++) {
		struct hand_file *f = g->files[i];

		if (f->state != HAND_DONE && ++f->refused >= REFUSALS && !again)
			again = f;
	}
	buf_put(&hint, 0);
	if (again && loaded)
		rc = error_set(
			err, RC_DATA,
			"region server %s:%u answered that it loaded %s, but apply found the "
			"file neither in the region's folder nor in its archive; run apply "
			"again, and check the server's log if this repeats",
			g->region->place.host, g->region->place.port, again->upload);
	else if (again)
		rc = no_reason(g, again, (const char *)hint.ptr, err);
	buf_release(&hint);
	return rc;
}

static int note_done(struct handover *h, struct hand_file *const *files, size_t n,
		     struct error *err)
{
	int rc = n ? hand_note(h, "done", files, n, err) : RC_OK;

	for (size_t i = 0; rc == RC_OK && i < n; i++)
		files[i]->state = HAND_DONE;
	if (rc == RC_OK)
		hand_count(h, n);
	return rc;
}

/* Moves the files that are in the table to the front of the list. Returns their number. */
static size_t found_first(struct group *g, bool *in)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++) {
		struct hand_file *f = g->files[i];

		if (!in[i])
			continue;
		g->files[i] = g->files[n];
		in[i] = in[n];
		g->files[n] = f;
		in[n++] = true;
	}
	return n;
}

/*
 * Sets in[i] if file `i` of a call with the answer "loaded" is in the table. If the user may not
 * read the table's folder, sets in[i] if the file is no longer at its upload path.
 */
static int see_loaded(struct handover *h, const struct group *g, bool *in, struct error *err)
{
	const struct hand_world *w = h->world;
	int rc = h->copies && !h->proves ? RC_END
					 : w->in_table(w->self, g->region, g->files, g->n, in, err);

	if (rc != RC_END)
		return rc;
	for (size_t i = 0; i < g->n; i++) {
		uint64_t id = 0;

		rc = h->copies ? RC_OK : w->look(w->self, g->files[i]->upload, &id, err);
		if (rc)
			return rc;
		in[i] = !id || id != g->files[i]->id;
		h->unproved += in[i] && (!h->copies || h->proves);
	}
	return RC_OK;
}

/* Handles the answer "loaded". A file counts as loaded only if it is in the table. */
static int loaded(struct handover *h, struct group *g, struct error *err)
{
	bool *in = mem_calloc(g->n + 1, sizeof *in);
	int rc = see_loaded(h, g, in, err);
	size_t found = rc == RC_OK ? found_first(g, in) : 0;

	mem_free(in);
	if (rc == RC_OK)
		rc = note_done(h, g->files, found, err);
	if (rc == RC_OK && found < g->n)
		rc = resolve_all(h, g->files + found, g->n - found, g->region, true, err);
	return rc ? rc : count_refusals(h, g, true, err);
}

/*
 * Handles a call that did not answer "loaded". `said` is the call's exception. The code of `said`
 * is 0 if there was no exception.
 */
static int not_loaded(struct handover *h, struct group *g, const struct error *said,
		      struct error *err)
{
	/* a call without an answer may still be running, but a call with an exception has ended */
	bool ended = !said->code || g->why.trouble != TROUBLE_LOST;
	/* a region that moved or is too busy refuses before it touches a file */
	bool untouched =
		said->code && (g->why.trouble == TROUBLE_GONE || g->why.trouble == TROUBLE_BUSY);
	int rc = untouched ? hand_note(h, "back", g->files, g->n, err) : RC_OK;

	for (size_t i = 0; rc == RC_OK && untouched && h->proves && i < g->n; i++)
		g->files[i]->state = HAND_READY;
	if (rc == RC_OK && !(untouched && h->proves))
		rc = resolve_all(h, g->files, g->n, g->region, ended && !untouched, err);
	if (rc)
		return rc;
	if (!said->code)
		return count_refusals(h, g, false, err);
	g->failed = true;
	g->error = *said;
	if (g->why.trouble != TROUBLE_REFUSED)
		return RC_OK;
	*err = *said;
	return said->code;
}

int hand_send(struct handover *h, struct group *g, struct error *err)
{
	const struct hand_world *w = h->world;
	bool yes = false;
	struct error said = {0};
	int rc = check_there(h, g->files, g->n, err);

	if (rc == RC_END) /* another program has moved or removed files */
		return resolve_all(h, g->files, g->n, NULL, false, err);
	if (rc == RC_OK)
		rc = hand_note(h, "sent", g->files, g->n, err);
	for (size_t i = 0; rc == RC_OK && i < g->n; i++)
		g->files[i]->state = HAND_SENT;
	if (rc)
		return rc;
	if (w->load(w->self, g->region, g->files, g->n, &yes, &g->why, &said) == RC_STOPPED) {
		*err = said;
		return RC_STOPPED;
	}
	return yes ? loaded(h, g, err) : not_loaded(h, g, &said, err);
}
