/*
 * frames.c - encode and decode RPC frames (preamble, request, answer, exception) without a socket
 */
#include "frames.h"

#include <stdio.h>

#include "pb.h"
#include "rpc.h"
#include "bytes.h"

#define CODEC	    "org.apache.hadoop.hbase.codec.KeyValueCodec"
#define AUTH_SIMPLE 80

/* Field numbers of RPC.proto. */
enum { HEADER_USER = 1, HEADER_SERVICE = 2, HEADER_CODEC = 3, USER_EFFECTIVE = 1 };
enum { REQUEST_CALL = 1, REQUEST_METHOD = 3, REQUEST_PARAM = 4 };
enum { ANSWER_CALL = 1, ANSWER_EXCEPTION = 2, ANSWER_CELLS = 3, CELLS_LENGTH = 1 };
enum {
	EXCEPTION_CLASS = 1,
	EXCEPTION_TRACE = 2,
	EXCEPTION_DO_NOT_RETRY = 5,
	EXCEPTION_OVERLOADED = 6
};

void rpc_put_header(struct buf *b, const char *service, const char *user)
{
	struct buf header = {0};

	if (user) {
		size_t at = pb_open(&header, HEADER_USER);

		pb_text(&header, USER_EFFECTIVE, user);
		pb_close(&header, at);
	}
	pb_text(&header, HEADER_SERVICE, service);
	pb_text(&header, HEADER_CODEC, CODEC);
	buf_be32(b, (uint32_t)header.len);
	buf_append(b, header.ptr, header.len);
	buf_release(&header);
}

void rpc_put_preamble(struct buf *b, const char *service, const char *user)
{
	buf_append_str(b, "HBas");
	buf_put(b, 0); /* version */
	buf_put(b, AUTH_SIMPLE);
	rpc_put_header(b, service, user);
}

void rpc_put_request(struct buf *b, uint32_t call_id, const char *method, struct bytes message)
{
	struct buf header = {0};
	size_t start = b->len;

	pb_uint(&header, REQUEST_CALL, call_id);
	pb_text(&header, REQUEST_METHOD, method);
	pb_uint(&header, REQUEST_PARAM, 1);
	buf_be32(b, 0);
	pb_delimited(b, buf_bytes(&header));
	pb_delimited(b, message);
	put_be32(b->ptr + start, (uint32_t)(b->len - start - 4));
	buf_release(&header);
}

/* --- exceptions --- */

static enum hbase_trouble trouble_of(const char *name)
{
	static const struct {
		const char *name;
		enum hbase_trouble trouble;
	} known[] = {
		{"NotServingRegionException", TROUBLE_GONE},
		{"RegionMovedException", TROUBLE_GONE},
		{"RegionOpeningException", TROUBLE_GONE},
		{"RegionServerStoppedException", TROUBLE_GONE},
		{"RegionServerAbortedException", TROUBLE_GONE},
		{"ServerNotRunningYetException", TROUBLE_GONE},
		{"MasterNotRunningException", TROUBLE_GONE},
		{"MasterStoppedException", TROUBLE_GONE},
		/* the server cannot continue this scanner, so the caller opens another scanner */
		{"UnknownScannerException", TROUBLE_GONE},
		{"ScannerResetException", TROUBLE_GONE},
		{"OutOfOrderScannerNextException", TROUBLE_GONE},
		{"LeaseException", TROUBLE_GONE},
		{"CallQueueTooBigException", TROUBLE_BUSY},
		{"RegionTooBusyException", TROUBLE_BUSY},
		{"PleaseHoldException", TROUBLE_GONE},
		{"RpcThrottlingException", TROUBLE_BUSY},
		{"OutOfMemoryError", TROUBLE_BUSY},
		{"SafeModeException", TROUBLE_BUSY}, /* from the NameNode */
		{"TableExistsException", TROUBLE_EXISTS},
		{"NamespaceExistException", TROUBLE_EXISTS},
		{"TableNotFoundException", TROUBLE_MISSING},
		{"NamespaceNotFoundException", TROUBLE_MISSING},
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(known[i].name, name) == 0)
			return known[i].trouble;
	return TROUBLE_REFUSED;
}

/* Copy the value after `name` in a message of AccessController, up to one of `,@)'"`. */
static bool value_after(const char *said, const char *name, char *out, size_t size)
{
	const char *at = strstr(said, name);

	if (!at)
		return false;
	at += strlen(name);
	at += *at == '\'';
	snprintf(out, size, "%.*s", (int)strcspn(at, ",@)]' "), at);
	return out[0] != 0;
}

/*
 * Add the command that grants the missing right. AccessController reports "(user=U, scope=S,
 * params=[namespace=N,table=T],action=A)" or "for user 'U' (table=T, action=A)". The scope is a
 * namespace, a table or GLOBAL.
 */
static void advise_grant(char *said, size_t size)
{
	char user[128], action[16], scope[200], space[200];
	size_t n = strlen(said);

	if (!value_after(said, "action=", action, sizeof action) ||
	    !(value_after(said, "user=", user, sizeof user) ||
	      value_after(said, "for user ", user, sizeof user)) ||
	    !(value_after(said, "scope=", scope, sizeof scope) ||
	      value_after(said, "table=", scope, sizeof scope)))
		return;
	bool is_space =
		value_after(said, "[namespace=", space, sizeof space) && strcmp(space, scope) == 0;
	bool global = strcmp(scope, "GLOBAL") == 0;
	snprintf(said + n, size - n, "; run `grant '%s', '%c'%s%s%s%s` in the HBase shell", user,
		 action[0] == 'E' ? 'X' : action[0], global ? "" : ", '", is_space ? "@" : "",
		 global ? "" : scope, global ? "" : "'");
}

int exception_tell(struct bytes class_name, struct bytes text, struct hbase_failure *why,
		   struct error *err)
{
	const uint8_t *dot = class_name.len ? memrchr(class_name.ptr, '.', class_name.len) : NULL;
	const uint8_t *line = text.len ? memchr(text.ptr, '\n', text.len) : NULL;
	char said[800];

	if (!class_name.ptr) /* the exception has no class */
		class_name = bytes_str("");
	if (!text.ptr)
		text = bytes_str("");
	if (dot)
		class_name = bytes_of(dot + 1, (size_t)(class_name.ptr + class_name.len - dot - 1));
	text_quote(why->name, sizeof why->name - 4, class_name);
	why->trouble = trouble_of(why->name);
	if (line)
		text.len = (size_t)(line - text.ptr);
	text_quote(said, 400, text);
	why->wants_kerberos = strcmp(why->name, "AccessDeniedException") == 0 &&
			      strstr(said, "Authentication is required");
	if (strcmp(why->name, "AccessDeniedException") == 0)
		advise_grant(said, sizeof said);
	return error_set(err, RC_IO, "%s",
			 said[0]	? said
			 : why->name[0] ? why->name
					: "the server reports a failure without a reason");
}

static int wrong_type(const char *what, struct error *err)
{
	return error_set(err, RC_DATA,
			 "found %s with another wire type, expected the wire type of HBase's "
			 "messages",
			 what);
}

int exception_read(struct bytes rest, struct hbase_failure *why, struct error *err)
{
	struct pb_field f;
	struct bytes class_name = {0}, trace = {0};
	bool overloaded = false, for_good = false;
	int rc;

	while ((rc = pb_next(&rest, &f, err)) == RC_OK) {
		switch (f.number) {
		case EXCEPTION_CLASS: class_name = f.bytes; break;
		case EXCEPTION_TRACE: trace = f.bytes; break;
		case EXCEPTION_DO_NOT_RETRY: for_good = f.value != 0; break;
		case EXCEPTION_OVERLOADED: overloaded = f.value != 0; break;
		default: break;
		}
	}
	if (rc < 0)
		return error_prefix(err, "cannot read its exception: ");
	rc = exception_tell(class_name, trace, why, err);
	if (overloaded && why->trouble == TROUBLE_REFUSED)
		why->trouble = TROUBLE_BUSY;
	why->may_pass = why->trouble == TROUBLE_REFUSED && !for_good;
	return rc;
}

/* --- answers --- */

struct answer_header {
	uint32_t call_id;
	struct bytes exception;
	bool failed;
	uint64_t cells;
};

static int read_cell_meta(struct bytes rest, uint64_t *length, struct error *err)
{
	struct pb_field f;
	int rc;

	while ((rc = pb_next(&rest, &f, err)) == RC_OK)
		if (f.number == CELLS_LENGTH && f.wire == PB_VARINT)
			*length = f.value;
	return rc < 0 ? rc : RC_OK;
}

static int read_header(struct bytes rest, struct answer_header *h, struct error *err)
{
	struct pb_field f;
	int rc;

	*h = (struct answer_header){0};
	while ((rc = pb_next(&rest, &f, err)) == RC_OK) {
		if (f.number == ANSWER_CALL && f.wire == PB_VARINT) {
			h->call_id = (uint32_t)f.value;
		} else if (f.number == ANSWER_EXCEPTION) {
			if (f.wire != PB_BYTES)
				return wrong_type("the exception", err);
			h->failed = true;
			h->exception = f.bytes;
		} else if (f.number == ANSWER_CELLS) {
			rc = read_cell_meta(f.bytes, &h->cells, err);
			if (rc)
				return rc;
		}
	}
	return rc < 0 ? rc : RC_OK;
}

int rpc_read_answer(struct bytes frame, uint32_t call_id, struct bytes *message,
		    struct bytes *cells, struct hbase_failure *why, struct error *err)
{
	struct bytes header;
	struct answer_header h;

	*message = *cells = (struct bytes){0};
	int rc = pb_take_delimited(&frame, &header, err);
	if (rc == RC_OK)
		rc = read_header(header, &h, err);
	if (rc)
		return error_prefix(err, "cannot read its answer: ");
	if (h.failed && (h.call_id == call_id || h.call_id == UINT32_MAX)) {
		rc = exception_read(h.exception, why, err);
		why->hangs_up = h.call_id == UINT32_MAX;
		return rc;
	}
	if (h.call_id != call_id)
		return error_set(err, RC_DATA,
				 "found an answer to call %u, expected one to call %u", h.call_id,
				 call_id);
	rc = pb_take_delimited(&frame, message, err);
	if (rc)
		return error_prefix(err, "cannot read its answer: ");
	if (h.cells != frame.len)
		return error_set(err, RC_DATA,
				 "found %zu bytes of cells, expected the announced %llu", frame.len,
				 (unsigned long long)h.cells);
	*cells = frame;
	return RC_OK;
}
