// A hash table with open addressing; never more than half full.
#include <string.h>

#include "tally.h"

table table_new(arena *memory) {
  table new = {.room = 1024, .memory = memory};
  new.entries = arena_take(memory, new.room * sizeof(entry));
  memset(new.entries, 0, new.room * sizeof(entry));
  return new;
}

static entry *place_of(const table *words, text word, uint64_t hash) {
  for (size_t place = hash & (words->room - 1);; place = (place + 1) & (words->room - 1)) {
    entry *found = &words->entries[place];
    bool isSame = found->hash == hash && found->word.length == word.length &&
                  memcmp(found->word.bytes, word.bytes, word.length) == 0;
    if (found->count == 0 || isSame) return found;
  }
}

static void grow(table *words) {
  table larger = {.room = words->room * 2, .count = words->count, .memory = words->memory};
  larger.entries = arena_take(words->memory, larger.room * sizeof(entry));
  memset(larger.entries, 0, larger.room * sizeof(entry));
  for (size_t i = 0; i < words->room; i++) {
    entry *old = &words->entries[i];
    if (old->count > 0) *place_of(&larger, old->word, old->hash) = *old;
  }
  *words = larger;
}

void table_add(table *words, text word) {
  uint64_t hash = hash_of(word);
  entry *place = place_of(words, word, hash);
  if (place->count++ > 0) return;
  place->word = arena_copy(words->memory, word);
  place->hash = hash;
  if (++words->count * 2 > words->room) grow(words);
}

entry *table_entries(table *words, size_t *count) {
  size_t kept = 0;
  for (size_t i = 0; i < words->room; i++)
    if (words->entries[i].count > 0) words->entries[kept++] = words->entries[i];
  *count = kept;
  return words->entries;
}
