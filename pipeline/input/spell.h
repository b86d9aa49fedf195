/*
 * spell.h - typed values of Avro and Arrow as the text that a CSV or JSON file would have of them
 *
 * Those with `to`, which has SPELL_BYTES of room, return how many bytes they wrote; none fails and
 * none ends with NUL.
 */
#ifndef SALTMILL_SOURCE_SPELL_H
#define SALTMILL_SOURCE_SPELL_H

#include "bytes.h"

#define SPELL_BYTES 64

size_t spell_u64(uint8_t *to, uint64_t v);
size_t spell_i64(uint8_t *to, int64_t v);
size_t spell_bool(uint8_t *to, bool v);
/*
 * The shortest decimal number that reads back as the same number of that width: 0.1, 5, 1e+30;
 * NaN and the infinities, which no field takes, as NaN and Infinity.
 */
size_t spell_f64(uint8_t *to, double v);
size_t spell_f32(uint8_t *to, float v);

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

#define DECIMAL_DIGITS 38 /* as many as 16 bytes hold of any number */
/* v / 10^scale, all digits of the scale written; scale 0..38. */
size_t spell_decimal(uint8_t *to, int128 v, int scale);
/* bytes, big-endian, two's complement, 1..16 of them */
int128 decimal_of(const uint8_t *bytes, size_t len);

/* Parts of a second: 1, 1000, 1000000 or 1000000000 are in one. */
#define DAY_S 86400

/* 2026-11-01, of days since 1970; years beyond four digits with their sign, +12026-11-01 */
size_t spell_date(uint8_t *to, int64_t days);
/* 06:30:00.5: a fraction only where it is not 0, of 3, 6 or 9 digits; v within a day */
size_t spell_time(uint8_t *to, int64_t v, int64_t parts);
/* 2026-11-01T06:30:00Z; a local time without the Z */
size_t spell_stamp(uint8_t *to, int64_t v, int64_t parts, bool local);
/* 16 bytes: 8-4-4-4-12 hex digits */
size_t spell_uuid(uint8_t *to, const uint8_t *v);

/* Append v as a string of JSON; latin1: each byte is a character. */
void spell_json(struct buf *out, struct bytes v, bool latin1);

/* Milliseconds since 1970, with a fraction where v has one: what a field of type time reads. */
size_t spell_ms(uint8_t *to, int64_t v, int64_t parts);

#endif
