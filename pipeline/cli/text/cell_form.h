/*
 * cell_form.h - a cell of a row as JSON (inside pipeline/cli/text only)
 */
#ifndef SALTMILL_SHOW_CELL_FORM_H
#define SALTMILL_SHOW_CELL_FORM_H

#include "form.h"

/* JSON members of struct cell: family, qualifier, timestamp, type, value. */
extern const struct form cell_form;

#endif
