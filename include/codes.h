/*
 * codes.h - names and the numbers that stand for them
 *
 * Implemented in pipeline/encoding.  Filled by job/, then any thread may look names up.
 */
#ifndef SALTMILL_CODES_H
#define SALTMILL_CODES_H

#include "bytes.h"
#include "mem.h"

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

#endif
