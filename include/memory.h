/*
 * memory.h - who may hold how much of --memory
 *
 *   memory_plan_make -> figures that the stages are given
 *
 * All shares are chosen in pipeline/pass/memory.c, where a table shows them side by side; the
 * stages account for what they hold in the run's struct budget (mem.h).
 */
#ifndef SALTMILL_MEMORY_H
#define SALTMILL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Who wants a share. */
struct memory_need {
	uint64_t limit;	  /* --memory, bytes */
	unsigned threads; /* that the run would like to have, at least 1 */
	size_t tables;
	bool topic;	  /* a Kafka client holds messages */
	bool even_pieces; /* pieces of input have one size whatever the memory is */
};

/* In bytes. */
struct memory_plan {
	uint64_t limit;
	unsigned threads;      /* that the memory is enough for: 1 to those of the need */
	uint64_t topic_bytes;  /* of messages that a Kafka client has fetched; 0: there is none */
	size_t piece_bytes;    /* of input that a thread takes at once */
	uint64_t pieces_bytes; /* what all threads hold of it together, rows in the making too */
	size_t run_bytes;   /* of records that a thread gathers for a table before it sorts them */
	uint64_t row_bytes; /* of input: the copies of a longer row do not fit */
	size_t large_bytes; /* payloads from here on are put aside while records are sorted */
	uint64_t gather_bytes; /* of a row that a thread gathers before it writes it */
};

/*
 * Less memory gives smaller buffers, then fewer threads.  That loses time and never a byte.  What
 * is held at one time fits in limit, from 16 MiB on and up to a table for each 16 KiB of it.
 */
struct memory_plan memory_plan_make(const struct memory_need *need);

/* What a Kafka client may fetch ahead in a command of so much memory. */
uint64_t memory_topic_bytes(uint64_t limit);
/* Of each file that a writing thread has open, of a table with so many families. */
size_t memory_file_buffer(const struct memory_plan *m, size_t families);
/* How many threads write at once, at least 1, when each may hold so much. */
unsigned memory_writers(const struct memory_plan *m, uint64_t thread_bytes);

#endif
