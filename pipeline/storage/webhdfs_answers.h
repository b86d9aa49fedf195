/*
 * webhdfs_answers.h - parse the JSON that a NameNode or DataNode answers (Hadoop's JsonUtil)
 *
 * All functions accept any bytes that a server may send. They return RC_DATA if the answer has
 * another form.
 */
#ifndef SALTMILL_WEBHDFS_ANSWERS_H
#define SALTMILL_WEBHDFS_ANSWERS_H

#include "hdfs_sum.h"
#include "storage.h"

/*
 * The class of a {"RemoteException": ...}, without the package, and the first line of its message.
 */
struct webhdfs_refusal {
	char exception[96];
	char message[400];
};
/* Parse a refusal. If the answer has another form, return false and leave both members empty. */
bool answer_refusal(struct bytes json, struct webhdfs_refusal *out);
int answer_boolean(struct bytes json, bool *out, struct error *err);
/* Parse {"Location": "http..."} into `out`, with a NUL at the end. */
int answer_location(struct bytes json, struct buf *out, struct error *err);
/* Parse {"Token": {"urlString": ...}} into `out`, with a NUL at the end. */
int answer_token(struct bytes json, struct buf *out, struct error *err);
/* Parse {"long": ...}, which is not negative. */
int answer_long(struct bytes json, int64_t *out, struct error *err);
int answer_status(struct bytes json, struct storage_info *out, struct error *err);
int answer_list(struct bytes json, struct arena *a, struct storage_entry **out, size_t *n,
		struct error *err);
/* Parse a checksum. Set `*known` if hdfs_sum.h computes checksums of this kind. */
int answer_checksum(struct bytes json, uint8_t out[HDFS_SUM_BYTES], bool *known, struct error *err);
/* The server's default settings for new files. */
struct webhdfs_defaults {
	uint64_t block_bytes, replication;
};
int answer_defaults(struct bytes json, struct webhdfs_defaults *out, struct error *err);
/* The NameNode's bean FSNamesystemState. */
struct webhdfs_capacity {
	/* free and total bytes of the DataNodes; the total is 0 if there are no DataNodes */
	uint64_t bytes, total;
	uint64_t datanodes; /* live DataNodes */
	bool safe_mode;
};
int answer_capacity(struct bytes json, struct webhdfs_capacity *out, struct error *err);
/*
 * The unused part of the quotas of {"QuotaUsage": ...}. UINT64_MAX means that there is no such
 * quota.
 */
struct webhdfs_quota {
	uint64_t names, bytes;
};
int answer_quota(struct bytes json, struct webhdfs_quota *out, struct error *err);

#endif
