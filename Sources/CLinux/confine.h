// The confinement that a new process applies to itself before it executes its program.
#ifndef CLINUX_CONFINE_H
#define CLINUX_CONFINE_H

#include "CLinux.h"

// Takes from the calling process, for the rest of its life and for all that it starts, every access to
// files that no rule allows. Returns 0 or -errno. It uses system calls only.
long confine_ourselves(const struct clinux_launch *launch);

#endif
