/*
 * date.h - the parts of a date as digits: what layouts of LAY_DATE lay down, and the composites
 * that key/ asks of
 *
 * Implemented in pipeline/encoding.
 */
#ifndef SALTMILL_DATE_H
#define SALTMILL_DATE_H

#include "bytes.h"

#define DATE_YEAR  1u /* 4 digits */
#define DATE_MONTH 2u /* 2 digits each */
#define DATE_DAY   4u
#define DATE_HOUR  8u
#define DATE_BYTES 10 /* of all */

/* These parts of a local time, one behind the other; false: the year has not four digits. */
bool date_put(unsigned parts, int64_t local_s, uint8_t *to);
/* One part; false: no date has it. */
bool date_take(unsigned part, struct bytes in, uint64_t *out);

#endif
