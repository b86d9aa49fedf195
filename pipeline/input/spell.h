/*
 * spell.h - write typed values of Avro and Arrow as the text that a CSV or JSON file would contain
 *
 * Functions with a parameter `to` need SPELL_BYTES of room and return the bytes written. They never
 * fail and write no NUL.
 */
#ifndef SALTMILL_SOURCE_SPELL_H
#define SALTMILL_SOURCE_SPELL_H

#include "bytes.h"

#define SPELL_BYTES 64

size_t spell_u64(uint8_t *to, uint64_t v);
size_t spell_i64(uint8_t *to, int64_t v);
size_t spell_bool(uint8_t *to, bool v);
/*
 * Write the shortest decimal number that reads back as the same double or float: 0.1, 5, 1e+30. NaN
 * and infinities become NaN and Infinity, which no field accepts.
 */
size_t spell_f64(uint8_t *to, double v);
size_t spell_f32(uint8_t *to, float v);

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

#define DECIMAL_DIGITS 38 /* 16 bytes hold any number of that many digits */
/* Write v / 10^scale with all `scale` digits after the point; scale 0..38. */
size_t spell_decimal(uint8_t *to, int128 v, int scale);
/* Read big-endian two's complement bytes; len 1..16. */
int128 decimal_of(const uint8_t *bytes, size_t len);

/* parts: units per second, that is 1, 1000, 1000000 or 1000000000. */
#define DAY_S 86400

/* 2026-11-01, from days since 1970. Years with more than four digits have a sign: +12026-11-01. */
size_t spell_date(uint8_t *to, int64_t days);
/* 06:30:00.5: a nonzero fraction has 3, 6 or 9 digits. v is within a day. */
size_t spell_time(uint8_t *to, int64_t v, int64_t parts);
/* 2026-11-01T06:30:00Z; a local time has no Z. */
size_t spell_stamp(uint8_t *to, int64_t v, int64_t parts, bool local);
/* v: 16 bytes; writes 8-4-4-4-12 hex digits. */
size_t spell_uuid(uint8_t *to, const uint8_t *v);

/* Append v as a JSON string; latin1: each byte is a character. */
void spell_json(struct buf *out, struct bytes v, bool latin1);

/* Write milliseconds since 1970, with a fraction if v has one, as fields of type time read them. */
size_t spell_ms(uint8_t *to, int64_t v, int64_t parts);

#endif
