// What secrets leave in memory is for nobody else.

import CLinux

/// Closes the memory of this process to other processes of the same user: no core is dumped, and
/// `/proc/<id>/mem` and `environ` belong to root. What is forked inherits it, the guardian; a program
/// that is loaded does not, a step. See `PR_SET_DUMPABLE` in prctl(2).
package func closeMemory() { clinux_close_memory() }
