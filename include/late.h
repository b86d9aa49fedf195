/*
 * late.h - libraries that are loaded when something first needs them, not with the program
 *
 * libcurl, librdkafka and libmicrohttpd bring TLS, LDAP, Kerberos and more, thirty libraries, and
 * libsnappy that of C++; to load these takes longer than most commands run.  late_NAME.c defines
 * what is called of a library here: each function has the prototype of the library's own header and
 * hands the call on.  So who uses one calls it by its name as ever, but late_NAME() first.
 */
#ifndef SALTMILL_LATE_H
#define SALTMILL_LATE_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

/* RC_OK: the library is there; RC_IO: it cannot be loaded, or lacks a function.  Any thread, any
 * number of times. */
int late_curl(struct error *err);
int late_microhttpd(struct error *err);
int late_rdkafka(struct error *err);
int late_snappy(struct error *err);

struct late_function {
	const char *name;
	void *at; /* of the pointer to it, which is filled */
};

/* Static. */
struct late_library {
	const char *file;    /* libNAME.so.N, sought where the loader seeks */
	const char *package; /* of Debian, that has it */
	const struct late_function *function;
	size_t nfunctions;
	bool loaded;
};

/* It stays to the end of the process. */
int late_load(struct late_library *l, struct error *err);

/* One function: a pointer that late_load fills, and what is called in its place. */
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
/* Its line in the table. */
#define LATE_LINE(name)					   {#name, (void *)&real_##name},
#define LATE_GIVES_LINE(type, name, parameters, arguments) LATE_LINE(name)
#define LATE_DOES_LINE(name, parameters, arguments)	   LATE_LINE(name)

#endif
