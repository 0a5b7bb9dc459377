// Durations as they are written in a pipeline file.

package import Scheduling

/// A configured time, as it would be written in the file: `250ms`, `30s`, `1h30m`.
package func exactDuration(_ time: Nanoseconds) -> String {
  var rest = time / 1_000_000
  var text = ""
  let units: [(size: Nanoseconds, name: String)] = [
    (3_600_000, "h"), (60_000, "m"), (1000, "s"), (1, "ms"),
  ]
  for unit in units where rest >= unit.size {
    text += "\(rest / unit.size)\(unit.name)"
    rest %= unit.size
  }
  return text.isEmpty ? "0s" : text
}
