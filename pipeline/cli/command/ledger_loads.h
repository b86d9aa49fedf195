/* ledger_loads.h - `saltmill loads --ledger DIR` (inside this folder only) */
#ifndef SALTMILL_CMD_LEDGER_LOADS_H
#define SALTMILL_CMD_LEDGER_LOADS_H

#include "arguments.h"

/* List the loads in a->ledger, write a->textfile, and remove the loads that exceed a->keep. */
int ledger_loads(const struct arguments *a);

#endif
