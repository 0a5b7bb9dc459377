// Replaces work that libraries do before `main` in a static program, and that oprun omits or does
// later. Scripts/build makes the linker use these functions instead (`--wrap`).
#include "CLinux.h"

#ifdef OPRUN_WRAPS_LIBRARIES
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
#else
void clinux_prepare_hashing(void) {}
#endif
