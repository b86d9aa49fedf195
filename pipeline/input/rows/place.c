/*
 * place.c - find the file and line of an event from its seq
 *
 * After the sort, an event has only its seq, which gives the byte offset. To find the line,
 * saltmill reads the file again from a noted row, if the file did not change.
 */
#include "place.h"

#include "cursor.h"
#include "mem.h"

/* distance of noted places, which needs a few KiB of memory for 100 GB */
#define APART_BYTES (16u << 20)
#define READ_BYTES  (256u << 10)

void places_note(struct places *p, const struct place *at)
{
	const struct place *last = p->n ? &p->item[p->n - 1] : NULL;

	if (last && last->file == at->file && at->seq - last->seq < APART_BYTES)
		return;
	p->item = mem_grow(p->item, p->n, sizeof *p->item);
	p->item[p->n++] = *at;
}

void places_release(struct places *p)
{
	mem_free(p->item);
	*p = (struct places){0};
}

/* Return the last place at or before `seq`, or NULL if there is no such place. */
static const struct place *find(const struct places *p, uint64_t seq)
{
	size_t lo = 0, hi = p->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p->item[mid].seq <= seq)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? &p->item[lo - 1] : NULL;
}

/* Count the line ends in the next `n` bytes. Return false if it cannot read these bytes. */
static bool count_lines(struct input_stream *in, uint64_t n, uint64_t *lines)
{
	uint8_t *text = mem_alloc(READ_BYTES), before = 0;
	struct error ignored;
	size_t got = 1;

	while (n > 0 && got > 0) {
		size_t want = n < READ_BYTES ? (size_t)n : READ_BYTES;

		if (input_read(in, text, want, &got, &ignored) || got == 0)
			break;
		*lines += csv_lines(text, got);
		/* subtract a \r\n that two counts contain */
		*lines -= before == '\r' && text[0] == '\n';
		before = text[got - 1];
		n -= got;
	}
	mem_free(text);
	return n == 0;
}

static bool find_line(struct source *s, const struct place *p, uint64_t bytes, uint64_t *line)
{
	const struct input_stamp *stamp = &s->stamps[p->file];
	struct input_stream in;
	struct error ignored;

	/* offsets count bytes of the UTF-8 text, not of the file */
	if (!stamp->regular || s->csv->encoding)
		return false;
	*line = p->line;
	bool found = input_open(&in, s->files[p->file].path, &ignored) == RC_OK &&
		     input_same(&in, stamp, &ignored) == RC_OK &&
		     input_skip(&in, p->offset, &ignored) == RC_OK && count_lines(&in, bytes, line);
	input_close(&in);
	return found;
}

void source_place(struct source *s, uint64_t seq, struct buf *out)
{
	if (s->messages) {
		messages_place(s->messages, seq, out);
		return;
	}
	const struct place *p = find(&s->places, seq);
	uint64_t line;
	if (!p) {
		buf_printf(out, "byte %llu of the input", (unsigned long long)seq);
		return;
	}
	buf_append_str(out, input_name(s->files[p->file].path));
	if (s->blocks) { /* only the format's reader could find events between two places */
		buf_printf(out, ": after event %llu (byte %llu)", (unsigned long long)p->line,
			   (unsigned long long)p->offset);
		return;
	}
	if (find_line(s, p, seq - p->seq, &line))
		buf_printf(out, ":%llu", (unsigned long long)line + 1);
	buf_printf(out, " (byte %llu)", (unsigned long long)(p->offset + (seq - p->seq)));
}
