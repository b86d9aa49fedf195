#include "cli/reports.h"

#include <inttypes.h>

#include "bytes.h"

static void table_text(struct buf *out, const struct apply_table *t, bool dry_run)
{
	char bytes[16];

	buf_printf(out, "%s: ", t->name);
	if (t->missing)
		buf_append_str(out, "does not exist, --create creates it; ");
	else
		buf_printf(out, "%s%zu regions; ",
			   t->created	? "created, "
			   : t->altered ? "altered, "
					: "",
			   t->regions);
	buf_printf(out, "%zu files, %s, %" PRIu64 " cells\n", t->files,
		   format_bytes(bytes, t->bytes), t->cells);
	if (t->recut && dry_run)
		buf_printf(out,
			   "  %zu of its files cross borders of the live regions, so apply would "
			   "split "
			   "them there\n",
			   t->recut);
	else if (t->recut)
		buf_printf(out, "  split %zu of its files at live region borders, into %zu parts\n",
			   t->recut, t->parts);
	for (size_t i = 0; i < t->ndifferences; i++)
		buf_printf(out, "  %s%s\n", dry_run ? "differs: " : "was: ", t->differences[i]);
	if (!t->checked)
		return;
	buf_printf(out, "  checked: found %" PRIu64 " cells in the table", t->proof.found);
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
		buf_append_str(out, "saltmill changed nothing (--dry-run)\n");
	else if (r->already)
		buf_append_str(
			out,
			"nothing to do, because an earlier run applied the whole load (journal)\n");
}

void apply_access_text(struct buf *out, const struct apply_result *r)
{
	for (size_t i = 0; i < r->naccess; i++)
		buf_printf(out, "%-7s %-7s %s\n", r->access[i].what,
			   r->access[i].good ? "ok" : "refused", r->access[i].text);
}

static const struct form_member access_members[] = {
	{"what", FORM_TEXT, IN(apply_access, what), "login, clocks, rights, folder or token"},
	{"good", FORM_FLAG, IN(apply_access, good), "the user may do it, or there was no check"},
	{"text", FORM_TEXT, IN(apply_access, text), "the finding, with the command that helps"},
};
static const struct form access_form = FORM(apply_access, access_members);

static const struct form_member proof_members[] = {
	{"found", FORM_COUNT, IN(apply_proof, found), "cells that the table has"},
	{"missing", FORM_COUNT, IN(apply_proof, missing), "cells that the table lacks"},
	{"changed", FORM_COUNT, IN(apply_proof, changed),
	 "cells that have another value in the table"},
	{"expired", FORM_COUNT, IN(apply_proof, expired), "cells older than their TTL"},
	{"others", FORM_COUNT, IN(apply_proof, others),
	 "cells in the same rows, not from this load"},
};
static const struct form proof_form = FORM(apply_proof, proof_members);

static const struct form_member table_members[] = {
	{"name", FORM_TEXT, IN(apply_table, name),
	 "name of the table, with its namespace if the "
	 "table has one"},
	{"created", FORM_FLAG, IN(apply_table, created), "apply created the table for this load"},
	{"altered", FORM_FLAG, IN(apply_table, altered), "apply altered the table for this load"},
	{"missing", FORM_FLAG, IN(apply_table, missing), "--dry-run: the table does not exist"},
	{"regions", FORM_SIZE, IN(apply_table, regions), "number of existing regions"},
	{"files", FORM_SIZE, IN(apply_table, files), "number of HFiles"},
	{"bytes", FORM_COUNT, IN(apply_table, bytes), "size of the HFiles"},
	{"cells", FORM_COUNT, IN(apply_table, cells), "cells in the HFiles"},
	{"recut", FORM_SIZE, IN(apply_table, recut),
	 "HFiles that spanned several regions, so apply split them"},
	{"parts", FORM_SIZE, IN(apply_table, parts), "HFiles that replaced the split HFiles"},
	{"check", FORM_PART, IN(apply_table, proof),
	 "--check: the load's cells compared with the live table", FORM_IF, &proof_form,
	 IF(apply_table, checked)},
	{"differences", FORM_TEXTS, IN(apply_table, differences),
	 "differences between the live table and its create.rb",
	 COUNT_AT(apply_table, ndifferences)},
};
static const struct form table_form = FORM(apply_table, table_members);

static const struct form_member apply_members[] = {
	{"cluster", FORM_TEXT, IN(apply_result, cluster_id), "id of the HBase cluster"},
	{"already", FORM_FLAG, IN(apply_result, already),
	 "an earlier run applied everything; this run changed nothing"},
	{"tables", FORM_LIST, IN(apply_result, tables), "tables, in the order of the manifest",
	 ITEMS(apply_result, table_form, ntables)},
	{"access", FORM_LIST, IN(apply_result, access), "findings of --check-access",
	 ITEMS(apply_result, access_form, naccess)},
	{"warnings", FORM_TEXTS, IN(apply_result, warnings), "possible problems, each with its fix",
	 COUNT_AT(apply_result, nwarnings)},
	{"also", FORM_OBJECT, IN(apply_result, also),
	 "--also: the same report about the second cluster", FORM_IF_ANY},
};
const struct form apply_form = NAMED_FORM(apply_result, apply_members, "apply", "apply --json");

static void put_json(struct buf *out, const struct apply_result *r, enum form_style style)
{
	struct apply_result v = *r;

	v.cluster_id = r->cluster_id ? r->cluster_id : "";
	form_put(out, &apply_form, &v, style);
}

void apply_report_json(struct buf *out, const struct apply_result *r)
{
	put_json(out, r, FORM_REPORT);
}

void apply_report_add(struct apply_result *r, const struct apply_result *second)
{
	struct buf line = {0};

	put_json(&line, second, FORM_SPACED);
	r->also = arena_bytes(&r->arena, buf_bytes(&line));
	buf_release(&line);
}
