// Descriptors that are passed through sockets, and those of processes and memory.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "CConfinement.h"

// The kernel's SCM_MAX_FD.
enum { most = 253 };

union control {
  struct cmsghdr header;
  char bytes[CMSG_SPACE(most * sizeof(int))];
};

ssize_t confinement_send(
    int socket, const void *bytes, size_t size, const int *descriptors, int count) {
  if (count > most) return -EINVAL;
  union control control;
  struct iovec part = {.iov_base = (void *)bytes, .iov_len = size};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (count > 0) {
    memset(&control, 0, sizeof(control));
    message.msg_control = &control;
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(header), descriptors, count * sizeof(int));
  }
  ssize_t sent;
  do sent = sendmsg(socket, &message, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent < 0 ? -errno : sent;
}

ssize_t confinement_receive(int socket, void *bytes, size_t size, int *descriptors, int *count) {
  union control control;
  struct iovec part = {.iov_base = bytes, .iov_len = size};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  message.msg_control = &control;
  message.msg_controllen = sizeof(control);
  int room = *count;
  *count = 0;
  ssize_t received;
  do received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  while (received < 0 && errno == EINTR);
  if (received < 0) return -errno;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    int found = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    for (int index = 0; index < found; index++) {
      int descriptor;
      memcpy(&descriptor, CMSG_DATA(header) + index * sizeof(int), sizeof(int));
      if (*count < room) descriptors[(*count)++] = descriptor;
      else close(descriptor);
    }
  }
  return received;
}

int confinement_socket_pair(int ends[2]) {
  return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) ? errno : 0;
}

int confinement_unnamed_file(const char *folder) {
  int descriptor = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  return descriptor < 0 ? -errno : descriptor;
}

int confinement_memory_file(int64_t size) {
  int descriptor = memfd_create("canvas", MFD_CLOEXEC);
  if (descriptor < 0) return -errno;
  if (ftruncate(descriptor, size) == 0) return descriptor;
  int error = errno;
  close(descriptor);
  return -error;
}
