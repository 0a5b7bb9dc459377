// The first moments of a guardian: a process that shares our memory and waits until the run has
// lasted long enough to justify a separate program, or until we are gone.
//
// A fork would copy our page tables, and every page that either side wrote afterwards. Here nothing
// is copied, and at the end of a short run there is almost nothing to release. As in launch.c, the
// new process makes system calls directly, because it shares our thread-local storage.
#define _GNU_SOURCE
#include "CLinux.h"
#include "calls.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

// Closes every file but two. All are close-on-exec, and before Linux 5.9 they stay open until then;
// but if we are killed, a lock on one of them makes us seem alive.
static void close_all_but(long one, long other) {
  long low = one < other ? one : other, high = one < other ? other : one;
  call(SYS_close_range, 3, low - 1, 0, 0);
  call(SYS_close_range, low + 1, high - 1, 0, 0);
  call(SYS_close_range, high + 1, ~0U, 0, 0);
}

static void set_guarded(int *guarded) {
  __atomic_store_n(guarded, 1, __ATOMIC_RELEASE);
  call(SYS_futex, (long)guarded, FUTEX_WAKE_PRIVATE, INT_MAX, 0);
}

void clinux_set_guarded(int *guarded) { set_guarded(guarded); }

// Closes all files, so that no reader waits for this process; creates a session, so that signals to
// our group or terminal do not reach it; and changes the name, so that `pkill oprun` does not find
// it.
static void become_inconspicuous(struct clinux_guardian *guardian) {
  call(SYS_setsid, 0, 0, 0, 0);
  if (guardian->guarded) set_guarded(guardian->guarded);
  uint64_t all = ~(uint64_t)0;
  call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, 0, sizeof all);
  call(SYS_prctl, PR_SET_NAME, (long)guardian->arguments[0], 0, 0);
  call(SYS_close, guardian->our_end, 0, 0, 0);
  long null = call(SYS_openat, AT_FDCWD, (long)"/dev/null", O_RDWR | O_CLOEXEC, 0);
  for (int stream = 0; stream < 3 && null > 2; stream++) call(SYS_dup3, null, stream, 0, 0);
  call(SYS_chdir, (long)"/", 0, 0, 0);
  call(SYS_fcntl, guardian->lifeline, F_SETFD, 0, 0);
  call(SYS_fcntl, guardian->page, F_SETFD, 0, 0);
  close_all_but(guardian->lifeline, guardian->page);
}

// True if we are gone; false after the time in milliseconds, which is unlimited if negative.
static int await_end(struct clinux_guardian *guardian, long process, long milliseconds) {
  struct pollfd entries[] = {{guardian->lifeline, POLLIN, 0}, {(int)process, POLLIN, 0}};
  struct timespec limit = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  call(SYS_ppoll, (long)entries, 2, milliseconds < 0 ? 0 : (long)&limit, 0);
  return entries[0].revents || entries[1].revents;
}

static int guard(void *context) {
  struct clinux_guardian *guardian = context;
  become_inconspicuous(guardian);
  // Without shared memory our parent waits until the program is loaded, so there is no delay.
  long delay = SHARES_MEMORY_WHILE_WE_RUN ? guardian->delay : 0;
  long process = call(SYS_pidfd_open, guardian->parent, 0, 0, 0);
  await_end(guardian, process, delay);
  call(SYS_execve, (long)guardian->program, (long)guardian->arguments, (long)guardian->environment,
       0);
  // The program cannot be loaded: only the processes that can be ended without it are.
  while (!await_end(guardian, process, -1)) {
  }
  for (int i = 0; i < guardian->group_count; i++)
    if (guardian->groups[i] > 0) call(SYS_kill, -guardian->groups[i], SIGKILL, 0, 0);
  if (guardian->kill_file) {
    long file = call(SYS_openat, AT_FDCWD, (long)guardian->kill_file, O_WRONLY | O_CLOEXEC, 0);
    if (file >= 0) call(SYS_write, file, (long)"1", 1, 0);
  }
  for (;;) call(SYS_exit, 1, 0, 0, 0);
}

pid_t clinux_start_guardian(struct clinux_guardian *guardian, char *stack, size_t size) {
  return clone_sharing_memory(guard, guardian, stack + size, &guardian->busy, 0);
}
