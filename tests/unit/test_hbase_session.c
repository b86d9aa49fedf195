/*
 * Tests a session with a server that sends whole, cut, late, missing and damaged answers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "hbase.h"
#include "hex.h"
#include "pipeline/hbase/rpc/rpc.h"
#include "pipeline/hbase/rpc/session.h"
#include "pipeline/hbase/rpc/wire.h"

#define CLUSTER_ID                                                                                 \
	"0000002a020801260a2463376661613964652d623262332d346664332d613465622d373162653331613638"   \
	"653531"
#define KERBEROS                                                                                   \
	"0000005f5e08ffffffff0f12560a366f72672e6170616368652e6861646f6f702e68626173652e7365637572" \
	"6974792e41636365737344656e696564457863657074696f6e121a41757468656e7469636174696f6e206973" \
	"2072657175697265642801"

/* The server's part on one connection. The server first reads and checks the preamble. */
struct turn {
	/* hex to send after one request, with the call's number as byte 6; NULL to close instead */
	const char *answer;
	size_t cut; /* number of bytes to send, or 0 for all bytes */
	int delay_ms;
	bool as_it_is; /* does not replace the call's number */
	bool early;    /* without waiting for a request */
	bool slowly;   /* byte by byte */
	bool go_on;    /* the next turn uses the same connection */
};

struct server {
	int fd;
	uint16_t port;
	const struct turn *turns;
	size_t nturns, accepted;
	pthread_t thread;
};

static bool read_exactly(int fd, uint8_t *to, size_t n)
{
	while (n) {
		ssize_t got = recv(fd, to, n, 0);

		if (got <= 0)
			return false;
		to += got;
		n -= (size_t)got;
	}
	return true;
}

static bool read_frame(int fd, uint8_t *to, size_t most)
{
	uint8_t length[4];

	if (!read_exactly(fd, length, 4) || get_be32(length) > most)
		return false;
	return read_exactly(fd, to, get_be32(length));
}

static void answer(int fd, const struct turn *t, uint8_t call)
{
	struct buf b = unhex(t->answer);

	if (!t->as_it_is)
		b.ptr[6] = call;
	size_t n = t->cut ? t->cut : b.len;
	clock_sleep_ms(t->delay_ms);
	for (size_t i = 0; i < n; i += t->slowly ? 1 : n)
		if (send(fd, b.ptr + i, t->slowly ? 1 : n, MSG_NOSIGNAL) < 0)
			break;
	buf_release(&b);
}

static void *serve(void *arg)
{
	struct server *s = arg;

	for (size_t i = 0; i < s->nturns; i++) {
		uint8_t request[4096] = {0};
		int fd = accept(s->fd, NULL, NULL);

		s->accepted++;
		bool good = read_exactly(fd, request, 6) && !memcmp(request, "HBas\0P", 6) &&
			    read_frame(fd, request, sizeof request);
		for (; good; i++) {
			const struct turn *t = &s->turns[i];

			good = t->early || read_frame(fd, request, sizeof request);
			if (good && t->answer)
				answer(fd, t, request[2]);
			if (!good || !t->go_on)
				break;
		}
		close(fd);
	}
	return NULL;
}

static void start(struct server *s, const struct turn *turns, size_t n)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof at;

	*s = (struct server){.turns = turns, .nturns = n};
	s->fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(s->fd, (struct sockaddr *)&at, sizeof at), 0);
	assert_int_equal(listen(s->fd, 5), 0);
	assert_int_equal(getsockname(s->fd, (struct sockaddr *)&at, &len), 0);
	s->port = ntohs(at.sin_port);
	assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void finish(struct server *s)
{
	pthread_join(s->thread, NULL);
	close(s->fd);
}

/* Starts a server with these turns and opens a client. */
static struct hbase *start_and_open(struct server *s, const struct turn *turns, size_t n)
{
	struct hbase *h;
	struct hbase_failure why;
	struct error err = {0};
	char servers[40];

	start(s, turns, n);
	snprintf(servers, sizeof servers, "127.0.0.1:%u", s->port);
	assert_int_equal(hbase_open(&h, servers, "me", &why, &err), 0);
	return h;
}

/* Calls hbase_open against these turns. */
static int open_at(const struct turn *turns, size_t n, struct hbase_failure *why, struct error *err,
		   struct hbase **out)
{
	struct server s;
	char servers[40];

	start(&s, turns, n);
	snprintf(servers, sizeof servers, "127.0.0.1:%u", s.port);
	int rc = hbase_open(out, servers, "me", why, err);
	finish(&s);
	return rc;
}

static void test_an_answer(void **state)
{
	static const struct turn whole[] = {{.answer = CLUSTER_ID}},
				 slowly[] = {{.answer = CLUSTER_ID, .slowly = true}},
				 late[] = {{.answer = CLUSTER_ID, .delay_ms = 300}};
	static const struct turn *all[] = {whole, slowly, late};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct hbase *h;
		struct hbase_failure why;
		struct error err = {0};

		if (open_at(all[i], 1, &why, &err, &h))
			fail_msg("%s", err.msg);
		assert_string_equal(hbase_cluster_id(h), "c7faa9de-b2b3-4fd3-a4eb-71be31a68e51");
		hbase_close(h);
	}
}

/*
 * The client reports each damaged answer and counts it as lost, because the server may have done
 * the call.
 */
static void test_bad_answers(void **state)
{
	static const struct {
		struct turn turn;
		const char *says;
		enum hbase_trouble trouble;
	} cases[] = {
		{{.answer = NULL},
		 ": the server is not a ClientMetaService of HBase 2.4 or later, or accepts only "
		 "TLS (--ca): ",
		 TROUBLE_LOST},
		{{.answer = CLUSTER_ID, .cut = 2}, "closed the connection", TROUBLE_LOST},
		{{.answer = CLUSTER_ID, .cut = 30}, "closed the connection", TROUBLE_LOST},
		{{.answer = "ffffffff0208010000"},
		 "found an answer of 4294967295 bytes",
		 TROUBLE_LOST},
		{{.answer = "7fffffff0208010000"},
		 "found an answer of 2147483647 bytes",
		 TROUBLE_LOST},
		{{.answer = "00000003020809", .as_it_is = true},
		 "found an answer to call 9",
		 TROUBLE_LOST},
		{{.answer = "000000021f0801", .as_it_is = true},
		 ": cannot read its answer: ",
		 TROUBLE_LOST},
		{{.answer = "00000000", .as_it_is = true},
		 ": cannot read its answer: ",
		 TROUBLE_LOST},
		{{.answer = "00000009020801010a0a0a0a0a"}, "bytes of cells", TROUBLE_LOST},
		{{.answer = "0000000402080100"}, "found no field 1", TROUBLE_REFUSED},
		{{.answer = KERBEROS, .as_it_is = true, .early = true},
		 "Kerberos",
		 TROUBLE_REFUSED},
		{{.answer = KERBEROS, .as_it_is = true}, "Kerberos", TROUBLE_REFUSED},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct hbase *h;
		struct hbase_failure why;
		struct error err = {0};

		assert_true(open_at(&cases[i].turn, 1, &why, &err, &h) < 0);
		assert_null(h);
		if (!strstr(err.msg, cases[i].says) || why.trouble != cases[i].trouble)
			fail_msg("case %zu: %s (trouble %d)", i, err.msg, why.trouble);
	}
}

/* The list contains a server of another kind, a server that refuses connections, and a server that
 * answers. */
static void test_several_servers(void **state)
{
	static const struct turn closes[] = {{.answer = NULL}},
				 answers[] = {{.answer = CLUSTER_ID}};
	struct server first, last;
	struct hbase *h;
	struct hbase_failure why;
	struct error err = {0};
	char servers[120];

	(void)state;
	start(&first, closes, 1);
	start(&last, answers, 1);
	/* no process listens on port 1 */
	snprintf(servers, sizeof servers, "127.0.0.1:1,127.0.0.1:%u,localhost:%u", first.port,
		 last.port);
	int rc = hbase_open(&h, servers, "me", &why, &err);
	finish(&first);
	finish(&last);
	if (rc)
		fail_msg("%s", err.msg);
	hbase_close(h);
	assert_int_equal(hbase_open(&h, "127.0.0.1:1", "me", &why, &err), RC_IO);
	assert_int_equal(why.trouble, TROUBLE_GONE);
	assert_int_equal(hbase_open(&h, "a,,b", "me", &why, &err), RC_CONFIG);
	assert_int_equal(hbase_open(&h, "", "me", &why, &err), RC_CONFIG);
}

/* A server that is silent for the whole limit gets no second call. The next hbase_open gets the answer. */
static void test_a_silent_server(void **state)
{
	static const struct turn turns[] = {{.go_on = true},
					    {.answer = NULL},
					    {.answer = CLUSTER_ID}};
	struct server s;
	struct hbase *h;
	struct hbase_failure why;
	struct error err = {0};
	char servers[40];

	(void)state;
	start(&s, turns, 3);
	snprintf(servers, sizeof servers, "127.0.0.1:%u", s.port);
	hbase_limit(200, true);
	assert_int_equal(hbase_open(&h, servers, "me", &why, &err), RC_IO);
	assert_non_null(strstr(err.msg, "no answer in time"));
	hbase_limit(60000, false);
	assert_int_equal(hbase_open(&h, servers, "me", &why, &err), RC_OK);
	finish(&s);
	hbase_close(h);
}

/* With Kerberos, only files in S3 need no token of HDFS. Without a server, an allowed call is not sent. */
static void test_bulk_load_without_a_token(void **state)
{
	static const struct hbase_family_file files[] = {{"f", "s3a://b/1"}, {"f", "hdfs://n/2"}};
	static const struct {
		size_t first, n;
		enum hbase_trouble trouble;
	} cases[] = {{0, 1, TROUBLE_GONE}, {1, 1, TROUBLE_REFUSED}, {0, 2, TROUBLE_REFUSED}};
	struct hbase h = {.kerberos = true};
	const struct hbase_region nowhere = {.name = bytes_str("t,,1")};
	struct hbase_failure why;
	struct error err;
	bool loaded;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct hbase_bulk load = {.token = "t",
						.files = files + cases[i].first,
						.nfiles = cases[i].n};

		assert_true(hbase_bulk_load(&h, &nowhere, &load, &loaded, &why, &err) < 0);
		assert_int_equal(why.trouble, cases[i].trouble);
	}
}

/* Starts a server with these turns, and returns a connection to it. */
static struct rpc *start_and_connect(struct server *s, const struct turn *turns, size_t n)
{
	struct rpc *c;
	struct hbase_failure why;
	struct error err = {0};

	start(s, turns, n);
	const struct hbase_place at = {.host = "127.0.0.1", .port = s->port};
	assert_int_equal(rpc_connect(&c, &at, SERVICE_META, &(struct rpc_user){.name = "me"}, 5000,
				     &why, &err),
			 0);
	return c;
}

/* A call without an answer in time is lost, and the client does not use its connection again. */
static void test_no_answer_in_time(void **state)
{
	static const struct turn turns[] = {{.answer = CLUSTER_ID, .delay_ms = 400}};
	struct server s;
	struct rpc_answer a;
	struct hbase_failure why;
	struct error err = {0};

	(void)state;
	struct rpc *c = start_and_connect(&s, turns, 1);
	assert_false(rpc_is_stale(c));
	double began = clock_seconds();
	assert_int_equal(rpc_call(c, "GetClusterId", (struct bytes){0}, 100, &a, &why, &err),
			 RC_IO);
	assert_true(clock_seconds() - began < 0.35);
	assert_int_equal(why.trouble, TROUBLE_LOST);
	assert_true(rpc_is_broken(c) && rpc_is_stale(c));
	rpc_close(c);
	finish(&s);
}

/*
 * A server that refuses a connection closes it, perhaps later. The client does not use it again,
 * because the next call would be lost.
 */
static void test_a_refused_connection(void **state)
{
	static const struct turn turns[] = {{.answer = KERBEROS, .as_it_is = true, .go_on = true},
					    {.answer = NULL}};
	struct server s;
	struct rpc_answer a;
	struct hbase_failure why;
	struct error err = {0};

	(void)state;
	struct rpc *c = start_and_connect(&s, turns, 2);
	assert_int_equal(rpc_call(c, "GetClusterId", (struct bytes){0}, 5000, &a, &why, &err),
			 RC_IO);
	assert_true(why.wants_kerberos && why.hangs_up);
	assert_true(rpc_is_broken(c));
	rpc_close(c);
	finish(&s);
}

/* One connection serves several calls. If the server closed it, the client opens a new one. */
static void test_connections_are_kept(void **state)
{
	static const struct turn turns[] = {{.answer = CLUSTER_ID, .go_on = true},
					    {.answer = CLUSTER_ID},
					    {.answer = CLUSTER_ID}};
	struct server s;
	struct hbase *h;
	struct hbase_failure why;
	struct error err = {0};

	(void)state;
	h = start_and_open(&s, turns, 3);
	const struct hbase_place at = {.host = "127.0.0.1", .port = s.port};
	for (int i = 0; i < 2; i++) {
		struct rpc_answer a;

		assert_int_equal(session_call(h, &at, SERVICE_META, "GetClusterId", NULL, 5000, &a,
					      &why, &err),
				 0);
		rpc_answer_release(&a);
		clock_sleep_ms(50); /* waits until the client sees that the server closed */
	}
	finish(&s);
	assert_int_equal(s.accepted, 2);
	hbase_close(h);
}

/*
 * saltmill does not use the data of one cluster for a new cluster in its place. The old cluster may
 * still run, and would answer on the earlier connection.
 */
static void test_same_cluster(void **state)
{
	char other[] = CLUSTER_ID;

	other[sizeof other - 2] ^= 1; /* the last digit */
	const struct turn turns[] = {{.answer = CLUSTER_ID, .go_on = true},
				     {.answer = other}, /* by the first connection */
				     {.answer = CLUSTER_ID, .go_on = true},
				     {.answer = CLUSTER_ID}, /* by the second */
				     {.answer = other}};
	struct server s;
	struct hbase *h;
	(void)state;
	h = start_and_open(&s, turns, 5);
	snprintf(h->master.host, sizeof h->master.host, "old.example");
	assert_true(hbase_is_same(h));
	assert_string_equal(h->master.host, "");
	assert_false(hbase_is_same(h));
	finish(&s);
	assert_int_equal(s.accepted, 3);
	assert_false(hbase_is_same(h));
	hbase_close(h);
}

static int descriptors(void)
{
	int n = 0;

	DIR *d = opendir("/proc/self/fd");
	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* Region servers come and go while a follower runs. The follower closes the connections to servers
 * that left.
 */
static void test_servers_that_went(void **state)
{
	static const struct turn turns[] = {{.answer = CLUSTER_ID}, {.answer = CLUSTER_ID}};
	struct server registry, went;
	struct hbase *h;
	struct hbase_failure why;
	struct error err = {0};
	struct rpc_answer a;
	int before = descriptors();

	(void)state;
	start(&went, turns, 1);
	h = start_and_open(&registry, turns, 2);
	const struct hbase_place at = {.host = "127.0.0.1", .port = went.port};
	assert_int_equal(session_call(h, &at, SERVICE_REGION, "GetClusterId", NULL, 5000, &a, &why,
				      &err),
			 0);
	rpc_answer_release(&a);
	finish(&went);
	clock_sleep_ms(50); /* waits until the client sees that the server closed */
	assert_true(hbase_is_same(h));
	finish(&registry);
	assert_int_equal(descriptors(), before + 1); /* the registry's connection */
	hbase_close(h);
	assert_int_equal(descriptors(), before);
}

static int option_of(int fd, int name)
{
	int value = 0;
	socklen_t len = sizeof value;

	assert_int_equal(getsockopt(fd, IPPROTO_TCP, name, &value, &len), 0);
	return value;
}

/* The client drops a silent peer after all probes (30 s), not after the first probe. */
static void test_silence(void **state)
{
	struct server s;
	struct error err;
	struct wire w;

	(void)state;
	start(&s, NULL, 0);
	const struct hbase_place at = {.host = "127.0.0.1", .port = s.port};
	assert_int_equal(wire_connect(&w, &at, 5000, &err), 0);
	int probes_s = option_of(w.fd, TCP_KEEPCNT) * option_of(w.fd, TCP_KEEPINTVL);
	assert_true(option_of(w.fd, TCP_KEEPCNT) > 1);
	assert_int_equal(option_of(w.fd, TCP_KEEPIDLE) + probes_s, 30);
	assert_int_equal(option_of(w.fd, TCP_USER_TIMEOUT), 30000);
	wire_close(&w);
	finish(&s);
}

/* Tests errors that the client retries, and the end of the retries. */
static void test_retry(void **state)
{
	struct error err = {.code = RC_IO, .msg = "gone"};
	struct hbase_attempts attempt = {0};

	(void)state;
	const struct hbase_failure refused = {.trouble = TROUBLE_REFUSED},
				   gone = {.trouble = TROUBLE_GONE};
	assert_false(hbase_retry(&refused, &attempt, &err));
	assert_int_equal(attempt.n, 0);
	hbase_limit(60000, false);
	assert_true(hbase_retry(&gone, &attempt, &err));
	assert_int_equal(attempt.n, 1);
	/* a missing server may return at any moment, so the client does not wait ten seconds for it
	 */
	int64_t begin = clock_ms();
	attempt.n = 20;
	assert_true(hbase_retry(&gone, &attempt, &err));
	assert_in_range(clock_ms() - begin, 1900, 7000);
	attempt.until_ms = clock_ms() + 1900;
	assert_false(hbase_retry(&gone, &attempt, &err));
	assert_int_equal(err.code, RC_IO);
	assert_string_equal(err.msg, "no result within 60 s (--timeout), after 22 attempts: gone");
	/* rounds take any time, and their waits have the limit */
	attempt =
		(struct hbase_attempts){.rounds = true, .n = 20, .until_ms = 1, .waited_ms = 59000};
	assert_false(hbase_retry(&gone, &attempt, &err));
	attempt.waited_ms = 57000;
	assert_true(hbase_retry(&gone, &attempt, &err));
	assert_in_range(attempt.waited_ms, 58900, 59100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_answer),
		cmocka_unit_test(test_bad_answers),
		cmocka_unit_test(test_several_servers),
		cmocka_unit_test(test_a_silent_server),
		cmocka_unit_test(test_bulk_load_without_a_token),
		cmocka_unit_test(test_no_answer_in_time),
		cmocka_unit_test(test_a_refused_connection),
		cmocka_unit_test(test_connections_are_kept),
		cmocka_unit_test(test_same_cluster),
		cmocka_unit_test(test_silence),
		cmocka_unit_test(test_servers_that_went),
		cmocka_unit_test(test_retry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
