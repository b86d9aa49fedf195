/* schemas.c - lists the JSON forms of all commands and prints their schemas */
#include "schemas.h"

#include "cli/answer.h"
#include "cli/reports.h"
#include "half_reports.h"
#include "load.h"
#include "cli/inspect.h"
#include "publish.h"
#include "cli/progress_text.h"
#include "state.h"

static const struct form *const forms[] = {&manifest_form,	&reject_form,
					   &load_form,		&verify_form,
					   &diff_form,		&what_if_form,
					   &moved_form,		&agree_form,
					   &apply_form,		&failure_form,
					   &plan_form,		&settings_form,
					   &lint_form,		&checked_form,
					   &design_form,	&compare_form,
					   &drift_form,		&status_form,
					   &loads_form,		&seek_form,
					   &stream_form,	&applied_form,
					   &inspect_form,	&salvage_form,
					   &split_form,		&ddl_form,
					   &tables_form,	&regions_form,
					   &description_form,	&dropped_form,
					   &watch_form,		&version_form,
					   &key_form,		&ranges_form_json,
					   &rows_form,		&decoded_form,
					   &map_report_form,	&map_totals_form,
					   &digest_form,	&inputs_form,
					   &reduce_report_form, &state_load_form,
					   &state_topics_form,	&state_checkpoint_form,
					   &state_note_form,	&state_applying_form,
					   &ledger_form,	&ledger_line_form};
#define NFORMS (sizeof forms / sizeof *forms)

void schemas_list(struct buf *out)
{
	for (size_t i = 0; i < NFORMS; i++)
		buf_printf(out, "  %-14s %s\n", forms[i]->name, forms[i]->title);
}

bool schema_json(struct buf *out, const char *name)
{
	for (size_t i = 0; i < NFORMS; i++)
		if (strcmp(forms[i]->name, name) == 0) {
			form_schema(out, forms[i]);
			return true;
		}
	return false;
}
