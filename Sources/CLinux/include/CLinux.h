// What Linux offers and Swift's Glibc module does not: epoll, signalfd, prctl, clone.
#ifndef CLINUX_H
#define CLINUX_H

#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#endif
