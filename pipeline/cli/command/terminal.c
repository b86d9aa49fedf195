#include "terminal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define USUAL_WIDTH 80
#define CLEAR	    "\r\033[K"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool shown; /* protected by the lock */

bool terminal_rewrites(void)
{
	const char *term = getenv("TERM");

	return term && *term && strcmp(term, "dumb") != 0 && isatty(STDERR_FILENO);
}

/*
 * Returns the present width of the window. Read the width each time, because the user may resize
 * the window.
 */
static size_t width(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		return size.ws_col;
	return USUAL_WIDTH;
}

/*
 * Returns how many bytes of the line fit. Leaves the last column empty, because some terminals wrap
 * a full line.
 */
static size_t fitting(struct bytes line, size_t columns)
{
	size_t most = columns > 1 ? columns - 1 : 0, n = line.len;

	if (n <= most)
		return n;
	for (n = most; n > 0 && !(line.ptr[n] == ',' && line.ptr[n + 1] == ' ');)
		n--;
	return n ? n : most;
}

void terminal_line(struct bytes line)
{
	pthread_mutex_lock(&lock);
	fprintf(stderr, CLEAR "%.*s", (int)fitting(line, width()), (const char *)line.ptr);
	fflush(stderr);
	shown = true;
	pthread_mutex_unlock(&lock);
}

static void clear(void)
{
	if (shown) {
		fputs(CLEAR, stderr);
		fflush(stderr);
	}
	shown = false;
}

void terminal_clear(void)
{
	pthread_mutex_lock(&lock);
	clear();
	pthread_mutex_unlock(&lock);
}

void terminal_print(FILE *to, struct bytes text)
{
	pthread_mutex_lock(&lock);
	clear();
	fwrite(text.ptr, 1, text.len, to);
	fflush(to);
	pthread_mutex_unlock(&lock);
}
