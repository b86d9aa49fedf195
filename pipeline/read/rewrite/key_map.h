/* key_map.h - the row key that a row has by another job (inside this folder only) */
#ifndef SALTMILL_KEY_MAP_H
#define SALTMILL_KEY_MAP_H

#include "query.h"
#include "read/field_sources.h"

/* A column of the old table whose newest value the new row key needs. */
struct needed_column {
	size_t family; /* index in the families of the source */
	struct bytes qualifier;
	const struct stored_column *stored;
};

/* How the fields of the old row key become those of the new row key. All threads share it. */
struct key_map {
	const struct rekey_options *o;
	struct field_forms forms; /* of the old job */
	struct key_table from;
	struct stored stored;
	struct field_source *sources; /* by field of the old job */
	struct mapped_field {
		size_t to, from; /* index in the new job, and in the old job */
		size_t column;	 /* index in `columns`, if the source is a value */
	} * fields;		 /* of the new row key */
	size_t nfields;
	struct needed_column *columns;
	size_t ncolumns;
	bool *families; /* the families of `columns` */
	struct arena arena;
};

/*
 * Prepare the map. `families` are those of the source. Returns RC_CONFIG if the old table does not have
 * a value that the new row key needs. Call key_map_close in any case.
 */
int key_map_open(struct key_map *m, const struct rekey_options *o,
		 const struct query_family *families, size_t nfamilies, struct error *err);
void key_map_close(struct key_map *m);

/* The map of one thread. */
struct key_mapper {
	const struct key_map *map;
	struct key_table to;
	struct key_piece *pieces;
	struct value *values; /* by field of the new job */
	struct buf *texts;
	struct field_scratch *read;
	struct newest_value {
		bool has, shown; /* a Put was found; no marker hides it */
		struct buf value;
		int64_t column_ts, version_ts; /* of the last markers of the column */
	} * newest;			       /* of each column of the map */
	int64_t family_ts;		       /* newest DeleteFamily of the current family */
	int64_t *versions; /* times of its DeleteFamilyVersion markers, falling */
	size_t nversions;
	struct arena row;
	struct buf key; /* the new row key */
};
void key_mapper_open(struct key_mapper *m, const struct key_map *map);
void key_mapper_close(struct key_mapper *m);
/* Forget the columns of the last row. */
void key_mapper_begin(struct key_mapper *m);
/* Begin a family of the row. */
void key_mapper_family(struct key_mapper *m);
/* Look at a cell of the row. The cells of a family come in their order. */
void key_mapper_look(struct key_mapper *m, size_t family, const struct cell *c);
/* Set m->key to the new row key of `row`. Returns RC_DATA if the row gives none. */
int key_mapper_build(struct key_mapper *m, struct bytes row, struct error *err);

#endif
