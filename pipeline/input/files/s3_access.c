/*
 * s3_access.c - the address of an object, and the credentials of the user
 *
 * Variables come before files, as for the AWS command line: AWS_ACCESS_KEY_ID and so on, then the
 * profile AWS_PROFILE of ~/.aws/credentials and ~/.aws/config.
 */
#include <stdlib.h>
#include <string.h>

#include "input/s3_object.h"
#include "io.h"
#include "mem.h"

#define PROFILES_MOST ((size_t)1 << 20)

static const char scheme[] = "s3://";

bool s3_is_object(const char *name)
{
	return strncmp(name, scheme, sizeof scheme - 1) == 0;
}

static const char *set(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* --- profiles --- */

static char *trimmed(const char *text, size_t n)
{
	while (n && strchr(" \t\r", *text))
		text++, n--;
	while (n && strchr(" \t\r", text[n - 1]))
		n--;
	return mem_format("%.*s", (int)n, text);
}

/* Return true if the line is "[PROFILE]" or "[profile PROFILE]". */
static bool is_section(const char *line, size_t n, const char *profile, bool *ours)
{
	char *name = trimmed(line, n);
	size_t len = strlen(name);
	bool section = len > 1 && name[0] == '[' && name[len - 1] == ']';

	if (section) {
		name[len - 1] = 0;
		const char *at = strncmp(name + 1, "profile ", 8) == 0 ? name + 9 : name + 1;
		*ours = strcmp(at, profile) == 0;
	}
	mem_free(name);
	return section;
}

/* Return the value of a key in the profile's section, or NULL. */
static char *find_key(const char *text, const char *profile, const char *key)
{
	bool ours = false;
	char *out = NULL;

	for (const char *line = text, *end; *line && !out; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		const char *equals = memchr(line, '=', (size_t)(end - line));

		if (is_section(line, (size_t)(end - line), profile, &ours) || !ours || !equals)
			continue;
		char *name = trimmed(line, (size_t)(equals - line));
		if (strcmp(name, key) == 0)
			out = trimmed(equals + 1, (size_t)(end - equals - 1));
		mem_free(name);
	}
	return out;
}

/* Return a key of a file that `variable` names, by default ~/.aws/NAME, or NULL. */
static char *of_profile(const char *variable, const char *name, const char *key)
{
	const char *home = set("HOME"), *given = set(variable), *profile = set("AWS_PROFILE");
	char *path = given ? mem_strdup(given) : mem_format("%s/.aws/%s", home ? home : "", name);
	struct buf text = {0};
	struct error unsaid;
	char *out = NULL;

	if (io_read_file_upto(path, PROFILES_MOST, &text, &unsaid) == RC_OK) {
		buf_put(&text, 0);
		out = find_key((const char *)text.ptr, profile ? profile : "default", key);
	}
	buf_release(&text);
	mem_free(path);
	return out;
}

/* Return the value of a variable, or else of a key of the profile, or NULL. */
static char *setting(const char *variable, const char *key)
{
	const char *value = set(variable);

	return value ? mem_strdup(value) : of_profile("AWS_CONFIG_FILE", "config", key);
}

/* --- the address --- */

/* Append the key as RFC 3986 writes it. The signature covers the same text. */
static void put_key(struct buf *out, const char *key)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789-._~/";

	for (; *key; key++) {
		if (strchr(plain, *key))
			buf_put(out, (uint8_t)*key);
		else
			buf_printf(out, "%%%02X", (unsigned char)*key);
	}
}

/*
 * A server other than AWS has the bucket in its path. AWS has it in the host's name, unless a dot
 * in the bucket's name would not match the certificate.
 */
static char *make_url(const char *bucket, size_t n, const char *key, const char *region)
{
	const char *own = set("AWS_ENDPOINT_URL_S3");
	char *endpoint = own ? mem_strdup(own) : setting("AWS_ENDPOINT_URL", "endpoint_url");
	struct buf url = {0};

	if (endpoint) {
		size_t len = strlen(endpoint);

		while (len && endpoint[len - 1] == '/')
			len--;
		buf_printf(&url, "%.*s/%.*s/", (int)len, endpoint, (int)n, bucket);
	} else if (memchr(bucket, '.', n)) {
		buf_printf(&url, "https://s3.%s.amazonaws.com/%.*s/", region, (int)n, bucket);
	} else {
		buf_printf(&url, "https://%.*s.s3.%s.amazonaws.com/", (int)n, bucket, region);
	}
	put_key(&url, key);
	buf_put(&url, 0);
	mem_free(endpoint);
	char *out = mem_strdup((const char *)url.ptr);
	buf_release(&url);
	return out;
}

static int find_credentials(struct s3_access *a, struct error *err)
{
	static const char file[] = "AWS_SHARED_CREDENTIALS_FILE";
	const char *id = set("AWS_ACCESS_KEY_ID"), *secret = set("AWS_SECRET_ACCESS_KEY"),
		   *session = set("AWS_SESSION_TOKEN");

	if (id && secret) {
		a->key_id = mem_strdup(id);
		a->secret = mem_strdup(secret);
		a->session = session ? mem_strdup(session) : NULL;
		return RC_OK;
	}
	a->key_id = of_profile(file, "credentials", "aws_access_key_id");
	a->secret = of_profile(file, "credentials", "aws_secret_access_key");
	a->session = of_profile(file, "credentials", "aws_session_token");
	if (a->key_id && a->secret)
		return RC_OK;
	return error_set(err, RC_CONFIG,
			 "found no credentials, expected AWS_ACCESS_KEY_ID and "
			 "AWS_SECRET_ACCESS_KEY, or the profile `%s` in ~/.aws/credentials",
			 set("AWS_PROFILE") ? set("AWS_PROFILE") : "default");
}

static char *find_region(void)
{
	const char *other = set("AWS_DEFAULT_REGION");
	char *region =
		set("AWS_REGION") || !other ? setting("AWS_REGION", "region") : mem_strdup(other);

	return region ? region : mem_strdup("us-east-1");
}

int s3_access_find(struct s3_access *out, const char *uri, struct error *err)
{
	const char *bucket = uri + sizeof scheme - 1;
	size_t n = strcspn(bucket, "/");

	*out = (struct s3_access){0};
	if (!n || !bucket[n] || !bucket[n + 1])
		return error_set(err, RC_CONFIG, "expected s3://BUCKET/KEY");
	int rc = find_credentials(out, err);
	if (rc)
		return rc;
	out->region = find_region();
	out->url = make_url(bucket, n, bucket + n + 1, out->region);
	return RC_OK;
}

void s3_access_release(struct s3_access *a)
{
	mem_free(a->url);
	mem_free(a->region);
	mem_free(a->key_id);
	mem_free(a->secret);
	mem_free(a->session);
	*a = (struct s3_access){0};
}
