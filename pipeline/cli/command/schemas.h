/*
 * schemas.h - the JSON forms of all commands (inside pipeline/cli/command only)
 */
#ifndef SALTMILL_CMD_SCHEMAS_H
#define SALTMILL_CMD_SCHEMAS_H

#include "form.h"

extern const struct form split_form, ddl_form, version_form, ledger_line_form;

/* Append one line for each form, with its name and its output. */
void schemas_list(struct buf *out);
/* Append the JSON Schema of the form. Returns false if no form has this name. */
bool schema_json(struct buf *out, const char *name);

#endif
