// The last words of a failed probe, for the message that `wait_for` timed out. It knows no step and
// no run.

import Diagnostics
import RunFiles

enum LastWords {
  /// The number of bytes at the end of a log that are read.
  private static let reach = 4096
  /// The maximum length in characters.
  private static let longest = 200

  /// The last line of a log that is not empty; nil if there is none.
  static func line(of log: LogFile) -> String? {
    var bytes = [UInt8](repeating: 0, count: reach)
    let start = max(0, log.size - reach)
    let count = bytes.withUnsafeMutableBytes { log.read(at: start, into: $0) }
    let lines = bytes.prefix(count).split { $0 == 0x0a || $0 == 0x0d }
    guard let last = lines.last(where: { !$0.allSatisfy { $0 == 0x20 || $0 == 0x09 } }) else {
      return nil
    }
    return String(reason(String(decoding: last, as: UTF8.self)).prefix(longest))
  }

  /// The reason in a line. Our own helper repeats what it checked, as in `oprun-steps: not ready
  /// after 0s: http 'URL': REASON`.
  private static func reason(_ line: String) -> Substring {
    guard line.hasPrefix("oprun-steps: "), let mark = line.firstRange(ofText: "': ") else {
      return line[...]
    }
    return line[mark.upperBound...]
  }
}
