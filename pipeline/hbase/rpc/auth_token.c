/*
 * auth_token.c - get a token of HBase, by AuthenticationService (AuthenticationProtos.proto)
 *
 * The service is a coprocessor of hbase:meta, which servers have if hbase.coprocessor.region.classes
 * contains org.apache.hadoop.hbase.security.token.TokenProvider.
 */
#include "decode.h"
#include "encode.h"
#include "io.h"
#include "mem.h"
#include "pb.h"
#include "session.h"

/* Fields of CoprocessorServiceRequest, CoprocessorServiceCall and Token. */
enum { REQUEST_REGION = 1, REQUEST_CALL = 2 };
enum { CALL_ROW = 1, CALL_SERVICE, CALL_METHOD, CALL_REQUEST };
enum { RESPONSE_VALUE = 2, PAIR_VALUE = 2 };
enum { TOKEN_IDENTIFIER = 1, TOKEN_PASSWORD, TOKEN_SERVICE };

static void put_token_request(struct buf *b, struct bytes region)
{
	put_region(b, REQUEST_REGION, region);
	size_t call = pb_open(b, REQUEST_CALL);
	pb_bytes(b, CALL_ROW, (struct bytes){0});
	pb_text(b, CALL_SERVICE, "AuthenticationService");
	pb_text(b, CALL_METHOD, "GetAuthenticationToken");
	pb_bytes(b, CALL_REQUEST, (struct bytes){0});
	pb_close(b, call);
}

/* Set *out to the message in a field of a message. Returns RC_DATA if it is not there. */
static int inner(struct bytes message, unsigned field, struct bytes *out, struct error *err)
{
	struct pb_field f;
	int rc;

	while ((rc = pb_next(&message, &f, err)) == RC_OK)
		if (f.number == field && f.wire == PB_BYTES) {
			*out = f.bytes;
			return RC_OK;
		}
	return rc == RC_END ? error_set(err, RC_DATA, "found no token in the answer") : rc;
}

int decode_token(struct bytes message, struct arena *a, struct hadoop_token *out, struct error *err)
{
	struct bytes pair, value, token, identifier, password, service = {0};
	int rc = inner(message, RESPONSE_VALUE, &pair, err);

	if (rc == RC_OK)
		rc = inner(pair, PAIR_VALUE, &value, err);
	if (rc == RC_OK)
		rc = inner(value, 1, &token, err);
	if (rc == RC_OK)
		rc = inner(token, TOKEN_IDENTIFIER, &identifier, err);
	if (rc == RC_OK)
		rc = inner(token, TOKEN_PASSWORD, &password, err);
	if (rc == RC_OK)
		rc = inner(token, TOKEN_SERVICE, &service, err);
	if (rc)
		return rc;
	*out = (struct hadoop_token){.identifier = arena_bytes(a, identifier),
				     .password = arena_bytes(a, password),
				     .kind = HBASE_TOKEN,
				     .service = arena_strndup(a, service.ptr, service.len)};
	return RC_OK;
}

int hbase_token(struct hbase *h, struct arena *a, struct hadoop_token *out,
		struct hbase_failure *why, struct error *err)
{
	struct hbase_region meta;
	struct rpc_answer answer;
	struct buf b = {0};
	int rc = hbase_meta(h, &meta, why, err);

	if (rc)
		return rc;
	put_token_request(&b, meta.name);
	rc = session_call_region(h, &meta, SERVICE_REGION, "ExecService", &b, CALL_MS, &answer, why,
				 err);
	if (rc && strcmp(why->name, "UnknownProtocolException") == 0)
		return error_prefix(err,
				    "HBase gives no tokens; add org.apache.hadoop.hbase.security."
				    "token.TokenProvider to hbase.coprocessor.region.classes: ");
	if (rc)
		return rc;
	rc = decode_token(answer.message, a, out, err);
	if (rc)
		why->trouble = TROUBLE_REFUSED;
	rpc_answer_release(&answer);
	return rc;
}
