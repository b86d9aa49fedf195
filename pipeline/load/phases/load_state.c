/* load_state.c - copy the counts of reading into the manifest */
#include "load_state.h"

void load_note_reading(struct load *l)
{
	struct manifest *m = &l->result->manifest;

	m->read = l->pass.events;
	m->rejected = l->pass.rejected;
	m->rejected_lines = l->pass.rejected_lines;
	m->filtered_lines = l->pass.filtered_lines;
	m->created_ms = l->epoch_ms >= 0 ? l->epoch_ms : l->pass.newest_ms;
	l->result->blank_lines = l->pass.blank_lines;
}
