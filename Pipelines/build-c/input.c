// Whole files, or standard input for "-".
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tally.h"

text read_all(const char *path, arena *memory) {
  FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
  if (!file) fail(path, strerror(errno));
  size_t length = 0, room = 16 * 1024;
  char *bytes = arena_take(memory, room);
  for (size_t got; (got = fread(bytes + length, 1, room - length, file)) > 0;) {
    length += got;
    if (length < room) continue;
    char *more = arena_take(memory, room * 2);
    memcpy(more, bytes, length);
    bytes = more;
    room *= 2;
  }
  if (ferror(file)) fail(path, strerror(errno));
  if (file != stdin) fclose(file);
  return (text){bytes, length};
}
