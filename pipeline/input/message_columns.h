/*
 * message_columns.h - from a Kafka message to an event's columns, by the job's format
 *
 *   decoding_new; decoder_new (one a thread), decoder_run*, decoder_free; decoding_free
 */
#ifndef SALTMILL_MESSAGE_COLUMNS_H
#define SALTMILL_MESSAGE_COLUMNS_H

#include "error.h"
#include "event.h"
#include "job.h"

struct json_paths; /* json_paths.h */

/* Which columns the fields need and where they come from.  Immutable: any thread. */
struct decoding;
/* RC_CONFIG: a field asks for what messages do not have. */
int decoding_new(struct decoding **out, const struct job *job, struct error *err);
void decoding_free(struct decoding *d);
const char *const *decoding_columns(const struct decoding *d, size_t *n);
/* Those of the columns that are paths, compiled; NULL: the format has none. */
const struct json_paths *decoding_paths(const struct decoding *d);
/* Some column is a header. */
bool decoding_headers(const struct decoding *d);

struct decoder;
struct decoder *decoder_new(const struct decoding *d);
void decoder_free(struct decoder *d);
/*
 * 0: *columns are those of decoding_columns, valid until the next call and as long as the message.
 * RC_DATA: the value is not of the format, *why says how.  Another code: it cannot be said whether
 * it is, because the schema registry does not answer.
 */
int decoder_run(struct decoder *d, const struct message *m, const struct column **columns,
		struct reject *why, struct error *err);

#endif
