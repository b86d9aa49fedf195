/* move_journal.c - the steps of a table that moves (moving.h) */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "io.h"
#include "moving.h"

#define WORDS 4

struct move_snapshot *move_snapshot_of(const struct moving *m, uint64_t round)
{
	for (size_t i = m->nsnapshots; i-- > 0;)
		if (m->snapshots[i].round == round)
			return &m->snapshots[i];
	return NULL;
}

static struct move_snapshot *by_name(const struct moving *m, const char *name)
{
	for (size_t i = 0; i < m->nsnapshots; i++)
		if (strcmp(m->snapshots[i].name, name) == 0)
			return &m->snapshots[i];
	return NULL;
}

static bool read_number(const char *word, uint64_t *out)
{
	char after;

	return word && sscanf(word, "%" SCNu64 "%c", out, &after) == 1;
}

static bool take_snapshot(struct moving *m, const char *round, const char *name)
{
	struct move_snapshot s = {.name = name};

	if (!name || !read_number(round, &s.round))
		return false;
	m->snapshots = arena_grow(m->a, m->snapshots, m->nsnapshots, sizeof *m->snapshots);
	m->snapshots[m->nsnapshots++] = s;
	return true;
}

static bool take_moved(struct moving *m, char *const *word)
{
	struct move_result *r = m->out;
	bool good = read_number(word[1], &r->rounds) && read_number(word[2], &r->last_cells) &&
		    read_number(word[3], &r->last_ms);

	r->cells += good ? r->last_cells : 0;
	return good;
}

/* Marks a known snapshot as taken or removed. */
static bool mark(const struct moving *m, const char *name, bool removed)
{
	struct move_snapshot *s = name ? by_name(m, name) : NULL;

	if (s)
		*(removed ? &s->removed : &s->taken) = true;
	return s != NULL;
}

/* Takes the words of a line. `rest` is the text after the first word. */
static bool take_words(struct moving *m, char *const *word, const char *rest)
{
	struct move_result *r = m->out;
	const char *w = word[0];

	if (strcmp(w, "root") == 0)
		return (m->root = rest) != NULL;
	if (strcmp(w, "jobs") == 0)
		return (m->jobs = rest) != NULL;
	if (strcmp(w, "clear") == 0)
		return m->clear = true;
	if (strcmp(w, "last") == 0)
		return read_number(word[1], &m->last);
	if (strcmp(w, "snapshot") == 0)
		return take_snapshot(m, word[1], word[2]);
	if (strcmp(w, "taken") == 0 || strcmp(w, "removed") == 0)
		return mark(m, word[1], w[0] == 'r');
	if (strcmp(w, "moved") == 0)
		return take_moved(m, word);
	if (strcmp(w, "repairs") == 0)
		return read_number(word[1], &m->repairs) && read_number(word[2], &r->repaired);
	if (strcmp(w, "repaired") == 0)
		return m->repaired = true;
	if (strcmp(w, "equal") == 0)
		return (m->equal = read_number(word[1], &r->proved_rows) &&
				   read_number(word[2], &r->proved_cells));
	if (strcmp(w, "finished") == 0)
		return m->finished = r->finished = true;
	return false;
}

static int replay(void *ctx, char *line, struct error *err)
{
	struct moving *m = ctx;
	char *text = arena_strdup(m->a, line), *rest = NULL, *word[WORDS] = {NULL}, *save = NULL;
	char *space = strchr(text, ' ');
	size_t n = 0;

	rest = space ? arena_strdup(m->a, space + 1) : NULL;
	for (char *w = strtok_r(text, " ", &save); w && n < WORDS; w = strtok_r(NULL, " ", &save))
		word[n++] = w;
	if (n && take_words(m, word, rest))
		return RC_OK;
	return error_set(err, RC_DATA,
			 "found `%.100s`, which is no step of rekey; restore the journal from a "
			 "backup",
			 line);
}

static char *first_line(const struct moving *m)
{
	return mem_format("saltmill-rekey 1 %s %s %s", m->from, m->to, hbase_cluster_id(m->hbase));
}

/* Refuses the folder of another move, before journal_open does with the words of apply. */
static int check_first(struct bytes text, const char *path, const char *first, struct error *err)
{
	struct buf line = {0};

	journal_line(&line, first);
	const char *end = text.len ? memchr(text.ptr, '\n', text.len) : NULL;
	bool ours = !end || (text.len >= line.len && memcmp(text.ptr, line.ptr, line.len) == 0);
	buf_release(&line);
	return ours ? RC_OK
		    : error_set(
			      err, RC_CONFIG,
			      "%s: found the move of other tables or of another cluster, expected "
			      "`%s`; choose another folder with -o",
			      path, first);
}

static int read_text(const char *path, struct buf *text, struct error *err)
{
	bool there = false;
	int rc = io_exists(path, &there, err);

	return rc || !there ? rc : io_read_file(path, text, err);
}

int move_journal_read(struct moving *m, struct error *err)
{
	char *path = mem_format("%s/journal", m->opt->folder), *first = first_line(m);
	struct buf text = {0};
	size_t good;
	int rc = read_text(path, &text, err);

	if (rc == RC_OK)
		rc = check_first(buf_bytes(&text), path, first, err);
	if (rc == RC_OK)
		rc = journal_read(buf_bytes(&text), path, first, replay, m, &good, err);
	buf_release(&text);
	mem_free(first);
	mem_free(path);
	return rc;
}

/* Creates the folder. Refuses a folder with other files, because rekey removes files by their names. */
static int make_folder(const char *folder, const char *journal, struct error *err)
{
	bool there = false, ours = false;
	int rc = io_exists(folder, &there, err);

	if (rc == RC_OK && !there)
		return io_make_dir(folder, err);
	if (rc == RC_OK)
		rc = io_exists(journal, &ours, err);
	/* rmdir removes only an empty folder */
	if (rc == RC_OK && !ours && rmdir(folder) < 0)
		return error_set(
			err, RC_CONFIG,
			"%s: found a folder without a journal of rekey, expected a new folder",
			folder);
	return rc || ours ? rc : io_make_dir(folder, err);
}

int move_journal_open(struct moving *m, struct error *err)
{
	char *path = mem_format("%s/journal", m->opt->folder), *first = first_line(m);
	struct buf text = {0};
	int rc = make_folder(m->opt->folder, path, err);

	if (rc == RC_OK)
		rc = read_text(path, &text, err);
	if (rc == RC_OK)
		rc = check_first(buf_bytes(&text), path, first, err);
	if (rc == RC_OK)
		rc = journal_open(&m->journal, path, first, replay, m, err);
	buf_release(&text);
	mem_free(first);
	mem_free(path);
	return rc;
}

int move_note(struct moving *m, struct error *err, const char *fmt, ...)
{
	char line[512], step[64];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	snprintf(step, sizeof step, "rekey-before-%.*s", (int)strcspn(line, " "), line);
	crash_at(step);
	int rc = journal_note(&m->journal, line, err);
	snprintf(step, sizeof step, "rekey-%.*s", (int)strcspn(line, " "), line);
	crash_at(step);
	return rc ? rc : replay(m, line, err);
}
