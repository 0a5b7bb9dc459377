// What secrets leave in memory is for nobody else.

import CLinux

/// Closes the memory of this process to other processes of the same user: no core is dumped, and
/// `/proc/<id>/mem` and `environ` belong to root. A program that is loaded does not inherit it: a step;
/// the guardian, which closes its own. See `PR_SET_DUMPABLE` in prctl(2).
package func closeMemory() { clinux_close_memory() }
