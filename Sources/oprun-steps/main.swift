// The helper program: arguments in, exit status out. Nothing here starts a thread, because steps
// that confine work in separate processes fork first.

import Glibc

exit(Program().perform())
