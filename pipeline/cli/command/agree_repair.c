/* agree_repair.c - writes a load that repairs tables (agree_repair.h) */
#include "agree_repair.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "load.h"
#include "mem.h"
#include "planning.h"
#include "io.h"

static int refuse_existing(const char *path, struct error *err)
{
	bool there = false;
	struct stat st;
	int rc = io_exists(path, &there, err);

	if (rc == RC_OK && there)
		rc = error_set(
			err, RC_CONFIG,
			"--repair: found the %s %s, expected a new name, because a repair is a "
			"load of its own; add another name, such as `--repair %s-repair`",
			stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? "folder" : "file", path,
			path);
	return rc;
}

/* Check that OUT is in a folder of this machine. */
static int check_place(const char *out, struct error *err)
{
	const char *slash = strrchr(out, '/');
	bool there = true;

	if (!*out)
		return error_set(
			err, RC_CONFIG,
			"--repair: found an empty name, expected the folder of a new load");
	if (strstr(out, "://"))
		return error_set(err, RC_CONFIG,
				 "--repair: found %s, expected a folder of this machine", out);
	char *folder = mem_format("%.*s", slash ? (int)(slash - out) : 0, out);
	int rc = *folder ? io_exists(folder, &there, err) : RC_OK;
	if (rc == RC_OK && !there)
		rc = error_set(err, RC_CONFIG,
			       "--repair: found no folder %s, expected the folder of the new load; "
			       "enter `mkdir -p %s`",
			       folder, folder);
	mem_free(folder);
	return rc;
}

int agree_repair_open(struct agree_repair *r, const char *out, struct error *err)
{
	size_t len = strlen(out);

	while (len > 1 && out[len - 1] == '/')
		len--;
	r->out = mem_format("%.*s", (int)len, out);
	r->csv = mem_format("%s.csv", r->out);
	r->yaml = mem_format("%s.yaml", r->out);
	int rc = check_place(r->out, err);
	if (rc == RC_OK)
		rc = refuse_existing(r->out, err);
	if (rc == RC_OK)
		rc = refuse_existing(r->csv, err);
	if (rc == RC_OK)
		rc = refuse_existing(r->yaml, err);
	if (rc)
		return rc;
	r->lines = fopen(r->csv, "wx");
	r->is_partial = r->lines != NULL;
	if (!r->lines || fputs("table,row,family,qualifier,timestamp,type,value\n", r->lines) < 0)
		return error_errno(err, "%s", r->csv);
	return RC_OK;
}

static void put_quoted(struct buf *out, const char *text)
{
	text_json(out, bytes_str(text));
}

/* Append the job's families as the job file has them. */
static void put_families(struct buf *out, const struct job_table *t)
{
	const char *comma = "";

	buf_append_str(out, "    families: {");
	for (size_t i = 0; i < t->written.families.n; i++) {
		const struct written_item *f = &t->written.families.item[i];

		buf_append_str(out, comma);
		put_quoted(out, f->name);
		buf_printf(out, ": %s", *f->text ? f->text : "{}");
		comma = ", ";
	}
	buf_append_str(out, "}\n");
}

/* Append a text between two `quote`. A quote in the text is doubled. */
static void put_doubled(struct buf *out, char quote, struct bytes text)
{
	buf_put(out, (uint8_t)quote);
	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] == (uint8_t)quote)
			buf_put(out, (uint8_t)quote);
		buf_put(out, text.ptr[i]);
	}
	buf_put(out, (uint8_t)quote);
}

/* Append `when` for the lines whose field has this value. `start` is a condition before it. */
static void put_when(struct buf *out, const char *start, const char *field, const char *value)
{
	struct buf text = {0};

	buf_printf(&text, "%s%s = ", start, field);
	put_doubled(&text, '\'', bytes_str(value));
	buf_append_str(out, "when: ");
	text_json(out, buf_bytes(&text));
	buf_release(&text);
}

/* Append an item of `cells` or `deletes` for the cells of one family and type. */
static void put_item(struct buf *out, const char *family, const char *start, const char *more)
{
	buf_append_str(out, "      - {family: ");
	put_quoted(out, family);
	buf_printf(out, ", qualifier: {field: qualifier, as: bytes}, %s", more);
	put_when(out, start, "family", family);
	buf_append_str(out, "}\n");
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Keep the split points for a file, and append the rule that reads it. */
static int put_regions(struct agree_repair *r, const char *table, const struct splits *s,
		       struct error *err)
{
	if (!s->count) {
		buf_append_str(&r->tables, "    regions: {split: none}\n");
		return RC_OK;
	}
	char *path = mem_format("%s.%s.splits", r->out, table);
	int rc = refuse_existing(path, err);
	if (rc) {
		mem_free(path);
		return rc;
	}
	r->splits = mem_grow(r->splits, r->nsplits, sizeof *r->splits);
	struct repair_splits *to = &r->splits[r->nsplits++];
	*to = (struct repair_splits){.path = path};
	splits_format(s, &to->text);
	buf_append_str(&r->tables, "    regions: {split: file, file: ");
	put_quoted(&r->tables, name_of(path));
	buf_append_str(&r->tables, "}\n");
	return RC_OK;
}

int agree_repair_table(struct agree_repair *r, const struct job_table *t,
		       const struct splits *splits, struct error *err)
{
	const struct table *s = &t->schema;
	struct buf *out = &r->tables;

	r->table = s->name;
	buf_append_str(out, "  - name: ");
	put_quoted(out, s->name);
	buf_append_str(out, "\n    ");
	put_when(out, "", "table", s->name);
	buf_append_str(out, "\n    rowkey: [{field: row, as: bytes}]\n    timestamp: timestamp\n");
	put_families(out, t);
	buf_append_str(out, "    cells:\n");
	for (size_t i = 0; i < s->nfamilies; i++)
		put_item(out, s->families[i].name, "type = Put and ",
			 "value: {field: value, as: bytes}, ");
	buf_append_str(out, "    deletes:\n");
	for (size_t i = 0; i < s->nfamilies; i++) {
		put_item(out, s->families[i].name, "type = DeleteColumn and ", "");
		put_item(out, s->families[i].name, "type = Delete and ", "versions: one, ");
	}
	return put_regions(r, s->name, splits, err);
}

static void put_hex(struct buf *out, struct bytes v)
{
	buf_append_str(out, ",\"");
	bytes_hex(out, v);
	buf_put(out, '"');
}

int agree_repair_cell(void *repair, const struct cell *c, struct error *err)
{
	struct agree_repair *r = repair;
	struct buf *out = &r->line;

	out->len = 0;
	buf_append_str(out, r->table);
	put_hex(out, c->row);
	buf_put(out, ',');
	put_doubled(out, '"', c->family);
	put_hex(out, c->qualifier);
	buf_printf(out, ",%" PRId64 ",%s", c->ts, cell_type_name(c->type));
	put_hex(out, c->value);
	buf_put(out, '\n');
	r->cells++;
	return fwrite(out->ptr, 1, out->len, r->lines) == out->len ? RC_OK
								   : error_errno(err, "%s", r->csv);
}

static int write_job(struct agree_repair *r, struct error *err)
{
	struct buf text = {0};

	buf_append_str(&text, "# saltmill agree wrote this job. It repairs tables cell by cell.\n"
			      "source:\n  csv: {files: [");
	put_quoted(&text, name_of(r->csv));
	buf_append_str(&text, "]}\nfields:\n  row: {type: hex}\n  qualifier: {type: hex}\n"
			      "  value: {type: hex}\n  timestamp: {type: time, unit: ms}\n"
			      "tables:\n");
	buf_append(&text, r->tables.ptr, r->tables.len);
	int rc = io_write_file(r->yaml, buf_bytes(&text), err);
	for (size_t i = 0; rc == RC_OK && i < r->nsplits; i++)
		rc = io_write_file(r->splits[i].path, buf_bytes(&r->splits[i].text), err);
	buf_release(&text);
	return rc;
}

static int load_job(const struct agree_repair *r, const struct arguments *a, struct error *err)
{
	struct job job;
	struct load_result result = {0};
	struct progress progress = {.phase = NULL};
	struct existing_regions live = {.servers = a->hbase, .listener = command_listener("agree")};
	const struct input input = {0};
	const struct load_options opt = {.common = &a->run,
					 .input = &input,
					 .output_dir = r->out,
					 .live = &live};
	int rc = job_load(&job, r->yaml, err);

	if (rc == RC_OK)
		rc = existing_regions_read(&live, &job, err);
	if (rc == RC_OK)
		rc = load_run(&job, &opt, &progress, &result, err);
	load_result_release(&result);
	existing_regions_release(&live);
	job_release(&job);
	return rc;
}

int agree_repair_load(struct agree_repair *r, const struct arguments *a, struct error *err)
{
	FILE *lines = r->lines;

	r->lines = NULL;
	if (fclose(lines) != 0)
		return error_errno(err, "%s", r->csv);
	r->is_partial = r->cells > 0;
	if (r->cells == 0)
		return unlink(r->csv) == 0 ? RC_OK : error_errno(err, "%s", r->csv);
	int rc = write_job(r, err);
	if (rc == RC_OK)
		rc = load_job(r, a, err);
	r->is_partial = rc != RC_OK;
	return rc;
}

void agree_repair_close(struct agree_repair *r)
{
	if (r->lines)
		fclose(r->lines);
	if (r->is_partial) {
		unlink(r->csv);
		unlink(r->yaml);
		for (size_t i = 0; i < r->nsplits; i++)
			unlink(r->splits[i].path);
	}
	for (size_t i = 0; i < r->nsplits; i++) {
		mem_free(r->splits[i].path);
		buf_release(&r->splits[i].text);
	}
	mem_free(r->splits);
	mem_free(r->out);
	mem_free(r->csv);
	mem_free(r->yaml);
	buf_release(&r->line);
	buf_release(&r->tables);
}
