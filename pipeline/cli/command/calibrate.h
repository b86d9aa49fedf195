/*
 * calibrate.h - measures the constants of design's model on a live HBase (inside this folder only)
 */
#ifndef SALTMILL_CMD_CALIBRATE_H
#define SALTMILL_CMD_CALIBRATE_H

#include "arguments.h"

/*
 * Write a table of about 16 MB to the cluster of --hbase, read it, and drop it. The seconds are
 * those that this client waits. `write_byte_s` stays the usual one, because it counts compactions.
 */
int calibrate(struct design_constants *out, const struct arguments *a, struct error *err);

#endif
