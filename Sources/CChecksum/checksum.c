// Only the functions that are used here become part of the program.
#define XXH_INLINE_ALL
#include "CChecksum.h"

#include <stdlib.h>
#include <xxhash.h>

struct cchecksum {
  XXH3_state_t state;
};

cchecksum *cchecksum_make(void) {
  cchecksum *checksum = aligned_alloc(_Alignof(cchecksum), sizeof *checksum);
  if (checksum) XXH3_128bits_reset(&checksum->state);
  return checksum;
}

void cchecksum_add(cchecksum *checksum, const void *bytes, size_t count) {
  XXH3_128bits_update(&checksum->state, bytes, count);
}

void cchecksum_get(const cchecksum *checksum, uint64_t words[2]) {
  XXH128_hash_t hash = XXH3_128bits_digest(&checksum->state);
  words[0] = hash.low64;
  words[1] = hash.high64;
}

void cchecksum_free(cchecksum *checksum) { free(checksum); }
