#include "place_options.h"

#include "bytes.h"

static int parse_patience(const char *text, unsigned *out, struct error *err)
{
	uint64_t seconds;

	if (!parse_duration_s(text, &seconds) || seconds < 1 || seconds > 999999)
		return error_set(err, RC_CONFIG,
				 "--hdfs-patience: found `%s`, expected a time like 90s or 15m",
				 text);
	*out = (unsigned)seconds;
	return RC_OK;
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
