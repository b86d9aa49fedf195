/*
 * reader_extras.c - master keys of encrypted files, and ZSTD dictionaries (reader_extras.h)
 *
 * HBase encrypts each block with AES-128 in counter mode. The trailer has the file's key, which a
 * master key of the cluster encrypts (class EncryptionUtil). A hash of the file's key shows whether a
 * master key fits. Messages never contain keys.
 */
#include "reader_extras.h"

#include <openssl/evp.h>
#include <zstd.h>

#include "kv.h"
#include "late.h"
#include "mem.h"

#define KEYS_MOST     64
#define DICTIONARY_ID 0x37a430ec /* the first 4 bytes */
#define WIRE_VARINT   0
#define WIRE_BYTES    2
#define GIVE_MASTER_KEY                                                                            \
	"write the master key of the cluster (hbase.crypto.master.key.name) to a file, as 32 hex " \
	"digits, and name the file (program: --master-keys FILE)"

struct dictionary {
	uint32_t id;
	ZSTD_DDict *it;
};

struct hfile_extras {
	uint8_t keys[KEYS_MOST][HEXTRAS_KEY_BYTES];
	size_t nkeys;
	struct dictionary *dictionaries;
	size_t ndictionaries, cap;
};

static const struct hfile_extras *used;

void hfile_extras_use(const struct hfile_extras *x)
{
	used = x;
}

const struct hfile_extras *hfile_extras_used(void)
{
	return used;
}

struct hfile_extras *hfile_extras_new(void)
{
	return mem_try_calloc(1, sizeof(struct hfile_extras));
}

void hfile_extras_free(struct hfile_extras *x)
{
	if (!x)
		return;
	for (size_t i = 0; i < x->ndictionaries; i++)
		ZSTD_freeDDict(x->dictionaries[i].it);
	mem_free(x->dictionaries);
	explicit_bzero(x->keys, sizeof x->keys);
	mem_free(x);
}

/* --- master keys --- */

static bool is_space(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct bytes trim(struct bytes line)
{
	while (line.len && is_space(*line.ptr))
		line = bytes_of(line.ptr + 1, line.len - 1);
	while (line.len && is_space(line.ptr[line.len - 1]))
		line.len--;
	return line;
}

static bool read_key(uint8_t out[HEXTRAS_KEY_BYTES], struct bytes line)
{
	char hex[2 * HEXTRAS_KEY_BYTES + 1];

	if (line.len != sizeof hex - 1)
		return false;
	for (size_t i = 0; i < line.len; i++)
		hex[i] = (char)(line.ptr[i] >= 'A' && line.ptr[i] <= 'F' ? line.ptr[i] | 0x20
									 : line.ptr[i]);
	hex[line.len] = 0;
	bool good = bytes_unhex(out, HEXTRAS_KEY_BYTES, hex);
	explicit_bzero(hex, sizeof hex);
	return good;
}

int hfile_extras_add_keys(struct hfile_extras *x, const char *name, struct bytes text,
			  struct error *err)
{
	const uint8_t *p = text.ptr, *end = p + text.len;
	size_t before = x->nkeys;

	for (size_t number = 1; p < end; number++) {
		const uint8_t *stop = memchr(p, '\n', (size_t)(end - p));
		struct bytes line = trim(bytes_of(p, (size_t)((stop ? stop : end) - p)));

		p = stop ? stop + 1 : end;
		if (line.len == 0 || *line.ptr == '#')
			continue;
		if (x->nkeys == KEYS_MOST)
			return error_set(err, RC_CONFIG,
					 "%s:%zu: found more than %d master keys, expected fewer",
					 name, number, KEYS_MOST);
		if (!read_key(x->keys[x->nkeys], line))
			return error_set(err, RC_CONFIG,
					 "%s:%zu: found %zu characters that are not a master key, "
					 "expected 32 hex digits (AES-128) on each line",
					 name, number, line.len);
		x->nkeys++;
	}
	if (x->nkeys > before)
		return RC_OK;
	return error_set(err, RC_CONFIG,
			 "%s: found no master key, expected 32 hex digits on each line", name);
}

/* --- the file's key: protobuf message WrappedKey, after its length --- */

struct wrapped {
	struct bytes algorithm, data, iv, hash, hash_algorithm;
	uint64_t key_bytes;
};

static bool take_field(struct wrapped *w, const uint8_t **p, const uint8_t *end)
{
	struct bytes *const texts[] = {NULL,	 &w->algorithm,	    NULL, &w->data, &w->iv,
				       &w->hash, &w->hash_algorithm};
	uint64_t tag, v;
	size_t n = get_varint(*p, end, &tag), m = n ? get_varint(*p + n, end, &v) : 0;

	if (m == 0)
		return false;
	*p += n + m;
	if (tag == (2 << 3 | WIRE_VARINT)) {
		w->key_bytes = v;
		return true;
	}
	if ((tag & 7) != WIRE_BYTES || v > (uint64_t)(end - *p))
		return (tag & 7) == WIRE_VARINT;
	if (tag >> 3 < sizeof texts / sizeof *texts && texts[tag >> 3])
		*texts[tag >> 3] = bytes_of(*p, (size_t)v);
	*p += v;
	return true;
}

static int parse_wrapped(struct wrapped *w, struct bytes in, struct error *err)
{
	const uint8_t *p = in.ptr, *end = p + in.len;
	uint64_t len = 0;
	size_t n = get_varint(p, end, &len);
	bool good = n && len == (uint64_t)(end - p) - n;

	*w = (struct wrapped){.hash_algorithm = bytes_str("MD5")};
	for (p += n; good && p < end;)
		good = take_field(w, &p, end);
	if (!good)
		return error_set(
			err, RC_DATA,
			"trailer: found a damaged encryption key, expected HBase's message "
			"WrappedKey");
	if (bytes_eq(w->algorithm, bytes_str("AES")) && w->key_bytes == HEXTRAS_KEY_BYTES &&
	    w->data.len == HEXTRAS_KEY_BYTES && w->iv.len == HEXTRAS_KEY_BYTES)
		return RC_OK;
	char shown[40];
	hfile_kv_show(shown, sizeof shown, w->algorithm);
	return error_set(
		err, RC_DATA,
		"found encryption %s with a key of %llu bytes, expected AES with 16 bytes; "
		"run `major_compact` with ENCRYPTION AES of the family",
		shown, (unsigned long long)w->key_bytes);
}

/* AES-128 in counter mode. The counter is the whole IV, big-endian. `to` may be `from`. */
static int decrypt(const uint8_t *key, const uint8_t *iv, const uint8_t *from, uint8_t *to,
		   size_t len, struct error *err)
{
	EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
	int n = 0;

	if (!c)
		return error_memory(err, len, "decryption");
	bool good = EVP_DecryptInit_ex(c, EVP_aes_128_ctr(), NULL, key, iv) == 1 &&
		    EVP_DecryptUpdate(c, to, &n, from, (int)len) == 1;
	EVP_CIPHER_CTX_free(c);
	return good ? RC_OK : error_memory(err, len, "decryption with OpenSSL");
}

/* Return true for a hash that each OpenSSL has, so that only a lack of memory hides it. */
static bool is_usual_hash(const char *name)
{
	return strcmp(name, "MD5") == 0 || strncmp(name, "SHA-", 4) == 0;
}

static int hash_of(EVP_MD **out, const struct wrapped *w, struct error *err)
{
	char name[40];

	*out = NULL;
	hfile_kv_show(name, sizeof name, w->hash_algorithm);
	if (w->hash.len == 0)
		return RC_OK;
	*out = EVP_MD_fetch(NULL, name, NULL);
	if (!*out && is_usual_hash(name))
		return error_memory(err, 1, "a hash of OpenSSL");
	return *out ? RC_OK
		    : error_set(
			      err, RC_DATA,
			      "found the hash \"%s\" of the file's key, expected one that OpenSSL "
			      "has, such as MD5 or SHA-256 (hbase.crypto.key.hash.algorithm)",
			      name);
}

static int compare_hash(const EVP_MD *m, const uint8_t *key, struct bytes hash, bool *fits,
			struct error *err)
{
	uint8_t found[EVP_MAX_MD_SIZE];
	unsigned n = 0;

	if (m && EVP_Digest(key, HEXTRAS_KEY_BYTES, found, &n, m, NULL) != 1)
		return error_memory(err, 1, "a hash of OpenSSL");
	*fits = !m || bytes_eq(bytes_of(found, n), hash);
	return RC_OK;
}

int hfile_extras_unwrap(const struct hfile_extras *x, struct bytes wrapped,
			uint8_t key[HEXTRAS_KEY_BYTES], struct error *err)
{
	struct wrapped w;
	EVP_MD *m = NULL;
	bool fits = false;
	int rc = parse_wrapped(&w, wrapped, err);

	if (rc)
		return rc;
	if (!x || x->nkeys == 0)
		return error_set(err, RC_CONFIG,
				 "found an encrypted file, because its family has ENCRYPTION AES, "
				 "expected a master key; " GIVE_MASTER_KEY);
	rc = late_need(LATE_CRYPTO, err);
	if (rc == RC_OK)
		rc = hash_of(&m, &w, err);
	for (size_t i = 0; rc == RC_OK && !fits && i < x->nkeys; i++) {
		rc = decrypt(x->keys[i], w.iv.ptr, w.data.ptr, key, HEXTRAS_KEY_BYTES, err);
		if (rc == RC_OK)
			rc = compare_hash(m, key, w.hash, &fits, err);
	}
	if (m)
		EVP_MD_free(m);
	return rc || fits
		       ? rc
		       : error_set(
				 err, RC_CONFIG,
				 "found no master key that opens this encrypted file, expected one of "
				 "the %zu given; " GIVE_MASTER_KEY,
				 x->nkeys);
}

int hfile_extras_decrypt(const uint8_t key[HEXTRAS_KEY_BYTES], uint8_t *ptr, size_t len,
			 struct bytes *payload, struct error *err)
{
	const size_t head = 1 + HEXTRAS_KEY_BYTES;

	*payload = bytes_of(ptr + 1, 0);
	if (len == 1 && *ptr == 0) /* a block without bytes */
		return RC_OK;
	if (len < head || *ptr != HEXTRAS_KEY_BYTES)
		return error_set(err, RC_DATA,
				 "found an encrypted block of %zu bytes without an IV of %d bytes, "
				 "expected one at its start",
				 len, HEXTRAS_KEY_BYTES);
	*payload = bytes_of(ptr + head, len - head);
	return decrypt(key, ptr + 1, ptr + head, ptr + head, len - head, err);
}

/* --- dictionaries --- */

/* Return true if libzstd finds the dictionary damaged, by a frame without content. */
static bool is_damaged(struct bytes dictionary)
{
	static const uint8_t frame[] = {0x28, 0xb5, 0x2f, 0xfd, 0x20, 0, 1, 0, 0};
	ZSTD_DCtx *c = ZSTD_createDCtx();
	uint8_t none;
	size_t n = c ? ZSTD_decompress_usingDict(c, &none, 0, frame, sizeof frame, dictionary.ptr,
						 dictionary.len)
		     : 0;

	ZSTD_freeDCtx(c);
	return ZSTD_isError(n);
}

int hfile_extras_add_dictionary(struct hfile_extras *x, const char *name, struct bytes content,
				struct error *err)
{
	if (content.len < 8 || get_be32(content.ptr) != DICTIONARY_ID)
		return error_set(
			err, RC_CONFIG,
			"%s: found no ZSTD dictionary, expected a file that begins with 37 "
			"a4 30 ec, as `zstd --train` writes",
			name);
	struct dictionary *d =
		mem_try_reserve(x->dictionaries, &x->cap, x->ndictionaries + 1, sizeof *d);
	if (!d)
		return error_memory(err, sizeof *d, name);
	x->dictionaries = d;
	d += x->ndictionaries;
	*d = (struct dictionary){ZSTD_getDictID_fromDict(content.ptr, content.len),
				 ZSTD_createDDict(content.ptr, content.len)};
	if (!d->it && !is_damaged(content))
		return error_memory(err, content.len, name);
	if (!d->it)
		return error_set(err, RC_CONFIG,
				 "%s: found a ZSTD dictionary that libzstd cannot load, expected "
				 "the whole file that `zstd --train` wrote",
				 name);
	x->ndictionaries++;
	return RC_OK;
}

const void *hfile_extras_dictionary(const struct hfile_extras *x, uint32_t id)
{
	for (size_t i = 0; x && i < x->ndictionaries; i++)
		if (x->dictionaries[i].id == id)
			return x->dictionaries[i].it;
	return NULL;
}
