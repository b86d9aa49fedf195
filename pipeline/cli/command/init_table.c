/* init_table.c - see init_table.h */
#include "init_table.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "ddl.h"
#include "hbase.h"
#include "live_tables.h"
#include "mem.h"
#include "table_sample.h"

#define HFILE_START "DATABLK*" /* the magic of the first data block */

/* --- the place --- */

static bool is_hfile(const char *path)
{
	char start[sizeof HFILE_START - 1];
	FILE *f = fopen(path, "re");
	bool is = f && fread(start, sizeof start, 1, f) == 1 &&
		  memcmp(start, HFILE_START, sizeof start) == 0;

	if (f)
		fclose(f);
	return is;
}

/* Return true if the folder, or a folder in it, contains an HFile. */
static bool has_hfiles(const char *folder, unsigned depth)
{
	DIR *d = opendir(folder);
	bool found = false;

	for (struct dirent *e; d && !found && (e = readdir(d));) {
		char *path = mem_format("%s/%s", folder, e->d_name);
		struct stat st;

		if (*e->d_name != '.' && *e->d_name != '_' && stat(path, &st) == 0)
			found = S_ISREG(st.st_mode)   ? is_hfile(path)
				: S_ISDIR(st.st_mode) ? depth && has_hfiles(path, depth - 1)
						      : false;
		mem_free(path);
	}
	if (d)
		closedir(d);
	return found;
}

bool init_asks_table(const struct arguments *a, struct offline_place *out)
{
	*out = arguments_offline(a);
	if (a->hbase || out->uri)
		return true;
	if (a->noperands != 1 || !has_hfiles(a->operand[0], 1))
		return false;
	*out = (struct offline_place){.kind = OFFLINE_HFILES, .uri = a->operand[0]};
	return true;
}

static int check(const struct arguments *a, const struct offline_place *place, struct error *err)
{
	static const char *const of_files[] = {"ask", "key", "full"};
	bool folder = place->kind == OFFLINE_HFILES;

	if (a->hbase && !a->table)
		return error_set(err, RC_CONFIG,
				 "found --hbase without --table, expected `--table TABLE`; "
				 "`saltmill tables` lists the tables");
	if (a->noperands && !folder)
		return error_set(err, RC_CONFIG,
				 "found `%.200s` and a table, expected only one of them",
				 a->operand[0]);
	for (size_t i = 0; i < sizeof of_files / sizeof *of_files; i++)
		if (arguments_given(a, of_files[i]))
			return error_set(err, RC_CONFIG,
					 "found --%s with a table, expected a file of events",
					 of_files[i]);
	return RC_OK;
}

/* --- the sample --- */

/* Return the last name of a path, without a namespace. */
static const char *name_of(struct arena *a, const char *uri)
{
	size_t n = strlen(uri), at;

	while (n > 1 && uri[n - 1] == '/')
		n--;
	for (at = n; at && uri[at - 1] != '/';)
		at--;
	return arena_strndup(a, uri + at, n - at);
}

static int sample_live(const struct arguments *a, struct sampled_table *s, struct buf *doubts,
		       struct error *err)
{
	struct description *d = arena_alloc(&s->arena, sizeof *d);
	struct hbase *h = NULL;
	bool exists = false, denied = false;
	int rc = live_tables_open(&h, a, err);

	if (rc == RC_OK)
		rc = live_tables_read_one(h, a->table, d, &s->arena, &exists, &denied, err);
	if (rc == RC_OK && !exists)
		rc = live_tables_missing(a->table, err);
	s->description = denied ? NULL : d;
	if (rc == RC_OK && denied)
		buf_append_str(doubts, "HBase does not let this user read the table's "
				       "attributes, so the families have the defaults\n");
	if (rc == RC_OK)
		rc = table_sample_live(s, doubts, h, a->table, err);
	hbase_close(h);
	return rc;
}

static int sample_offline(const struct offline_place *place, struct sampled_table *s,
			  struct published *p, struct error *err)
{
	int rc = offline_open(p, place, err);

	s->description = p->description;
	s->regions = p->nregions;
	return rc ? rc : table_sample_offline(s, p, err);
}

/* Put doubts of the sample before those of the job, in its comments too. */
static void add_doubts(struct inferred *out, const struct buf *doubts)
{
	struct buf all = {0};

	buf_append(&all, doubts->ptr, doubts->len);
	buf_append(&all, out->doubts.ptr, out->doubts.len);
	buf_release(&out->doubts);
	out->doubts = all;
	out->understood = all.len == 0;
}

int init_table(const struct arguments *a, const struct offline_place *place, struct inferred *out,
	       struct error *err)
{
	struct sampled_table s = {.table = a->table};
	struct published p = {.families = NULL};
	struct buf doubts = {0};
	int rc = check(a, place, err);

	if (!s.table && place->uri)
		s.table = name_of(&s.arena, place->uri);
	s.origin = a->hbase ? arena_format(&s.arena, "the live table %s", a->table)
			    : arena_format(&s.arena, "%s", place->uri);
	if (rc == RC_OK)
		rc = a->hbase ? sample_live(a, &s, &doubts, err)
			      : sample_offline(place, &s, &p, err);
	if (rc == RC_OK)
		rc = infer_table(&s, out, err);
	if (rc == RC_OK)
		add_doubts(out, &doubts);
	buf_release(&doubts);
	published_release(&p);
	arena_release(&s.arena);
	return rc;
}
