// Runs a command as if the clock of the machine had been set: clock FILE COMMAND [ARGUMENT...]. The file holds the
// seconds to add; it is read whenever the command looks at the time of day. Only its first process is deceived.
#define _GNU_SOURCE
#include <elf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pid_t child;

static long word(unsigned long place) { return ptrace(PTRACE_PEEKDATA, child, place, 0); }

// Takes away the functions of the kernel that tell the time without a system call. They are found through what lies
// behind the arguments and the environment.
static void hide_clock(unsigned long place) {
  place += (word(place) + 2) * sizeof(long);
  while (word(place) != 0) place += sizeof(long);
  for (place += sizeof(long); word(place) != AT_NULL; place += 2 * sizeof(long))
    if (word(place) == AT_SYSINFO_EHDR) ptrace(PTRACE_POKEDATA, child, place, AT_IGNORE);
}

static long jump(const char *path) {
  long seconds = 0;
  FILE *file = fopen(path, "r");
  if (file && fscanf(file, "%ld", &seconds) != 1) seconds = 0;
  if (file) fclose(file);
  return seconds;
}

int main(int count, char **arguments) {
  if (count < 3) return 2;
  child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    execvp(arguments[2], arguments + 2);
    _exit(127);
  }
  int status, signal = 0;
  unsigned long result = 0;
  if (waitpid(child, &status, 0) < 0 || !WIFSTOPPED(status)) return 1;
  ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  struct __ptrace_syscall_info call;
  ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof call, &call);
  hide_clock(call.stack_pointer);
  for (;;) {
    ptrace(PTRACE_SYSCALL, child, 0, signal);
    signal = 0;
    if (waitpid(child, &status, 0) < 0 || !WIFSTOPPED(status)) break;
    if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
      signal = WSTOPSIG(status);
      continue;
    }
    ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof call, &call);
    if (call.op == PTRACE_SYSCALL_INFO_ENTRY) {
      int is_clock = call.entry.nr == SYS_clock_gettime &&
                     (call.entry.args[0] == CLOCK_REALTIME || call.entry.args[0] == CLOCK_REALTIME_COARSE);
      result = is_clock || call.entry.nr == SYS_gettimeofday ? call.entry.args[is_clock] : 0;
    } else if (result != 0) {
      ptrace(PTRACE_POKEDATA, child, result, word(result) + jump(arguments[1]));
      result = 0;
    }
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
