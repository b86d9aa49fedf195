/* xml.c - take the text of elements from an XML document */
#include <string.h>

#include "xml.h"

bool xml_element(const char **at, const char *open, struct buf *out)
{
	static const struct {
		const char *name;
		char byte;
	} entities[] = {
		{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
	const char *p = strstr(*at, open);

	out->len = 0;
	if (!p)
		return false;
	for (p += strlen(open); *p && *p != '<'; p++) {
		char c = *p;

		for (size_t i = 0; *p == '&' && i < sizeof entities / sizeof *entities; i++)
			if (strncmp(p, entities[i].name, strlen(entities[i].name)) == 0) {
				c = entities[i].byte;
				p += strlen(entities[i].name) - 1;
				break;
			}
		buf_put(out, (uint8_t)c);
	}
	buf_put(out, 0);
	*at = p;
	return true;
}
