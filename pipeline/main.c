/* main.c - signals and memory are set up, then a command runs; nothing else */
#include <signal.h>

#include "commands.h"
#include "mem.h"
#include "pool.h"

static void on_signal(int sig)
{
	(void)sig;
	stop_flag = 1;
}

static void catch_signals(void)
{
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
}

int main(int argc, char **argv)
{
	mem_setup();
	catch_signals();
	return commands_run(argc, argv);
}
