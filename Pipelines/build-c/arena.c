// Memory in large blocks, given back all at once.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tally.h"

enum { BLOCK = 64 * 1024 };

typedef struct block {
  struct block *before;
  size_t used, room;
  max_align_t bytes[];
} block;

struct arena {
  block *last;
};

arena *arena_new(void) {
  arena *memory = calloc(1, sizeof *memory);
  if (!memory) fail("memory", strerror(errno));
  return memory;
}

void *arena_take(arena *memory, size_t bytes) {
  bytes = (bytes + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
  if (!memory->last || memory->last->room - memory->last->used < bytes) {
    size_t room = bytes > BLOCK ? bytes : BLOCK;
    block *more = malloc(sizeof *more + room);
    if (!more) fail("memory", strerror(errno));
    *more = (block){.before = memory->last, .room = room};
    memory->last = more;
  }
  void *taken = (char *)memory->last->bytes + memory->last->used;
  memory->last->used += bytes;
  return taken;
}

text arena_copy(arena *memory, text original) {
  char *bytes = arena_take(memory, original.length);
  memcpy(bytes, original.bytes, original.length);
  return (text){bytes, original.length};
}

void arena_free(arena *memory) {
  while (memory->last) {
    block *last = memory->last;
    memory->last = last->before;
    free(last);
  }
  free(memory);
}
