/* late_crypto.c - the functions of OpenSSL's libcrypto that we call */
#include <openssl/evp.h>

#include "late.h"

/* clang-format off */
#define FUNCTIONS(GIVES, DOES)                                                                     \
	GIVES(EVP_CIPHER_CTX *, EVP_CIPHER_CTX_new, (void), ())                                    \
	DOES(EVP_CIPHER_CTX_free, (EVP_CIPHER_CTX * c), (c))                                       \
	GIVES(const EVP_CIPHER *, EVP_aes_128_ctr, (void), ())                                     \
	GIVES(int, EVP_DecryptInit_ex,                                                             \
	      (EVP_CIPHER_CTX * c, const EVP_CIPHER *type, ENGINE *e, const unsigned char *key,    \
	       const unsigned char *iv), (c, type, e, key, iv))                                    \
	GIVES(int, EVP_DecryptUpdate,                                                              \
	      (EVP_CIPHER_CTX * c, unsigned char *out, int *len, const unsigned char *in, int n),  \
	      (c, out, len, in, n))                                                                \
	GIVES(EVP_MD *, EVP_MD_fetch,                                                              \
	      (OSSL_LIB_CTX * l, const char *name, const char *properties), (l, name, properties)) \
	DOES(EVP_MD_free, (EVP_MD * m), (m))                                                       \
	GIVES(int, EVP_Digest,                                                                     \
	      (const void *in, size_t n, unsigned char *out, unsigned *len, const EVP_MD *m,       \
	       ENGINE *e), (in, n, out, len, m, e))

FUNCTIONS(LATE_GIVES, LATE_DOES)

const struct late_function late_crypto[] = {FUNCTIONS(LATE_GIVES_LINE, LATE_DOES_LINE){0}};
/* clang-format on */
