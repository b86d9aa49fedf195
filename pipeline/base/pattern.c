/*
 * pattern.c - regular expressions by PCRE2's interpreter
 */
#include "pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define MOST_STEPS    1000000
#define MOST_HEAP_KIB 4096

struct pattern {
	pcre2_code *code;
	pcre2_match_context *limits;
	uint32_t groups;
};

static void *from_arena(PCRE2_SIZE size, void *arena)
{
	return arena_alloc(arena, size);
}

/* The arena frees it. */
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

static int compile(struct pattern *p, struct arena *a, const char *text, uint32_t more,
		   struct error *err)
{
	pcre2_general_context *memory = pcre2_general_context_create(from_arena, keep, a);
	pcre2_compile_context *how = pcre2_compile_context_create(memory);
	PCRE2_UCHAR why[160];
	PCRE2_SIZE at;
	int code;
	pcre2_set_newline(how, PCRE2_NEWLINE_LF);
	pcre2_set_bsr(how, PCRE2_BSR_UNICODE);
	p->code =
		pcre2_compile((PCRE2_SPTR)text, strlen(text),
			      PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C | more,
			      &code, &at, how);
	p->limits = pcre2_match_context_create(memory);
	pcre2_set_match_limit(p->limits, MOST_STEPS);
	pcre2_set_heap_limit(p->limits, MOST_HEAP_KIB);
	if (p->code)
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
	int rc = compile(p, a, text, more, err);

	if (rc)
		return rc;
	pcre2_pattern_info(p->code, PCRE2_INFO_CAPTURECOUNT, &p->groups);
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
	pcre2_match_data_free(s->match);
	s->match = NULL;
}

/* Match data for any pattern: the whole match and the first group. */
static pcre2_match_data *match_data(struct pattern_scratch *s)
{
	if (!s->match) {
		pcre2_general_context *memory =
			pcre2_general_context_create(from_heap, to_heap, NULL);
		s->match = pcre2_match_data_create(2, memory);
		pcre2_general_context_free(memory);
	}
	return s->match;
}

enum pattern_result pattern_find(const struct pattern *p, struct pattern_scratch *s,
				 struct bytes text, struct bytes *found)
{
	pcre2_match_data *m = match_data(s);
	PCRE2_SPTR subject = text.len ? text.ptr : (PCRE2_SPTR) "";
	int rc = pcre2_match(p->code, subject, text.len, 0, 0, m, p->limits);
	if (rc < 0)
		return rc == PCRE2_ERROR_NOMATCH ? PATTERN_NONE : PATTERN_COSTLY;
	if (!found)
		return PATTERN_FOUND;
	const PCRE2_SIZE *at = pcre2_get_ovector_pointer(m) + (p->groups ? 2 : 0);
	*found = at[0] == PCRE2_UNSET ? bytes_of(subject, 0)
				      : bytes_of(subject + at[0], at[1] - at[0]);
	return PATTERN_FOUND;
}
