// The declarations that both parts of the tracer share.
#ifndef CLINUX_TRACE_H
#define CLINUX_TRACE_H

#include <limits.h>
#include <linux/filter.h>
#include <stdint.h>
#include <sys/types.h>

// A call that was begun; its end tells whether it counts.
struct trace_call {
  long number;     // -1 for none
  uint64_t flags;  // of an open, a look, a removal, or a change of name
  int existed;     // what it would make was there before
  int is_look;     // it only asks about a file, or executes one
  // The paths of the call: for an open, the path it would make, and the path that is read, as it
  // was written; for a call that looks for a file, only the second.
  char first[PATH_MAX], second[PATH_MAX];
};

// Notes a call at its beginning. Returns 0 if its end does not matter.
int trace_begin(struct trace_call *call, pid_t process, long number, const uint64_t *arguments);
// Notes a call at its end. The result is a negative errno if the call has failed.
void trace_end(const struct trace_call *call, pid_t process, long result);
// Notes the program that a process has just executed, and the path in its call; the call is null if
// it is not known.
void trace_program(pid_t process, const struct trace_call *call);

// Appends a record: a letter, and one or two strings.
void trace_write(char kind, const char *first, const char *second);

// Fills in a filter that stops a process at every call that `trace_begin` wants. Returns its length.
unsigned trace_filter(struct sock_filter *program, unsigned capacity);

#endif
