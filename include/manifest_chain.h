/*
 * manifest_chain.h - does each published load follow the one before it?
 *
 * A load's manifest names the digest of the manifest before it, and the state keeps the digest of
 * each: a load that was changed, exchanged, or made with another copy of the state shows.
 */
#ifndef SALTMILL_MANIFEST_CHAIN_H
#define SALTMILL_MANIFEST_CHAIN_H

#include "state.h"

/*
 * A load of a state against its folder and the load before it: what is wrong, as a sentence owned
 * by the caller, or NULL.  *gone: its folder is not there any more, which is wrong as long as
 * nobody has said that it was handed over (--loaded) or moved (--published).  One of before
 * manifests named each other is not looked into.
 */
char *manifest_chain_check(const struct state_load *l, bool *gone);
/*
 * The load alone: why the manifest in its folder is not, or may not be, the one that was published,
 * as a sentence owned by the caller.  NULL: it is that one, or gone.
 */
char *manifest_chain_content(const struct state_load *l);

#endif
