// Replaces work that libraries do before `main` in a static program, and that oprun omits or does
// later. Scripts/build makes the linker use these functions instead (`--wrap`).
#include "CLinux.h"

#ifdef OPRUN_WRAPS_LIBRARIES
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Each query of the processor by OpenSSL causes an exit from a virtual machine: 45 µs in total.
void __real_OPENSSL_cpuid_setup(void);
void __wrap_OPENSSL_cpuid_setup(void) {}

void clinux_prepare_hashing(void) {
  static int is_prepared;
  if (!is_prepared) __real_OPENSSL_cpuid_setup();
  is_prepared = 1;
}

// The Swift runtime searches nine locations for a program that shows crashes, which is not
// installed.
const char *__wrap_swift_copyAuxiliaryExecutablePath(const char *name);
const char *__wrap_swift_copyAuxiliaryExecutablePath(const char *name) {
  (void)name;
  return NULL;
}

// The C library asks for the program's directory, and for those of shared libraries; a static
// program has none.
char *__wrap__dl_get_origin(void);
char *__wrap__dl_get_origin(void) { return (char *)-1; }
void __wrap__dl_init_paths(void);
void __wrap__dl_init_paths(void) {}

// With these functions, SQLite would load extensions, and the C library tables of character sets:
// there are none to load.
#define LOADS_NOTHING(name) \
  void *__wrap_##name(void); \
  void *__wrap_##name(void) { return NULL; }
LOADS_NOTHING(dlopen)
LOADS_NOTHING(dlsym)
LOADS_NOTHING(dlclose)
LOADS_NOTHING(dlerror)
LOADS_NOTHING(__libc_dlopen_mode)
LOADS_NOTHING(__libc_dlsym)
LOADS_NOTHING(__libc_dlclose)

// Before `main`, the Swift runtime looks for the command line in the list of all mappings: 45 µs. words.c has
// it anyway.
FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode) {
  return strcmp(path, "/proc/self/maps") == 0 ? NULL : __real_fopen(path, mode);
}

// With this function, it would read that list.
int __wrap___isoc99_sscanf(void);
int __wrap___isoc99_sscanf(void) { return EOF; }

// The C library translates its messages, and replaces letters that a character set does not have.
// oprun has the locale "C", in which neither changes anything; 6 says that there is no such letter.
const char *__wrap___dcigettext(const char *domain, const char *message);
const char *__wrap___dcigettext(const char *domain, const char *message) {
  (void)domain;
  return message;
}
int __wrap___gconv_transliterate(void);
int __wrap___gconv_transliterate(void) { return 6; }

// The compiler of patterns to machine code is not used. The rest of PCRE2 asks it whether something
// was compiled (-45: it was not), how large it is, for which processor, and to free it.
int __wrap_pcre2_jit_match_8(void);
int __wrap_pcre2_jit_match_8(void) { return -45; }
int __wrap__pcre2_jit_check_exec_8(void);
int __wrap__pcre2_jit_check_exec_8(void) { return 0; }
size_t __wrap__pcre2_jit_get_size_8(void);
size_t __wrap__pcre2_jit_get_size_8(void) { return 0; }
const char *__wrap__pcre2_jit_get_target_8(void);
const char *__wrap__pcre2_jit_get_target_8(void) { return ""; }
void __wrap__pcre2_jit_free_8(void);
void __wrap__pcre2_jit_free_8(void) {}

// Three extensions of SQLite for searching in texts and places, which it would initialise; 0 means
// that this succeeded.
int __wrap_sqlite3Fts3Init(void *database);
int __wrap_sqlite3Fts3Init(void *database) {
  (void)database;
  return 0;
}
int __wrap_sqlite3Fts5Init(void *database);
int __wrap_sqlite3Fts5Init(void *database) {
  (void)database;
  return 0;
}
int __wrap_sqlite3RtreeInit(void *database);
int __wrap_sqlite3RtreeInit(void *database) {
  (void)database;
  return 0;
}

// Functions of SQLite that no statement of ours uses: those for JSON, and for dates and times; and a table about the
// pages of a database.
int __wrap_sqlite3DbstatRegister(void *database);
int __wrap_sqlite3DbstatRegister(void *database) {
  (void)database;
  return 0;
}
int __wrap_sqlite3JsonTableFunctions(void *database);
int __wrap_sqlite3JsonTableFunctions(void *database) {
  (void)database;
  return 0;
}
void __wrap_sqlite3RegisterJsonFunctions(void);
void __wrap_sqlite3RegisterJsonFunctions(void) {}
void __wrap_sqlite3RegisterDateTimeFunctions(void);
void __wrap_sqlite3RegisterDateTimeFunctions(void) {}

// Messages of the C library in wide characters, which standard error never has.
int __wrap___vfwprintf_internal(void);
int __wrap___vfwprintf_internal(void) { return -1; }

// The functions that SQLite's mathematical functions call are a fortieth of the program, and no
// statement of ours uses them.
#define UNUSED_FUNCTION(name) \
  void __wrap_##name(void); \
  void __wrap_##name(void) { __builtin_trap(); }
UNUSED_FUNCTION(acos)
UNUSED_FUNCTION(acosh)
UNUSED_FUNCTION(asin)
UNUSED_FUNCTION(asinh)
UNUSED_FUNCTION(atan)
UNUSED_FUNCTION(atan2)
UNUSED_FUNCTION(atanh)
UNUSED_FUNCTION(cos)
UNUSED_FUNCTION(cosh)
UNUSED_FUNCTION(exp)
UNUSED_FUNCTION(log)
UNUSED_FUNCTION(log10)
UNUSED_FUNCTION(log2)
UNUSED_FUNCTION(pow)
UNUSED_FUNCTION(sin)
UNUSED_FUNCTION(sinh)
UNUSED_FUNCTION(tan)
UNUSED_FUNCTION(tanh)

// The names of Unicode's characters are a thirtieth of the program, and nothing asks for them.
const char *__wrap__swift_stdlib_getScalarName(unsigned scalar);
const char *__wrap__swift_stdlib_getScalarName(unsigned scalar) {
  (void)scalar;
  return NULL;
}

// Only traces of crashes would show names of C++ in readable form, and a stripped program has no names.
char *__wrap___cxa_demangle(const char *name, char *buffer, size_t *length, int *status);
char *__wrap___cxa_demangle(const char *name, char *buffer, size_t *length, int *status) {
  (void)name, (void)buffer, (void)length;
  if (status) *status = -2;
  return NULL;
}

// The readable names of Swift's types, which only messages about faults of oprun itself contain:
// they are empty. The caller frees the text of this `std::string`, because it is not inside the
// object.
struct cxx_string {
  char *text;
  size_t length;
  size_t capacity, rest;
};
#define NODE_TO_STRING \
  __wrap__ZN5swift8Demangle9__runtime12nodeToStringB5cxx11EPNS1_4NodeERKNS1_15DemangleOptionsE
struct cxx_string NODE_TO_STRING(void *node, const void *options);
struct cxx_string NODE_TO_STRING(void *node, const void *options) {
  (void)node, (void)options;
  return (struct cxx_string){.text = calloc(1, 1)};
}
#else
void clinux_prepare_hashing(void) {}
#endif
