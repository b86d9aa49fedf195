/* late_gssapi_krb5.c - the functions of libgssapi_krb5 (MIT Kerberos) that we call */
#include <gssapi/gssapi.h>
#include <gssapi/gssapi_ext.h>

#include "late.h"

/* clang-format off */
#define FUNCTIONS(GIVES, DOES)                                                                     \
	GIVES(OM_uint32, gss_acquire_cred_from,                                                    \
	      (OM_uint32 *minor, gss_name_t name, OM_uint32 seconds, gss_OID_set mechanisms,       \
	       gss_cred_usage_t use, gss_const_key_value_set_t store, gss_cred_id_t *out,          \
	       gss_OID_set *actual, OM_uint32 *left),                                              \
	      (minor, name, seconds, mechanisms, use, store, out, actual, left))                   \
	GIVES(OM_uint32, gss_delete_sec_context,                                                   \
	      (OM_uint32 *minor, gss_ctx_id_t *c, gss_buffer_t token), (minor, c, token))          \
	GIVES(OM_uint32, gss_display_name,                                                         \
	      (OM_uint32 *minor, gss_name_t name, gss_buffer_t text, gss_OID *type),               \
	      (minor, name, text, type))                                                           \
	GIVES(OM_uint32, gss_display_status,                                                       \
	      (OM_uint32 *minor, OM_uint32 status, int kind, gss_OID mechanism, OM_uint32 *more,   \
	       gss_buffer_t text),                                                                 \
	      (minor, status, kind, mechanism, more, text))                                        \
	GIVES(OM_uint32, gss_import_name,                                                          \
	      (OM_uint32 *minor, gss_buffer_t text, gss_OID type, gss_name_t *out),                \
	      (minor, text, type, out))                                                            \
	GIVES(OM_uint32, gss_init_sec_context,                                                     \
	      (OM_uint32 *minor, gss_cred_id_t cred, gss_ctx_id_t *c, gss_name_t server,           \
	       gss_OID mechanism, OM_uint32 flags, OM_uint32 seconds,                              \
	       gss_channel_bindings_t bindings, gss_buffer_t in, gss_OID *actual,                  \
	       gss_buffer_t out, OM_uint32 *got, OM_uint32 *left),                                 \
	      (minor, cred, c, server, mechanism, flags, seconds, bindings, in, actual, out, got,  \
	       left))                                                                              \
	GIVES(OM_uint32, gss_inquire_cred,                                                         \
	      (OM_uint32 *minor, gss_cred_id_t cred, gss_name_t *name, OM_uint32 *left,            \
	       gss_cred_usage_t *use, gss_OID_set *mechanisms),                                    \
	      (minor, cred, name, left, use, mechanisms))                                          \
	GIVES(OM_uint32, gss_release_buffer, (OM_uint32 *minor, gss_buffer_t b), (minor, b))       \
	GIVES(OM_uint32, gss_release_cred, (OM_uint32 *minor, gss_cred_id_t *c), (minor, c))       \
	GIVES(OM_uint32, gss_release_name, (OM_uint32 *minor, gss_name_t *n), (minor, n))          \
	GIVES(OM_uint32, gss_unwrap,                                                               \
	      (OM_uint32 *minor, gss_ctx_id_t c, gss_buffer_t in, gss_buffer_t out, int *sealed,   \
	       gss_qop_t *quality),                                                                \
	      (minor, c, in, out, sealed, quality))                                                \
	GIVES(OM_uint32, gss_wrap,                                                                 \
	      (OM_uint32 *minor, gss_ctx_id_t c, int seal, gss_qop_t quality, gss_buffer_t in,     \
	       int *sealed, gss_buffer_t out),                                                     \
	      (minor, c, seal, quality, in, sealed, out))

FUNCTIONS(LATE_GIVES, LATE_DOES)

const struct late_function late_gssapi_krb5[] = {FUNCTIONS(LATE_GIVES_LINE, LATE_DOES_LINE){0}};
/* clang-format on */
