/*
 * decoded_places.h - the state of a decoder of answers (inside pipeline/cli/text only)
 */
#ifndef SALTMILL_DECODED_PLACES_H
#define SALTMILL_DECODED_PLACES_H

#include "decoded.h"
#include "shown.h"

/* A column with a place of its own. */
struct decoded_place {
	struct bytes family, qualifier;
	const struct stored_column *column; /* NULL: the job does not write it */
	struct shown shown;		    /* its value */
};

/* A field of a key whose parts are all as long as the job says. */
struct key_place {
	size_t at;
	struct shown shown;
};

struct decoded {
	struct answer_decoding how;
	enum answer_format format;
	bool line_a_cell;
	struct decoded_place *places; /* by family and qualifier */
	size_t nplaces, next;	      /* next: behind the last cell's */
	struct key_piece *pieces;
	struct key_place *key_places;
	size_t nkey_places, key_bytes;	    /* key_bytes 0: not such a key */
	const struct stored_column *column; /* of the cell */
	struct buf key, name, last, text;   /* of the row; of the cell; of the one before */
	struct buf object;		    /* the row's key as JSON */
	bool begun, listed;		    /* a row; a list of versions */
	struct arena arena, values;
	struct field_scratch scratch;
};

#endif
