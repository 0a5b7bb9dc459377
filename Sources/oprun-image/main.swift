// The helper program: arguments in, exit status out. Nothing here starts a thread: what is to be
// confined in processes of its own forks first.

import Glibc

let words = (1..<max(1, Int(CommandLine.argc))).compactMap { index in
  CommandLine.unsafeArgv[index].map { PathText.text(of: $0) }
}
exit(Program().perform(words))
