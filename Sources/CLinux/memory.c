// Small pieces of memory for a program with one thread. libyaml allocates some ten pieces for each line
// of a file, and the Swift runtime one for each object. Scripts/build makes the linker put these functions
// in the place of the C library's (`--wrap`); larger pieces still come from there.
#include "CLinux.h"

#ifdef OPRUN_WRAPS_LIBRARIES
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

void *__real_malloc(size_t size);
void *__real_realloc(void *piece, size_t size);
void __real_free(void *piece);
size_t __real_malloc_usable_size(void *piece);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *piece, size_t size);
void __wrap_free(void *piece);
size_t __wrap_malloc_usable_size(void *piece);

// A piece is as large as a multiple of 16 bytes. Its first 8 bytes, before the caller's, hold that multiple, the
// kind of the piece. Freed pieces of one kind are in a list; they are never merged or returned to the kernel.
enum { kind_count = 65, header_size = sizeof(uint64_t) };
static const size_t most_small = 16 * (kind_count - 1) - header_size;

struct piece {
  struct piece *next;
};

static struct piece *vacant[kind_count];
// Only addresses are reserved: the kernel provides the memory when it is touched.
static const size_t most_reserved = (size_t)1 << 30, least_reserved = (size_t)1 << 20;
static uintptr_t region, region_size;
// The memory that is touched at first, enough for most runs (touch.c asks for as much of it as
// every run needs).
enum { first_touched = 512 << 10, populated_at_once = 128 << 10 };
static uintptr_t unused, unused_end;
// The end of the memory that was asked for in pieces and that the kernel has provided.
static uintptr_t populated;
static int is_refused;
// Larger pieces than this are given back to the kernel, and were asked for one by one. The C library does so above
// 128 KiB: an array that has grown out of its memory would not leave it to the next one, which the kernel would then
// have to provide page by page.
enum { most_kept = 32 << 20 };

static void reserve(void) {
  if (is_refused) return;
  int error = errno;
  mallopt(M_MMAP_THRESHOLD, most_kept);
  // The C library asks the kernel for as much at a time as a short run needs.
  mallopt(M_TOP_PAD, 256 << 10);
  for (size_t size = most_reserved; size >= least_reserved; size /= 4) {
    void *start = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) continue;
    region = (uintptr_t)start;
    region_size = size;
    unused = region + header_size;
    unused_end = region + size;
    populated = region + first_touched;
    return;
  }
  is_refused = 1;
  errno = error;
}

// A page that is touched costs a third more than one of many that are asked for together. A kernel before 5.14 refuses,
// and is not asked again.
static void populate(void) {
  int error = errno;
  if (populated_at_once > unused_end - populated
      || madvise((void *)populated, populated_at_once, MADV_POPULATE_WRITE) != 0)
    populated = UINTPTR_MAX;
  else
    populated += populated_at_once;
  errno = error;
}

static void *carve(size_t kind) {
  if (!region) reserve();
  if (unused_end - unused < 16 * kind) return __real_malloc(16 * kind - header_size);
  uintptr_t start = unused;
  unused += 16 * kind;
  if (__builtin_expect(unused > populated, 0)) populate();
  *(uint64_t *)start = kind;
  return (void *)(start + header_size);
}

static inline int is_small(const void *piece) { return (uintptr_t)piece - region < region_size; }

static inline size_t kind_of(const void *piece) { return ((const uint64_t *)piece)[-1]; }

void *__wrap_malloc(size_t size) {
  if (__builtin_expect(size > most_small, 0)) return __real_malloc(size);
  size_t kind = (size + header_size + 15) / 16;
  struct piece *piece = vacant[kind];
  if (__builtin_expect(!piece, 0)) return carve(kind);
  vacant[kind] = piece->next;
  return piece;
}

void __wrap_free(void *piece) {
  if (__builtin_expect(!is_small(piece), 0)) {
    if (piece) __real_free(piece);
    return;
  }
  size_t kind = kind_of(piece);
  ((struct piece *)piece)->next = vacant[kind];
  vacant[kind] = piece;
}

void *__wrap_calloc(size_t count, size_t size) {
  size_t total;
  if (__builtin_mul_overflow(count, size, &total)) {
    errno = ENOMEM;
    return NULL;
  }
  void *piece = __wrap_malloc(total);
  return piece ? memset(piece, 0, total) : NULL;
}

void *__wrap_realloc(void *piece, size_t size) {
  if (!piece) return __wrap_malloc(size);
  if (!is_small(piece)) {
    if (size == 0 || size > most_small) return __real_realloc(piece, size);
  } else if (size > 0 && kind_of(piece) == (size + header_size + 15) / 16) {
    return piece;
  }
  size_t old = __wrap_malloc_usable_size(piece);
  void *other = __wrap_malloc(size);
  if (!other) return NULL;
  memcpy(other, piece, old < size ? old : size);
  __wrap_free(piece);
  return other;
}

size_t __wrap_malloc_usable_size(void *piece) {
  return is_small(piece) ? 16 * kind_of(piece) - header_size : __real_malloc_usable_size(piece);
}
#endif
