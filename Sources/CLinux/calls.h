// Calls of the kernel past the C library, for processes that share our memory: its wrappers would set
// our errno. The fifth argument is 0, which prctl(2) insists on.
#ifndef CLINUX_CALLS_H
#define CLINUX_CALLS_H

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define SHARES_MEMORY_WHILE_WE_RUN 1
static long call(long number, long a, long b, long c, long d) {
  long result;
  register long fourth __asm__("r10") = d;
  register long fifth __asm__("r8") = 0;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth)
                   : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
#define SHARES_MEMORY_WHILE_WE_RUN 1
static long call(long number, long a, long b, long c, long d) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = 0;
  __asm__ volatile("svc 0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
                   : "memory");
  return x0;
}
#else
// On other machines we wait (CLONE_VFORK), so that errno belongs to the new process alone.
#define SHARES_MEMORY_WHILE_WE_RUN 0
static long call(long number, long a, long b, long c, long d) {
  long result = syscall(number, a, b, c, d, 0L);
  return result < 0 ? -errno : result;
}
#endif

// Starts a process that shares our memory, and whatever `others` adds, on a stack of its own with
// the end `top`. Returns its id, or -errno. The kernel clears `busy` when the process leaves our
// memory.
static inline pid_t clone_sharing_memory(int (*run)(void *), void *context, char *top,
                                         volatile pid_t *busy, int others) {
  int flags = CLONE_VM | CLONE_CHILD_CLEARTID | SIGCHLD | others;
  if (!SHARES_MEMORY_WHILE_WE_RUN) flags |= CLONE_VFORK;
  *busy = 1;
  pid_t process = clone(run, top, flags, context, NULL, NULL, (pid_t *)busy);
  if (process >= 0) return process;
  *busy = 0;
  return -errno;
}

#endif
