// The floor: the least that a program can do which runs a graph of commands.
//
//   floor WIDTH GRAPH            each command through /bin/sh
//   floor -d WIDTH GRAPH         commands are split at spaces and executed directly
//   floor -r WIDTH GRAPH         of the ready commands, the one with the highest rank first
//   floor -g WIDTH GRAPH         output is gathered in memory and written when a command ends
//   floor -s WIDTH GRAPH         each command gets a session of its own, as oprun gives it
//   floor -l WIDTH GRAPH         like -g, and the output of each command is also kept in a file
//                                of the folder logs, as oprun keeps it
//
// A line of GRAPH is `RANK<tab>DEPENDENCY ...<tab>COMMAND`; dependencies are numbers of earlier
// lines, from 0. Ends with 1 if a command failed.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct step {
  double rank;
  int unmet, follower_count, follower_room;
  int *followers;
  char **words;
  pid_t process;
  int pipe;
  char *output;
  size_t length, room;
};

static struct step *steps;
static int step_count;
static int *ready, ready_count;
static int direct, ranked, grouped, in_sessions, logged;

static void fail(const char *what) {
  perror(what);
  exit(2);
}

static void *grown(void *memory, size_t bytes) {
  void *more = realloc(memory, bytes);
  if (!more) fail("realloc");
  return more;
}

// A binary heap: by rank if asked for, then in the order of the file.
static int precedes(int a, int b) {
  if (ranked && steps[a].rank != steps[b].rank) return steps[a].rank > steps[b].rank;
  return a < b;
}

static void push(int step) {
  int place = ready_count++;
  for (; place > 0 && precedes(step, ready[(place - 1) / 2]); place = (place - 1) / 2)
    ready[place] = ready[(place - 1) / 2];
  ready[place] = step;
}

static int pop(void) {
  int first = ready[0], last = ready[--ready_count], place = 0, child;
  while ((child = 2 * place + 1) < ready_count) {
    if (child + 1 < ready_count && precedes(ready[child + 1], ready[child])) child++;
    if (!precedes(ready[child], last)) break;
    ready[place] = ready[child];
    place = child;
  }
  ready[place] = last;
  return first;
}

static char **split(char *command) {
  static char *shell[] = {"/bin/sh", "-c"};
  int count = 0;
  char **words = grown(NULL, 4 * sizeof *words);
  if (!direct) {
    words[0] = shell[0], words[1] = shell[1], words[2] = command, words[3] = NULL;
    return words;
  }
  for (char *word = strtok(command, " "); word; word = strtok(NULL, " ")) {
    words = grown(words, (count + 2) * sizeof *words);
    words[count++] = word;
  }
  words[count] = NULL;
  return words;
}

static char *contents(const char *path) {
  int file = open(path, O_RDONLY);
  off_t size = file < 0 ? -1 : lseek(file, 0, SEEK_END);
  if (size < 0) fail(path);
  char *text = grown(NULL, size + 1);
  if (pread(file, text, size, 0) != size) fail(path);
  close(file);
  text[size] = 0;
  return text;
}

static void add_dependency(int dependency) {
  struct step *before = &steps[dependency];
  if (before->follower_count == before->follower_room) {
    before->follower_room = before->follower_room * 2 + 2;
    before->followers =
        grown(before->followers, before->follower_room * sizeof *before->followers);
  }
  before->followers[before->follower_count++] = step_count;
  steps[step_count].unmet++;
}

static void load(const char *path) {
  char *text = contents(path);
  int lines = 0;
  for (char *c = text; *c; c++) lines += *c == '\n';
  steps = calloc(lines + 1, sizeof *steps);
  ready = calloc(lines + 1, sizeof *ready);
  if (!steps || !ready) fail("calloc");
  for (char *end; *text; text = end + 1, step_count++) {
    end = strchr(text, '\n');
    *end = 0;
    steps[step_count].rank = strtod(text, &text);
    for (text++; *text != '\t'; text += *text == ' ')
      add_dependency((int)strtol(text, &text, 10));
    steps[step_count].words = split(text + 1);
    if (!steps[step_count].unmet) push(step_count);
  }
}

static void start(struct step *step) {
  posix_spawn_file_actions_t actions;
  int ends[2];
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  if (in_sessions) posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  if (grouped) {
    if (pipe2(ends, O_CLOEXEC)) fail("pipe2");
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  }
  errno = posix_spawn(&step->process, step->words[0], &actions, &attributes, step->words,
                      environ);
  if (errno) fail(step->words[0]);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (grouped) close(ends[1]), step->pipe = ends[0];
}

static void write_all(int file, const char *bytes, size_t count) {
  while (count > 0) {
    ssize_t written = write(file, bytes, count);
    if (written < 0) fail("write");
    bytes += written, count -= written;
  }
}

static void keep_log(const struct step *step) {
  char path[32];
  snprintf(path, sizeof path, "logs/%d", (int)(step - steps));
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) fail(path);
  write_all(file, step->output, step->length);
  close(file);
}

// True when the step's pipe has come to its end.
static int gather(struct step *step) {
  if (step->room - step->length < 65536) {
    step->room = step->room * 2 + 131072;
    step->output = grown(step->output, step->room);
  }
  ssize_t count = read(step->pipe, step->output + step->length, step->room - step->length);
  if (count < 0) fail("read");
  step->length += count;
  return count == 0;
}

// Waits until one of the running steps has ended; its place among them.
static int next_end(int *running, int count, int *status) {
  if (!grouped) {
    pid_t process = wait(status);
    for (int i = 0; i < count; i++)
      if (steps[running[i]].process == process) return i;
    fail("wait");
  }
  struct pollfd pipes[count];
  for (;;) {
    for (int i = 0; i < count; i++)
      pipes[i] = (struct pollfd){.fd = steps[running[i]].pipe, .events = POLLIN};
    if (poll(pipes, count, -1) < 0) fail("poll");
    for (int i = 0; i < count; i++) {
      struct step *step = &steps[running[i]];
      if (!pipes[i].revents || !gather(step)) continue;
      close(step->pipe);
      waitpid(step->process, status, 0);
      write_all(1, step->output, step->length);
      if (logged) keep_log(step);
      free(step->output);
      return i;
    }
  }
}

static int run(int width) {
  int *running = calloc(width, sizeof *running), count = 0, failures = 0;
  while (ready_count > 0 || count > 0) {
    while (count < width && ready_count > 0) start(&steps[running[count++] = pop()]);
    int status, place = next_end(running, count, &status);
    struct step *step = &steps[running[place]];
    running[place] = running[--count];
    failures += status != 0;
    for (int i = 0; i < step->follower_count; i++)
      if (--steps[step->followers[i]].unmet == 0) push(step->followers[i]);
  }
  return failures > 0;
}

int main(int count, char **arguments) {
  for (int option; (option = getopt(count, arguments, "drgsl")) != -1;) {
    if (option == 'd') direct = 1;
    else if (option == 'r') ranked = 1;
    else if (option == 'g') grouped = 1;
    else if (option == 's') in_sessions = 1;
    else if (option == 'l') grouped = logged = 1;
    else return 2;
  }
  if (count - optind != 2) return fputs("usage: floor [-drgsl] WIDTH GRAPH\n", stderr), 2;
  if (logged && mkdir("logs", 0700) && errno != EEXIST) fail("logs");
  load(arguments[optind + 1]);
  return run(atoi(arguments[optind]));
}
