/*
 * decoded_places.h - the state of a decoder of answers (inside pipeline/cli/text only)
 */
#ifndef SALTMILL_DECODED_PLACES_H
#define SALTMILL_DECODED_PLACES_H

#include "decoded.h"
#include "shown.h"

/* A column with a fixed place in the CSV line. */
struct decoded_place {
	struct bytes family, qualifier;
	const struct stored_column *column; /* NULL if the job does not write this column */
	struct shown shown;		    /* value in the current row */
};

/* A field of a key. All parts of the key have a fixed length. */
struct key_place {
	size_t at;
	struct shown shown;
};

struct decoded {
	struct answer_decoding how;
	enum answer_format format;
	bool line_a_cell;
	struct decoded_place *places; /* sorted by family and qualifier */
	size_t nplaces, next;	      /* `next` is the place of the column after the last cell */
	struct key_piece *pieces;
	struct key_place *key_places;
	size_t nkey_places, key_bytes;	    /* bytes of a row key; 0 if the length varies */
	const struct stored_column *column; /* fields of the current cell */
	/* key of the row, name of the column, and key of the previous row */
	struct buf key, name, last, text;
	struct buf object;  /* row key as JSON */
	bool begun, listed; /* whether the JSON of a row, and of a list of versions, has begun */
	struct arena arena, values;
	struct field_scratch scratch;
};

#endif
