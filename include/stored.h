/*
 * stored.h - stored rows and cells back to the fields of the job that wrote them
 *
 *   stored_open, (stored_find, stored_take)*, stored_release
 *
 * Implemented in pipeline/ask.
 */
#ifndef SALTMILL_STORED_H
#define SALTMILL_STORED_H

#include "cell.h"
#include "field.h"
#include "key.h"

/* One of the table's `cells`. */
struct stored_column {
	const struct cell_spec *spec;
	struct bytes family;
	struct bytes constant;	     /* qualifier, when it is constant */
	struct key_schema qualifier; /* else its parts */
	struct layout value;	     /* of a field */
};

struct stored {
	const struct key_table *keys;
	const struct field_forms *forms;
	struct stored_column *columns; /* in the order of the job */
	size_t ncolumns, max_pieces;   /* of a row key or a qualifier */
	struct arena arena;
};

/* keys and forms are borrowed. */
void stored_open(struct stored *s, const struct key_table *keys, const struct field_forms *forms);
void stored_release(struct stored *s);
/*
 * Which of the job's cells has this place; NULL: none.  Of a computed qualifier pieces are its
 * parts (key_split), of a constant one they are left alone.
 */
const struct stored_column *stored_find(const struct stored *s, struct bytes family,
					struct bytes qualifier, struct key_piece *pieces);
/*
 * The value of these bytes, typed, with v->text not null; it borrows from them, the arena and the
 * scratch.  RC_DATA: no value of the field is laid down like this.
 */
int stored_take(const struct layout *l, const struct field_form *form, struct bytes in,
		struct arena *a, struct field_scratch *scratch, struct value *v, struct error *err);
/*
 * The row key of the table that decides, which a cell of an index table holds; false: it holds
 * none.  pieces as above; *key borrows from the cell.
 */
bool stored_reference(const struct stored *s, const struct cell *c, struct key_piece *pieces,
		      struct bytes *key);

#endif
