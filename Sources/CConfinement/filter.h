// The seccomp filter: a program for the kernel that answers yes or no to each system call.
#ifndef CONFINEMENT_FILTER_H
#define CONFINEMENT_FILTER_H

#include <linux/filter.h>
#include <stdint.h>

#define FILTER_CAPACITY 256

// The number of instructions; 0 on a machine that it is not written for.
unsigned filter_write(struct sock_filter *program, uint32_t process);

#endif
