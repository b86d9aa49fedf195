/*
 * schemas.h - the JSON forms of all commands (inside pipeline/cli/command only)
 */
#ifndef SALTMILL_CMD_SCHEMAS_H
#define SALTMILL_CMD_SCHEMAS_H

#include "form.h"

extern const struct form split_form, ddl_form, version_form;

/* Append one line for each form: its name, and which output has it. */
void schemas_list(struct buf *out);
/* Append the JSON Schema of the form; false: no form has this name. */
bool schema_json(struct buf *out, const char *name);

#endif
