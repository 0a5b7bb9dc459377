// Runs one command and writes what it and everything it started used.
//
//   measure RESULT OUTPUT COMMAND [ARGUMENT...]
//
// RESULT gets one line: exit status (128 + signal), wall time in ns, user and system time of the
// whole tree in us, the largest resident set of any process of the runner in KB, and how many
// processes the machine started meanwhile. OUTPUT gets the command's standard output and error.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static long long microseconds(struct timeval time) {
  return time.tv_sec * 1000000LL + time.tv_usec;
}

// The kernel's count of process creations since boot.
static long long processes_started(void) {
  FILE *stat = fopen("/proc/stat", "r");
  char line[4096];
  long long count = -1;
  while (stat && fgets(line, sizeof line, stat))
    if (sscanf(line, "processes %lld", &count) == 1) break;
  if (stat) fclose(stat);
  return count;
}

static pid_t start(const char *output, char **command) {
  pid_t child = fork();
  if (child != 0) return child;
  int out = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  int in = open("/dev/null", O_RDONLY);
  if (out < 0 || in < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0) _exit(126);
  execvp(command[0], command);
  perror(command[0]);
  _exit(127);
}

int main(int count, char **arguments) {
  if (count < 4) return fputs("usage: measure RESULT OUTPUT COMMAND [ARGUMENT...]\n", stderr), 2;
  // What the command leaves behind becomes our child, so that its time is counted too.
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  long long processes = processes_started();
  long long begin = nanoseconds();
  pid_t child = start(arguments[2], arguments + 3);
  if (child < 0) return perror("fork"), 1;

  int status = 0;
  struct rusage usage, tree;
  while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {}
  long long wall = nanoseconds() - begin;
  for (int tries = 0; tries < 200; tries++) {
    pid_t left = waitpid(-1, NULL, WNOHANG);
    if (left < 0) break;
    if (left == 0) usleep(5000);
  }
  getrusage(RUSAGE_CHILDREN, &tree);

  FILE *result = fopen(arguments[1], "w");
  if (!result) return perror(arguments[1]), 1;
  fprintf(result, "%d %lld %lld %ld %lld\n",
          WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), wall,
          microseconds(tree.ru_utime) + microseconds(tree.ru_stime), usage.ru_maxrss,
          processes_started() - processes);
  return fclose(result) ? 1 : 0;
}
