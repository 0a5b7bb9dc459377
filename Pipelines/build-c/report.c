// The table of words.
#include <stdio.h>

#include "tally.h"

void report(const entry *entries, size_t count, size_t limit) {
  if (count == 0) return;
  int width = snprintf(NULL, 0, "%zu", entries[0].count);
  for (size_t i = 0; i < count && i < limit; i++) {
    text word = entries[i].word;
    printf("%*zu %.*s\n", width, entries[i].count, (int)word.length, word.bytes);
  }
}
