#include "who.h"

#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#include "mem.h"

char *who_acts(const char *told)
{
	const char *name = told && *told ? told : getenv("HADOOP_USER_NAME");
	struct passwd p, *found = NULL;
	char text[4096];

	if (name && *name)
		return mem_strdup(name);
	if (getpwuid_r(geteuid(), &p, text, sizeof text, &found) == 0 && found)
		return mem_strdup(found->pw_name);
	return mem_format("%u", (unsigned)geteuid());
}
