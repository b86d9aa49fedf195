/*
 * message_columns.h - turn a Kafka message into an event's columns, by the job's format
 *
 *   decoding_new; decoder_new (one per thread), decoder_run*, decoder_free; decoding_free
 */
#ifndef SALTMILL_MESSAGE_COLUMNS_H
#define SALTMILL_MESSAGE_COLUMNS_H

#include "error.h"
#include "event.h"
#include "job.h"
#include "json.h"

/* The columns that the fields need, and their sources. Immutable, so threads may share it. */
struct decoding;
/*
 * Plan how to decode messages. Return RC_CONFIG if a field needs a column that messages do not
 * have.
 */
int decoding_new(struct decoding **out, const struct job *job, struct error *err);
void decoding_free(struct decoding *d);
const char *const *decoding_columns(const struct decoding *d, size_t *n);
/* Return the compiled paths among the columns, or NULL if the format has none. */
const struct json_paths *decoding_paths(const struct decoding *d);
/* Return true if a column is a header. */
bool decoding_headers(const struct decoding *d);

struct decoder;
struct decoder *decoder_new(const struct decoding *d);
void decoder_free(struct decoder *d);
/*
 * Decode a message. After RC_OK, `*columns` are those of decoding_columns, valid until the next
 * call and as long as the message. Return RC_DATA with `*why` if the value does not match the
 * format. Return another code if the schema registry does not answer.
 */
int decoder_run(struct decoder *d, const struct message *m, const struct column **columns,
		struct reject *why, struct error *err);

/* Get the list of `explode` in the message of the last decoder_run, which returned RC_OK. */
struct json_list decoder_items(const struct decoder *d);
/*
 * Set the columns of that decoder_run to the next item of the list, and `*item` to its text. Return
 * false after the last item.
 */
bool decoder_next(struct decoder *d, struct json_list *items, struct bytes *item);

#endif
