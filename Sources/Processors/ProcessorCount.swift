// How many processors this process may use, which is the value of widths that leave it to the
// machine.

import CLinux
import Glibc

/// The processors that the process was bound to at the first access (taskset, cpusets), or fewer
/// where its control group limits its processor time; at least 1.
package let availableProcessorCount: Int = {
  let bound = Int(clinux_bound_processor_count())
  let count = bound > 0 ? bound : max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
  let granted = ownControlGroup.flatMap { grantedProcessorCount(of: $0, read: readSmallFile) }
  return min(count, granted ?? count)
}()
