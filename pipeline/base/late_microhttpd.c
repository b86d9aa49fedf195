/* late_microhttpd.c - the functions of libmicrohttpd that we call */
#include <microhttpd.h>
#include <stdarg.h>

#include "late.h"

#define FUNCTIONS(GIVES, DOES)                                                                     \
	GIVES(enum MHD_Result, MHD_add_response_header,                                            \
	      (struct MHD_Response * r, const char *header, const char *content),                  \
	      (r, header, content))                                                                \
	GIVES(struct MHD_Response *, MHD_create_response_from_buffer,                              \
	      (size_t size, void *buffer, enum MHD_ResponseMemoryMode mode), (size, buffer, mode)) \
	DOES(MHD_destroy_response, (struct MHD_Response * r), (r))                                 \
	GIVES(enum MHD_Result, MHD_queue_response,                                                 \
	      (struct MHD_Connection * c, unsigned int status, struct MHD_Response *r),            \
	      (c, status, r))                                                                      \
	DOES(MHD_stop_daemon, (struct MHD_Daemon * daemon), (daemon))

FUNCTIONS(LATE_GIVES, LATE_DOES)
static struct MHD_Daemon *(*real_MHD_start_daemon_va)(unsigned flags, uint16_t port,
						      MHD_AcceptPolicyCallback accept,
						      void *accept_ctx,
						      MHD_AccessHandlerCallback handle,
						      void *handle_ctx, va_list options);
static const union MHD_ConnectionInfo *(*real_MHD_get_connection_info)(
	struct MHD_Connection *c, enum MHD_ConnectionInfoType type, ...);

struct MHD_Daemon *MHD_start_daemon(unsigned flags, uint16_t port, MHD_AcceptPolicyCallback accept,
				    void *accept_ctx, MHD_AccessHandlerCallback handle,
				    void *handle_ctx, ...)
{
	va_list options;
	va_start(options, handle_ctx);
	struct MHD_Daemon *d = real_MHD_start_daemon_va(flags, port, accept, accept_ctx, handle,
							handle_ctx, options);
	va_end(options);
	return d;
}

/* Forward the call. A pointer is the largest of the types of information that saltmill requests. */
const union MHD_ConnectionInfo *MHD_get_connection_info(struct MHD_Connection *c,
							enum MHD_ConnectionInfoType type, ...)
{
	return real_MHD_get_connection_info(c, type);
}

const struct late_function late_microhttpd[] = {
	FUNCTIONS(LATE_GIVES_LINE, LATE_DOES_LINE) LATE_LINE(MHD_start_daemon_va)
		LATE_LINE(MHD_get_connection_info){0}};
