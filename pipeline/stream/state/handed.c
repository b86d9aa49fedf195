/* handed.c - record which loads are in HBase, and the status of the process that applies them */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "io.h"
#include "records.h"
#include "state_files.h"

static struct state_load *find(struct state *s, const char *name)
{
	for (size_t i = 0; i < s->nloads; i++)
		if (strcmp(s->loads[i].name, name) == 0 && s->loads[i].phase != STATE_SEEK)
			return &s->loads[i];
	return NULL;
}

int state_hand_over(struct state *s, const char *name, const char *cluster, struct error *err)
{
	struct state_load *l = find(s, name);
	int rc = l ? RC_OK : state_read_all(s, err);

	if (rc)
		return rc;
	l = l ? l : find(s, name);
	if (!l)
		return error_set(err, RC_CONFIG,
				 "%s: found no load `%s`, expected a load of this state; `saltmill "
				 "loads --state %s` lists the loads",
				 s->dir, name, s->dir);
	/* another process may have marked the load since this one read the state */
	rc = marks_see(s, l, err);
	if (rc || l->handed)
		return rc ? rc : state_keep_marks(s->dir, err);
	struct state_load mark = *l;
	mark.handed_ms = clock_wall_ms();
	mark.handed_to = cluster ? arena_strdup(&s->arena, cluster) : NULL;
	char *path = mark_path(s->dir, name);
	rc = load_write(path, &mark, "mark-temp", err);
	mem_free(path);
	mark.handed = true;
	if (rc == RC_OK)
		*l = mark;
	return rc;
}

int state_mark_of(const char *dir, const char *name, enum state_mark *mark, struct error *err)
{
	struct state_load l;
	struct arena a = {0};
	char *path = mark_path(dir, name);
	int rc = mark_read(path, &l, &a, err);

	*mark = rc ? STATE_UNMARKED : l.handed_to ? STATE_MARKED_BY_FOLLOWER : STATE_MARKED_BY_HAND;
	mem_free(path);
	arena_release(&a);
	return rc == RC_END ? RC_OK : rc;
}

int state_handing(const char *dir, int *fd, struct error *err)
{
	char *path = mem_format("%s/handing", dir);
	int rc = RC_OK;

	*fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (*fd < 0)
		rc = error_errno(err, "cannot lock %s", path);
	else if (flock(*fd, LOCK_EX | LOCK_NB) < 0)
		rc = error_set(err, RC_BUSY,
			       "another process applies the loads of %s; wait for it, or stop it",
			       dir);
	if (rc && *fd >= 0)
		close(*fd);
	mem_free(path);
	return rc;
}

/* --- the note for people --- */

static char *note_path(const char *dir)
{
	return mem_format("%s/applying.json", dir);
}

void state_note_applying(const char *dir, const struct state_applying *note)
{
	struct error ignored;
	char *path = note_path(dir);

	applying_write(path, note, &ignored);
	mem_free(path);
}

bool state_applying(const struct state *s, struct state_applying *note)
{
	struct error ignored;
	char *path = note_path(s->dir);
	bool there = applying_read(path, note, &ignored) == RC_OK;

	mem_free(path);
	for (size_t i = 0; there && i < s->nloads; i++) {
		const struct state_load *l = &s->loads[i];

		if (l->phase != STATE_PUBLISHED || l->handed || strcmp(l->name, note->upto) <= 0)
			continue;
		if (!note->waiting++ || !note->oldest_ms)
			note->oldest_ms = l->published_ms;
	}
	return there;
}

/* --- rebuild --- */

static int is_mark(const struct dirent *e)
{
	return e->d_name[0] != '.' && e->d_name[strspn(e->d_name, "0123456789")] == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/*
 * Read a mark. If the disk or a permission prevents the read, fail, because the mark may be intact.
 */
static int add_mark(struct state *s, struct state_marks *m, const char *name, struct error *err)
{
	struct state_load *l = &m->load[m->n];
	char *path = mark_path(s->dir, name);
	int rc = mark_read(path, l, &s->arena, err);
	bool other = rc == RC_OK && l->name && strcmp(l->name, name) != 0;

	if (rc == RC_DATA || other)
		m->damaged[m->ndamaged++] = mem_format("handed/%s", name);
	else if (rc == RC_OK && l->name)
		m->n++;
	mem_free(path);
	return rc == RC_DATA || rc == RC_END ? RC_OK : rc;
}

int marks_read(struct state *s, struct state_marks *out, struct error *err)
{
	struct dirent **names;
	char *folder = state_path(s, "handed");
	int n = scandir(folder, &names, is_mark, by_name), rc = RC_OK;

	*out = (struct state_marks){0};
	if (n < 0)
		rc = error_errno(err, "cannot read %s", folder);
	out->load = mem_calloc((size_t)(n > 0 ? n : 0) + 1, sizeof *out->load);
	out->damaged = mem_calloc((size_t)(n > 0 ? n : 0) + 1, sizeof *out->damaged);
	for (int i = 0; i < n; i++) {
		if (rc == RC_OK)
			rc = add_mark(s, out, names[i]->d_name, err);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	mem_free(folder);
	return rc;
}

void marks_release(struct state_marks *m)
{
	for (size_t i = 0; i < m->ndamaged; i++)
		mem_free(m->damaged[i]);
	mem_free(m->damaged);
	mem_free(m->load);
	*m = (struct state_marks){0};
}
