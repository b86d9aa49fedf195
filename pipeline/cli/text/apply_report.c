#include "cli/reports.h"

#include <inttypes.h>

#include "show_json.h"
#include "bytes.h"

static void table_text(struct buf *out, const struct apply_table *t, bool dry_run)
{
	char bytes[16];

	buf_printf(out, "%s: ", t->name);
	if (t->missing)
		buf_append_str(out, "is not there, --create makes it; ");
	else
		buf_printf(out, "%s%zu regions; ",
			   t->created	? "created, "
			   : t->altered ? "altered, "
					: "",
			   t->regions);
	buf_printf(out, "%zu files, %s, %" PRIu64 " cells\n", t->files,
		   format_bytes(bytes, t->bytes), t->cells);
	if (t->recut && dry_run)
		buf_printf(
			out,
			"  %zu of its files reach over borders of the live regions: they would be "
			"cut again there\n",
			t->recut);
	else if (t->recut)
		buf_printf(out, "  %zu of its files were cut again at live borders, into %zu\n",
			   t->recut, t->parts);
	for (size_t i = 0; i < t->ndifferences; i++)
		buf_printf(out, "  %s%s\n", dry_run ? "differs: " : "was: ", t->differences[i]);
	if (!t->checked)
		return;
	buf_printf(out, "  checked: %" PRIu64 " cells are there", t->proof.found);
	if (t->proof.expired)
		buf_printf(out, ", %" PRIu64 " are older than their TTL", t->proof.expired);
	if (t->proof.others)
		buf_printf(out, ", %" PRIu64 " others in the same rows", t->proof.others);
	buf_put(out, '\n');
}

void apply_report_text(struct buf *out, const struct apply_result *r, bool dry_run)
{
	for (size_t i = 0; i < r->ntables; i++)
		table_text(out, &r->tables[i], dry_run);
	if (dry_run)
		buf_append_str(out, "nothing was changed (--dry-run)\n");
	else if (r->already)
		buf_append_str(out, "it was all handed over before, says its journal\n");
}

static json_t *proof_json(const struct apply_proof *p)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "found", (json_int_t)p->found, "missing",
			 (json_int_t)p->missing, "changed", (json_int_t)p->changed, "expired",
			 (json_int_t)p->expired, "others", (json_int_t)p->others);
}

static json_t *table_json(const struct apply_table *t)
{
	json_t *differences = json_array();

	for (size_t i = 0; i < t->ndifferences; i++)
		json_array_append_new(differences, show_string(t->differences[i]));
	return json_pack("{s:o, s:b, s:b, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:o*, s:o}", "name",
			 show_string(t->name), "created", t->created, "altered", t->altered,
			 "missing", t->missing, "regions", (json_int_t)t->regions, "files",
			 (json_int_t)t->files, "bytes", (json_int_t)t->bytes, "cells",
			 (json_int_t)t->cells, "recut", (json_int_t)t->recut, "parts",
			 (json_int_t)t->parts, "check", t->checked ? proof_json(&t->proof) : NULL,
			 "differences", differences);
}

void apply_report_json(struct buf *out, const struct apply_result *r)
{
	json_t *tables = json_array(), *warnings = json_array();

	for (size_t i = 0; i < r->ntables; i++)
		json_array_append_new(tables, table_json(&r->tables[i]));
	for (size_t i = 0; i < r->nwarnings; i++)
		json_array_append_new(warnings, show_string(r->warnings[i]));
	show_json(out,
		  json_pack("{s:o, s:b, s:o, s:o}", "cluster",
			    show_string(r->cluster_id ? r->cluster_id : ""), "already", r->already,
			    "tables", tables, "warnings", warnings),
		  JSON_INDENT(2));
}
