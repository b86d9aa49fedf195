/*
 * memory.c - the shares of --memory, in one place
 *
 *   what                                   most, together        beyond that         accounted by
 *   -- reading --
 *   messages of a Kafka client             1/4                   fetching waits      pass.c
 *   pieces of input (3 a thread: the one   3/16                  -                   pass.c
 *     read, its rows, space after)
 *   a row longer than a piece (4 copies    1/4 each              a refusal           input/
 *     during its read and write)
 *   builders (a buffer and sort entries)   1/2                   the sort of a run   sort/
 *   sorted runs, large values              the rest              go to disk          sort/
 *   -- reading ends: the pass releases builders and pieces --
 *   writing threads (cut_memory: writers,  3/4                   fewer threads       load/
 *     files, 2/16 of rows being gathered,                          (at least one)
 *     1/32 of file buffers; the smallest
 *     merge, copies of the largest value)
 *   read buffers of spilled runs           3/4 of the rest       a merge of runs     sort/
 *   sorted runs, large values              the rest              go to disk          sort/
 *
 * After the first spill, sort/ keeps 1/4 free for read buffers. A run may use 32 MB in addition to
 * --memory. These 32 MB are for the program, its libraries, and 4 MiB of rejects
 * (publish/staging/rejects.c). The sketches of a plan are also extra, at most SKETCH_STATE_BYTES
 * for a table.
 */
#include "kafka.h"
#include "pass.h"

#define MIB (UINT64_C(1) << 20)
#define KIB (UINT64_C(1) << 10)

/* least memory for each thread; with less memory, all buffers would have the smallest size */
#define THREAD_BYTES (4 * MIB)
/* share of memory for a thread's piece, which needs PIECE_COPIES times its size */
#define PIECE_SHARE  16
#define PIECE_COPIES 3
#define PIECE_MIN    (64 * KIB)
#define PIECE_MAX    MIB
#define ROW_SHARE    4 /* as KAFKA_MEMORY_SHARE, for a message */
_Static_assert(ROW_SHARE == KAFKA_MEMORY_SHARE, "a message may be as long as a row");
#define BUILDERS_SHARE	4 /* share for buffers, and another share of this size for sort entries */
#define RUN_MIN		(64 * KIB)
#define RUN_LEAST	(4 * KIB) /* smallest run, if one thread has too many tables */
#define RUN_MAX		(8 * MIB) /* this size fits into the CPU's caches */
#define LARGE_SHARE	1024
#define LARGE_MIN	(64 * KIB)
#define LARGE_MAX	MIB
#define GATHER_SHARE	16
#define FILES_SHARE	32
#define FILE_BUFFER_MIN (64 * KIB)
/* A larger buffer would leave the CPU's caches before its write to disk. */
#define FILE_BUFFER_MAX (256 * KIB)

static uint64_t within(uint64_t n, uint64_t least, uint64_t most)
{
	return n < least ? least : n > most ? most : n;
}

/* Return the largest number of threads that can have the smallest buffers. */
static unsigned choose_threads(const struct memory_need *n)
{
	uint64_t most = n->limit / THREAD_BYTES;
	uint64_t sorting = n->limit / (BUILDERS_SHARE * RUN_MIN * (n->tables ? n->tables : 1));
	uint64_t taking = n->even_pieces ? n->limit / (PIECE_SHARE * PIECE_MAX) : most;

	most = sorting < most ? sorting : most;
	most = taking < most ? taking : most;
	return (unsigned)within(most, 1, n->threads ? n->threads : 1);
}

uint64_t memory_topic_bytes(uint64_t limit)
{
	return limit / KAFKA_MEMORY_SHARE;
}

struct memory_plan memory_plan_make(const struct memory_need *n)
{
	struct memory_plan m = {.limit = n->limit, .threads = choose_threads(n)};
	uint64_t threads = m.threads, builders = threads * (n->tables ? n->tables : 1);
	uint64_t run = n->limit / (BUILDERS_SHARE * builders);
	uint64_t piece = n->even_pieces ? PIECE_MAX : n->limit / (PIECE_SHARE * threads);

	m.topic_bytes = n->topic ? memory_topic_bytes(n->limit) : 0;
	m.piece_bytes = (size_t)within(piece, PIECE_MIN, PIECE_MAX);
	m.pieces_bytes = PIECE_COPIES * threads * m.piece_bytes;
	m.row_bytes = n->limit / ROW_SHARE;
	m.run_bytes = (size_t)within(run, threads > 1 ? RUN_MIN : RUN_LEAST, RUN_MAX);
	m.large_bytes = (size_t)within(n->limit / LARGE_SHARE, LARGE_MIN, LARGE_MAX);
	m.gather_bytes = n->limit / (GATHER_SHARE * threads);
	return m;
}

size_t memory_file_buffer(const struct memory_plan *m, size_t families)
{
	uint64_t share = m->limit / (FILES_SHARE * m->threads * (families ? families : 1));

	return (size_t)within(share, FILE_BUFFER_MIN, FILE_BUFFER_MAX);
}

unsigned memory_writers(const struct memory_plan *m, uint64_t thread_bytes)
{
	uint64_t fit = m->limit / 4 * 3 / (thread_bytes ? thread_bytes : 1);

	return (unsigned)within(fit, 1, m->threads);
}
