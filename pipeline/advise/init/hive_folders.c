/* hive_folders.c - find the folders NAME=VALUE of a folder, as Hive and Spark write them, and their columns */
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

#include "event.h"
#include "field.h"
#include "job.h"
#include "sniff_parts.h"
#include "source.h"

struct hive_level {
	size_t folders, files, other; /* `other`: folders with another name */
	struct buf first, name;	      /* the path of the first folder, and its name before = */
};

static void see_entry(struct hive_level *v, const char *folder, const char *entry)
{
	const char *equals = strchr(entry, '=');
	size_t len = equals ? (size_t)(equals - entry) : 0;
	char *path = mem_format("%s/%s", folder, entry);
	struct stat st;

	if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) {
		v->files++;
	} else if (!len || (v->folders && !bytes_eq(buf_bytes(&v->name), bytes_of(entry, len)))) {
		v->other++;
	} else if (!v->folders++) {
		buf_append(&v->name, entry, len);
		buf_append_str(&v->first, path);
		buf_put(&v->first, 0);
	}
	mem_free(path);
}

/* Inspect the names in a folder, without those that a load skips. */
static bool look_into(struct hive_level *v, const char *folder)
{
	DIR *d = opendir(folder);
	const struct dirent *entry;

	while (d && (entry = readdir(d)) != NULL)
		if (!strchr("._", entry->d_name[0]))
			see_entry(v, folder, entry->d_name);
	if (d)
		closedir(d);
	return v->folders && !v->files && !v->other;
}

void hive_folders_find(struct hive_folders *f, const char *path)
{
	size_t len = strlen(path);
	char *at = mem_format("%.*s", (int)(len > 1 && path[len - 1] == '/' ? len - 1 : len), path);
	bool more = true;

	*f = (struct hive_folders){.n = 0};
	buf_append_str(&f->pattern, at);
	f->root = f->pattern.len;
	while (more && f->n < HIVE_FOLDERS_MOST) {
		struct hive_level v = {0};

		more = look_into(&v, at);
		if (more) {
			f->name[f->n++] = arena_strndup(&f->arena, v.name.ptr, v.name.len);
			buf_append_str(&f->pattern, "/*");
			mem_free(at);
			at = mem_strdup((const char *)v.first.ptr);
		}
		buf_release(&v.first);
		buf_release(&v.name);
	}
	mem_free(at);
	buf_append(&f->pattern, "/*", 3);
}

void hive_folders_release(struct hive_folders *f)
{
	buf_release(&f->pattern);
	arena_release(&f->arena);
}

int hive_folders_see(struct columns *c, const struct hive_folders *f, const char *file,
		     struct error *err)
{
	const char **paths;
	size_t n = 0;
	int rc = f && f->n ? paths_expand(&c->arena, &file, 1, &paths, &n, err) : RC_OK;

	for (size_t k = 0; f && k < f->n && rc == RC_OK; k++) {
		bool twice = names_find(&c->names, f->name[k]);
		struct sniffed *s = columns_add(c, bytes_str(f->name[k]));
		struct buf value = {0};
		bool none = false;

		if (twice)
			return error_set(
				err, RC_DATA,
				"%s: found the column `%s` in the files and in the names of "
				"the folders, expected it in one of them",
				file, f->name[k]);
		for (size_t i = 0; i < n; i++) {
			const struct event event = {.file = paths[i]};

			value.len = 0;
			if (origin_text(ORIGIN_PARTITION, f->name[k], &event, &value))
				column_see(c, s, buf_bytes(&value), true);
			else
				none = true;
		}
		buf_release(&value);
		if (!none && !s->nulls)
			s->values = c->rows; /* each row has one */
	}
	c->folders = f;
	return rc;
}

void hive_folders_put(const struct columns *c, struct buf *out)
{
	for (size_t k = 0; c->folders && k < c->folders->n; k++)
		buf_printf(out, "%s%s%s", k ? ", " : "    partitions: [", c->folders->name[k],
			   k + 1 < c->folders->n ? "" : "]   # folders NAME=VALUE; columns\n");
}
