/*
 * state_files.h - the state's files: JSON, replaced as a whole
 */
#ifndef SALTMILL_STATE_FILES_H
#define SALTMILL_STATE_FILES_H

#include "mem.h"
#include "state.h"

/* Write a load's record. crash: a step of crash.h between writing and renaming, or NULL. */
int load_write(const char *path, const struct state_load *l, const char *crash, struct error *err);
int load_read(const char *path, struct state_load *l, struct arena *a, struct error *err);
int topics_write(const char *path, const struct state_topics *t, struct error *err);
int topics_read(const char *path, struct state_topics *t, struct arena *a, struct error *err);
/* Write the record of one topic. */
int topic_write(const char *path, const struct state_topic *t, struct error *err);
int topic_read(const char *path, struct state_topic *t, struct arena *a, struct error *err);
int note_write(const char *path, const struct state_note *n, struct error *err);
int note_read(const char *path, struct state_note *n, struct error *err);
int applying_write(const char *path, const struct state_applying *n, struct error *err);
int applying_read(const char *path, struct state_applying *n, struct error *err);

#endif
