/*
 * explain.c - find the cause if a region server answers false
 *
 * The answer contains no reason. Only the server's log has the reason. apply checks whether HDFS
 * denies the user an access, and whether the file has a feature that the server may not support.
 */
#include "applying.h"
#include "hfile.h"

static int may_in_folder(struct storage *s, const char *path, struct error *err)
{
	const char *slash = strrchr(path, '/');
	char *folder = mem_format("%.*s", (int)(slash ? slash - path : 0), path);
	int rc = storage_may(s, folder, "-wx", err);

	mem_free(folder);
	return rc;
}

/* Adds a hint about ZSTD. HBase has two ZSTD codecs, and neither codec reads files of the other. */
static void suspect_framing(const struct applied_file *s, struct buf *hint)
{
	struct hfile_options o = {0};
	struct hfile *f = NULL;
	struct error unsaid;

	if (hfile_open(&f, s->path, &unsaid) != RC_OK)
		return;
	hfile_options_of(f, &o);
	hfile_close(f);
	if (o.codec != CODEC_ZSTD)
		return;
	bool hadoop = o.framing == ZSTD_FRAMING_HADOOP;
	buf_printf(hint,
		   "; the most probable cause is ZSTD with `framing: %s`, which servers read with "
		   "hbase.io.compress.zstd.codec = %s; if the servers have another codec, "
		   "load again with `compression: {codec: ZSTD, framing: %s}`",
		   hadoop ? "hadoop" : "hbase",
		   hadoop ? "org.apache.hadoop.io.compress.ZStandardCodec (the default)"
			  : "org.apache.hadoop.hbase.io.compress.zstd.ZstdCodec",
		   hadoop ? "hbase" : "hadoop");
}

int explain_refusal(void *self, const struct hand_file *f, struct buf *hint, struct error *err)
{
	struct applied *t = self;
	struct storage *s = t->run->storage;
	uint64_t room;
	int rc = storage_free(s, f->upload, &room, err);

	if (rc == RC_OK)
		rc = storage_may(s, f->upload, "rw-", err);
	if (rc == RC_OK)
		rc = may_in_folder(s, f->upload, err);
	if (rc == RC_OK)
		suspect_framing(&t->sources[f - t->hand.files], hint);
	return rc == RC_CONFIG ? error_prefix(err, "a region server cannot load a file: ") : rc;
}
