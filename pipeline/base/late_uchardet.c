/* late_uchardet.c - the functions of libuchardet that we call; libuchardet needs the C++ library */
#include <uchardet/uchardet.h>

#include "late.h"

#define FUNCTIONS(GIVES, DOES)                                                                     \
	GIVES(uchardet_t, uchardet_new, (void), ())                                                \
	DOES(uchardet_delete, (uchardet_t u), (u))                                                 \
	GIVES(int, uchardet_handle_data, (uchardet_t u, const char *data, size_t n), (u, data, n)) \
	DOES(uchardet_data_end, (uchardet_t u), (u))                                               \
	GIVES(const char *, uchardet_get_charset, (uchardet_t u), (u))

FUNCTIONS(LATE_GIVES, LATE_DOES)

const struct late_function late_uchardet[] = {FUNCTIONS(LATE_GIVES_LINE, LATE_DOES_LINE){0}};
