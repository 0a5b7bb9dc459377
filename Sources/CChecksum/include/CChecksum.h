// XXH3 with 128 bits, of libxxhash: about as fast as memory can be read.
#ifndef CCHECKSUM_H
#define CCHECKSUM_H

#include <stddef.h>
#include <stdint.h>

typedef struct cchecksum cchecksum;

/// Begins a checksum; NULL if there is no memory.
cchecksum *cchecksum_make(void);

void cchecksum_add(cchecksum *checksum, const void *bytes, size_t count);

/// Writes the checksum of all bytes so far.
void cchecksum_get(const cchecksum *checksum, uint64_t words[2]);

void cchecksum_free(cchecksum *checksum);

#endif
