// Watches which files a command and all that it starts open, through ptrace and a seccomp filter that
// stops them only at the calls that matter. docs/design-execution.md, “Watching a command”.
#define _GNU_SOURCE
#include "trace.h"
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int report = -1;
// True if a record could not be written: nothing is written after such a gap, and the last record
// is missing.
static int has_failed;
enum { room = 1 << 16 };
// Records that are not written yet; allocated when needed, because a run without a trace asks for
// the pages of all variables.
static char *pending;
static size_t pending_count;

static void flush(void) {
  size_t done = 0;
  while (done < pending_count && !has_failed) {
    ssize_t count = write(report, pending + done, pending_count - done);
    if (count < 0 && errno != EINTR) has_failed = 1;
    if (count > 0) done += (size_t)count;
  }
  pending_count = 0;
}

static void append(const char *text) {
  size_t size = strlen(text) + 1;
  if (!pending && !(pending = malloc(room))) abort();
  if (pending_count + size > room) flush();
  memcpy(pending + pending_count, text, size);
  pending_count += size;
}

void trace_write(char kind, const char *first, const char *second) {
  char letter[2] = {kind, 0};
  append(letter);
  append(first);
  append(second ? second : "");
}

// A thread of the command, with its call that is going on, if there is one.
struct thread {
  pid_t id;
  struct trace_call *call;
  struct thread *next;
};

enum { bucket_count = 1024 };
static struct thread *threads[bucket_count];

static struct thread *find(pid_t id) {
  struct thread **place = &threads[(unsigned)id % bucket_count];
  while (*place && (*place)->id != id) place = &(*place)->next;
  if (!*place) {
    *place = calloc(1, sizeof **place);
    if (!*place) abort();
    (*place)->id = id;
  }
  return *place;
}

static void forget(pid_t id) {
  struct thread **place = &threads[(unsigned)id % bucket_count];
  while (*place && (*place)->id != id) place = &(*place)->next;
  if (!*place) return;
  struct thread *gone = *place;
  *place = gone->next;
  free(gone->call);
  free(gone);
}

static void resume(pid_t id, enum __ptrace_request request, int signal) {
  // The thread may have been killed meanwhile.
  ptrace(request, id, NULL, (void *)(uintptr_t)signal);
}

static void begin_call(pid_t id) {
  struct __ptrace_syscall_info info;
  struct thread *thread = find(id);
  if (ptrace(PTRACE_GET_SYSCALL_INFO, id, sizeof info, &info) <= 0 ||
      info.op != PTRACE_SYSCALL_INFO_SECCOMP)
    return resume(id, PTRACE_CONT, 0);
  if (!thread->call) thread->call = malloc(sizeof *thread->call);
  if (!thread->call) abort();
  uint64_t arguments[6];
  for (int index = 0; index < 6; index++) arguments[index] = info.seccomp.args[index];
  int matters = trace_begin(thread->call, id, (long)info.seccomp.nr, arguments);
  if (!matters) thread->call->number = -1;
  resume(id, matters ? PTRACE_SYSCALL : PTRACE_CONT, 0);
}

static void end_call(pid_t id) {
  struct __ptrace_syscall_info info;
  struct thread *thread = find(id);
  if (ptrace(PTRACE_GET_SYSCALL_INFO, id, sizeof info, &info) > 0 &&
      info.op == PTRACE_SYSCALL_INFO_EXIT) {
    if (thread->call && thread->call->number >= 0)
      trace_end(thread->call, id, (long)info.exit.rval);
    if (thread->call) thread->call->number = -1;
  } else if (thread->call && thread->call->number >= 0) {
    return resume(id, PTRACE_SYSCALL, 0);
  }
  resume(id, PTRACE_CONT, 0);
}

// Notes an executed program. The process now has the id of its first thread; the call is that of
// the thread that executed the program.
static void note_program(pid_t id) {
  unsigned long former = 0;
  if (ptrace(PTRACE_GETEVENTMSG, id, NULL, &former)) former = (unsigned long)id;
  trace_program(id, find((pid_t)former)->call);
  if (find(id)->call) find(id)->call->number = -1;
  if ((pid_t)former != id) forget((pid_t)former);
  resume(id, PTRACE_CONT, 0);
}

static void handle_stop(pid_t id, int status) {
  int signal = WSTOPSIG(status), event = status >> 16;
  int is_in_call = find(id)->call && find(id)->call->number >= 0;
  switch (event) {
  case PTRACE_EVENT_SECCOMP: return begin_call(id);
  case PTRACE_EVENT_EXEC: return note_program(id);
  case PTRACE_EVENT_STOP:
    // A stop of the whole process, by SIGSTOP or the terminal, lasts until SIGCONT.
    if (signal != SIGTRAP) return resume(id, PTRACE_LISTEN, 0);
    return resume(id, is_in_call ? PTRACE_SYSCALL : PTRACE_CONT, 0);
  case 0: break;
  default: return resume(id, is_in_call ? PTRACE_SYSCALL : PTRACE_CONT, 0);
  }
  if (signal == (SIGTRAP | 0x80)) return end_call(id);
  resume(id, is_in_call ? PTRACE_SYSCALL : PTRACE_CONT, signal);
}

static void note_directory(void) {
  char path[PATH_MAX];
  if (getcwd(path, sizeof path)) trace_write('w', path, NULL);
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

// Watches the command and returns how it ended. Processes that it leaves behind have 2 s to end:
// without a tracer, their calls would fail. They are noted if they do not end as soon as in a run,
// where they may only finish what they were doing.
static int watch(pid_t command) {
  int result = 0;
  int64_t last = 0, due = 0;
  for (;;) {
    int status;
    pid_t id = waitpid(-1, &status, __WALL | (last ? WNOHANG : 0));
    if (id < 0 && errno == EINTR) continue;
    if (id < 0) return result;
    if (due && now() >= due) {
      trace_write('B', "", NULL);
      due = 0;
    }
    if (id == 0) {
      if (now() >= last) return result;
      usleep(5000);
    } else if (WIFSTOPPED(status)) {
      handle_stop(id, status);
    } else {
      forget(id);
      if (id != command) continue;
      result = status;
      last = now() + 2000;
      due = now() + 100;
    }
  }
}

static _Noreturn void become(char *const *words, int start) {
  char byte;
  if (read(start, &byte, 1) != 1) _exit(126);
  close(start);
  struct sock_filter program[64];
  struct sock_fprog filter = {.filter = program};
  filter.len = (unsigned short)trace_filter(program, 64);
  // Only with the privilege may a process with a filter gain privileges later.
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter)) {
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter)) _exit(126);
  }
  execvp(words[0], words);
  int error = errno;
  const char *message = error == ENOENT ? ": command not found\n" : ": cannot be executed\n";
  if (write(2, words[0], strlen(words[0])) >= 0 && write(2, message, strlen(message)) >= 0) {
  }
  _exit(error == ENOENT ? 127 : 126);
}

// All signals are meant for the command: the end of the tracer would be that of the command, too.
static void block_signals(void) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
}

int clinux_trace(const char *path, char *const *words) {
  int start[2];
  report = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (report < 0 || pipe2(start, O_CLOEXEC)) return -errno;
  pid_t command = fork();
  if (command < 0) return -errno;
  if (command == 0) {
    close(start[1]);
    become(words, start[0]);
  }
  block_signals();
  close(start[0]);
  long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                 PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL;
  if (ptrace(PTRACE_SEIZE, command, NULL, (void *)options)) {
    int error = errno;
    close(start[1]);
    waitpid(command, NULL, 0);
    return -error;
  }
  if (write(start[1], "", 1) != 1) return -errno;
  close(start[1]);
  note_directory();
  // If we are killed, the report shows at least that the command began.
  flush();
  int status = watch(command);
  trace_write('E', "", NULL);
  flush();
  close(report);
  return status;
}
