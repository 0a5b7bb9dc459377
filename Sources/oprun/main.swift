// The command: arguments in, exit status out. A request that only prints the version is answered
// before anything else is set up.

import Diagnostics
import Execution
import Glibc

if CommandLine.argc == 2, let word = CommandLine.unsafeArgv[1], strcmp(word, "--version") == 0 {
  exit(printVersion())
}
guard hasCommandLine else { exit(Tool().refuseUnreadableCommandLine()) }
// A guardian starts this program under another name.
if CommandLine.argc == 3, let word = CommandLine.unsafeArgv[0], strcmp(word, guardianName) == 0 {
  watchAsGuardian(CommandLine.arguments)
}
exit(Tool().perform())
