// The helper program: arguments in, exit status out. Nothing here starts a thread: what is to be
// confined in processes of its own forks first.

import Glibc

exit(Program().perform())
