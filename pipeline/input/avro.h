/*
 * avro.h - the values at given paths of Avro's binary records
 *
 *   avro_schema_read, avro_plan_new; avro_decoder_new (one per thread), avro_decode*,
 *   avro_decoder_free
 *
 * Paths are those of JSON (json.h): record fields and map keys by name, array items by index. A
 * path passes through a union into the branch that is present.
 */
#ifndef SALTMILL_SOURCE_AVRO_H
#define SALTMILL_SOURCE_AVRO_H

#include "avro_schema.h"
#include "event.h"
#include "json_paths.h"
#include "typed.h"

/* The parts to read from a value of one type. */
struct avro_plan {
	const struct avro_type *type;
	size_t column;		 /* NO_COLUMN: only a step of a path */
	enum typed_as as;	 /* how to write column */
	struct avro_plan **part; /* by field or branch; NULL: skip it */
	struct avro_wanted {	 /* map items by key, array items by index */
		struct bytes key;
		size_t index;
		const struct avro_plan *plan;
	} * wanted;
	size_t nwanted;
};

/*
 * Plan the decoding; *out lives in the arena. The schema and the paths must outlive it. RC_CONFIG:
 * a column is missing or has another type than its field expects; the error does not name the file.
 */
int avro_plan_new(const struct avro_plan **out, struct arena *a, const struct avro_type *schema,
		  const struct typed_columns *columns, struct error *err);

struct avro_decoder;
struct avro_decoder *avro_decoder_new(size_t ncolumns);
void avro_decoder_free(struct avro_decoder *d);
/*
 * Decode the value at the start of data into columns; *took is its length. Arrays, maps and records
 * become JSON. The columns borrow from data and, until the next call, from d; EVENT_ROOM_BYTES
 * after data must be readable. Returns NULL, or what is wrong with data.
 */
const char *avro_decode(struct avro_decoder *d, const struct avro_plan *plan, struct bytes data,
			const struct column **columns, size_t *took);

#endif
