// Prints the functions that a program enters, in the order of their first calls, for the linker to
// place them next to each other. A program that is loaded page by page then needs few pages to
// start.
//
//   startup-order PROGRAM [ARGUMENT...]
//
// Puts a breakpoint on every function, runs the program, and prints the names of those that are
// reached. The output of the program is discarded. Processes that share its memory are followed
// until they load another program.
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
typedef unsigned char instruction;
static const instruction breakpoint = 0xcc;
#define PLACE rip
// The processor stops after the breakpoint.
static const int stop_offset = sizeof breakpoint;
#else
typedef unsigned int instruction;
static const instruction breakpoint = 0xd4200000;
#define PLACE pc
static const int stop_offset = 0;
#endif

struct function {
  unsigned long start;
  const char *name;
  instruction code;
  int is_set;
};

static struct function *functions;
static size_t function_count;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static int by_start(const void *a, const void *b) {
  const struct function *one = a, *other = b;
  return (one->start > other->start) - (one->start < other->start);
}

static const char *map(const char *path) {
  struct stat status;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0 || fstat(file, &status)) fail(path);
  void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  if (bytes == MAP_FAILED) fail(path);
  return bytes;
}

static void read_functions(const char *path) {
  const char *file = map(path);
  const Elf64_Ehdr *header = (const void *)file;
  const Elf64_Shdr *sections = (const void *)(file + header->e_shoff);
  for (int i = 0; i < header->e_shnum; i++) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const Elf64_Sym *symbols = (const void *)(file + sections[i].sh_offset);
    const char *names = file + sections[sections[i].sh_link].sh_offset;
    size_t count = sections[i].sh_size / sizeof *symbols;
    functions = calloc(count, sizeof *functions);
    if (!functions) fail("calloc");
    for (const Elf64_Sym *symbol = symbols; symbol < symbols + count; symbol++)
      if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_size)
        functions[function_count++] =
            (struct function){symbol->st_value, names + symbol->st_name, 0, 0};
  }
  qsort(functions, function_count, sizeof *functions, by_start);
}

static int open_memory(pid_t process) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/mem", process);
  int memory = open(path, O_RDWR | O_CLOEXEC);
  if (memory < 0) fail(path);
  return memory;
}

static void set_breakpoints(int memory) {
  for (struct function *it = functions; it < functions + function_count; it++) {
    // If an address has several names, the last one stands for all.
    if (it + 1 < functions + function_count && it[1].start == it->start) continue;
    off_t place = (off_t)it->start;
    it->is_set = pread(memory, &it->code, sizeof it->code, place) == sizeof it->code &&
                 pwrite(memory, &breakpoint, sizeof breakpoint, place) == sizeof breakpoint;
  }
}

// False if there is no breakpoint where the process has stopped.
static int pass(pid_t process, int memory) {
  struct user_regs_struct registers;
  struct iovec buffer = {&registers, sizeof registers};
  if (ptrace(PTRACE_GETREGSET, process, (void *)NT_PRSTATUS, &buffer)) return 0;
  struct function key = {registers.PLACE - stop_offset, NULL, 0, 0};
  struct function *found =
      bsearch(&key, functions, function_count, sizeof *functions, by_start);
  while (found && found + 1 < functions + function_count && found[1].start == key.start) found++;
  if (!found || !found->is_set) return 0;
  // Another process may have passed it meanwhile; then its code has already been restored.
  if (pwrite(memory, &found->code, sizeof found->code, (off_t)found->start) < 0) fail("pwrite");
  registers.PLACE = found->start;
  if (ptrace(PTRACE_SETREGSET, process, (void *)NT_PRSTATUS, &buffer)) return 0;
  if (found->name) puts(found->name);
  found->name = NULL;
  return 1;
}

static pid_t start(char **words) {
  pid_t process = fork();
  if (process != 0) return process;
  int null = open("/dev/null", O_RDWR);
  for (int stream = 0; stream < 3; stream++) dup2(null, stream);
  ptrace(PTRACE_TRACEME, 0, NULL, NULL);
  execv(words[0], words);
  _exit(127);
}

static void go_on(pid_t process, int status, int memory) {
  int event = status >> 16, signal = WSTOPSIG(status);
  if (event == PTRACE_EVENT_EXEC) {
    ptrace(PTRACE_DETACH, process, NULL, NULL);
    return;
  }
  if (event || signal == SIGSTOP || (signal == SIGTRAP && pass(process, memory))) signal = 0;
  ptrace(PTRACE_CONT, process, NULL, (void *)(long)signal);
}

int main(int count, char **words) {
  if (count < 2) return fputs("usage: startup-order PROGRAM [ARGUMENT...]\n", stderr), 2;
  read_functions(words[1]);
  pid_t program = start(words + 1);
  int status;
  if (program < 0 || waitpid(program, &status, 0) != program || !WIFSTOPPED(status)) fail(words[1]);
  long options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                 PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
  if (ptrace(PTRACE_SETOPTIONS, program, NULL, (void *)options)) fail("ptrace");
  int memory = open_memory(program);
  set_breakpoints(memory);
  ptrace(PTRACE_CONT, program, NULL, NULL);
  for (pid_t process; (process = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR;) {
    if (process > 0 && WIFSTOPPED(status)) go_on(process, status, memory);
    else if (process == program) return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
  }
  return 1;
}
