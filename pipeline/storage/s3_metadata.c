/*
 * s3_metadata.c - the credentials of the machine's role, from the metadata service of EC2 (IMDSv2)
 *
 * A PUT gets a token, and each GET proves with it that no proxy has sent the request. The service
 * is on a link-local address, which does not answer on other machines.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "late.h"
#include "s3.h"

#define SERVICE	    "http://169.254.169.254"
#define CONNECT_MS  1000L
#define EXCHANGE_MS 5000L
#define TEXT_MOST   ((size_t)64 << 10)
#define TTL	    "X-aws-ec2-metadata-token-ttl-seconds: 21600"

static size_t take_text(char *data, size_t size, size_t n, void *ctx)
{
	struct buf *text = ctx;

	if (text->len + size * n > TEXT_MOST)
		return 0;
	buf_append(text, data, size * n);
	return size * n;
}

/* Send one request. Returns the text of an answer 200, which the caller owns, or NULL. */
static char *ask_service(const char *method, const char *path, const char *header)
{
	const char *given = getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT");
	char *url = mem_format("%s%s", given && *given ? given : SERVICE, path), *out = NULL;
	struct curl_slist *lines = curl_slist_append(NULL, header);
	struct buf text = {0};
	long status = 0;
	CURL *c = curl_easy_init();

	if (c && lines) {
		curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
		curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http");
		curl_easy_setopt(c, CURLOPT_NOPROXY, "*");
		curl_easy_setopt(c, CURLOPT_URL, url);
		curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, method);
		curl_easy_setopt(c, CURLOPT_HTTPHEADER, lines);
		curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
		curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, EXCHANGE_MS);
		curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take_text);
		curl_easy_setopt(c, CURLOPT_WRITEDATA, &text);
		if (curl_easy_perform(c) == CURLE_OK)
			curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
	}
	if (status == 200 && text.len) {
		buf_put(&text, 0);
		out = mem_strdup((const char *)text.ptr);
	}
	curl_easy_cleanup(c);
	curl_slist_free_all(lines);
	buf_release(&text);
	mem_free(url);
	return out;
}

static char *member(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text && *text ? mem_strdup(text) : NULL;
}

/* Read {"AccessKeyId": ..., "Expiration": "2026-11-27T08:00:00Z"}. */
static bool read_role(struct s3_role *out, const char *text)
{
	json_t *root = json_loads(text, 0, NULL);
	const char *end = json_string_value(json_object_get(root, "Expiration"));
	struct tm at = {0};

	out->key_id = member(root, "AccessKeyId");
	out->secret = member(root, "SecretAccessKey");
	out->session = member(root, "Token");
	if (end && strptime(end, "%Y-%m-%dT%H:%M:%S", &at))
		out->end_s = timegm(&at);
	json_decref(root);
	return out->key_id && out->secret;
}

/* Find the name of the role, then its credentials. */
static bool ask_role(struct s3_role *out, const char *proof)
{
	static const char folder[] = "/latest/meta-data/iam/security-credentials/";
	char *name = ask_service("GET", folder, proof);

	if (!name)
		return false;
	name[strcspn(name, "\r\n")] = 0;
	char *path = mem_format("%s%s", folder, name), *text = ask_service("GET", path, proof);
	bool known = text && read_role(out, text);
	mem_free(text);
	mem_free(path);
	mem_free(name);
	return known;
}

bool s3_role_find(struct s3_role *out)
{
	const char *off = getenv("AWS_EC2_METADATA_DISABLED");

	*out = (struct s3_role){0};
	if (off && strcmp(off, "true") == 0)
		return false;
	char *token = ask_service("PUT", "/latest/api/token", TTL);
	if (!token)
		return false;
	char *proof = mem_format("X-aws-ec2-metadata-token: %s", token);
	bool known = ask_role(out, proof);
	if (known)
		out->region = ask_service("GET", "/latest/meta-data/placement/region", proof);
	mem_free(proof);
	mem_free(token);
	if (known)
		return true;
	mem_free(out->key_id);
	mem_free(out->secret);
	mem_free(out->session);
	return false;
}
