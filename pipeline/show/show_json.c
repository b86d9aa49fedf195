#include "show_json.h"

static int append(const char *text, size_t size, void *out)
{
	buf_append(out, text, size);
	return 0;
}

void show_json(struct buf *out, json_t *v, size_t flags)
{
	json_dump_callback(v, append, out, flags | JSON_ENCODE_ANY);
	buf_put(out, '\n');
	json_decref(v);
}
