// The commit from which this program was built. Scripts/build has the linker define the symbols,
// whose addresses are the values: so a new commit needs no compilation. Without them, everything is
// 0.
#include "CLinux.h"

#include <gnu/libc-version.h>

extern const char oprun_commit_0[] __attribute__((weak));
extern const char oprun_commit_1[] __attribute__((weak));
extern const char oprun_commit_2[] __attribute__((weak));
extern const char oprun_commit_3[] __attribute__((weak));
extern const char oprun_commit_4[] __attribute__((weak));
extern const char oprun_commit_time[] __attribute__((weak));
extern const char oprun_is_modified[] __attribute__((weak));
extern const char oprun_swift_version[] __attribute__((weak));

// The values are in memory, because code has room for small addresses only.
static const char *const values[] = {
    oprun_commit_0, oprun_commit_1,    oprun_commit_2,    oprun_commit_3,
    oprun_commit_4, oprun_commit_time, oprun_is_modified, oprun_swift_version,
};

uint64_t clinux_build_value(int index) { return (uint64_t)(uintptr_t)values[index]; }

const char *clinux_c_library_version(void) { return gnu_get_libc_version(); }
