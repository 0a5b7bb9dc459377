// Memory that every run needs. A page that the kernel provides when it is touched costs 2 us and more in a virtual
// machine, about twice as much as one of many that are asked for together.
#include "CLinux.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

// The start and the end of the variables that are zero at first, as the linker defines them.
extern char __bss_start[], _end[];

// The memory that a run of one step writes to, in bytes; each page that is asked for and not used
// still costs its 1 us. The linker places the variables that such a run changes before the others
// (Scripts/order-functions).
enum { page_size = 4096, variables = 40 * page_size, stack = 16 * page_size, pieces = 22 * page_size };

// Asks for pages. A kernel before 5.14 refuses it, and nothing is lost.
static void populate(uintptr_t start, uintptr_t end) {
  start &= ~(uintptr_t)(page_size - 1);
  end = (end + page_size - 1) & ~(uintptr_t)(page_size - 1);
  madvise((void *)start, end - start, MADV_POPULATE_WRITE);
}

void clinux_touch_memory(void) {
  uintptr_t start = (uintptr_t)__bss_start, end = (uintptr_t)_end;
  populate(start, end - start < variables ? end : start + variables);
  uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
  populate(frame - stack, frame);
  // Small pieces have a region of their own (memory.c), in which they follow each other.
  void *volatile piece = malloc(1000);
  if (piece) populate((uintptr_t)piece, (uintptr_t)piece + pieces);
  free(piece);
}
