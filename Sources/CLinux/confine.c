// Landlock for a command: docs/confined-steps.md. The new process does this while it still shares
// our memory, so that the loop does not wait for it. Only the interface of the kernel is used: the
// headers of the C library may be older.
#define _GNU_SOURCE
#include "confine.h"
#include "calls.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// linux/landlock.h; the numbers of the calls are the same on all machines.
enum { create_ruleset = 444, add_rule = 445, restrict_self = 446 };
enum { version_flag = 1, path_beneath = 1 };

struct __attribute__((packed)) beneath {
  uint64_t access;
  int32_t parent;
};

int clinux_landlock_version(void) {
  long version = call(create_ruleset, 0, 0, version_flag, 0);
  return version < 0 ? 0 : (int)version;
}

static uint64_t mount_id(int folder, const char *path, int flags) {
  struct statx status;
  if (statx(folder, path, flags, STATX_MNT_ID, &status) != 0) return 0;
  return status.stx_mask & STATX_MNT_ID ? status.stx_mnt_id : 0;
}

uint64_t clinux_mount_id(int file) { return mount_id(file, "", AT_EMPTY_PATH); }

uint64_t clinux_mount_id_at(int folder, const char *path) {
  return mount_id(folder, path, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT);
}

// If a path is gone, or we may not reach it, the command cannot reach it either.
static long allow(long ruleset, const struct clinux_rule *rule, int flags) {
  long file = rule->file;
  if (file < 0) file = call(SYS_openat, AT_FDCWD, (long)rule->path, O_PATH | O_CLOEXEC | flags, 0);
  if (file < 0) return file == -EMFILE || file == -ENFILE || file == -ENOMEM ? file : 0;
  struct beneath beneath = {.access = rule->access, .parent = (int32_t)file};
  long result = call(add_rule, ruleset, path_beneath, (long)&beneath, 0);
  if (result == -EINVAL) {
    // A file has no rights of a directory.
    beneath.access &= clinux_access_write_file;
    result = call(add_rule, ruleset, path_beneath, (long)&beneath, 0);
  }
  if (rule->file < 0) call(SYS_close, file, 0, 0, 0);
  // EBADFD: the kernel has no file system there, such as for a socket of its own.
  return result == -EBADFD ? 0 : result;
}

static long allow_all(long ruleset, const struct clinux_rule *rules, size_t count, int flags) {
  for (size_t index = 0; index < count; index++) {
    long result = allow(ruleset, &rules[index], flags);
    if (result < 0) return result;
  }
  return 0;
}

long confine_ourselves(const struct clinux_launch *launch) {
  uint64_t handled = clinux_access_all;
  long ruleset = call(create_ruleset, (long)&handled, sizeof handled, 0, 0);
  if (ruleset < 0) return ruleset;
  // A link beside the workspace may lead into it; a target elsewhere has a rule of its own.
  long result = allow_all(ruleset, launch->outside, launch->outside_count, O_NOFOLLOW);
  if (result == 0) result = allow_all(ruleset, launch->rules, launch->rule_count, 0);
  if (result == 0) {
    result = call(restrict_self, ruleset, 0, 0, 0);
    // Without the privilege, only a process that cannot gain privileges may be confined. With it,
    // programs such as sudo keep working.
    if (result == -EPERM) {
      result = call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0);
      if (result == 0) result = call(restrict_self, ruleset, 0, 0, 0);
    }
  }
  call(SYS_close, ruleset, 0, 0, 0);
  return result;
}
