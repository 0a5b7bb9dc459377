// Calls of Linux that Swift's Glibc module does not offer: epoll, signalfd, prctl, fork, and a
// process start that does not wait for the new program to be loaded.
#ifndef CLINUX_H
#define CLINUX_H

#ifndef __linux__
#error "oprun and OperationKit run on Linux only"
#endif
#include <features.h>
#ifndef __GLIBC__
#error "oprun and OperationKit need glibc: with Musl, as in the static Linux SDK, they have not been tried"
#endif

#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <termios.h>

// Kinds of sockets. A release build of a program that also imports libcurl's headers does not find
// Glibc's own ones, since those headers declare them, too.
enum {
  CLINUX_STREAM_SOCKET = SOCK_STREAM,
  CLINUX_PACKET_SOCKET = SOCK_SEQPACKET,
  CLINUX_CLOSE_ON_EXEC_SOCKET = SOCK_CLOEXEC,
};

// Allows access to the file at `path`, and to everything beneath it, in these ways: enum
// clinux_access.
struct clinux_rule {
  const char *path;
  uint64_t access;
  int file;  // what is there, opened; -1 if the new process opens it
};

// The kernel's rights of Landlock, combined.
enum clinux_access {
  clinux_access_read = 0x5,             // read and execute files
  clinux_access_write_file = 0x4007,    // everything that can be done to the content of a file
  clinux_access_all = 0x7ff7,           // all that is handled: listing directories is not
};

// The kernel's version of Landlock; 0 for none.
int clinux_landlock_version(void);

// Identifies the mount that an open file was reached through; 0 if it cannot be told.
uint64_t clinux_mount_id(int file);
// Identifies the mount of a path below an open directory; 0 if the path does not exist. A link at
// its end is not followed.
uint64_t clinux_mount_id_at(int folder, const char *path);

// One process start. Everything in it must stay in place until `busy` is 0.
struct clinux_launch {
  // The programs to try, in order, as execvp(3) does with PATH; ends with NULL.
  const char *const *programs;
  // The arguments. There is room for one more in front, for the shell that runs a file without
  // `#!`.
  char **arguments;
  char *const *environment;
  const char *directory;     // changed into first; NULL stays
  int input;                 // becomes descriptor 0
  int output;                // becomes descriptors 1 and 2
  int script;                // becomes descriptor 3; -1 for none
  int kept[2];               // descriptors that stay open; -1 for none
  int first_needed;          // none from 3 up to this one is needed, and those above 2 that are stay open here; or 0
  int is_terminal;           // the output becomes the controlling terminal
  int nice;                  // added to ours; 0 leaves it
  uint64_t default_signals;  // bit n-1: signal n gets its default action
  uint64_t stopping_signals; // bit n-1: signal n is blocked here and ends the run
  uint64_t soft_descriptor_limit, hard_descriptor_limit;  // both 0: as ours
  uint64_t soft_memory_limit, hard_memory_limit;  // RLIMIT_RSS, which limits nothing; both 0: as ours
  int cgroup;                // directory of the cgroup v2 to start in; -1 for ours
  int is_confined;           // files can be accessed only as the rules allow
  const struct clinux_rule *outside, *rules;  // two arrays; a path that does not exist is left out
  size_t outside_count, rule_count;
  pid_t parent;              // ours
  const int *guarded;        // the program is loaded only once this is not 0; or NULL

  // Written by the new process and the kernel.
  volatile pid_t busy;  // not 0 while the new process still uses this memory
  volatile int stage;   // which step failed: enum clinux_stage
  volatile int error;   // its errno; 0 while nothing failed
};

enum clinux_stage {
  clinux_stage_setup,
  clinux_stage_directory,
  clinux_stage_confinement,
  clinux_stage_execute
};

// Starts a process in its own session that gets SIGKILL when the calling thread ends. Returns its
// id, or -errno. It does not wait for the program to be loaded: a failure to load it is in `error`
// after the process has exited with status 127. If it cannot be started in `cgroup`, it is started
// in ours, and `cgroup` becomes -1. Nothing else may use the stack, of at least 16 KiB, until
// `busy` is 0.
pid_t clinux_launch(struct clinux_launch *launch, char *stack, size_t size);

// Runs a command in a process of its own and writes a report of the files that it uses, with all
// processes that it starts: records of three strings, of which the first is a letter.
// A file was: `r` read, `t` emptied, `u` perhaps read and changed, `n` made, `e` made by a call
// that fails if it exists, `d` removed, `D` to be removed but absent, `m` renamed, `M` renamed over
// another file, `X` exchanged for another, `l` given a second name, `x` executed, `s` only looked
// at, `?` looked for and not found, `N` the same without following a link; `b` was bound as a
// socket, `c` connected to, `y` is a link to a directory. A directory was: `o` opened, `L` listed,
// `k` made, `K` removed. `w` is the working directory; `B` says that processes outlived the
// command, `E` that the report is complete.
// The third string is the path as it was written with `r`, `x`, `s`, `?`, `N` and `o`, the new name
// with `m`, `M`, `X` and `l`, the target with `y`, the program with `L`.
// Returns how the command ended, as waitpid(2) tells it; -errno if it cannot be traced.
int clinux_trace(const char *report, char *const *words);

// The words of the command line, from the program's name on.
int clinux_word_count(void);
const char *clinux_word(int index);

// The parameters of a guardian. Everything in it must stay in place until `busy` is 0.
struct clinux_guardian {
  const char *program;
  char *const *arguments;    // the first is also its name
  char *const *environment;
  int lifeline;              // readable once we are gone; the program gets it
  int our_end;               // the other end of it, which the guardian closes
  int page;                  // the program gets it, too
  int delay;                 // in milliseconds; -1: the program is not needed before our end
  pid_t parent;              // ours
  const volatile int32_t *groups;  // to be killed if the program cannot be loaded; 0 for none
  int group_count;
  const char *kill_file;     // a file that kills a control group when 1 is written to it, or NULL
  int *guarded;              // set to 1 when no signal to our group reaches the guardian any more

  volatile pid_t busy;  // not 0 while the guardian still uses our memory; written by the kernel
};

// Starts a guardian: it waits for our end or for `delay`, whichever comes first, and then executes
// the program. Returns its id, or -errno. Nothing else may use the stack, of at least 16 KiB, until
// `busy` is 0.
pid_t clinux_start_guardian(struct clinux_guardian *guardian, char *stack, size_t size);

// Lets new processes that wait for a guardian load their programs.
void clinux_set_guarded(int *guarded);

// Sets of signals are words here, with bit n-1 for signal n. The C library reserves signals 32 and
// 33 and leaves them out of its own sets, but anybody can send them.

// The signals that are ignored.
uint64_t clinux_ignored_signals(void);

// Blocks signals in addition to those that are already blocked.
void clinux_block_signals(uint64_t signals);

// Lets a blocked signal that stops the process happen now, and takes the SIGCONT that ended the stop. The
// kernel ignores SIGTSTP in a process group that nobody could continue.
void clinux_obey(int signal);

// A descriptor to read signals from, close-on-exec, that does not block; -errno on failure.
int clinux_signal_descriptor(uint64_t signals);

// fork(2), which Swift hides for good reason: only a program with one thread may call this.
pid_t clinux_fork(void);

// A descriptor that is readable once the process has ended; -1 if the kernel does not support it
// (before Linux 5.3).
int clinux_open_process(pid_t process);

char **clinux_environment(void);

// Moves bytes between descriptors inside the kernel; -errno on failure.
ssize_t clinux_splice(int from, int to, int64_t *to_offset, size_t count);

// Enlarges a pipe; failure does no harm.
void clinux_set_pipe_size(int pipe, int size);

// Gets the memory that every run writes to from the kernel at once, instead of page by page when it is touched:
// the variables of the program, and the beginning of the heap.
void clinux_touch_memory(void);

// Marks all descriptors from `first` on as close-on-exec.
void clinux_close_on_exec_from(int first);

// Closes all descriptors from 3 on except those in `kept`, which are sorted.
void clinux_close_all_but(const int *kept, size_t count);

// Lets OpenSSL find out what the processor supports. Must be called before the first hash is made.
void clinux_prepare_hashing(void);

// The number of processors that the calling thread may run on; 0 if the kernel does not say.
int clinux_bound_processor_count(void);

// A pseudo-terminal of this size: its screen, which does not block, and the device that programs use. Both
// are close-on-exec. -errno on failure.
int clinux_open_terminal(int *device, unsigned short rows, unsigned short columns);

// Changes the size of a terminal. Programs that use its device get SIGWINCH.
void clinux_resize_terminal(int screen, unsigned short rows, unsigned short columns);

// Puts a terminal into raw mode, but for the keys that send INT and QUIT. -errno on failure.
int clinux_take_keys(int terminal, struct termios *before);

// Makes a socket at a path of at most 107 bytes, which only we may use, and waits for connections; -errno on
// failure. It and the sockets of the other two calls are close-on-exec and do not block.
int clinux_listen(const char *path, int backlog);

// Connects to a socket; -errno on failure, -EAGAIN if too many others wait for it.
int clinux_connect(const char *path);

// Accepts a connection, of this user; -errno on failure.
int clinux_accept(int listener, uint32_t *user);

// Makes a file in memory, close-on-exec; -errno on failure.
int clinux_memory_file(const char *name);

// True if an open file has a name, as far as is known without writing anything.
int clinux_has_name(int file);

// The kind of the file system of an open file, as in statfs(2); 0 if the kernel does not say.
static inline long clinux_file_system(int descriptor) {
  struct statfs status;
  return fstatfs(descriptor, &status) == 0 ? (long)status.f_type : 0;
}

// Makes orphaned descendants children of this process.
static inline void clinux_become_subreaper(void) { prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

// Sends SIGKILL to the calling process when the thread that started it ends.
static inline void clinux_end_with_parent(void) { prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0); }

// Sends another signal to the calling process when the thread that started it ends.
static inline void clinux_end_with_parent_by(int signal) { prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0); }

// Closes the memory of this process to other processes of the same user.
static inline void clinux_close_memory(void) { prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

// Sets the name of this process for ps and pkill; at most 15 bytes.
static inline void clinux_set_name(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

// A value that the linker knows about the build: 0 to 4 are the commit, 32 bits each; 5 is its
// time, in seconds since 1970; 6 is 1 if files differ from it; 7 is the version of Swift, a byte
// for each number. 0 if unknown.
uint64_t clinux_build_value(int index);

const char *clinux_c_library_version(void);

// Has the processor bring memory that is about to be used into its cache, while it does something else.
static inline void clinux_prefetch(const void *memory) { __builtin_prefetch(memory, 1); }

// Sleeps while the 32 bits hold the value, until `clinux_wake_one`; it may also return for no reason.
void clinux_sleep_while(const void *word, uint32_t value);
// Sleeps like `clinux_sleep_while`, but at most for about that time.
void clinux_sleep_while_for(const void *word, uint32_t value, long nanoseconds);
// Wakes one thread that sleeps on the 32 bits.
void clinux_wake_one(const void *word);

static inline int clinux_exited(int status) { return WIFEXITED(status); }
static inline int clinux_exit_status(int status) { return WEXITSTATUS(status); }
static inline int clinux_signal(int status) { return WTERMSIG(status); }

#endif
