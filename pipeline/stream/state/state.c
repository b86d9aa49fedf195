/*
 * state.c - the state's life, and the protocol that puts each offset into exactly one load
 *
 * The rename of the load's folder is the commit (stream/loads/README.md 2). An intent is written
 * before any message is read, so after a crash exactly its ranges are read again. The coming rename
 * is noted before it happens. So if the folder is missing afterwards, saltmill knows whether it may
 * have been published.
 */
#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "run.h"
#include "records.h"
#include "state_files.h"
#include "io.h"

/* --- opening --- */

static int make_folder(const char *path, struct error *err)
{
	if (mkdir(path, 0777) == 0 || errno == EEXIST)
		return RC_OK;
	return error_set(err, RC_CONFIG, "cannot create %s: %s", path, strerror(errno));
}

int state_make_folders(struct state *s, struct error *err)
{
	static const char *const names[] = {"loads", "handed", "published"};
	bool there;
	int rc = io_exists(s->dir, &there, err);

	if (!rc && !there)
		rc = make_folder(s->dir, err);
	if (!rc && !there)
		rc = io_sync_parent(s->dir, err);
	for (size_t i = 0; !rc && i < 3; i++) {
		char *path = state_path(s, names[i]);

		rc = make_folder(path, err);
		mem_free(path);
	}
	return rc ? rc : io_sync_dir(s->dir, err);
}

/* A crash between record and removal leaves an intent whose load is recorded. */
static int read_intent(struct state *s, struct error *err)
{
	char *path = state_path(s, "intent.json");
	bool there;
	int rc = io_exists(path, &there, err);

	if (!rc && there)
		rc = load_read(path, &s->intent, &s->arena, err);
	mem_free(path);
	bool recorded = s->intent.name && s->last && strcmp(s->last, s->intent.name) == 0;
	if (!rc && recorded)
		s->intent = (struct state_load){0};
	return rc;
}

static int read_topic(struct state *s, struct error *err)
{
	char *path = state_path(s, "topic.json");
	bool there;
	int rc = io_exists(path, &there, err);

	if (!rc && there)
		rc = topics_read(path, &s->of, &s->arena, err);
	mem_free(path);
	return rc;
}

static bool is_publishing(const struct state *s)
{
	return s->intent.name && s->intent.phase == STATE_PUBLISHING;
}

static int refuse_shared(const char *dir, struct error *err)
{
	return error_set(err, RC_CONFIG,
			 "%s is shared by the members of a group and contains a state for each "
			 "partition; use it with `saltmill stream` and a job with `share: true`",
			 dir);
}

int state_open(struct state **out, const char *dir, bool write, struct error *err)
{
	struct state *s = mem_calloc(1, sizeof *s);

	s->lock.fd = -1;
	s->dir = mem_strdup(dir);
	bool is_shared = false;
	int rc = write ? shared_is(dir, &is_shared, err) : RC_OK;
	if (!rc && is_shared)
		rc = refuse_shared(dir, err);
	if (!rc && write)
		rc = state_make_folders(s, err);
	if (!rc && write)
		rc = lock_take(&s->lock, dir, err);
	if (!rc)
		rc = read_topic(s, err); /* topic.json says which places the records use */
	if (!rc)
		rc = records_read(s, true, err);
	if (!rc)
		rc = read_intent(s, err);
	if (!rc && write)
		rc = lock_check(&s->lock, dir, records_count(s), is_publishing(s), err);
	if (!rc)
		lock_note(&s->lock, records_count(s), is_publishing(s));
	if (!rc && write)
		records_checkpoint(s);
	if (rc) {
		state_close(s);
		return rc;
	}
	*out = s;
	return RC_OK;
}

void state_close(struct state *s)
{
	if (!s)
		return;
	lock_release(&s->lock);
	mem_free(s->dir);
	mem_free(s->loads);
	mem_free(s->positions);
	arena_release(&s->arena);
	mem_free(s);
}

/* --- one load --- */

const struct state_load *state_intent(const struct state *s)
{
	return s->intent.name ? &s->intent : NULL;
}

const char *state_next_name(struct state *s)
{
	unsigned long long last = s->last ? strtoull(s->last, NULL, 10) : 0;
	return arena_format(&s->arena, "%08llu", last + 1);
}

static int write_intent(struct state *s, const char *crash, struct error *err)
{
	char *path = state_path(s, "intent.json");
	int rc = load_write(path, &s->intent, crash, err);

	mem_free(path);
	return rc;
}

int state_intend(struct state *s, const char *name, const char *dir,
		 const struct offset_range *ranges, size_t n, struct error *err)
{
	s->intent = (struct state_load){.name = arena_strdup(&s->arena, name),
					.dir = arena_strdup(&s->arena, dir),
					.phase = STATE_READING,
					.ranges = records_copy(s, ranges, n),
					.nranges = n};
	int rc = write_intent(s, "intent-temp", err);
	if (rc)
		s->intent = (struct state_load){0};
	else
		crash_at("intent");
	return rc;
}

int state_publishing(struct state *s, struct error *err)
{
	s->intent.phase = STATE_PUBLISHING;
	int rc = write_intent(s, "publishing-temp", err);
	if (rc)
		return rc;
	lock_note(&s->lock, records_count(s), true);
	crash_at("publishing");
	return RC_OK;
}

static int remove_intent(struct state *s, struct error *err)
{
	char *path = state_path(s, "intent.json");

	lock_note(&s->lock, records_count(s), false);
	int rc = unlink(path) < 0 && errno != ENOENT ? error_errno(err, "cannot remove %s", path)
						     : 0;
	mem_free(path);
	s->intent = (struct state_load){0};
	return rc ? rc : io_sync_dir(s->dir, err);
}

static int record(struct state *s, const struct state_load *l, struct error *err)
{
	char *path = mem_format("%s/loads/%s.json", s->dir, l->name);
	bool seek = l->phase == STATE_SEEK;
	int rc = load_write(path, l, seek ? "position-temp" : "record-temp", err);

	mem_free(path);
	if (!rc)
		crash_at(seek ? "position" : "recorded");
	if (!rc)
		rc = records_add(s, l, err);
	if (!rc)
		lock_note(&s->lock, records_count(s), false);
	if (!rc)
		records_checkpoint(s);
	return rc;
}

int state_published(struct state *s, const struct state_result *result, struct error *err)
{
	struct state_load l = s->intent;

	if (result->ranges)
		l.ranges = records_copy(s, result->ranges, l.nranges);
	l.phase = STATE_PUBLISHED;
	l.read = result->read;
	l.rejected = result->rejected;
	l.published_ms = clock_wall_ms();
	l.manifest_known = result->manifest != NULL;
	if (result->manifest)
		memcpy(l.manifest, result->manifest, sizeof l.manifest);
	int rc = record(s, &l, err);
	if (!rc)
		rc = remove_intent(s, err);
	if (!rc)
		crash_at("intent-removed");
	return rc;
}

int state_drop(struct state *s, struct error *err)
{
	return remove_intent(s, err);
}

/* --- by hand --- */

static struct state_load seek_to(struct state *s, const struct offset_range *to, size_t n)
{
	struct state_load l = {.name = state_next_name(s),
			       .dir = "",
			       .phase = STATE_SEEK,
			       .ranges = records_copy(s, to, n),
			       .nranges = n,
			       .published_ms = clock_wall_ms()};

	for (size_t i = 0; i < n; i++) {
		int64_t at;
		bool known = state_position(s, to[i].topic, to[i].partition, &at);

		l.ranges[i].start = known ? at : to[i].end;
		/* the message before the new position was never read, or is known to be wrong */
		l.ranges[i].last = (struct anchor){0};
	}
	return l;
}

int state_seek(struct state *s, const struct offset_range *to, size_t n, struct error *err)
{
	if (s->intent.name && s->intent.phase == STATE_PUBLISHING)
		return error_set(
			err, RC_CONFIG,
			"%s: load %s may be published as %s; run the load or the stream once more "
			"first, or resolve it: `saltmill loads --state %s --published %s` or `--discard %s`",
			s->dir, s->intent.name, s->intent.dir, s->dir, s->intent.name,
			s->intent.name);
	/* an intent that was surely not published would begin at the old positions */
	int rc = s->intent.name ? remove_intent(s, err) : RC_OK;
	if (rc)
		return rc;
	struct state_load l = seek_to(s, to, n);
	return record(s, &l, err);
}

int state_imagine(struct state *s, const struct offset_range *to, size_t n, struct error *err)
{
	struct state_load l = seek_to(s, to, n);

	return records_add(s, &l, err);
}

int state_settle(struct state *s, const char *name, bool published, struct error *err)
{
	if (!s->intent.name || strcmp(s->intent.name, name) != 0)
		return error_set(err, RC_CONFIG, "%s: load %s was not interrupted", s->dir, name);
	const struct state_result nothing = {0};
	return published ? state_published(s, &nothing, err) : state_drop(s, err);
}

/* --- for people --- */

void state_note(struct state *s, const struct state_note *note)
{
	struct error ignored;
	bool parked = note->parked[0];
	int64_t now = clock_ms();

	if (s->noted_ms && now - s->noted_ms < 1000 && parked == s->noted_parked)
		return;
	char *path = state_path(s, "status.json");
	note_write(path, note, &ignored);
	mem_free(path);
	s->noted_ms = now;
	s->noted_parked = parked;
}

bool state_noted(const struct state *s, struct state_note *note)
{
	struct error ignored;
	char *path = state_path(s, "status.json");
	bool there = note_read(path, note, &ignored) == RC_OK;

	mem_free(path);
	return there;
}

bool state_in_use(const struct state *s)
{
	char *path = state_path(s, "lock");
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool used = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0;

	if (fd >= 0)
		close(fd);
	mem_free(path);
	return used;
}
