/* arrow_batch.h - the columns of an Arrow record batch, as arrays with checked bounds */
#ifndef SALTMILL_SOURCE_ARROW_BATCH_H
#define SALTMILL_SOURCE_ARROW_BATCH_H

#include <stdatomic.h>

#include "arrow_schema.h"
#include "block_codec.h"
#include "event.h"

#define ARROW_MOST_VIEWS 4096 /* data buffers in one array of views */

struct arrow_dictionary;

/* Values of one type, borrowed from the batch or from its decompressed buffers. */
struct arrow_array {
	const struct arrow_type *type;
	uint64_t n;
	const uint8_t *valid; /* validity bits, NULL if no value is null */
	/* `offsets` are for binary and utf8; an array of views has its views in `data` */
	struct bytes data, offsets;
	struct bytes *views; /* the data that views point to */
	size_t nviews;
	const struct arrow_dictionary *dictionary; /* if set, `data` has indexes into it */
	const uint8_t **above;			   /* validity bits of the enclosing structs */
	size_t nabove;
};

/* Values of a dictionary. Each delta batch adds a part. Several batches share the values. */
struct arrow_dictionary {
	int64_t id;
	_Atomic unsigned users;
	struct arrow_dictionary *before; /* the earlier parts, NULL if none */
	uint64_t first;			 /* index of the part's first value */
	struct arrow_array values;
	struct buf *owned; /* memory that `values` borrows */
	size_t nowned;
	struct arena arena;
};

/* All dictionaries that a record batch may use, in the order of the schema's fields. */
struct arrow_dictionaries {
	struct arrow_dictionary **item;
	size_t n;
};

/* An encapsulated message. */
struct arrow_message {
	enum { MESSAGE_END, MESSAGE_SCHEMA, MESSAGE_DICTIONARY, MESSAGE_BATCH } kind;
	struct flat flat;
	struct flat_table header;
	struct bytes body;
	uint64_t bytes; /* length of the whole message */
};
/*
 * Read the message at the start of `have`. Return RC_END if `have` contains only a part of the
 * message. `m->bytes` is then the length of the message, or 0 if the length is unknown. Return
 * RC_DATA if `have` does not start with a message. Do not copy `*m`, because `m->header` points
 * into `*m`.
 */
int arrow_message_read(struct arrow_message *m, struct bytes have, struct error *err);

/* The memory that a thread needs to decompress batches. Each batch reuses the buffers. */
struct arrow_unpacker {
	struct block_unpacker *codec;
	struct buf *room;
	size_t nroom, used;
	uint64_t most, left; /* limit of decompressed bytes in one batch, and the unused rest */
};

/*
 * Open the arrays of the wanted columns. The arena owns them. `batch` is a RecordBatch of
 * Message.fbs. Return RC_DATA if the batch is damaged, or RC_LIMIT if it is too large.
 */
int arrow_batch_open(struct arrow_array *arrays, uint64_t *rows, const struct arrow_schema *schema,
		     const struct flat_table *batch, struct bytes body,
		     const struct arrow_dictionaries *dictionaries, struct arrow_unpacker *u,
		     struct arena *a, struct error *err);
/* Open the single column of a dictionary in the same way. */
int arrow_values_open(struct arrow_array *array, const struct arrow_type *type,
		      const struct flat_table *batch, struct bytes body, struct arrow_unpacker *u,
		      struct arena *a, struct error *err);

/*
 * Write rows [`from`, `from` + `n`) as text. The k-th row goes to `columns[k * stride]`. `text` has
 * SPELL_BYTES for each row. Return NULL, or the fault.
 */
const char *arrow_texts(const struct arrow_array *array, enum typed_as as, uint64_t from, size_t n,
			struct column *columns, size_t stride, uint8_t *text);
/*
 * Write the rows of arrow_texts as numbers, if every text consists of digits only. If arrow_numbers
 * returns false, use arrow_texts.
 */
bool arrow_numbers(const struct arrow_array *array, enum typed_as as, uint64_t from, size_t n,
		   uint64_t *numbers);
/*
 * Write the rows of arrow_texts as short texts of numbers. If arrow_shorts returns false, use
 * arrow_texts.
 */
bool arrow_shorts(const struct arrow_array *array, uint64_t from, size_t n, struct short_text *to);
/* Return true if every value of the type is valid, so that no value needs a check. */
bool arrow_always_sound(const struct arrow_array *array);

#endif
