/* test_input_registry.c - tests the client of a schema registry that does not answer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "pipeline/input/kafka/registry.h"
#include "pool.h"
#include "temp_dir.h"

/* Listens on a free port. The kernel accepts connections, and nobody answers them. */
static int listen_silently(unsigned *port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof at;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
	assert_int_equal(listen(fd, 5), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &n), 0);
	*port = ntohs(at.sin_port);
	return fd;
}

static void stop(int sig)
{
	stop_flag = sig;
}

/* Send the signal to the waiting thread itself, as its handler sets the flag. */
static void *stop_soon(void *waiting)
{
	clock_sleep_ms(200);
	pthread_kill(*(pthread_t *)waiting, SIGTERM);
	return NULL;
}

static void stopped_while_it_waits(void **state)
{
	(void)state;
	struct job job;
	struct registry *r;
	struct error err;
	struct reject why;
	const struct avro_plan *plan;
	unsigned port;
	pthread_t thread;
	int fd = listen_silently(&port);
	char *text =
		mem_format("source: {kafka: {brokers: 'h:1', topic: t, format: avro, "
			   "registry: {url: 'http://127.0.0.1:%u'}}}\n"
			   "tables: [{name: t, rowkey: [{field: k}], timestamp: 1, "
			   "families: {f: {}}, cells: [{family: f, qualifier: v, value: v}]}]\n",
			   port);

	assert_int_equal(io_write_file(path_of("job.yaml"), bytes_str(text), &err), RC_OK);
	if (job_load(&job, path_of("job.yaml"), &err))
		fail_msg("%s", err.msg);
	const struct typed_columns columns = {.job = &job};
	assert_int_equal(registry_open(&r, &columns, &err), RC_OK);
	pthread_t waiting = pthread_self();
	void (*was)(int) = signal(SIGTERM, stop);
	assert_int_equal(pthread_create(&thread, NULL, stop_soon, &waiting), 0);
	double begun = clock_seconds();
	assert_int_equal(registry_find(r, 7, &plan, &why, &err), RC_STOPPED);
	assert_string_equal(err.msg, "stopped by a signal");
	assert_true(clock_seconds() - begun < 5); /* a request waits 20 s for its answer */
	pthread_join(thread, NULL);
	signal(SIGTERM, was);
	stop_flag = 0;
	registry_close(r);
	job_release(&job);
	mem_free(text);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(stopped_while_it_waits)};

	return cmocka_run_group_tests(tests, setup, teardown);
}
