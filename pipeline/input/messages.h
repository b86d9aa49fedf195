/*
 * messages.h - the calls of source.h for Kafka, which read ranges of a topic or a rejects file
 */
#ifndef SALTMILL_SOURCE_MESSAGES_H
#define SALTMILL_SOURCE_MESSAGES_H

#include "source.h"

struct messages;
int messages_open(struct messages **out, const struct source_options *o, struct error *err);
void messages_close(struct messages *m); /* `m` may be NULL */
const char *const *messages_columns(const struct messages *m, size_t *n);
const struct offset_range *messages_ranges(struct messages *m, size_t *n);
/* Return the replayed file, or NULL if the messages come from brokers. */
const struct source_file *messages_files(const struct messages *m, size_t *n);
/* Append the place of an event, as source_place does. */
void messages_place(const struct messages *m, uint64_t seq, struct buf *out);
/* Return the fraction of the messages read so far that belong to the wanted share. */
double messages_share(const struct messages *m);
void messages_progress(const struct messages *m, uint64_t *bytes_done);

struct messages_worker;
struct messages_worker *messages_worker_new(struct messages *m);
void messages_worker_free(struct messages_worker *w);
void messages_worker_counts(const struct messages_worker *w, struct source_counts *counts);
int messages_work(struct messages_worker *w, const struct source_sink *sink, struct error *err);

#endif
