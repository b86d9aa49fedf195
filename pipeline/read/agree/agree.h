/*
 * agree.h - the events of the truth table, and their cells in the other table (private to this
 * folder)
 */
#ifndef SALTMILL_AGREE_H
#define SALTMILL_AGREE_H

#include "by_field.h"
#include "read/field_sources.h"
#include "row.h"
#include "sorter.h"

#define NOT_COMPARED SIZE_MAX

/* How the fields of the truth table become cells of the other table. */
struct agree_plan {
	const struct job *job;
	const struct job_table *truth, *other;
	const struct stored *stored;  /* the truth table */
	struct field_source *sources; /* by field of the job */
	bool *known;		      /* by cell of the other table: events can give it */
	size_t *number;		      /* by cell of the other table: its number, or NOT_COMPARED */
	size_t ncells;		      /* the numbered cells */
	/* by field: a row, and each numbered cell, depends on it */
	bool *row_needs, **cell_needs;
	/*
	 * The job whose source is the truth table. It has a column for each field, and its only
	 * table with cells is the other one.
	 */
	struct job derived;
	const char **columns;
	struct row_plan *rows;
	size_t flag_bytes; /* bytes before a record's payload: a bit for each numbered cell */
	struct arena arena;
};

/* Plan the comparison (agree_plan.c). Call agree_plan_release in any case. */
int agree_plan_make(struct agree_plan *p, const struct agree_options *o,
		    const struct stored *stored, struct agree_result *out, struct error *err);
void agree_plan_release(struct agree_plan *p);

#define WHOLE_VALUE (-1)     /* a condition, salt or hash reads the field's whole value */
#define DRAWN_SALT  SIZE_MAX /* no field: the part is drawn */
/* Receives a field, and the encoding (enum encode_as) or WHOLE_VALUE. Returns false to stop. */
typedef bool agree_use(void *ctx, size_t field, int as);
/*
 * Call `use` for each field that a table's row key, condition and timestamp depend on, or that a cell
 * depends on (agree_uses.c). Return false if `use` returned false.
 */
bool agree_key_uses(const struct job *job, const struct job_table *t, agree_use *use, void *ctx);
bool agree_cell_uses(const struct job *job, const struct cell_spec *c, agree_use *use, void *ctx);

/* agree_derive.c. Make p->derived and p->rows. */
int agree_derive(struct agree_plan *p, struct error *err);

/*
 * Read the truth table, and add a record for each of its events to `rows` (agree_events.c). The payload
 * begins with p->flag_bytes bytes. A bit is 1 if the event may write the cell, but the truth table
 * has lost its value.
 */
int agree_events(const struct agree_plan *p, const struct agree_options *o, struct sorter *rows,
		 struct agree_result *out, struct error *err);

/* Compare the sorted events with the other table (agree_compare.c). */
int agree_compare(const struct agree_plan *p, const struct agree_options *o, struct sorter *rows,
		  struct agree_result *out, struct error *err);

#endif
