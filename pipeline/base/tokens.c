/*
 * tokens.c - Hadoop's credentials file, with tokens for processes that have no Kerberos ticket
 *
 *   "HDTS" 0 | number of tokens | alias, identifier, password, kind, service of each | ... secrets
 *   "HDTS" 1 | varint length    | CredentialsProto (Security.proto)
 *
 * The first form has numbers of WritableUtils, and each part is a number and as many bytes.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io.h"
#include "mem.h"

#define MAGIC	    "HDTS"
#define HEAD_BYTES  5
#define FILE_MOST   ((size_t)1 << 20)
#define VARINT_MOST 10
/* WritableUtils: a first byte of -113 to -120 has 1 to 8 bytes after it */
#define VINT_MORE 0x8F
#define VINT_MOST 8

enum { IDENTIFIER = 1, PASSWORD, KIND, SERVICE }; /* fields of TokenProto */
enum { PB_NUMBER = 0, PB_PART = 2 };

/* --- numbers and parts of WritableUtils --- */

static bool take_vint(struct bytes *rest, uint64_t *out)
{
	if (!rest->len)
		return false;
	uint8_t first = rest->ptr[0];
	size_t more = first < 128 ? 0 : (size_t)(VINT_MORE - first) + 1;

	if (first >= 128 && (first > VINT_MORE || more > VINT_MOST))
		return false; /* a negative number */
	if (rest->len < 1 + more)
		return false;
	*out = more ? 0 : first;
	for (size_t i = 1; i <= more; i++)
		*out = *out << 8 | rest->ptr[i];
	*rest = bytes_of(rest->ptr + 1 + more, rest->len - 1 - more);
	return true;
}

static void put_vint(struct buf *b, uint64_t n)
{
	unsigned more = 0;

	if (n < 128) {
		buf_put(b, (uint8_t)n);
		return;
	}
	while (more < VINT_MOST && n >> 8 * more)
		more++;
	buf_put(b, (uint8_t)(VINT_MORE + 1 - more));
	while (more)
		buf_put(b, (uint8_t)(n >> 8 * --more));
}

bool token_take(struct bytes *rest, struct bytes *part)
{
	uint64_t n;

	if (!take_vint(rest, &n) || n > rest->len)
		return false;
	*part = bytes_of(rest->ptr, (size_t)n);
	*rest = bytes_of(rest->ptr + n, rest->len - (size_t)n);
	return true;
}

void token_put(struct buf *b, struct bytes part)
{
	put_vint(b, part.len);
	buf_append(b, part.ptr, part.len);
}

/* --- the fields of protobuf --- */

static bool take_varint(struct bytes *rest, uint64_t *out)
{
	*out = 0;
	for (size_t i = 0; i < VARINT_MOST && i < rest->len; i++) {
		*out |= (uint64_t)(rest->ptr[i] & 127) << 7 * i;
		if (rest->ptr[i] < 128) {
			*rest = bytes_of(rest->ptr + i + 1, rest->len - i - 1);
			return true;
		}
	}
	return false;
}

/* Take a field. Its bytes are empty if it is a number. */
static bool take_field(struct bytes *rest, uint64_t *number, struct bytes *part)
{
	uint64_t key, n;

	if (!take_varint(rest, &key) || !take_varint(rest, &n))
		return false;
	*number = key >> 3;
	*part = (struct bytes){0};
	if ((key & 7) == PB_NUMBER)
		return true;
	if ((key & 7) != PB_PART || n > rest->len)
		return false;
	*part = bytes_of(rest->ptr, (size_t)n);
	*rest = bytes_of(rest->ptr + n, rest->len - (size_t)n);
	return true;
}

/* Return the last field with this number, or empty bytes. */
static struct bytes field_of(struct bytes message, uint64_t number)
{
	struct bytes part, found = {0};
	uint64_t n;

	while (message.len && take_field(&message, &n, &part))
		if (n == number)
			found = part;
	return found;
}

/* --- reading a file --- */

static void keep(struct hadoop_tokens *t, const struct bytes part[SERVICE + 1])
{
	struct arena *a = &t->arena;

	t->item = arena_grow(a, t->item, t->count, sizeof *t->item);
	t->item[t->count++] =
		(struct hadoop_token){.identifier = arena_bytes(a, part[IDENTIFIER]),
				      .password = arena_bytes(a, part[PASSWORD]),
				      .kind = arena_strndup(a, part[KIND].ptr, part[KIND].len),
				      .service = arena_strndup(a, part[SERVICE].ptr,
							       part[SERVICE].len)};
}

static bool read_writables(struct hadoop_tokens *t, struct bytes rest)
{
	struct bytes alias, part[SERVICE + 1];
	uint64_t n;

	if (!take_vint(&rest, &n))
		return false;
	for (; n; n--) {
		if (!token_take(&rest, &alias))
			return false;
		for (size_t i = IDENTIFIER; i <= SERVICE; i++)
			if (!token_take(&rest, &part[i]))
				return false;
		keep(t, part);
	}
	return true;
}

static bool read_proto(struct hadoop_tokens *t, struct bytes rest)
{
	struct bytes entry, part[SERVICE + 1];
	uint64_t n, number;

	if (!take_varint(&rest, &n) || n != rest.len)
		return false;
	while (rest.len) {
		if (!take_field(&rest, &number, &entry))
			return false;
		struct bytes token = field_of(entry, 2);
		if (number != 1 || !token.len)
			continue;
		for (size_t i = IDENTIFIER; i <= SERVICE; i++)
			part[i] = field_of(token, i);
		keep(t, part);
	}
	return true;
}

int tokens_read(struct hadoop_tokens *out, struct bytes file, struct error *err)
{
	*out = (struct hadoop_tokens){0};
	bool headed = file.len > HEAD_BYTES && memcmp(file.ptr, MAGIC, HEAD_BYTES - 1) == 0;
	uint8_t form = headed ? file.ptr[HEAD_BYTES - 1] : UINT8_MAX;

	if (form > 1)
		return error_set(err, RC_DATA,
				 "found no credentials file of Hadoop, expected " MAGIC
				 " and the format 0 or 1 at its start");
	struct bytes rest = bytes_of(file.ptr + HEAD_BYTES, file.len - HEAD_BYTES);
	if (form ? read_proto(out, rest) : read_writables(out, rest))
		return RC_OK;
	return error_set(err, RC_DATA, "found a damaged credentials file of Hadoop");
}

void tokens_write(struct buf *b, const struct hadoop_tokens *t)
{
	buf_append(b, MAGIC, HEAD_BYTES); /* and the format 0, the NUL of the text */
	put_vint(b, t->count);
	for (size_t i = 0; i < t->count; i++) {
		const struct hadoop_token *one = &t->item[i];

		token_put(b,
			  bytes_str(one->service)); /* the alias, as Hadoop's clients choose it */
		token_put(b, one->identifier);
		token_put(b, one->password);
		token_put(b, bytes_str(one->kind));
		token_put(b, bytes_str(one->service));
	}
	put_vint(b, 0); /* secrets */
}

/* --- the user of a token --- */

bool token_is_of_hdfs(const struct hadoop_token *t)
{
	static const char *const kinds[] = {HDFS_TOKEN, WEBHDFS_TOKEN, ("S" WEBHDFS_TOKEN)};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(t->kind, kinds[i]) == 0)
			return true;
	return false;
}

/* Return the name in HBase's identifier (int32 length, TokenIdentifier) or in that of HDFS. */
static struct bytes name_in(const struct hadoop_token *t)
{
	struct bytes rest = t->identifier, name = {0};

	if (strcmp(t->kind, HBASE_TOKEN) == 0 && rest.len > 4)
		return field_of(bytes_of(rest.ptr + 4, rest.len - 4), 2);
	if (!token_is_of_hdfs(t) || !rest.len || rest.ptr[0])
		return name;
	rest = bytes_of(rest.ptr + 1, rest.len - 1);
	return token_take(&rest, &name) ? name : (struct bytes){0};
}

bool token_user(const struct hadoop_token *t, char *out, size_t size)
{
	struct bytes name = name_in(t);
	size_t n = 0;

	while (n < name.len && name.ptr[n] && name.ptr[n] != '/' && name.ptr[n] != '@')
		n++;
	if (!n || n >= size)
		return false;
	memcpy(out, name.ptr, n);
	out[n] = 0;
	return true;
}

/* --- the tokens of this process --- */

/* One state of the file. Older ones stay, because callers keep pointers to their tokens. */
struct token_file {
	struct token_file *older;
	struct hadoop_tokens tokens;
	struct stat at; /* all zeros: there was no file */
	char *problem;
};
static struct token_file *newest;

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static void read_file(const char *path, const struct stat *at)
{
	struct token_file *f = mem_calloc(1, sizeof *f);
	struct buf file = {0};
	struct error err;

	f->at = *at;
	int rc = io_read_file_upto(path, FILE_MOST, &file, &err);
	if (rc == RC_OK)
		rc = tokens_read(&f->tokens, buf_bytes(&file), &err);
	if (rc) {
		f->tokens.count = 0;
		f->problem = mem_format("HADOOP_TOKEN_FILE_LOCATION names %s: %s", path, err.msg);
	}
	buf_release(&file);
	f->older = newest;
	newest = f;
}

/* Read the file if there is a new one. An empty or damaged new file does not replace good tokens. */
static void read_again(const char *path)
{
	struct stat at = {0};

	if (stat(path, &at))
		at = (struct stat){0};
	if (newest && (same_file(&newest->at, &at) || !at.st_ino))
		return;
	struct token_file *good = newest;
	read_file(path, &at);
	if (good && good->tokens.count && !newest->tokens.count) {
		good->at = at;
		struct token_file *bad = newest;

		newest = good;
		arena_release(&bad->tokens.arena);
		mem_free(bad->problem);
		mem_free(bad);
	}
}

const struct hadoop_tokens *login_tokens(const char **problem)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static const struct hadoop_tokens none;
	const char *path = getenv("HADOOP_TOKEN_FILE_LOCATION");

	pthread_mutex_lock(&lock);
	if (path && *path)
		read_again(path);
	const struct token_file *f = newest;
	pthread_mutex_unlock(&lock);
	if (problem)
		*problem = f ? f->problem : NULL;
	return f ? &f->tokens : &none;
}

int login_token_refused(const char *servers, struct error *err)
{
	const char *file = getenv("HADOOP_TOKEN_FILE_LOCATION");
	struct error said = *err;

	return error_set(err, said.code,
			 "%s; the refused token is that of %s (HADOOP_TOKEN_FILE_LOCATION): it has "
			 "ended, or another cluster gave it. Replace it with `saltmill tokens %s "
			 "%s` and run this command again",
			 said.msg, file ? file : "", file ? file : "FILE", servers);
}
