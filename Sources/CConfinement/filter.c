// The system calls that a process which decodes images may make: those for memory, threads, time,
// and descriptors that it already has. All others fail with EPERM.
#define _GNU_SOURCE
#include "filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#endif

static const int allowed[] = {
    // descriptors
    SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_lseek, SYS_fstat,
    SYS_close, SYS_dup, SYS_ftruncate, SYS_recvmsg, SYS_sendmsg, SYS_ppoll,
#ifdef SYS_poll
    SYS_poll,
#endif
    // memory
    SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise, SYS_brk,
    // threads
    SYS_futex, SYS_set_robust_list, SYS_sched_yield, SYS_sched_getaffinity, SYS_gettid, SYS_getpid,
    SYS_exit, SYS_exit_group, SYS_membarrier,
#ifdef SYS_rseq
    SYS_rseq,
#endif
#ifdef SYS_arch_prctl
    SYS_arch_prctl,
#endif
    // signals to itself
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sigaltstack, SYS_restart_syscall,
    // time and limits
    SYS_clock_gettime, SYS_clock_nanosleep, SYS_nanosleep, SYS_gettimeofday, SYS_getrusage,
    SYS_getrlimit, SYS_setrlimit, SYS_getrandom, SYS_sysinfo, SYS_uname,
    SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid,
};

#define LOAD(field) \
  (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ANSWER(value) (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, value)
#define IF_EQUAL(value, yes, no) (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#define IF_SET(bits, yes, no) (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, yes, no)
#define REFUSE ANSWER(SECCOMP_RET_ERRNO | EPERM)
#define ALLOW ANSWER(SECCOMP_RET_ALLOW)

// The low half of an argument: both machines are little-endian.
#define ARGUMENT(n) LOAD(args[n])

unsigned filter_write(struct sock_filter *program, uint32_t process) {
  struct sock_filter *next = program;
#ifdef MACHINE
  *next++ = LOAD(arch);
  *next++ = IF_EQUAL(MACHINE, 1, 0);
  *next++ = ANSWER(SECCOMP_RET_KILL_PROCESS);
  *next++ = LOAD(nr);
#ifdef __x86_64__
  // The x32 calls have other meanings for the same numbers.
  *next++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
  *next++ = ANSWER(SECCOMP_RET_KILL_PROCESS);
#endif
  for (unsigned index = 0; index < sizeof(allowed) / sizeof(*allowed); index++) {
    *next++ = IF_EQUAL((uint32_t)allowed[index], 0, 1);
    *next++ = ALLOW;
  }
  // Allows a new thread, never a new process. The flags of clone3 are in memory, where no filter
  // sees them; on ENOSYS the C library assumes an old kernel and calls clone.
  *next++ = IF_EQUAL(SYS_clone3, 0, 1);
  *next++ = ANSWER(SECCOMP_RET_ERRNO | ENOSYS);
  *next++ = IF_EQUAL(SYS_clone, 0, 4);
  *next++ = ARGUMENT(0);
  *next++ = IF_SET(CLONE_THREAD, 0, 1);
  *next++ = ALLOW;
  *next++ = REFUSE;
  *next++ = IF_EQUAL(SYS_tgkill, 0, 4);
  *next++ = ARGUMENT(0);
  *next++ = IF_EQUAL(process, 0, 1);
  *next++ = ALLOW;
  *next++ = REFUSE;
  *next++ = IF_EQUAL(SYS_prlimit64, 0, 4);
  *next++ = ARGUMENT(0);
  *next++ = IF_EQUAL(0, 0, 1);
  *next++ = ALLOW;
  *next++ = REFUSE;
  *next++ = IF_EQUAL(SYS_prctl, 0, 4);
  *next++ = ARGUMENT(0);
  *next++ = IF_EQUAL(PR_SET_NAME, 0, 1);
  *next++ = ALLOW;
  *next++ = REFUSE;
  // Enough for the C library's heap, and nothing that a descriptor could be turned into.
  *next++ = IF_EQUAL(SYS_fcntl, 0, 7);
  *next++ = ARGUMENT(1);
  *next++ = IF_EQUAL(F_GETFL, 3, 0);
  *next++ = IF_EQUAL(F_GETFD, 2, 0);
  *next++ = IF_EQUAL(F_DUPFD_CLOEXEC, 1, 0);
  *next++ = REFUSE;
  *next++ = ALLOW;
  *next++ = REFUSE;
  // fstat, as newer C libraries call it: no name, only a descriptor. Landlock handles names.
  *next++ = IF_EQUAL(SYS_newfstatat, 0, 4);
  *next++ = ARGUMENT(3);
  *next++ = IF_SET(AT_EMPTY_PATH, 0, 1);
  *next++ = ALLOW;
  *next++ = REFUSE;
  *next++ = REFUSE;
#else
  (void)process;
#endif
  return (unsigned)(next - program);
}
