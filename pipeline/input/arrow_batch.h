/*
 * arrow_batch.h - the columns of an Arrow record batch, as arrays whose bounds were checked
 */
#ifndef SALTMILL_SOURCE_ARROW_BATCH_H
#define SALTMILL_SOURCE_ARROW_BATCH_H

#include <stdatomic.h>

#include "arrow_schema.h"
#include "block_codec.h"
#include "event.h"

#define ARROW_MOST_VIEWS 4096 /* buffers of one array of views */

struct arrow_dictionary;

/* Values of one type; borrowed from the batch or from what it was unpacked to. */
struct arrow_array {
	const struct arrow_type *type;
	uint64_t n;
	const uint8_t *valid;	    /* bits; NULL: there is no null */
	struct bytes data, offsets; /* of binary and utf8: offsets; of views: the views are data */
	struct bytes *views;	    /* their data */
	size_t nviews;
	const struct arrow_dictionary *dictionary; /* data are numbers in it */
	const uint8_t **above;			   /* validity of the structs around it */
	size_t nabove;
};

/* Values of a dictionary; a part more by each delta.  Several batches share it. */
struct arrow_dictionary {
	int64_t id;
	_Atomic unsigned users;
	struct arrow_dictionary *before; /* the parts in front of this one; NULL: none */
	uint64_t first;			 /* number of its first value */
	struct arrow_array values;
	struct buf *owned; /* what values borrows from */
	size_t nowned;
	struct arena arena;
};

/* All dictionaries that a record batch may use, by their schema's fields. */
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
	uint64_t bytes; /* of it all */
};
/*
 * The message at the start of have.  RC_END: have does not hold all of it (bytes says how many
 * there must be, 0: not even that is known).  RC_DATA: it is none.  Do not copy it: header points
 * into it.
 */
int arrow_message_read(struct arrow_message *m, struct bytes have, struct error *err);

/* What a thread needs to unpack batches; its buffers serve one batch after the other. */
struct arrow_unpacker {
	struct block_unpacker *codec;
	struct buf *room;
	size_t nroom, used;
	uint64_t most, left; /* bytes unpacked of one batch */
};

/*
 * The arrays of the wanted columns, in the arena; batch is Message.fbs's RecordBatch.  RC_DATA,
 * RC_LIMIT: the sentence says what is wrong.
 */
int arrow_batch_open(struct arrow_array *arrays, uint64_t *rows, const struct arrow_schema *schema,
		     const struct flat_table *batch, struct bytes body,
		     const struct arrow_dictionaries *dictionaries, struct arrow_unpacker *u,
		     struct arena *a, struct error *err);
/* The same of a dictionary's one column. */
int arrow_values_open(struct arrow_array *array, const struct arrow_type *type,
		      const struct flat_table *batch, struct bytes body, struct arrow_unpacker *u,
		      struct arena *a, struct error *err);

/*
 * Texts of rows [from, from + n), the k-th in columns[k * stride]; text: SPELL_BYTES of room each.
 * NULL: fine; else what is wrong.
 */
const char *arrow_texts(const struct arrow_array *array, enum typed_as as, uint64_t from, size_t n,
			struct column *columns, size_t stride, uint8_t *text);
/* The numbers that have those texts, if all are digits alone; false: some may be no such number. */
bool arrow_numbers(const struct arrow_array *array, enum typed_as as, uint64_t from, size_t n,
		   uint64_t *numbers);
/* Those texts, if they are usual and short ones of numbers; false: some may not be. */
bool arrow_shorts(const struct arrow_array *array, uint64_t from, size_t n, struct short_text *to);
/* No value of it can be damaged. */
bool arrow_always_sound(const struct arrow_array *array);

#endif
