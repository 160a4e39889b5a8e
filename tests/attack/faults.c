// Preloaded: the n-th call that writes, to a path below FAULT_PLACE, kills the process or fails with an errno.
// FAULT_AT counts from 1; FAULT_ERRNO 0 kills; FAULT_COUNT names a file that gets a byte for each call.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static atomic_int calls;

static void count(const char *name) {
    int file = NEXT(open)(name, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (file >= 0 && NEXT(write)(file, ".", 1) == 1) close(file);
}

static int strikes(const char *path) {
    const char *place = getenv("FAULT_PLACE"), *at = getenv("FAULT_AT"), *error = getenv("FAULT_ERRNO");
    if (!place || !path || strncmp(path, place, strlen(place))) return 0;
    if (getenv("FAULT_COUNT")) count(getenv("FAULT_COUNT"));
    if (++calls != (at ? atoi(at) : 0)) return 0;
    if (!atoi(error)) kill(getpid(), SIGKILL);
    errno = atoi(error);
    return 1;
}

static int strikes_open_file(int file) {
    char link[64], path[PATH_MAX + 1];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, PATH_MAX);
    if (length < 0) return 0;
    path[length] = 0;
    return strikes(path);
}

#define BY_PATH(type, name, path, given, passed) \
    type name given { return strikes(path) ? (type)-1 : NEXT(name) passed; }
#define BY_FILE(type, name, given, passed) \
    type name given { return strikes_open_file(file) ? (type)-1 : NEXT(name) passed; }
#define OPEN(name, given, passed)                                               \
    int name given {                                                                \
        va_list more;                                                               \
        va_start(more, flags);                                                      \
        mode_t mode = va_arg(more, mode_t);                                         \
        va_end(more);                                                               \
        return strikes(path) ? -1 : NEXT(name) passed;                              \
    }

OPEN(open, (const char *path, int flags, ...), (path, flags, mode))
OPEN(open64, (const char *path, int flags, ...), (path, flags, mode))
OPEN(openat, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
OPEN(openat64, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
BY_FILE(ssize_t, write, (int file, const void *from, size_t size), (file, from, size))
BY_FILE(ssize_t, pwrite, (int file, const void *from, size_t size, off_t at), (file, from, size, at))
BY_FILE(ssize_t, pwrite64, (int file, const void *from, size_t size, off64_t at), (file, from, size, at))
BY_FILE(ssize_t, read, (int file, void *to, size_t size), (file, to, size))
BY_FILE(int, fsync, (int file), (file))
BY_FILE(int, ftruncate, (int file, off_t size), (file, size))
BY_FILE(int, ftruncate64, (int file, off64_t size), (file, size))
BY_PATH(int, rename, path, (const char *path, const char *other), (path, other))
BY_PATH(int, link, path, (const char *path, const char *other), (path, other))
BY_PATH(int, unlink, path, (const char *path), (path))
BY_PATH(int, mkdir, path, (const char *path, mode_t mode), (path, mode))
BY_PATH(int, rmdir, path, (const char *path), (path))
