// Protects secrets in memory from other processes.

import CLinux

/// Closes the memory of this process to other processes of the same user: it does not dump core,
/// and `/proc/<id>/mem` and `environ` belong to root. A program that is executed does not inherit
/// this: not a step, nor the guardian, which closes its own memory. See `PR_SET_DUMPABLE` in
/// prctl(2).
package func closeMemory() { clinux_close_memory() }
