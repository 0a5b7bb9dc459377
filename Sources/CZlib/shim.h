#include <zlib.h>

// Functions for macros of C.
static inline int czlib_start(z_stream *stream, int window_bits) {
  return inflateInit2(stream, window_bits);
}
