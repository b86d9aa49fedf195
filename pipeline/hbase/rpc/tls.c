#include "tls.h"

#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>

#include "io.h"
#include "late.h"
#include "mem.h"

struct tls {
	SSL *ssl;
};

bool tls_is_demanded(void)
{
	return login_used()->ca_file != NULL;
}

/* Describe the first error of libssl, and forget the others. */
static int failed(const char *what, struct error *err)
{
	char text[200] = "the library gives no reason";
	unsigned long code = ERR_get_error();

	if (code)
		ERR_error_string_n(code, text, sizeof text);
	ERR_clear_error();
	/* error:0A000086:SSL routines::certificate verify failed */
	const char *words = strrchr(text, ':');
	return error_set(err, RC_CONFIG, "TLS: %s: %s", what, words ? words + 1 : text);
}

/* --- certificates --- */

static int read_files(SSL_CTX *c, struct error *err)
{
	const struct login *l = login_used();
	const char *key = l->key_file ? l->key_file : l->cert_file;

	if (SSL_CTX_load_verify_locations(c, l->ca_file, NULL) != 1) {
		failed("cannot read the certificates", err);
		return error_prefix(err, "--ca %s: ", l->ca_file);
	}
	if (l->cert_file && SSL_CTX_use_certificate_chain_file(c, l->cert_file) != 1) {
		failed("cannot read the client certificate", err);
		return error_prefix(err, "--cert %s: ", l->cert_file);
	}
	if (l->cert_file && SSL_CTX_use_PrivateKey_file(c, key, SSL_FILETYPE_PEM) != 1) {
		failed("cannot read the key of the client certificate", err);
		return error_prefix(err, "--key %s: ", key);
	}
	return RC_OK;
}

/* Return the settings of all connections, which the first connection reads. */
static int settings(SSL_CTX **out, struct error *err)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static SSL_CTX *all;
	int rc = late_need(LATE_SSL, err);

	if (rc)
		return rc;
	pthread_mutex_lock(&lock);
	if (!all) {
		SSL_CTX *c = SSL_CTX_new(TLS_client_method());

		rc = c ? read_files(c, err) : failed("cannot set up libssl", err);
		if (rc == RC_OK) {
			SSL_CTX_set_min_proto_version(c, TLS1_2_VERSION);
			SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE |
						    SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
			SSL_CTX_set_verify(c, SSL_VERIFY_PEER, NULL);
			all = c;
		} else if (c) {
			SSL_CTX_free(c);
		}
	}
	*out = all;
	pthread_mutex_unlock(&lock);
	return rc;
}

/* --- connections --- */

int tls_new(struct tls **out, int fd, const char *host, struct error *err)
{
	SSL_CTX *c;
	int rc = settings(&c, err);

	*out = NULL;
	if (rc)
		return rc;
	struct tls *t = mem_calloc(1, sizeof *t);
	t->ssl = SSL_new(c);
	if (!t->ssl || SSL_set_fd(t->ssl, fd) != 1 || SSL_set1_host(t->ssl, host) != 1 ||
	    /* as SSL_set_tlsext_host_name, which casts the const away */
	    SSL_ctrl(t->ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
		     (void *)(uintptr_t)host) != 1) {
		tls_free(t);
		return failed("cannot set up a connection", err);
	}
	*out = t;
	return RC_OK;
}

void tls_free(struct tls *t)
{
	if (t && t->ssl)
		SSL_free(t->ssl);
	mem_free(t);
}

/* Return the event to wait for after a call that was not complete, or 0 after a failure. */
static short awaited(const struct tls *t, int result)
{
	int why = SSL_get_error(t->ssl, result);

	return why == SSL_ERROR_WANT_READ ? POLLIN : why == SSL_ERROR_WANT_WRITE ? POLLOUT : 0;
}

int tls_shake(struct tls *t, short *wait, struct error *err)
{
	ERR_clear_error();
	int result = SSL_connect(t->ssl);

	*wait = result == 1 ? 0 : awaited(t, result);
	if (result == 1 || *wait)
		return RC_OK;
	long verdict = SSL_get_verify_result(t->ssl);
	if (verdict == X509_V_OK)
		return ERR_peek_error()
			       ? failed("the server refuses the connection", err)
			       : error_set(err, RC_CONFIG,
					   "TLS: the server closed the connection during the "
					   "handshake; check that it uses TLS "
					   "(hbase.server.netty.tls.enabled), and leave out --ca "
					   "if it does not");
	ERR_clear_error();
	return error_set(err, RC_CONFIG,
			 "TLS: saltmill does not trust the server's certificate: %s",
			 X509_verify_cert_error_string(verdict));
}

/* A connection that breaks is an error that may pass, unlike a wrong certificate. */
static int broken(const char *what, struct error *err)
{
	failed(what, err);
	return err->code = RC_IO;
}

int tls_write(struct tls *t, struct bytes data, size_t *n, short *wait, struct error *err)
{
	ERR_clear_error();
	int result = SSL_write(t->ssl, data.ptr, (int)(data.len < INT_MAX ? data.len : INT_MAX));

	*n = result > 0 ? (size_t)result : 0;
	*wait = result > 0 ? 0 : awaited(t, result);
	return result > 0 || *wait ? RC_OK : broken("the connection failed while sending", err);
}

int tls_read(struct tls *t, uint8_t *to, size_t most, size_t *n, short *wait, struct error *err)
{
	ERR_clear_error();
	int result = SSL_read(t->ssl, to, (int)(most < INT_MAX ? most : INT_MAX));

	*n = result > 0 ? (size_t)result : 0;
	*wait = result > 0 ? 0 : awaited(t, result);
	if (result > 0 || *wait || !ERR_peek_error()) /* else the server closed the connection */
		return RC_OK;
	/* a server that wants a client certificate reports this after our side of the handshake */
	return broken("the server refuses the connection (a client certificate needs --cert and "
		      "--key)",
		      err);
}
