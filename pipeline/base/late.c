/* late.c - the table of libraries (late.h) */
#include "late.h"

#include <pthread.h>

/* These tables are NULL if the build links the library itself, and has no late_NAME.o. */
#pragma weak late_curl
#pragma weak late_microhttpd
#pragma weak late_rdkafka
#pragma weak late_snappy
#pragma weak late_uchardet
#pragma weak late_gssapi_krb5
#pragma weak late_ssl
#pragma weak late_brotlidec
#pragma weak late_bz2
#pragma weak late_lzo2
#pragma weak late_crypto
/* late_load is NULL if the build loads no library. */
#pragma weak late_load

/*
 * The Makefile finds the file names, which are those that -lNAME links. No build links liblzo2, so
 * the header of late.h has its interface, and this table its file name.
 */
static const struct {
	const char *name, *file, *package;
	const struct late_function *functions;
} libraries[] = {
	[LATE_CURL] = {"libcurl", FILE_curl, "libcurl4", late_curl},
	[LATE_MICROHTTPD] = {"libmicrohttpd", FILE_microhttpd, "libmicrohttpd12", late_microhttpd},
	[LATE_RDKAFKA] = {"librdkafka", FILE_rdkafka, "librdkafka1", late_rdkafka},
	[LATE_SNAPPY] = {"libsnappy", FILE_snappy, "libsnappy1v5", late_snappy},
	[LATE_UCHARDET] = {"libuchardet", FILE_uchardet, "libuchardet0", late_uchardet},
	[LATE_GSSAPI] = {"libgssapi_krb5", FILE_gssapi_krb5, "libgssapi-krb5-2", late_gssapi_krb5},
	[LATE_SSL] = {"libssl", FILE_ssl, "libssl3", late_ssl},
	[LATE_BROTLI] = {"libbrotlidec", FILE_brotlidec, "libbrotli1", late_brotlidec},
	/* only the library of the Python package has late_bz2.o, and it loads nothing */
	[LATE_BZIP2] = {"libbz2", "", "libbz2-1.0", late_bz2},
	[LATE_CRYPTO] = {"libcrypto", FILE_crypto, "libssl3", late_crypto},
	[LATE_LZO] = {"liblzo2", "liblzo2.so.2", "liblzo2-2", late_lzo2},
};

bool late_has(enum late_library which)
{
	return !libraries[which].functions || late_load;
}

int late_need(enum late_library which, struct error *err)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static bool loaded[sizeof libraries / sizeof *libraries];
	int rc = RC_OK;

	if (!libraries[which].functions)
		return RC_OK;
	if (!late_load)
		return error_set(
			err, RC_CONFIG,
			"this build has no %s (make worker); use the program that `make` builds",
			libraries[which].name);
	pthread_mutex_lock(&lock);
	if (!loaded[which])
		rc = late_load(libraries[which].file, libraries[which].package,
			       libraries[which].functions, err);
	loaded[which] = rc == RC_OK;
	pthread_mutex_unlock(&lock);
	return rc;
}
