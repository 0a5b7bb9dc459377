// A guardian that has not run yet is in the process group of oprun: a signal for the group would end both.

import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct `A late guardian` {
  /// The kernel may let the command run first.
  @Test func `holds up the command`() throws {
    let oprun = try OprunProcess(
      "steps: [{id: step, run: touch ran}]", arguments: "--output quiet",
      prefix: "cat >late.c <<'END'\n\(Self.tracer)END\ncc -o late late.c && exec ./late")
    #expect(oprun.wait() == 0, "\(oprun.standardError)")
    #expect(oprun.standardOutput == "the command waits\n")
    #expect(!oprun.exists("ran"))
  }

  /// Runs oprun, and lets the first process that it makes not run. Says what the second one does, and kills all.
  private static let tracer = """
    #include <signal.h>
    #include <stdio.h>
    #include <sys/ptrace.h>
    #include <sys/syscall.h>
    #include <sys/wait.h>
    #include <unistd.h>

    // Whether the process sleeps until a word has another value.
    static int waits(pid_t process) {
      char path[64], state = 0;
      long number = -1;
      snprintf(path, sizeof path, "/proc/%d/stat", process);
      FILE *file = fopen(path, "r");
      if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1 || fclose(file)) return 0;
      snprintf(path, sizeof path, "/proc/%d/syscall", process);
      file = fopen(path, "r");
      if (!file) return 0;
      if (fscanf(file, "%ld", &number) != 1) number = -1;
      fclose(file);
      return state == 'S' && number == SYS_futex;
    }

    int main(int count, char **words) {
      long options = PTRACE_O_TRACEFORK | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
      pid_t oprun = fork();
      if (oprun == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        execv(words[1], words + 1);
        _exit(99);
      }
      pid_t guardian = 0, command = 0;
      int status;
      if (waitpid(oprun, &status, 0) != oprun || ptrace(PTRACE_SETOPTIONS, oprun, 0, options)) return 98;
      ptrace(PTRACE_CONT, oprun, 0, 0);
      for (;;) {
        if (command && waits(command)) return puts("the command waits"), 0;
        pid_t process = waitpid(-1, &status, __WALL | (command ? WNOHANG : 0));
        if (process < 0) return 97;
        if (process == 0) {
          usleep(1000);
          continue;
        }
        if (!WIFSTOPPED(status)) continue;
        if (status >> 16 == PTRACE_EVENT_EXEC) return puts("the command has its program"), 0;
        if (status >> 16 == PTRACE_EVENT_FORK) {
          unsigned long made = 0;
          ptrace(PTRACE_GETEVENTMSG, process, 0, &made);
          if (!guardian) guardian = (pid_t)made;
          else if (!command) command = (pid_t)made;
        }
        // A new process stops first; the guardian stays so.
        int signal = WSTOPSIG(status);
        if (process == guardian) continue;
        ptrace(PTRACE_CONT, process, 0, signal == SIGSTOP || signal == SIGTRAP ? 0 : signal);
      }
    }

    """
}
