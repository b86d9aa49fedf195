/* cmd_verify.c - `saltmill verify DIR` */
#include <jansson.h>
#include <stdio.h>

#include "cmd.h"
#include "verify.h"

static void print_text(const struct verify_result *r, bool quiet)
{
	const struct findings *f = &r->findings;
	for (size_t i = 0; i < f->count; i++)
		if (f->item[i].problem || !quiet)
			printf("%-8s %s: %s\n", f->item[i].problem ? "PROBLEM" : "ok",
			       f->item[i].path, f->item[i].text);
	if (f->problems)
		printf("%zu problem%s\n", f->problems, f->problems == 1 ? "" : "s");
	else if (!quiet)
		printf("verified: %llu files, %llu rows, %llu cells\n",
		       (unsigned long long)r->files, (unsigned long long)r->rows,
		       (unsigned long long)r->cells);
}

/* File names may be any bytes; JSON wants UTF-8. */
static json_t *text_or_null(const char *text)
{
	json_t *s = json_string(text);
	return s ? s : json_null();
}

static void print_json(const struct verify_result *r, const char *dir)
{
	const struct findings *f = &r->findings;
	json_t *problems = json_array(), *checks = json_array();
	for (size_t i = 0; i < f->count; i++)
		json_array_append_new(f->item[i].problem ? problems : checks,
				      json_pack("{s:o, s:o}", "path", text_or_null(f->item[i].path),
						f->item[i].problem ? "problem" : "proved",
						text_or_null(f->item[i].text)));
	json_t *all = json_pack("{s:o, s:b, s:I, s:I, s:I, s:o, s:o}", "dir", text_or_null(dir),
				"ok", f->problems == 0, "files", (json_int_t)r->files, "rows",
				(json_int_t)r->rows, "cells", (json_int_t)r->cells, "problems",
				problems, "checks", checks);
	json_dumpf(all, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(all);
}

int cmd_verify(int argc, char **argv)
{
	struct run_options o;
	struct error err;
	int first;
	int rc = options_parse(argc, argv, &o, NULL, NULL, NULL, NULL, &first);
	if (rc)
		return rc == RC_END ? EXIT_DONE : EXIT_USAGE;
	if (argc - first != 1) {
		fprintf(stderr,
			"saltmill verify: found %d operands, expected one: the folder of a load\n",
			argc - first);
		return EXIT_USAGE;
	}
	struct verify_result r;
	rc = verify_load(&r, argv[first], o.threads, &err);
	int status = r.findings.problems ? EXIT_FAILED : EXIT_DONE;
	if (rc)
		status = command_fail(argv[0], &err);
	else if (o.json)
		print_json(&r, argv[first]);
	else
		print_text(&r, o.quiet);
	verify_release(&r);
	if (fflush(stdout) != 0 && status == EXIT_DONE)
		status = EXIT_FAILED;
	return status;
}
