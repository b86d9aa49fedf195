/* diff_sides.c - see diff_sides.h */
#include "diff_sides.h"

#include <stdlib.h>
#include <string.h>

#include "live_tables.h"
#include "load_dirs.h"
#include "mem.h"
#include "storage.h"

#define LIVE "hbase://"

static int by_name(const void *a, const void *b)
{
	return bytes_cmp(((const struct query_family *)a)->name,
			 ((const struct query_family *)b)->name);
}

/* Lists the families of the live table. Its servers apply their rules. */
static int take_families(struct diff_table *t, struct error *err)
{
	struct published *p = &t->files;
	struct description d = {0};
	enum hbase_table_state state;
	int rc = live_tables_describe(t->hbase, t->table, &d, &state, &p->arena, err);

	if (rc)
		return rc;
	p->families = arena_alloc(&p->arena, (d.nfamilies + 1) * sizeof *p->families);
	for (size_t i = 0; i < d.nfamilies; i++)
		p->families[p->nfamilies++] =
			(struct query_family){.name = bytes_str(d.families[i].name)};
	qsort(p->families, p->nfamilies, sizeof *p->families, by_name);
	return RC_OK;
}

static int open_live(struct diff_table *t, const char *servers, const char *table,
		     const struct arguments *a, struct error *err)
{
	struct hbase_failure why;
	int rc = hbase_open(&t->hbase, servers, a->user, &why, err);

	t->table = mem_strdup(table);
	return rc ? rc : take_families(t, err);
}

/* Opens hbase://SERVERS/TABLE. */
static int open_live_uri(struct diff_table *t, const char *uri, const struct arguments *a,
			 struct error *err)
{
	const char *servers = uri + strlen(LIVE), *slash = strrchr(servers, '/');

	if (!slash || slash == servers || !slash[1])
		return error_set(err, RC_CONFIG,
				 "%s: found no table, expected hbase://HOST[:PORT],.../TABLE", uri);
	char *text = mem_format("%.*s", (int)(slash - servers), servers);
	int rc = open_live(t, text, slash + 1, a, err);
	mem_free(text);
	return rc;
}

static int open_loads(struct diff_table *t, const char *dir, const struct arguments *a,
		      struct error *err)
{
	struct load_dirs dirs = {0};
	int rc = load_dirs_add(&dirs, dir, err);

	if (rc == RC_OK && dirs.n == 0)
		rc = error_set(err, RC_DATA, "%s: found no published load", dir);
	if (rc == RC_OK)
		rc = offline_open_loads(&t->files, a->table, (const char *const *)dirs.path, dirs.n,
					err);
	load_dirs_release(&dirs);
	return rc;
}

/* Finds the kind of `name` in the folder of the place. */
static int find_kind(struct storage *s, const char *name, enum storage_kind *kind,
		     struct error *err)
{
	char *path = mem_format("%s/%s", storage_path(s), name);
	struct storage_info info = {.kind = STORAGE_NOTHING};
	int rc = storage_stat(s, path, &info, err);

	*kind = info.kind;
	mem_free(path);
	return rc;
}

/* Judges by the path and the content, because the path of a snapshot may be relative. */
int diff_judge_place(struct offline_place *place, struct error *err)
{
	struct storage *storage;
	enum storage_kind info = STORAGE_NOTHING, described = STORAGE_NOTHING;
	bool named = strstr(place->uri, "/.hbase-snapshot/") != NULL;
	int rc = storage_open(&storage, place->uri, place->storage, err);

	if (rc)
		return rc;
	if (!named)
		rc = find_kind(storage, ".snapshotinfo", &info, err);
	if (rc == RC_OK && info == STORAGE_NOTHING)
		rc = find_kind(storage, ".tabledesc", &described, err);
	if (rc == RC_OK)
		place->kind = named || info == STORAGE_FILE ? OFFLINE_SNAPSHOT
			      : described == STORAGE_FOLDER ? OFFLINE_TABLE
							    : OFFLINE_HFILES;
	storage_close(storage);
	return rc;
}

int diff_table_open(struct diff_table *t, const char *uri, const struct arguments *a,
		    struct error *err)
{
	struct offline_place place = {.uri = uri, .storage = &a->place};
	enum load_dirs_kind kind = LOAD_DIRS_OTHER;

	t->place = mem_strdup(uri);
	if (strncmp(uri, LIVE, strlen(LIVE)) == 0)
		return open_live_uri(t, uri, a, err);
	int rc = storage_is_remote(uri) ? RC_OK : load_dirs_judge(uri, &kind, err);
	if (rc == RC_OK && kind != LOAD_DIRS_OTHER)
		return open_loads(t, uri, a, err);
	if (rc == RC_OK)
		rc = diff_judge_place(&place, err);
	return rc ? rc : offline_open(&t->files, &place, err);
}

int diff_sides_open(struct diff_table side[2], const struct arguments *a, struct error *err)
{
	int rc = RC_OK;

	if (a->noperands + (a->hbase != NULL) != 2)
		return error_set(err, RC_CONFIG,
				 "found %zu operand%s%s, expected two tables, or one and `--hbase "
				 "HOST[:PORT],... --table TABLE`",
				 a->noperands, a->noperands == 1 ? "" : "s",
				 a->hbase ? " and --hbase" : "");
	for (size_t i = 0; rc == RC_OK && i < a->noperands; i++)
		rc = diff_table_open(&side[i], a->operand[i], a, err);
	if (rc == RC_OK && a->hbase) {
		side[1].place = mem_format(LIVE "%s/%s", a->hbase, a->table);
		rc = open_live(&side[1], a->hbase, a->table, a, err);
	}
	return rc;
}

void diff_table_release(struct diff_table *t)
{
	published_release(&t->files);
	hbase_close(t->hbase);
	mem_free(t->table);
	mem_free(t->place);
}

void diff_sides_release(struct diff_table side[2])
{
	diff_table_release(&side[0]);
	diff_table_release(&side[1]);
}
