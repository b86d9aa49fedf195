/*
 * bulk.c - bulk load calls to region servers (Client.proto)
 *
 * With a token, a server opens the files as the user. The server moves the files into the token's
 * folder, and from there into the region's folder (SecureBulkLoadManager,
 * HRegionFileSystem.bulkLoadStoreFile).
 */
#include "decode.h"
#include "encode.h"
#include "pb.h"
#include "session.h"

enum { REGION_NAME = 1 }; /* the value REGION_NAME of RegionSpecifierType */

void put_region(struct buf *b, unsigned field, struct bytes name)
{
	size_t at = pb_open(b, field);

	pb_uint(b, 1, REGION_NAME);
	pb_bytes(b, 2, name);
	pb_close(b, at);
}

void put_prepare(struct buf *b, const char *table, struct bytes region)
{
	put_table_name(b, 1, table);
	put_region(b, 2, region);
}

static void put_fs_token(struct buf *b, const struct hbase_fs_token *t)
{
	size_t at = pb_open(b, 4);

	pb_bytes(b, 1, t->identifier);
	pb_bytes(b, 2, t->password);
	pb_text(b, 3, t->kind);
	pb_text(b, 4, t->service);
	pb_close(b, at);
}

void put_bulk_load(struct buf *b, struct bytes region, const struct hbase_bulk *load)
{
	put_region(b, 1, region);
	for (size_t i = 0; i < load->nfiles; i++) {
		size_t at = pb_open(b, 2);

		pb_text(b, 1, load->files[i].family);
		pb_text(b, 2, load->files[i].path);
		pb_close(b, at);
	}
	pb_uint(b, 3, 1); /* the server assigns a sequence id, so the later load wins */
	if (load->fs_token)
		put_fs_token(b, load->fs_token);
	pb_text(b, 5, load->token);
	if (load->no_replicate)
		pb_uint(b, 8, 0); /* `replicate`, by default true */
}

void put_cleanup(struct buf *b, struct bytes region, const char *token)
{
	pb_text(b, 1, token);
	put_region(b, 2, region);
}

int hbase_bulk_prepare(struct hbase *h, const char *table, const struct hbase_region *r,
		       char **token, struct hbase_failure *why, struct error *err)
{
	struct buf b = {0};
	struct rpc_answer answer;
	struct bytes text;

	*token = NULL;
	put_prepare(&b, table, r->name);
	int rc = session_call_region(h, r, SERVICE_REGION, "PrepareBulkLoad", &b, CALL_MS, &answer,
				     why, err);
	if (rc)
		return rc;
	rc = decode_bytes(answer.message, &text, err);
	if (rc == RC_OK && (text.len == 0 || memchr(text.ptr, 0, text.len)))
		rc = error_set(err, RC_DATA,
			       "PrepareBulkLoad: found a token with a NUL byte or bytes that are "
			       "not UTF-8, expected text");
	if (rc == RC_OK)
		*token = mem_format("%.*s", (int)text.len, (const char *)text.ptr);
	else
		why->trouble = TROUBLE_REFUSED;
	rpc_answer_release(&answer);
	return rc;
}

static bool is_complete(const struct hbase_fs_token *t)
{
	return t && t->identifier.len && t->password.len && t->service[0] &&
	       strcmp(t->kind, "HDFS_DELEGATION_TOKEN") == 0;
}

/* Return true if all files are in S3, which has no users, so the server need not act as one. */
static bool are_objects(const struct hbase_bulk *load)
{
	for (size_t i = 0; i < load->nfiles; i++)
		if (strncmp(load->files[i].path, "s3a://", 6) != 0)
			return false;
	return load->nfiles > 0;
}

int hbase_bulk_load(struct hbase *h, const struct hbase_region *r, const struct hbase_bulk *load,
		    bool *loaded, struct hbase_failure *why, struct error *err)
{
	struct buf b = {0};
	struct rpc_answer answer;
	uint64_t v = 0;

	*loaded = false;
	*why = (struct hbase_failure){.trouble = TROUBLE_REFUSED};
	if (h->kerberos && !is_complete(load->fs_token) && !are_objects(load))
		return error_set(
			err, RC_CONFIG,
			"found no complete delegation token of HDFS, which a bulk load into "
			"a secured cluster needs");
	put_bulk_load(&b, r->name, load);
	int rc = session_call_region(h, r, SERVICE_REGION, "BulkLoadHFile", &b, load->patience_ms,
				     &answer, why, err);
	if (rc)
		return rc;
	rc = decode_number(answer.message, &v, err);
	if (rc)
		why->trouble = TROUBLE_LOST; /* the server may have loaded the files */
	*loaded = rc == RC_OK && v != 0;
	rpc_answer_release(&answer);
	return rc;
}

int hbase_bulk_cleanup(struct hbase *h, const struct hbase_region *r, const char *token,
		       struct hbase_failure *why, struct error *err)
{
	struct buf b = {0};
	struct rpc_answer answer;

	put_cleanup(&b, r->name, token);
	int rc = session_call_region(h, r, SERVICE_REGION, "CleanupBulkLoad", &b, CALL_MS, &answer,
				     why, err);
	if (rc == RC_OK)
		rpc_answer_release(&answer);
	return rc;
}
