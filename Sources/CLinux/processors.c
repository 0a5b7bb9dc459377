// Counts the processors that the calling thread is bound to. The C library's interface needs GNU
// macros and an estimate of how many processors the kernel was built for.
#include "CLinux.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int clinux_bound_processor_count(void) {
  for (size_t words = 16; words <= 4096; words *= 4) {
    unsigned long *mask = calloc(words, sizeof *mask);
    if (!mask) return 0;
    long size = syscall(SYS_sched_getaffinity, 0, words * sizeof *mask, mask);
    int count = 0;
    for (long i = 0; i < size / (long)sizeof *mask; i++) count += __builtin_popcountl(mask[i]);
    free(mask);
    if (size >= 0) return count;
    // The mask is too small for this kernel.
    if (errno != EINVAL) return 0;
  }
  return 0;
}
