/*
 * verify.h - prove a published load from its files alone
 */
#ifndef SALTMILL_VERIFY_H
#define SALTMILL_VERIFY_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "publish.h"
#include "run.h"

struct finding {
	bool problem;
	char *path; /* relative to DIR */
	char *text; /* what was proved, or what is wrong */
};

struct findings {
	struct finding *item;
	size_t count, problems;
};
void findings_add(struct findings *f, bool problem, const char *path, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void findings_vadd(struct findings *f, bool problem, const char *path, const char *fmt, va_list ap)
	__attribute__((format(printf, 4, 0)));
/* Move all of from behind to's. */
void findings_append(struct findings *to, struct findings *from);
void findings_release(struct findings *f);

struct verify_result {
	struct findings findings; /* in a fixed order: manifest, scripts, files, regions, rejects */
	uint64_t files, rows, cells; /* of the tables; proved when there are no problems */
};

/*
 * Check the load in dir.  What is wrong with it becomes a finding, not an error; the error is
 * RC_STOPPED.  Release *out whatever the result.  progress NULL: nobody looks.
 */
int verify_load(struct verify_result *out, const char *dir, unsigned threads,
		struct progress *progress, struct error *err);
/* The same of one HFile, by itself (hfile_verify): one finding. */
int verify_hfile(struct verify_result *out, const char *path, struct progress *progress,
		 struct error *err);
void verify_release(struct verify_result *r);

/* verify_files.c: each HFile against its entry and its region's bounds, on several threads. */
int verify_files(struct findings *out, const char *dir, const struct manifest *m, unsigned threads,
		 struct progress *progress, struct error *err);
/* verify_folder.c: DIR holds the files and folders of the manifest and nothing else. */
void verify_folder(struct findings *out, const char *dir, const struct manifest *m);

#endif
