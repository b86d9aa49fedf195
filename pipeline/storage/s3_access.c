/*
 * s3_access.c - the address of a bucket, and the credentials of the user
 *
 * The order is that of the AWS command line: AWS_ACCESS_KEY_ID and so on, then the profile
 * AWS_PROFILE of ~/.aws/credentials and ~/.aws/config, then the role of the machine.
 */
#include <stdlib.h>
#include <string.h>

#include "io.h"
#include "mem.h"
#include "s3.h"

#define PROFILES_MOST ((size_t)1 << 20)

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

/* Return a key of the profile's credentials, which may be in either file, or NULL. */
static char *credential(const char *key)
{
	char *value = of_profile("AWS_SHARED_CREDENTIALS_FILE", "credentials", key);

	return value ? value : of_profile("AWS_CONFIG_FILE", "config", key);
}

/* --- the address --- */

/*
 * A server other than AWS has the bucket in its path. AWS has it in the host's name, unless a dot
 * in the bucket's name would not match the certificate.
 */
static char *make_url(const char *bucket, const char *region)
{
	const char *own = set("AWS_ENDPOINT_URL_S3");
	char *endpoint = own ? mem_strdup(own) : setting("AWS_ENDPOINT_URL", "endpoint_url");
	char *url;

	if (endpoint) {
		size_t len = strlen(endpoint);

		while (len && endpoint[len - 1] == '/')
			len--;
		url = mem_format("%.*s/%s", (int)len, endpoint, bucket);
	} else if (strchr(bucket, '.')) {
		url = mem_format("https://s3.%s.amazonaws.com/%s", region, bucket);
	} else {
		url = mem_format("https://%s.s3.%s.amazonaws.com", bucket, region);
	}
	mem_free(endpoint);
	return url;
}

/* Take the credentials of the machine's role. *region receives the machine's region, or NULL. */
static bool take_role(struct s3_access *a, char **region)
{
	struct s3_role role;

	if (!s3_role_find(&role))
		return false;
	mem_free(a->key_id);
	mem_free(a->secret);
	mem_free(a->session);
	a->key_id = role.key_id;
	a->secret = role.secret;
	a->session = role.session;
	a->end_s = role.end_s;
	*region = role.region;
	return true;
}

static int find_credentials(struct s3_access *a, char **region, struct error *err)
{
	const char *id = set("AWS_ACCESS_KEY_ID"), *secret = set("AWS_SECRET_ACCESS_KEY"),
		   *session = set("AWS_SESSION_TOKEN");

	if (id && secret) {
		a->key_id = mem_strdup(id);
		a->secret = mem_strdup(secret);
		a->session = session ? mem_strdup(session) : NULL;
		return RC_OK;
	}
	a->key_id = credential("aws_access_key_id");
	a->secret = credential("aws_secret_access_key");
	a->session = credential("aws_session_token");
	if ((a->key_id && a->secret) || take_role(a, region))
		return RC_OK;
	return error_set(err, RC_CONFIG,
			 "found no credentials, expected AWS_ACCESS_KEY_ID and "
			 "AWS_SECRET_ACCESS_KEY, or the profile `%s` in ~/.aws/credentials, or a "
			 "role of this machine",
			 set("AWS_PROFILE") ? set("AWS_PROFILE") : "default");
}

/* `own` is the region of this machine, or NULL. */
static char *find_region(const char *own)
{
	const char *other = set("AWS_DEFAULT_REGION");
	char *region =
		set("AWS_REGION") || !other ? setting("AWS_REGION", "region") : mem_strdup(other);

	return region ? region : mem_strdup(own ? own : "us-east-1");
}

int s3_access_find(struct s3_access *out, const char *bucket, struct error *err)
{
	char *own = NULL;

	*out = (struct s3_access){0};
	int rc = find_credentials(out, &own, err);
	if (rc == RC_OK) {
		out->region = find_region(own);
		out->url = make_url(bucket, out->region);
	}
	mem_free(own);
	return rc;
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
