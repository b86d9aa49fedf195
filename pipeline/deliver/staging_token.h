/* staging_token.h - the token of a bulk load, which names the place of HBase's files */
#ifndef SALTMILL_DELIVER_STAGING_TOKEN_H
#define SALTMILL_DELIVER_STAGING_TOKEN_H

#include <stdbool.h>

/*
 * Returns the path in "hdfs://nn:8020/hbase/staging/x" or "file:/x". Returns NULL if `token` has no
 * path.
 */
const char *token_path(const char *token);
bool token_is_local(const char *token);
/*
 * Returns HBase's root as a URI of storage.h. The caller frees it. Returns NULL if the token does not
 * have HBase's usual form.
 */
char *token_root(const char *token);
/*
 * Returns the table's folder below HBase's root. The caller frees it. `under` is "" or "/archive", a
 * folder within the root.
 */
char *root_table(const char *root, const char *under, const char *table);

#endif
