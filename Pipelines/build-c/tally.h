// tally counts the words of texts: what the parts know of each other.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A piece of text that somebody else owns.
typedef struct {
  const char *bytes;
  size_t length;
} text;

typedef struct {
  text word;
  uint64_t hash;
  size_t count;
} entry;

// Memory that is given back all at once.
typedef struct arena arena;
arena *arena_new(void);
void *arena_take(arena *, size_t bytes);
text arena_copy(arena *, text);
void arena_free(arena *);

// Words and how often each was seen.
typedef struct {
  entry *entries;
  size_t count, room;
  arena *memory;
} table;
table table_new(arena *);
void table_add(table *, text word);
// All entries without gaps; the table cannot be added to afterwards.
entry *table_entries(table *, size_t *count);

typedef struct {
  size_t limit;
  bool by_length;
  char **files;
  int file_count;
} options;
options options_parse(int count, char **arguments);

uint64_t hash_of(text);
uint32_t utf8_next(text *rest);
size_t utf8_write(uint32_t point, char bytes[4]);
bool is_letter(uint32_t point);
uint32_t lowercase(uint32_t point);
// The next word of the rest, in lower case, in the buffer; false at the end.
bool next_word(text *rest, char *buffer, size_t room, text *word);
text read_all(const char *path, arena *);
void order_by_count(entry *, size_t count);
void report(const entry *, size_t count, size_t limit);
void histogram(const entry *, size_t count);
_Noreturn void fail(const char *what, const char *why);
