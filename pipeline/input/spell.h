/*
 * spell.h - write typed values of Avro and Arrow as the text that a CSV or JSON file would contain
 *
 * The parameter `to` of these functions must have SPELL_BYTES. The functions return the number of
 * bytes written, never fail, and write no NUL.
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

#define DECIMAL_BYTES  16
#define DECIMAL_DIGITS 38 /* 16 bytes can hold any number of that many digits */
/* Write `v` / 10^`scale` with all `scale` digits after the point. `scale` is 0 to 38. */
size_t spell_decimal(uint8_t *to, int128 v, int scale);
/* Read big-endian two's complement bytes. `len` is 1 to 16. */
int128 decimal_of(const uint8_t *bytes, size_t len);

/*
 * In the functions below, `parts` is the number of units per second (1, 1000, 1000000 or
 * 1000000000).
 */
#define DAY_S 86400

/*
 * Write days since 1970 as 2026-11-01. Years with more than four digits have a sign, as in
 * +12026-11-01.
 */
size_t spell_date(uint8_t *to, int64_t days);
/* Write a time of day as 06:30:00. A nonzero fraction has 3, 6 or 9 digits. `v` is within a day. */
size_t spell_time(uint8_t *to, int64_t v, int64_t parts);
/* Write a time as 2026-11-01T06:30:00Z. A local time has no Z. */
size_t spell_stamp(uint8_t *to, int64_t v, int64_t parts, bool local);
/* Write the 16 bytes of `v` as 8-4-4-4-12 hex digits. */
size_t spell_uuid(uint8_t *to, const uint8_t *v);

/* Append `v` as a JSON string. If `latin1` is true, each byte is a character. */
void spell_json(struct buf *out, struct bytes v, bool latin1);

/*
 * Write milliseconds since 1970, with a fraction if `v` has one. Fields of type time read this
 * form.
 */
size_t spell_ms(uint8_t *to, int64_t v, int64_t parts);

#endif
