/*
 * recut.c - cut files that cross a border of the live regions
 *
 *   READY --aside--> ASIDE --cut--> CUT, and its parts NEW
 *   NEW ------------------cut--> CUT, and its parts NEW
 *
 * An earlier call for a file in the upload folder may still run and load the whole file. So apply
 * renames the file before the cut, and then no call finds it. If the new path has the id of the
 * file, no call has loaded the file, and no call will. After the parts are on disk, one line of the
 * journal notes the cut.
 */
#include <inttypes.h>

#include "hand_steps.h"
#include "pool.h"

/*
 * Returns the path of a file during its cut. The path contains the file's id, because this path may
 * already have an earlier upload of the same file.
 */
static char *aside_path(const struct hand_file *f)
{
	return mem_format("%s.aside-%" PRIu64, f->upload, f->id);
}

static int is_at(const struct handover *h, const struct hand_file *f, const char *path, bool *there,
		 struct error *err)
{
	uint64_t id = 0;
	int rc = h->world->look(h->world->self, path, &id, err);

	*there = id && id == f->id;
	return rc;
}

/*
 * Renames a file after the journal has its `aside`. Sets *gone if the file is at neither of the two
 * paths.
 */
static int move_aside(const struct handover *h, struct hand_file *f, bool *gone, struct error *err)
{
	const struct hand_world *w = h->world;
	char *aside = aside_path(f);
	struct error said = {0};
	bool there = false, waits = false;
	int rc = is_at(h, f, aside, &there, err);

	if (rc == RC_OK && !there)
		rc = is_at(h, f, f->upload, &waits, err);
	if (rc == RC_OK && waits) {
		w->move(w->self, f->upload, aside, &said);
		/*
		 * look for the file even after an error, because an earlier call may have moved it
		 * first
		 */
		rc = is_at(h, f, aside, &there, err);
	}
	if (rc == RC_OK && waits && !there && said.code) {
		rc = is_at(h, f, f->upload, &waits, err);
		if (rc == RC_OK && waits) {
			*err = said;
			rc = said.code;
		}
	}
	*gone = !there;
	mem_free(aside);
	return rc;
}

/*
 * Moves a file out of the upload folder and sets its state to HAND_ASIDE. If an earlier call moved
 * the file first, hand_resolve finds its state.
 */
static int take_aside(struct handover *h, struct hand_file *f, struct error *err)
{
	bool gone = false;
	int rc = RC_OK;

	if (f->state == HAND_READY)
		rc = hand_note(h, "aside", &f, 1, err);
	if (rc)
		return rc;
	f->state = HAND_ASIDE;
	if (h->proves) /* no call runs, so the file only disappears from its upload path */
		return h->world->move(h->world->self, f->upload, f->upload, err);
	rc = move_aside(h, f, &gone, err);
	return rc || !gone ? rc : hand_resolve(h, f, NULL, false, err);
}

struct recutting {
	struct handover *hand;
	const struct hbase_regions *regions;
	size_t *which; /* indexes of the n files to cut */
	struct buf *words;
	size_t n;
};

static int cut_one(void *ctx, unsigned worker, size_t index, struct error *err)
{
	struct recutting *c = ctx;
	struct handover *h = c->hand;
	struct hand_file *f = &h->files[c->which[index]];

	(void)worker;
	int rc = stop_check(err);
	if (rc == RC_OK && f->state != HAND_NEW)
		rc = take_aside(h, f, err);
	if (rc || (f->state != HAND_NEW && f->state != HAND_ASIDE))
		return rc;
	return h->world->cut(h->world->self, f, c->regions, &c->words[index], err);
}

/* Replaces the file by its parts, in the journal and in memory. */
static int note_cut(struct handover *h, size_t file, const struct buf *words, struct error *err)
{
	struct buf line = {0};

	buf_printf(&line, "cut %zu %zu", file, h->nfiles);
	buf_append(&line, words->ptr, words->len);
	buf_put(&line, 0);
	int rc = h->world->note(h->world->self, (const char *)line.ptr, err);
	if (rc == RC_OK)
		rc = recut_replay(h, (char *)line.ptr + strlen("cut"), err);
	buf_release(&line);
	return rc;
}

static bool is_to_cut(const struct hand_file *f, const struct hbase_regions *r)
{
	size_t region;

	return f->state == HAND_ASIDE || ((f->state == HAND_NEW || f->state == HAND_READY) &&
					  !handover_region(r, f, &region));
}

int recut_files(struct handover *h, const struct hbase_regions *r, struct error *err)
{
	struct recutting c = {.hand = h, .regions = r};

	c.which = mem_calloc(h->nfiles + 1, sizeof *c.which);
	for (size_t i = 0; i < h->nfiles; i++)
		if (is_to_cut(&h->files[i], r))
			c.which[c.n++] = i;
	c.words = mem_calloc(c.n + 1, sizeof *c.words);
	int rc = c.n ? pool_run(h->threads, c.n, cut_one, &c, err) : RC_OK;
	for (size_t i = 0; i < c.n; i++) {
		if (rc == RC_OK && c.words[i].len)
			rc = note_cut(h, c.which[i], &c.words[i], err);
		buf_release(&c.words[i]);
	}
	mem_free(c.words);
	mem_free(c.which);
	return rc;
}

static int add_part(struct handover *h, size_t of, const char *word, struct error *err)
{
	struct hand_file f = {0};
	int rc = h->world->part(h->world->self, of, word, &f, err);

	if (rc)
		return rc;
	f.family = h->files[of].family;
	h->files = mem_reserve(h->files, &h->files_room, h->nfiles + 1, sizeof *h->files);
	h->files[h->nfiles++] = f;
	return RC_OK;
}

int recut_replay(struct handover *h, char *rest, struct error *err)
{
	uint64_t of, first;
	char *p = rest;
	int rc = RC_OK;

	if (!h->nfiles || !hand_number(&p, h->nfiles - 1, &of) ||
	    !hand_number(&p, h->nfiles, &first) || first != h->nfiles || *p != ' ')
		return error_set(err, RC_DATA,
				 "`cut%.100s` is not an event of table %s with %zu files", rest,
				 h->table, h->nfiles);
	while (rc == RC_OK && *p == ' ') {
		char *end = p + 1 + strcspn(p + 1, " "), *next = *end ? end : NULL;

		*end = 0;
		rc = add_part(h, of, p + 1, err);
		if (next)
			*next = ' ';
		p = end;
	}
	h->files[of].state = HAND_CUT;
	hand_count(h, 1);
	return rc;
}
