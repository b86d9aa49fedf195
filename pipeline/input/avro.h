/*
 * avro.h - read the values at given paths of Avro's binary records
 *
 *   avro_schema_read, avro_plan_new; avro_decoder_new (one per thread), avro_decode*,
 *   avro_decoder_free
 *
 * The paths are those of json.h, with record fields and map keys by name and array items by index.
 * A path passes through a union into the present branch.
 */
#ifndef SALTMILL_SOURCE_AVRO_H
#define SALTMILL_SOURCE_AVRO_H

#include "avro_schema.h"
#include "event.h"
#include "json_paths.h"
#include "typed.h"

/* The answer of avro_decode for an event that takes too many steps. */
extern const char avro_too_costly[];

/* The parts to read from a value of one type. */
struct avro_plan {
	const struct avro_type *type;
	size_t column;		 /* NO_COLUMN if the value is only a step of a path */
	enum typed_as as;	 /* the form of the column */
	struct avro_plan **part; /* part for each field or branch, NULL to skip it */
	struct avro_wanted {	 /* map items by key, array items by index */
		struct bytes key;
		size_t index;
		const struct avro_plan *plan;
	} * wanted;
	size_t nwanted;
};

/*
 * Plan the decoding. The arena owns `*out`. The schema and the paths must outlive the plan. Return
 * RC_CONFIG if a column is missing, or if its field expects another type. The caller adds the
 * file's name to the error.
 */
int avro_plan_new(const struct avro_plan **out, struct arena *a, const struct avro_type *schema,
		  const struct typed_columns *columns, struct error *err);

struct avro_decoder;
struct avro_decoder *avro_decoder_new(size_t ncolumns);
void avro_decoder_free(struct avro_decoder *d);
/*
 * Decode the value at the start of `data` into columns, and set `*took` to the value's length.
 * Arrays, maps and records become JSON. The columns borrow from `data` and, until the next call,
 * from `d`. EVENT_ROOM_BYTES after `data` must be readable. Return NULL, or the fault of the data.
 */
const char *avro_decode(struct avro_decoder *d, const struct avro_plan *plan, struct bytes data,
			const struct column **columns, size_t *took);

#endif
