// Which code points are letters, and their lower case: Latin, Greek and Cyrillic.
#include "tally.h"

static bool is_between(uint32_t point, uint32_t first, uint32_t last) {
  return point >= first && point <= last;
}

bool is_letter(uint32_t point) {
  return is_between(point | 0x20, 'a', 'z') ||
         (is_between(point, 0xC0, 0x24F) && point != 0xD7 && point != 0xF7) ||
         is_between(point, 0x391, 0x3C9) || is_between(point, 0x400, 0x45F);
}

uint32_t lowercase(uint32_t point) {
  if (is_between(point, 'A', 'Z')) return point + 0x20;
  if (is_between(point, 0xC0, 0xDE) && point != 0xD7) return point + 0x20;
  if (is_between(point, 0x100, 0x137)) return point | 1;
  if (is_between(point, 0x391, 0x3A9)) return point + 0x20;
  if (is_between(point, 0x400, 0x40F)) return point + 0x50;
  if (is_between(point, 0x410, 0x42F)) return point + 0x20;
  return point;
}
