/* topic_ids.c - Kafka's requests ApiVersions, SaslAuthenticate and Metadata */
#include "topic_ids.h"

#include <string.h>
#include <strings.h>

#include "broker_link.h"
#include "clock.h"
#include "late.h"
#include "mem.h"
#include "pool.h"

#define WAIT_S	    5
#define ANSWER_MOST (8u << 20)

enum { METADATA = 3, SASL_HANDSHAKE = 17, API_VERSIONS = 18, SASL_AUTHENTICATE = 36 };
#define METADATA_VERSION 10 /* the first version with ids, from Kafka 2.8 */

/* --- settings --- */

static const char *const access_names[ACCESS_KEYS] = {
	[ACCESS_PROTOCOL] = "security.protocol",
	[ACCESS_MECHANISM] = "sasl.mechanism",
	[ACCESS_USER] = "sasl.username",
	[ACCESS_PASSWORD] = "sasl.password",
	[ACCESS_CA] = "ssl.ca.location",
	[ACCESS_CERTIFICATE] = "ssl.certificate.location",
	[ACCESS_KEY] = "ssl.key.location",
	[ACCESS_KEY_PASSWORD] = "ssl.key.password",
	[ACCESS_VERIFY] = "enable.ssl.certificate.verification",
	[ACCESS_VERIFY_NAME] = "ssl.endpoint.identification.algorithm",
};

void broker_access_note(struct broker_access *a, const struct property *p)
{
	const char *name = strcmp(p->name, "sasl.mechanisms") == 0 ? "sasl.mechanism" : p->name;
	int i = 0;

	while (i < ACCESS_KEYS && strcmp(name, access_names[i]) != 0)
		i++;
	if (i < ACCESS_KEYS) {
		mem_free(a->value[i]);
		a->value[i] = mem_strdup(p->value);
	} else if (strncmp(name, "ssl.", 4) == 0) {
		a->beyond = true; /* the keys have another form */
	}
}

void broker_access_release(struct broker_access *a)
{
	for (int i = 0; i < ACCESS_KEYS; i++) {
		if (a->value[i])
			explicit_bzero(a->value[i], strlen(a->value[i]));
		mem_free(a->value[i]);
	}
	*a = (struct broker_access){0};
}

static bool is_set(const struct broker_access *a, enum access_key key, const char *value)
{
	return a->value[key] && strcasecmp(a->value[key], value) == 0;
}

static bool has_login(const struct broker_access *a)
{
	return is_set(a, ACCESS_PROTOCOL, "sasl_plaintext") ||
	       is_set(a, ACCESS_PROTOCOL, "sasl_ssl");
}

/* --- a connection --- */

struct link {
	struct broker_link broker;
	int32_t sent;
	struct buf answer;
};

static bool receive(struct link *l, size_t len)
{
	l->answer.len = 0;
	if (!broker_link_receive(&l->broker, buf_reserve(&l->answer, len), len))
		return false;
	l->answer.len = len;
	return true;
}

static void put16(struct buf *b, uint32_t v)
{
	put_be16(buf_reserve(b, 2), (uint16_t)v);
	b->len += 2;
}

static void put32(struct buf *b, uint32_t v)
{
	put_be32(buf_reserve(b, 4), v);
	b->len += 4;
}

static void put_text(struct buf *b, const char *s)
{
	put16(b, (uint32_t)strlen(s));
	buf_append_str(b, s);
}

/*
 * Write the length of a compact array or text. The encoding is the length plus one, in groups of 7
 * bits.
 */
static void put_count(struct buf *b, size_t n)
{
	for (n++; n >= 0x80; n >>= 7)
		buf_put(b, (uint8_t)(n | 0x80));
	buf_put(b, (uint8_t)n);
}

/* Send a request and receive its answer, without the correlation id, into `l->answer`. */
static bool call(struct link *l, int api, int version, const struct buf *body, struct bytes *out)
{
	struct buf b = {0};

	put32(&b, 0);
	put16(&b, (uint32_t)api);
	put16(&b, (uint32_t)version);
	put32(&b, (uint32_t)++l->sent);
	put_text(&b, "saltmill");
	if (api == METADATA)
		buf_put(&b, 0); /* no tags */
	buf_append(&b, body->ptr, body->len);
	put_be32(b.ptr, (uint32_t)b.len - 4);
	bool good = broker_link_send(&l->broker, buf_bytes(&b)) && receive(l, 4);
	explicit_bzero(b.ptr, b.cap);
	buf_release(&b);
	uint32_t len = good ? get_be32(l->answer.ptr) : 0;
	if (!good || len < 4 || len > ANSWER_MOST || !receive(l, len) ||
	    get_be32(l->answer.ptr) != (uint32_t)l->sent)
		return false;
	*out = bytes_of(l->answer.ptr + 4, len - 4);
	return true;
}

/* --- reading answers --- */

struct answer_cursor {
	const uint8_t *at, *end;
	bool bad;
};

static const uint8_t *take(struct answer_cursor *c, size_t n)
{
	static const uint8_t zeros[16];

	if ((size_t)(c->end - c->at) < n) {
		c->bad = true;
		return zeros;
	}
	c->at += n;
	return c->at - n;
}

static uint32_t take_varint(struct answer_cursor *c)
{
	uint32_t v = 0;

	for (int shift = 0; shift < 35 && !c->bad; shift += 7) {
		uint8_t byte = *take(c, 1);

		v |= (uint32_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
	c->bad = true;
	return 0;
}

static uint32_t take_count(struct answer_cursor *c)
{
	uint32_t n = take_varint(c);

	return n ? n - 1 : 0;
}

static struct bytes take_text(struct answer_cursor *c)
{
	uint32_t n = take_count(c);
	const uint8_t *at = (size_t)(c->end - c->at) < n ? NULL : take(c, n);

	c->bad = c->bad || !at;
	return bytes_of(at, at ? n : 0);
}

static void skip_tags(struct answer_cursor *c)
{
	for (uint32_t n = take_varint(c); n && !c->bad; n--) {
		take_varint(c);
		uint32_t len = take_varint(c);

		if ((size_t)(c->end - c->at) < len)
			c->bad = true;
		else
			c->at += len;
	}
}

static void skip_numbers(struct answer_cursor *c)
{
	for (uint32_t n = take_count(c); n && !c->bad; n--)
		take(c, 4);
}

static void skip_brokers(struct answer_cursor *c)
{
	for (uint32_t n = take_count(c); n && !c->bad; n--) {
		take(c, 4);
		take_text(c);
		take(c, 4);
		take_text(c); /* the rack */
		skip_tags(c);
	}
}

static void skip_partitions(struct answer_cursor *c)
{
	for (uint32_t n = take_count(c); n && !c->bad; n--) {
		take(c, 14); /* error, number, leader, epoch */
		for (int i = 0; i < 3; i++)
			skip_numbers(c);
		skip_tags(c);
	}
}

/* Write an id as Kafka's tools do. Write an empty text if all bytes are 0, because the topic then
 * has no id. */
static void write_id(char out[TOPIC_ID_SIZE], const uint8_t id[16])
{
	static const uint8_t none[16];
	struct buf b = {0};

	out[0] = 0;
	if (memcmp(id, none, sizeof none) == 0)
		return;
	text_base64(&b, bytes_of(id, 16));
	for (int i = 0; i < TOPIC_ID_SIZE - 1; i++)
		out[i] = (char)(b.ptr[i] == '+' ? '-' : b.ptr[i] == '/' ? '_' : b.ptr[i]);
	out[TOPIC_ID_SIZE - 1] = 0;
	buf_release(&b);
}

bool topic_ids_read(struct bytes answer, struct topic_id *t, size_t n)
{
	struct answer_cursor c = {answer.ptr, answer.ptr + answer.len, false};

	skip_tags(&c);
	take(&c, 4); /* throttle time */
	skip_brokers(&c);
	take_text(&c); /* cluster */
	take(&c, 4);   /* controller */
	for (uint32_t left = take_count(&c); left && !c.bad; left--) {
		bool there = get_be16(take(&c, 2)) == 0;
		struct bytes name = take_text(&c);
		const uint8_t *id = take(&c, 16);

		take(&c, 1); /* internal */
		skip_partitions(&c);
		take(&c, 4); /* authorized operations */
		skip_tags(&c);
		for (size_t i = 0; i < n && there && !c.bad; i++)
			if (bytes_eq(name, bytes_str(t[i].name)))
				write_id(t[i].id, id);
	}
	return !c.bad;
}

/* --- asking --- */

static bool supports_ids(struct link *l)
{
	struct bytes b;
	const struct buf nothing = {0};

	if (!call(l, API_VERSIONS, 0, &nothing, &b) || b.len < 6 || get_be16(b.ptr) != 0)
		return false;
	for (size_t at = 6; at + 6 <= b.len; at += 6)
		if (get_be16(b.ptr + at) == METADATA)
			return get_be16(b.ptr + at + 2) <= METADATA_VERSION &&
			       get_be16(b.ptr + at + 4) >= METADATA_VERSION;
	return false;
}

static bool log_in(struct link *l, const struct broker_access *a)
{
	struct buf body = {0};
	struct bytes b;

	put_text(&body, "PLAIN");
	bool good = call(l, SASL_HANDSHAKE, 1, &body, &b) && b.len >= 2 && get_be16(b.ptr) == 0;
	body.len = 0;
	put32(&body, 0);
	buf_put(&body, 0);
	buf_append_str(&body, a->value[ACCESS_USER]);
	buf_put(&body, 0);
	buf_append_str(&body, a->value[ACCESS_PASSWORD]);
	put_be32(body.ptr, (uint32_t)body.len - 4);
	good = good && call(l, SASL_AUTHENTICATE, 0, &body, &b) && b.len >= 2 &&
	       get_be16(b.ptr) == 0;
	explicit_bzero(body.ptr, body.cap);
	buf_release(&body);
	return good;
}

static bool ask_broker(struct link *l, const struct broker_access *a, struct topic_id *t, size_t n,
		       const char **why)
{
	struct buf body = {0};
	struct bytes answer;

	*why = "no broker answers";
	if (has_login(a) && !log_in(l, a))
		return false;
	if (!supports_ids(l)) {
		*why = "the brokers are older than Kafka 2.8";
		return false;
	}
	put_count(&body, n);
	for (size_t i = 0; i < n; i++) {
		memset(buf_reserve(&body, 16), 0, 16);
		body.len += 16;
		put_count(&body, strlen(t[i].name));
		buf_append_str(&body, t[i].name);
		buf_put(&body, 0);
	}
	memset(buf_reserve(&body, 4), 0, 4); /* create no topic, list no rights; no tags */
	body.len += 4;
	bool good =
		call(l, METADATA, METADATA_VERSION, &body, &answer) && topic_ids_read(answer, t, n);
	buf_release(&body);
	return good;
}

bool topic_ids_ask(const struct broker_access *a, const char *brokers, struct topic_id *t, size_t n,
		   const char **why)
{
	struct error ignored;
	struct link l = {.broker = {.end = clock_seconds() + WAIT_S}};
	bool good = false, more = true,
	     plain = is_set(a, ACCESS_MECHANISM, "PLAIN") && a->value[ACCESS_USER] &&
		     a->value[ACCESS_PASSWORD];

	*why = "saltmill does not speak this SASL mechanism, or TLS with these properties";
	if (a->beyond || (has_login(a) && !plain))
		return false;
	*why = "libcurl is missing";
	if (broker_access_has_tls(a) && late_need(LATE_CURL, &ignored))
		return false;
	*why = "no broker answers";
	while (!good && more && clock_seconds() < l.broker.end) {
		for (size_t i = 0; i < n; i++)
			t[i].id[0] = 0;
		good = broker_link_next(&l.broker, a, &brokers, &more) &&
		       ask_broker(&l, a, t, n, why);
		broker_link_close(&l.broker);
	}
	buf_release(&l.answer);
	for (size_t i = 0; i < n && !good; i++)
		t[i].id[0] = 0;
	if (good)
		*why = NULL;
	return good;
}
