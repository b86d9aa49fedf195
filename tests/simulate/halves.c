/*
 * halves.c - runs a load in parts (plan, map, reduce and unite), and kills and repeats each part
 * until it is done
 *
 * A part is done when its folder exists. After this time, a power loss must not remove the folder.
 * The load that unite publishes, here or in HDFS, has each row once.
 */
#include <stdio.h>
#include <string.h>

#include "history.h"

enum { ARGS = 20, STEPS_MOST = 12, TRIES = 200, PATH_ROOM = 80 };
#define FAULTS_S 600
#define MEMORY	 ((size_t)20 << 20) /* --memory 16M, and the memory of the program itself */
#define LIMIT_S	 7200

struct part_of_load {
	const char *args[ARGS];
	char out[PATH_ROOM], share[40];
	bool remote, done;
};

static struct part_of_load parts[STEPS_MOST];
static int nparts;
static unsigned char times[MOST_ROWS];
static int nrows;

static void count(void *ctx, const char *path, const uint8_t *data, size_t size)
{
	const char *p = (const char *)data, *end = p + size;
	int row;
	char last; /* other bytes of a file may begin as a mark does */

	(void)ctx, (void)path;
	for (; p && p + 4 < end; p = memchr(p + 1, '<', (size_t)(end - p - 1)))
		if (p[0] == '<' && p[1] == 'r' && sscanf(p, "<r%d%c", &row, &last) == 2 &&
		    last == '>' && row < MOST_ROWS)
			times[row]++;
}

static void write_inputs(void)
{
	static char text[40 * MOST_ROWS];
	size_t n = (size_t)snprintf(text, sizeof text, "id,v\n");

	nrows = 1 + (int)sim_below(MOST_ROWS - 1);
	for (int i = 0; i < nrows; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%d,<r%d>\n",
				      (int)sim_below(1000) * MOST_ROWS + i, i);
	disk_put("/w/rows.csv", text);
	disk_put("/w/job.yaml", "source:\n"
				"  csv: {files: [rows.csv]}\n"
				"fields:\n"
				"  id: {type: u32}\n"
				"tables:\n"
				"  - name: t\n"
				"    rowkey: [{field: id, as: u32}]\n"
				"    timestamp: 1700000000000\n"
				"    families: {f: {compression: NONE}}\n"
				"    cells: [{family: f, qualifier: v, value: v}]\n"
				"    regions: {split: sampled, count: 3}\n");
	disk_put("/w/maps/.here", "");
	disk_put("/w/reduces/.here", "");
}

static struct part_of_load *add(const char *command, const char *out)
{
	struct part_of_load *p = &parts[nparts++];
	int n = 0;

	*p = (struct part_of_load){0};
	snprintf(p->out, sizeof p->out, "%s", out);
	p->args[n++] = command;
	p->args[n++] = "/w/job.yaml";
	p->args[n++] = "-o";
	p->args[n++] = p->out;
	p->args[n++] = "--memory";
	p->args[n++] = "16M";
	p->args[n++] = "--threads";
	p->args[n++] = sim_below(2) ? "1" : "2";
	if (strcmp(command, "plan") != 0) {
		p->args[n++] = "--plan";
		p->args[n++] = "/w/plan";
	}
	return p;
}

static void more(struct part_of_load *p, const char *name, const char *value)
{
	int n = 0;

	while (p->args[n])
		n++;
	p->args[n++] = name;
	p->args[n++] = value;
}

static void draw_parts(void)
{
	int maps = 1 + (int)sim_below(3), reduces = 1 + (int)sim_below(3);
	bool remote = sim_below(2);
	char out[PATH_ROOM];

	nparts = 0;
	add("plan", "/w/plan");
	for (int i = 1; i <= maps; i++) {
		snprintf(out, sizeof out, "/w/maps/%d", i);
		struct part_of_load *p = add("map", out);
		snprintf(p->share, sizeof p->share, "%d/%d", i, maps);
		more(p, "--slice", p->share);
	}
	for (int i = 1; i <= reduces; i++) {
		snprintf(out, sizeof out, "/w/reduces/%d", i);
		struct part_of_load *p = add("reduce", out);
		snprintf(p->share, sizeof p->share, "%d/%d", i, reduces);
		more(p, "--share", p->share);
		int n = 0;
		while (p->args[n])
			n++;
		memmove(&p->args[3], &p->args[2], (size_t)(n - 2) * sizeof *p->args);
		p->args[2] = "/w/maps";
	}
	struct part_of_load *p =
		add("unite", remote ? "webhdfs://nn1:9870,nn2:9870/loads/one" : "/w/one");
	p->remote = remote;
	more(p, "--maps", "/w/maps");
	more(p, "--reduces", "/w/reduces");
	if (remote)
		hdfs_make("/loads", true);
}

static bool is_there(const struct part_of_load *p)
{
	return p->remote ? hdfs_find("/loads/one") != NULL : disk_is_there(p->out);
}

static void check_done(void)
{
	for (int i = 0; i < nparts; i++)
		if (parts[i].done && !is_there(&parts[i]))
			sim_violate("%s had ended, and %s is not there any more", parts[i].args[0],
				    parts[i].out);
}

/* Run a part once, and perhaps kill it. Returns the part's status, or -1 if it died. */
static int try_once(struct part_of_load *p)
{
	int proc = sim_start(p->args[0], p->args);
	int64_t until = W->now + LIMIT_S * SIM_S;
	W->proc[proc].memory = MEMORY;
	bool killed = !W->calm && sim_below(2);

	W->wake_step = killed ? W->steps + history_some_steps() : 0;
	while (!W->proc[proc].ended) {
		sim_direct(W->calm ? until : W->now + FAULTS_S * SIM_S);
		W->calm = W->calm || !W->wake_step;
		if (W->deadlock || W->now >= until)
			sim_violate("%s waits without an end", p->args[0]);
		if (!W->proc[proc].ended && killed) {
			sim_kill(proc);
			return -1;
		}
	}
	return sim_reap(proc);
}

static void check_load(void)
{
	memset(times, 0, sizeof times);
	if (parts[nparts - 1].remote) {
		for (struct hdfs_node *n = hdfs_first(); n; n = n->next)
			if (!n->folder && strncmp(n->path, "/loads/one/", 11) == 0) {
				if (n->damaged || n->open)
					sim_violate("%s was published damaged", n->path);
				count(NULL, n->path, n->data, n->size);
			}
	} else {
		disk_each("/w/one", count, NULL);
	}
	for (int i = 0; i < nrows; i++)
		if (times[i] != 1)
			sim_violate("row %d is %d times in the load", i, times[i]);
}

void history_halves(void)
{
	bool safe = true;

	write_inputs();
	draw_parts();
	for (int i = 0; i < nparts; i++) {
		struct part_of_load *p = &parts[i];

		for (int tries = 0; !p->done; tries++) {
			W->calm = tries > 3;
			int status = try_once(p);

			p->done = status == 0 || (is_there(p) && i + 1 == nparts);
			if (status == 0 && !is_there(p))
				sim_violate("%s ended well without %s", p->args[0], p->out);
			if (tries > 3 && status && !p->done)
				sim_violate("%s fails with status %d, without faults", p->args[0],
					    status);
			/* the folder of a part that died at its end may already exist */
			p->done = p->done || is_there(p);
			/* after a kill, a folder may exist that is not on disk yet */
			safe = safe && (status == 0 || !p->done);
			if (safe && sim_below(3) == 0) {
				disk_power_loss();
				check_done();
			}
		}
	}
	if (safe)
		disk_power_loss();
	check_done();
	check_load();
}
