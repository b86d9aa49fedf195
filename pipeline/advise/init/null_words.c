/* null_words.c - the texts that may mean "no value" */
#include "sniff_parts.h"

const char *const null_words[] = {"NA", "N/A",	  "n/a",  "NULL",   "null", "\\N", "-",
				  "--", "None",	  "nan",  "NaN",    "NAN",  "?",   "#N/A",
				  ".",	"(null)", "<NA>", "<null>", NULL};

size_t null_word(struct bytes t)
{
	size_t k = 0;

	while (null_words[k] && (t.len > NULL_WORD_MOST || strlen(null_words[k]) != t.len ||
				 memcmp(null_words[k], t.ptr, t.len) != 0))
		k++;
	return k;
}

uint64_t words_count(const struct sniffed *s)
{
	uint64_t n = 0;

	for (size_t i = 0; null_words[i]; i++)
		n += s->words[i];
	return n;
}
