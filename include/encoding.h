/*
 * encoding.h - field types and typed values, and their encodings as bytes
 *
 *   layout_of, layout_put / layout_take / layout_text     values and their bytes
 *   codes_add*, codes_sort, codes_find / codes_name       names with numbers
 *   date_put, date_take                                   parts of a date
 *   zone_local                                            time zones
 *
 * Implemented in pipeline/model/encoding. `encodings` is the only table of encodings. With this
 * table, job/ rejects invalid combinations, key/ encodes row keys and qualifiers, and row/ encodes
 * cell values.
 */
#ifndef SALTMILL_ENCODING_H
#define SALTMILL_ENCODING_H

#include <stddef.h>
#include <stdint.h>

#include "bytes.h"
#include "error.h"
#include "mem.h"

struct zone;

enum field_type {
	FIELD_TEXT,  /* UTF-8 text without NUL */
	FIELD_BYTES, /* any bytes, unchanged */
	FIELD_HEX,   /* hex digits in the input; bytes when decoded */
	FIELD_U32,
	FIELD_U64,
	FIELD_I64,
	FIELD_F64,
	FIELD_BOOL, /* true/false, t/f, yes/no, 1/0 in any case */
	FIELD_TIME,
	/* integer in units of the last digit; the text has all digits of the scale */
	FIELD_DECIMAL,
	FIELD_UUID, /* 8-4-4-4-12 hex digits in the input; 16 bytes when decoded */
	/* an IPv4 or IPv6 address; 16 bytes when decoded, with IPv4 as ::ffff:a.b.c.d */
	FIELD_IP,
	FIELD_CODE /* a name in struct codes; its number when decoded */
};
#define FIELD_TYPES (FIELD_CODE + 1)
/* Return the name that job files use for the type. */
const char *field_type_name(enum field_type t);

/* Return true if a value of the type is in the member `bytes`. */
static inline bool field_has_bytes(enum field_type t)
{
	return t == FIELD_HEX || t == FIELD_UUID || t == FIELD_IP;
}

/*
 * A typed value. The field's type decides which member of the union has the value. The size is 32
 * bytes, so an array index needs only a shift.
 */
struct value {
	/* text from the source, joined if the field has several columns; `ptr` NULL means null */
	struct bytes text;
	union {
		struct {
			/* integers (two's complement), codes, times in ms, or bool as FF or 00 */
			uint64_t u;
			/* for a time, microseconds after the millisecond, 0..999 */
			uint32_t micros;
			bool finer; /* the text has digits after these that are not 0 */
		};
		double f;
		struct bytes bytes; /* decoded bytes, for types of field_has_bytes */
	};
};

/* The encoding of a value in a key, a qualifier or a cell value. */
enum encode_as {
	AS_TEXT,  /* the field's source text */
	AS_BYTES, /* the field's bytes, decoded from hex */
	/* the text, padded to its width, with its bytes in reverse order; ASCII only */
	AS_REVERSED,
	AS_U8,
	AS_U16,
	AS_U32,
	AS_U64, /* big-endian */
	AS_I32,
	/*
	 * in values as Bytes.toBytes; in keys and qualifiers with the sign bit flipped, to keep the
	 * order
	 */
	AS_I64,
	AS_F32,
	AS_F64,	 /* IEEE number; keys have a changed form that keeps the order */
	AS_BOOL, /* FF or 00 (Bytes.toBytes(boolean)) */
	/* 8 bytes big-endian; keys reject times before 1970, so the sign bit needs no flip */
	AS_MILLIS,
	AS_REVERSED_MILLIS,  /* Long.MAX_VALUE - ms, 8 bytes big-endian */
	AS_REVERSED_SECONDS, /* Long.MAX_VALUE - seconds, 8 bytes big-endian */
	AS_REVERSED_MICROS,  /* Long.MAX_VALUE - microseconds, 8 bytes big-endian */
	/* each byte of the rising encoding XOR FF, which reverses the order */
	AS_DESCENDING_U8,
	AS_DESCENDING_U16,
	AS_DESCENDING_U32,
	AS_DESCENDING_U64,
	AS_DESCENDING_I32,
	AS_DESCENDING_I64,
	/* the text first gets padding to the width, or ends with FF, as in Phoenix's DESC */
	AS_DESCENDING_TEXT,
	AS_YEAR, /* digits of the local time; the year has 4, the other parts 2 */
	AS_MONTH,
	AS_DAY,
	AS_HOUR,
	AS_UUID, /* 16 bytes, in the order of the digits */
	AS_IPV4, /* 4 bytes, network order */
	AS_IPV6	 /* 16 bytes, an IPv4 address as ::ffff:a.b.c.d (RFC 4291, 2.5.5.2) */
};
#define ENCODINGS (AS_IPV6 + 1)

/* The kinds of conversion between a value and its bytes. */
enum layout_kind {
	LAY_NUMBER,
	LAY_F64,
	LAY_F32,
	LAY_TEXT,
	LAY_BYTES,
	LAY_REVERSED,
	LAY_DATE,  /* parts of a date */
	LAY_TIME,  /* a time in a unit other than milliseconds */
	LAY_FIXED, /* takes the last bytes of value.bytes */
};

/* The numbers that a LAY_NUMBER accepts. */
enum number_range {
	RANGE_UNSIGNED,
	RANGE_SIGNED,
	RANGE_BOOL,
	RANGE_TIME,	     /* times; keys accept only times since 1970 */
	RANGE_TIME_REVERSED, /* times since 1970 */
};

/* The order of the bytes in a key, relative to the order of the values. */
enum key_order { ORDER_NONE, ORDER_RISING, ORDER_FALLING };

struct encoding {
	const char *name;
	uint32_t width;	  /* bytes; 0 if the width depends on the text or the part */
	unsigned types;	  /* a bit (1 << enum field_type) for each type that the encoding accepts */
	const char *need; /* a type that fits, for messages */
	enum layout_kind kind;
	enum number_range range;
	enum key_order order;
};
extern const struct encoding encodings[ENCODINGS]; /* by enum encode_as */

static inline bool encoding_fits(enum encode_as as, enum field_type t)
{
	return encodings[as].types >> t & 1;
}

/* Return true if different values of the type always have different bytes. */
bool encoding_keeps(enum encode_as as, enum field_type t);
/* Return the default encoding of a key part without `as`. */
enum encode_as encoding_natural(enum field_type t);

#define NO_TERMINATOR (-1)

/*
 * The encoding of one field's values in one place, such as a key part.
 *
 * For LAY_NUMBER, a value `u` is in range if u - bias <= span (unsigned). The stored bytes are the
 * low `width` bytes of u ^ flip, big-endian. `flip` is 0 for integers, bool and millis. For
 * reversed millis, `flip` is Long.MAX_VALUE, because MAX - ms == MAX ^ ms if ms >= 0.
 */
struct layout {
	enum layout_kind kind;
	uint32_t width; /* bytes written; 0 means the length of the value */
	size_t slot;	/* index of the value among the values of the layout's owner */
	uint64_t bias, span, flip;
	bool ordered; /* the bytes sort in the order of the numbers, as in keys */
	enum field_type from;
	enum encode_as as;
	int terminator;
	const struct zone *zone; /* LAY_DATE; NULL means UTC */
	unsigned date;		 /* LAY_DATE: the parts, DATE_YEAR | ... */
	/* LAY_TEXT, LAY_BYTES: mask for an XOR of each byte except the terminator */
	uint8_t invert;
	uint8_t pad;
	bool pad_left;	  /* pad on the left of the text, before its reversal */
	bool exact;	  /* every value has `width` bytes and needs no padding */
	const char *name; /* field name, for messages */
	/* the field name, with the part's name for a part of a date, such as created.year */
	const char *title;
};

/*
 * Make a layout without padding and terminator. The encoding must fit the type. If `key` is true,
 * the layout has the ordered form of keys.
 */
struct layout layout_of(const char *name, enum field_type t, enum encode_as as, bool key);
/*
 * Append a value without the terminator. Returns RC_DATA and leaves `out` unchanged if the layout
 * cannot hold the value.
 */
int layout_put(const struct layout *l, const struct value *v, struct buf *out, struct reject *why);
/*
 * Decode the bytes of one value, which do not include the terminator. Text encodings (of any type)
 * set v->text, without the padding. Other encodings set the typed member and leave v->text null. A
 * part of a date is a number in v->u. The value borrows from `in` or from the arena. Returns
 * RC_DATA if no value of the field has these bytes.
 */
int layout_take(const struct layout *l, struct bytes in, struct arena *a, struct value *v,
		struct error *err);
/* Append milliseconds since 1970 as 2012-09-01T16:00:00.000Z. */
void millis_text(int64_t ms, struct buf *out);
/* Append a time in the same form, with microseconds if they are not 0. */
void time_text(const struct value *v, struct buf *out);
/* Append the usual text of a UUID or of an IP address, from its 16 bytes as in struct value. */
void uuid_text(struct bytes b, struct buf *out);
void ip_text(struct bytes b, struct buf *out);
/*
 * Append a decoded value as text for people. Times are ISO 8601. Bytes that are not UTF-8 are \xHH.
 */
void layout_text(const struct layout *l, const struct value *v, struct buf *out);

/*
 * --- codes: names and their numbers ---
 *
 * job/ fills the list. After that, any thread may search for names.
 */

struct codes {
	struct code {
		struct bytes name;
		uint32_t code;
	} * by_name, *by_code;
	size_t n;
};

/* Add a name. `name` must live as long as the arena. */
void codes_add(struct codes *c, struct arena *a, struct bytes name, uint32_t code);
/*
 * Sort the list after the last codes_add. Returns false if a name or code occurs twice. *twice is
 * then the second entry, and *same_name is true if both have one name. Do not call codes_find in
 * that case.
 */
bool codes_sort(struct codes *c, struct arena *a, struct code *twice, bool *same_name);
/* Find a name's code. Returns false if the name is unknown. */
bool codes_find(const struct codes *c, struct bytes name, uint32_t *code);
/* Return a code's name. `ptr` is NULL if the code is unknown. */
struct bytes codes_name(const struct codes *c, uint32_t code);

/*
 * --- dates: digits of the parts of a date ---
 *
 * Layouts of LAY_DATE and the composite keys of key/ use these functions.
 */

#define DATE_YEAR  1u /* 4 digits */
#define DATE_MONTH 2u /* 2 digits, as the following parts */
#define DATE_DAY   4u
#define DATE_HOUR  8u
#define DATE_BYTES 10 /* bytes of all parts together */

/*
 * Write these parts of a local time, one after the other. Returns false if the year does not have
 * four digits.
 */
bool date_put(unsigned parts, int64_t local_s, uint8_t *to);
/* Read one part. Returns false if no date has these digits. */
bool date_take(unsigned part, struct bytes in, uint64_t *out);

/*
 * --- zones: offsets of a time zone from UTC ---
 *
 * job/ reads the zones. encoding/ uses them to convert UTC to local time, and field/ to convert
 * local time to UTC.
 */

/*
 * A zone's offsets, in the order of their first UTC seconds. The first offset is the local mean
 * time, from before time zones existed. From 2100 on, a zone's rule repeats every ZONE_CYCLE_S (400
 * years, which are 20,871 weeks). The list ends after the first cycle.
 */
#define ZONE_FIRST_S INT64_C(-5364662400) /* 1800-01-01 */
#define ZONE_LAST_S  INT64_C(16756761600) /* 2501-01-01 */
#define ZONE_CYCLE_S INT64_C(12622780800)
struct zone {
	const char *name;
	struct zone_span {
		int64_t from_s; /* UTC second */
		int32_t offset_s;
	} * spans;
	size_t nspans;
};

/* Convert a UTC second to a local second. If `z` is NULL, the zone is UTC. */
int64_t zone_local(const struct zone *z, int64_t utc_s);
/*
 * When clocks go back, local seconds repeat. zone_local_least returns the least local second of all
 * moments since `utc_s`. zone_local_most returns the greatest local second of all moments up to
 * `utc_s`.
 */
int64_t zone_local_least(const struct zone *z, int64_t utc_s);
int64_t zone_local_most(const struct zone *z, int64_t utc_s);

#endif
