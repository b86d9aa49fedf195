/*
 * sim.h - the simulated world, which has processes, threads, time, chance, and places of faults
 *
 * One thread of all processes runs at a time (threads.c). So a history depends on its seed alone.
 *
 *   threads.c  processes, threads, time                disk.c    files that a power loss damages
 *   fibers.c   their stacks and variables              heap.c    their memory
 *   broker.c   Kafka, in place of librdkafka           hdfs.c    WebHDFS, in place of libcurl
 *   cluster.c  HBase, in place of its connections      history.c one history, and what must hold
 *   halves.c   the same for map, reduce and unite
 */
#ifndef SALTMILL_SIM_H
#define SALTMILL_SIM_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { SIM_SLOTS = 128, SIM_PROCS = 16, SIM_TEXT = 4000 };

#define SIM_MS	  INT64_C(1000000)
#define SIM_S	  (1000 * SIM_MS)
#define SIM_NEVER INT64_MAX

enum sim_state { SLOT_FREE, SLOT_RUNS, SLOT_WAITS, SLOT_ENDED };

/* A thread of a process. Slot 0 is the director, which runs the history. */
struct sim_slot {
	enum sim_state state;
	int proc;
	const void *on; /* address that the thread waits for */
	int64_t until;
	bool woken; /* true if sim_wake ended the wait, not the time */
};

struct sim_proc {
	const char *name; /* NULL: none */
	bool ended;
	int status, number; /* the number of this process among all processes of the history */
	int stop_after;	    /* number of seams until a signal comes; 0 means no signal */
	bool stopping;
	size_t memory; /* most bytes that the process may allocate, or 0 */
};

/* The director runs after a process has done something for the left-th time. */
enum sim_deed { DID_RENAME = 1, DID_NAME = 2, DID_SYNC = 4, DID_WRITE = 8, DID_CALL = 16 };
struct sim_aim {
	unsigned kinds;
	int left, proc;	  /* if left is 0, never; proc is the process */
	const char *word; /* a part of the file's path; "" means any file */
};

/* A fault happens once in this number of times; 0 means never. */
struct sim_odds {
	/* schedules */
	unsigned change, spurious;
	/* the disk */
	unsigned full, broken, slow_sync, short_write;
	unsigned write_back; /* a change reaches the disk at once, without a sync */
	unsigned keep; /* number of changes, of 100 unsynced changes, that survive a power loss */
	/* Kafka */
	unsigned fetch_late, fetch_error, ask_late, ask_error, commit_lost, commit_error;
	/* WebHDFS */
	unsigned http_lost, http_refused, http_late, http_cut, http_done_lost;
	/* HBase */
	unsigned call_lost, call_done_lost, call_late, call_moved, call_busy, call_false, call_lies,
		call_half, call_gone, call_refused;
};

struct disk;
struct broker;
struct hdfs;
struct cluster;

struct sim_world {
	uint64_t seed, rng, steps, hash;
	int64_t now; /* ns of the monotonic clock */
	int nslots, nprocs_made, me_made;
	uint64_t wake_step; /* the director runs at this step; 0 means never */
	struct sim_aim aim;
	bool loud, calm, deadlock;
	struct sim_slot slot[SIM_SLOTS];
	struct sim_proc proc[SIM_PROCS];
	struct sim_odds odds;
	struct disk *disk;
	struct broker *broker;
	struct hdfs *hdfs;
	struct cluster *cluster;
	char violation[SIM_TEXT];
	size_t used;
	_Alignas(64) uint8_t heap[];
};
extern struct sim_world *W;
extern int sim_self; /* the slot that runs */

/* --- chance, memory, trace --- */

void sim_setup(void);
/* Begin a history with an empty world. */
void sim_begin(uint64_t seed, bool loud);
uint64_t sim_random(void);
/* Return a number below `n`, or 0 if `n` is 0. */
uint64_t sim_below(uint64_t n);
/* Return true once in `odds` times, and never after the end of the faults. Counts faults. */
bool sim_fault(unsigned odds);
/* Return zeroed memory of the world, which lives as long as the history. */
void *sim_new(size_t bytes);
char *sim_text(const char *text);
/* Mix an event into the history's hash. `what` and the numbers must not depend on addresses. */
void sim_note(const char *what, uint64_t a, uint64_t b);
void sim_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Report that an invariant does not hold, and end the history. */
_Noreturn void sim_violate(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* --- threads --- */

/* Mark a seam, at which time passes and another thread may run. */
void sim_step(const char *what);
/*
 * Report that the process changed something that other processes see, so the history may be at an
 * aim.
 */
void sim_did(unsigned deed);
/* Wait until sim_wake or the time. Returns true if sim_wake ended the wait. */
bool sim_wait(const void *on, int64_t until);
/* Wake at most `most` threads, chosen by chance, that wait on an address of this process, or of the
 * world. */
void sim_wake(const void *on, int most);
void sim_sleep(int64_t ns);
int sim_proc_of_self(void);

/* --- processes, for the director --- */

/* Start a process that runs the program with these arguments (NULL at the end). */
int sim_start(const char *name, const char *const *args);
void sim_kill(int proc);
/* Send SIGTERM to the program. `after` is the number of seams before the signal. */
void sim_stop(int proc, int after);
/* Wait until `until`, step wake_step, or a process ends. */
void sim_direct(int64_t until);
/* Take the status of an ended process, and free its place. */
int sim_reap(int proc);
/* End the history and kill all running processes. */
void sim_end(void);
/* The sigjmp_buf to which sim_violate of the director jumps. */
extern void *sim_escape;

/* --- the parts of the world --- */

void disk_begin(void);
void disk_proc_ended(int proc);
/* Close the streams that a process opened with fopen. */
void disk_close_streams(int proc);
void disk_power_loss(void);
/* Replace a file, durably, with its folders. */
void disk_put(const char *path, const char *text);
/* Remove a file, durably. */
void disk_drop(const char *path);
/* Call see for each file below path. */
void disk_each(const char *path,
	       void (*see)(void *ctx, const char *path, const uint8_t *data, size_t size),
	       void *ctx);
bool disk_is_there(const char *path);
/* Return true if a power loss now would keep the file with its content. */
bool disk_is_kept(const char *path);
/* Call the function for each file that a process removes, and for each folder before its rename. */
extern void (*disk_watch)(const char *what, const char *path, const char *to);
size_t disk_text(const char *path, char *out, size_t room);

void broker_begin(int partitions);
void broker_produce(int partition, const char *value, size_t len);
/* Leave an offset without a message, as a transaction's end does. */
void broker_gap(int partition);
void broker_proc_ended(int proc);
int64_t broker_end(int partition);
bool broker_has(int partition, int64_t offset);
int broker_partitions(void);
void broker_down(bool down);

void hdfs_begin(void);
struct hdfs_node {
	char *path;
	uint8_t *data; /* NULL of a folder */
	size_t size;
	uint64_t id;
	int64_t modified;
	unsigned mode;
	bool folder, open, damaged; /* true if the bytes differ from the sent bytes */
	struct hdfs_node *next;
};
struct hdfs_node *hdfs_find(const char *path);
struct hdfs_node *hdfs_make(const char *path, bool folder);
void hdfs_remove(const char *path);
bool hdfs_rename(const char *from, const char *to);
struct hdfs_node *hdfs_first(void);
void hdfs_proc_ended(int proc);

void cluster_begin(int regions);
/* Split, move or merge regions, or restart servers, as a cluster does by itself. */
void cluster_stir(void);
/* Carry out or drop the open calls without an answer. */
void cluster_settle(void);
void cluster_due(void);
/* Call see for each file of the table. */
void cluster_each(void (*see)(void *ctx, const char *path, const uint8_t *data, size_t size),
		  void *ctx);

#endif
