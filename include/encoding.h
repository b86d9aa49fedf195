/*
 * encoding.h - what a field's value is, and how each encoding lays one down as bytes and reads it
 * back
 *
 * Implemented in pipeline/model/encoding.  `encodings` is the one table: job/ refuses by it what does not
 * fit, key/ lays down and reads back row keys and qualifiers by it, row/ cell values.
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
	FIELD_HEX,   /* hex digits in the input, bytes inside */
	FIELD_U32,
	FIELD_U64,
	FIELD_I64,
	FIELD_F64,
	FIELD_BOOL, /* true/false, t/f, yes/no, 1/0 in any case */
	FIELD_TIME,
	FIELD_DECIMAL, /* counted in units of its last digit; the text has all digits of its scale
			*/
	FIELD_UUID,    /* 8-4-4-4-12 hex digits in the input, 16 bytes inside */
	FIELD_IP,  /* an IPv4 or IPv6 address; 16 bytes inside, of IPv4 those of ::ffff:a.b.c.d */
	FIELD_CODE /* one of the names of struct codes; its code inside */
};
#define FIELD_TYPES (FIELD_CODE + 1)
/* As the job file spells it. */
const char *field_type_name(enum field_type t);

/* The value is in `bytes`. */
static inline bool field_has_bytes(enum field_type t)
{
	return t == FIELD_HEX || t == FIELD_UUID || t == FIELD_IP;
}

/*
 * A typed value; which member of the union counts follows from the field's type.  32 bytes, so
 * that its address is a shift away from its number.
 */
struct value {
	struct bytes text; /* as it came; joined columns: the joined text; ptr NULL: null */
	union {
		struct {
			uint64_t u; /* integers (two's complement), codes, time in ms, bool as FF or
				       00 */
			uint32_t micros; /* time: of its millisecond, 0..999 */
		};
		double f;
		struct bytes bytes; /* field_has_bytes: decoded */
	};
};

/* How a value is laid down in a key, a qualifier or a cell value. */
enum encode_as {
	AS_TEXT,     /* the field's text as it came */
	AS_BYTES,    /* the field's bytes (hex decoded) */
	AS_REVERSED, /* the text, filled up to its width, backwards by bytes; ASCII only */
	AS_U8,
	AS_U16,
	AS_U32,
	AS_U64, /* big-endian */
	AS_I32,
	AS_I64, /* key and qualifier: sign bit flipped, so that order is kept; value: Bytes.toBytes
		 */
	AS_F32,
	AS_F64,	   /* the same for IEEE numbers */
	AS_BOOL,   /* FF or 00 (Bytes.toBytes(boolean)) */
	AS_MILLIS, /* 8 bytes big-endian; order kept in keys (sign bit flipped) only if negative
		      times are in use: never here, times before 1970 are refused in keys */
	AS_REVERSED_MILLIS,  /* Long.MAX_VALUE - ms, 8 bytes big-endian */
	AS_REVERSED_SECONDS, /* the same of whole seconds, */
	AS_REVERSED_MICROS,  /* and of microseconds */
	/* the bytes of the rising encoding in keys, each of them XOR FF: the order is reversed */
	AS_DESCENDING_U8,
	AS_DESCENDING_U16,
	AS_DESCENDING_U32,
	AS_DESCENDING_U64,
	AS_DESCENDING_I32,
	AS_DESCENDING_I64,
	AS_DESCENDING_TEXT, /* filled up to its width first, or ended by FF: Phoenix's DESC */
	AS_YEAR,	    /* of a local time, as digits: 4, and 2 of the others */
	AS_MONTH,
	AS_DAY,
	AS_HOUR,
	AS_UUID, /* 16 bytes, in the order of the digits */
	AS_IPV4, /* 4 bytes, network order */
	AS_IPV6	 /* 16 bytes, an IPv4 address as ::ffff:a.b.c.d (RFC 4291, 2.5.5.2) */
};
#define ENCODINGS (AS_IPV6 + 1)

/* How bytes are made of a value and a value of bytes. */
enum layout_kind {
	LAY_NUMBER,
	LAY_F64,
	LAY_F32,
	LAY_TEXT,
	LAY_BYTES,
	LAY_REVERSED,
	LAY_DATE,  /* parts of a date */
	LAY_TIME,  /* in another unit than milliseconds */
	LAY_FIXED, /* the last bytes of `bytes` */
};

/* LAY_NUMBER: which numbers it takes. */
enum number_range {
	RANGE_UNSIGNED,
	RANGE_SIGNED,
	RANGE_BOOL,
	RANGE_TIME,	     /* from 1970 on in keys */
	RANGE_TIME_REVERSED, /* from 1970 on */
};

/* The order of the bytes in a key, measured by that of the values. */
enum key_order { ORDER_NONE, ORDER_RISING, ORDER_FALLING };

struct encoding {
	const char *name;
	uint32_t width;	  /* bytes, 0: as many as the text has, or as the part says */
	unsigned types;	  /* 1 << enum field_type of those that it takes */
	const char *need; /* a type to declare for it */
	enum layout_kind kind;
	enum number_range range;
	enum key_order order;
};
extern const struct encoding encodings[ENCODINGS]; /* by enum encode_as */

static inline bool encoding_fits(enum encode_as as, enum field_type t)
{
	return encodings[as].types >> t & 1;
}

/* Each value of the type has bytes of its own; else several share them. */
bool encoding_keeps(enum encode_as as, enum field_type t);
/* What a key stores when `as` is not given. */
enum encode_as encoding_natural(enum field_type t);

#define NO_TERMINATOR (-1)

/*
 * How the values of one field are laid down in one place.
 *
 * LAY_NUMBER: value u is in range if u - bias <= span (unsigned), and is stored as the low width
 * bytes of u ^ flip, big-endian.  One form serves all integers, bool, millis (flip 0) and
 * reversed millis (flip Long.MAX_VALUE, as MAX - ms == MAX ^ ms for ms >= 0).
 */
struct layout {
	enum layout_kind kind;
	uint32_t width; /* bytes laid down; 0: as long as the value */
	size_t slot;	/* of the value, where the owner of the layout keeps its values */
	uint64_t bias, span, flip;
	bool ordered; /* as in keys: memcmp order is numeric order */
	enum field_type from;
	enum encode_as as;
	int terminator;
	const struct zone *zone; /* LAY_DATE; NULL: UTC */
	unsigned date;		 /* LAY_DATE: which parts, DATE_YEAR | … (date.h) */
	uint8_t invert; /* LAY_TEXT, LAY_BYTES: what each byte is XORed with, the terminator not */
	uint8_t pad;
	bool pad_left;	   /* in front of the text, before it is reversed */
	const char *name;  /* of the field, for messages */
	const char *title; /* the same, of a date's part with its own: created.year */
};

/* Without padding and terminator; the encoding must fit the type.  key: as in keys. */
struct layout layout_of(const char *name, enum field_type t, enum encode_as as, bool key);
/* Append a value without the terminator.  RC_DATA: it does not go there; out keeps what it has. */
int layout_put(const struct layout *l, const struct value *v, struct buf *out, struct reject *why);
/*
 * The value of these bytes, which end in front of the terminator.  What the encoding keeps is what
 * comes back: of text (whatever the type) v->text, without the padding; otherwise the typed member,
 * and v->text is null; of a date's part its number is v->u.  Both borrow from in or from the arena.
 * RC_DATA: no value of the field is laid down like this.
 */
int layout_take(const struct layout *l, struct bytes in, struct arena *a, struct value *v,
		struct error *err);
/* Append milliseconds since 1970 as 2012-09-01T16:00:00.000Z. */
void millis_text(int64_t ms, struct buf *out);
/* The same of a time; of microseconds where it has some. */
void time_text(const struct value *v, struct buf *out);
/* Append 16 bytes as people write them; of an address those of struct value. */
void uuid_text(struct bytes b, struct buf *out);
void ip_text(struct bytes b, struct buf *out);
/* Append a value that was taken, as people read it: digits, times as ISO 8601, text with \xHH. */
void layout_text(const struct layout *l, const struct value *v, struct buf *out);

/*
 * --- names and the numbers that stand for them
 *
 * Implemented in pipeline/model/encoding.  Filled by job/, then any thread may look names up.
 */

struct codes {
	struct code {
		struct bytes name;
		uint32_t code;
	} * by_name, *by_code;
	size_t n, room;
};

/* name lives as long as the arena. */
void codes_add(struct codes *c, struct arena *a, struct bytes name, uint32_t code);
/*
 * After the last one.  false: twice tells of a name or a code that stands there twice, by the
 * second's name; codes_find must not be called then.
 */
bool codes_sort(struct codes *c, struct arena *a, struct code *twice, bool *same_name);
/* false: there is none. */
bool codes_find(const struct codes *c, struct bytes name, uint32_t *code);
/* ptr NULL: there is none. */
struct bytes codes_name(const struct codes *c, uint32_t code);

/*
 * --- the parts of a date as digits: what layouts of LAY_DATE lay down, and the composites
 * that key/ asks of
 *
 * Implemented in pipeline/model/encoding.
 */

#define DATE_YEAR  1u /* 4 digits */
#define DATE_MONTH 2u /* 2 digits each */
#define DATE_DAY   4u
#define DATE_HOUR  8u
#define DATE_BYTES 10 /* of all */

/* These parts of a local time, one behind the other; false: the year has not four digits. */
bool date_put(unsigned parts, int64_t local_s, uint8_t *to);
/* One part; false: no date has it. */
bool date_take(unsigned part, struct bytes in, uint64_t *out);

/*
 * --- the offsets of one zone's clocks from UTC
 *
 * Read by job/, searched by encoding/ (UTC to local) and field/ (local to UTC).
 */

/*
 * Offsets in force from a UTC second on, rising.  The first one is the local mean time of before
 * there were zones.  From 2100 on a zone's rule repeats itself every ZONE_CYCLE_S, 400 years of
 * 20,871 weeks: the spans end behind the first round.
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

/* UTC second to local second; NULL: UTC. */
int64_t zone_local(const struct zone *z, int64_t utc_s);
/*
 * Clocks go back: the least local second of all from utc_s on, and the greatest of all up to it.
 */
int64_t zone_local_least(const struct zone *z, int64_t utc_s);
int64_t zone_local_most(const struct zone *z, int64_t utc_s);

#endif
