// Ends the processes that a run has left behind whose oprun has died.

import Glibc
package import Plans
import Processors

/// Ends all processes that a dead run has left behind on this machine, and returns when none is
/// left that may be signalled. `process` was its oprun: if that still runs, nothing is ended,
/// because the directory that is resumed is a copy.
package func endLeftovers(of marks: RunMarks, process: Int32) {
  guard !marks.cookie.isEmpty, !isOprun(process) else { return }
  let mark = marks.mark.flatMap { UInt64($0) }.map { DescentMark(value: $0) }
  let cookie = Cookie(prefix: marks.cookie, name: "")
  Sweep(cookie: cookie, mark: mark, controlGroup: nil, outputFolder: nil)
    .run(sparing: [], groups: [])
}

private func isOprun(_ process: Int32) -> Bool {
  guard process > 0, process != getpid(), let name = readSmallFile("/proc/\(process)/comm") else {
    return false
  }
  return name == Array("oprun\n".utf8)
}
