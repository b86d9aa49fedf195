/*
 * ledger.c - list the inputs of all loads in a folder, from manifests and the notes of removed
 * loads
 */
#include "load.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "form.h"
#include "io.h"
#include "storage.h"

static const struct form_member input_members[] = {
	{"load", FORM_TEXT, IN(ledger_input, load), "name of the load's folder"},
	{"published_ms", FORM_INT, IN(ledger_input, published_ms), "publication time of the load"},
	{"job", FORM_TEXT, IN(ledger_input, job), "its job file"},
	{"path", FORM_TEXT, IN(ledger_input, path), "the input, as the load named it"},
	{"bytes", FORM_COUNT, IN(ledger_input, bytes), "size of the file"},
	{"digest", FORM_DIGEST, IN(ledger_input, digest), "digest of the file"},
};
static const struct form input_form = FORM(ledger_input, input_members);

struct removed {
	struct ledger_input *inputs;
	size_t n;
};
static const struct form_member removed_members[] = {
	{"inputs", FORM_LIST, IN(removed, inputs), "inputs of removed loads",
	 ITEMS(removed, input_form, n)},
};
const struct form ledger_form =
	NAMED_FORM(removed, removed_members, "ledger", "ledger.json of `load --ledger DIR`");

static char *ledger_path(const struct ledger *l)
{
	return mem_format("%s/" LEDGER_FILE, l->dir);
}

static void add_input(struct ledger *l, const struct ledger_input *in)
{
	l->inputs = arena_grow(&l->arena, l->inputs, l->ninputs, sizeof *l->inputs);
	l->inputs[l->ninputs++] = *in;
}

static int read_removed(struct ledger *l, struct error *err)
{
	char *path = ledger_path(l);
	bool there;
	struct removed r = {0};
	int rc = io_exists(path, &there, err);

	if (rc == RC_OK && there)
		rc = form_read(&ledger_form, &r, path, "a ledger", &l->arena, err);
	mem_free(path);
	for (size_t i = 0; rc == RC_OK && i < r.n; i++)
		add_input(l, &r.inputs[i]);
	l->nremoved = l->ninputs;
	return rc;
}

static int read_load(struct ledger *l, const char *name, const char *manifest,
		     const struct stat *st, struct error *err)
{
	struct manifest m;
	struct ledger_load load = {.name = arena_strdup(&l->arena, name),
				   .dir = arena_format(&l->arena, "%s/%s", l->dir, name),
				   .published_ms = (int64_t)st->st_mtim.tv_sec * 1000 +
						   st->st_mtim.tv_nsec / 1000000,
				   .first = l->ninputs};
	int rc = manifest_read(&m, manifest, &l->arena, err);

	if (rc)
		return rc;
	load.read = m.read;
	load.rejected = m.rejected;
	load.inputs = m.ninputs;
	for (size_t i = 0; i < m.ntables; i++)
		load.rows += m.tables[i].rows;
	for (size_t i = 0; i < m.ninputs; i++) {
		struct ledger_input in = {.load = load.name,
					  .published_ms = load.published_ms,
					  .job = m.job_path,
					  .path = m.inputs[i].path,
					  .bytes = m.inputs[i].bytes};

		memcpy(in.digest, m.inputs[i].digest, sizeof in.digest);
		add_input(l, &in);
	}
	l->loads = arena_grow(&l->arena, l->loads, l->nloads, sizeof *l->loads);
	l->loads[l->nloads++] = load;
	return RC_OK;
}

/* Return false for hidden folders and for folders that are half published or half removed. */
static bool is_load_name(const char *name)
{
	return *name != '.' && !strstr(name, ".saltmill-");
}

static int read_entry(struct ledger *l, const char *name, struct error *err)
{
	struct stat st;
	char *manifest;
	int rc = RC_OK;

	if (!is_load_name(name))
		return RC_OK;
	manifest = mem_format("%s/%s/manifest.json", l->dir, name);
	if (stat(manifest, &st) == 0)
		rc = read_load(l, name, manifest, &st, err);
	else if (errno != ENOENT && errno != ENOTDIR)
		rc = error_errno(err, "cannot read %s", manifest);
	mem_free(manifest);
	return rc;
}

static int by_time(const void *a, const void *b)
{
	const struct ledger_load *x = a, *y = b;

	return x->published_ms != y->published_ms ? (x->published_ms > y->published_ms) * 2 - 1
						  : strcmp(x->name, y->name);
}

int ledger_read(struct ledger *l, const char *dir, struct error *err)
{
	*l = (struct ledger){.dir = dir};
	int rc = read_removed(l, err);
	DIR *d = rc ? NULL : opendir(dir);

	if (rc || (!d && errno == ENOENT))
		return rc;
	if (!d)
		return error_errno(err, "cannot read the folder %s", dir);
	errno = 0;
	for (const struct dirent *e; rc == RC_OK && (e = readdir(d));) {
		rc = read_entry(l, e->d_name, err);
		errno = 0;
	}
	if (rc == RC_OK && errno)
		rc = error_errno(err, "cannot read the folder %s", dir);
	closedir(d);
	if (l->nloads)
		qsort(l->loads, l->nloads, sizeof *l->loads, by_time);
	return rc;
}

void ledger_release(struct ledger *l)
{
	arena_release(&l->arena);
	*l = (struct ledger){0};
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Return true if both paths are equal, or lead to the same file. */
static bool is_same_path(const char *a, const char *b)
{
	if (strcmp(a, b) == 0)
		return true;
	if (strcmp(name_of(a), name_of(b)) != 0)
		return false;
	char *x = realpath(a, NULL), *y = realpath(b, NULL);
	bool same = x && y && strcmp(x, y) == 0;
	free(x);
	free(y);
	return same;
}

/*
 * Find the newest input with the file's path, and any input with the same content. Compute the
 * file's digest only if an input has the same size.
 */
static int find_input(const struct ledger *l, const char *path, const struct ledger_input **newest,
		      const struct ledger_input **same, struct error *err)
{
	struct stat st;
	struct source_digest d = {.path = path};
	bool read = false;

	*newest = *same = NULL;
	if (stat(path, &st) < 0)
		return error_errno(err, "cannot read %s", path);
	for (size_t i = 0; i < l->ninputs; i++) {
		const struct ledger_input *in = &l->inputs[i];

		if (is_same_path(in->path, path) &&
		    (!*newest || in->published_ms >= (*newest)->published_ms))
			*newest = in;
		if (in->bytes != (uint64_t)st.st_size)
			continue;
		int rc = read ? RC_OK : source_digest_file(&d, NULL, NULL, err);
		if (rc)
			return rc;
		read = true;
		if (d.size == in->bytes && !memcmp(d.digest, in->digest, sizeof d.digest) &&
		    (!*same || in == *newest))
			*same = in;
	}
	return RC_OK;
}

static int check_job(const struct ledger *l, const struct job *job, struct error *err)
{
	for (size_t i = 0; i < l->ninputs; i++)
		if (strcmp(name_of(l->inputs[i].job), name_of(job->path)) != 0)
			return error_set(
				err, RC_CONFIG,
				"--ledger %s: found load %s of job %s, expected only loads of "
				"%s; use a folder for each job",
				l->dir, l->inputs[i].load, l->inputs[i].job, job->path);
	return RC_OK;
}

static int choose_one(const struct ledger *l, const char *path, bool replace,
		      struct ledger_choice *out, struct error *err)
{
	const struct ledger_input *newest, *same;

	if (strcmp(path, "-") == 0)
		return error_set(err, RC_CONFIG,
				 "--ledger: found standard input, expected files, because saltmill "
				 "recognizes only files later");
	int rc = find_input(l, path, &newest, &same, err);
	if (rc)
		return rc;
	if (newest && newest != same && !replace)
		return error_set(
			err, RC_CONFIG,
			"%s: changed after load %s/%s: found other bytes, expected the %llu "
			"loaded bytes. Load the new content with --replace, or restore the file",
			path, l->dir, newest->load, (unsigned long long)newest->bytes);
	bool loaded = same && (!newest || newest == same);
	if (loaded) {
		out->skipped[out->nskipped++] = (struct ledger_skip){path, same};
		return RC_OK;
	}
	out->replaced += newest != NULL;
	out->files[out->nfiles++] = path;
	return RC_OK;
}

/* Return false if the next ledger_read would not find the load. */
static bool has_place_for(const struct ledger *l, const char *output)
{
	const char *name = name_of(output);
	char *parent =
		name == output ? mem_strdup(".") : mem_format("%.*s", (int)(name - output), output);
	struct stat dir, at;
	bool known = stat(parent, &at) == 0; /* otherwise load_run reports the folder */
	bool same = known && stat(l->dir, &dir) == 0 && dir.st_dev == at.st_dev &&
		    dir.st_ino == at.st_ino;

	mem_free(parent);
	return !storage_is_remote(output) && is_load_name(name) && (same || !known);
}

static int check_output(const struct ledger *l, const char *output, struct error *err)
{
	size_t n = strlen(output);

	while (n > 1 && output[n - 1] == '/')
		n--;
	char *path = mem_format("%.*s", (int)n, output);
	bool good = has_place_for(l, path);
	mem_free(path);
	if (good)
		return RC_OK;
	return error_set(err, RC_CONFIG,
			 "-o: found %s, expected a folder in %s, because --ledger finds only loads "
			 "there; use -o %s/NAME",
			 output, l->dir, l->dir);
}

int ledger_choose(struct ledger *l, const struct job *job, const struct input *in,
		  const char *output, bool replace, struct ledger_choice *out, struct error *err)
{
	const char *const *names = in->nfiles ? in->files : (const char *const *)job->csv.files;
	size_t n = in->nfiles ? in->nfiles : job->csv.nfiles, npaths;
	const char **paths;
	int rc = check_job(l, job, err);

	*out = (struct ledger_choice){0};
	if (rc == RC_OK)
		rc = paths_expand(&l->arena, names, n, &paths, &npaths, err);
	if (rc)
		return rc;
	out->files = arena_alloc(&l->arena, (npaths + 1) * sizeof *out->files);
	out->skipped = arena_alloc(&l->arena, (npaths + 1) * sizeof *out->skipped);
	for (size_t i = 0; rc == RC_OK && i < npaths; i++)
		rc = choose_one(l, paths[i], replace, out, err);
	return rc ? rc : check_output(l, output, err);
}

int ledger_note(struct ledger *l, const struct ledger_load *load, struct error *err)
{
	struct removed all = {
		.inputs = arena_alloc(&l->arena, (l->ninputs + 1) * sizeof *all.inputs)};
	struct buf text = {0};
	char *path = ledger_path(l);

	for (size_t i = 0; i < l->ninputs; i++)
		if (i < l->nremoved || (i >= load->first && i < load->first + load->inputs))
			all.inputs[all.n++] = l->inputs[i];
	form_put(&text, &ledger_form, &all, FORM_FILE);
	int rc = io_replace_file(path, buf_bytes(&text), "ledger-noted", err);
	if (rc == RC_OK) { /* the next note also contains these inputs */
		struct ledger_input *inputs =
			arena_alloc(&l->arena, (l->ninputs + all.n) * sizeof *inputs);

		memcpy(inputs, all.inputs, all.n * sizeof *inputs);
		memcpy(inputs + all.n, l->inputs + l->nremoved,
		       (l->ninputs - l->nremoved) * sizeof *inputs);
		for (size_t i = 0; i < l->nloads; i++)
			l->loads[i].first += all.n - l->nremoved;
		l->ninputs += all.n - l->nremoved;
		l->inputs = inputs;
		l->nremoved = all.n;
	}
	mem_free(path);
	buf_release(&text);
	return rc;
}
