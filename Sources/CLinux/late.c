// What libraries do before `main` in a static program, and what oprun does without or later. Scripts/build
// has the linker put these in their place (`--wrap`).
#include "CLinux.h"

#ifdef OPRUN_WRAPS_LIBRARIES
// Each question that OpenSSL asks of the processor leaves a virtual machine: 45 µs in all.
void __real_OPENSSL_cpuid_setup(void);
void __wrap_OPENSSL_cpuid_setup(void) {}

void clinux_prepare_hashing(void) {
  static int is_prepared;
  if (!is_prepared) __real_OPENSSL_cpuid_setup();
  is_prepared = 1;
}

// The Swift runtime looks in nine places for a program that shows crashes, which is not installed.
const char *__wrap_swift_copyAuxiliaryExecutablePath(const char *name);
const char *__wrap_swift_copyAuxiliaryExecutablePath(const char *name) {
  (void)name;
  return NULL;
}
#else
void clinux_prepare_hashing(void) {}
#endif
