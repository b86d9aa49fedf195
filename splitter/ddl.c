/*
 * ddl.c - the scripts that create and drop a table
 *
 * The scripts use the shell commands exists, create_namespace, create, alter (coprocessors only),
 * disable, drop and exit. They use the constants of the attributes, and NAME, CONFIGURATION,
 * METADATA, SPLITS, NUMREGIONS and SPLITALGO. From Ruby, they use puts, raise, rescue and File.
 *
 * Three choices need a reason:
 *
 *   - The scripts need -n, because `exists` returns true or false only with -n. Without -n it
 *     returns nil. `create` then reports that the table exists, and nothing changes.
 *   - The script always creates the namespace, and ignores only the error that it exists. The shell
 *     has no IF NOT EXISTS for a namespace, and the result of list_namespace differs by version.
 *   - Ruby reads many split keys from their file and passes them as SPLITS. The shell's SPLITS_FILE
 *     is relative to the working directory, not to the script's folder. The shell also stores its
 *     path in the table's metadata (HBASE-11754). HBase broke the option twice (HBASE-21699,
 *     HBASE-25609).
 */
#include "ddl.h"

#include <inttypes.h>

#include "attributes.h"
#include "mem.h"
#include "script.h"

#define INLINE_KEYS 500

static const char namespace_of_none[] = "default";

static bool has_key(const struct attributes *list, const char *key)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->item[i].key, key) == 0)
			return true;
	return false;
}

static bool is_coprocessor(const struct attribute *it)
{
	const struct attribute_def *d = attribute_find(SCOPE_TABLE, it->key);

	return d && d->kind == KIND_COPROCESSOR;
}

/*
 * Append a check of the zstd codec. The two codecs cannot read each other's blocks (hfile/README.md
 * 9.4), and a cluster detects the wrong codec only when it opens the files. So the script reads the
 * cluster's configuration, and stops if the codec differs.
 */
static void zstd_check(struct buf *out, const struct table *t)
{
	static const char hadoop[] = "org.apache.hadoop.io.compress.ZStandardCodec";
	const struct family *f = t->families;

	while (f < t->families + t->nfamilies && f->codec != CODEC_ZSTD)
		f++;
	if (f == t->families + t->nfamilies)
		return;
	bool ours = f->framing == ZSTD_FRAMING_HBASE;
	buf_printf(
		out,
		"#\n# ZSTD: the files are framed for %s codec, the other one cannot read them.\n"
		"# A stock cluster, and all of HBase 2.4, has Hadoop's.  Master and region servers "
		"need, in\n# hbase-site.xml:\n#   hbase.io.compress.zstd.codec = %s\n",
		ours ? "HBase's own" : "Hadoop's",
		ours ? "org.apache.hadoop.hbase.io.compress.zstd.ZstdCodec"
		     : "org.apache.hadoop.io.compress.ZStandardCodec (the default)");
	buf_printf(out,
		   "zstd = org.apache.hadoop.hbase.HBaseConfiguration.create.get("
		   "'hbase.io.compress.zstd.codec', '%s')\n"
		   "release = org.apache.hadoop.hbase.util.VersionInfo.getVersion.split('.')"
		   ".map(&:to_i).first(2)\n"
		   "zstd = '%s' if (release <=> [2, 5]) < 0 # it knows no such setting\n"
		   "%s zstd.start_with?('org.apache.hadoop.hbase.')\n"
		   "  raise \"ZSTD: this cluster's codec is #{zstd}, which cannot read the files: "
		   "%s\"\nend\n",
		   hadoop, hadoop, ours ? "unless" : "if",
		   ours ? "set hbase.io.compress.zstd.codec, or write `framing: hadoop` in the job"
			: "write `framing: hbase` in the job");
}

static void put_namespace(struct buf *out, const char *name)
{
	const char *colon = strchr(name, ':');
	struct buf namespace = {0};

	if (!colon)
		return;
	buf_append(&namespace, name, (size_t)(colon - name));
	buf_put(&namespace, 0);
	if (strcmp((char *)namespace.ptr, namespace_of_none) != 0) {
		buf_append_str(out, "  begin\n    create_namespace ");
		ruby_quote(out, (char *)namespace.ptr);
		buf_append_str(out, "\n  rescue StandardError => e\n"
				    "    raise unless e.to_s.include?('NamespaceExist') || "
				    "e.to_s.include?('already exists')\n  end\n");
	}
	buf_release(&namespace);
}

static void put_family(struct buf *out, const struct family *f)
{
	static const char indent[] = "     ";
	struct arena a = {0};
	struct attributes items = family_items(&a, f);
	struct attributes configuration = family_configuration(&a, f);
	const struct attribute name = {.key = "NAME", .value = f->name, .quoted = true};

	buf_append_str(out, ",\n    {");
	script_pair(out, indent, &name, false);
	for (size_t i = 0; i < items.count; i++) {
		const struct attribute *it = &items.item[i];
		const struct attribute_def *d = attribute_find(SCOPE_FAMILY, it->key);
		bool quiet = strcmp(it->key, "MIN_VERSIONS") == 0 || strcmp(it->key, "TTL") == 0 ||
			     strcmp(it->key, "IN_MEMORY") == 0;

		if (!quiet || strcmp(it->value, d->initial) != 0)
			script_pair(out, indent, it, false);
	}
	script_hash(out, indent, "CONFIGURATION", &configuration);
	script_hash(out, indent, "METADATA", &f->metadata);
	buf_put(out, '}');
	arena_release(&a);
}

/*
 * Return true if the script must set a split policy. HBase's default policy would split planned
 * regions, so a pre-split table gets ConstantSizeRegionSplitPolicy unless the job has a policy.
 */
static bool needs_policy(const struct table *t, bool presplit)
{
	return presplit && !has_key(&t->attributes, "SPLIT_POLICY") &&
	       !has_key(&t->attributes, "SPLIT_ENABLED");
}

static void policy_comment(struct buf *out, const struct table *t, bool presplit)
{
	if (!needs_policy(t, presplit))
		return;
	buf_append_str(out,
		       "  # HBase's default, SteppingSplitPolicy, splits a region that is "
		       "alone on its server at\n"
		       "  # twice the memstore flush size (256 MB). So it would undo this plan "
		       "right after the load.\n"
		       "  # ConstantSizeRegionSplitPolicy splits at MAX_FILESIZE only.\n");
}

static void put_table_options(struct buf *out, const struct table *t, bool presplit)
{
	static const char indent[] = "     ";
	static const struct attribute policy = {
		.key = "SPLIT_POLICY",
		.value = "org.apache.hadoop.hbase.regionserver.ConstantSizeRegionSplitPolicy",
		.quoted = true};
	size_t start = out->len;

	buf_append_str(out, ",\n    {");
	size_t empty = out->len;
	if (needs_policy(t, presplit))
		script_pair(out, indent, &policy, false);
	for (size_t i = 0; i < t->attributes.count; i++)
		if (!is_coprocessor(&t->attributes.item[i]))
			script_pair(out, indent, &t->attributes.item[i], false);
	script_hash(out, indent, "CONFIGURATION", &t->configuration);
	script_hash(out, indent, "METADATA", &t->metadata);
	if (out->len == empty)
		out->len = start;
	else
		buf_put(out, '}');
}

static void put_split_keys(struct buf *out, const struct splits *s)
{
	static const char indent[] = "      ";
	struct buf piece = {0};

	buf_append_str(out, ",\n    {SPLITS => [");
	for (size_t i = 0; i < s->count; i++) {
		piece.len = 0;
		buf_put(&piece, '\'');
		bytes_escape(&piece, s->keys[i]);
		buf_put(&piece, '\'');
		script_piece(out, indent, &piece);
	}
	buf_append_str(out, "]}");
	buf_release(&piece);
}

/* Append, before `create`, code that reads split_keys from a file in the script's folder. */
static void read_split_keys(struct buf *out, const struct splits *s, const char *file)
{
	buf_append_str(out, "  # Read here and passed as SPLITS: SPLITS_FILE would look in the "
			    "shell's working\n"
			    "  # directory and stay in the table's metadata.\n"
			    "  folder = File.dirname(File.expand_path(__FILE__))\n"
			    "  split_keys = File.readlines(File.join(folder, ");
	ruby_quote(out, file);
	buf_append_str(out, ")).map { |line| line.chomp }\n");
	buf_printf(out,
		   "  raise 'the splits file has other than %zu lines' unless split_keys.size == "
		   "%zu\n",
		   s->count, s->count);
}

static void put_coprocessors(struct buf *out, const struct table *t)
{
	for (size_t i = 0; i < t->attributes.count; i++) {
		const struct attribute *it = &t->attributes.item[i];

		if (!is_coprocessor(it))
			continue;
		buf_append_str(out, "  alter ");
		ruby_quote(out, t->name);
		buf_append_str(out, ", {");
		script_pair(out, "     ", it, true);
		buf_append_str(out, "}\n");
	}
}

bool ddl_keys_inline(const struct splits *s, const struct ddl_options *o)
{
	return o->algorithm_regions > 1 ||
	       s->count <= (o->inline_keys ? o->inline_keys : INLINE_KEYS);
}

static void put_create(struct buf *out, const struct table *t, const struct splits *s,
		       const struct ddl_options *o)
{
	bool by_name = o->algorithm_regions > 1;
	bool from_file = !ddl_keys_inline(s, o);

	put_namespace(out, t->name);
	policy_comment(out, t, by_name || s->count);
	if (from_file)
		read_split_keys(out, s, o->splits_file ? o->splits_file : "splits.txt");
	buf_append_str(out, "  create ");
	ruby_quote(out, t->name);
	for (size_t i = 0; i < t->nfamilies + t->nothers; i++)
		put_family(out, &t->families[i]);
	put_table_options(out, t, by_name || s->count);
	if (by_name)
		buf_printf(out, ",\n    {NUMREGIONS => %" PRIu32 ", SPLITALGO => '%s'}",
			   o->algorithm_regions, split_algorithm_name(o->algorithm));
	else if (from_file)
		buf_append_str(out, ",\n    {SPLITS => split_keys}");
	else if (s->count)
		put_split_keys(out, s);
	buf_put(out, '\n');
	put_coprocessors(out, t);
}

int ddl_create_with(struct buf *out, const struct table *t, const struct splits *s,
		    const struct ddl_options *options, struct error *err)
{
	static const struct ddl_options defaults = {0};
	const struct ddl_options *o = options ? options : &defaults;
	struct buf what = {0};

	for (size_t i = 1; i < s->count; i++)
		if (bytes_cmp(s->keys[i - 1], s->keys[i]) >= 0)
			return error_set(
				err, RC_ORDER,
				"table %s: found split key %zu not above the previous one, "
				"expected rising keys",
				t->name, i + 1);
	size_t families = t->nfamilies + t->nothers;
	size_t regions = o->algorithm_regions > 1 ? o->algorithm_regions : s->count + 1;
	buf_printf(&what, "%zu region%s, %zu column famil%s", regions, regions == 1 ? "" : "s",
		   families, families == 1 ? "y" : "ies");
	buf_put(&what, 0);
	script_head(out, t, (char *)what.ptr,
		    "Running it again changes nothing: a table that exists is left alone.");
	buf_release(&what);
	zstd_check(out, t);
	buf_append_str(out, "\nif exists(");
	ruby_quote(out, t->name);
	buf_append_str(out, ")\n  puts ");
	ruby_quote(out, "The table exists already, nothing was changed.");
	buf_append_str(out, "\nelse\n");
	put_create(out, t, s, o);
	buf_append_str(out, "end\nexit\n");
	return RC_OK;
}

int ddl_create(struct buf *out, const struct table *t, const struct splits *s, struct error *err)
{
	return ddl_create_with(out, t, s, NULL, err);
}

void ddl_drop(struct buf *out, const struct table *t)
{
	script_head(out, t, "disable and drop, with all its data",
		    "Running it again changes nothing.");
	buf_append_str(out, "\nif exists(");
	ruby_quote(out, t->name);
	buf_append_str(out, ")\n  disable ");
	ruby_quote(out, t->name);
	buf_append_str(out, "\n  drop ");
	ruby_quote(out, t->name);
	buf_append_str(out, "\nelse\n  puts 'There is no such table.'\nend\nexit\n");
}
