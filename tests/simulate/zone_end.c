/* zone_end.c - where the simulation's variables end: the linker gets this file last of them, and
 * then the program */
#include <stdalign.h>

alignas(64) char sim_last[64];
