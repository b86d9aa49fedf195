#include "place_options.h"

#include <stdlib.h>
#include <string.h>

static int parse_patience(const char *text, unsigned *out, struct error *err)
{
	size_t digits = strspn(text, "0123456789");
	*out = digits && digits < 7 ? (unsigned)strtoul(text, NULL, 10) : 0;
	if (*out && text[digits] == 0)
		return RC_OK;
	return error_set(err, RC_CONFIG, "--hdfs-patience: found `%s`, expected seconds", text);
}

int place_option(struct storage_options *o, int opt, const char *arg, struct error *err)
{
	switch (opt) {
	case OPT_HDFS_USER: o->user = arg; return RC_OK;
	case OPT_WEBHDFS: o->http = arg; return RC_OK;
	case OPT_HDFS_CA: o->ca_file = arg; return RC_OK;
	case OPT_HDFS_PATIENCE: return parse_patience(arg, &o->patience_s, err);
	default: return RC_END;
	}
}
