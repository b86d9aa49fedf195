/*
 * late.h - libraries that a build loads when needed, links, or leaves out
 *
 * libcurl, librdkafka and libmicrohttpd need thirty other libraries, and libsnappy and libuchardet
 * need the C++ library. Few files need libbrotlidec. Loading them takes longer than most commands run. So the program loads each
 * library when a command first needs it. The tests link all these libraries. The worker is one
 * static file with libsnappy and without the other libraries.
 *
 * late.c has the table of these libraries. late_NAME.c defines the functions of a library that
 * saltmill calls. Each function has the prototype of the library's header and forwards the call.
 * Code must call late_need() before these functions.
 *
 * The linked objects decide what late_need() does. The Makefile lists these objects in LATE:
 *
 *   late_NAME.o and loader.o   late_need() loads the library (the program)
 *   late_NAME.o alone          late_need() fails, because this build has no such library (the
 *                              worker)
 *   no late_NAME.o             late_need() does nothing, because the build links the library
 *                              (the tests)
 */
#ifndef SALTMILL_LATE_H
#define SALTMILL_LATE_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

enum late_library {
	LATE_CURL,
	LATE_MICROHTTPD,
	LATE_RDKAFKA,
	LATE_SNAPPY,
	LATE_UCHARDET,
	LATE_GSSAPI,
	LATE_SSL,
	LATE_BROTLI,
	LATE_BZIP2,
	LATE_LZO,
	LATE_CRYPTO
};

/*
 * Load a library, unless the process has already loaded this library. The library stays loaded
 * until the process ends. Any thread may call this function. Returns RC_CONFIG if this build cannot
 * use the library. Returns RC_IO if the library does not load, or lacks a function.
 */
int late_need(enum late_library which, struct error *err);
/* Return true if this build can use the library. late_need() may still fail to load the library. */
bool late_has(enum late_library which);

/*
 * Decompress a block of LZO1X, at most `*size` bytes. Returns 0 on success. liblzo2 has the license
 * GPL, so no build links liblzo2 or uses its header. The program can only load it.
 */
int lzo1x_decompress_safe(const unsigned char *in, size_t n, unsigned char *out, size_t *size,
			  void *work);

/* --- for late.c, late_NAME.c and loader.c --- */

/* A table of functions that ends with a NULL name. */
struct late_function {
	const char *name;
	void *at; /* address of the function pointer that loading fills */
};
extern const struct late_function late_curl[], late_microhttpd[], late_rdkafka[], late_snappy[],
	late_uchardet[], late_gssapi_krb5[], late_ssl[], late_brotlidec[], late_bz2[], late_lzo2[],
	late_crypto[];

/*
 * Load a library. `file` is libNAME.so.N. `package` is the Debian package that contains the
 * library, for the message.
 */
int late_load(const char *file, const char *package, const struct late_function *functions,
	      struct error *err);

/* Define a pointer that late_load fills, and the function that callers use. */
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
/* The function's entry in the table. */
#define LATE_LINE(name)					   {#name, (void *)&real_##name},
#define LATE_GIVES_LINE(type, name, parameters, arguments) LATE_LINE(name)
#define LATE_DOES_LINE(name, parameters, arguments)	   LATE_LINE(name)

#endif
