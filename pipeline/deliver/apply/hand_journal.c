/* hand_journal.c - find, open and replay the journal of one load */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "applying.h"
#include "io.h"
#include "run.h"

static char *text_behind(const char *line, const char *name)
{
	size_t n = strlen(name);

	return strncmp(line, name, n) == 0 ? mem_strdup(line + n) : NULL;
}

static int replay_table(struct applied *t, char *line, struct error *err)
{
	int used = 0;
	char *token = text_behind(line, "token ");

	if (token) {
		mem_free(t->token);
		t->token = token;
	} else if (sscanf(line, "create %16" SCNx64 " %16" SCNx64 "%n", &t->nonce[0], &t->nonce[1],
			  &used) == 2 &&
		   line[used] == 0) {
		t->create_noted = true;
		t->created = false;
	} else if (strcmp(line, "created") == 0) {
		t->created = true;
	} else if (strncmp(line, "table ", 6) == 0) {
		if (!incarnation_read(&t->bound, line + 5))
			return error_set(err, RC_DATA, "`%.100s` is not an event", line);
	} else {
		int rc = handover_replay(&t->hand, line, err);

		return rc == RC_END ? error_set(err, RC_DATA, "`%.100s` is not an event", line)
				    : rc;
	}
	return RC_OK;
}

static int replay(void *ctx, char *line, struct error *err)
{
	struct applying *a = ctx;
	char *text, *rest;

	if (strcmp(line, "finished") == 0) {
		a->finished = true;
	} else if (strcmp(line, "parts") == 0) {
		a->cut_begun = true;
	} else if (strncmp(line, "load ", 5) == 0) {
		mem_free(a->load);
		a->load = mem_strdup(line);
	} else if ((text = text_behind(line, "upload "))) {
		mem_free(a->upload);
		a->upload = text;
	} else if ((text = text_behind(line, "folder "))) {
		mem_free(a->folder);
		a->folder = text;
	} else {
		unsigned long long i = strtoull(line, &rest, 10);
		if (rest == line || *rest != ' ' || i >= a->ntables)
			return error_set(err, RC_DATA, "`%.100s` is not an event of this load",
					 line);
		return replay_table(&a->tables[i], rest + 1, err);
	}
	return RC_OK;
}

/* Makes the first line of this load's journal for this cluster. */
static int journal_first(const struct applying *a, struct buf *first, struct error *err)
{
	char *manifest = mem_format("%s/manifest.json", a->opt->dir);
	uint8_t digest[16];
	uint64_t bytes;
	int rc = io_digest_file(manifest, digest, &bytes, err);

	if (rc == RC_OK) {
		buf_append_str(first, "saltmill-apply 1 ");
		bytes_hex(first, bytes_of(digest, sizeof digest));
		buf_printf(first, " %s", hbase_cluster_id(a->hbase));
		buf_put(first, 0);
	}
	mem_free(manifest);
	return rc;
}

static char *usual_journal(const struct applying *a)
{
	size_t n = strlen(a->opt->dir);

	while (n > 1 && a->opt->dir[n - 1] == '/')
		n--;
	return mem_format("%.*s%s%s", (int)n, a->opt->dir, a->opt->first_cluster ? APPLY_ALSO : "",
			  APPLY_SUFFIX);
}

/*
 * Finds the path of the journal. The caller frees the path. Reports a journal whose name does not
 * match DIR.
 */
static int find_journal(const struct applying *a, const char *first, const char *load, char **path,
			struct error *err)
{
	struct journal_found found;

	if (a->opt->journal) {
		*path = mem_strdup(a->opt->journal);
		return RC_OK;
	}
	char *usual = usual_journal(a);
	if (a->opt->never_renamed) {
		*path = usual;
		return RC_OK;
	}
	int rc = journal_find(usual, APPLY_SUFFIX, first, load, &found, err);
	if (rc == RC_OK && found.other)
		applying_say(a,
			     "%s is the journal of this load from before the rename of its folder; "
			     "apply continues with it",
			     found.path);
	else if (rc == RC_OK && found.alike)
		applying_say(a,
			     "%s belongs to a load with the same files whose folder no longer "
			     "exists; apply does not change that journal, and begins %s",
			     found.alike, usual);
	*path = found.path;
	mem_free(found.alike);
	mem_free(usual);
	return rc;
}

/*
 * Checks that the journal belongs to this load. The journal of another load proves nothing about
 * this load, even if the files are equal. Since then, HBase may have deleted the cells of the other
 * load.
 */
static int check_load(struct applying *a, const char *load, struct error *err)
{
	if (!a->load)
		return applying_note(a, err, "%s", load);
	if (journal_same_time(a->load, load))
		return RC_OK;
	if (!a->opt->journal)
		return error_set(
			err, RC_CONFIG,
			"%s belongs to an earlier load in this folder with the same files; to "
			"apply this load, add `--restart`; if this folder is a copy of that "
			"load, continue its journal with `--journal %s`",
			a->journal.path, a->journal.path);
	applying_warn(a,
		      "another load with the same files began %s; apply continues with it "
		      "because of --journal, and does not send the files again that it notes as "
		      "done",
		      a->journal.path);
	return RC_OK;
}

static int name_journal(struct applying *a, struct buf *first, char load[JOURNAL_LOAD], char **path,
			struct error *err)
{
	int rc = journal_first(a, first, err);

	if (rc == RC_OK)
		rc = journal_load(load, a->opt->dir, err);
	return rc ? rc : find_journal(a, (const char *)first->ptr, load, path, err);
}

int open_journal(struct applying *a, struct error *err)
{
	struct buf first = {0};
	char load[JOURNAL_LOAD], *path = NULL;
	int rc = name_journal(a, &first, load, &path, err);

	if (rc == RC_OK)
		rc = journal_open(&a->journal, path, (const char *)first.ptr, replay, a, err);
	if (rc == RC_OK)
		rc = check_load(a, load, err);
	buf_release(&first);
	mem_free(path);
	return rc;
}

int open_old_journal(struct applying *a, bool *there, struct error *err)
{
	struct buf first = {0};
	char load[JOURNAL_LOAD], *path = NULL;
	int rc = name_journal(a, &first, load, &path, err);

	*there = false;
	if (rc == RC_OK)
		rc = io_exists(path, there, err);
	if (rc == RC_OK && *there)
		rc = journal_open(&a->journal, path, (const char *)first.ptr, replay, a, err);
	else if (rc == RC_OK)
		applying_say(a, "%s does not exist; without a journal, apply has nothing to remove",
			     path);
	buf_release(&first);
	mem_free(path);
	return rc;
}

int apply_is_finished(const char *dir, bool *finished, struct error *err)
{
	char *path = mem_format("%s" APPLY_SUFFIX, dir);
	struct buf text = {0}, end = {0};
	bool there;
	int rc = io_exists(path, &there, err);

	if (rc == RC_OK && there)
		rc = io_read_file(path, &text, err);
	journal_line(&end, "finished");
	*finished = rc == RC_OK && text.len > end.len &&
		    memcmp(text.ptr + text.len - end.len, end.ptr, end.len) == 0;
	buf_release(&end);
	buf_release(&text);
	mem_free(path);
	return rc;
}

/* --- removing a load --- */

int apply_remove(const char *dir, struct error *err)
{
	char *aside = mem_format("%s" APPLY_REMOVED, dir);
	char *journal = mem_format("%s" APPLY_SUFFIX, dir);
	/* rename first, because a partly removed folder looks like a damaged load */
	int rc = rename(dir, aside) < 0 && errno != ENOENT
			 ? error_errno(err, "cannot rename %s", dir)
			 : io_sync_parent(dir, err);

	crash_at("follow-aside");
	if (rc == RC_OK)
		rc = io_remove_tree(aside, err);
	crash_at("follow-removed");
	if (rc == RC_OK && unlink(journal) < 0 && errno != ENOENT)
		rc = error_errno(err, "cannot remove %s", journal);
	mem_free(journal);
	mem_free(aside);
	return rc;
}
