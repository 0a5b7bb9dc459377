// The one way to end early.
#include <stdio.h>
#include <stdlib.h>

#include "tally.h"

void fail(const char *what, const char *why) {
  fprintf(stderr, "tally: %s: %s\n", what, why);
  exit(2);
}
