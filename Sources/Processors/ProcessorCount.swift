// How many processors this process may use: what widths stand for that leave it to the machine.

import CLinux
import Glibc

/// The processors that the process was bound to when this was first asked (taskset, cpusets), or
/// fewer where its control group limits its processor time; at least 1.
package let availableProcessorCount: Int = {
  let bound = Int(clinux_bound_processor_count())
  let count = bound > 0 ? bound : max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
  guard let membership = contents(of: "/proc/self/cgroup") else { return count }
  let granted = grantedProcessorCount(membership, read: contents(of:))
  return min(count, granted ?? count)
}()

/// Of a small file; nil if it cannot be read.
private func contents(of path: String) -> [UInt8]? {
  let file = open(path, O_RDONLY | O_CLOEXEC)
  guard file >= 0 else { return nil }
  defer { close(file) }
  var text = [UInt8](repeating: 0, count: 4096)
  let count = read(file, &text, text.count)
  return count < 0 ? nil : Array(text[..<count])
}
