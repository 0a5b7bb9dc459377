// The most frequent first; equals in the order of the alphabet.
#include <stdlib.h>
#include <string.h>

#include "tally.h"

static int compare(const void *left, const void *right) {
  const entry *a = left, *b = right;
  if (a->count != b->count) return a->count > b->count ? -1 : 1;
  size_t shorter = a->word.length < b->word.length ? a->word.length : b->word.length;
  int order = memcmp(a->word.bytes, b->word.bytes, shorter);
  if (order != 0) return order;
  return (a->word.length > b->word.length) - (a->word.length < b->word.length);
}

void order_by_count(entry *entries, size_t count) {
  qsort(entries, count, sizeof *entries, compare);
}
