/* test_cli_notify.c - messages of a stream to systemd, received on a datagram socket of the test */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "clock.h"
#include "mem.h"
#include "pool.h"
#include "pipeline/cli/command/notify.h"
#include "temp_dir.h"

static struct topic_lags lags = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct manager {
	char *path;
	int fd;
	char heard[4096]; /* all datagrams, joined */
	struct stream_gauges gauges;
	struct progress progress;
};

static void listen_at(struct manager *m, const char *name, socklen_t len)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	memcpy(at.sun_path, name, len);
	if (name[0] == '@')
		at.sun_path[0] = 0;
	m->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	assert_true(m->fd >= 0);
	assert_int_equal(bind(m->fd, (struct sockaddr *)&at,
			      (socklen_t)offsetof(struct sockaddr_un, sun_path) + len),
			 0);
	setenv("NOTIFY_SOCKET", name, 1);
}

static int listen_anew(void **state)
{
	struct manager *m = mem_calloc(1, sizeof *m);

	m->path = mem_strdup(path_of("notify"));
	m->gauges.by_topic = &lags;
	listen_at(m, m->path, (socklen_t)strlen(m->path));
	setenv("WATCHDOG_USEC", "60000", 1); /* a tick every 21 ms */
	unsetenv("WATCHDOG_PID");
	stop_flag = 0;
	stop_asked = false;
	*state = m;
	return 0;
}

static int hang_up(void **state)
{
	struct manager *m = *state;

	close(m->fd);
	unlink(m->path);
	mem_free(m->path);
	mem_free(m);
	unsetenv("NOTIFY_SOCKET");
	stop_flag = 0;
	return 0;
}

/* Waits until the text arrives, or until the time limit passes. */
static bool hears(struct manager *m, const char *line)
{
	for (int i = 0; i < 500; i++) {
		size_t len = strlen(m->heard);
		ssize_t n = recv(m->fd, m->heard + len, sizeof m->heard - 1 - len, 0);

		if (n > 0)
			m->heard[len + (size_t)n] = 0;
		else if (strstr(m->heard, line))
			return true;
		else
			clock_sleep_ms(10);
	}
	return false;
}

static void forget(struct manager *m)
{
	while (recv(m->fd, m->heard, sizeof m->heard, 0) > 0)
		;
	memset(m->heard, 0, sizeof m->heard);
}

static void test_a_life(void **state)
{
	struct manager *m = *state;
	struct error err;
	struct notify *n =
		notify_start(&(struct metrics_of){&m->gauges, &m->progress, NULL, NULL, NULL});

	assert_non_null(n);
	assert_true(hears(m, "STATUS=waiting for the topic\n"));
	assert_int_equal(stop_check(&err), RC_OK);
	assert_true(hears(m, "EXTEND_TIMEOUT_USEC=60000000\n")); /* brokers are slow */
	assert_null(strstr(m->heard, "READY=1"));
	m->gauges.lag = 1402;
	m->gauges.looked = 1;
	assert_true(hears(m, "READY=1\n"));
	assert_true(hears(m, "STATUS=lag 1,402 offsets"));
	forget(m);
	m->gauges.lag = 7;
	assert_true(hears(m, "STATUS=lag 7 offsets"));
	assert_null(strstr(m->heard, "READY=1"));
	assert_null(strstr(m->heard, "STOPPING"));
	forget(m);
	notify_stop(n);
	assert_true(hears(m, "STOPPING=1\n"));
}

/* The stream reports a signal at once, and does not repeat it at the end. */
static void test_a_signal(void **state)
{
	struct manager *m = *state;

	stop_flag = 15; /* no other thread: TSan does not know the handler's own write */
	struct notify *n =
		notify_start(&(struct metrics_of){&m->gauges, &m->progress, NULL, NULL, NULL});
	assert_true(hears(m, "STOPPING=1\n"));
	forget(m);
	notify_stop(n);
	assert_int_equal(recv(m->fd, m->heard, sizeof m->heard, 0), -1);
	assert_int_equal(errno, EAGAIN);
}

/* The watchdog gets messages while a stream works, and none while it hangs. */
static void test_watchdog(void **state)
{
	struct manager *m = *state;
	struct error err;

	m->gauges.looked = 1;
	struct notify *n =
		notify_start(&(struct metrics_of){&m->gauges, &m->progress, NULL, NULL, NULL});
	assert_true(hears(m, "READY=1\n"));
	for (int i = 0; i < 3; i++) {
		forget(m);
		clock_sleep_ms(100); /* four ticks */
		assert_int_equal(recv(m->fd, m->heard, sizeof m->heard, 0), -1);
		memset(m->heard, 0, sizeof m->heard);
		assert_int_equal(stop_check(&err), RC_OK);
		assert_true(hears(m, "WATCHDOG=1\n"));
	}
	forget(m);
	notify_stop(n);
	assert_true(hears(m, "STOPPING=1\n"));
}

static void test_a_watchdog_of_another_process(void **state)
{
	struct manager *m = *state;
	struct error err;

	setenv("WATCHDOG_PID", "1", 1);
	struct notify *n =
		notify_start(&(struct metrics_of){&m->gauges, &m->progress, NULL, NULL, NULL});
	assert_int_equal(stop_check(&err), RC_OK);
	m->gauges.looked = 1;
	assert_true(hears(m, "READY=1\n"));
	notify_stop(n);
	assert_true(hears(m, "STOPPING=1\n"));
	assert_null(strstr(m->heard, "WATCHDOG"));
}

/* A full socket loses no important message. */
static void test_a_manager_that_does_not_listen(void **state)
{
	struct manager *m = *state;
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	memcpy(at.sun_path, m->path, strlen(m->path));
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	while (sendto(fd, "X=1\n", 4, 0, (struct sockaddr *)&at, sizeof at) == 4)
		;
	assert_int_equal(errno, EAGAIN);
	close(fd);
	m->gauges.looked = 1;
	struct notify *n =
		notify_start(&(struct metrics_of){&m->gauges, &m->progress, NULL, NULL, NULL});
	clock_sleep_ms(80);
	forget(m);
	assert_true(hears(m, "READY=1\n"));
	notify_stop(n);
}

static void test_abstract_names(void **state)
{
	struct manager *m = *state;
	char name[64];

	snprintf(name, sizeof name, "@saltmill-test-%d", (int)getpid());
	close(m->fd);
	listen_at(m, name, (socklen_t)strlen(name));
	m->gauges.looked = 1;
	struct notify *n =
		notify_start(&(struct metrics_of){&m->gauges, &m->progress, NULL, NULL, NULL});
	assert_non_null(n);
	assert_true(hears(m, "READY=1\n"));
	notify_stop(n);
}

static void test_nobody_there(void **state)
{
	struct manager *m = *state;

	unsetenv("NOTIFY_SOCKET");
	assert_null(notify_start(&(struct metrics_of){&m->gauges, &m->progress, NULL, NULL, NULL}));
	setenv("NOTIFY_SOCKET", "", 1);
	assert_null(notify_start(&(struct metrics_of){&m->gauges, &m->progress, NULL, NULL, NULL}));
	setenv("NOTIFY_SOCKET", "/nonexistent/socket", 1);
	assert_null(notify_start(&(struct metrics_of){&m->gauges, &m->progress, NULL, NULL, NULL}));
	char *longer = mem_format("/%0200d", 1);
	setenv("NOTIFY_SOCKET", longer, 1);
	assert_null(notify_start(&(struct metrics_of){&m->gauges, &m->progress, NULL, NULL, NULL}));
	mem_free(longer);
	notify_stop(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_life, listen_anew, hang_up),
		cmocka_unit_test_setup_teardown(test_a_signal, listen_anew, hang_up),
		cmocka_unit_test_setup_teardown(test_watchdog, listen_anew, hang_up),
		cmocka_unit_test_setup_teardown(test_a_watchdog_of_another_process, listen_anew,
						hang_up),
		cmocka_unit_test_setup_teardown(test_a_manager_that_does_not_listen, listen_anew,
						hang_up),
		cmocka_unit_test_setup_teardown(test_abstract_names, listen_anew, hang_up),
		cmocka_unit_test_setup_teardown(test_nobody_there, listen_anew, hang_up),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
