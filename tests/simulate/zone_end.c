/*
 * zone_end.c - marks the end of the simulation's variables. The linker gets this file after those
 * of the simulation and before those of the program.
 */
#include <stdalign.h>

alignas(64) char sim_last[64];
