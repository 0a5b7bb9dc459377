// The command line as the C library passes it to every constructor. Swift's `CommandLine` needs /proc for it.
#include "CLinux.h"

static int count;
static char **words;

__attribute__((constructor)) static void keep_words(int argument_count, char **arguments) {
  count = argument_count;
  words = arguments;
}

int clinux_word_count(void) { return count; }

const char *clinux_word(int index) { return words[index]; }
