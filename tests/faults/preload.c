/*
 * preload.c - an LD_PRELOAD library that makes one call, or all later calls, of the program fail
 *
 *   FAULT=CLASS:KIND:N[+]  The N-th call of CLASS fails (the first is 1; with 0, no call fails).
 *                          With +, all later calls fail, too.
 *   FAULT_LOG=FILE         receives the call that failed with its stack, and at the end the number
 *                          of calls of CLASS. If no call must fail, receives the stack of each
 *                          call.
 *   FAULT_APART=NAME       Calls from the library with this name do not fail.
 *
 * A server makes many runs of one command line cheaper. With
 *
 *   FAULT_SERVER=FD FAULT_FILES=PREFIX
 *
 * the process stops at the entry into main and forks for each line that it reads from the socket
 * FD. The line is a FAULT, or "-" for a run without a fault. The process answers with the run's
 * process id and then with its wait status, an int32 each. Standard output and error of the run and
 * its log are PREFIX.stdout, .stderr and .log. It counts no call before main, so such a run equals
 * any other run.
 *
 *   FAULT_LOADED=FILE,...  Opens libraries that the program will open, so that their calls at the
 *                          start do not count.
 *
 * The output contains a stack as a number, which is the same in all processes of one program.
 *
 * CLASS is alloc (heap), io (system calls of the program, and the start of a thread), transfer (the
 * io calls that read or write bytes) or the name of a call. KIND is an errno's name, or "short",
 * which transfers half of the bytes.
 *
 * The library counts calls from the entry into main on. Writes to standard error never fail,
 * because the judge needs the error message. A close() that fails has closed the descriptor, as in
 * Linux.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <grp.h>
#include <iconv.h>
#include <inttypes.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stacks.h"

enum class { ALLOC = 1, IO = 2, TRANSFER = 4 };

static struct {
	unsigned classes; /* counted */
	char name[24];	  /* name of the call; "": any call of the classes */
	bool rest, shorten;
	int errnum;
	unsigned long at;
	int log; /* -1: none */
} fault = {.log = -1};

enum { HIGH_FD = 900, STACKS = 1 << 20 };

static uint64_t *stacks; /* log of each call if no call must fail; NULL if not requested */

static int haste;	   /* 0: none */
static atomic_llong ahead; /* ns by which this library moved the monotonic clock forward */
static atomic_llong owed;  /* ns that are still to be slept */

static atomic_bool armed;
static atomic_ulong calls;
static _Thread_local bool inside; /* marks the log's own calls */

static const struct {
	const char *name;
	int errnum;
} kinds[] = {{"ENOMEM", ENOMEM}, {"EIO", EIO},	     {"ENOSPC", ENOSPC},
	     {"EINTR", EINTR},	 {"EACCES", EACCES}, {"EINVAL", EINVAL},
	     {"EMFILE", EMFILE}, {"ENOSYS", ENOSYS}, {"short", 0}};

static void bad_setting(const char *text)
{
	dprintf(STDERR_FILENO, "preload: FAULT is \"%s\", expected CLASS:KIND:N[+]\n", text);
	_exit(99);
}

static void read_setting(const char *text)
{
	char class[24], kind[16], rest[2] = "";

	if (sscanf(text, "%23[a-z0-9_]:%15[A-Za-z]:%lu%1s", class, kind, &fault.at, rest) < 3)
		bad_setting(text);
	fault.rest = rest[0] == '+';
	if (!strcmp(class, "alloc"))
		fault.classes = ALLOC;
	else if (!strcmp(class, "io"))
		fault.classes = IO;
	else if (!strcmp(class, "transfer"))
		fault.classes = TRANSFER;
	else {
		fault.classes = ALLOC | IO;
		strcpy(fault.name, class);
	}
	size_t i = 0;
	while (i < sizeof kinds / sizeof *kinds && strcmp(kind, kinds[i].name) != 0)
		i++;
	if (i == sizeof kinds / sizeof *kinds)
		bad_setting(text);
	fault.errnum = kinds[i].errnum;
	fault.shorten = fault.errnum == 0;
}

/* The descriptor is far above the descriptors that the program would get. */
static void open_log(const char *path, int how)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | how, 0666);

	if (fd < 0)
		return;
	fault.log = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);
	syscall(SYS_close, fd);
}

static void log_fault(const char *name, unsigned long n)
{
	void *callers[DEEP];

	if (fault.log < 0 || inside)
		return;
	inside = true;
	int deep = backtrace(callers, DEEP);
	dprintf(fault.log, "failed %lu %s %016" PRIx64 "\n", n, name, stack_of(callers, deep));
	backtrace_symbols_fd(callers, deep, fault.log);
	inside = false;
}

static void note_stack(unsigned long n)
{
	void *callers[DEEP];

	if (!stacks || inside || n > STACKS)
		return;
	inside = true;
	stacks[n - 1] = stack_of(callers, backtrace(callers, DEEP));
	inside = false;
}

/* Returns true if this call must fail. If no call must fail, only count calls. */
static bool fails_at(unsigned class, const char *name, const void *caller)
{
	if (!atomic_load_explicit(&armed, memory_order_relaxed) || inside ||
	    !(fault.classes & class) || (fault.name[0] && strcmp(fault.name, name) != 0))
		return false;
	if (fault.at && !fault.rest && atomic_load(&calls) >= fault.at)
		return false;
	inside = true;
	bool is_apart = comes_from_apart(caller);
	inside = false;
	if (is_apart)
		return false;
	unsigned long n = atomic_fetch_add(&calls, 1) + 1;
	if (fault.at == 0)
		note_stack(n);
	if (fault.at == 0 || n < fault.at || (n > fault.at && !fault.rest))
		return false;
	if (n == fault.at)
		log_fault(name, n);
	if (!fault.shorten)
		errno = fault.errnum;
	return true;
}

/* The immediate caller identifies most of a library's own calls. */
#define fails(class, name) fails_at(class, name, __builtin_return_address(0))

static void at_end(void)
{
	unsigned long n = atomic_load(&calls);

	if (fault.log < 0)
		return;
	atomic_store(&armed, false);
	dprintf(fault.log, "calls %lu\n", n);
	for (unsigned long i = 0; stacks && i < n && i < STACKS; i++)
		dprintf(fault.log, "%016" PRIx64 "\n", stacks[i]);
}

static int (*program_main)(int, char **, char **);

static void arm(const char *setting)
{
	read_setting(setting);
	if (fault.at == 0) {
		stacks = mmap(NULL, STACKS * sizeof *stacks, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (stacks == MAP_FAILED)
			stacks = NULL;
	}
	atexit(at_end);
	atomic_store(&armed, true);
}

/* POSIX lets the result of dlsym be a function, but ISO C does not define this. */
#define NEXT(name)                                                                                 \
	(__extension__({                                                                           \
		static atomic_uintptr_t known;                                                     \
		uintptr_t lies = atomic_load_explicit(&known, memory_order_relaxed);               \
		if (!lies)                                                                         \
			atomic_store(&known, lies = (uintptr_t)next(#name));                       \
		(__typeof__(&name))lies;                                                           \
	}))

static void *next(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	if (!f)
		abort();
	return f;
}

/* --- the server --- */

static void redirect(const char *prefix, const char *ending, int to)
{
	char path[4096];

	snprintf(path, sizeof path, "%s%s", prefix, ending);
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND,
			      0666);
	if (fd < 0 || syscall(SYS_dup3, fd, to, 0) < 0)
		_exit(98);
	syscall(SYS_close, fd);
}

/* Starts one run of the server with its files and its fault. */
static void begin_run(const char *setting, const char *prefix)
{
	char path[4096];

	redirect(prefix, ".stdout", STDOUT_FILENO);
	redirect(prefix, ".stderr", STDERR_FILENO);
	snprintf(path, sizeof path, "%s.log", prefix);
	unsetenv("FAULT_SERVER");
	if (strcmp(setting, "-") != 0) {
		open_log(path, O_TRUNC);
		arm(setting);
	}
}

static bool read_line(int fd, char *line, size_t room)
{
	size_t n = 0;

	while (n + 1 < room && syscall(SYS_read, fd, line + n, 1) == 1)
		if (line[n++] == '\n') {
			line[n - 1] = 0;
			return true;
		}
	return false;
}

static void tell(int fd, int32_t n)
{
	if (syscall(SYS_write, fd, &n, sizeof n) != (long)sizeof n)
		_exit(0);
}

static void open_before(const char *libraries)
{
	for (size_t n; *libraries; libraries += n + (libraries[n] == ',')) {
		char file[64];

		n = strcspn(libraries, ",");
		snprintf(file, sizeof file, "%.*s", (int)n, libraries);
		NEXT(dlopen)(file, RTLD_NOW);
	}
	look_for_libraries();
}

/* Returns in each run. The server itself ends with the socket. */
static void serve(int fd, const char *prefix)
{
	char line[64];
	int status = 0, high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);
	pid_t run;

	syscall(SYS_close, fd);
	while (read_line(high, line, sizeof line)) {
		run = fork();
		if (run == 0) {
			syscall(SYS_close, high);
			begin_run(line, prefix);
			return;
		}
		if (run < 0)
			/* the answer is for one run, and -1 as a pid means all processes */
			_exit(97);
		tell(high, run);
		while (waitpid(run, &status, 0) < 0)
			;
		tell(high, status);
	}
	_exit(0);
}

static int counted_main(int argc, char **argv, char **env)
{
	const char *setting = getenv("FAULT"), *log = getenv("FAULT_LOG");
	const char *server = getenv("FAULT_SERVER"), *files = getenv("FAULT_FILES");
	const char *hasty = getenv("FAULT_HASTE"), *left_alone = getenv("FAULT_APART");
	void *callers[2];

	haste = hasty ? atoi(hasty) : 0;
	read_apart(left_alone ? left_alone : "");
	look_for_program();
	backtrace(callers, 2); /* the first call loads a library */
	if (server && files) {
		const char *libraries = getenv("FAULT_LOADED");

		open_before(libraries ? libraries : "");
		serve(atoi(server), files);
	} else if (setting) {
		if (log)
			open_log(log, O_APPEND);
		arm(setting);
	}
	return program_main(argc, argv, env);
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
		      void (*fini)(void), void (*rtld_fini)(void), void *stack_end);

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
		      void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
	program_main = main;
	return NEXT(__libc_start_main)(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}

/* --- time --- */

enum { SECOND = 1000000000, SHORT = 2000000 };

static struct timespec moved(const struct timespec *t, long long by)
{
	long long ns = t->tv_sec * (long long)SECOND + t->tv_nsec + by;

	return (struct timespec){.tv_sec = ns / SECOND, .tv_nsec = ns % SECOND};
}

int nanosleep(const struct timespec *t, struct timespec *left)
{
	if (!haste)
		return NEXT(nanosleep)(t, left);
	long long whole = t->tv_sec * (long long)SECOND + t->tv_nsec;
	atomic_fetch_add(&ahead, whole);
	/* sum short sleeps, because each costs more time than it sleeps */
	if (atomic_fetch_add(&owed, whole / haste) < SHORT)
		return 0;
	long long owes = atomic_exchange(&owed, 0);
	struct timespec less = {.tv_sec = owes / SECOND, .tv_nsec = owes % SECOND};
	NEXT(nanosleep)(&less, NULL);
	return 0;
}

int clock_gettime(clockid_t which, struct timespec *t)
{
	int rc = NEXT(clock_gettime)(which, t);

	if (rc == 0 && haste && which == CLOCK_MONOTONIC)
		*t = moved(t, atomic_load(&ahead));
	return rc;
}

int pthread_cond_clockwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict lock,
			   clockid_t which, const struct timespec *restrict until)
{
	struct timespec real = *until;

	if (haste && which == CLOCK_MONOTONIC)
		real = moved(until, -atomic_load(&ahead));
	return NEXT(pthread_cond_clockwait)(c, lock, which, &real);
}

/* The heap functions call glibc's own names, because dlsym itself may allocate. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *ptr, size_t size);
void *__libc_memalign(size_t align, size_t size);

void *malloc(size_t size)
{
	return fails(ALLOC, "malloc") ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails(ALLOC, "calloc") ? NULL : __libc_calloc(count, size);
}

void *realloc(void *ptr, size_t size)
{
	return fails(ALLOC, "realloc") ? NULL : __libc_realloc(ptr, size);
}

void *reallocarray(void *ptr, size_t count, size_t size)
{
	size_t bytes;

	if (fails(ALLOC, "reallocarray") || __builtin_mul_overflow(count, size, &bytes))
		return NULL;
	return __libc_realloc(ptr, bytes);
}

void *aligned_alloc(size_t align, size_t size)
{
	return fails(ALLOC, "aligned_alloc") ? NULL : __libc_memalign(align, size);
}

void *memalign(size_t align, size_t size)
{
	return fails(ALLOC, "memalign") ? NULL : __libc_memalign(align, size);
}

int posix_memalign(void **out, size_t align, size_t size)
{
	if (fails(ALLOC, "posix_memalign"))
		return ENOMEM;
	*out = __libc_memalign(align, size);
	return *out ? 0 : ENOMEM;
}

/* Calls with fixed parameters. A line has the result, the name, (parameters), (arguments), and the
 * value returned on failure.
 */
#define CALL(type, name, parameters, arguments, failed)                                            \
	type name parameters                                                                       \
	{                                                                                          \
		if (!fault.shorten && fails(IO, #name))                                            \
			return failed;                                                             \
		return NEXT(name) arguments;                                                       \
	}

CALL(int, fsync, (int fd), (fd), -1)
CALL(int, fdatasync, (int fd), (fd), -1)
CALL(int, ftruncate, (int fd, off_t len), (fd, len), -1)
CALL(int, fallocate, (int fd, int mode, off_t at, off_t len), (fd, mode, at, len), -1)
CALL(int, sync_file_range, (int fd, off_t at, off_t len, unsigned flags), (fd, at, len, flags), -1)
CALL(off_t, lseek, (int fd, off_t at, int from), (fd, at, from), -1)
CALL(int, flock, (int fd, int how), (fd, how), -1)
CALL(int, rename, (const char *from, const char *to), (from, to), -1)
CALL(int, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to), -1)
CALL(int, renameat2, (int a, const char *from, int b, const char *to, unsigned flags),
     (a, from, b, to, flags), -1)
CALL(int, link, (const char *from, const char *to), (from, to), -1)
CALL(int, linkat, (int a, const char *from, int b, const char *to, int flags),
     (a, from, b, to, flags), -1)
CALL(int, mkdir, (const char *path, mode_t mode), (path, mode), -1)
CALL(int, mkdirat, (int dir, const char *path, mode_t mode), (dir, path, mode), -1)
CALL(int, rmdir, (const char *path), (path), -1)
CALL(int, unlink, (const char *path), (path), -1)
CALL(int, unlinkat, (int dir, const char *path, int flags), (dir, path, flags), -1)
CALL(int, remove, (const char *path), (path), -1)
CALL(int, stat, (const char *restrict path, struct stat *restrict st), (path, st), -1)
CALL(int, lstat, (const char *restrict path, struct stat *restrict st), (path, st), -1)
CALL(int, fstat, (int fd, struct stat *st), (fd, st), -1)
CALL(int, fstatat, (int dir, const char *restrict path, struct stat *restrict st, int flags),
     (dir, path, st, flags), -1)
CALL(int, statx,
     (int dir, const char *restrict path, int flags, unsigned mask, struct statx *restrict st),
     (dir, path, flags, mask, st), -1)
CALL(int, statvfs, (const char *restrict path, struct statvfs *restrict st), (path, st), -1)
CALL(int, chmod, (const char *path, mode_t mode), (path, mode), -1)
CALL(int, fchmod, (int fd, mode_t mode), (fd, mode), -1)
CALL(int, fchown, (int fd, uid_t owner, gid_t group), (fd, owner, group), -1)
CALL(int, utimensat, (int fd, const char *path, const struct timespec t[2], int flags),
     (fd, path, t, flags), -1)
CALL(int, getpwuid_r,
     (uid_t id, struct passwd *restrict out, char *restrict text, size_t len,
      struct passwd **restrict found),
     (id, out, text, len, found), EIO)
CALL(int, getgrgid_r,
     (gid_t id, struct group *restrict out, char *restrict text, size_t len,
      struct group **restrict found),
     (id, out, text, len, found), EIO)
CALL(int, dup2, (int fd, int to), (fd, to), -1)
CALL(int, uname, (struct utsname * out), (out), -1)
CALL(struct passwd *, getpwuid, (uid_t id), (id), NULL)
CALL(int, fseeko, (FILE * f, off_t at, int from), (f, at, from), -1)
CALL(off_t, ftello, (FILE * f), (f), -1)
CALL(int, fseek, (FILE * f, long offset, int from), (f, offset, from), -1)
CALL(FILE *, tmpfile, (void), (), NULL)
CALL(int, socket, (int domain, int type, int protocol), (domain, type, protocol), -1)
CALL(int, socketpair, (int domain, int type, int protocol, int ends[2]),
     (domain, type, protocol, ends), -1)
CALL(int, connect, (int fd, __CONST_SOCKADDR_ARG to, socklen_t len), (fd, to, len), -1)
CALL(int, getsockopt, (int fd, int level, int name, void *restrict value, socklen_t *restrict len),
     (fd, level, name, value, len), -1)
CALL(int, setsockopt, (int fd, int level, int name, const void *value, socklen_t len),
     (fd, level, name, value, len), -1)
CALL(int, access, (const char *path, int mode), (path, mode), -1)
CALL(int, faccessat, (int dir, const char *path, int mode, int flags), (dir, path, mode, flags), -1)
CALL(int, mkostemp, (char *name, int flags), (name, flags), -1)
CALL(char *, mkdtemp, (char *name), (name), NULL)
CALL(char *, realpath, (const char *restrict path, char *restrict out), (path, out), NULL)
CALL(DIR *, opendir, (const char *path), (path), NULL)
CALL(DIR *, fdopendir, (int fd), (fd), NULL)
CALL(struct dirent *, readdir, (DIR * d), (d), NULL)
CALL(FILE *, fopen, (const char *restrict path, const char *restrict mode), (path, mode), NULL)
CALL(int, nftw, (const char *path, __nftw_func_t each, int fds, int flags),
     (path, each, fds, flags), -1)
CALL(int, scandir,
     (const char *restrict path, struct dirent ***restrict list,
      int (*choose)(const struct dirent *),
      int (*by)(const struct dirent **, const struct dirent **)),
     (path, list, choose, by), -1)
CALL(int, glob,
     (const char *restrict pattern, int flags, int (*wrong)(const char *, int),
      glob_t *restrict found),
     (pattern, flags, wrong, found), GLOB_ABORTED)
CALL(iconv_t, iconv_open, (const char *to, const char *from), (to, from), (iconv_t)-1)
CALL(int, poll, (struct pollfd * fds, nfds_t n, int wait_ms), (fds, n, wait_ms), -1)
CALL(ssize_t, getrandom, (void *ptr, size_t len, unsigned flags), (ptr, len, flags), -1)

/* A call that fails as a whole. Calls of libraries while they start do not count. */
void *dlopen(const char *file, int flags)
{
	if (!fault.shorten && fails(IO, "dlopen"))
		return NULL;
	bool was = inside;
	inside = true;
	void *opened = NEXT(dlopen)(file, flags);
	if (opened)
		look_for_libraries();
	inside = was;
	return opened;
}

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attr,
		   void *(*run)(void *), void *restrict arg)
{
	if (!fault.shorten && fails(IO, "pthread_create"))
		return EAGAIN;
	return NEXT(pthread_create)(thread, attr, run, arg);
}

static mode_t mode_of(int flags, va_list ap)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(ap, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
	va_list ap;
	va_start(ap, flags);
	mode_t mode = mode_of(flags, ap);
	va_end(ap);
	return !fault.shorten && fails(IO, "open") ? -1 : NEXT(open)(path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
	va_list ap;
	va_start(ap, flags);
	mode_t mode = mode_of(flags, ap);
	va_end(ap);
	return !fault.shorten && fails(IO, "openat") ? -1 : NEXT(openat)(dir, path, flags, mode);
}

int close(int fd)
{
	int rc = NEXT(close)(fd);

	return rc == 0 && fd != STDERR_FILENO && !fault.shorten && fails(IO, "close") ? -1 : rc;
}

int closedir(DIR *d)
{
	int rc = NEXT(closedir)(d);

	return rc == 0 && !fault.shorten && fails(IO, "closedir") ? -1 : rc;
}

/* Transfers half of the bytes if requested. Returns false if the call fails. */
static bool transfer(int fd, const char *name, size_t *len, const void *caller)
{
	if (fd == STDERR_FILENO || !fails_at(IO | TRANSFER, name, caller))
		return true;
	if (fault.shorten && *len > 1)
		*len /= 2;
	return fault.shorten;
}

#define TRANSFER_CALL(name, parameters, arguments)                                                 \
	ssize_t name parameters                                                                    \
	{                                                                                          \
		return transfer(fd, #name, &len, __builtin_return_address(0)) ? NEXT(name)         \
											arguments  \
									      : -1;                \
	}

TRANSFER_CALL(read, (int fd, void *ptr, size_t len), (fd, ptr, len))
TRANSFER_CALL(pread, (int fd, void *ptr, size_t len, off_t at), (fd, ptr, len, at))
TRANSFER_CALL(write, (int fd, const void *ptr, size_t len), (fd, ptr, len))
TRANSFER_CALL(send, (int fd, const void *ptr, size_t len, int flags), (fd, ptr, len, flags))
TRANSFER_CALL(recv, (int fd, void *ptr, size_t len, int flags), (fd, ptr, len, flags))
TRANSFER_CALL(pwrite, (int fd, const void *ptr, size_t len, off_t at), (fd, ptr, len, at))

/* Sets the state that a failed read of a stream leaves, as ferror() reports it (glibc's
 * _IO_ERR_SEEN).
 */
static bool stream_fails(FILE *f, const char *name)
{
	enum { ERR_SEEN = 0x20 };
	if (fault.shorten || !fails(IO, name))
		return false;
	f->_flags |= ERR_SEEN;
	return true;
}

size_t fread(void *restrict ptr, size_t size, size_t n, FILE *restrict f)
{
	return stream_fails(f, "fread") ? 0 : NEXT(fread)(ptr, size, n, f);
}

char *fgets(char *restrict line, int size, FILE *restrict f)
{
	return stream_fails(f, "fgets") ? NULL : NEXT(fgets)(line, size, f);
}

ssize_t __getdelim(char **restrict line, size_t *restrict size, int end, FILE *restrict f)
{
	return stream_fails(f, "getdelim") ? -1 : NEXT(__getdelim)(line, size, end, f);
}

int fclose(FILE *f)
{
	int rc = NEXT(fclose)(f);

	return rc == 0 && !fault.shorten && fails(IO, "fclose") ? EOF : rc;
}

/* A hardened build calls these functions instead. */
int __open_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
ssize_t __read_chk(int fd, void *ptr, size_t len, size_t room);
ssize_t __pread_chk(int fd, void *ptr, size_t len, off_t at, size_t room);
char *__fgets_chk(char *line, size_t room, int size, FILE *f);
size_t __fread_chk(void *ptr, size_t room, size_t size, size_t n, FILE *f);
char *__realpath_chk(const char *path, char *out, size_t room);

CALL(int, __open_2, (const char *path, int flags), (path, flags), -1)
CALL(int, __openat_2, (int dir, const char *path, int flags), (dir, path, flags), -1)
CALL(char *, __realpath_chk, (const char *path, char *out, size_t room), (path, out, room), NULL)
TRANSFER_CALL(__read_chk, (int fd, void *ptr, size_t len, size_t room), (fd, ptr, len, room))
TRANSFER_CALL(__pread_chk, (int fd, void *ptr, size_t len, off_t at, size_t room),
	      (fd, ptr, len, at, room))

char *__fgets_chk(char *line, size_t room, int size, FILE *f)
{
	return stream_fails(f, "fgets") ? NULL : NEXT(__fgets_chk)(line, room, size, f);
}

size_t __fread_chk(void *ptr, size_t room, size_t size, size_t n, FILE *f)
{
	return stream_fails(f, "fread") ? 0 : NEXT(__fread_chk)(ptr, room, size, n, f);
}
