/*
 * avro.h - the values at given paths of Avro's binary records
 *
 *   avro_schema_read, avro_plan_new; avro_decoder_new (one a thread), avro_decode*,
 *   avro_decoder_free
 *
 * Paths are those of JSON (json.h): a record's field and a map's key by name, an array's item by
 * index.  Of a union it is whichever branch is there.
 */
#ifndef SALTMILL_SOURCE_AVRO_H
#define SALTMILL_SOURCE_AVRO_H

#include "avro_schema.h"
#include "event.h"
#include "json_paths.h"
#include "typed.h"

/* What is wanted of a value of one type. */
struct avro_plan {
	const struct avro_type *type;
	size_t column;		 /* NO_COLUMN: only on the way */
	enum typed_as as;	 /* column */
	struct avro_plan **part; /* by field or branch; NULL: nothing is wanted there */
	struct avro_wanted {	 /* of a map by key, of an array by index */
		struct bytes key;
		size_t index;
		const struct avro_plan *plan;
	} * wanted;
	size_t nwanted;
};

/*
 * *out lives in the arena; the schema and the paths must outlive it.  RC_CONFIG: the schema has not
 * what a field asks for, or not so typed; the sentence does not name the file.
 */
int avro_plan_new(const struct avro_plan **out, struct arena *a, const struct avro_type *schema,
		  const struct typed_columns *columns, struct error *err);

struct avro_decoder;
struct avro_decoder *avro_decoder_new(size_t ncolumns);
void avro_decoder_free(struct avro_decoder *d);
/*
 * The columns of the value at the start of data, and how many bytes it took.  Borrowed from data,
 * behind which EVENT_ROOM_BYTES may be read, and from d until the next call; arrays, maps and
 * records as JSON.  NULL: fine; else what is wrong with data.
 */
const char *avro_decode(struct avro_decoder *d, const struct avro_plan *plan, struct bytes data,
			const struct column **columns, size_t *took);

#endif
