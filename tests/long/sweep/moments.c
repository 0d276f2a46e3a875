/* Every moment at which a program changes something outside of itself: files, directories, the line. They are
   counted in one counter for all threads; at one of them the program ends, or is told that the call failed.

     SWEEP_ROOT=DIR   files count that lie beneath it; sockets always
     SWEEP_AT=N       the moment it happens at; none if it is not given
     SWEEP_HOW=…      before, after: SIGKILL; fail0, fail1, …: one of the errors that this call may have
     SWEEP_SAID=FILE  told there: at N what it was, done to what, asked by which addresses; all moments, if N is
                      not given
     SWEEP_TAPE=FILE  everything that is done to files, so that it can be done again

   cc -shared -fPIC -O2 -pthread moments.c -o moments.so */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define SHORT (-1) /* half of what was to be written */

static atomic_long moments;
static long at = -1;
static const char *how = "";
static const char *root = "/";
static int said = -1, tape = -1;
static pthread_mutex_t taping = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void begin(void)
{
    const char *value = getenv("SWEEP_AT");
    void *none[1];
    if (value) at = atol(value);
    if ((value = getenv("SWEEP_HOW"))) how = strdup(value);
    if ((value = getenv("SWEEP_ROOT"))) root = strdup(value);
    if ((value = getenv("SWEEP_SAID"))) said = syscall(SYS_openat, AT_FDCWD, value, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if ((value = getenv("SWEEP_TAPE"))) tape = syscall(SYS_openat, AT_FDCWD, value, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    backtrace(none, 1); /* the first time it loads a library */
}

static int is_ours(const char *path)
{
    return strncmp(path, root, strlen(root)) == 0;
}

/* Where an open file is now. */
static int path_of(int fd, char *path)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = syscall(SYS_readlink, link, path, PATH_MAX - 1);
    path[length < 0 ? 0 : length] = 0;
    return length > 0;
}

/* A name in a directory as a whole path. */
static void path_at(int dir, const char *name, char *path)
{
    char in[PATH_MAX] = "";
    if (name[0] == '/') {
        snprintf(path, PATH_MAX, "%s", name);
        return;
    }
    if (dir == AT_FDCWD) {
        if (!getcwd(in, sizeof in)) in[0] = 0;
    } else {
        path_of(dir, in);
    }
    snprintf(path, PATH_MAX, "%.*s/%.*s", PATH_MAX / 2, in, PATH_MAX / 2 - 2, name);
}

static void tell(long moment, const char *call, const char *what)
{
    char line[PATH_MAX + 1200];
    void *frames[64];
    int length = snprintf(line, sizeof line, "%ld\t%s\t%.*s\t", moment, call, PATH_MAX, what);
    if (moment == at) {
        int depth = backtrace(frames, 64);
        for (int frame = 2; frame < depth; frame++) {
            Dl_info info;
            if (dladdr(frames[frame], &info) && info.dli_fname && strstr(info.dli_fname, "/mailchute")) {
                length += snprintf(line + length, sizeof line - length, "%lx ", (long)((char *)frames[frame] - (char *)info.dli_fbase) - 1);
            }
        }
    }
    line[length++] = '\n';
    syscall(SYS_write, said, line, length);
}

static void die(void)
{
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;) pause();
}

/* What becomes of this call: 0 it is made; else an errno, or SHORT. `after` says that the program ends then. */
static int moment(const char *call, const char *what, const int *errors, int *after)
{
    long number = atomic_fetch_add(&moments, 1) + 1;
    *after = 0;
    if (said >= 0 && (at < 0 || number == at)) tell(number, call, what);
    if (number != at) return 0;
    if (!strcmp(how, "before")) die();
    if (!strcmp(how, "after")) *after = 1;
    if (!strncmp(how, "fail", 4)) {
        int many = 0, wanted = atoi(how + 4);
        while (errors[many]) many++;
        return errors[wanted % many];
    }
    return 0;
}

static const int WRITING[] = {ENOSPC, EIO, EINTR, SHORT, 0};
static const int SENDING[] = {ECONNRESET, EINTR, SHORT, EPIPE, 0};
static const int SYNCING[] = {EIO, ENOSPC, 0};
static const int NAMING[] = {ENOSPC, EIO, EACCES, 0};
static const int OPENING[] = {EMFILE, ENOSPC, EIO, EACCES, 0};

/* ---- the tape: a letter, numbers, paths and bytes, each with its length ---- */

static void put(const void *bytes, uint64_t length)
{
    syscall(SYS_write, tape, &length, sizeof length);
    syscall(SYS_write, tape, bytes, length);
}

static void record(char what, const char *path, const char *other, uint64_t offset, const void *bytes, uint64_t length)
{
    syscall(SYS_write, tape, &what, 1);
    put(path, strlen(path));
    put(other, strlen(other));
    syscall(SYS_write, tape, &offset, sizeof offset);
    put(bytes, length);
}

#define LOCK int taped = tape >= 0; if (taped) pthread_mutex_lock(&taping);
#define UNLOCK if (taped) pthread_mutex_unlock(&taping);
#define FAIL(error) do { errno = (error); return -1; } while (0)

static int kind_of(int fd, char *path)
{
    struct stat about;
    if (fstat(fd, &about)) return 0;
    if (S_ISSOCK(about.st_mode)) {
        struct sockaddr_storage to;
        socklen_t size = sizeof to;
        strcpy(path, "the line");
        return getpeername(fd, (struct sockaddr *)&to, &size) == 0 && to.ss_family == AF_INET ? 2 : 0;
    }
    return S_ISREG(about.st_mode) && path_of(fd, path) && is_ours(path) ? 1 : 0;
}

/* ---- bytes into files and onto the line ---- */

static ssize_t bytes(const char *call, int fd, const void *from, size_t count, off_t offset, int has_offset, int flags)
{
    char path[PATH_MAX];
    int saved = errno, after, kind = kind_of(fd, path);
    errno = saved;
    if (kind) {
        int error = moment(call, path, kind == 2 ? SENDING : WRITING, &after);
        if (error == SHORT) count = count > 1 ? count / 2 : count;
        else if (error) FAIL(error);
    }
    /* Of files alone: what a signal's handler writes elsewhere must not wait for what it interrupted. */
    int taped = tape >= 0 && kind == 1;
    if (taped) pthread_mutex_lock(&taping);
    if (taped) path_of(fd, path); /* it may have been moved meanwhile */
    if (taped && !has_offset) offset = (fcntl(fd, F_GETFL) & O_APPEND) ? lseek(fd, 0, SEEK_END) : lseek(fd, 0, SEEK_CUR);
    ssize_t done = has_offset ? syscall(SYS_pwrite64, fd, from, count, offset)
                 : flags >= 0 ? syscall(SYS_sendto, fd, from, count, flags, NULL, 0)
                 : syscall(SYS_write, fd, from, count);
    if (taped && done > 0) record('w', path, "", offset, from, done);
    UNLOCK
    if (kind && after) die();
    return done;
}

ssize_t write(int fd, const void *from, size_t count) { return bytes("write", fd, from, count, 0, 0, -1); }
ssize_t pwrite(int fd, const void *from, size_t count, off_t offset) { return bytes("pwrite", fd, from, count, offset, 1, -1); }
ssize_t pwrite64(int fd, const void *from, size_t count, off64_t offset) { return bytes("pwrite", fd, from, count, offset, 1, -1); }
ssize_t send(int fd, const void *from, size_t count, int flags) { return bytes("send", fd, from, count, 0, 0, flags); }

ssize_t writev(int fd, const struct iovec *parts, int many)
{
    char path[PATH_MAX];
    int saved = errno, after, kind = kind_of(fd, path);
    errno = saved;
    /* Of files nothing is written in parts. */
    if (kind) {
        int error = moment("writev", path, kind == 2 ? SENDING : WRITING, &after);
        if (error == SHORT) return syscall(SYS_writev, fd, parts, 1);
        if (error) FAIL(error);
    }
    ssize_t done = syscall(SYS_writev, fd, parts, many);
    if (kind && after) die();
    return done;
}

/* ---- what makes it last ---- */

static int sync_file(const char *call, int fd, int number)
{
    char path[PATH_MAX];
    int after = 0, ours = path_of(fd, path) && is_ours(path);
    if (ours) {
        int error = moment(call, path, SYNCING, &after);
        if (error) FAIL(error);
    }
    LOCK
    if (taped && ours) path_of(fd, path);
    int done = syscall(number, fd);
    if (taped && ours && done == 0) record('s', path, "", 0, "", 0);
    UNLOCK
    if (after) die();
    return done;
}

int fsync(int fd) { return sync_file("fsync", fd, SYS_fsync); }
int fdatasync(int fd) { return sync_file("fdatasync", fd, SYS_fdatasync); }

static int cut(int fd, off_t length)
{
    char path[PATH_MAX];
    int after = 0, ours = path_of(fd, path) && is_ours(path);
    if (ours) {
        int error = moment("ftruncate", path, SYNCING, &after);
        if (error) FAIL(error);
    }
    LOCK
    if (taped && ours) path_of(fd, path);
    int done = syscall(SYS_ftruncate, fd, length);
    if (taped && ours && done == 0) record('t', path, "", length, "", 0);
    UNLOCK
    if (after) die();
    return done;
}

int ftruncate(int fd, off_t length) { return cut(fd, length); }
int ftruncate64(int fd, off64_t length) { return cut(fd, length); }

/* ---- names ---- */

static int named(const char *call, char what, int dir, const char *name, int to_dir, const char *to, int number, long more)
{
    char path[PATH_MAX], other[PATH_MAX] = "";
    int after = 0, ours;
    path_at(dir, name, path);
    if (to) path_at(to_dir, to, other);
    ours = is_ours(path);
    if (ours) {
        int error = moment(call, to ? other : path, NAMING, &after);
        if (error) FAIL(error);
    }
    LOCK
    int done = to ? syscall(number, dir, name, to_dir, to, more) : syscall(number, dir, name, more);
    if (taped && ours && done == 0) record(what, path, other, more, "", 0);
    UNLOCK
    if (after) die();
    return done;
}

int rename(const char *from, const char *to) { return named("rename", 'r', AT_FDCWD, from, AT_FDCWD, to, SYS_renameat2, 0); }
int renameat(int dir, const char *from, int to_dir, const char *to) { return named("rename", 'r', dir, from, to_dir, to, SYS_renameat2, 0); }
int renameat2(int dir, const char *from, int to_dir, const char *to, unsigned flags) { return named("rename", 'r', dir, from, to_dir, to, SYS_renameat2, flags); }
int link(const char *from, const char *to) { return named("link", 'l', AT_FDCWD, from, AT_FDCWD, to, SYS_linkat, 0); }
int linkat(int dir, const char *from, int to_dir, const char *to, int flags) { return named("link", 'l', dir, from, to_dir, to, SYS_linkat, flags); }
int unlink(const char *name) { return named("unlink", 'u', AT_FDCWD, name, 0, NULL, SYS_unlinkat, 0); }
int rmdir(const char *name) { return named("rmdir", 'u', AT_FDCWD, name, 0, NULL, SYS_unlinkat, AT_REMOVEDIR); }
int unlinkat(int dir, const char *name, int flags) { return named("unlink", 'u', dir, name, 0, NULL, SYS_unlinkat, flags); }
int mkdir(const char *name, mode_t mode) { return named("mkdir", 'd', AT_FDCWD, name, 0, NULL, SYS_mkdirat, mode); }
int mkdirat(int dir, const char *name, mode_t mode) { return named("mkdir", 'd', dir, name, 0, NULL, SYS_mkdirat, mode); }

static int open_file(int dir, const char *name, int flags, mode_t mode)
{
    char path[PATH_MAX];
    int after = 0, changes = flags & (O_CREAT | O_TRUNC);
    if (changes) path_at(dir, name, path);
    changes = changes && is_ours(path);
    if (changes) {
        int error = moment("open", path, OPENING, &after);
        if (error) FAIL(error);
    }
    LOCK
    int fd = syscall(SYS_openat, dir, name, flags, mode);
    if (taped && changes && fd >= 0) record('c', path, "", (flags & O_TRUNC) != 0, "", 0);
    UNLOCK
    if (after) die();
    return fd;
}

#define MODE mode_t mode = 0; if (flags & (O_CREAT | __O_TMPFILE)) { va_list more; va_start(more, flags); mode = va_arg(more, mode_t); va_end(more); }
int open(const char *name, int flags, ...) { MODE return open_file(AT_FDCWD, name, flags, mode); }
int open64(const char *name, int flags, ...) { MODE return open_file(AT_FDCWD, name, flags, mode); }
int openat(int dir, const char *name, int flags, ...) { MODE return open_file(dir, name, flags, mode); }
int openat64(int dir, const char *name, int flags, ...) { MODE return open_file(dir, name, flags, mode); }

/* ---- the line ---- */

int connect(int fd, const struct sockaddr *to, socklen_t length)
{
    static const int CONNECTING[] = {ECONNREFUSED, EMFILE, ETIMEDOUT, 0};
    int after = 0;
    if (to->sa_family == AF_INET) {
        int error = moment("connect", "the line", CONNECTING, &after);
        if (error) FAIL(error);
    }
    int done = syscall(SYS_connect, fd, to, length);
    if (after) die();
    return done;
}
