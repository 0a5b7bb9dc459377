// Words: letters, and apostrophes between letters.
#include "tally.h"

static bool starts_with_letter(text rest) {
  return rest.length > 0 && is_letter(utf8_next(&rest));
}

// Whether a code point goes on with the word; the rest is what follows it.
static bool belongs(uint32_t point, bool isInWord, text rest) {
  return is_letter(point) || (isInWord && point == '\'' && starts_with_letter(rest));
}

bool next_word(text *rest, char *buffer, size_t room, text *word) {
  size_t length = 0;
  while (rest->length > 0) {
    uint32_t point = utf8_next(rest);
    if (belongs(point, length > 0, *rest)) {
      if (length + 4 <= room) length += utf8_write(lowercase(point), buffer + length);
    } else if (length > 0) {
      break;
    }
  }
  *word = (text){buffer, length};
  return length > 0;
}
