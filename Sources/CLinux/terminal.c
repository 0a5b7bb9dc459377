// Pseudo-terminals, and the terminal that we were started in.
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

int clinux_open_terminal(int *device, unsigned short rows, unsigned short columns) {
  int screen = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
  if (screen < 0) return -errno;
  int unlocked = 0;
  unsigned number = 0;
  if (ioctl(screen, TIOCSPTLCK, &unlocked) == 0 && ioctl(screen, TIOCGPTN, &number) == 0) {
    clinux_resize_terminal(screen, rows, columns);
#ifdef TIOCGPTPEER
    // This works also if /dev/pts belongs to another mount.
    *device = ioctl(screen, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*device >= 0) return screen;
#endif
    char path[32];
    snprintf(path, sizeof path, "/dev/pts/%u", number);
    *device = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*device >= 0) return screen;
  }
  int error = errno;
  close(screen);
  return -error;
}

void clinux_resize_terminal(int screen, unsigned short rows, unsigned short columns) {
  struct winsize size = {.ws_row = rows, .ws_col = columns};
  ioctl(screen, TIOCSWINSZ, &size);
}

int clinux_take_keys(int terminal, struct termios *before) {
  if (tcgetattr(terminal, before) != 0) return -errno;
  struct termios raw = *before;
  raw.c_iflag &= ~(tcflag_t)(IGNBRK | BRKINT | PARMRK | ISTRIP | INLCR | IGNCR | ICRNL | IXON);
  raw.c_oflag &= ~(tcflag_t)OPOST;
  raw.c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ICANON | IEXTEN);
  // The keys that end a run do so; the one that stops a job is the command's.
  raw.c_cc[VSUSP] = _POSIX_VDISABLE;
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  // TCSANOW does not wait until the output is written: its reader may have stopped reading.
  return tcsetattr(terminal, TCSANOW, &raw) == 0 ? 0 : -errno;
}
