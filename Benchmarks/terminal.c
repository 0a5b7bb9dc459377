// Runs one command in a terminal of 120 columns and 40 rows, and takes all that it writes there.
//
//   terminal COMMAND [ARGUMENT...]
//
// Ends with the command's exit status (128 + signal).
#include <errno.h>
#include <pty.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **arguments) {
  if (count < 2) return fputs("usage: terminal COMMAND [ARGUMENT...]\n", stderr), 2;
  struct winsize size = {.ws_row = 40, .ws_col = 120};
  int terminal;
  pid_t child = forkpty(&terminal, NULL, NULL, &size);
  if (child < 0) return perror("forkpty"), 1;
  if (child == 0) {
    execvp(arguments[1], arguments + 1);
    perror(arguments[1]);
    _exit(127);
  }
  static char taken[1 << 16];
  for (;;) {
    ssize_t length = read(terminal, taken, sizeof taken);
    if (length > 0 || (length < 0 && errno == EINTR)) continue;
    break;  // EIO: nothing has the terminal open any more
  }
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return perror("waitpid"), 1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
