/* main.c - sets up descriptors, memory and signals, then runs a command */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/commands.h"
#include "io.h"
#include "mem.h"
#include "pool.h"

static void on_signal(int sig)
{
	if (!stop_flag)
		stop_flag = sig;
}

static void catch_signals(void)
{
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	/* if the program ignores SIGPIPE, a failed write returns an error, which the program can
	 * report */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

/*
 * Opens descriptors 0, 1 and 2 if they are closed. Some schedulers start programs in this way. The
 * next opened file would get such a number, and the progress line would go into this file.
 * Descriptor 0 gets a file that refuses reads, so a command distinguishes a missing standard input
 * from an empty one.
 */
static bool fill_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDWR) != fd)
			return false;
	return true;
}

int main(int argc, char **argv)
{
	if (!fill_standard_descriptors())
		return EXIT_FAILED; /* no descriptor remains for a message */
	mem_setup();
	catch_signals();
	int status = commands_run(argc, argv);
	if (login_left_a_query()) {
		fflush(NULL);
		_exit(status);
	}
	return status;
}
