// Limits, Landlock, seccomp and capabilities; see docs/confinement.md. Only the system call
// interface is used: the headers of the C library may be older than the kernel.
#define _GNU_SOURCE
#include "CConfinement.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "filter.h"

// linux/landlock.h; rights are only ever added.
struct landlock_rules {
  uint64_t files, network, scopes;
};

static int landlock_version(void) {
  long version = syscall(444, NULL, 0, 1);
  return version < 0 ? 0 : (int)version;
}

int confinement_landlock_version(void) { return landlock_version(); }

static int forbid_files(void) {
  int version = landlock_version();
  if (version < 1) return 0;
  struct landlock_rules rules = {.files = (1 << 13) - 1};
  size_t size = sizeof(uint64_t);
  if (version >= 2) rules.files |= 1 << 13;
  if (version >= 3) rules.files |= 1 << 14;
  if (version >= 5) rules.files |= 1 << 15;
  if (version >= 4) {
    rules.network = 3;
    size = 2 * sizeof(uint64_t);
  }
  if (version >= 6) {
    rules.scopes = 3;
    size = sizeof(rules);
  }
  int ruleset = (int)syscall(444, &rules, size, 0);
  if (ruleset < 0) return 0;
  int refused = (int)syscall(446, ruleset, 0);
  close(ruleset);
  return refused ? 0 : confinement_files;
}

static int forbid_calls(void) {
  struct sock_filter program[FILTER_CAPACITY];
  struct sock_fprog filter = {.filter = program};
  filter.len = (unsigned short)filter_write(program, (uint32_t)getpid());
  if (filter.len == 0) return 0;
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) ? 0 : confinement_calls;
}

static int forbid_capabilities(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct none[2] = {{0}};
  return syscall(SYS_capset, &header, none) ? 0 : confinement_capabilities;
}

static void limit(__rlimit_resource_t what, uint64_t most) {
  struct rlimit now;
  getrlimit(what, &now);
  if (now.rlim_max < most) most = now.rlim_max;
  struct rlimit limit = {.rlim_cur = most, .rlim_max = most};
  setrlimit(what, &limit);
}

int confinement_enter(uint64_t address_space) {
  limit(RLIMIT_AS, address_space);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_NOFILE, 512);
  limit(RLIMIT_FSIZE, (uint64_t)4 << 30);
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  // Without this, Landlock and seccomp refuse callers without the privilege.
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  int layers = forbid_files();
  layers |= forbid_capabilities();
  return layers | forbid_calls();
}

int confinement_limit_cpu(unsigned seconds) {
  struct rusage used;
  struct rlimit now;
  if (getrusage(RUSAGE_SELF, &used) || getrlimit(RLIMIT_CPU, &now)) return -errno;
  // The kernel counts whole seconds of user and system time in total.
  rlim_t spent = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1);
  now.rlim_cur = spent + seconds;
  if (now.rlim_cur > now.rlim_max) now.rlim_cur = now.rlim_max;
  return setrlimit(RLIMIT_CPU, &now) ? -errno : 0;
}

void confinement_die_with_parent(void) { prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); }
