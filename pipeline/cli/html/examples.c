/* examples.c - reads a few rejected events for each reason (examples.h) */
#include "examples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "form.h"

#define ENOUGH_LINES 1000000 /* largest number of rejects to read */

/* Returns the place of an event, for example "in.csv:52 (byte 877)" or "clicks [0] @12". */
static const char *place_of(const struct reject_view *v, struct arena *a)
{
	if (v->topic)
		return arena_format(a, "%s [%d] @%lld", v->topic, v->partition,
				    (long long)v->offset);
	return arena_format(a, "%s:%llu (byte %lld)", v->file ? v->file : "",
			    (unsigned long long)(v->event ? v->event : v->line),
			    (long long)v->offset);
}

struct wanted {
	const struct manifest *m;
	unsigned *seen; /* number of examples seen, by reason */
	size_t missing;
};

static bool wants(struct wanted *w, const char *reason)
{
	for (size_t i = 0; i < w->m->nreasons; i++)
		if (strcmp(w->m->reasons[i].reason, reason) == 0) {
			bool more = w->seen[i] < EXAMPLES_A_REASON;
			uint64_t count = w->m->reasons[i].count;
			bool all = w->seen[i] + 1u ==
				   (count < EXAMPLES_A_REASON ? count : EXAMPLES_A_REASON);

			w->seen[i] += more;
			w->missing -= more && all;
			return more;
		}
	return false;
}

/* Takes one line of the rejects. Omits the raw bytes of the event if they are not UTF-8. */
static int take_line(struct examples *e, struct wanted *w, struct bytes line, const char *path,
		     struct arena *a, struct error *err)
{
	struct reject_view v = {0};
	struct arena own = {0};
	int rc = form_parse(&reject_form, &v, line, path, "a file of rejects", &own, err);

	if (rc == RC_OK && wants(w, v.reason))
		e->item[e->n++] =
			(struct example){.reason = arena_strdup(a, v.reason),
					 .place = place_of(&v, a),
					 .detail = arena_strdup(a, v.detail),
					 .raw = text_is_utf8(v.raw) ? arena_bytes(a, v.raw)
								    : bytes_str("")};
	arena_release(&own);
	return rc;
}

static int read_lines(struct examples *e, struct wanted *w, FILE *f, const char *path,
		      struct arena *a, struct error *err)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t len = 0;
	int rc = RC_OK;

	for (size_t n = 0; rc == RC_OK && w->missing && n < ENOUGH_LINES; n++) {
		len = getline(&line, &cap, f);
		if (len < 0)
			break;
		rc = take_line(e, w, bytes_of(line, (size_t)len), path, a, err);
	}
	/* getline sets neither ferror nor feof if memory runs out */
	if (rc == RC_OK && (ferror(f) || (len < 0 && !feof(f))))
		rc = error_set(err, RC_IO, "%s: %s", path, strerror(errno));
	free(line);
	return rc;
}

static bool take_bytes(void *f, const void *ptr, size_t n)
{
	return fwrite(ptr, 1, n, f) == n;
}

/* Copy a remote file to a temporary one. */
static int copy_lines(FILE *f, const char *uri, struct error *err)
{
	struct storage *s;
	struct storage_info info;
	int rc = storage_open(&s, uri, NULL, err);

	if (rc)
		return rc;
	rc = storage_stat(s, storage_path(s), &info, err);
	if (rc == RC_OK)
		rc = storage_pass(s, storage_path(s), &info, 0, take_bytes, f, err);
	if (rc == RC_END || (rc == RC_OK && fflush(f)))
		rc = error_errno(err, "cannot copy %s", uri);
	rewind(f);
	storage_close(s);
	return rc;
}

static int open_lines(FILE **f, const char *path, struct error *err)
{
	bool remote = storage_is_remote(path);
	int rc;

	*f = remote ? tmpfile() : fopen(path, "re");
	if (!*f)
		return error_set(err, RC_IO, "%s: %s", path, strerror(errno));
	rc = remote ? copy_lines(*f, path, err) : RC_OK;
	if (rc)
		fclose(*f);
	return rc;
}

int examples_read(struct examples *e, const char *dir, const struct manifest *m, struct arena *a,
		  struct error *err)
{
	struct wanted w = {.m = m, .missing = m->nreasons};

	*e = (struct examples){0};
	if (!m->nreasons)
		return RC_OK;
	e->item = arena_alloc(a, m->nreasons * EXAMPLES_A_REASON * sizeof *e->item);
	w.seen = arena_alloc(a, m->nreasons * sizeof *w.seen);
	memset(w.seen, 0, m->nreasons * sizeof *w.seen);
	char *name = manifest_rejects_path(m), *path = mem_format("%s/%s", dir, name);
	FILE *f;
	int rc = open_lines(&f, path, err);
	if (rc == RC_OK) {
		rc = read_lines(e, &w, f, path, a, err);
		fclose(f);
	}
	mem_free(path);
	mem_free(name);
	return rc;
}
