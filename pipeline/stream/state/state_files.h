/* state_files.h - the JSON files of a state; each write replaces the whole file */
#ifndef SALTMILL_STATE_FILES_H
#define SALTMILL_STATE_FILES_H

#include "mem.h"
#include "state.h"

/*
 * Write a load's record. `crash` names the step of crash_at between write and rename, or is NULL.
 */
int load_write(const char *path, const struct state_load *l, const char *crash, struct error *err);
int load_read(const char *path, struct state_load *l, struct arena *a, struct error *err);
int topics_write(const char *path, const struct state_topics *t, struct error *err);
int topics_read(const char *path, struct state_topics *t, struct arena *a, struct error *err);
/* Write topic.json for one topic. */
int topic_write(const char *path, const struct state_topic *t, struct error *err);
int topic_read(const char *path, struct state_topic *t, struct arena *a, struct error *err);
int note_write(const char *path, const struct state_note *n, struct error *err);
int note_read(const char *path, struct state_note *n, struct error *err);
int applying_write(const char *path, const struct state_applying *n, struct error *err);
int applying_read(const char *path, struct state_applying *n, struct error *err);

/*
 * Sync the name of a state's folder, even if an earlier run made the folder, because that run may
 * have died before its sync. `made` is true if this run made the folder. If `made` is false and the
 * parent is not readable, assume that the earlier run synced the name.
 */
int state_keep_folder(const char *dir, bool made, struct error *err);

#endif
