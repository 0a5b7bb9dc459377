// Sockets between processes of one user on this machine.
#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int at_path(const char *path, struct sockaddr_un *address) {
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  if (strlen(path) >= sizeof address->sun_path) return -ENAMETOOLONG;
  strcpy(address->sun_path, path);
  return 0;
}

int clinux_listen(const char *path, int backlog) {
  struct sockaddr_un address;
  int error = at_path(path, &address);
  if (error < 0) return error;
  int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0) return -errno;
  // The file gets the mode that the socket has when it is bound, less the mask.
  mode_t mask = umask(0077);
  int bound = fchmod(listener, 0600) == 0 &&
              bind(listener, (struct sockaddr *)&address, sizeof address) == 0 &&
              listen(listener, backlog) == 0;
  error = errno;
  umask(mask);
  if (bound) return listener;
  close(listener);
  return -error;
}

int clinux_connect(const char *path) {
  struct sockaddr_un address;
  int error = at_path(path, &address);
  if (error < 0) return error;
  int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (connection < 0) return -errno;
  if (connect(connection, (struct sockaddr *)&address, sizeof address) == 0) return connection;
  error = errno;
  close(connection);
  return -error;
}

int clinux_accept(int listener, uint32_t *user) {
  int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (connection < 0) return -errno;
  struct ucred peer;
  socklen_t size = sizeof peer;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0) {
    *user = peer.uid;
    return connection;
  }
  int error = errno;
  close(connection);
  return -error;
}
