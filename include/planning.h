/*
 * planning.h - `saltmill plan`, `drift` and `watch`: regions of tables, without writing HFiles
 *
 *   planning_read, planning_make        plan: events -> row keys -> sample -> splits
 *   samples_save, samples_merge         keep samples in a file
 *   hot_keys_new, hotspot_make          the regions that the events write over time
 *   drift_run, drift_release            compare events with existing regions
 *   watch_new, watch_take, watch_free   the requests of a live table's regions over time
 *
 * `plan` makes one pass. Each table gets a sample of its row keys (plan.h). To predict the size on
 * disk, the planner compresses some groups of adjacent rows with the table's own codec.
 */
#ifndef SALTMILL_PLANNING_H
#define SALTMILL_PLANNING_H

#include "lint.h"
#include "plan.h"
#include "pass.h"
#include "run.h"

/* The result of a pass over the events, for one table. A caller can save results and merge them. */
struct table_sample {
	const struct job_table *table;
	struct sample *sample;
	double disk_per_byte; /* bytes on disk for one byte of uncompressed KeyValues */
	/* distinct row keys for each event; 0 means unknown, and then 1 is used */
	double rows_per_event;
	double measured_bytes; /* bytes of KeyValues in the sample for disk_per_byte */
	/* all rows / rows in the sample, if the planner read only a part of the input; 0 means 1 */
	double scale;
	/* [families], in the arena of the options; NULL means not requested */
	struct hfile_tuning *tuned;
	/* true if some merged samples came without settings */
	bool untuned;
	double scale_error; /* relative error of scaled numbers, with 99 % confidence */
};
void table_sample_release(struct table_sample *s);

struct hot_keys;
struct hotspot;

struct planning_options {
	const struct run_options *common;
	const struct input *input;
	double fraction; /* part of the input to read; 1 means all */
	bool keep; /* the caller will save the sample, so it must work for any number of regions */
	struct event_limit limit;
	struct lint *lint;	   /* receives findings from the rows; NULL means not requested */
	int64_t now_ms;		   /* for lint */
	bool tune;		   /* find the settings of `level: auto` */
	struct hot_keys *hot_keys; /* receives keys in the order of arrival; NULL means none */
	struct arena *arena;	   /* receives data that must outlive the reading */
	const char *work_dir;	   /* folder for spilled rows and compressed samples */
};

/* Counts of a pass. */
struct planning_counts {
	uint64_t events, rejected;
	int64_t newest_ms;
	double share; /* the part of the input that the planner read, 0 to 1 */
	/* columns of the input, in the arena of the options; NULL means unknown */
	const char **columns;
	size_t ncolumns;
	bool columns_differ;		/* the merged samples have different columns */
	const struct hotspot *hotspots; /* [ntables], set by the caller; NULL means not requested */
};

/*
 * Read the events into samples[ntables]. The same files give the same samples, whatever the
 * threads. Messages of a topic arrive in different orders. So samples of a topic may differ between
 * runs, within their error bounds. Release the samples whatever the result.
 */
int planning_read(const struct job *job, const struct planning_options *o,
		  struct progress *progress, struct table_sample *samples,
		  struct planning_counts *counts, struct error *err);

/*
 * Call plan_make with the job's `regions:` and attributes. `live` has the region borders to keep.
 * If `live` is NULL, the function chooses new borders.
 */
int planning_make(struct plan *p, const struct job *job, struct table_sample *s,
		  const struct splits *live, struct error *err);

/*
 * --- hot spots: the regions that the events write over time ---
 *
 *   hot_keys_new, hot_keys_reserve, planning_read, planning_make, hotspot_make for each table,
 *   hotspot_release, hot_keys_free
 */

#define HOT_KEYS_MOST	(1u << 19)  /* events of a table to keep */
#define HOT_TABLE_BYTES (16u << 20) /* memory for the keys of a table, a part of --memory */

/*
 * The keys of the events of each table. If a table has more than HOT_KEYS_MOST events, or their
 * keys are long, a hash of the place chooses the events to keep. The order of arrival is the order
 * of the input; for a topic, it is the order of the cells' times. The result does not depend on the
 * threads.
 */
struct hot_keys *hot_keys_new(void);
/*
 * Take the memory for the keys of all tables from run->memory_bytes. Returns RC_CONFIG if the keys
 * would leave less than half of the memory for the events.
 */
int hot_keys_reserve(struct run_options *run, size_t tables, struct error *err);
void hot_keys_free(struct hot_keys *a); /* NULL is fine */
/* Prepare for records of a job by so many threads. */
void hot_keys_open(struct hot_keys *a, const struct job *job, const struct row_plan *plan,
		   unsigned threads);
void hot_keys_add(struct hot_keys *a, unsigned worker, size_t table, const struct record *r);

struct hotspot_options {
	const struct splits *splits; /* the regions to replay against */
	bool planned;		     /* the splits come from these events */
	size_t servers;		     /* at least 1 */
	double writes;		     /* events in a second; 0 means the rate of the events */
};

#define HOT_BANDS   32
#define HOT_COLUMNS 60
#define HOT_WHOLE   10000 /* the unit of hotspot.share: all events of a column */

/* Regions that a table's events write over time. */
struct hotspot {
	struct write_replay replay;
	uint64_t every;	 /* the replay contains one event in so many */
	double window_s; /* time of a window; 0 if the events have no time */
	/*
	 * growth of the largest region, relative to the mean, while the newest fifth arrives; with
	 * `planned`, of even regions from the older events
	 */
	double grown;
	/*
	 * heat map: [bands][columns], the share of the busiest region of a band of regions, in
	 * 1/HOT_WHOLE of the events of a column of windows
	 */
	int64_t *share;
	int64_t *server; /* [columns]: the share of the busiest server, in 1/HOT_WHOLE */
	size_t bands, columns;
};
/* Replay the events of a table. Call hotspot_release whatever the result. */
int hotspot_make(struct hotspot *h, struct hot_keys *a, size_t table,
		 const struct hotspot_options *o, struct error *err);
/* Make the heat map of h->replay. */
void hotspot_map(struct hotspot *h);
void hotspot_release(struct hotspot *h);

/* The cost of a table's row key for a number of rows. HBase stores the key with every cell. */
struct key_cost {
	bool asked; /* `--rows` was given */
	double rows;
	double key_bytes; /* mean */
	double cells;	  /* cells of a row, as the job lists them */
	double row_bytes; /* mean KeyValues of a row */
	double stored;	  /* bytes of all keys in KeyValues, as in the memstore */
	double share;	  /* of all bytes of KeyValues */
	/*
	 * at most the bytes of all keys with FAST_DIFF or PREFIX; a row's first cell stores its
	 * difference from the row before
	 */
	double encoded;
	double disk; /* bytes of the table on disk, with the codec and encoding of the job */
	uint64_t region_bytes; /* size of a region on disk */
	uint64_t regions;      /* regions of that size, and map tasks of a job over the table */
};
void key_cost_of(struct key_cost *c, const struct job_table *t, const struct table_sample *s,
		 const struct plan *p, double rows);

#define SAMPLES_FORMAT 3 /* version of the file of `--save` */

/*
 * Save and merge the file of `--save`, for all tables of the job. samples_save replaces the file
 * atomically. samples_check returns RC_CONFIG if `path` is a file of another kind, which no command
 * may replace. samples_merge adds a file to `samples` and `counts`, which are {0} before the first
 * file. The functions allocate other data in *a. The result has the settings of the most cells, so
 * the order of the files has no effect. samples_merge returns RC_DATA if the file is damaged, of
 * another kind, or for other tables.
 */
int samples_check(const char *path, struct error *err);
int samples_save(const struct job *job, const struct table_sample *samples,
		 const struct planning_counts *counts, const char *path, struct error *err);
int samples_merge(const struct job *job, struct table_sample *samples,
		  struct planning_counts *counts, struct arena *a, const char *path,
		  struct error *err);

/*
 * --- drift: the effect of events on the existing regions of a table ---
 *
 *   source --> row --> sort --> a sum for each live region, and split keys for regions that are too
 * large
 *
 * `drift` reads and weighs events as `load` does. `drift` writes HFiles only as samples, to measure
 * disk bytes for each byte of cells.
 */

struct drift_options {
	const struct run_options *common;
	const struct input *input;
	const struct existing_regions *live;
	/* size at which HBase splits a region; 0 means the table's MAX_FILESIZE, or 10 GiB */
	uint64_t max_filesize;
};

struct drift_region {
	uint64_t rows, weight;	/* distinct row keys; bytes of cells */
	uint64_t bytes;		/* predicted bytes on disk */
	uint64_t live_bytes;	/* bytes before the events, or EXISTING_UNKNOWN */
	uint64_t live_requests; /* requests since the opening of the region, or EXISTING_UNKNOWN */
	bool bursts;		/* the sum of live and new bytes exceeds max_filesize */
	bool hot;		/* gets more than `fair` times the mean of all regions' new bytes */
	size_t cuts_at, ncuts;	/* range of the region's split keys in drift_table.cuts */
	bool merge_next;	/* a merge of the region with the next region is possible */
};

struct drift_table {
	const struct table *schema;
	const struct existing
		*live; /* the live regions, borrowed; NULL means that they are unknown */
	struct drift_region *regions;
	size_t nregions;
	uint64_t bytes, largest, rows;
	uint64_t max_filesize;
	double fair; /* the job's tolerance, or 2 */
	struct splits cuts;
};

struct drift {
	struct drift_table *tables; /* results for the tables of the job */
	size_t ntables;
	uint64_t events, rejected;
};

/* Compute the drift. The function counts and skips bad events. Call drift_release whatever the
 * result. */
int drift_run(struct drift *d, const struct job *job, const struct drift_options *opt,
	      struct progress *progress, struct error *err);
void drift_release(struct drift *d);
/*
 * Return the bytes of the region that receives most, divided by the mean of all regions. Returns 0
 * if no region receives bytes.
 */
double drift_over_mean(const struct drift_table *t);

/*
 * --- watch: the requests of a live table's regions over time ---
 *
 *   watch_new, watch_take*, watch_hotspot, watch_free
 *
 * The caller reads the regions and the counters of a table again and again. A window is the time
 * between two readings. All windows have the regions of the newest reading. After a split, the
 * requests of older windows are divided evenly between the new regions, and after a merge they are
 * summed.
 */

enum watch_kind { WATCH_READS, WATCH_WRITES, WATCH_KINDS };
#define WATCH_WINDOWS 120 /* if there are more windows, watch sums them in pairs */
#define WATCH_LEAST   200 /* with fewer requests in a window, no region is hot */

struct watched_region {
	struct bytes start, end, name; /* as in struct hbase_region */
	size_t server;		       /* index in watch.servers */
	bool known;		       /* a server has reported the counters */
	bool fresh;		       /* made after the first reading: counters began at 0 */
	uint64_t start_code;	       /* of the server that reported them */
	struct bytes reporter;	       /* address of that server */
	uint64_t seen[WATCH_KINDS];    /* counters of the newest report */
	uint64_t last[WATCH_KINDS];    /* requests in the newest window */
	uint64_t requests;	       /* in all windows */
	uint64_t mib;		       /* size of the store files */
};

/* The kinds of hot spots. Each kind needs another change. */
enum hot_kind {
	HOT_NONE,
	HOT_ONLY_REGION, /* the table has only one region */
	HOT_NEWEST,	 /* writes go to the newest times, or to the end of a rising key */
	HOT_ENTITY,	 /* all rows of the region have the same first field */
	HOT_SALT,	 /* the region is one salt */
	HOT_RANGE,	 /* the region has several values of the first field */
	HOT_SERVER	 /* no region is hot, but a server is */
};

/* The hot spot of the newest window. */
struct watch_hot {
	enum hot_kind kind;
	enum watch_kind of; /* reads or writes */
	size_t region;	    /* the hot region, or the busiest region of the hot server */
	double share;	    /* of the window's requests */
	const char *name; /* its keys as fields of the job, such as "userId 42"; "" without a job */
	const char *field; /* first field of the row key; NULL without a job */
	bool rest;	   /* the row key has parts after that field, so a split can divide it */
};

struct key_table; /* key.h */
struct hbase_regions;
struct hbase_status;

struct watch {
	const char *table;
	struct key_table *keys; /* NULL without a job */
	struct watched_region *regions;
	const char **servers; /* "host:port" of the servers with regions; "" is no server */
	size_t nregions, nservers, nwindows;
	int64_t since_ms, taken_ms;    /* times of the first and the newest reading */
	double window_s;	       /* seconds of the newest window */
	uint64_t *counts[WATCH_KINDS]; /* [windows][regions] */
	uint64_t readings;
	uint64_t total[WATCH_KINDS];  /* requests in the newest window */
	uint64_t all[WATCH_KINDS];    /* requests in all windows */
	size_t moved, restarted, cut; /* since the first reading: moved regions, restarted counters,
					   and regions made by splits and merges */
	struct watch_hot hot;
	struct arena arena; /* of the newest reading */
};

/* Begin to watch. `keys` is the table in a job, or NULL. Both must outlive the result. */
struct watch *watch_new(const char *table, struct key_table *keys);
/*
 * Take a reading of the regions and their counters at time `now_ms` (clock_ms). The first reading
 * begins the first window. Regions without a report keep their counters for a later window: the
 * first report of a region made since the first reading counts whole.
 */
void watch_take(struct watch *w, const struct hbase_regions *r, const struct hbase_status *s,
		int64_t now_ms);
/*
 * Find the hot spot of the newest window, and set w->hot. A region is hot with four times the even
 * share, or, if the table has few regions, with more than halfway from the even share to all
 * requests.
 */
void watch_judge(struct watch *w);
/* Append a row key as fields of the job, or in \xHH form. */
void watch_name(const struct watch *w, struct buf *out, struct bytes key);
/* Make the heat map of reads or writes. Call hotspot_release. */
void watch_hotspot(const struct watch *w, enum watch_kind kind, struct hotspot *out);
void watch_free(struct watch *w);

#endif
