/*
 * decoded_places.h - the state of a decoder of answers (inside pipeline/cli/text only)
 */
#ifndef SALTMILL_DECODED_PLACES_H
#define SALTMILL_DECODED_PLACES_H

#include "decoded.h"
#include "shown.h"

/* A column with its own place in the line. */
struct decoded_place {
	struct bytes family, qualifier;
	const struct stored_column *column; /* NULL: the job does not write it */
	struct shown shown;		    /* its value */
};

/* A field of a key whose parts all have a fixed length. */
struct key_place {
	size_t at;
	struct shown shown;
};

struct decoded {
	struct answer_decoding how;
	enum answer_format format;
	bool line_a_cell;
	struct decoded_place *places; /* sorted by family and qualifier */
	size_t nplaces, next;	      /* next: the place after the last cell's */
	struct key_piece *pieces;
	struct key_place *key_places;
	size_t nkey_places, key_bytes;	    /* key_bytes 0: parts vary in length */
	const struct stored_column *column; /* of the current cell */
	/* key: of the row; name: of the column; last: the row before */
	struct buf key, name, last, text;
	struct buf object;  /* the row's key as JSON */
	bool begun, listed; /* a row; a list of versions */
	struct arena arena, values;
	struct field_scratch scratch;
};

#endif
