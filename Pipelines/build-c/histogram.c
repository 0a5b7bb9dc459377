// How long the words are, in letters.
#include <stdio.h>

#include "tally.h"

enum { LONGEST = 24, BAR = 40 };

static size_t letters_in(text word) {
  size_t letters = 0;
  while (word.length > 0) {
    utf8_next(&word);
    letters++;
  }
  return letters < LONGEST ? letters : LONGEST;
}

void histogram(const entry *entries, size_t count) {
  size_t lengths[LONGEST + 1] = {0}, most = 1;
  for (size_t i = 0; i < count; i++) lengths[letters_in(entries[i].word)] += entries[i].count;
  for (size_t i = 1; i <= LONGEST; i++) most = lengths[i] > most ? lengths[i] : most;
  for (size_t i = 1; i <= LONGEST; i++) {
    if (lengths[i] == 0) continue;
    printf("%2zu %5zu ", i, lengths[i]);
    for (size_t bar = 0; bar < (lengths[i] * BAR + most - 1) / most; bar++) putchar('#');
    putchar('\n');
  }
}
