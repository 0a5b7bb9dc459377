// Libraries that are loaded when they are first needed: docs/design.md, "Built-in steps". A table of a
// library's functions takes its types from the library's headers, so the compiler checks each call.
#ifndef LATE_H
#define LATE_H

#include <stddef.h>

struct late_library {
  const char *file;
  // `count` names, and as many pointers to the functions with these names, in the same order.
  const char *const *names;
  void **places;
  size_t count;
};

// Loads a library. NULL on success, or if it has already been loaded; otherwise the message of the
// dynamic linker. Must not be called from two threads at the same time.
const char *late_load(const struct late_library *library);

// Ends the program with a message, as the dynamic linker would have.
void late_give_up(const char *problem) __attribute__((noreturn));

#define LATE_FIELD(name) __typeof__(name) *name;
#define LATE_NAME(name) #name,
#define LATE_TEXT_OF(value) #value
#define LATE_TEXT(value) LATE_TEXT_OF(value)

// Declares `table`, a structure of functions, and `table_library` to fill it.
#define LATE_TABLE(table, path, functions)                       \
  static struct {                                                \
    functions(LATE_FIELD)                                        \
  } table;                                                       \
  static const char *const table##_names[] = {functions(LATE_NAME)}; \
  static const struct late_library table##_library = {           \
      path, table##_names, (void **)&table, sizeof(table##_names) / sizeof(*table##_names)}

#endif
