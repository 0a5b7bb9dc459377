// Starts a process without waiting for its program to be loaded.
//
// posix_spawn suspends the caller until the new process has executed its program (CLONE_VFORK),
// some 200 µs during which a runner with free processors starts nothing. Here the new process
// shares our memory (CLONE_VM: no page tables are copied) but runs on its own stack, and we
// continue at once. The kernel clears `busy` when it leaves our memory (CLONE_CHILD_CLEARTID).
//
// The new process also shares our thread-local storage. It must not write there, so it makes system
// calls directly: the C library's wrappers would set our errno.
#define _GNU_SOURCE
#include "CLinux.h"
#include "calls.h"
#include "confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE 2
#endif

#if defined(__x86_64__)
// The new process has its own stack, so it must not return from here.
static long call_clone3(struct clone_args *arguments, int (*function)(void *), void *context) {
  long result;
  // The compiler may have put one of the two into rbp.
  __asm__ volatile("syscall\n\ttest %%rax, %%rax\n\tjnz 1f\n\tmov %[context], %%rdi\n\t"
                   "mov %[function], %%rax\n\txor %%ebp, %%ebp\n\tcall *%%rax\n\tud2\n1:"
                   : "=a"(result)
                   : "a"(SYS_clone3), "D"(arguments), "S"(sizeof *arguments),
                     [function] "r"(function), [context] "r"(context)
                   : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
static long call_clone3(struct clone_args *arguments, int (*function)(void *), void *context) {
  register long x8 __asm__("x8") = SYS_clone3;
  register long x0 __asm__("x0") = (long)arguments;
  register long x1 __asm__("x1") = sizeof *arguments;
  // The compiler may have put one of the two into x29.
  __asm__ volatile("svc 0\n\tcbnz x0, 1f\n\tmov x0, %[context]\n\tmov x1, %[function]\n\t"
                   "mov x29, #0\n\tblr x1\n\tbrk #0\n1:"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), [function] "r"(function), [context] "r"(context)
                   : "memory");
  return x0;
}
#endif

// The kernel's struct sigaction, which is not the C library's.
struct kernel_sigaction {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)(void);
  uint64_t mask;
};

static _Noreturn void fail(struct clinux_launch *launch, int stage, long error) {
  launch->stage = stage;
  launch->error = (int)-error;
  for (;;) call(SYS_exit, 127, 0, 0, 0);
}

static void need(struct clinux_launch *launch, int stage, long result) {
  if (result < 0) fail(launch, stage, result);
}

// Like execvp: a file that is not a program and does not name its interpreter is a script for sh.
static long execute_as_script(struct clinux_launch *launch, const char *file) {
  char **arguments = launch->arguments - 1;
  arguments[0] = (char *)"/bin/sh";
  arguments[1] = (char *)file;
  return call(SYS_execve, (long)arguments[0], (long)arguments, (long)launch->environment, 0);
}

// Like execvp: if a program is missing or forbidden, the next one is tried; EACCES is remembered.
static long execute(struct clinux_launch *launch) {
  long error = -ENOENT;
  for (const char *const *program = launch->programs; *program; program++) {
    long result = call(SYS_execve, (long)*program, (long)launch->arguments,
                       (long)launch->environment, 0);
    if (result == -ENOEXEC) return execute_as_script(launch, *program);
    if (result == -EACCES) error = -EACCES;
    else if (result != -ENOENT && result != -ENOTDIR) return result;
  }
  return error;
}

static long niceness(void) {
  return 20 - call(SYS_getpriority, PRIO_PROCESS, 0, 0, 0);  // the kernel returns 20 - nice
}

// Where processors are divided among sessions (autogroup), the niceness of a process counts only
// within its session, and the session has its own niceness.
static void be_nice(int change) {
  call(SYS_setpriority, PRIO_PROCESS, 0, niceness() + change, 0);
  long nice = niceness();
  long size = nice < 0 ? -nice : nice;
  char text[] = {nice < 0 ? '-' : '+', (char)('0' + size / 10), (char)('0' + size % 10)};
  long file = call(SYS_openat, AT_FDCWD, (long)"/proc/self/autogroup", O_WRONLY | O_CLOEXEC, 0);
  if (file < 0) return;
  call(SYS_write, file, (long)text, sizeof text, 0);
  call(SYS_close, file, 0, 0, 0);
}

// True if close_range(2) exists and is allowed.
static int has_close_range;

// True if the new process shares our descriptors at first, and then copies only those that it
// needs. The command needs few of ours, and closing copies of the others takes a tenth of the time
// that it takes to load a program.
static int shares_descriptors(const struct clinux_launch *launch) {
  return has_close_range && launch->first_needed > 3;
}

static void copy_needed_descriptors(struct clinux_launch *launch) {
  long unshared = call(SYS_close_range, 3, launch->first_needed - 1, CLOSE_RANGE_UNSHARE, 0);
  need(launch, clinux_stage_setup, unshared);
}

static int run(void *context) {
  struct clinux_launch *launch = context;
  if (shares_descriptors(launch)) copy_needed_descriptors(launch);
  // A new session has no controlling terminal: /dev/tty cannot be opened, nothing can be typed into
  // the terminal (TIOCSTI), and no read or write of it stops the command without a message.
  call(SYS_setsid, 0, 0, 0, 0);
  // A signal for our group that came while we were still in it is not meant for the command.
  struct timespec at_once = {0, 0};
  while (call(SYS_rt_sigtimedwait, (long)&launch->stopping_signals, 0, (long)&at_once, 8) > 0) {
  }
  call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0);
  // The parent may have died before the signal was requested.
  if (call(SYS_getppid, 0, 0, 0, 0) != launch->parent) call(SYS_exit, 127, 0, 0, 0);

  for (int signal = 1; signal <= 64; signal++)
    if (launch->default_signals >> (signal - 1) & 1) {
      struct kernel_sigaction action = {SIG_DFL, 0, 0, 0};
      call(SYS_rt_sigaction, signal, (long)&action, 0, 8);
    }
  need(launch, clinux_stage_setup, call(SYS_dup3, launch->input, 0, 0, 0));
  need(launch, clinux_stage_setup, call(SYS_dup3, launch->output, 1, 0, 0));
  need(launch, clinux_stage_setup, call(SYS_dup3, launch->output, 2, 0, 0));
  if (launch->is_terminal) need(launch, clinux_stage_setup, call(SYS_ioctl, 1, TIOCSCTTY, 0, 0));
  if (launch->script == 3) call(SYS_fcntl, 3, F_SETFD, 0, 0);
  else if (launch->script > 3)
    need(launch, clinux_stage_setup, call(SYS_dup3, launch->script, 3, 0, 0));
  for (int index = 0; index < 2; index++)
    if (launch->kept[index] >= 0) call(SYS_fcntl, launch->kept[index], F_SETFD, 0, 0);
  if (launch->nice) be_nice(launch->nice);
  if (launch->directory)
    need(launch, clinux_stage_directory, call(SYS_chdir, (long)launch->directory, 0, 0, 0));
  if (launch->is_confined) need(launch, clinux_stage_confinement, confine_ourselves(launch));
  if (launch->hard_memory_limit) {
    uint64_t limit[2] = {launch->soft_memory_limit, launch->hard_memory_limit};
    call(SYS_prlimit64, 0, RLIMIT_RSS, (long)limit, 0);
  }
  // The limit comes last, because we may have more descriptors open than it allows, and then could
  // open nothing.
  if (launch->hard_descriptor_limit) {
    uint64_t limit[2] = {launch->soft_descriptor_limit, launch->hard_descriptor_limit};
    call(SYS_prlimit64, 0, RLIMIT_NOFILE, (long)limit, 0);
  }

  // The guardian is started before, but may run later. A process that waits here is killed with our
  // parent.
  while (launch->guarded && !__atomic_load_n(launch->guarded, __ATOMIC_ACQUIRE))
    call(SYS_futex, (long)launch->guarded, FUTEX_WAIT_PRIVATE, 0, 0);

  uint64_t none = 0;
  call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&none, 0, sizeof none);
  fail(launch, clinux_stage_execute, execute(launch));
}

#if SHARES_MEMORY_WHILE_WE_RUN
// Only clone3 can start a process in another cgroup; moving it there later takes 10 ms.
static pid_t start_in_cgroup(struct clinux_launch *launch, char *stack, size_t size) {
  struct clone_args arguments = {
      .flags = CLONE_VM | CLONE_CHILD_CLEARTID | CLONE_INTO_CGROUP |
               (shares_descriptors(launch) ? CLONE_FILES : 0),
      .child_tid = (uint64_t)(uintptr_t)&launch->busy,
      .exit_signal = SIGCHLD,
      .stack = (uint64_t)(uintptr_t)stack,
      .stack_size = size,
      .cgroup = (uint64_t)launch->cgroup,
  };
  return (pid_t)call_clone3(&arguments, run, launch);
}
#else
static pid_t start_in_cgroup(struct clinux_launch *launch, char *stack, size_t size) {
  (void)launch, (void)stack, (void)size;
  return -ENOSYS;
}
#endif

pid_t clinux_launch(struct clinux_launch *launch, char *stack, size_t size) {
  launch->error = 0;
  launch->busy = 1;
  if (launch->cgroup >= 0) {
    pid_t process = start_in_cgroup(launch, stack, size);
    if (process > 0) return process;
    launch->cgroup = -1;
  }
  int others = shares_descriptors(launch) ? CLONE_FILES : 0;
  return clone_sharing_memory(run, launch, stack + size, &launch->busy, others);
}

pid_t clinux_fork(void) { return fork(); }

int clinux_open_process(pid_t process) {
  return (int)syscall(434, process, 0);  // SYS_pidfd_open, the same number everywhere
}

char **clinux_environment(void) { return environ; }

ssize_t clinux_splice(int from, int to, int64_t *to_offset, size_t count) {
  ssize_t moved;
  do moved = splice(from, NULL, to, to_offset, count, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
  while (moved < 0 && errno == EINTR);
  return moved < 0 ? -errno : moved;
}

void clinux_set_pipe_size(int pipe, int size) { fcntl(pipe, F_SETPIPE_SZ, size); }

void clinux_close_on_exec_from(int first) {
  // CLOSE_RANGE_CLOEXEC came with Linux 5.11.
  has_close_range = syscall(SYS_close_range, first, ~0U, 1U << 2) == 0;
  if (has_close_range) return;
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  for (rlim_t fd = (rlim_t)first; fd < limit.rlim_cur && fd < 65536; fd++)
    fcntl((int)fd, F_SETFD, FD_CLOEXEC);
}

void clinux_close_all_but(const int *kept, size_t count) {
  int first = 3;
  for (size_t index = 0; index <= count; index++) {
    if (index < count && kept[index] < first) continue;
    unsigned last = index == count ? ~0U : (unsigned)kept[index] - 1;
    // This needs Linux 5.9; before that, as many as a program usually has are closed.
    if (last >= (unsigned)first && syscall(SYS_close_range, first, last, 0) != 0)
      for (int fd = first; (unsigned)fd <= last && fd < 4096; fd++) close(fd);
    if (index < count) first = kept[index] + 1;
  }
}

int clinux_memory_file(const char *name) {
  int fd = (int)syscall(SYS_memfd_create, name, 1U);  // MFD_CLOEXEC
  // Where vm.memfd_noexec is 2, a file must be sealed against execution: MFD_NOEXEC_SEAL.
  if (fd < 0 && errno == EACCES) fd = (int)syscall(SYS_memfd_create, name, 9U);
  return fd < 0 ? -errno : fd;
}
