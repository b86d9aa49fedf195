/*
 * pattern.c - regular expressions by PCRE2's interpreter
 *
 * PCRE2 limits the steps from one start position, and a text has many start positions. So a search
 * counts its work over all start positions, in calls between the items of the pattern (callouts).
 * Callouts double the time of a search. So the function searches a short text first without
 * callouts. This search has a limit that all positions share.
 */
#include "pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "pool.h"

#define MOST_HEAP_KIB 4096
#define SHORT_TEXT    1024   /* bytes; the search of a longer text uses callouts from the start */
#define SHORT_STEPS   200000 /* the limit over all start positions of a short text */
#define SCANNED_BYTES 16     /* scanning this many bytes costs as much as one callout */
#define LOOK_WORK     (1u << 20)

struct pattern {
	pcre2_code *code, *counting; /* `counting` has callouts */
	uint32_t groups;
	bool anchored; /* a match can only begin at the start of the text */
};

/* The memory and limits of a search. */
struct pattern_search {
	pcre2_match_data *data;
	pcre2_match_context *limits;
	/*
	 * remaining work; the callout reads the stop flag when the remaining work is below `look`
	 */
	uint64_t left, look;
	PCRE2_SIZE at;
};

static void *from_arena(PCRE2_SIZE size, void *arena)
{
	return arena_alloc(arena, size);
}

/* Make the arena the owner of a block of PCRE2. */
static void keep(void *block, void *arena)
{
	(void)block;
	(void)arena;
}

static void *from_heap(PCRE2_SIZE size, void *nothing)
{
	(void)nothing;
	return mem_alloc(size);
}

static void to_heap(void *block, void *nothing)
{
	(void)nothing;
	mem_free(block);
}

static int compile(pcre2_code **out, struct arena *a, const char *text, uint32_t more,
		   struct error *err)
{
	pcre2_general_context *memory = pcre2_general_context_create(from_arena, keep, a);
	pcre2_compile_context *how = pcre2_compile_context_create(memory);
	PCRE2_UCHAR why[160];
	PCRE2_SIZE at;
	int code;
	pcre2_set_newline(how, PCRE2_NEWLINE_LF);
	pcre2_set_bsr(how, PCRE2_BSR_UNICODE);
	*out = pcre2_compile((PCRE2_SPTR)text, strlen(text),
			     PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C | more,
			     &code, &at, how);
	if (*out)
		return RC_OK;
	pcre2_get_error_message(code, why, sizeof why);
	return error_set(err, RC_CONFIG,
			 "found `%.60s`, expected a regular expression: at byte %zu: %s", text,
			 (size_t)at, (const char *)why);
}

static int make(struct pattern **out, struct arena *a, const char *text, uint32_t more,
		struct error *err)
{
	struct pattern *p = arena_alloc(a, sizeof *p);
	int rc = compile(&p->code, a, text, more, err);
	uint32_t options = 0;

	if (rc == RC_OK)
		rc = compile(&p->counting, a, text, more | PCRE2_AUTO_CALLOUT, err);
	if (rc)
		return rc;
	pcre2_pattern_info(p->code, PCRE2_INFO_CAPTURECOUNT, &p->groups);
	pcre2_pattern_info(p->code, PCRE2_INFO_ALLOPTIONS, &options);
	p->anchored = options & PCRE2_ANCHORED;
	*out = p;
	return RC_OK;
}

int pattern_new(struct pattern **out, struct arena *a, const char *text, struct error *err)
{
	return make(out, a, text, 0, err);
}

int pattern_new_dotall(struct pattern **out, struct arena *a, const char *text, struct error *err)
{
	return make(out, a, text, PCRE2_DOTALL, err);
}

size_t pattern_groups(const struct pattern *p)
{
	return p->groups;
}

void pattern_scratch_release(struct pattern_scratch *s)
{
	struct pattern_search *m = s->matcher;

	if (!m)
		return;
	pcre2_match_data_free(m->data);
	pcre2_match_context_free(m->limits);
	mem_free(m);
	s->matcher = NULL;
}

/* Count the work of a search with callouts. A result other than 0 ends the search. */
static int count_work(pcre2_callout_block *block, void *matcher)
{
	struct pattern_search *m = matcher;
	PCRE2_SIZE at = block->current_position, moved = at > m->at ? at - m->at : m->at - at;
	uint64_t work = 1 + moved / SCANNED_BYTES;

	m->at = at;
	m->left -= work < m->left ? work : m->left;
	if (m->left < m->look) {
		m->look = m->left > LOOK_WORK ? m->left - LOOK_WORK : 0;
		if (stop_flag) /* after a signal the run ends, so the result has no effect */
			m->left = 0;
	}
	return m->left ? 0 : PCRE2_ERROR_CALLOUT;
}

/* Return the memory of a search, with room for the whole match and the first group. */
static struct pattern_search *search_of(struct pattern_scratch *s)
{
	if (s->matcher)
		return s->matcher;
	struct pattern_search *m = mem_calloc(1, sizeof *m);
	pcre2_general_context *memory = pcre2_general_context_create(from_heap, to_heap, NULL);
	m->data = pcre2_match_data_create(2, memory);
	m->limits = pcre2_match_context_create(memory);
	pcre2_general_context_free(memory);
	pcre2_set_heap_limit(m->limits, MOST_HEAP_KIB);
	pcre2_set_callout(m->limits, count_work, m);
	s->matcher = m;
	return m;
}

void pattern_begin(struct pattern_scratch *s)
{
	if (s->matcher)
		((struct pattern_search *)s->matcher)->left = PATTERN_WORK;
}

/* Search without callouts. Returns PCRE2_ERROR_MATCHLIMIT if the search needs too many steps. */
static int find_quickly(const struct pattern *p, struct pattern_search *m, struct bytes text)
{
	uint32_t positions = p->anchored ? 1 : (uint32_t)text.len + 1;

	if (text.len > SHORT_TEXT)
		return PCRE2_ERROR_MATCHLIMIT;
	pcre2_set_match_limit(m->limits, SHORT_STEPS / positions);
	return pcre2_match(p->code, text.ptr, text.len, 0, 0, m->data, m->limits);
}

static int find_counting(const struct pattern *p, struct pattern_search *m, struct bytes text)
{
	m->left += text.len;
	m->look = m->left;
	m->at = 0;
	pcre2_set_match_limit(m->limits, UINT32_MAX);
	return m->left ? pcre2_match(p->counting, text.ptr, text.len, 0, 0, m->data, m->limits)
		       : PCRE2_ERROR_MATCHLIMIT;
}

enum pattern_result pattern_find_more(const struct pattern *p, struct pattern_scratch *s,
				      struct bytes text, struct bytes *found)
{
	bool fresh = !s->matcher;
	struct pattern_search *m = search_of(s);

	if (fresh)
		pattern_begin(s);
	text.ptr = text.len ? text.ptr : (const uint8_t *)"";
	int rc = find_quickly(p, m, text);
	if (rc == PCRE2_ERROR_MATCHLIMIT)
		rc = find_counting(p, m, text);
	if (rc < 0)
		return rc == PCRE2_ERROR_NOMATCH ? PATTERN_NONE : PATTERN_COSTLY;
	if (!found)
		return PATTERN_FOUND;
	const PCRE2_SIZE *at = pcre2_get_ovector_pointer(m->data) + (p->groups ? 2 : 0);
	*found = at[0] == PCRE2_UNSET ? bytes_of(text.ptr, 0)
				      : bytes_of(text.ptr + at[0], at[1] - at[0]);
	return PATTERN_FOUND;
}

enum pattern_result pattern_find(const struct pattern *p, struct pattern_scratch *s,
				 struct bytes text, struct bytes *found)
{
	pattern_begin(s);
	return pattern_find_more(p, s, text, found);
}
