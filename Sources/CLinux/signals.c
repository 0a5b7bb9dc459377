// Handles signals by number, bypassing the C library, which hides two of them.
#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint64_t clinux_ignored_signals(void) {
  uint64_t ignored = 0;
  for (int signal = 1; signal <= 64; signal++) {
    // The kernel's struct sigaction, which is not the C library's, begins with the handler.
    uint64_t action[8] = {0};
    if (syscall(SYS_rt_sigaction, signal, NULL, action, sizeof ignored) == 0 &&
        action[0] == (uint64_t)(uintptr_t)SIG_IGN)
      ignored |= (uint64_t)1 << (signal - 1);
  }
  return ignored;
}

void clinux_block_signals(uint64_t signals) {
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, &signals, NULL, sizeof signals);
}

int clinux_signal_descriptor(uint64_t signals) {
  int descriptor =
      (int)syscall(SYS_signalfd4, -1, &signals, sizeof signals, O_CLOEXEC | O_NONBLOCK);
  return descriptor < 0 ? -errno : descriptor;
}

void clinux_obey(int signal) {
  uint64_t set = (uint64_t)1 << (signal - 1);
  syscall(SYS_kill, syscall(SYS_getpid), signal);
  syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &set, NULL, sizeof set);
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, &set, NULL, sizeof set);
  uint64_t continuing = (uint64_t)1 << (SIGCONT - 1);
  struct timespec none = {0, 0};
  syscall(SYS_rt_sigtimedwait, &continuing, NULL, &none, sizeof continuing);
}
