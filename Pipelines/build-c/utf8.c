// Code points from UTF-8 and back.
#include "tally.h"

static bool is_continuation(text rest, size_t index) {
  return index < rest.length && ((unsigned char)rest.bytes[index] & 0xC0) == 0x80;
}

// How many bytes follow the first one of a code point; -1 if none can start with it.
static int continuations_after(unsigned char first) {
  if (first < 0x80) return 0;
  if (first < 0xC2 || first > 0xF4) return -1;
  return first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
}

static void skip(text *rest, size_t length) {
  rest->bytes += length;
  rest->length -= length;
}

// Takes one code point off the front; a byte that is not UTF-8 counts as U+FFFD.
uint32_t utf8_next(text *rest) {
  unsigned char first = (unsigned char)rest->bytes[0];
  int more = continuations_after(first);
  uint32_t point = more > 0 ? first & (0x3F >> more) : more < 0 ? 0xFFFD : first;
  for (int i = 1; i <= more; i++) {
    if (!is_continuation(*rest, i)) {
      skip(rest, 1);
      return 0xFFFD;
    }
    point = point << 6 | ((unsigned char)rest->bytes[i] & 0x3F);
  }
  skip(rest, more > 0 ? more + 1 : 1);
  return point;
}

size_t utf8_write(uint32_t point, char bytes[4]) {
  if (point < 0x80) return bytes[0] = (char)point, 1;
  size_t more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  static const unsigned char marks[] = {0, 0xC0, 0xE0, 0xF0};
  bytes[0] = (char)(marks[more] | point >> (6 * more));
  for (size_t i = 1; i <= more; i++)
    bytes[i] = (char)(0x80 | (point >> (6 * (more - i)) & 0x3F));
  return more + 1;
}
