// Memory that every run needs. A page that the kernel provides when it is touched costs some microseconds in a virtual
// machine, ten times as much as one of many that are asked for together.
#include "CLinux.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

// The linker defines them: where the variables begin that are zero at first, and where they end. What the Swift runtime
// needs only to print a backtrace has a section of its own behind the other variables.
extern char __bss_start[], _end[];
extern char __start_swift5_backtrace[] __attribute__((weak));

enum { page_size = 4096, most = 128 * page_size };

// A kernel before 5.14 refuses it, and nothing is lost.
static void populate(uintptr_t start, uintptr_t end) {
  start &= ~(uintptr_t)(page_size - 1);
  end = (end + page_size - 1) & ~(uintptr_t)(page_size - 1);
  if (end <= start) return;
  uintptr_t size = end - start;
  madvise((void *)start, size < most ? size : most, MADV_POPULATE_WRITE);
}

void clinux_touch_memory(void) {
  char *end_of_variables = __start_swift5_backtrace ? __start_swift5_backtrace : _end;
  populate((uintptr_t)__bss_start, (uintptr_t)end_of_variables);
  // The C library's heap begins somewhere after the variables; what it has of it already will be used.
  uintptr_t end = (uintptr_t)sbrk(0), size = 24 * page_size;
  if (end > size) populate(end - size, end);
  // Small pieces have a region of their own (memory.c), in which they follow each other.
  void *volatile piece = malloc(1000);
  if (piece) populate((uintptr_t)piece, (uintptr_t)piece + 16 * page_size);
  free(piece);
}
