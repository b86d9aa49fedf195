#include "process_figures.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STAT_START 20 /* starttime is this many fields after the name in /proc/self/stat */

static void put(struct buf *b, const char *name, const char *type, const char *help, double value)
{
	buf_printf(b, "# HELP process_%s %s\n# TYPE process_%s %s\nprocess_%s %.17g\n", name, help,
		   name, type, name, value);
}

/* Read a small file of /proc. Return false if the file is missing or damaged. */
static bool read_text(const char *path, char *text, size_t size)
{
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(text, 1, size - 1, f) : 0;

	text[n] = 0;
	if (f)
		fclose(f);
	return n > 0;
}

/* Return the time of the system's start in seconds since 1970, or 0 if unknown. */
static double boot_time(void)
{
	char line[256];
	long long at = 0;
	FILE *f = fopen("/proc/stat", "re");

	while (f && fgets(line, sizeof line, f) && sscanf(line, "btime %lld", &at) != 1)
		;
	if (f)
		fclose(f);
	return (double)at;
}

/* Return this process's start in seconds since 1970, or 0 if unknown. */
static double start_time(void)
{
	char text[1024];
	double boot = boot_time();

	if (boot <= 0 || !read_text("/proc/self/stat", text, sizeof text))
		return 0;
	/* the name may contain spaces and parentheses */
	const char *at = strrchr(text, ')');
	for (int i = 0; at && i < STAT_START; i++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at ? boot + (double)strtoull(at, NULL, 10) / (double)sysconf(_SC_CLK_TCK) : 0;
}

/* Count the open files, without the folder that this function opens. */
static size_t open_files(void)
{
	size_t n = 0;
	DIR *d = opendir("/proc/self/fd");

	for (const struct dirent *e; d && (e = readdir(d));)
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return n ? n - 1 : 0;
}

void process_figures(struct buf *b)
{
	char text[256];
	unsigned long long size, resident;
	struct timespec cpu;
	double start = start_time();
	size_t files = open_files();

	if (read_text("/proc/self/statm", text, sizeof text) &&
	    sscanf(text, "%llu %llu", &size, &resident) == 2)
		put(b, "resident_memory_bytes", "gauge", "Resident memory size in bytes.",
		    (double)resident * (double)sysconf(_SC_PAGESIZE));
	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu) == 0)
		put(b, "cpu_seconds_total", "counter",
		    "Total user and system CPU time spent in seconds.",
		    (double)cpu.tv_sec + (double)cpu.tv_nsec / 1e9);
	if (start > 0)
		put(b, "start_time_seconds", "gauge",
		    "Start time of the process since unix epoch in seconds.", start);
	if (files)
		put(b, "open_fds", "gauge", "Number of open file descriptors.", (double)files);
}
