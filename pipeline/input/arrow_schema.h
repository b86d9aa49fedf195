/*
 * arrow_schema.h - the schema of an Arrow IPC stream, and how the job's fields bind to it
 *
 * Arrow columnar format 1.5 (format/Schema.fbs, Message.fbs).
 */
#ifndef SALTMILL_SOURCE_ARROW_SCHEMA_H
#define SALTMILL_SOURCE_ARROW_SCHEMA_H

#include "error.h"
#include "flat.h"
#include "mem.h"
#include "typed.h"

/* The numbers of the union Type in Schema.fbs. */
enum arrow_kind {
	ARROW_NULL = 1,
	ARROW_INT,
	ARROW_FLOAT,
	ARROW_BINARY,
	ARROW_UTF8,
	ARROW_BOOL,
	ARROW_DECIMAL,
	ARROW_DATE,
	ARROW_TIME,
	ARROW_TIMESTAMP,
	ARROW_INTERVAL,
	ARROW_LIST,
	ARROW_STRUCT,
	ARROW_UNION,
	ARROW_FIXED_BINARY,
	ARROW_FIXED_LIST,
	ARROW_MAP,
	ARROW_DURATION,
	ARROW_LARGE_BINARY,
	ARROW_LARGE_UTF8,
	ARROW_LARGE_LIST,
	ARROW_RUN_END,
	ARROW_BINARY_VIEW,
	ARROW_UTF8_VIEW,
	ARROW_LIST_VIEW,
	ARROW_LARGE_LIST_VIEW,
	ARROW_KINDS
};

struct arrow_type {
	enum arrow_kind kind;
	size_t bytes;	/* bytes of a value with a fixed width; bits for a bool */
	bool is_signed; /* ARROW_INT */
	bool local;	/* ARROW_TIMESTAMP without a zone */
	int scale;	/* ARROW_DECIMAL */
	/* units per second of ARROW_TIME and ARROW_TIMESTAMP; for ARROW_DATE, 0 means days */
	int64_t parts;
	/* buffers in a record batch, without those of children and the data of views */
	unsigned nbuffers;
};

/* A field of the schema or of a struct in it. */
struct arrow_field {
	struct bytes name;
	struct arrow_type type; /* type of its values */
	bool encoded;		/* true if values are indexes into a dictionary */
	int64_t dictionary;	/* id of the dictionary */
	struct arrow_type index;
	size_t parent; /* index of the struct that contains the field, or NO_PARENT */
	size_t first, nchildren;
};
#define NO_PARENT SIZE_MAX

struct arrow_schema {
	/* all fields in the order of record batches, so a parent comes before its children */
	struct arrow_field *field;
	size_t nfields, ntop;
	/* the fields to which the columns bind */
	struct arrow_want {
		size_t field;
		enum typed_as as;
	} * want;
	size_t nwant;
};

/* Read a Schema of Message.fbs. Return RC_DATA if `header` is not a schema. */
int arrow_schema_read(struct arrow_schema *out, struct arena *a, const struct flat_table *header,
		      struct error *err);
/*
 * Bind the job's columns. Return RC_CONFIG if a column is missing, if saltmill cannot read the
 * column's type, or if the field expects another type.
 */
int arrow_schema_bind(struct arrow_schema *s, struct arena *a, const struct typed_columns *columns,
		      struct error *err);
bool arrow_readable(const struct arrow_field *f);
const char *arrow_kind_name(enum arrow_kind kind);

#endif
