// Replaces work that libraries do before `main` in a static program, and that oprun omits or does
// later. Scripts/build makes the linker use these functions instead (`--wrap`).
#include "CLinux.h"

#ifdef OPRUN_WRAPS_LIBRARIES
#include <errno.h>
#include <pthread.h>

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

// The C library asks where the program is, for shared libraries beside it; a static program has none.
char *__wrap__dl_get_origin(void);
char *__wrap__dl_get_origin(void) { return (char *)-1; }

// Before Swift takes more than 1 KB from the stack for a while, it asks how large the stack is, and the C
// library reads a list of all mappings from the kernel. Without an answer Swift takes the memory elsewhere.
int __wrap_pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes);
int __wrap_pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes) {
  (void)thread;
  (void)attributes;
  return ENOSYS;
}
#else
void clinux_prepare_hashing(void) {}
#endif
