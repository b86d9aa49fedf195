/*
 * draw.h - numbers that look random and repeat in each run (xorshift)
 *
 * Set random_state first.
 */
#ifndef SALTMILL_TEST_DRAW_H
#define SALTMILL_TEST_DRAW_H

#include <stddef.h>
#include <stdint.h>

static uint64_t random_state;

static inline uint64_t draw(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Returns a number from 0 to below - 1. */
static inline unsigned pick(unsigned below)
{
	return (unsigned)(draw() >> 33) % below;
}

static inline void draw_bytes(uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(draw() >> 24);
}

#endif
