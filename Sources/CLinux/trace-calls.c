// The files that the calls of a traced process are about. docs/design-execution.md, "Watching a
// command".
#define _GNU_SOURCE
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE AUDIT_ARCH_AARCH64
#else
#define NATIVE 0
#endif

static const int wanted[] = {
#ifdef SYS_open
    SYS_open, SYS_creat, SYS_rename, SYS_link, SYS_symlink, SYS_unlink, SYS_mkdir, SYS_rmdir,
    SYS_mknod, SYS_getdents, SYS_stat, SYS_lstat, SYS_access, SYS_readlink,
#endif
#ifdef SYS_newfstatat
    SYS_newfstatat,
#endif
#ifdef SYS_faccessat2
    SYS_faccessat2,
#endif
#ifdef SYS_renameat
    SYS_renameat,
#endif
    SYS_openat, SYS_openat2, SYS_renameat2, SYS_linkat, SYS_symlinkat, SYS_unlinkat, SYS_truncate,
    SYS_mkdirat, SYS_mknodat, SYS_getdents64, SYS_statx, SYS_faccessat, SYS_readlinkat, SYS_execve,
    SYS_execveat, SYS_bind, SYS_connect,
};
enum { wanted_count = sizeof wanted / sizeof *wanted };

unsigned trace_filter(struct sock_filter *program, unsigned capacity) {
  if (capacity < wanted_count + 5) return 0;
  unsigned length = 0;
  program[length++] = (struct sock_filter)BPF_STMT(
      BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
  // Programs for another architecture have other numbers of calls; they are not stopped.
  program[length++] =
      (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 0, wanted_count + 1);
  program[length++] = (struct sock_filter)BPF_STMT(
      BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (unsigned index = 0; index < wanted_count; index++)
    program[length++] = (struct sock_filter)BPF_JUMP(
        BPF_JMP | BPF_JEQ | BPF_K, (unsigned)wanted[index], (uint8_t)(wanted_count - index), 0);
  program[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  program[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
  return length;
}

// Reads a string of another process. Returns 0 if that is impossible, or the string is too long.
static int read_text(pid_t process, uint64_t address, char *text) {
  size_t length = 0;
  while (length < PATH_MAX) {
    // The string may end in the last page of a mapping, so reading stops at the page boundary.
    size_t count = 4096 - (address + length) % 4096;
    if (count > PATH_MAX - length) count = PATH_MAX - length;
    struct iovec here = {text + length, count};
    struct iovec there = {(void *)(uintptr_t)(address + length), count};
    ssize_t got = process_vm_readv(process, &here, 1, &there, 1, 0);
    if (got <= 0) return 0;
    if (memchr(text + length, 0, (size_t)got)) return 1;
    length += (size_t)got;
  }
  return 0;
}

// The path of an argument of a call as it is written, below the process's own directories if it is
// relative.
static int written_path(pid_t process, int directory, uint64_t address, char *found) {
  char text[PATH_MAX], link[64], folder[PATH_MAX];
  if (!read_text(process, address, text) || !*text) return 0;
  if (*text == '/') return snprintf(found, PATH_MAX, "%s", text) < PATH_MAX;
  if (directory == AT_FDCWD) snprintf(link, sizeof link, "/proc/%d/cwd", process);
  else snprintf(link, sizeof link, "/proc/%d/fd/%d", process, directory);
  if (!realpath(link, folder)) return 0;
  const char *name = text;
  while (!strncmp(name, "./", 2)) name += 2 + strspn(name + 2, "/");
  return snprintf(found, PATH_MAX, "%s/%s", strcmp(folder, "/") ? folder : "", name) < PATH_MAX;
}

// The path of an argument of a call: its directory with every link followed, then its last name.
static int find_path(pid_t process, int directory, uint64_t address, char *found) {
  char text[PATH_MAX], path[PATH_MAX + 64], folder[PATH_MAX];
  if (!read_text(process, address, text) || !*text) return 0;
  if (*text == '/') snprintf(path, sizeof path, "%s", text);
  else if (directory == AT_FDCWD) snprintf(path, sizeof path, "/proc/%d/cwd/%s", process, text);
  else snprintf(path, sizeof path, "/proc/%d/fd/%d/%s", process, directory, text);
  // A link of an open file without a name begins with /proc/self, which would be ours.
  if (!strncmp(text, "/proc/self/", 11)) snprintf(path, sizeof path, "/proc/%d/%s", process, text + 11);
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] == '/') path[--length] = 0;
  char *slash = strrchr(path, '/');
  char *name = slash + 1;
  if (!strcmp(name, ".") || !strcmp(name, "..")) return realpath(path, found) != NULL;
  if (slash == path) return snprintf(found, PATH_MAX, "/%s", name) < PATH_MAX;
  *slash = 0;
  if (!realpath(path, folder)) return 0;
  return snprintf(found, PATH_MAX, "%s/%s", strcmp(folder, "/") ? folder : "", name) < PATH_MAX;
}

// The path that a written path leads to: its directory with every link followed, if there is one,
// then its last name.
static int resolve(const char *written, char *found) {
  char path[PATH_MAX], folder[PATH_MAX];
  snprintf(path, sizeof path, "%s", written);
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] == '/') path[--length] = 0;
  char *slash = strrchr(path, '/');
  if (!slash || slash == path) return snprintf(found, PATH_MAX, "%s", path) < PATH_MAX;
  *slash = 0;
  if (realpath(path, folder))
    return snprintf(found, PATH_MAX, "%s/%s", strcmp(folder, "/") ? folder : "", slash + 1) < PATH_MAX;
  *slash = '/';
  // The target of '..' in a directory that does not exist is unknown.
  return !strstr(path, "/..") && snprintf(found, PATH_MAX, "%s", path) < PATH_MAX;
}

static int exists(const char *path) {
  struct stat status;
  return lstat(path, &status) == 0;
}

static int begin_open(
    struct trace_call *call, pid_t process, int directory, uint64_t address, uint64_t flags) {
  if (flags & O_PATH) return 0;
  call->flags = flags;
  call->existed = 1;
  *call->second = 0;
  if ((flags & (O_ACCMODE | O_CREAT | O_TRUNC)) == O_RDONLY &&
      !written_path(process, directory, address, call->second))
    *call->second = 0;
  if (flags & O_CREAT && find_path(process, directory, address, call->first)) {
    struct stat status;
    call->existed = stat(call->first, &status) == 0;
  }
  return 1;
}

static int begin_two(
    struct trace_call *call, pid_t process, int from, uint64_t old, int to, uint64_t new) {
  int found = find_path(process, from, old, call->first) &&
              find_path(process, to, new, call->second);
  call->existed = found && exists(call->second);
  return found;
}

static int begin_one(struct trace_call *call, pid_t process, int directory, uint64_t address) {
  return find_path(process, directory, address, call->first);
}

static int read_link(const char *path, char *found) {
  ssize_t length = readlink(path, found, PATH_MAX - 1);
  if (length > 0) found[length] = 0;
  return length > 0;
}

// Begins a call that only checks whether a file exists, or what its status is. `flags` say whether
// a link is followed.
static int begin_look(
    struct trace_call *call, pid_t process, int directory, uint64_t address, uint64_t flags) {
  call->is_look = 1;
  call->flags = flags;
  return written_path(process, directory, address, call->second);
}

// A file that does not exist may be in a directory that does not exist either.
static int begin_removal(struct trace_call *call, pid_t process, int directory, uint64_t address) {
  return find_path(process, directory, address, call->first) ||
         (written_path(process, directory, address, call->second) &&
          resolve(call->second, call->first));
}

// Begins the execution of a program. If it succeeds, the call has no end of its own.
static int begin_execution(struct trace_call *call, pid_t process, int directory, uint64_t address) {
  if (!begin_look(call, process, directory, address, 0)) *call->second = 0;
  return 1;
}

// The directory that a descriptor is open for, and the program that lists it.
static int begin_listing(struct trace_call *call, pid_t process, int directory) {
  char link[64];
  snprintf(link, sizeof link, "/proc/%d/exe", process);
  if (!read_link(link, call->second)) return 0;
  snprintf(link, sizeof link, "/proc/%d/fd/%d", process, directory);
  return read_link(link, call->first);
}

// The file of a Unix socket. A socket without a file, or another kind of socket, does not matter.
static int begin_socket(struct trace_call *call, pid_t process, uint64_t address, uint64_t size) {
  struct sockaddr_un name = {0};
  size_t start = offsetof(struct sockaddr_un, sun_path);
  char path[PATH_MAX], folder[PATH_MAX], link[64];
  if (size <= start || size > sizeof name) return 0;
  struct iovec here = {&name, size};
  struct iovec there = {(void *)(uintptr_t)address, size};
  if (process_vm_readv(process, &here, 1, &there, 1, 0) != (ssize_t)size) return 0;
  if (name.sun_family != AF_UNIX || !*name.sun_path) return 0;
  int length = (int)(size - start);
  if (*name.sun_path == '/') {
    snprintf(path, sizeof path, "%.*s", length, name.sun_path);
  } else {
    snprintf(link, sizeof link, "/proc/%d/cwd", process);
    if (!realpath(link, folder)) return 0;
    const char *end = strcmp(folder, "/") ? folder : "";
    if (snprintf(path, sizeof path, "%s/%.*s", end, length, name.sun_path) >= PATH_MAX) return 0;
  }
  return resolve(path, call->first);
}

int trace_begin(struct trace_call *call, pid_t process, long number, const uint64_t *a) {
  call->number = number;
  call->flags = 0;
  call->is_look = 0;
  switch (number) {
#ifdef SYS_open
  case SYS_open: return begin_open(call, process, AT_FDCWD, a[0], a[1]);
  case SYS_creat:
    return begin_open(call, process, AT_FDCWD, a[0], O_CREAT | O_WRONLY | O_TRUNC);
  case SYS_rename:
  case SYS_link: return begin_two(call, process, AT_FDCWD, a[0], AT_FDCWD, a[1]);
  case SYS_symlink: return begin_one(call, process, AT_FDCWD, a[1]);
  case SYS_unlink: return begin_removal(call, process, AT_FDCWD, a[0]);
  case SYS_rmdir:
  case SYS_mknod:
  case SYS_mkdir: return begin_one(call, process, AT_FDCWD, a[0]);
  case SYS_getdents: return begin_listing(call, process, (int)a[0]);
  case SYS_stat:
  case SYS_access: return begin_look(call, process, AT_FDCWD, a[0], 0);
  case SYS_readlink:
  case SYS_lstat: return begin_look(call, process, AT_FDCWD, a[0], AT_SYMLINK_NOFOLLOW);
#endif
#ifdef SYS_newfstatat
  case SYS_newfstatat: return begin_look(call, process, (int)a[0], a[1], a[3]);
#endif
#ifdef SYS_faccessat2
  case SYS_faccessat2: return begin_look(call, process, (int)a[0], a[1], a[3]);
#endif
  case SYS_statx: return begin_look(call, process, (int)a[0], a[1], a[2]);
  case SYS_faccessat: return begin_look(call, process, (int)a[0], a[1], 0);
  case SYS_readlinkat:
    return begin_look(call, process, (int)a[0], a[1], AT_SYMLINK_NOFOLLOW);
  case SYS_execve: return begin_execution(call, process, AT_FDCWD, a[0]);
  case SYS_execveat: return begin_execution(call, process, (int)a[0], a[1]);
  case SYS_getdents64: return begin_listing(call, process, (int)a[0]);
  case SYS_mknodat:
  case SYS_mkdirat: return begin_one(call, process, (int)a[0], a[1]);
#ifdef SYS_renameat
  case SYS_renameat:
#endif
  case SYS_renameat2:
    if (number == SYS_renameat2) call->flags = a[4];
    return begin_two(call, process, (int)a[0], a[1], (int)a[2], a[3]);
  case SYS_linkat: return begin_two(call, process, (int)a[0], a[1], (int)a[2], a[3]);
  case SYS_openat: return begin_open(call, process, (int)a[0], a[1], a[2]);
  case SYS_openat2: {
    struct open_how how = {0};
    struct iovec here = {&how, sizeof how.flags};
    struct iovec there = {(void *)(uintptr_t)a[2], sizeof how.flags};
    if (process_vm_readv(process, &here, 1, &there, 1, 0) != sizeof how.flags) return 0;
    return begin_open(call, process, (int)a[0], a[1], how.flags);
  }
  case SYS_symlinkat: return begin_one(call, process, (int)a[1], a[2]);
  case SYS_unlinkat:
    call->flags = a[2];
    return begin_removal(call, process, (int)a[0], a[1]);
  case SYS_bind:
  case SYS_connect: return begin_socket(call, process, a[1], a[2]);
  case SYS_truncate:
    call->flags = a[1] == 0 ? O_TRUNC : 0;
    return begin_one(call, process, AT_FDCWD, a[0]);
  default: return 0;
  }
}

// Notes an opened file. The kernel says which file it is: relative paths, links and '..' need no
// care. The path as the command wrote it is noted, too: a link in it decides what is read.
static void end_open(const struct trace_call *call, pid_t process, long descriptor) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/%d/fd/%ld", process, descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  struct stat status;
  if (length <= 0 || *path != '/' || stat(link, &status)) return;
  // The file has no name (O_TMPFILE), or has lost it meanwhile.
  if (status.st_nlink == 0) return;
  path[length] = 0;
  // The name of the directory is noted in case it is listed.
  if (S_ISDIR(status.st_mode)) return *call->second ? trace_write('o', path, call->second) : (void)0;
  if (!call->existed) trace_write(call->flags & O_EXCL ? 'e' : 'n', path, NULL);
  else if (call->flags & O_TRUNC) trace_write('t', path, NULL);
  else if ((call->flags & O_ACCMODE) == O_RDONLY) trace_write('r', path, call->second);
  // A file that is appended to, or written in the middle, keeps its other content.
  else trace_write('u', path, NULL);
}

static int is_open(long number) {
#ifdef SYS_open
  if (number == SYS_open) return 1;
#endif
  return number == SYS_openat || number == SYS_openat2;
}

static int is_link_read(long number) {
#ifdef SYS_readlink
  if (number == SYS_readlink) return 1;
#endif
  return number == SYS_readlinkat;
}

// Notes a look at a file. Directories are looked at on the way to files; which files are in them is
// another question. If a link is not followed, the link itself was looked at, wherever it leads.
static void end_look(const struct trace_call *call, long result) {
  char path[PATH_MAX], target[PATH_MAX];
  struct stat status;
  int is_link_itself = call->is_look && (call->flags & AT_SYMLINK_NOFOLLOW) != 0;
  if ((result < 0 && result != -ENOENT) || !*call->second || !resolve(call->second, path)) return;
  if (result < 0) return trace_write(is_link_itself ? 'N' : '?', path, call->second);
  int leads_to_folder = !stat(path, &status) && S_ISDIR(status.st_mode);
  if (leads_to_folder) {
    if (!is_link_itself || lstat(path, &status) || !S_ISLNK(status.st_mode)) return;
    if (realpath(path, target)) trace_write('y', path, target);
  }
  trace_write(is_link_read(call->number) ? 'r' : 's', path, call->second);
}

static int is_removal(const struct trace_call *call) {
#ifdef SYS_unlink
  if (call->number == SYS_unlink) return 1;
#endif
  return call->number == SYS_unlinkat && !(call->flags & AT_REMOVEDIR);
}

void trace_end(const struct trace_call *call, pid_t process, long result) {
  if (call->is_look || (is_open(call->number) && result < 0)) return end_look(call, result);
  if (result == -ENOENT && is_removal(call)) return trace_write('D', call->first, NULL);
  if (result < 0) return;
  switch (call->number) {
#ifdef SYS_open
  case SYS_open:
  case SYS_creat:
#endif
  case SYS_openat:
  case SYS_openat2: return end_open(call, process, result);
#ifdef SYS_open
  case SYS_rename:
#endif
#ifdef SYS_renameat
  case SYS_renameat:
#endif
  case SYS_renameat2:
    if (call->flags & RENAME_EXCHANGE) return trace_write('X', call->first, call->second);
    return trace_write(call->existed ? 'M' : 'm', call->first, call->second);
#ifdef SYS_open
  case SYS_link:
#endif
  case SYS_linkat: return trace_write('l', call->first, call->second);
#ifdef SYS_open
  case SYS_symlink:
#endif
  case SYS_symlinkat: return trace_write('e', call->first, NULL);
#ifdef SYS_open
  case SYS_unlink: return trace_write('d', call->first, NULL);
  case SYS_rmdir: return trace_write('K', call->first, NULL);
  case SYS_mkdir:
#endif
  case SYS_mkdirat: return trace_write('k', call->first, NULL);
#ifdef SYS_open
  case SYS_mknod:
#endif
  case SYS_mknodat: return trace_write('e', call->first, NULL);
  case SYS_unlinkat: return trace_write(call->flags & AT_REMOVEDIR ? 'K' : 'd', call->first, NULL);
  case SYS_bind: return trace_write('b', call->first, NULL);
  case SYS_connect: return trace_write('c', call->first, NULL);
  case SYS_truncate: return trace_write(call->flags & O_TRUNC ? 't' : 'u', call->first, NULL);
#ifdef SYS_open
  case SYS_getdents:
#endif
  // After the last names, the kernel returns an empty list.
  case SYS_getdents64:
    if (result > 0) trace_write('L', call->first, call->second);
  }
}

void trace_program(pid_t process, const struct trace_call *call) {
  char link[64], path[PATH_MAX], found[PATH_MAX];
  snprintf(link, sizeof link, "/proc/%d/exe", process);
  if (!read_link(link, path)) return;
  // '/proc/self' leads elsewhere in this process.
  const char *written = call && call->number >= 0 && call->is_look ? call->second : "";
  if (!strncmp(written, "/proc/", 6) || !*written || !realpath(written, found))
    return trace_write('x', path, NULL);
  if (!strcmp(found, path)) return trace_write('x', path, written);
  // The program is a script, which the kernel has read to find its interpreter.
  trace_write('x', path, NULL);
  trace_write('r', found, written);
}
