// Memory that every run needs. A page that the kernel provides when it is touched costs some microseconds in a virtual
// machine, ten times as much as one of many that are asked for together.
#include "CLinux.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

// The linker defines them: where the code begins and ends, and where the variables begin that are zero at first, and
// where they end. Scripts/build places the functions that a short run calls at the beginning.
extern char _start[], etext[], __bss_start[], _end[];

// The functions of a short run end within `most_code`; what follows is loaded when it is called.
enum { page_size = 4096, most_code = 848 * page_size, most = 128 * page_size };

// A kernel before 5.14 refuses it, and nothing is lost.
static void populate_up_to(uintptr_t most_bytes, uintptr_t start, uintptr_t end, int advice) {
  start &= ~(uintptr_t)(page_size - 1);
  end = (end + page_size - 1) & ~(uintptr_t)(page_size - 1);
  if (end <= start) return;
  uintptr_t size = end - start;
  madvise((void *)start, size < most_bytes ? size : most_bytes, advice);
}

static void populate(uintptr_t start, uintptr_t end) {
  populate_up_to(most, start, end, MADV_POPULATE_WRITE);
}

void clinux_touch_memory(void) {
  populate_up_to(most_code, (uintptr_t)_start, (uintptr_t)etext, MADV_POPULATE_READ);
  populate((uintptr_t)__bss_start, (uintptr_t)_end);
  // The C library's heap begins somewhere after the variables; what it has of it already will be used.
  uintptr_t end = (uintptr_t)sbrk(0), size = 24 * page_size;
  if (end > size) populate(end - size, end);
  // Small pieces have a region of their own (memory.c), in which they follow each other.
  void *volatile piece = malloc(1000);
  if (piece) populate((uintptr_t)piece, (uintptr_t)piece + 16 * page_size);
  free(piece);
}
