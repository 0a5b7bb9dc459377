// The command: arguments in, exit status out. What only prints the version is answered before
// anything else is set up.

import Glibc

if CommandLine.argc == 2, let word = CommandLine.unsafeArgv[1], strcmp(word, "--version") == 0 {
  exit(printVersion())
}
exit(Tool().perform())
