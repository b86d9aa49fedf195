/*
 * late.h - libraries that are loaded when needed, linked, or left out, as the build chooses
 *
 * libcurl, librdkafka and libmicrohttpd need thirty other libraries, and libsnappy needs the C++
 * library. Loading them takes longer than most commands run. So the program loads each of them when
 * a command first needs it. The tests are linked with them. The worker is one static file: it is
 * linked with libsnappy and has none of the others.
 *
 * late.c has the table of these libraries. late_NAME.c defines the functions of a library that
 * saltmill calls: each has the prototype of the library's own header and passes the call on. Code
 * calls these functions as usual, but calls late_need() first.
 *
 * The linked objects decide; the Makefile has one list for it (LATE):
 *
 *   late_NAME.o and loader.o   late_need() loads the library (the program)
 *   late_NAME.o alone          late_need() fails: this build has no such library (the worker)
 *   no late_NAME.o             late_need() does nothing: the library itself is linked (the tests)
 */
#ifndef SALTMILL_LATE_H
#define SALTMILL_LATE_H

#include <stdbool.h>

#include "error.h"

enum late_library { LATE_CURL, LATE_MICROHTTPD, LATE_RDKAFKA, LATE_SNAPPY };

/*
 * Load a library, once; it stays until the process ends.  Any thread, any number of times.
 * RC_CONFIG: this build has no such library.  RC_IO: the library does not load, or lacks a
 * function.
 */
int late_need(enum late_library which, struct error *err);
/* Whether this build can have the library; late_need() may still fail to load it. */
bool late_has(enum late_library which);

/* --- for late.c, late_NAME.c and loader.c --- */

/* A table of functions; it ends with a NULL name. */
struct late_function {
	const char *name;
	void *at; /* the address of the pointer to the function; loading fills it */
};
extern const struct late_function late_curl[], late_microhttpd[], late_rdkafka[], late_snappy[];

/*
 * Load a library. file: libNAME.so.N; package: the Debian package that contains it, for the
 * message.
 */
int late_load(const char *file, const char *package, const struct late_function *functions,
	      struct error *err);

/* Define one function: a pointer that late_load fills, and the function that callers see. */
#define LATE_GIVES(type, name, parameters, arguments)                                              \
	static type(*real_##name) parameters;                                                      \
	type name parameters                                                                       \
	{                                                                                          \
		return real_##name arguments;                                                      \
	}
#define LATE_DOES(name, parameters, arguments)                                                     \
	static void(*real_##name) parameters;                                                      \
	void name parameters                                                                       \
	{                                                                                          \
		real_##name arguments;                                                             \
	}
/* The function's line in the table. */
#define LATE_LINE(name)					   {#name, (void *)&real_##name},
#define LATE_GIVES_LINE(type, name, parameters, arguments) LATE_LINE(name)
#define LATE_DOES_LINE(name, parameters, arguments)	   LATE_LINE(name)

#endif
