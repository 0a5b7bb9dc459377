// The command line.
#include <stdlib.h>
#include <unistd.h>

#include "tally.h"

options options_parse(int count, char **arguments) {
  static char *standard_input[] = {"-"};
  options chosen = {.limit = 10};
  for (int option; (option = getopt(count, arguments, "n:l")) != -1;) {
    if (option == 'n') chosen.limit = strtoul(optarg, NULL, 10);
    else if (option == 'l') chosen.by_length = true;
    else fail("usage", "tally [-n COUNT] [-l] [FILE...]");
  }
  chosen.file_count = count - optind;
  chosen.files = arguments + optind;
  if (chosen.file_count == 0) {
    chosen.file_count = 1;
    chosen.files = standard_input;
  }
  return chosen;
}
