// Tries what a confined process must not be able to do, and descriptors through sockets.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "CConfinement.h"

static int refusal(long result) { return result < 0 ? errno : 0; }

static int open_by_name(const char *path, int flags) {
  int descriptor = open(path, flags | O_CLOEXEC, 0600);
  if (descriptor < 0) return errno;
  close(descriptor);
  return 0;
}

static int connect_somewhere(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(9)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int socket_descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket_descriptor < 0) return errno;
  int error = refusal(connect(socket_descriptor, (struct sockaddr *)&address, sizeof(address)));
  close(socket_descriptor);
  // The packet was sent even if nothing listens, so that is not a refusal.
  return error == ECONNREFUSED ? 0 : error;
}

static int start_process(void) {
  pid_t child = fork();
  if (child == 0) _exit(0);
  if (child < 0) return errno;
  waitpid(child, NULL, 0);
  return 0;
}

// Runs a program in a separate process if there can be one, because it would not return.
static int run_program(void) {
  char *arguments[] = {"true", NULL}, *environment[] = {NULL};
  pid_t child = fork();
  if (child <= 0) {
    execve("/bin/true", arguments, environment);
    if (child < 0) return errno;
    _exit(errno);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : ECANCELED;
}

static int trace_parent(void) {
  pid_t parent = getppid();
  if (ptrace(PTRACE_SEIZE, parent, NULL, NULL)) return errno;
  // A traced process can be released only after it has stopped.
  if (ptrace(PTRACE_INTERRUPT, parent, NULL, NULL) == 0) waitpid(parent, NULL, __WALL);
  ptrace(PTRACE_DETACH, parent, NULL, NULL);
  return 0;
}

static int map_too_much(void) {
  size_t size = (size_t)8 << 30;
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return errno;
  munmap(memory, size);
  return 0;
}

int confinement_try(enum confinement_attempt attempt) {
  switch (attempt) {
    case confinement_read_file: return open_by_name("/etc/passwd", O_RDONLY);
    case confinement_write_file: return open_by_name("/tmp", O_TMPFILE | O_WRONLY);
    case confinement_list_folder: return open_by_name("/", O_RDONLY | O_DIRECTORY);
    case confinement_connect: return connect_somewhere();
    case confinement_start_process: return start_process();
    case confinement_run_program: return run_program();
    case confinement_signal_parent: return refusal(kill(getppid(), 0));
    case confinement_trace_parent: return trace_parent();
    case confinement_map_too_much: return map_too_much();
    case confinement_attempts: break;
  }
  return ENOSYS;
}
