// Prints the functions that a program enters, in the order of their first calls, and the variables that it
// changes, for the linker to place them next to each other. A program that is loaded page by page then
// needs few pages to start, and writes to few.
//
//   startup-order PROGRAM [ARGUMENT...]
//
// Puts a breakpoint on every function, runs the program, and prints the names of those that are
// reached. When the program ends, its variables are compared with what the file says. Its output is
// discarded. Processes that share its memory are followed until they load another program.
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

struct variable {
  unsigned long start, size;
  const char *name, *first;  // `first` is the content in the file; null where that is zero
};

static struct function *functions;
static struct variable *variables;
static size_t function_count, variable_count;

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

static void read_symbols(const char *path) {
  const char *file = map(path);
  const Elf64_Ehdr *header = (const void *)file;
  const Elf64_Shdr *sections = (const void *)(file + header->e_shoff);
  for (int i = 0; i < header->e_shnum; i++) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const Elf64_Sym *symbols = (const void *)(file + sections[i].sh_offset);
    const char *names = file + sections[sections[i].sh_link].sh_offset;
    size_t count = sections[i].sh_size / sizeof *symbols;
    functions = calloc(count, sizeof *functions);
    variables = calloc(count, sizeof *variables);
    if (!functions || !variables) fail("calloc");
    for (const Elf64_Sym *symbol = symbols; symbol < symbols + count; symbol++) {
      if (!symbol->st_size || symbol->st_shndx >= header->e_shnum) continue;
      const Elf64_Shdr *section = sections + symbol->st_shndx;
      const char *name = names + symbol->st_name;
      if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC)
        functions[function_count++] = (struct function){symbol->st_value, name, 0, 0};
      else if (ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT && section->sh_flags & SHF_WRITE)
        variables[variable_count++] = (struct variable){
            symbol->st_value, symbol->st_size, name,
            section->sh_type == SHT_NOBITS ? NULL
                                           : file + section->sh_offset + symbol->st_value - section->sh_addr};
    }
  }
  qsort(functions, function_count, sizeof *functions, by_start);
}

static void print_changed_variables(int memory) {
  for (struct variable *it = variables; it < variables + variable_count; it++) {
    char *now = malloc(it->size), *first = calloc(1, it->size);
    if (!now || !first) fail("malloc");
    if (it->first) memcpy(first, it->first, it->size);
    if (pread(memory, now, it->size, (off_t)it->start) == (ssize_t)it->size &&
        memcmp(now, first, it->size) != 0)
      puts(it->name);
    free(now);
    free(first);
  }
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

static void go_on(pid_t process, int status, int memory, int is_program) {
  int event = status >> 16, signal = WSTOPSIG(status);
  if (event == PTRACE_EVENT_EXIT && is_program) print_changed_variables(memory);
  if (event == PTRACE_EVENT_EXEC) {
    ptrace(PTRACE_DETACH, process, NULL, NULL);
    return;
  }
  if (event || signal == SIGSTOP || (signal == SIGTRAP && pass(process, memory))) signal = 0;
  ptrace(PTRACE_CONT, process, NULL, (void *)(long)signal);
}

int main(int count, char **words) {
  if (count < 2) return fputs("usage: startup-order PROGRAM [ARGUMENT...]\n", stderr), 2;
  read_symbols(words[1]);
  pid_t program = start(words + 1);
  int status;
  if (program < 0 || waitpid(program, &status, 0) != program || !WIFSTOPPED(status)) fail(words[1]);
  long options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                 PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL;
  if (ptrace(PTRACE_SETOPTIONS, program, NULL, (void *)options)) fail("ptrace");
  int memory = open_memory(program);
  set_breakpoints(memory);
  ptrace(PTRACE_CONT, program, NULL, NULL);
  for (pid_t process; (process = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR;) {
    if (process > 0 && WIFSTOPPED(status)) go_on(process, status, memory, process == program);
    else if (process == program) return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
  }
  return 1;
}
