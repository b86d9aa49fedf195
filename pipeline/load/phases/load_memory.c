/* load_memory.c - reserve the memory for writing, and release it (see first_pass/memory.c) */
#include "load_state.h"
#include "cut.h"

/* Return the memory of the thread that needs most. */
static uint64_t writing_thread_bytes(const struct load *l)
{
	uint64_t most = 0;

	for (size_t i = 0; i < l->job->ntables; i++) {
		uint64_t n = write_memory(&l->tables[i].cut);

		most = n > most ? n : most;
	}
	return most;
}

void load_reserve_writing(struct load *l)
{
	uint64_t each = writing_thread_bytes(l);

	l->write_threads = memory_writers(&l->pass.memory, each);
	l->reserved = each * l->write_threads;
	budget_force(&l->pass.budget, l->reserved);
}

void load_end_writing(struct load *l)
{
	budget_give(&l->pass.budget, l->reserved);
	l->reserved = 0;
	pass_free_sorters(&l->pass);
	for (size_t i = 0; i < l->job->ntables; i++)
		l->tables[i].sorter = NULL;
}
