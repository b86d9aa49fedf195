/*
 * encoding.h - field types and typed values, and how each encoding turns a value into bytes and
 * back
 *
 *   layout_of, layout_put / layout_take / layout_text     values and their bytes
 *   codes_add*, codes_sort, codes_find / codes_name       names with numbers
 *   date_put, date_take                                   parts of a date
 *   zone_local                                            time zones
 *
 * Implemented in pipeline/model/encoding. `encodings` is the only table of encodings: job/ rejects
 * combinations that do not fit, key/ uses it for row keys and qualifiers, row/ for cell values.
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
	FIELD_TEXT,  /* UTF-8, no NUL */
	FIELD_BYTES, /* any bytes, as they are */
	FIELD_HEX,   /* hex digits in the input, bytes decoded */
	FIELD_U32,
	FIELD_U64,
	FIELD_I64,
	FIELD_F64,
	FIELD_BOOL, /* true/false, t/f, yes/no, 1/0 in any case */
	FIELD_TIME,
	/* an integer in units of its last digit; the text has all digits of its scale */
	FIELD_DECIMAL,
	FIELD_UUID, /* 8-4-4-4-12 hex digits in the input, 16 bytes decoded */
	FIELD_IP,   /* an IPv4 or IPv6 address; 16 bytes decoded, IPv4 as ::ffff:a.b.c.d */
	FIELD_CODE  /* one of the names of struct codes; its code decoded */
};
#define FIELD_TYPES (FIELD_CODE + 1)
/* Return the type's name in the job file. */
const char *field_type_name(enum field_type t);

/* True if the value is in `bytes`. */
static inline bool field_has_bytes(enum field_type t)
{
	return t == FIELD_HEX || t == FIELD_UUID || t == FIELD_IP;
}

/*
 * A typed value. The field's type decides which member of the union is used. The size is 32 bytes,
 * so that an index becomes an address by a shift.
 */
struct value {
	struct bytes text; /* the source text; for joined columns the joined text; ptr NULL: null */
	union {
		struct {
			/* integers (two's complement), codes, time in ms, bool as FF or 00 */
			uint64_t u;
			uint32_t micros; /* time: microseconds of its millisecond, 0..999 */
		};
		double f;
		struct bytes bytes; /* field_has_bytes: decoded */
	};
};

/* How a value is encoded in a key, a qualifier or a cell value. */
enum encode_as {
	AS_TEXT,     /* the field's source text */
	AS_BYTES,    /* the field's bytes (hex decoded) */
	AS_REVERSED, /* the text, padded to its width, with its bytes reversed; ASCII only */
	AS_U8,
	AS_U16,
	AS_U32,
	AS_U64, /* big-endian */
	AS_I32,
	AS_I64, /* key and qualifier: sign bit flipped, to keep the order; value: Bytes.toBytes */
	AS_F32,
	AS_F64,	 /* the same for IEEE numbers */
	AS_BOOL, /* FF or 00 (Bytes.toBytes(boolean)) */
	/* 8 bytes big-endian; keys reject times before 1970, so the sign bit needs no flip */
	AS_MILLIS,
	AS_REVERSED_MILLIS,  /* Long.MAX_VALUE - ms, 8 bytes big-endian */
	AS_REVERSED_SECONDS, /* the same for whole seconds */
	AS_REVERSED_MICROS,  /* the same for microseconds */
	/* the bytes of the rising encoding in keys, each XOR FF, which reverses the order */
	AS_DESCENDING_U8,
	AS_DESCENDING_U16,
	AS_DESCENDING_U32,
	AS_DESCENDING_U64,
	AS_DESCENDING_I32,
	AS_DESCENDING_I64,
	AS_DESCENDING_TEXT, /* padded to its width first, or ended by FF: Phoenix's DESC */
	AS_YEAR,	    /* digits of the local time: 4, and 2 for the others */
	AS_MONTH,
	AS_DAY,
	AS_HOUR,
	AS_UUID, /* 16 bytes, in the order of the digits */
	AS_IPV4, /* 4 bytes, network order */
	AS_IPV6	 /* 16 bytes, an IPv4 address as ::ffff:a.b.c.d (RFC 4291, 2.5.5.2) */
};
#define ENCODINGS (AS_IPV6 + 1)

/* The way in which a value and its bytes are converted. */
enum layout_kind {
	LAY_NUMBER,
	LAY_F64,
	LAY_F32,
	LAY_TEXT,
	LAY_BYTES,
	LAY_REVERSED,
	LAY_DATE,  /* parts of a date */
	LAY_TIME,  /* in a unit other than milliseconds */
	LAY_FIXED, /* the last bytes of `bytes` */
};

/* LAY_NUMBER: the numbers that are accepted. */
enum number_range {
	RANGE_UNSIGNED,
	RANGE_SIGNED,
	RANGE_BOOL,
	RANGE_TIME,	     /* in keys from 1970 on */
	RANGE_TIME_REVERSED, /* from 1970 on */
};

/* The order of the bytes in a key, relative to the order of the values. */
enum key_order { ORDER_NONE, ORDER_RISING, ORDER_FALLING };

struct encoding {
	const char *name;
	uint32_t width;	  /* bytes; 0: as many as the text has, or as the part specifies */
	unsigned types;	  /* a bit (1 << enum field_type) for each type it accepts */
	const char *need; /* for messages: a type that fits */
	enum layout_kind kind;
	enum number_range range;
	enum key_order order;
};
extern const struct encoding encodings[ENCODINGS]; /* by enum encode_as */

static inline bool encoding_fits(enum encode_as as, enum field_type t)
{
	return encodings[as].types >> t & 1;
}

/* True if each value of the type has its own bytes; otherwise several values share bytes. */
bool encoding_keeps(enum encode_as as, enum field_type t);
/* Return the encoding of a key part without `as`. */
enum encode_as encoding_natural(enum field_type t);

#define NO_TERMINATOR (-1)

/*
 * How the values of one field are encoded in one place.
 *
 * LAY_NUMBER: value u is in range if u - bias <= span (unsigned). It is stored as the low width
 * bytes of u ^ flip, big-endian. This one form serves all integers, bool, millis (flip 0) and
 * reversed millis (flip Long.MAX_VALUE, because MAX - ms == MAX ^ ms for ms >= 0).
 */
struct layout {
	enum layout_kind kind;
	uint32_t width; /* bytes written; 0: as long as the value */
	size_t slot;	/* index of the value among the values of the layout's owner */
	uint64_t bias, span, flip;
	bool ordered; /* as in keys: memcmp order is numeric order */
	enum field_type from;
	enum encode_as as;
	int terminator;
	const struct zone *zone; /* LAY_DATE; NULL: UTC */
	unsigned date;		 /* LAY_DATE: the parts, DATE_YEAR | ... */
	uint8_t invert; /* LAY_TEXT, LAY_BYTES: each byte is XORed with it, except the terminator */
	uint8_t pad;
	bool pad_left;	   /* pad before the text, before it is reversed */
	const char *name;  /* field name, for messages */
	const char *title; /* the same; for a date's part with the part's name: created.year */
};

/* Make a layout without padding and terminator. The encoding must fit the type. key: as in keys. */
struct layout layout_of(const char *name, enum field_type t, enum encode_as as, bool key);
/*
 * Append a value without the terminator. RC_DATA: the layout cannot hold the value; out is
 * unchanged.
 */
int layout_put(const struct layout *l, const struct value *v, struct buf *out, struct reject *why);
/*
 * Decode the bytes of one value, which end before the terminator. The result has what the encoding
 * keeps. Text encodings (for any type) set v->text, without the padding. Others set the typed
 * member and leave v->text null; a date's part is a number in v->u. Both borrow from in or from the
 * arena. RC_DATA: no value of the field has these bytes.
 */
int layout_take(const struct layout *l, struct bytes in, struct arena *a, struct value *v,
		struct error *err);
/* Append milliseconds since 1970 as 2012-09-01T16:00:00.000Z. */
void millis_text(int64_t ms, struct buf *out);
/* Append a time in the same form, with microseconds if it has any. */
void time_text(const struct value *v, struct buf *out);
/* Append 16 bytes in the usual text form; an address as in struct value. */
void uuid_text(struct bytes b, struct buf *out);
void ip_text(struct bytes b, struct buf *out);
/* Append a decoded value for people: digits, times as ISO 8601, text with \xHH. */
void layout_text(const struct layout *l, const struct value *v, struct buf *out);

/*
 * --- codes: names and the numbers that stand for them ---
 *
 * Filled by job/; afterwards any thread may look names up.
 */

struct codes {
	struct code {
		struct bytes name;
		uint32_t code;
	} * by_name, *by_code;
	size_t n;
};

/* Add a name; it must live as long as the arena. */
void codes_add(struct codes *c, struct arena *a, struct bytes name, uint32_t code);
/*
 * Sort after the last codes_add. False: a name or code occurs twice; *twice is the second entry,
 * and *same_name tells which. Do not call codes_find then.
 */
bool codes_sort(struct codes *c, struct arena *a, struct code *twice, bool *same_name);
/* Find a name's code; false: unknown name. */
bool codes_find(const struct codes *c, struct bytes name, uint32_t *code);
/* Return a code's name; ptr NULL: unknown code. */
struct bytes codes_name(const struct codes *c, uint32_t code);

/*
 * --- dates: the parts of a date as digits ---
 *
 * Used by layouts of LAY_DATE and by the composite keys of key/.
 */

#define DATE_YEAR  1u /* 4 digits */
#define DATE_MONTH 2u /* 2 digits each */
#define DATE_DAY   4u
#define DATE_HOUR  8u
#define DATE_BYTES 10 /* all parts together */

/*
 * Write these parts of a local time, one after the other. False: the year does not have four
 * digits.
 */
bool date_put(unsigned parts, int64_t local_s, uint8_t *to);
/* Read one part; false: no date has these digits. */
bool date_take(unsigned part, struct bytes in, uint64_t *out);

/*
 * --- zones: the offsets of a time zone from UTC ---
 *
 * Read by job/, searched by encoding/ (UTC to local) and field/ (local to UTC).
 */

/*
 * A zone's offsets, each valid from a UTC second on, rising. The first is the local mean time from
 * before time zones existed. From 2100 on a zone's rule repeats every ZONE_CYCLE_S, 400 years of
 * 20,871 weeks; the spans end after the first cycle.
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

/* Convert a UTC second to a local second; z NULL: UTC. */
int64_t zone_local(const struct zone *z, int64_t utc_s);
/*
 * When clocks go back, local seconds repeat. Return the least local second of all moments from
 * utc_s on, and the greatest of all moments up to it.
 */
int64_t zone_local_least(const struct zone *z, int64_t utc_s);
int64_t zone_local_most(const struct zone *z, int64_t utc_s);

#endif
