// Takes rights away from the calling process, and checks which are left.
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

// Confines the process for the rest of its life. Limits are set first, so that they hold even if a
// layer is refused. Returns the layers that the kernel has granted. Call it before there is a
// second thread.
int confinement_enter(uint64_t address_space);

// Allows this many seconds of processor time from now on until SIGXCPU.
int confinement_limit_cpu(unsigned seconds);

// An attempt at something that a confined process must not be able to do. Each is actually made.
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

// Makes an attempt. Returns the errno of the refusal; 0 if the attempt succeeded, which is a hole.
int confinement_try(enum confinement_attempt attempt);

// prctl(2), for Swift: SIGKILL when the parent ends.
void confinement_die_with_parent(void);
// The kernel's version of Landlock; 0 for none.
int confinement_landlock_version(void);

// Makes two connected sockets that keep message boundaries, close-on-exec. Returns the errno; 0 on
// success.
int confinement_socket_pair(int ends[2]);
// sendmsg(2) and recvmsg(2) with descriptors. Return the bytes sent or received, -errno on failure.
ssize_t confinement_send(int socket, const void *bytes, size_t size, const int *descriptors, int count);
// Receives a message. `count` is the capacity at first, then the number received. The descriptors
// are close-on-exec.
ssize_t confinement_receive(int socket, void *bytes, size_t size, int *descriptors, int *count);

// Makes an unnamed file in a folder, close-on-exec; -errno if the file system does not support it.
int confinement_unnamed_file(const char *folder);

// Makes a file in memory of this size, close-on-exec; -errno on failure.
int confinement_memory_file(int64_t size);

#endif
