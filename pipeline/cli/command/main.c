/* main.c - descriptors, memory and signals are set up, then a command runs; nothing else */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "cli/commands.h"
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
	/* a write that fails is told in a sentence */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

/*
 * Some schedulers start programs with descriptors 0, 1 or 2 closed.  The next file that is opened
 * would get the number, and the progress line would be written into it.  Standard input cannot be
 * read then: that there is none shall not look like an empty one.
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
		return EXIT_FAILED; /* nowhere to say so */
	mem_setup();
	catch_signals();
	return commands_run(argc, argv);
}
