/*
 * events.h - the events of a job in memory, one column for each field (inside this folder only)
 *
 *   events_read, event_value*, events_release
 */
#ifndef SALTMILL_DESIGN_EVENTS_H
#define SALTMILL_DESIGN_EVENTS_H

#include "field.h"
#include "hash.h"
#include "job.h"
#include "source.h"

/* The values of a field. A text has a number in `texts`, which lists each text once. */
struct event_column {
	const struct field *field;
	uint64_t *number;    /* [events]: the typed member, for types without bytes; or NULL */
	uint32_t *text;	     /* [events]: number of the text; or NULL */
	struct value *texts; /* the texts, in the order of their first event */
	uint64_t *uses;	     /* [ntexts]: events with the text */
	size_t ntexts;
	uint8_t *null; /* [events]: 1 means null; NULL means no nulls */
	uint64_t nulls;
	/* facts about the values that are not null */
	uint64_t distinct;	    /* different values */
	uint64_t heaviest;	    /* events of the most frequent value */
	size_t heaviest_event;	    /* an event with this value */
	uint64_t least, most;	    /* bounds of unsigned numbers, and of times */
	uint32_t longest, shortest; /* bytes of texts */
};

/* Means of an event. */
struct cell_mean {
	double bytes; /* uncompressed KeyValues, without their row keys */
	double count; /* cells */
};

struct events {
	const struct job *job;
	size_t n;
	struct event_column *column; /* [job->nfields] */
	/* for each event: uncompressed KeyValues in table 0 of the job, without their row keys */
	uint32_t *bytes;
	uint16_t *cells;
	struct cell_mean *cell_mean;  /* [cells of table 0 of the job] */
	struct cell_mean *table_mean; /* [tables of the job]: of all cells of a table */
	bool computed; /* the job computes a qualifier, so events of one row key are one row */
	uint64_t rejected;
	bool *key_text; /* [nfields]: a row key of the job contains the field's source text */
	struct arena arena;
};

/*
 * Read the events that table 0 of the job takes, in the order of the input. `fraction` is the part
 * of the input to read, and 0 means all. The function counts bad events and skips them. Call
 * events_release whatever the result. Returns RC_LIMIT if the events exceed `memory` bytes.
 */
int events_read(struct events *e, const struct job *job, const struct input *input, double fraction,
		uint64_t memory, struct error *err);
void events_release(struct events *e);

/* Fill *v with the value of a field. `text.ptr` NULL means null. */
static inline void event_value(const struct event_column *c, size_t event, struct value *v)
{
	if (c->null && c->null[event]) {
		*v = (struct value){0};
		return;
	}
	*v = c->text ? c->texts[c->text[event]] : (struct value){.text = {(const uint8_t *)"", 0}};
	if (c->number)
		v->u = c->number[event];
}

/* Return a number that is equal for equal values of the field. */
static inline uint64_t event_word(const struct event_column *c, size_t event)
{
	return c->number ? c->number[event] : c->text[event];
}

/* Add a word to a hash. */
static inline uint64_t event_hash(uint64_t h, uint64_t word)
{
	h = (h ^ word) * UINT64_C(0x9E3779B97F4A7C15);
	return h ^ h >> 29;
}

#endif
