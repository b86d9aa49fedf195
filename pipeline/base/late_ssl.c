/* late_ssl.c - the functions of OpenSSL's libssl and libcrypto that we call */
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "late.h"

/* clang-format off */
#define FUNCTIONS(GIVES, DOES)                                                                     \
	DOES(ERR_clear_error, (void), ())                                                          \
	DOES(ERR_error_string_n, (unsigned long code, char *text, size_t n), (code, text, n))      \
	GIVES(unsigned long, ERR_get_error, (void), ())                                            \
	GIVES(unsigned long, ERR_peek_error, (void), ())                                           \
	GIVES(int, SSL_connect, (SSL * s), (s))                                                    \
	GIVES(long, SSL_ctrl, (SSL * s, int what, long n, void *p), (s, what, n, p))               \
	GIVES(long, SSL_CTX_ctrl, (SSL_CTX * c, int what, long n, void *p), (c, what, n, p))       \
	DOES(SSL_CTX_free, (SSL_CTX * c), (c))                                                     \
	GIVES(int, SSL_CTX_load_verify_locations,                                                  \
	      (SSL_CTX * c, const char *file, const char *folder), (c, file, folder))              \
	GIVES(SSL_CTX *, SSL_CTX_new, (const SSL_METHOD *m), (m))                                  \
	DOES(SSL_CTX_set_verify, (SSL_CTX * c, int mode, SSL_verify_cb f), (c, mode, f))           \
	GIVES(int, SSL_CTX_use_certificate_chain_file, (SSL_CTX * c, const char *f), (c, f))       \
	GIVES(int, SSL_CTX_use_PrivateKey_file, (SSL_CTX * c, const char *f, int t), (c, f, t))    \
	DOES(SSL_free, (SSL * s), (s))                                                             \
	GIVES(int, SSL_get_error, (const SSL *s, int result), (s, result))                         \
	GIVES(long, SSL_get_verify_result, (const SSL *s), (s))                                    \
	GIVES(SSL *, SSL_new, (SSL_CTX * c), (c))                                                  \
	GIVES(int, SSL_read, (SSL * s, void *to, int n), (s, to, n))                               \
	GIVES(int, SSL_set1_host, (SSL * s, const char *host), (s, host))                          \
	GIVES(int, SSL_set_fd, (SSL * s, int fd), (s, fd))                                         \
	GIVES(int, SSL_write, (SSL * s, const void *from, int n), (s, from, n))                    \
	GIVES(const SSL_METHOD *, TLS_client_method, (void), ())                                   \
	GIVES(const char *, X509_verify_cert_error_string, (long code), (code))

FUNCTIONS(LATE_GIVES, LATE_DOES)

const struct late_function late_ssl[] = {FUNCTIONS(LATE_GIVES_LINE, LATE_DOES_LINE){0}};
/* clang-format on */
