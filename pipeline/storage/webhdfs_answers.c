#include "webhdfs_answers.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "bytes.h"

static int not_such(const char *what, struct error *err)
{
	return error_set(err, RC_DATA, "found an answer of another form, expected JSON with %s",
			 what);
}

static json_t *parse(struct bytes json)
{
	return json_loadb((const char *)json.ptr, json.len, JSON_REJECT_DUPLICATES, NULL);
}

/*
 * Copy the last part of a Java class name, or the first line of a message, and escape control
 * characters.
 */
static void keep_text(char *out, size_t size, json_t *value)
{
	const char *text = json_string_value(value);
	size_t n = strcspn(text ? text : "", "\r\n");

	text_quote(out, size - 4, bytes_of(text ? text : "", n));
}

bool answer_refusal(struct bytes json, struct webhdfs_refusal *out)
{
	*out = (struct webhdfs_refusal){0};
	json_t *root = parse(json), *e = json_object_get(root, "RemoteException");
	bool found = json_is_object(e);
	if (found) {
		keep_text(out->exception, sizeof out->exception, json_object_get(e, "exception"));
		keep_text(out->message, sizeof out->message, json_object_get(e, "message"));
	}
	json_decref(root);
	return found;
}

int answer_boolean(struct bytes json, bool *out, struct error *err)
{
	json_t *root = parse(json), *value = json_object_get(root, "boolean");
	int rc = json_is_boolean(value) ? RC_OK : not_such("a `boolean`", err);

	*out = json_is_true(value);
	json_decref(root);
	return rc;
}

int answer_location(struct bytes json, struct buf *out, struct error *err)
{
	json_t *root = parse(json);
	const char *text = json_string_value(json_object_get(root, "Location"));
	int rc = text ? RC_OK : not_such("a `Location`", err);

	if (rc == RC_OK)
		buf_append(out, text, strlen(text) + 1);
	json_decref(root);
	return rc;
}

/* A token consists of the characters of base64url, so that it cannot add to a query. */
int answer_token(struct bytes json, struct buf *out, struct error *err)
{
	static const char allowed[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	json_t *root = parse(json), *token = json_object_get(root, "Token");
	const char *text = json_string_value(json_object_get(token, "urlString"));
	bool good = text && *text && text[strspn(text, allowed)] == 0;
	int rc = good ? RC_OK : not_such("a `Token`", err);

	if (rc == RC_OK)
		buf_append(out, text, strlen(text) + 1);
	json_decref(root);
	return rc;
}

/* Read a whole number that is not negative. */
static bool take_number(json_t *object, const char *name, uint64_t *out)
{
	json_t *value = json_object_get(object, name);
	json_int_t n = json_integer_value(value);

	*out = (uint64_t)n;
	return json_is_integer(value) && n >= 0;
}

int answer_long(struct bytes json, int64_t *out, struct error *err)
{
	json_t *root = parse(json);
	uint64_t n = 0;
	int rc = take_number(root, "long", &n) ? RC_OK : not_such("a `long`", err);

	*out = (int64_t)n;
	json_decref(root);
	return rc;
}

static bool take_status(json_t *s, struct storage_info *out)
{
	uint64_t modified;
	const char *type = json_string_value(json_object_get(s, "type"));
	const char *mode = json_string_value(json_object_get(s, "permission"));

	*out = (struct storage_info){0};
	if (!type || !take_number(s, "length", &out->bytes))
		return false;
	out->kind = strcmp(type, "DIRECTORY") == 0 ? STORAGE_FOLDER : STORAGE_FILE;
	/* gateways omit some of these members */
	if (!take_number(s, "fileId", &out->file_id))
		out->file_id = 0;
	if (!take_number(s, "blockSize", &out->block_bytes))
		out->block_bytes = 0;
	if (!take_number(s, "modificationTime", &modified))
		modified = 0;
	out->modified_ms = (int64_t)modified;
	out->opaque = json_is_true(json_object_get(s, "encBit")) ||
		      json_is_true(json_object_get(s, "ecBit"));
	out->mode = mode ? (unsigned)strtoul(mode, NULL, 8) & 07777 : 0;
	keep_text(out->owner, sizeof out->owner, json_object_get(s, "owner"));
	return true;
}

int answer_status(struct bytes json, struct storage_info *out, struct error *err)
{
	json_t *root = parse(json);
	int rc = take_status(json_object_get(root, "FileStatus"), out)
			 ? RC_OK
			 : not_such("a `FileStatus`", err);

	json_decref(root);
	return rc;
}

/*
 * Return true if `name` is the name of one entry of the folder. Other names would lead outside of
 * the folder.
 */
static bool is_entry_name(const char *name)
{
	return name && *name && !strchr(name, '/') && strcmp(name, ".") != 0 &&
	       strcmp(name, "..") != 0;
}

int answer_list(struct bytes json, struct arena *a, struct storage_entry **out, size_t *n,
		struct error *err)
{
	json_t *root = parse(json), *outer = json_object_get(root, "FileStatuses");
	json_t *all = json_object_get(outer, "FileStatus"), *each;
	int rc = json_is_array(all) ? RC_OK : not_such("`FileStatuses`", err);
	size_t i;

	*n = 0;
	*out = arena_alloc(a, (json_array_size(all) + 1) * sizeof **out);
	json_array_foreach(all, i, each)
	{
		struct storage_entry *e = &(*out)[*n];
		const char *name = json_string_value(json_object_get(each, "pathSuffix"));

		if (rc)
			break;
		if (!is_entry_name(name) || !take_status(each, &e->info)) {
			rc = not_such("`FileStatuses` of named entries", err);
			break;
		}
		e->name = arena_strdup(a, name);
		++*n;
	}
	json_decref(root);
	return rc;
}

/* Read a checksum. Hadoop 3 returns 28 bytes and four bytes of padding. */
int answer_checksum(struct bytes json, uint8_t out[HDFS_SUM_BYTES], bool *known, struct error *err)
{
	json_t *root = parse(json), *sum = json_object_get(root, "FileChecksum");
	const char *kind = json_string_value(json_object_get(sum, "algorithm"));
	const char *hex = json_string_value(json_object_get(sum, "bytes"));
	char digits[2 * HDFS_SUM_BYTES + 1];
	int rc = kind && hex ? RC_OK : not_such("a `FileChecksum`", err);

	*known = false;
	if (rc == RC_OK && strncmp(kind, "MD5-of-", 7) == 0 && strstr(kind, "MD5-of-512CRC32C")) {
		snprintf(digits, sizeof digits, "%s", hex);
		*known = bytes_unhex(out, HDFS_SUM_BYTES, digits);
		if (!*known)
			rc = not_such("the `bytes` of an MD5 of MD5s", err);
	}
	json_decref(root);
	return rc;
}

int answer_defaults(struct bytes json, struct webhdfs_defaults *out, struct error *err)
{
	json_t *root = parse(json), *all = json_object_get(root, "FsServerDefaults");
	json_t *from = all ? all : root;
	int rc = take_number(from, "blockSize", &out->block_bytes) && out->block_bytes >= 512 &&
				 out->block_bytes % 512 == 0
			 ? RC_OK
			 : not_such("a `blockSize`", err);

	if (!take_number(from, "replication", &out->replication) || out->replication == 0)
		out->replication = 1;
	json_decref(root);
	return rc;
}

int answer_capacity(struct bytes json, struct webhdfs_capacity *out, struct error *err)
{
	json_t *root = parse(json), *bean = json_array_get(json_object_get(root, "beans"), 0);
	const char *state = json_string_value(json_object_get(bean, "FSState"));
	int rc = take_number(bean, "CapacityRemaining", &out->bytes)
			 ? RC_OK
			 : not_such("a bean with `CapacityRemaining`", err);

	if (!take_number(bean, "CapacityTotal", &out->total))
		out->total = UINT64_MAX;
	if (!take_number(bean, "NumLiveDataNodes", &out->datanodes))
		out->datanodes = UINT64_MAX;
	out->safe_mode = state && strcmp(state, "safeMode") == 0;
	json_decref(root);
	return rc;
}

/* Return the unused part of a quota. The server returns -1 if there is no quota. */
static uint64_t quota_left(json_t *usage, const char *quota, const char *used)
{
	uint64_t most, have;

	if (!take_number(usage, quota, &most) || !take_number(usage, used, &have))
		return UINT64_MAX;
	return most > have ? most - have : 0;
}

int answer_quota(struct bytes json, struct webhdfs_quota *out, struct error *err)
{
	json_t *root = parse(json), *usage = json_object_get(root, "QuotaUsage");
	int rc = json_is_object(usage) ? RC_OK : not_such("a `QuotaUsage`", err);

	out->names = quota_left(usage, "quota", "fileAndDirectoryCount");
	out->bytes = quota_left(usage, "spaceQuota", "spaceConsumed");
	json_decref(root);
	return rc;
}
