/* diff_sides.h - the tables that `saltmill diff` compares (inside this folder only) */
#ifndef SALTMILL_CMD_DIFF_SIDES_H
#define SALTMILL_CMD_DIFF_SIDES_H

#include "arguments.h"
#include "query.h"

/* An opened table: a load, a state, HFiles, a table of HBase, a snapshot or a live table. */
struct diff_table {
	char *place; /* the operand, for messages */
	struct published files;
	struct hbase *hbase;
	char *table; /* name of the live table */
};

/* Find out what a folder without a load is, and set place->kind. */
int diff_judge_place(struct offline_place *place, struct error *err);
/* Open the table of an operand: a load, a state, HFiles, a folder of HBase, or a live table. */
int diff_table_open(struct diff_table *t, const char *uri, const struct arguments *a,
		    struct error *err);
void diff_table_release(struct diff_table *t);
/*
 * Open the tables that the command line names: two operands, or one operand and the live table of
 * --hbase and --table. Release both whatever the result.
 */
int diff_sides_open(struct diff_table side[2], const struct arguments *a, struct error *err);
void diff_sides_release(struct diff_table side[2]);

#endif
