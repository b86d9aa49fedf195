/*
 * report_views.h - structs for the output of `load --json` and `plan --json`
 *
 * load_form and plan_form (reports.h) write and read these structs.
 */
#ifndef SALTMILL_REPORT_VIEWS_H
#define SALTMILL_REPORT_VIEWS_H

#include "lint.h"
#include "plan.h"
#include "planning.h"
#include "publish.h"

struct load_report_table {
	struct manifest_table t;
	bool promise_kept;
};
struct load_report_seconds {
	double total, read, splits, write, publish;
};
struct load_report_load {
	const char *output;
	uint64_t read, rejected, rejected_lines, filtered_lines, spilled_bytes;
	struct load_report_table *tables;
	size_t ntables;
	struct load_report_seconds seconds;
};

struct plan_region_view {
	struct bytes start, end;
	uint64_t rows, bytes, disk_bytes;
	double bytes_error;
};
struct plan_rival_view {
	const char *algorithm;
	size_t regions, empty;
	double largest_share;
};
struct plan_heavy_view {
	bool is_row;
	struct bytes key, name;
	uint64_t rows, bytes, at_least, at_most;
	uint32_t salts;
};
/* A row of the heat map, from this region to the first region of the next row. */
struct hot_band_view {
	uint64_t region;
	int64_t *share;
	size_t nshares;
};
struct plan_hotspot_view {
	bool any;
	uint64_t events, every, windows, window_events;
	double window_s;
	size_t servers, regions;
	double even, server_mean, server_p99, region_mean, region_p99, written, noise, grown;
	struct hot_band_view *bands;
	size_t nbands;
	int64_t *busiest;
	size_t nbusiest;
};
struct plan_table_view {
	const char *name;
	uint64_t rows, bytes, disk_bytes;
	double disk_per_byte, target, largest, smallest, error;
	bool is_scaled;
	double input_share, scale_error;
	struct plan_region_view *regions;
	size_t nregions;
	struct plan_rival_view *rivals;
	size_t nrivals;
	struct plan_heavy_view *heavy;
	size_t nheavy;
	const struct plan_place *places;
	size_t nplaces;
	const char *const *warnings;
	size_t nwarnings;
	struct plan_hotspot_view hotspot;
	struct key_cost key_cost; /* unset without --rows */
};
struct plan_view {
	uint64_t events, rejected;
	struct plan_table_view *tables;
	size_t ntables;
	bool linted;
	const struct lint_finding *findings;
	size_t nfindings;
};

#endif
