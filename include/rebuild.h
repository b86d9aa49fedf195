/*
 * rebuild.h - `saltmill loads --rebuild`: a damaged state made anew from the loads it published
 */
#ifndef SALTMILL_REBUILD_H
#define SALTMILL_REBUILD_H

#include "bytes.h"
#include "error.h"

/*
 * What is whole in the state stays; what is not is put beside its name (.damaged) and made from the
 * manifests in DIR/published and in folders (loads, or folders of loads); of shared states in each
 * partition's, and shared.json from these.  lines: a sentence a line for each thing that was done,
 * also when a later partition fails.  RC_DATA, and nothing is changed in that state: its loads do
 * not follow each other, nothing tells their topic, or newer ones are known to be missing.
 */
int rebuild_run(const char *state_dir, const char *const *folders, size_t nfolders,
		struct buf *lines, struct error *err);

#endif
