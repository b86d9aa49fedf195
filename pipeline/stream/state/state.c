/*
 * state.c - the state's life, and the protocol that puts each offset into exactly one load
 *
 * The rename of the load's folder is the commit (stream/loads/README.md 2). A load writes an intent
 * before it reads a message, so after a crash the next run reads exactly the same ranges. Before
 * the rename, the load marks the intent "publishing". If the folder is missing later, the mark
 * shows that a user may have moved the load.
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

int state_keep_folder(const char *dir, bool made, struct error *err)
{
	int rc = io_sync_parent(dir, err);

	return rc && !made && errno == EACCES ? RC_OK : rc;
}

int state_make_folders(struct state *s, struct error *err)
{
	static const char *const names[] = {"loads", "handed", "published"};
	bool there;
	int rc = io_exists(s->dir, &there, err);

	if (rc == RC_OK && !there)
		rc = make_folder(s->dir, err);
	if (rc == RC_OK)
		rc = state_keep_folder(s->dir, !there, err);
	for (size_t i = 0; rc == RC_OK && i < 3; i++) {
		char *path = state_path(s, names[i]);

		rc = make_folder(path, err);
		mem_free(path);
	}
	return rc ? rc : io_sync_dir(s->dir, err);
}

/*
 * Read the intent. If a crash left an intent whose load has a record, remove the intent. A reader
 * has no lock, so the load may end after the reader has seen the file and before it opens the file.
 */
static int read_intent(struct state *s, struct error *err)
{
	char *path = state_path(s, "intent.json");
	struct error unsaid;
	bool there;
	int rc = io_exists(path, &there, err);

	if (rc == RC_OK && there)
		rc = load_read(path, &s->intent, &s->arena, err);
	if (rc && io_exists(path, &there, &unsaid) == RC_OK && !there)
		rc = RC_OK;
	mem_free(path);
	bool recorded = s->intent.name && s->last && strcmp(s->last, s->intent.name) == 0;
	if (rc == RC_OK && recorded)
		s->intent = (struct state_load){0};
	return rc;
}

static int read_topic(struct state *s, struct error *err)
{
	char *path = state_path(s, "topic.json");
	bool there;
	int rc = io_exists(path, &there, err);

	if (rc == RC_OK && there)
		rc = topics_read(path, &s->of, &s->arena, err);
	mem_free(path);
	return rc;
}

static bool is_publishing(const struct state *s)
{
	return s->intent.name && s->intent.phase == STATE_PUBLISHING;
}

/*
 * Sync the folder of the records. A run that died may have renamed a record there without a sync.
 * This run makes decisions by that record, so the record must survive a power loss.
 */
static int keep_records(const struct state *s, struct error *err)
{
	char *loads = state_path(s, "loads");
	int rc = io_sync_dir(loads, err);

	mem_free(loads);
	return rc;
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
	if (rc == RC_OK && is_shared)
		rc = refuse_shared(dir, err);
	if (rc == RC_OK && write)
		rc = state_make_folders(s, err);
	if (rc == RC_OK && write)
		rc = lock_take(&s->lock, dir, err);
	if (rc == RC_OK && write)
		rc = keep_records(s, err);
	if (rc == RC_OK)
		rc = read_topic(s, err); /* topic.json decides how the records name their places */
	if (rc == RC_OK)
		rc = records_read(s, true, err);
	if (rc == RC_OK)
		rc = read_intent(s, err);
	if (rc == RC_OK && write)
		rc = lock_check(&s->lock, dir, records_count(s), is_publishing(s), err);
	if (rc == RC_OK)
		rc = lock_note(&s->lock, records_count(s), is_publishing(s), err);
	if (rc == RC_OK && write)
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
	rc = lock_note(&s->lock, records_count(s), true, err);
	crash_at("publishing");
	return rc;
}

int state_unpublished(struct state *s, struct error *err)
{
	if (s->intent.phase != STATE_PUBLISHING)
		return RC_OK;
	/* as in remove_intent, the lock must never count more than the folder has */
	int rc = lock_note(&s->lock, records_count(s), false, err);
	if (rc)
		return rc;
	s->intent.phase = STATE_READING;
	return write_intent(s, NULL, err);
}

static int remove_intent(struct state *s, struct error *err)
{
	int rc = lock_note(&s->lock, records_count(s), false, err);

	if (rc)
		return rc;
	char *path = state_path(s, "intent.json");
	rc = unlink(path) < 0 && errno != ENOENT ? error_errno(err, "cannot remove %s", path) : 0;
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
	if (rc == RC_OK)
		crash_at(seek ? "position" : "recorded");
	if (rc == RC_OK)
		rc = records_add(s, l, err);
	if (rc == RC_OK)
		rc = lock_note(&s->lock, records_count(s), false, err);
	if (rc == RC_OK)
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
	if (rc == RC_OK)
		rc = remove_intent(s, err);
	if (rc == RC_OK)
		crash_at("intent-removed");
	return rc;
}

int state_drop(struct state *s, struct error *err)
{
	return remove_intent(s, err);
}

/* --- changes by hand --- */

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
		/*
		 * the anchor describes the message before the old position, not the message before
		 * the new one
		 */
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
			"first, or resolve it: `saltmill loads --state %s --published %s` or "
			"`--discard %s`",
			s->dir, s->intent.name, s->intent.dir, s->dir, s->intent.name,
			s->intent.name);
	/* this intent has published nothing, and its ranges begin at the old positions */
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
		return error_set(
			err, RC_CONFIG,
			"%s: found no interrupted load %s; `saltmill status --state DIR` prints "
			"the interrupted load",
			s->dir, name);
	const struct state_result nothing = {0};
	return published ? state_published(s, &nothing, err) : state_drop(s, err);
}

/* --- the note for people --- */

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
