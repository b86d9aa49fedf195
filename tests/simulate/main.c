/*
 * main.c - runs histories (simulate [--loud] [--twice] [--first] A:B | --seeds FILE)
 *
 *   --loud    prints every step of the histories.
 *   --first   ends after the first violation.
 *   --twice   runs each history twice and compares both, because a seed must always give the same
 *             history.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "history.h"

enum { SHOWN = 20, REPORT_S = 60 };

static double seconds(void)
{
	struct timespec t;

	timespec_get(&t, TIME_UTC);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void show_rate(uint64_t done, uint64_t violations, double begun)
{
	double s = seconds() - begun, own = (double)clock() / CLOCKS_PER_SEC;

	printf("%llu histories in %.0f s (%.0f an hour, %.0f in an hour of a processor), "
	       "%llu violations\n",
	       (unsigned long long)done, s, (double)done / s * 3600, (double)done / own * 3600,
	       (unsigned long long)violations);
	fflush(stdout);
}

struct campaign {
	bool loud, twice;
	uint64_t done, violations;
	double begun, said;
};

static void run_seed(struct campaign *c, uint64_t seed)
{
	bool good = history_run(seed, c->loud);
	uint64_t hash = W->hash;

	if (good && c->twice && (!history_run(seed, c->loud) || W->hash != hash)) {
		snprintf(W->violation, sizeof W->violation,
			 "the second run of the same seed was another history");
		good = false;
	}
	c->done++;
	if (!good && c->violations++ < SHOWN) {
		printf("seed %llu: %s\n", (unsigned long long)seed, W->violation);
		fflush(stdout);
	}
	if (seconds() - c->said > REPORT_S) {
		c->said = seconds();
		show_rate(c->done, c->violations, c->begun);
	}
}

/* In this file, fopen is the function of the simulated disk. */
FILE *__real_fopen(const char *path, const char *how);

/* A line is a seed and the reason for keeping it. */
static bool run_file(struct campaign *c, const char *path, bool first)
{
	char line[1000];
	unsigned long long seed;
	FILE *f = __real_fopen(path, "r");

	while (f && !(first && c->violations) && fgets(line, sizeof line, f))
		if (sscanf(line, "%llu", &seed) == 1)
			run_seed(c, seed);
	if (f)
		fclose(f);
	return f;
}

static int usage(void)
{
	fprintf(stderr, "usage: simulate [--loud] [--twice] [--first] A:B | --seeds FILE\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct campaign c = {.begun = seconds()};
	unsigned long long from = 0, to = 0;
	const char *file = NULL;
	bool first = false;

	c.said = c.begun;
	for (int i = 1; i < argc; i++) {
		c.loud = c.loud || strcmp(argv[i], "--loud") == 0;
		first = first || strcmp(argv[i], "--first") == 0;
		c.twice = c.twice || strcmp(argv[i], "--twice") == 0;
		if (strcmp(argv[i], "--seeds") == 0 && i + 1 < argc)
			file = argv[++i];
		else if (argv[i][0] != '-' && sscanf(argv[i], "%llu:%llu", &from, &to) == 1)
			to = from + 1;
	}
	if (to <= from && !file)
		return usage();
	sim_setup();
	if (file && !run_file(&c, file, first))
		return usage();
	for (uint64_t seed = from; seed < to && !(first && c.violations); seed++)
		run_seed(&c, seed);
	show_rate(c.done, c.violations, c.begun);
	return c.violations ? 1 : 0;
}
