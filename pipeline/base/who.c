#include "io.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bytes.h"
#include "mem.h"

#define PASSWD_MOST ((size_t)16 << 20)

/*
 * Find the user with this number in lines like "ann:x:1000:...". Returns NULL if no line has this
 * number.
 */
static char *find_name(char *text, uid_t id)
{
	for (char *line = text, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		char *name_end = strchr(line, ':');
		char *number = name_end ? strchr(name_end + 1, ':') : NULL;
		bool is_user = number && name_end > line && number[1] >= '0' && number[1] <= '9';
		if (is_user && strtoul(number + 1, NULL, 10) == id)
			return mem_format("%.*s", (int)(name_end - line), line);
	}
	return NULL;
}

/*
 * Read /etc/passwd before calling glibc, because glibc's functions for users crash if memory is
 * short (nss_database.c).
 */
static char *local_name(uid_t id)
{
	struct buf text = {0};
	struct error ignored;
	char *name = NULL;

	if (io_read_file_upto("/etc/passwd", PASSWD_MOST, &text, &ignored) == RC_OK) {
		buf_put(&text, 0);
		name = find_name((char *)text.ptr, id);
	}
	buf_release(&text);
	return name;
}

char *who_acts(const char *told)
{
	const char *name = told && *told ? told : getenv("HADOOP_USER_NAME");
	struct passwd p, *found = NULL;
	char text[4096];

	if (name && *name)
		return mem_strdup(name);
	char *local = local_name(geteuid());
	if (local)
		return local;
	if (getpwuid_r(geteuid(), &p, text, sizeof text, &found) == 0 && found)
		return mem_strdup(found->pw_name);
	return mem_format("%u", (unsigned)geteuid());
}
