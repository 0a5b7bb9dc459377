// Output to be kept together, and the proof that it was.
//
//   lines print STEP COUNT LENGTH    COUNT numbered lines of LENGTH bytes
//   lines check FILE LENGTH          counts whole lines, torn lines, and changes from step to step
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int print(int step, long count, int length) {
  char *line = malloc(length + 64);
  if (!line) return 1;
  for (long number = 0; number < count; number++) {
    int start = sprintf(line, "<%d %ld ", step, number);
    memset(line + start, '.', length - start - 1);
    line[length - 1] = '\n';
    if (fwrite(line, 1, length, stdout) != (size_t)length) return 1;
  }
  free(line);
  return fflush(stdout) ? 1 : 0;
}

// A line is whole if it has its length, one mark, and the number after the step's last one.
static int check(FILE *file, size_t length) {
  static long next[1024];
  char *line = NULL;
  size_t room = 0;
  long whole = 0, torn = 0, changes = 0;
  int step, last = -1;
  for (ssize_t size; (size = getline(&line, &room, file)) > 0;) {
    long number;
    if (!memchr(line, '<', size)) continue;
    int isWhole = (size_t)size == length && sscanf(line, "<%d %ld .", &step, &number) == 2 &&
                  step >= 0 && step < 1024 && number == next[step] && !strchr(line + 1, '<');
    if (!isWhole) {
      torn++;
      continue;
    }
    next[step]++;
    whole++;
    changes += step != last;
    last = step;
  }
  printf("%ld %ld %ld\n", whole, torn, changes);
  return 0;
}

int main(int count, char **arguments) {
  if (count == 5 && !strcmp(arguments[1], "print"))
    return print(atoi(arguments[2]), atol(arguments[3]), atoi(arguments[4]));
  FILE *file = count == 4 && !strcmp(arguments[1], "check") ? fopen(arguments[2], "r") : NULL;
  if (file) return check(file, atoi(arguments[3]));
  fputs("usage: lines print STEP COUNT LENGTH | lines check FILE LENGTH\n", stderr);
  return 2;
}
