// The entry point: arguments in, exit status out. A request that only prints the version is
// answered before anything else is set up.

import CLinux
import Execution
import Glibc

// A write beyond the limit on file size is reported as an error. Commands get all signals as they
// were.
clinux_block_signals(1 << UInt64(SIGXFSZ - 1))
if clinux_word_count() == 2, let word = clinux_word(1), strcmp(word, "--version") == 0 {
  exit(printVersion())
}
// The guardian: this program under another name.
if clinux_word_count() == 3, let word = clinux_word(0), strcmp(word, guardianName) == 0 {
  watchAsGuardian(commandLineWords())
}
// The parent of a command that is traced.
if clinux_word_count() > 3, let word = clinux_word(1), strcmp(word, CommandTrace.word) == 0 {
  CommandTrace.watch(commandLineWords())
}
// A job of a cluster, which runs one command of a run.
if clinux_word_count() > 1, let word = clinux_word(1), strcmp(word, NodeTask.word) == 0 {
  exit(NodeTask.perform(commandLineWords()))
}
// Memory that most commands need, but not a short answer to an option.
if clinux_word_count() > 1, let word = clinux_word(1), word[0] != CChar(UInt8(ascii: "-")) {
  clinux_touch_memory()
}
// All output is written by now, so the C library has nothing left to do.
_exit(Tool().perform())
