// tally [-n COUNT] [-l] [FILE...]: the most frequent words, or with -l how long the words are.
#include "tally.h"

int main(int count, char **arguments) {
  options chosen = options_parse(count, arguments);
  arena *memory = arena_new();
  table words = table_new(memory);
  for (int i = 0; i < chosen.file_count; i++) {
    text rest = read_all(chosen.files[i], memory), word;
    char buffer[256];
    while (next_word(&rest, buffer, sizeof buffer, &word)) table_add(&words, word);
  }
  size_t entry_count;
  entry *entries = table_entries(&words, &entry_count);
  order_by_count(entries, entry_count);
  if (chosen.by_length) histogram(entries, entry_count);
  else report(entries, entry_count, chosen.limit);
  arena_free(memory);
}
