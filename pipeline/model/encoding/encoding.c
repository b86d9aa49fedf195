/*
 * encoding.c - the table of encodings
 *
 * An encoding may be narrower than the field's type, so layout_put checks each value.
 */
#include "encoding.h"

#define BIT(x)	 (1u << (x))
#define INTEGERS (BIT(FIELD_U32) | BIT(FIELD_U64) | BIT(FIELD_I64))
#define WHOLE	 (INTEGERS | BIT(FIELD_DECIMAL) | BIT(FIELD_CODE))
#define TEXTS	 (BIT(FIELD_TEXT) | BIT(FIELD_BYTES) | BIT(FIELD_HEX))
#define NUMBERS	 (INTEGERS | BIT(FIELD_F64))

#define TEXT(name, types, need, kind, order)                                                       \
	{                                                                                          \
		name, 0, types, need, kind, RANGE_UNSIGNED, order                                  \
	}
#define INTEGER(name, width, need, range)                                                          \
	{                                                                                          \
		name, width, WHOLE, need, LAY_NUMBER, range, ORDER_RISING                          \
	}
#define DESCENDING(name, width, need, range)                                                       \
	{                                                                                          \
		name, width, WHOLE, need, LAY_NUMBER, range, ORDER_FALLING                         \
	}
#define REAL(name, width, kind)                                                                    \
	{                                                                                          \
		name, width, NUMBERS, "f64", kind, RANGE_UNSIGNED, ORDER_RISING                    \
	}
#define TIME(name, kind, range, order)                                                             \
	{                                                                                          \
		name, 8, BIT(FIELD_TIME), "time, unit: s", kind, range, order                      \
	}
#define DATE(name, width)                                                                          \
	{                                                                                          \
		name, width, BIT(FIELD_TIME), "time, unit: s", LAY_DATE, RANGE_TIME, ORDER_NONE    \
	}
#define FIXED(name, width, type, need)                                                             \
	{                                                                                          \
		name, width, BIT(type), need, LAY_FIXED, RANGE_UNSIGNED, ORDER_RISING              \
	}

const struct encoding encodings[ENCODINGS] = {
	[AS_TEXT] = TEXT("text", ~0u, "", LAY_TEXT, ORDER_RISING),
	[AS_BYTES] = TEXT("bytes", TEXTS, "bytes", LAY_BYTES, ORDER_RISING),
	[AS_REVERSED] = TEXT("reversed", BIT(FIELD_TEXT) | BIT(FIELD_U32) | BIT(FIELD_U64), "text",
			     LAY_REVERSED, ORDER_NONE),
	[AS_U8] = INTEGER("u8", 1, "u32", RANGE_UNSIGNED),
	[AS_U16] = INTEGER("u16", 2, "u32", RANGE_UNSIGNED),
	[AS_U32] = INTEGER("u32", 4, "u32", RANGE_UNSIGNED),
	[AS_U64] = INTEGER("u64", 8, "u64", RANGE_UNSIGNED),
	[AS_I32] = INTEGER("i32", 4, "i64", RANGE_SIGNED),
	[AS_I64] = INTEGER("i64", 8, "i64", RANGE_SIGNED),
	[AS_F32] = REAL("f32", 4, LAY_F32),
	[AS_F64] = REAL("f64", 8, LAY_F64),
	[AS_BOOL] = {"bool", 1, BIT(FIELD_BOOL), "bool", LAY_NUMBER, RANGE_BOOL, ORDER_RISING},
	[AS_MILLIS] = TIME("millis", LAY_NUMBER, RANGE_TIME, ORDER_RISING),
	[AS_REVERSED_MILLIS] =
		TIME("reversed_millis", LAY_NUMBER, RANGE_TIME_REVERSED, ORDER_FALLING),
	[AS_REVERSED_SECONDS] =
		TIME("reversed_seconds", LAY_TIME, RANGE_TIME_REVERSED, ORDER_FALLING),
	[AS_REVERSED_MICROS] =
		TIME("reversed_micros", LAY_TIME, RANGE_TIME_REVERSED, ORDER_FALLING),
	[AS_DESCENDING_U8] = DESCENDING("descending_u8", 1, "u32", RANGE_UNSIGNED),
	[AS_DESCENDING_U16] = DESCENDING("descending_u16", 2, "u32", RANGE_UNSIGNED),
	[AS_DESCENDING_U32] = DESCENDING("descending_u32", 4, "u32", RANGE_UNSIGNED),
	[AS_DESCENDING_U64] = DESCENDING("descending_u64", 8, "u64", RANGE_UNSIGNED),
	[AS_DESCENDING_I32] = DESCENDING("descending_i32", 4, "i64", RANGE_SIGNED),
	[AS_DESCENDING_I64] = DESCENDING("descending_i64", 8, "i64", RANGE_SIGNED),
	[AS_DESCENDING_TEXT] =
		TEXT("descending_text",
		     BIT(FIELD_TEXT) | BIT(FIELD_BYTES) | BIT(FIELD_U32) | BIT(FIELD_U64), "text",
		     LAY_TEXT, ORDER_FALLING),
	[AS_YEAR] = DATE("year", 4),
	[AS_MONTH] = DATE("month", 2),
	[AS_DAY] = DATE("day", 2),
	[AS_HOUR] = DATE("hour", 2),
	[AS_UUID] = FIXED("uuid", 16, FIELD_UUID, "uuid"),
	[AS_IPV4] = FIXED("ipv4", 4, FIELD_IP, "ip"),
	[AS_IPV6] = FIXED("ipv6", 16, FIELD_IP, "ip"),
};

static const struct {
	const char *name;
	enum encode_as natural;
} types[] = {
	[FIELD_TEXT] = {"text", AS_TEXT},   [FIELD_BYTES] = {"bytes", AS_BYTES},
	[FIELD_HEX] = {"hex", AS_BYTES},    [FIELD_U32] = {"u32", AS_U32},
	[FIELD_U64] = {"u64", AS_U64},	    [FIELD_I64] = {"i64", AS_I64},
	[FIELD_F64] = {"f64", AS_F64},	    [FIELD_BOOL] = {"bool", AS_BOOL},
	[FIELD_TIME] = {"time", AS_MILLIS}, [FIELD_DECIMAL] = {"decimal", AS_I64},
	[FIELD_UUID] = {"uuid", AS_UUID},   [FIELD_IP] = {"ip", AS_IPV6},
	[FIELD_CODE] = {"code", AS_U32},
};

const char *field_type_name(enum field_type t)
{
	return types[t].name;
}

enum encode_as encoding_natural(enum field_type t)
{
	return types[t].natural;
}

bool encoding_keeps(enum encode_as as, enum field_type t)
{
	switch (encodings[as].kind) {
	case LAY_F32:
	case LAY_DATE: return false;
	case LAY_F64: return t != FIELD_U64 && t != FIELD_I64;
	case LAY_TIME: return as != AS_REVERSED_SECONDS;
	case LAY_NUMBER:
	case LAY_TEXT:
	case LAY_BYTES:
	case LAY_REVERSED:
	case LAY_FIXED: break;
	}
	return true;
}
