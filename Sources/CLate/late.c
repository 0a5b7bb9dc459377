// Loads a library, and finds its functions.
#include "late.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

const char *late_load(const struct late_library *library) {
  if (library->places[0]) return NULL;
  void *handle = dlopen(library->file, RTLD_LAZY | RTLD_LOCAL);
  if (!handle) return dlerror();
  // The first entry is set last: it shows that all are set.
  for (size_t index = library->count; index-- > 0;) {
    // Functions of the library's own dependencies are found as well.
    library->places[index] = dlsym(handle, library->names[index]);
    if (!library->places[index]) {
      const char *problem = dlerror();
      return problem ? problem : "a function is missing";
    }
  }
  return NULL;
}

void late_give_up(const char *problem) {
  dprintf(STDERR_FILENO, "oprun-steps: a library cannot be used: %s\n", problem);
  _exit(70);
}
