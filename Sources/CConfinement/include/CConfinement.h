// Takes rights away from the calling process, and asks what is left of them.
#ifndef CCONFINEMENT_H
#define CCONFINEMENT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum confinement_layer {
  confinement_files = 1,         // Landlock: no file can be opened by name
  confinement_calls = 2,         // seccomp: only the system calls that decoding needs
  confinement_capabilities = 4,  // no rights of root
};

// For the rest of the process's life. Limits first, so that a refused layer leaves these. Answers
// the layers that the kernel has granted. Call it before there is a second thread.
int confinement_enter(uint64_t address_space);

// From now on, this many seconds of processor time until SIGXCPU.
int confinement_limit_cpu(unsigned seconds);

// What a confined process must not be able to do. Each is tried for real.
enum confinement_attempt {
  confinement_read_file,
  confinement_write_file,
  confinement_list_folder,
  confinement_connect,
  confinement_start_process,
  confinement_run_program,
  confinement_signal_parent,
  confinement_trace_parent,
  confinement_map_too_much,
  confinement_attempts  // how many there are
};

// The errno of the refusal; 0 if it worked, which is a hole.
int confinement_try(enum confinement_attempt attempt);

// prctl(2), for Swift: SIGKILL when the parent ends.
void confinement_die_with_parent(void);
// The kernel's version of Landlock; 0 for none.
int confinement_landlock_version(void);

// Two connected sockets that keep messages apart, close-on-exec. The errno; 0 on success.
int confinement_socket_pair(int ends[2]);
// sendmsg(2) and recvmsg(2) with descriptors. Bytes sent or received, -errno on failure.
ssize_t confinement_send(int socket, const void *bytes, size_t size, const int *descriptors, int count);
// `count` holds the room first, then the number received. They are close-on-exec.
ssize_t confinement_receive(int socket, void *bytes, size_t size, int *descriptors, int *count);

// A file in memory, close-on-exec, of this size; -errno on failure.
int confinement_memory_file(int64_t size);

#endif
