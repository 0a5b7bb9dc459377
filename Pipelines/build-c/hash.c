// FNV-1a, 64 bits.
#include "tally.h"

uint64_t hash_of(text key) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < key.length; i++) {
    hash ^= (unsigned char)key.bytes[i];
    hash *= 1099511628211u;
  }
  return hash;
}
