/* peers.c - the clusters to which a cluster replicates (Replication.proto) */
#include "decode.h"
#include "pb.h"
#include "session.h"

enum { LIST_PEER = 1 };
enum { PEER_ID = 1, PEER_STATE = 2 };
enum { STATE_NUMBER = 1, STATE_DISABLED = 1 };

/* Appends the peer's id to the list, unless the peer is disabled. */
static int read_peer(struct bytes m, struct buf *list, struct error *err)
{
	struct pb_field f, g;
	struct bytes id = {0}, state = {0};
	bool disabled = false;
	int rc;

	while ((rc = pb_next(&m, &f, err)) == RC_OK) {
		if (f.number == PEER_ID)
			id = f.bytes;
		else if (f.number == PEER_STATE)
			state = f.bytes;
	}
	while (rc == RC_END && (rc = pb_next(&state, &g, err)) == RC_OK) {
		disabled |= g.number == STATE_NUMBER && g.value == STATE_DISABLED;
		rc = RC_END;
	}
	if (rc != RC_END)
		return rc;
	if (!disabled) {
		buf_append_str(list, list->len ? ", " : "");
		bytes_escape(list, id);
	}
	return RC_OK;
}

int decode_peers(struct bytes message, struct arena *a, const char **out, struct error *err)
{
	struct buf list = {0};
	struct pb_field f;
	int rc, found = RC_OK;

	while ((rc = pb_next(&message, &f, err)) == RC_OK && found == RC_OK)
		if (f.number == LIST_PEER)
			found = read_peer(f.bytes, &list, err);
	*out = arena_format(a, "%.*s", (int)list.len, (const char *)list.ptr);
	buf_release(&list);
	return found ? found : rc == RC_END ? RC_OK : rc;
}

int hbase_peers(struct hbase *h, struct arena *a, const char **out, struct hbase_failure *why,
		struct error *err)
{
	struct buf b = {0};
	struct rpc_answer answer;

	*out = "";
	int rc = session_call_master(h, "ListReplicationPeers", &b, &answer, why, err);
	buf_release(&b);
	if (rc)
		return rc;
	rc = decode_peers(answer.message, a, out, err);
	if (rc)
		why->trouble = TROUBLE_REFUSED;
	rpc_answer_release(&answer);
	return rc;
}
